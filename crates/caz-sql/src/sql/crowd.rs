//! Who labelled how much, what each LLM says, and what the majority says.

use super::{Dialect, Step};

/// Tasks of every worker.
pub(crate) fn workers() -> Step {
    Step::table(
        "workers",
        "How many tasks every worker labelled.",
        "SELECT worker, COUNT(*) AS tasks FROM labels GROUP BY worker".into(),
    )
}

/// The order of the samples of every LLM, from their names.
pub(super) fn order_of_samples(dialect: Dialect) -> Step {
    let order = dialect.order_of_samples();
    Step::view(
        "samples",
        "The order of the samples of every LLM: numbers by their value, then other names.",
        format!(
            "SELECT source, sample, ROW_NUMBER() OVER (PARTITION BY source ORDER BY {order}) AS place\n\
             FROM (SELECT DISTINCT source, sample FROM z) AS named"
        ),
    )
}

/// The label of each LLM for each task: that of the first sample that has one. Reads the relation
/// `samples(source, sample, place)`.
pub(super) fn first_samples() -> [Step; 2] {
    [
        Step::view(
            "z_places",
            "Which sample of an LLM is the first that labels a task.",
            "SELECT z.source, z.task, MIN(s.place) AS place\n\
             FROM z JOIN samples AS s ON s.source = z.source AND s.sample = z.sample\n\
             GROUP BY z.source, z.task"
                .into(),
        ),
        Step::table(
            "z_first",
            "What every LLM says of a task, by its first sample that says something.",
            "SELECT z.source, z.task, z.label\n\
             FROM z JOIN samples AS s ON s.source = z.source AND s.sample = z.sample\n\
             JOIN z_places AS p ON p.source = z.source AND p.task = z.task AND p.place = s.place"
                .into(),
        ),
    ]
}

/// The label that most people give to a task; a task where several labels tie has none.
pub(crate) fn majority() -> [Step; 2] {
    [
        Step::table(
            "votes",
            "How many people give a label to a task.",
            "SELECT task, label, COUNT(*) AS seen FROM labels GROUP BY task, label".into(),
        ),
        Step::view(
            "majority",
            "The label that most people give to a task; none where labels tie for the first place.",
            "SELECT v.task, MIN(v.label) AS label, MIN(v.seen) AS seen\n\
             FROM votes AS v\n\
             JOIN (SELECT task, MAX(seen) AS most FROM votes GROUP BY task) AS m\n\
             \x20 ON m.task = v.task AND m.most = v.seen\n\
             GROUP BY v.task HAVING COUNT(*) = 1"
                .into(),
        ),
    ]
}

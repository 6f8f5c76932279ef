//! What all iterations read, and what they start from.

use crate::engine::sql::{Dialect, Step};
use crate::mechanism::copy_mixture::{CONFUSION_WEIGHT, COPY_FIDELITY, STARTS, StartTruth};

/// A number as a literal, which engines read as floating point in a sum with a floating point number.
fn literal(value: f64) -> String {
    format!("{value:?}")
}

/// What all iterations read, and the parameters and posteriors they start from; the last start
/// begins with the posteriors of iteration `crowd` of Dawid-Skene.
pub(in crate::engine) fn start(dialect: Dialect, crowd: usize) -> Vec<Step> {
    let mut steps = signals(dialect).to_vec();
    steps.extend(copies(dialect));
    steps.extend(beginning(dialect, crowd));
    steps
}

/// The attempts, and what the LLMs say of the tasks.
fn signals(dialect: Dialect) -> [Step; 6] {
    let float = dialect.float();
    let starts: Vec<String> = (1..)
        .zip(STARTS)
        .map(|(number, start)| {
            let votes = i32::from(matches!(start.truth, StartTruth::Votes));
            let copying = literal(start.copying);
            format!(
                "SELECT {number} AS attempt, CAST({copying} AS {float}) AS share, {votes} AS by_votes"
            )
        })
        .collect();
    [
        Step::table(
            "mixture_attempts",
            "Every LLM with every start: the share of copies, and whether the votes are the truth or \
             what Dawid-Skene says.",
            format!(
                "SELECT s.source, a.attempt, a.share, a.by_votes\n\
                 FROM (SELECT DISTINCT source FROM z_first) AS s\n\
                 CROSS JOIN (\n\x20 {}\n) AS a",
                starts.join(" UNION ALL\n\x20 ")
            ),
        ),
        Step::table(
            "mixture_reports",
            "Every label with what an LLM says of the task; '' where it says nothing.",
            "SELECT s.source, l.task, l.worker, l.label, COALESCE(z.label, '') AS z\n\
             FROM labels AS l\n\
             CROSS JOIN (SELECT DISTINCT source FROM z_first) AS s\n\
             LEFT JOIN z_first AS z ON z.source = s.source AND z.task = l.task"
                .into(),
        ),
        Step::table(
            "mixture_tasks",
            "What an LLM says of a task.",
            "SELECT source, task, MIN(z) AS z FROM mixture_reports GROUP BY source, task".into(),
        ),
        Step::table(
            "mixture_cells",
            "Which labels a worker gives where an LLM says what.",
            "SELECT DISTINCT source, worker, label, z FROM mixture_reports".into(),
        ),
        Step::table(
            "mixture_covered",
            "On how many tasks of a worker an LLM says something.",
            format!(
                "SELECT source, worker, CAST(SUM(CASE WHEN z <> '' THEN 1 ELSE 0 END) AS {float}) AS trials\n\
                 FROM mixture_reports GROUP BY source, worker"
            ),
        ),
        Step::table(
            "mixture_levels",
            "The labels of an LLM, and how many they are.",
            format!(
                "SELECT v.source, v.z, n.levels\n\
                 FROM (SELECT DISTINCT source, z FROM mixture_tasks WHERE z <> '') AS v\n\
                 JOIN (\n\
                 \x20 SELECT source, CAST(COUNT(DISTINCT z) AS {float}) AS levels\n\
                 \x20 FROM mixture_tasks WHERE z <> '' GROUP BY source\n\
                 ) AS n ON n.source = v.source"
            ),
        ),
    ]
}

/// What copies look like, and the crowd as a whole.
fn copies(dialect: Dialect) -> [Step; 5] {
    let float = dialect.float();
    [
        Step::table(
            "mixture_seen",
            "How often one sample of an LLM says z and another label, on tasks of the crowd.",
            "SELECT a.source, a.label AS z, b.label, COUNT(*) AS seen\n\
             FROM z AS a\n\
             JOIN z AS b ON b.source = a.source AND b.task = a.task AND b.sample <> a.sample\n\
             JOIN ds_tasks AS t ON t.task = a.task\n\
             JOIN ds_shares AS s ON s.label = b.label\n\
             GROUP BY a.source, a.label, b.label"
                .into(),
        ),
        Step::table(
            "mixture_copies",
            "How probable a label is for who copies z.",
            format!(
                "SELECT v.source, v.z, s.label, (CASE\n\
                 \x20   WHEN k.classes = 1 OR o.label IS NULL THEN 1 / k.classes\n\
                 \x20   WHEN s.label = v.z THEN {COPY_FIDELITY:?}\n\
                 \x20   ELSE (1 - {COPY_FIDELITY:?}) / (k.classes - 1)\n\
                 \x20 END + COALESCE(c.seen, 0)) / (1 + COALESCE(t.seen, 0)) AS p\n\
                 FROM mixture_levels AS v\n\
                 CROSS JOIN ds_shares AS s\n\
                 CROSS JOIN ds_classes AS k\n\
                 LEFT JOIN ds_shares AS o ON o.label = v.z\n\
                 LEFT JOIN mixture_seen AS c ON c.source = v.source AND c.z = v.z AND c.label = s.label\n\
                 LEFT JOIN (SELECT source, z, SUM(seen) AS seen FROM mixture_seen GROUP BY source, z) AS t\n\
                 \x20 ON t.source = v.source AND t.z = v.z"
            ),
        ),
        Step::table(
            "mixture_votes",
            "How often the crowd gives a label where a class has a vote, by the share of its votes.",
            format!(
                "SELECT c.label AS class, v.label, SUM(CAST(v.seen * c.seen AS {float}) / t.reports) AS weight\n\
                 FROM votes AS v\n\
                 JOIN votes AS c ON c.task = v.task\n\
                 JOIN ds_tasks AS t ON t.task = v.task\n\
                 GROUP BY c.label, v.label"
            ),
        ),
        Step::table(
            "mixture_pooled",
            "The labels that the crowd as a whole gives to a class, as pseudo-observations.",
            format!(
                "SELECT c.label AS class, s.label, {} * COALESCE(v.weight, 0) / t.weight AS weight\n\
                 FROM ds_shares AS c\n\
                 CROSS JOIN ds_shares AS s\n\
                 JOIN (SELECT class, SUM(weight) AS weight FROM mixture_votes GROUP BY class) AS t\n\
                 \x20 ON t.class = c.label\n\
                 LEFT JOIN mixture_votes AS v ON v.class = c.label AND v.label = s.label",
                literal(CONFUSION_WEIGHT)
            ),
        ),
        Step::table(
            "mixture_entropy",
            "What the pseudo-observations of one worker add to the log-posterior.",
            "SELECT SUM(CASE WHEN weight > 0 THEN weight * LN(weight) ELSE 0 END) AS entropy\n\
             FROM mixture_pooled"
                .into(),
        ),
    ]
}

/// The parameters and posteriors at the start.
fn beginning(dialect: Dialect, crowd: usize) -> [Step; 3] {
    let float = dialect.float();
    [
        Step::table(
            "mixture_posteriors_0",
            "How probable a class is on a task, at the start.",
            format!(
                "SELECT a.source, a.attempt, t.task, s.label AS class,\n\
                 \x20 CASE WHEN a.by_votes = 1 THEN COALESCE(CAST(v.seen AS {float}) / t.reports, 0)\n\
                 \x20   ELSE COALESCE(d.p, 0) END AS p\n\
                 FROM mixture_attempts AS a\n\
                 CROSS JOIN ds_tasks AS t\n\
                 CROSS JOIN ds_shares AS s\n\
                 LEFT JOIN votes AS v ON v.task = t.task AND v.label = s.label\n\
                 LEFT JOIN ds_posteriors_{crowd} AS d ON d.task = t.task AND d.class = s.label"
            ),
        ),
        Step::table(
            "mixture_own_0",
            "How probable a label is where a worker answers alone, at the start.",
            format!(
                "SELECT a.source, a.attempt, l.worker, l.label, p.class, p.weight / {} AS own\n\
                 FROM mixture_attempts AS a\n\
                 CROSS JOIN ds_given AS l\n\
                 JOIN mixture_pooled AS p ON p.label = l.label",
                literal(CONFUSION_WEIGHT)
            ),
        ),
        Step::table(
            "mixture_copying_0",
            "How often a worker copies, at the start.",
            "SELECT a.source, a.attempt, w.worker, a.share\n\
             FROM mixture_attempts AS a CROSS JOIN workers AS w"
                .into(),
        ),
    ]
}

//! Dawid-Skene: one iteration of expectation maximisation after the other.
//!
//! An engine that nobody speaks to between the steps cannot stop early: the script holds as many
//! iterations as are asked for. The model is in [`crate::mechanism::DawidSkene`].

use super::{Dialect, Step};

/// What all iterations read, and the posteriors they start from: the shares of the votes.
pub(in crate::engine) fn start(dialect: Dialect) -> [Step; 4] {
    let float = dialect.float();
    [
        Step::table(
            "ds_tasks",
            "How many labels a task has.",
            "SELECT task, CAST(SUM(seen) AS BIGINT) AS reports FROM votes GROUP BY task".into(),
        ),
        Step::table(
            "ds_shares",
            "The share of every label among all labels.",
            format!(
                "SELECT label, CAST(SUM(seen) AS {float}) / (SELECT SUM(seen) FROM votes) AS share\n\
                 FROM votes GROUP BY label"
            ),
        ),
        Step::table(
            "ds_classes",
            "How many classes there are.",
            format!("SELECT CAST(COUNT(*) AS {float}) AS classes FROM ds_shares"),
        ),
        Step::table(
            "ds_posteriors_0",
            "How probable a class is on a task: at the start the share of the votes.",
            format!(
                "SELECT v.task, v.label AS class, CAST(v.seen AS {float}) / t.reports AS p\n\
                 FROM votes AS v JOIN ds_tasks AS t ON t.task = v.task"
            ),
        ),
    ]
}

/// The confusion matrices that belong to the posteriors of iteration `number`: how often a worker is
/// expected to give a label to tasks of a class, and how often to meet the class.
pub(in crate::engine) fn confusion(number: usize) -> [Step; 2] {
    [
        Step::table(
            format!("ds_confusion_{number}"),
            "How often a worker is expected to give a label to tasks of a class.",
            format!(
                "SELECT l.worker, q.class, l.label, SUM(q.p) AS weight\n\
                 FROM labels AS l JOIN ds_posteriors_{number} AS q ON q.task = l.task\n\
                 GROUP BY l.worker, q.class, l.label"
            ),
        ),
        Step::table(
            format!("ds_met_{number}"),
            "How often a worker is expected to meet a class.",
            format!(
                "SELECT worker, class, SUM(weight) AS total FROM ds_confusion_{number}\n\
                 GROUP BY worker, class"
            ),
        ),
    ]
}

/// The probability that a worker gives a label to a task of a class; where the worker never met the
/// class, all labels are alike. Reads the relations `m`, `f` and `k`.
const GIVES: &str =
    "CASE WHEN m.total > 0 THEN COALESCE(f.weight, 0) / m.total ELSE 1 / k.classes END";

/// Posteriors of iteration `number` from those of the one before.
pub(in crate::engine) fn iteration(number: usize) -> [Step; 3] {
    let before = number - 1;
    [
        Step::table(
            format!("ds_prior_{number}"),
            "How probable a class is: the mean over the tasks.",
            format!(
                "SELECT class, SUM(p) / (SELECT COUNT(*) FROM ds_tasks) AS p FROM ds_posteriors_{before}\n\
                 GROUP BY class"
            ),
        ),
        Step::table(
            format!("ds_logs_{number}"),
            "The logarithm of the probability of class and labels of a task, where it is possible.",
            format!(
                "SELECT task, class, LN(MIN(prior)) + SUM(CASE WHEN gives > 0 THEN LN(gives) ELSE 0 END) AS log_p\n\
                 FROM (\n\
                 \x20 SELECT l.task, c.class, c.p AS prior, {GIVES} AS gives\n\
                 \x20 FROM labels AS l\n\
                 \x20 CROSS JOIN ds_prior_{number} AS c\n\
                 \x20 CROSS JOIN ds_classes AS k\n\
                 \x20 LEFT JOIN ds_met_{before} AS m ON m.worker = l.worker AND m.class = c.class\n\
                 \x20 LEFT JOIN ds_confusion_{before} AS f\n\
                 \x20   ON f.worker = l.worker AND f.class = c.class AND f.label = l.label\n\
                 \x20 WHERE c.p > 0\n\
                 ) AS given\n\
                 GROUP BY task, class HAVING MIN(gives) > 0"
            ),
        ),
        Step::table(
            format!("ds_posteriors_{number}"),
            "How probable a class is on a task.",
            format!(
                "SELECT s.task, s.class, s.part / w.whole AS p\n\
                 FROM (\n\
                 \x20 SELECT a.task, a.class, EXP(a.log_p - b.most) AS part FROM ds_logs_{number} AS a\n\
                 \x20 JOIN (SELECT task, MAX(log_p) AS most FROM ds_logs_{number} GROUP BY task) AS b\n\
                 \x20   ON b.task = a.task\n\
                 ) AS s\n\
                 JOIN (\n\
                 \x20 SELECT a.task, SUM(EXP(a.log_p - b.most)) AS whole FROM ds_logs_{number} AS a\n\
                 \x20 JOIN (SELECT task, MAX(log_p) AS most FROM ds_logs_{number} GROUP BY task) AS b\n\
                 \x20   ON b.task = a.task\n\
                 \x20 GROUP BY a.task\n\
                 ) AS w ON w.task = s.task\n\
                 WHERE s.part > 0"
            ),
        ),
    ]
}

/// The log-likelihood by what iteration `number` began with.
#[cfg(feature = "distributed")]
pub(in crate::engine) fn likelihood(number: usize) -> String {
    format!(
        "SELECT SUM(b.most + LN(w.whole)) AS likelihood\n\
         FROM (SELECT task, MAX(log_p) AS most FROM ds_logs_{number} GROUP BY task) AS b\n\
         JOIN (\n\
         \x20 SELECT a.task, SUM(EXP(a.log_p - b.most)) AS whole FROM ds_logs_{number} AS a\n\
         \x20 JOIN (SELECT task, MAX(log_p) AS most FROM ds_logs_{number} GROUP BY task) AS b\n\
         \x20   ON b.task = a.task\n\
         \x20 GROUP BY a.task\n\
         ) AS w ON w.task = b.task"
    )
}

/// Relations that nothing reads any more once iteration `number` is over.
#[cfg(feature = "distributed")]
pub(in crate::engine) fn over(number: usize) -> [String; 5] {
    let before = number - 1;
    [
        format!("ds_prior_{number}"),
        format!("ds_logs_{number}"),
        format!("ds_posteriors_{before}"),
        format!("ds_confusion_{before}"),
        format!("ds_met_{before}"),
    ]
}

/// The scores by the posteriors of iteration `number`: source, worker and score.
pub(in crate::engine) fn scores(number: usize) -> String {
    format!(
        "SELECT '' AS source, w.worker, SUM(s.share * {GIVES}) AS score\n\
         \x20   FROM workers AS w\n\
         \x20   CROSS JOIN ds_shares AS s\n\
         \x20   CROSS JOIN ds_classes AS k\n\
         \x20   LEFT JOIN ds_met_{number} AS m ON m.worker = w.worker AND m.class = s.label\n\
         \x20   LEFT JOIN ds_confusion_{number} AS f\n\
         \x20     ON f.worker = w.worker AND f.class = s.label AND f.label = s.label\n\
         \x20   GROUP BY w.worker"
    )
}

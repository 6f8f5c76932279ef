//! Dawid-Skene: one iteration of expectation maximisation after the other.
//!
//! An engine that nobody speaks to between the steps cannot stop early: the script holds as many
//! iterations as are asked for. The model is in [`caz::MechanismName::DawidSkene`].

use super::{Dialect, Step};
use caz::for_caz_sql::IMPOSSIBLE_BELOW;

/// What all iterations read, and the posteriors they start from: the shares of the votes.
pub(crate) fn start(dialect: Dialect) -> [Step; 5] {
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
                "SELECT label, CAST(SUM(seen) AS {float}) / (SELECT SUM(seen) AS everything FROM votes) AS share\n\
                 FROM votes GROUP BY label"
            ),
        ),
        Step::table(
            "ds_classes",
            "How many classes there are.",
            format!("SELECT CAST(COUNT(*) AS {float}) AS classes FROM ds_shares"),
        ),
        Step::table(
            "ds_given",
            "Which labels a worker gives at all.",
            "SELECT DISTINCT worker, label FROM labels".into(),
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
pub(crate) fn confusion(number: usize) -> [Step; 2] {
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
pub(crate) fn iteration(number: usize) -> [Step; 5] {
    let before = number - 1;
    [
        Step::table(
            format!("ds_prior_{number}"),
            "How probable a class is: the mean over the tasks.",
            format!(
                "SELECT class, SUM(p) / (SELECT COUNT(*) AS tasks FROM ds_tasks) AS p FROM ds_posteriors_{before}\n\
                 GROUP BY class"
            ),
        ),
        Step::table(
            format!("ds_gives_{number}"),
            "The logarithm of the probability that a worker gives a label to a task of a class, or \
             that it is impossible.",
            format!(
                "SELECT worker, label, class, CASE WHEN gives > 0 THEN LN(gives) ELSE 0 END AS log_p,\n\
                 \x20 CASE WHEN gives > 0 THEN 0 ELSE 1 END AS impossible\n\
                 FROM (\n\
                 \x20 SELECT l.worker, l.label, c.class, {GIVES} AS gives\n\
                 \x20 FROM ds_given AS l\n\
                 \x20 CROSS JOIN ds_prior_{number} AS c\n\
                 \x20 CROSS JOIN ds_classes AS k\n\
                 \x20 LEFT JOIN ds_met_{before} AS m ON m.worker = l.worker AND m.class = c.class\n\
                 \x20 LEFT JOIN ds_confusion_{before} AS f\n\
                 \x20   ON f.worker = l.worker AND f.class = c.class AND f.label = l.label\n\
                 \x20 WHERE c.p > 0\n\
                 ) AS given"
            ),
        ),
        Step::table(
            format!("ds_logs_{number}"),
            "The logarithm of the probability of class and labels of a task, where it is possible.",
            format!(
                "SELECT j.task, j.class, LN(c.p) + j.log_p AS log_p\n\
                 FROM (\n\
                 \x20 SELECT l.task, g.class, SUM(g.log_p) AS log_p\n\
                 \x20 FROM labels AS l\n\
                 \x20 JOIN ds_gives_{number} AS g ON g.worker = l.worker AND g.label = l.label\n\
                 \x20 GROUP BY l.task, g.class HAVING SUM(g.impossible) = 0\n\
                 ) AS j\n\
                 JOIN ds_prior_{number} AS c ON c.class = j.class"
            ),
        ),
        Step::table(
            format!("ds_wholes_{number}"),
            "The labels of a task over all classes: the logarithm of the largest part, and the sum of \
             all parts as a multiple of it.",
            format!(
                "SELECT a.task, MIN(b.most) AS most, SUM({}) AS whole\n\
                 FROM ds_logs_{number} AS a\n\
                 JOIN (SELECT task, MAX(log_p) AS most FROM ds_logs_{number} GROUP BY task) AS b\n\
                 \x20 ON b.task = a.task\n\
                 GROUP BY a.task",
                part("b.most")
            ),
        ),
        Step::table(
            format!("ds_posteriors_{number}"),
            "How probable a class is on a task.",
            format!(
                "SELECT task, class, p\n\
                 FROM (\n\
                 \x20 SELECT a.task, a.class, {} / w.whole AS p\n\
                 \x20 FROM ds_logs_{number} AS a JOIN ds_wholes_{number} AS w ON w.task = a.task\n\
                 ) AS s\n\
                 WHERE p > 0",
                part("w.most")
            ),
        ),
    ]
}

/// A part of the whole as a multiple of the largest: `a.log_p` against the logarithm of that. A part
/// that is all but impossible is 0, as in the local fit; some engines would call it an error.
pub(super) fn part(most: &str) -> String {
    let below = format!("a.log_p - {most} < {IMPOSSIBLE_BELOW}");
    format!("CASE WHEN {below} THEN 0 ELSE EXP(a.log_p - {most}) END")
}

/// The log-likelihood by what iteration `number` began with.
#[cfg(feature = "datafusion")]
pub(crate) fn likelihood(number: usize) -> String {
    format!("SELECT SUM(most + LN(whole)) AS likelihood FROM ds_wholes_{number}")
}

/// Relations that nothing reads any more once iteration `number` is over.
#[cfg(feature = "datafusion")]
pub(crate) fn over(number: usize) -> [String; 7] {
    let before = number - 1;
    [
        format!("ds_prior_{number}"),
        format!("ds_gives_{number}"),
        format!("ds_logs_{number}"),
        format!("ds_wholes_{number}"),
        format!("ds_posteriors_{before}"),
        format!("ds_confusion_{before}"),
        format!("ds_met_{before}"),
    ]
}

/// Relations that iteration `number` left.
#[cfg(feature = "datafusion")]
pub(crate) fn left(number: usize) -> [String; 3] {
    [
        format!("ds_posteriors_{number}"),
        format!("ds_confusion_{number}"),
        format!("ds_met_{number}"),
    ]
}

/// The scores by the posteriors of iteration `number`: source, worker and score.
pub(crate) fn scores(number: usize) -> String {
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

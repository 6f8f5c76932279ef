//! The counts and sums of correlated agreement; the formulas are in [`caz::mechanism`].

use super::{Dialect, Step};
use crate::Strata;

/// What the names of the relations begin with.
pub(super) fn prefix(strata: Strata) -> &'static str {
    match strata {
        Strata::Z => "given_z",
        Strata::Whole => "whole",
    }
}

/// The labels in their strata, and how often each stands on a task.
pub(crate) fn reports(strata: Strata) -> [Step; 3] {
    let p = prefix(strata);
    let (about, select) = match strata {
        Strata::Z => (
            "Labels of the tasks that an LLM labelled, in the stratum of its label.",
            "SELECT z.source, z.label AS stratum, l.task, l.worker, l.label\n\
             FROM labels AS l JOIN z_first AS z ON z.task = l.task",
        ),
        Strata::Whole => (
            "All labels, in one stratum.",
            "SELECT '' AS source, '' AS stratum, task, worker, label FROM labels",
        ),
    };
    [
        Step::view(format!("{p}_reports"), about, select.into()),
        Step::table(
            format!("{p}_counts"),
            "How often a label stands on a task.",
            format!(
                "SELECT source, stratum, task, label, COUNT(*) AS seen FROM {p}_reports\n\
                 GROUP BY source, stratum, task, label"
            ),
        ),
        Step::table(
            format!("{p}_tasks"),
            "How many labels a task has.",
            format!(
                "SELECT source, stratum, task, CAST(SUM(seen) AS BIGINT) AS reports FROM {p}_counts\n\
                 GROUP BY source, stratum, task"
            ),
        ),
    ]
}

/// Tasks by stratum and number of labels.
pub(crate) fn sizes(strata: Strata) -> Step {
    let p = prefix(strata);
    Step::table(
        format!("{p}_sizes"),
        "How many tasks of a stratum have how many labels.",
        format!(
            "SELECT source, stratum, reports, COUNT(*) AS tasks FROM {p}_tasks\n\
             GROUP BY source, stratum, reports"
        ),
    )
}

/// Ordered pairs of labels by two workers on the same task.
pub(crate) fn pairs(strata: Strata) -> Step {
    let p = prefix(strata);
    Step::table(
        format!("{p}_pairs"),
        "How many ordered pairs of labels of two workers on the same task there are.",
        format!(
            "SELECT t.source, t.stratum, t.reports, a.label, b.label AS peer_label,\n\
             \x20 CAST(SUM(a.seen * (b.seen - CASE WHEN a.label = b.label THEN 1 ELSE 0 END)) AS BIGINT) AS pairs\n\
             FROM {p}_tasks AS t\n\
             JOIN {p}_counts AS a ON a.source = t.source AND a.task = t.task\n\
             JOIN {p}_counts AS b ON b.source = t.source AND b.task = t.task\n\
             WHERE t.reports > 1\n\
             GROUP BY t.source, t.stratum, t.reports, a.label, b.label"
        ),
    )
}

/// The scoring function in SQL, for engines that nobody speaks to between the steps.
pub(super) fn agreements(strata: Strata, dialect: Dialect) -> [Step; 3] {
    let (p, float) = (prefix(strata), dialect.float());
    [
        Step::table(
            format!("{p}_joint"),
            "P(label, peer_label | stratum): every task with two labels or more weighs the same.",
            format!(
                "SELECT p.source, p.stratum, p.label, p.peer_label,\n\
                 \x20 SUM(CAST(p.pairs AS {float}) / (p.reports * (p.reports - 1))) / MIN(u.tasks) AS share\n\
                 FROM {p}_pairs AS p\n\
                 JOIN (SELECT source, stratum, CAST(SUM(tasks) AS {float}) AS tasks FROM {p}_sizes\n\
                 \x20     WHERE reports > 1 GROUP BY source, stratum) AS u\n\
                 \x20 ON u.source = p.source AND u.stratum = p.stratum\n\
                 GROUP BY p.source, p.stratum, p.label, p.peer_label"
            ),
        ),
        Step::table(
            format!("{p}_single"),
            "P(label | stratum).",
            format!(
                "SELECT source, stratum, label, SUM(share) AS share FROM {p}_joint\n\
                 GROUP BY source, stratum, label"
            ),
        ),
        Step::table(
            format!("{p}_agreements"),
            "The pairs of labels that count as agreement: those that meet more often than by chance.",
            format!(
                "SELECT j.source, j.stratum, j.label, j.peer_label, 1 AS score\n\
                 FROM {p}_joint AS j\n\
                 JOIN {p}_single AS a ON a.source = j.source AND a.stratum = j.stratum AND a.label = j.label\n\
                 JOIN {p}_single AS b ON b.source = j.source AND b.stratum = j.stratum AND b.label = j.peer_label\n\
                 WHERE j.share - a.share * b.share > 1e-12"
            ),
        ),
    ]
}

/// The scoring function as a relation of constants.
#[cfg(feature = "datafusion")]
pub(crate) fn given_agreements(strata: Strata, agreements: &[crate::Agreement]) -> Step {
    use super::quoted;
    let p = prefix(strata);
    let row = |pair: &crate::Agreement| {
        format!(
            "({}, {}, {}, {}, 1)",
            quoted(&pair.source),
            quoted(&pair.stratum),
            quoted(&pair.label),
            quoted(&pair.peer_label)
        )
    };
    let rows: Vec<String> = agreements.iter().map(row).collect();
    let select = if rows.is_empty() {
        "SELECT '' AS source, '' AS stratum, '' AS label, '' AS peer_label, 1 AS score WHERE 1 = 0"
            .to_owned()
    } else {
        format!(
            "SELECT column1 AS source, column2 AS stratum, column3 AS label, column4 AS peer_label,\n\
             \x20 column5 AS score FROM (VALUES {}) AS given",
            rows.join(", ")
        )
    };
    Step::view(format!("{p}_agreements"), "The pairs of labels that count as agreement.", select)
}

/// The relation that [`terms`] end in.
#[cfg(feature = "datafusion")]
pub(crate) fn terms_name(strata: Strata) -> String {
    format!("{}_terms", prefix(strata))
}

/// The terms of every worker, summed by stratum.
pub(crate) fn terms(strata: Strata, dialect: Dialect) -> [Step; 5] {
    let (p, float) = (prefix(strata), dialect.float());
    [
        Step::table(
            format!("{p}_histograms"),
            "How often a worker gives a label in a stratum.",
            format!(
                "SELECT source, stratum, worker, label, COUNT(*) AS seen FROM {p}_reports\n\
                 GROUP BY source, stratum, worker, label"
            ),
        ),
        Step::table(
            format!("{p}_workers"),
            "How many tasks of a stratum a worker labelled.",
            format!(
                "SELECT source, stratum, worker, CAST(SUM(seen) AS BIGINT) AS tasks FROM {p}_histograms\n\
                 GROUP BY source, stratum, worker"
            ),
        ),
        Step::table(
            format!("{p}_penalties"),
            "On how many tasks of a stratum a worker would agree with whoever says label there.",
            format!(
                "SELECT h.source, h.stratum, h.worker, t.label, CAST(SUM(t.score * h.seen) AS BIGINT) AS paid\n\
                 FROM {p}_histograms AS h\n\
                 JOIN {p}_agreements AS t\n\
                 \x20 ON t.source = h.source AND t.stratum = h.stratum AND t.peer_label = h.label\n\
                 GROUP BY h.source, h.stratum, h.worker, t.label"
            ),
        ),
        Step::table(
            format!("{p}_offers"),
            "What all usable peers on a task are worth to whoever says label, and how many they are.",
            format!(
                "SELECT r.source, r.task, c.label, COUNT(*) AS peers,\n\
                 \x20 SUM(CAST(COALESCE(t.score, 0) * w.tasks - COALESCE(p.paid, 0) AS {float}) / (w.tasks - 1)) AS worth\n\
                 FROM {p}_reports AS r\n\
                 JOIN {p}_workers AS w\n\
                 \x20 ON w.source = r.source AND w.stratum = r.stratum AND w.worker = r.worker\n\
                 JOIN {p}_counts AS c ON c.source = r.source AND c.task = r.task\n\
                 LEFT JOIN {p}_agreements AS t\n\
                 \x20 ON t.source = r.source AND t.stratum = r.stratum AND t.label = c.label AND t.peer_label = r.label\n\
                 LEFT JOIN {p}_penalties AS p\n\
                 \x20 ON p.source = r.source AND p.stratum = r.stratum AND p.worker = r.worker AND p.label = c.label\n\
                 WHERE w.tasks > 1\n\
                 GROUP BY r.source, r.task, c.label"
            ),
        ),
        Step::table(
            format!("{p}_terms"),
            "For every worker and stratum: tasks with a usable peer, and the sum over them of what \
             the others are worth on average.",
            format!(
                "SELECT source, stratum, worker, COUNT(*) AS tasks,\n\
                 \x20 SUM((worth - CASE WHEN own > 1 THEN CAST(score * own - paid AS {float}) / (own - 1) ELSE 0 END)\n\
                 \x20   / (peers - CASE WHEN own > 1 THEN 1 ELSE 0 END)) AS total\n\
                 FROM (\n\
                 \x20 SELECT r.source, r.stratum, r.worker, o.peers, o.worth, w.tasks AS own,\n\
                 \x20   COALESCE(t.score, 0) AS score, COALESCE(p.paid, 0) AS paid\n\
                 \x20 FROM {p}_reports AS r\n\
                 \x20 JOIN {p}_workers AS w\n\
                 \x20   ON w.source = r.source AND w.stratum = r.stratum AND w.worker = r.worker\n\
                 \x20 JOIN {p}_offers AS o ON o.source = r.source AND o.task = r.task AND o.label = r.label\n\
                 \x20 LEFT JOIN {p}_agreements AS t\n\
                 \x20   ON t.source = r.source AND t.stratum = r.stratum AND t.label = r.label AND t.peer_label = r.label\n\
                 \x20 LEFT JOIN {p}_penalties AS p\n\
                 \x20   ON p.source = r.source AND p.stratum = r.stratum AND p.worker = r.worker AND p.label = r.label\n\
                 \x20 WHERE o.peers > CASE WHEN w.tasks > 1 THEN 1 ELSE 0 END\n\
                 ) AS offered\n\
                 GROUP BY source, stratum, worker"
            ),
        ),
    ]
}

//! What a fit says of the workers and of the LLMs.

use crate::engine::sql::Step;
use crate::mechanism::copy_mixture::{CONFUSION_WEIGHT, ROUNDING};

/// The scores by the parameters of iteration `number`, of the attempts for which `kept` is true: a
/// condition on the source and attempt of `q`.
pub(in crate::engine) fn scores(number: usize, kept: Option<&str>) -> [Step; 2] {
    let kept = kept.map(|kept| format!("WHERE {kept}\n")).unwrap_or_default();
    [
        Step::table(
            format!("mixture_matrices_{number}"),
            "How probable a class is, and how probable every label where a worker answers alone.",
            format!(
                "SELECT q.source, q.attempt, q.worker, q.class, g.label, p.p AS class_p,\n\
                 \x20 COALESCE(o.own, g.weight / (q.total + {CONFUSION_WEIGHT:?})) AS own\n\
                 FROM mixture_totals_{number} AS q\n\
                 JOIN mixture_pooled AS g ON g.class = q.class\n\
                 JOIN mixture_prior_{number} AS p\n\
                 \x20 ON p.source = q.source AND p.attempt = q.attempt AND p.class = q.class\n\
                 LEFT JOIN mixture_own_{number} AS o ON o.source = q.source AND o.attempt = q.attempt\n\
                 \x20 AND o.worker = q.worker AND o.class = q.class AND o.label = g.label\n\
                 {kept}"
            )
            .trim_end()
            .to_owned(),
        ),
        Step::table(
            format!("mixture_scores_{number}"),
            "The share of a worker's own answers times what they say about the class; of who has a \
             task of which the LLM says something.",
            format!(
                "SELECT m.source, m.attempt, m.worker, MIN(s.share) AS copied,\n\
                 \x20 (1 - MIN(s.share)) * SUM(m.class_p * ABS(m.own - a.mean)) AS score,\n\
                 \x20 CAST(MIN(v.trials) AS BIGINT) AS tasks\n\
                 FROM mixture_matrices_{number} AS m\n\
                 JOIN (\n\
                 \x20 SELECT source, attempt, worker, label, SUM(class_p * own) AS mean\n\
                 \x20 FROM mixture_matrices_{number} GROUP BY source, attempt, worker, label\n\
                 ) AS a ON a.source = m.source AND a.attempt = m.attempt AND a.worker = m.worker\n\
                 \x20 AND a.label = m.label\n\
                 JOIN mixture_copying_{number} AS s\n\
                 \x20 ON s.source = m.source AND s.attempt = m.attempt AND s.worker = m.worker\n\
                 JOIN mixture_covered AS v ON v.source = m.source AND v.worker = m.worker\n\
                 WHERE v.trials > 0\n\
                 GROUP BY m.source, m.attempt, m.worker"
            ),
        ),
    ]
}

/// On how many tasks one class is the most probable by iteration `number`, and on how many of these
/// the LLM says so, for the attempts of `kept`.
#[cfg(feature = "distributed")]
pub(in crate::engine) fn like_llm(number: usize, kept: &str) -> String {
    format!(
        "SELECT d.source, d.attempt, COUNT(*) AS tasks,\n\
         \x20 CAST(SUM(CASE WHEN d.class = t.z THEN 1 ELSE 0 END) AS BIGINT) AS same\n\
         FROM (\n\
         \x20 SELECT q.source, q.attempt, q.task, MIN(q.class) AS class\n\
         \x20 FROM mixture_posteriors_{number} AS q\n\
         \x20 JOIN (\n\
         \x20   SELECT source, attempt, task, MAX(p) AS most FROM mixture_posteriors_{number}\n\
         \x20   GROUP BY source, attempt, task\n\
         \x20 ) AS b ON b.source = q.source AND b.attempt = q.attempt AND b.task = q.task AND b.most = q.p\n\
         \x20 WHERE {kept}\n\
         \x20 GROUP BY q.source, q.attempt, q.task HAVING COUNT(*) = 1\n\
         ) AS d\n\
         JOIN mixture_tasks AS t ON t.source = d.source AND t.task = d.task\n\
         WHERE t.z <> ''\n\
         GROUP BY d.source, d.attempt"
    )
}

/// The scores of the best start of every LLM by iteration `number`: source, worker and score.
pub(in crate::engine::sql) fn best(number: usize) -> String {
    format!(
        "SELECT s.source, s.worker, s.score\n\
         \x20   FROM mixture_scores_{number} AS s\n\
         \x20   JOIN (\n\
         \x20     SELECT o.source, MIN(o.attempt) AS attempt\n\
         \x20     FROM mixture_objective_{number} AS o\n\
         \x20     JOIN (SELECT source, MAX(objective) AS most FROM mixture_objective_{number} GROUP BY source) AS b\n\
         \x20       ON b.source = o.source\n\
         \x20     WHERE o.objective >= b.most - {ROUNDING:?} * ABS(b.most)\n\
         \x20     GROUP BY o.source\n\
         \x20   ) AS a ON a.source = s.source AND a.attempt = s.attempt"
    )
}

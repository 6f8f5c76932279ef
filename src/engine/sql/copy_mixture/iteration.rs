//! One iteration: what the posteriors make expected, the parameters, the posteriors by these.

use crate::engine::sql::Step;
use crate::engine::sql::dawid_skene::part;
use crate::mechanism::copy_mixture::{CONFUSION_WEIGHT, COPYING_START, COPYING_WEIGHT, LLM_WEIGHT};

/// Stands for the logarithm of 0: far below every other, and its sums are still numbers.
const IMPOSSIBLE: &str = "-1e30";

/// Iteration `number` of the attempts of the one before, without those for which `kept` is false: a
/// condition on the source and attempt of `q`.
pub(in crate::engine) fn iteration(number: usize, kept: Option<&str>) -> Vec<Step> {
    let mut steps = counts(number, kept).to_vec();
    steps.extend(parameters(number));
    steps.extend(posteriors(number));
    steps.push(objective(number));
    steps
}

/// What the posteriors of the iteration before make expected.
fn counts(number: usize, kept: Option<&str>) -> [Step; 4] {
    let before = number - 1;
    let kept = kept.map(|kept| format!("WHERE {kept}\n")).unwrap_or_default();
    [
        Step::table(
            format!("mixture_contexts_{number}"),
            "How many tasks of a class an LLM is expected to say z of.",
            format!(
                "SELECT q.source, q.attempt, t.z, q.class, SUM(q.p) AS weight\n\
                 FROM mixture_posteriors_{before} AS q\n\
                 JOIN mixture_tasks AS t ON t.source = q.source AND t.task = q.task\n\
                 {kept}GROUP BY q.source, q.attempt, t.z, q.class"
            ),
        ),
        Step::table(
            format!("mixture_prior_{number}"),
            "How probable a class is: the mean over the tasks.",
            format!(
                "SELECT source, attempt, class, SUM(weight) / (SELECT COUNT(*) AS tasks FROM ds_tasks) AS p\n\
                 FROM mixture_contexts_{number} GROUP BY source, attempt, class"
            ),
        ),
        Step::table(
            format!("mixture_llm_{number}"),
            "How probable it is that an LLM says z of a task of a class.",
            format!(
                "SELECT c.source, c.attempt, c.z, c.class, v.levels,\n\
                 \x20 (c.weight + {LLM_WEIGHT:?} / v.levels) / (t.weight + {LLM_WEIGHT:?}) AS p\n\
                 FROM mixture_contexts_{number} AS c\n\
                 JOIN mixture_levels AS v ON v.source = c.source AND v.z = c.z\n\
                 JOIN (\n\
                 \x20 SELECT source, attempt, class, SUM(weight) AS weight FROM mixture_contexts_{number}\n\
                 \x20 WHERE z <> '' GROUP BY source, attempt, class\n\
                 ) AS t ON t.source = c.source AND t.attempt = c.attempt AND t.class = c.class"
            ),
        ),
        Step::table(
            format!("mixture_origins_{number}"),
            "How often a worker is expected to give a label to tasks of a class alone, and how often \
             as a copy.",
            format!(
                "SELECT source, attempt, worker, label, class,\n\
                 \x20 SUM(CASE WHEN likeness > 0 THEN met * (1 - share) * own / (share * likeness + (1 - share) * own) ELSE met END) AS alone,\n\
                 \x20 SUM(CASE WHEN likeness > 0 THEN met * share * likeness / (share * likeness + (1 - share) * own) ELSE 0 END) AS copied\n\
                 FROM (\n\
                 \x20 SELECT m.source, m.attempt, m.worker, m.label, m.class, m.met, o.own, s.share,\n\
                 \x20   COALESCE(c.p, 0) AS likeness\n\
                 \x20 FROM (\n\
                 \x20   SELECT q.source, q.attempt, r.worker, r.label, r.z, q.class, SUM(q.p) AS met\n\
                 \x20   FROM mixture_posteriors_{before} AS q\n\
                 \x20   JOIN mixture_reports AS r ON r.source = q.source AND r.task = q.task\n\
                 \x20   {kept}GROUP BY q.source, q.attempt, r.worker, r.label, r.z, q.class\n\
                 \x20 ) AS m\n\
                 \x20 JOIN mixture_own_{before} AS o ON o.source = m.source AND o.attempt = m.attempt\n\
                 \x20   AND o.worker = m.worker AND o.label = m.label AND o.class = m.class\n\
                 \x20 JOIN mixture_copying_{before} AS s\n\
                 \x20   ON s.source = m.source AND s.attempt = m.attempt AND s.worker = m.worker\n\
                 \x20 LEFT JOIN mixture_copies AS c\n\
                 \x20   ON c.source = m.source AND c.z = m.z AND c.label = m.label\n\
                 ) AS given\n\
                 GROUP BY source, attempt, worker, label, class"
            ),
        ),
    ]
}

/// How often the workers copy, and what they answer alone.
fn parameters(number: usize) -> [Step; 3] {
    let (copying_start, copying_weight) = (COPYING_WEIGHT * COPYING_START, COPYING_WEIGHT);
    [
        Step::table(
            format!("mixture_copying_{number}"),
            "How often a worker copies.",
            format!(
                "SELECT o.source, o.attempt, o.worker,\n\
                 \x20 (SUM(o.copied) + {copying_start:?}) / (MIN(v.trials) + {copying_weight:?}) AS share\n\
                 FROM mixture_origins_{number} AS o\n\
                 JOIN mixture_covered AS v ON v.source = o.source AND v.worker = o.worker\n\
                 GROUP BY o.source, o.attempt, o.worker"
            ),
        ),
        Step::table(
            format!("mixture_totals_{number}"),
            "How often a worker is expected to answer alone to tasks of a class.",
            format!(
                "SELECT source, attempt, worker, class, SUM(alone) AS total FROM mixture_origins_{number}\n\
                 GROUP BY source, attempt, worker, class"
            ),
        ),
        Step::table(
            format!("mixture_own_{number}"),
            "How probable a label is where a worker answers alone, drawn to the crowd as a whole.",
            format!(
                "SELECT o.source, o.attempt, o.worker, o.label, o.class,\n\
                 \x20 (o.alone + p.weight) / (t.total + {CONFUSION_WEIGHT:?}) AS own,\n\
                 \x20 CASE WHEN p.weight > 0 THEN p.weight * LN((o.alone + p.weight) / p.weight) ELSE 0 END AS gained\n\
                 FROM mixture_origins_{number} AS o\n\
                 JOIN mixture_totals_{number} AS t ON t.source = o.source AND t.attempt = o.attempt\n\
                 \x20 AND t.worker = o.worker AND t.class = o.class\n\
                 JOIN mixture_pooled AS p ON p.class = o.class AND p.label = o.label"
            ),
        ),
    ]
}

/// The posteriors by these parameters.
fn posteriors(number: usize) -> [Step; 4] {
    [
        Step::table(
            format!("mixture_gives_{number}"),
            "The logarithm of the probability that a worker gives a label to a task of a class of \
             which an LLM says z.",
            format!(
                "SELECT source, attempt, worker, label, z, class,\n\
                 \x20 CASE WHEN gives > 0 THEN LN(gives) ELSE {IMPOSSIBLE} END AS log_p\n\
                 FROM (\n\
                 \x20 SELECT o.source, o.attempt, o.worker, o.label, l.z, o.class,\n\
                 \x20   CASE WHEN c.p > 0 THEN s.share * c.p + (1 - s.share) * o.own ELSE o.own END AS gives\n\
                 \x20 FROM mixture_own_{number} AS o\n\
                 \x20 JOIN mixture_cells AS l\n\
                 \x20   ON l.source = o.source AND l.worker = o.worker AND l.label = o.label\n\
                 \x20 JOIN mixture_copying_{number} AS s\n\
                 \x20   ON s.source = o.source AND s.attempt = o.attempt AND s.worker = o.worker\n\
                 \x20 LEFT JOIN mixture_copies AS c\n\
                 \x20   ON c.source = o.source AND c.z = l.z AND c.label = o.label\n\
                 ) AS given"
            ),
        ),
        Step::table(
            format!("mixture_logs_{number}"),
            "The logarithm of the probability of class, labels and LLM on a task.",
            format!(
                "SELECT j.source, j.attempt, j.task, j.class, j.log_p + COALESCE(LN(m.p), 0)\n\
                 \x20 + CASE WHEN p.p > 0 THEN LN(p.p) ELSE {IMPOSSIBLE} END AS log_p\n\
                 FROM (\n\
                 \x20 SELECT g.source, g.attempt, r.task, MIN(r.z) AS z, g.class, SUM(g.log_p) AS log_p\n\
                 \x20 FROM mixture_reports AS r\n\
                 \x20 JOIN mixture_gives_{number} AS g ON g.source = r.source AND g.worker = r.worker\n\
                 \x20   AND g.label = r.label AND g.z = r.z\n\
                 \x20 GROUP BY g.source, g.attempt, r.task, g.class\n\
                 ) AS j\n\
                 JOIN mixture_prior_{number} AS p\n\
                 \x20 ON p.source = j.source AND p.attempt = j.attempt AND p.class = j.class\n\
                 LEFT JOIN mixture_llm_{number} AS m ON m.source = j.source\n\
                 \x20 AND m.attempt = j.attempt AND m.z = j.z AND m.class = j.class"
            ),
        ),
        Step::table(
            format!("mixture_wholes_{number}"),
            "A task over all classes: the logarithm of the largest part, and the sum of all parts as \
             a multiple of it.",
            format!(
                "SELECT a.source, a.attempt, a.task, MIN(b.most) AS most, SUM({}) AS whole\n\
                 FROM mixture_logs_{number} AS a\n\
                 JOIN (\n\
                 \x20 SELECT source, attempt, task, MAX(log_p) AS most FROM mixture_logs_{number}\n\
                 \x20 GROUP BY source, attempt, task\n\
                 ) AS b ON b.source = a.source AND b.attempt = a.attempt AND b.task = a.task\n\
                 GROUP BY a.source, a.attempt, a.task",
                part("b.most")
            ),
        ),
        Step::table(
            format!("mixture_posteriors_{number}"),
            "How probable a class is on a task.",
            format!(
                "SELECT a.source, a.attempt, a.task, a.class, {} / w.whole AS p\n\
                 FROM mixture_logs_{number} AS a JOIN mixture_wholes_{number} AS w\n\
                 \x20 ON w.source = a.source AND w.attempt = a.attempt AND w.task = a.task",
                part("w.most")
            ),
        ),
    ]
}

fn objective(number: usize) -> Step {
    let copying_start = COPYING_WEIGHT * COPYING_START;
    let alone_weight = COPYING_WEIGHT * (1.0 - COPYING_START);
    Step::table(
        format!("mixture_objective_{number}"),
        "The log-posterior by what the iteration began with.",
        format!(
            "SELECT source, attempt, SUM(part) AS objective\n\
                 FROM (\n\
                 \x20 SELECT source, attempt, SUM(most + LN(whole)) AS part FROM mixture_wholes_{number}\n\
                 \x20 GROUP BY source, attempt UNION ALL\n\
                 \x20 SELECT source, attempt, SUM({LLM_WEIGHT:?} / levels * LN(p)) AS part FROM mixture_llm_{number}\n\
                 \x20 GROUP BY source, attempt UNION ALL\n\
                 \x20 SELECT s.source, s.attempt, SUM({copying_start:?} * LN(s.share) + {alone_weight:?} * LN(1 - s.share)\n\
                 \x20   + e.entropy) AS part\n\
                 \x20 FROM mixture_copying_{number} AS s CROSS JOIN mixture_entropy AS e\n\
                 \x20 GROUP BY s.source, s.attempt UNION ALL\n\
                 \x20 SELECT source, attempt, SUM(-{CONFUSION_WEIGHT:?} * LN(total + {CONFUSION_WEIGHT:?})) AS part\n\
                 \x20 FROM mixture_totals_{number} GROUP BY source, attempt UNION ALL\n\
                 \x20 SELECT source, attempt, SUM(gained) AS part FROM mixture_own_{number}\n\
                 \x20 GROUP BY source, attempt\n\
                 ) AS parts\n\
                 GROUP BY source, attempt"
        ),
    )
}

/// Relations that nothing reads any more once iteration `number` is over.
#[cfg(feature = "distributed")]
pub(in crate::engine) fn over(number: usize) -> Vec<String> {
    let before = number - 1;
    let mut names = [
        format!("mixture_contexts_{number}"),
        format!("mixture_llm_{number}"),
        format!("mixture_origins_{number}"),
        format!("mixture_gives_{number}"),
        format!("mixture_logs_{number}"),
        format!("mixture_wholes_{number}"),
        format!("mixture_objective_{number}"),
    ]
    .to_vec();
    names.extend(left(before));
    names
}

/// Relations that iteration `number` left.
#[cfg(feature = "distributed")]
pub(in crate::engine) fn left(number: usize) -> Vec<String> {
    let mut names = ["posteriors", "own", "copying"].to_vec();
    if number > 0 {
        names.extend(["totals", "prior"]);
    }
    names.into_iter().map(|name| format!("mixture_{name}_{number}")).collect()
}

//! The copy mixture: one iteration after the other, for all LLMs and all starts at once.
//!
//! An *attempt* is a start of one LLM. Every relation holds every class of every attempt, so that
//! all joins but those with an LLM that says nothing of a task are inner ones. The model, its
//! constants and its starts are in [`crate::mechanism::CopyMixture`].

use super::dawid_skene::part;
use super::{Dialect, Step};
use crate::mechanism::copy_mixture::{
    CONFUSION_WEIGHT, COPY_FIDELITY, COPYING_START, COPYING_WEIGHT, LLM_WEIGHT, ROUNDING, STARTS,
    StartTruth,
};

/// Stands for the logarithm of 0: far below every other, and its sums are still numbers.
const IMPOSSIBLE: &str = "-1e30";

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
                "SELECT source, attempt, class, SUM(weight) / (SELECT COUNT(*) FROM ds_tasks) AS p\n\
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
pub(super) fn best(number: usize) -> String {
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

//! Counts of what workers share with an LLM and with each other.

use super::correlated::prefix;
use super::{Dialect, Step};
use crate::Strata;

/// Tasks of each worker in strata, agreement with the LLM, and tasks with a peer.
pub(crate) fn covered(strata: Strata) -> Step {
    let p = prefix(strata);
    Step::table(
        format!("{p}_covered"),
        "For every worker: tasks in a stratum, how often the worker says what the LLM says there, \
         and how many of the tasks somebody else labelled.",
        format!(
            "SELECT r.source, r.worker, COUNT(*) AS tasks,\n\
             \x20 CAST(SUM(CASE WHEN r.label = r.stratum THEN 1 ELSE 0 END) AS BIGINT) AS same,\n\
             \x20 CAST(SUM(CASE WHEN t.reports > 1 THEN 1 ELSE 0 END) AS BIGINT) AS shared\n\
             FROM {p}_reports AS r JOIN {p}_tasks AS t ON t.source = r.source AND t.task = r.task\n\
             GROUP BY r.source, r.worker"
        ),
    )
}

/// Output agreement of every two workers with a common task, summed over the peers of each.
pub(crate) fn output_agreement(strata: Strata, dialect: Dialect) -> Step {
    let (p, float) = (prefix(strata), dialect.float());
    Step::table(
        format!("{p}_peers"),
        "Sum over the peers of a worker of the share of common tasks on which they agree beyond the LLM.",
        format!(
            "SELECT source, worker, SUM(CAST(agreed AS {float}) / both_labelled) AS total\n\
             FROM (\n\
             \x20 SELECT i.source, i.worker, j.worker AS peer, COUNT(*) AS both_labelled,\n\
             \x20   SUM(CASE WHEN i.label = j.label AND i.label <> i.stratum THEN 1 ELSE 0 END) AS agreed\n\
             \x20 FROM {p}_reports AS i\n\
             \x20 JOIN {p}_reports AS j ON j.source = i.source AND j.task = i.task AND j.worker <> i.worker\n\
             \x20 GROUP BY i.source, i.worker, j.worker\n\
             ) AS met\n\
             GROUP BY source, worker"
        ),
    )
}

//! Division of work, and its merging, that do not depend on the number of threads.

use crate::data::labels::LabelTable;
use crate::stats::moments::Moments;

/// Most parts; sums are merged part by part, so this bounds what merging costs.
const MOST_CHUNKS: usize = 16;

/// Fewest reports per part: less is not worth a thread.
const LEAST_REPORTS: usize = 1 << 15;

/// Splits tasks into parts of similar size, by the data alone.
///
/// Each part may hold an entry per worker; merging these costs at most a quarter of the reports.
pub(crate) fn task_chunks<'t>(table: &LabelTable, tasks: &'t [u32]) -> Vec<&'t [u32]> {
    let reports = table.report_count().saturating_mul(tasks.len()) / table.task_count().max(1);
    let parts = (reports / least_reports(table)).clamp(1, MOST_CHUNKS);
    tasks.chunks(tasks.len().div_ceil(parts).max(1)).collect()
}

/// Upper bound of the number of parts of any tasks of this table.
pub(crate) fn most_chunks(table: &LabelTable) -> usize {
    (table.report_count() / least_reports(table)).clamp(1, MOST_CHUNKS)
}

fn least_reports(table: &LabelTable) -> usize {
    LEAST_REPORTS.max(4 * table.worker_count())
}

/// Merges moments per worker, in the order of the parts.
pub(crate) fn merged(parts: Vec<Vec<Moments>>) -> Vec<Moments> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (total, part) in total.iter_mut().zip(&part) {
            total.merge(part);
        }
    }
    total
}

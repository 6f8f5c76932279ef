//! Division of work that does not depend on the number of threads.

use crate::data::labels::LabelTable;

/// Most parts; sums are merged part by part, so this bounds what merging costs.
const MOST_CHUNKS: usize = 16;

/// Fewest reports per part: less is not worth a thread.
const LEAST_REPORTS: usize = 1 << 15;

/// Splits tasks into parts of similar size, by the data alone.
///
/// Each part may hold an entry per worker; merging these costs at most a quarter of the reports.
pub(crate) fn task_chunks<'t>(table: &LabelTable, tasks: &'t [u32]) -> Vec<&'t [u32]> {
    let average = table.report_count() as f64 / table.task_count().max(1) as f64;
    let reports = (average * tasks.len() as f64) as usize;
    let least = LEAST_REPORTS.max(4 * table.worker_count());
    let parts = (reports / least).clamp(1, MOST_CHUNKS);
    tasks.chunks(tasks.len().div_ceil(parts).max(1)).collect()
}

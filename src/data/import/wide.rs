//! Wide tables: one row a worker and a column a task, or the other way round.

use super::output::Output;
use super::peek::{Peek, Root};
use super::records::Records;
use super::{ImportError, Importer, Request, Wide};

pub(super) struct WideTable;

impl Importer for WideTable {
    fn name(&self) -> &'static str {
        "wide"
    }

    /// Only where the user says so: a wide table looks like any other.
    fn detect(&self, _peek: &Peek<'_>) -> bool {
        false
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        read_wide(peek, request, output)
    }
}

/// The first column, or the one that the user names, has the name of the row; every other column is
/// a task or a worker. A blank cell is no answer.
pub(super) fn read_wide(
    peek: &Peek<'_>,
    request: &Request<'_>,
    output: &mut Output,
) -> Result<(), ImportError> {
    if !matches!(peek.root, Root::Table { .. } | Root::Json { .. }) {
        return Err(request.columns("it is no table".into()));
    }
    let way = request.settings.wide.unwrap_or(Wide::Worker);
    let key = if way == Wide::Worker { "worker" } else { "task" };
    let records = Records::of(peek, request)?;
    let first = records.names().first().cloned().unwrap_or_default();
    let name = request.settings.columns.get(key).cloned().unwrap_or(first);
    if !records.names().contains(&name) {
        return Err(request.columns(format!("there is no column `{name}`")));
    }
    let others: Vec<String> =
        records.names().iter().filter(|other| **other != name).cloned().collect();
    records.each(output, |record, output| {
        let Some(row) = record.get(&name) else {
            return output.leave_out(format!("rows without a {key}"));
        };
        for other in &others {
            let Some(answer) = record.get(other) else { continue };
            let (task, worker) =
                if way == Wide::Worker { (other.as_str(), row) } else { (row, other.as_str()) };
            if request.wanted.is_reviews() {
                output.review(task, worker, answer);
            } else {
                output.label(task, worker, answer);
            }
        }
    })
}

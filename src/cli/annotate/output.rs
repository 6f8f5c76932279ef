//! The format of an annotation, by flag or by the ending of the output.

use crate::annotate::RowFormat;
use crate::cli::common::{Common, OutputFormat};
use crate::cli::exit::UsageError;
use crate::error::Result;

/// By flag, by the ending of the output, else `default`.
pub(super) fn row_format(common: &Common, default: RowFormat) -> Result<RowFormat> {
    let by_ending = common.output.as_deref().and_then(OutputFormat::by_ending);
    match common.format.or(by_ending) {
        Some(OutputFormat::Csv) => Ok(RowFormat::Csv),
        Some(OutputFormat::Jsonl) => Ok(RowFormat::JsonLines),
        Some(OutputFormat::Json) => Ok(RowFormat::Json),
        None if common.output.is_none() => Ok(default),
        _ => {
            let message = "annotations are written as csv, jsonl or json; \
                           end --output so, or add --format";
            Err(UsageError(message.into()).into())
        }
    }
}

/// By the ending of a file beside the output.
pub(super) fn row_format_of(path: &std::path::Path) -> Option<RowFormat> {
    match OutputFormat::by_ending(path)? {
        OutputFormat::Csv => Some(RowFormat::Csv),
        OutputFormat::Jsonl => Some(RowFormat::JsonLines),
        _ => None,
    }
}

//! The rows of an answer, as texts, integers and floating point numbers.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use datafusion::common::DataFusionError;

/// A column of an answer.
enum Values {
    Text(Vec<String>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
}

/// One row of an answer.
pub(super) struct Row {
    columns: Arc<Vec<Values>>,
    row: usize,
}

impl Row {
    pub(super) fn text(&self, column: usize) -> String {
        match &self.columns[column] {
            Values::Text(values) => values[self.row].clone(),
            Values::Integer(values) => values[self.row].to_string(),
            Values::Float(values) => values[self.row].to_string(),
        }
    }

    pub(super) fn integer(&self, column: usize) -> i64 {
        match &self.columns[column] {
            Values::Integer(values) => values[self.row],
            _ => 0,
        }
    }

    /// A count, which is never negative.
    pub(super) fn count(&self, column: usize) -> u64 {
        u64::try_from(self.integer(column)).unwrap_or_default()
    }

    pub(super) fn float(&self, column: usize) -> f64 {
        match &self.columns[column] {
            Values::Float(values) => values[self.row],
            Values::Integer(values) => values[self.row] as f64,
            Values::Text(_) => f64::NAN,
        }
    }
}

/// The rows of an answer.
pub(super) fn read(batches: &[RecordBatch]) -> Result<Vec<Row>, DataFusionError> {
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<Values> = batch.columns().iter().map(values).collect::<Result<_, _>>()?;
        let columns = Arc::new(columns);
        rows.extend((0..batch.num_rows()).map(|row| Row { columns: columns.clone(), row }));
    }
    Ok(rows)
}

/// The values of a column.
fn values(column: &ArrayRef) -> Result<Values, DataFusionError> {
    let kind = column.data_type();
    Ok(if kind.is_integer() {
        let column = cast(column, &DataType::Int64)?;
        let values = column.as_primitive::<Int64Type>().iter();
        Values::Integer(values.map(given).collect::<Result<_, _>>()?)
    } else if kind.is_floating() {
        let column = cast(column, &DataType::Float64)?;
        let values = column.as_primitive::<Float64Type>().iter();
        Values::Float(values.map(given).collect::<Result<_, _>>()?)
    } else {
        let column = cast(column, &DataType::Utf8)?;
        let texts = column.as_string::<i32>().iter();
        Values::Text(texts.map(|text| given(text).map(str::to_owned)).collect::<Result<_, _>>()?)
    })
}

/// No column of the plan is null where rows without a name are refused.
fn given<T>(value: Option<T>) -> Result<T, DataFusionError> {
    value.ok_or_else(|| DataFusionError::Execution("a value is missing in an answer".into()))
}

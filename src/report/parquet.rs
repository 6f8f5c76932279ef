//! Parquet: the table with the types of its columns, the rest of the envelope beside it.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::json::Envelope;
use super::{Cell, Exporter, Report, Table};

/// What the envelope is called among the metadata of the file.
const METADATA: &str = "caz";

/// Writes one Parquet file. A column is of texts, of integers, of numbers, or, where no row has a
/// value, of nulls; the metadata `caz` hold the JSON envelope without its results.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParquetExporter;

impl Exporter for ParquetExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let table = &report.table;
        let columns = table.columns().iter().enumerate();
        let columns = columns.map(|(index, name)| (*name, column(table, index), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(io::Error::other)?;
        let about = serde_json::to_string(&Envelope::of(report, None))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(vec![KeyValue::new(METADATA.to_owned(), about)]))
            .build();
        // The writer wants to be sent between threads, which `out` need not be.
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close()?;
        out.write_all(&bytes)
    }
}

/// A column with the narrowest type that holds all of its cells.
fn column(table: &Table, index: usize) -> ArrayRef {
    let cells = || table.rows().iter().map(|row| &row[index]);
    let is = |kind: fn(&Cell) -> bool| cells().all(|cell| *cell == Cell::Missing || kind(cell));
    if is(|_| false) {
        Arc::new(NullArray::new(table.rows().len()))
    } else if is(|cell| integer(cell).is_some()) {
        Arc::new(cells().map(integer).collect::<Int64Array>())
    } else if is(|cell| number(cell).is_some()) {
        Arc::new(cells().map(number).collect::<Float64Array>())
    } else {
        Arc::new(cells().map(text).collect::<StringArray>())
    }
}

fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Number(number) => Some(*number),
        _ => None,
    }
}

fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Missing => None,
        Cell::Text(text) => Some(text.clone()),
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Number(number) => Some(number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_schema::DataType;
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::{Value, json};

    use super::super::tests::example;
    use super::*;

    fn bytes(report: &Report) -> Vec<u8> {
        let mut bytes = Vec::new();
        ParquetExporter.write(report, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn columns_keep_their_types_and_missing_cells_are_null() {
        let mut report = example();
        let mut table = Table::new(&["name", "count", "score", "never"]);
        table.push(vec!["a, \"b\"".into(), 3_usize.into(), 0.25.into(), Cell::Missing]);
        table.push(vec!["=1".into(), Cell::Missing, 2_usize.into(), Cell::Missing]);
        table.push(vec![Cell::Missing, 0_usize.into(), f64::NAN.into(), Cell::Missing]);
        report.table = table;
        let written = bytes(&report);
        assert_eq!(written, bytes(&report));
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(written)).unwrap();
        let about = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let about = about.iter().find(|pair| pair.key == "caz").unwrap().value.as_ref().unwrap();
        let about: Value = serde_json::from_str(about).unwrap();
        assert_eq!(about["settings"], json!({"seed": 1}));
        assert_eq!(about["inputs"][0]["rows"], 2);
        assert_eq!(about["warnings"][0]["count"], 1);
        assert_eq!(about.get("results"), None);
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let kinds: Vec<DataType> =
            batch.schema().fields().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(kinds, [DataType::Utf8, DataType::Int64, DataType::Float64, DataType::Null]);
        let texts: Vec<_> = batch.column(0).as_string::<i32>().iter().collect();
        assert_eq!(texts, [Some("a, \"b\""), Some("=1"), None]);
        let counts: Vec<_> = batch.column(1).as_primitive::<Int64Type>().iter().collect();
        assert_eq!(counts, [Some(3), None, Some(0)]);
        let scores: Vec<_> = batch.column(2).as_primitive::<Float64Type>().iter().collect();
        assert_eq!(scores, [Some(0.25), Some(2.0), None]);
    }

    #[test]
    fn a_table_without_rows_is_a_file() {
        let mut report = example();
        report.table = Table::new(&["reviewer", "score"]);
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes(&report))).unwrap();
        assert_eq!(reader.schema().fields().len(), 2);
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}

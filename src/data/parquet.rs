//! Tables in Parquet files.
//!
//! Their rows become lines of another format, so that every reader of tables reads them; places in
//! messages are numbers of rows. Tables of texts and whole numbers, which labels are, become tab-separated
//! values, for which there is a fast reader; everything else, and what has tabs, quotes or line ends in it,
//! becomes JSON lines. Texts, numbers, truth values, dates and lists of numbers are values of a table;
//! a column of anything else is refused by name.

use super::problem::DataError;
use super::source::Source;

/// The first and the last four bytes of a Parquet file.
pub const MAGIC: &[u8] = b"PAR1";

/// The rows of a Parquet file as lines of text; anything else as it is.
///
/// # Errors
///
/// [`DataError::BrokenParquet`] with the row group that cannot be read, or
/// [`DataError::NeedsParquet`] where this build does not read them.
pub(super) fn unfolded(source: Source) -> Result<Source, DataError> {
    if !source.bytes.starts_with(MAGIC) {
        return Ok(source);
    }
    #[cfg(feature = "parquet")]
    return reading::lines(source);
    #[cfg(not(feature = "parquet"))]
    Err(DataError::NeedsParquet { path: source.path })
}

#[cfg(feature = "parquet")]
pub(crate) mod reading {
    use std::path::Path;

    use arrow_array::cast::AsArray;
    use arrow_array::{Array, RecordBatch};
    use arrow_cast::cast;
    use arrow_cast::display::{ArrayFormatter, FormatOptions};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::reader::ChunkReader;

    use crate::data::problem::DataError;
    use crate::data::source::{Format, MAX_INPUT_BYTES, Places, Source};

    /// How a column is written.
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        /// Between quotes.
        Text,
        /// As it is.
        Integer,
        /// As it is, if it is finite.
        Float,
        /// As it is; a list of numbers or truth values.
        Raw,
    }

    fn kind(of: &DataType) -> Option<Kind> {
        let inner = match of {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        match inner {
            inner if inner.is_integer() => Some(Kind::Integer),
            DataType::Boolean => Some(Kind::Raw),
            inner if inner.is_floating() => Some(Kind::Float),
            DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Some(Kind::Text)
            }
            inner if inner.is_temporal() || matches!(inner, DataType::Decimal128(..)) => {
                Some(Kind::Text)
            }
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                let number = item.data_type().is_numeric();
                number.then_some(Kind::Raw)
            }
            _ => None,
        }
    }

    /// Writes the rows of a batch; `false` if they cannot be written this way.
    type Writer = fn(&RecordBatch, &Path, &mut Vec<u8>) -> Result<bool, DataError>;

    pub(super) fn lines(source: Source) -> Result<Source, DataError> {
        let Source { path, sha256, bytes, has_nameable_columns, listener, .. } = source;
        let bytes = bytes::Bytes::from(bytes);
        let (content, format, places) =
            match rows(&bytes, &path, |batch, _, lines| Ok(tab_separated(batch, lines)))? {
                // The header has the place of no row.
                Some((lines, rows)) if rows > 0 => (lines, Format::Tsv, 0..=rows),
                _ => {
                    let (lines, rows) = rows(&bytes, &path, json_lines)?.unwrap_or_default();
                    (lines, Format::JsonLines, 1..=rows)
                }
            };
        let places = Places { format: "Parquet", by_line: false, rows: places.collect() };
        Ok(Source {
            path,
            sha256,
            bytes: content,
            format,
            imported: Some(places),
            has_nameable_columns,
            listener,
        })
    }

    /// A file, from which columns and row groups can be chosen.
    ///
    /// # Errors
    ///
    /// [`DataError::BrokenParquet`].
    pub fn opened<R: ChunkReader + 'static>(
        path: &Path,
        file: R,
    ) -> Result<ParquetRecordBatchReaderBuilder<R>, DataError> {
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| broken(path, None, &error))
    }

    /// The rows of the row group `group`, from 0; what cannot be read is an error that names it.
    ///
    /// # Errors
    ///
    /// [`DataError::BrokenParquet`].
    pub fn row_group<R: ChunkReader + 'static>(
        path: &Path,
        file: ParquetRecordBatchReaderBuilder<R>,
        group: usize,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, DataError>>, DataError> {
        let broken = move |error: &dyn std::fmt::Display| broken(path, Some(group + 1), error);
        let reader = file.with_row_groups(vec![group]).build().map_err(|error| broken(&error))?;
        Ok(reader.map(move |batch| batch.map_err(|error| broken(&error))))
    }

    fn broken(path: &Path, row_group: Option<usize>, reason: &dyn std::fmt::Display) -> DataError {
        DataError::BrokenParquet { path: path.to_owned(), row_group, reason: reason.to_string() }
    }

    /// All rows and their number; `None` if `write` cannot write them.
    fn rows(
        bytes: &bytes::Bytes,
        path: &Path,
        write: Writer,
    ) -> Result<Option<(Vec<u8>, u64)>, DataError> {
        let groups = opened(path, bytes.clone())?.metadata().num_row_groups();
        let (mut lines, mut rows) = (Vec::new(), 0);
        for group in 0..groups {
            for batch in row_group(path, opened(path, bytes.clone())?, group)? {
                let batch = batch?;
                if !write(&batch, path, &mut lines)? {
                    return Ok(None);
                }
                rows += batch.num_rows() as u64;
                if lines.len() as u64 > MAX_INPUT_BYTES {
                    return Err(DataError::TooLarge {
                        path: path.to_owned(),
                        limit: MAX_INPUT_BYTES,
                    });
                }
            }
        }
        Ok(Some((lines, rows)))
    }

    /// Whether a text can stand between tabs as it is.
    fn is_plain(text: &str) -> bool {
        !text.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'"'))
    }

    /// Rows between tabs, with a header before the first; `false` if they cannot be written so.
    fn tab_separated(batch: &RecordBatch, lines: &mut Vec<u8>) -> bool {
        let schema = batch.schema();
        let fields = schema.fields();
        let is_flat = |of: &DataType| matches!(kind(of), Some(Kind::Integer | Kind::Text));
        // An empty line of a table with one column would be no row.
        if fields.len() < 2 || !fields.iter().all(|field| is_flat(field.data_type())) {
            return false;
        }
        let mut columns = Vec::with_capacity(fields.len());
        for column in batch.columns() {
            let Ok(texts) = cast(column, &DataType::Utf8) else { return false };
            columns.push(texts);
        }
        let columns: Vec<_> = columns.iter().map(AsArray::as_string::<i32>).collect();
        let texts = columns.iter().flat_map(|column| column.iter().flatten());
        if !fields.iter().all(|field| is_plain(field.name())) || !texts.into_iter().all(is_plain) {
            return false;
        }
        let end = |lines: &mut Vec<u8>, at: usize| {
            lines.push(if at + 1 < columns.len() { b'\t' } else { b'\n' });
        };
        if lines.is_empty() {
            for (at, field) in fields.iter().enumerate() {
                lines.extend_from_slice(field.name().as_bytes());
                end(lines, at);
            }
        }
        for row in 0..batch.num_rows() {
            for (at, column) in columns.iter().enumerate() {
                if column.is_valid(row) {
                    lines.extend_from_slice(column.value(row).as_bytes());
                }
                end(lines, at);
            }
        }
        true
    }

    fn json_lines(
        batch: &RecordBatch,
        path: &Path,
        lines: &mut Vec<u8>,
    ) -> Result<bool, DataError> {
        let options = FormatOptions::default();
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let refused = || DataError::ParquetColumn {
                path: path.to_owned(),
                column: field.name().clone(),
                kind: field.data_type().to_string(),
            };
            let kind = kind(field.data_type()).ok_or_else(refused)?;
            let formatter =
                ArrayFormatter::try_new(column.as_ref(), &options).map_err(|_| refused())?;
            let key = serde_json::Value::from(field.name().as_str()).to_string();
            columns.push((key, kind, column, formatter));
        }
        for row in 0..batch.num_rows() {
            lines.push(b'{');
            let mut first = true;
            for (key, kind, column, formatter) in &columns {
                if !std::mem::take(&mut first) {
                    lines.push(b',');
                }
                lines.extend_from_slice(key.as_bytes());
                lines.push(b':');
                if column.is_null(row) || column.data_type() == &DataType::Null {
                    lines.extend_from_slice(b"null");
                    continue;
                }
                let value = formatter.value(row).to_string();
                let quoted = match kind {
                    Kind::Text => true,
                    Kind::Integer | Kind::Raw => false,
                    Kind::Float => !value.parse::<f64>().is_ok_and(f64::is_finite),
                };
                if quoted {
                    lines.extend_from_slice(serde_json::Value::from(value).to_string().as_bytes());
                } else {
                    lines.extend_from_slice(value.as_bytes());
                }
            }
            lines.extend_from_slice(b"}\n");
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn a_parquet_file_is_refused_by_name_where_it_is_not_read() {
        let error = Source::from_reader(Path::new("l.csv"), &b"PAR1\x15\x04PAR1"[..]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`l.csv` is a Parquet file, which this build of caz does not read; build it with the \
             feature `parquet`, or write the table as CSV"
        );
    }

    #[cfg(feature = "parquet")]
    mod with_feature {
        use std::sync::Arc;

        use arrow_array::types::Float64Type;
        use arrow_array::{
            ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
            StructArray,
        };
        use arrow_schema::{DataType, Field};
        use parquet::arrow::ArrowWriter;
        use parquet::file::properties::WriterProperties;

        use super::*;
        use crate::data::Labels;

        /// A file with two rows in each row group.
        fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let properties =
                WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
            let mut bytes = Vec::new();
            let mut writer =
                ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            bytes
        }

        fn texts(values: &[Option<&str>]) -> ArrayRef {
            Arc::new(StringArray::from(values.to_vec()))
        }

        fn labels(label: &[Option<&str>]) -> Vec<u8> {
            let task = Arc::new(Int64Array::from(vec![1, 2, 1, 2, i64::MAX]));
            let worker = texts(&["a", "a", "b", "b", "b"].map(Some));
            file(vec![("task", task), ("worker", worker), ("label", texts(label))])
        }

        #[test]
        fn texts_and_whole_numbers_stand_between_tabs_unless_tabs_or_quotes_are_in_them() {
            let read = |text: &str| {
                let number = Arc::new(Int64Array::from(vec![Some(-7), None, Some(i64::MAX)]));
                let bytes = file(vec![
                    ("text", texts(&[Some("two, or "), None, Some(text)])),
                    ("number", number),
                ]);
                let source = Source::from_reader(Path::new("t.parquet"), bytes.as_slice()).unwrap();
                String::from_utf8(source.bytes).unwrap()
            };
            let plain = "text\tnumber\ntwo, or \t-7\n\t\nfew\t9223372036854775807\n";
            assert_eq!(read("few"), plain);
            for text in ["f\tew", "f\"ew", "f\new", "f\rew"] {
                assert!(
                    read(text).starts_with("{\"text\":\"two, or \",\"number\":-7}\n"),
                    "{text:?}"
                );
            }
        }

        #[test]
        fn rows_of_every_kind_of_column_are_json_lines() {
            let vector = ListArray::from_iter_primitive::<Float64Type, _, _>([
                Some(vec![Some(0.5), Some(-2.0)]),
                None,
                Some(vec![]),
            ]);
            let bytes = file(vec![
                ("text", texts(&[Some("two\nlines \"quoted\""), None, Some("")])),
                ("number", Arc::new(Int64Array::from(vec![Some(-7), None, Some(0)]))),
                ("share", Arc::new(Float64Array::from(vec![0.1, f64::NAN, 3.0]))),
                ("fine", Arc::new(BooleanArray::from(vec![true, false, true]))),
                ("vector", Arc::new(vector)),
            ]);
            let source = Source::from_reader(Path::new("t.parquet"), bytes.as_slice()).unwrap();
            assert_eq!(
                String::from_utf8(source.bytes).unwrap(),
                "{\"text\":\"two\\nlines \\\"quoted\\\"\",\"number\":-7,\"share\":0.1,\"fine\":true,\"vector\":[0.5, -2.0]}\n\
                 {\"text\":null,\"number\":null,\"share\":\"NaN\",\"fine\":false,\"vector\":null}\n\
                 {\"text\":\"\",\"number\":0,\"share\":3.0,\"fine\":true,\"vector\":[]}\n"
            );
        }

        #[test]
        fn labels_in_parquet_are_those_in_csv_and_a_missing_one_has_its_row() {
            let bytes = labels(&["x", "y", "x", "x", "y"].map(Some));
            let none: [(String, &[u8]); 0] = [];
            let read = |name: &str, bytes: &[u8]| Labels::from_readers((name, bytes), none.clone());
            let parquet = read("l.parquet", &bytes).unwrap();
            let csv = format!("task,worker,label\n1,a,x\n2,a,y\n1,b,x\n2,b,x\n{},b,y\n", i64::MAX);
            assert_eq!(parquet.table, read("l.csv", csv.as_bytes()).unwrap().table);
            let bytes = labels(&[Some("x"), Some("y"), Some("x"), None, Some("y")]);
            let message = read("l.parquet", &bytes).unwrap_err().to_string();
            assert!(message.contains("l.parquet (rows of Parquet):4: column `label`"), "{message}");
        }

        /// Labels as texts and numbers, of which some are missing, and the same with a column of
        /// shares, which makes them JSON lines.
        fn both_ways(rows: &[(Option<String>, Option<i64>, Option<String>)]) -> [Vec<u8>; 2] {
            let task: ArrayRef =
                Arc::new(rows.iter().map(|row| row.0.as_deref()).collect::<StringArray>());
            let worker: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>());
            let label: ArrayRef =
                Arc::new(rows.iter().map(|row| row.2.as_deref()).collect::<StringArray>());
            let share: ArrayRef = Arc::new(Float64Array::from(vec![0.5; rows.len()]));
            let columns = vec![("task", task), ("worker", worker), ("label", label)];
            let flat = file(columns.clone());
            [flat, file(columns.into_iter().chain([("share", share)]).collect())]
        }

        proptest::proptest! {
            #[test]
            fn labels_between_tabs_are_those_in_json_lines(
                rows in proptest::collection::vec(
                    (
                        proptest::option::weighted(0.95, "[ a-c,\t\"é]{0,2}"),
                        proptest::option::weighted(0.95, 0..4_i64),
                        proptest::option::weighted(0.95, "[x-yNa]{1,2}|NaN|"),
                    ),
                    1..6,
                ),
            ) {
                let none: [(String, &[u8]); 0] = [];
                let [flat, shares] = both_ways(&rows).map(|bytes| {
                    let read = Labels::from_readers(("l.parquet", bytes.as_slice()), none.clone());
                    read.map(|labels| (labels.table, labels.warnings)).map_err(|error| error.to_string())
                });
                proptest::prop_assert_eq!(flat, shares);
            }
        }

        #[test]
        fn damage_names_file_and_row_group_and_other_types_name_the_column() {
            let whole = labels(&["x", "y", "x", "x", "y"].map(Some));
            let error = |bytes: &[u8]| {
                Source::from_reader(Path::new("l.parquet"), bytes).unwrap_err().to_string()
            };
            let cut = error(&whole[..whole.len() - 9]);
            assert!(cut.starts_with("`l.parquet` is a damaged Parquet file: "), "{cut}");
            // The pages of the second row group start where the footer says.
            let bytes = bytes::Bytes::from(whole.clone());
            let metadata =
                parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes)
                    .unwrap();
            let (start, length) = metadata.metadata().row_group(1).column(1).byte_range();
            let mut broken = whole;
            let end = usize::try_from(start + length).unwrap();
            broken[usize::try_from(start).unwrap()..end].fill(0xff);
            let message = error(&broken);
            assert!(message.contains("`l.parquet` is damaged in row group 2: "), "{message}");
            let field = Arc::new(Field::new("a", DataType::Int64, true));
            let inner: ArrayRef = Arc::new(Int64Array::from(vec![1]));
            let nested = Arc::new(StructArray::from(vec![(field, inner)]));
            let message = error(&file(vec![("judgments", nested)]));
            assert!(
                message.starts_with("`l.parquet`: column `judgments` holds Struct("),
                "{message}"
            );
        }
    }
}

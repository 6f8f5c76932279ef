//! Vectors as bytes.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::VectorsRun;
use crate::data::formula::guarded;
use crate::data::npz::{self, Array};
use crate::data::texts::ID_COLUMNS;
use crate::embed::vectors::Vectors;
use crate::report::SCHEMA_VERSION;

/// A format of vectors. All but NPY have the identifiers of the input and a column `vector`, or
/// `judgments` where numbers have names, which reviews with given vectors are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorFormat {
    /// One object per text.
    JsonLines,
    /// A row per text, the numbers of a vector separated by spaces; where they have names, a column
    /// for each.
    Csv,
    /// An envelope with input, settings, results and warnings, as of any other result.
    Json,
    /// A matrix of 64-bit floats, a row per text in the order of the input.
    Npy,
    /// The same as `vector`, or `judgments` with `categories`, and an array for each identifier.
    Npz,
    /// A column for each identifier, and `vector`, lists of numbers.
    #[cfg(feature = "parquet")]
    Parquet,
}

pub(super) fn write(run: &VectorsRun, format: VectorFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        VectorFormat::JsonLines => json_lines(run, out),
        VectorFormat::Csv => csv_rows(run, out),
        VectorFormat::Json => json_envelope(run, out),
        VectorFormat::Npy => npz::write_array(&numbers(run.vectors()), out),
        VectorFormat::Npz => arrays(run, out),
        #[cfg(feature = "parquet")]
        VectorFormat::Parquet => parquet_rows(run, out),
    }
}

/// The rows of a run as objects, one at a time.
struct Objects<'a>(&'a VectorsRun);

impl Objects<'_> {
    fn each(&self) -> impl Iterator<Item = Map<String, Value>> {
        let (run, ids) = (self.0, used_ids(self.0));
        run.texts().iter().enumerate().map(move |(row, text)| {
            let mut object = Map::new();
            for &id in &ids {
                object.insert(ID_COLUMNS[id].into(), Value::from(text.ids[id].clone()));
            }
            let values = run.vectors().dense_row(row);
            match run.dimensions() {
                None => object.insert("vector".into(), Value::from(values)),
                Some(names) => {
                    let judgments = names.iter().cloned().zip(values.into_iter().map(Value::from));
                    object.insert("judgments".into(), Value::Object(judgments.collect()))
                }
            };
            object
        })
    }
}

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each())
    }
}

/// Positions in [`ID_COLUMNS`] of the identifiers that the input has.
fn used_ids(run: &VectorsRun) -> Vec<usize> {
    let used = |id: &usize| run.texts().iter().any(|text| text.ids[*id].is_some());
    (0..ID_COLUMNS.len()).filter(used).collect()
}

fn json_lines(run: &VectorsRun, out: &mut dyn Write) -> io::Result<()> {
    for object in Objects(run).each() {
        serde_json::to_writer(&mut *out, &object)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Not indented: a vector would take a line per number.
fn json_envelope(run: &VectorsRun, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        schema_version: u32,
        command: &'static str,
        version: &'static str,
        inputs: Value,
        settings: Map<String, Value>,
        results: Objects<'a>,
        warnings: Value,
        errors: [(); 0],
    }
    let envelope = Envelope {
        schema_version: SCHEMA_VERSION,
        command: "embed",
        version: env!("CARGO_PKG_VERSION"),
        inputs: json!([run.input()]),
        settings: run.settings(),
        results: Objects(run),
        warnings: json!(run.warnings()),
        errors: [],
    };
    serde_json::to_writer(&mut *out, &envelope)?;
    out.write_all(b"\n")
}

fn csv_rows(run: &VectorsRun, out: &mut dyn Write) -> io::Result<()> {
    let ids = used_ids(run);
    let mut writer = csv::Writer::from_writer(out);
    let vector = ["vector".to_owned()];
    let names = run.dimensions();
    // Names of categories come from files.
    let columns = names.unwrap_or(&vector).iter().map(|name| guarded(name));
    let ids_first = ids.iter().map(|&id| Cow::Borrowed(ID_COLUMNS[id]));
    for column in ids_first.chain(columns) {
        writer.write_field(column.as_ref())?;
    }
    writer.write_record(None::<&[u8]>)?;
    for (row, text) in run.texts().iter().enumerate() {
        for &id in &ids {
            writer.write_field(guarded(text.ids[id].as_deref().unwrap_or_default()).as_ref())?;
        }
        let entries = run.vectors().dense_row(row);
        let entries: Vec<String> = entries.iter().map(f64::to_string).collect();
        if names.is_some() {
            for entry in &entries {
                writer.write_field(entry)?;
            }
        } else {
            writer.write_field(entries.join(" "))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

fn numbers(vectors: &Vectors) -> Array {
    let values = (0..vectors.len()).flat_map(|row| vectors.dense_row(row)).collect();
    Array::Numbers { dims: vectors.dims(), values }
}

fn arrays(run: &VectorsRun, out: &mut dyn Write) -> io::Result<()> {
    let id = |&id: &usize| {
        let texts = run.texts().iter().map(|text| text.ids[id].clone().unwrap_or_default());
        (ID_COLUMNS[id], Array::Texts(texts.collect()))
    };
    let mut arrays: Vec<(&str, Array)> = used_ids(run).iter().map(id).collect();
    let name = if run.dimensions().is_some() { "judgments" } else { "vector" };
    arrays.push((name, numbers(run.vectors())));
    arrays.extend(run.dimensions().map(|names| ("categories", Array::Texts(names.to_vec()))));
    npz::write(&arrays, out)
}

#[cfg(feature = "parquet")]
fn parquet_rows(run: &VectorsRun, out: &mut dyn Write) -> io::Result<()> {
    use std::sync::Arc;

    use arrow_array::types::Float64Type;
    use arrow_array::{ArrayRef, ListArray, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    if run.dimensions().is_some() {
        return Err(io::Error::other(
            "judgments have names, which Parquet has no place for: write .jsonl or .npz",
        ));
    }
    let id = |&id: &usize| {
        let texts: StringArray = run.texts().iter().map(|text| text.ids[id].as_deref()).collect();
        (ID_COLUMNS[id], Arc::new(texts) as ArrayRef)
    };
    let mut columns: Vec<(&str, ArrayRef)> = used_ids(run).iter().map(id).collect();
    let rows = (0..run.vectors().len())
        .map(|row| Some(run.vectors().dense_row(row).into_iter().map(Some).collect::<Vec<_>>()));
    let vectors = ListArray::from_iter_primitive::<Float64Type, _, _>(rows);
    columns.push(("vector", Arc::new(vectors)));
    let batch = RecordBatch::try_from_iter(columns).map_err(io::Error::other)?;
    // The writer wants to be sent between threads, which `out` need not be.
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    out.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::vectors;
    use super::*;
    use crate::data::observer::Silent;
    use crate::data::source::Source;
    use crate::embed::catalogue::LocalModels;
    use crate::embed::settings::{EmbedderSettings, EmbedderSpec};

    fn run(embedder: EmbedderSpec) -> VectorsRun {
        let text = "paper,text\n1,one word more\n2,two words\n";
        let source = Source::from_reader(Path::new("t.csv"), text.as_bytes()).unwrap();
        let settings = EmbedderSettings { embedder: Some(embedder), ..EmbedderSettings::default() };
        vectors(&source, &settings, &LocalModels, &Silent).unwrap()
    }

    fn written(run: &VectorsRun, format: VectorFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        run.write(format, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn texts_with_a_vector_of_zeros_are_named() {
        let of = |text: &str| {
            let source = Source::from_reader(Path::new("t.csv"), text.as_bytes()).unwrap();
            let warnings = vectors(&source, &EmbedderSettings::default(), &LocalModels, &Silent);
            warnings.unwrap().warnings().to_vec()
        };
        let warnings = of("paper,reviewer,text\n1,a,one word\n1,b,😀\n");
        assert_eq!((warnings[0].code, warnings[0].count, warnings.len()), ("zero_vectors", 1, 1));
        assert!(warnings[0].message.contains("1 of 2 texts have a vector of zeros (no word the"));
        assert!(warnings[0].message.ends_with(": paper 1 reviewer b"), "{}", warnings[0].message);
        assert!(of("text\none word\n😀\n")[0].message.ends_with(": text 2"));
    }

    #[test]
    fn reviews_with_given_vectors_are_read_from_arrays_and_tables() {
        let run = run(EmbedderSpec::Static(None));
        let lines = Source::from_reader(
            Path::new("v.jsonl"),
            written(&run, VectorFormat::JsonLines).as_slice(),
        );
        let lines = lines.unwrap().bytes;
        let from = |name: &str, format| {
            let bytes = written(&run, format);
            Source::from_reader(Path::new(name), bytes.as_slice()).unwrap().bytes
        };
        assert_eq!(from("v.npz", VectorFormat::Npz), lines);
        #[cfg(feature = "parquet")]
        {
            let object = |bytes: &[u8]| -> Vec<Value> {
                let text = str::from_utf8(bytes).unwrap();
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
            };
            assert_eq!(object(&from("v.parquet", VectorFormat::Parquet)), object(&lines));
        }
    }

    #[test]
    fn every_format_has_the_same_numbers_sparse_or_dense() {
        for embedder in [EmbedderSpec::Tfidf, EmbedderSpec::Static(None)] {
            let run = run(embedder);
            let numbers = |value: &Value| -> Vec<f64> {
                value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
            };
            let lines = String::from_utf8(written(&run, VectorFormat::JsonLines)).unwrap();
            let lines: Vec<Value> =
                lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let envelope: Value =
                serde_json::from_slice(&written(&run, VectorFormat::Json)).unwrap();
            assert_eq!(envelope["results"], Value::from(lines.clone()));
            assert_eq!(envelope["settings"]["dims"], run.vectors().dims());
            assert_eq!(envelope["inputs"][0]["rows"], 2);
            let npy = written(&run, VectorFormat::Npy);
            let csv = written(&run, VectorFormat::Csv);
            let csv = String::from_utf8(csv).unwrap();
            for (row, line) in lines.iter().enumerate() {
                let vector = numbers(&line["vector"]);
                let dims = vector.len();
                let from = npy.len() - (2 - row) * dims * 8;
                let stored: Vec<f64> = npy[from..from + dims * 8]
                    .chunks_exact(8)
                    .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
                    .collect();
                assert_eq!(stored, vector);
                let (paper, cell) = csv.lines().nth(row + 1).unwrap().split_once(',').unwrap();
                assert_eq!(paper, line["paper"]);
                let cell: Vec<f64> = cell.split(' ').map(|entry| entry.parse().unwrap()).collect();
                assert_eq!(cell, vector);
            }
        }
    }
}

//! `caz embed`: write the vectors of texts.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value};

use super::common::{Common, OutputFormat};
use super::embedding::{EmbedderSpec, EmbeddingArgs};
use super::exit::{ExitStatus, UsageError};
use super::output::{check_output, say, write_output};
use crate::data::content::Content;
use crate::data::source::Source;
use crate::data::texts::{ID_COLUMNS, Text, read_texts};
use crate::text::pooling::TextUnit;
use crate::text::vectors::Vectors;

/// Write the vectors of texts
///
/// The output has the identifiers of the input and a column `vector`, so that
/// `caz reviews --embedder given` can read it. NPY files hold one row per text, in the order of
/// the input, 64-bit floats.
#[derive(Debug, Args)]
#[command(after_help = "Example: caz embed reviews.jsonl --output vectors.jsonl")]
pub(super) struct EmbedArgs {
    /// Texts: a column `text` and any of id, paper, reviewer, source, sample, task
    file: PathBuf,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorFormat {
    JsonLines,
    Csv,
    Npy,
}

/// Runs the command.
pub(super) fn run(args: &EmbedArgs, common: &Common) -> Result<ExitStatus> {
    let format = vector_format(common)?;
    check_output(common.output.as_deref())?;
    if args.embedding.embedder == Some(EmbedderSpec::Given) {
        return Err(UsageError("`given` embeds nothing; choose another embedder".into()).into());
    }
    let texts = read_texts(&Source::read(&args.file)?)?;
    let contents: Vec<Content> = texts
        .iter()
        .map(|text| Content { text: Some(text.text.clone()), ..Content::default() })
        .collect();
    let contents: Vec<&Content> = contents.iter().collect();
    let embedded = args.embedding.embed(&contents, TextUnit::Whole, common)?;
    for warning in &embedded.warnings {
        say(common, &format!("warning: {}", warning.message));
    }
    let write = |out: &mut dyn Write| write_vectors(format, &texts, &embedded.vectors, out);
    if let Some(path) = &common.output {
        write_output(path, write)?;
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        out.flush()?;
    }
    Ok(ExitStatus::Done)
}

fn vector_format(common: &Common) -> Result<VectorFormat> {
    match (common.format, common.output.as_deref().and_then(Path::extension)) {
        (Some(OutputFormat::Jsonl), _) => Ok(VectorFormat::JsonLines),
        (Some(OutputFormat::Csv), _) => Ok(VectorFormat::Csv),
        (Some(_), _) => {
            let message = "vectors are written as jsonl or csv, or to a file that ends in .npy";
            Err(UsageError(message.into()).into())
        }
        (None, None) if common.output.is_none() => Ok(VectorFormat::JsonLines),
        (None, ending) => match ending.map(|ending| ending.to_string_lossy().to_lowercase()) {
            Some(ending) if ending == "jsonl" => Ok(VectorFormat::JsonLines),
            Some(ending) if ending == "csv" => Ok(VectorFormat::Csv),
            Some(ending) if ending == "npy" => Ok(VectorFormat::Npy),
            _ => Err(UsageError("--output must end in .jsonl, .csv or .npy".into()).into()),
        },
    }
}

fn write_vectors(
    format: VectorFormat,
    texts: &[Text],
    vectors: &Vectors,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        VectorFormat::JsonLines => write_json_lines(texts, vectors, out),
        VectorFormat::Csv => write_csv(texts, vectors, out),
        VectorFormat::Npy => write_npy(vectors, out),
    }
}

/// Positions in [`ID_COLUMNS`] of the identifiers that the file has.
fn used_ids(texts: &[Text]) -> Vec<usize> {
    (0..ID_COLUMNS.len()).filter(|&id| texts.iter().any(|text| text.ids[id].is_some())).collect()
}

fn write_json_lines(texts: &[Text], vectors: &Vectors, out: &mut dyn Write) -> io::Result<()> {
    let ids = used_ids(texts);
    for (row, text) in texts.iter().enumerate() {
        let mut object = Map::new();
        for &id in &ids {
            object.insert(ID_COLUMNS[id].into(), Value::from(text.ids[id].clone()));
        }
        object.insert("vector".into(), Value::from(dense_row(vectors, row)));
        serde_json::to_writer(&mut *out, &Value::Object(object))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_csv(texts: &[Text], vectors: &Vectors, out: &mut dyn Write) -> io::Result<()> {
    let ids = used_ids(texts);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(ids.iter().map(|&id| ID_COLUMNS[id]).chain(["vector"]))?;
    for (row, text) in texts.iter().enumerate() {
        for &id in &ids {
            writer.write_field(text.ids[id].as_deref().unwrap_or_default())?;
        }
        let entries: Vec<String> = dense_row(vectors, row).iter().map(f64::to_string).collect();
        writer.write_field(entries.join(" "))?;
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// NPY format version 1.0, two-dimensional, C order, little-endian 64-bit floats.
fn write_npy(vectors: &Vectors, out: &mut dyn Write) -> io::Result<()> {
    const PREFIX: usize = 10; // magic, version and the length of the header
    let shape = (vectors.len(), vectors.dims());
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape:?}, }}");
    while !(PREFIX + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    let length = u16::try_from(header.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for row in 0..vectors.len() {
        for value in dense_row(vectors, row) {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

fn dense_row(vectors: &Vectors, row: usize) -> Vec<f64> {
    match vectors {
        Vectors::Dense(dense) => dense.row(row).to_vec(),
        Vectors::Sparse(sparse) => {
            let mut dense = vec![0.0; sparse.dims()];
            sparse.row(row).iter().for_each(|&(dim, value)| dense[dim as usize] = value);
            dense
        }
    }
}

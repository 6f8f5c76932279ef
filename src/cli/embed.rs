//! `caz embed`: write the vectors of texts.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::Result;
use clap::Args;

use super::common::{Common, OutputFormat};
use super::embedding::EmbeddingArgs;
use super::exit::{ExitStatus, UsageError};
use super::exports::ExportArgs;
use super::output::{check_output, print, say, write_output};
use super::progress::Terminal;
use crate::data::import::Wanted;
use crate::screen::vectors::{VectorFormat, vectors};

/// Write the vectors of texts
///
/// The output has the identifiers of the input and a column `vector`, so that
/// `caz reviews --embedder given` can read it. Of aspects and of a judge it has `judgments`, values
/// by category, instead; in CSV a column for each category, which no command reads. NPY files hold one row per text, in the order of
/// the input, 64-bit floats; NPZ files the same as the array `vector` beside an array for each identifier,
/// and are read back as given vectors, as those are that `numpy.savez` writes. JSON has the settings and the
/// hash of the input, too.
#[derive(Debug, Args)]
#[command(after_help = "Example: caz embed reviews.jsonl --output vectors.jsonl")]
pub(super) struct EmbedArgs {
    /// Texts: a column `text` and any of id, paper, reviewer, source, sample, task
    file: PathBuf,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

/// Runs the command.
pub(super) fn run(args: &EmbedArgs, common: &Common) -> Result<ExitStatus> {
    let format = vector_format(common)?;
    check_output(common.output.as_deref())?;
    args.embedding.check_one()?;
    let settings = args.embedding.settings(common);
    let models = args.embedding.models(common);
    let (source, imports) = args.exports.open(&args.file, Wanted::Texts, common)?;
    let run = vectors(&source, &settings, &models, &Terminal::new(common))?.with_imports(imports);
    for warning in run.warnings() {
        say(common, &format!("warning: {}", warning.message));
    }
    if format == VectorFormat::Csv && run.dimensions().is_none() {
        let advice = "in CSV a vector is one text, numbers with spaces between; programs read JSON \
                      lines (.jsonl) as lists of numbers";
        say(common, &format!("note: {advice}"));
    }
    let write = |out: &mut dyn Write| run.write(format, out);
    match &common.output {
        // Vectors give away much of a text.
        Some(path) => write_output(path, write)?,
        None => print(write)?,
    }
    Ok(ExitStatus::Done)
}

fn vector_format(common: &Common) -> Result<VectorFormat> {
    match (common.format, common.output.as_deref().and_then(Path::extension)) {
        (Some(OutputFormat::Jsonl), _) => Ok(VectorFormat::JsonLines),
        (Some(OutputFormat::Csv), _) => Ok(VectorFormat::Csv),
        (Some(OutputFormat::Json), _) => Ok(VectorFormat::Json),
        #[cfg(feature = "parquet")]
        (Some(OutputFormat::Parquet), _) => Ok(VectorFormat::Parquet),
        (Some(_), _) => {
            let message =
                "vectors are written as jsonl, csv or json, or to a file that ends in .npy or .npz";
            Err(UsageError(message.into()).into())
        }
        (None, None) if common.output.is_none() => Ok(VectorFormat::JsonLines),
        (None, ending) => match ending.map(|ending| ending.to_string_lossy().to_lowercase()) {
            Some(ending) if ending == "jsonl" => Ok(VectorFormat::JsonLines),
            Some(ending) if ending == "csv" => Ok(VectorFormat::Csv),
            Some(ending) if ending == "json" => Ok(VectorFormat::Json),
            Some(ending) if ending == "npy" => Ok(VectorFormat::Npy),
            Some(ending) if ending == "npz" => Ok(VectorFormat::Npz),
            #[cfg(feature = "parquet")]
            Some(ending) if ending == "parquet" => Ok(VectorFormat::Parquet),
            _ => {
                let message = "--output must end in .jsonl, .csv, .json, .npy or .npz";
                Err(UsageError(message.into()).into())
            }
        },
    }
}

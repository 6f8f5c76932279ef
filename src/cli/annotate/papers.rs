//! Papers as they are: PDF files, folders of them, a list that names them, or a table of texts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::super::files::OutputFile;
use super::output::row_format_of;
use crate::annotate::reviews::{PaperFrom, PdfSettings};
use crate::annotate::{Failed, Row, RowFormat};
use crate::cli::common::{Common, ending_of, pdfs_of};
use crate::cli::exit::UsageError;
use crate::cli::exports::ExportArgs;
use crate::cli::output::{check_output, say, write_output};
use crate::cli::pdf::{Unread, read};
use crate::cli::progress::Terminal;
use crate::data::import::Wanted;
use crate::data::items::{PAPER, read_items};
use crate::data::observer::Observer;
use crate::data::pdf::Paper;
use crate::data::rows::Column;
use crate::data::source::{Format, Source};
use crate::error::{Error, ErrorKind, Result};

/// Which papers, and what is made of PDF files.
#[derive(Debug, Args)]
pub(super) struct PaperArgs {
    /// PDF files, folders of them, or a table: a column `paper`, and `pdf` (a file) or one or more of
    /// title, abstract, text
    #[arg(required = true, value_name = "PAPERS")]
    pub(super) papers: Vec<PathBuf>,
    /// What names the paper in a PDF file; of a list its column `paper` does
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    paper_from: PaperFrom,
    /// Keep the references and the appendix of PDF files
    #[arg(long)]
    keep: bool,
    /// Write the abstract of every paper to FILE, as `caz reviews` takes it with --tasks (csv, jsonl)
    #[arg(long, value_name = "FILE")]
    tasks_out: Option<OutputFile>,
}

/// Papers that were read, and those that were not.
pub(super) struct Papers {
    /// One row a paper.
    pub(super) source: Source,
    /// What has no text, and why.
    pub(super) unread: Vec<Failed>,
    /// Name and abstract of each paper that has one.
    abstracts: Vec<Row>,
    /// Papers that were read.
    count: usize,
}

/// Of a table; the last names a file.
const COLUMNS: [Column; 3] = [
    PAPER,
    Column { name: "abstract", synonyms: &["summary"], required: false },
    Column { name: "pdf", synonyms: &["file", "path"], required: false },
];

/// Unread files that are named on standard error.
const SHOWN: usize = 10;

impl PaperArgs {
    pub(super) fn settings(&self) -> PdfSettings {
        PdfSettings { paper_from: self.paper_from, keep: self.keep }
    }

    /// Reads the papers; what cannot be read is listed, and the rest goes on.
    pub(super) fn read(&self, exports: &ExportArgs, common: &Common) -> Result<Papers> {
        check_output(self.tasks_out.as_deref())?;
        let mut files: Vec<(Option<String>, PathBuf)> = Vec::new();
        let mut abstracts: HashMap<String, String> = HashMap::new();
        for path in &self.papers {
            if path.is_dir() {
                files.extend(pdfs_of(path)?.into_iter().map(|file| (None, file)));
            } else if ending_of(path).as_deref() == Some("pdf") {
                files.push((None, path.clone()));
            } else if self.papers.len() > 1 {
                let message = "give PDF files and folders of them, or one table";
                return Err(UsageError(message.into()).into());
            } else {
                let source = exports.open(path, Wanted::Papers, common)?.0;
                let rows = read_items(&source, &COLUMNS)?;
                let mut of_rows = Vec::new();
                for row in rows {
                    let [paper, summary, pdf] = row.fields.try_into().expect("three columns");
                    let paper = paper.unwrap_or_default().trim().to_owned();
                    if let Some(pdf) = pdf {
                        let beside = path.parent().unwrap_or(Path::new("")).join(pdf.trim());
                        files.push((Some(paper.clone()), beside));
                    }
                    if let Some(summary) = summary {
                        of_rows.push(abstract_row(&paper, &summary));
                        abstracts.insert(paper, summary);
                    }
                }
                if files.is_empty() {
                    let count = of_rows.len();
                    return Ok(Papers { source, unread: Vec::new(), abstracts: of_rows, count });
                }
            }
        }
        let observer = Terminal::new(common);
        let stage = observer.stage("reading papers", files.len() as u64);
        let answers: Option<Vec<std::result::Result<Paper, Unread>>> = files
            .par_iter()
            .map(|(_, path)| {
                let answer = (!stage.interrupted() && !observer.interrupted()).then(|| read(path));
                stage.advance(1);
                answer
            })
            .collect();
        drop(stage);
        let Some(answers) = answers else {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted".to_owned()));
        };
        self.gathered(&files, answers, &abstracts)
    }

    fn gathered(
        &self,
        files: &[(Option<String>, PathBuf)],
        answers: Vec<std::result::Result<Paper, Unread>>,
        listed: &HashMap<String, String>,
    ) -> Result<Papers> {
        let mut rows = Vec::new();
        let mut named: HashMap<String, &Path> = HashMap::new();
        let (mut unread, mut abstracts) = (Vec::new(), Vec::new());
        for ((name, path), answer) in files.iter().zip(answers) {
            let stem = || path.file_stem().unwrap_or_default().to_string_lossy().trim().to_owned();
            let title = answer.as_ref().ok().and_then(|paper| paper.title.clone());
            let name = match (name, self.paper_from) {
                (Some(name), _) => name.clone(),
                (None, PaperFrom::Title) => title.unwrap_or_else(stem),
                (None, PaperFrom::Name) => stem(),
            };
            if let Some(other) = named.insert(name.clone(), path) {
                let (one, two) = (other.display(), path.display());
                let message = format!("`{one}` and `{two}` are both named `{name}`");
                return Err(Error::new(ErrorKind::Input, message));
            }
            let paper = match answer {
                Ok(paper) => paper,
                Err(Unread { word, message }) => {
                    let message = format!("`{}`: {message}", path.display());
                    let row = row_of(json!({ "paper": name }));
                    unread.push(Failed::new(row, word, message));
                    continue;
                }
            };
            if let Some(summary) = listed.get(&name).cloned().or(paper.summary) {
                abstracts.push(abstract_row(&name, &summary));
            }
            let mut text = paper.text;
            if self.keep && !paper.rest.is_empty() {
                text = text + "\n" + &paper.rest;
            }
            rows.push(json!({ "paper": name, "text": text }).to_string());
        }
        if rows.is_empty() {
            let why = unread.first().map_or("there is no PDF file", |failed| &failed.message);
            let message = format!("none of {} papers can be read: {why}", files.len());
            return Err(Error::new(ErrorKind::Input, message));
        }
        let count = rows.len();
        let bytes = rows.join("\n").into_bytes();
        let mut source = Source::from_reader(&self.papers[0], &bytes[..])?;
        source.format = Format::JsonLines;
        Ok(Papers { source, unread, abstracts, count })
    }

    /// Says what was not read, and writes the abstracts.
    pub(super) fn tell(&self, papers: &Papers, common: &Common) -> Result<()> {
        for failed in papers.unread.iter().take(SHOWN) {
            say(common, &format!("warning: not read: {}", failed.message));
        }
        if papers.unread.len() > SHOWN {
            let rest = papers.unread.len() - SHOWN;
            say(common, &format!("warning: {rest} more were not read; they are among the errors"));
        }
        let Some(path) = &self.tasks_out else { return Ok(()) };
        let format = row_format_of(path).unwrap_or(RowFormat::Csv);
        let columns = ["paper", "text"];
        write_output(path, |out| format.write(&columns, &papers.abstracts, &Map::new(), out))?;
        let (found, all) = (papers.abstracts.len(), papers.count);
        let without = all.saturating_sub(found);
        if without > 0 {
            let line = format!("warning: no abstract was found in {without} of {all} papers");
            say(common, &line);
        }
        say(common, &format!("{found} abstracts are in `{}`", path.display()));
        Ok(())
    }
}

fn row_of(value: Value) -> Row {
    match value {
        Value::Object(row) => row,
        _ => Row::new(),
    }
}

fn abstract_row(paper: &str, summary: &str) -> Row {
    row_of(json!({ "paper": paper, "text": summary }))
}

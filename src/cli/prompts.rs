//! `caz prompts`: the prompts and rubrics that come with caz, and what they look like filled in.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use clap::{Args, Subcommand};
use serde_json::Map;

use super::common::{Common, ending_of};
use super::exit::{ExitStatus, UsageError};
use super::output::{emit, write_text};
use super::pdf::read;
use super::progress::open;
use crate::annotate::reviews::check_texts;
use crate::data::items::{PAPER, read_items};
use crate::data::rows::Column;
use crate::judge::built_in::{pieces, preview, questions, source};
use crate::llm::chat::{Message, Role};
use crate::llm::paste::to_paste;
use crate::llm::{Prompt, PromptKind};
use crate::report::{Report, Table};

/// What items may have, in the order in which it is asked about.
const SYSTEM: Column = Column { name: "system", synonyms: &["system_prompt"], required: false };
const TITLE: Column = Column { name: "title", synonyms: &[], required: false };
const ABSTRACT: Column = Column { name: "abstract", synonyms: &["summary"], required: false };
const PDF: Column = Column { name: "pdf", synonyms: &["file", "path"], required: false };
const TEXT: Column =
    Column { name: "text", synonyms: &["question", "prompt", "content", "body"], required: false };

/// List, show or fill in prompts
#[derive(Debug, Args)]
pub(super) struct PromptsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List prompts, rubrics, criteria and personas
    List,
    /// Print the file of a prompt, rubric, criteria or personas, to be changed and used by its path
    Show {
        /// Its name
        name: String,
    },
    /// Print the messages of a prompt as a model would get them; sends nothing
    Render {
        /// Name or path of a prompt
        name: String,
        /// Tasks or papers to put into one text for a chat window, numbered; what comes back is read by
        /// `caz import ITEMS --z-chat FILE`
        #[arg(conflicts_with_all = ["texts", "rubric", "features", "task"])]
        items: Option<PathBuf>,
        /// A text of the prompt, e.g. --text text="A fine paper." [default: the variable's description]
        #[arg(long = "text", value_name = "VARIABLE=TEXT")]
        texts: Vec<String>,
        /// Rubric of a prompt for judges
        #[arg(long, value_name = "RUBRIC", help_heading = "Input")]
        rubric: Option<String>,
        /// Features to switch on in a prompt that has some, e.g. DNA
        #[arg(long, value_name = "LETTERS")]
        features: Option<String>,
        /// Question and labels of `label-generic`: a TOML file
        #[arg(long, value_name = "FILE", help_heading = "Input")]
        task: Option<PathBuf>,
    },
}

/// Runs the command.
pub(super) fn run(args: &PromptsArgs, common: &Common) -> Result<ExitStatus> {
    match &args.action {
        Action::List => emit(&list()?, common)?,
        Action::Show { name } => write_text(&source(name)?, common)?,
        Action::Render { name, items: Some(items), .. } => {
            let prompt = Prompt::load(name)?;
            let texts = texts_of(items, prompt.kind(), common)?;
            write_text(&to_paste(&prompt, &texts)?, common)?;
        }
        Action::Render { name, texts, rubric, features, task, items: None } => {
            let prompt = Prompt::load(name)?;
            let letters: Vec<char> = features.iter().flat_map(|letters| letters.chars()).collect();
            let prompt =
                if letters.is_empty() { prompt } else { prompt.with_features(&letters)?.0 };
            let task = match task {
                Some(path) => crate::annotate::read_task(path)?.0,
                None => questions(&prompt, rubric.as_deref())?,
            };
            let given = texts.iter().map(|pair| assignment(pair)).collect::<Result<Vec<_>>>()?;
            let messages = preview(&prompt, &given, &task)?;
            write_text(&blocks(&messages), common)?;
        }
    }
    Ok(ExitStatus::Done)
}

/// The texts of each item, those of a paper that is a PDF file from there.
fn texts_of(items: &Path, kind: PromptKind, common: &Common) -> Result<Vec<Vec<String>>> {
    if items.is_dir() || ending_of(items).as_deref() == Some("pdf") {
        let message = "name a table: its column `paper` names the papers, and `pdf` their files";
        return Err(UsageError(message.into()).into());
    }
    let source = open(items, common)?;
    let columns = [PAPER, SYSTEM, TITLE, ABSTRACT, TEXT, PDF];
    // Beside a task a file may be anything.
    let count = columns.len() - usize::from(kind != PromptKind::Review);
    let mut rows = read_items(&source, &columns[..count])?;
    check_texts(&source, &rows)?;
    for row in &mut rows {
        let Some(file) = row.fields.get_mut(columns.len() - 1).and_then(Option::take) else {
            continue;
        };
        let path = items.parent().unwrap_or(Path::new("")).join(file.trim());
        let paper = read(&path).map_err(|unread| {
            let message = format!("`{}`: {}", path.display(), unread.message);
            Error::new(ErrorKind::Input, message)
        })?;
        row.fields = vec![None, Some(paper.text)];
    }
    Ok(rows.into_iter().map(|row| row.fields.into_iter().skip(1).flatten().collect()).collect())
}

fn list() -> Result<Report> {
    let mut table = Table::new(&["name", "kind", "description", "sha256"]);
    for piece in pieces()? {
        let sha256 = &piece.sha256[..12];
        table.push(vec![
            piece.name.into(),
            piece.kind.into(),
            piece.description.into(),
            sha256.into(),
        ]);
    }
    Ok(Report {
        command: "prompts list",
        inputs: Vec::new(),
        settings: Map::new(),
        table,
        warnings: Vec::new(),
        footer: vec!["`caz prompts show NAME` prints a file to start your own from.".into()],
        prose: None,
    })
}

fn assignment(pair: &str) -> Result<(String, String)> {
    match pair.split_once('=') {
        Some((name, text)) => Ok((name.to_owned(), text.to_owned())),
        None => Err(UsageError(format!("`{pair}` is not VARIABLE=TEXT")).into()),
    }
}

fn blocks(messages: &[Message]) -> String {
    let blocks: Vec<String> = messages
        .iter()
        .map(|message| {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            let length = message.content.chars().count();
            format!("--- {role} ({length} characters)\n{}\n", message.content)
        })
        .collect();
    blocks.join("\n")
}

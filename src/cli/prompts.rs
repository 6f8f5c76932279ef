//! `caz prompts`: the prompts and rubrics that come with caz, and what they look like filled in.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use crate::error::Result;
use clap::{Args, Subcommand};
use serde_json::{Map, json};

use super::common::Common;
use super::exit::{ExitStatus, UsageError};
use super::output::emit;
use crate::judge::Rubric;
use crate::judge::pairs::{Criteria, Personas};
use crate::llm::prompt::Task;
use crate::llm::{Prompt, PromptKind, Role};
use crate::report::{Report, Table};

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
        /// A text of the prompt, e.g. --text text="A fine paper." [default: the variable's description]
        #[arg(long = "text", value_name = "VARIABLE=TEXT")]
        texts: Vec<String>,
        /// Rubric of a prompt for judges
        #[arg(long, value_name = "RUBRIC")]
        rubric: Option<String>,
        /// Features to switch on in a prompt that has some, e.g. DNA
        #[arg(long, value_name = "LETTERS")]
        features: Option<String>,
        /// Question and labels of `label-generic`: a TOML file
        #[arg(long, value_name = "FILE")]
        task: Option<PathBuf>,
    },
}

/// Runs the command.
pub(super) fn run(args: &PromptsArgs, common: &Common) -> Result<ExitStatus> {
    match &args.action {
        Action::List => emit(&list()?, common)?,
        Action::Show { name } => {
            let text = show(name)?;
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Action::Render { name, texts, rubric, features, task } => {
            let prompt = Prompt::load(name)?;
            let letters: Vec<char> = features.iter().flat_map(|letters| letters.chars()).collect();
            let prompt =
                if letters.is_empty() { prompt } else { prompt.with_features(&letters)?.0 };
            let task = match (task, rubric) {
                (Some(path), _) => crate::annotate::read_task(path)?.0,
                (None, Some(rubric)) => Rubric::load(rubric)?.task(),
                (None, None) if prompt.kind() == PromptKind::Judge => {
                    let rubrics =
                        Rubric::built_in_names().filter_map(|name| Rubric::load(name).ok());
                    let own = rubrics.into_iter().find(|rubric| rubric.prompt == prompt.name());
                    own.map(|rubric| rubric.task()).unwrap_or_default()
                }
                (None, None) if prompt.kind() == PromptKind::Debate => {
                    let criteria = Criteria::load("answers")?;
                    let question = Some(criteria.question().to_owned());
                    Task { question, fields: criteria.fields().to_vec() }
                }
                (None, None) => Task::default(),
            };
            let rendered = render(&prompt, texts, &task)?;
            std::io::stdout().lock().write_all(rendered.as_bytes())?;
        }
    }
    Ok(ExitStatus::Done)
}

fn list() -> Result<Report> {
    let mut table = Table::new(&["name", "kind", "description", "sha256"]);
    for name in Prompt::built_in_names() {
        let prompt = Prompt::load(name)?;
        let kind = format!("{:?}", prompt.kind()).to_lowercase();
        let sha256 = prompt.sha256();
        table.push(vec![
            name.into(),
            kind.into(),
            prompt.description().into(),
            sha256[..12].into(),
        ]);
    }
    for name in Rubric::built_in_names() {
        let rubric = Rubric::load(name)?;
        let sha256 = &rubric.sha256()[..12];
        table.push(vec![
            name.into(),
            "rubric".into(),
            rubric.description.as_str().into(),
            sha256.into(),
        ]);
    }
    for name in Criteria::built_in_names() {
        let criteria = Criteria::load(name)?;
        let sha256 = &criteria.sha256()[..12];
        table.push(vec![
            name.into(),
            "criteria".into(),
            criteria.description.as_str().into(),
            sha256.into(),
        ]);
    }
    for name in Personas::built_in_names() {
        let personas = Personas::load(name)?;
        let sha256 = &personas.sha256()[..12];
        table.push(vec![
            name.into(),
            "personas".into(),
            personas.description.as_str().into(),
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

fn show(name: &str) -> Result<String> {
    match Prompt::load(name) {
        Ok(prompt) => Ok(prompt.source().to_owned()),
        Err(error) => Rubric::source(name)
            .or_else(|| Criteria::source(name))
            .or_else(|| Personas::source(name))
            .map(str::to_owned)
            .ok_or_else(|| error.into()),
    }
}

fn render(prompt: &Prompt, given: &[String], task: &Task) -> Result<String> {
    let mut texts: BTreeMap<String, String> = prompt
        .variables()
        .iter()
        .map(|(name, variable)| (name.clone(), format!("({})", variable.description)))
        .collect();
    for pair in given {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(UsageError(format!("`{pair}` is not VARIABLE=TEXT")).into());
        };
        if !texts.contains_key(name) {
            let known: Vec<&str> = texts.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let message = format!("the prompt has no variable `{name}`; it has {known}");
            return Err(UsageError(message).into());
        }
        texts.insert(name.to_owned(), text.to_owned());
    }
    let messages = prompt.render(&texts, task)?;
    let blocks: Vec<String> = messages
        .iter()
        .map(|message| {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            let length = json!(message.content.chars().count());
            format!("--- {role} ({length} characters)\n{}\n", message.content)
        })
        .collect();
    Ok(blocks.join("\n"))
}

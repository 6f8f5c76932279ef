//! Labels of items: a Z for scores of workers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Failure;
use super::job::{Annotation, Answered, Asked, Job, all_settings};
use super::row::Row;
use super::samples::{Question, Samples, SamplingSettings};
use super::task::read_task;
use crate::data::import::ImportSettings;
use crate::data::items::{ItemRow, TASK, check_names_differ, read_items, task_beside};
use crate::data::observer::Observer;
use crate::data::rows::{Column, NamedColumn};
use crate::data::source::Source;
use crate::error::{Error, Remedy, Result};
use crate::judge::feedback::ask_until_readable;
use crate::judge::{InjectionDetector, Value as Answer, Verdict};
use crate::llm::form::{Field, json_schema};
use crate::llm::prompt::Task;
use crate::llm::{ChatRequest, Prompt, PromptKind, ResponseFormat};
use crate::report::{Input, settings_map};

/// The name in results.
pub(crate) const COMMAND: &str = "annotate labels";

/// Texts that tables call by other names, too.
const KNOWN: [Column; 5] = [
    Column { name: "text", synonyms: &["comment", "content"], required: false },
    Column { name: "context", synonyms: &[], required: false },
    Column { name: "request", synonyms: &["prompt"], required: false },
    Column { name: "response_a", synonyms: &["a"], required: false },
    Column { name: "response_b", synonyms: &["b"], required: false },
];

/// Columns of the output.
const COLUMNS: [&str; 4] = ["task", "label", "source", "sample"];

/// How items are labelled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LabelsSettings {
    /// A prompt for labels, by name or path.
    pub prompt: String,
    /// Question and labels for a prompt without, a TOML file; see [`super::read_task`].
    pub task: Option<PathBuf>,
    /// The only question whose answers become rows.
    pub question: Option<String>,
    /// Answers that may be asked for until one can be read.
    pub turns: u32,
    /// Name of the source in the rows; by default the model's.
    pub source: Option<String>,
    /// How answers are drawn.
    #[serde(flatten)]
    pub sampling: SamplingSettings,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
}

impl Default for LabelsSettings {
    fn default() -> Self {
        Self {
            prompt: "label-generic".into(),
            task: None,
            question: None,
            turns: 5,
            source: None,
            sampling: SamplingSettings::default(),
            import: ImportSettings::default(),
        }
    }
}

impl LabelsSettings {
    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// Of the kind [`crate::ErrorKind::Usage`].
    pub(crate) fn check(&self) -> Result<()> {
        self.sampling.check()?;
        if self.turns == 0 {
            let error = Error::usage("an item needs at least 1 turn");
            return Err(error.with_remedy(Remedy::ChooseTurns));
        }
        Ok(())
    }
}

/// Items ready to be labelled.
#[derive(Debug)]
pub(crate) struct Labels {
    settings: LabelsSettings,
    prompt: Prompt,
    fields: Vec<Field>,
    /// The only field that becomes rows.
    kept: Option<usize>,
    items: Vec<ItemRow>,
    inputs: Vec<Input>,
    /// Hash of the file that has the question, if one has.
    task_sha256: Option<String>,
    requests: Vec<ChatRequest>,
}

impl Labels {
    /// Reads items and makes their requests.
    ///
    /// # Errors
    ///
    /// For settings that make no sense, a prompt or task that cannot be used, and every problem of
    /// the items.
    pub(crate) fn prepare(
        settings: &LabelsSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        settings.check()?;
        let prompt = Prompt::load(&settings.prompt)?.expect(PromptKind::Labels)?;
        let (task, task_sha256) = match &settings.task {
            Some(path) => read_task(path).map(|(task, sha256)| (task, Some(sha256)))?,
            None => (Task::default(), None),
        };
        let fields = fields_of(&settings.prompt, &prompt, &task)?;
        let kept = kept_field(settings.question.as_deref(), &fields)?;
        let source = source()?;
        let schema = schema(&prompt);
        let items = read_items(&source, &schema)?;
        check_names_differ(&source, &TASK, &items)?;
        let inputs = vec![Input::new(&source, items.len() as u64)];
        let samples = Samples { columns: &schema, items: &items, sampling: &settings.sampling };
        let requests = samples.requests(&Question {
            prompts: std::slice::from_ref(&prompt),
            task: &task,
            format: ResponseFormat::JsonSchema {
                name: "labels".into(),
                schema: json_schema(&fields),
            },
        })?;
        let settings = settings.clone();
        Ok(Self { settings, prompt, fields, kept, items, inputs, task_sha256, requests })
    }

    /// The first request about every item, sample by sample.
    pub(crate) fn requests(&self) -> &[ChatRequest] {
        &self.requests
    }

    /// The items, for results.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Every setting, for results.
    pub(crate) fn provenance(&self) -> Map<String, Value> {
        let mut settings = settings_map(&self.settings);
        let LabelsSettings { sampling, .. } = &self.settings;
        settings.insert("prompt_sha256".into(), self.prompt.sha256().into());
        settings.insert("task_sha256".into(), self.task_sha256.clone().into());
        settings.insert("temperature".into(), sampling.effective_temperature().into());
        let most = sampling.max_tokens.unwrap_or(self.prompt.max_tokens());
        settings.insert("max_tokens".into(), most.into());
        settings
    }

    /// Asks for all labels.
    pub(crate) fn run(&self, asked: &Asked<'_>, observer: &dyn Observer) -> Annotation {
        let sampling = &self.settings.sampling;
        let schema = schema(&self.prompt);
        let samples = Samples { columns: &schema, items: &self.items, sampling };
        let job = Job {
            command: COMMAND,
            columns: &COLUMNS,
            inputs: &self.inputs,
            settings: all_settings(asked, &self.provenance()),
            names: samples.names(),
        };
        let origin = self.settings.source.as_deref().unwrap_or(asked.model.model());
        let turns = self.settings.turns;
        let work = |index: usize| {
            let request = self.requests[index].clone();
            let (read, used) = ask_until_readable(asked.model, request, &self.fields, turns)?;
            let verdict = read.map_err(|problems| Failure::unreadable(&problems, used))?;
            let origin = (origin, samples.sample(index));
            let rows = rows(samples.name(index), &verdict, &self.fields, self.kept, origin);
            Ok(Answered { rows, extra: used, failure: None })
        };
        let names = self.fields.iter().map(|field| field.name.as_str());
        let flagged = samples.suspicious(&InjectionDetector::new(names));
        job.run(asked, observer, work, (flagged, |used: &[u32]| turns_summary(used, turns)))
    }
}

/// A name and the texts that the prompt asks for.
fn schema(prompt: &Prompt) -> Vec<NamedColumn<'_>> {
    let variables = prompt.variables();
    let columns = variables.iter().map(|(name, variable)| {
        let known = KNOWN.into_iter().find(|column| column.name == name);
        let column = known.unwrap_or(NamedColumn { name, synonyms: &[], required: false });
        NamedColumn { required: !variable.optional, ..column }
    });
    std::iter::once(task_beside(variables.keys().map(String::as_str))).chain(columns).collect()
}

fn fields_of(name: &str, prompt: &Prompt, task: &Task) -> Result<Vec<Field>> {
    match (prompt.fields(), task.fields.as_slice()) {
        ([], []) => {
            let error = Error::usage(format!("the prompt `{name}` has no question of its own"));
            Err(error.with_remedy(Remedy::GiveTask))
        }
        (own, []) => Ok(own.to_vec()),
        ([], given) => Ok(given.to_vec()),
        (_, _) => {
            let error = Error::usage(format!("the prompt `{name}` has its own question"));
            Err(error.with_remedy(Remedy::DropTask))
        }
    }
}

fn kept_field(question: Option<&str>, fields: &[Field]) -> Result<Option<usize>> {
    let Some(wanted) = question else { return Ok((fields.len() == 1).then_some(0)) };
    let position = fields.iter().position(|field| field.name == wanted);
    if position.is_none() {
        let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let message = format!("the prompt does not ask `{wanted}`; it asks {}", known.join(", "));
        return Err(Error::usage(message));
    }
    Ok(position)
}

fn rows(
    task: &str,
    verdict: &Verdict,
    fields: &[Field],
    kept: Option<usize>,
    (source, sample): (&str, usize),
) -> Vec<Row> {
    let row = |task: String, value: &Answer| {
        let label = match value {
            Answer::Label(label) => label.clone(),
            Answer::Number(number) => number.to_string(),
        };
        let row = json!({"task": task, "label": label, "source": source, "sample": sample});
        row.as_object().cloned().unwrap_or_default()
    };
    match kept {
        Some(index) => vec![row(task.to_owned(), &verdict.values[index])],
        None => fields
            .iter()
            .zip(&verdict.values)
            .map(|(field, value)| row(format!("{task}/{}", field.name), value))
            .collect(),
    }
}

/// Share of the answered items that took 1, 2, ... turns at most.
fn turns_summary(turns: &[u32], most: u32) -> Map<String, Value> {
    let share = |limit: u32| {
        let within = turns.iter().filter(|&&turns| turns <= limit).count();
        within as f64 / turns.len() as f64
    };
    let shares: Vec<f64> =
        if turns.is_empty() { Vec::new() } else { (1..=most).map(share).collect() };
    Map::from_iter([("answered_within_turns".to_owned(), json!(shares))])
}

//! Reviews of papers: a Z for scores of reviewers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Failure;
use super::job::{Annotation, Answered, Asked, Job, all_settings};
use super::samples::{Question, Samples, SamplingSettings};
use crate::data::import::ImportSettings;
use crate::data::items::{ItemRow, PAPER, check_names_differ, read_items};
use crate::data::observer::Observer;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems};
use crate::data::source::Source;
use crate::error::Result;
use crate::judge::InjectionDetector;
use crate::llm::prompt::Task;
use crate::llm::usable::ask_until_usable;
use crate::llm::{ChatRequest, Prompt, PromptKind, ResponseFormat};
use crate::report::{Input, settings_map};

/// The name in results.
pub const COMMAND: &str = "annotate reviews";

/// A name and what a paper may have.
const SCHEMA: [Column; 4] = [
    PAPER,
    Column { name: "title", synonyms: &[], required: false },
    Column { name: "abstract", synonyms: &["summary"], required: false },
    Column { name: "text", synonyms: &["content", "body"], required: false },
];

/// Columns of the output.
const COLUMNS: [&str; 4] = ["paper", "source", "sample", "text"];

/// The wordings that samples take in turn unless a prompt is named.
const WORDINGS: [&str; 3] = ["review-1", "review-2", "review-3"];

/// How often a review is asked for while what comes is of no use as Z.
const TRIES: u32 = 3;

/// How papers are reviewed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewsSettings {
    /// A prompt for reviews, by name or path; by default samples take several wordings in turn.
    pub prompt: Option<String>,
    /// Name of the source in the rows; by default the model's.
    pub source: Option<String>,
    /// How answers are drawn.
    #[serde(flatten)]
    pub sampling: SamplingSettings,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
}

/// Papers ready to be reviewed.
#[derive(Debug)]
pub struct Reviews {
    settings: ReviewsSettings,
    prompts: Vec<Prompt>,
    papers: Vec<ItemRow>,
    inputs: Vec<Input>,
    requests: Vec<ChatRequest>,
}

impl Reviews {
    /// Reads papers and makes their requests.
    ///
    /// # Errors
    ///
    /// For settings that make no sense, a prompt that cannot be used, and every problem of the
    /// papers.
    pub fn prepare(
        settings: &ReviewsSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        settings.sampling.check()?;
        let prompts = prompts(settings)?;
        let source = source()?;
        let papers = read_items(&source, &SCHEMA)?;
        check_names_differ(&source, &PAPER, &papers)?;
        check_texts(&source, &papers)?;
        let inputs = vec![Input::new(&source, papers.len() as u64)];
        let samples = Samples { columns: &SCHEMA, items: &papers, sampling: &settings.sampling };
        let requests = samples.requests(&Question {
            prompts: &prompts,
            task: &Task::default(),
            format: ResponseFormat::Text,
        })?;
        Ok(Self { settings: settings.clone(), prompts, papers, inputs, requests })
    }

    /// The request for every review, sample by sample.
    pub fn requests(&self) -> &[ChatRequest] {
        &self.requests
    }

    /// The papers, for results.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Every setting, for results.
    pub fn provenance(&self) -> Map<String, Value> {
        let mut settings = settings_map(&self.settings);
        settings.remove("prompt");
        let names: Vec<&str> = self.prompts.iter().map(Prompt::name).collect();
        let hashes: Vec<String> = self.prompts.iter().map(Prompt::sha256).collect();
        settings.insert("prompts".into(), names.into());
        settings.insert("prompts_sha256".into(), hashes.into());
        let temperature = self.settings.sampling.effective_temperature();
        settings.insert("temperature".into(), temperature.into());
        settings
    }

    /// Asks for all reviews.
    pub fn run(&self, asked: &Asked<'_>, observer: &dyn Observer) -> Annotation {
        let sampling = &self.settings.sampling;
        let samples = Samples { columns: &SCHEMA, items: &self.papers, sampling };
        let job = Job {
            command: COMMAND,
            columns: &COLUMNS,
            inputs: &self.inputs,
            settings: all_settings(asked, &self.provenance()),
            names: samples.names(),
        };
        let origin = self.settings.source.as_deref().unwrap_or(asked.model.model());
        let work = |index: usize| {
            let text = ask_until_usable(asked.model, &self.requests[index], TRIES)?.map_err(
                |unusable| Failure::Unusable {
                    kind: unusable.kind(),
                    message: unusable.to_string(),
                },
            )?;
            let row = json!({
                "paper": samples.name(index),
                "source": origin,
                "sample": samples.sample(index),
                "text": text,
            });
            let row = row.as_object().cloned().unwrap_or_default();
            Ok(Answered { rows: vec![row], extra: (), failure: None })
        };
        let flagged = samples.suspicious(&InjectionDetector::new([]));
        job.run(asked, observer, work, (flagged, |_: &[()]| Map::new()))
    }
}

fn prompts(settings: &ReviewsSettings) -> Result<Vec<Prompt>> {
    let names: Vec<&str> = match &settings.prompt {
        Some(name) => vec![name],
        None => WORDINGS.iter().copied().take(settings.sampling.samples as usize).collect(),
    };
    names.into_iter().map(|name| Ok(Prompt::load(name)?.expect(PromptKind::Review)?)).collect()
}

/// A paper without any text would be reviewed out of thin air.
fn check_texts(source: &Source, papers: &[ItemRow]) -> Result<(), DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    for paper in papers.iter().filter(|paper| paper.fields[1..].iter().all(Option::is_none)) {
        let message = "the paper has no title, abstract or text; give it at least one";
        file.report(Some(paper.line), None, message);
    }
    problems.into_result()
}

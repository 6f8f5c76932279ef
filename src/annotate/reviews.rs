//! Reviews of papers and answers to tasks: a Z for scores of people who write.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Failure;
use super::job::{Annotation, Answered, Asked, Job, all_settings};
use super::samples::{Question, SYSTEM, Samples, SamplingSettings};
use crate::data::import::ImportSettings;
use crate::data::items::{ItemRow, PAPER, TASK, check_names_differ, read_items};
use crate::data::observer::Observer;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems};
use crate::data::source::Source;
use crate::error::{Remedy, Result};
use crate::judge::InjectionDetector;
use crate::llm::prompt::Task;
use crate::llm::usable::{LEAST_WORDS, TextKind, Unusable, ask_until_usable};
use crate::llm::{ChatRequest, Prompt, PromptKind, ResponseFormat};
use crate::report::{Input, settings_map};

/// The name in results.
pub(crate) const COMMAND: &str = "annotate reviews";

/// The name in results, for answers.
pub(crate) const ANSWERS_COMMAND: &str = "annotate answers";

/// What tells reviews and answers apart.
#[derive(Debug)]
struct Kind {
    command: &'static str,
    /// What an item has: a name, then texts.
    schema: &'static [Column],
    /// Columns of the output.
    columns: &'static [&'static str],
    prompts: PromptKind,
    /// The wordings that samples take in turn unless a prompt is named.
    wordings: &'static [&'static str],
    /// What texts are.
    texts: TextKind,
}

const REVIEWS: Kind = Kind {
    command: COMMAND,
    schema: &PAPERS,
    columns: &["paper", "source", "sample", "text"],
    prompts: PromptKind::Review,
    wordings: &["review-1", "review-2", "review-3"],
    texts: TextKind { least_words: LEAST_WORDS, may_quote: false },
};

const ANSWERS: Kind = Kind {
    command: ANSWERS_COMMAND,
    schema: &[
        TASK,
        Column {
            name: "text",
            synonyms: &["question", "prompt", "task_text", "content"],
            required: true,
        },
        SYSTEM,
    ],
    columns: &["task", "source", "sample", "text"],
    prompts: PromptKind::Answer,
    wordings: &["answer-1", "answer-2", "answer-3"],
    // A number is an answer, and so is a part of the task, which may ask for one.
    texts: TextKind { least_words: 1, may_quote: true },
};

/// A name and what a paper may have.
const PAPERS: [Column; 4] = [
    PAPER,
    Column { name: "title", synonyms: &[], required: false },
    Column { name: "abstract", synonyms: &["summary"], required: false },
    Column { name: "text", synonyms: &["content", "body"], required: false },
];

/// The key in the summary under which stands how many texts were cut at their last full sentence.
pub(crate) const CUT_TEXTS: &str = "cut_texts";

/// How often a review is asked for or an answer, while what comes is of no use as Z.
const TRIES: u32 = 3;

/// How papers are reviewed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReviewsSettings {
    /// A prompt for reviews, by name or path; by default samples take several wordings in turn.
    pub prompt: Option<String>,
    /// Name of the source in the rows; by default the model's.
    pub source: Option<String>,
    /// How papers were read that are PDF files.
    #[serde(flatten)]
    pub pdf: PdfSettings,
    /// How answers are drawn.
    #[serde(flatten)]
    pub sampling: SamplingSettings,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
}

/// What names the paper in a PDF file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub(crate) enum PaperFrom {
    /// The name of the file.
    #[default]
    Name,
    /// The title on its first page.
    Title,
}

/// What is made of papers in PDF files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PdfSettings {
    /// What names a paper: `name` of the file, or `title`.
    pub paper_from: PaperFrom,
    /// Whether references and appendix are kept.
    pub keep: bool,
}

/// Papers ready to be reviewed, or tasks ready to be answered.
#[derive(Debug)]
pub(crate) struct Reviews {
    kind: &'static Kind,
    settings: ReviewsSettings,
    prompts: Vec<Prompt>,
    items: Vec<ItemRow>,
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
    pub(crate) fn prepare(
        settings: &ReviewsSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        Self::of(&REVIEWS, settings, source)
    }

    /// Reads tasks and makes their requests: a task, its text, and what the model is told before it.
    ///
    /// # Errors
    ///
    /// As [`Self::prepare`].
    pub(crate) fn answers(
        settings: &ReviewsSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        Self::of(&ANSWERS, settings, source)
    }

    fn of(
        kind: &'static Kind,
        settings: &ReviewsSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        settings.sampling.check()?;
        let prompts = prompts(kind, settings)?;
        let source = source()?;
        let items = read_items(&source, kind.schema)?;
        check_names_differ(&source, &kind.schema[0], &items)?;
        check_texts(&source, &items)?;
        let inputs = vec![Input::new(&source, items.len() as u64)];
        let sampling = &settings.sampling;
        let samples = Samples { columns: kind.schema, items: &items, sampling };
        let requests = samples.requests(&Question {
            prompts: &prompts,
            task: &Task::default(),
            format: ResponseFormat::Text,
        })?;
        Ok(Self { kind, settings: settings.clone(), prompts, items, inputs, requests })
    }

    /// The request for every review, sample by sample.
    pub(crate) fn requests(&self) -> &[ChatRequest] {
        &self.requests
    }

    /// The papers, for results.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Every setting, for results.
    pub(crate) fn provenance(&self) -> Map<String, Value> {
        let mut settings = settings_map(&self.settings);
        settings.remove("prompt");
        let names: Vec<&str> = self.prompts.iter().map(Prompt::name).collect();
        let hashes: Vec<String> = self.prompts.iter().map(Prompt::sha256).collect();
        settings.insert("prompts".into(), names.into());
        settings.insert("prompts_sha256".into(), hashes.into());
        let temperature = self.settings.sampling.effective_temperature();
        let of_prompts = self.prompts.iter().map(Prompt::temperature);
        let temperatures: Vec<f64> = of_prompts
            .map(|own| self.settings.sampling.temperature.or(own).unwrap_or(temperature))
            .collect();
        let mut distinct = temperatures.clone();
        distinct.dedup();
        let told = if distinct.len() == 1 { distinct[0].into() } else { temperatures.into() };
        settings.insert("temperature".into(), told);
        settings
    }

    /// Asks for all reviews.
    pub(crate) fn run(&self, asked: &Asked<'_>, observer: &dyn Observer) -> Annotation {
        let sampling = &self.settings.sampling;
        let samples = Samples { columns: self.kind.schema, items: &self.items, sampling };
        let job = Job {
            command: self.kind.command,
            columns: self.kind.columns,
            inputs: &self.inputs,
            settings: all_settings(asked, &self.provenance()),
            names: samples.names(),
        };
        let origin = self.settings.source.as_deref().unwrap_or(asked.model.model());
        let work = |index: usize| {
            let how = (self.kind.texts, TRIES);
            let usable =
                ask_until_usable(asked.model, &self.requests[index], how)?.map_err(|unusable| {
                    Failure::Unusable {
                        kind: unusable.kind(),
                        message: unusable.to_string(),
                        remedy: (unusable == Unusable::CutOff).then_some(Remedy::MoreTokens),
                    }
                })?;
            let row = json!({
                (self.kind.columns[0]): samples.name(index),
                "source": origin,
                "sample": samples.sample(index),
                "text": usable.text,
            });
            let row = row.as_object().cloned().unwrap_or_default();
            Ok(Answered { rows: vec![row], extra: usable.is_cut, failure: None })
        };
        let flagged = samples.suspicious(&InjectionDetector::new([]));
        job.run(asked, observer, work, (flagged, cut_texts))
    }
}

/// How many texts ran into the limit of tokens.
fn cut_texts(is_cut: &[bool]) -> Map<String, Value> {
    let count = is_cut.iter().filter(|cut| **cut).count();
    Map::from_iter([(CUT_TEXTS.to_owned(), count.into())])
}

fn prompts(kind: &Kind, settings: &ReviewsSettings) -> Result<Vec<Prompt>> {
    let names: Vec<&str> = match &settings.prompt {
        Some(name) => vec![name],
        None => kind.wordings.iter().copied().take(settings.sampling.samples as usize).collect(),
    };
    names.into_iter().map(|name| Ok(Prompt::load(name)?.expect(kind.prompts)?)).collect()
}

/// What has no text would be written about out of thin air.
pub(crate) fn check_texts(source: &Source, papers: &[ItemRow]) -> Result<(), DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    for paper in papers.iter().filter(|paper| paper.fields[1..].iter().all(Option::is_none)) {
        let message = "there is no title, abstract or text; give it at least one";
        file.report(Some(paper.line), None, message);
    }
    problems.into_result()
}

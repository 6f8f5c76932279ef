//! Judgments of texts under a rubric: vectors of what reviews say.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Failure;
use super::job::{Annotation, Answered, Asked, Estimate, Job, all_settings, suspicious};
use super::row::{Row, named};
use crate::data::import::ImportSettings;
use crate::data::items::{ItemRow, read_items};
use crate::data::label_reader::{SAMPLE, SOURCE};
use crate::data::observer::Observer;
use crate::data::problem::{DataError, Problems};
use crate::data::review_reader::REVIEWER;
use crate::data::rows::{Column, Field, FileProblems, read_rows};
use crate::data::source::Source;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::judge::choice::{Choice, LOW_MASS};
use crate::judge::pairs::rehearsal::{Rehearsal, Rehearsed};
use crate::judge::rubric::DEFAULT_RUBRIC;
use crate::judge::{
    FeedbackKind, InjectionDetector, Item, JudgeError, JudgeKind, JudgeSettings, JudgeStrategy,
    Progression, Rubric, Strategy, Transcript, parse_verdict,
};
use crate::llm::{ChatModel, ChatRequest};
use crate::report::{Input, Report, settings_map};

/// The name in results.
pub(crate) const COMMAND: &str = "annotate judgments";

/// What identifies a review; handed through to the output.
const IDS: [Column; 6] = [
    Column {
        name: "paper",
        synonyms: &["item", "submission", "forum", "paper_id"],
        required: false,
    },
    Column { required: false, ..REVIEWER },
    SOURCE,
    SAMPLE,
    Column { name: "task", synonyms: &["question_id"], required: false },
    Column { name: "id", synonyms: &[], required: false },
];
const TEXT: Column = Column { name: "text", synonyms: &["review", "comment"], required: true };
const JUDGMENTS: Column = Column { name: "judgments", synonyms: &["judgements"], required: true };

/// Columns of the output in CSV.
const COLUMNS: [&str; 9] =
    ["paper", "reviewer", "source", "sample", "task", "id", "judgments", "turns", "suspicious"];

/// The same where probabilities are read.
const CHOICE_COLUMNS: [&str; 12] = [
    "paper",
    "reviewer",
    "source",
    "sample",
    "task",
    "id",
    "judgments",
    "turns",
    "suspicious",
    "probabilities",
    "uncertainty",
    "mass",
];

/// Columns of judged texts as runs of a study of feedback.
pub(crate) const RUN_COLUMNS: [&str; 8] =
    ["provider", "feedback", "max_turns", "item", "success", "invalid_turns", "tokens", "turns"];

/// How texts are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct JudgmentsSettings {
    /// The questions: a rubric by name or path.
    pub rubric: String,
    /// Whether the model that comments sees the judgments known to be right; the judge never does.
    pub feedback_gold: bool,
    /// How the judge is asked.
    #[serde(flatten)]
    pub judge: JudgeSettings,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
}

impl Default for JudgmentsSettings {
    fn default() -> Self {
        let judge = JudgeSettings::default();
        let import = ImportSettings::default();
        Self { rubric: DEFAULT_RUBRIC.into(), feedback_gold: false, judge, import }
    }
}

impl JudgmentsSettings {
    /// Refuses settings that do nothing.
    ///
    /// # Errors
    ///
    /// A usage error.
    pub(crate) fn check(&self) -> Result<()> {
        if self.feedback_gold && !self.judge.asks_a_second_model() {
            let error =
                Error::usage("known judgments are to be shown, but no second model is asked");
            return Err(error.with_remedy(Remedy::ChooseFeedback));
        }
        self.judge.check()
    }
}

/// Texts ready to be judged.
#[derive(Debug)]
pub(crate) struct Judgments {
    settings: JudgmentsSettings,
    rubric: Rubric,
    rows: Vec<ItemRow>,
    items: Vec<Item>,
    /// How many judgments are known, if a file says any.
    known: Option<usize>,
    inputs: Vec<Input>,
}

impl Judgments {
    /// Reads texts, and judgments known to be right, with the same identifiers; `sources` is called
    /// when the settings are known to be good.
    ///
    /// # Errors
    ///
    /// For settings that make no sense, a rubric that cannot be used, and with every problem of a
    /// file.
    pub(crate) fn prepare(
        settings: &JudgmentsSettings,
        sources: impl FnOnce() -> Result<(Source, Option<Source>)>,
    ) -> Result<Self> {
        settings.check()?;
        let rubric = Rubric::load(&settings.rubric)?;
        let (source, gold) = sources()?;
        let schema: Vec<Column> = IDS.into_iter().chain([TEXT]).collect();
        let rows = read_items(&source, &schema)?;
        let mut inputs = vec![Input::new(&source, rows.len() as u64)];
        let known = match &gold {
            Some(gold) => {
                let (known, count) = read_gold(gold, &rubric)?;
                inputs.push(Input::new(gold, count));
                known
            }
            None => HashMap::new(),
        };
        let of_row = |row: &ItemRow| Item {
            text: row.fields[IDS.len()].clone().unwrap_or_default(),
            gold: known.get(&row.fields[..IDS.len()]).cloned(),
        };
        let items: Vec<Item> = rows.iter().map(of_row).collect();
        if !known.is_empty() && items.iter().all(|item| item.gold.is_none()) {
            let names: Vec<&str> = IDS.iter().map(|column| column.name).collect();
            let message = format!(
                "none of the {} known judgments is of one of the {} texts: {} must be the same in both files",
                known.len(),
                items.len(),
                names.join(", ")
            );
            return Err(Error::new(ErrorKind::Input, message));
        }
        let known = gold.as_ref().map(|_| known.len());
        Ok(Self { settings: settings.clone(), rubric, rows, items, known, inputs })
    }

    /// The files, for results.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The settings with what they stand for: the rubric and the prompts by hash.
    ///
    /// # Errors
    ///
    /// If a prompt cannot be used.
    pub(crate) fn provenance(&self) -> Result<Map<String, Value>> {
        let mut settings = self.settings.judge.described(&self.rubric)?;
        settings.insert("feedback_gold".into(), self.settings.feedback_gold.into());
        settings.extend(settings_map(&self.settings.import));
        Ok(settings)
    }

    /// The judge; `commenter` is asked for feedback, if there is to be any.
    ///
    /// # Errors
    ///
    /// If a prompt cannot be used or a number is out of range.
    pub(crate) fn strategy(&self, commenter: Option<Arc<dyn ChatModel>>) -> Result<Strategy> {
        let commenter = commenter.map(|model| (model, self.settings.feedback_gold));
        self.settings.judge.strategy(&self.rubric, commenter)
    }

    /// The first requests to `model` about every text, and those that are needed once for all.
    ///
    /// # Errors
    ///
    /// As [`Strategy::requests`].
    pub(crate) fn requests(
        &self,
        strategy: &Strategy,
        model: &str,
    ) -> Result<Vec<ChatRequest>, JudgeError> {
        let mut all = strategy.requests_for_all(model)?;
        for item in &self.items {
            all.extend(strategy.requests(item, model)?);
        }
        Ok(all)
    }

    /// Whether a complete answer may be followed by more requests about the same text.
    pub(crate) fn may_go_on(&self) -> bool {
        self.settings.judge.feedback.is_some()
    }

    /// Says what judging and commenting would cost if nobody ever agreed; `known` and the
    /// `commenter` answer what is answered already and send nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::strategy`], and [`JudgeError`] for a text that a prompt cannot take.
    pub(crate) fn rehearse(
        &self,
        known: Arc<dyn ChatModel>,
        commenter: Option<Arc<dyn ChatModel>>,
        asked: &Asked<'_>,
    ) -> Result<Report> {
        let judge = Rehearsal::new(known);
        let commenter = commenter.map(|model| Arc::new(Rehearsal::disagreeing(model)));
        let comments = commenter.clone().map(|model| model as Arc<dyn ChatModel>);
        let strategy = self.strategy(comments)?;
        for item in &self.items {
            strategy.judge(item, &judge)?;
        }
        let comments = commenter.map(|model| model.counted()).unwrap_or_default();
        let Rehearsed { calls, held, prompt_tokens, answer_tokens } =
            judge.counted().plus(comments);
        let estimate = Estimate { requests: calls, held, prompt_tokens, answer_tokens };
        Ok(estimate.report(COMMAND, (&self.inputs, self.provenance()?), asked))
    }

    /// Texts that there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Asks for all judgments by the [`Self::strategy`]; `provenance` are the settings in the result.
    ///
    /// The second part is every text with known judgments as a run for
    /// [`crate::experiment::feedback`], with [`RUN_COLUMNS`]: success is to equal them at the end.
    pub(crate) fn run(
        &self,
        (strategy, provenance): (&Strategy, &Map<String, Value>),
        asked: &Asked<'_>,
        observer: &dyn Observer,
    ) -> (Annotation, Vec<Row>) {
        let turns = self.settings.judge.turns;
        let job = Job {
            command: COMMAND,
            columns: match self.settings.judge.judge {
                JudgeKind::Json => &COLUMNS,
                JudgeKind::Choice => &CHOICE_COLUMNS,
            },
            inputs: &self.inputs,
            settings: all_settings(asked, provenance),
            names: self.rows.iter().map(name).collect(),
        };
        let detector = InjectionDetector::new(self.rubric.categories());
        let runs: Mutex<BTreeMap<usize, Row>> = Mutex::default();
        let work = |index: usize| {
            let transcript = strategy.judge(&self.items[index], asked.model)?;
            if let Some(run) = self.as_run(index, &transcript, asked.model.model()) {
                runs.lock().unwrap_or_else(PoisonError::into_inner).insert(index, run);
            }
            Ok(self.judged(index, transcript, &detector))
        };
        let texts = self.rows.iter().zip(&self.items);
        let flagged =
            suspicious(&detector, texts.map(|(row, item)| (name(row), vec![item.text.as_str()])));
        let summary = |judged: &[Judged]| summary(judged, turns);
        let annotation = job.run(asked, observer, work, (flagged, summary));
        let runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        (annotation, runs.into_values().collect())
    }

    /// How many texts have no known judgments, and of how many known judgments there is no text; `None` if none
    /// are known.
    pub(crate) fn unmatched(&self) -> Option<[usize; 2]> {
        let matched = self.items.iter().filter(|item| item.gold.is_some()).count();
        self.known.map(|known| [self.items.len() - matched, known.saturating_sub(matched)])
    }

    /// How a text with known judgments was judged, as a row of [`RUN_COLUMNS`]; none if a comment was of no use.
    fn as_run(&self, index: usize, transcript: &Transcript, judge: &str) -> Option<Row> {
        let gold =
            self.items[index].gold.as_deref().filter(|_| transcript.unusable_comments == 0)?;
        let settings = &self.settings.judge;
        let provider = match (settings.asks_a_second_model(), &settings.feedback_model) {
            (false, _) => "none",
            (true, Some(name)) => name.as_str(),
            (true, None) => judge,
        };
        let kind = settings.feedback.map_or("none", FeedbackKind::as_str);
        let feedback =
            if self.settings.feedback_gold { format!("{kind}+gold") } else { kind.into() };
        let fields = &self.rows[index].fields[..IDS.len()];
        let names: Vec<&str> = fields.iter().filter_map(Option::as_deref).map(str::trim).collect();
        let invalid = transcript.turns.iter().filter(|turn| turn.proposal.is_none()).count();
        let success = transcript.success_after(transcript.turns.len(), Some(gold));
        let row = json!({
            "provider": provider,
            "feedback": feedback,
            "max_turns": settings.turns,
            "item": names.join("|"),
            "success": u8::from(success),
            "invalid_turns": invalid,
            "tokens": transcript.usage.total(),
            "turns": transcript.turns.len(),
        });
        row.as_object().cloned()
    }

    /// One value for each category, by its name.
    fn by_category(&self, values: impl Iterator<Item = Value>) -> Map<String, Value> {
        self.rubric.categories().map(str::to_owned).zip(values).collect()
    }

    fn judged(
        &self,
        index: usize,
        transcript: Transcript,
        detector: &InjectionDetector,
    ) -> Answered<Judged> {
        let item = &self.items[index];
        let Some(values) = &transcript.values else {
            let problems = transcript.turns.last().map_or(&[][..], |turn| &turn.problems);
            #[expect(clippy::cast_possible_truncation, reason = "at most the most turns, a u32")]
            let turns = transcript.turns.len() as u32;
            let failure = Failure::unreadable(problems, turns);
            let extra = Judged { gold: item.gold.clone(), transcript };
            return Answered { rows: Vec::new(), extra, failure: Some(failure) };
        };
        let judgments = self.by_category(values.iter().map(|value| plain_number(*value)));
        let mut out = name(&self.rows[index]);
        out.insert("judgments".into(), Value::Object(judgments));
        out.insert("turns".into(), transcript.turns.len().into());
        let found = detector.inspect(&item.text);
        if !found.is_empty() {
            out.insert("suspicious".into(), json!(found));
        }
        if let Some(choices) = &transcript.choices {
            let put = |key: &str, of: fn(&Choice) -> Value, out: &mut Row| {
                out.insert(key.into(), self.by_category(choices.iter().map(of)).into())
            };
            put("probabilities", |choice| json!(choice.probabilities), &mut out);
            put("uncertainty", |choice| choice.uncertainty.into(), &mut out);
            put("mass", |choice| choice.mass.into(), &mut out);
        }
        let extra = Judged { gold: item.gold.clone(), transcript };
        Answered { rows: vec![out], extra, failure: None }
    }
}

/// One judged text.
struct Judged {
    transcript: Transcript,
    gold: Option<Vec<f64>>,
}

/// The identifiers of a row.
fn name(row: &ItemRow) -> Row {
    let pairs: Vec<(&str, Option<&str>)> = IDS
        .iter()
        .zip(&row.fields)
        .map(|(column, field)| (column.name, field.as_deref().map(str::trim)))
        .collect();
    named(&pairs)
}

/// Whole numbers without a fraction, as people write them.
fn plain_number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "judgments lie in [-1, 1]")]
    if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) }
}

type Identifiers = Vec<Option<String>>;

/// Judgments by the identifiers of their reviews, and the number of rows; strict, as every answer.
fn read_gold(
    source: &Source,
    rubric: &Rubric,
) -> Result<(HashMap<Identifiers, Vec<f64>>, u64), DataError> {
    let schema: Vec<Column> = IDS.into_iter().chain([JUDGMENTS]).collect();
    let mut gold = HashMap::new();
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    let mut rows = Vec::new();
    read_rows(source, &schema, &mut file, &mut |row, _| {
        let ids: Identifiers =
            row.fields[..IDS.len()].iter().map(|id| id.as_name().map(Into::into)).collect();
        let text = match &row.fields[IDS.len()] {
            Field::Json(value) => value.to_string(),
            other => other.as_name().map(Into::into).unwrap_or_default(),
        };
        rows.push((row.line, ids, text));
    });
    let count = rows.len() as u64;
    for (line, ids, text) in rows {
        let values = parse_verdict(&text, rubric.fields()).map(|verdict| verdict.numbers());
        match values {
            Ok(Some(values)) => {
                if gold.insert(ids, values).is_some() {
                    file.report(Some(line), None, "the same identifiers stood in an earlier line");
                }
            }
            Ok(None) => {}
            Err(wrong) => {
                let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
                file.report(Some(line), Some("judgments"), wrong.join("; "));
            }
        }
    }
    problems.into_result()?;
    Ok((gold, count))
}

/// How far the setting gets with more turns, and against the known judgments, if there are any.
fn summary(judged: &[Judged], turns: u32) -> Map<String, Value> {
    let any: Vec<(&Transcript, Option<&[f64]>)> =
        judged.iter().map(|judged| (&judged.transcript, None)).collect();
    let known: Vec<(&Transcript, Option<&[f64]>)> = judged
        .iter()
        .filter(|judged| judged.gold.is_some())
        .map(|judged| (&judged.transcript, judged.gold.as_deref()))
        .collect();
    let mut summary = Map::new();
    summary.insert("readable".into(), json!(Progression::of(&any, turns)));
    if !known.is_empty() {
        summary.insert("right".into(), json!(Progression::of(&known, turns)));
    }
    let mut used = vec![0_u64; turns as usize];
    for judged in judged {
        if let Some(count) = used.get_mut(judged.transcript.turns.len().wrapping_sub(1)) {
            *count += 1;
        }
    }
    summary.insert("items_by_turns_used".into(), json!(used));
    let choices: Vec<&Choice> =
        judged.iter().flat_map(|judged| judged.transcript.choices.iter().flatten()).collect();
    if !choices.is_empty() {
        let count = choices.len() as f64;
        let mean = |of: fn(&Choice) -> f64| choices.iter().map(|c| of(c)).sum::<f64>() / count;
        let low = choices.iter().filter(|choice| choice.mass < LOW_MASS).count();
        summary.insert("choices".into(), choices.len().into());
        summary.insert("mean_mass".into(), mean(|choice| choice.mass).into());
        summary.insert("mean_uncertainty".into(), mean(|choice| choice.uncertainty).into());
        summary.insert("choices_of_low_mass".into(), low.into());
    }
    summary
}

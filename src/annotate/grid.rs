//! Labels of the same items by many prompts: which features of a prompt matter, and which prompt is
//! best.
//!
//! The prompts are data: one file with features that can be switched on one by one, and other
//! wordings of its question ([`Prompt::with_features`]), and any prompts of one's own. The names are
//! those that [`crate::screen::agreement::prompts`] takes apart: the letters of the features, `none`,
//! and after a slash the number of the wording.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Failure;
use super::job::{Annotation, Answered, Asked, Job, all_settings, suspicious};
use super::row::{Row, named};
use crate::data::items::{ItemRow, TASK, check_names_differ, read_items, task_beside};
use crate::data::observer::Observer;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{FileProblems, NamedColumn};
use crate::data::source::Source;
use crate::error::{Error, Result};
use crate::judge::feedback::{MOST_TURNS, ask_until_readable};
use crate::judge::pairs::{Cost, Metered};
use crate::judge::{InjectionDetector, Value as Answer, Verdict};
use crate::llm::form::{Domain, json_schema};
use crate::llm::prompt::Task;
use crate::llm::{ChatRequest, Prompt, PromptKind, ResponseFormat};
use crate::report::{Input, settings_map};

/// The name in results.
pub(crate) const COMMAND: &str = "experiment prompts";

/// Columns of the output: what a study of prompts reads, and what every label cost.
pub(crate) const COLUMNS: [&str; 7] =
    ["task", "source", "prompt", "label", "tokens_read", "tokens_written", "seconds"];

/// Which prompts are asked, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GridSettings {
    /// A prompt for labels with features, by name or path.
    pub prompt: String,
    /// The features that are switched on and off, each with each; by default all of the prompt.
    pub features: Option<String>,
    /// The features of the prompt whose other wordings are asked, too, such as `DNA` or `none`.
    pub wordings_of: Option<String>,
    /// Prompts for labels of one's own, by name or path, with one field each.
    pub variants: Vec<String>,
    /// Answers that may be asked for until one can be read.
    pub turns: u32,
    /// Name of the source in the rows; by default the model's.
    pub source: Option<String>,
    /// Sampling temperature.
    pub temperature: f64,
    /// Most tokens of an answer; by default as the prompts say.
    pub max_tokens: Option<u32>,
    /// Seed for servers that sample reproducibly.
    pub seed: u64,
}

impl Default for GridSettings {
    fn default() -> Self {
        Self {
            prompt: "label-relevance".into(),
            features: None,
            wordings_of: None,
            variants: Vec::new(),
            turns: 5,
            source: None,
            temperature: 0.0,
            max_tokens: None,
            seed: 0,
        }
    }
}

/// One prompt of the grid.
#[derive(Debug)]
struct Variant {
    /// `DNA`, `none`, `DNA/3`, or the name of the file.
    name: String,
    prompt: Prompt,
    /// The fields whose mean is the label.
    kept: Vec<usize>,
}

/// Items ready to be labelled by every prompt.
#[derive(Debug)]
pub(crate) struct Grid {
    settings: GridSettings,
    variants: Vec<Variant>,
    items: Vec<ItemRow>,
    inputs: Vec<Input>,
    /// Those of the first item by prompt, then those of the second.
    requests: Vec<ChatRequest>,
}

impl Grid {
    /// Reads items, whose columns are a task and the texts of the prompts, and makes their requests.
    ///
    /// # Errors
    ///
    /// For settings that make no sense, prompts that cannot be used, and every problem of the items:
    /// one that lacks the text of a feature would be labelled as if the feature were off.
    pub(crate) fn prepare(
        settings: &GridSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        if !(1..=MOST_TURNS).contains(&settings.turns) {
            return Err(Error::usage(format!(
                "turns must be from 1 to {MOST_TURNS}, not {}",
                settings.turns
            )));
        }
        let variants = variants(settings)?;
        let names: Vec<String> = texts_of(&variants);
        let mut schema: Vec<NamedColumn<'_>> = vec![task_beside(names.iter().map(String::as_str))];
        schema.extend(names.iter().map(|name| NamedColumn {
            name,
            synonyms: &[],
            required: false,
        }));
        let source = source()?;
        let items = read_items(&source, &schema)?;
        check_names_differ(&source, &TASK, &items)?;
        check_texts(&source, &variants, &names, &items)?;
        let mut requests = Vec::with_capacity(items.len() * variants.len());
        for item in &items {
            let texts: BTreeMap<String, String> = names
                .iter()
                .zip(&item.fields[1..])
                .filter_map(|(name, text)| Some((name.clone(), text.clone()?)))
                .collect();
            for Variant { prompt, .. } in &variants {
                let messages = prompt
                    .render(&texts, &Task::default())
                    .map_err(|error| Error::from(error).context(format!("line {}", item.line)))?;
                requests.push(ChatRequest {
                    messages,
                    temperature: settings.temperature,
                    seed: settings.seed,
                    max_tokens: settings.max_tokens.unwrap_or(prompt.max_tokens()),
                    format: ResponseFormat::JsonSchema {
                        name: "labels".into(),
                        schema: json_schema(prompt.fields()),
                    },
                    repeat: 0,
                });
            }
        }
        let inputs = vec![Input::new(&source, items.len() as u64)];
        Ok(Self { settings: settings.clone(), variants, items, inputs, requests })
    }

    /// Names of the prompts, in the order in which they are asked.
    #[cfg(test)]
    pub(crate) fn prompts(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|variant| variant.name.as_str())
    }

    /// The first request about every item by every prompt.
    pub(crate) fn requests(&self) -> &[ChatRequest] {
        &self.requests
    }

    /// The items, for results.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Every setting, for results; the prompts by hash.
    pub(crate) fn provenance(&self) -> Map<String, Value> {
        let mut settings = settings_map(&self.settings);
        let hashes = self.variants.iter().map(|v| (v.name.clone(), v.prompt.sha256().into()));
        settings.insert("prompts_sha256".into(), Value::Object(hashes.collect()));
        settings
    }

    /// Asks for all labels. An answer that cannot be read is a row without a label, and a failure.
    ///
    /// `timed` says whether the time of an answer means something, as it does for a server; one that was kept
    /// has none.
    pub(crate) fn run(
        &self,
        asked: &Asked<'_>,
        timed: bool,
        observer: &dyn Observer,
    ) -> Annotation {
        let count = self.variants.len();
        let of = |index: usize| {
            let task = self.items[index / count].fields[0].as_deref().unwrap_or_default().trim();
            (task, &self.variants[index % count])
        };
        let names = (0..self.requests.len()).map(|index| {
            let (task, variant) = of(index);
            named(&[("task", Some(task)), ("prompt", Some(&variant.name))])
        });
        let job = Job {
            command: COMMAND,
            columns: &COLUMNS,
            inputs: &self.inputs,
            settings: all_settings(asked, &self.provenance()),
            names: names.collect(),
        };
        let origin = self.settings.source.as_deref().unwrap_or(asked.model.model());
        let turns = self.settings.turns;
        let work = |index: usize| {
            let (task, variant) = of(index);
            let (fields, request) = (variant.prompt.fields(), self.requests[index].clone());
            let metered = Metered::new(asked.model);
            let (read, used) = ask_until_readable(&metered, request, fields, turns)?;
            let label = read.as_ref().ok().map(|verdict| variant.label(verdict));
            let row = row((task, origin, &variant.name), label.as_deref(), metered.cost(), timed);
            let failure = read.err().map(|problems| Failure::unreadable(&problems, used));
            Ok(Answered { rows: vec![row], extra: (), failure })
        };
        let fields = self.variants.iter().flat_map(|variant| variant.prompt.fields());
        let detector = InjectionDetector::new(fields.map(|field| field.name.as_str()));
        let texts = self.items.iter().map(|item| {
            let texts: Vec<&str> = item.fields[1..].iter().filter_map(Option::as_deref).collect();
            (named(&[("task", item.fields[0].as_deref())]), texts)
        });
        let flagged = suspicious(&detector, texts);
        job.run(asked, observer, work, (flagged, |_: &[()]| Map::new()))
    }
}

/// All prompts that the settings name.
fn variants(settings: &GridSettings) -> Result<Vec<Variant>> {
    let base = Prompt::load(&settings.prompt)?.expect(PromptKind::Labels)?;
    let known: Vec<char> = base.feature_letters().collect();
    if known.is_empty() {
        let message = format!("the prompt `{}` has no features to switch on", settings.prompt);
        return Err(Error::usage(message));
    }
    let chosen = |text: &str| -> Result<Vec<char>> {
        if text == "none" {
            return Ok(Vec::new());
        }
        let unknown = text.chars().find(|letter| !known.contains(letter));
        if unknown.is_some() || text.is_empty() {
            let known: String = known.iter().collect();
            let message =
                format!("`{text}` are no features; the prompt has {known}, or none of them");
            return Err(Error::usage(message));
        }
        Ok(known.iter().copied().filter(|letter| text.contains(*letter)).collect())
    };
    let switched = match &settings.features {
        None => known.clone(),
        Some(text) => chosen(text)?,
    };
    let mut variants = Vec::new();
    for set in 0..1_u32 << switched.len() {
        let on: Vec<char> =
            (0..).zip(&switched).filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, l)| *l).collect();
        let (prompt, kept) = base.with_features(&on)?;
        variants.push(Variant { name: name_of(&on), prompt, kept });
    }
    if let Some(text) = &settings.wordings_of {
        let on = chosen(text)?;
        if base.wordings().is_empty() {
            let message = format!("the prompt `{}` has one wording only", settings.prompt);
            return Err(Error::usage(message));
        }
        for (number, wording) in (1..).zip(base.wordings()) {
            let (prompt, kept) = base.with_features(&on)?;
            let name = format!("{}/{number}", name_of(&on));
            variants.push(Variant { name, prompt: prompt.with_question(wording), kept });
        }
    }
    for name in &settings.variants {
        let prompt = Prompt::load(name)?.expect(PromptKind::Labels)?;
        if prompt.fields().len() != 1 {
            let count = prompt.fields().len();
            let message =
                format!("the prompt `{name}` must ask for one label, it has {count} fields");
            return Err(Error::usage(message));
        }
        let name = prompt.name().to_owned();
        if variants.iter().any(|variant| variant.name == name) {
            return Err(Error::usage(format!("two prompts have the name `{name}`")));
        }
        variants.push(Variant { name, prompt, kept: vec![0] });
    }
    Ok(variants)
}

fn name_of(features: &[char]) -> String {
    if features.is_empty() { "none".into() } else { features.iter().collect() }
}

/// Names of all texts that a prompt of the grid takes.
fn texts_of(variants: &[Variant]) -> Vec<String> {
    let mut names: Vec<String> =
        variants.iter().flat_map(|variant| variant.prompt.variables().keys().cloned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Reports items that lack the text of a feature that some prompt shows.
fn check_texts(
    source: &Source,
    variants: &[Variant],
    names: &[String],
    items: &[ItemRow],
) -> Result<(), DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    for (name, column) in names.iter().zip(1..) {
        let shows = |variant: &&Variant| variant.prompt.shows(name);
        let Some(variant) = variants.iter().find(shows) else { continue };
        for item in items.iter().filter(|item| item.fields[column].is_none()) {
            let message = format!("is empty, and the prompt {} shows it", variant.name);
            file.report(Some(item.line), Some(name), message);
        }
    }
    problems.into_result()
}

impl Variant {
    /// The label of an answer: the value of the field that counts, or the grade next to the mean over
    /// imagined judges, the higher one of two.
    fn label(&self, verdict: &Verdict) -> String {
        let mut sum = 0.0;
        for &field in &self.kept {
            match &verdict.values[field] {
                Answer::Label(label) => return label.clone(),
                Answer::Number(number) => sum += number,
            }
        }
        let mean = sum / self.kept.len() as f64;
        let grades = match self.kept.first().map(|&field| &self.prompt.fields()[field].domain) {
            Some(Domain::Numbers { values }) => values.as_slice(),
            _ => &[],
        };
        let next =
            grades.iter().rev().min_by(|a, b| (*a - mean).abs().total_cmp(&(*b - mean).abs()));
        next.unwrap_or(&mean).to_string()
    }
}

fn row(
    (task, source, prompt): (&str, &str, &str),
    label: Option<&str>,
    cost: Cost,
    timed: bool,
) -> Row {
    // Thousandths: more digits are noise.
    let seconds = cost.seconds.filter(|_| timed).map(|s| (s * 1000.0).round() / 1000.0);
    let row = json!({
        "task": task,
        "source": source,
        "prompt": prompt,
        "label": label,
        "tokens_read": cost.usage.prompt_tokens,
        "tokens_written": cost.usage.completion_tokens,
        "seconds": seconds,
    });
    row.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::parse_verdict;
    use std::path::Path;

    const ITEMS: &str = "task,query,description,narrative,document\n\
        1,red fox,what foxes eat,pages on diet,Foxes eat mice.\n";

    fn prepared(settings: &GridSettings, items: &str) -> Result<Grid> {
        let source = Source::from_reader(Path::new("i.csv"), items.as_bytes())?;
        Grid::prepare(settings, || Ok(source))
    }

    fn user(grid: &Grid, name: &str) -> String {
        let at = grid.prompts().position(|prompt| prompt == name).unwrap();
        grid.requests()[at].messages.iter().map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn five_features_are_32_prompts_that_differ_by_what_their_names_say() {
        let grid = prepared(&GridSettings::default(), ITEMS).unwrap();
        let names: Vec<&str> = grid.prompts().collect();
        assert_eq!(names.len(), 32);
        assert_eq!((names[0], names[31]), ("none", "RDNAM"));
        for name in names {
            let text = user(&grid, name);
            for (letter, mark) in [
                ('R', "experienced rater"),
                ('D', "what foxes eat"),
                ('N', "pages on diet"),
                ('A', "trust"),
                ('M', "five raters"),
            ] {
                assert_eq!(text.contains(mark), name.contains(letter), "{mark} in {name}");
            }
            assert!(text.contains("red fox") && text.contains("Foxes eat mice."), "{name}");
        }
    }

    #[test]
    fn aspects_come_before_the_whole_and_imagined_judges_give_all_of_them() {
        let grid = prepared(&GridSettings::default(), ITEMS).unwrap();
        let fields = |name: &str| -> Vec<String> {
            let variant = grid.variants.iter().find(|variant| variant.name == name).unwrap();
            variant.prompt.fields().iter().map(|field| field.name.clone()).collect()
        };
        assert_eq!(fields("none"), ["overall"]);
        assert_eq!(fields("A"), ["topicality", "trust", "overall"]);
        assert_eq!(fields("M").len(), 5);
        assert_eq!(fields("AM").len(), 15);
        assert_eq!(fields("AM")[..3], ["judge_1_topicality", "judge_1_trust", "judge_1_overall"]);
    }

    #[test]
    fn only_the_whole_counts_and_the_mean_of_imagined_judges_is_rounded() {
        let grid = prepared(&GridSettings::default(), ITEMS).unwrap();
        let label = |name: &str, answer: Value| {
            let variant = grid.variants.iter().find(|variant| variant.name == name).unwrap();
            let verdict = parse_verdict(&answer.to_string(), variant.prompt.fields()).unwrap();
            variant.label(&verdict)
        };
        assert_eq!(label("none", json!({"overall": 2})), "2");
        assert_eq!(label("A", json!({"topicality": 2, "trust": 2, "overall": 0})), "0");
        let five = |grades: [u8; 5]| {
            let fields =
                (1..).zip(grades).map(|(n, g): (u32, u8)| (format!("judge_{n}_overall"), g.into()));
            Value::Object(fields.collect())
        };
        // 7/5 is next to 1, 8/5 to 2; five whole grades never have a mean halfway.
        assert_eq!(label("M", five([2, 2, 2, 1, 0])), "1");
        assert_eq!(label("M", five([2, 2, 2, 2, 0])), "2");
    }

    #[test]
    fn wordings_and_own_prompts_are_added() {
        let settings = GridSettings {
            features: Some("A".into()),
            wordings_of: Some("AD".into()),
            ..GridSettings::default()
        };
        let grid = prepared(&settings, ITEMS).unwrap();
        let names: Vec<&str> = grid.prompts().collect();
        assert_eq!(names[..4], ["none", "A", "DA/1", "DA/2"]);
        assert_eq!(names.len(), 2 + 10);
        assert!(user(&grid, "DA/1").contains("what foxes eat"));
        assert_ne!(user(&grid, "DA/1"), user(&grid, "DA/2"));
    }

    #[test]
    fn items_without_the_text_of_a_feature_are_refused_unless_no_prompt_shows_it() {
        let items = "task,query,document\n1,red fox,Foxes eat mice.\n";
        let text = prepared(&GridSettings::default(), items).unwrap_err().to_string();
        assert!(text.contains("i.csv:2: column `description`: is empty"), "{text}");
        let settings = GridSettings { features: Some("RAM".into()), ..GridSettings::default() };
        assert_eq!(prepared(&settings, items).unwrap().requests().len(), 8);
        for (settings, part) in [
            (GridSettings { features: Some("RX".into()), ..GridSettings::default() }, "RDNAM"),
            (
                GridSettings { prompt: "label-toxicity".into(), ..GridSettings::default() },
                "no features",
            ),
            (
                GridSettings { variants: vec!["label-toxicity".into()], ..GridSettings::default() },
                "one label",
            ),
        ] {
            let text = prepared(&settings, ITEMS).unwrap_err().to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}

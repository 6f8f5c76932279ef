//! Verdicts on pairs of answers: by one judge, by debates, with juries, and by the control.

mod judged;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::judged::{Judged, failure, rows, summary, transcript};
use super::job::{Annotation, Answered, Asked, Job, all_settings, suspicious};
use super::row::{Row, named};
use crate::data::items::{ItemRow, check_names_differ, read_items};
use crate::data::mtbench::{self, Texts};
use crate::data::observer::Observer;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems, header};
use crate::data::source::Source;
use crate::error::{Error, Result};
use crate::judge::pairs::jury::jury;
use crate::judge::pairs::more::More;
use crate::judge::pairs::rehearsal::{Rehearsal, Rehearsed};
use crate::judge::pairs::repeated::{Repeated, Worth};
use crate::judge::pairs::samre::{Samre, StopRule};
use crate::judge::pairs::single::Single;
use crate::judge::pairs::{
    Criteria, Debate, DebateModels, Floor, Order, Pair, PairStrategy, Personas, Prompts, Rules,
    debate,
};
use crate::judge::{InjectionDetector, JudgeError};
use crate::report::{Input, Report, Table, settings_map};

/// The name in results.
pub(crate) const COMMAND: &str = "judge";

const SCHEMA: [Column; 4] = [
    Column { name: "item", synonyms: &["task", "question_id", "id"], required: true },
    Column { name: "context", synonyms: &["request", "prompt"], required: false },
    Column { name: "a", synonyms: &["response_a"], required: true },
    Column { name: "b", synonyms: &["response_b"], required: true },
];

/// Columns of the output.
const COLUMNS: [&str; 12] = [
    "item", "method", "order", "verdict", "score_a", "score_b", "rounds", "calls", "tokens",
    "seconds", "flip", "failure",
];

/// Temperature of repeated calls: at 0 they would be one answer.
const REPEATED_TEMPERATURE: f64 = 0.7;

/// Calls of the control where no debate takes part: those of MORE.
const REPEATED_CALLS: u64 = 9;

/// A way to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// One call: both answers scored by all criteria.
    Single,
    /// Three advocates for each answer, a case made of their arguments, a judge: 9 calls.
    More,
    /// An advocate for each answer and a judge with feedback, round by round: 3 calls a round.
    Samre,
    /// samre as the paper describes it: the judge knows the round, its earlier scores and feedback
    /// and a summary of the debate, and gives reasons: 4 calls a round, 3 in the last.
    #[serde(rename = "samre-memory")]
    SamreMemory,
    /// The control: as many single calls as each debate costs in tokens, scores averaged.
    Repeated,
}

/// How pairs are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PairsSettings {
    /// The ways to judge.
    pub methods: Vec<Method>,
    /// Criteria, by name or path.
    pub criteria: String,
    /// A folder with prompts of roles in place of those that come with caz.
    pub prompts: Option<PathBuf>,
    /// Whether a jury votes after every debate and single judgment.
    pub jury: bool,
    /// The jury, by name or path.
    pub personas: String,
    /// Fewest readable votes of a verdict of the jury.
    pub quorum: u32,
    /// Whether every pair is judged in both orders, or as it stands.
    pub both_orders: bool,
    /// Advocates of either answer in [`Method::More`], from 1 to 9.
    pub advocates: u32,
    /// Most rounds of [`Method::Samre`], from 1 to 20.
    pub rounds: u32,
    /// When a debate in rounds ends before.
    pub stop: StopRule,
    /// The bound of [`StopRule::Gap`].
    pub gap: f64,
    /// Answers that may be asked for until one can be used, from 1 to 20.
    pub turns: u32,
    /// Sampling temperature; by default 0, and 0.7 for repeated calls.
    pub temperature: Option<f64>,
    /// Most tokens of an answer; by default as the prompts say.
    pub max_tokens: Option<u32>,
    /// Seed for servers that sample reproducibly.
    pub seed: u64,
    /// Model of the advocates, if it is another than that of the run.
    pub advocate_model: Option<String>,
    /// Model of the judge, if it is another than that of the run.
    pub judge_model: Option<String>,
    /// Model of the jury, if it is another than that of the run.
    pub juror_model: Option<String>,
}

impl Default for PairsSettings {
    fn default() -> Self {
        Self {
            methods: vec![Method::Single],
            criteria: "answers".into(),
            prompts: None,
            jury: false,
            personas: "jury".into(),
            quorum: 3,
            both_orders: true,
            advocates: 3,
            rounds: 4,
            stop: StopRule::default(),
            gap: 2.0,
            turns: 3,
            temperature: None,
            max_tokens: None,
            seed: 0,
            advocate_model: None,
            judge_model: None,
            juror_model: None,
        }
    }
}

impl PairsSettings {
    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// Of the kind [`crate::ErrorKind::Usage`].
    pub(crate) fn check(&self) -> Result<()> {
        if self.methods.is_empty() {
            return Err(Error::usage("choose at least one method"));
        }
        for (what, value, most) in [
            ("advocates", self.advocates, 9),
            ("rounds", self.rounds, 20),
            ("turns", self.turns, 20),
            ("the quorum", self.quorum, 99),
        ] {
            if !(1..=most).contains(&value) {
                return Err(Error::usage(format!("{what} must be from 1 to {most}, not {value}")));
            }
        }
        if !self.gap.is_finite() || self.gap <= 0.0 {
            return Err(Error::usage("the bound of the gap must be above 0"));
        }
        Ok(())
    }
}

/// Pairs ready to be judged.
#[derive(Debug)]
pub(crate) struct Pairs {
    settings: PairsSettings,
    rules: Rules,
    /// Those of repeated calls.
    repeated: Rules,
    personas: Personas,
    items: Vec<ItemRow>,
    texts: Vec<Pair>,
    inputs: Vec<Input>,
}

impl Pairs {
    /// Reads pairs, criteria and personas.
    ///
    /// An item that stands in several rows with the same answers, one for each person who gave a
    /// verdict, is judged once.
    ///
    /// # Errors
    ///
    /// For settings that make no sense, files that cannot be used, and every problem of the pairs.
    pub(crate) fn prepare(
        settings: &PairsSettings,
        source: impl FnOnce() -> Result<Source>,
    ) -> Result<Self> {
        settings.check()?;
        let personas = Personas::load(&settings.personas)?;
        if settings.jury && settings.quorum as usize > personas.members.len() {
            let (quorum, members) = (settings.quorum, personas.members.len());
            let message = format!("a quorum of {quorum} needs as many jurors, there are {members}");
            return Err(Error::usage(message));
        }
        let rules = Rules {
            criteria: Criteria::load(&settings.criteria)?,
            prompts: Prompts::load(settings.prompts.as_deref())?,
            turns: settings.turns,
            temperature: settings.temperature.unwrap_or(0.0),
            seed: settings.seed,
            max_tokens: settings.max_tokens,
        };
        let temperature = settings.temperature.unwrap_or(REPEATED_TEMPERATURE);
        let repeated = Rules { temperature, ..rules.clone() };
        let source = source()?;
        let mut items = read_pairs(&source)?;
        let rows = items.len() as u64;
        let mut seen: BTreeMap<Vec<Option<String>>, u64> = BTreeMap::new();
        items.retain(|item| seen.insert(item.fields.clone(), item.line).is_none());
        check_names_differ(&source, &SCHEMA[0], &items)?;
        let pair = |item: &ItemRow| Pair {
            context: item.fields[1].clone(),
            a: item.fields[2].clone().unwrap_or_default(),
            b: item.fields[3].clone().unwrap_or_default(),
        };
        let texts = items.iter().map(pair).collect();
        let inputs = vec![Input::new(&source, rows)];
        let settings = settings.clone();
        Ok(Self { settings, rules, repeated, personas, items, texts, inputs })
    }

    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Every setting, for results.
    pub(crate) fn provenance(&self) -> Map<String, Value> {
        let mut settings = settings_map(&self.settings);
        settings.insert("criteria_sha256".into(), self.rules.criteria.sha256().into());
        settings.insert("personas_sha256".into(), self.personas.sha256().into());
        let prompts: Map<String, Value> = self
            .rules
            .prompts
            .all()
            .iter()
            .map(|prompt| (prompt.name().to_owned(), prompt.sha256().into()))
            .collect();
        settings.insert("prompts_sha256".into(), prompts.into());
        settings.insert("temperature".into(), self.rules.temperature.into());
        settings.insert("repeated_temperature".into(), self.repeated.temperature.into());
        settings
    }

    fn orders(&self) -> &'static [Order] {
        if self.settings.both_orders { &[Order::Ab, Order::Ba] } else { &[Order::Ab] }
    }

    /// The debates of the run, `repeated` not among them.
    fn strategies(&self) -> Vec<Box<dyn PairStrategy>> {
        let PairsSettings { advocates, rounds, stop, gap, .. } = self.settings;
        let mut methods = self.settings.methods.clone();
        methods.sort_unstable();
        methods.dedup();
        methods
            .into_iter()
            .filter_map(|method| -> Option<Box<dyn PairStrategy>> {
                match method {
                    Method::Single => Some(Box::new(Single)),
                    Method::More => Some(Box::new(More { advocates })),
                    Method::Samre => Some(Box::new(Samre { rounds, stop, gap, memory: false })),
                    Method::SamreMemory => {
                        Some(Box::new(Samre { rounds, stop, gap, memory: true }))
                    }
                    Method::Repeated => None,
                }
            })
            .collect()
    }

    /// One pair by every method in every order, one after the other.
    fn judge(&self, pair: &Pair, cast: &DebateModels) -> Result<Vec<Judged>, JudgeError> {
        let mut found = Vec::new();
        for &order in self.orders() {
            let mut costs: Vec<(String, u64)> = Vec::new();
            for strategy in self.strategies() {
                let floor = Floor::new(pair, order, cast, &self.rules);
                let (debate, mut floor) = debate(strategy.as_ref(), floor)?;
                let method = strategy.name().to_owned();
                if method != "single" {
                    costs.push((format!("repeated-{method}"), debate.cost.usage.total()));
                }
                let voted =
                    if self.settings.jury { Some(self.vote(&debate, &mut floor)?) } else { None };
                let voted = voted.map(|debate| (format!("{method}+jury"), debate));
                for (method, debate) in std::iter::once((method, debate)).chain(voted) {
                    found.push(Judged { method, order, debate });
                }
            }
            if self.settings.methods.contains(&Method::Repeated) {
                found.extend(self.repeat(pair, order, cast, costs)?);
            }
        }
        Ok(found)
    }

    /// The jury on a debate; there is nothing to vote on after a failure.
    fn vote(&self, held: &Debate, floor: &mut Floor<'_>) -> Result<Debate, JudgeError> {
        if held.failure.is_some() {
            return Ok(Debate { turns: Vec::new(), ..held.clone() });
        }
        let said = held.turns.len();
        let mut voted = jury(floor, &self.personas, self.settings.quorum, held.rounds)?;
        voted.turns.drain(..said);
        Ok(voted)
    }

    /// Repeated calls at the cost of every debate, or a fixed number of them without debates.
    fn repeat(
        &self,
        pair: &Pair,
        order: Order,
        cast: &DebateModels,
        costs: Vec<(String, u64)>,
    ) -> Result<Vec<Judged>, JudgeError> {
        let mut worth: Vec<(String, Worth)> =
            costs.into_iter().map(|(name, tokens)| (name, Worth::Tokens(tokens))).collect();
        if worth.is_empty() {
            worth.push(("repeated".into(), Worth::Calls(REPEATED_CALLS)));
        }
        let mut found = Vec::new();
        for (name, worth) in worth {
            let strategy = Repeated { name, worth };
            let floor = Floor::new(pair, order, cast, &self.repeated);
            let (debate, _) = debate(&strategy, floor)?;
            found.push(Judged { method: strategy.name, order, debate });
        }
        Ok(found)
    }

    /// Says what every method would cost at most; `known` answers what is answered already and
    /// sends nothing.
    ///
    /// # Errors
    ///
    /// [`JudgeError`] for a text that a prompt cannot take.
    pub(crate) fn rehearse(&self, known: &DebateModels, asked: &Asked<'_>) -> Result<Report> {
        let columns = ["method", "calls", "held", "prompt_tokens", "answer_tokens", "price"];
        let columns = &columns[..columns.len() - usize::from(asked.prices.is_none())];
        let mut table = Table::new(columns);
        let mut methods = self.settings.methods.clone();
        methods.sort_unstable();
        methods.dedup();
        let mut debates = Rehearsed::default();
        for method in methods {
            // The control is sized by the debates, which are rehearsed with it and taken off.
            let with: Vec<Method> = match method {
                Method::Repeated => self.settings.methods.clone(),
                method => vec![method],
            };
            let settings = PairsSettings { methods: with, ..self.settings.clone() };
            let one = Self {
                settings,
                rules: self.rules.clone(),
                repeated: self.repeated.clone(),
                personas: self.personas.clone(),
                items: Vec::new(),
                texts: self.texts.clone(),
                inputs: self.inputs.clone(),
            };
            let roles = [&known.advocate, &known.judge, &known.juror]
                .map(|model| Arc::new(Rehearsal::new(Arc::clone(model))));
            let [advocate, judge, juror] = roles.clone();
            let cast = DebateModels { advocate, judge, juror };
            for pair in &one.texts {
                one.judge(pair, &cast)?;
            }
            let mut counted =
                roles.iter().fold(Rehearsed::default(), |sum, role| sum.plus(role.counted()));
            if method == Method::Repeated {
                counted = counted.minus(debates);
            } else {
                debates = debates.plus(counted);
            }
            let name = serde_json::to_value(method).ok();
            let name = name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            let Rehearsed { calls, held, prompt_tokens, answer_tokens } = counted;
            let mut cells = vec![
                name.into(),
                calls.into(),
                held.into(),
                prompt_tokens.into(),
                answer_tokens.into(),
            ];
            cells.extend(asked.prices.map(|p| p.of(prompt_tokens, answer_tokens).into()));
            table.push(cells);
        }
        let footer = format!(
            "Nothing was sent. At most so many calls would go to {} for {} pairs; tokens are \
             estimates, answers that cannot be read are asked for again and come on top.",
            asked.place,
            self.len()
        );
        Ok(Report {
            command: COMMAND,
            inputs: self.inputs.clone(),
            settings: all_settings(asked, &self.provenance()),
            table,
            warnings: Vec::new(),
            footer: vec![footer],
            prose: None,
        })
    }

    /// Judges all pairs; the verdicts, and what was said, one object per verdict.
    ///
    /// `timed` says whether the time of an answer means something, as it does for a server.
    pub(crate) fn run(
        &self,
        cast: &DebateModels,
        asked: &Asked<'_>,
        timed: bool,
        observer: &dyn Observer,
    ) -> (Annotation, Vec<Row>) {
        let name = |index: usize| self.items[index].fields[0].as_deref().unwrap_or_default().trim();
        let job = Job {
            command: COMMAND,
            columns: &COLUMNS,
            inputs: &self.inputs,
            settings: all_settings(asked, &self.provenance()),
            names: (0..self.len()).map(|index| named(&[("item", Some(name(index)))])).collect(),
        };
        let said: Mutex<BTreeMap<usize, Vec<Row>>> = Mutex::default();
        let work = |index: usize| {
            let judged = self.judge(&self.texts[index], cast)?;
            let transcripts = judged.iter().map(|j| transcript(name(index), j)).collect();
            said.lock().unwrap_or_else(PoisonError::into_inner).insert(index, transcripts);
            let rows = rows(name(index), &judged, timed);
            Ok(Answered { rows, failure: failure(&judged), extra: judged })
        };
        let detector =
            InjectionDetector::new(self.rules.criteria.fields().iter().map(|f| f.name.as_str()));
        let texts = self.items.iter().map(|item| {
            let texts: Vec<&str> = item.fields[1..].iter().filter_map(Option::as_deref).collect();
            (named(&[("item", item.fields[0].as_deref())]), texts)
        });
        let flagged = suspicious(&detector, texts);
        let annotation = job.run(asked, observer, work, (flagged, summary));
        let said = said.into_inner().unwrap_or_else(PoisonError::into_inner);
        (annotation, said.into_values().flatten().collect())
    }
}

/// The rows of a file of pairs, by [`SCHEMA`]: its own, or that of MT-Bench.
fn read_pairs(source: &Source) -> Result<Vec<ItemRow>, DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    let names = header(source);
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let mut items = Vec::new();
    if mtbench::is_mtbench(source) {
        for judgment in mtbench::read(source)? {
            let (name, line) = (judgment.pair(), judgment.line);
            let Some(Texts { context, a, b, .. }) = judgment.texts else {
                let message = "has no conversation_a and conversation_b: there is nothing to judge";
                file.report(Some(line), None, message);
                continue;
            };
            items.push(ItemRow { line, fields: [name, context, a, b].map(Some).into() });
        }
    } else if has("judge") && has("winner") && !has("context") && !has("gold") {
        let message = "holds verdicts (columns judge, winner), and its a and b are names of what \
                       was compared; judging takes the texts";
        file.report(None, None, message);
    } else {
        items = read_items(source, &SCHEMA)?;
    }
    problems.into_result()?;
    Ok(items)
}

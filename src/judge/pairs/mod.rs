//! Which of two answers is better: one judge, debates between advocates, juries, and controls.
//!
//! A [`PairStrategy`] makes a verdict of a pair in one order by asking roles of a [`DebateModels`] in turn on
//! a [`Floor`], which renders prompts with every text fenced, repairs answers that cannot be read,
//! and keeps what was said and what it cost. A score is a sum over the criteria, made here and not
//! by the model; an answer that cannot be read is a failure and never a score.
//!
//! [`single`], [`more`] and [`samre`] follow Bandi and Harrasse (2024, arXiv 2410.04663); [`jury`]
//! votes on top of any of them; [`repeated`] is the control: as many single calls as a debate cost.
//! [`rehearsal`] is a model of made-up answers, to count calls and tokens before anything is sent.

pub(crate) mod criteria;
mod floor;
pub(crate) mod jury;
pub(crate) mod more;
pub(crate) mod rehearsal;
pub(crate) mod repeated;
pub(crate) mod samre;
pub(crate) mod single;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::criteria::{Criteria, Personas};
#[cfg(feature = "http")]
pub(crate) use self::floor::Metered;
pub(crate) use self::floor::{Floor, Stop};
use super::JudgeError;
use crate::data::side::Side;
use crate::error::Remedy;
use crate::llm::{ChatModel, Prompt, PromptError, PromptKind, Usage};

/// Two answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    /// What both are about.
    pub context: Option<String>,
    /// The first answer.
    pub a: String,
    /// The second answer.
    pub b: String,
}

words! {
    /// Which answer is shown first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub(crate) enum Order {
        /// The first answer of the pair.
        Ab = "ab",
        /// The second one.
        Ba = "ba",
    }
}

impl Order {
    /// The answers as they are shown.
    pub(crate) fn shown(self, pair: &Pair) -> [&str; 2] {
        self.place([&pair.a, &pair.b])
    }

    /// Two things by place as things by side, or the other way round.
    pub(crate) fn place<T>(self, [one, other]: [T; 2]) -> [T; 2] {
        match self {
            Self::Ab => [one, other],
            Self::Ba => [other, one],
        }
    }
}

/// Who is asked in which role. Models may be the same.
#[derive(Clone)]
pub(crate) struct DebateModels {
    /// Advocates, and who makes one case of their arguments.
    pub advocate: Arc<dyn ChatModel>,
    /// Judges.
    pub judge: Arc<dyn ChatModel>,
    /// Members of the jury.
    pub juror: Arc<dyn ChatModel>,
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Speaker {
    /// Number of the advocate, and the side that it argues for.
    Advocate(u32, Side),
    /// Makes one case of the arguments for a side.
    Aggregator(Side),
    /// The judge.
    Judge,
    /// Sums up a debate so far.
    Summarizer,
    /// A member of the jury.
    Juror(String),
}

impl Speaker {
    /// The speaker in words.
    #[cfg(test)]
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Advocate(number, side) => format!("advocate {number} of {}", side.as_str()),
            Self::Aggregator(side) => format!("case for {}", side.as_str()),
            Self::Judge => "judge".into(),
            Self::Summarizer => "summary".into(),
            Self::Juror(who) => format!("juror ({who})"),
        }
    }
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// Who.
    pub speaker: Speaker,
    /// In which round, from 1.
    pub round: u32,
    /// What, for people: the argument, or the feedback or vote of a judge or juror.
    pub text: String,
    /// Scores of `a` and `b`, if a judge spoke.
    pub scores: Option<[f64; 2]>,
    /// Whether it looks like an attempt to steer who reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspicious: bool,
}

/// What something cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Answers, those that repair others among them.
    pub calls: u64,
    /// Tokens, as they were counted when the answers were made.
    pub usage: Usage,
    /// Seconds of waiting; `None` where an answer was kept from an earlier time, for which nobody waits.
    pub seconds: Option<f64>,
}

impl Default for Cost {
    /// Nothing asked yet, so no wait.
    fn default() -> Self {
        Self { calls: 0, usage: Usage::default(), seconds: Some(0.0) }
    }
}

impl Cost {
    /// The cost of both.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            usage: self.usage.plus(other.usage),
            seconds: self.seconds.zip(other.seconds).map(|(one, two)| one + two),
        }
    }
}

/// Why there is no verdict although models answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleFailure {
    /// Whose answer was of no use.
    pub speaker: Speaker,
    /// A stable word for scripts, see [`super::AnswerProblem::kind`].
    pub kind: &'static str,
}

impl RoleFailure {
    /// Role and kind as one word, without numbers: `advocate:empty`.
    pub(crate) fn word(&self) -> String {
        let role = match self.speaker {
            Speaker::Advocate(..) => "advocate",
            Speaker::Aggregator(_) => "aggregator",
            Speaker::Judge => "judge",
            Speaker::Summarizer => "summarizer",
            Speaker::Juror(_) => "juror",
        };
        format!("{role}:{}", self.kind)
    }
}

/// What a strategy decides in one order, by place: first shown, second shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decision {
    /// Scores, each a sum over the criteria.
    pub scores: [f64; 2],
    /// Rounds of arguments; 0 without any.
    pub rounds: u32,
}

/// A way to judge a pair.
pub(crate) trait PairStrategy: Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// Judges the pair on the floor, in its order.
    ///
    /// # Errors
    ///
    /// [`Stop`] if a model did not answer, or not in a way that can be used.
    fn decide(&self, floor: &mut Floor<'_>) -> Result<Decision, Stop>;
}

/// The prompts of all roles.
#[derive(Debug, Clone)]
pub(crate) struct Prompts {
    /// Of the judge.
    pub judge: Prompt,
    /// Of the judge of a debate in rounds.
    pub samre_judge: Prompt,
    /// Of the advocates of a team.
    pub more_advocate: Prompt,
    /// Of who makes one case of a team's arguments.
    pub more_case: Prompt,
    /// Of the advocates of a debate in rounds.
    pub samre_advocate: Prompt,
    /// Of who sums up a debate in rounds.
    pub summary: Prompt,
    /// Of the jury.
    pub juror: Prompt,
}

impl Prompts {
    /// The prompts that come with caz.
    ///
    /// # Errors
    ///
    /// None in a program that passes its tests.
    #[cfg(test)]
    pub(crate) fn built_in() -> Result<Self, PromptError> {
        Self::load(None)
    }

    /// The same, but for those of which `folder` has a file `NAME.toml`, changed by the user.
    ///
    /// # Errors
    ///
    /// [`PromptError`] for a prompt of no role or not of a debate, or a folder without any of them.
    pub(crate) fn load(folder: Option<&Path>) -> Result<Self, PromptError> {
        let path = |name: &str| Some(folder?.join(format!("{name}.toml")));
        if let Some(folder) = folder.filter(|_| {
            !Self::NAMES.iter().any(|name| path(name).is_some_and(|path| path.is_file()))
        }) {
            let (path, names) = (folder.to_owned(), Self::NAMES.join(", "));
            return Err(PromptError::NoPrompts { path, names });
        }
        let files = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
        let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        files.sort();
        for path in files {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_meant = path.extension().is_some_and(|ending| ending == "toml")
                && stem.starts_with("debate-");
            // A name with a slip of the pen would leave the prompt that comes with caz in its place.
            if is_meant && !Self::NAMES.contains(&&*stem) {
                let names = Self::NAMES.join(", ");
                return Err(PromptError::NoRole { path, names });
            }
        }
        let load = |name: &str| {
            let own = path(name).filter(|path| path.is_file());
            let own = own.map(|path| path.to_string_lossy().into_owned());
            Prompt::load(own.as_deref().unwrap_or(name))?.expect(PromptKind::Debate)
        };
        Ok(Self {
            judge: load("debate-judge")?,
            samre_judge: load("debate-samre-judge")?,
            more_advocate: load("debate-more-advocate")?,
            more_case: load("debate-more-case")?,
            samre_advocate: load("debate-samre-advocate")?,
            summary: load("debate-summary")?,
            juror: load("debate-juror")?,
        })
    }

    /// Names of all of them.
    const NAMES: [&str; 7] = [
        "debate-judge",
        "debate-samre-judge",
        "debate-more-advocate",
        "debate-more-case",
        "debate-samre-advocate",
        "debate-summary",
        "debate-juror",
    ];

    /// All of them.
    pub(crate) fn all(&self) -> [&Prompt; 7] {
        [
            &self.judge,
            &self.samre_judge,
            &self.more_advocate,
            &self.more_case,
            &self.samre_advocate,
            &self.summary,
            &self.juror,
        ]
    }
}

/// What holds for every role.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// What is asked.
    pub criteria: Criteria,
    /// How it is asked.
    pub prompts: Prompts,
    /// Answers that may be asked for until one can be used.
    pub turns: u32,
    /// Sampling temperature.
    pub temperature: f64,
    /// Seed for servers that sample reproducibly.
    pub seed: u64,
    /// Most tokens of an answer; `None`: as the prompt says.
    pub max_tokens: Option<u32>,
}

/// One pair judged in one order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Debate {
    /// The verdict; `None` after a failure.
    pub verdict: Option<Side>,
    /// Scores of `a` and `b`.
    pub scores: Option<[f64; 2]>,
    /// Rounds of arguments.
    pub rounds: Option<u32>,
    /// What was said.
    pub turns: Vec<Turn>,
    /// What it cost.
    pub cost: Cost,
    /// Why there is no verdict: a stable word.
    pub failure: Option<String>,
    /// What led to it, if a model did not answer.
    pub cause: Option<Cause>,
}

/// Why a model did not answer, for people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    /// What is wrong.
    pub message: String,
    /// What would help, if it is a setting.
    pub remedy: Option<Remedy>,
}

/// Judges on a new floor; the floor is handed back for a jury.
///
/// # Errors
///
/// [`JudgeError`] if every other pair would fail alike, or a budget ends. Any other error is a
/// debate with a failure.
pub(crate) fn debate<'a>(
    strategy: &dyn PairStrategy,
    mut floor: Floor<'a>,
) -> Result<(Debate, Floor<'a>), JudgeError> {
    let decided = strategy.decide(&mut floor);
    let debate = floor.conclude(decided.map(|decision| {
        let scores = floor.order().place(decision.scores);
        (Side::of_scores(scores[0], scores[1]), Some(scores), decision.rounds)
    }))?;
    Ok((debate, floor))
}

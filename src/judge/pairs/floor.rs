//! Where roles are asked in turn: requests, repairs, what was said, what it cost.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::words::{count, first_words};
use super::{Cause, Cost, Debate, DebateModels, Order, Pair, RoleFailure, Rules, Speaker, Turn};
use crate::data::side::Side;
use crate::error::Kinded;
use crate::judge::feedback::ask_until_readable;
use crate::judge::{InjectionDetector, JudgeError, Value, Verdict};
use crate::llm::form::{Domain, Field, json_schema};
use crate::llm::prompt::Task;
use crate::llm::{
    ChatAnswer, ChatError, ChatModel, ChatRequest, FinishReason, Prompt, ResponseFormat, Usage,
    without_reasoning,
};

/// Before the name of a criterion: the field in which a judge says why.
pub(super) const REASON: &str = "reason_for_";

/// Why a debate ends without a verdict.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A role did not answer in a way that can be used.
    Role(RoleFailure),
    /// A model did not answer.
    Asked(JudgeError),
}

impl<E: Into<JudgeError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Asked(error.into())
    }
}

/// A model whose answers are counted.
pub(crate) struct Metered<'a> {
    inner: &'a dyn ChatModel,
    cost: Mutex<Cost>,
}

impl<'a> Metered<'a> {
    /// Nothing counted yet.
    pub(crate) fn new(inner: &'a dyn ChatModel) -> Self {
        Self { inner, cost: Mutex::default() }
    }

    /// What was counted.
    pub(crate) fn cost(&self) -> Cost {
        *self.cost.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for Metered<'_> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let kept = self.inner.keeps(request)?;
        let begun = Instant::now();
        let answer = self.inner.complete(request);
        let seconds = (!kept).then(|| begun.elapsed().as_secs_f64());
        let usage = answer.as_ref().map_or_else(|_| Usage::default(), |answer| answer.usage);
        let asked = Cost { calls: u64::from(answer.is_ok()), usage, seconds };
        let mut cost = self.cost.lock().unwrap_or_else(PoisonError::into_inner);
        *cost = cost.plus(asked);
        answer
    }

    fn reject(&self, request: &ChatRequest) -> Result<(), ChatError> {
        self.inner.reject(request)
    }
}

/// What a judge said, by place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgment {
    pub(super) scores: [f64; 2],
    /// Texts of the fields after the scores.
    pub(super) texts: Vec<String>,
}

/// A pair in one order, and what was said about it.
pub(crate) struct Floor<'a> {
    pair: &'a Pair,
    order: Order,
    cast: &'a DebateModels,
    rules: &'a Rules,
    detector: InjectionDetector,
    /// What was argued for the answer at either place, for the jury.
    pub(super) cases: [Option<String>; 2],
    /// What the judge last said to the side of the answer at either place, for the jury.
    pub(super) feedback: [Option<String>; 2],
    turns: Vec<Turn>,
    cost: Cost,
    round: u32,
}

impl<'a> Floor<'a> {
    /// Nothing said yet.
    pub(crate) fn new(
        pair: &'a Pair,
        order: Order,
        cast: &'a DebateModels,
        rules: &'a Rules,
    ) -> Self {
        let names = rules.criteria.fields().iter().map(|field| field.name.as_str());
        let detector = InjectionDetector::new(names);
        let (cases, feedback) = ([None, None], [None, None]);
        let (turns, cost) = (Vec::new(), Cost::default());
        Self { pair, order, cast, rules, detector, cases, feedback, turns, cost, round: 1 }
    }

    /// Which answer is shown first.
    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(super) fn rules(&self) -> &'a Rules {
        self.rules
    }

    /// Ends a round.
    pub(super) fn next_round(&mut self) {
        self.round += 1;
    }

    /// The side at a place, 0 for the one shown first.
    pub(super) fn side(&self, place: usize) -> Side {
        self.order.place([Side::A, Side::B])[place]
    }

    /// What everybody may read: the context and both answers as they are shown, with what was
    /// argued for them.
    pub(super) fn shown(&self, cases: [Option<&str>; 2]) -> BTreeMap<String, String> {
        let [first, second] = self.order.shown(self.pair);
        let [first_case, second_case] = cases;
        texts([
            ("context", self.pair.context.as_deref()),
            ("first_answer", Some(first)),
            ("second_answer", Some(second)),
            ("first_case", first_case),
            ("second_case", second_case),
        ])
    }

    /// What the advocate of the answer at a place may read, and `more`.
    pub(super) fn argued(
        &self,
        place: usize,
        more: [(&str, Option<&str>); 2],
    ) -> BTreeMap<String, String> {
        let shown = self.order.shown(self.pair);
        let context = ("context", self.pair.context.as_deref());
        let own = ("own_answer", Some(shown[place]));
        let other = ("other_answer", Some(shown[1 - place]));
        texts([context, own, other, more[0], more[1]])
    }

    /// Asks the judge for scores, and for the texts of `more`.
    pub(super) fn judged(
        &mut self,
        prompt: &Prompt,
        texts: &BTreeMap<String, String>,
        more: &[Field],
        repeat: u32,
    ) -> Result<Judgment, Stop> {
        let criteria = self.rules.criteria.fields();
        let fields = [criteria, more].concat();
        let question = self.rules.criteria.question().to_owned();
        let speaker = Speaker::Judge;
        let verdict = self.answered(&speaker, prompt, texts, (question, &fields), repeat)?;
        let number = |value: &Value| match value {
            Value::Number(number) => *number,
            Value::Label(_) => 0.0,
        };
        let half = criteria.len() / 2;
        // The sum is ours: models cannot add.
        let sum = |values: &[Value]| values.iter().map(number).sum::<f64>();
        let scores = [sum(&verdict.values[..half]), sum(&verdict.values[half..criteria.len()])];
        let label = |value: &Value| match value {
            Value::Label(text) => text.clone(),
            Value::Number(number) => number.to_string(),
        };
        let said: Vec<String> = verdict.values[criteria.len()..].iter().map(label).collect();
        let of_sides = self.order.place(scores);
        let reason = |(field, text): (&Field, &String)| match field.name.strip_prefix(REASON) {
            Some(criterion) => format!("{criterion}: {text}"),
            None => text.clone(),
        };
        let shown: Vec<String> = more.iter().zip(&said).map(reason).collect();
        self.keep(speaker, shown.join("\n"), Some(of_sides));
        Ok(Judgment { scores, texts: said })
    }

    /// Asks a juror for the place of the better answer.
    pub(super) fn voted(
        &mut self,
        speaker: Speaker,
        prompt: &Prompt,
        texts: &BTreeMap<String, String>,
        question: String,
    ) -> Result<usize, Stop> {
        let labels = ["first", "second"].map(str::to_owned).to_vec();
        let domain = Domain::Labels { labels };
        let vote = Field { name: "vote".into(), definition: String::new(), domain };
        let verdict =
            self.answered(&speaker, prompt, texts, (question, std::slice::from_ref(&vote)), 0)?;
        let place = usize::from(verdict.values.first() == Some(&Value::Label("second".into())));
        self.keep(speaker, format!("votes for {}", self.side(place).as_str()), None);
        Ok(place)
    }

    /// Asks until the answer can be read.
    fn answered(
        &mut self,
        speaker: &Speaker,
        prompt: &Prompt,
        texts: &BTreeMap<String, String>,
        (question, fields): (String, &[Field]),
        repeat: u32,
    ) -> Result<Verdict, Stop> {
        let task = Task { question: Some(question), fields: fields.to_vec() };
        let format =
            ResponseFormat::JsonSchema { name: "answer".into(), schema: json_schema(fields) };
        let request = self.request(prompt, texts, &task, (format, repeat))?;
        let turns = self.rules.turns;
        let read =
            self.metered(speaker, |model| ask_until_readable(model, request, fields, turns))?;
        read.0.map_err(|problems| {
            let kind = problems.first().map_or("unreadable", crate::judge::AnswerProblem::kind);
            Stop::Role(RoleFailure { speaker: speaker.clone(), kind })
        })
    }

    /// Asks an advocate for a text, cut after `most_words`.
    pub(super) fn said(
        &mut self,
        speaker: Speaker,
        prompt: &Prompt,
        texts: &BTreeMap<String, String>,
        most_words: usize,
    ) -> Result<String, Stop> {
        let question = Some(self.rules.criteria.question().to_owned());
        let task = Task { question, fields: Vec::new() };
        let mut kind = "empty";
        let mut asked = Vec::new();
        for again in 0..self.rules.turns {
            let format = (ResponseFormat::Text, again);
            let request = self.request(prompt, texts, &task, format)?;
            let answer = self.metered(&speaker, |model| model.complete(&request))?;
            asked.push(request);
            let text = without_reasoning(&answer.text).unwrap_or_default();
            kind = match answer.finish {
                FinishReason::ContentFilter => "withheld",
                FinishReason::Length if count(text) < most_words => "cut_off",
                _ if text.is_empty() => "empty",
                _ => {
                    let text = first_words(text, most_words).to_owned();
                    self.keep(speaker, text.clone(), None);
                    return Ok(text);
                }
            };
        }
        // A later run asks again.
        for request in asked {
            self.metered(&speaker, |model| model.reject(&request))?;
        }
        Err(Stop::Role(RoleFailure { speaker, kind }))
    }

    fn request(
        &self,
        prompt: &Prompt,
        texts: &BTreeMap<String, String>,
        task: &Task,
        (format, repeat): (ResponseFormat, u32),
    ) -> Result<ChatRequest, JudgeError> {
        let Rules { temperature, seed, max_tokens, .. } = *self.rules;
        Ok(ChatRequest {
            messages: prompt.render(texts, task)?,
            temperature,
            seed: seed.wrapping_add(u64::from(repeat)),
            max_tokens: max_tokens.unwrap_or(prompt.max_tokens()),
            format,
            repeat,
        })
    }

    fn metered<T>(
        &mut self,
        speaker: &Speaker,
        ask: impl FnOnce(&dyn ChatModel) -> Result<T, ChatError>,
    ) -> Result<T, Stop> {
        let inner = match speaker {
            Speaker::Advocate(..) | Speaker::Aggregator(_) => self.cast.advocate.as_ref(),
            Speaker::Judge | Speaker::Summarizer => self.cast.judge.as_ref(),
            Speaker::Juror(_) => self.cast.juror.as_ref(),
        };
        let metered = Metered::new(inner);
        let asked = ask(&metered);
        self.cost = self.cost.plus(metered.cost());
        Ok(asked?)
    }

    fn keep(&mut self, speaker: Speaker, text: String, scores: Option<[f64; 2]>) {
        let suspicious = !self.detector.inspect(&text).is_empty();
        self.turns.push(Turn { speaker, round: self.round, text, scores, suspicious });
    }

    /// What was spent so far.
    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    /// A debate with what was said and spent so far; by side.
    pub(super) fn conclude(
        &self,
        decided: Result<(Side, Option<[f64; 2]>, u32), Stop>,
    ) -> Result<Debate, JudgeError> {
        let (failure, cause) = match decided {
            Ok((side, scores, rounds)) => {
                return Ok(Debate {
                    verdict: Some(side),
                    scores,
                    rounds: Some(rounds),
                    turns: self.turns.clone(),
                    cost: self.cost,
                    failure: None,
                    cause: None,
                });
            }
            Err(Stop::Role(failure)) => (failure.word(), None),
            Err(Stop::Asked(error)) if concerns_all(&error) => return Err(error),
            Err(Stop::Asked(error)) => {
                let cause = Cause { message: error.in_full(), remedy: error.remedy() };
                (error.word().to_owned(), Some(cause))
            }
        };
        Ok(Debate {
            verdict: None,
            scores: None,
            rounds: None,
            turns: self.turns.clone(),
            cost: self.cost,
            failure: Some(failure),
            cause,
        })
    }
}

/// Whether other pairs would meet the same error, or the run is to go on later.
fn concerns_all(error: &JudgeError) -> bool {
    let chat = matches!(error, JudgeError::Chat(error)
        if error.is_connection() || matches!(error, ChatError::Budget { .. }));
    chat || error.stops_the_run()
}

fn texts<const N: usize>(named: [(&str, Option<&str>); N]) -> BTreeMap<String, String> {
    let owned = |(name, text): (&str, Option<&str>)| Some((name.to_owned(), text?.to_owned()));
    named.into_iter().filter_map(owned).collect()
}

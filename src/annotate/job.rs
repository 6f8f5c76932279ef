//! What every kind of annotation does: count or ask, and tell how it went.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use super::failure::{Failed, Failure};
use super::row::Row;
use crate::data::observer::Observer;
use crate::data::work::{Next, Outcome, run_all};
use crate::judge::{InjectionDetector, JudgeError, Suspicion};
use crate::llm::{Budget, ChatError, ChatModel, ChatRequest, Spent};
use crate::report::{Input, Report, Table};

/// What a million tokens cost, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prices {
    /// Of a million tokens that a model reads.
    pub read: f64,
    /// Of a million tokens that it writes.
    pub written: f64,
}

impl Prices {
    /// The price of so many tokens.
    pub(crate) fn of(&self, read: u64, written: u64) -> f64 {
        (self.read * read as f64 + self.written * written as f64) / 1e6
    }
}

/// The model that is asked, and what stands behind it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Whom to ask.
    pub model: &'a dyn ChatModel,
    /// Where requests go, for people.
    pub place: &'a str,
    /// What was spent.
    pub budget: &'a Budget,
    /// Items under way at the same time; never changes a result.
    pub concurrency: usize,
    /// What its tokens cost, if that is known.
    pub prices: Option<Prices>,
    /// What the server could not do, in words, as far as it is known when it is called.
    pub concessions: &'a (dyn Fn() -> Vec<&'static str> + Sync),
}

/// What a run would cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    /// First requests of all items.
    pub requests: u64,
    /// How many of them are answered already.
    pub held: u64,
    /// Tokens of the others, by a rule of thumb.
    pub prompt_tokens: u64,
    /// Most tokens of their answers.
    pub answer_tokens: u64,
}

impl Estimate {
    /// Counts; `holds` says whether an answer is there already.
    ///
    /// # Errors
    ///
    /// What `holds` reports.
    pub(crate) fn of<E>(
        requests: &[ChatRequest],
        mut holds: impl FnMut(&ChatRequest) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut estimate = Self { requests: requests.len() as u64, ..Self::default() };
        for request in requests {
            if holds(request)? {
                estimate.held += 1;
            } else {
                estimate.prompt_tokens += request.estimated_prompt_tokens();
                estimate.answer_tokens += u64::from(request.max_tokens);
            }
        }
        Ok(estimate)
    }

    /// The numbers as a result of `command`.
    pub(crate) fn report(
        &self,
        command: &'static str,
        (inputs, settings): (&[Input], Map<String, Value>),
        asked: &Asked<'_>,
    ) -> Report {
        let mut table = Table::new(&["quantity", "value"]);
        for (quantity, value) in [
            ("requests", self.requests),
            ("answered by the cache", self.held),
            ("to be sent", self.requests - self.held),
            ("prompt tokens (estimate)", self.prompt_tokens),
            ("answer tokens (at most)", self.answer_tokens),
        ] {
            table.push(vec![quantity.into(), value.into()]);
        }
        if let Some(prices) = asked.prices {
            let price = prices.of(self.prompt_tokens, self.answer_tokens);
            table.push(vec!["price (at most)".into(), price.into()]);
        }
        let footer = format!(
            "Nothing was sent. Requests would go to {} for model {}. Answers that cannot be read \
             are asked for again and come on top.",
            asked.place,
            asked.model.model()
        );
        Report {
            command,
            inputs: inputs.to_vec(),
            settings: all_settings(asked, &settings),
            table,
            warnings: Vec::new(),
            footer: vec![footer],
            prose: None,
        }
    }
}

/// What stopped a run before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The observer asked for it.
    Interrupted,
    /// An error that every other item would have met, or a budget.
    Error(JudgeError),
}

/// A suspicious text and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Flagged {
    /// The item.
    pub name: Row,
    /// What looks like an attempt to steer the model.
    pub found: Vec<Suspicion>,
}

/// What came out of a run, whole or stopped.
#[derive(Debug)]
pub(crate) struct Annotation {
    /// Columns of the rows, for formats that need them.
    pub columns: &'static [&'static str],
    /// The rows of all items that worked, in the order of the items.
    pub rows: Vec<Row>,
    /// The items that failed, in their order.
    pub failures: Vec<Failed>,
    /// Items whose texts look like an attempt to steer the model.
    pub suspicious: Vec<Flagged>,
    /// Items that worked.
    pub done: u64,
    /// Items that were not asked for, because the run was stopped.
    pub not_begun: u64,
    /// What it cost.
    pub spent: Spent,
    /// What the server could not do, in words.
    pub concessions: Vec<&'static str>,
    /// Settings, counts, costs, and what this kind of annotation adds.
    pub about: Map<String, Value>,
    /// What stopped it before its end.
    pub stopped: Option<Stop>,
}

/// What is annotated.
pub(super) struct Job<'a> {
    pub command: &'static str,
    pub columns: &'static [&'static str],
    pub inputs: &'a [Input],
    /// All settings, the model's among them.
    pub settings: Map<String, Value>,
    /// What identifies each item, for the list of failures.
    pub names: Vec<Row>,
}

/// The result of one item: its rows, and what it adds to the summary.
pub(super) struct Answered<T> {
    pub rows: Vec<Row>,
    pub extra: T,
    /// Why there is no row although the model answered.
    pub failure: Option<Failure>,
}

/// Inspects texts, each with the name of its item.
pub(super) fn suspicious<'a>(
    detector: &InjectionDetector,
    texts: impl IntoIterator<Item = (Row, Vec<&'a str>)>,
) -> Vec<Flagged> {
    texts
        .into_iter()
        .filter_map(|(name, texts)| {
            let found: Vec<Suspicion> =
                texts.into_iter().flat_map(|text| detector.inspect(text)).collect();
            (!found.is_empty()).then_some(Flagged { name, found })
        })
        .collect()
}

impl Job<'_> {
    /// Asks for every item and gathers what came of it.
    pub(super) fn run<T: Send>(
        &self,
        asked: &Asked<'_>,
        observer: &dyn Observer,
        work: impl Fn(usize) -> Result<Answered<T>, Failure> + Sync,
        (suspicious, summarise): (Vec<Flagged>, impl FnOnce(&[T]) -> Map<String, Value>),
    ) -> Annotation {
        let outcomes = self.ask(asked, observer, work);
        let (mut rows, mut extras, mut failures, mut stopped) =
            (Vec::new(), Vec::new(), Vec::new(), None);
        let (mut done, mut not_begun) = (0_u64, 0_u64);
        for (name, outcome) in self.names.iter().zip(outcomes) {
            match outcome {
                Outcome::Done(answered) => {
                    rows.extend(answered.rows);
                    extras.push(answered.extra);
                    match answered.failure {
                        None => done += 1,
                        Some(failure) => failures.push(failure.of(name)),
                    }
                }
                Outcome::NotBegun
                | Outcome::Failed(Failure::Asked(JudgeError::Chat(ChatError::Interrupted))) => {
                    not_begun += 1;
                }
                // An item on which a budget ended was not asked for; it has not failed.
                Outcome::Failed(Failure::Asked(JudgeError::Chat(
                    error @ ChatError::Budget { .. },
                ))) => {
                    not_begun += 1;
                    stopped.get_or_insert(Stop::Error(JudgeError::Chat(error)));
                }
                Outcome::Failed(failure) => {
                    failures.push(failure.of(name));
                    if let Failure::Asked(error) = failure {
                        let fatal =
                            error.stops_the_run() || not_answering(&error, extras.is_empty());
                        if fatal && stopped.is_none() {
                            stopped = Some(Stop::Error(error));
                        }
                    }
                }
            }
        }
        if not_begun > 0 && stopped.is_none() {
            stopped = Some(Stop::Interrupted);
        }
        let mut annotation = Annotation {
            columns: self.columns,
            rows,
            failures,
            suspicious,
            done,
            not_begun,
            spent: asked.budget.spent(),
            concessions: (asked.concessions)(),
            about: Map::new(),
            stopped,
        };
        annotation.about = self.about(&annotation);
        if let Some(prices) = asked.prices {
            let Spent { prompt_tokens, completion_tokens, .. } = annotation.spent;
            let price = prices.of(prompt_tokens, completion_tokens);
            annotation.about.insert("price".into(), price.into());
        }
        annotation.about.extend(summarise(&extras));
        annotation
    }

    /// Asks for every item; results are in the order of the items.
    fn ask<T: Send>(
        &self,
        asked: &Asked<'_>,
        observer: &dyn Observer,
        work: impl Fn(usize) -> Result<T, Failure> + Sync,
    ) -> Vec<Outcome<T, Failure>> {
        let total = self.names.len();
        let progress = observer.stage("annotating", total as u64);
        let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        let patience = asked.concurrency.max(3) as u64;
        let counted = |index: usize| {
            let outcome = work(index);
            let counter = if outcome.is_ok() { &done } else { &failed };
            counter.fetch_add(1, Ordering::Relaxed);
            progress.note(&format!("{} failed", failed.load(Ordering::Relaxed)));
            progress.advance(1);
            outcome
        };
        let after = |failure: &Failure| {
            let Failure::Asked(error) = failure else { return Next::GoOn };
            let unreachable = matches!(error, JudgeError::Chat(error) if error.is_connection())
                && done.load(Ordering::Relaxed) == 0
                && failed.load(Ordering::Relaxed) >= patience;
            if unreachable || error.stops_the_run() { Next::Stop } else { Next::GoOn }
        };
        let interrupted = || progress.interrupted() || observer.interrupted();
        run_all(total, asked.concurrency, &interrupted, counted, after)
    }

    fn about(&self, annotation: &Annotation) -> Map<String, Value> {
        let suspicious = annotation.suspicious.iter().map(|flagged| {
            let mut row = flagged.name.clone();
            row.insert("suspicious".into(), json!(flagged.found));
            Value::Object(row)
        });
        let about = json!({
            "command": self.command,
            "version": env!("CARGO_PKG_VERSION"),
            "inputs": self.inputs,
            "settings": self.settings,
            "done": annotation.done,
            "failed": annotation.failures.len(),
            "not_begun": annotation.not_begun,
            "spent": annotation.spent,
            "concessions": annotation.concessions,
            "suspicious": suspicious.collect::<Vec<_>>(),
        });
        about.as_object().cloned().unwrap_or_default()
    }
}

/// Whether the server never answered at all.
fn not_answering(error: &JudgeError, nothing_done: bool) -> bool {
    nothing_done && matches!(error, JudgeError::Chat(error) if error.is_connection())
}

/// The settings of a run: those of the model, then those of its kind.
pub(super) fn all_settings(asked: &Asked<'_>, own: &Map<String, Value>) -> Map<String, Value> {
    let mut settings = Map::new();
    settings.insert("model".into(), asked.model.model().into());
    settings.insert("place".into(), asked.place.into());
    settings.extend(own.clone());
    settings
}

#[cfg(test)]
mod tests;

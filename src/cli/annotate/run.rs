//! What every kind of annotation does: count or ask, show progress, write, tell how it went.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::RunArgs;
use super::output::{Row, RowFormat, write_json_lines, write_rows};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::llm::{Connection, beside};
use crate::cli::output::{emit, say, write_output};
use crate::judge::{InjectionDetector, JudgeError, Problem, Suspicion};
use crate::llm::runner::{Next, Outcome, run_all};
use crate::llm::{ChatError, ChatRequest};
use crate::report::{Input, Report, Table};

/// Why there is no row for an item.
#[derive(Debug)]
pub(super) enum Failure {
    /// No answer.
    Asked(JudgeError),
    /// An answer that cannot be used.
    Unusable { kind: &'static str, message: String },
}

impl Failure {
    pub(super) fn unreadable(problems: &[Problem], turns: u32) -> Self {
        let list: Vec<String> = problems.iter().map(Problem::to_string).collect();
        let message = format!("no usable answer in {turns} turns; the last: {}", list.join("; "));
        Self::Unusable { kind: problems.first().map_or("unreadable", Problem::kind), message }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Asked(error) => error.kind(),
            Self::Unusable { kind, .. } => kind,
        }
    }

    /// The failure with the name of its item, as a line of the list of errors.
    fn row(&self, name: &Row) -> Row {
        let mut row = name.clone();
        row.insert("kind".into(), self.kind().into());
        row.insert("message".into(), self.message().into());
        row
    }

    fn message(&self) -> String {
        match self {
            Self::Unusable { message, .. } => message.clone(),
            Self::Asked(error) => {
                let mut message = error.to_string();
                let mut cause = std::error::Error::source(error);
                while let Some(inner) = cause {
                    message.push_str(": ");
                    message.push_str(&inner.to_string());
                    cause = inner.source();
                }
                message
            }
        }
    }
}

impl From<ChatError> for Failure {
    fn from(error: ChatError) -> Self {
        Self::Asked(error.into())
    }
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        Self::Asked(error)
    }
}

/// What is annotated and where it goes.
pub(super) struct Job<'a> {
    pub command: &'static str,
    pub args: &'a RunArgs,
    pub common: &'a Common,
    pub connection: &'a Connection,
    pub format: RowFormat,
    pub columns: &'a [&'a str],
    pub input: Input,
    /// Settings of this kind of annotation.
    pub settings: Map<String, Value>,
    /// What identifies each job, for the list of errors.
    pub names: Vec<Row>,
}

/// The result of one job: its rows, and what it adds to the summary.
pub(super) struct Answered<T> {
    pub rows: Vec<Row>,
    pub extra: T,
    /// Why there is no row although the model answered.
    pub failure: Option<Failure>,
}

/// A suspicious text and whose it is.
pub(super) struct Flagged {
    pub name: Row,
    pub found: Vec<Suspicion>,
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

/// A row that names an item.
pub(super) fn named(pairs: &[(&str, Option<&str>)]) -> Row {
    pairs
        .iter()
        .filter_map(|(key, value)| value.map(|value| ((*key).to_owned(), Value::from(value))))
        .collect()
}

impl Job<'_> {
    /// Says what the first requests would cost; sends nothing.
    pub(super) fn dry_run(&self, requests: &[ChatRequest]) -> Result<ExitStatus> {
        let mut missing = Vec::new();
        for request in requests {
            if !self.connection.holds(request)? {
                missing.push(request);
            }
        }
        let prompt: u64 = missing.iter().map(|request| request.estimated_prompt_tokens()).sum();
        let answer: u64 = missing.iter().map(|request| u64::from(request.max_tokens)).sum();
        let mut table = Table::new(&["quantity", "value"]);
        for (quantity, value) in [
            ("requests", requests.len() as u64),
            ("answered by the cache", (requests.len() - missing.len()) as u64),
            ("to be sent", missing.len() as u64),
            ("prompt tokens (estimate)", prompt),
            ("answer tokens (at most)", answer),
        ] {
            table.push(vec![quantity.into(), value.into()]);
        }
        let footer = format!(
            "Nothing was sent. Requests would go to {} for model {}. Answers that cannot be read \
             are asked for again and come on top.",
            self.connection.place,
            self.connection.model.model()
        );
        let report = Report {
            command: self.command,
            inputs: vec![self.input.clone()],
            settings: self.settings.clone(),
            table,
            warnings: Vec::new(),
            footer: vec![footer],
            prose: None,
        };
        // The output named on the command line is for annotations.
        let common = Common { output: None, ..self.common.clone() };
        emit(&report, &common)?;
        Ok(ExitStatus::Done)
    }

    /// Asks for every item; results are in the order of the items.
    pub(super) fn ask<T: Send>(
        &self,
        work: impl Fn(usize) -> Result<T, Failure> + Sync,
    ) -> Vec<Outcome<T, Failure>> {
        let total = self.names.len();
        self.connection.announce(self.common, total);
        let bar = self.bar(total as u64);
        let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        let patience = self.args.llm.concurrency.max(3) as u64;
        let counted = |index: usize| {
            let outcome = work(index);
            let counter = if outcome.is_ok() { &done } else { &failed };
            counter.fetch_add(1, Ordering::Relaxed);
            if let Some(bar) = &bar {
                let tokens = self.connection.budget.spent().tokens();
                let failed = failed.load(Ordering::Relaxed);
                bar.set_message(format!("{failed} failed, {tokens} tokens"));
                bar.inc(1);
            }
            outcome
        };
        let after = |failure: &Failure| {
            let Failure::Asked(error) = failure else { return Next::GoOn };
            let unreachable = matches!(error, JudgeError::Chat(error) if error.is_connection())
                && done.load(Ordering::Relaxed) == 0
                && failed.load(Ordering::Relaxed) >= patience;
            if unreachable || error.stops_the_run() { Next::Stop } else { Next::GoOn }
        };
        let outcomes = run_all(total, self.args.llm.concurrency, counted, after);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        outcomes
    }

    fn bar(&self, total: u64) -> Option<ProgressBar> {
        self.common.show_progress().then(|| {
            let style = "{prefix} {bar:30} {human_pos}/{human_len} {msg}, {per_sec}, {eta} left";
            ProgressBar::new(total).with_prefix("annotating").with_style(
                ProgressStyle::with_template(style).expect("the template is a constant"),
            )
        })
    }

    /// Writes rows, errors and summary; says how it went.
    pub(super) fn finish<T>(
        &self,
        outcomes: Vec<Outcome<Answered<T>, Failure>>,
        flagged: &[Flagged],
        summarise: impl FnOnce(&[T]) -> Map<String, Value>,
    ) -> Result<ExitStatus> {
        let (mut rows, mut extras, mut failures, mut stop) =
            (Vec::new(), Vec::new(), Vec::new(), None);
        let (mut done, mut not_begun) = (0_u64, 0_u64);
        for (name, outcome) in self.names.iter().zip(outcomes) {
            match outcome {
                Outcome::Done(answered) => {
                    rows.extend(answered.rows);
                    extras.push(answered.extra);
                    match answered.failure {
                        None => done += 1,
                        Some(failure) => failures.push(failure.row(name)),
                    }
                }
                Outcome::NotBegun => not_begun += 1,
                // An item on which a budget ended was not asked for; it has not failed.
                Outcome::Failed(Failure::Asked(JudgeError::Chat(
                    error @ ChatError::Budget { .. },
                ))) => {
                    not_begun += 1;
                    stop.get_or_insert(JudgeError::Chat(error));
                }
                Outcome::Failed(failure) => {
                    failures.push(failure.row(name));
                    if let Failure::Asked(error) = failure {
                        let fatal =
                            error.stops_the_run() || not_answering(&error, extras.is_empty());
                        if fatal && stop.is_none() {
                            stop = Some(error);
                        }
                    }
                }
            }
        }
        let mut about = self.about(done, failures.len() as u64, not_begun, flagged);
        about.extend(summarise(&extras));
        if !extras.is_empty() || stop.is_none() {
            write_rows(self.format, self.columns, &rows, &about, self.common)?;
        }
        self.write_errors(&failures)?;
        if let Some(path) = &self.args.summary {
            write_output(path, |out| {
                serde_json::to_writer_pretty(&mut *out, &about)?;
                out.write_all(b"\n")
            })?;
        }
        self.tell(done, &failures, not_begun, flagged);
        match stop {
            Some(error)
                if done == 0 || !matches!(error, JudgeError::Chat(ChatError::Budget { .. })) =>
            {
                Err(error.into())
            }
            Some(error) => {
                say(self.common, &format!("stopped: {error}"));
                Ok(ExitStatus::GateFailed)
            }
            None if failures.len() as u64 > self.args.max_failed => Ok(ExitStatus::GateFailed),
            None => Ok(ExitStatus::Done),
        }
    }

    fn about(
        &self,
        done: u64,
        failed: u64,
        not_begun: u64,
        flagged: &[Flagged],
    ) -> Map<String, Value> {
        let mut settings = self.args.llm.describe(self.connection);
        settings.extend(self.settings.clone());
        settings.insert("seed".into(), self.common.seed.into());
        let suspicious: Vec<Value> = flagged
            .iter()
            .map(|flagged| {
                let mut row = flagged.name.clone();
                row.insert("suspicious".into(), json!(flagged.found));
                Value::Object(row)
            })
            .collect();
        let about = json!({
            "command": self.command,
            "version": env!("CARGO_PKG_VERSION"),
            "inputs": [self.input],
            "settings": settings,
            "done": done,
            "failed": failed,
            "not_begun": not_begun,
            "spent": self.connection.budget.spent(),
            "concessions": self.connection.concessions(),
            "suspicious": suspicious,
        });
        about.as_object().cloned().unwrap_or_default()
    }

    fn write_errors(&self, failures: &[Row]) -> Result<()> {
        let beside_output =
            self.common.output.as_deref().map(|output| beside(output, "errors.jsonl"));
        match (&self.args.errors, beside_output) {
            (Some(path), _) => write_output(path, |out| write_json_lines(failures, out)),
            (None, Some(path)) if !failures.is_empty() => {
                write_output(&path, |out| write_json_lines(failures, out))
            }
            // A list from an earlier run would tell of failures that are mended.
            (None, Some(path)) if path.exists() => Ok(std::fs::remove_file(path)?),
            (None, _) => Ok(()),
        }
    }

    fn tell(&self, done: u64, failures: &[Row], not_begun: u64, flagged: &[Flagged]) {
        const SHOWN: usize = 3;
        let spent = self.connection.budget.spent();
        let failed = failures.len();
        let mut line = format!("{done} done, {failed} failed");
        if not_begun > 0 {
            line.push_str(&format!(", {not_begun} not asked for"));
        }
        line.push_str(&format!(
            "; {} requests sent, {} tokens ({} read, {} written)",
            spent.requests,
            spent.tokens(),
            spent.prompt_tokens,
            spent.completion_tokens
        ));
        say(self.common, &line);
        for failure in failures.iter().take(SHOWN) {
            say(self.common, &format!("failed: {}", Value::Object(failure.clone())));
        }
        for concession in self.connection.concessions() {
            say(self.common, &format!("warning: the server allows {concession}"));
        }
        for flagged in flagged.iter().take(SHOWN) {
            let found: Vec<String> =
                flagged.found.iter().map(|s| format!("{} `{}`", s.rule, s.text)).collect();
            let name = Value::Object(flagged.name.clone());
            say(self.common, &format!("suspicious: {name}: {}", found.join(", ")));
        }
        if flagged.len() > SHOWN {
            let rest = flagged.len() - SHOWN;
            say(self.common, &format!("suspicious: {rest} more; --summary FILE lists them all"));
        }
    }
}

/// Whether the server never answered at all.
fn not_answering(error: &JudgeError, nothing_done: bool) -> bool {
    nothing_done && matches!(error, JudgeError::Chat(error) if error.is_connection())
}

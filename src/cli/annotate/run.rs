//! What every kind of annotation does on the command line: count or ask, write, tell how it went.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Map, Value, json};

use super::args::OutputArgs;
use super::output::row_format;
use crate::annotate::reviews::CUT_TEXTS;
use crate::annotate::{Annotation, Asked, Estimate, Row, RowFormat, Stop, write_json_lines};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::llm::Connection;
use crate::cli::output::{beside, check_output, emit, print, say, write_output};
use crate::cli::progress::Terminal;
use crate::cli::remedy::phrase;
use crate::cli::waiting::while_waiting;
use crate::data::observer::Observer;
use crate::data::warning::Warning;
use crate::error::{Error, ErrorKind, Result};
use crate::judge::JudgeError;
use crate::llm::{ChatError, ChatRequest};
use crate::report::{Input, Report};

/// Failures and suspicious texts that are named on standard error.
const SHOWN: usize = 3;

/// How asking ended, and whether the output was written.
pub(in crate::cli) struct Ended {
    pub(in crate::cli) status: ExitStatus,
    pub(in crate::cli) is_written: bool,
}

/// Where an annotation goes.
pub(in crate::cli) struct Output<'a> {
    command: &'static str,
    format: RowFormat,
    args: &'a OutputArgs,
    common: &'a Common,
}

impl<'a> Output<'a> {
    /// Fails early if an output cannot be written; `default` is the format of standard output.
    pub(in crate::cli) fn new(
        command: &'static str,
        default: RowFormat,
        args: &'a OutputArgs,
        common: &'a Common,
    ) -> Result<Self> {
        let format = row_format(common, default)?;
        check_output(common.output.as_deref())?;
        Ok(Self { command, format, args, common })
    }

    /// Asks for an answer to each request by `run`; with --dry-run says what that would cost.
    pub(in crate::cli) fn ask_or_count(
        &self,
        requests: &[ChatRequest],
        about: (&[Input], Map<String, Value>),
        run: impl FnOnce(&Asked<'_>, &dyn Observer) -> Annotation,
    ) -> Result<ExitStatus> {
        let connection = self.args.llm.connect(self.common, self.args.dry_run)?;
        if self.args.dry_run {
            return self.dry_run(requests, about, &connection);
        }
        Ok(self.ask(requests.len(), &connection, run)?.status)
    }

    /// Says what the first requests would cost; sends nothing.
    pub(in crate::cli) fn dry_run(
        &self,
        requests: &[ChatRequest],
        about: (&[Input], Map<String, Value>),
        connection: &Connection,
    ) -> Result<ExitStatus> {
        let estimate = Estimate::of(requests, |request| connection.holds(request))?;
        self.plan(connection, |asked| Ok(estimate.report(self.command, about, asked)))
    }

    /// Says what `plan` makes of a run of which nothing is sent.
    pub(in crate::cli) fn plan(
        &self,
        connection: &Connection,
        plan: impl FnOnce(&Asked<'_>) -> Result<Report>,
    ) -> Result<ExitStatus> {
        let report = self.with_model(connection, plan)?;
        // The output named on the command line is for annotations.
        if let Some(path) = &self.common.output {
            say(self.common, &format!("`{}` is not written by a dry run", path.display()));
        }
        emit(&report, &Common { output: None, ..self.common.clone() })?;
        Ok(ExitStatus::Done)
    }

    /// Asks for `answers` answers by `run`, writes what came of it and says how it went.
    pub(in crate::cli) fn ask(
        &self,
        answers: usize,
        connection: &Connection,
        run: impl FnOnce(&Asked<'_>, &dyn Observer) -> Annotation,
    ) -> Result<Ended> {
        connection.announce(self.common, answers);
        let observer = Terminal::new(self.common);
        let waiting = || format!("waiting for {}: {answers} answers asked for", connection.place);
        let annotation = while_waiting(self.common, waiting, || {
            self.with_model(connection, |asked| run(asked, &observer))
        });
        let Annotation { columns, rows, about, .. } = &annotation;
        // Where nothing could be used, an output of an earlier run is worth more than an empty one.
        let failed = !annotation.failures.is_empty() || annotation.stopped.is_some();
        let kept = self.common.output.as_ref().filter(|path| path.exists());
        let is_useless = annotation.done == 0 && failed;
        let is_written = !is_useless || !rows.is_empty() && kept.is_none();
        let failures: Vec<Row> =
            annotation.failures.iter().map(|failed| failed.row(phrase)).collect();
        if is_written {
            let warning = |allows: &&str| {
                Warning::new("server_allows", 1, format!("the server allows {allows}"))
            };
            let warnings: Vec<Warning> = annotation.concessions.iter().map(warning).collect();
            let mut about = about.clone();
            about.insert("warnings".into(), json!(warnings));
            about.insert("errors".into(), json!(failures));
            let write = |out: &mut dyn Write| self.format.write(columns, rows, &about, out);
            match &self.common.output {
                Some(path) => write_output(path, write)?,
                None => print(write)?,
            }
        } else if let Some(path) = &self.common.output {
            let kept = if kept.is_some() { "is left as it was" } else { "was not written" };
            say(self.common, &format!("nothing to write: `{}` {kept}", path.display()));
        }
        self.write_errors(&failures)?;
        if let Some(path) = &self.args.summary {
            write_output(path, |out| {
                serde_json::to_writer_pretty(&mut *out, &annotation.about)?;
                out.write_all(b"\n")
            })?;
        }
        self.tell(&annotation, &failures);
        match connection.not_stored() {
            0 => {}
            n => say(
                self.common,
                &format!(
                    "warning: no room in the cache for {n} answers: another run asks for them again"
                ),
            ),
        }
        Ok(Ended { status: self.status(annotation, connection)?, is_written })
    }

    fn with_model<T>(&self, connection: &Connection, ask: impl FnOnce(&Asked<'_>) -> T) -> T {
        ask(&Asked {
            model: connection.model.as_ref(),
            place: &connection.place,
            budget: &connection.budget,
            concurrency: self.args.llm.at_once(),
            prices: self.args.llm.prices(),
            concessions: &|| connection.concessions(),
        })
    }

    fn status(&self, annotation: Annotation, connection: &Connection) -> Result<ExitStatus> {
        match annotation.stopped {
            Some(Stop::Interrupted) => {
                let how = if connection.stores_answers() {
                    "answers that arrived are stored, the same command goes on from here"
                } else {
                    "answers that arrived were written, but are not stored for another run"
                };
                Err(Error::new(ErrorKind::Interrupted, format!("interrupted; {how}")))
            }
            Some(Stop::Error(error))
                if annotation.done == 0
                    || !matches!(error, JudgeError::Chat(ChatError::Budget { .. })) =>
            {
                Err(error.into())
            }
            Some(Stop::Error(error)) => {
                say(self.common, &format!("stopped: {error}"));
                Ok(ExitStatus::GateFailed)
            }
            None if annotation.failures.len() as u64 > self.args.max_failed => {
                Ok(ExitStatus::GateFailed)
            }
            None => Ok(ExitStatus::Done),
        }
    }

    fn write_errors(&self, failures: &[Row]) -> Result<()> {
        let beside_output =
            self.common.output.as_deref().map(|output| beside(output, "errors.jsonl"));
        match beside_output {
            Some(path) if !failures.is_empty() => {
                write_output(&path, |out| write_json_lines(failures, out))
            }
            // A list from an earlier run would tell of failures that are mended.
            Some(path) if path.exists() => Ok(std::fs::remove_file(path)?),
            _ => Ok(()),
        }
    }

    fn tell(&self, annotation: &Annotation, failures: &[Row]) {
        let Annotation { done, not_begun, spent, suspicious, .. } = annotation;
        let say = |line: &str| say(self.common, line);
        let mut line = format!("{done} done, {} failed", failures.len());
        if *not_begun > 0 {
            let _ = write!(line, ", {not_begun} not asked for");
        }
        let _ = write!(line, "; {}", self.args.llm.spent_words(*spent));
        say(&line);
        for failure in failures.iter().take(SHOWN) {
            say(&format!("failed: {}", Value::Object(failure.clone())));
        }
        let cut = annotation.about.get(CUT_TEXTS).and_then(Value::as_u64).unwrap_or(0);
        if cut > 0 {
            say(&format!(
                "{cut} texts ran into the limit of tokens and end at their last full sentence"
            ));
        }
        for concession in &annotation.concessions {
            say(&format!("warning: the server allows {concession}"));
        }
        for flagged in suspicious.iter().take(SHOWN) {
            let found: Vec<String> =
                flagged.found.iter().map(|s| format!("{} `{}`", s.rule, s.text)).collect();
            let name = Value::Object(flagged.name.clone());
            say(&format!("suspicious: {name}: {}", found.join(", ")));
        }
        if suspicious.len() > SHOWN {
            let rest = suspicious.len() - SHOWN;
            say(&format!("suspicious: {rest} more; --summary FILE lists them all"));
        }
    }
}

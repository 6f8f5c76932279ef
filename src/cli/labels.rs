//! `caz labels`: score crowd workers from categorical labels.

#![expect(clippy::doc_markdown, reason = "help texts are shown as they are written")]

use std::path::PathBuf;

use super::files::OutputFile;
use crate::error::Result;
use clap::{Args, ValueEnum};

use super::common::{Common, OutputFormat, check_read_once};
use super::exit::{ExitStatus, UsageError};
use super::exports::ExportArgs;
use super::label_input::{ReadingArgs, read_label_files};
use super::mechanism_choice::{MechanismChoice, chosen};
use super::output::{check_output, check_table, emit, write_table};
use super::page::PageArgs;
use super::progress::{Terminal, doing, open};
use super::shown_labels::shown;
use super::workers::WorkersArgs;
use crate::data::label_reader::LabelReading;
use crate::data::ordered_labels::LabelScale;
use crate::mechanism::{
    GivenScores, LearnFrom, MAX_ITERATIONS, MechanismName, ScoringFunction, SeveralSources,
    TOLERANCE,
};
use crate::report::Input;
use crate::screen::labels::{LabelsSettings, MIN_TASKS, labels};
use crate::stats::flag::FALSE_DISCOVERY_RATE;

/// Score crowd workers by what their labels share with their peers' beyond an LLM's labels
///
/// own asks whether a worker says what the LLM says more than people do, and whether a worker says
/// anything that others confirm; the flag look is a reason to read the answers.
/// ca_z groups tasks by the label that the LLM gives them; inside a group a worker earns by
/// agreeing with peers on the same task more than on different tasks. Workers who copy an LLM
/// share nothing with their peers beyond it and end at the bottom.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  LABELS   task, worker, label
  --z      task, label; optional source, sample
  --truth  task, truth (or label)

Examples:
  caz labels labels.csv --z llm-labels.csv --output scores.csv
  caz labels labels.csv --z llm-labels.csv --mechanism all --report report.html")]
pub(super) struct ScoreLabelsArgs {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks; with several sources the lowest score counts
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Input")]
    z: Vec<PathBuf>,
    /// Mechanisms to score with
    /// [default: own,ca_z; ca_z in a crowd too small for own]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "M")]
    mechanism: Vec<MechanismChoice>,
    /// Known answers: task, truth (or label); adds accuracies to the result
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    truth: Option<PathBuf>,
    /// Fewer tasks behind a score than this give the flag too_few; own does not judge on fewer
    #[arg(long, value_name = "N", default_value_t = MIN_TASKS)]
    min_tasks: usize,
    /// False discovery rate of the flags `informative` and `look`
    #[arg(long, value_name = "F", default_value_t = FALSE_DISCOVERY_RATE)]
    fdr: f64,
    /// Bound of the flag `uninformative` [default: a quarter of the median score]
    #[arg(long, value_name = "F", help_heading = "Advanced")]
    margin: Option<f64>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// ca, ca_z: whose labels say which pairs count as agreement
    /// [default: others; all with --sampled]
    #[arg(long, value_enum, help_heading = "Advanced")]
    learn_from: Option<LearnFrom>,
    /// ca, ca_z: draw N random peers and penalty tasks per label instead of averaging over all; with
    /// `printed:N` as the paper prints it, every peer and a penalty task that may be the task itself
    #[arg(long, value_name = "[printed:]N", value_parser = sampled, help_heading = "Advanced")]
    sampled: Option<Sampled>,
    /// ca, ca_z: which labels count as agreement: label, peer_label, value, optional z
    #[arg(long, value_name = "FILE", help_heading = "Advanced")]
    scoring_function: Option<PathBuf>,
    /// ds_z: how several sources are used together
    #[arg(long, value_enum, default_value_t, help_heading = "Advanced")]
    z_combine: SeveralSources,
    /// ds, ds_z: standard errors from N bootstrap samples of the tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Advanced")]
    bootstrap: Option<u32>,
    /// ds, ds_z: stop after N iterations
    #[arg(long, value_name = "N", default_value_t = MAX_ITERATIONS, help_heading = "Advanced")]
    max_iterations: usize,
    /// Write what the crowd says: task, label, probability, n_labels
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    consensus: Option<OutputFile>,
    /// The mechanism whose probabilities the consensus has
    #[arg(long, value_enum, value_name = "M", default_value_t, hide_short_help = true)]
    consensus_by: ConsensusChoice,
    /// Leave who is flagged look out of the consensus
    #[arg(long)]
    drop_flagged: bool,
    #[command(flatten)]
    workers: WorkersArgs,
    /// Order of the labels, LOW..HIGH or A,B,C: near misses are not misses for ca, ca_z, excess_z
    ///
    /// Labels that are not on the scale are missing. Of more than 21 different numbers ten bins are made.
    #[arg(long, value_name = "SCALE", allow_hyphen_values = true, help_heading = "Input")]
    scale: Option<LabelScale>,
    /// Labels are sets (`cat; dog`, a JSON list, `[]`): one question a label, in any order
    #[arg(long, hide_short_help = true)]
    multi: bool,
    /// Of the program caz-sql
    #[arg(
        long,
        value_name = "ENGINE",
        alias = "print-sql",
        hide = true,
        help_heading = "Advanced"
    )]
    engine: Option<String>,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ConsensusChoice {
    /// The label of most people
    Majority,
    /// Dawid-Skene with one accuracy a worker
    OneCoin,
    /// Dawid-Skene
    #[default]
    Ds,
    /// Dawid-Skene with copying from the LLM
    DsZ,
}

impl From<ConsensusChoice> for MechanismName {
    fn from(choice: ConsensusChoice) -> Self {
        match choice {
            ConsensusChoice::Majority => Self::Majority,
            ConsensusChoice::OneCoin => Self::OneCoin,
            ConsensusChoice::Ds => Self::Ds,
            ConsensusChoice::DsZ => Self::DsZ,
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &ScoreLabelsArgs, common: &Common) -> Result<ExitStatus> {
    if args.engine.is_some() {
        let message = "labels past the memory of one machine, and scores as SQL, are of a program of their \
                       own, caz-sql, in the folder crates/caz-sql of caz's source: caz-sql score, caz-sql print";
        return Err(UsageError(message.into()).into());
    }
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    check_table(args.consensus.as_deref())?;
    args.workers.check()?;
    args.page.check(common)?;
    check_read_once(
        args.z.iter().chain([&args.labels]).chain(&args.truth).chain(&args.scoring_function),
    )?;
    let mut settings = args.settings(common.seed);
    args.check(&settings)?;
    let reading = LabelReading { sets: args.multi, ..args.reading.into() };
    let how = (reading, &args.exports);
    let mut set = read_label_files(&args.labels, &args.z, args.truth.as_deref(), how, common)?;
    // An export may hold labels by an LLM where no file of Z is named.
    settings.mechanism = chosen(&args.mechanism, &MechanismName::usable(!set.z.sources.is_empty()));
    if let Some(path) = &args.scoring_function {
        let source = open(path, common)?;
        let (given, rows) = GivenScores::read(&source, &set.z.labels)?;
        set.inputs.push(Input::new(&source, rows));
        settings.scoring_function = ScoringFunction::Given(given);
    }
    let run = labels(set, &settings, &Terminal::new(common))?;
    let mut report = doing(common, "describing", || run.report());
    if let Some(path) = &args.consensus {
        let consensus = doing(common, "consensus", || run.consensus_of_tasks())?;
        write_table(path, &report, consensus.table())?;
        let last = report.footer.len().saturating_sub(1);
        let judged = run.scores(MechanismName::Own).is_some();
        report.footer.splice(last..last, consensus.sentences(args.drop_flagged, judged));
    }
    if args.workers.wanted() {
        let people = doing(common, "people", || run.workers())?;
        args.workers.write(&report, || people)?;
    }
    args.page.write(common, &report, || Ok(run.page()))?;
    if common.resolved_format()? == OutputFormat::Table {
        emit(&shown(report, &run), common)?;
    } else {
        emit(&report, common)?;
    }
    // The program ends: to give the memory of a large crowd back name by name first takes time.
    std::mem::forget(run);
    Ok(ExitStatus::Done)
}

impl ScoreLabelsArgs {
    /// The settings; the scoring function is read later.
    fn settings(&self, seed: u64) -> LabelsSettings {
        LabelsSettings {
            mechanism: chosen(&self.mechanism, &MechanismName::usable(!self.z.is_empty())),
            z_combine: self.z_combine,
            min_tasks: self.min_tasks,
            fdr: self.fdr,
            margin: self.margin,
            learn_from: self.learn_from(),
            sampled: self.sampled.map(|sampled| sampled.draws),
            sampled_as_printed: self.sampled.is_some_and(|sampled| sampled.printed),
            scoring_function: ScoringFunction::Estimated,
            bootstrap: self.bootstrap,
            scale: self.scale.clone(),
            multi: self.multi,
            consensus_by: self.consensus_by.into(),
            drop_flagged: self.drop_flagged,
            tolerance: TOLERANCE,
            max_iterations: self.max_iterations,
            seed,
        }
    }

    /// Whose labels count: where peers are drawn, those of all.
    fn learn_from(&self) -> LearnFrom {
        match self.learn_from {
            Some(LearnFrom::All) => LearnFrom::All,
            None if self.sampled.is_some() => LearnFrom::All,
            Some(LearnFrom::Others) | None => LearnFrom::Others,
        }
    }

    /// Finds what makes no sense before any file is read. Whether there is Z is known only then: an
    /// export may hold it.
    fn check(&self, settings: &LabelsSettings) -> Result<()> {
        settings.check()?;
        if self.scale.is_some() && self.multi {
            let message = "--scale is for one label a task and --multi for sets; leave one out";
            return Err(UsageError(message.into()).into());
        }
        if self.consensus.is_none() && self.drop_flagged {
            return Err(UsageError("--drop-flagged is of --consensus FILE; add it".into()).into());
        }
        Ok(())
    }
}

/// `--sampled`.
#[derive(Debug, Clone, Copy)]
struct Sampled {
    draws: u32,
    printed: bool,
}

fn sampled(text: &str) -> Result<Sampled, String> {
    let (number, printed) = match text.strip_prefix("printed:") {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse() {
        Ok(draws) if draws > 0 => Ok(Sampled { draws, printed }),
        _ => Err("must be a whole number of at least 1, or `printed:` and one".into()),
    }
}

#[cfg(test)]
mod tests;

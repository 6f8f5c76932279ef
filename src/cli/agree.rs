//! `caz agree`: how good is a labeller, LLM or person, against gold, people or the others?

use std::path::{Path, PathBuf};

use clap::Args;

use super::common::{Common, OutputFormat, check_read_once};
use super::exit::{ExitStatus, UsageError};
use super::exports::ExportArgs;
use super::keyed::{Keyed, Keys};
use super::output::{check_output, emit, say};
use super::page::PageArgs;
use super::progress::{Terminal, open};
use super::reviews::DuplicatesChoice;
use crate::data::import::Wanted;
use crate::data::labellers::{ClusterSource, LabellerFiles};
use crate::data::scale::ScaleChoice;
use crate::error::{ErrorKind, Result};
use crate::metrics::agreement::bootstrap::DRAWS;
use crate::metrics::alternative_annotator::LEAST_ITEMS;
use crate::report::Report;
use crate::report::html::{Page, ShownTable};
use crate::screen::agreement::plan::plan_monitoring;
use crate::screen::agreement::rankings::{RankingSettings, compare_rankings};
use crate::screen::agreement::retrieval::{RetrievalSettings, compare_by_runs};
use crate::screen::agreement::{
    self, AgreementSettings, AltTestSettings, Closeness, Compare, Cut, GoldBy, Outside, Requirement,
};

/// Measure how well labellers, LLMs or people, agree with gold labels or with each other
///
/// Accuracy, kappa, error, order and more, each with an interval, what missing labels could do to
/// it, and the confusion matrix. The first line says which source is best, and whether by more than
/// chance. Without --gold every source is held against the others.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  LABELS     task, label; optional source (or worker), prompt, sample
  --gold     task, label; with a column worker: several people
  --cluster  a column of these files, or a file: task, cluster
  --runs     four columns: group, run, and two scores with names of their own; with LABELS and
             --gold (topic, document, label, or qrels) run, topic, document, score, or a TREC run

Examples:
  caz agree judges.csv --gold gold.csv --scale 0..3 --cluster topics.csv --report agree.html
  caz agree new.csv --gold gold.csv --since old.csv --require 'change:kappa>=-0.02'
  caz agree judges.csv --gold people.csv --alt-test=epsilon=0.1
  caz agree labels.csv --gold gold.csv --plan-monitoring 0.05 --output again.csv
  caz agree llm.qrels --gold people.qrels --runs runs.trec --binarize 1
  caz agree --runs runs.csv")]
pub(super) struct AgreeArgs {
    /// Labels to judge: task, label, optional source, prompt, sample
    #[arg(required_unless_present = "runs")]
    labels: Option<PathBuf>,
    /// Labels to hold them against: task, label, optional worker
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    gold: Option<PathBuf>,
    /// Which labels there are: LOW..HIGH, A,B,C in order, or nominal [default: numbers if gold is]
    #[arg(long, value_name = "SCALE", allow_hyphen_values = true, help_heading = "Input")]
    scale: Option<ScaleChoice>,
    /// What to do with labels outside the scale
    #[arg(long, value_enum, default_value_t, help_heading = "Advanced")]
    outside: Outside,
    /// Cut the scale: labels of at least K against the others; K is a number or a label of --scale A,B,C
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    binarize: Option<Cut>,
    /// Tasks that belong together, drawn as one: a column, or a file with task, cluster
    #[arg(long, value_name = "COLUMN|FILE", help_heading = "Input")]
    cluster: Option<String>,
    /// What is gold where several people label
    #[arg(long, value_enum, default_value_t, hide_short_help = true)]
    gold_by: GoldBy,
    /// Compare two sources A,B on the same tasks, or `all` pairs; may be given again
    #[arg(long, value_name = "A,B", hide_short_help = true)]
    compare: Vec<String>,
    #[command(flatten)]
    alt_test: Option<Keyed<AltTest>>,
    /// --alt-test: people that a task needs, the one who is compared among them
    #[arg(long, value_name = "N", default_value_t = AltTestSettings::default().min_people, value_parser = at_least_two, hide_short_help = true)]
    min_people: usize,
    /// Earlier labels of the same tasks: what changed since; exit code 1 if a source or a task of
    /// one is gone
    #[arg(long, value_name = "OLD", help_heading = "Input", hide_short_help = true)]
    since: Option<PathBuf>,
    /// A bound such as 'kappa>=0.6' or 'change:kappa>=-0.02'; exit code 1 if a row breaks it
    #[arg(long, value_name = "METRIC>=X", hide_short_help = true)]
    require: Vec<Requirement>,
    /// Which of the --gold items to label again, so that kappa is known to this much at 95 %
    #[arg(long, value_name = "HALF_WIDTH", requires = "gold", conflicts_with_all = [
        "runs", "cluster", "compare", "since", "require", "alt-test",
    ], hide_short_help = true)]
    plan_monitoring: Option<f64>,
    /// Compare two rankings instead: group, run, score, score; with LABELS and --gold those of these runs
    /// by the labels of both: run, topic, document, score
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "scale", "cluster", "compare", "since", "require",
    ], help_heading = "Input")]
    runs: Option<PathBuf>,
    /// --runs: persistence of RBO
    #[arg(long, value_name = "P", default_value_t = RankingSettings::default().persistence, help_heading = "Advanced")]
    persistence: f64,
    /// Draws behind every interval, and permutations behind every p-value of --compare
    #[arg(long, value_name = "B", default_value_t = DRAWS, value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Advanced")]
    bootstrap: u32,
    /// What to do with a second label of the same labeller for the same task
    #[arg(long, value_enum, default_value_t, help_heading = "Input", hide_short_help = true)]
    duplicates: DuplicatesChoice,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Whether a source may replace people, and how that is tested.
#[derive(Debug, Clone, Args)]
pub(super) struct AltTest {
    /// how close two labels are
    #[arg(long, value_enum, default_value_t)]
    closeness: Closeness,
    /// what a source may be worse for being cheaper; .2 experts, .15 skilled, .1 crowd
    #[arg(long, value_name = "SHARE", default_value_t = AltTestSettings::default().epsilon)]
    epsilon: f64,
    /// tasks that a person needs
    #[arg(long, value_name = "N", default_value_t = LEAST_ITEMS)]
    least_items: usize,
}

impl Keys for AltTest {
    const FLAG: &'static str = "alt-test";
    const ABOUT: &'static str = "Test whether a source may replace the people of --gold";
    const ALONE: bool = true;
}

fn at_least_two(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|&people| people >= 2).ok_or_else(|| "it needs at least 2".to_owned())
}

/// Runs the command.
pub(super) fn run(args: &AgreeArgs, common: &Common) -> Result<ExitStatus> {
    let format = common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.page.check(common)?;
    if let Some(runs) = &args.runs {
        return args.compare_runs(runs, common);
    }
    let settings = args.settings(common)?;
    let read = |path: &PathBuf| open(path, common);
    // clap sees to it that there are labels where there are no runs.
    let Some(labels) = &args.labels else { return Ok(ExitStatus::Usage) };
    let mut opener = args.exports.opener()?;
    if let (None, Some(column)) = (args.cluster_file(), &args.cluster) {
        opener.keep(column);
    }
    let judged = if args.gold.is_some() { Wanted::JudgedLabels } else { Wanted::Labellers };
    let labels = opener.first(read(labels)?, judged)?;
    let gold = args.gold.as_ref().map(read).transpose()?;
    let gold = gold.map(|source| opener.beside(source, Wanted::Gold)).transpose()?;
    let since = args.since.as_ref().map(read).transpose()?;
    let since = since.map(|source| opener.beside(source, judged)).transpose()?;
    let cluster_file = args.cluster_file().as_ref().map(read).transpose()?;
    let clusters = match (&cluster_file, &args.cluster) {
        (Some(file), _) => Some(ClusterSource::File(file)),
        (None, column) => column.as_deref().map(ClusterSource::Column),
    };
    let files =
        LabellerFiles { labels: &labels, gold: gold.as_ref(), since: since.as_ref(), clusters };
    if let Some(half_width) = args.plan_monitoring {
        let mut report = plan_monitoring(&files, &settings, half_width)?;
        report.warnings.splice(0..0, opener.finish()?.1);
        args.page
            .write(common, &report, || Ok(plain_page("Which items to label again", &report)))?;
        emit(&report, common)?;
        return Ok(ExitStatus::Done);
    }
    let mut run = agreement::run(&files, &settings, &Terminal::new(common))?;
    run.warnings.splice(0..0, opener.finish()?.1);
    let broken = run.broken_bounds()?;
    let report = run.report();
    args.page.write(common, &report, || Ok(run.page()))?;
    let written = match format {
        OutputFormat::Table => emit(&run.summary(), common),
        _ => emit(&report, common),
    };
    for sentence in &broken {
        say(common, &format!("bound broken: {sentence}"));
    }
    match written {
        // Whoever reads the first rows only still asked for the bounds.
        Err(error) if broken.is_empty() || error.kind() != ErrorKind::ClosedPipe => Err(error),
        _ => Ok(if broken.is_empty() { ExitStatus::Done } else { ExitStatus::GateFailed }),
    }
}

/// A page that is its table.
fn plain_page(title: &str, report: &Report) -> Page {
    Page {
        title: title.into(),
        lead: report.footer.clone(),
        table: ShownTable::Open,
        ..Page::default()
    }
}

impl AgreeArgs {
    /// Everything that can be wrong with the flags, before any file is read.
    fn settings(&self, common: &Common) -> Result<AgreementSettings> {
        let usage = |message: String| UsageError(message);
        let files = [&self.labels, &self.gold, &self.since].into_iter().flatten();
        if files.filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(usage("standard input (`-`) can be read only once".into()).into());
        }
        if self.alt_test.is_some() && self.gold.is_none() {
            return Err(usage("--alt-test needs the people of --gold".into()).into());
        }
        let alt_test = self.alt_test.as_ref().map(|test| AltTestSettings {
            closeness: test.closeness,
            epsilon: test.epsilon,
            least_items: test.least_items,
            min_people: self.min_people,
            ..AltTestSettings::default()
        });
        if let Some(epsilon) = alt_test.as_ref().map(|test| test.epsilon)
            && !(0.0..=1.0).contains(&epsilon)
        {
            let message = format!("--alt-test: epsilon is {epsilon}, it must be from 0 to 1");
            return Err(usage(message).into());
        }
        Ok(AgreementSettings {
            scale: self.scale.clone().unwrap_or(ScaleChoice::Auto),
            outside: self.outside,
            binarize: self.binarize.clone(),
            gold_by: self.gold_by,
            compare: self.compared()?,
            alt_test,
            draws: self.bootstrap,
            permutations: self.bootstrap,
            duplicates: self.duplicates.into(),
            import: self.exports.settings()?,
            require: self.require.clone(),
            seed: common.seed,
        })
    }

    fn compared(&self) -> Result<Compare, UsageError> {
        let mut pairs = Vec::new();
        for text in &self.compare {
            if text == "all" {
                return Ok(Compare::All);
            }
            match text.split_once(',').map(|(a, b)| (a.trim(), b.trim())) {
                Some((a, b)) if !a.is_empty() && !b.is_empty() && a != b => {
                    pairs.push((a.to_owned(), b.to_owned()));
                }
                _ => {
                    let message = format!("--compare takes two sources A,B or all, not `{text}`");
                    return Err(UsageError(message));
                }
            }
        }
        Ok(if pairs.is_empty() { Compare::None } else { Compare::Pairs(pairs) })
    }

    /// The file of clusters, if `--cluster` names one and no column.
    fn cluster_file(&self) -> Option<PathBuf> {
        let path = PathBuf::from(self.cluster.as_ref()?);
        let looks_like_a_file = path.extension().is_some() || path.components().count() > 1;
        (path.is_file() || looks_like_a_file).then_some(path)
    }

    fn compare_runs(&self, runs: &Path, common: &Common) -> Result<ExitStatus> {
        let settings = RankingSettings {
            persistence: self.persistence,
            draws: self.bootstrap,
            seed: common.seed,
        };
        let terminal = Terminal::new(common);
        let report = match (&self.labels, &self.gold, &self.binarize) {
            (None, None, None) => compare_rankings(&open(runs, common)?, &settings, &terminal)?,
            (Some(labels), Some(gold), cut) => {
                let mut settings =
                    RetrievalSettings { rankings: settings, ..RetrievalSettings::default() };
                match cut {
                    None => {}
                    Some(Cut::Number(number)) => settings.relevant_from = *number,
                    Some(Cut::Label(label)) => {
                        let message = format!("grades are numbers; --binarize `{label}` is none");
                        return Err(UsageError(message).into());
                    }
                }
                check_read_once(&[runs.to_owned(), labels.clone(), gold.clone()])?;
                let [runs, labels, gold] =
                    [open(runs, common)?, open(labels, common)?, open(gold, common)?];
                compare_by_runs([&runs, &labels, &gold], &settings, &terminal)?
            }
            _ => {
                let message = "--runs goes alone, or with LABELS and --gold";
                return Err(UsageError(message.into()).into());
            }
        };
        self.page
            .write(common, &report, || Ok(plain_page("How alike two rankings are", &report)))?;
        emit(&report, common)?;
        Ok(ExitStatus::Done)
    }
}

//! `caz labels`: score crowd workers from categorical labels.

#![expect(clippy::doc_markdown, reason = "help texts are shown as they are written")]

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::common::Common;
use super::exit::{ExitStatus, UsageError};
use super::label_scores::{Scored, posterior_rows, scores_report};
use super::output::{check_output, emit, write_output};
use super::page::PageArgs;
use super::page::labels::page;
use super::progress::Bar;
use super::reviews::DuplicatesChoice;
use crate::data::duplicates::Duplicates;
use crate::data::label_reader::{LabelFiles, LoadedLabels, read_labels};
use crate::data::source::Source;
use crate::data::z::ZSource;
use crate::mechanism::{
    Bootstrap, Conditioning, CopyMixture, CorrelatedAgreement, CorrelatedAgreementOptions,
    DawidSkene, EmSettings, GivenScores, MAX_ITERATIONS, Mechanism, MinimumOverSources,
    NegativeAgreement, OutputAgreement, Sampling, ScoringFunction, TOLERANCE,
};
use crate::report::Input;
use crate::stats::flag::{FALSE_DISCOVERY_RATE, FlagSettings};

/// Score crowd workers by what their labels share with their peers' beyond an LLM's labels
///
/// Tasks are grouped by the label that the LLM gives them; inside a group a worker earns by
/// agreeing with peers on the same task more than on different tasks. Workers who copy an LLM
/// share nothing with their peers beyond it and end at the bottom.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  LABELS   task, worker, label
  --z      task, label; optional source, sample
  --truth  task, truth

Examples:
  caz labels labels.csv --z llm-labels.csv --output scores.csv
  caz labels labels.csv --z llm-labels.csv --mechanism all --report report.html")]
pub(super) struct LabelsArgs {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks; with several sources the lowest score counts
    #[arg(long, num_args = 1.., value_name = "FILE")]
    z: Vec<PathBuf>,
    /// Mechanisms to score with
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ca_z", value_name = "M")]
    mechanism: Vec<MechanismChoice>,
    /// Known answers: task, truth; adds accuracies to the result
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Fewer tasks behind a score than this give the flag too_few
    #[arg(long, value_name = "N", default_value_t = 10)]
    min_tasks: usize,
    /// False discovery rate of the flag `informative`
    #[arg(long, value_name = "F", default_value_t = FALSE_DISCOVERY_RATE)]
    fdr: f64,
    /// Bound of the flag `uninformative` [default: a quarter of the median score]
    #[arg(long, value_name = "F")]
    margin: Option<f64>,
    /// What to do with a second label of the same worker for the same task
    #[arg(long, value_enum, default_value_t)]
    duplicates: DuplicatesChoice,
    /// ca, ca_z: divide by the weight of the strata in which a worker has a score
    #[arg(long)]
    renormalize_strata: bool,
    /// ca, ca_z: draw N random peers and penalty tasks per label instead of averaging over all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sampled: Option<u32>,
    /// ca, ca_z: which labels count as agreement: label, peer_label, value, optional z
    #[arg(long, value_name = "FILE")]
    scoring_function: Option<PathBuf>,
    /// ds_z: how several sources are used together
    #[arg(long, value_enum, default_value_t)]
    z_combine: CombineChoice,
    /// ds, ds_z: standard errors from N bootstrap samples of the tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    bootstrap: Option<u32>,
    /// ds, ds_z: stop when the objective gains less than this share of its size
    #[arg(long, value_name = "F", default_value_t = TOLERANCE)]
    tolerance: f64,
    /// ds, ds_z: stop after N iterations
    #[arg(long, value_name = "N", default_value_t = MAX_ITERATIONS)]
    max_iterations: usize,
    /// Write the label probabilities of the first of ds and ds_z: task, label, probability
    #[arg(long, value_name = "FILE")]
    posteriors: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum MechanismChoice {
    /// Correlated agreement beyond the LLM
    CaZ,
    /// Correlated agreement
    Ca,
    /// Agreement with peers
    Oa,
    /// Agreement with peers where it differs from the LLM
    OaZ,
    /// Dawid-Skene: estimated accuracy
    Ds,
    /// Dawid-Skene with copying from the LLM; estimates the share copied
    DsZ,
    /// Minus the agreement with the LLM
    NegZ,
    /// All of them; without --z those that need no LLM
    All,
}

impl MechanismChoice {
    const EACH: [Self; 7] =
        [Self::CaZ, Self::Ca, Self::Oa, Self::OaZ, Self::Ds, Self::DsZ, Self::NegZ];

    fn needs_z(self) -> bool {
        matches!(self, Self::CaZ | Self::OaZ | Self::DsZ | Self::NegZ)
    }

    fn is_fitted(self) -> bool {
        matches!(self, Self::Ds | Self::DsZ)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::CaZ => "ca_z",
            Self::Ca => "ca",
            Self::Oa => "oa",
            Self::OaZ => "oa_z",
            Self::Ds => "ds",
            Self::DsZ => "ds_z",
            Self::NegZ => "neg_z",
            Self::All => "all",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CombineChoice {
    /// Condition on each source alone and keep the lowest score
    #[default]
    Min,
    /// Each worker may copy from several sources
    Together,
}

/// Runs the command.
pub(super) fn run(args: &LabelsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    check_output(args.posteriors.as_deref())?;
    args.page.check(common)?;
    let choices = args.check()?;
    let (loaded, mut inputs) = args.load()?;
    let function = match &args.scoring_function {
        None => ScoringFunction::Estimated,
        Some(path) => {
            let source = Source::read(path)?;
            let (given, rows) = GivenScores::read(&source, &loaded.z.labels)?;
            inputs.push(Input::new(&source, rows));
            ScoringFunction::Given(given)
        }
    };
    let mut scored = Vec::new();
    for choice in &choices {
        let mechanism = args.mechanism(*choice, &loaded.z.sources, &function, common.seed);
        let scores = match args.bootstrap.filter(|_| choice.is_fitted()) {
            None => mechanism.score(&loaded.table)?,
            Some(replicates) => {
                let bar = Bar::new(common, "bootstrap", u64::from(replicates));
                let bootstrap = Bootstrap { replicates, seed: common.seed };
                bootstrap.score(mechanism.as_ref(), &loaded.table, &bar)?
            }
        };
        let zero_is_chance = mechanism.zero_is_chance();
        scored.push(Scored { name: choice.as_str(), zero_is_chance, scores });
    }
    if let Some(path) = &args.posteriors
        && let Some(posteriors) = scored.iter().find_map(|scored| scored.scores.posteriors.as_ref())
    {
        write_output(path, |out| posterior_rows(&loaded.table, posteriors, out))?;
    }
    let flags = FlagSettings {
        false_discovery_rate: args.fdr,
        margin: args.margin,
        min_count: args.min_tasks,
    };
    let mut report = scores_report(&loaded, &scored, &flags);
    report.inputs = inputs;
    report.settings = args.settings(&choices, &loaded, common.seed);
    args.page.write(&report, || Ok(page(&report, &loaded, &scored)))?;
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}

impl LabelsArgs {
    /// The mechanisms asked for, each once, in the order asked for.
    fn check(&self) -> Result<Vec<MechanismChoice>> {
        let usage = |message: String| Err(UsageError(message).into());
        let files = self.z.iter().chain([&self.labels]).chain(&self.truth);
        let files = files.chain(&self.scoring_function);
        if files.filter(|path| path.as_os_str() == "-").count() > 1 {
            return usage("standard input (`-`) can be read only once".into());
        }
        if !(0.0..=1.0).contains(&self.fdr) {
            return usage(format!("--fdr is {}, it must be from 0 to 1", self.fdr));
        }
        if self.margin.is_some_and(|margin| !margin.is_finite()) {
            return usage("--margin must be a finite number".into());
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) || self.max_iterations == 0 {
            return usage("--tolerance must be at least 0 and --max-iterations at least 1".into());
        }
        let mut choices = Vec::new();
        for &choice in &self.mechanism {
            let each = match choice {
                MechanismChoice::All => MechanismChoice::EACH
                    .into_iter()
                    .filter(|choice| !self.z.is_empty() || !choice.needs_z())
                    .collect(),
                choice => vec![choice],
            };
            for choice in each {
                if self.z.is_empty() && choice.needs_z() {
                    return usage(format!(
                        "{} needs labels of an LLM; add --z FILE, or choose --mechanism ca, oa or ds",
                        choice.as_str()
                    ));
                }
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
        }
        if self.posteriors.is_some() && !choices.iter().any(|choice| choice.is_fitted()) {
            return usage("--posteriors needs --mechanism ds or ds_z".into());
        }
        Ok(choices)
    }

    /// Reads all files; their bytes are gone when this returns.
    fn load(&self) -> Result<(LoadedLabels, Vec<Input>)> {
        let labels = Source::read(&self.labels)?;
        let z = self.z.iter().map(|path| Source::read(path)).collect::<Result<Vec<_>, _>>()?;
        let truth = self.truth.as_ref().map(|path| Source::read(path)).transpose()?;
        let files = LabelFiles { labels: &labels, z: &z, truth: truth.as_ref() };
        let loaded = read_labels(&files, self.duplicates.into())?;
        let inputs = std::iter::once(&labels)
            .chain(&z)
            .chain(&truth)
            .zip(&loaded.rows)
            .map(|(source, &rows)| Input::new(source, rows))
            .collect();
        Ok((loaded, inputs))
    }

    fn mechanism(
        &self,
        choice: MechanismChoice,
        sources: &[ZSource],
        function: &ScoringFunction,
        seed: u64,
    ) -> Box<dyn Mechanism> {
        let em = EmSettings { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let options = CorrelatedAgreementOptions {
            scoring_function: function.clone(),
            renormalize_strata: self.renormalize_strata,
            sampling: self.sampled.map(|draws| Sampling { draws, seed }),
        };
        let given = |source: &ZSource| Conditioning::on(source.conditioning());
        match choice {
            MechanismChoice::CaZ => minimum(sources, |source| {
                Box::new(CorrelatedAgreement::new(given(source), options.clone()))
            }),
            MechanismChoice::OaZ => {
                minimum(sources, |source| Box::new(OutputAgreement::new(given(source))))
            }
            MechanismChoice::NegZ => {
                minimum(sources, |source| Box::new(NegativeAgreement::new(source.conditioning())))
            }
            MechanismChoice::DsZ if self.z_combine == CombineChoice::Together => {
                Box::new(CopyMixture::new(sources, em))
            }
            MechanismChoice::DsZ => minimum(sources, |source| {
                Box::new(CopyMixture::new(std::slice::from_ref(source), em))
            }),
            MechanismChoice::Ca | MechanismChoice::All => {
                Box::new(CorrelatedAgreement::new(Conditioning::Nothing, options))
            }
            MechanismChoice::Oa => Box::new(OutputAgreement::new(Conditioning::Nothing)),
            MechanismChoice::Ds => Box::new(DawidSkene { settings: em }),
        }
    }

    fn settings(
        &self,
        choices: &[MechanismChoice],
        loaded: &LoadedLabels,
        seed: u64,
    ) -> Map<String, Value> {
        let mechanisms: Vec<&str> = choices.iter().map(|choice| choice.as_str()).collect();
        let sources: Vec<Value> = loaded
            .z
            .sources
            .iter()
            .map(|source| {
                let samples: Vec<&str> =
                    source.samples.iter().map(|sample| sample.name.as_str()).collect();
                json!({ "source": source.name, "samples": samples })
            })
            .collect();
        let z_combine = match self.z_combine {
            CombineChoice::Min => "min",
            CombineChoice::Together => "together",
        };
        let settings = json!({
            "mechanism": mechanisms,
            "z": sources,
            "z_combine": z_combine,
            "min_tasks": self.min_tasks,
            "fdr": self.fdr,
            "margin": self.margin,
            "duplicates": Duplicates::from(self.duplicates),
            "renormalize_strata": self.renormalize_strata,
            "sampled": self.sampled,
            "scoring_function": self.scoring_function.as_ref().map_or("estimated", |_| "given"),
            "bootstrap": self.bootstrap,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "seed": seed,
        });
        settings.as_object().cloned().unwrap_or_default()
    }
}

/// One mechanism per source, of which the lowest score counts.
fn minimum(
    sources: &[ZSource],
    mechanism: impl Fn(&ZSource) -> Box<dyn Mechanism>,
) -> Box<dyn Mechanism> {
    let mut each: Vec<Box<dyn Mechanism>> = sources.iter().map(mechanism).collect();
    match each.len() {
        1 => each.remove(0),
        _ => Box::new(MinimumOverSources::new(each)),
    }
}

#[cfg(test)]
mod tests;

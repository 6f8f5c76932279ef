//! What the experiments on crowds have in common: flags, settings, tables.

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::super::common::Common;
use super::super::exit::UsageError;
use super::super::label_input::LabelInput;
use super::trials::TrialArgs;
use crate::data::label_reader::LoadedLabels;
use crate::experiment::auc_summary::AucSummary;
use crate::experiment::contenders::{Contender, Roles};
use crate::experiment::detection::{CrowdTrial, DetectionSettings, OTHER_SHARE};
use crate::report::{Cell, Input, Report, Table};

/// Columns behind those that say what a row is of.
pub(super) const SUMMARY_COLUMNS: [&str; 6] =
    ["mean_auc", "q10_auc", "q90_auc", "n_trials", "n_undefined", "mean_missing"];

/// Flags of an experiment on a crowd.
#[derive(Debug, Args)]
pub(super) struct CrowdArgs {
    #[command(flatten)]
    pub(super) input: LabelInput,
    #[command(flatten)]
    pub(super) trials: TrialArgs,
    /// Mechanisms that compete
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all", value_name = "M")]
    mechanism: Vec<ContenderChoice>,
    /// Shares of random and of biased workers: each uniform from 0 to SHARE in every trial
    #[arg(long, value_name = "SHARE", default_value_t = OTHER_SHARE)]
    others: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ContenderChoice {
    CaZ,
    DsZ,
    Ca,
    Oa,
    OaZ,
    Ds,
    NegZ,
    All,
}

impl ContenderChoice {
    fn contenders(self) -> Vec<Contender> {
        match self {
            Self::CaZ => vec![Contender::CaZ],
            Self::DsZ => vec![Contender::DsZ],
            Self::Ca => vec![Contender::Ca],
            Self::Oa => vec![Contender::Oa],
            Self::OaZ => vec![Contender::OaZ],
            Self::Ds => vec![Contender::Ds],
            Self::NegZ => vec![Contender::NegZ],
            Self::All => Contender::EACH.to_vec(),
        }
    }
}

impl CrowdArgs {
    /// The settings, checked as are the places where results go.
    pub(super) fn settings(
        &self,
        llm_shares: &[f64],
        common: &Common,
    ) -> Result<DetectionSettings> {
        self.trials.check(common)?;
        let mut contenders = Vec::new();
        for contender in self.mechanism.iter().flat_map(|choice| choice.contenders()) {
            if !contenders.contains(&contender) {
                contenders.push(contender);
            }
        }
        let llm_shares = llm_shares.to_vec();
        let (other_share, seed) = (self.others, common.seed);
        let settings = DetectionSettings { llm_shares, other_share, contenders, seed };
        settings.check().map_err(|error| UsageError(error.to_string()))?;
        Ok(settings)
    }
}

/// Settings as they go into results and into the header of the trials; the number of trials is
/// not among them, because more trials are the same experiment.
pub(super) fn described(settings: &DetectionSettings, roles: &Roles) -> Map<String, Value> {
    let value = json!({
        "mechanism": settings.contenders,
        "llm_shares": settings.llm_shares,
        "others": settings.other_share,
        "z_source": roles.z,
        "llm_source": roles.cheaters,
        "copy_z": roles.copy_z,
        "seed": settings.seed,
    });
    value.as_object().cloned().unwrap_or_default()
}

/// Summary of one mechanism in one variant over all trials; which is the variant, then the
/// mechanism.
pub(super) fn overall(trials: &[CrowdTrial], (variant, contender): (usize, usize)) -> AucSummary {
    AucSummary::of(trials.iter().map(|trial| trial.aucs[variant][contender]))
}

/// The same for each share of LLM cheaters, with that share.
pub(super) fn by_share(
    settings: &DetectionSettings,
    trials: &[CrowdTrial],
    (variant, contender): (usize, usize),
) -> Vec<(f64, AucSummary)> {
    let points = settings.llm_shares.len();
    let summary = |point: usize| {
        let at_point = trials.iter().skip(point).step_by(points);
        AucSummary::of(at_point.map(|trial| trial.aucs[variant][contender]))
    };
    settings.llm_shares.iter().enumerate().map(|(point, &share)| (share, summary(point))).collect()
}

/// A row over all shares and one for each; `names` says what they are of.
pub(super) fn share_rows(
    names: &[&str],
    settings: &DetectionSettings,
    trials: &[CrowdTrial],
    which: (usize, usize),
) -> Vec<Vec<Cell>> {
    let each = by_share(settings, trials, which);
    std::iter::once((None, overall(trials, which)))
        .chain(each.into_iter().map(|(share, summary)| (Some(share), summary)))
        .map(|(share, summary)| {
            let mut row: Vec<Cell> = names.iter().map(|&name| name.into()).collect();
            row.push(share.into());
            row.extend(cells(&summary));
            row
        })
        .collect()
}

/// Every mechanism in the first variant over all trials.
pub(super) fn each_overall(
    settings: &DetectionSettings,
    trials: &[CrowdTrial],
) -> Vec<(String, AucSummary)> {
    let each = settings.contenders.iter().enumerate();
    each.map(|(index, contender)| (contender.as_str().to_owned(), overall(trials, (0, index))))
        .collect()
}

/// The cells under [`SUMMARY_COLUMNS`].
pub(super) fn cells(summary: &AucSummary) -> [Cell; 6] {
    [
        summary.mean.into(),
        summary.low.into(),
        summary.high.into(),
        summary.n_trials.into(),
        summary.n_undefined.into(),
        summary.mean_missing.into(),
    ]
}

/// What an experiment says, without its table.
pub(super) fn report(
    command: &'static str,
    (loaded, inputs): (&LoadedLabels, Vec<Input>),
    settings: Map<String, Value>,
    (table, trials): (Table, u32),
    about: &str,
) -> Report {
    let mut settings = settings;
    settings.insert("trials".into(), trials.into());
    let crowd = &loaded.table;
    let scope = format!(
        "Contaminated {} workers with {} labels of {} tasks, {trials} trials per point. {about}",
        crowd.worker_count(),
        crowd.report_count(),
        crowd.task_count()
    );
    let meaning = "AUC: probability that a good worker scores above a low-effort one; 0.5 is \
        chance. q10_auc: one trial in ten is worse. n_undefined: trials in which there was nobody \
        to tell apart. mean_missing: workers without a score per trial; they are left out.";
    let caveat = "Workers left alone count as good, which in a real crowd not all of them are.";
    Report {
        command,
        inputs,
        settings,
        table,
        warnings: loaded.warnings.clone(),
        footer: vec![scope, meaning.into(), caveat.into()],
        prose: None,
    }
}

/// Every trial, mechanism and variant; a column says which variant, where there are several.
pub(super) fn raw_table(
    settings: &DetectionSettings,
    trials: &[CrowdTrial],
    variants: Option<(&'static str, &[Cell])>,
) -> Table {
    let columns = ["repetition", "llm", "random", "biased", "mechanism", "auc", "n_missing"];
    let columns: Vec<_> = columns.into_iter().chain(variants.map(|(name, _)| name)).collect();
    let mut table = Table::new(&columns);
    for (id, trial) in settings.grid(1).with_ids(trials) {
        let shares = [trial.shares.llm, trial.shares.random, trial.shares.biased];
        for (variant, aucs) in trial.aucs.iter().enumerate() {
            for (contender, auc) in settings.contenders.iter().zip(aucs) {
                let mut row = vec![(id.repetition as usize).into()];
                row.extend(shares.map(Cell::from));
                row.extend([contender.as_str().into(), auc.auc.into(), auc.n_missing.into()]);
                row.extend(variants.map(|(_, names)| names[variant].clone()));
                table.push(row);
            }
        }
    }
    table
}

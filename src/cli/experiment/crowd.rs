//! What the experiments on crowds have in common: their flags and the way from them to a run.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::keyed::{Keys, OF_A_CROWD};
use super::super::label_input::{LabelInput, RoleArgs};
use super::super::mechanism_choice::{MechanismChoice, chosen};
use super::super::progress::Terminal;
use super::trials::{TrialArgs, caption};
use crate::experiment::contenders::competitors;
use crate::experiment::crowd::{CrowdExperiment, CrowdSettings};
use crate::experiment::detection::{DetectionSettings, LLM_SHARES, OTHER_SHARE, REPETITIONS};

/// Flags of an experiment on a crowd.
#[derive(Debug, Args)]
pub(super) struct CrowdArgs {
    #[command(flatten)]
    pub(super) input: LabelInput,
    #[command(flatten)]
    pub(super) trials: TrialArgs,
    /// Mechanisms that compete
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all", value_name = "M")]
    mechanism: Vec<MechanismChoice>,
}

/// Who is in the crowd beside those who work and LLM cheaters.
#[derive(Debug, Clone, Args)]
pub(super) struct Others {
    /// Shares of random and of biased workers: each uniform from 0 to SHARE in every trial
    #[arg(long, value_name = "SHARE", default_value_t = OTHER_SHARE)]
    others: f64,
    #[command(flatten)]
    roles: RoleArgs,
}

/// Crowds with several shares of LLM cheaters.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Crowds {
    /// Shares of LLM cheaters
    #[arg(long, value_delimiter = ',', default_values_t = LLM_SHARES, value_name = "SHARE")]
    pub(super) llm: Vec<f64>,
    #[command(flatten)]
    pub(super) others: Others,
}

impl Keys for Crowds {
    const FLAG: &'static str = "crowd";
    const ABOUT: &'static str = OF_A_CROWD;
}

impl CrowdArgs {
    /// Runs the experiment and writes what is wanted of it.
    pub(super) fn run(
        &self,
        experiment: CrowdExperiment,
        (llm_shares, coverage, others): (&[f64], &[f64], &Others),
        common: &Common,
    ) -> Result<ExitStatus> {
        self.trials.check(common)?;
        let settings = self.settings(experiment, (llm_shares, coverage, others), common.seed)?;
        settings.check()?;
        let (loaded, inputs) = self.input.load(common)?;
        let file = self.trials.file()?;
        let observer = Terminal::new(common);
        let run = settings
            .run(loaded, inputs, file.as_ref(), &observer)
            .map_err(|error| self.trials.how_to_go_on(error))?;
        let report = run.report();
        self.trials.write_raw(&report, run.raw())?;
        let page = |figures: &[_]| run.page(figures, &caption);
        self.trials.publish(common, &report, || run.figures(), page)?;
        Ok(ExitStatus::Done)
    }

    fn settings(
        &self,
        experiment: CrowdExperiment,
        (llm_shares, coverage, others): (&[f64], &[f64], &Others),
        seed: u64,
    ) -> Result<CrowdSettings> {
        let contenders = chosen(&self.mechanism, &competitors());
        let llm_shares = llm_shares.to_vec();
        Ok(CrowdSettings {
            experiment,
            trial: DetectionSettings { llm_shares, other_share: others.others, contenders, seed },
            coverage: coverage.to_vec(),
            roles: others.roles.roles(),
            reading: self.input.reading(),
            import: self.input.import()?,
            trials: self.trials.count(REPETITIONS),
        })
    }
}

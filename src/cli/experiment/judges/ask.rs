//! Verdicts on pairs by every way to judge, from a model.

use std::ops::ControlFlow;
use std::path::Path;

use clap::Args;

use super::super::super::annotate::{Ended, OutputArgs};
use super::super::super::common::Common;
use super::super::super::exit::ExitStatus;
use super::super::super::files::OutputFile;
use super::super::super::judge::{WaysArgs, judge};
use super::super::answers::in_place_of_a_study;
use super::ModelVerdicts;
use crate::annotate::pairs::Method;
use crate::error::Result;

/// By which ways a model judges, and which model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Asking a model")]
pub(super) struct AskArgs {
    /// Ways to judge, as --method of `caz judge`
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "single",
        value_name = "M",
        hide_short_help = true
    )]
    ways: Vec<Method>,
    /// Where the verdicts go (csv), with what each cost: a study can be made of them again
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    answers: Option<OutputFile>,
    #[command(flatten)]
    how: WaysArgs,
    #[command(flatten)]
    out: OutputArgs,
}

impl AskArgs {
    /// Whether verdicts are to be made.
    pub(super) fn is_wanted(&self) -> bool {
        self.out.llm.model.is_some() || self.out.llm.replay.is_some()
    }

    /// Asks a model which side of every pair is better; where the verdicts went, or how it ended where there
    /// are none, as in a dry run.
    pub(super) fn ask(
        &self,
        pairs: &Path,
        common: &Common,
    ) -> Result<ControlFlow<ExitStatus, ModelVerdicts>> {
        let Self { ways, answers, how, out } = self;
        let own = in_place_of_a_study(answers.as_ref(), "verdicts", out.dry_run, common)?;
        let (ended, provenance) = judge(pairs, ways, (how, out), &own)?;
        let Ended { status: ended, is_written } = ended;
        // An earlier run's verdicts are not this model's.
        let Some(path) = answers.clone().filter(|_| is_written) else {
            return Ok(ControlFlow::Break(ended));
        };
        let transcripts = how.transcripts().filter(|path| path.exists()).map(Path::to_path_buf);
        let path = path.to_path_buf();
        Ok(ControlFlow::Continue(ModelVerdicts { path, transcripts, provenance, ended }))
    }
}

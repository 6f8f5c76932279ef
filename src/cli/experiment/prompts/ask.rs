//! Labels by every prompt of a grid, from a model.

use std::ops::ControlFlow;
use std::path::Path;

use clap::Args;

use super::super::super::annotate::{Ended, Output, OutputArgs};
use super::super::super::common::Common;
use super::super::super::exit::ExitStatus;
use super::super::super::exports::ExportArgs;
use super::super::super::files::OutputFile;
use super::super::answers::in_place_of_a_study;
use super::ModelLabels;
use crate::annotate::RowFormat;
use crate::annotate::grid::{self, Grid, GridSettings};
use crate::data::import::Wanted;
use crate::error::Result;

/// Which prompts a model is asked by, and which model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Asking a model")]
pub(super) struct AskArgs {
    /// A prompt with features, by name or path; see `caz prompts show label-relevance`
    #[arg(
        long,
        value_name = "P",
        default_value = "label-relevance",
        help_heading = "Input",
        hide_short_help = true
    )]
    prompt: String,
    /// Features to switch on and off, each with each; none: the plain prompt [default: all]
    #[arg(long, value_name = "LETTERS", hide_short_help = true)]
    features: Option<String>,
    /// Ask by every wording of the prompt with these features, too
    #[arg(long, value_name = "LETTERS", hide_short_help = true)]
    wordings: Option<String>,
    /// Prompts of your own beside them, by name or path, for one label each
    #[arg(long, value_name = "P", value_delimiter = ',', hide_short_help = true)]
    variant: Vec<String>,
    /// Answers that may be asked for until one can be read
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Advanced")]
    turns: u32,
    /// Name of the source of the labels [default: the model's name]
    #[arg(long, value_name = "NAME", help_heading = "Output", hide_short_help = true)]
    source: Option<String>,
    /// Where the labels go (csv), with what each cost: a study can be made of them again
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    answers: Option<OutputFile>,
    #[command(flatten)]
    out: OutputArgs,
}

impl AskArgs {
    /// Whether labels are to be made.
    pub(super) fn is_wanted(&self) -> bool {
        self.out.llm.model.is_some() || self.out.llm.replay.is_some()
    }

    /// What a million tokens read and written cost.
    pub(super) fn prices(&self) -> Option<[f64; 2]> {
        self.out.llm.prices().map(|prices| [prices.read, prices.written])
    }

    /// Asks a model for labels of the items by every prompt; where they went, or how it ended where there are
    /// none, as in a dry run.
    pub(super) fn ask(
        &self,
        (items, exports): (&Path, &ExportArgs),
        common: &Common,
    ) -> Result<ControlFlow<ExitStatus, ModelLabels>> {
        let Self { prompt, features, wordings, variant, turns, source, answers, out } = self;
        let llm = &out.llm;
        let settings = GridSettings {
            prompt: prompt.clone(),
            features: features.clone(),
            wordings_of: wordings.clone(),
            variants: variant.clone(),
            turns: *turns,
            source: source.clone(),
            temperature: llm.temperature.unwrap_or(0.0),
            max_tokens: llm.max_tokens,
            seed: common.seed,
        };
        let own = in_place_of_a_study(answers.as_ref(), "labels", out.dry_run, common)?;
        let grid = Grid::prepare(&settings, || Ok(exports.open(items, Wanted::Items, common)?.0))?;
        let output = Output::new(grid::COMMAND, RowFormat::Csv, out, &own)?;
        let connection = llm.connect(common, out.dry_run)?;
        let mut provenance = grid.provenance();
        provenance.insert("model".into(), connection.model.model().into());
        provenance.insert("place".into(), connection.place.clone().into());
        if out.dry_run {
            let counted = (grid.inputs(), provenance);
            return Ok(ControlFlow::Break(output.dry_run(
                grid.requests(),
                counted,
                &connection,
            )?));
        }
        let timed = connection.is_server();
        let Ended { status: ended, is_written } =
            output.ask(grid.requests().len(), &connection, |asked, observer| {
                grid.run(asked, timed, observer)
            })?;
        // An earlier run's labels are not this model's.
        let Some(path) = answers.clone().filter(|_| is_written) else {
            return Ok(ControlFlow::Break(ended));
        };
        Ok(ControlFlow::Continue(ModelLabels { path: path.to_path_buf(), provenance, ended }))
    }
}

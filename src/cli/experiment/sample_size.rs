//! `caz experiment sample-size`: AUC by share of the tasks that the LLM labels.

use anyhow::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::{ExitStatus, UsageError};
use super::crowd::{CrowdArgs, SUMMARY_COLUMNS, cells, described, overall, raw_table, report};
use super::figures::curves;
use crate::experiment::contenders::Contender;
use crate::experiment::detection::{CrowdTrial, DetectionSettings, REPETITIONS};
use crate::experiment::sample_size::{COVERAGES, LLM_SHARE, sample_size};
use crate::report::{Cell, Table};

/// How many tasks the LLM must label for its labels to help
///
/// Takes Z away from more and more tasks. Mechanisms without Z score the whole crowd every time,
/// for comparison.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment sample-size labels.csv --z llm-labels.csv --mechanism ca_z,ca")]
pub(super) struct SampleSizeArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    /// Share of LLM cheaters
    #[arg(long, default_value_t = LLM_SHARE, value_name = "SHARE")]
    llm: f64,
    /// Shares of the tasks with Z that keep it
    #[arg(long, value_delimiter = ',', default_values_t = COVERAGES, value_name = "SHARE")]
    coverage: Vec<f64>,
}

/// Runs the command.
pub(super) fn run(args: &SampleSizeArgs, common: &Common) -> Result<ExitStatus> {
    let settings = args.crowd.settings(&[args.llm], common)?;
    if let Some(bad) = args.coverage.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        let message = format!("the coverage {bad} is not a number from 0 to 1");
        return Err(UsageError(message).into());
    }
    let (loaded, inputs) = args.crowd.input.load()?;
    let roles = args.crowd.input.single_roles(&loaded)?;
    let data = args.crowd.input.data(&loaded, &roles)?;
    let mut described = described(&settings, &roles);
    described.insert("coverage".into(), args.coverage.clone().into());
    let command = "experiment sample-size";
    let log = args.crowd.trials.log(command, &inputs, &described)?;
    let all = |count| settings.grid(count).trials();
    let (count, bar) = args.crowd.trials.begin(common, REPETITIONS, all);
    let trials = sample_size(&data, &settings, (&args.coverage, count), log, &bar)?;
    drop(bar);
    let about = format!("Z: {}; cheaters: {}.", roles.z.join(", "), roles.cheaters.join(", "));
    let table = table(args, &settings, &trials);
    let report = report(command, (&loaded, inputs), described, (table, count), &about);
    let coverages: Vec<Cell> = args.coverage.iter().map(|&share| share.into()).collect();
    let raw = raw_table(&settings, &trials, Some(("coverage", &coverages)));
    args.crowd.trials.write_raw(&report, raw)?;
    let title = "How well cheaters would be found with Z on part of the tasks";
    args.crowd.trials.publish(common, title, &report, || {
        Ok(vec![("auc-by-coverage.svg".to_owned(), figure(args, &settings, &trials))])
    })?;
    Ok(ExitStatus::Done)
}

fn table(args: &SampleSizeArgs, settings: &DetectionSettings, trials: &[CrowdTrial]) -> Table {
    let mut columns = vec!["mechanism", "coverage"];
    columns.extend(SUMMARY_COLUMNS);
    let mut table = Table::new(&columns);
    for (index, contender) in settings.contenders.iter().enumerate() {
        for (variant, &coverage) in args.coverage.iter().enumerate() {
            let mut row = vec![contender.as_str().into(), coverage.into()];
            row.extend(cells(&overall(trials, (variant, index))));
            table.push(row);
        }
    }
    table
}

fn figure(args: &SampleSizeArgs, settings: &DetectionSettings, trials: &[CrowdTrial]) -> String {
    let lines = settings.contenders.iter().enumerate().map(|(index, contender)| {
        let mut points: Vec<_> = args
            .coverage
            .iter()
            .enumerate()
            .map(|(variant, &x)| (x, overall(trials, (variant, index))))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        (contender.as_str().to_owned(), *contender == Contender::CaZ, points)
    });
    curves(
        "Good workers told from low-effort ones",
        "share of the tasks that the LLM labels",
        lines.collect(),
    )
}

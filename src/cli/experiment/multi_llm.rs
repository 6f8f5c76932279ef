//! `caz experiment multi-llm`: cheaters who use different LLMs.

use anyhow::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::output::check_output;
use super::crowd::{
    CrowdArgs, SUMMARY_COLUMNS, bar, cells, described, raw_table, repetitions, report, summary,
};
use super::figures::{bars, curves};
use crate::experiment::contenders::Roles;
use crate::experiment::detection::{CrowdTrial, DetectionSettings, LLM_SHARES, REPETITIONS};
use crate::experiment::multi_llm::multi_llm;
use crate::report::{Cell, Table};

/// How well cheaters are found who use different LLMs
///
/// Every cheater picks one of several LLMs. The score is the lowest over all LLMs of the principal;
/// the column z says which ones were used: all together, or one alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment multi-llm labels.csv --z llm-labels.csv --z-source gpt-4o,llama-31")]
pub(super) struct MultiLlmArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    /// Shares of LLM cheaters
    #[arg(long, value_delimiter = ',', default_values_t = LLM_SHARES, value_name = "SHARE")]
    llm: Vec<f64>,
}

/// Runs the command.
pub(super) fn run(args: &MultiLlmArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.crowd.trials.check(common)?;
    let settings = args.crowd.settings(&args.llm, common.seed)?;
    let (loaded, inputs) = args.crowd.input.load()?;
    let roles = args.crowd.input.several_roles(&loaded)?;
    let data = args.crowd.input.data(&loaded, &roles)?;
    let described = described(&settings, &roles);
    let log = args.crowd.trials.log("experiment multi-llm", &inputs, &described)?;
    let count = repetitions(&args.crowd.trials, REPETITIONS);
    args.crowd.trials.explain_interruption(common);
    let bar = bar(common, settings.grid(count).trials());
    let trials = multi_llm(&data, &settings, count, log, &bar)?;
    drop(bar);
    let variants = variants(&roles);
    let about = format!("Every cheater picks one of {}.", roles.cheaters.join(", "));
    let table = table(&variants, &settings, &trials);
    let command = "experiment multi-llm";
    let report = report(command, (&loaded, inputs), described, (table, count), &about);
    let names: Vec<Cell> = variants.iter().map(|name| name.as_str().into()).collect();
    args.crowd.trials.write_raw(&report, raw_table(&settings, &trials, Some(("z", &names))))?;
    let title = "How well cheaters with different LLMs would be found";
    args.crowd
        .trials
        .publish(common, title, &report, || Ok(figures(&variants, &settings, &trials)))?;
    Ok(ExitStatus::Done)
}

/// Names of the ways to use Z, in the order of the trials.
fn variants(roles: &Roles) -> Vec<String> {
    std::iter::once("lowest over all".to_owned()).chain(roles.z.iter().cloned()).collect()
}

fn table(variants: &[String], settings: &DetectionSettings, trials: &[CrowdTrial]) -> Table {
    let mut columns = vec!["mechanism", "z", "llm_share"];
    columns.extend(SUMMARY_COLUMNS);
    let mut table = Table::new(&columns);
    let points = settings.llm_shares.len();
    for (index, contender) in settings.contenders.iter().enumerate() {
        let used = variants.iter().enumerate().filter(|(v, _)| contender.uses_z() || *v == 0);
        for (variant, name) in used {
            let name = if contender.uses_z() { name.as_str() } else { "none" };
            let mut push = |share: Option<f64>, keep: &dyn Fn(usize) -> bool| {
                let mut row = vec![contender.as_str().into(), name.into(), share.into()];
                row.extend(cells(&summary(trials, points, (variant, index), keep)));
                table.push(row);
            };
            push(None, &|_| true);
            for (point, &share) in settings.llm_shares.iter().enumerate() {
                push(Some(share), &|other| other == point);
            }
        }
    }
    table
}

fn figures(
    variants: &[String],
    settings: &DetectionSettings,
    trials: &[CrowdTrial],
) -> Vec<(String, String)> {
    let points = settings.llm_shares.len();
    let of_z = settings.contenders.iter().enumerate().filter(|(_, c)| c.uses_z());
    let mut figures: Vec<(String, String)> = of_z
        .map(|(index, contender)| {
            let lines = variants.iter().enumerate().map(|(variant, name)| {
                let line = settings.llm_shares.iter().enumerate().map(|(point, &x)| {
                    (x, summary(trials, points, (variant, index), |other| other == point))
                });
                (name.clone(), variant == 0, line.collect())
            });
            let name = contender.as_str();
            let title = format!("Cheaters with different LLMs, {name} by Z");
            let x_name = "share of workers who hand in an LLM";
            (format!("auc-by-llm-share-{name}.svg"), curves(&title, x_name, lines.collect()))
        })
        .collect();
    let all = settings.contenders.iter().enumerate().map(|(index, contender)| {
        (contender.as_str().to_owned(), summary(trials, points, (0, index), |_| true))
    });
    let title = "Cheaters with different LLMs; the score is the lowest over all Z";
    figures.push(("auc.svg".into(), bars(title, all.collect())));
    figures
}

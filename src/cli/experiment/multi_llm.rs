//! `caz experiment multi-llm`: cheaters who use different LLMs.

use anyhow::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::crowd::{
    CrowdArgs, SUMMARY_COLUMNS, by_share, described, each_overall, raw_table, report, share_rows,
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
    let settings = args.crowd.settings(&args.llm, common)?;
    let (loaded, inputs) = args.crowd.input.load()?;
    let roles = args.crowd.input.several_roles(&loaded)?;
    let data = args.crowd.input.data(&loaded, &roles)?;
    let described = described(&settings, &roles);
    let command = "experiment multi-llm";
    let log = args.crowd.trials.log(command, &inputs, &described)?;
    let all = |count| settings.grid(count).trials();
    let (count, bar) = args.crowd.trials.begin(common, REPETITIONS, all);
    let trials = multi_llm(&data, &settings, count, log, &bar)?;
    drop(bar);
    let variants = variants(&roles);
    let about = format!("Every cheater picks one of {}.", roles.cheaters.join(", "));
    let table = table(&variants, &settings, &trials);
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
    for (index, contender) in settings.contenders.iter().enumerate() {
        let used = variants.iter().enumerate().filter(|(v, _)| contender.uses_z() || *v == 0);
        for (variant, name) in used {
            let name = if contender.uses_z() { name.as_str() } else { "none" };
            let names = [contender.as_str(), name];
            for row in share_rows(&names, settings, trials, (variant, index)) {
                table.push(row);
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
    let of_z = settings.contenders.iter().enumerate().filter(|(_, c)| c.uses_z());
    let mut figures: Vec<(String, String)> = of_z
        .map(|(index, contender)| {
            let lines = variants.iter().enumerate().map(|(variant, name)| {
                let line = by_share(settings, trials, (variant, index));
                (name.clone(), variant == 0, line)
            });
            let name = contender.as_str();
            let title = format!("Cheaters with different LLMs, {name} by Z");
            let x_name = "share of workers who hand in an LLM";
            (format!("auc-by-llm-share-{name}.svg"), curves(&title, x_name, lines.collect()))
        })
        .collect();
    let title = "Cheaters with different LLMs; the score is the lowest over all Z";
    figures.push(("auc.svg".into(), bars(title, each_overall(settings, trials))));
    figures
}

//! `caz experiment detection`: AUC by share of LLM cheaters.

use anyhow::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::crowd::{
    CrowdArgs, SUMMARY_COLUMNS, by_share, described, each_overall, raw_table, report, share_rows,
};
use super::figures::{bars, curves};
use crate::experiment::contenders::{Contender, ExperimentData};
use crate::experiment::detection::{
    CrowdTrial, DetectionSettings, LLM_SHARES, REPETITIONS, detection,
};
use crate::experiment::trials::TrialId;
use crate::report::Table;
use crate::report::plot::{DistributionChart, Kind};
use crate::simulate::labels::WorkerKind;

/// How well each mechanism tells good workers from LLM cheaters, guessers and biased workers
///
/// In every trial some workers of the crowd are made to hand in an LLM, others to guess, others to
/// give the most common label. Rows without `llm_share` are over all shares, as in Table 1 of the
/// paper.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment detection labels.csv --z llm-labels.csv --figures figures")]
pub(super) struct DetectionArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    /// Shares of LLM cheaters
    #[arg(long, value_delimiter = ',', default_values_t = LLM_SHARES, value_name = "SHARE")]
    llm: Vec<f64>,
}

/// Runs the command.
pub(super) fn run(args: &DetectionArgs, common: &Common) -> Result<ExitStatus> {
    let settings = args.crowd.settings(&args.llm, common)?;
    let (loaded, inputs) = args.crowd.input.load()?;
    let roles = args.crowd.input.single_roles(&loaded)?;
    let data = args.crowd.input.data(&loaded, &roles)?;
    let described = described(&settings, &roles);
    let command = "experiment detection";
    let log = args.crowd.trials.log(command, &inputs, &described)?;
    let all = |count| settings.grid(count).trials();
    let (count, bar) = args.crowd.trials.begin(common, REPETITIONS, all);
    let trials = detection(&data, &settings, count, log, &bar)?;
    drop(bar);
    let about = format!("Z: {}; cheaters: {}.", roles.z.join(", "), roles.cheaters.join(", "));
    let table = table(&settings, &trials);
    let report = report(command, (&loaded, inputs), described, (table, count), &about);
    args.crowd.trials.write_raw(&report, raw_table(&settings, &trials, None))?;
    let title = "How well cheaters would be found";
    args.crowd.trials.publish(common, title, &report, || figures(&data, &settings, &trials))?;
    Ok(ExitStatus::Done)
}

fn table(settings: &DetectionSettings, trials: &[CrowdTrial]) -> Table {
    let mut columns = vec!["mechanism", "llm_share"];
    columns.extend(SUMMARY_COLUMNS);
    let mut table = Table::new(&columns);
    for (index, contender) in settings.contenders.iter().enumerate() {
        for row in share_rows(&[contender.as_str()], settings, trials, (0, index)) {
            table.push(row);
        }
    }
    table
}

fn figures(
    data: &ExperimentData<'_>,
    settings: &DetectionSettings,
    trials: &[CrowdTrial],
) -> Result<Vec<(String, String)>> {
    let points = settings.llm_shares.len();
    let lines = settings.contenders.iter().enumerate().map(|(index, contender)| {
        let line = by_share(settings, trials, (0, index));
        (contender.as_str().to_owned(), *contender == Contender::CaZ, line)
    });
    let title = "Good workers told from low-effort ones";
    let mut figures = vec![
        (
            "auc-by-llm-share.svg".to_owned(),
            curves(title, "share of workers who hand in an LLM", lines.collect()),
        ),
        ("auc.svg".to_owned(), bars(title, each_overall(settings, trials))),
    ];
    // The scores of one crowd: the first trial at the last point, which has most cheaters if the
    // points ascend.
    let id = TrialId { repetition: 0, point: u32::try_from(points)? - 1 };
    let (_, crowd) = settings.crowd(data, id)?;
    for contender in &settings.contenders {
        let scores = contender.mechanism(&data.z).score(&crowd.table)?;
        let kinds = WorkerKind::EACH.map(|kind| {
            let of_kind = scores.workers.iter().zip(&crowd.kinds).filter(|(_, k)| **k == kind);
            let scores = of_kind.filter_map(|(score, _)| score.estimate.map(|e| e.value));
            Kind { name: kind.as_str().into(), scores: scores.collect() }
        });
        let name = contender.as_str();
        let chart = DistributionChart {
            title: format!("Scores in one contaminated crowd, {name}"),
            x_name: format!("{name} score; box: quartiles, bar: median"),
            kinds: kinds.to_vec(),
        };
        figures.push((format!("scores-{name}.svg"), chart.svg()));
    }
    Ok(figures)
}

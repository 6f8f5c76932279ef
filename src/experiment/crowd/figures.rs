//! Figures of the experiments on crowds.

use super::{CrowdExperiment, CrowdRun};
use crate::error::Result;
use crate::experiment::contenders::ExperimentData;
use crate::experiment::figures::{Figure, bars, curves};
use crate::experiment::trials::TrialId;
use crate::mechanism::{MechanismName, MechanismOptions, build};
use crate::report::plot::{DistributionChart, Kind};
use crate::simulate::labels::WorkerKind;

const SHARE: &str = "share of workers who hand in an LLM";
const TOLD: &str = "Good workers told from low-effort ones";

pub(super) fn figures(run: &CrowdRun) -> Result<Vec<Figure>> {
    match run.settings.experiment {
        CrowdExperiment::Detection => detection(run),
        CrowdExperiment::SampleSize => Ok(vec![by_coverage(run)]),
        CrowdExperiment::MultiLlm => Ok(several(run)),
    }
}

fn detection(run: &CrowdRun) -> Result<Vec<Figure>> {
    let settings = &run.settings.trial;
    let lines = settings.contenders.iter().enumerate().map(|(index, contender)| {
        let line = run.by_share((0, index));
        (contender.as_str().to_owned(), *contender == MechanismName::CaZ, line)
    });
    let by_share = curves(TOLD, SHARE, lines.collect());
    let mut figures = vec![
        Figure { name: "auc-by-llm-share.svg".into(), svg: by_share },
        Figure { name: "auc.svg".into(), svg: bars(TOLD, run.each_overall()) },
    ];
    // The scores of one crowd: the first trial at the last point, which has most cheaters if the
    // points ascend.
    let points = settings.llm_shares.len();
    let id = TrialId {
        repetition: 0,
        point: u32::try_from(points).expect("a grid has fewer points") - 1,
    };
    let data = ExperimentData::new(&run.loaded.table, &run.loaded.z, &run.settings.roles)?;
    let (_, crowd) = settings.crowd(&data, id)?;
    for contender in &settings.contenders {
        let scores =
            build(*contender, &data.z, &MechanismOptions::default())?.score(&crowd.table)?;
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
        figures.push(Figure { name: format!("scores-{name}.svg"), svg: chart.svg() });
    }
    Ok(figures)
}

fn by_coverage(run: &CrowdRun) -> Figure {
    let lines = run.settings.trial.contenders.iter().enumerate().map(|(index, contender)| {
        let coverages = run.settings.coverage.iter().enumerate();
        let mut points: Vec<_> =
            coverages.map(|(variant, &x)| (x, run.overall((variant, index)))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        (contender.as_str().to_owned(), *contender == MechanismName::CaZ, points)
    });
    let svg = curves(TOLD, "share of the tasks that the LLM labels", lines.collect());
    Figure { name: "auc-by-coverage.svg".into(), svg }
}

fn several(run: &CrowdRun) -> Vec<Figure> {
    let ways = run.ways();
    let of_z = run.settings.trial.contenders.iter().enumerate().filter(|(_, c)| c.needs_z());
    let mut figures: Vec<Figure> = of_z
        .map(|(index, contender)| {
            let lines = ways
                .iter()
                .enumerate()
                .map(|(variant, way)| (way.clone(), variant == 0, run.by_share((variant, index))));
            let name = contender.as_str();
            let title = format!("Cheaters with different LLMs, {name} by Z");
            let svg = curves(&title, SHARE, lines.collect());
            Figure { name: format!("auc-by-llm-share-{name}.svg"), svg }
        })
        .collect();
    let title = "Cheaters with different LLMs; the score is the lowest over all Z";
    figures.push(Figure { name: "auc.svg".into(), svg: bars(title, run.each_overall()) });
    figures
}

//! Tables of the experiments on crowds.

use super::{CrowdExperiment, CrowdRun};
use crate::experiment::auc_summary::AucSummary;
use crate::report::{Cell, Table};

/// Columns behind those that say what a row is of.
pub(in super::super) const SUMMARY_COLUMNS: [&str; 6] =
    ["mean_auc", "q10_auc", "q90_auc", "n_trials", "n_undefined", "mean_missing"];

/// The cells under [`SUMMARY_COLUMNS`].
pub(in super::super) fn cells(summary: &AucSummary) -> [Cell; 6] {
    [
        summary.mean.into(),
        summary.low.into(),
        summary.high.into(),
        summary.n_trials.into(),
        summary.n_undefined.into(),
        summary.mean_missing.into(),
    ]
}

/// Which summary: the variant, then the mechanism.
type Which = (usize, usize);

impl CrowdRun {
    /// Summary of one mechanism in one variant over all trials.
    pub(super) fn overall(&self, (variant, contender): Which) -> AucSummary {
        AucSummary::of(self.trials.iter().map(|trial| trial.aucs[variant][contender]))
    }

    /// The same for each share of LLM cheaters, with that share.
    pub(super) fn by_share(&self, (variant, contender): Which) -> Vec<(f64, AucSummary)> {
        let shares = &self.settings.trial.llm_shares;
        let summary = |point: usize| {
            let at_point = self.trials.iter().skip(point).step_by(shares.len());
            AucSummary::of(at_point.map(|trial| trial.aucs[variant][contender]))
        };
        shares.iter().enumerate().map(|(point, &share)| (share, summary(point))).collect()
    }

    /// Every mechanism in the first variant over all trials.
    pub(super) fn each_overall(&self) -> Vec<(String, AucSummary)> {
        let each = self.settings.trial.contenders.iter().enumerate();
        each.map(|(index, contender)| (contender.as_str().to_owned(), self.overall((0, index))))
            .collect()
    }

    /// A row over all shares and one for each; `names` says what they are of.
    fn share_rows(&self, names: &[&str], which: Which) -> Vec<Vec<Cell>> {
        let each = self.by_share(which);
        std::iter::once((None, self.overall(which)))
            .chain(each.into_iter().map(|(share, summary)| (Some(share), summary)))
            .map(|(share, summary)| {
                let mut row: Vec<Cell> = names.iter().map(|&name| name.into()).collect();
                row.push(share.into());
                row.extend(cells(&summary));
                row
            })
            .collect()
    }
}

/// The table of a report.
pub(super) fn summary(run: &CrowdRun) -> Table {
    let mut columns = match run.settings.experiment {
        CrowdExperiment::Detection => vec!["mechanism", "llm_share"],
        CrowdExperiment::SampleSize => vec!["mechanism", "coverage"],
        CrowdExperiment::MultiLlm => vec!["mechanism", "z", "llm_share"],
    };
    columns.extend(SUMMARY_COLUMNS);
    let mut table = Table::new(&columns);
    let ways = run.ways();
    for (index, contender) in run.settings.trial.contenders.iter().enumerate() {
        let name = contender.as_str();
        match run.settings.experiment {
            CrowdExperiment::Detection => {
                run.share_rows(&[name], (0, index)).into_iter().for_each(|row| table.push(row));
            }
            CrowdExperiment::SampleSize => {
                for (variant, &coverage) in run.settings.coverage.iter().enumerate() {
                    let mut row = vec![name.into(), coverage.into()];
                    row.extend(cells(&run.overall((variant, index))));
                    table.push(row);
                }
            }
            CrowdExperiment::MultiLlm => {
                let used = ways.iter().enumerate();
                for (variant, way) in used.filter(|(v, _)| contender.needs_z() || *v == 0) {
                    let way = if contender.needs_z() { way.as_str() } else { "none" };
                    let rows = run.share_rows(&[name, way], (variant, index));
                    rows.into_iter().for_each(|row| table.push(row));
                }
            }
        }
    }
    table
}

/// Every trial, mechanism and variant; a column says which variant, where there are several.
pub(super) fn raw(run: &CrowdRun) -> Table {
    let variants: Option<(&str, Vec<Cell>)> = match run.settings.experiment {
        CrowdExperiment::Detection => None,
        CrowdExperiment::SampleSize => {
            Some(("coverage", run.settings.coverage.iter().map(|&share| share.into()).collect()))
        }
        CrowdExperiment::MultiLlm => {
            Some(("z", run.ways().iter().map(|name| name.as_str().into()).collect()))
        }
    };
    let mut columns =
        vec!["repetition", "llm", "random", "biased", "mechanism", "auc", "n_missing"];
    columns.extend(variants.as_ref().map(|(name, _)| *name));
    let mut table = Table::new(&columns);
    let settings = &run.settings.trial;
    for (id, trial) in settings.grid(1).with_ids(&run.trials) {
        let shares = [trial.shares.llm, trial.shares.random, trial.shares.biased];
        for (variant, aucs) in trial.aucs.iter().enumerate() {
            for (contender, auc) in settings.contenders.iter().zip(aucs) {
                let mut row = vec![(id.repetition as usize).into()];
                row.extend(shares.map(Cell::from));
                row.extend([contender.as_str().into(), auc.auc.into(), auc.n_missing.into()]);
                row.extend(variants.as_ref().map(|(_, names)| names[variant].clone()));
                table.push(row);
            }
        }
    }
    table
}

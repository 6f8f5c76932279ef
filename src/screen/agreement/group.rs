//! Agreement of more than two raters: all sources among themselves, and all people, on every task that
//! two of them label; intraclass correlations on those that all of them label.

use std::collections::BTreeMap;

use super::error::AgreementError;
use super::work::{Row, Work, clusters_of, labels_of};
use crate::data::labellers::Labeller;
use crate::data::progress::NoProgress;
use crate::metrics::agreement::alpha::{Coincidences, Level};
use crate::metrics::agreement::bootstrap::uncertainty;
use crate::metrics::agreement::fleiss::FleissSums;
use crate::metrics::agreement::icc::icc;

/// Rows of the sources and of the people, where there are at least two.
pub(super) fn group_rows(work: &Work<'_>) -> Result<Vec<Row>, AgreementError> {
    let mut rows = Vec::new();
    for (name, raters) in [("sources", &work.data.labellers), ("people", &work.data.gold)] {
        if raters.len() > 1 {
            rows.extend(work.group(name, raters)?);
            rows.extend(work.intraclass(name, raters)?);
        }
    }
    Ok(rows)
}

impl Work<'_> {
    /// Intraclass correlations over the tasks that all raters label.
    fn intraclass(&self, name: &str, raters: &[Labeller]) -> Result<Vec<Row>, AgreementError> {
        let Some(values) = &self.scale.values else { return Ok(Vec::new()) };
        let mut tasks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for rater in raters {
            for (task, label) in labels_of(self.scale, rater) {
                tasks.entry(task).or_default().push(values[label]);
            }
        }
        tasks.retain(|_, ratings| ratings.len() == raters.len());
        let (cluster_of, clusters) = clusters_of(self.data, tasks.keys().copied());
        let items: Vec<(u32, Vec<f64>)> = tasks
            .into_iter()
            .filter_map(|(task, ratings)| Some((cluster_of[task as usize]?, ratings)))
            .collect();
        let of = |weights: &[u32]| {
            let drawn = items.iter().map(|(c, ratings)| (f64::from(weights[*c as usize]), ratings));
            let found = icc(drawn);
            [found.single, found.mean]
        };
        let draws = self.draws_of(clusters, &NoProgress, of)?;
        let values = of(&vec![1; clusters]);
        let row = |(place, metric): (usize, &str)| {
            let mut row = Row::new(name, name, metric, items.len() as u64).with(values[place]);
            row.interval = uncertainty(&draws.iter().map(|draw| draw[place]).collect::<Vec<_>>());
            row
        };
        Ok(["icc_2_1", "icc_2_k"].into_iter().enumerate().map(row).collect())
    }

    fn group(&self, name: &str, raters: &[Labeller]) -> Result<Vec<Row>, AgreementError> {
        let mut tasks: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for rater in raters {
            for (task, label) in labels_of(self.scale, rater) {
                tasks.entry(task).or_insert_with(|| vec![0; self.scale.len()])[label] += 1;
            }
        }
        tasks.retain(|_, counts| counts.iter().sum::<u64>() > 1);
        // Not only tasks with a gold label: without those on which people tie, who disagree most
        // there, they would seem to agree better than they do.
        let (cluster_of, clusters) = clusters_of(self.data, tasks.keys().copied());
        let mut units: Vec<(u32, Vec<u64>)> = tasks
            .into_iter()
            .filter_map(|(task, counts)| Some((cluster_of[task as usize]?, counts)))
            .collect();
        // Stable: by cluster, then by task.
        units.sort_by_key(|(cluster, _)| *cluster);
        let levels = [
            ("alpha_nominal", Some(Level::Nominal)),
            ("alpha_ordinal", self.scale.values.as_ref().map(|_| Level::Ordinal)),
            ("alpha_interval", self.scale.values.as_deref().map(Level::Interval)),
        ];
        let of = |weights: &[u32]| -> Vec<Option<f64>> {
            let mut fleiss = FleissSums::new(self.scale.len());
            let mut coincidences = Coincidences::new(self.scale.len());
            for (cluster, unit) in &units {
                let times = weights[*cluster as usize];
                if times > 0 {
                    fleiss.add(unit, f64::from(times));
                    coincidences.add(unit, f64::from(times));
                }
            }
            let alphas = levels.iter().map(|(_, level)| coincidences.alpha((*level)?));
            std::iter::once(fleiss.kappa()).chain(alphas).collect()
        };
        let progress = self.observer.stage("raters", u64::from(self.settings.draws));
        let draws = self.draws_of(clusters, progress.as_ref(), of)?;
        let values = of(&vec![1; clusters]);
        let names = std::iter::once("fleiss").chain(levels.iter().map(|(name, _)| *name));
        Ok(names
            .zip(values)
            .enumerate()
            .filter(|(index, _)| *index == 0 || levels[index - 1].1.is_some())
            .map(|(index, (metric, value))| {
                let draws: Vec<Option<f64>> = draws.iter().map(|draw| draw[index]).collect();
                let mut row = Row::new(name, name, metric, units.len() as u64).with(value);
                row.interval = uncertainty(&draws);
                row
            })
            .collect())
    }
}

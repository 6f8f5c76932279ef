use std::collections::{BTreeMap, BTreeSet};

use super::{
    Agreement, Covered, Crowd, Engine, PairCount, PeerSum, Right, SizeCount, Strata, TermSum,
};
use caz::Result;

/// Labels as rows, and what each LLM says of each task.
#[derive(Default)]
pub(super) struct Naive {
    /// Task, worker, label.
    pub(super) labels: Vec<(String, String, String)>,
    /// Source, task, label; at most one per source and task.
    pub(super) z: Vec<(String, String, String)>,
    pub(super) sources: Vec<String>,
    /// Of Dawid-Skene: how probable a class is on a task.
    pub(super) posteriors: BTreeMap<(String, String), f64>,
    /// Whether it is like a cluster.
    pub(super) forgets: bool,
}

/// Source, stratum, task, worker, label.
#[derive(Clone, PartialEq)]
struct Report {
    source: String,
    stratum: String,
    task: String,
    worker: String,
    label: String,
}

impl Naive {
    fn reports(&self, strata: Strata) -> Vec<Report> {
        let report =
            |source: &str, stratum: &str, (task, worker, label): &(String, String, String)| {
                Report {
                    source: source.into(),
                    stratum: stratum.into(),
                    task: task.clone(),
                    worker: worker.clone(),
                    label: label.clone(),
                }
            };
        match strata {
            Strata::Whole => self.labels.iter().map(|row| report("", "", row)).collect(),
            Strata::Z => (self.z.iter())
                .flat_map(|(source, task, z)| {
                    let of_task = self.labels.iter().filter(move |row| row.0 == *task);
                    of_task.map(move |row| report(source, z, row))
                })
                .collect(),
        }
    }

    /// Different values.
    fn distinct(&self, of: fn(&(String, String, String)) -> &String) -> Vec<String> {
        let values: BTreeSet<&String> = self.labels.iter().map(of).collect();
        values.into_iter().cloned().collect()
    }

    fn posterior(&self, task: &str, class: &str) -> f64 {
        self.posteriors.get(&(task.into(), class.into())).copied().unwrap_or_default()
    }

    /// The probability that a worker gives `label` to a task of `class`.
    fn gives(&self, worker: &str, class: &str, label: &str) -> f64 {
        let of_worker = || self.labels.iter().filter(|row| row.1 == worker);
        let met: f64 = of_worker().map(|row| self.posterior(&row.0, class)).sum();
        let such = of_worker().filter(|row| row.2 == label);
        let weight: f64 = such.map(|row| self.posterior(&row.0, class)).sum();
        let classes = self.distinct(|row| &row.2).len() as f64;
        if met > 0.0 { weight / met } else { 1.0 / classes }
    }

    /// The labels on every task of every stratum.
    fn tasks(&self, strata: Strata) -> BTreeMap<(String, String, String), Vec<Report>> {
        let mut tasks: BTreeMap<_, Vec<Report>> = BTreeMap::new();
        for report in self.reports(strata) {
            let key = (report.source.clone(), report.stratum.clone(), report.task.clone());
            tasks.entry(key).or_default().push(report);
        }
        tasks
    }
}

impl Engine for Naive {
    fn crowd(&mut self) -> Result<Crowd> {
        let mut crowd = Crowd { sources: self.sources.clone(), ..Crowd::default() };
        for (_, worker, _) in &self.labels {
            *crowd.workers.entry(worker.clone()).or_default() += 1;
        }
        let labels: BTreeSet<String> = self.labels.iter().map(|row| row.2.clone()).collect();
        crowd.labels = labels.into_iter().collect();
        let tasks: BTreeSet<&String> = self.labels.iter().map(|row| &row.0).collect();
        crowd.tasks = tasks.len() as u64;
        Ok(crowd)
    }

    fn sizes(&mut self, strata: Strata) -> Result<Vec<SizeCount>> {
        let mut sizes: BTreeMap<(String, String, u64), u64> = BTreeMap::new();
        for ((source, stratum, _), reports) in self.tasks(strata) {
            *sizes.entry((source, stratum, reports.len() as u64)).or_default() += 1;
        }
        let row =
            |((source, stratum, reports), tasks)| SizeCount { source, stratum, reports, tasks };
        Ok(sizes.into_iter().map(row).collect())
    }

    fn pairs(&mut self, strata: Strata) -> Result<Vec<PairCount>> {
        let mut pairs: BTreeMap<(String, String, u64, String, String), u64> = BTreeMap::new();
        for ((source, stratum, _), reports) in self.tasks(strata) {
            for a in &reports {
                for b in reports.iter().filter(|b| b.worker != a.worker) {
                    let (label, peer) = (a.label.clone(), b.label.clone());
                    let key = (source.clone(), stratum.clone(), reports.len() as u64, label, peer);
                    *pairs.entry(key).or_default() += 1;
                }
            }
        }
        let row = |((source, stratum, reports, label, peer_label), pairs)| PairCount {
            source,
            stratum,
            reports,
            label,
            peer_label,
            pairs,
        };
        Ok(pairs.into_iter().map(row).collect())
    }

    /// The two means of the definition, over every peer and every penalty task.
    fn terms(&mut self, strata: Strata, agreements: &[Agreement]) -> Result<Vec<TermSum>> {
        let tasks = self.tasks(strata);
        let all = self.reports(strata);
        let scored = |report: &Report, peer: &Report| {
            f64::from(u8::from(agreements.iter().any(|pair| {
                (&pair.source, &pair.stratum) == (&report.source, &report.stratum)
                    && pair.label == report.label
                    && pair.peer_label == peer.label
            })))
        };
        let mut sums: BTreeMap<(String, String, String), (u64, f64)> = BTreeMap::new();
        for ((source, stratum, task), reports) in &tasks {
            for report in reports {
                let mut terms = Vec::new();
                for peer in reports.iter().filter(|peer| peer.worker != report.worker) {
                    let penalties: Vec<f64> = all
                        .iter()
                        .filter(|other| {
                            (&other.source, &other.stratum, &other.worker)
                                == (source, stratum, &peer.worker)
                                && other.task != *task
                        })
                        .map(|other| scored(report, other))
                        .collect();
                    if !penalties.is_empty() {
                        let mean = penalties.iter().sum::<f64>() / penalties.len() as f64;
                        terms.push(scored(report, peer) - mean);
                    }
                }
                if !terms.is_empty() {
                    let key = (source.clone(), stratum.clone(), report.worker.clone());
                    let sum = sums.entry(key).or_default();
                    sum.0 += 1;
                    sum.1 += terms.iter().sum::<f64>() / terms.len() as f64;
                }
            }
        }
        let row = |((source, stratum, worker), (tasks, total))| TermSum {
            source,
            stratum,
            worker,
            tasks,
            total,
        };
        Ok(sums.into_iter().map(row).collect())
    }

    fn covered(&mut self, strata: Strata) -> Result<Vec<Covered>> {
        let mut covered: BTreeMap<(String, String), (u64, u64, u64)> = BTreeMap::new();
        for reports in self.tasks(strata).values() {
            for report in reports {
                let key = (report.source.clone(), report.worker.clone());
                let row = covered.entry(key).or_default();
                row.0 += 1;
                row.1 += u64::from(report.label == report.stratum);
                row.2 += u64::from(reports.len() > 1);
            }
        }
        let row = |((source, worker), (tasks, same, shared))| Covered {
            source,
            worker,
            tasks,
            same,
            shared,
        };
        Ok(covered.into_iter().map(row).collect())
    }

    fn output_agreement(&mut self, strata: Strata) -> Result<Vec<PeerSum>> {
        let mut pairs: BTreeMap<(String, String, String), (u32, u32)> = BTreeMap::new();
        for reports in self.tasks(strata).values() {
            for a in reports {
                for b in reports.iter().filter(|b| b.worker != a.worker) {
                    let key = (a.source.clone(), a.worker.clone(), b.worker.clone());
                    let pair = pairs.entry(key).or_default();
                    pair.0 += 1;
                    pair.1 += u32::from(a.label == b.label && a.label != a.stratum);
                }
            }
        }
        let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
        for ((source, worker, _), (shared, agreed)) in pairs {
            *sums.entry((source, worker)).or_default() += f64::from(agreed) / f64::from(shared);
        }
        let row = |((source, worker), total)| PeerSum { source, worker, total };
        Ok(sums.into_iter().map(row).collect())
    }

    fn keeps(&self) -> bool {
        !self.forgets
    }

    fn dawid_skene(&mut self, number: usize) -> Result<f64> {
        let (tasks, classes) = (self.distinct(|row| &row.0), self.distinct(|row| &row.2));
        let on = |task: &str| self.labels.iter().filter(|row| row.0 == task).collect::<Vec<_>>();
        if number == 1 {
            let mut shares = BTreeMap::new();
            for (task, _, label) in &self.labels {
                let share = 1.0 / on(task).len() as f64;
                *shares.entry((task.clone(), label.clone())).or_default() += share;
            }
            self.posteriors = shares;
        }
        let on = |task: &str| self.labels.iter().filter(|row| row.0 == task).collect::<Vec<_>>();
        let (mut likelihood, mut posteriors) = (0.0, BTreeMap::new());
        for task in &tasks {
            // Logarithms: a product of small numbers may be smaller than the smallest number.
            let logs: Vec<f64> = classes
                .iter()
                .map(|class| {
                    let all: f64 = tasks.iter().map(|task| self.posterior(task, class)).sum();
                    let labels = on(task);
                    let given = labels.iter().map(|row| self.gives(&row.1, class, &row.2).ln());
                    (all / tasks.len() as f64).ln() + given.sum::<f64>()
                })
                .collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // As the mechanism says of a class that is all but impossible.
            let part = |log: &f64| if log - most < -708.0 { 0.0 } else { (log - most).exp() };
            let whole: f64 = logs.iter().map(part).sum();
            likelihood += most + whole.ln();
            for (class, log) in classes.iter().zip(&logs) {
                posteriors.insert((task.clone(), class.clone()), part(log) / whole);
            }
        }
        self.posteriors = posteriors;
        Ok(likelihood)
    }

    fn right(&mut self) -> Result<Vec<Right>> {
        let classes = self.distinct(|row| &row.2);
        let share = |class: &String| {
            let such = self.labels.iter().filter(|row| row.2 == *class).count();
            such as f64 / self.labels.len() as f64
        };
        let right = |worker: String| Right {
            share: classes.iter().map(|c| share(c) * self.gives(&worker, c, c)).sum(),
            worker,
        };
        Ok(self.distinct(|row| &row.1).into_iter().map(right).collect())
    }
}

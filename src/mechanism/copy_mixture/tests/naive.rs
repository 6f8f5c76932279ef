//! The model by its definition: EM that enumerates, task by task, the true class and what every
//! worker means to do.

use super::Labels;
use crate::data::labels::{Label, LabelTable};

/// Parameters, posteriors and objective after the iterations that were asked for.
pub(super) struct Naive<'a> {
    table: &'a LabelTable,
    sources: &'a [Labels],
    pooled: Vec<Vec<f64>>,
    prior: Vec<f64>,
    llm: Vec<Vec<Vec<f64>>>,
    pub(super) own: Vec<Vec<Vec<f64>>>,
    pub(super) copying: Vec<Vec<f64>>,
    pub(super) posteriors: Vec<Vec<f64>>,
    pub(super) objective: Vec<f64>,
}

/// Expected counts of one E-step.
struct Counts {
    prior: Vec<f64>,
    llm: Vec<Vec<Vec<f64>>>,
    own: Vec<Vec<Vec<f64>>>,
    copying: Vec<Vec<f64>>,
    trials: Vec<f64>,
}

impl<'a> Naive<'a> {
    pub(super) fn run(table: &'a LabelTable, sources: &'a [Labels], iterations: usize) -> Self {
        let (classes, workers) = (table.label_count(), table.worker_count());
        let share = |task: u32, y: usize| {
            let labels = table.of_task(task).labels;
            labels.iter().filter(|&&label| usize::from(label) == y).count() as f64
                / labels.len().max(1) as f64
        };
        let tasks = 0..table.task_count() as u32;
        let pooled: Vec<Vec<f64>> = (0..classes)
            .map(|y| {
                let mut row = vec![0.0; classes];
                for report in table.reports() {
                    row[usize::from(report.label)] += share(report.task, y);
                }
                let total: f64 = row.iter().sum();
                row.iter()
                    .map(|p| if total > 0.0 { p / total } else { 1.0 / classes as f64 })
                    .collect()
            })
            .collect();
        let mut naive = Self {
            table,
            sources,
            prior: Vec::new(),
            llm: Vec::new(),
            own: vec![pooled.clone(); workers],
            pooled,
            copying: vec![vec![0.2 / sources.len() as f64; sources.len()]; workers],
            posteriors: tasks.map(|q| (0..classes).map(|y| share(q, y)).collect()).collect(),
            objective: Vec::new(),
        };
        for _ in 0..iterations {
            let counts = naive.count();
            naive.maximize(&counts);
            naive.e_step();
        }
        naive
    }

    /// Labels of a source on answered tasks.
    fn levels(&self, source: usize) -> Vec<Label> {
        let mut levels: Vec<Label> = (0..)
            .zip(&self.sources[source])
            .filter(|&(task, _)| !self.table.of_task(task).is_empty())
            .filter_map(|(_, label)| *label)
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    fn copy(&self, z: Label, x: Label) -> f64 {
        let classes = self.table.label_count();
        if usize::from(z) >= classes || classes == 1 {
            1.0 / classes as f64
        } else if z == x {
            0.95
        } else {
            0.05 / (classes - 1) as f64
        }
    }

    /// Probability of a report and of the intention behind it, `None` for an own answer.
    fn report(&self, task: u32, (worker, x): (u32, Label), y: usize, intent: Option<usize>) -> f64 {
        let copying = &self.copying[worker as usize];
        let own = self.own[worker as usize][y][usize::from(x)];
        match intent {
            None => (1.0 - copying.iter().sum::<f64>()) * own,
            Some(source) => {
                copying[source]
                    * self.sources[source][task as usize].map_or(own, |z| self.copy(z, x))
            }
        }
    }

    fn intents(&self) -> Vec<Option<usize>> {
        std::iter::once(None).chain((0..self.sources.len()).map(Some)).collect()
    }

    /// Expected counts given the posteriors of the classes, by enumeration of the intentions.
    fn count(&self) -> Counts {
        let (classes, workers) = (self.table.label_count(), self.table.worker_count());
        let mut counts = Counts {
            prior: vec![0.0; classes],
            llm: (0..self.sources.len())
                .map(|s| vec![vec![0.0; self.levels(s).len()]; classes])
                .collect(),
            own: vec![vec![vec![0.0; classes]; classes]; workers],
            copying: vec![vec![0.0; self.sources.len()]; workers],
            trials: vec![0.0; workers],
        };
        for task in 0..self.table.task_count() as u32 {
            if self.table.of_task(task).is_empty() {
                continue;
            }
            let covered = self.sources.iter().any(|z| z[task as usize].is_some());
            for y in 0..classes {
                let weight = self.posteriors[task as usize][y];
                if weight == 0.0 {
                    // A report may be impossible under a class that is.
                    continue;
                }
                counts.prior[y] += weight;
                for (source, z) in self.sources.iter().enumerate() {
                    if let Some(z) = z[task as usize] {
                        let level = self.levels(source).iter().position(|&l| l == z).unwrap();
                        counts.llm[source][y][level] += weight;
                    }
                }
                for report in self.table.of_task(task).iter() {
                    let (worker, x) = (report.0 as usize, usize::from(report.1));
                    let weights: Vec<f64> = self
                        .intents()
                        .iter()
                        .map(|&intent| self.report(task, report, y, intent))
                        .collect();
                    let total: f64 = weights.iter().sum();
                    counts.trials[worker] += if covered { weight } else { 0.0 };
                    for (intent, part) in self.intents().into_iter().zip(&weights) {
                        let part = weight * part / total;
                        let copies =
                            intent.is_some_and(|s| self.sources[s][task as usize].is_some());
                        if !copies {
                            counts.own[worker][y][x] += part;
                        }
                        if let Some(source) = intent.filter(|_| covered) {
                            counts.copying[worker][source] += part;
                        }
                    }
                }
            }
        }
        counts
    }

    fn maximize(&mut self, counts: &Counts) {
        let normalized = |row: &[f64]| -> Vec<f64> {
            let total: f64 = row.iter().sum();
            row.iter().map(|entry| entry / total).collect()
        };
        self.prior = normalized(&counts.prior);
        self.llm = counts
            .llm
            .iter()
            .map(|rows| {
                rows.iter()
                    .map(|row| {
                        let pseudo = 1.0 / row.len() as f64;
                        normalized(&row.iter().map(|c| c + pseudo).collect::<Vec<_>>())
                    })
                    .collect()
            })
            .collect();
        for worker in 0..self.table.worker_count() {
            for (y, (counts, pooled)) in counts.own[worker].iter().zip(&self.pooled).enumerate() {
                let row: Vec<f64> = counts.iter().zip(pooled).map(|(c, p)| c + 4.0 * p).collect();
                self.own[worker][y] = normalized(&row);
            }
            let each = 0.2 / self.sources.len() as f64;
            self.copying[worker] = counts.copying[worker]
                .iter()
                .map(|c| (c + each) / (counts.trials[worker] + 1.0))
                .collect();
        }
    }

    /// Posteriors and objective by enumerating the class and the intentions of all workers.
    fn e_step(&mut self) {
        let classes = self.table.label_count();
        let mut objective = self.log_prior();
        for task in 0..self.table.task_count() as u32 {
            let reports: Vec<(u32, Label)> = self.table.of_task(task).iter().collect();
            let row: Vec<f64> = (0..classes)
                .map(|y| {
                    let mut weight = self.prior[y];
                    for (source, z) in self.sources.iter().enumerate() {
                        let z = z[task as usize].filter(|_| !reports.is_empty());
                        if let Some(z) = z {
                            let level = self.levels(source).iter().position(|&l| l == z).unwrap();
                            weight *= self.llm[source][y][level];
                        }
                    }
                    weight * self.all_intents(task, &reports, y)
                })
                .collect();
            let total: f64 = row.iter().sum();
            objective += total.ln();
            self.posteriors[task as usize] = row.iter().map(|p| p / total).collect();
        }
        self.objective.push(objective);
    }

    /// Sum over every combination of intentions of the product over workers.
    fn all_intents(&self, task: u32, reports: &[(u32, Label)], y: usize) -> f64 {
        let Some((&first, rest)) = reports.split_first() else { return 1.0 };
        self.intents()
            .into_iter()
            .map(|intent| self.report(task, first, y, intent) * self.all_intents(task, rest, y))
            .sum()
    }

    fn log_prior(&self) -> f64 {
        let mut sum = 0.0;
        for worker in 0..self.table.worker_count() {
            if self.table.of_worker(worker as u32).is_empty() {
                continue;
            }
            for (own, pooled) in self.own[worker].iter().flatten().zip(self.pooled.iter().flatten())
            {
                sum += if *pooled > 0.0 { 4.0 * pooled * own.ln() } else { 0.0 };
            }
            let each = 0.2 / self.sources.len() as f64;
            sum += self.copying[worker].iter().map(|c| each * c.ln()).sum::<f64>();
            sum += 0.8 * (1.0 - self.copying[worker].iter().sum::<f64>()).ln();
        }
        for row in self.llm.iter().flatten() {
            sum += row.iter().map(|p| p.ln() / row.len() as f64).sum::<f64>();
        }
        sum
    }
}

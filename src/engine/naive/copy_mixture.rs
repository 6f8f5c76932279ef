//! The copy mixture by its definition, label by label.

use std::collections::{BTreeMap, BTreeSet};

use super::Naive;
use crate::engine::{Attempt, LikeLlm, Mixed};

/// Parameters and posteriors of one attempt.
#[derive(Clone, Default)]
pub(in crate::engine) struct Mixture {
    /// By task and class.
    posteriors: BTreeMap<(String, String), f64>,
    prior: BTreeMap<String, f64>,
    /// By worker, class and label, for every label that there is.
    own: BTreeMap<(String, String, String), f64>,
    copying: BTreeMap<String, f64>,
    /// What the crowd gives by the votes, by class and label.
    pooled: BTreeMap<(String, String), f64>,
}

/// The share of copies and whether Dawid-Skene says what is true, by start.
const STARTS: [(u64, f64, bool); 4] =
    [(1, 0.2, false), (2, 0.5, false), (3, 0.8, false), (4, 0.2, true)];

impl Naive {
    pub(super) fn start_mixtures(&mut self) {
        let (tasks, classes) = (self.distinct(|row| &row.0), self.distinct(|row| &row.2));
        let mut mixtures = BTreeMap::new();
        for source in &self.sources {
            for (start, share, by_crowd) in STARTS {
                let mut mixture = Mixture::default();
                for class in &classes {
                    for label in &classes {
                        let key = (class.clone(), label.clone());
                        mixture.pooled.insert(key, self.pooled(class, label));
                    }
                    for task in &tasks {
                        let crowd = self.posterior(task, class);
                        let p = if by_crowd { crowd } else { self.vote_share(task, class) };
                        mixture.posteriors.insert((task.clone(), class.clone()), p);
                    }
                    for worker in self.distinct(|row| &row.1) {
                        mixture.copying.insert(worker.clone(), share);
                        for label in &classes {
                            let key = (worker.clone(), class.clone(), label.clone());
                            let pooled = mixture.pooled[&(class.clone(), label.clone())];
                            mixture.own.insert(key, pooled);
                        }
                    }
                }
                mixtures.insert(Attempt { source: source.clone(), start }, mixture);
            }
        }
        self.mixtures = mixtures;
    }

    fn vote_share(&self, task: &str, class: &str) -> f64 {
        let on = || self.labels.iter().filter(|row| row.0 == task);
        on().filter(|row| row.2 == class).count() as f64 / on().count() as f64
    }

    /// How often the crowd says `label` where `class` is true, by the votes.
    fn pooled(&self, class: &str, label: &str) -> f64 {
        let met: f64 = self.labels.iter().map(|row| self.vote_share(&row.0, class)).sum();
        let such = self.labels.iter().filter(|row| row.2 == label);
        such.map(|row| self.vote_share(&row.0, class)).sum::<f64>() / met
    }

    fn z_of(&self, source: &str, task: &str) -> Option<&str> {
        self.z.iter().find(|row| row.0 == source && row.1 == task).map(|row| row.2.as_str())
    }

    /// How probable `label` is for who copies `z`.
    fn copy(&self, z: &str, label: &str) -> f64 {
        let classes = self.distinct(|row| &row.2);
        let others = classes.len() - 1;
        match classes.iter().any(|class| class == z) {
            true if others > 0 && label == z => 0.95,
            true if others > 0 => 0.05 / others as f64,
            _ => 1.0 / classes.len() as f64,
        }
    }

    /// Whether a report is a copy, and whether it is none: how probable it is.
    fn origins(
        &self,
        mixture: &Mixture,
        source: &str,
        row: &(String, String, String),
        class: &str,
    ) -> [f64; 2] {
        let (task, worker, label) = row;
        let own = mixture.own[&(worker.clone(), class.to_owned(), label.clone())];
        match self.z_of(source, task) {
            None => [0.0, own],
            Some(z) => {
                let share = mixture.copying[worker];
                [share * self.copy(z, label), (1.0 - share) * own]
            }
        }
    }

    /// One iteration; the log-posterior by the posteriors that it began with.
    pub(super) fn mix(&self, source: &str, mixture: &mut Mixture) -> f64 {
        let (tasks, classes) = (self.distinct(|row| &row.0), self.distinct(|row| &row.2));
        let mut own: BTreeMap<(String, String, String), f64> = BTreeMap::new();
        let mut copied: BTreeMap<String, f64> = BTreeMap::new();
        let mut trials: BTreeMap<String, f64> = BTreeMap::new();
        for row in &self.labels {
            for class in &classes {
                let weight = mixture.posteriors[&(row.0.clone(), class.clone())];
                let [copy, alone] = self.origins(mixture, source, row, class);
                // Without Z a report is an own answer, also one that seemed impossible under a class
                // that Dawid-Skene takes for possible.
                let covered = self.z_of(source, &row.0).is_some();
                let copies = if covered { copy / (copy + alone) } else { 0.0 };
                let key = (row.1.clone(), class.clone(), row.2.clone());
                *own.entry(key).or_default() += weight * (1.0 - copies);
                if covered {
                    *copied.entry(row.1.clone()).or_default() += weight * copies;
                    *trials.entry(row.1.clone()).or_default() += weight;
                }
            }
        }
        let covered: Vec<(&str, &str)> = tasks
            .iter()
            .filter_map(|task| Some((task.as_str(), self.z_of(source, task)?)))
            .collect();
        let levels: BTreeSet<&str> = covered.iter().map(|task| task.1).collect();
        let each = 1.0 / levels.len() as f64;
        let mut log_prior = 0.0;
        let mut llm: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for class in &classes {
            let all: f64 = tasks.iter().map(|task| mixture.p(task, class)).sum();
            mixture.prior.insert(class.clone(), all / tasks.len() as f64);
            let all: f64 = covered.iter().map(|task| mixture.p(task.0, class)).sum();
            for level in &levels {
                let such = covered.iter().filter(|task| task.1 == *level);
                let p =
                    (such.map(|task| mixture.p(task.0, class)).sum::<f64>() + each) / (all + 1.0);
                log_prior += each * p.ln();
                llm.insert((class, level), p);
            }
        }
        for (worker, share) in &mut mixture.copying {
            let (copied, trials) = (copied.get(worker), trials.get(worker));
            *share = (copied.unwrap_or(&0.0) + 0.2) / (trials.unwrap_or(&0.0) + 1.0);
            log_prior += 0.2 * share.ln() + 0.8 * (1.0 - *share).ln();
        }
        for ((worker, class, label), p) in &mut mixture.own {
            let count = |label: &String| {
                own.get(&(worker.clone(), class.clone(), label.clone()))
                    .copied()
                    .unwrap_or_default()
            };
            let all: f64 = classes.iter().map(count).sum();
            let pseudo_count = 4.0 * mixture.pooled[&(class.clone(), label.clone())];
            *p = (count(label) + pseudo_count) / (all + 4.0);
            log_prior += if pseudo_count > 0.0 { pseudo_count * p.ln() } else { 0.0 };
        }
        let mut log_likelihood = 0.0;
        for task in &tasks {
            let joint: Vec<f64> = classes
                .iter()
                .map(|class| {
                    let z = self.z_of(source, task);
                    let given = z.map_or(1.0, |z| llm[&(class.as_str(), z)]);
                    let on = self.labels.iter().filter(|row| row.0 == *task);
                    let reports = on.map(|row| {
                        let [copy, alone] = self.origins(mixture, source, row, class);
                        copy + alone
                    });
                    mixture.prior[class] * given * reports.product::<f64>()
                })
                .collect();
            let whole: f64 = joint.iter().sum();
            log_likelihood += whole.ln();
            for (class, part) in classes.iter().zip(joint) {
                mixture.posteriors.insert((task.clone(), class.clone()), part / whole);
            }
        }
        log_likelihood + log_prior
    }

    pub(super) fn mixed_workers(&self, attempt: &Attempt) -> Vec<Mixed> {
        let (mixture, classes) = (&self.mixtures[attempt], self.distinct(|row| &row.2));
        let mut rows = Vec::new();
        for worker in self.distinct(|row| &row.1) {
            let of_worker = self.labels.iter().filter(|row| row.1 == worker);
            let tasks =
                of_worker.filter(|row| self.z_of(&attempt.source, &row.0).is_some()).count();
            if tasks == 0 {
                continue;
            }
            let own = |class: &String, label: &String| {
                mixture.own[&(worker.clone(), class.clone(), label.clone())]
            };
            let mut distance = 0.0;
            for label in &classes {
                let mean: f64 = classes.iter().map(|c| mixture.prior[c] * own(c, label)).sum();
                for class in &classes {
                    distance += mixture.prior[class] * (own(class, label) - mean).abs();
                }
            }
            let copied = mixture.copying[&worker];
            let (attempt, score) = (attempt.clone(), (1.0 - copied) * distance);
            rows.push(Mixed { attempt, worker, copied, score, tasks: tasks as u64 });
        }
        rows
    }

    pub(super) fn llm_repeated(&self, attempt: &Attempt) -> Option<LikeLlm> {
        let (mixture, classes) = (&self.mixtures[attempt], self.distinct(|row| &row.2));
        let (mut tasks, mut same) = (0, 0);
        for task in self.distinct(|row| &row.0) {
            let Some(z) = self.z_of(&attempt.source, &task) else { continue };
            let most = classes.iter().map(|class| mixture.p(&task, class)).fold(0.0, f64::max);
            let first = |class: &&String| mixture.p(&task, class) >= most;
            if let [class] = classes.iter().filter(first).collect::<Vec<_>>()[..] {
                tasks += 1;
                same += u64::from(class == z);
            }
        }
        (tasks > 0).then(|| LikeLlm { attempt: attempt.clone(), tasks, same })
    }
}

impl Mixture {
    fn p(&self, task: &str, class: &str) -> f64 {
        self.posteriors[&(task.to_owned(), class.to_owned())]
    }
}

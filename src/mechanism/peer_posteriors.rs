//! What the others say about a task: the posteriors of Dawid and Skene without the worker's report.
//!
//! Whoever is compared with a consensus that holds their own report is compared with themselves in
//! part, with two reports a task by half. So the worker's factor is taken out of the E step:
//!
//! `P(class h | all reports on q but that of i) ∝ π[h] Π over the others j on q of Γ^j[h, x_jq]`
//!
//! `π` and `Γ` stay those of the fit, in which the worker's reports took part.
//!
//! The worker's accuracy `p` is the most likely one where the truth has these probabilities `P_q` and a
//! wrong answer is any other label with equal probability:
//!
//! ```text
//! sum over q of log( p a_q + (1 - p) b_q ),    a_q = P_q[x_iq],  b_q = (1 - a_q) / (K - 1)
//! ```
//!
//! The mean of `a_q` alone would count it against a worker that the others are unsure. The interval is
//! Wilson's with as many cases as tasks of known truth would tell as much, by Fisher's information: `sum
//! over q, x of p (1 - p) (a - b)^2 / (p a + (1 - p) b)`. It is for the tasks drawn: where the others are
//! wrong together it does not hold the share of right answers.

use super::dawid_skene::DawidSkeneFit;
use super::latent_class::normalize_logs;
use crate::data::labels::Label;
use crate::stats::interval::Share;

/// The posteriors of a fit with the reports of one worker taken out.
#[derive(Debug, Clone)]
pub(crate) struct PeerPosteriors<'a> {
    fit: &'a DawidSkeneFit,
    /// Log weights before they are normalised, row-major task by class.
    logs: Vec<f64>,
}

impl DawidSkeneFit {
    /// Prepares [`PeerPosteriors`]: one pass over the reports, 8 bytes per task and class.
    pub(crate) fn without_own(&self) -> PeerPosteriors<'_> {
        let classes = self.cells.classes();
        let mut logs = Vec::with_capacity(self.cells.task_count() * classes);
        for task in 0..self.cells.task_count() {
            let start = logs.len();
            logs.extend_from_slice(&self.log_prior);
            for &cell in self.cells.cells_of_task(task) {
                let row = &self.log_reports[cell as usize * classes..][..classes];
                logs[start..].iter_mut().zip(row).for_each(|(sum, log)| *sum += log);
            }
        }
        PeerPosteriors { fit: self, logs }
    }
}

impl PeerPosteriors<'_> {
    /// Calls `visit` for every task of `worker` that somebody else answered, with the worker's label
    /// and the probability of every label by the others, which sum to 1; by label, then by task.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub(crate) fn visit(&self, worker: u32, mut visit: impl FnMut(u32, Label, &[f64])) {
        let (cells, classes) = (&self.fit.cells, self.fit.cells.classes());
        let mut row = vec![0.0; classes];
        for cell in cells.of_worker(worker as usize) {
            let own = &self.fit.log_reports[cell * classes..][..classes];
            for &task in cells.tasks_of(cell) {
                let others = cells.cells_of_task(task as usize);
                if others.len() < 2 {
                    continue;
                }
                let logs = &self.logs[task as usize * classes..][..classes];
                for (h, entry) in row.iter_mut().enumerate() {
                    *entry = if own[h] == f64::NEG_INFINITY {
                        // Nothing can be taken from a product that is 0.
                        let others = others.iter().filter(|&&other| other as usize != cell);
                        let logs = others.map(|&c| self.fit.log_reports[c as usize * classes + h]);
                        self.fit.log_prior[h] + logs.sum::<f64>()
                    } else {
                        logs[h] - own[h]
                    };
                }
                normalize_logs(&mut row);
                visit(task, cells.kind(cell).label, &row);
            }
        }
    }

    /// The share of right answers of `worker`, by the others; `None` where nobody else answered a task
    /// of theirs, or the others say nothing about which label is right.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub(crate) fn accuracy(&self, worker: u32) -> Option<Share> {
        let wrong = (self.fit.cells.classes() as f64 - 1.0).max(1.0);
        let other = |right: f64| (1.0 - right).max(0.0) / wrong;
        let (mut pairs, mut all_others) = (Vec::new(), Vec::new());
        self.visit(worker, |_, own, others| {
            let right = others[usize::from(own)];
            pairs.push((right, other(right)));
            all_others.extend_from_slice(others);
        });
        let value = most_likely(&pairs);
        let p = value.clamp(LEAST, 1.0 - LEAST);
        let cases = all_others.iter().map(|&a| {
            let b = other(a);
            let all = p * a + (1.0 - p) * b;
            if all > 0.0 { p * (1.0 - p) * (a - b).powi(2) / all } else { 0.0 }
        });
        let cases: f64 = cases.sum();
        Share::wilson(value, if cases > LEAST { cases } else { 0.0 })
    }
}

/// Nearest to 0 and 1 that an information is computed at; less of it is rounding.
const LEAST: f64 = 1e-9;

/// The p from 0 to 1 with the largest `sum log(p a + (1 - p) b)`, which is concave: by Newton's steps
/// inside the bounds known so far.
fn most_likely(pairs: &[(f64, f64)]) -> f64 {
    let slope = |p: f64| pairs.iter().map(|(a, b)| (a - b) / (p * a + (1.0 - p) * b)).sum::<f64>();
    // Not NaN: where a is 0, b is not, and the reverse.
    if slope(1.0) >= 0.0 {
        return 1.0;
    }
    if slope(0.0) <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high, mut p) = (0.0, 1.0, 0.5);
    for _ in 0..60 {
        let (mut first, mut second) = (0.0, 0.0);
        for (a, b) in pairs {
            let ratio = (a - b) / (p * a + (1.0 - p) * b);
            first += ratio;
            second += ratio * ratio;
        }
        if first > 0.0 {
            low = p;
        } else {
            high = p;
        }
        let step = p + first / second;
        let next = if step > low && step < high { step } else { f64::midpoint(low, high) };
        if (next - p).abs() < 1e-12 {
            return next;
        }
        p = next;
    }
    p
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "tables of tests are small")]
mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use super::super::DawidSkene;
    use super::super::fixtures::{numbered, small_tables};
    use super::*;
    use crate::data::labels::LabelTable;
    use crate::stats::seed::stream;

    fn fitted(table: &LabelTable) -> DawidSkeneFit {
        DawidSkene::default().fit(table).unwrap().unwrap()
    }

    /// The prior and the confusion matrices that the posteriors were made from, as probabilities.
    fn by_definition(fit: &DawidSkeneFit, table: &LabelTable, task: u32, without: u32) -> Vec<f64> {
        let classes = table.label_count();
        let mut row: Vec<f64> = fit.log_prior.iter().map(|log| log.exp()).collect();
        for (worker, label) in table.of_task(task).iter().filter(|&(w, _)| w != without) {
            let mut cells = fit.cells.of_worker(worker as usize);
            let cell = cells.find(|&cell| fit.cells.kind(cell).label == label).unwrap();
            for (h, entry) in row.iter_mut().enumerate() {
                *entry *= fit.log_reports[cell * classes + h].exp();
            }
        }
        let total: f64 = row.iter().sum();
        row.iter().map(|entry| entry / total).collect()
    }

    #[test]
    fn three_workers_by_hand() {
        // One iteration from votes. Tasks 0, 1: all say 0 and all say 1. Task 2: a 0, b 0, c 1, votes
        // (2/3, 1/3). Prior (5/9, 4/9). Rows of class 0 weigh 1 + 2/3: a, b say 0 with 1, c with 3/5.
        // Rows of class 1 weigh 1 + 1/3: a, b say 0 with 1/4; c says 1 with 1.
        // Without c, tasks 0 and 2: 5/9 against 4/9 * 1/16 = 1/36: 20/21 for class 0; task 1: a and b
        // say 1, which class 0 never does: 0. So c's labels have 20/21, 1, 1/21, others the rest; with
        // two labels the slope of the likelihood is (19/21)/(1/21 + p 19/21) + 1/p
        // - (19/21)/(20/21 - p 19/21) = 19/(1 + 19p) + 1/p - 19/(20 - 19p) = 0: with 19p = u,
        // 1/(1 + u) + 1/u = 1/(20 - u), 3u^2 - 38u - 20 = 0, u = (38 + sqrt(1684)) / 6.
        let rows = [
            (0, 0, 0),
            (0, 1, 0),
            (0, 2, 0),
            (1, 0, 1),
            (1, 1, 1),
            (1, 2, 1),
            (2, 0, 0),
            (2, 1, 0),
            (2, 2, 1),
        ];
        let table = numbered((3, 3, 2), &rows);
        let settings = super::super::EmSettings { tolerance: -1.0, max_iterations: 1 };
        let fit = DawidSkene { settings }.fit(&table).unwrap().unwrap();
        let accuracy = fit.without_own().accuracy(2).unwrap();
        let expected = (38.0 + 1684_f64.sqrt()) / 6.0 / 19.0;
        assert!((accuracy.value - expected).abs() < 1e-10, "{accuracy:?} {expected}");
        // A task of which the others are sure is a case.
        assert!((1.0..3.0).contains(&accuracy.cases), "{accuracy:?}");
    }

    #[test]
    fn who_works_alone_has_no_accuracy() {
        let table = numbered((3, 3, 2), &[(0, 0, 0), (1, 1, 0), (1, 2, 0)]);
        let fit = fitted(&table);
        let peers = fit.without_own();
        assert_eq!(peers.accuracy(0), None);
        assert_eq!(peers.accuracy(1).map(|share| share.value), Some(1.0));
    }

    proptest! {
        #[test]
        fn the_posteriors_equal_products_without_the_worker(table in small_tables()) {
            let fit = fitted(&table);
            let peers = fit.without_own();
            for worker in 0..table.worker_count() as u32 {
                let mut seen = Vec::new();
                let mut pairs = Vec::new();
                let wrong = (table.label_count() as f64 - 1.0).max(1.0);
                peers.visit(worker, |task, label, row| {
                    let want = by_definition(&fit, &table, task, worker);
                    let right = want[usize::from(label)];
                    pairs.push((right, (1.0 - right) / wrong));
                    assert!(row.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12), "{row:?} {want:?}");
                    seen.push((task, label));
                });
                seen.sort_unstable();
                let shared: Vec<_> = table.of_worker(worker).iter()
                    .filter(|&(task, _)| table.of_task(task).len() > 1).collect();
                prop_assert_eq!(&seen, &shared);
                // No p of a grid is more likely.
                if let Some(accuracy) = peers.accuracy(worker) {
                    let at = |p: f64| -> f64 {
                        pairs.iter().map(|(a, b)| (p * a + (1.0 - p) * b).max(1e-300).ln()).sum()
                    };
                    let best = at(accuracy.value);
                    let better = (0..=200).map(|k| at(f64::from(k) / 200.0)).find(|l| *l > best + 1e-6);
                    prop_assert_eq!(better, None, "{:?}", accuracy);
                    prop_assert!(accuracy.cases <= pairs.len() as f64 + 1e-9);
                }
            }
        }
    }

    #[test]
    fn intervals_hold_the_accuracy_that_answers_were_drawn_with() {
        // 20 workers of accuracy .5 to .97, 40 tasks each, 5 a task, 3 labels; 100 crowds. What is
        // missing to .95 is that the confusion matrices of the others are estimates.
        let (mut held, mut all, mut bias) = (0, 0, 0.0);
        for crowd in 0..100 {
            let mut random = stream(11, "peer accuracy", crowd);
            let skill = |worker: u32| 0.5 + 0.47 * f64::from(worker) / 19.0;
            let mut rows = Vec::new();
            for task in 0..160_u32 {
                let truth = random.random_range(0..3_u16);
                for worker in rand::seq::index::sample(&mut random, 20, 5) {
                    let right = random.random_bool(skill(worker as u32));
                    let wrong = (truth + random.random_range(1..3_u16)) % 3;
                    rows.push((task, worker as u32, if right { truth } else { wrong }));
                }
            }
            let table = numbered((160, 20, 3), &rows);
            let fit = fitted(&table);
            let peers = fit.without_own();
            for worker in 0..20 {
                let share = peers.accuracy(worker).unwrap();
                held += u32::from((share.interval.0..=share.interval.1).contains(&skill(worker)));
                bias += share.value - skill(worker);
                all += 1;
            }
        }
        let (coverage, bias) = (f64::from(held) / f64::from(all), bias / f64::from(all));
        eprintln!("accuracy by the others: coverage {coverage:.3}, bias {bias:.4}");
        assert!((0.90..=0.98).contains(&coverage), "{coverage}");
        assert!(bias.abs() < 0.02, "{bias}");
    }
}

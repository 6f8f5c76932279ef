//! One coin: every worker is right with a probability of their own, and errs evenly.
//!
//! Dawid and Skene with confusion matrices of one parameter a worker: `Γ^i[h, h] = p_i` and
//! `Γ^i[h, x] = (1 - p_i) / (K - 1)` elsewhere. The M-step is `p_i = mean over the tasks of i of
//! T_q[x_iq]`, the E-step that of [`super::dawid_skene`]. With few labels a worker the one parameter
//! is known better than `K (K - 1)`; where one label is taken for another more than the reverse, it is
//! wrong.
//!
//! Y. Zhang, X. Chen, D. Zhou, M. I. Jordan (2016), "Spectral methods meet EM", *Journal of Machine
//! Learning Research* 17(102), <https://arxiv.org/abs/1406.3824>.

use rayon::prelude::*;

use super::dawid_skene::{DawidSkeneFit, scores};
use super::entry::Entry;
use super::latent_class::Cells;
use super::options::EmSettings;
use super::{Mechanism, MechanismError, Scores, dawid_skene};
use crate::data::labels::LabelTable;

/// The mechanism `one_coin`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct OneCoin {
    /// When to stop.
    pub settings: EmSettings,
}

pub(super) const ENTRY: Entry = Entry {
    name: "one_coin",
    summary: "Dawid-Skene with one accuracy a worker",
    meaning: "estimated accuracy, the same for every label; takes what everybody copied for the \
              truth",
    build: |_, options| Box::new(OneCoin { settings: options.em }),
    ..dawid_skene::ENTRY
};

impl OneCoin {
    /// Fits the model; `None` if the table has no report.
    ///
    /// # Errors
    ///
    /// As [`DawidSkene::fit`](super::DawidSkene::fit).
    pub(crate) fn fit(&self, table: &LabelTable) -> Result<Option<DawidSkeneFit>, MechanismError> {
        DawidSkeneFit::by(table, self.settings, m_step)
    }
}

impl Mechanism for OneCoin {
    fn name(&self) -> &'static str {
        "one_coin"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let share = |fitted: &DawidSkeneFit, worker| {
            let (right, reports) = right(&fitted.cells, worker, &fitted.posteriors.probabilities);
            right / reports as f64
        };
        Ok(scores("one_coin", self.fit(table)?, table, share))
    }

    fn on_tasks(&self, _tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(*self)
    }

    /// A worker who guesses still reports the truth now and then.
    fn zero_is_chance(&self) -> bool {
        false
    }
}

/// Expected number of right reports of a worker, and the number of reports.
fn right(cells: &Cells, worker: usize, posteriors: &[f64]) -> (f64, usize) {
    let classes = cells.classes();
    let (mut right, mut reports) = (0.0, 0);
    for cell in cells.of_worker(worker) {
        let label = usize::from(cells.kind(cell).label);
        let tasks = cells.tasks_of(cell);
        right += tasks.iter().map(|&q| posteriors[q as usize * classes + label]).sum::<f64>();
        reports += tasks.len();
    }
    // Sums of probabilities can be a rounding above their number.
    (right.min(reports as f64), reports)
}

/// Logs of `Γ^i` at the labels that each worker gave, cell by true class.
fn m_step(cells: &Cells, posteriors: &[f64], log_reports: &mut [f64]) {
    let classes = cells.classes();
    cells.split_by_worker(log_reports).into_par_iter().enumerate().for_each(|(worker, rows)| {
        let (right, reports) = right(cells, worker, posteriors);
        let wrong = (reports as f64 - right) / (reports as f64 * (classes as f64 - 1.0).max(1.0));
        let (right, wrong) = ((right / reports as f64).ln(), wrong.ln());
        for (row, cell) in rows.chunks_exact_mut(classes).zip(cells.of_worker(worker)) {
            row.fill(wrong);
            row[usize::from(cells.kind(cell).label)] = right;
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::{numbered, real_crowd, small_tables};
    use super::*;
    use crate::data::labels::tests::table;

    /// EM by its definition: products of probabilities, no logarithm but that of the likelihood.
    fn naive(table: &LabelTable, iterations: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (tasks, classes) = (table.task_count(), table.label_count());
        let mut posteriors = vec![vec![0.0; classes]; tasks];
        let on = |task: u32| table.of_task(task).iter();
        let answered: Vec<u32> = (0..).take(tasks).filter(|&q| on(q).len() > 0).collect();
        for &q in &answered {
            on(q).for_each(|(_, x)| {
                posteriors[q as usize][usize::from(x)] += 1.0 / on(q).len() as f64;
            });
        }
        let mut objective = Vec::new();
        for _ in 0..iterations {
            let skill = |worker: u32| {
                let own = table.of_worker(worker).iter();
                let count = own.len() as f64;
                own.map(|(q, x)| posteriors[q as usize][usize::from(x)]).sum::<f64>() / count
            };
            let mut next = posteriors.clone();
            let mut total_log = 0.0;
            for &q in &answered {
                for (h, entry) in next[q as usize].iter_mut().enumerate() {
                    let prior = answered.iter().map(|&q| posteriors[q as usize][h]).sum::<f64>();
                    *entry = prior / answered.len() as f64;
                    for (worker, x) in on(q) {
                        let p = skill(worker);
                        let wrong = (1.0 - p) / (classes as f64 - 1.0);
                        *entry *= if usize::from(x) == h { p } else { wrong };
                    }
                }
                let sum: f64 = next[q as usize].iter().sum();
                next[q as usize].iter_mut().for_each(|entry| *entry /= sum);
                total_log += sum.ln();
            }
            posteriors = next;
            objective.push(total_log);
        }
        (posteriors, objective)
    }

    proptest! {
        #[test]
        fn the_fit_equals_em_by_its_definition(table in small_tables(), iterations in 1..5_usize) {
            let settings = EmSettings { tolerance: -1.0, max_iterations: iterations };
            let fitted = OneCoin { settings }.fit(&table).unwrap().unwrap();
            let (posteriors, objective) = naive(&table, iterations);
            for (fast, slow) in fitted.fit.objective.iter().zip(&objective) {
                prop_assert!((fast - slow).abs() < 1e-8, "{fast} {slow}");
            }
            for (task, slow) in (0..).zip(&posteriors) {
                if table.of_task(task).is_empty() {
                    continue;
                }
                for (fast, slow) in fitted.posteriors.of_task(task).iter().zip(slow) {
                    prop_assert!((fast - slow).abs() < 1e-8, "{fast} {slow}");
                }
            }
            let rises = fitted.fit.objective.windows(2).all(|step| step[1] >= step[0] - 1e-9);
            prop_assert!(rises, "{:?}", fitted.fit.objective);
        }
    }

    #[test]
    fn one_iteration_by_hand() {
        // q: a, b say x, c says y: votes (2/3, 1/3). r: a says y alone. Skills a (2/3 + 1) / 2 = 5/6,
        // b 2/3, c 1/3; prior (1/3, 2/3). q: x has 1/3 * 5/6 * 2/3 * 2/3 = 10/81, y has
        // 2/3 * 1/6 * 1/3 * 1/3 = 1/81.
        let table = numbered((2, 3, 2), &[(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 1)]);
        let settings = EmSettings { tolerance: -1.0, max_iterations: 1 };
        let fitted = OneCoin { settings }.fit(&table).unwrap().unwrap();
        assert!((fitted.posteriors.of_task(0)[0] - 10.0 / 11.0).abs() < 1e-12);
    }

    #[test]
    fn one_label_and_no_label_are_no_trouble() {
        let one = OneCoin::default().score(&numbered((1, 2, 1), &[(0, 0, 0), (0, 1, 0)])).unwrap();
        assert_eq!(one.workers[0].estimate.map(|e| e.value), Some(1.0));
        let none = OneCoin::default().score(&numbered((1, 1, 1), &[])).unwrap();
        assert_eq!(none.workers[0].estimate, None);
    }

    #[test]
    #[ignore = "needs the real crowds in ../shared/data"]
    fn real_crowds_reach_the_accuracies_of_another_implementation() {
        // crowd-kit 1.4.2, OneCoinDawidSkene(200, tol=1e-7).
        for (folder, known) in ONE_COIN_OF_CROWD_KIT {
            let (table, truth) = real_crowd(folder);
            let fitted = OneCoin::default().fit(&table).unwrap().unwrap();
            let share = super::super::consensus_accuracy(&table, &truth, Some(&fitted.posteriors));
            let share = share.share.unwrap();
            eprintln!("{folder}: {share:.4}");
            assert!((share - known).abs() < 0.005, "{folder}: {share}");
        }
    }

    const ONE_COIN_OF_CROWD_KIT: [(&str, f64); 4] = [
        ("labels-bluebird", 0.5833),
        ("labels-dog", 0.8302),
        ("labels-rte", 0.925),
        ("labels-product", 0.9084),
    ];

    #[test]
    fn who_contradicts_two_is_wrong() {
        // c contradicts a and b, who agree: c is the one who is wrong.
        let on_q = [("q", "a", "x"), ("q", "b", "x"), ("q", "c", "y")];
        let on_r = [("r", "a", "y"), ("r", "b", "y"), ("r", "c", "x")];
        let table = table(&[on_q, on_r].concat());
        let scores = OneCoin::default().score(&table).unwrap();
        assert!(scores.workers[2].estimate.unwrap().value < 0.01);
    }
}

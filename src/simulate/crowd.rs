//! A fully synthetic crowd, for tests and teaching.
//!
//! A task has a true label `y` with equal probabilities. The LLM has an opinion on it, which
//! follows a confusion matrix given `y`; so does the signal of every worker who answers the task,
//! independently. Each time the LLM is asked it says its opinion with probability `consistency`,
//! else any label, each equally likely: once for Z, once for every worker who hands it in. Worker
//! `i` does so with probability `lazy_i` per task. A good worker has `lazy = 0`.
//!
//! With a consistency of 1 all that a lazy worker knows of the truth is in Z. Below 1 two answers
//! of the LLM share its opinion beyond Z, so that `ca_z` finds lazy workers less easily.

use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::{SimulateError, check_share};
use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};

/// How far the sum of a row may be from 1.
const ROW_TOLERANCE: f64 = 1e-9;

/// `P(signal | truth)`: one row per true label, each a distribution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SignalMatrix {
    rows: Vec<Vec<f64>>,
}

impl SignalMatrix {
    /// A matrix by its rows; `name` says in an error whose it is.
    ///
    /// # Errors
    ///
    /// [`SimulateError::NotSquare`] for a row of another length than the number of rows,
    /// [`SimulateError::NoProbability`] for an entry that is not from 0 to 1 (not finite ones
    /// included), [`SimulateError::NoDistribution`] for a row with another sum than 1.
    pub(crate) fn new(name: &'static str, rows: Vec<Vec<f64>>) -> Result<Self, SimulateError> {
        let labels = rows.len();
        for (row, entries) in (1..).zip(&rows) {
            if entries.len() != labels {
                return Err(SimulateError::NotSquare { name, row, found: entries.len(), labels });
            }
            let bad = (1..).zip(entries).find(|(_, entry)| !(0.0..=1.0).contains(*entry));
            if let Some((column, &value)) = bad {
                return Err(SimulateError::NoProbability { name, row, column, value });
            }
            let sum: f64 = entries.iter().sum();
            if (sum - 1.0).abs() > ROW_TOLERANCE {
                return Err(SimulateError::NoDistribution { name, row, sum });
            }
        }
        Ok(Self { rows })
    }

    /// Number of labels.
    pub(crate) fn labels(&self) -> usize {
        self.rows.len()
    }

    /// One row per true label.
    pub(crate) fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// The right label with probability `accuracy`, each other one equally likely.
    ///
    /// # Errors
    ///
    /// [`SimulateError::BadShare`] if `accuracy` is not in `[0, 1]`.
    pub(crate) fn symmetric(
        name: &'static str,
        labels: usize,
        accuracy: f64,
    ) -> Result<Self, SimulateError> {
        check_share(name, accuracy)?;
        let other = if labels > 1 { (1.0 - accuracy) / (labels - 1) as f64 } else { 0.0 };
        let right = if labels > 1 { accuracy } else { 1.0 };
        let row = |truth| (0..labels).map(|l| if l == truth { right } else { other }).collect();
        Ok(Self { rows: (0..labels).map(row).collect() })
    }

    fn draw(&self, truth: Label, random: &mut ChaCha8Rng) -> Label {
        let mut left: f64 = random.random_range(0.0..1.0);
        let row = &self.rows[usize::from(truth)];
        let mut drawn = 0;
        for (label, &probability) in (0..).zip(row) {
            if probability > 0.0 {
                drawn = label;
                if left < probability {
                    break;
                }
                left -= probability;
            }
        }
        drawn
    }
}

/// A synthetic crowd to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CrowdPlan {
    /// Number of tasks.
    pub tasks: u32,
    /// Workers per task, drawn without repetition; more than there are workers means all.
    pub workers_per_task: usize,
    /// Confusion matrix of own signals.
    pub human: SignalMatrix,
    /// Confusion matrix of the LLM.
    pub llm: SignalMatrix,
    /// Probability that an answer of the LLM is its opinion, rather than a random label.
    pub consistency: f64,
    /// Probability to hand in the LLM, per worker.
    pub lazy: Vec<f64>,
    /// Who would hand in the LLM gives the label that is likeliest by it and the own signal together
    /// instead, the own one among equally likely ones: not lazy, and not independent of the LLM.
    pub blend: bool,
}

/// A crowd with its truth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyntheticCrowd {
    /// The reports.
    pub table: LabelTable,
    /// What the LLM said to the principal, by task.
    pub z: Vec<Label>,
    /// True label, by task.
    pub truth: Vec<Label>,
}

impl CrowdPlan {
    /// Draws the crowd. Tasks are named `q1`, `q2`, ..., workers `w1`, ..., labels `a1`, ...
    ///
    /// # Errors
    ///
    /// [`SimulateError`] if there is no task, worker or label, or a probability is none.
    pub(crate) fn draw(&self, random: &mut ChaCha8Rng) -> Result<SyntheticCrowd, SimulateError> {
        let classes = self.human.rows.len();
        let counts = [
            ("task", self.tasks as usize),
            ("worker", self.lazy.len()),
            ("worker per task", self.workers_per_task),
            ("label", classes),
            ("label", self.llm.rows.len()),
        ];
        if let Some(&(what, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(SimulateError::Empty { what });
        }
        check_share("llm_consistency", self.consistency)?;
        for &lazy in &self.lazy {
            check_share("lazy", lazy)?;
        }
        if self.llm.rows.len() != classes {
            return Err(SimulateError::DifferentLabels {
                human: classes,
                llm: self.llm.rows.len(),
            });
        }
        let classes = Label::try_from(classes).unwrap_or(Label::MAX);
        let mut names = LabelNames::default();
        (1..=classes).for_each(|label| _ = names.labels.intern(&format!("a{label}")));
        (1..=self.lazy.len()).for_each(|worker| _ = names.workers.intern(&format!("w{worker}")));
        let per_task = self.workers_per_task.min(self.lazy.len());
        let (mut reports, mut z, mut truths) = (Vec::new(), Vec::new(), Vec::new());
        for task in 0..self.tasks {
            names.tasks.intern(&format!("q{}", task + 1));
            let truth = random.random_range(0..classes);
            truths.push(truth);
            let opinion = self.llm.draw(truth, random);
            let ask = |random: &mut ChaCha8Rng| {
                if random.random_bool(self.consistency) {
                    opinion
                } else {
                    random.random_range(0..classes)
                }
            };
            z.push(ask(random));
            for worker in index::sample(random, self.lazy.len(), per_task) {
                let lazy = random.random_bool(self.lazy[worker]);
                let label = match (lazy, self.blend) {
                    (false, _) => self.human.draw(truth, random),
                    (true, false) => ask(random),
                    (true, true) => {
                        let said = ask(random);
                        self.likeliest(self.human.draw(truth, random), said)
                    }
                };
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a crowd has fewer than 2^32 workers"
                )]
                let worker = worker as u32;
                reports.push(LabelReport { task, worker, label });
            }
        }
        Ok(SyntheticCrowd { table: LabelTable::new(names, &reports), z, truth: truths })
    }

    /// The likeliest true label, given the own signal and what the LLM said.
    fn likeliest(&self, own: Label, said: Label) -> Label {
        let other = (1.0 - self.consistency) / self.llm.rows.len() as f64;
        let likelihood = |truth: usize| {
            let asked = self.consistency * self.llm.rows[truth][usize::from(said)] + other;
            self.human.rows[truth][usize::from(own)] * asked
        };
        let mut best = own;
        for truth in 0..self.human.rows.len() {
            // Not by the last digit: products in another order differ in it.
            if likelihood(truth) > likelihood(usize::from(best)) * (1.0 + 1e-12) {
                best = Label::try_from(truth).unwrap_or(best);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::seed::stream;

    fn plan() -> CrowdPlan {
        CrowdPlan {
            tasks: 4000,
            workers_per_task: 2,
            human: SignalMatrix::new("human", vec![vec![0.9, 0.1], vec![0.4, 0.6]]).unwrap(),
            llm: SignalMatrix::symmetric("llm", 2, 0.7).unwrap(),
            consistency: 1.0,
            lazy: vec![0.0, 1.0, 0.0],
            blend: false,
        }
    }

    #[test]
    fn lazy_workers_hand_in_z_as_often_as_the_llm_repeats_itself() {
        let agreement = |consistency| {
            let plan = CrowdPlan { consistency, ..plan() };
            let crowd = plan.draw(&mut stream(0, "test", 0)).unwrap();
            let copied = crowd.table.of_worker(1);
            let same = copied.iter().filter(|(task, label)| crowd.z[*task as usize] == *label);
            let right = crowd.z.iter().zip(&crowd.truth).filter(|(said, truth)| said == truth);
            // Z is no opinion either: right where it is one, .7, or by chance, 1 of 2. Five standard
            // errors over 4,000 tasks are 0.039.
            let expected = consistency * 0.7 + (1.0 - consistency) / 2.0;
            assert!((right.count() as f64 / 4000.0 - expected).abs() < 0.039, "{consistency}");
            same.count() as f64 / copied.len() as f64
        };
        assert!((agreement(1.0) - 1.0).abs() < 1e-12);
        // Both say the opinion: 0.25; else one of them draws one of two labels: 0.75 / 2. About
        // 2,667 reports: five standard errors are 0.047.
        assert!((agreement(0.5) - 0.625).abs() < 0.047);
    }

    #[test]
    fn a_blend_is_what_is_likeliest_by_hand() {
        // Truth 0 is seen as 0 in .9, truth 1 as 1 in .6. The LLM is right in .7, asked anew it says so in
        // .8 of the cases: of truth 0 it says 0 with .8 * .7 + .1 = .66, 1 with .34.
        let plan = CrowdPlan { consistency: 0.8, lazy: vec![1.0; 3], blend: true, ..plan() };
        // Own 0, LLM 1: truth 0 .9 * .34 = .306, truth 1 .4 * .66 = .264.
        assert_eq!(plan.likeliest(0, 1), 0);
        // Own 1, LLM 0: .1 * .66 = .066 against .6 * .34 = .204.
        assert_eq!(plan.likeliest(1, 0), 1);
        // By a better LLM, .95: own 0, LLM 1: .9 * .14 = .126 against .4 * .86.
        let better = CrowdPlan { llm: SignalMatrix::symmetric("llm", 2, 0.95).unwrap(), ..plan };
        assert_eq!(better.likeliest(0, 1), 1);
        // Where both weigh the same the own signal counts.
        let even = SignalMatrix::symmetric("llm", 2, 0.7).unwrap();
        let even = CrowdPlan { human: even.clone(), llm: even, consistency: 1.0, ..better };
        assert_eq!((even.likeliest(0, 1), even.likeliest(1, 0)), (0, 1));
        // A blend of two signals is right more often than either: .8 and .8 among three labels.
        let good = SignalMatrix::symmetric("x", 3, 0.8).unwrap();
        let three = CrowdPlan { human: good.clone(), llm: good, workers_per_task: 1, ..even };
        let three = CrowdPlan { lazy: vec![1.0], tasks: 20_000, ..three };
        let right = |plan: &CrowdPlan| {
            let crowd = plan.draw(&mut stream(3, "blend", 0)).unwrap();
            let right = crowd.table.reports();
            let right = right.filter(|report| crowd.truth[report.task as usize] == report.label);
            right.count() as f64 / 20_000.0
        };
        // Ties go to the own signal, so that two of the same accuracy are as good as one: .8.
        assert!((right(&three) - 0.8).abs() < 0.01);
        let surer = SignalMatrix::symmetric("x", 3, 0.9).unwrap();
        assert!((right(&CrowdPlan { llm: surer, ..three }) - 0.9).abs() < 0.01);
    }

    #[test]
    fn signals_follow_their_confusion_matrices() {
        let crowd = plan().draw(&mut stream(0, "test", 0)).unwrap();
        assert_eq!(crowd.table.report_count(), 8000);
        let share = |worker: u32, truth: Label| {
            let of_truth: Vec<Label> = crowd
                .table
                .of_worker(worker)
                .iter()
                .filter(|(task, _)| crowd.truth[*task as usize] == truth)
                .map(|(_, label)| label)
                .collect();
            of_truth.iter().filter(|&&label| label == 0).count() as f64 / of_truth.len() as f64
        };
        // About 1,333 reports each: five standard errors are at most 0.07.
        for (worker, truth, expected) in
            [(0, 0, 0.9), (0, 1, 0.4), (1, 0, 0.7), (1, 1, 0.3), (2, 0, 0.9)]
        {
            assert!((share(worker, truth) - expected).abs() < 0.07, "{worker} {truth}");
        }
        let right = crowd.z.iter().zip(&crowd.truth).filter(|(z, y)| z == y).count();
        assert!((right as f64 / 4000.0 - 0.7).abs() < 0.04);
    }

    #[test]
    fn the_same_seed_gives_the_same_crowd() {
        let draw = |seed| plan().draw(&mut stream(seed, "test", 0)).unwrap();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn one_label_and_all_workers_per_task_are_fine() {
        let one = SignalMatrix::symmetric("human", 1, 0.3).unwrap();
        let plan =
            CrowdPlan { tasks: 3, workers_per_task: 9, human: one.clone(), llm: one, ..plan() };
        assert_eq!(plan.draw(&mut stream(0, "test", 0)).unwrap().table.report_count(), 9);
    }

    #[test]
    fn impossible_crowds_are_errors() {
        let draw = |plan: CrowdPlan| plan.draw(&mut stream(0, "test", 0)).unwrap_err();
        assert_eq!(draw(CrowdPlan { tasks: 0, ..plan() }), SimulateError::Empty { what: "task" });
        assert!(matches!(
            draw(CrowdPlan { lazy: vec![0.5, 2.0], ..plan() }),
            SimulateError::BadShare { name: "lazy", .. }
        ));
        let llm = SignalMatrix::symmetric("llm", 3, 0.5).unwrap();
        assert_eq!(
            draw(CrowdPlan { llm, ..plan() }),
            SimulateError::DifferentLabels { human: 2, llm: 3 }
        );
    }

    #[test]
    fn what_is_no_confusion_matrix_says_where() {
        let name = "human";
        let error = |rows: Vec<Vec<f64>>| SignalMatrix::new(name, rows).unwrap_err();
        assert_eq!(
            error(vec![vec![1.0, 0.0], vec![1.0]]),
            SimulateError::NotSquare { name, row: 2, found: 1, labels: 2 }
        );
        assert_eq!(
            error(vec![vec![0.5, 0.75], vec![0.5, 0.5]]),
            SimulateError::NoDistribution { name, row: 1, sum: 1.25 }
        );
        for value in [-0.5, 1.5, f64::INFINITY] {
            assert_eq!(
                error(vec![vec![0.5, 0.5], vec![1.0 - value, value]]),
                SimulateError::NoProbability { name, row: 2, column: 1, value: 1.0 - value }
            );
        }
        assert!(matches!(
            error(vec![vec![f64::NAN]]),
            SimulateError::NoProbability { row: 1, column: 1, .. }
        ));
    }
}

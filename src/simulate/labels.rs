//! Contaminates a crowd: some workers stop working, and it is known which.
//!
//! Section 5.3 of *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground Truth* (Zhang,
//! Pang, Zhu, Liu; NeurIPS 2025). Of `n` workers, drawn at random without overlap,
//!
//! - `⌊a_llm n⌋` hand in an LLM: each draws an LLM, then one of its samples, and keeps its own
//!   report where the sample has no label;
//! - `⌊a_random n⌋` draw every label from the label distribution of the crowd;
//! - `⌊a_biased n⌋` give the most common label of the crowd with probability 0.9, else any label,
//!   each equally likely.
//!
//! The others keep their reports and count as good, although in a real crowd not all of them are.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{SimulateError, check_share};
use crate::data::ids::Ids;
use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::stats::rank::whole;

/// How often a biased worker gives the most common label without looking.
const BIAS: f64 = 0.9;

/// Shares that are meant to give a whole number of workers may miss it by rounding.
const ROUNDING: f64 = 1e-9;

words! {
    /// What a worker does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum WorkerKind {
        /// What they did in the data.
        Good = "good",
        /// Hands in the labels of an LLM.
        Llm = "llm",
        /// Draws labels from the distribution of the crowd.
        Random = "random",
        /// Nearly always gives the most common label.
        Biased = "biased",
    }
}

/// Shares of the workers who stop working, each in `[0, 1]`, at most 1 together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shares {
    /// Share who hand in an LLM.
    pub llm: f64,
    /// Share who draw labels.
    pub random: f64,
    /// Share who give the most common label.
    pub biased: f64,
}

impl Shares {
    /// # Errors
    ///
    /// [`SimulateError`] if a share is not in `[0, 1]` or they sum to more than 1.
    pub(crate) fn check(&self) -> Result<(), SimulateError> {
        check_share("llm", self.llm)?;
        check_share("random", self.random)?;
        check_share("biased", self.biased)?;
        let sum = self.llm + self.random + self.biased;
        if sum > 1.0 + ROUNDING { Err(SimulateError::SharesTooLarge { sum }) } else { Ok(()) }
    }
}

/// The number of workers that a share is, rounded down.
pub(crate) fn count_of(share: f64, workers: usize) -> usize {
    whole(share * workers as f64 + ROUNDING)
}

/// One answer of an LLM per task, `None` where it gave none.
pub(crate) type Sample<'a> = &'a [Option<Label>];

/// What is contaminated, and what with.
#[derive(Debug, Clone)]
pub(crate) struct CrowdToContaminate<'a> {
    /// The crowd.
    pub table: &'a LabelTable,
    /// Names of all labels: those of the table under the same numbers, then those that only LLMs
    /// give (see [`crate::data::z::ZLabels::labels`]).
    pub labels: &'a Ids,
    /// The samples that can be handed in, by LLM; Z is not among them unless copies of Z itself
    /// are wanted.
    pub llms: Vec<Vec<Sample<'a>>>,
}

/// A crowd of which it is known who answered how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContaminatedCrowd {
    /// The reports. Tasks, workers and labels have the numbers that they had before; a label that
    /// only an LLM gives is in the label set if somebody handed it in.
    pub table: LabelTable,
    /// By worker.
    pub kinds: Vec<WorkerKind>,
}

/// Contaminates a crowd.
///
/// # Errors
///
/// [`SimulateError`] if the shares make no sense, or there is no sample to hand in.
pub(crate) fn contaminate(
    crowd: &CrowdToContaminate<'_>,
    shares: &Shares,
    random: &mut ChaCha8Rng,
) -> Result<ContaminatedCrowd, SimulateError> {
    shares.check()?;
    let kinds = draw_kinds(crowd.table.worker_count(), shares, random);
    let can_copy = !crowd.llms.is_empty() && crowd.llms.iter().all(|llm| !llm.is_empty());
    if kinds.contains(&WorkerKind::Llm) && !can_copy {
        return Err(SimulateError::NoSamples);
    }
    let labels = LabelDistribution::of(crowd.table);
    let mut reports = Vec::with_capacity(crowd.table.report_count());
    for (worker, kind) in (0..).zip(&kinds) {
        let own = crowd.table.of_worker(worker);
        let sample = match kind {
            WorkerKind::Llm => {
                let llm = crowd.llms.choose(random);
                llm.and_then(|samples| samples.choose(random)).copied()
            }
            _ => None,
        };
        for (task, report) in own.iter() {
            let label = match kind {
                WorkerKind::Good => report,
                WorkerKind::Llm => {
                    sample.and_then(|labels| labels[task as usize]).unwrap_or(report)
                }
                WorkerKind::Random => labels.draw(random),
                WorkerKind::Biased if random.random_bool(BIAS) => labels.most_common(),
                WorkerKind::Biased => random.random_range(0..labels.count()),
            };
            reports.push(LabelReport { task, worker, label });
        }
    }
    let names = LabelNames {
        tasks: crowd.table.tasks().clone(),
        workers: crowd.table.workers().clone(),
        labels: label_set(crowd, &reports),
    };
    Ok(ContaminatedCrowd { table: LabelTable::new(names, &reports), kinds })
}

/// The label set of the crowd, with what LLMs added.
fn label_set(crowd: &CrowdToContaminate<'_>, reports: &[LabelReport]) -> Ids {
    let known = crowd.table.label_count();
    let used = reports.iter().map(|report| usize::from(report.label) + 1).max().unwrap_or(0);
    let mut labels = crowd.table.labels().clone();
    for name in crowd.labels.names().iter().take(used).skip(known) {
        labels.intern(name);
    }
    labels
}

/// A kind per worker: the first in a random order of the workers are the cheaters.
fn draw_kinds(workers: usize, shares: &Shares, random: &mut ChaCha8Rng) -> Vec<WorkerKind> {
    let mut order: Vec<usize> = (0..workers).collect();
    order.shuffle(random);
    let mut order = order.into_iter();
    let mut kinds = vec![WorkerKind::Good; workers];
    let counts = [
        (WorkerKind::Llm, shares.llm),
        (WorkerKind::Random, shares.random),
        (WorkerKind::Biased, shares.biased),
    ];
    for (kind, share) in counts {
        for worker in order.by_ref().take(count_of(share, workers)) {
            kinds[worker] = kind;
        }
    }
    kinds
}

/// How often the crowd gave each label.
struct LabelDistribution {
    /// Reports with this label or an earlier one.
    cumulative: Vec<u64>,
    most_common: Label,
}

impl LabelDistribution {
    fn of(table: &LabelTable) -> Self {
        let mut counts = vec![0_u64; table.label_count()];
        for report in table.reports() {
            counts[usize::from(report.label)] += 1;
        }
        let mut most_common = 0;
        for (label, &count) in (0..).zip(&counts) {
            if count > counts[usize::from(most_common)] {
                most_common = label;
            }
        }
        let cumulative = counts
            .iter()
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            })
            .collect();
        Self { cumulative, most_common }
    }

    /// The most common label, of several the first.
    fn most_common(&self) -> Label {
        self.most_common
    }

    fn count(&self) -> Label {
        Label::try_from(self.cumulative.len()).unwrap_or(Label::MAX)
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> Label {
        let total = self.cumulative.last().copied().unwrap_or(0);
        let drawn = random.random_range(0..total);
        let label = self.cumulative.partition_point(|&sum| sum <= drawn);
        Label::try_from(label).expect("a number below that of the labels")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::tests::table;
    use crate::stats::seed::stream;
    use proptest::prelude::*;

    /// Every worker answers every task; nobody gives the label `rare`, which only the LLM knows.
    fn crowd(workers: u32, tasks: u32) -> (LabelTable, Ids) {
        let mut random = stream(1, "crowd", 0);
        let mut names = LabelNames::default();
        for label in ["a", "b", "c"] {
            names.labels.intern(label);
        }
        let mut reports = Vec::new();
        for task in 0..tasks {
            names.tasks.intern(&format!("q{task}"));
            for worker in 0..workers {
                names.workers.intern(&format!("w{worker}"));
                let label = *[0, 0, 0, 1, 2].choose(&mut random).unwrap();
                reports.push(LabelReport { task, worker, label });
            }
        }
        let mut labels = names.labels.clone();
        labels.intern("rare");
        (LabelTable::new(names, &reports), labels)
    }

    fn run(
        (table, labels): &(LabelTable, Ids),
        llms: Vec<Vec<Sample<'_>>>,
        shares: Shares,
        seed: u64,
    ) -> Result<ContaminatedCrowd, SimulateError> {
        let crowd = CrowdToContaminate { table, labels, llms };
        contaminate(&crowd, &shares, &mut stream(seed, "test", 0))
    }

    fn of_kind(crowd: &ContaminatedCrowd, kind: WorkerKind) -> Vec<u32> {
        (0..).zip(&crowd.kinds).filter(|(_, k)| **k == kind).map(|(worker, _)| worker).collect()
    }

    proptest! {
        #[test]
        fn untouched_workers_keep_their_reports_and_counts_are_rounded_down(
            workers in 1..40_u32,
            llm in 0.0..0.33_f64,
            random in 0.0..0.33_f64,
            biased in 0.0..0.33_f64,
            seed: u64,
        ) {
            let data = crowd(workers, 6);
            let sample = [Some(0), Some(1), None, Some(2), Some(3), Some(0)];
            let shares = Shares { llm, random, biased };
            let result = run(&data, vec![vec![&sample]], shares, seed).unwrap();
            let n = f64::from(workers);
            for (kind, share) in [
                (WorkerKind::Llm, llm),
                (WorkerKind::Random, random),
                (WorkerKind::Biased, biased),
            ] {
                let exact = share * n;
                let count = of_kind(&result, kind).len() as f64;
                prop_assert!(count <= exact && exact < count + 1.0, "{count} of {exact}");
            }
            for worker in of_kind(&result, WorkerKind::Good) {
                prop_assert_eq!(result.table.of_worker(worker), data.0.of_worker(worker));
            }
            for worker in of_kind(&result, WorkerKind::Llm) {
                for (task, label) in result.table.of_worker(worker).iter() {
                    let own = data.0.of_worker(worker).labels[task as usize];
                    prop_assert_eq!(label, sample[task as usize].unwrap_or(own));
                }
            }
            let again = run(&data, vec![vec![&sample]], shares, seed).unwrap();
            prop_assert_eq!(&again, &result);
        }
    }

    #[test]
    fn a_share_that_is_a_whole_number_of_workers_is_not_one_less() {
        // 0.29 * 100 is 28.999999999999996 in binary.
        assert_eq!(count_of(0.29, 100), 29);
        assert_eq!(count_of(0.299, 100), 29);
        assert_eq!(count_of(0.0, 5), 0);
    }

    #[test]
    fn random_workers_follow_the_crowd_and_biased_ones_its_most_common_label() {
        let data = crowd(40, 500);
        let share = |table: &LabelTable, workers: &[u32], label: Label| {
            let labels: Vec<Label> =
                workers.iter().flat_map(|&w| table.of_worker(w).labels).copied().collect();
            labels.iter().filter(|&&l| l == label).count() as f64 / labels.len() as f64
        };
        let everybody: Vec<u32> = (0..40).collect();
        let shares = Shares { random: 0.5, biased: 0.5, llm: 0.0 };
        let result = run(&data, vec![], shares, 3).unwrap();
        let random = of_kind(&result, WorkerKind::Random);
        let biased = of_kind(&result, WorkerKind::Biased);
        for label in 0..3 {
            // 10,000 draws: five standard errors are at most 0.025.
            let expected = share(&data.0, &everybody, label);
            assert!((share(&result.table, &random, label) - expected).abs() < 0.025);
            let expected = 0.1 / 3.0 + if label == 0 { 0.9 } else { 0.0 };
            assert!((share(&result.table, &biased, label) - expected).abs() < 0.025);
        }
    }

    #[test]
    fn a_label_that_only_the_llm_gives_joins_the_label_set_if_it_is_handed_in() {
        let data = crowd(10, 2);
        let (usual, strange) = ([Some(0), Some(1)], [Some(3), None]);
        let shares = Shares { llm: 0.5, ..Shares::default() };
        assert_eq!(run(&data, vec![vec![&usual]], shares, 0).unwrap().table.label_count(), 3);
        let result = run(&data, vec![vec![&strange]], shares, 0).unwrap();
        assert_eq!(result.table.labels().names(), ["a", "b", "c", "rare"]);
    }

    #[test]
    fn cheaters_choose_among_llms_and_samples() {
        let data = crowd(300, 1);
        let samples: [[Option<Label>; 1]; 3] = [[Some(0)], [Some(1)], [Some(2)]];
        let llms = vec![vec![&samples[0][..]], vec![&samples[1], &samples[2]]];
        let result = run(&data, llms, Shares { llm: 1.0, ..Shares::default() }, 0).unwrap();
        let counts = (0..3)
            .map(|label| (0..300).filter(|&w| result.table.of_worker(w).labels == [label]).count());
        // Expected 150, 75, 75; five standard deviations are 43 and 38.
        for (count, expected) in counts.zip([150_usize, 75, 75]) {
            assert!(count.abs_diff(expected) < 40, "{count}");
        }
    }

    #[test]
    fn impossible_requests_are_errors() {
        let data = crowd(10, 2);
        let bad = |shares| run(&data, vec![], shares, 0).unwrap_err();
        let shares = Shares { llm: -0.1, ..Shares::default() };
        assert_eq!(bad(shares), SimulateError::BadShare { name: "llm", value: -0.1 });
        let shares = Shares { random: f64::NAN, ..Shares::default() };
        assert!(matches!(bad(shares), SimulateError::BadShare { name: "random", .. }));
        let shares = Shares { llm: 0.5, random: 0.5, biased: 0.5 };
        assert!(matches!(bad(shares), SimulateError::SharesTooLarge { .. }));
        assert_eq!(bad(Shares { llm: 0.5, ..Shares::default() }), SimulateError::NoSamples);
        // One worker and a share below 1: nobody is touched, nothing is needed.
        let one = table(&[("q", "w", "x")]);
        let labels = one.labels().clone();
        let result = run(&(one, labels), vec![], Shares { llm: 0.9, ..Shares::default() }, 0);
        assert_eq!(result.unwrap().kinds, [WorkerKind::Good]);
    }
}

//! Output agreement, plain (`oa`) and against an LLM (`oa_z`); appendix G.2 of the paper.
//!
//! ```text
//! s_i = (1/n) sum over j != i of ( agreements of i and j / tasks that both answered ),  0/0 = 0
//! ```
//!
//! with n the number of workers. `oa_z` looks only at the tasks that Z covers and counts an
//! agreement only where it differs from Z; `oa_z_common` divides by all common tasks, those without Z
//! among them, as the formula is printed. A worker who shares no such task with anybody has no
//! score.
//!
//! Workers who gave the same labels on the same tasks have the same score and are worth the same to
//! their peers: they are one *group*, counted once.
//!
//! Peers who share nothing with a worker but the worker's largest task agree with them or not, so that
//! counts by label are enough there. All others share another task with them and are found through
//! these. So the cost is the number of pairs of different rows on a task, without the largest task of a
//! worker where the others are much smaller: with one task that everybody answered and few others each,
//! as many as on these.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use rayon::prelude::*;

use super::dawid_skene::point;
use super::entry::{Entry, Several, conditioning};
use super::strata::Conditioning;
use super::{Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::stats::interval::Estimate;

/// `oa` without Z, `oa_z` with it.
#[derive(Debug, Clone, Default)]
pub struct OutputAgreement {
    conditioning: Conditioning,
    /// Whether common tasks without Z count, as tasks without agreement.
    all_common: bool,
}

impl OutputAgreement {
    /// Output agreement, where conditioned only beyond agreement with Z.
    pub fn new(conditioning: Conditioning) -> Self {
        Self { conditioning, all_common: false }
    }

    /// The same divided by all common tasks; nothing is agreed on a task without Z.
    #[must_use]
    pub(crate) fn over_all_common_tasks(self) -> Self {
        let all_common = matches!(self.conditioning, Conditioning::Z(_));
        Self { all_common, ..self }
    }

    /// Whether a task counts as a common one.
    fn covers(&self, task: u32) -> bool {
        self.all_common || self.conditioning.covers(task)
    }

    /// Whether to agree on a label is an agreement: not on what the LLM says.
    fn counts(&self, task: u32, label: Label) -> bool {
        let is_known = !self.all_common || self.conditioning.covers(task);
        is_known && self.conditioning.label(task) != Some(label)
    }
}

pub(super) const GIVEN_Z: Entry = Entry {
    name: "oa_z",
    summary: "Agreement with peers where it differs from the LLM",
    meaning: "as oa, but an agreement counts only where it differs from the LLM; rewards rare \
              mistakes made together",
    unscored: "no task with a Z label shared with a peer",
    needs_z: true,
    build: |sources, _| Box::new(OutputAgreement::new(conditioning(sources))),
    ..PLAIN
};

pub(super) const GIVEN_Z_ALL_COMMON: Entry = Entry {
    name: "oa_z_common",
    summary: "oa_z over all common tasks, those without a label of the LLM too",
    meaning: "as oa_z, divided by all common tasks, so that few labels of the LLM make it small",
    unscored: PLAIN.unscored,
    needs_z: true,
    build: |sources, _| {
        Box::new(OutputAgreement::new(conditioning(sources)).over_all_common_tasks())
    },
    ..PLAIN
};

pub(super) const PLAIN: Entry = Entry {
    name: "oa",
    summary: "Agreement with peers",
    meaning: "share of tasks on which a peer agrees, averaged over the crowd; rewards copying and \
              common labels",
    unscored: "no task shared with a peer",
    needs_z: false,
    is_fitted: false,
    several: Several::Lowest,
    build: |_, _| Box::new(OutputAgreement::new(Conditioning::Nothing)),
};

impl Mechanism for OutputAgreement {
    fn name(&self) -> &'static str {
        match self.conditioning {
            Conditioning::Nothing => "oa",
            Conditioning::Z(_) if self.all_common => "oa_z_common",
            Conditioning::Z(_) => "oa_z",
        }
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        let groups = Groups::of(table);
        let of_group: Vec<(Option<Estimate>, usize)> = (0..groups.first.len() as u32)
            .into_par_iter()
            .map_init(
                || Pairs::new(groups.first.len()),
                |pairs, group| pairs.estimate(table, &groups, self, group),
            )
            .collect();
        let covered = self.conditioning.covered_tasks(table);
        let workers = (0..table.worker_count() as u32)
            .into_par_iter()
            .map(|worker| {
                let (estimate, n_used) = of_group[groups.of_worker[worker as usize] as usize];
                WorkerScore {
                    estimate,
                    n_tasks: table.of_worker(worker).len(),
                    n_z_tasks: covered[worker as usize],
                    n_used,
                    ..WorkerScore::default()
                }
            })
            .collect();
        Ok(Scores { workers, ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(Self { conditioning: self.conditioning.on_tasks(tasks), ..*self })
    }

    fn zero_is_chance(&self) -> bool {
        false
    }
}

/// Workers with the same labels on the same tasks.
struct Groups {
    /// The group of every worker.
    of_worker: Vec<u32>,
    /// One worker of every group, in whose row its reports are.
    first: Vec<u32>,
    /// Number of workers of every group.
    size: Vec<u32>,
    /// Reports of task `q`: `reports[starts[q]..starts[q + 1]]`.
    starts: Vec<usize>,
    /// Group and label, by group.
    reports: Vec<(u32, Label)>,
    /// For each of the reports, how many workers say the same of the task.
    alike: Vec<u32>,
}

impl Groups {
    fn of(table: &LabelTable) -> Self {
        let row = |worker: &u32| {
            let reports = table.of_worker(*worker);
            (reports.others, reports.labels)
        };
        let mut order: Vec<u32> = (0..table.worker_count() as u32).collect();
        // Stable, so that the first worker of a group is the one with the lowest number.
        order.par_sort_by(|a, b| row(a).cmp(&row(b)));
        let mut of_worker = vec![0; order.len()];
        let (mut first, mut size): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for worker in order {
            if first.last().is_none_or(|other| row(other) != row(&worker)) {
                first.push(worker);
                size.push(0);
            }
            of_worker[worker as usize] = first.len() as u32 - 1;
            *size.last_mut().expect("a group was just begun") += 1;
        }
        let mut starts = vec![0; table.task_count() + 1];
        for worker in &first {
            for &task in table.of_worker(*worker).others {
                starts[task as usize + 1] += 1;
            }
        }
        for task in 0..table.task_count() {
            starts[task + 1] += starts[task];
        }
        let mut next = starts.clone();
        let mut reports = vec![(0, 0); starts[table.task_count()]];
        for (group, worker) in (0..).zip(&first) {
            for (task, label) in table.of_worker(*worker).iter() {
                reports[next[task as usize]] = (group, label);
                next[task as usize] += 1;
            }
        }
        let mut alike = vec![0; reports.len()];
        let mut workers = vec![0; table.label_count()];
        for task in starts.windows(2).map(|ends| ends[0]..ends[1]) {
            for &(group, label) in &reports[task.clone()] {
                workers[usize::from(label)] += size[group as usize];
            }
            for (alike, &(_, label)) in alike[task.clone()].iter_mut().zip(&reports[task.clone()]) {
                *alike = workers[usize::from(label)];
            }
            reports[task].iter().for_each(|&(_, label)| workers[usize::from(label)] = 0);
        }
        Self { of_worker, first, size, starts, reports, alike }
    }

    fn of_task(&self, task: u32) -> &[(u32, Label)] {
        &self.reports[self.starts[task as usize]..self.starts[task as usize + 1]]
    }

    /// How many workers say of `task` what `group` says, its own included; 0 if it says nothing.
    fn alike(&self, task: u32, group: u32) -> u32 {
        let found = self.of_task(task).binary_search_by_key(&group, |&(group, _)| group);
        found.map_or(0, |position| self.alike[self.starts[task as usize] + position])
    }

    /// What the workers of a group say of `task`.
    fn label(&self, table: &LabelTable, group: u32, task: u32) -> Option<Label> {
        let reports = table.of_worker(self.first[group as usize]);
        let position = reports.others.binary_search(&task).ok()?;
        Some(reports.labels[position])
    }
}

/// Looking up what a peer who is met elsewhere says of the largest task takes as long as visiting so
/// many reports in a row: 9 and 2 ns, with 100,000 workers on two tasks.
const VISITS_PER_LOOKUP: usize = 5;

/// What one group shares with each other group and with itself; reused between groups.
struct Pairs {
    /// Shared tasks and agreements, by group.
    shared: Vec<(u32, u32)>,
    /// Groups with a shared task.
    met: Vec<u32>,
}

impl Pairs {
    fn new(groups: usize) -> Self {
        Self { shared: vec![(0, 0); groups], met: Vec::new() }
    }

    /// The score of the workers of `group` and the number of tasks behind it.
    ///
    /// Without a standard error: the spread inside a pair of workers says nothing where they share
    /// one task, and too little where they share few (intervals made of it covered 58 to 64 %).
    fn estimate(
        &mut self,
        table: &LabelTable,
        groups: &Groups,
        of: &OutputAgreement,
        group: u32,
    ) -> (Option<Estimate>, usize) {
        let reports = || {
            let all = table.of_worker(groups.first[group as usize]).iter();
            all.filter(|&(task, _)| of.covers(task))
        };
        let tasks = reports().filter(|&(task, _)| table.of_task(task).len() > 1).count();
        let length = |task: u32| groups.of_task(task).len();
        let largest = reports().max_by_key(|&(task, _)| length(task));
        let Some((task, said)) = largest.filter(|_| tasks > 0) else { return (None, tasks) };
        let elsewhere: usize =
            reports().map(|(task, _)| length(task)).sum::<usize>() - length(task);
        let counted = (elsewhere * VISITS_PER_LOOKUP < length(task)).then_some(task);
        // Agreeing on what the LLM says earns nothing.
        let counts = |task, label| of.counts(task, label);
        for (task, label) in reports().filter(|&(task, _)| Some(task) != counted) {
            self.count(groups.of_task(task), label, counts(task, label));
        }
        // Who agrees on the largest task, first all of them, then without those met elsewhere.
        let mut alike = counted.map_or(0, |task| groups.alike(task, group));
        if self.shared[group as usize].0 == 0 {
            // Nobody is their own peer.
            alike -= 1;
        }
        let mut sum = 0.0;
        self.met.sort_unstable();
        for peer in self.met.drain(..) {
            let (mut shared, mut agreed) = std::mem::take(&mut self.shared[peer as usize]);
            let size = groups.size[peer as usize];
            if let Some(other) = counted.and_then(|task| groups.label(table, peer, task)) {
                shared += 1;
                if other == said {
                    agreed += u32::from(counts(task, said));
                    alike -= size;
                }
            }
            let peers = size - u32::from(peer == group);
            sum += f64::from(peers) * (f64::from(agreed) / f64::from(shared));
        }
        if counts(task, said) {
            sum += f64::from(alike);
        }
        (Some(point(sum / table.worker_count() as f64)), tasks)
    }

    /// Counts what is shared with every group on a task.
    fn count(&mut self, reports: &[(u32, Label)], label: Label, counts: bool) {
        for &(peer, other) in reports {
            let pair = &mut self.shared[peer as usize];
            if pair.0 == 0 {
                self.met.push(peer);
            }
            pair.0 += 1;
            pair.1 += u32::from(counts && other == label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Crowd, assert_close, random_crowd, values};
    use super::*;
    use crate::data::labels::tests::table;
    use proptest::prelude::*;

    fn by_definition(
        table: &LabelTable,
        z: Option<&[Option<Label>]>,
        all_common: bool,
    ) -> Vec<Option<f64>> {
        let label = |task: u32, worker: u32| {
            table.of_task(task).iter().find(|&(other, _)| other == worker).map(|(_, label)| label)
        };
        let workers = table.worker_count() as u32;
        (0..workers)
            .map(|i| {
                let (mut sum, mut met) = (0.0, false);
                for j in (0..workers).filter(|&j| j != i) {
                    let (mut shared, mut agreed) = (0, 0);
                    for q in 0..table.task_count() as u32 {
                        let (Some(a), Some(b)) = (label(q, i), label(q, j)) else { continue };
                        match z.map(|z| z[q as usize]) {
                            Some(None) => shared += i32::from(all_common),
                            Some(Some(z)) => {
                                shared += 1;
                                agreed += i32::from(a == b && a != z);
                            }
                            None => {
                                shared += 1;
                                agreed += i32::from(a == b);
                            }
                        }
                    }
                    if shared > 0 {
                        met = true;
                        sum += f64::from(agreed) / f64::from(shared);
                    }
                }
                met.then_some(sum / f64::from(workers))
            })
            .collect()
    }

    #[test]
    fn three_workers_by_hand() {
        // a and b share q (agree) and r (differ): 1/2. a and c share q (agree): 1. b and c: 1.
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "x"),
            ("q", "c", "x"),
            ("r", "a", "x"),
            ("r", "b", "y"),
        ]);
        let scores = OutputAgreement::default().score(&table).unwrap();
        assert_close(&values(&scores), &[Some(0.5), Some(0.5), Some(2.0 / 3.0)], 1e-15);
        assert_eq!(scores.workers[0].estimate.unwrap().standard_error, None);
        // With Z = x on q nothing agreed there counts; r has no Z.
        let mechanism = OutputAgreement::new(Conditioning::on(vec![Some(0), None]));
        assert_close(&values(&mechanism.score(&table).unwrap()), &[Some(0.0); 3], 0.0);
        // With Z = y on q the agreement there counts: of one covered task of a and b, of two common ones.
        let mechanism = OutputAgreement::new(Conditioning::on(vec![Some(1), None]));
        let covered = values(&mechanism.score(&table).unwrap());
        assert_close(&covered, &[Some(2.0 / 3.0); 3], 1e-15);
        let common = values(&mechanism.over_all_common_tasks().score(&table).unwrap());
        assert_close(&common, &[Some(0.5), Some(0.5), Some(2.0 / 3.0)], 1e-15);
    }

    #[test]
    fn a_hundred_thousand_workers_on_one_task_are_as_many_groups_as_labels() {
        // 30,000 say x, 70,000 say y: whoever says x agrees with 29,999 of them.
        let names: Vec<String> = (0..100_000).map(|worker| format!("{worker:06}")).collect();
        let label = |worker: usize| if worker < 30_000 { "x" } else { "y" };
        let rows: Vec<(&str, &str, &str)> = names
            .iter()
            .enumerate()
            .map(|(worker, name)| ("q", name.as_str(), label(worker)))
            .collect();
        let table = table(&rows);
        assert_eq!(Groups::of(&table).size, [30_000, 70_000]);
        let scores = values(&OutputAgreement::default().score(&table).unwrap());
        assert_eq!(scores[0], Some(29_999.0 / 100_000.0));
        assert_eq!(scores[99_999], Some(69_999.0 / 100_000.0));
        let mechanism = OutputAgreement::new(Conditioning::on(vec![Some(0)]));
        assert_eq!(values(&mechanism.score(&table).unwrap())[0], Some(0.0));
    }

    #[test]
    fn a_hundred_thousand_workers_on_one_task_with_another_one_each_take_no_pairs() {
        // Who is even says x of the large task, who is odd y; two neighbours say x of one of their own.
        // 49,999 others agree on the only common task, the neighbour on one of two.
        let names: Vec<String> = (0..100_000).map(|number| format!("{number:06}")).collect();
        let mut rows: Vec<(&str, &str, &str)> = Vec::new();
        for (number, name) in names.iter().enumerate() {
            rows.push(("large", name, if number % 2 == 0 { "x" } else { "y" }));
            rows.push((&names[number / 2], name, "x"));
        }
        let table = table(&rows);
        let groups = Groups::of(&table);
        assert_eq!(groups.size.len(), 100_000);
        let scores = values(&OutputAgreement::default().score(&table).unwrap());
        assert!(scores.iter().all(|&score| score == Some(49_999.5 / 100_000.0)));
        // With x by the LLM on the large task, who says so agrees with nobody there; y counts.
        let mut z = vec![None; table.task_count()];
        z[table.tasks().get("large").unwrap() as usize] = Some(0);
        let scores = values(&OutputAgreement::new(Conditioning::on(z)).score(&table).unwrap());
        assert_eq!(scores[..2], [Some(0.0), Some(49_999.0 / 100_000.0)]);
    }

    /// Everybody on one task, and few others of which some are shared.
    fn crowd_around_a_task() -> impl Strategy<Value = Crowd> {
        let report = (0..8_u8, 0..3_u8);
        let worker = (0..3_u8, prop::collection::vec(report, 0..4));
        let z = prop::collection::vec(prop::option::weighted(0.7, 0..3_u16), 9);
        (prop::collection::vec(worker, 1..14), z).prop_map(|(workers, z)| {
            const NAMES: [&str; 14] =
                ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];
            let name = |label: u8| ["x", "y", "w"][usize::from(label)];
            let mut rows = Vec::new();
            for ((label, others), worker) in workers.iter().zip(NAMES) {
                rows.push(("large", worker, name(*label)));
                for (task, label) in others {
                    rows.push((NAMES[usize::from(*task)], worker, name(*label)));
                }
            }
            let table = table(&rows);
            let z = z.into_iter().cycle().take(table.task_count()).collect();
            Crowd { table, z }
        })
    }

    /// Without Z and with it.
    fn assert_is_as_defined(Crowd { table, z }: &Crowd) {
        let plain = values(&OutputAgreement::default().score(table).unwrap());
        assert_close(&plain, &by_definition(table, None, false), 1e-12);
        let conditioned = OutputAgreement::new(Conditioning::on(z.clone()));
        let conditioned = values(&conditioned.score(table).unwrap());
        assert_close(&conditioned, &by_definition(table, Some(z), false), 1e-12);
        let common = OutputAgreement::new(Conditioning::on(z.clone())).over_all_common_tasks();
        let common = values(&common.score(table).unwrap());
        assert_close(&common, &by_definition(table, Some(z), true), 1e-12);
    }

    proptest! {
        #[test]
        fn who_shares_only_the_largest_task_is_counted_as_the_definition_says(
            crowd in crowd_around_a_task(),
        ) {
            assert_is_as_defined(&crowd);
        }

        #[test]
        fn sparse_scores_equal_the_definition(crowd in random_crowd()) {
            assert_is_as_defined(&crowd);
        }

        #[test]
        fn what_z_says_can_only_lower_the_agreement(crowd in random_crowd()) {
            let full: Vec<Option<Label>> =
                crowd.z.iter().map(|label| label.or(Some(0))).collect();
            let plain = values(&OutputAgreement::default().score(&crowd.table).unwrap());
            let conditioned = OutputAgreement::new(Conditioning::on(full));
            let conditioned = values(&conditioned.score(&crowd.table).unwrap());
            for (plain, conditioned) in plain.iter().zip(&conditioned) {
                prop_assert!(conditioned.unwrap_or(0.0) <= plain.unwrap_or(0.0));
            }
        }
    }
}

//! T of one stratum for every worker: one for all, or each learned from the others.
//!
//! T estimated from all reports pays a worker for labels that nobody else gives: with many labels, a
//! pair of labels that met once by chance counts as agreement, and the worker's own guess is one of the
//! two. So T of worker i is that of a crowd without i. On a task q of i with `n` reports and counts
//! `c`, i's report x is taken out:
//!
//! ```text
//! pairs:   c[h] (c[l] - 1[h=l]) / (n (n-1))   becomes   c'[h] (c'[l] - 1[h=l]) / ((n-1) (n-2)),  c' = c - 1[. = x]
//! singles: c[h] / n                           becomes   c'[h] / (n-1)
//! ```
//!
//! and a task with two reports drops out. Only rows of labels that i gives are needed. The cost is that
//! of the different labels of the tasks of i, whatever the size of the crowd.

use rayon::prelude::*;

use super::influence::Report;
use crate::data::labels::{Label, LabelTable};
use crate::mechanism::scoring_function::{Joint, ScoreMatrix, correlated};

/// Where T comes from, in one stratum.
pub(super) enum Scoring {
    /// One for all.
    Same(ScoreMatrix),
    /// Each worker's own.
    Learned(Learned),
}

impl Scoring {
    /// Sum over l of `T[h, l] values[l]`, T being that of `worker`; `h` is a label that the worker gives.
    pub(super) fn dot(&self, worker: u32, h: Label, values: &[f64]) -> f64 {
        match self {
            Self::Same(matrix) => {
                let row = &matrix.values[usize::from(h) * matrix.classes..][..matrix.classes];
                row.iter().zip(values).map(|(paid, value)| paid * value).sum()
            }
            Self::Learned(learned) => learned.paid(worker, h).map(|l| values[l]).sum(),
        }
    }

    /// Adds `weight T[h, l]` to every `sums[l]`.
    pub(super) fn add(&self, worker: u32, h: Label, weight: f64, sums: &mut [f64]) {
        match self {
            Self::Same(matrix) => {
                let row = &matrix.values[usize::from(h) * matrix.classes..][..matrix.classes];
                sums.iter_mut().zip(row).for_each(|(sum, paid)| *sum += weight * paid);
            }
            Self::Learned(learned) => learned.paid(worker, h).for_each(|l| sums[l] += weight),
        }
    }

    /// Whether there is a T for `worker`: others who answered a task together.
    pub(super) fn has(&self, worker: u32) -> bool {
        match self {
            Self::Same(_) => true,
            Self::Learned(learned) => learned.known[worker as usize],
        }
    }
}

/// What a stratum says about the labels on each task.
pub(super) struct Counts {
    /// Labels that occur on each task with their counts, and where those of a task start.
    pub(super) present: Vec<(Label, u32)>,
    pub(super) starts: Vec<u32>,
}

impl Counts {
    /// The labels on the task at `place` in the stratum.
    pub(super) fn of(&self, place: u32) -> &[(Label, u32)] {
        let place = place as usize;
        &self.present[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// The labels on the tasks of one worker, brought together: in a large stratum each lies somewhere else.
#[derive(Default)]
pub(super) struct Fetched {
    present: Vec<(Label, u32)>,
    ends: Vec<u32>,
}

/// Whoever has more reports has tasks that lie side by side.
const MOST_FETCHED: usize = 1 << 14;

impl Fetched {
    /// First all places, then all labels: so the memory is asked for many at a time.
    pub(super) fn fetch(&mut self, counts: &Counts, reports: &[Report]) {
        self.present.clear();
        self.ends.clear();
        if reports.len() > MOST_FETCHED {
            return;
        }
        let starts = reports.iter().map(|report| counts.starts[report.task as usize]);
        self.ends.extend(starts);
        for (end, report) in self.ends.iter_mut().zip(reports) {
            let rest = *end as usize..counts.starts[report.task as usize + 1] as usize;
            self.present.extend_from_slice(&counts.present[rest]);
            *end = u32::try_from(self.present.len()).expect("fewer labels than reports");
        }
    }

    /// Visits the reports that were fetched.
    pub(super) fn each(
        &self,
        counts: &Counts,
        reports: &[Report],
        mut visit: impl FnMut(&Report, &[(Label, u32)]),
    ) {
        if reports.len() > MOST_FETCHED {
            reports.iter().for_each(|report| visit(report, counts.of(report.task)));
            return;
        }
        let mut start = 0;
        for (report, &end) in reports.iter().zip(&self.ends) {
            visit(report, &self.present[start..end as usize]);
            start = end as usize;
        }
    }
}

/// T of every worker, in bits: those rows that the worker has a label of.
pub(super) struct Learned {
    /// Words of 64 bits a row.
    words: usize,
    /// Rows of worker `i` are `starts[i]..starts[i + 1]`, of the labels `labels`, ascending.
    starts: Vec<u32>,
    labels: Vec<Label>,
    bits: Vec<u64>,
    known: Vec<bool>,
}

impl Learned {
    /// Learns from the reports of a stratum, those of worker `i` at `reports[offsets[i]..offsets[i + 1]]`.
    pub(super) fn new(
        table: &LabelTable,
        tasks: &[u32],
        counts: &Counts,
        (reports, offsets): (&[Report], &[u32]),
    ) -> Self {
        let (totals, used) = Joint::totals(table, tasks);
        let stratum = Learning { totals, used, counts };
        let of = |worker: usize| &reports[offsets[worker] as usize..offsets[worker + 1] as usize];
        let words = table.label_count().div_ceil(64);
        let learned: Vec<(Vec<Label>, Option<Vec<u64>>)> = (0..table.worker_count())
            .into_par_iter()
            .with_min_len(64)
            .map_init(Sums::default, |sums, worker| {
                let labels = sums.labels_of(of(worker), table.label_count());
                let rows = stratum.rows(of(worker), &labels, words, sums);
                (labels, rows)
            })
            .collect();
        let mut all = Self {
            words,
            starts: vec![0],
            labels: Vec::new(),
            bits: Vec::new(),
            known: Vec::new(),
        };
        for (labels, rows) in learned {
            all.known.push(rows.is_some());
            if let Some(rows) = rows {
                all.labels.extend(labels);
                all.bits.extend(rows);
            }
            all.starts.push(u32::try_from(all.labels.len()).expect("fewer rows than reports"));
        }
        all
    }

    /// The labels l with `T[h, l] = 1`, ascending; none for a label that the worker does not give.
    fn paid(&self, worker: u32, h: Label) -> impl Iterator<Item = usize> {
        let rows = self.starts[worker as usize] as usize..self.starts[worker as usize + 1] as usize;
        let row = self.labels[rows.clone()].binary_search(&h).ok();
        let words =
            row.map_or(&[][..], |row| &self.bits[(rows.start + row) * self.words..][..self.words]);
        words.iter().enumerate().flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(64 * word + bit)
            })
        })
    }
}

/// A stratum to learn from.
struct Learning<'a> {
    /// Sums over its tasks with two reports or more, and how many these are.
    totals: Joint,
    used: u64,
    counts: &'a Counts,
}

/// What is added up for one worker, reused between workers.
#[derive(Default)]
struct Sums {
    /// Place of a label among the worker's, plus one; 0 for others.
    row_of: Vec<u32>,
    /// Row-major worker's label by label.
    pairs: Vec<f64>,
    singles: Vec<f64>,
    fetched: Fetched,
}

impl Learning<'_> {
    /// The rows of T of a worker with these reports and labels; `None` where no two others answered
    /// a task.
    fn rows(
        &self,
        reports: &[Report],
        labels: &[Label],
        words: usize,
        sums: &mut Sums,
    ) -> Option<Vec<u64>> {
        let classes = self.totals.classes;
        sums.pairs.clear();
        sums.singles.clear();
        let mut fetched = std::mem::take(&mut sums.fetched);
        fetched.fetch(self.counts, reports);
        let mut dropped = 0;
        fetched.each(self.counts, reports, |_, present| {
            dropped += u64::from(present.iter().map(|(_, count)| count).sum::<u32>() == 2);
        });
        let used = self.used - dropped;
        if used == 0 {
            sums.fetched = fetched;
            return None;
        }
        for (row, label) in (1..).zip(labels) {
            sums.row_of[usize::from(*label)] = row;
        }
        // Where next to nothing is left of the totals, only rounding would be: then the few other tasks
        // are added up. At most two workers of a stratum can have 99 % of its tasks of two reports.
        let few = used < self.used / 100;
        if few {
            sums.pairs.resize(labels.len() * classes, 0.0);
            sums.singles.resize(classes, 0.0);
            let mut own = reports.iter().map(|report| report.task).peekable();
            let places = u32::try_from(self.counts.starts.len()).expect("fewer than 2^32 tasks");
            for place in 0..places - 1 {
                if own.next_if_eq(&place).is_none() {
                    sums.add(self.counts.of(place), None, 1.0);
                }
            }
        } else {
            for label in labels {
                let row = usize::from(*label) * classes;
                sums.pairs.extend_from_slice(&self.totals.pairs[row..row + classes]);
            }
            sums.singles.extend_from_slice(&self.totals.singles);
            fetched.each(self.counts, reports, |_, present| sums.add(present, None, -1.0));
        }
        fetched.each(self.counts, reports, |report, present| {
            sums.add(present, Some(report.label), 1.0);
        });
        sums.fetched = fetched;
        let used = used as f64;
        let mut bits = vec![0; labels.len() * words];
        for (row, &h) in labels.iter().enumerate() {
            let single = sums.singles[usize::from(h)] / used;
            let pairs = &sums.pairs[row * classes..][..classes];
            for (l, (pair, other)) in pairs.iter().zip(&sums.singles).enumerate() {
                if correlated(pair / used, single * other / used) {
                    bits[row * words + l / 64] |= 1 << (l % 64);
                }
            }
            sums.row_of[usize::from(h)] = 0;
        }
        Some(bits)
    }
}

impl Sums {
    /// The labels of the reports, ascending.
    fn labels_of(&mut self, reports: &[Report], classes: usize) -> Vec<Label> {
        self.row_of.resize(classes, 0);
        let mut labels = Vec::new();
        for report in reports {
            let seen = &mut self.row_of[usize::from(report.label)];
            if *seen == 0 {
                *seen = 1;
                labels.push(report.label);
            }
        }
        labels.iter().for_each(|&label| self.row_of[usize::from(label)] = 0);
        labels.sort_unstable();
        labels
    }

    /// Adds `sign` times a task, without one report of the label `without`.
    fn add(&mut self, present: &[(Label, u32)], without: Option<Label>, sign: f64) {
        let classes = self.singles.len();
        let count =
            |(label, count): (Label, u32)| f64::from(count - u32::from(without == Some(label)));
        let reports: f64 = present.iter().map(|&entry| count(entry)).sum();
        if reports < 2.0 {
            return;
        }
        let (per_report, per_pair) = (sign / reports, sign / (reports * (reports - 1.0)));
        for &(h, of_h) in present {
            let of_h = count((h, of_h));
            self.singles[usize::from(h)] += of_h * per_report;
            let row = self.row_of[usize::from(h)] as usize;
            if row > 0 && of_h > 0.0 {
                let row = &mut self.pairs[(row - 1) * classes..][..classes];
                for &(l, of_l) in present {
                    let of_l = count((l, of_l)) - f64::from(u8::from(h == l));
                    row[usize::from(l)] += of_h * of_l * per_pair;
                }
            }
        }
    }
}

//! What would the flags of `own` find in this crowd? Cheaters of every kind are planted in it.
//!
//! In every trial some of the judged workers hand in something else on their own tasks, all else stays
//! as it is. Workers left alone count as honest, which in a real crowd not all of them are. What is
//! handed in as another LLM's is a sample or a source that the principal has in no file: with several,
//! one drawn at random is taken out of Z; with one, cheaters of this kind are left out.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::trials::{TrialGrid, TrialId, run_trials};
use crate::data::Labels;
use crate::data::import::Imports;
use crate::data::label_reader::LabelReading;
use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::data::observer::Observer;
use crate::data::z::ZSource;
use crate::error::{ErrorKind, Kinded, Result};
use crate::mechanism::{MechanismError, OwnAnswers, OwnFlag, OwnRun, OwnSettings};
use crate::report::{Cell, Report, Table, settings_map};
use crate::stats::interval::Share;

words! {
    /// What a planted worker hands in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum Planted {
        /// The LLM's label on every task.
        Copy = "copy",
        /// The same, but for one task in twenty.
        NearCopy = "near_copy",
        /// The labels of another sample or source, which is not in Z.
        OtherLlm = "other_llm",
        /// Draws from all labels of the crowd.
        Guess = "guess",
        /// Draws from the different labels, each as likely.
        Uniform = "uniform",
        /// One label always, drawn from the different labels.
        OneLabel = "one_label",
    }
}

/// Settings of the experiment: its provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OwnLabelsSettings {
    /// Share of the judged workers who are planted in a trial, at least one of them.
    pub share: f64,
    /// Trials.
    pub trials: u32,
    /// False discovery rate of the flag.
    pub fdr: f64,
    /// Fewest tasks of a worker who is judged.
    pub min_tasks: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for OwnLabelsSettings {
    fn default() -> Self {
        Self { share: 0.1, trials: 50, fdr: 0.05, min_tasks: 10, seed: 0 }
    }
}

/// Why there is nothing to try.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OwnLabelsError {
    /// A share or rate that is none.
    #[error("`{setting}` is {value}; it must be from 0 to 1")]
    OutOfRange { setting: &'static str, value: f64 },
    /// Nobody in whose place a cheater could be planted.
    #[error("own judges nobody in this crowd ({reason})")]
    NobodyJudged { reason: &'static str },
    /// The mechanism failed.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

impl Kinded for OwnLabelsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfRange { .. } => ErrorKind::Usage,
            Self::NobodyJudged { .. } => ErrorKind::Input,
            Self::Mechanism(error) => error.kind(),
        }
    }
}

/// Flagged and all, by kind, people last.
type Counts = Vec<[u64; 3]>;

/// A finished experiment.
#[derive(Debug)]
pub(crate) struct OwnLabelsRun {
    settings: OwnLabelsSettings,
    set: Labels,
    /// By [`Planted::EACH`], then people beside them, then people where nobody is planted: `look`, named
    /// right, and all.
    counts: Counts,
}

/// Runs the experiment on a crowd.
///
/// # Errors
///
/// [`OwnLabelsError`], and if `observer` asked to stop.
pub(crate) fn own_labels(
    set: Labels,
    settings: &OwnLabelsSettings,
    observer: &dyn Observer,
) -> Result<OwnLabelsRun> {
    for (setting, value) in [("share", settings.share), ("fdr", settings.fdr)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(OwnLabelsError::OutOfRange { setting, value }.into());
        }
    }
    let (false_discovery_rate, min_tasks) = (settings.fdr, settings.min_tasks);
    let own = OwnSettings { false_discovery_rate, min_tasks, ..OwnSettings::default() };
    let as_it_is = OwnAnswers::new(&set.z.sources, own).judge(&set.table)?;
    let judged: Vec<usize> = (0..as_it_is.workers.len())
        .filter(|&worker| as_it_is.workers[worker].p_own.is_some())
        .collect();
    if judged.is_empty() {
        let reason = as_it_is.workers.first().and_then(|worker| worker.not_judged);
        let reason = reason.map_or("there are no labels", |reason| reason.as_words());
        return Err(OwnLabelsError::NobodyJudged { reason }.into());
    }
    let crowd = Crowd { table: &set.table, sources: &set.z.sources, judged: &judged, own };
    let grid = TrialGrid { points: 1, repetitions: settings.trials };
    let progress = observer.stage("trials", grid.trials());
    let trials: Vec<Counts> =
        run_trials(grid, None, progress.as_ref(), |id| crowd.trial(settings, id))?;
    let mut counts = vec![[0; 3]; Planted::EACH.len() + 2];
    for trial in &trials {
        for (sum, one) in counts.iter_mut().zip(trial) {
            (0..3).for_each(|place| sum[place] += one[place]);
        }
    }
    let alone = Planted::EACH.len() + 1;
    judged.iter().for_each(|&worker| count(&mut counts[alone], &as_it_is, worker, "own"));
    Ok(OwnLabelsRun { settings: settings.clone(), set, counts })
}

fn count(counts: &mut [u64; 3], run: &OwnRun, worker: usize, word: &str) {
    let score = &run.workers[worker];
    if let Some(reads_as) = score.reads_as {
        counts[0] += u64::from(score.flag == OwnFlag::Look);
        counts[1] += u64::from(reads_as.as_str() == word);
        counts[2] += 1;
    }
}

struct Crowd<'a> {
    table: &'a LabelTable,
    sources: &'a [ZSource],
    judged: &'a [usize],
    own: OwnSettings,
}

impl Crowd<'_> {
    fn trial(&self, settings: &OwnLabelsSettings, id: TrialId) -> Result<Counts, OwnLabelsError> {
        let mut random = id.stream(settings.seed, "own labels");
        let (known, hidden) = self.hide_one(&mut random);
        let mut order = self.judged.to_vec();
        order.shuffle(&mut random);
        let share = settings.share * order.len() as f64;
        let planted = (0..order.len()).filter(|n| (*n as f64) < share.round().max(1.0)).count();
        let mut kinds: Vec<Planted> = Planted::EACH.to_vec();
        kinds.retain(|kind| hidden.is_some() || *kind != Planted::OtherLlm);
        kinds.shuffle(&mut random);
        let mut kind_of = vec![None; self.table.worker_count()];
        for (place, &worker) in order.iter().take(planted).enumerate() {
            kind_of[worker] = Some(kinds[place % kinds.len()]);
        }
        let z = known.first().map(super::super::data::z::ZSource::conditioning).unwrap_or_default();
        let reports = self.reports(&kind_of, &z, hidden.as_deref(), &mut random);
        let names = LabelNames {
            tasks: self.table.tasks().clone(),
            workers: self.table.workers().clone(),
            labels: self.table.labels().clone(),
        };
        let run = OwnAnswers::new(&known, self.own).judge(&LabelTable::new(names, &reports))?;
        let mut counts = vec![[0; 3]; Planted::EACH.len() + 2];
        for &worker in self.judged {
            let place =
                kind_of[worker].and_then(|kind| Planted::EACH.iter().position(|k| *k == kind));
            let word = match kind_of[worker] {
                None => "own",
                Some(Planted::Copy | Planted::NearCopy) => "copy",
                Some(Planted::OtherLlm) => "llm",
                Some(Planted::Guess | Planted::Uniform) => "guess",
                Some(Planted::OneLabel) => "constant",
            };
            count(&mut counts[place.unwrap_or(Planted::EACH.len())], &run, worker, word);
        }
        Ok(counts)
    }

    /// Z without one sample, and its labels; all of Z where there is only one.
    fn hide_one(&self, random: &mut ChaCha8Rng) -> (Vec<ZSource>, Option<Vec<Option<Label>>>) {
        let mut sources = self.sources.to_vec();
        let all: Vec<(usize, usize)> = (0..sources.len())
            .flat_map(|s| (0..sources[s].samples.len()).map(move |sample| (s, sample)))
            .collect();
        if all.len() < 2 {
            return (sources, None);
        }
        let (source, sample) = all[random.random_range(0..all.len())];
        let hidden = sources[source].samples.remove(sample).labels;
        sources.retain(|source| !source.samples.is_empty());
        (sources, Some(hidden))
    }

    fn reports(
        &self,
        kind_of: &[Option<Planted>],
        z: &[Option<Label>],
        hidden: Option<&[Option<Label>]>,
        random: &mut ChaCha8Rng,
    ) -> Vec<LabelReport> {
        let all: Vec<LabelReport> = self.table.reports().collect();
        let labels = self.table.label_count();
        let mut is_given = vec![false; labels];
        all.iter().for_each(|report| is_given[usize::from(report.label)] = true);
        let given: Vec<Label> = (0..=Label::MAX)
            .zip(&is_given)
            .filter(|(_, given)| **given)
            .map(|(label, _)| label)
            .collect();
        let one: Vec<Label> =
            kind_of.iter().map(|_| given[random.random_range(0..given.len())]).collect();
        // A label that nobody in the crowd gives cannot be handed in here.
        let of = |labels: &[Option<Label>], report: &LabelReport| {
            let label = labels.get(report.task as usize).copied().flatten();
            label.filter(|label| is_given.get(usize::from(*label)).is_some_and(|given| *given))
        };
        all.iter()
            .map(|report| {
                let handed_in = match kind_of[report.worker as usize] {
                    None => None,
                    Some(Planted::NearCopy) if random.random_bool(0.05) => None,
                    Some(Planted::Copy | Planted::NearCopy) => of(z, report),
                    Some(Planted::OtherLlm) => hidden.and_then(|labels| of(labels, report)),
                    Some(Planted::Guess) => Some(all[random.random_range(0..all.len())].label),
                    Some(Planted::Uniform) => Some(given[random.random_range(0..given.len())]),
                    Some(Planted::OneLabel) => Some(one[report.worker as usize]),
                };
                LabelReport { label: handed_in.unwrap_or(report.label), ..*report }
            })
            .collect()
    }
}

/// What a result is made of beside its inputs.
#[derive(Serialize)]
struct Provenance<'a> {
    #[serde(flatten)]
    settings: &'a OwnLabelsSettings,
    #[serde(flatten)]
    reading: LabelReading,
    #[serde(flatten)]
    imports: &'a Imports,
}

impl OwnLabelsRun {
    /// One row a kind: the share that is flagged, with its 95 % interval, and the share that is named right.
    pub(crate) fn report(&self) -> Report {
        let columns = ["planted", "flagged", "ci_low", "ci_high", "named", "n"];
        let mut table = Table::new(&columns);
        let kinds = Planted::EACH.iter().map(|kind| kind.as_str());
        for (name, [look, named, all]) in
            kinds.chain(["people", "nobody planted"]).zip(&self.counts)
        {
            if *all == 0 {
                continue;
            }
            let share = Share::wilson(*look as f64 / *all as f64, *all as f64);
            table.push(vec![
                name.into(),
                share.map(|share| share.value).into(),
                share.map(|share| share.interval.0).into(),
                share.map(|share| share.interval.1).into(),
                Cell::from(Some(*named as f64 / *all as f64)),
                (*all).into(),
            ]);
        }
        let OwnLabelsSettings { share, trials, .. } = &self.settings;
        let scope = format!(
            "In each of {trials} trials {:.0} % of the judged workers hand in something else than their \
             own answers, the kinds in turn.",
            100.0 * share
        );
        let meaning = "flagged: share with the flag look, with its 95 % interval; named: share that reads \
                       as what it is. people: those left alone beside cheaters; nobody planted: the crowd as \
                       it is. Both count as honest, which in a real crowd not all of them are.";
        let provenance = Provenance {
            settings: &self.settings,
            reading: self.set.reading,
            imports: &self.set.imports,
        };
        Report {
            command: "experiment own-labels",
            inputs: self.set.inputs.clone(),
            settings: settings_map(&provenance),
            table,
            warnings: self.set.warnings.clone(),
            footer: vec![scope, meaning.into()],
            prose: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::observer::Silent;
    use crate::data::{LabelRow, ZLabelRow};
    use crate::stats::seed::stream;

    /// 40 workers and two samples of an LLM on 100 tasks of three labels, all right with .8.
    fn set() -> Labels {
        let mut random = stream(4, "test", 0);
        let names = ["x", "y", "z"];
        let (mut rows, mut z) = (Vec::new(), Vec::new());
        for task in 0..100 {
            let mut said = || {
                names[if random.random_bool(0.7) { task % 3 } else { random.random_range(0..3) }]
            };
            let name = format!("q{task}");
            z.extend(["0", "1"].map(|sample| ZLabelRow {
                sample: Some(sample.into()),
                ..ZLabelRow::new(&name, said())
            }));
            let label = |worker| LabelRow::new(&name, format!("w{worker}"), said());
            rows.extend((0..40).map(label));
        }
        Labels::from_rows(rows, z).unwrap()
    }

    #[test]
    fn copies_and_one_label_are_found_people_are_not_and_a_seed_gives_the_same() {
        let settings = OwnLabelsSettings { trials: 10, ..OwnLabelsSettings::default() };
        let run = own_labels(set(), &settings, &Silent).unwrap();
        let [look, named, all] = run.counts[0];
        assert!(all >= 3 && look == all && named == all, "{:?}", run.counts);
        assert_eq!(run.counts[5][0], run.counts[5][2], "{:?}", run.counts);
        assert!(50 * run.counts[6][0] <= run.counts[6][2], "{:?}", run.counts);
        assert_eq!(run.counts[..7].iter().map(|counts| counts[2]).sum::<u64>(), 10 * 40);
        assert_eq!(run.counts[7][2], 40);
        let again = own_labels(set(), &settings, &Silent).unwrap();
        assert_eq!(again.counts, run.counts);
        assert_eq!(run.report().table.rows().len(), 8);
    }

    #[test]
    fn a_share_that_is_none_and_a_crowd_without_judged_workers_are_errors() {
        let settings = OwnLabelsSettings { share: 1.5, ..OwnLabelsSettings::default() };
        assert_eq!(own_labels(set(), &settings, &Silent).unwrap_err().kind(), ErrorKind::Usage);
        let rows = [LabelRow::new("q", "a", "x"), LabelRow::new("q", "b", "x")];
        let few = Labels::from_rows(rows, [ZLabelRow::new("q", "x")]).unwrap();
        let error = own_labels(few, &OwnLabelsSettings::default(), &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
    }
}

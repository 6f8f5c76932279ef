//! The table and the words of a run on labels.

use crate::data::nouns::{HAVE, counted, verb};
use serde::Serialize;

use super::{LabelsRun, LabelsSettings, MechanismScores, WorkerRow, accuracy, own};
use crate::data::Labels;
use crate::data::import::Imports;
use crate::data::label_reader::LabelReading;
use crate::data::warning::first_names;
use crate::mechanism::{AnswerKind, MechanismName, NotJudged};
use crate::report::{Cell, Report, Table, estimate_cells, settings_map};
use crate::stats::interval::Intervals;

/// Columns of the result, a contract with scripts.
const COLUMNS: [&str; 19] = [
    "worker",
    "mechanism",
    "score",
    "se",
    "ci_low",
    "ci_high",
    "n_tasks",
    "n_z_tasks",
    "rank",
    "flag",
    "lambda",
    "copied",
    "copied_low",
    "copied_high",
    "p_own",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "reads_as",
];

/// Columns that follow when the truth is known.
const TRUTH_COLUMNS: [&str; 3] = ["n_truth_tasks", "truth_accuracy", "consensus_accuracy"];

/// Last column where `own` judges: why it does not judge the worker.
const REASON: &str = "reason";

/// What a result is made of beside its inputs: the settings, and what was read how.
#[derive(Serialize)]
struct Provenance<'a> {
    #[serde(flatten)]
    settings: &'a LabelsSettings,
    #[serde(flatten)]
    reading: LabelReading,
    #[serde(flatten)]
    imports: &'a Imports,
    z: Vec<SourceNames<'a>>,
}

/// An LLM and the names of its samples.
#[derive(Serialize)]
struct SourceNames<'a> {
    source: &'a str,
    samples: Vec<&'a str>,
}

impl LabelsRun {
    /// The result for people and programs.
    pub fn report(&self) -> Report {
        // What was read, what was found, how to read it: few lines, since few are read.
        let is_answer = self.is_answer();
        let mut scope = scope(&self.set);
        // Own is what is expected; that it cannot be had needs a word.
        if let Some(choice) = self.choice.as_ref().filter(|_| !is_answer) {
            scope = format!("{scope} {choice}");
        }
        let (mut footer, mut meanings) = (vec![scope], Vec::new());
        for scored in &self.scored {
            footer.extend(consensus(scored));
            footer.extend(own::footer(scored));
            // Who is not judged by own stands with a reason already; the paper's score beside it is
            // for whoever knows it.
            if is_answer {
                continue;
            }
            meanings.push(scored.mechanism.meaning());
            if scored.mechanism != MechanismName::Own {
                footer.extend(left_out(self.set.table.workers().names(), scored));
            }
        }
        footer.extend(accuracy::sentence(&self.scored, self.settings.min_tasks));
        meanings.push(self.closing());
        footer.push(meanings.join(" "));
        let provenance = Provenance {
            settings: &self.settings,
            reading: self.set.reading,
            imports: &self.set.imports,
            z: source_names(&self.set),
        };
        Report {
            command: "labels",
            inputs: self.set.inputs.clone(),
            settings: settings_map(&provenance),
            table: self.table(),
            warnings: self.warnings(),
            footer,
            prose: None,
        }
    }

    fn table(&self) -> Table {
        let mut table = table_of(&self.scored, self.set.truth.is_some());
        if let Some((headline, numbers)) = self.scored.iter().find_map(own::answer) {
            table.set_headline(headline);
            table.set_summary(numbers);
        }
        table
    }

    /// Whether the flags of own are what is read, with the paper's score beside them at most.
    pub(crate) fn is_answer(&self) -> bool {
        let beside = |name| matches!(name, MechanismName::Own | MechanismName::CaZ);
        self.scored.iter().any(|scored| scored.own.is_some())
            && self.scored.iter().all(|scored| beside(scored.mechanism))
    }

    fn closing(&self) -> String {
        if self.is_answer() {
            return "A flag is a reason to look, never a verdict: experts can read like a good LLM."
                .into();
        }
        let interval = if self.scored.iter().any(|scored| scored.zero_is_chance) {
            "ci_low to ci_high: 95 % over tasks. "
        } else {
            ""
        };
        format!(
            "Worst first; rank 1 is the best. {interval}too_few: fewer than {} tasks behind the score. A flag \
             is a reason to look, never a verdict.",
            self.settings.min_tasks
        )
    }
}

/// The rows of all mechanisms.
pub fn table_of(all: &[MechanismScores], with_truth: bool) -> Table {
    let mut columns = COLUMNS.to_vec();
    if with_truth {
        columns.extend(TRUTH_COLUMNS);
    }
    let with_reason = all.iter().any(|scored| scored.mechanism == MechanismName::Own);
    columns.extend(with_reason.then_some(REASON));
    let mut table = Table::new(&columns);
    let mut intervals = Intervals::default();
    for scored in all {
        for row in &scored.rows {
            let mut cells = cells(scored.mechanism.as_str(), row, &mut intervals);
            cells.extend(with_reason.then(|| reason(row)));
            table.push(cells);
        }
    }
    table
}

/// Why `own` does not judge the worker.
fn reason(row: &WorkerRow) -> Cell {
    row.own.and_then(|own| own.not_judged).map(NotJudged::as_words).into()
}

/// The cells of a row under [`COLUMNS`] and, if the truth is known, [`TRUTH_COLUMNS`].
fn cells(mechanism: &str, row: &WorkerRow, intervals: &mut Intervals) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![row.worker.as_str().into(), mechanism.into()];
    let interval = row.estimate.and_then(|estimate| intervals.of(&estimate));
    cells.extend(estimate_cells(row.estimate, interval));
    cells.extend([
        row.n_tasks.into(),
        row.n_z_tasks.into(),
        row.rank.into(),
        row.flag_word().into(),
        row.lambda.into(),
        row.copied.into(),
    ]);
    let (low, high) = row.copied_interval.unzip();
    let accuracy = row.accuracy;
    cells.extend([
        low.into(),
        high.into(),
        row.own.and_then(|own| own.p_own).into(),
        accuracy.map(|share| share.value).into(),
        accuracy.map(|share| share.interval.0).into(),
        accuracy.map(|share| share.interval.1).into(),
    ]);
    cells.push(row.own.and_then(|own| own.reads_as).map(AnswerKind::as_str).into());
    if let Some(truth) = row.truth {
        cells.extend([
            truth.own.n_tasks.into(),
            truth.own.share.into(),
            truth.consensus.share.into(),
        ]);
    }
    cells
}

fn source_names(set: &Labels) -> Vec<SourceNames<'_>> {
    set.z
        .sources
        .iter()
        .map(|source| SourceNames {
            source: &source.name,
            samples: source.samples.iter().map(|sample| sample.name.as_str()).collect(),
        })
        .collect()
}

/// What was scored, in a sentence.
pub(super) fn scope(set: &Labels) -> String {
    let table = &set.table;
    let sizes =
        [table.worker_count(), table.report_count(), table.task_count(), table.label_count()];
    let names: Vec<&str> = set.z.sources.iter().map(|source| source.name.as_str()).collect();
    scope_of(sizes.map(|size| size as u64), &names)
}

/// The same of so many workers, labels, tasks and different labels, and of LLMs of these names.
pub fn scope_of([workers, reports, tasks, different]: [u64; 4], names: &[&str]) -> String {
    let crowd = format!(
        "{}, {} of {}, {}",
        counted(workers, "worker"),
        counted(reports, "label"),
        counted(tasks, "task"),
        counted(different, "different label")
    );
    match names.len() {
        0 => format!("{crowd}; no labels of an LLM."),
        1 => format!("{crowd}; the LLM: {}.", names[0]),
        count => format!("{crowd}; {count} LLMs: {}.", first_names(names)),
    }
}

/// How right the crowd is as a whole, in a sentence, if the truth is known.
fn consensus(scored: &MechanismScores) -> Option<String> {
    let consensus = scored.consensus?;
    let what = if scored.posteriors.is_some() { "most probable label" } else { "majority" };
    let share = consensus.share? * 100.0;
    let tasks = consensus.n_tasks;
    let tasks = counted(tasks, "task");
    Some(format!("The {what} is right on {share:.1} % of {tasks} with known truth."))
}

/// Who has no score, by number of the worker, and why.
pub fn left_out(workers: &[String], scored: &MechanismScores) -> Option<String> {
    let mut without: Vec<usize> =
        scored.rows.iter().filter(|row| row.estimate.is_none()).map(|row| row.number).collect();
    without.sort_unstable();
    let names: Vec<&str> = without.iter().map(|&number| workers[number].as_str()).collect();
    let (count, name, why) = (names.len(), scored.mechanism, scored.mechanism.unscored());
    let (workers, have) = (counted(count, "worker"), verb(count, HAVE));
    (count > 0)
        .then(|| format!("{workers} {have} no {name} score ({why}): {}.", first_names(&names)))
}

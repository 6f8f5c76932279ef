//! From scores of mechanisms to the table and the words of `caz labels`.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::io::{self, Write};

use serde_json::Map;

use super::estimates::{estimate_cells, worst_first};
use crate::data::label_reader::LoadedLabels;
use crate::data::labels::LabelTable;
use crate::data::warning::{Warning, first_names};
use crate::mechanism::{Posteriors, Scores, consensus_accuracy, worker_accuracy};
use crate::report::{Cell, Report, Table, guarded};
use crate::stats::flag::{Flag, FlagSettings, flags};
use crate::stats::rank::descending_ranks;

/// Columns of the result, a contract with scripts.
const COLUMNS: [&str; 11] = [
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
];

/// Columns that follow when the truth is known.
const TRUTH_COLUMNS: [&str; 3] = ["n_truth_tasks", "accuracy", "consensus_accuracy"];

/// What one mechanism said.
pub(super) struct Scored {
    pub(super) name: &'static str,
    pub(super) zero_is_chance: bool,
    pub(super) scores: Scores,
}

/// The table with warnings and footer; inputs and settings are left to the caller.
pub(super) fn scores_report(
    loaded: &LoadedLabels,
    scored: &[Scored],
    settings: &FlagSettings,
) -> Report {
    let mut columns = COLUMNS.to_vec();
    if loaded.truth.is_some() {
        columns.extend(TRUTH_COLUMNS);
    }
    let mut table = Table::new(&columns);
    let mut warnings = loaded.warnings.clone();
    let mut footer = vec![scope(loaded)];
    for scored in scored {
        let people: Vec<_> =
            scored.scores.workers.iter().map(|score| (score.estimate, score.n_used)).collect();
        let flags = flags(&people, settings);
        let consensus = push_rows(&mut table, loaded, scored, &flags);
        footer.push(meaning(scored.name).to_owned());
        footer.extend(consensus);
        footer.extend(left_out(loaded, scored));
        let known: Vec<Warning> = warnings.clone();
        warnings.extend(scored.scores.warnings.iter().filter(|w| !known.contains(w)).cloned());
    }
    footer.push(closing(scored, settings));
    Report {
        command: "labels",
        inputs: Vec::new(),
        settings: Map::new(),
        table,
        warnings,
        footer,
        prose: None,
    }
}

/// Adds a row per worker, worst first; returns a sentence on the consensus if the truth is known.
fn push_rows(
    table: &mut Table,
    loaded: &LoadedLabels,
    scored: &Scored,
    flags: &[Flag],
) -> Option<String> {
    let workers = loaded.table.workers();
    let scores = &scored.scores;
    let values: Vec<Option<f64>> =
        scores.workers.iter().map(|score| score.estimate.map(|e| e.value)).collect();
    let ranks = descending_ranks(&values);
    let consensus = loaded
        .truth
        .as_ref()
        .map(|truth| consensus_accuracy(&loaded.table, truth, scores.posteriors.as_ref()));
    for index in worst_first(&values, workers.names()) {
        let score = &scores.workers[index];
        // Only a score whose zero means "nothing beyond chance" can be called informative or not.
        let shown = scored.zero_is_chance || flags[index] == Flag::TooFew;
        let mut row: Vec<Cell> = vec![workers.names()[index].as_str().into(), scored.name.into()];
        row.extend(estimate_cells(score.estimate));
        row.extend([
            score.n_tasks.into(),
            score.n_z_tasks.into(),
            ranks[index].into(),
            shown.then(|| flags[index].as_str()).into(),
            score.lambda.into(),
        ]);
        if let (Some(truth), Some(consensus)) = (&loaded.truth, &consensus) {
            let own = worker_accuracy(&loaded.table, truth, index as u32);
            row.extend([own.n_tasks.into(), own.share.into(), consensus.share.into()]);
        }
        table.push(row);
    }
    consensus.and_then(|consensus| {
        let what = if scores.posteriors.is_some() { "most probable label" } else { "majority" };
        let share = consensus.share? * 100.0;
        let tasks = consensus.n_tasks;
        Some(format!("The {what} is right on {share:.1} % of {tasks} tasks with known truth."))
    })
}

/// What was scored, in a sentence.
pub(super) fn scope(loaded: &LoadedLabels) -> String {
    let table = &loaded.table;
    let crowd = format!(
        "Scored {} workers by {} labels of {} tasks, {} different labels",
        table.worker_count(),
        table.report_count(),
        table.task_count(),
        table.label_count()
    );
    let names: Vec<&str> = loaded.z.sources.iter().map(|source| source.name.as_str()).collect();
    match names.len() {
        0 => format!("{crowd}, without labels of an LLM."),
        1 => format!("{crowd}, given the labels of the LLM {}.", names[0]),
        count => format!(
            "{crowd}, given the labels of {count} LLMs ({}); each worker has the lowest score \
             over them.",
            first_names(&names)
        ),
    }
}

/// What the score of a mechanism means.
pub(super) fn meaning(mechanism: &str) -> &'static str {
    match mechanism {
        "ca_z" => {
            "ca_z: agreement with peers on the same task, less agreement on other tasks that the \
             LLM labels the same; 0 is what copying the LLM or guessing earns."
        }
        "ca" => {
            "ca: agreement with peers on the same task, less agreement on other tasks; rewards \
             what workers copied from the same LLM."
        }
        "oa" => {
            "oa: share of tasks on which a peer agrees, averaged over the crowd; rewards copying \
             and common labels."
        }
        "oa_z" => {
            "oa_z: as oa, but an agreement counts only where it differs from the LLM; rewards \
             rare mistakes made together."
        }
        "ds" => "ds: estimated accuracy (Dawid-Skene); takes what everybody copied for the truth.",
        "ds_z" => {
            "ds_z: estimated information in a worker's own answers, less the share copied from \
             the LLM; lambda is that share."
        }
        _ => "neg_z: minus the share of tasks on which the worker says what the LLM says.",
    }
}

fn left_out(loaded: &LoadedLabels, scored: &Scored) -> Option<String> {
    let names: Vec<&str> = scored
        .scores
        .workers
        .iter()
        .zip(loaded.table.workers().names())
        .filter(|(score, _)| score.estimate.is_none())
        .map(|(_, name)| name.as_str())
        .collect();
    let why = match scored.name {
        "ca_z" => "no task with a Z label and a peer who has another task of that Z label",
        "ca" => "no task with a peer who has another task",
        "oa" => "no task shared with a peer",
        "oa_z" => "no task with a Z label shared with a peer",
        "neg_z" => "no task with a Z label",
        _ => "no label",
    };
    let count = names.len();
    (count > 0).then(|| {
        format!("{count} workers have no {} score ({why}): {}.", scored.name, first_names(&names))
    })
}

fn closing(scored: &[Scored], settings: &FlagSettings) -> String {
    let interval = if scored.iter().any(|scored| scored.zero_is_chance) {
        "ci_low to ci_high is a 95 % interval over tasks. "
    } else {
        ""
    };
    format!(
        "Worst first; rank 1 is the best. {interval}Flag too_few: fewer than {} tasks behind the \
         score. A flag is a reason to look, never a verdict.",
        settings.min_count
    )
}

/// Writes `task,label,probability`, by task and label number.
pub(super) fn posterior_rows(
    table: &LabelTable,
    posteriors: &Posteriors,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["task", "label", "probability"])?;
    for (task, name) in (0..).zip(table.tasks().names()) {
        for (label, probability) in table.labels().names().iter().zip(posteriors.of_task(task)) {
            let probability = probability.to_string();
            writer.write_record([&*guarded(name), &*guarded(label), &*probability])?;
        }
    }
    writer.flush()
}

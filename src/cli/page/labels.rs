//! The page of `caz labels`: scores by mechanism, and what each worker said.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use super::super::label_scores::{Scored, meaning, scope};
use super::NOT_A_VERDICT;
use crate::data::label_reader::LoadedLabels;
use crate::data::labels::Label;
use crate::mechanism::{consensus_labels, worker_accuracy, worker_confusion};
use crate::report::Report;
use crate::report::html::{
    Confusion, Details, LabelDetail, LabelDetails, Measure, Page, People, PeopleColumns, View,
    views_of,
};
use crate::report::plot::{ScatterChart, ScatterPoint};

/// Pairs of labels that are shown of a worker.
const SHOWN_PAIRS: usize = 225;

/// The page.
pub(in super::super) fn page(report: &Report, loaded: &LoadedLabels, scored: &[Scored]) -> Page {
    let workers = loaded.table.workers();
    let columns = PeopleColumns { person: "worker", view: "mechanism", count: "n_tasks" };
    let number = |name: &str| workers.get(name).map(|number| number as usize);
    let mut views = views_of(&report.table, columns, workers.len(), number);
    for view in &mut views {
        view.meaning = meaning(&view.name).to_owned();
    }
    let agreement = agreement_with_z(loaded);
    let details = details(loaded, scored, &agreement);
    let measures = measures(loaded, scored, &agreement, &details.1);
    let scatter = views.first().and_then(|view| scatter(view, &measures));
    let people = People {
        noun: "worker",
        counted: "tasks",
        names: workers.names().to_vec(),
        views,
        measures,
        scatter,
        details: Details::Labels(details.0),
    };
    Page {
        title: "What workers add beyond the LLM".into(),
        lead: vec![scope(loaded)],
        reading: reading(!loaded.z.sources.is_empty()),
        people: Some(people),
        ..Page::default()
    }
}

fn reading(with_z: bool) -> Vec<String> {
    let llm = if with_z {
        "The share of tasks on which a worker says what the LLM says proves nothing by itself: on \
         easy tasks everybody does; it matters where the score is low too."
    } else {
        "No labels of an LLM were given, so these scores cannot tell workers who copy the same LLM \
         from workers who are right."
    };
    [
        "A score says how much a worker agrees with others beyond chance and, for ca_z, beyond \
         what the LLM's label of the task explains; each mechanism below has its own meaning.",
        "Read the interval before the score: with few tasks it is wide, and the flags \
         inconclusive and too few mean that these data cannot tell.",
        llm,
        "The consensus is what the crowd says, not the truth: where many copy the same LLM, it is \
         what they copied.",
        NOT_A_VERDICT,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Per LLM and worker: the share of tasks with the same label, and how many have one of both.
fn agreement_with_z(loaded: &LoadedLabels) -> Vec<Vec<(Option<f64>, u64)>> {
    let table = &loaded.table;
    let of_source = |labels: &[Option<Label>]| -> Vec<(Option<f64>, u64)> {
        (0..table.worker_count() as u32)
            .map(|worker| {
                let (mut same, mut both) = (0_u64, 0_u64);
                for (task, own) in table.of_worker(worker).iter() {
                    if let Some(z) = labels[task as usize] {
                        both += 1;
                        same += u64::from(z == own);
                    }
                }
                ((both > 0).then(|| same as f64 / both as f64), both)
            })
            .collect()
    };
    loaded.z.sources.iter().map(|source| of_source(&source.conditioning())).collect()
}

/// The evidence, and the agreement of every worker with the consensus.
fn details(
    loaded: &LoadedLabels,
    scored: &[Scored],
    agreement: &[Vec<(Option<f64>, u64)>],
) -> (LabelDetails, Vec<Option<f64>>) {
    let table = &loaded.table;
    let fitted = scored.iter().find(|scored| scored.name == "ds");
    let posteriors = fitted.and_then(|scored| scored.scores.posteriors.as_ref());
    let consensus = consensus_labels(table, posteriors);
    let what = match posteriors {
        Some(_) => "the most probable label of each task by Dawid-Skene (mechanism ds)",
        None => "the majority of the labels of each task",
    };
    let (people, with_consensus) = (0..table.worker_count())
        .map(|worker| {
            let all = worker_confusion(table, &consensus, worker as u32);
            let mut cells: Vec<(u32, u32, u64)> = all
                .cells
                .iter()
                .map(|&(label, own, tasks)| (u32::from(label), u32::from(own), tasks))
                .collect();
            let left_out = cells.iter().skip(SHOWN_PAIRS).map(|cell| cell.2).sum();
            cells.truncate(SHOWN_PAIRS);
            let detail = LabelDetail {
                agreement: agreement.iter().map(|source| source[worker]).collect(),
                confusion: Confusion { cells, left_out, ties: all.ties },
            };
            (detail, all.agreement())
        })
        .unzip();
    let details = LabelDetails {
        labels: table.labels().names().to_vec(),
        sources: loaded.z.sources.iter().map(|source| source.name.clone()).collect(),
        consensus: format!(
            "Number of tasks by label. The consensus is {what}; the worker's own label is part of \
             it."
        ),
        people,
    };
    (details, with_consensus)
}

fn measures(
    loaded: &LoadedLabels,
    scored: &[Scored],
    agreement: &[Vec<(Option<f64>, u64)>],
    with_consensus: &[Option<f64>],
) -> Vec<Measure> {
    let workers = 0..loaded.table.worker_count();
    let measure = |name: &str, meaning: &str, values| Measure {
        name: name.into(),
        meaning: meaning.into(),
        values,
    };
    let mut measures = Vec::new();
    if !agreement.is_empty() {
        let most = |worker: usize| {
            agreement.iter().filter_map(|source| source[worker].0).max_by(f64::total_cmp)
        };
        let words = match agreement.len() {
            1 => "share of tasks on which the worker says what the LLM says",
            _ => "share of tasks on which the worker says what an LLM says, of the closest LLM",
        };
        measures.push(measure("LLM agreement", words, workers.clone().map(most).collect()));
    }
    let words = "share of tasks on which the worker says what the consensus says";
    measures.push(measure("consensus", words, with_consensus.to_vec()));
    if let Some(fitted) = scored.iter().find(|scored| scored.name == "ds_z") {
        let lambdas = fitted.scores.workers.iter().map(|score| score.lambda).collect();
        let words = "estimated share of answers taken from the LLM (mechanism ds_z)";
        measures.push(measure("lambda", words, lambdas));
    }
    if let Some(truth) = &loaded.truth {
        let accuracy = |worker: usize| worker_accuracy(&loaded.table, truth, worker as u32).share;
        let words = "share of tasks with a known truth on which the worker is right";
        measures.push(measure("accuracy", words, workers.map(accuracy).collect()));
    }
    measures
}

/// The first score against the agreement with the LLM.
fn scatter(view: &View, measures: &[Measure]) -> Option<(String, String)> {
    let agreement = measures.iter().find(|measure| measure.name == "LLM agreement")?;
    let points: Vec<ScatterPoint> = view
        .rows
        .iter()
        .zip(&agreement.values)
        .enumerate()
        .filter_map(|(person, (row, x))| Some(ScatterPoint { person, x: (*x)?, y: row.score? }))
        .collect();
    if points.is_empty() {
        return None;
    }
    let name = &view.name;
    let caption = format!(
        "One dot per worker ({}); click it for the evidence. Who copies the LLM is at the bottom \
         right, who guesses at the bottom left.",
        points.len()
    );
    let chart = ScatterChart {
        title: format!("Agreement with the LLM, and the {name} score"),
        x_name: "share of tasks with the label of the LLM".into(),
        y_name: format!("{name} score"),
        corners: ["guesses?".into(), "copies the LLM?".into()],
        points,
    };
    Some((chart.svg(), caption))
}

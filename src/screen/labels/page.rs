//! The page of a run on labels: scores by mechanism, and what each worker said.

use std::collections::HashMap;

use super::evidence::{TaskKind, WorkerTask};
use super::own;
use super::report::scope;
use super::{LabelsRun, MechanismScores, WorkerEvidence};
use crate::mechanism::{MechanismName, OwnScore};
use crate::report::html::{
    Details, First, FirstPerson, LabelDetail, LabelDetails, Measure, Page, People, PersonRow,
    Section, SectionCell, ShownConfusion, ShownTask, Values, View,
};
use crate::report::plot::{ScatterChart, ScatterPoint};
use crate::screen::{NOT_A_VERDICT, nobody};

/// Pairs of labels that are shown of a worker.
const SHOWN_PAIRS: usize = 225;

/// Tasks that are shown of a worker, those that tell most first.
const SHOWN_TASKS: usize = 40;

/// Most people who are named above everything.
const NAMED: usize = 10;

/// Most rows of a section.
const MOST_ROWS: usize = 500;

impl LabelsRun {
    /// The result to read in a browser, with the evidence for every worker.
    pub fn page(&self) -> Page {
        let workers = (0..).zip(self.set.table.workers().names());
        let evidence: Vec<WorkerEvidence> =
            workers.map(|(worker, _)| self.evidence_of(worker)).collect();
        let leading = self.leading();
        let is_other =
            |other: &&MechanismScores| leading.is_none_or(|one| !std::ptr::eq(one, *other));
        let shown = leading.into_iter().chain(self.scored.iter().filter(is_other));
        let views: Vec<View> = shown.map(view).collect();
        let measures = self.measures(&evidence);
        let scatter = views.first().and_then(|view| scatter(view, &measures));
        let details = self.details(&evidence);
        let answer = leading.map(Answer::of);
        let leading = views.first().zip(answer.as_ref());
        let first = leading.map(|(view, answer)| first(view, answer, &details));
        let sections = leading.map(|(view, answer)| sections(view, answer)).unwrap_or_default();
        let has_own = self.scores(MechanismName::Own).is_some();
        let people = People {
            noun: "worker",
            counted: "tasks",
            names: self.set.table.workers().names().to_vec(),
            views,
            measures,
            scatter,
            verdicts: Vec::new(),
            details: Details::Labels(details),
        };
        Page {
            title: "What workers add beyond the LLM".into(),
            first,
            sections,
            lead: vec![scope(&self.set)],
            reading: reading(!self.set.z.sources.is_empty(), has_own),
            people: Some(people),
            ..Page::default()
        }
    }

    fn details(&self, evidence: &[WorkerEvidence]) -> LabelDetails {
        let what = match self.fitted_posteriors() {
            Some(_) => "the most probable label of each task by Dawid-Skene (mechanism ds)",
            None => "the majority of the labels of each task",
        };
        let (mut people, mut tasks) = (Vec::with_capacity(evidence.len()), Vec::new());
        let mut places = HashMap::new();
        for (worker, evidence) in (0..).zip(evidence) {
            let all = self.tasks_of(worker);
            let mut detail = detail(evidence);
            detail.kinds = TaskKind::EACH
                .map(|kind| all.iter().filter(|task| task.kind() == kind).count() as u64);
            for task in all.iter().take(SHOWN_TASKS) {
                let place = *places.entry(task.task).or_insert_with(|| {
                    tasks.push(self.set.table.tasks().name(task.task).to_owned());
                    tasks.len() - 1
                });
                detail.tasks.push(shown_task(place, task));
            }
            people.push(detail);
        }
        LabelDetails {
            labels: self.set.table.labels().names().to_vec(),
            sources: self.set.z.sources.iter().map(|source| source.name.clone()).collect(),
            consensus: format!(
                "Number of tasks by label. The consensus is {what}; the worker's own label is part \
                 of it."
            ),
            tasks,
            people,
        }
    }

    fn measures(&self, evidence: &[WorkerEvidence]) -> Vec<Measure> {
        let measure = |name: &str, meaning: &str, values| Measure {
            name: name.into(),
            meaning: meaning.into(),
            values: Values::Numbers(values),
            is_listed: true,
        };
        let mut measures = Vec::new();
        let sources = self.set.z.sources.len();
        if sources > 0 {
            let most = |worker: &WorkerEvidence| {
                worker.with_z.iter().filter_map(|z| z.share).max_by(f64::total_cmp)
            };
            let words = match sources {
                1 => "share of tasks on which the worker says what the LLM says",
                _ => "share of tasks on which the worker says what an LLM says, of the closest LLM",
            };
            measures.push(measure("LLM agreement", words, evidence.iter().map(most).collect()));
        }
        let words = "share of tasks on which the worker says what the consensus says, of which their \
                     own label is a part";
        let agreement = evidence.iter().map(|worker| worker.with_consensus.agreement());
        measures.push(measure("consensus", words, agreement.collect()));
        if let Some(own) = self.scores(MechanismName::Own) {
            let mut quality = vec![None; evidence.len()];
            own.rows.iter().for_each(|row| quality[row.number] = row.accuracy.map(|by| by.value));
            let words = "share of right answers by the others, without the worker's own labels";
            measures.push(measure("quality", words, quality));
        }
        if let Some(fitted) = self.scores(MechanismName::DsZ) {
            let mut lambdas = vec![None; evidence.len()];
            fitted.rows.iter().for_each(|row| lambdas[row.number] = row.lambda);
            let words = "estimated share of answers taken from the LLM (mechanism ds_z)";
            measures.push(measure("lambda", words, lambdas));
        }
        let compared = [MechanismName::ExcessZ, MechanismName::Own];
        if let Some(compared) = compared.into_iter().find_map(|name| self.scores(name)) {
            let mut copied = vec![None; evidence.len()];
            compared.rows.iter().for_each(|row| copied[row.number] = row.copied);
            let words = "how much more often than others on the same tasks the worker says what \
                         the LLM says, about the share copied (mechanisms excess_z and own)";
            measures.push(measure("copied", words, copied));
        }
        if self.set.truth.is_some() {
            let accuracy = |worker: &WorkerEvidence| worker.accuracy.and_then(|own| own.share);
            let words = "share of tasks with a known truth on which the worker is right";
            measures.push(measure("accuracy", words, evidence.iter().map(accuracy).collect()));
        }
        measures
    }
}

fn shown_task(place: usize, task: &WorkerTask) -> ShownTask {
    ShownTask {
        task: place,
        kind: TaskKind::EACH.iter().position(|kind| *kind == task.kind()).unwrap_or_default(),
        own: u32::from(task.own),
        consensus: task.consensus.map(u32::from),
        z: task.z.iter().map(|z| z.map(u32::from)).collect(),
    }
}

/// What the mechanism whose flags are read says about each worker, by number, and about the crowd.
struct Answer {
    own: Vec<Option<OwnScore>>,
    headline: String,
    crowd: Vec<String>,
}

impl Answer {
    fn of(scored: &MechanismScores) -> Self {
        let mut of_workers = vec![None; scored.rows.len()];
        scored.rows.iter().for_each(|row| of_workers[row.number] = row.own);
        let headline = own::answer(scored).map(|(headline, _)| headline).unwrap_or_default();
        Self { own: of_workers, headline, crowd: scored.own.iter().map(own::found).collect() }
    }
}

/// The people flagged by the first score, worst first, with the reason, and what that is worth here.
fn first(view: &View, answer: &Answer, details: &LabelDetails) -> First {
    let mut flagged: Vec<usize> = (0..view.rows.len())
        .filter(|&person| {
            matches!(view.rows[person].flag.as_deref(), Some("look" | "uninformative"))
        })
        .collect();
    // The highest rank is the worst.
    flagged.sort_by_key(|&person| (std::cmp::Reverse(view.rows[person].rank), person));
    let person = |&person: &usize| {
        let [with_llm, alone, against, same, _] = details.people[person].kinds;
        let all = with_llm + alone + against + same;
        let reason = answer.own[person].as_ref().and_then(own::why);
        let says = if let Some(reason) = reason {
            reason
        } else if all == 0 {
            "shares nothing with others beyond chance".to_owned()
        } else {
            format!(
                "says what the LLM says on {} of {all} tasks, on {with_llm} of them against the \
                 crowd; says what nobody else says on {alone}",
                with_llm + same
            )
        };
        FirstPerson { person, says, pair: None }
    };
    First {
        answer: answer.headline.clone(),
        people: flagged.iter().take(NAMED).map(person).collect(),
        more: flagged.len().saturating_sub(NAMED),
        estimate: answer.crowd.clone(),
        nobody: nobody(view.rows.iter().map(|row| row.flag.as_deref())),
        ..First::default()
    }
}

/// Of whom nothing can be said, and why.
fn sections(view: &View, answer: &Answer) -> Vec<Section> {
    let people: Vec<usize> = (0..view.rows.len())
        .filter(|&person| {
            matches!(view.rows[person].flag.as_deref(), Some("too_few" | "not_judged"))
        })
        .collect();
    if people.is_empty() {
        return Vec::new();
    }
    let row = |&person: &usize| {
        let tasks = view.rows[person].count.unwrap_or_default().to_string();
        let why = answer.own[person].and_then(|own| own.not_judged);
        let why = why.map_or("too few tasks", |why| why.as_words());
        vec![SectionCell::Person(person), SectionCell::Text(tasks), SectionCell::Text(why.into())]
    };
    vec![Section {
        id: "not-judged",
        title: "Not judged".into(),
        lead: "Too few tasks, or nothing to compare with: no flag is no clearance.".into(),
        columns: vec!["worker", "tasks", "why"],
        rows: people.iter().take(MOST_ROWS).map(row).collect(),
        left_out: people.len().saturating_sub(MOST_ROWS),
        rest: "The other formats have them.",
        replaces: "",
    }]
}

/// The rows of a mechanism by number of the worker.
fn view(scored: &MechanismScores) -> View {
    let mut rows = vec![PersonRow::default(); scored.rows.len()];
    for (place, row) in scored.rows.iter().enumerate() {
        rows[row.number] = PersonRow {
            place,
            rank: row.rank,
            flag: row.flag_word().map(str::to_owned),
            ..PersonRow::new(row.estimate, row.n_tasks)
        };
    }
    View {
        name: scored.mechanism.as_str().to_owned(),
        meaning: scored.mechanism.meaning(),
        is_listed: scored.mechanism != MechanismName::Own,
        rows,
    }
}

fn detail(worker: &WorkerEvidence) -> LabelDetail {
    let mut cells: Vec<(u32, u32, u64)> = worker
        .with_consensus
        .cells
        .iter()
        .map(|&(label, own, tasks)| (u32::from(label), u32::from(own), tasks))
        .collect();
    let left_out = cells.iter().skip(SHOWN_PAIRS).map(|cell| cell.2).sum();
    cells.truncate(SHOWN_PAIRS);
    LabelDetail {
        agreement: worker.with_z.iter().map(|z| (z.share, z.n_tasks)).collect(),
        confusion: ShownConfusion { cells, left_out, ties: worker.with_consensus.ties },
        ..LabelDetail::default()
    }
}

fn reading(with_z: bool, has_own: bool) -> Vec<String> {
    let own = [
        "The own score asks two questions, each held against the people of the crowd: does the worker say \
         what the LLM says more than they do, and does the worker say anything that others confirm? It \
         says nothing of quality.",
        "The flag look means: read these answers. unsure: stands out, but not surely enough, or nothing \
         could be seen. clear: nothing stands out where it could. not judged: nothing can be said.",
    ];
    let score = "A score says how much a worker agrees with others beyond chance and, for ca_z, beyond \
                 what the LLM's label of the task explains; each mechanism below has its own meaning.";
    let interval = "Read the interval before the score: with few tasks it is wide, and the flags \
                    inconclusive and too few mean that these data cannot tell.";
    let llm = if with_z {
        "The share of tasks on which a worker says what the LLM says proves nothing by itself: on \
         easy tasks everybody does; it matters where the score is low too."
    } else {
        "No labels of an LLM were given, so these scores cannot tell workers who copy the same LLM \
         from workers who are right."
    };
    let consensus = "The consensus is what the crowd says, not the truth: where many copy the same \
                     LLM, it is what they copied.";
    let own = if has_own { &own[..] } else { &[] };
    let others = [score, interval, llm, consensus, NOT_A_VERDICT];
    own.iter().chain(&others).map(|sentence| (*sentence).to_owned()).collect()
}

/// The first score against the agreement with the LLM.
fn scatter(view: &View, measures: &[Measure]) -> Option<(String, String)> {
    let agreement = measures.iter().find(|measure| measure.name == "LLM agreement")?;
    let Values::Numbers(agreement) = &agreement.values else { return None };
    let points: Vec<ScatterPoint> = view
        .rows
        .iter()
        .zip(agreement)
        .enumerate()
        .filter_map(|(person, (row, x))| Some(ScatterPoint { person, x: (*x)?, y: row.score? }))
        .collect();
    if points.is_empty() {
        return None;
    }
    let name = &view.name;
    let caption = format!(
        "One dot per worker ({}); point at it for the name, click it for the evidence, or move with \
         the arrow keys. Who copies the LLM is at the bottom right, who guesses at the bottom left.",
        points.len()
    );
    let chart = ScatterChart {
        title: format!("Agreement with the LLM, and the {name} score"),
        x_name: "share of tasks with the label of the LLM".into(),
        y_name: format!("{name} score"),
        corners: ["guesses?".into(), "copies the LLM?".into()],
        points,
        ..ScatterChart::default()
    };
    Some((chart.svg(), caption))
}

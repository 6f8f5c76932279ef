//! The page of reviewers: scores, and the evidence for everybody.

mod details;
mod first;
mod scatter;
mod sections;
mod values;

use self::details::details;
use self::first::first;
use self::scatter::scatter;
use self::sections::sections;
use self::values::{parts, values};
use super::ReviewsRun;
use super::own;
use super::rows::{ReviewerRow, RowDetail};
use super::verdict::{Verdicts, kind_of};
use super::words::{meaning, scope};
use crate::data::nouns::Nouns;
use crate::report::html::{Details, Measure, Page, People, PersonRow, ReviewText, Values, View};
use crate::screen::NOT_A_VERDICT;
use crate::text::own::OwnFlag;
use crate::text::score::ScoreName;

/// The page.
pub(super) fn page(run: &ReviewsRun, text: ReviewText) -> Page {
    let mut names = run.score_names();
    // The score whose flags are read is the one that is shown first.
    let leading = run.leading();
    names.sort_by_key(|name| Some(*name) != leading);
    let nouns = run.set().nouns;
    let people = People {
        noun: nouns.person(),
        counted: match nouns {
            Nouns::Reviews => "papers",
            Nouns::Answers => "tasks",
        },
        names: run.set().reviewers.names().to_vec(),
        views: names.iter().map(|&name| view(run, name)).collect(),
        measures: measures(run, names.contains(&ScoreName::Projected)),
        scatter: scatter(run),
        verdicts: verdicts(run, text),
        details: Details::Reviews(details(run, text)),
    };
    Page {
        title: nouns.said("What reviewers add beyond the LLM"),
        first: Some(first(run, text)),
        lead: vec![scope(run)],
        reading: reading(run, names.contains(&ScoreName::Own))
            .iter()
            .map(|sentence| nouns.said(sentence))
            .collect(),
        people: Some(people),
        sections: sections(run),
        ..Page::default()
    }
}

/// One score of all reviewers, by number.
fn view(run: &ReviewsRun, name: ScoreName) -> View {
    let mut rows = vec![PersonRow::default(); run.set().reviewers.len()];
    for (place, row) in run.scores(name).iter().enumerate() {
        rows[row.number] = PersonRow { place, ..person(row) };
    }
    View {
        name: name.as_str().into(),
        meaning: run.set().nouns.said(meaning(name, run.centered())),
        // Log odds tell a chair less than what stands beside them.
        is_listed: name != ScoreName::Own,
        rows,
    }
}

/// What is said of each person first.
fn verdicts(run: &ReviewsRun, text: ReviewText) -> Vec<Vec<(&'static str, String)>> {
    let Some(verdicts) = Verdicts::of(run) else { return Vec::new() };
    let of_person = |person| {
        let mut said = vec![("", verdicts.verdict(person))];
        said.extend(verdicts.reasons(person, text != ReviewText::None));
        said
    };
    (0..run.set().reviewers.len()).map(of_person).collect()
}

fn person(row: &ReviewerRow) -> PersonRow {
    PersonRow {
        score: row.estimate.map(|estimate| estimate.value),
        interval: row.interval(),
        rank: row.rank,
        flag: row.flag_word().map(str::to_owned),
        count: Some(row.n_papers as u64),
        place: 0,
    }
}

fn reading(run: &ReviewsRun, own: bool) -> Vec<String> {
    if own {
        let flags = format!(
            "The flag look means: read these reviews. {} not judged: nothing can be said.",
            own::unsure_and_clear(run.set())
        );
        return [
            "The own score says whose work the reviews read as, by where an LLM's reviews and reviews \
             of other papers fall when they are planted in the place of every review of this venue. \
             Far below 0 they do not read as the reviewer's own.",
            &flags,
            "A flag can be a false alarm, and who rewrites every thought of an LLM is not seen.",
            "In the scatter plot, who hands in what the LLM says is on the right, at any height; who \
             writes about something else than the paper is at the bottom left. The faint dots show \
             where planted texts of each kind stand in this venue.",
            NOT_A_VERDICT,
        ]
        .map(str::to_owned)
        .to_vec();
    }
    [
        "The projected score says how much of what a reviewer writes the other reviewers of the \
         same papers write too, once everything that the LLM's reviews say is taken out; near 0 \
         means that nothing was found beyond the LLM.",
        "Read the interval before the score: with few papers it is wide, and the flags \
         inconclusive and too few mean that these data cannot tell.",
        "A low score has innocent causes: an expertise that no peer shares, a very short review, \
         another language than that of the peers.",
        "In the scatter plot, who hands in what the LLM says is on the right, at any height: a \
         copier can share much with peers who say the same; who writes about something else than \
         the paper is at the bottom left.",
        NOT_A_VERDICT,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn measures(run: &ReviewsRun, has_projected: bool) -> Vec<Measure> {
    let has_own = run.own().is_some();
    let measure = |name: &str, meaning: &str, values| Measure {
        name: name.into(),
        meaning: run.set().nouns.said(meaning),
        values: Values::Numbers(values),
        is_listed: !has_own,
    };
    let mut measures = of_own(run);
    measures.push(measure(
        "LLM similarity",
        "mean similarity with the LLM's reviews of the same papers, as they are",
        values(run, ScoreName::Negative, -1.0),
    ));
    if !has_projected {
        measures.push(measure(
            "beyond the LLM",
            "mean similarity with the other reviews of the same papers beyond what the LLM says",
            values(run, ScoreName::Projected, 1.0),
        ));
    }
    let combined = run.score_names().contains(&ScoreName::Combined);
    if let Some((topic, away)) = combined.then(|| parts(run)).flatten() {
        let words = ["about the paper, in robust standard deviations", "unlike the LLM, likewise"];
        measures.push(measure("part topic", words[0], topic.to_vec()));
        measures.push(measure("part Z", words[1], away.to_vec()));
    }
    measures
}

/// What the score own says, in the words and numbers that a chair reads.
fn of_own(run: &ReviewsRun) -> Vec<Measure> {
    if run.own().is_none() {
        return Vec::new();
    }
    let people = run.set().reviewers.len();
    let (mut reads_as, mut chance) = (vec![None; people], vec![None; people]);
    let mut to_look_at = vec![None; people];
    for row in run.scores(ScoreName::Own) {
        let RowDetail::Own { posterior, reads_as: class, n_look, flag, .. } = row.detail else {
            continue;
        };
        let its = row.number;
        reads_as[its] = class.map(|class| run.set().nouns.said(kind_of(class)));
        chance[its] = posterior.map(|posterior| posterior.own);
        to_look_at[its] = (flag != OwnFlag::NotJudged).then_some(n_look as f64);
    }
    let measure = |name: &str, meaning: &str, values| Measure {
        name: name.into(),
        meaning: run.set().nouns.said(meaning),
        values,
        is_listed: true,
    };
    vec![
        measure("reads as", "what their reviews read as", Values::Words(reads_as)),
        measure("chance own", "the chance that all is their own work", Values::Shares(chance)),
        measure("to look at", "how many of their reviews to look at", Values::Numbers(to_look_at)),
    ]
}

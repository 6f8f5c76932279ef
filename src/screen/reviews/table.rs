//! The table of reviewers: one row per reviewer and score, and the sentences under it.

use serde_json::{Map, json};

use super::rows::{OWN_COLUMNS, RowDetail};
use super::settings::By;
use super::words::{in_short, left_out, scope};
use super::{ReviewsRun, own};
use crate::data::warning::Warning;
use crate::error::{Error, Result};
use crate::report::{Cell, Report, Table};
use crate::screen::workers::{self, Bounded, Worker};
use crate::text::own::Class;
use crate::text::score::ScoreName;
use crate::text::scorer::ScoreDetail;

/// Columns of the result, a contract with scripts. Those of own work and of
/// [`RowDetail::columns`] follow.
const COLUMNS: [&str; 12] = [
    "reviewer",
    "score_name",
    "embedder",
    "score",
    "se",
    "ci_low",
    "ci_high",
    "n_papers",
    "n_pairs",
    "n_zero",
    "rank",
    "flag",
];

/// The column of phrases hidden in papers, where a plan is given.
pub(super) const CANARIES: &str = "canaries";

pub(super) fn report(run: &ReviewsRun) -> Result<Report> {
    let own = run.own();
    let mut table = match (run.asked().by, own) {
        (By::Reviewer, _) => of_people(run),
        (By::Review, Some(own)) => own::table_of_reviews(run, own),
        (By::Review, None) => {
            let why = run.choice().map_or(String::new(), |choice| format!(": {choice}"));
            let message =
                format!("rows by review are of the score own, which there is not here{why}");
            return Err(Error::usage(message));
        }
    };
    let mut footer = vec![scope(run)];
    footer.extend(run.choice().filter(|_| own.is_none()).map(str::to_owned));
    for name in run.score_names() {
        match &run.scored(name).detail {
            ScoreDetail::Own(found) => {
                table.set_headline(own::headline(run.set(), found));
                table.set_summary(own::summary(run.set(), found));
                footer.extend(own::found_if_planted(found, &run.asked().own()));
            }
            ScoreDetail::None | ScoreDetail::Combined { .. } => {
                footer.push(run.set().nouns.said(in_short(name)));
            }
        }
        footer.extend(left_out(run.set(), name, &run.scored(name).scores));
    }
    if own.is_none() {
        table.set_headline(headline(run));
    }
    if let Some(canaries) = run.canaries() {
        let said = table.headline().into_iter().map(str::to_owned);
        let said: Vec<String> = said.chain([canaries.headline(run.set())]).collect();
        table.set_headline(said.join(" "));
        footer.splice(1..1, canaries.sentence());
        if let Some(numbers) = canaries.summary() {
            let mut summary = table.summary().clone();
            summary.insert("canaries".into(), numbers);
            table.set_summary(summary);
        }
    }
    let intervals = if run.score_names() == [ScoreName::Own] {
        ""
    } else {
        "Worst first; ci_low to ci_high: 95 % over papers. "
    };
    footer.push(format!("{intervals}A flag is a reason to look, never a verdict."));
    Ok(Report {
        command: "reviews",
        inputs: run.inputs.clone(),
        settings: run.settings(),
        table,
        warnings: run.warnings(),
        footer,
        prose: None,
    })
}

/// What these Z could find here; nobody is flagged.
pub(super) fn of_ghosts(run: &ReviewsRun) -> Result<Report> {
    let Some(own) = run.own() else {
        let why = run.choice().unwrap_or("the score own was not asked for");
        return Err(Error::usage(format!(
            "what could be found is known of the score own alone: {why}"
        )));
    };
    let set = run.set();
    let mut table = own::table_of_ghosts(own);
    table.set_headline(match own::planted(own) {
        Some(said) => set.nouns.said(&said),
        None => "Nothing could be planted here: there are too few texts or too little Z.".into(),
    });
    let mut summary = Map::new();
    summary.insert("planted".into(), json!(own.planted));
    summary.insert("unsure_because_unseen".into(), own.unseen.into());
    table.set_summary(summary);
    let mut footer = vec![scope(run)];
    footer.push(set.nouns.said(&format!(
        "Of {} people nothing could be seen: they would be unsure whatever they handed in. found_on_all: \
         share that the model would flag look who hand such a text in on all of their papers; \
         found_on_one: on one. Copies word for word are found without it. Nobody is flagged here.",
        own.unseen
    )));
    let named = |warning: &Warning| NAMING.contains(&warning.code);
    let warnings = run.warnings().into_iter().filter(|warning| !named(warning)).collect();
    Ok(Report {
        command: "reviews",
        inputs: run.inputs.clone(),
        settings: run.settings(),
        table,
        warnings,
        footer,
        prose: None,
    })
}

/// Warnings that say something of single people.
const NAMING: [&str; 6] = [
    "own_not_judged",
    "disguised_words",
    "near_duplicates",
    "own_one_review",
    "own_many_cheaters",
    "own_near_majority",
];

/// The answer of scores that flag nobody as cheating, in a sentence.
fn headline(run: &ReviewsRun) -> String {
    let people = run.set().nouns.people(run.set().reviewers.len());
    let Some(&name) = run.score_names().first() else { return String::new() };
    if !name.has_zero() {
        return format!(
            "{people} in the order of {}, worst first; it flags nobody.",
            name.as_str()
        );
    }
    let rows = run.scores(name);
    if rows.iter().all(|row| row.estimate.is_none()) {
        return format!("None of {people} has a {} score.", name.as_str());
    }
    let with = |flag: &str| rows.iter().filter(|row| row.flag_word() == Some(flag)).count();
    format!(
        "{} of {people} add nothing beyond the LLM that could be found, {} do ({}).",
        with("uninformative"),
        with("informative"),
        name.as_str()
    )
}

/// One row a person and score.
fn of_people(run: &ReviewsRun) -> Table {
    let names = run.score_names();
    let mut columns = [&COLUMNS[..], &OWN_COLUMNS].concat();
    columns.extend(names.iter().flat_map(|name| RowDetail::columns(*name)));
    let details = columns.len();
    columns.extend(run.canaries().map(|_| CANARIES));
    let mut table = Table::new(&columns);
    for &name in &names {
        for row in run.scores(name) {
            let mut cells = row.cells(run.embedder_of(name), columns.len());
            for &other in &names {
                let its =
                    if other == name { row.detail.cells(run.set().nouns) } else { Vec::new() };
                let missing = RowDetail::columns(other).len() - its.len();
                cells.extend(its);
                cells.extend(std::iter::repeat_n(Cell::Missing, missing));
            }
            debug_assert_eq!(cells.len(), details);
            cells.extend(run.canaries().map(|_| Cell::from(row.canaries.clone())));
            table.push(cells);
        }
    }
    table
}

/// The file of people, in the order of the score whose flags are read.
pub(super) fn of_workers(run: &ReviewsRun) -> Table {
    let set = run.set();
    let mut texts = vec![0; set.reviewers.len()];
    set.reviews.iter().for_each(|review| texts[review.reviewer as usize] += 1);
    let quality = &run.scored(ScoreName::Projected).scores;
    let rows = run.scores(run.leading().unwrap_or(ScoreName::Projected));
    let people = rows.iter().map(|row| {
        let copied = match &row.detail {
            RowDetail::Own { copied, .. } => *copied,
            RowDetail::None | RowDetail::Combined { .. } => None,
        };
        Worker {
            name: &row.reviewer,
            flag: row.flag_word(),
            reads_as: row.reads_as().map(Class::as_str),
            quality: quality[row.number].estimate.into(),
            copied: Bounded { value: copied, interval: None },
            n_tasks: texts[row.number],
            error: None,
        }
    });
    workers::table(people, &set.times)
}

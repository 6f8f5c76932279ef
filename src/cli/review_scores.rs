//! The table of `caz reviews`: one row per reviewer and score, and the sentences under it.

use super::estimates::{estimate_cells, worst_first};
use super::reviews::{ReviewsArgs, Run, Scored};
use crate::data::reviews::ReviewSet;
use crate::report::{Cell, Report, Table};
use crate::stats::flag::{Flag, flags};
use crate::stats::rank::descending_ranks;
use crate::text::score::{ReviewerScore, ScoreName};

/// Columns of the result, a contract with scripts.
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

/// Columns that follow where the combined score is asked for.
const PART_COLUMNS: [&str; 2] = ["part_topic", "part_z"];

pub(super) fn scores_report(args: &ReviewsArgs, run: &Run) -> Report {
    let set = &run.loaded.set;
    let names = args.scores();
    let with_parts = names.contains(&ScoreName::Combined);
    let part_columns = PART_COLUMNS.iter().filter(|_| with_parts);
    let columns: Vec<&'static str> = COLUMNS.iter().chain(part_columns).copied().collect();
    let mut table = Table::new(&columns);
    let mut footer = vec![scope(run)];
    let mut warnings = run.warnings.clone();
    warnings.extend(super::short_reviews::warning(set, &names));
    for name in names {
        let scored = run.scores(name);
        let people: Vec<_> =
            scored.scores.iter().map(|score| (score.estimate, score.n_papers)).collect();
        let flags = flags(&people, &args.flags());
        push_rows(&mut table, run, name, scored, &flags, with_parts);
        footer.push(meaning(name, run.centered).to_owned());
        footer.extend(left_out(set, name, &scored.scores));
        warnings.extend(scored.warnings.iter().cloned());
    }
    footer.push(
        "Worst first; rank 1 is the best. ci_low to ci_high is a 95 % interval over papers. A flag \
         is a reason to look, never a verdict: `--explain REVIEWER` shows the evidence."
            .into(),
    );
    Report {
        command: "reviews",
        inputs: run.inputs.clone(),
        settings: run.settings(args),
        table,
        warnings,
        footer,
        prose: None,
    }
}

fn push_rows(
    table: &mut Table,
    run: &Run,
    name: ScoreName,
    scored: &Scored,
    flags: &[Flag],
    with_parts: bool,
) {
    let reviewers = &run.loaded.set.reviewers;
    let scores = &scored.scores;
    let values: Vec<Option<f64>> =
        scores.iter().map(|score| score.estimate.map(|estimate| estimate.value)).collect();
    let ranks = descending_ranks(&values);
    for index in worst_first(&values, reviewers.names()) {
        let score = &scores[index];
        // Only scores whose zero means "adds nothing" can be called informative or not.
        let flag = (name.has_zero() || flags[index] == Flag::TooFew).then(|| flags[index].as_str());
        let mut row: Vec<Cell> = vec![
            reviewers.names()[index].as_str().into(),
            name.as_str().into(),
            run.embedded.name.as_str().into(),
        ];
        row.extend(estimate_cells(score.estimate));
        row.extend([
            score.n_papers.into(),
            score.n_pairs.into(),
            score.n_zero.into(),
            ranks[index].into(),
            flag.map_or(Cell::Missing, Cell::from),
        ]);
        if with_parts {
            let part = |part: usize| scored.parts.as_ref().and_then(|parts| parts[part][index]);
            row.extend([part(0).into(), part(1).into()]);
        }
        table.push(row);
    }
}

pub(super) fn scope(run: &Run) -> String {
    let set = &run.loaded.set;
    let units = match run.embedded.granularity {
        Some("sentence") => ", sentence by sentence",
        _ => "",
    };
    let sources = match set.sources.len() {
        1 => "one source".to_owned(),
        count => format!("{count} sources"),
    };
    format!(
        "Scored {} reviewers by {} reviews of {} papers, given {} LLM reviews from {sources}; \
         embedder {}{units}.",
        set.reviewers.len(),
        set.reviews.len(),
        set.papers.len(),
        set.z.len(),
        run.embedded.name,
    )
}

pub(super) fn meaning(name: ScoreName, centered: bool) -> &'static str {
    match (name, centered) {
        (ScoreName::Projected, true) => {
            "projected: mean similarity with the other reviews of the same papers, after removing \
             what the LLM's reviews of them say (vectors centered). Near 0: adds nothing beyond the LLM."
        }
        (ScoreName::Projected, false) => {
            "projected: mean similarity with the other reviews of the same papers, after removing \
             what the LLM's reviews of them say. Near 0: adds nothing beyond the LLM."
        }
        (ScoreName::Cosine, _) => {
            "cosine: mean similarity with the other reviews as they are; a baseline that rewards \
             what reviewers took from an LLM, so its flags do not clear a copier."
        }
        (ScoreName::Negative, _) => {
            "negative: minus the mean similarity with the LLM's reviews; a baseline that rewards \
             off-topic text, so it has no flags."
        }
        (ScoreName::Combined, _) => {
            "combined: the lower of part_topic (about the paper) and part_z (unlike the LLM's review \
             of it), in robust standard deviations over these reviewers: 0 is the middle, below -3 \
             is far from it. Somebody is always last, so it has no flags."
        }
    }
}

fn left_out(set: &ReviewSet, name: ScoreName, scores: &[ReviewerScore]) -> Option<String> {
    let without: Vec<&str> = scores
        .iter()
        .zip(set.reviewers.names())
        .filter(|(score, _)| score.estimate.is_none())
        .map(|(_, name)| name.as_str())
        .collect();
    if without.is_empty() {
        return None;
    }
    let why = match name {
        ScoreName::Projected => "none of their papers has both a peer and a usable LLM review",
        ScoreName::Cosine => "none of their papers has a peer",
        ScoreName::Negative => "none of their papers has a usable LLM review",
        ScoreName::Combined => {
            "none of their papers has peers, or none has a usable LLM review, or there are too few \
             papers and reviewers to compare with"
        }
    };
    let names = crate::data::warning::first_names(&without);
    Some(format!("{} reviewers have no {} score: {why}: {names}.", without.len(), name.as_str()))
}

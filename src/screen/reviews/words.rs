//! The sentences under the table of reviewers and above their page.

use super::ReviewsRun;
use crate::data::reviews::ReviewSet;
use crate::data::warning::first_names;
use crate::text::score::{ReviewerScore, ScoreName};

/// What was scored, in a sentence.
pub(super) fn scope(run: &ReviewsRun) -> String {
    let set = run.set();
    let names = run.score_names();
    // Own has words of its own choice; the settings name them.
    let embedders = if names == [ScoreName::Own] {
        String::new()
    } else {
        let others = names.iter().filter(|name| run.embedder_of(**name) != run.embedder());
        let others =
            others.map(|name| format!(", {} for {}", run.embedder_of(*name), name.as_str()));
        format!("; embedder {}{}", run.embedder(), others.collect::<String>())
    };
    let sources = match set.sources.len() {
        1 => "one source".to_owned(),
        count => format!("{count} sources"),
    };
    let nouns = set.nouns;
    format!(
        "{}, {} of {}; {} LLM {}s from {sources}{embedders}.",
        nouns.people(set.reviewers.len()),
        nouns.texts(set.reviews.len()),
        nouns.things(set.papers.len()),
        set.z.len(),
        nouns.text()
    )
}

/// What a score means.
#[cfg(feature = "html")]
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
        (ScoreName::Own, _) => {
            "own: the log odds of p_own, the probability that the reviews are the reviewer's own \
             work and not the LLM's word for word (p_copy), another LLM's (p_llm) or about another \
             paper (p_off_topic), by where such texts stand when they are planted in this venue. 0 \
             is even odds."
        }
    }
}

/// The same in a line of a terminal.
pub(super) fn in_short(name: ScoreName) -> &'static str {
    match name {
        ScoreName::Projected => {
            "projected: agreement with the paper's other reviews beyond the LLM's; 0 is none."
        }
        ScoreName::Cosine => {
            "cosine: agreement with the paper's other reviews, the LLM's share included."
        }
        ScoreName::Negative => {
            "negative: minus the similarity with the LLM's reviews of the paper."
        }
        ScoreName::Combined => {
            "combined: about the paper and unlike the LLM's review. Somebody is always last."
        }
        ScoreName::Own => "own: the log odds of p_own; 0 is even odds.",
    }
}

/// Who has no score, and why.
pub(super) fn left_out(
    set: &ReviewSet,
    name: ScoreName,
    scores: &[ReviewerScore],
) -> Option<String> {
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
        // The column `reason` says it for each of them, and a warning for how many.
        ScoreName::Own => return None,
        ScoreName::Combined => {
            "none of their papers has peers, or none has a usable LLM review, or there are too few \
             papers and reviewers to compare with"
        }
    };
    let names = first_names(&without);
    let (people, why) = (set.nouns.people(without.len()), set.nouns.said(why));
    Some(format!("{people} without a {} score: {why}: {names}.", name.as_str()))
}

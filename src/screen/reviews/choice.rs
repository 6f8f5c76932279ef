//! Which scores a run gives: those asked for, or the one that fits the venue.

use std::collections::HashSet;

use super::{ReviewsSettings, size};
use crate::data::reviews::ReviewSet;
use crate::data::warning::Warning;
use crate::error::{Error, ErrorKind, Result};
use crate::text::own::{
    ENOUGH_PAPERS, ENOUGH_REVIEWERS, TextChecks, UnusableZ, check_texts, has_fewer_words,
};
use crate::text::score::ScoreName;

/// The scores of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// In the order of the table.
    pub(super) names: Vec<ScoreName>,
    /// Which was chosen and why, if none was asked for.
    pub(super) sentence: Option<String>,
    /// What was asked for and cannot be had.
    pub(super) warning: Option<Warning>,
    /// What was looked at for it, which own work needs too.
    pub(super) checks: Option<TextChecks>,
}

/// Chooses the scores for a set.
///
/// # Errors
///
/// A usage error if own work alone is asked for and there are no texts;
/// `PaperTooLarge` if it is asked for and a paper has too many reviews.
pub(super) fn choose(set: &ReviewSet, settings: &ReviewsSettings) -> Result<Choice> {
    let texts = set.contents().all(|content| content.text.is_some());
    let Some(mut names) = settings.names() else {
        let checks = check_texts(set, &settings.own());
        check_z(&checks.unusable)?;
        let (name, sentence) = fitting(set, texts, (&checks.unusable, settings.min_words));
        let (names, sentence, checks) = (vec![name], Some(sentence), Some(checks));
        return Ok(Choice { names, sentence, warning: None, checks });
    };
    let mut warning = None;
    if !texts && names.contains(&ScoreName::Own) {
        let message = "the score own compares texts, and some reviews or Z have none";
        names.retain(|name| *name != ScoreName::Own);
        if names.is_empty() {
            return Err(Error::usage(message));
        }
        warning = Some(Warning::new("own_without_text", 1, format!("{message}: it is left out")));
    }
    if names.contains(&ScoreName::Own) {
        size::check_own(set)?;
    }
    Ok(Choice { names, sentence: None, warning, checks: None })
}

/// Refuses Z that say nothing of any paper: with them everybody would look like their own work.
fn check_z(unusable: &[Option<UnusableZ>]) -> Result<()> {
    let count = |wanted| unusable.iter().filter(|wrong| **wrong == Some(wanted)).count();
    let [refusals, foreign] = [UnusableZ::Refusal, UnusableZ::OtherLanguage].map(count);
    if unusable.is_empty() || refusals + foreign < unusable.len() {
        return Ok(());
    }
    let of = unusable.len();
    let message = match (refusals, foreign) {
        (_, 0) => format!(
            "all {of} LLM reviews are refusals or talk of the LLM about itself: there is nothing to \
             compare with; ask another LLM, or with another prompt"
        ),
        (0, _) => format!(
            "all {of} LLM reviews are in another language than the reviews, so that no copy could be \
             seen; ask for them in the language of the reviews"
        ),
        _ => format!(
            "of {of} LLM reviews {refusals} are refusals and {foreign} are in another language than \
             the reviews: there is nothing to compare with"
        ),
    };
    Err(Error::new(ErrorKind::Input, message))
}

/// Own work where texts can be compared, else the paper's score. In a small venue, or where few papers have Z, too, where
/// it clears nobody: the paper's score would not name who hands in an LLM's text word for word.
fn fitting(
    set: &ReviewSet,
    texts: bool,
    (unusable, min_words): (&[Option<UnusableZ>], usize),
) -> (ScoreName, String) {
    let papers: HashSet<u32> = set.reviews.iter().map(|review| review.paper).collect();
    // Which are too short is for the user to say, and own says it of whom it does not judge then.
    let is_usable = |wrong: &Option<UnusableZ>| matches!(wrong, None | Some(UnusableZ::Short));
    let usable = || set.z.iter().zip(unusable).filter(|(_, wrong)| is_usable(wrong));
    let with_z: HashSet<u32> =
        usable().map(|(z, _)| z.paper).filter(|paper| papers.contains(paper)).collect();
    let (reviewers, papers, with_z) = (set.reviewers.len(), papers.len(), with_z.len());
    let mut missing = Vec::new();
    if !texts {
        missing.push(set.nouns.said("texts of all reviews and LLM reviews"));
    }
    if with_z == 0 {
        let usable = format!("a usable LLM review (none of {papers} papers has one)");
        missing.push(set.nouns.said(&usable));
    }
    if let Err(size::PaperTooLarge::Own { paper, reviews, .. }) = size::check_own(set) {
        missing.push(format!("fewer reviews of a paper ({reviews} of {paper})"));
    }
    let nouns = set.nouns;
    let is_small = reviewers < ENOUGH_REVIEWERS || with_z < ENOUGH_PAPERS;
    if missing.is_empty()
        && let Some(short) = mostly_short(set, min_words)
    {
        let sentence = format!(
            "Score combined, since {short} of {} have fewer than {min_words} words, too few to say whose \
             work each is: it puts people in order and flags nobody.",
            nouns.texts(set.reviews.len())
        );
        return (ScoreName::Combined, sentence);
    }
    if missing.is_empty() {
        let size = format!(
            "{} and {}, {with_z} of them with an LLM {},",
            nouns.people(reviewers),
            nouns.things(papers),
            nouns.text()
        );
        let mut sentence = if is_small {
            format!("Score own; {size} are few for it: who copies is named, and nobody is clear.")
        } else {
            format!("Score own, chosen because {size} are enough for a scale.")
        };
        let mut pairs: Vec<(u32, u32)> = usable().map(|(z, _)| (z.paper, z.source)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.len() < 2 * papers {
            let more =
                " A second LLM review of each paper, by another LLM or prompt, makes it surer.";
            sentence.push_str(&nouns.said(more));
        }
        (ScoreName::Own, sentence)
    } else {
        let sentence =
            format!("Score projected, since the better one, own, needs {}.", missing.join(", "));
        (ScoreName::Projected, sentence)
    }
}

/// How many texts have too few words, if most have.
fn mostly_short(set: &ReviewSet, min_words: usize) -> Option<usize> {
    let texts = set.reviews.iter().filter_map(|review| review.content.text.as_deref());
    let short = texts.filter(|text| has_fewer_words(text, min_words)).count();
    (2 * short > set.reviews.len()).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::{Review, ZReview};

    /// `reviewers` people, each with one review, dealt to `papers`; Z of the first `with_z`.
    fn venue(reviewers: usize, papers: usize, with_z: usize, text: bool) -> ReviewSet {
        let mut set = ReviewSet::default();
        // Long enough, and another one for each paper.
        let content = |paper: usize| Content {
            text: text.then(|| format!("paper {paper} {}", "word ".repeat(40))),
            ..Content::default()
        };
        for number in 0..reviewers {
            let paper = set.papers.intern(&format!("p{}", number % papers));
            let reviewer = set.reviewers.intern(&format!("r{number}"));
            set.reviews.push(Review { paper, reviewer, content: content(number) });
        }
        for number in 0..with_z {
            let paper = set.papers.intern(&format!("p{number}"));
            let source = set.sources.intern("llm");
            set.z.push(ZReview { paper, source, content: content(number) });
        }
        set
    }

    fn chosen(set: &ReviewSet) -> (ScoreName, String) {
        let choice = choose(set, &ReviewsSettings::default()).unwrap();
        assert_eq!(choice.names.len(), 1);
        (choice.names[0], choice.sentence.unwrap())
    }

    #[test]
    fn own_is_chosen_where_the_venue_is_large_enough_and_else_what_is_missing_is_said() {
        let (name, sentence) = chosen(&venue(60, 30, 10, true));
        assert_eq!(name, ScoreName::Own);
        assert!(
            sentence.contains("30 papers, 10 of them with an LLM review, are enough"),
            "{sentence}"
        );
        assert!(sentence.contains("A second LLM review"), "{sentence}");
        for small in [venue(19, 10, 10, true), venue(20, 9, 9, true), venue(40, 20, 9, true)] {
            let (name, sentence) = chosen(&small);
            assert_eq!(name, ScoreName::Own);
            assert!(sentence.contains("are few for it"), "{sentence}");
        }
        for (set, words) in [
            (venue(20, 10, 0, true), "a usable LLM review (none of 10 papers has one)"),
            (venue(20, 10, 10, false), "needs texts of all"),
        ] {
            let (name, sentence) = chosen(&set);
            assert_eq!(name, ScoreName::Projected);
            assert!(sentence.contains(words), "{sentence}");
        }
    }

    #[test]
    fn z_that_cannot_be_used_is_no_z() {
        let mut set = venue(20, 10, 10, true);
        let refusal = "I'm sorry, but I cannot review this paper.";
        for z in &mut set.z[..6] {
            z.content.text = Some(refusal.into());
        }
        let (name, sentence) = chosen(&set);
        assert_eq!(name, ScoreName::Own);
        assert!(
            sentence.contains("10 papers, 4 of them with an LLM review, are few"),
            "{sentence}"
        );
        set.z.iter_mut().for_each(|z| z.content.text = Some(refusal.into()));
        let error = choose(&set, &ReviewsSettings::default()).unwrap_err();
        assert!(error.to_string().contains("all 10 LLM reviews are refusals"), "{error}");
    }

    #[test]
    fn a_paper_with_thousands_of_reviews_has_another_score_and_no_own_work() {
        let mut set = venue(3000, 10, 10, true);
        assert_eq!(chosen(&set).0, ScoreName::Own);
        set.reviews.iter_mut().skip(900).for_each(|review| review.paper = 3);
        let (name, sentence) = chosen(&set);
        assert_eq!(name, ScoreName::Projected);
        assert!(sentence.contains("fewer reviews of a paper (2190 of p3)"), "{sentence}");
        let score = Some(vec![ScoreName::Projected, ScoreName::Own]);
        let error = choose(&set, &ReviewsSettings { score, ..ReviewsSettings::default() });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("`p3` has 2190 reviews"), "{error}");
    }

    #[test]
    fn without_texts_own_is_left_out_with_a_warning_or_refused() {
        let set = venue(4, 2, 2, false);
        let with = |score: &[ScoreName]| {
            let score = Some(score.to_vec());
            choose(&set, &ReviewsSettings { score, ..ReviewsSettings::default() })
        };
        let choice = with(&ScoreName::EACH).unwrap();
        assert_eq!(choice.names, ScoreName::EACH[..4]);
        assert_eq!(choice.warning.unwrap().code, "own_without_text");
        assert!(with(&[ScoreName::Own]).is_err());
    }
}

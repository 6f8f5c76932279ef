//! What to know about scores of reviewers before trusting them.

use std::ops::Deref;

use crate::data::near::quotable;
use crate::data::nouns::{ARE, HAVE, counted, verb};
use crate::data::reviews::ReviewSet;
use crate::data::warning::{Warning, first_names};
use crate::error::Remedy;
use crate::stats::rank::median;
use crate::text::combined::Basis;
use crate::text::score::{ScoreName, papers_without_direction, zero_counts};
use crate::text::scorer::{Projection, ScoreDetail, Scored, Scorer};
use crate::text::space::Space;

/// Fewer reviewers than this make medians and deviations of the parts a matter of chance.
const ENOUGH_REVIEWERS: usize = 20;

/// Fewer papers than this say little about what a review of another paper looks like.
const ENOUGH_PAPERS: usize = 10;

/// With more reviews than this share on papers without Z, the figures of `docs/results.md` do not
/// hold: with half of the papers the 10 % quantile for copies falls below .9.
const MOST_WITHOUT_Z: f64 = 0.3;

/// Fewer words per review than this share of what the median reviewer writes are few. Of people
/// whose reviews were cut to 3 sentences of about 13, up to three times as many were among the
/// lowest by `combined`, and ten times as many by `projected` without centering
/// (`docs/results.md`).
const FEW: f64 = 0.5;

/// Texts, or vectors given in their place, without a direction, and why.
pub(super) fn directions(set: &ReviewSet, space: &Space, why: &str) -> Vec<Warning> {
    let (z, reviews) = zero_counts(set, space);
    let mut warnings = Vec::new();
    if z > 0 {
        let message = format!(
            "{} {are} zero, {} no direction and {are} skipped",
            counted(z, "Z vector"),
            verb(z, ["carries", "carry"]),
            are = verb(z, ARE)
        );
        warnings.push(Warning::new("zero_z", z, message));
    }
    if reviews > 0 {
        let (texts, have) = (set.nouns.texts(reviews), verb(reviews, HAVE));
        let message = format!("{texts} {have} a zero vector{why}, with which pairs count as 0");
        warnings.push(Warning::new("zero_reviews", reviews, message));
    }
    warnings
}

/// Papers whose Z have nothing to remove, though they are there.
pub(super) fn without_direction<S: Deref<Target = ReviewSet>>(
    scorer: &Scorer<S>,
    projection: Projection,
) -> Option<Warning> {
    let papers = scorer.papers();
    let space = scorer.projected(projection);
    let count = papers_without_direction(papers, space, projection.combine);
    (count > 0).then(|| {
        let message = format!(
            "{count} of {} {} left out of projected: the Z, or the mean of several, is zero or equals the \
             center, and so has no direction to remove",
            scorer.set().nouns.things(papers.len()),
            verb(count, ARE)
        );
        Warning::new("z_without_direction", count, message)
    })
}

/// Says that ids may be given anew for every paper, where nobody seems to have reviewed two.
pub(super) fn one_paper_each(set: &ReviewSet) -> Option<Warning> {
    let people = set.reviewers.len();
    if people < ENOUGH_REVIEWERS || people != set.reviews.len() {
        return None;
    }
    let nouns = set.nouns;
    let (person, thing) = (nouns.person(), nouns.thing());
    let message = format!(
        "each of the {people} {person}s has one {thing}: if {person}s are named anew on every {thing}, \
         as in anonymous exports, give each the same name throughout; several {thing}s of one person \
         tell much more"
    );
    Some(Warning::new("one_paper_each", people, message).with_remedy(Remedy::JoinPeople))
}

/// Says that everything is by one person, or about one thing: then there is nothing to compare with.
pub(super) fn only_one(set: &ReviewSet) -> Vec<Warning> {
    /// Fewer reviews are few, and need no word.
    const SEVERAL: usize = 4;
    let (reviews, nouns) = (set.reviews.len(), set.nouns);
    let mut warnings = Vec::new();
    if reviews < SEVERAL {
        return warnings;
    }
    let texts = nouns.texts(reviews);
    let mut warn = |code, message| warnings.push(Warning::new(code, reviews, message));
    if let [name] = set.reviewers.names() {
        let message = format!(
            "all {texts} are by one {}, `{}`: there is nobody to compare with; is that the right column?",
            nouns.person(),
            quotable(name)
        );
        warn("one_person", message);
    }
    if let [name] = set.papers.names() {
        let message = format!(
            "all {texts} are of one {}, `{}`: what is said of it cannot be told from what is always said; \
             is that the right column?",
            nouns.thing(),
            quotable(name)
        );
        warn("one_paper", message);
    }
    warnings
}

/// Reasons not to trust one score, in the words of the file: none of them names anybody.
pub(super) fn of_score(scored: &Scored, set: &ReviewSet) -> Vec<Warning> {
    let said = |mut warning: Warning| {
        warning.message = set.nouns.said(&warning.message);
        warning
    };
    match &scored.detail {
        ScoreDetail::Combined { basis, .. } => {
            of_combined(basis, set.reviews.len()).into_iter().map(said).collect()
        }
        // Those of own name people, see `own::warnings`.
        ScoreDetail::None | ScoreDetail::Own(_) => Vec::new(),
    }
}

/// Reasons not to trust the scores, each with a count.
fn of_combined(basis: &Basis, reviews: usize) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code, count, message: String| warnings.push(Warning::new(code, count, message));
    let &Basis { scored, single_paper, two_papers, sources, papers, .. } = basis;
    let &Basis { reviews_without_z, reviews_of_lone_z, .. } = basis;
    if basis.no_spread {
        let message = "half of the reviewers agree in a part of the combined score to the last \
                       digit, so nobody has one"
            .to_owned();
        warn("combined_no_spread", 1, message);
    }
    if scored < ENOUGH_REVIEWERS {
        let message = format!(
            "the combined score compares reviewers with each other and there {} {scored}; do not \
             trust it with fewer than {ENOUGH_REVIEWERS}",
            verb(scored, ARE)
        );
        warn("combined_few_reviewers", scored, message);
    }
    if papers < ENOUGH_PAPERS {
        let message = format!(
            "the combined score compares papers with each other and {papers} {} peers and an LLM \
             review; do not trust it with fewer than {ENOUGH_PAPERS}",
            verb(papers, HAVE)
        );
        warn("combined_few_papers", papers, message);
    }
    if single_paper > 0 {
        let message = format!(
            "{single_paper} of {} {} a combined score from one paper, which is often wrong; look at \
             those with several papers first",
            counted(scored, "reviewer"),
            verb(single_paper, HAVE)
        );
        warn("combined_single_paper", single_paper, message);
    }
    if two_papers > 0 {
        let message = format!(
            "{two_papers} of {} {} a combined score from two papers, which is less sure than from \
             five",
            counted(scored, "reviewer"),
            verb(two_papers, HAVE)
        );
        warn("combined_two_papers", two_papers, message);
    }
    if sources == 1 {
        let message = "all LLM reviews are from one source, and reviews by an LLM that says other \
                       things can go unseen by the combined score; add reviews by other LLMs to Z"
            .to_owned();
        warn("combined_one_source", 1, message);
    }
    let many = MOST_WITHOUT_Z * (reviews as f64) < (reviews_without_z + reviews_of_lone_z) as f64;
    if many && reviews_of_lone_z > 0 {
        let message = format!(
            "{reviews_of_lone_z} of {reviews} reviews are on papers whose LLM reviews are the only ones of \
             their sources: the combined score compares them with those of other papers, so they have no \
             part in it"
        );
        warn("combined_lone_z", reviews_of_lone_z, message);
    }
    if many && reviews_without_z > 0 {
        let message = format!(
            "{reviews_without_z} of {} {} on papers without a usable LLM review; copies among them \
             go unseen by the combined score",
            counted(reviews, "review"),
            verb(reviews_without_z, ARE)
        );
        warn("combined_without_z", reviews_without_z, message);
    }
    if basis.median_peers.is_some_and(|median| median <= 0.0) {
        let message =
            "most reviews are no closer to their peers' than to reviews of other papers: \
                       these vectors cannot tell papers apart; do not trust the combined score"
                .to_owned();
        warn("combined_peers_off_topic", reviews, message);
    }
    if basis.median_z.is_some_and(|median| median <= 0.0) {
        let message = "most reviews are no closer to the LLM's review of their paper than to its \
                       reviews of others: check that Z is of these papers; do not trust the \
                       combined score"
            .to_owned();
        warn("combined_z_off_topic", reviews, message);
    }
    warnings
}

/// Says who writes few words, if a score that it matters for (not own, whose ghosts are as short) is asked for and there are texts.
pub(super) fn short_reviews(set: &ReviewSet, scores: &[ScoreName]) -> Option<Warning> {
    let affected: Vec<&str> = scores
        .iter()
        .filter(|score| !matches!(score, ScoreName::Negative | ScoreName::Own))
        .map(|score| score.as_str())
        .collect();
    if affected.is_empty() {
        return None;
    }
    let short = short_reviewers(set);
    if short.is_empty() {
        return None;
    }
    let names: Vec<&str> = short.iter().map(|&reviewer| set.reviewers.name(reviewer)).collect();
    let message = format!(
        "{} of {} write less than half of the words of the median; {} of short {}s are lower whatever \
         they say: {}",
        short.len(),
        set.nouns.people(set.reviewers.len()),
        affected.join(", "),
        set.nouns.text(),
        first_names(&names)
    );
    Some(Warning::new("short_reviews", short.len(), message))
}

/// Reviewers whose mean number of words per review is below half of the median over reviewers.
fn short_reviewers(set: &ReviewSet) -> Vec<u32> {
    let mut totals = vec![(0, 0); set.reviewers.len()];
    for review in &set.reviews {
        if let Some(text) = &review.content.text {
            let (words, reviews) = &mut totals[review.reviewer as usize];
            *words += text.split_whitespace().count();
            *reviews += 1;
        }
    }
    let mean =
        |&(words, reviews): &(usize, usize)| (reviews > 0).then(|| words as f64 / reviews as f64);
    let means: Vec<Option<f64>> = totals.iter().map(mean).collect();
    let middle = median(&means.iter().copied().flatten().collect::<Vec<_>>()).unwrap_or(0.0);
    let short = |mean: &Option<f64>| mean.is_some_and(|mean| mean < FEW * middle);
    (0..).zip(&means).filter(|(_, mean)| short(mean)).map(|(reviewer, _)| reviewer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::Review;

    const GOOD: Basis = Basis {
        scored: 40,
        single_paper: 0,
        two_papers: 0,
        sources: 2,
        papers: 60,
        reviews_without_z: 0,
        reviews_of_lone_z: 0,
        median_peers: Some(0.2),
        median_z: Some(0.2),
        no_spread: false,
    };

    fn codes(basis: Basis) -> Vec<&'static str> {
        of_combined(&basis, 100).iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn each_reason_not_to_trust_has_its_own_warning() {
        assert!(codes(GOOD).is_empty());
        assert_eq!(codes(Basis { scored: 19, ..GOOD }), ["combined_few_reviewers"]);
        assert_eq!(codes(Basis { papers: 9, ..GOOD }), ["combined_few_papers"]);
        assert_eq!(codes(Basis { single_paper: 3, ..GOOD }), ["combined_single_paper"]);
        assert_eq!(codes(Basis { two_papers: 3, ..GOOD }), ["combined_two_papers"]);
        assert_eq!(codes(Basis { sources: 1, ..GOOD }), ["combined_one_source"]);
        assert_eq!(codes(Basis { reviews_without_z: 31, ..GOOD }), ["combined_without_z"]);
        assert!(codes(Basis { reviews_without_z: 30, ..GOOD }).is_empty());
        assert_eq!(codes(Basis { reviews_of_lone_z: 31, ..GOOD }), ["combined_lone_z"]);
        assert!(codes(Basis { reviews_of_lone_z: 30, ..GOOD }).is_empty());
        let median = Some(0.0);
        assert_eq!(codes(Basis { median_peers: median, ..GOOD }), ["combined_peers_off_topic"]);
        assert_eq!(codes(Basis { median_z: median, ..GOOD }), ["combined_z_off_topic"]);
        assert_eq!(codes(Basis { no_spread: true, ..GOOD }), ["combined_no_spread"]);
    }

    fn set(words: &[(&str, usize)]) -> ReviewSet {
        let mut set = ReviewSet::default();
        for &(reviewer, count) in words {
            let reviewer = set.reviewers.intern(reviewer);
            let text = (count > 0).then(|| "word ".repeat(count));
            let content = Content { text, ..Content::default() };
            set.reviews.push(Review { paper: 0, reviewer, content });
        }
        set
    }

    #[test]
    fn who_writes_less_than_half_of_the_median_is_named() {
        // Means 10, 20, 9 and 40: the median is 15, and 9 is more than 7.5.
        let equal = [("a", 10), ("b", 20), ("c", 9), ("d", 60), ("d", 20)];
        assert_eq!(short_reviews(&set(&equal), &[ScoreName::Projected]), None);
        let unequal = [("a", 10), ("b", 20), ("c", 4), ("d", 60), ("d", 20)];
        let scores = [ScoreName::Projected, ScoreName::Negative, ScoreName::Combined];
        let warning = short_reviews(&set(&unequal), &scores).unwrap();
        assert_eq!((warning.code, warning.count), ("short_reviews", 1));
        assert!(warning.message.contains("projected, combined of short"), "{}", warning.message);
        assert!(warning.message.ends_with(": c"), "{}", warning.message);
    }

    #[test]
    fn names_that_may_be_per_paper_are_told_by_nobody_having_two() {
        let names: Vec<String> = (0..20).map(|number| format!("r{number}")).collect();
        let mut reviews: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 9)).collect();
        assert_eq!(one_paper_each(&set(&reviews)).unwrap().count, 20);
        assert_eq!(one_paper_each(&set(&reviews[1..])), None, "few people may have one each");
        reviews.push(("r3", 9));
        assert_eq!(one_paper_each(&set(&reviews)), None);
    }

    #[test]
    fn without_texts_or_with_negative_alone_nothing_is_said() {
        let unequal = [("a", 10), ("b", 20), ("c", 4)];
        assert_eq!(short_reviews(&set(&unequal), &[ScoreName::Negative]), None);
        assert_eq!(short_reviews(&set(&[("a", 0), ("b", 0)]), &[ScoreName::Combined]), None);
    }
}

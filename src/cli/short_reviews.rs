//! Reviewers who write little: scores of texts are lower for them, whatever they say.

use crate::data::reviews::ReviewSet;
use crate::data::warning::{Warning, first_names};
use crate::stats::rank::median;
use crate::text::score::ScoreName;

/// Fewer words per review than this share of what the median reviewer writes are few. Of people
/// whose reviews were cut to 3 sentences of about 13, up to three times as many were among the
/// lowest by `combined`, and ten times as many by `projected` without centering
/// (`docs/results.md`).
const FEW: f64 = 0.5;

/// Says who writes few words, if a score that it matters for is asked for and there are texts.
pub(super) fn warning(set: &ReviewSet, scores: &[ScoreName]) -> Option<Warning> {
    let affected: Vec<&str> = scores
        .iter()
        .filter(|score| **score != ScoreName::Negative)
        .map(|score| score.as_str())
        .collect();
    let short = short_reviewers(set);
    if short.is_empty() || affected.is_empty() {
        return None;
    }
    let names: Vec<&str> = short.iter().map(|&reviewer| set.reviewers.name(reviewer)).collect();
    let message = format!(
        "{} of {} reviewers write less than half of the words of the median reviewer; {} of short \
         reviews are lower whatever they say: {}",
        short.len(),
        set.reviewers.len(),
        affected.join(", "),
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
        assert_eq!(warning(&set(&equal), &[ScoreName::Projected]), None);
        let unequal = [("a", 10), ("b", 20), ("c", 4), ("d", 60), ("d", 20)];
        let scores = [ScoreName::Projected, ScoreName::Negative, ScoreName::Combined];
        let warning = warning(&set(&unequal), &scores).unwrap();
        assert_eq!((warning.code, warning.count), ("short_reviews", 1));
        assert!(warning.message.contains("projected, combined of short"), "{}", warning.message);
        assert!(warning.message.ends_with(": c"), "{}", warning.message);
    }

    #[test]
    fn without_texts_or_with_negative_alone_nothing_is_said() {
        let unequal = [("a", 10), ("b", 20), ("c", 4)];
        assert_eq!(warning(&set(&unequal), &[ScoreName::Negative]), None);
        assert_eq!(warning(&set(&[("a", 0), ("b", 0)]), &[ScoreName::Combined]), None);
    }
}

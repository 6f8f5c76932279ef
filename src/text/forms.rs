//! Sentences that say nothing about whose work a review is: headings, and the words of a form.
//!
//! A venue's form puts the same headings and questions into every review. Two reviews that share
//! them share nothing. A sentence is left out of evidence if it is a heading by its looks (a
//! Markdown heading, a few words that end in a colon or in no mark at all), or if the same words
//! stand in the reviews of [`FEWEST`] reviewers and of [`FEWEST`] papers: what so many write about
//! different papers says nothing about any of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::data::reviews::ReviewSet;
use crate::data::words::words;
use crate::embed::sentences::sentences;

/// Reviewers and papers that share a sentence of a form.
pub(crate) const FEWEST: usize = 3;

/// Most words of a heading that ends in a colon.
const MOST_BEFORE_COLON: usize = 8;

/// Most words of a heading that ends in no mark.
const MOST_WITHOUT_MARK: usize = 4;

/// The sentences that many reviews of a set share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forms {
    shared: HashSet<String>,
}

impl Forms {
    /// What the reviews of a set share, whoever wrote them.
    pub(crate) fn of(set: &ReviewSet) -> Self {
        let mut seen: HashMap<String, (BTreeSet<u32>, BTreeSet<u32>)> = HashMap::new();
        for review in &set.reviews {
            for sentence in sentences(review.content.text.as_deref().unwrap_or_default()) {
                let (reviewers, papers) = seen.entry(key(sentence)).or_default();
                // More than enough is not counted: forms of big venues stay small here.
                if reviewers.len() < FEWEST {
                    reviewers.insert(review.reviewer);
                }
                if papers.len() < FEWEST {
                    papers.insert(review.paper);
                }
            }
        }
        let enough = |(reviewers, papers): &(BTreeSet<u32>, BTreeSet<u32>)| {
            reviewers.len() >= FEWEST && papers.len() >= FEWEST
        };
        let shared = seen.into_iter().filter(|(_, who)| enough(who)).map(|(key, _)| key);
        Self { shared: shared.collect() }
    }

    /// Whether a sentence is a heading or a part of a form, and so no evidence.
    pub(crate) fn has(&self, sentence: &str) -> bool {
        is_heading(sentence) || self.shared.contains(&key(sentence))
    }
}

/// The words of a sentence in lower case.
fn key(sentence: &str) -> String {
    words(sentence).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn is_heading(sentence: &str) -> bool {
    let words = words(sentence).count();
    let bare = sentence.trim_end_matches(['*', '_', '#', ' ']);
    let ends_in_mark = bare.ends_with(|c: char| {
        matches!(c, '.' | '!' | '?' | '\u{2026}' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}')
    });
    words == 0
        || sentence.starts_with('#')
        || (bare.ends_with([':', '\u{ff1a}']) && words <= MOST_BEFORE_COLON)
        || (!ends_in_mark && words <= MOST_WITHOUT_MARK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::Review;

    fn set(rows: &[(&str, &str, &str)]) -> ReviewSet {
        let mut set = ReviewSet::default();
        for (paper, reviewer, text) in rows {
            let content = Content { text: Some((*text).into()), ..Content::default() };
            let paper = set.papers.intern(paper);
            let reviewer = set.reviewers.intern(reviewer);
            set.reviews.push(Review { paper, reviewer, content });
        }
        set
    }

    #[test]
    fn headings_are_known_by_their_looks() {
        let forms = Forms::default();
        for heading in [
            "## What are the main strengths of this paper?",
            "**Strengths:**",
            "Summary",
            "Rating: 6",
            "Questions for the authors:",
            "---",
            "- **Weaknesses**",
        ] {
            assert!(forms.has(heading), "{heading}");
        }
        for sentence in ["It is unclear.", "Why?", "The baseline of Table 2 is weak", "No."] {
            assert!(!forms.has(sentence), "{sentence}");
        }
    }

    #[test]
    fn what_three_reviewers_write_on_three_papers_is_a_form() {
        let form = "Is the paper well written and clear?";
        let row =
            |paper, reviewer| (paper, reviewer, "Is the paper WELL written, and clear? Mine.");
        let rows = [row("p", "a"), row("q", "b"), row("r", "c")];
        assert!(Forms::of(&set(&rows)).has(form));
        // Two papers, or two reviewers, are not enough.
        assert!(!Forms::of(&set(&[row("p", "a"), row("q", "b"), row("q", "c")])).has(form));
        assert!(!Forms::of(&set(&[row("p", "a"), row("q", "b"), row("r", "b")])).has(form));
    }
}

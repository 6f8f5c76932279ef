//! Z that cannot be what it says it is: a review of its paper by an LLM.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::cut::count_words;
use super::duplicates::{FormShingles, NearDuplicate, duplicates_and_forms, shingles_of_reviews};
use super::language::others;
use super::people_z::people_z;
use super::settings::OwnSettings;
use crate::data::excerpt::plain_opening;
use crate::data::reviews::ReviewSet;

words! {
    /// Why a Z is left out.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum UnusableZ {
        /// It has fewer words than a review that is judged.
        Short = "have too few words",
        /// The LLM says that it will not, or cannot, write a review.
        Refusal = "are refusals or talk of the LLM about itself",
        /// It speaks as the authors do: the abstract was copied.
        Abstract = "read as the abstract of the paper, not as a review of it",
        /// The same text stands for several papers.
        SeveralPapers = "have a text that stands for several papers",
        /// It is in another language than most reviews, so that copying cannot be seen.
        OtherLanguage = "are in another language than the reviews",
        /// It is a person's review of the paper, filed as Z.
        PersonsReview = "are a person's review by their words, not an LLM's,",
    }
}

/// How refusals begin, in lower case and with straight apostrophes.
const REFUSALS: [&str; 14] = [
    "i'm sorry",
    "i am sorry",
    "i'm unable",
    "i am unable",
    "i can't",
    "i cannot",
    "i do not have access",
    "i don't have access",
    "as an ai",
    "as a language model",
    "as a large language model",
    "sorry, but i",
    "please provide the",
    "it looks like the paper",
];

/// Characters from the start in which a refusal says so.
const START_OF_A_REFUSAL: usize = 120;

/// Words from which on a text that begins so is a review all the same.
const LONGEST_REFUSAL: usize = 150;

/// Words of authors about themselves in an abstract.
const AUTHORS: [&str; 3] = ["we", "our", "us"];

/// How often an abstract has them at least.
const FEWEST_OF_AUTHORS: usize = 3;

/// Words of reviews that an abstract does not have.
const REVIEWERS: [&str; 14] = [
    "author",
    "authors",
    "manuscript",
    "reviewer",
    "reviewers",
    "strength",
    "strengths",
    "weakness",
    "weaknesses",
    "i",
    "submission",
    "concern",
    "concerns",
    "unclear",
];

/// What is known of the texts of a set before they are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct TextChecks {
    /// Why each Z is left out; `None` for those that are used, and for those without a text.
    pub(crate) unusable: Vec<Option<UnusableZ>>,
    /// The language of each review (an English name) if it is another one than that of most.
    pub(crate) languages: Vec<Option<&'static str>>,
    /// Reviews that are nearly the text of a Z which was taken for a person's.
    pub(super) filed_as_z: Vec<usize>,
    /// Reviews that are nearly the same text.
    pub(super) near_duplicates: Vec<NearDuplicate>,
    /// What is nobody's own words.
    pub(super) forms: FormShingles,
}

/// Tells the language of every text, which Z cannot be used, and which reviews are nearly the same.
pub fn check_texts(set: &ReviewSet, settings: &OwnSettings) -> TextChecks {
    let fewest_words = settings.min_words;
    let texts: Vec<Option<&str>> =
        set.reviews.iter().map(|review| review.content.text.as_deref()).collect();
    let text = |index: usize| set.z[index].content.text.as_deref();
    let of_z: Vec<Option<&str>> = (0..set.z.len()).map(text).collect();
    let [languages, foreign_z] = if settings.check_language {
        others(&texts, &of_z)
    } else {
        [vec![None; texts.len()], vec![None; of_z.len()]]
    };
    let mut papers: HashMap<&str, HashSet<u32>> = HashMap::new();
    for (index, z) in set.z.iter().enumerate() {
        if let Some(text) = text(index) {
            papers.entry(text.trim()).or_default().insert(z.paper);
        }
    }
    let mut unusable: Vec<Option<UnusableZ>> = (0..set.z.len())
        .into_par_iter()
        .map(|index| {
            let text = text(index)?;
            let several = papers.get(text.trim()).is_some_and(|papers| papers.len() > 1);
            let foreign = foreign_z[index].map(|_| UnusableZ::OtherLanguage);
            let several = several.then_some(UnusableZ::SeveralPapers);
            alone(text, fewest_words).or(several).or(foreign)
        })
        .collect();
    let shingles = shingles_of_reviews(set);
    let people = people_z(set, &unusable, &shingles);
    let filed_as_z: Vec<usize> = people.iter().flatten().copied().collect();
    for (wrong, _) in unusable.iter_mut().zip(people).filter(|(_, review)| review.is_some()) {
        *wrong = Some(UnusableZ::PersonsReview);
    }
    let (near_duplicates, forms) = duplicates_and_forms(set, shingles);
    TextChecks { unusable, languages, filed_as_z, near_duplicates, forms }
}

/// What is wrong with a text by itself.
fn alone(text: &str, fewest_words: usize) -> Option<UnusableZ> {
    let words = count_words(text);
    let start = plain_opening(text, START_OF_A_REFUSAL);
    if words < LONGEST_REFUSAL && REFUSALS.iter().any(|refusal| start.contains(refusal)) {
        return Some(UnusableZ::Refusal);
    }
    if words < fewest_words {
        return Some(UnusableZ::Short);
    }
    let mut authors = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if REVIEWERS.contains(&word.as_str()) {
            return None;
        }
        authors += usize::from(AUTHORS.contains(&word.as_str()));
    }
    (authors >= FEWEST_OF_AUTHORS).then_some(UnusableZ::Abstract)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::ZReview;

    const ABSTRACT: &str = "Pruning removes weights of networks that contribute little. In this \
        paper we present a method that prunes while the network is trained, so that no second run \
        is needed. We show on three data sets that our method keeps the accuracy of the whole \
        network with a tenth of its weights, and we prove a bound on what is lost.";
    const REVIEW: &str = "The paper presents a method to prune networks during training. \
        Strengths: it needs no second run, and our community has waited for that. Weaknesses: the \
        bound is loose, and we would want to know how it behaves on larger networks. We ask the \
        authors to add a comparison with magnitude pruning and to report the spread of runs.";

    #[test]
    fn each_kind_of_text_that_is_no_review_is_known() {
        assert_eq!(alone(REVIEW, 40), None);
        assert_eq!(alone(ABSTRACT, 40), Some(UnusableZ::Abstract));
        assert_eq!(alone("Good paper, accept.", 40), Some(UnusableZ::Short));
        let refusal = "I\u{2019}m sorry, but I can't write a review without the text of the paper.";
        assert_eq!(alone(refusal, 40), Some(UnusableZ::Refusal));
        // A long review may say so in passing, and a short one is judged where that is asked for.
        assert_eq!(alone(&format!("I cannot recommend it. {}", REVIEW.repeat(4)), 40), None);
        assert_eq!(alone("Good paper, accept.", 2), None);
    }

    #[test]
    fn one_text_for_several_papers_is_left_out_and_one_of_two_sources_is_not() {
        let mut set = ReviewSet::default();
        let texts = [("a", REVIEW.to_owned()), ("b", format!("{REVIEW} "))];
        let mut push = |paper: &str, source: &str, text: String| {
            let (paper, source) = (set.papers.intern(paper), set.sources.intern(source));
            let content = Content { text: Some(text), ..Content::default() };
            set.z.push(ZReview { paper, source, content });
        };
        for (paper, text) in texts {
            push(paper, "one", text);
        }
        let other = REVIEW.replace("three", "four").replace("loose", "tight");
        push("a", "two", other.clone());
        push("a", "three", other);
        let several = Some(UnusableZ::SeveralPapers);
        let checks = check_texts(&set, &OwnSettings::default());
        assert_eq!(checks.unusable, [several, several, None, None]);
    }
}

//! Rewrites reviews by rules, to test whether a score accuses people for how they write.
//!
//! [`Rewriting::Formal`] replaces everyday words by formal ones. [`Rewriting::Polished`] is what a
//! person gets who asks an LLM to tidy up their notes: formal words, headings, bold aspects and
//! stock phrases, with nothing said that was not said before. [`Rewriting::Reworded`] hides where a
//! text comes from: other words, another order, no headings, a third of the sentences gone.
//! [`Rewriting::Short`] keeps the first sentences. Every rewriting is a function of the text alone.
//!
//! Rules are no language model: what a real one does to a review goes further in wording, and less
//! far in layout. `docs/results.md` says what was measured with them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::embed::sentences::sentences;

/// A way to rewrite a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rewriting {
    /// Formal words.
    Formal,
    /// Formal words, headings, bold aspects, stock phrases.
    Polished,
    /// Other words, another order, two sentences of three.
    Reworded,
    /// The first so many sentences.
    Short(usize),
}

impl Rewriting {
    /// The rewritten text; the same text always becomes the same.
    pub(crate) fn apply(self, text: &str) -> String {
        let mut all = sentences(text);
        match self {
            Self::Formal => lines(all.map(|sentence| replace(sentence, &FORMAL))),
            Self::Polished => polished(&all.collect::<Vec<_>>()),
            Self::Reworded => reworded(&all.collect::<Vec<_>>()),
            Self::Short(count) => lines(all.by_ref().take(count).map(str::to_owned)),
        }
    }
}

fn lines(sentences: impl Iterator<Item = String>) -> String {
    sentences.collect::<Vec<_>>().join("\n")
}

/// Words, at most four, and what is put in their place.
type Rules = BTreeMap<&'static str, &'static str>;

/// Everyday words, and what a formal writer says.
static FORMAL: LazyLock<Rules> = LazyLock::new(|| rules(include_str!("rewording/formal.txt")));

/// Words of reviews and other words for them, neither more formal than the other.
static OTHER_WORDS: LazyLock<Rules> = LazyLock::new(|| rules(include_str!("rewording/other.txt")));

/// Words that make a sentence a complaint.
const COMPLAINTS: [&str; 16] = [
    "but", "cannot", "fails", "hard", "however", "lack", "lacks", "limited", "missing", "not",
    "only", "should", "unclear", "unfair", "weak", "without",
];

/// Words of a sentence and the aspect it is filed under; the first that occurs counts.
const ASPECTS: [(&str, &str); 16] = [
    ("ablation", "Ablation Analysis"),
    ("baseline", "Comparison to Baselines"),
    ("baselines", "Comparison to Baselines"),
    ("code", "Reproducibility"),
    ("cost", "Computational Cost"),
    ("data", "Data"),
    ("dataset", "Data"),
    ("datasets", "Data"),
    ("experiments", "Experimental Evaluation"),
    ("results", "Experimental Evaluation"),
    ("evaluation", "Experimental Evaluation"),
    ("novel", "Novelty"),
    ("novelty", "Novelty"),
    ("theory", "Theoretical Soundness"),
    ("writing", "Clarity and Presentation"),
    ("written", "Clarity and Presentation"),
];

/// Put before every third sentence in turn; the sentence goes on in lower case.
const PHRASES: [&str; 4] =
    ["It is worth noting that", "Furthermore,", "It is important to emphasise that", "Notably,"];

const OPENING: &str = "The submission addresses a timely and relevant topic, and the following \
                       assessment summarises its merits and the aspects that merit attention.";
const CLOSING: &str = "Overall, addressing the points raised above would further strengthen the \
                       clarity, rigour and impact of this work.";

/// One on each line.
fn rules(text: &'static str) -> Rules {
    text.lines().filter_map(|line| line.split_once(": ")).collect()
}

/// The words of a sentence in lower case, without the marks around them.
fn words(sentence: &str) -> impl Iterator<Item = String> {
    sentence.split_whitespace().map(|word| core(word).to_lowercase())
}

fn is_mark(c: char) -> bool {
    !c.is_alphanumeric()
}

fn core(word: &str) -> &str {
    word.trim_matches(is_mark)
}

/// Replaces every occurrence of a rule, the longest first, from left to right; marks around words
/// and a capital at the start stay. A phrase does not match across a mark.
fn replace(sentence: &str, rules: &Rules) -> String {
    let longest = rules.keys().map(|from| from.split(' ').count()).max().unwrap_or(0);
    let parts: Vec<&str> = sentence.split_whitespace().collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let fitting = (1..=longest.min(parts.len() - at)).rev().find_map(|count| {
            let to = rules.get(phrase(&parts[at..at + count])?.as_str())?;
            Some((count, to))
        });
        let count = fitting.map_or(1, |(count, _)| count);
        let own = &parts[at..at + count];
        out.push(fitting.map_or_else(|| own.join(" "), |(_, to)| in_place(own, to)));
        at += count;
    }
    out.join(" ")
}

/// The words as a phrase in lower case; `None` if a mark is between them.
fn phrase(parts: &[&str]) -> Option<String> {
    let last = parts.len() - 1;
    let inside = |index: usize, part: &str| {
        (index == last || part.ends_with(core(part)))
            && (index == 0 || part.starts_with(core(part)))
    };
    if !parts.iter().enumerate().all(|(index, part)| inside(index, part)) {
        return None;
    }
    let words: Vec<String> = parts.iter().map(|part| core(part).to_lowercase()).collect();
    Some(words.join(" "))
}

fn in_place(parts: &[&str], to: &str) -> String {
    let first = parts[0];
    let last = parts[parts.len() - 1];
    let before = &first[..first.len() - first.trim_start_matches(is_mark).len()];
    let after = &last[last.trim_end_matches(is_mark).len()..];
    let capital = core(first).chars().next().is_some_and(char::is_uppercase);
    let to = if capital { capitalised(to) } else { to.to_owned() };
    format!("{before}{to}{after}")
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |c| c.to_uppercase().chain(characters).collect())
}

/// In lower case at the start, unless the first word is a name, a formula or `I`.
fn continued(sentence: &str) -> String {
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let mut characters = sentence.chars();
    match characters.next() {
        Some(c) if first.chars().skip(1).all(char::is_lowercase) && first != "I" => {
            c.to_lowercase().chain(characters).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// Without bullets, list numbers and Markdown marks.
fn bare(sentence: &str) -> String {
    let text = sentence.trim_start_matches(['*', '-', '#', '•', ' ']);
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = first.trim_start_matches('(').trim_end_matches(['.', ')']);
    let is_number = number.len() < first.len() && number.chars().all(|c| c.is_ascii_digit());
    let text = if is_number { rest } else { text };
    text.replace("**", "")
}

/// Questions go to the third section, complaints to the second, all else to the first.
fn section_of(sentence: &str) -> usize {
    let complains = words(sentence).any(|word| COMPLAINTS.contains(&word.as_str()));
    if sentence.trim_end().ends_with('?') { 2 } else { usize::from(complains) }
}

/// The sentence in formal words, after its aspect and a stock phrase.
fn bullet(sentence: &str, phrase: Option<&str>) -> String {
    let text = replace(sentence, &FORMAL);
    let text =
        phrase.map_or_else(|| text.clone(), |phrase| format!("{phrase} {}", continued(&text)));
    let aspect = words(sentence).find_map(|word| {
        ASPECTS.iter().find(|(known, _)| *known == word).map(|(_, aspect)| aspect)
    });
    match aspect {
        Some(aspect) => format!("- **{aspect}**: {text}"),
        None => format!("- {text}"),
    }
}

fn polished(sentences: &[&str]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let mut sections: [Vec<String>; 3] = Default::default();
    let bare = sentences.iter().map(|sentence| bare(sentence));
    for (index, sentence) in bare.filter(|sentence| !core(sentence).is_empty()).enumerate() {
        let phrase = (index % 3 == 2).then(|| PHRASES[index / 3 % PHRASES.len()]);
        sections[section_of(&sentence)].push(bullet(&sentence, phrase));
    }
    let mut out = vec![OPENING.to_owned()];
    for (heading, section) in ["Strengths", "Weaknesses", "Questions"].iter().zip(sections) {
        if !section.is_empty() {
            out.push(format!("### {heading}"));
            out.extend(section);
        }
    }
    out.push(CLOSING.to_owned());
    lines(out.into_iter())
}

/// Two sentences of three, from the last to the first; a text of one sentence keeps it.
fn reworded(sentences: &[&str]) -> String {
    let kept = sentences.iter().enumerate().filter(|(index, _)| index % 3 != 1).rev();
    lines(kept.map(|(_, sentence)| {
        // `**Aspect**: text` loses its label.
        let text = match sentence.split_once("**:") {
            Some((_, text)) => text.trim_start(),
            None => sentence,
        };
        replace(&bare(text), &OTHER_WORDS)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formal_words_keep_marks_and_capitals_and_the_longest_rule_wins() {
        let text = "I think it's (very) good, but HARD to follow.\nSo what?";
        assert_eq!(
            Rewriting::Formal.apply(text),
            "It appears that it is (highly) commendable, however Challenging to follow.\n\
             Consequently what?"
        );
        // `I think` with a comma inside is no phrase; `but` in `attributed` is no word.
        assert_eq!(Rewriting::Formal.apply("I, think attributed"), "I, think attributed");
    }

    #[test]
    fn a_polished_review_has_sections_aspects_and_phrases() {
        let text = "- The idea is new.\n2. The experiments are not convincing.\nWhy no code?\n**Nice** plots.";
        let expected = [
            OPENING,
            "### Strengths",
            "- The concept is novel.",
            "- Nice plots.",
            "### Weaknesses",
            "- **Experimental Evaluation**: The experiments are not convincing.",
            "### Questions",
            "- **Reproducibility**: It is worth noting that why no code?",
            CLOSING,
        ];
        assert_eq!(Rewriting::Polished.apply(text), expected.join("\n"));
        assert_eq!(Rewriting::Polished.apply(" \n"), "");
    }

    #[test]
    fn a_reworded_review_is_in_other_words_and_order_without_labels() {
        let text = "**Novelty**: The paper introduces a novel method.\nSecond goes.\n3. Results, however, are limited.\nFourth stays.";
        assert_eq!(
            Rewriting::Reworded.apply(text),
            "Fourth stays.\nOutcomes, yet, are narrow.\nThe submission presents a new procedure."
        );
        assert_eq!(Rewriting::Reworded.apply("One."), "One.");
    }

    #[test]
    fn a_short_review_is_its_first_sentences() {
        assert_eq!(Rewriting::Short(2).apply("One. Two! Three? Four."), "One.\nTwo!");
        assert_eq!(Rewriting::Short(9).apply("One. Two!"), "One.\nTwo!");
    }

    #[test]
    fn names_formulas_and_i_keep_their_capital() {
        assert_eq!(continued("The model"), "the model");
        assert_eq!(continued("GPT is"), "GPT is");
        assert_eq!(continued("I see"), "I see");
        assert_eq!(continued("BERTs"), "BERTs");
    }

    #[test]
    fn rules_are_in_order_and_lead_nowhere_else() {
        let texts = [include_str!("rewording/formal.txt"), include_str!("rewording/other.txt")];
        for (rules, text) in [&*FORMAL, &*OTHER_WORDS].into_iter().zip(texts) {
            // Every line is one, and none stands twice.
            assert_eq!(rules.len(), text.lines().count());
            for (&from, &to) in rules {
                assert_eq!(from.to_lowercase(), from);
                assert_ne!(from, to);
                assert!(from.split(' ').count() <= 4, "{from}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_rewritten_and_polishing_loses_no_unknown_word(
            text in "([a-zA-Z]{1,9}|xq[a-z]{3}|\\*\\*|[.?!]|\\n| |é|-){0,40}",
        ) {
            for rewriting in
                [Rewriting::Formal, Rewriting::Polished, Rewriting::Reworded, Rewriting::Short(3)]
            {
                prop_assert_eq!(rewriting.apply(&text), rewriting.apply(&text));
            }
            let polished = Rewriting::Polished.apply(&text).to_lowercase();
            for word in text.split(|c: char| !c.is_ascii_lowercase()).filter(|w| w.starts_with("xq")) {
                prop_assert!(polished.contains(word), "{word} in {polished}");
            }
        }
    }
}

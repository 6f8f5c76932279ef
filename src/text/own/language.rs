//! Which language a review is written in, where that can be told.

use std::collections::BTreeMap;

use rayon::prelude::*;
use whatlang::{Lang, detect};

/// Characters from the start by which the language of a text is told: more change nothing and take
/// longer.
const CHARACTERS: usize = 1_000;

/// Letters below which the language of a text is not told.
const FEWEST_LETTERS: usize = 120;

/// The language of a text by its trigrams of letters; `None` for short or unclear texts.
fn language(text: &str) -> Option<Lang> {
    if text.chars().filter(|c| c.is_alphabetic()).count() < FEWEST_LETTERS {
        return None;
    }
    let end = text.char_indices().nth(CHARACTERS).map_or(text.len(), |(byte, _)| byte);
    detect(&text[..end]).filter(whatlang::Info::is_reliable).map(|info| info.lang())
}

/// For each text, its language (an English name) if it is another one than that of most texts.
///
/// Most means more than half of the texts whose language can be told; without such a language
/// nobody writes another one.
pub(super) fn other_languages(texts: &[Option<&str>]) -> Vec<Option<&'static str>> {
    let languages: Vec<Option<Lang>> = texts.par_iter().map(|text| language((*text)?)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for language in languages.iter().flatten() {
        *counts.entry(language.code()).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let most = counts.iter().find(|(_, count)| 2 * **count > total).map(|(code, _)| *code);
    let other = |language: Lang| Some(language.code()) != most && most.is_some();
    languages
        .into_iter()
        .map(|language| language.filter(|&language| other(language)).map(Lang::eng_name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "The authors propose a method for pruning networks, and the experiments \
        show that it works on three data sets. I would like to see a comparison with magnitude \
        pruning, since the gains in the second table are within one standard deviation.";
    const GERMAN: &str = "Die Autoren schlagen ein Verfahren zum Beschneiden von Netzen vor, und \
        die Versuche zeigen, dass es auf drei Datensätzen funktioniert. Ich würde gerne einen \
        Vergleich mit einfachen Verfahren sehen, denn der Gewinn in der zweiten Tabelle ist klein.";

    #[test]
    fn another_language_is_named_and_short_texts_are_undecided() {
        let texts = [ENGLISH, GERMAN, "Gut gemacht.", ENGLISH, ENGLISH];
        let others = other_languages(&texts.map(Some));
        assert_eq!(others, [None, Some("German"), None, None, None]);
        let none = other_languages(&[Some(ENGLISH), Some(GERMAN), None]);
        assert_eq!(none, [None, None, None]);
    }
}

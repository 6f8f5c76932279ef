//! Which language a review is written in, where that can be told.

use std::collections::BTreeMap;

use rayon::prelude::*;
use whatlang::{Lang, Script, detect, detect_script};

/// Characters from the start by which the language of a text is told: more change nothing and take
/// longer.
const CHARACTERS: usize = 1_000;

/// Letters below which the language of a text is not told by its trigrams.
const FEWEST_LETTERS: usize = 120;

/// Letters below which not even the script of a text counts: names and terms may be in another one.
const FEWEST_OF_SCRIPT: usize = 20;

/// Words of which no other language has as many: with a fifth of these among its words a text is English, whatever its
/// trigrams, which take seventy times as long.
const ENGLISH: [&str; 24] = [
    "the", "and", "that", "this", "with", "are", "which", "from", "have", "not", "be", "by", "for",
    "to", "it", "is", "of", "as", "these", "would", "but", "they", "there", "what",
];

/// Words from which on they are counted.
const FEWEST_WORDS: usize = 20;

/// What is known of the language of a text.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// `None` for short or unclear texts.
    language: Option<Lang>,
    script: Script,
}

/// What can be told of the language of a text.
fn told(text: &str) -> Option<Told> {
    let end = text.char_indices().nth(CHARACTERS).map_or(text.len(), |(byte, _)| byte);
    let start = &text[..end];
    let letters = start.chars().filter(|c| c.is_alphabetic()).count();
    if letters < FEWEST_OF_SCRIPT {
        return None;
    }
    if letters >= FEWEST_LETTERS && is_english(start) {
        return Some(Told { language: Some(Lang::Eng), script: Script::Latin });
    }
    let script = detect_script(start)?;
    let found = (letters >= FEWEST_LETTERS).then(|| detect(start)).flatten();
    let language = found.filter(whatlang::Info::is_reliable).map(|info| info.lang());
    Some(Told { language, script })
}

/// Whether a fifth of the words are English and nothing else. What is not English may be, too: its trigrams tell.
fn is_english(text: &str) -> bool {
    let (mut words, mut english) = (0, 0);
    let runs = text.split(|c: char| !c.is_alphanumeric());
    // A term with a digit is a word of no language.
    let is_word = |run: &&str| !run.is_empty() && run.chars().all(char::is_alphabetic);
    for word in runs.filter(is_word) {
        words += 1;
        english += usize::from(ENGLISH.iter().any(|known| word.eq_ignore_ascii_case(known)));
    }
    words >= FEWEST_WORDS && 5 * english >= words
}

/// Chinese and Japanese share their characters.
fn is_han(script: Script) -> bool {
    matches!(script, Script::Mandarin | Script::Hiragana | Script::Katakana)
}

/// The language of most texts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usual(Option<(Lang, Script)>);

impl Usual {
    /// Most means more than half of the texts whose language can be told; without such a language
    /// nobody writes another one.
    fn of(all: &[Option<Told>]) -> Self {
        let all = || all.iter().flatten();
        let known: Vec<(Lang, Script)> =
            all().filter_map(|told| Some((told.language?, told.script))).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (language, _) in &known {
            *counts.entry(language.code()).or_default() += 1;
        }
        let most = counts.iter().find(|(_, count)| 2 * **count > known.len());
        let of_most = |code: &str| known.iter().find(|(language, _)| language.code() == code);
        let found = most.and_then(|(code, _)| of_most(code)).copied();
        // A language that can be told must not make a minority of those that cannot.
        let of_script = |script| all().filter(|told| told.script == script).count();
        Self(found.filter(|(_, script)| 2 * of_script(*script) > all().count()))
    }

    /// The language (an English name) of a text if it is another one, or, where only that can be told,
    /// the script that it is written in.
    pub(super) fn other(self, text: &str) -> Option<&'static str> {
        self.0?;
        self.other_than(told(text)?)
    }

    fn other_than(self, Told { language, script }: Told) -> Option<&'static str> {
        let (usual, usual_script) = self.0?;
        if let Some(language) = language {
            return (language != usual).then(|| language.eng_name());
        }
        let alike = script == usual_script || is_han(script) && is_han(usual_script);
        (!alike).then(|| name_of(script))
    }
}

/// The name of a script, or of the one language that is written in it.
fn name_of(script: Script) -> &'static str {
    match script.langs() {
        [only] => only.eng_name(),
        _ => match script {
            Script::Arabic => "Arabic letters",
            Script::Cyrillic => "Cyrillic letters",
            Script::Devanagari => "Devanagari letters",
            Script::Hebrew => "Hebrew letters",
            Script::Latin => "Latin letters",
            Script::Hiragana | Script::Katakana => "Japanese",
            _ => "other letters",
        },
    }
}

/// The language of most texts, and for each text its language or script if that is another one.
pub(super) fn usual_and_others(texts: &[Option<&str>]) -> (Usual, Vec<Option<&'static str>>) {
    let all: Vec<Option<Told>> = texts.par_iter().map(|text| told((*text)?)).collect();
    let usual = Usual::of(&all);
    (usual, all.into_iter().map(|told| usual.other_than(told?)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other_languages(texts: &[Option<&str>]) -> Vec<Option<&'static str>> {
        usual_and_others(texts).1
    }

    const IN_ENGLISH: &str = "The authors propose a method for pruning networks, and the experiments \
        show that it works on three data sets. I would like to see a comparison with magnitude \
        pruning, since the gains in the second table are within one standard deviation.";
    const GERMAN: &str = "Die Autoren schlagen ein Verfahren zum Beschneiden von Netzen vor, und \
        die Versuche zeigen, dass es auf drei Datensätzen funktioniert. Ich würde gerne einen \
        Vergleich mit einfachen Verfahren sehen, denn der Gewinn in der zweiten Tabelle ist klein.";

    #[test]
    fn another_language_is_named_and_short_texts_are_undecided() {
        let texts = [IN_ENGLISH, GERMAN, "Gut gemacht.", IN_ENGLISH, IN_ENGLISH];
        let others = other_languages(&texts.map(Some));
        assert_eq!(others, [None, Some("German"), None, None, None]);
        let none = other_languages(&[Some(IN_ENGLISH), Some(GERMAN), None]);
        assert_eq!(none, [None, None, None]);
    }

    #[test]
    fn common_words_tell_what_trigrams_tell() {
        let venue = include_str!("../../../data/venue/reviews.jsonl");
        let rows: Vec<serde_json::Value> =
            venue.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
        let english = texts.iter().filter(|text| is_english(text)).count();
        assert!(10 * english > 9 * texts.len(), "{english} of {}", texts.len());
        for text in texts.into_iter().filter(|text| is_english(text)) {
            assert_eq!(detect(text).unwrap().lang(), Lang::Eng, "{text}");
        }
        let others = [
            GERMAN,
            "De auteurs stellen een methode voor om netwerken te snoeien, en de experimenten laten zien dat het werkt op \
             drie verzamelingen. Dit is een van de betere artikelen, maar de vergelijking met eenvoudige methoden ontbreekt.",
            "Les auteurs proposent une méthode pour élaguer les réseaux, et les expériences montrent que cela marche sur \
             trois jeux de données. Je voudrais voir une comparaison avec des méthodes plus simples et moins chères.",
            "Forfatterne foreslår en metode til at beskære netværk, og forsøgene viser, at den virker på tre datasæt. Jeg \
             vil gerne se en sammenligning med enkle metoder, for gevinsten i den anden tabel er lille.",
            "The abstract. Die Autoren nennen das Verfahren the method of pruning, und die Versuche zeigen auf drei \
             Datensätzen, dass es funktioniert. Ich würde gerne einen Vergleich mit einfachen Verfahren sehen.",
        ];
        assert!(others.iter().all(|text| !is_english(text)));
    }

    #[test]
    fn a_script_needs_few_letters_and_not_even_those_of_a_name() {
        let chinese = "作者提出了一种新的方法来修剪网络，实验表明该方法在三个数据集上有效，但是比较不够充分。";
        let russian = "Авторы предлагают метод прореживания сетей, но сравнений мало.";
        let name = "Good paper; the method of 作者 works.";
        let others = other_languages(
            &[IN_ENGLISH, chinese, russian, name, IN_ENGLISH, IN_ENGLISH].map(Some),
        );
        assert_eq!(others, [None, Some("Mandarin"), Some("Cyrillic letters"), None, None, None]);
        // Among texts of that script nothing short stands out.
        let long = russian.repeat(4);
        // Whatever can be told of the languages: nobody is the other one of a minority.
        let others = other_languages(&[&long, &long, russian, IN_ENGLISH].map(Some));
        assert_eq!(others[..3], [None, None, None]);
    }
}

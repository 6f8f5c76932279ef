//! Which language a review is written in, where that can be told.

use std::collections::HashMap;
use std::hash::Hash;

use rayon::prelude::*;
use whatlang::{Lang, Script, detect, detect_script};

/// Characters from the start by which the language of a text is told: more change nothing and take
/// longer.
const CHARACTERS: usize = 1_000;

/// Where no Z is in the language of most reviews, one in so many in that of most Z is enough to judge these.
const ENOUGH_IN_Z: usize = 10;

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
fn family(script: Script) -> Script {
    match script {
        Script::Hiragana | Script::Katakana => Script::Mandarin,
        script => script,
    }
}

/// The script of most texts, and the language of most that are written in it, where that can be told.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usual(Option<(Option<Lang>, Script)>);

impl Usual {
    /// Most means more than half of the texts of which it can be told. Where reviews have no language of most, or no Z
    /// is in it, see [`ENOUGH_IN_Z`], it is that of most Z: whoever writes another one could not be seen to copy them.
    fn of(reviews: &[Option<Told>], z: &[Option<Told>]) -> Self {
        let usual = Self::of_reviews_or_z(reviews, z);
        let of_z = Self::of_reviews_or_z(z, &[]);
        let count = |all: &[Option<Told>], usual: Self| {
            let is_usual =
                |told: &&Told| told.language.is_some() && usual.other_than(**told).is_none();
            all.iter().flatten().filter(is_usual).count()
        };
        let told = reviews.iter().flatten().count();
        let is_z_alone =
            of_z.0.is_some_and(|(language, _)| language.is_some()) && count(z, usual) == 0;
        if is_z_alone && ENOUGH_IN_Z * count(reviews, of_z) >= told { of_z } else { usual }
    }

    fn of_reviews_or_z(reviews: &[Option<Told>], z: &[Option<Told>]) -> Self {
        let of_script =
            |all: &[Option<Told>]| most(all.iter().flatten().map(|told| family(told.script)));
        let Some(script) = of_script(reviews).or_else(|| of_script(z)) else { return Self(None) };
        let of_language = |all: &[Option<Told>]| {
            let (language, its_script) = most(
                all.iter().flatten().filter_map(|told| Some((told.language?, family(told.script)))),
            )?;
            (its_script == script).then_some(language)
        };
        Self(Some((of_language(reviews).or_else(|| of_language(z)), script)))
    }

    /// The language (an English name) of a text if it is another one, or the script that it is written in,
    /// where only that can be told.
    fn other_than(self, Told { language, script }: Told) -> Option<&'static str> {
        let (usual, usual_script) = self.0?;
        let differs = match language.zip(usual) {
            Some((language, usual)) => language != usual,
            None => family(script) != usual_script,
        };
        differs.then(|| language.map_or_else(|| name_of(script), |language| language.eng_name()))
    }
}

/// What more than half of all are.
fn most<T: Copy + Eq + Hash>(all: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: HashMap<T, usize> = HashMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    let total: usize = counts.values().sum();
    counts.into_iter().find(|(_, count)| 2 * count > total).map(|(one, _)| one)
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

/// For each review and each Z its language or script if that is another one than usual.
pub(super) fn others(
    reviews: &[Option<&str>],
    z: &[Option<&str>],
) -> [Vec<Option<&'static str>>; 2] {
    let told = |texts: &[Option<&str>]| -> Vec<Option<Told>> {
        texts.par_iter().map(|text| told((*text)?)).collect()
    };
    let (reviews, z) = (told(reviews), told(z));
    let usual = Usual::of(&reviews, &z);
    [reviews, z].map(|all| all.into_iter().map(|told| usual.other_than(told?)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other_languages(texts: &[Option<&str>]) -> Vec<Option<&'static str>> {
        let [reviews, _] = others(texts, &[]);
        reviews
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
    fn where_reviews_have_no_usual_language_it_is_that_of_z() {
        let french = "Les auteurs proposent une méthode pour élaguer les réseaux, et les expériences montrent que cela \
            marche sur trois jeux de données. Je voudrais voir une comparaison avec des méthodes plus simples.";
        let reviews = [IN_ENGLISH, IN_ENGLISH, GERMAN, french].map(Some);
        let [of_reviews, of_z] =
            others(&reviews, &[Some(IN_ENGLISH), Some(GERMAN), Some(IN_ENGLISH)]);
        assert_eq!(of_reviews, [None, None, Some("German"), Some("French")]);
        assert_eq!(of_z, [None, Some("German"), None]);
        // Nor has Z one of most.
        let [of_reviews, of_z] = others(&reviews, &[Some(IN_ENGLISH), Some(GERMAN)]);
        assert_eq!((of_reviews, of_z), (vec![None; 4], vec![None; 2]));
        // Of short texts only the script is told, and a Z in another one shows no copy.
        let chinese = Some("作者提出了一种新的方法来修剪网络，实验表明该方法在三个数据集上有效。");
        let [of_reviews, of_z] = others(&[chinese; 3], &[Some(IN_ENGLISH); 3]);
        assert_eq!((of_reviews, of_z), (vec![None; 3], vec![Some("English"); 3]));
    }

    #[test]
    fn where_no_z_is_in_the_language_of_most_reviews_those_in_that_of_z_are_judged() {
        let venue = |english: usize, german: usize| {
            let reviews = [vec![Some(IN_ENGLISH); english], vec![Some(GERMAN); german]].concat();
            let [of_reviews, of_z] = others(&reviews, &[Some(IN_ENGLISH); 2]);
            let count = |all: Vec<Option<&str>>| all.iter().flatten().count();
            [count(of_reviews), count(of_z)]
        };
        assert_eq!(venue(2, 8), [8, 0]);
        assert_eq!(venue(1, 9), [9, 0]);
        // Of too few the Z are said to be in another language.
        assert_eq!(venue(1, 10), [1, 2]);
        assert_eq!(venue(0, 10), [0, 2]);
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

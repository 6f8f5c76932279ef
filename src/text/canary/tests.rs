use std::collections::{BTreeSet, HashMap, HashSet};

use rand::seq::index::sample;

use super::find::words;
use super::find::{Finder, Found};
use super::hypergeometric::{at_least, exactly};
use super::plan::CanaryError;
use super::*;
use crate::stats::seed::stream;

/// Every subset of `m` of `n` numbers.
fn subsets(n: usize, m: usize) -> Vec<Vec<usize>> {
    if m == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for last in m - 1..n {
        for mut rest in subsets(last, m - 1) {
            rest.push(last);
            all.push(rest);
        }
    }
    all
}

#[test]
fn tails_are_the_share_of_all_draws() {
    for n in 1..=8 {
        for (c, m) in (0..=n).flat_map(|c| (0..=n.min(4)).map(move |m| (c, m))) {
            let draws = subsets(n, m);
            for f in 0..=m + 1 {
                let hits = |draw: &Vec<usize>| draw.iter().filter(|&&at| at < c).count();
                let share = |count: usize| count as f64 / draws.len() as f64;
                let exact = draws.iter().filter(|draw| hits(draw) == f).count();
                let tail = draws.iter().filter(|draw| hits(draw) >= f).count();
                assert!((exactly(n, c, m, f) - share(exact)).abs() < 1e-12, "{n} {c} {m} {f}");
                assert!((at_least(n, c, m, f) - share(tail)).abs() < 1e-12, "{n} {c} {m} {f}");
            }
        }
    }
    // Two phrases in the review, both of the two drawn of 104,976: one pair of C(104976, 2).
    let pairs = 104_976.0 * 104_975.0 / 2.0;
    assert!((at_least(104_976, 2, 2, 2) * pairs - 1.0).abs() < 1e-12);
}

#[test]
fn the_bundled_phrases_are_many_and_no_word_turns_one_into_another() {
    let dictionary = Dictionary::bundled();
    assert_eq!(dictionary.phrases().len(), 104_976);
    let mut numbers: HashMap<&str, u16> = HashMap::new();
    let mut seen = HashSet::new();
    for phrase in dictionary.phrases() {
        // Plain English in one spelling, so that spaces and commas are all there is to fold.
        let mut words: Vec<u16> = Vec::new();
        for word in phrase.split_whitespace() {
            let next = u16::try_from(numbers.len()).unwrap();
            words.push(*numbers.entry(word.trim_end_matches(',')).or_insert(next));
        }
        assert!(words.len() >= 9, "{phrase}");
        assert!(seen.insert(words.clone()), "{phrase} stands twice");
        for place in 0..words.len() {
            let word = std::mem::replace(&mut words[place], u16::MAX);
            assert!(seen.insert(words.clone()), "{phrase} is one word from another");
            words[place] = word;
        }
    }
}

/// Phrases by looking at every window of a text for every phrase.
fn naive(dictionary: &Dictionary, text: &str) -> Found {
    let text = words(text);
    let mut found = Found::default();
    for (number, phrase) in (0..).zip(dictionary.phrases()) {
        let phrase = words(phrase);
        for window in text.windows(phrase.len()) {
            match phrase.iter().zip(window).filter(|(a, b)| a != b).count() {
                0 => drop(found.exact.insert(number)),
                1 => drop(found.near.insert(number)),
                _ => {}
            }
        }
    }
    found.near = found.near.difference(&found.exact).copied().collect();
    found
}

#[test]
fn the_finder_finds_what_a_search_of_every_window_finds() {
    // Few words, so that phrases overlap, nearly match and are near each other.
    let letters = ["a", "b", "c"];
    let mut random = stream(1, "canary", 0);
    for _ in 0..200 {
        let mut line = |length: usize| {
            let draw = (0..length).map(|_| letters[sample(&mut random, 3, 1).index(0)]);
            draw.collect::<Vec<_>>().join(" ")
        };
        let phrases: BTreeSet<String> = (0..6).map(|at| line(4 + at % 2)).collect();
        let phrases: Vec<String> = phrases.into_iter().collect();
        let dictionary = Dictionary::from_lines(&phrases.join("\n")).unwrap();
        let text = line(12);
        assert_eq!(Finder::new(&dictionary).find(&text), naive(&dictionary, &text), "{text}");
    }
}

#[test]
fn a_phrase_has_the_number_of_its_words_however_it_is_written() {
    let lines = "it's a 'quoted - part' of  what,they\tsay\nthe <b>bold</b> part of this &amp; that\n\
                 na\u{ef}ve \u{fb01}gures of the paper\nTHE LAST, self-evident one.\n";
    for dictionary in [Dictionary::from_lines(lines).unwrap(), Dictionary::bundled()] {
        let finder = Finder::new(&dictionary);
        for (number, phrase) in (0..)
            .zip(dictionary.phrases())
            .step_by(if dictionary.phrases().len() > 10 { 101 } else { 1 })
        {
            assert_eq!(finder.number(phrase), Some(number), "{phrase}");
        }
    }
}

#[test]
fn case_quotes_hyphens_breaks_and_ligatures_do_not_matter() {
    let dictionary = Dictionary::from_lines("the self-evident \"office\" of it\n").unwrap();
    let finder = Finder::new(&dictionary);
    for text in [
        "So: The self-evident office of it.",
        "THE SELF\u{2010}EVIDENT\n\u{201c}o\u{fb03}ce\u{201d}  of it",
        "the self evident of\u{ad}fice, of it!",
    ] {
        assert_eq!(finder.find(text).exact, BTreeSet::from([0]), "{text}");
    }
    let changed = finder.find("the self-evident bureau of it");
    assert_eq!((changed.exact.len(), changed.near), (0, BTreeSet::from([0])));
    assert_eq!(finder.find("the self-evident bureau of that"), Found::default());
}

#[test]
fn words_that_a_line_end_splits_and_markup_do_not_matter_and_other_words_do() {
    let dictionary = Dictionary::from_lines("the densely layered appendix of it\n").unwrap();
    let finder = Finder::new(&dictionary);
    for text in [
        "the densely layered app-\nendix of it",
        "the dense-ly layered appen\u{2010} \r\n dix of it",
        "the densely layered ap\u{ad}\npen-\ndix of it",
        "<p>the <em>densely</em> <b class=\"x\">layered</b> appendix<br/>of it</p>",
        "the&nbsp;densely&#160;layered app&shy;endix &ldquo;of&rdquo; it",
        "<b>Q1</b>the densely layered appendix of it<i>weak</i>",
    ] {
        let found = finder.find(text);
        assert_eq!((found.exact, found.near.len()), (BTreeSet::from([0]), 0), "{text}");
    }
    for text in [
        // A dash is no hyphen, nor are words without one parts of another.
        "the densely layered app \u{2014} endix of it",
        "the densely layered app\nendix of it",
        "the densely layered app-\nend-ix-ed of it",
        // What stands in brackets was written.
        "the densely <very> layered appendix of it",
        "the densely &c; layered appendix of it",
    ] {
        assert_eq!(finder.find(text), Found::default(), "{text}");
    }
    // One word changed, and another one split.
    let changed = finder.find("the <i>dense</i> layered app-\nendix of it");
    assert_eq!((changed.exact.len(), changed.near), (0, BTreeSet::from([0])));
}

#[test]
fn a_plan_does_not_depend_on_the_order_of_papers_and_draws_all_phrases_alike() {
    let dictionary = Dictionary::bundled();
    let draw = |papers: &[&str]| {
        let papers = papers.iter().map(|paper| (*paper).to_owned());
        Plan::draw(papers, &dictionary, 2, &mut stream(3, "plan", 0)).unwrap()
    };
    let plan = draw(&["b", "a", "b"]);
    assert_eq!(plan, draw(&["a", "b"]));
    assert_eq!(plan.papers.len(), 2);
    assert_ne!(plan.papers[0].phrases[0], plan.papers[0].phrases[1]);
    assert_eq!(plan.of("b"), Some(&plan.papers[1]));

    // 40,000 phrases over the 18 endings: 2,222 each, with a standard deviation of 46.
    let papers = (0..20_000).map(|paper| format!("{paper:05}"));
    let plan = Plan::draw(papers, &dictionary, 2, &mut stream(4, "plan", 0)).unwrap();
    let mut endings: HashMap<String, usize> = HashMap::new();
    for phrase in plan.papers.iter().flat_map(|paper| &paper.phrases) {
        *endings.entry(words(phrase).last().unwrap().clone()).or_default() += 1;
    }
    assert_eq!(endings.len(), 18);
    assert!(endings.values().all(|count| (1990..2460).contains(count)), "{endings:?}");
}

#[test]
fn bad_dictionaries_and_counts_are_refused_with_the_line() {
    assert_eq!(
        Dictionary::from_lines("\none two three\n"),
        Err(CanaryError::ShortPhrase { line: 2, fewest: 4 })
    );
    assert_eq!(
        Dictionary::from_lines("one two three four\n\nOne two-three \u{201c}four\u{201d}\n"),
        Err(CanaryError::RepeatedPhrase { line: 3 })
    );
    let small = Dictionary::from_lines("one two three four").unwrap();
    let draw = |dictionary, count| Plan::draw([], dictionary, count, &mut stream(1, "plan", 0));
    assert_eq!(draw(&small, 2), Err(CanaryError::SmallDictionary { phrases: 1, fewest: 1000 }));
    let bundled = Dictionary::bundled();
    assert_eq!(draw(&bundled, 10), Err(CanaryError::PhraseCount { asked: 10, most: 9 }));
    let plan = Plan {
        papers: vec![PlannedPaper { paper: "1".into(), phrases: vec!["not of this list".into()] }],
    };
    assert!(matches!(check(&plan, &bundled, &[]), Err(CanaryError::ForeignPhrase { .. })));
}

#[test]
fn reviews_are_told_by_what_they_have_of_their_paper() {
    let dictionary = Dictionary::bundled();
    let phrases = |at: [usize; 2]| at.map(|at| dictionary.phrases()[at].clone()).to_vec();
    let plan = Plan {
        papers: vec![
            PlannedPaper { paper: "1".into(), phrases: phrases([7, 90_000]) },
            PlannedPaper { paper: "2".into(), phrases: phrases([8, 50_000]) },
        ],
    };
    let [a, b] = [&plan.papers[0].phrases[0], &plan.papers[0].phrases[1]];
    let changed = b.replacen("the ", "this ", 1);
    let all = format!("Good. {} Bad: {b}.", a.to_uppercase());
    let some = format!("{a}; and {changed}");
    let nothing = "The paper is about frogs.";
    let texts = [("1", all.as_str()), ("1", &some), ("1", nothing), ("2", &all), ("3", &all)];
    let checked = check(&plan, &dictionary, &texts).unwrap();
    let numbers = |r: &ReviewFindings| (r.found.len(), r.near.len(), r.planned, r.of_other_papers);
    let seen: Vec<_> = checked.reviews.iter().map(numbers).collect();
    assert_eq!(seen, [(2, 0, 2, 0), (1, 1, 2, 0), (0, 0, 2, 0), (0, 0, 2, 2), (0, 0, 0, 2)]);
    assert!(checked.reviews[0].all_found() && !checked.reviews[1].all_found());
    let n = 104_976;
    let p: Vec<_> = checked.reviews.iter().map(|review| review.p).collect();
    let both = Some(at_least(n, 2, 2, 2));
    assert_eq!(p, [both, both, Some(1.0), Some(1.0), None]);
    // Three reviews of planned papers have phrases of the dictionary: two, one and two.
    let all = 2.0 * exactly(n, 2, 2, 2);
    let any = 2.0 * at_least(n, 2, 2, 1) + at_least(n, 1, 2, 1);
    assert!((checked.expected_all - all).abs() < 1e-15);
    assert!((checked.expected_any - any).abs() < 1e-15);
}

/// Reviews seeded with phrases of a small dictionary, so that there is something to count.
#[test]
fn as_many_match_by_chance_as_computed() {
    let words = ["red", "blue", "green", "white", "black", "grey", "pink", "gold", "teal", "plum"];
    let mut lines = String::new();
    for number in 0..1000 {
        let [a, b, c] = [number / 100, number / 10 % 10, number % 10].map(|at| words[at]);
        lines.push_str(&format!("in {a} and {b} and {c} too\n"));
    }
    let dictionary = Dictionary::from_lines(&lines).unwrap();
    let mut random = stream(5, "reviews", 0);
    // 200 papers with five reviews each, every one with ten phrases of the thousand.
    let reviews: Vec<(String, String)> = (0..1000)
        .map(|review| {
            let drawn = sample(&mut random, 1000, 10).into_iter();
            let text: Vec<&str> = drawn.map(|at| dictionary.phrases()[at].as_str()).collect();
            (format!("{:03}", review / 5), text.join(". But then "))
        })
        .collect();
    let reviews: Vec<(&str, &str)> =
        reviews.iter().map(|(paper, text)| (paper.as_str(), text.as_str())).collect();
    let (mut any, mut expected) = (0, 0.0);
    for plan in 0..20 {
        let papers = (0..200).map(|paper| format!("{paper:03}"));
        let plan = Plan::draw(papers, &dictionary, 2, &mut stream(6, "plans", plan)).unwrap();
        let checked = check(&plan, &dictionary, &reviews).unwrap();
        any += checked.reviews.iter().filter(|review| !review.found.is_empty()).count();
        expected += checked.expected_any;
    }
    // 20 x 1000 x .0199 = 398, and five reviews share a draw: a deviation of at most 45.
    assert!((expected - 398.0).abs() < 2.0, "{expected}");
    assert!((any as f64 - expected).abs() < 4.0 * 45.0, "{any} for {expected}");
}

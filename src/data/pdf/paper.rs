//! From the lines of a file to a paper: title, abstract, and the text without what no review is about.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::page::Line;

/// What a PDF file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paper {
    /// The largest text of the first page; missing where nothing is larger than the rest.
    pub title: Option<String>,
    /// What stands under the heading Abstract; missing where there is none.
    #[serde(rename = "abstract")]
    pub summary: Option<String>,
    /// Paragraphs before the references or the appendix, whichever comes first, each in a line of its own.
    pub text: String,
    /// The paragraphs from there on.
    pub rest: String,
    /// Its pages.
    pub pages: usize,
    /// Pages of which nothing could be read.
    pub damaged_pages: usize,
}

/// Headings behind which no review looks.
const ENDINGS: [&str; 12] = [
    "references",
    "bibliography",
    "literature cited",
    "works cited",
    "references and notes",
    "appendix",
    "appendices",
    "supplementary material",
    "supplementary materials",
    "supplemental material",
    "technical appendix",
    "references cited",
];

/// Headings that end an abstract, beside those with a number.
const AFTER_ABSTRACT: [&str; 6] =
    ["introduction", "keywords", "key words", "index terms", "ccs concepts", "categories"];

/// Longest abstract, in words; behind that the end was missed.
const ABSTRACT_WORDS: usize = 500;

/// Lines of a page that may be its head or foot.
const EDGE: usize = 3;

/// Lines with numbers, each one more than the last, that make them numbers of lines.
const COUNTED_LINES: usize = 15;

pub(super) fn of_lines(pages: Vec<Vec<Line>>, damaged_pages: usize) -> Paper {
    let count = pages.len();
    let pages = without_heads(pages.into_iter().map(without_line_numbers).collect());
    let body = usual_size(pages.iter().flatten());
    let title = pages.first().and_then(|page| title_of(page, body));
    let lines: Vec<Line> = pages.into_iter().flatten().collect();
    let (body, rest) = lines.split_at(end_of_body(&lines));
    let summary = abstract_of(body);
    let (text, rest) = (paragraphs(body).join("\n"), paragraphs(rest).join("\n"));
    Paper { title, summary, text, rest, pages: count, damaged_pages }
}

fn as_number(line: &Line) -> Option<u32> {
    let is_number =
        (1..=4).contains(&line.text.len()) && line.text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| line.text.parse().ok()).flatten()
}

/// Many venues number the lines of submissions in the margin: without numbers that count on.
fn without_line_numbers(page: Vec<Line>) -> Vec<Line> {
    let numbers: Vec<(usize, u32)> =
        page.iter().enumerate().filter_map(|(at, line)| Some((at, as_number(line)?))).collect();
    let mut counted = HashSet::new();
    for pair in numbers.windows(2).filter(|pair| pair[0].1 + 1 == pair[1].1) {
        counted.extend([pair[0].0, pair[1].0]);
    }
    if counted.len() < COUNTED_LINES {
        return page;
    }
    let kept = page.into_iter().enumerate().filter(|(at, _)| !counted.contains(at));
    kept.map(|(_, line)| line).collect()
}

/// Without what stands above or below the text of several pages, but for its numbers, and without numbers
/// of pages.
fn without_heads(mut pages: Vec<Vec<Line>>) -> Vec<Vec<Line>> {
    fn key(line: &Line) -> String {
        line.text.chars().filter(|letter| !letter.is_numeric()).collect::<String>().to_lowercase()
    }
    fn is_edge(at: usize, lines: usize) -> bool {
        at < EDGE || at + EDGE >= lines
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in &pages {
        let edges = page.iter().enumerate().filter(|(at, _)| is_edge(*at, page.len()));
        for key in edges.map(|(_, line)| key(line)).collect::<BTreeSet<_>>() {
            *seen.entry(key).or_default() += 1;
        }
    }
    let often = 3.max(pages.len() / 3);
    for (number, page) in pages.iter_mut().enumerate() {
        let lines = page.len();
        let mut at = 0;
        page.retain(|line| {
            let edge = is_edge(at, lines);
            at += 1;
            let repeated = number > 0 && seen.get(&key(line)).is_some_and(|&count| count >= often);
            !(edge && (repeated || as_number(line).is_some()))
        });
    }
    pages
}

/// The size of most letters.
fn usual_size<'a>(lines: impl Iterator<Item = &'a Line>) -> f32 {
    let mut letters: BTreeMap<u32, (usize, f32)> = BTreeMap::new();
    for line in lines {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let entry = letters.entry((line.size * 10.0) as u32).or_insert((0, line.size));
        entry.0 += line.text.len();
    }
    letters.into_values().max_by_key(|&(count, _)| count).map_or(0.0, |(_, size)| size)
}

fn title_of(page: &[Line], body: f32) -> Option<String> {
    let words = |line: &Line| line.text.split_whitespace().count();
    // The stamp of arXiv in the margin is larger than any title.
    let may_be = |line: &&Line| words(line) >= 2 && !line.text.to_lowercase().starts_with("arxiv");
    let largest = page.iter().filter(may_be).map(|line| line.size).max_by(f32::total_cmp)?;
    if largest < body * 1.08 {
        return None;
    }
    let same = |line: &&Line| (line.size - largest).abs() < 0.05 * largest;
    let first = page.iter().position(|line| may_be(&line) && same(&line))?;
    let lines: Vec<Line> = page[first..].iter().take_while(same).take(5).cloned().collect();
    Some(paragraphs(&lines).join(" ")).filter(|title| title.chars().count() <= 300)
}

/// A heading without its number, lower case, without the spaces between spaced letters.
fn heading(line: &Line) -> Option<String> {
    if line.text.chars().count() > 60 {
        return None;
    }
    let text = line.text.to_lowercase();
    let is_number = |word: &str| {
        let word = word.trim_end_matches('.');
        !word.is_empty()
            && (word.chars().all(|c| c.is_ascii_digit() || c == '.')
                || word.chars().all(|c| "ivx".contains(c))
                || word.len() == 1)
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 3 && words.iter().all(|word| word.chars().count() == 1) {
        return Some(words.concat());
    }
    let words = if words.len() > 1 && is_number(words[0]) { &words[1..] } else { &words[..] };
    Some(words.join(" ").trim_end_matches([':', '.', '-', '\u{2014}', '\u{2013}']).to_owned())
}

/// Where references or an appendix begin, in the second and third thirds.
fn end_of_body(lines: &[Line]) -> usize {
    let is_ending = |line: &Line| {
        heading(line).is_some_and(|heading| {
            ENDINGS.contains(&heading.as_str())
                || heading.strip_prefix("appendix").is_some_and(|rest| {
                    rest.starts_with([' ', ':', '.']) && rest.chars().count() <= 40
                })
        })
    };
    let from = lines.len() * 3 / 10;
    let found = lines[from..].iter().position(is_ending);
    found.map_or(lines.len(), |at| from + at)
}

fn abstract_of(lines: &[Line]) -> Option<String> {
    let opening = &lines[..lines.len().min(200)];
    let (start, rest) = opening.iter().enumerate().find_map(|(at, line)| {
        if heading(line).is_some_and(|heading| heading == "abstract") {
            return Some((at, String::new()));
        }
        let rest =
            line.text.get(.."abstract".len()).filter(|w| w.eq_ignore_ascii_case("abstract"))?;
        let rest = line.text[rest.len()..].trim_start();
        let marked = rest.trim_start_matches(['.', ':', '-', '\u{2014}', '\u{2013}']);
        (marked.len() < rest.len()).then(|| (at, marked.trim().to_owned()))
    })?;
    let mut taken: Vec<Line> = Vec::new();
    if !rest.is_empty() {
        taken.push(Line { text: rest, ..lines[start].clone() });
    }
    let mut words = 0;
    for line in &lines[start + 1..] {
        let named = heading(line).is_some_and(|heading| {
            let numbered = line.text.starts_with(|c: char| c.is_ascii_digit())
                && line.text.split_whitespace().count() <= 8
                && line
                    .text
                    .split_whitespace()
                    .nth(1)
                    .is_some_and(|w| w.starts_with(char::is_uppercase));
            numbered || AFTER_ABSTRACT.iter().any(|after| heading == *after)
        });
        let opened = line.text.to_lowercase();
        let listed = AFTER_ABSTRACT[1..].iter().any(|after| {
            opened
                .strip_prefix(after)
                .is_some_and(|rest| rest.starts_with([':', '-', '\u{2014}', '.']))
        });
        // The heading of what comes next is larger.
        let larger = taken.last().is_some_and(|before| line.size > before.size * 1.1);
        if named || listed || (larger && words >= 30) {
            break;
        }
        words += line.text.split_whitespace().count();
        if words > ABSTRACT_WORDS {
            break;
        }
        taken.push(line.clone());
    }
    let text = paragraphs(&taken).join(" ");
    (text.split_whitespace().count() >= 20).then_some(text)
}

/// Lines put together where a sentence goes on.
fn paragraphs(lines: &[Line]) -> Vec<String> {
    let mut steps: Vec<f32> =
        lines.iter().filter_map(|line| Some(line.below? / line.size.max(1.0))).collect();
    steps.sort_by(f32::total_cmp);
    let usual_step = steps.get(steps.len() / 2).copied().unwrap_or(1.2);
    let mut lengths: Vec<usize> = lines.iter().map(|line| line.text.chars().count()).collect();
    lengths.sort_unstable();
    let usual_length = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let mut paragraphs: Vec<String> = Vec::new();
    let mut before: Option<&Line> = None;
    for line in lines {
        let goes_on = before.is_some_and(|before| {
            let ends = before.text.ends_with(['.', '?', '!', ':']);
            let short = before.text.chars().count() * 4 < usual_length * 3;
            let far = line.below.is_some_and(|b| b > 1.35 * usual_step * line.size.max(1.0));
            let same = (line.size - before.size).abs() < 0.08 * before.size.max(line.size);
            let moved = line.below.is_none();
            same && !(ends && (short || moved)) && !far
        });
        let text: String = line.text.chars().map(plain).collect();
        match paragraphs.last_mut().filter(|_| goes_on) {
            None => paragraphs.push(text),
            Some(last) => append(last, &text),
        }
        before = Some(line);
    }
    paragraphs
}

/// Puts a line behind another, a word that is divided between them together.
fn append(paragraph: &mut String, line: &str) {
    let mut ends = paragraph.chars().rev();
    let (last, before) = (ends.next(), ends.next());
    let divided = matches!(last, Some('-' | '\u{ad}' | '\u{2010}'))
        && before.is_some_and(char::is_alphabetic)
        && line.starts_with(char::is_lowercase);
    if divided {
        paragraph.pop();
    } else {
        paragraph.push(' ');
    }
    paragraph.push_str(line);
}

/// Without what is no letter of a text.
fn plain(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, size: f32) -> Line {
        Line { text: text.into(), size, below: Some(size * 1.2) }
    }

    /// A page of a title, an abstract, some text and the rest.
    fn pages() -> Vec<Vec<Line>> {
        let mut first = vec![
            line("arXiv:2301.00001v1 [cs.CL] 1 Jan 2023", 20.0),
            line("A Title That", 16.0),
            line("Goes On", 16.0),
            line("An Author", 11.0),
            line("Abstract", 12.0),
            line("We show that words which are di-", 10.0),
            line("vided come together again, and that an abstract ends where", 10.0),
            line("the introduction begins, whatever number it has in the paper.", 10.0),
            line("1 Introduction", 12.0),
        ];
        first.extend(
            (0..30).map(|n| line(&format!("This is the sentence with number {n} of it."), 10.0)),
        );
        first.push(line("1", 9.0));
        let mut second = vec![line("Running Head 2", 9.0)];
        second.extend((0..30).map(|_| line("More of the same text for the second page.", 10.0)));
        second.push(line("References", 12.0));
        second.push(line("[1] Somebody. Something.", 10.0));
        second.push(line("2", 9.0));
        vec![first, second]
    }

    #[test]
    fn a_paper_has_title_abstract_and_no_references() {
        let paper = of_lines(pages(), 0);
        assert_eq!(paper.title.as_deref(), Some("A Title That Goes On"));
        let summary = "We show that words which are divided come together again, and that an abstract ends \
                       where the introduction begins, whatever number it has in the paper.";
        assert_eq!(paper.summary.as_deref(), Some(summary));
        assert!(paper.text.contains("second page"), "{}", paper.text);
        assert!(!paper.text.contains("Somebody") && !paper.text.contains("References"));
        assert_eq!(paper.rest, "References\n[1] Somebody. Something.");
    }

    #[test]
    fn numbers_of_lines_and_heads_of_pages_go_and_numbers_of_tables_stay() {
        let page = |from: u32| -> Vec<Line> {
            let numbered = (from..from + 20).flat_map(|n| {
                [line(&format!("{n:03}"), 8.0), line("text that is numbered in the margin", 10.0)]
            });
            let head = std::iter::once(line(&format!("Under review {from}"), 8.0));
            let table = [line("7", 10.0), line("44", 10.0), line("and below it text", 10.0)];
            head.chain(numbered).chain(table).chain([line("a", 9.0), line("b", 9.0)]).collect()
        };
        let paper = of_lines((0..4).map(|n| page(n * 20)).collect(), 0);
        assert!(
            !paper.text.contains("003") && !paper.text.contains("Under review 2"),
            "{}",
            paper.text
        );
        assert!(paper.text.contains("Under review 0"), "the first page keeps all: {}", paper.text);
        assert!(paper.text.contains("7 44 and below"), "{}", paper.text);
    }

    #[test]
    fn headings_are_known_in_any_dress() {
        for text in
            ["References", "7. REFERENCES", "R E F E R E N C E S", "VI References:", "A Appendix"]
        {
            let found = heading(&line(text, 12.0)).unwrap();
            assert!(ENDINGS.contains(&found.as_str()), "{text}: {found}");
        }
        let mut lines = vec![line("This line speaks of references", 10.0); 10];
        assert_eq!(end_of_body(&lines), 10);
        lines[1] = line("References", 10.0);
        assert_eq!(end_of_body(&lines), 10, "a table of contents is no end");
        lines[8] = line("Appendix A: Proofs", 10.0);
        assert_eq!(end_of_body(&lines), 8);
    }

    #[test]
    fn an_abstract_may_stand_behind_its_name() {
        let mut lines = vec![line(
            "Abstract\u{2014}In this letter we say in a few more than twenty words what",
            9.0,
        )];
        lines.push(line(
            "there is to be said of it, and no more than that is said here at all.",
            9.0,
        ));
        lines.push(line("Index Terms\u{2014}words, others", 9.0));
        let found = abstract_of(&lines).unwrap();
        assert!(found.starts_with("In this letter") && found.ends_with("at all."), "{found}");
        assert_eq!(abstract_of(&lines[1..]), None);
    }
}

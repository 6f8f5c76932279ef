//! A text as a reader or a model may see it: plain, without homoglyphs, on one line, decoded.
//!
//! A hidden instruction is written so that a simple search misses it while a model still reads it.
//! Each view undoes one kind of writing; the rules look at all of them.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

use crate::data::hidden::{is_hidden, is_joiner};

/// Bytes in hexadecimal digits with something between them: `4a:75`, `0x4a 0x75`, `%4A%75`.
static PAIRS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:(?:0x|\\x|%)?[0-9a-f]{2}[ :,;%-]{1,2}|(?:0x|\\x|%)[0-9a-f]{2}){10,}[0-9a-f]{0,2}",
    )
    .expect("the pattern is a constant")
});

/// Fewest characters of a run that is tried as base64 or as hexadecimal digits.
const LEAST_ENCODED: usize = 24;

/// Most characters that are decoded in one text.
const MOST_ENCODED: usize = 64 << 10;

/// Fewest letters in a code of their own that are tried.
const LEAST_CODES: usize = 8;

/// Fewest words of a sentence that is tried as a cipher.
const LEAST_CIPHERED: usize = 5;

/// Fewest single letters in a row that are one spelled-out word.
const LEAST_SPELLED: usize = 4;

/// The text in one case and one form, line by line.
pub(super) fn normalized(text: &str) -> String {
    let visible: String =
        text.chars().filter(|c| !is_hidden(*c) && !is_joiner(*c)).nfkc().collect();
    let mut unified = String::with_capacity(visible.len());
    for line in visible.to_lowercase().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        unified.push_str(&words.join(" "));
        unified.push('\n');
    }
    unified
}

/// Every further view of a text that differs from what [`normalized`] gives.
pub(super) fn others(text: &str, normalized: &str) -> Vec<String> {
    let latin = without_homoglyphs(normalized);
    let joined = on_one_line(&latin);
    let decoded = decoded(text);
    let mut views: Vec<String> = decoded.iter().map(|text| self::normalized(text)).collect();
    // What is encoded twice, or in letters apart.
    views.extend(
        decoded
            .iter()
            .flat_map(|text| runs(text, &mut MOST_ENCODED.clone()))
            .map(|text| self::normalized(&text)),
    );
    views.extend(decoded.iter().filter_map(|text| spelled_out(&self::normalized(text))));
    views.extend(spelled_out(&joined));
    views.extend(spelled_words(text).map(|text| without_homoglyphs(&self::normalized(&text))));
    views.push(joined);
    views.push(latin);
    views.retain(|view| view != normalized);
    views
}

/// Letters of other scripts that look like Latin ones, as these, in words that have both or that
/// would be English.
fn without_homoglyphs(text: &str) -> String {
    text.chars().map(latin).nfd().filter(|c| !is_combining(*c)).collect()
}

fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Pairs from Unicode's list of confusable characters (UTS 39), lower case; small capitals; turned letters.
fn latin(c: char) -> char {
    match c {
        '\u{430}' | '\u{3b1}' | '\u{251}' | 'ᴀ' | 'ɐ' => 'a',
        '\u{432}' | 'ʙ' => 'b',
        '\u{441}' | '\u{3f2}' | 'ᴄ' | 'ɔ' => 'c',
        '\u{501}' | 'ᴅ' => 'd',
        '\u{435}' | '\u{454}' | '\u{3b5}' | 'ᴇ' | 'ǝ' => 'e',
        'ꜰ' | 'ɟ' => 'f',
        '\u{261}' | 'ɢ' | 'ƃ' => 'g',
        '\u{4bb}' | '\u{43d}' | 'ʜ' | 'ɥ' => 'h',
        '\u{456}' | '\u{3b9}' | '\u{131}' | '\u{269}' | 'ɪ' | 'ᴉ' => 'i',
        '\u{458}' | 'ᴊ' | 'ɾ' => 'j',
        '\u{43a}' | '\u{3ba}' | 'ᴋ' | 'ʞ' => 'k',
        '\u{4cf}' | 'ʟ' => 'l',
        '\u{43c}' | 'ᴍ' | 'ɯ' => 'm',
        '\u{3b7}' | '\u{578}' | 'ɴ' => 'n',
        '\u{43e}' | '\u{3bf}' | '\u{3c3}' | '\u{585}' | 'ᴏ' => 'o',
        '\u{440}' | '\u{3c1}' | 'ᴘ' => 'p',
        '\u{51b}' => 'q',
        '\u{433}' | 'ʀ' | 'ɹ' => 'r',
        '\u{455}' | 'ꜱ' => 's',
        '\u{442}' | '\u{3c4}' | 'ᴛ' | 'ʇ' => 't',
        '\u{57d}' | '\u{3c5}' | 'ᴜ' => 'u',
        '\u{475}' | '\u{3bd}' | 'ᴠ' | 'ʌ' => 'v',
        '\u{51d}' | '\u{461}' | 'ᴡ' | 'ʍ' => 'w',
        '\u{445}' | '\u{3c7}' => 'x',
        'ʏ' | 'ʎ' | '\u{443}' | '\u{3b3}' | '\u{4af}' => 'y',
        'ᴢ' => 'z',
        c => c,
    }
}

/// All lines as one, words that were divided at a line end whole again.
fn on_one_line(text: &str) -> String {
    let joined = text.replace("-\n", "");
    joined.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words written letter by letter (`i g n o r e`, `i-g-n-o-r-e`), whole again; `None` without any.
fn spelled_out(text: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut found = false;
    let mut end = |run: &mut Vec<&str>, words: &mut Vec<String>| {
        if run.len() >= LEAST_SPELLED {
            found = true;
            words.push(run.concat());
        } else {
            words.extend(run.iter().map(|letter| (*letter).to_owned()));
        }
        run.clear();
    };
    let parts = text.split(|c: char| c.is_whitespace() || matches!(c, '-' | '.' | '_' | '*' | '|'));
    for part in parts.filter(|part| !part.is_empty()) {
        if part.chars().count() == 1 && part.chars().all(char::is_alphabetic) {
            run.push(part);
        } else {
            end(&mut run, &mut words);
            words.push(part.to_owned());
        }
    }
    end(&mut run, &mut words);
    // Spelled words have no borders, so what is looked for has none either.
    found.then(|| words.join(" "))
}

/// Letters apart with more between words than between letters: `g-i-v-e o-n-e`, or two spaces between words.
fn spelled_words(text: &str) -> Option<String> {
    let visible: String = text.chars().filter(|c| !is_hidden(*c) && !is_joiner(*c)).collect();
    let mut found = false;
    let mut letters = |word: &str, marks: &[char]| {
        let parts: Vec<&str> = word.split(marks).filter(|part| !part.is_empty()).collect();
        let single = parts.len() > 1 && parts.iter().all(|part| part.chars().count() == 1);
        found |= single;
        if single { parts.concat() } else { word.to_owned() }
    };
    let words = visible.split("  ").map(|word| letters(word, &[' ', '\n']));
    let words: Vec<String> = words.collect();
    let words = words.iter().flat_map(|words| words.split_whitespace());
    let words: Vec<String> = words.map(|word| letters(word, &['-', '.', '_', '*', '|'])).collect();
    found.then(|| words.join(" "))
}

/// What stands encoded in a text and reads as text.
fn decoded(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let tags: String = text
        .chars()
        .filter_map(|c| {
            let low = u32::from(c).checked_sub(0xe0000).filter(|low| (0x20..0x7f).contains(low))?;
            char::from_u32(low)
        })
        .collect();
    found.push(tags);
    found.extend(runs(text, &mut MOST_ENCODED.clone()));
    found.extend([numbers(text), morse(text), flags(text), leet(text)].into_iter().flatten());
    if text.contains('%') {
        found.push(percent(text));
    }
    if text.contains("&#") {
        found.push(entities(text));
    }
    if text.contains("\\u00") || text.contains("\\x") {
        found.push(escapes(text));
    }
    // What is written backwards, or with the alphabet turned by half.
    let letters = text.len() <= MOST_ENCODED;
    if letters {
        found.push(text.chars().rev().collect());
        found.push(text.chars().map(half_turned).collect());
    }
    found.retain(|text| !text.trim().is_empty());
    found
}

/// What stands in a text so that people do not read it: whole sentences in a code. No review has a reason for
/// that, whatever they say.
pub(super) fn encoded(text: &str) -> Option<String> {
    let says = |text: &String| {
        let letters: std::collections::BTreeSet<char> = text.chars().collect();
        letters.len() > 6 && text.split_whitespace().filter(|word| is_word(word)).count() > 2
    };
    let mut coded = runs(text, &mut MOST_ENCODED.clone());
    coded.extend([numbers(text), morse(text)].into_iter().flatten());
    coded.into_iter().find(says).or_else(|| text.lines().flat_map(clauses).find_map(ciphered))
}

fn is_word(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ':', '!', ';']);
    word.chars().all(char::is_alphabetic) && !word.is_empty()
}

fn clauses(line: &str) -> impl Iterator<Item = &str> {
    line.split(". ").flat_map(|sentence| sentence.split([':', '(', ')', '"']))
}

/// Words that most sentences of English have, or those that steer.
const COMMON: [&str; 34] = [
    "the",
    "and",
    "for",
    "all",
    "this",
    "that",
    "one",
    "each",
    "give",
    "every",
    "with",
    "you",
    "not",
    "are",
    "from",
    "your",
    "score",
    "rate",
    "review",
    "marks",
    "full",
    "everything",
    "forget",
    "ignore",
    "rubric",
    "highest",
    "positive",
    "instructions",
    "previous",
    "must",
    "answer",
    "above",
    "best",
    "only",
];

/// A sentence whose letters were moved along the alphabet, mirrored in it, or turned around.
fn ciphered(sentence: &str) -> Option<String> {
    let sentence = sentence.to_ascii_lowercase();
    let common = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphabetic());
        let mut found: Vec<&str> = words.filter(|word| COMMON.contains(word)).collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    };
    let words = sentence.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1).count();
    if words < LEAST_CIPHERED || common(&sentence) > 0 {
        return None;
    }
    let moved = |by: u8| {
        move |c: char| match c {
            'a'..='z' => char::from((c as u8 - b'a' + by) % 26 + b'a'),
            c => c,
        }
    };
    let mirrored = |c: char| match c {
        'a'..='z' => char::from(b'z' - (c as u8 - b'a')),
        c => c,
    };
    let turned = (1..26).map(|by| sentence.chars().map(moved(by)).collect::<String>());
    let mut all =
        turned.chain([sentence.chars().map(mirrored).collect(), sentence.chars().rev().collect()]);
    all.find(|text| common(text) * 3 >= words.max(6))
}

/// Long words that are base64, base32 or hexadecimal digits, until `left` is used up.
fn runs(text: &str, left: &mut usize) -> Vec<String> {
    let mut found = Vec::new();
    for pairs in PAIRS.find_iter(text) {
        let Some(rest) = left.checked_sub(pairs.len()) else { break };
        *left = rest;
        let digits = pairs.as_str().replace("0x", "").replace("\\x", "");
        let digits: String = digits.chars().filter(char::is_ascii_hexdigit).collect();
        found.extend(hexadecimal(&digits));
    }
    let in_run = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    for run in text.split(|c: char| !in_run(c)) {
        if run.len() >= LEAST_ENCODED && run.len() <= *left {
            *left -= run.len();
            found.extend([base64(run), base32(run), hexadecimal(run)].into_iter().flatten());
        }
    }
    found
}

/// Characters by their numbers, decimal or of eight bits: `105 103`, `01101001 01100111`.
fn numbers(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let code = |word: &str| {
        let is_bits = word.len() == 8 && word.bytes().all(|b| matches!(b, b'0' | b'1'));
        let code = if is_bits { u8::from_str_radix(word, 2) } else { word.parse() };
        code.ok().filter(|code| (32..127).contains(code)).map(char::from)
    };
    let mut longest = String::new();
    let mut run = String::new();
    for word in words.map(code).chain([None]) {
        if let Some(letter) = word {
            run.push(letter);
        } else if run.len() > longest.len() {
            longest = std::mem::take(&mut run);
        } else {
            run.clear();
        }
    }
    (longest.len() >= LEAST_CODES).then_some(longest)
}

/// The letters of Morse code, if a text has several words of it.
fn morse(text: &str) -> Option<String> {
    const LETTERS: [&str; 26] = [
        ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
        "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--",
        "--..",
    ];
    let text = text.replace(['·', '•'], ".").replace(['–', '—', '−'], "-");
    let mut read = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if let Some(place) = LETTERS.iter().position(|letter| *letter == word) {
            count += 1;
            read.extend(char::from_u32('a' as u32 + u32::try_from(place).ok()?));
        } else if matches!(word, "/" | "|" | "//") {
            read.push(' ');
        }
    }
    (count >= LEAST_CODES).then_some(read)
}

/// Letters of flags (regional indicators) as letters.
fn flags(text: &str) -> Option<String> {
    const FIRST: u32 = 0x1f1e6;
    let letter = |c: char| {
        let place = u32::from(c).checked_sub(FIRST).filter(|place| *place < 26)?;
        char::from_u32('a' as u32 + place)
    };
    let count = text.chars().filter(|c| letter(*c).is_some()).count();
    (count >= LEAST_CODES).then(|| text.chars().map(|c| letter(c).unwrap_or(c)).collect())
}

/// Digits that stand for letters inside words: `1gn0r3`.
fn leet(text: &str) -> Option<String> {
    let is_mixed = |word: &&str| {
        word.contains(|c: char| c.is_ascii_alphabetic())
            && word.contains(['0', '1', '3', '4', '5', '7', '@', '$'])
    };
    let count = text.split_whitespace().filter(is_mixed).count();
    let letter = |c: char| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        c => c,
    };
    (count > 2).then(|| text.chars().map(letter).collect())
}

fn base32(run: &str) -> Option<String> {
    packed(run, 5, |digit| match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    })
}

fn base64(run: &str) -> Option<String> {
    packed(run, 6, |digit| match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    })
}

/// What stands in digits of so many bits each.
fn packed(run: &str, width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<String> {
    let mut bytes = Vec::with_capacity(run.len());
    let (mut bits, mut count) = (0_u32, 0);
    for digit in run.trim_end_matches('=').bytes() {
        bits = (bits << width) | u32::from(value(digit)?);
        count += width;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count).to_le_bytes()[0]);
            bits &= (1 << count) - 1;
        }
    }
    readable(bytes)
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    text.chars().all(|c| !c.is_control() || c.is_whitespace()).then_some(text)
}

fn hexadecimal(run: &str) -> Option<String> {
    let digits: Option<Vec<u32>> = run.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    let bytes = digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]).to_le_bytes()[0]).collect();
    readable(bytes)
}

fn percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let source = text.as_bytes();
    let mut at = 0;
    while at < source.len() {
        let digit = |index: usize| char::from(*source.get(index)?).to_digit(16);
        match (source[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low).to_le_bytes()[0]);
                at += 3;
            }
            (byte, ..) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `&#105;` and `&#x69;`.
fn entities(text: &str) -> String {
    replaced(text, "&#", |rest| {
        let end = rest.find(';').filter(|end| *end <= 7)?;
        let digits = &rest[..end];
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        Some((char::from_u32(code.ok()?)?, end + 1))
    })
}

/// `\u0069` and `\x69`.
fn escapes(text: &str) -> String {
    replaced(text, "\\", |rest| {
        let digits = match rest.as_bytes().first()? {
            b'u' => 4,
            b'x' => 2,
            _ => return None,
        };
        let code = u32::from_str_radix(rest.get(1..=digits)?, 16).ok()?;
        Some((char::from_u32(code)?, digits + 1))
    })
}

/// `text` with each `mark` and what `read` takes behind it replaced by one character.
fn replaced(text: &str, mark: &str, read: impl Fn(&str) -> Option<(char, usize)>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        result.push_str(&rest[..at]);
        let behind = &rest[at + mark.len()..];
        if let Some((c, length)) = read(behind) {
            result.push(c);
            rest = &behind[length..];
        } else {
            result.push_str(mark);
            rest = behind;
        }
    }
    result + rest
}

/// The letter 13 places on.
fn half_turned(c: char) -> char {
    let turned = |first: u8| char::from((c as u8 - first + 13) % 26 + first);
    match c {
        'a'..='z' => turned(b'a'),
        'A'..='Z' => turned(b'A'),
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_makes_a_view_fail(text in "(?s).{0,80}", ascii in "[%&#x0-9a-f\\\\;u=/+]{0,60}") {
            for text in [text, ascii] {
                let _ = others(&text, &normalized(&text));
            }
        }
    }

    #[test]
    fn every_writing_is_undone() {
        let sees = |text: &str| {
            let normalized = normalized(text);
            let views = others(text, &normalized);
            let found = views.iter().chain([&normalized]).any(|view| view.contains("ignore this"));
            assert!(found, "{text}: {views:?}");
        };
        sees("IGNORE   this");
        sees("ignore\nthis");
        sees("ig-\nnore this");
        sees("\u{456}gn\u{43e}r\u{435} th\u{456}s");
        sees("i\u{301}gnore this");
        sees("aWdub3JlIHRoaXMgcGFwZXIgbm93"); // printf 'ignore this paper now' | base64
        sees("69676e6f726520746869732070617065"); // the same through xxd -p
        sees("%69gnore%20this");
        sees("&#105;gnore &#x74;his");
        sees("\\u0069gnore \\x74his");
        sees("vtaber guvf");
        sees("siht erongi");
        let tags: String =
            "ignore this".bytes().filter_map(|b| char::from_u32(0xe0000 + u32::from(b))).collect();
        sees(&tags);
        sees("105 103 110 111 114 101 32 116 104 105 115");
        sees(
            "01101001 01100111 01101110 01101111 01110010 01100101 00100000 01110100 01101000 01101001 01110011",
        );
        sees(".. --. -. --- .-. . / - .... .. ...");
        sees("1gn0r3 th15 p4p3r n0w");
        sees("NFTW433SMUQHI2DJOMQHAYLQMVZCA3TPO4======"); // the same through base32
        sees("YVdkdWIzSmxJSFJvYVhNZ2NHRndaWElnYm05Mw=="); // through base64 twice
        assert_eq!(flags("\u{1f1ee} \u{1f1ec}"), None);
        assert_eq!(spelled_out("i g n o r e - this").as_deref(), Some("ignore this"));
        assert_eq!(spelled_out("a b and c d"), None);
    }
}

//! The words of a text: Unicode Standard Annex 29, as a reader sees it.

use std::vec::IntoIter;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWords};

use super::hidden::{is_hidden, is_joiner, latin_like};

/// The words of a text, each a part of it.
///
/// What nobody sees parts no word: whoever hands in another's text with such characters in it hands in the same words.
///
/// Those of [`UnicodeSegmentation::unicode_words`], several times as fast where there is little but ASCII: no word goes over
/// a space, so one curly quote slows down its own word alone. (A mark that stands on a space is a word there together with the space,
/// here without.)
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    Words { text, at: 0, end: 0, other: None }
}

/// The same with the byte at which each begins.
pub(crate) fn words_with_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    words(text).map(move |word| (word.as_ptr() as usize - start, word))
}

/// What of the rules of the annex an ASCII character has part in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    /// `_`, which joins letters and digits and is no word alone.
    Join,
    /// `:` between letters.
    InLetters,
    /// `,` and `;` between digits.
    InDigits,
    /// `.` and `'` between two letters or two digits.
    InEither,
    Space,
    Other,
    /// No ASCII, or nothing that is seen.
    High,
}

/// Of the byte at a place; behind the text there is space.
#[inline]
fn kind_at(bytes: &[u8], at: usize) -> Kind {
    bytes.get(at).map_or(Kind::Space, |&byte| KINDS[byte as usize])
}

/// Whether it is a part of a word wherever it stands.
#[inline]
fn in_word(kind: Kind) -> bool {
    matches!(kind, Kind::Letter | Kind::Digit | Kind::Join)
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0_u8;
    loop {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
            b'0'..=b'9' => Kind::Digit,
            b'_' => Kind::Join,
            b':' => Kind::InLetters,
            b',' | b';' => Kind::InDigits,
            b'.' | b'\'' => Kind::InEither,
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => Kind::Space,
            0..=8 | 14..=27 | 127.. => Kind::High,
            _ => Kind::Other,
        };
        if byte == u8::MAX {
            break kinds;
        }
        byte += 1;
    }
};

struct Words<'a> {
    text: &'a str,
    /// Where to go on, and where what has no space in it ends; it is all ASCII from here.
    at: usize,
    end: usize,
    /// Words of what is not.
    other: Option<Other<'a>>,
}

enum Other<'a> {
    Plain(UnicodeWords<'a>),
    Cleaned(IntoIter<&'a str>),
}

impl<'a> Other<'a> {
    fn of(run: &'a str) -> Self {
        if run.chars().any(|c| matches!(seen(c, None), Seen::Nothing | Seen::Space)) {
            Self::Cleaned(words_of_what_is_seen(run).into_iter())
        } else {
            Self::Plain(run.unicode_words())
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        match self {
            Self::Plain(words) => words.next(),
            Self::Cleaned(words) => words.next(),
        }
    }
}

/// What a reader sees of a character.
enum Seen {
    Itself,
    Space,
    Nothing,
}

/// Behind what is seen before it.
fn seen(c: char, before: Option<char>) -> Seen {
    match c {
        // Most, without a look at tables.
        ' '..='~' | '\u{3400}'..='\u{d7ff}' => Seen::Itself,
        // The annex takes it for a part of words.
        '\u{202f}' => Seen::Space,
        // Scripts without spaces part words by it.
        '\u{200b}' if before.is_none_or(|c| !c.is_alphabetic() || c >= '\u{590}') => Seen::Space,
        c if is_hidden(c) || is_joiner(c) => Seen::Nothing,
        '\0'..='\u{8}' | '\u{e}'..='\u{1b}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' => {
            Seen::Nothing
        }
        _ => Seen::Itself,
    }
}

/// The words of a text without what nobody sees, each from its first to its last letter in the text.
fn words_of_what_is_seen(text: &str) -> Vec<&str> {
    let mut plain = String::with_capacity(text.len());
    // Of each byte of it, where its character begins and ends in the text.
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match seen(c, plain.chars().next_back()) {
            Seen::Itself => plain.push(c),
            Seen::Space => plain.push(' '),
            Seen::Nothing => continue,
        }
        places.resize(plain.len(), (at, at + c.len_utf8()));
    }
    let words = plain.unicode_word_indices().map(|(at, word)| {
        let first = at + word.len() - word.trim_ascii_start().len();
        &text[places[first].0..places[at + word.len() - 1].1]
    });
    words.collect()
}

impl<'a> Words<'a> {
    /// The next word, if it is as most are: letters and digits, with a space behind them or behind the mark that follows.
    #[inline]
    fn next_plain(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let kind = |at: usize| kind_at(bytes, at);
        let mut start = self.end;
        while start < bytes.len() && kind(start) == Kind::Space {
            start += 1;
        }
        let (mut end, mut is_word) = (start, false);
        let mut behind = kind(end);
        while in_word(behind) {
            is_word |= behind != Kind::Join;
            end += 1;
            behind = kind(end);
        }
        let is_mark = !matches!(behind, Kind::Space | Kind::High);
        let next = end + usize::from(is_mark);
        if !is_word || kind(next) != Kind::Space {
            return None;
        }
        (self.at, self.end) = (next, next);
        Some(&self.text[start..end])
    }

    /// The next word, whatever it is made of.
    #[inline(never)]
    fn next_of_any_kind(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let kind = |at: usize| kind_at(bytes, at);
        loop {
            if let Some(word) = self.other.as_mut().and_then(Other::next) {
                return Some(word);
            }
            if self.at == self.end {
                self.other = None;
                while self.end < bytes.len() && kind(self.end) == Kind::Space {
                    self.end += 1;
                }
                self.at = self.end;
                if self.at == bytes.len() {
                    return None;
                }
                let mut is_other = false;
                while kind(self.end) != Kind::Space {
                    is_other |= kind(self.end) == Kind::High;
                    self.end += 1;
                }
                if is_other {
                    self.other = Some(Other::of(&self.text[self.at..self.end]));
                    self.at = self.end;
                    continue;
                }
            }
            while self.at < self.end && !in_word(kind(self.at)) {
                self.at += 1;
            }
            let start = self.at;
            let mut is_word = false;
            while self.at < self.end {
                let here = kind(self.at);
                if !in_word(here) {
                    // The end of the text and a space are between nothing.
                    let around = (self.at > start).then(|| (kind(self.at - 1), kind(self.at + 1)));
                    let joins = match here {
                        Kind::InLetters => around == Some((Kind::Letter, Kind::Letter)),
                        Kind::InDigits => around == Some((Kind::Digit, Kind::Digit)),
                        Kind::InEither => {
                            around == Some((Kind::Letter, Kind::Letter))
                                || around == Some((Kind::Digit, Kind::Digit))
                        }
                        _ => false,
                    };
                    if !joins {
                        break;
                    }
                }
                is_word |= here != Kind::Join;
                self.at += 1;
            }
            if is_word {
                return Some(&self.text[start..self.at]);
            }
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let is_between = self.at == self.end && self.other.is_none();
        let plain = if is_between { self.next_plain() } else { None };
        plain.or_else(|| self.next_of_any_kind())
    }
}

/// Whether a word is compared as it stands but for its case.
pub(crate) fn is_plain(word: &str) -> bool {
    word.bytes().all(is_plain_byte)
}

/// Whether all bytes of a word that [`is_plain`] are like it.
pub(crate) fn is_plain_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// A word as it is compared, written into `into` in place of what is there: in lower case, with a straight apostrophe,
/// and as [`folded`] says.
pub(crate) fn write_folded(word: &str, into: &mut String) {
    into.clear();
    if is_plain(word) {
        into.push_str(word);
        into.make_ascii_lowercase();
        return;
    }
    into.push_str(&folded(word).replace('\u{2019}', "'"));
}

/// A text in lower case without what nobody sees, each character in its compatible form (NFKC), and letters that look
/// like Latin ones as these, where it has Latin ones.
pub(crate) fn folded(text: &str) -> String {
    let is_seen = |c: &char| !matches!(seen(*c, Some('a')), Seen::Nothing);
    let visible: String = text.chars().filter(is_seen).nfkc().collect();
    let lower = visible.to_lowercase();
    if !lower.contains(|c: char| c.is_ascii_alphabetic()) {
        return lower;
    }
    lower.chars().map(|c| latin_like(c).unwrap_or(c)).collect()
}

/// Bytes of a tag, or of what else stands between words.
const LONGEST_TAG: usize = 40;

/// Whether a tenth of the words of a text have signs of a markup language inside (`re**vie**wer`, `re&shy;viewer`), so
/// that they are not those which a reader sees.
pub(crate) fn are_broken(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_letter =
        |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 128);
    let is_sign = |byte: u8| matches!(byte, b'*' | b'~' | b'`' | b'<' | b'{' | b'&' | b'\\');
    let breaks = (1..bytes.len()).filter(|&at| is_sign(bytes[at]) && is_letter(at - 1));
    // Something that goes on without a space: `a & b` and `*word*` do not.
    let inside = breaks.filter(|&at| {
        let mut rest = &bytes[at..];
        if bytes[at] == b'<' {
            // Behind the tag, or the comment, which may have spaces.
            let behind = rest.iter().take(LONGEST_TAG).position(|&byte| byte == b'>');
            rest = behind.map_or(rest, |behind| &rest[behind + 1..]);
        }
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        rest[..end].iter().skip_while(|byte| is_sign(**byte)).any(u8::is_ascii_alphanumeric)
    });
    let enough = 1 + words(text).count() / 10;
    inside.take(enough).count() == enough
}

/// How many Latin words of a text have characters in them that nobody sees, soft hyphens aside, or Cyrillic letters
/// that look like Latin ones.
pub(crate) fn disguised(text: &str) -> usize {
    let disguises = |c: char| {
        let is_unseen = matches!(seen(c, Some('a')), Seen::Nothing) && c != '\u{ad}';
        is_unseen || matches!(c, '\u{400}'..='\u{52f}') && latin_like(c).is_some()
    };
    if !text.contains(disguises) {
        return 0;
    }
    let is_latin = |word: &&str| word.contains(|c: char| c.is_ascii_alphabetic());
    words(text).filter(is_latin).filter(|word| word.to_lowercase().contains(disguises)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn as_compared(word: &str) -> String {
        let mut folded = String::from("before");
        write_folded(word, &mut folded);
        folded
    }

    /// Characters that [`seen`] takes for a space or for nothing.
    fn is_unseen(c: char) -> bool {
        !matches!(seen(c, None), Seen::Itself)
    }

    #[test]
    fn what_nobody_sees_changes_no_word() {
        let plain = "The bound isn't tight; see Fig.b";
        let all = |text: &str| words(text).map(as_compared).collect::<Vec<_>>();
        assert_eq!(all(plain), ["the", "bound", "isn't", "tight", "see", "fig.b"]);
        for hidden in [
            '\u{200b}',
            '\u{ad}',
            '\u{200d}',
            '\u{2060}',
            '\u{feff}',
            '\u{fe0f}',
            '\0',
            '\u{7f}',
            '\u{e0041}',
        ] {
            let with: String = plain
                .char_indices()
                .flat_map(|(at, c)| [Some(c), (c.is_alphabetic() && at % 3 == 0).then_some(hidden)])
                .flatten()
                .collect();
            assert_ne!(with, plain);
            assert_eq!(all(&with), all(plain), "U+{:04X}", u32::from(hidden));
            // The places are those of the text as it is.
            for (at, word) in words_with_places(&with) {
                assert_eq!(&with[at..at + word.len()], word);
            }
        }
        assert_eq!(all(&plain.replace(' ', "\u{202f}")), all(plain));
        // A script without spaces parts words by it.
        assert_eq!(words("\u{1780}\u{200b}\u{1781}").count(), 2);
    }

    #[test]
    fn words_with_signs_inside_are_broken_and_marked_ones_are_not() {
        let text = "The reviewer says that the bound of the third theorem is not tight, and asks for a proof.";
        for sign in ["**", "&shy;", "<wbr>", "\\-", "{}", "~~", "`", "<!-- -->"] {
            let broken =
                text.replace("re", &format!("r{sign}e")).replace("th", &format!("t{sign}h"));
            assert!(are_broken(&broken), "{broken}");
        }
        let math = "With $\\alpha_i$ and \\frac{1}{2} the *bound* of `caz` & others, <b>which</b> is R&D, holds for all \
            of the many cases that are shown in the table and in the appendix, and so does the **other** one there.";
        assert!(!are_broken(text) && !are_broken(math) && !are_broken(""));
    }

    #[test]
    fn words_that_look_alike_are_one() {
        assert_eq!(as_compared("аuthоrs"), "authors");
        assert_eq!(as_compared("\u{ff22}ound"), "bound");
        assert_eq!(as_compared("cafe\u{301}"), as_compared("CAFÉ"));
        assert_eq!(as_compared("isn\u{2019}t"), "isn't");
        assert_eq!(
            disguised("аuthоrs say\u{200b} th\u{200b}at a soft\u{ad}ware is Авторы, 5 \u{3bc}m"),
            2
        );
        assert_eq!(disguised("plain"), 0);
        // Of Cyrillic or Greek letters alone, or with others among them, it is no Latin word.
        assert_eq!(as_compared("Авторы"), "авторы");
        assert_eq!(as_compared("λ"), "λ");
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_annex(
            text in "([a-zA-Z0-9_.,:;'\"’é\u{301}作りカ한 \t\n\r-]{0,12}|[aB1_.,:;' -]{0,12}|[\\x00-\\x7f]{0,12}|\\PC{0,12}| ){0,6}",
        ) {
            let text = text.replace(is_unseen, "");
            let found: Vec<(usize, &str)> = words_with_places(&text).collect();
            let expected = text.unicode_word_indices().map(|(place, word)| {
                let bare = word.trim_ascii_start();
                (place + word.len() - bare.len(), bare)
            });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }

        #[test]
        fn words_are_those_of_the_text_without_what_nobody_sees(
            text in "([a-zé1.,:;'_ -]{0,4}[\u{ad}\u{200b}\u{200d}\u{2060}\u{feff}\u{202f}\u{0}\u{1}\u{90}]{0,2}){0,8}",
        ) {
            let mut plain = String::new();
            for c in text.chars() {
                match c {
                    '\u{202f}' => plain.push(' '),
                    '\u{200b}' if !plain.ends_with(char::is_alphabetic) => plain.push(' '),
                    c if is_unseen(c) => {}
                    c => plain.push(c),
                }
            }
            let bare = |word: &str| -> String { word.chars().filter(|&c| !is_unseen(c)).collect() };
            let found: Vec<String> = words(&text).map(bare).collect();
            let expected: Vec<&str> = plain.unicode_words().map(str::trim_ascii_start).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn folding_is_that_of_the_whole(word in "[a-zA-Z’'É]{0,8}") {
            prop_assert_eq!(as_compared(&word), word.to_lowercase().replace('\u{2019}', "'"));
        }
    }
}

//! The words of a text: Unicode Standard Annex 29.

use unicode_segmentation::{UnicodeSegmentation, UnicodeWords};

/// The words of a text, each a part of it.
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
    /// No ASCII.
    High,
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
            128.. => Kind::High,
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
    other: Option<UnicodeWords<'a>>,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let kind = |at: usize| bytes.get(at).map_or(Kind::Space, |&byte| KINDS[byte as usize]);
        let in_word = |kind| matches!(kind, Kind::Letter | Kind::Digit | Kind::Join);
        loop {
            if let Some(word) = self.other.as_mut().and_then(Iterator::next) {
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
                // Most words are plain, with a space behind them or behind the mark that follows.
                let mut is_word = false;
                while in_word(kind(self.end)) {
                    is_word |= kind(self.end) != Kind::Join;
                    self.end += 1;
                }
                let word = &self.text[self.at..self.end];
                let is_mark = !matches!(kind(self.end), Kind::Space | Kind::High);
                let behind = self.end + usize::from(is_mark);
                if is_word && kind(behind) == Kind::Space {
                    (self.at, self.end) = (behind, behind);
                    return Some(word);
                }
                let mut all = 0;
                while kind(self.end) != Kind::Space {
                    all |= bytes[self.end];
                    self.end += 1;
                }
                if !all.is_ascii() {
                    self.other = Some(self.text[self.at..self.end].unicode_words());
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

/// A word in lower case and with a straight apostrophe, written into `into` in place of what is there.
pub(crate) fn write_folded(word: &str, into: &mut String) {
    into.clear();
    if word.is_ascii() {
        into.push_str(word);
        into.make_ascii_lowercase();
    } else {
        *into = word.to_lowercase().replace('\u{2019}', "'");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_those_of_the_annex(
            text in "([a-zA-Z0-9_.,:;'\"’é\u{301}作りカ한 \t\n\r-]{0,12}|[aB1_.,:;' -]{0,12}|[\\x00-\\x7f]{0,12}|\\PC{0,12}| ){0,6}",
        ) {
            let found: Vec<(usize, &str)> = words_with_places(&text).collect();
            let expected = text.unicode_word_indices().map(|(place, word)| {
                let bare = word.trim_ascii_start();
                (place + word.len() - bare.len(), bare)
            });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }

        #[test]
        fn folding_is_that_of_the_whole(word in "[a-zA-Z’'É]{0,8}") {
            let mut folded = String::from("before");
            write_folded(&word, &mut folded);
            prop_assert_eq!(folded, word.to_lowercase().replace('\u{2019}', "'"));
        }
    }
}

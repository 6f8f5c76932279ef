//! The words of a text: Unicode Standard Annex 29.

use unicode_segmentation::UnicodeSegmentation;

/// The words of a text, each a part of it.
///
/// Those of [`UnicodeSegmentation::unicode_words`], which is five times as fast where a text is all ASCII: no word goes over
/// a space, so one curly quote slows down its own word alone. (A mark that stands on a space is a word there together with the space,
/// here without.)
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace().flat_map(UnicodeSegmentation::unicode_words)
}

/// The same with the byte at which each begins.
pub fn words_with_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    words(text).map(move |word| (word.as_ptr() as usize - start, word))
}

/// A word in lower case and with a straight apostrophe, written into `into` in place of what is there.
pub fn write_folded(word: &str, into: &mut String) {
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
            text in "([a-zA-Z0-9_.,:;'\"’é\u{301}作りカ한 \t\n\r-]{0,12}|\\PC{0,12}| ){0,6}",
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

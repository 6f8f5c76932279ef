//! The start of a text: for a message or a page, or to look at how it begins.

/// The first `characters` characters of a text on one line, with an ellipsis where it was cut, now or
/// before.
pub fn excerpt(text: &str, characters: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = line.trim_end_matches('\u{2026}');
    let end = whole.char_indices().nth(characters).map_or(whole.len(), |(end, _)| end);
    let was_cut = end < line.len();
    format!("{}{}", &whole[..end], if was_cut { "\u{2026}" } else { "" })
}

/// The first `characters` characters in lower case and with straight apostrophes, to look for set
/// phrases in.
pub(crate) fn plain_opening(text: &str, characters: usize) -> String {
    let opening: String = text.chars().take(characters).collect();
    opening.to_lowercase().replace('\u{2019}', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_is_cut_and_plain() {
        assert_eq!(plain_opening("I\u{2019}M sorry", 5), "i'm s");
    }

    #[test]
    fn excerpts_are_cut_at_characters_and_say_so_once() {
        assert_eq!(excerpt(" a\n b ", 3), "a b");
        assert_eq!(excerpt("äöüß", 3), "äöü\u{2026}");
        assert_eq!(excerpt("", 3), "");
        // Cut twice, marked once.
        assert_eq!(excerpt(&excerpt("abcdef", 4), 2), "ab\u{2026}");
        assert_eq!(excerpt(&excerpt("abcdef", 4), 9), "abcd\u{2026}");
    }
}

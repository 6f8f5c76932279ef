//! Limits on the length of what advocates say.

/// The first `most` words of a text, with the white space between them.
pub(super) fn first_words(text: &str, most: usize) -> &str {
    let text = text.trim();
    let mut words = 0;
    let mut inside = false;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            inside = false;
        } else if !inside {
            if words == most {
                return text[..at].trim_end();
            }
            words += 1;
            inside = true;
        }
    }
    text
}

/// Number of words.
pub(super) fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_words() {
        assert_eq!(first_words(" a  b\nc ", 2), "a  b");
        assert_eq!(first_words("a b", 2), "a b");
        assert_eq!(first_words("a b", 0), "");
        assert_eq!(first_words("", 3), "");
        assert_eq!(count(" a  b\nc "), 3);
    }
}

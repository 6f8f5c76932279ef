//! A key that cannot be printed by accident.

use std::fmt;

/// An API key. `Debug` prints `***`; there is no `Display` and no serialization.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key, trimmed of white space; `None` if nothing is left or it holds a character
    /// that cannot stand in an HTTP header.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        let usable = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        usable.then(|| Self(key.to_owned()))
    }

    /// The value of the `Authorization` header; the only place where the key is opened.
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether no ordinary text holds it by chance: long, with digits among letters.
    pub(super) fn is_unmistakable(&self) -> bool {
        const LEAST: usize = 16;
        let has = |wanted: fn(&u8) -> bool| self.0.as_bytes().iter().any(wanted);
        self.0.len() >= LEAST && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    }

    /// Whether it may be a word or a number of a message.
    fn is_ordinary(&self) -> bool {
        const LEAST: usize = 8;
        let all = |wanted: fn(&u8) -> bool| self.0.as_bytes().iter().all(wanted);
        self.0.len() < LEAST || all(u8::is_ascii_alphabetic) || all(u8::is_ascii_digit)
    }

    /// `text` with the key, as it is, replaced by `***`: servers quote it in their messages.
    ///
    /// Within a longer word only an unmistakable key is replaced, and one that may itself be a word of
    /// the message, like `token`, never is. A server that writes the key in another way has it from the
    /// header, and can say it to anybody.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.is_ordinary() {
            return text.to_owned();
        }
        let mut left = String::with_capacity(text.len());
        let mut from = 0;
        for (at, key) in text.match_indices(&self.0) {
            let end = at + key.len();
            let within = text[..at].ends_with(char::is_alphanumeric)
                || text[end..].starts_with(char::is_alphanumeric);
            if within && !self.is_unmistakable() {
                continue;
            }
            left.push_str(&text[from..at]);
            left.push_str("***");
            from = end;
        }
        left.push_str(&text[from..]);
        left
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_and_redaction_hide_the_key() {
        let key = ApiKey::new(" sk-very-secret\n").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(***)");
        assert_eq!(key.redact("bad key sk-very-secret!"), "bad key ***!");
        assert_eq!(key.bearer(), "Bearer sk-very-secret");
    }

    #[test]
    fn words_of_a_message_stay_where_the_key_is_one_of_them() {
        let redact = |key: &str, text: &str| ApiKey::new(key).unwrap().redact(text);
        for key in ["token", "x", "invalid", "401", "authorization", "12345678"] {
            let text = "401: invalid token x, no authorization, code 12345678";
            assert_eq!(redact(key, text), text, "{key}");
        }
        assert_eq!(
            redact("my-key-1", "no my-key-1, my-key-12 (my-key-1)"),
            "no ***, my-key-12 (***)"
        );
        // Nothing else is written so.
        let long = "sk-9876543210-abcdef";
        assert_eq!(redact(long, &format!("Bearer%20{long}{long}é")), "Bearer%20******é");
    }

    proptest::proptest! {
        #[test]
        fn texts_that_do_not_hold_the_key_stay_as_they_are(text in "[ -~äß]{0,60}") {
            let key = ApiKey::new("sk-9876543210-abcdef").unwrap();
            proptest::prop_assert_eq!(key.redact(&text), text);
        }

        #[test]
        fn no_place_hides_the_key(before in "[ -~äß\\\\%&]{0,9}", after in "[ -~ä]{0,9}") {
            let key = ApiKey::new("sk-9876543210-abcdef").unwrap();
            let text = format!("{before}sk-9876543210-abcdef{after}");
            proptest::prop_assert!(!key.redact(&text).contains("9876543210"));
        }
    }

    #[test]
    fn words_and_numbers_may_stand_in_answers() {
        let unmistakable = |key: &str| ApiKey::new(key).unwrap().is_unmistakable();
        assert!(unmistakable("sk-secret-9876543210"));
        for word in ["clear", "1", "1234567890123456", "reproducibility-statement", "local"] {
            assert!(!unmistakable(word), "{word}");
        }
    }

    #[test]
    fn keys_that_no_header_can_hold_are_refused() {
        for bad in ["", "  ", "a b", "a\nb", "schlüssel"] {
            assert!(ApiKey::new(bad).is_none(), "{bad:?}");
        }
    }
}

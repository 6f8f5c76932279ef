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

    /// `text` with every occurrence of the key replaced by `***`.
    ///
    /// Servers quote the key in their messages, so whatever comes from one goes through here.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "***")
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

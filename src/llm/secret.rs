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
    fn keys_that_no_header_can_hold_are_refused() {
        for bad in ["", "  ", "a b", "a\nb", "schlüssel"] {
            assert!(ApiKey::new(bad).is_none(), "{bad:?}");
        }
    }
}

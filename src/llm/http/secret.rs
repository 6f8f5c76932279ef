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

    /// `text` with the key, as it is or as JSON and addresses write it, replaced by `***`: servers quote
    /// it in their messages.
    ///
    /// Within a longer word only an unmistakable key is replaced, and one that may itself be a word of
    /// the message, like `token`, never is. A server that writes the key in another way has it from the
    /// header, and can say it to anybody.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.is_ordinary() {
            return text.to_owned();
        }
        let mut left = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(letter) = text[at..].chars().next() {
            let rest = self.strip(&text[at..]).filter(|rest| {
                let within = text[..at].ends_with(char::is_alphanumeric)
                    || rest.starts_with(char::is_alphanumeric);
                !within || self.is_unmistakable()
            });
            if let Some(rest) = rest {
                left.push_str("***");
                at = text.len() - rest.len();
            } else {
                left.push(letter);
                at += letter.len_utf8();
            }
        }
        left
    }

    /// What follows the key at the start of a text, whose letters may be escaped.
    fn strip<'a>(&self, text: &'a str) -> Option<&'a str> {
        if let Some(rest) = text.strip_prefix(&self.0) {
            return Some(rest);
        }
        // Backslashes that only escape what follows are no part of the key.
        let is_escape = text.starts_with("\\u") || !text.starts_with('\\');
        let mut letters = self.0.bytes().filter(|byte| *byte != b'\\').peekable();
        letters.peek().filter(|_| is_escape)?;
        letters.try_fold(text, strip_letter)
    }
}

/// What follows a letter at the start of a text: as it is, or as JSON (`\/`, `\u002B`, once more escaped
/// in JSON within JSON) or an address (`%2B`) writes it.
fn strip_letter(text: &str, letter: u8) -> Option<&str> {
    let bare = text.trim_start_matches('\\');
    let coded = |mark: char, digits: usize| {
        let (code, rest) = bare.strip_prefix(mark)?.split_at_checked(digits)?;
        let is_letter = u32::from_str_radix(code, 16) == Ok(u32::from(letter));
        is_letter.then_some(rest)
    };
    let of_json = if bare.len() < text.len() { coded('u', 4) } else { None };
    of_json.or_else(|| coded('%', 2)).or_else(|| bare.strip_prefix(char::from(letter)))
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
    fn the_key_is_hidden_however_json_and_addresses_write_it() {
        let key = ApiKey::new(r#"q7/9+Kd"82\w0==Tn%v5u"#).unwrap();
        for written in [
            r#"q7/9+Kd"82\w0==Tn%v5u"#,
            // JSON as serde, PHP and .NET write it, and JSON within JSON.
            r#"q7/9+Kd\"82\\w0==Tn%v5u"#,
            r#"q7\/9+Kd\"82\\w0==Tn%v5u"#,
            r"q7/9\u002BKd\u002282\\w0==Tn%v5u",
            r"\u0071\u0037/9\u002bKd\u002282\\w0==Tn%v5u",
            r#"q7\\\/9+Kd\\\"82\\\\w0\\u003d=Tn%v5u"#,
            "q7%2F9%2BKd%2282\\w0%3D%3dTn%25v5u",
        ] {
            assert_eq!(key.redact(&format!("no: {written}, so")), "no: ***, so", "{written}");
        }
        let others = r#"q7\/9+Kd\"82\\w0==Tn%v5 q7/9u002BKd"82w0==Tn%v5u \u0071"#;
        assert_eq!(key.redact(others), others);
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

//! A key that cannot be printed by accident.

use std::fmt;

use crate::data::hexadecimal::hexadecimal;

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
    /// Servers quote the key in their messages, so whatever comes from one goes through here. It is
    /// also found as JSON, URLs and HTML may write its characters, escaped some times over, and as base64
    /// (also in lines) or hexadecimal digits, alone or within more. What a server disguises on purpose
    /// cannot be found.
    pub(super) fn redact(&self, text: &str) -> String {
        let forms = self.forms();
        let bytes = text.as_bytes();
        let mut left = String::with_capacity(text.len());
        let (mut from, mut at) = (0, 0);
        while at < bytes.len() {
            // Both ends are at ASCII characters.
            if let Some(end) = forms.iter().filter_map(|form| form.end(bytes, at)).max() {
                left.push_str(&text[from..at]);
                left.push_str("***");
                (from, at) = (end, end);
            } else {
                at += 1;
            }
        }
        left.push_str(&text[from..]);
        left
    }

    /// The key as it is, in base64 at each of three places in a group, and in hexadecimal digits.
    fn forms(&self) -> Vec<Form> {
        /// A shorter form may stand in a text by chance.
        const LEAST: usize = 8;
        let plain: Vec<String> = (0..3).map(|offset| base64(&self.0, offset)).collect();
        let safe = plain.iter().map(|form| form.replace('+', "-").replace('/', "_"));
        let mut base64: Vec<String> = safe.chain(plain.iter().cloned()).collect();
        base64.sort_unstable();
        base64.dedup();
        let mut forms: Vec<Form> =
            base64.into_iter().map(|text| Form { text, kind: Kind::Base64 }).collect();
        forms.push(Form { text: hexadecimal(self.0.as_bytes()), kind: Kind::Hexadecimal });
        forms.retain(|form| form.text.len() >= LEAST);
        forms.push(Form { text: self.0.clone(), kind: Kind::Key });
        forms
    }
}

/// What a text is, as far as it decides how it may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Key,
    /// May be in lines.
    Base64,
    /// In letters of any case.
    Hexadecimal,
}

/// A text that gives the key away.
#[derive(Clone, PartialEq, Eq)]
struct Form {
    text: String,
    kind: Kind,
}

impl Form {
    /// Where it ends if it begins `at` this byte of a text, however its characters are written.
    fn end(&self, text: &[u8], at: usize) -> Option<usize> {
        let may_begin = match text.get(at)? {
            b'\\' | b'%' | b'&' => true,
            byte => self.text.bytes().next().is_some_and(|first| self.is(*byte, first)),
        };
        if !may_begin {
            return None;
        }
        // A sign that begins escapes may also stand for itself, so that there may be several ends.
        let mut ends = vec![at];
        for (number, wanted) in self.text.bytes().enumerate() {
            let mut next = Vec::new();
            for mut at in ends {
                if number > 0 && self.kind == Kind::Base64 {
                    at = behind_line_break(text, at);
                }
                self.after(wanted, text, at, &mut next);
            }
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                return None;
            }
            ends = next;
        }
        ends.last().copied()
    }

    fn is(&self, byte: u8, wanted: u8) -> bool {
        let folded = self.kind == Kind::Hexadecimal && byte.eq_ignore_ascii_case(&wanted);
        byte == wanted || folded
    }

    /// The places behind a character: itself, `\/`, `\u002f`, `\x2f`, `%2f`, `&#47;`, `&#x2f;` or
    /// `&sol;`, each also escaped again, up to [`MOST_ESCAPES`] times.
    fn after(&self, wanted: u8, text: &[u8], at: usize, ends: &mut Vec<usize>) {
        let Some(rest @ [first, ..]) = text.get(at..) else { return };
        if self.is(*first, wanted) {
            ends.push(at + 1);
        }
        let is_hex = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok();
            let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            code.is_some_and(|code| self.is(code, wanted))
        };
        let escape = |start: usize, length: usize| {
            let end = start + length;
            rest.get(start..end).is_some_and(is_hex).then_some(at + end)
        };
        match first {
            b'\\' => {
                let most = 1 << MOST_ESCAPES;
                let slashes = rest.iter().take(most).take_while(|&&byte| byte == b'\\').count();
                match rest.get(slashes) {
                    Some(b'u') => ends.extend(escape(slashes + 1, 4)),
                    Some(b'x') => ends.extend(escape(slashes + 1, 2)),
                    _ => {}
                }
                if rest.get(slashes).is_some_and(|byte| self.is(*byte, wanted)) {
                    ends.push(at + slashes + 1);
                }
            }
            b'%' => {
                let mut start = 1;
                for _ in 0..=MOST_ESCAPES {
                    ends.extend(escape(start, 2));
                    // A percent sign that was escaped itself.
                    if !rest[start..].starts_with(b"25") {
                        break;
                    }
                    start += 2;
                }
            }
            b'&' => {
                let mut start = 1;
                for _ in 0..=MOST_ESCAPES {
                    ends.extend(named(&rest[start..], wanted).map(|length| at + start + length));
                    if !rest[start..].starts_with(b"amp;") {
                        break;
                    }
                    start += 4;
                }
            }
            _ => {}
        }
    }
}

/// How often a character may have been escaped again.
const MOST_ESCAPES: usize = 5;

/// The place behind a line break, also one as JSON writes it; `at` if there is none.
fn behind_line_break(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let breaks: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    at + breaks.iter().find(|each| rest.starts_with(each)).map_or(0, |each| each.len())
}

/// The base64 digits that say nothing but `key`, where it begins `offset` bytes into a group.
fn base64(key: &str, offset: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| key.as_bytes()[at / 8 - offset] >> (7 - at % 8) & 1;
    let digits = (offset * 8).div_ceil(6)..(offset + key.len()) * 8 / 6;
    let value = |digit: usize| (digit * 6..digit * 6 + 6).fold(0, |value, at| value << 1 | bit(at));
    digits.map(|digit| char::from(DIGITS[usize::from(value(digit))])).collect()
}

/// The length of an entity of HTML behind its `&` if it stands for `wanted`.
fn named(text: &[u8], wanted: u8) -> Option<usize> {
    const NAMES: [(&str, u8); 18] = [
        ("amp", b'&'),
        ("apos", b'\''),
        ("ast", b'*'),
        ("bsol", b'\\'),
        ("colon", b':'),
        ("comma", b','),
        ("commat", b'@'),
        ("dollar", b'$'),
        ("equals", b'='),
        ("gt", b'>'),
        ("lowbar", b'_'),
        ("lt", b'<'),
        ("percnt", b'%'),
        ("period", b'.'),
        ("plus", b'+'),
        ("quot", b'"'),
        ("sol", b'/'),
        ("vert", b'|'),
    ];
    /// More than the zeros that anybody puts before a number.
    const LONGEST: usize = 12;
    let length = text.iter().take(LONGEST).position(|&byte| byte == b';')?;
    let name = std::str::from_utf8(&text[..length]).ok()?;
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    });
    let is_named = NAMES.iter().any(|(known, byte)| *known == name && *byte == wanted);
    (is_named || number == Some(wanted.into())).then_some(length + 1)
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
    fn the_key_is_found_as_json_urls_html_and_base64_write_it() {
        let key = ApiKey::new("sk/proj-a_b+9876543210xyz").unwrap();
        for written in [
            r"sk\/proj-a_b+9876543210xyz",
            r"sk\u002Fproj\u002da_b\u002b9876543210xyz",
            r"\\u0073k\\\/proj-a_b+9876543210xyz",
            r"sk\x2fproj-a_b+9876543210xyz",
            "sk%2Fproj-a_b%2b9876543210xyz",
            "%73k%252Fproj-a_b%25252B9876543210xyz",
            "sk&#47;proj&#x2D;a&lowbar;b&plus;9876543210xyz",
            "sk&amp;sol;proj-a_b&#0043;9876543210xyz",
            // By `base64` and `od` of coreutils.
            "c2svcHJvai1hX2IrOTg3NjU0MzIxMHh5eg==",
            "736b2f70726f6a2d615f622b3938373635343332313078797a",
        ] {
            let text = format!("größer: {written}; end");
            let left = key.redact(&text);
            assert!(left.starts_with("größer: ***"), "{left}");
            assert!(left.ends_with("; end") && left.len() < 24, "{left}");
        }
        for other in ["sk/proj-a_b", "100 %, \\ & so on \\u00", "&#", "%", "\\", "sk%2", "&amp;"] {
            assert_eq!(key.redact(other), other);
        }
        for (before, encoded) in [
            ("Bearer ", "QmVhcmVyIHNrL3Byb2otYV9iKzk4NzY1NDMyMTB4eXo="),
            ("user12:", "dXNlcjEyOnNrL3Byb2otYV9iKzk4NzY1NDMyMTB4eXo="),
            ("user1:", "dXNlcjE6c2svcHJvai1hX2IrOTg3NjU0MzIxMHh5eg=="),
            ("user:", "dXNlcjpzay9wcm9qLWFfYis5ODc2NTQzMjEweHl6"),
        ] {
            let left = key.redact(encoded);
            assert!(left.contains("***") && left.len() < 24, "{before}: {left}");
        }
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
    fn signs_that_begin_escapes_are_found_escaped_over_and_over() {
        let key = ApiKey::new("sk&proj%abcdef0123456789XYZ").unwrap();
        for written in [
            "sk&proj%abcdef0123456789XYZ",
            "sk&amp;amp;proj%25abcdef0123456789XYZ",
            "sk%2526proj%2525abcdef0123456789XYZ",
            "sk&amp;#38;proj&percnt;abcdef0123456789XYZ",
            // As `base64 -w 16` and `od` write it; mixed case.
            "c2smcHJvaiVhYmNk\nZWYwMTIzNDU2Nzg5\nWFla",
            r"c2smcHJvaiVhYmNk\r\nZWYwMTIzNDU2Nzg5\nWFla",
            "736B2670726f6A256162636465663031323334353637383958595a",
        ] {
            let left = key.redact(&format!("key {written}."));
            let hidden = ["abcdef0123", "YmNk", "Nzg5", "63646566"];
            assert!(hidden.iter().all(|part| !left.contains(part)), "{left}");
        }
    }

    #[test]
    fn a_long_run_of_signs_that_begin_escapes_takes_no_longer_than_a_text() {
        let key = ApiKey::new("sk-9876543210-abcdef").unwrap();
        // Quadratic, a run of a million would take hours.
        for sign in ["\\", "%", "&", "%25", "&amp;", "\\\n"] {
            let text = sign.repeat(1_000_000 / sign.len());
            assert_eq!(key.redact(&text), text);
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

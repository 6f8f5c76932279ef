//! Data, script and style inside a page: what cannot end its block, and what the browser may run.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::data::hexadecimal::hexadecimal;

/// JSON that can stand in a script block: no character of it can end the block or begin a comment,
/// and the line separators that older browsers take for the end of a line are escaped too.
///
/// All of these occur in strings only, where JSON allows the escape.
pub(super) fn json_for_script(value: &Value) -> String {
    let json = value.to_string();
    let mut safe = String::with_capacity(json.len() + json.len() / 64);
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// The source expression of a Content-Security-Policy that allows exactly this text.
pub(super) fn policy_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// A short name for a text: the first 16 bytes of its hash, in hexadecimal digits.
pub(super) fn hash_of(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes())[..16])
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let six = (group >> (18 - 6 * digit)) & 63;
            let letter = char::from(ALPHABET[six as usize]);
            text.push(if digit <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn base64_of_the_standard() {
        // Test vectors of RFC 4648, section 10.
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (text, expected) in vectors {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn the_hash_of_the_standard() {
        // The example of Content Security Policy Level 3, section 2.3.1.
        assert_eq!(
            policy_hash("doSomething();"),
            "sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc="
        );
    }

    #[test]
    fn the_short_hash_of_the_standard() {
        // FIPS 180-2, appendix B.1: the hash of `abc`, its first half.
        assert_eq!(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223");
    }

    #[test]
    fn a_block_cannot_be_ended_from_inside() {
        let hostile = "</script><!--<script>]]>&amp;\u{2028}\u{2029}";
        let json = json_for_script(&json!({ hostile: hostile }));
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{json}");
        assert!(json.contains("\\u003c/script\\u003e"));
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(text in ".*") {
            let json = json_for_script(&Value::from(text.as_str()));
            prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), Value::from(text));
        }
    }
}

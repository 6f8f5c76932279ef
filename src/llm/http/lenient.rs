//! What is read of a reply although it is not quite what it should be: an answer is paid for.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::unreadable::Unreadable;
use crate::llm::chat::Usage;

/// What a reply in JSON says; a character of which only one half is there is `\u{fffd}`.
pub(super) fn read<T: DeserializeOwned>(reply: &[u8]) -> Result<T, Unreadable> {
    // Two steps, because an untagged part of the reply cannot tell an early end from a wrong type.
    serde_json::from_value(json(reply)?).map_err(|_| Unreadable::Unknown)
}

fn json(reply: &[u8]) -> Result<Value, Unreadable> {
    serde_json::from_slice(reply).or_else(|error| {
        let whole = without_halves(reply);
        serde_json::from_slice(&whole).map_err(|_| Unreadable::from_json(&error, reply))
    })
}

/// What an answer cost, if the server says so in numbers that can be.
pub(super) fn usage(reported: Option<&Value>) -> Option<Usage> {
    let count = |key: &str| reported?.get(key)?.as_u64();
    let (prompt_tokens, completion_tokens) = (count("prompt_tokens")?, count("completion_tokens")?);
    Some(Usage { prompt_tokens, completion_tokens, estimated: false })
}

/// JSON in which no half of a pair of UTF-16 is escaped without the other one.
fn without_halves(json: &[u8]) -> Vec<u8> {
    const ESCAPED: usize = 6;
    let mut whole = json.to_vec();
    let mut at = 0;
    while at < whole.len() {
        at += match escaped_unit(&whole[at..]) {
            Some(0xd800..=0xdbff)
                if matches!(escaped_unit(&whole[at + ESCAPED..]), Some(0xdc00..=0xdfff)) =>
            {
                2 * ESCAPED
            }
            Some(0xd800..=0xdfff) => {
                whole[at..at + ESCAPED].copy_from_slice(br"\ufffd");
                ESCAPED
            }
            // What a backslash escapes may be a backslash.
            _ if whole[at] == b'\\' => 2,
            _ => 1,
        };
    }
    whole
}

/// The unit of UTF-16 that is escaped at the start of a text.
fn escaped_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(br"\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_are_not() {
        for (text, expected) in [
            (r"a\ud800 b", "a\u{fffd} b"),
            (r"\ud83d\ude00", "\u{1f600}"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\\ud800 \ud800", "\\ud800 \u{fffd}"),
        ] {
            assert_eq!(json(format!("\"{text}\"").as_bytes()), Ok(expected.into()), "{text}");
        }
        assert_eq!(json(br#""\ud800"#), Err(Unreadable::CutOff));
        assert_eq!(json(br"\ud800"), Err(Unreadable::Unknown));
    }

    #[test]
    fn usage_that_cannot_be_is_none() {
        let usage = |text: &str| usage(serde_json::from_str(text).ok().as_ref());
        let known = Usage { prompt_tokens: 3, completion_tokens: 4, estimated: false };
        assert_eq!(usage(r#"{"prompt_tokens": 3, "completion_tokens": 4}"#), Some(known));
        for bad in [
            r#"{"prompt_tokens": 3.5, "completion_tokens": 4}"#,
            r#"{"prompt_tokens": 3, "completion_tokens": -4}"#,
            r#"{"prompt_tokens": 3, "completion_tokens": "4"}"#,
            r#"{"prompt_tokens": 3}"#,
            "[]",
            "null",
            "7",
        ] {
            assert_eq!(usage(bad), None, "{bad}");
        }
    }
}

//! Where a model's reasoning ends and its answer begins.

use std::ops::Range;

use serde::de::IgnoredAny;

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// More letters before reasoning than these are an answer that shows some.
const LONGEST_PREFACE: usize = 40;

/// Most blocks of reasoning that are looked for behind something else.
const MOST_BLOCKS: usize = 8;

/// The answer after the model's reasoning, trimmed. Reasoning comes first, and its opening may be
/// missing: some templates end with it. An answer that speaks of the tags stays as it is.
///
/// `None` if reasoning was opened and never closed, so that there is no answer.
pub(crate) fn without_reasoning(text: &str) -> Option<&str> {
    let mut rest = trimmed(text);
    let mut blocks = MOST_BLOCKS;
    loop {
        rest = if let Some(reasoning) = rest.strip_prefix(OPENING) {
            trimmed(&reasoning[reasoning.find(CLOSING)? + CLOSING.len()..])
        } else if let Some(answer) = rest.strip_prefix(CLOSING) {
            trimmed(answer)
        } else {
            blocks -= 1;
            match end_of_reasoning(rest).filter(|_| blocks > 0) {
                Some(end) => trimmed(&rest[end..]),
                None => return Some(rest),
            }
        };
    }
}

/// Without white space and what nobody sees around it.
fn trimmed(text: &str) -> &str {
    let is_unseen = |c: char| matches!(c, '\u{feff}' | '\u{200b}' | '\u{2060}');
    text.trim_matches(|c: char| c.is_whitespace() || is_unseen(c))
}

/// The first byte behind the first closing tag that ends reasoning.
fn end_of_reasoning(text: &str) -> Option<usize> {
    let object = first_object(text);
    let (mut opening, mut from) = (None, 0);
    for (closing, _) in text.match_indices(CLOSING) {
        opening = text[from..closing].rfind(OPENING).map(|at| from + at).or(opening);
        from = closing;
        if !object.contains(&closing) && ends(text, opening.take(), closing) {
            return Some(closing + CLOSING.len());
        }
    }
    None
}

/// Whether a closing tag ends reasoning, with the opening one before it. Tags in quotes, between words, or around an
/// example in the middle of an answer are spoken of.
fn ends(text: &str, opening: Option<usize>, closing: usize) -> bool {
    let (before, after) = (&text[..closing], &text[closing + CLOSING.len()..]);
    let is_quote = |c: char| "`'\"\u{2018}\u{2019}\u{201c}\u{201d}".contains(c);
    let starts = begins_line(before);
    let last = before.chars().next_back();
    let is_behind_word = last.is_some_and(|c| !c.is_whitespace());
    let mut next = after.chars();
    let goes_on = match next.next() {
        Some(' ') => next.next().is_some_and(char::is_lowercase),
        Some(c) => is_quote(c) || matches!(c, '.' | ',' | ';' | ':' | ')'),
        None => false,
    };
    let Some(opening) = opening else {
        let is_quoted = last.is_some_and(is_quote) && goes_on;
        return starts || ends_line(after) || (is_behind_word && !is_quoted);
    };
    let is_preface = opening <= LONGEST_PREFACE;
    if begins_line(&text[..opening]) {
        return is_preface;
    }
    if ends_line(&text[opening + OPENING.len()..closing]) {
        return false;
    }
    (starts && ends_line(after)) || (is_preface && is_behind_word && !goes_on)
}

fn begins_line(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

fn ends_line(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    after.is_empty() || after.starts_with(['\r', '\n'])
}

/// Where the first JSON object stands, if it reads to its end.
fn first_object(text: &str) -> Range<usize> {
    let Some(start) = text.find('{') else { return 0..0 };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
    let is_whole = values.next().is_some_and(|value| value.is_ok());
    if is_whole { start..start + values.byte_offset() } else { 0..0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_stripped_and_an_unfinished_one_is_no_answer() {
        assert_eq!(without_reasoning("<think>a</think> b "), Some("b"));
        assert_eq!(without_reasoning("x</think>a</think>b"), Some("b"));
        assert_eq!(without_reasoning(" b "), Some("b"));
        assert_eq!(without_reasoning("<think>a"), None);
        // One block after another, as servers of tools give them.
        assert_eq!(without_reasoning("<think>a</think>\n<think>b</think>\nc"), Some("c"));
        assert_eq!(without_reasoning("<think>a</think> b <think>c"), Some("b <think>c"));
        // The template opened it.
        for text in
            ["a\n</think>\n\nb", "a </think>\r\nb", "a.</think> b", "</think>b", "a\n</think> b"]
        {
            assert_eq!(without_reasoning(text), Some("b"), "{text}");
        }
        assert_eq!(without_reasoning("a {\"x\": 1} b\n</think>\n{\"x\": 2}"), Some("{\"x\": 2}"));
        assert_eq!(without_reasoning("a\n</think>\n"), Some(""));
        for text in
            ["(yes)</think>B", "he said \"x\"</think>B", "so:</think>B", "\u{2026}</think>B"]
        {
            assert_eq!(without_reasoning(text), Some("B"), "{text}");
        }
        // Something short, or what nobody sees, stands before it; reasoning speaks of the tag.
        for text in [
            "Sure.\n<think>a</think>\nB",
            "<|im_start|>assistant\n<think>\na\n</think>\n\nB",
            "\u{feff}<think>a</think>B",
            "The author writes <think> in caps. ok\n</think>\n\nB",
        ] {
            assert_eq!(without_reasoning(text), Some("B"), "{text}");
        }
        let label = r#"{"label": "yes"}"#;
        let text = format!(r#"Sure. <think>Maybe {{"label": "no"}}? no</think>{label}"#);
        assert_eq!(without_reasoning(&text), Some(label));
    }

    #[test]
    fn many_tags_take_no_longer_than_the_text() {
        let text = "</think>\n".repeat(200_000);
        assert_eq!(without_reasoning(&text), Some(""));
        let text = "a </think> b ".repeat(100_000);
        assert_eq!(without_reasoning(&text), Some(text.trim()));
    }

    #[test]
    fn an_answer_that_speaks_of_reasoning_is_whole() {
        for text in [
            "They wrap it between <think> and </think> tags.",
            "They put <think>\nx\n</think>\nbefore it.",
            "The text after the tag </think> is never inspected.",
            "The tag `</think>` ends it, and \"</think>\" is quoted.",
            r#"{"reason": "x.</think> y\n</think>\nz"}"#,
            "So: {\"reason\": \"a word</think>\"}.",
            "The template of this paper, quoted in full, is:\n```\n<think>\n...\n</think>\n```\nOdd.",
            "The tags <think>...</think> are never checked.",
        ] {
            assert_eq!(without_reasoning(text), Some(text));
            let reasoned = format!("<think>hm</think>\n{text}");
            assert_eq!(without_reasoning(&reasoned), Some(text));
        }
    }
}

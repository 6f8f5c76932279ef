//! Without a server: one text to paste into a chat window, and the answers that were pasted back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::prompt::{Prompt, PromptError, PromptKind, Task};

/// One text that asks by `prompt` about all items, each the texts that it has; answers are to stand behind
/// lines `=== 1 ===` and so on, as [`pasted`] reads them.
///
/// # Errors
///
/// [`PromptError::Kind`] for prompts that ask for no free text, and what [`Prompt::render`] says.
pub(crate) fn to_paste(prompt: &Prompt, items: &[Vec<String>]) -> Result<String, PromptError> {
    let prompt = match prompt.kind() {
        PromptKind::Review => prompt.clone().expect(PromptKind::Review)?,
        _ => prompt.clone().expect(PromptKind::Answer)?,
    };
    let mut text = String::new();
    for (at, texts) in items.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{}{}\n{}",
            if at > 0 { "\n\n" } else { "" },
            mark(at),
            texts.join("\n\n")
        );
    }
    let texts = BTreeMap::from([("text".to_owned(), text)]);
    let messages = prompt.render(&texts, &Task::default())?;
    let mut pasted: Vec<String> =
        messages.into_iter().map(|message| message.content.trim().to_owned()).collect();
    let last = items.len().saturating_sub(1);
    pasted.push(format!(
        "There are {} of these, each behind a line with its number. Work on each of them by itself, as if \
         the others were not there, and begin each with its line: {} to {}.",
        items.len(),
        mark(0),
        mark(last)
    ));
    Ok(pasted.join("\n\n") + "\n")
}

fn mark(at: usize) -> String {
    format!("=== {} ===", at + 1)
}

/// What was pasted back, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pasted {
    /// For each item its answers, in the order of the text: several where its number stands several times.
    pub answers: Vec<Vec<String>>,
    /// Numbers that no item has.
    pub strange: Vec<usize>,
}

/// The answers in a text, for `items` items: what stands between one line with a number and the next.
/// Models dress the line up as they like: `## 3`, `**Answer 3:**`, `[3]`. A bare `3` or `3.` is
/// part of an answer, as in lists.
pub(crate) fn pasted(text: &str, items: usize) -> Pasted {
    let mut answers: Vec<Vec<String>> = vec![Vec::new(); items];
    let mut strange = Vec::new();
    let mut place: Option<usize> = None;
    let mut lines: Vec<&str> = Vec::new();
    let mut end = |place: Option<usize>, lines: &mut Vec<&str>| {
        let text = lines.join("\n").trim().to_owned();
        lines.clear();
        if let Some(of) =
            place.and_then(|place| answers.get_mut(place)).filter(|_| !text.is_empty())
        {
            of.push(text);
        }
    };
    for line in text.lines() {
        match number(line) {
            None => lines.push(line),
            Some(number) => {
                end(place, &mut lines);
                place = number.checked_sub(1).filter(|place| *place < items);
                if place.is_none() {
                    strange.push(number);
                }
            }
        }
    }
    end(place, &mut lines);
    Pasted { answers, strange }
}

/// The number of a line that holds a number and dress.
fn number(line: &str) -> Option<usize> {
    let dress =
        |letter: char| matches!(letter, '=' | '#' | '*' | '_' | '[' | ']' | '(' | ')' | '-' | '>');
    let line = line.trim();
    let bare = line.trim_matches(|c: char| dress(c) || c.is_whitespace() || matches!(c, ':' | '.'));
    let digits = bare.trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = bare[..bare.len() - digits.len()].trim().to_lowercase();
    let is_named = matches!(
        word.trim_end_matches('.'),
        "answer" | "review" | "task" | "item" | "question" | "number" | "no" | "response" | "paper"
    );
    let is_dressed = word.is_empty() && line.starts_with(dress);
    if digits.len() > 6 || !(is_named || is_dressed) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_back_is_found_by_number() {
        let text = "Sure! Here they are.\n=== 1 ===\nFirst,\nin two lines.\n\n**Answer 2:**\n1.\nA list\n2.\n\
                    of two\n## 3\n\n[9]\nstrange\n=== 1 ===\nanother first\n";
        let found = pasted(text, 3);
        let expected = [
            vec!["First,\nin two lines.".to_owned(), "another first".to_owned()],
            vec!["1.\nA list\n2.\nof two".to_owned()],
            vec![],
        ];
        assert_eq!(found.answers, expected);
        assert_eq!(found.strange, [9]);
        for line in [
            "1",
            "1.",
            "12)",
            "in 3 days",
            "### 3 days",
            "2024-01-01 x",
            "=== 1234567 ===",
            "",
            "===",
        ] {
            assert_eq!(number(line), None, "{line}");
        }
        for line in
            ["=== 7 ===", "# 7", "**7**", "Answer 7", "### Review 7.", "[7]", "__Task 7:__", "== 7"]
        {
            assert_eq!(number(line), Some(7), "{line}");
        }
    }

    #[test]
    fn a_text_to_paste_asks_for_every_item_by_number() {
        let prompt = Prompt::load("answer-1").unwrap();
        let items = [vec!["What is red?".to_owned()], vec!["A".to_owned(), "B".to_owned()]];
        let text = to_paste(&prompt, &items).unwrap();
        assert!(text.contains("=== 1 ===\nWhat is red?\n\n=== 2 ===\nA\n\nB"), "{text}");
        assert!(text.ends_with("=== 1 === to === 2 ===.\n"), "{text}");
        assert!(to_paste(&Prompt::load("label-toxicity").unwrap(), &items).is_err());
        // Read as an answer, the question says nothing of its own.
        let back = pasted("=== 1 ===\nblood\n=== 2 ===\nC", 2);
        assert_eq!(back.answers.concat(), ["blood", "C"]);
    }
}

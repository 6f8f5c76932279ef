//! Every line that caz says on standard error goes through here.
//!
//! Lines may quote what strangers wrote: names, headers, file names, texts of servers. What would
//! move the cursor, change colours or turn the text around is shown, not obeyed; a line or a
//! message that is far longer than anyone reads is cut. A standard error that cannot be written
//! is no reason to fail: what it would have said is lost, the result is not.

use std::io::{self, Write};

use crate::report::printable_lines;

/// Longest line, in characters.
const MOST_CHARS: usize = 4000;

/// Most lines of one message.
const MOST_LINES: usize = 200;

/// Writes a message of one line or a few.
pub(super) fn talk(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(message));
}

/// The message as it is written.
pub(super) fn shown(message: &str) -> String {
    let mut lines = message.split('\n');
    let mut shown: Vec<String> = lines.by_ref().take(MOST_LINES).map(short).collect();
    let rest = lines.count();
    if rest > 0 {
        shown.push(format!("... and {rest} more lines"));
    }
    printable_lines(&shown.join("\n")).into_owned()
}

fn short(line: &str) -> String {
    match line.char_indices().nth(MOST_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => {
            format!("{}… ({} more characters)", &line[..end], line[end..].chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_lines_stay_lines() {
        assert_eq!(shown("a\u{1b}[31m\nb\rc\td"), "a\\u{1b}[31m\nb\\u{d}c\td");
        assert_eq!(shown("a\u{202e}b\u{9b}"), "a\\u{202e}b\\u{9b}");
    }

    #[test]
    fn what_nobody_reads_is_cut() {
        let text = shown(&"é".repeat(1 << 20));
        assert!(text.chars().count() < 5000 && text.ends_with("… (1044576 more characters)"));
        let text = shown(&"x\n".repeat(1000));
        assert_eq!(text.lines().count(), 201);
        assert!(text.ends_with("... and 801 more lines"), "{text}");
    }
}

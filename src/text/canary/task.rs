//! Hides instructions in the text of a task, as plain text or HTML, where nothing of them is painted.

use super::plan::{CanaryError, Instruction, instruction};

/// The first of the characters that stand for ASCII and have no shape (Unicode 15.1, 23.9): `U+E0000` + `c`.
const TAGS: u32 = 0xe0000;

/// The text of a task with the request for its phrases in it.
///
/// Text that holds a tag of HTML gets an element of no size, which is copied along with what is around it and
/// which screen readers leave out; other text gets tag characters, which no program shows, which are
/// copied along, and which language models read as letters more or less well. Both stand in the middle of
/// the text, at the end of a word, so that who copies all of the text copies them.
///
/// # Errors
///
/// [`CanaryError::NoSuchTag`] for a phrase with a letter that no tag character stands for.
pub(crate) fn hidden_in_text(text: &str, phrases: &[String]) -> Result<String, CanaryError> {
    let request = instruction(Instruction::Task, phrases);
    let is_html = is_html(text);
    let hidden = if is_html { element(&request) } else { tags(&request)? };
    let at = middle(text, is_html);
    Ok(format!("{}{hidden}{}", &text[..at], &text[at..]))
}

/// Whether a text holds a tag like `<p>`, `</b>` or `<br/>`.
fn is_html(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches('/');
        rest.starts_with(|c: char| c.is_ascii_alphabetic())
            && rest.find(['<', '>']).is_some_and(|end| rest[end..].starts_with('>'))
    })
}

fn element(request: &str) -> String {
    let escaped = request.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        " <span aria-hidden=\"true\" style=\"position:absolute;font-size:0;line-height:0;opacity:0;\
         pointer-events:none\">{escaped}</span>"
    )
}

fn tags(request: &str) -> Result<String, CanaryError> {
    let tag = |letter: char| {
        let has_tag = letter.is_ascii_graphic() || letter == ' ';
        let tag = char::from_u32(TAGS + u32::from(letter)).filter(|_| has_tag);
        tag.ok_or(CanaryError::NoSuchTag { letter })
    };
    request.chars().map(tag).collect()
}

/// The end of the word nearest to the middle that is not in a tag, a reference or an element whose content is
/// no text; the end of the text where there is none.
fn middle(text: &str, is_html: bool) -> usize {
    let lower = text.to_ascii_lowercase();
    let inside = |at: usize| {
        let before = &lower[..at];
        let open = |start: &str, end: &str| {
            before.rfind(start).is_some_and(|from| !before[from..].contains(end))
        };
        is_html
            && (open("<", ">")
                || open("<!--", "-->")
                || ["script", "style", "textarea", "title", "select"]
                    .iter()
                    .any(|name| open(&format!("<{name}"), &format!("</{name}"))))
    };
    let half = text.len() / 2;
    let ends = text.char_indices().filter(|(_, letter)| letter.is_whitespace()).map(|(at, _)| at);
    let ends = ends.filter(|&at| at > 0 && !inside(at));
    ends.min_by_key(|at| at.abs_diff(half)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases() -> Vec<String> {
        vec!["one two & three".into(), "four five six".into()]
    }

    #[test]
    fn plain_text_looks_as_before_and_holds_the_request() {
        let text = "What is the capital of a <country>, if x < 3?";
        assert!(is_html(text), "that is a tag to a browser");
        let text = "What is the capital, if x < 3 and y > 2?";
        let hidden = hidden_in_text(text, &phrases()).unwrap();
        let is_tag = |letter: &char| (0xe0020..0xe007f).contains(&u32::from(*letter));
        let seen: String = hidden.chars().filter(|letter| !is_tag(letter)).collect();
        assert_eq!(seen, text);
        let read: String = hidden
            .chars()
            .filter(is_tag)
            .filter_map(|letter| char::from_u32(u32::from(letter) - TAGS))
            .collect();
        assert_eq!(read, instruction(Instruction::Task, &phrases()));
        assert!(read.contains("\"one two & three\" and \"four five six\""), "{read}");
    }

    #[test]
    fn html_gets_an_element_outside_of_every_tag() {
        let text = "<p class=\"a b c d e f g\">Name it</p><style>p { color : red }</style>";
        let hidden = hidden_in_text(text, &phrases()).unwrap();
        assert!(hidden.starts_with("<p class=\"a b c d e f g\">Name <span"), "{hidden}");
        assert!(hidden.contains("one two &amp; three"), "{hidden}");
        assert!(hidden.ends_with("</span> it</p><style>p { color : red }</style>"), "{hidden}");
    }

    #[test]
    fn a_text_of_one_word_or_none_gets_it_at_its_end() {
        for text in ["Why?", "", "<b>Why?</b>"] {
            let hidden = hidden_in_text(text, &phrases()).unwrap();
            assert!(hidden.starts_with(text) && hidden.len() > text.len(), "{hidden}");
        }
    }
    #[test]
    fn a_phrase_that_no_tag_characters_spell_is_refused_where_there_is_no_html() {
        let phrases = ["vier Worte f\u{fc}r dich".to_owned()];
        let refused = hidden_in_text("Why?", &phrases);
        assert_eq!(refused, Err(CanaryError::NoSuchTag { letter: '\u{fc}' }));
        assert!(hidden_in_text("<b>Why?</b>", &phrases).unwrap().contains(&phrases[0]));
    }
}

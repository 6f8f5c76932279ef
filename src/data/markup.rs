//! What a browser shows of a text with elements and entities of HTML.

use std::borrow::Cow;

/// Elements that part no words.
const INLINE: [&str; 19] = [
    "a", "abbr", "b", "code", "del", "em", "font", "i", "ins", "mark", "q", "s", "small", "span",
    "strong", "sub", "sup", "u", "wbr",
];

/// Elements that do.
const BLOCK: [&str; 25] = [
    "blockquote",
    "br",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// Entities that stand between words or in them.
const ENTITIES: [(&str, char); 18] = [
    ("amp", '&'),
    ("apos", '\''),
    ("emsp", ' '),
    ("ensp", ' '),
    ("gt", '>'),
    ("hellip", '\u{2026}'),
    ("ldquo", '\u{201c}'),
    ("lsquo", '\u{2018}'),
    ("lt", '<'),
    ("mdash", '\u{2014}'),
    ("nbsp", ' '),
    ("ndash", '\u{2013}'),
    ("quot", '"'),
    ("rdquo", '\u{201d}'),
    ("rsquo", '\u{2019}'),
    ("shy", '\u{ad}'),
    ("thinsp", ' '),
    ("zwnj", '\u{200c}'),
];

/// Longest tag and longest entity that is looked for, in bytes: a text full of `<` takes no longer.
const LONGEST_TAG: usize = 1000;
const LONGEST_ENTITY: usize = 10;

/// A text without the tags of known elements, its entities as what they stand for. Anything else in
/// angle brackets is what somebody wrote.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '&']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if let Some((length, parts)) = tag(rest) {
            if parts {
                shown.push(' ');
            }
            length
        } else if let Some((length, letter)) = entity(rest) {
            shown.push(letter);
            length
        } else {
            shown.push_str(&rest[..1]);
            1
        };
        rest = &rest[length..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// The length of the tag that a text begins with, and whether it parts words.
fn tag(text: &str) -> Option<(usize, bool)> {
    let inner = text.strip_prefix('<')?;
    let end = inner.bytes().take(LONGEST_TAG).position(|byte| matches!(byte, b'<' | b'>'))?;
    let inner = inner[..end].strip_suffix('/').unwrap_or(&inner[..end]);
    let is_whole = text.as_bytes()[end + 1] == b'>';
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let (name, attributes) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
    let name = name.to_ascii_lowercase();
    let parts = BLOCK.contains(&name.as_str());
    let is_known = parts || INLINE.contains(&name.as_str());
    // `<b without much>` is no tag that any program writes.
    let has_attributes = attributes.trim().is_empty() || attributes.contains('=');
    (is_whole && is_known && has_attributes).then_some((end + 2, parts))
}

/// The length of the entity that a text begins with, and what it stands for.
fn entity(text: &str) -> Option<(usize, char)> {
    let inner = text.strip_prefix('&')?;
    let end = inner.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';')?;
    let name = &inner[..end];
    let letter = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((end + 2, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_entities_are_what_a_browser_shows_of_them() {
        for (text, expected) in [
            ("a <em>b</em> c", "a b c"),
            ("a<br>b<br/>c<BR />d", "a b c d"),
            ("<p class=\"x\">a</p><p>b</p>", " a  b "),
            ("half<wbr>way <a href=\"u\">x</a>", "halfway x"),
            ("a&nbsp;b&#160;c&#xA0;d &amp; e&rsquo;s", "a b\u{a0}c\u{a0}d & e\u{2019}s"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_somebody_wrote_in_angle_brackets_stays() {
        for text in [
            "a < b and c > d",
            "without <very> much",
            "<b without much> charity",
            "a <b",
            "x <é",
            "a & b; c",
            "&é;",
            "&unknown; &#x110000; &#;",
            "<<<<&&&&",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}

//! Templates of prompts, which come from strangers as texts do: they end, and they stay small.
//!
//! The language is that of Jinja as far as a prompt needs it: insert, choose, repeat. What makes long
//! texts of short ones is limited, since forty doublings are few steps and all the memory there is:
//! texts are joined by `~` and `+` in few places, nothing is multiplied, what is written is never
//! captured, lists are written out of constants, and what filters make is counted.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

/// Most steps of a template; one with a thousand fields takes some ten thousand.
const MOST_STEPS: u64 = 1_000_000;

/// Most bytes of a message, and of what filters make on the way to it: no model reads as much.
const MOST_BYTES: usize = 64 << 20;

/// Most places in which a template joins texts: each may double what there is.
const MOST_JOINED: usize = 8;

/// Filters that make long texts or lists of short ones, or spell out a whole list.
const LEFT_OUT: [&str; 22] = [
    "batch",
    "chain",
    "e",
    "escape",
    "format",
    "groupby",
    "indent",
    "lines",
    "list",
    "map",
    "pprint",
    "reject",
    "rejectattr",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "unique",
    "zip",
];

/// Filters that make a text of a text, about as long.
const OF_TEXTS: [&str; 5] = ["capitalize", "lower", "title", "trim", "upper"];

/// What `template` makes of `values`, without white space around it.
pub(super) fn rendered(template: &str, values: &Value) -> Result<String, Error> {
    if let Err(what) = check(template) {
        return Err(Error::new(ErrorKind::SyntaxError, format!("{what} in a prompt")));
    }
    let mut written = Bounded { bytes: Vec::new() };
    environment()
        .template_from_str(template)
        .and_then(|template| template.render_captured_to(values, &mut written).map(drop))?;
    let text = String::from_utf8(written.bytes).expect("a template writes text");
    Ok(text.trim().to_owned())
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the default ones"));
    environment.set_fuel(Some(MOST_STEPS));
    let builtin = Arc::new(environment.clone());
    for name in LEFT_OUT {
        environment.remove_filter(name);
    }
    for name in ["debug", "dict", "namespace"] {
        environment.remove_global(name);
    }
    let made = Arc::new(AtomicUsize::new(0));
    for name in OF_TEXTS {
        let (builtin, made) = (Arc::clone(&builtin), Arc::clone(&made));
        environment.add_filter(name, move |arguments: Rest<Value>| {
            arguments.iter().try_for_each(single)?;
            let result = builtin.empty_state().apply_filter(name, &arguments)?;
            count(&made, result.as_str().map_or(0, str::len))?;
            Ok(result)
        });
    }
    let counted = Arc::clone(&made);
    environment.add_filter("replace", move |text: Value, from: Value, to: Value| {
        [&text, &from, &to].into_iter().try_for_each(single)?;
        let (text, from, to) = (text.to_string(), from.to_string(), to.to_string());
        count(&counted, text.len().saturating_add(text.matches(&from).count() * to.len()))?;
        Ok(text.replace(&from, &to))
    });
    environment.add_filter("join", move |items: Value, between: Option<Value>| {
        let between = between.unwrap_or_else(|| Value::from(""));
        single(&between)?;
        let between = between.to_string();
        let mut joined = String::new();
        for (index, item) in items.try_iter()?.enumerate() {
            single(&item)?;
            let item = item.to_string();
            let between = if index > 0 { between.as_str() } else { "" };
            count(&made, between.len() + item.len())?;
            joined.push_str(between);
            joined.push_str(&item);
        }
        Ok(joined)
    });
    environment
}

/// Refuses lists and objects: written out, one may be endless though it takes no room.
fn single(value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::String | ValueKind::Number | ValueKind::Bool | ValueKind::None => Ok(()),
        kind => {
            let message = format!("a filter of texts cannot take a {kind}");
            Err(Error::new(ErrorKind::InvalidOperation, message))
        }
    }
}

fn count(made: &AtomicUsize, bytes: usize) -> Result<(), Error> {
    let before = made.fetch_add(bytes.min(MOST_BYTES + 1), Ordering::Relaxed);
    if before.saturating_add(bytes) > MOST_BYTES {
        let message = format!("filters make more than {MOST_BYTES} bytes");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(())
}

/// Takes bytes up to [`MOST_BYTES`].
struct Bounded {
    bytes: Vec<u8>,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MOST_BYTES {
            let message = format!("a message of more than {MOST_BYTES} bytes");
            return Err(io::Error::other(message));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Looks for what could make texts grow; the error says what.
fn check(template: &str) -> Result<(), String> {
    let mut rest = template;
    let mut joined = 0;
    while let Some(start) = rest.find('{') {
        rest = &rest[start + 1..];
        let close = match rest.chars().next() {
            Some('#') => {
                rest = rest.find("#}").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            Some('{') => "}}",
            Some('%') => "%}",
            _ => continue,
        };
        let (tokens, after) = tokens(&rest[1..], close);
        joined += check_tag(&tokens, close == "%}")?;
        rest = after;
    }
    if joined > MOST_JOINED {
        return Err(format!("texts are joined by `~` or `+` in more than {MOST_JOINED} places"));
    }
    Ok(())
}

/// A piece of a tag, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// A text or a number.
    Constant,
    Mark(char),
}

/// The tokens up to `close`, and what stands behind it.
fn tokens<'a>(text: &'a str, close: &str) -> (Vec<Token<'a>>, &'a str) {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(after) = rest.strip_prefix(close) {
            return (found, after);
        }
        // `-` and `+` beside the marks of a tag say what becomes of white space.
        let beside = || at == 0 || rest[1..].starts_with(close);
        let length = match first {
            '+' | '-' if beside() => 1,
            '"' | '\'' => {
                found.push(Token::Constant);
                let mut escaped = false;
                let end = rest.char_indices().skip(1).find(|&(_, c)| {
                    let ends = c == first && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |(end, _)| end + 1)
            }
            c if c.is_alphanumeric() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let number = c.is_ascii_digit();
                found.push(if number { Token::Constant } else { Token::Word(&rest[..end]) });
                end
            }
            c => {
                if !c.is_whitespace() {
                    found.push(Token::Mark(c));
                }
                c.len_utf8()
            }
        };
        at += length;
    }
    (found, "")
}

/// How often a tag joins texts; refuses what makes more of a text than that.
fn check_tag(tokens: &[Token<'_>], statement: bool) -> Result<usize, String> {
    let first = tokens.first().copied().filter(|_| statement);
    let assigns = tokens.contains(&Token::Mark('='));
    match first {
        Some(Token::Word("filter")) => return Err("no block may be filtered".into()),
        Some(Token::Word("set")) if !assigns => return Err("no block may be captured".into()),
        _ => {}
    }
    let named: BTreeSet<&str> = ["for", "set", "with"].into();
    let names_come_first = matches!(first, Some(Token::Word(word)) if named.contains(word));
    let mut names = names_come_first;
    let mut joined = 0;
    // Of every open bracket, whether commas may stand in it; in a list, nothing but constants may.
    let mut open: Vec<(char, bool)> = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| tokens[place]);
        let follows_value = match before {
            Some(Token::Constant | Token::Mark(']' | ')')) => true,
            Some(Token::Word(word)) => !OPERATORS.contains(&word),
            _ => false,
        };
        let in_list = open.last().is_some_and(|(bracket, _)| *bracket == '[');
        match token {
            Token::Word("in") => names = false,
            Token::Mark('=') => names = first == Some(Token::Word("with")),
            Token::Mark('~' | '+') => joined += 1,
            Token::Mark('*') => return Err("nothing may be multiplied".into()),
            Token::Mark('{') => return Err("no object may be written".into()),
            Token::Mark('(') => open.push(('(', follows_value)),
            Token::Mark('[') if follows_value => open.push(('i', false)),
            Token::Mark('[') => open.push(('[', true)),
            Token::Mark(')' | ']') => drop(open.pop()),
            Token::Mark(',') => {
                let allowed = open
                    .last()
                    .map_or(names || first == Some(Token::Word("with")), |(_, commas)| *commas);
                if !allowed {
                    return Err("lists may only be written in brackets and of constants".into());
                }
            }
            Token::Word("true" | "false" | "none" | "True" | "False" | "None") => {}
            Token::Word(_) if in_list => {
                return Err("lists may only be written in brackets and of constants".into());
            }
            _ => {}
        }
    }
    Ok(joined)
}

/// Words after which a bracket does not belong to a value before it.
const OPERATORS: [&str; 10] = ["and", "or", "not", "in", "is", "if", "else", "elif", "for", "set"];

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn made(template: &str) -> Result<String, Error> {
        let values = minijinja::context! {
            text => "ab", fields => vec!["x", "y"], empty => "", big => "x".repeat(1 << 16),
        };
        rendered(template, &values)
    }

    #[test]
    fn a_prompt_inserts_chooses_repeats_and_computes_a_little() {
        for (template, expected) in [
            ("{{ text }} {# {{ text * 2 }} #} { text }", "ab  { text }"),
            ("{% if text and not empty -%} yes {%- else %}no{% endif %}", "yes"),
            ("{% for f in fields %}{{ loop.index + 1 }}{{ f }} {% endfor %}", "2x 3y"),
            ("{% for key, value in [['a', 1]] %}{{ key }}{% endfor %}", "a"),
            (
                "{{ fields | join(', ') }}; {{ text | upper }}; {{ text | replace('a', '~*') }}",
                "x, y; AB; ~*b",
            ),
            ("{% set both = text ~ '+' ~ text %}{{ both }}", "ab+ab"),
            ("{% if text in ['ab', \"c]\", -1.5, true] %}in{% endif %}", "in"),
            ("{{ fields[0] }}{{ (fields | last) }}{{ range(1, 3) | length }}", "xy2"),
            ("{% with a = 1, b = text %}{{ a }}{{ b }}{% endwith %}", "1ab"),
            ("{{ 'it\\'s ~ * [' }}", "it's ~ * ["),
        ] {
            match made(template) {
                Ok(text) => assert_eq!(text, expected, "{template}"),
                Err(error) => panic!("{template}: {error:#}"),
            }
        }
    }

    #[test]
    fn no_template_takes_the_memory_or_the_day() {
        let nested = |inner: &str, times: usize, step: &dyn Fn(usize) -> String| {
            let opens: String = (0..times).map(step).collect();
            format!("{opens}{inner}{}", "{% endfor %}".repeat(times))
        };
        let grow = |how: &str| {
            let step = |n: usize| {
                let a = if n == 0 { "big".to_owned() } else { format!("a{}", n - 1) };
                format!("{{% for a{n} in {} %}}", how.replace('A', &a))
            };
            nested("{{ a39 | length }}", 40, &step)
        };
        for (template, says) in [
            ("{% set a = big %}".to_owned() + &"{% set a = a ~ a %}".repeat(40), "more than 8"),
            ("{% set a = big %}".to_owned() + &"{% set a = a + a %}".repeat(40), "more than 8"),
            (
                "{% set n = namespace(s='x') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}\
                 {% endfor %}"
                    .into(),
                "namespace",
            ),
            ("{{ 'x' * 99999999999 }}".into(), "multiplied"),
            ("{{ (['x' * 90000000, 'y']) | length }}".into(), "multiplied"),
            ("{% set a %}{{ big }}{{ big }}{% endset %}".into(), "captured"),
            ("{% filter upper %}{{ big }}{% endfilter %}".into(), "filtered"),
            (grow("[[A, A]]"), "constants"),
            (grow("(A, A)"), "constants"),
            (grow("A, A"), "constants"),
            (grow("{'a': A}"), "object"),
            (
                "{% set a = big %}".to_owned() + &"{% set a = a | replace('x', 'xx') %}".repeat(40),
                "filters make",
            ),
            ("{{ big | replace('x', big) }}".into(), "filters make"),
            ("{{ big | join(big) }}".into(), "filters make"),
            ("{{ big | list | length }}".into(), "list"),
            ("{{ fields | upper }}".into(), "cannot take"),
            ("{{ [big] | string }}".into(), "constants"),
            ("{{ big | indent(90000000) }}".into(), "indent"),
            ("{{ debug() }}".into(), "debug"),
        ] {
            let begun = Instant::now();
            let error = format!("{:#}", made(&template).unwrap_err());
            assert!(error.contains(says), "{template:.60}: {error}");
            assert!(begun.elapsed() < Duration::from_mins(1), "{template:.60}");
        }
    }

    #[test]
    fn half_a_tag_is_an_error_and_no_panic() {
        for template in ["{{", "{%", "{#", "{{ 'a", "{{ \"\\", "{", "{{ [", "{% set", "{{ é ~"] {
            let _ = made(template);
        }
        assert!(made("{{ text").is_err());
    }
}

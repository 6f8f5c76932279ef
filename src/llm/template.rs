//! Templates of prompts. They are the user's own files, so that the whole language of Jinja is theirs;
//! what bounds them is that they end and that a message stays small. What a template joins on its
//! way, a text with itself sixty times, is not bounded: nothing but the user's own file can ask for it.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, UndefinedBehavior, Value};

/// Most steps of a template; one with a thousand fields takes some ten thousand.
const MOST_STEPS: u64 = 1_000_000;

/// Most bytes of a message: no model reads as much.
const MOST_BYTES: usize = 64 << 20;

/// What `template` makes of `values`, without white space around it.
pub(super) fn rendered(template: &str, values: &Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the default ones"));
    environment.set_fuel(Some(MOST_STEPS));
    let mut written = Bounded { bytes: Vec::new() };
    environment
        .template_from_str(template)
        .and_then(|template| template.render_captured_to(values, &mut written).map(drop))?;
    let text = String::from_utf8(written.bytes).expect("a template writes text");
    Ok(text.trim().to_owned())
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

#[cfg(test)]
mod tests {
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
    fn a_template_ends_and_its_message_stays_small() {
        let nested = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
        let long = "{% for a in range(2000) %}{{ big }}{% endfor %}";
        for (template, says) in [(nested, "fuel"), (long, "more than 67108864 bytes")] {
            let error = made(template).unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let error = format!("{error:#} {}", source.unwrap_or_default());
            assert!(error.contains(says), "{template}: {error}");
        }
    }

    #[test]
    fn half_a_tag_and_what_is_not_given_are_errors() {
        for template in ["{{ text", "{% if", "{{ 'a", "{{ missing }}"] {
            assert!(made(template).is_err(), "{template}");
        }
    }
}

//! The chat template of a model: a conversation as the text that the model was trained on.
//!
//! Templates are programs in the files of strangers, so they run with a bound on their steps, and
//! what they write is bounded. They see no clock: `strftime_now` is not defined, so that the same
//! conversation is always the same text.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Value, from_args};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, context};

use super::Turn;
use super::error::ModelError;

/// Steps of a template; a long conversation takes some thousands.
const FUEL: u64 = 1_000_000;

/// Bytes that a template may write beyond four times the messages.
const MOST_ADDED_BYTES: usize = 1 << 20;

/// A chat template.
#[derive(Debug)]
pub(super) struct ChatTemplate {
    environment: Environment<'static>,
    first: String,
    end: String,
}

impl ChatTemplate {
    /// Compiles a template; `first` and `end` are the texts of the tokens around a text.
    pub(super) fn new(source: &str, first: &str, end: &str) -> Result<Self, Error> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("the delimiters are the default ones"));
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(100);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_unknown_method_callback(python_method);
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_template_owned("chat", source.to_owned())?;
        Ok(Self { environment, first: first.to_owned(), end: end.to_owned() })
    }

    /// The conversation with the opening of the next answer.
    pub(super) fn render(&self, conversation: &[Turn<'_>]) -> Result<String, ModelError> {
        let template = self.environment.get_template("chat").map_err(ModelError::Template)?;
        let written: usize = conversation.iter().map(|turn| turn.content.len()).sum();
        let mut out = Limited { text: Vec::new(), left: written * 4 + MOST_ADDED_BYTES };
        let messages: Vec<Value> = conversation
            .iter()
            .map(|turn| context! { role => turn.role, content => turn.content })
            .collect();
        let values = context! {
            messages,
            add_generation_prompt => true,
            enable_thinking => false,
            bos_token => &self.first,
            eos_token => &self.end,
        };
        template.render_captured_to(values, &mut out).map_err(ModelError::Template)?;
        Ok(String::from_utf8_lossy(&out.text).into_owned())
    }
}

/// A writer that takes so much and no more.
struct Limited {
    text: Vec<u8>,
    left: usize,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            return Err(io::Error::other("the template writes without end"));
        }
        self.left -= bytes.len();
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The methods of Python's texts and mappings that templates call.
fn python_method(
    _state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    let unknown = || Error::new(ErrorKind::UnknownMethod, format!("no method `{method}`"));
    let Some(text) = value.as_str() else {
        return match method {
            "get" => {
                let (key, default): (Value, Option<Value>) = from_args(arguments)?;
                let found = value.get_item(&key)?;
                Ok(if found.is_undefined() { default.unwrap_or(Value::from(())) } else { found })
            }
            "items" | "keys" | "values" if arguments.is_empty() => {
                let mut entries = Vec::new();
                for key in value.try_iter()? {
                    let entry = value.get_item(&key)?;
                    entries.push(match method {
                        "items" => Value::from(vec![key, entry]),
                        "keys" => key,
                        _ => entry,
                    });
                }
                Ok(Value::from(entries))
            }
            _ => Err(unknown()),
        };
    };
    let trimmed = |keep: fn(&str, &dyn Fn(char) -> bool) -> String| -> Result<Value, Error> {
        let (characters,): (Option<String>,) = from_args(arguments)?;
        Ok(Value::from(match characters {
            Some(set) => keep(text, &|c| set.contains(c)),
            None => keep(text, &char::is_whitespace),
        }))
    };
    match method {
        "strip" => trimmed(|text, is| text.trim_matches(is).to_owned()),
        "lstrip" => trimmed(|text, is| text.trim_start_matches(is).to_owned()),
        "rstrip" => trimmed(|text, is| text.trim_end_matches(is).to_owned()),
        "startswith" => from_args(arguments).map(|(a,): (&str,)| text.starts_with(a).into()),
        "endswith" => from_args(arguments).map(|(a,): (&str,)| text.ends_with(a).into()),
        "lower" => Ok(text.to_lowercase().into()),
        "upper" => Ok(text.to_uppercase().into()),
        "replace" => {
            let (from, to): (&str, &str) = from_args(arguments)?;
            Ok(text.replace(from, to).into())
        }
        "split" => {
            let (separators,): (Rest<String>,) = from_args(arguments)?;
            match separators.as_slice() {
                [] => Ok(text.split_whitespace().map(Value::from).collect()),
                [separator] if !separator.is_empty() => {
                    Ok(text.split(separator.as_str()).map(Value::from).collect())
                }
                _ => Err(unknown()),
            }
        }
        _ => Err(unknown()),
    }
}

//! Flags that take what few people touch as `KEY=VALUE,...`: the fields of a struct of clap's are the keys.

use std::ops::Deref;

use clap::builder::{PossibleValue, StyledStr};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Id};

/// What a flag takes as keys: every field is one, a field without a value stands by its name alone, and a
/// field of a place needs no key.
pub(super) trait Keys: Args {
    /// The name of the flag.
    const FLAG: &'static str;
    /// What it is about, in a line.
    const ABOUT: &'static str;
    /// Whether the flag says something without any key; then keys follow a `=`, so that no file is taken for one.
    const ALONE: bool = false;
    /// Whether few people need it.
    const RARE: bool = false;
}

/// What a flag of four commands is about.
pub(super) const OF_A_CROWD: &str = "What becomes of the crowd";

/// The keys of a flag.
#[derive(Debug, Clone)]
pub(super) struct Keyed<T>(T);

impl<T> Deref for Keyed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The keys as flags of a command.
fn keys<T: Keys>() -> Command {
    T::augment_args(Command::new(T::FLAG).no_binary_name(true).disable_help_flag(true))
}

/// The keys that stand with a value, or alone.
fn named(keys: &Command) -> impl Iterator<Item = &Arg> {
    keys.get_arguments().filter(|key| !key.is_positional())
}

/// The key of this name.
fn key<'a>(keys: &'a Command, name: &str) -> Option<&'a Arg> {
    named(keys).find(|key| key.get_long() == Some(name))
}

/// What is written for a key.
fn form(key: &Arg) -> String {
    let value = || match &key.get_possible_values()[..] {
        [] => {
            key.get_value_names().and_then(|names| names.first()).map_or("", |name| name).to_owned()
        }
        values => values.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join("|"),
    };
    match key.get_long() {
        Some(name) if key.get_action().takes_values() => format!("{name}={}", value()),
        Some(name) => name.to_owned(),
        None => value(),
    }
}

/// A line for every key.
fn described(keys: &Command) -> String {
    let one = |key: &Arg| {
        let help = key.get_help().map(StyledStr::to_string).unwrap_or_default();
        let default = match key.get_default_values() {
            _ if !key.get_action().takes_values() => String::new(),
            [] => String::new(),
            values => {
                let values: Vec<_> = values.iter().map(|value| value.to_string_lossy()).collect();
                format!(" [default: {}]", values.join(","))
            }
        };
        format!("\n- {}: {help}{default}", form(key))
    };
    keys.get_arguments().map(one).collect()
}

/// Words as the command of the keys takes them. A comma parts two of them unless what follows is neither a
/// key nor looks like one: `k=5,8,polish=.1`.
fn words(keys: &Command, texts: &[String]) -> Result<Vec<String>, String> {
    let has_place = keys.get_positionals().next().is_some();
    let mut words: Vec<String> = Vec::new();
    for text in texts {
        for (at, part) in text.split(',').enumerate() {
            let name = part.split_once('=').map_or(part, |(name, _)| name).trim();
            if key(keys, name).is_some() {
                // Given twice, the last counts.
                words.retain(|word| word.split('=').next() != Some(&format!("--{name}")));
                words.push(format!("--{}", part.trim()));
            } else if at > 0 && !part.contains('=') && words.last().is_some_and(|w| w.contains('='))
            {
                let last = words.last_mut().expect("there is one");
                last.push(',');
                last.push_str(part);
            } else if has_place && !part.contains('=') && !part.starts_with('-') {
                words.push(part.trim().to_owned());
            } else {
                let all: Vec<String> = keys.get_arguments().map(form).collect();
                // What is no word may be a secret.
                let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                let name = if is_word { name } else { "..." };
                return Err(format!("there is no `{name}`; there are {}", all.join(", ")));
            }
        }
    }
    Ok(words)
}

/// The value of the flag, of all that was given for it.
fn parsed<T: Keys>(texts: &[String]) -> Result<T, String> {
    let keys = keys::<T>();
    let words = words(&keys, texts)?;
    let said = |error: clap::Error| {
        let text = error.to_string();
        let first = text.lines().take_while(|line| !line.trim().is_empty()).collect::<Vec<_>>();
        first.join(" ").trim_start_matches("error: ").replace("--", "")
    };
    let matches = keys.try_get_matches_from(words).map_err(said)?;
    T::from_arg_matches(&matches).map_err(said)
}

impl<T: Keys> FromArgMatches for Keyed<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let texts: Vec<String> =
            matches.get_many(T::FLAG).map(|texts| texts.cloned().collect()).unwrap_or_default();
        parsed(&texts).map(Self).map_err(|message| {
            clap::Error::raw(ErrorKind::InvalidValue, format!("--{}: {message}\n", T::FLAG))
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<T: Keys> Args for Keyed<T> {
    /// The flag itself, by which it is known whether it was given.
    fn group_id() -> Option<Id> {
        Some(Id::from(T::FLAG))
    }

    fn augment_args(command: Command) -> Command {
        let arg = Arg::new(T::FLAG)
            .long(T::FLAG)
            .value_name("KEY=VALUE,...")
            .action(ArgAction::Append)
            .hide_short_help(T::RARE)
            .help(T::ABOUT)
            .long_help(format!("{}:{}", T::ABOUT, described(&keys::<T>())));
        command.arg(if T::ALONE { arg.num_args(0..=1).require_equals(true) } else { arg })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Clone, Args)]
    struct Baking {
        /// Who bakes
        #[arg(default_value = "me")]
        who: String,
        /// How hot
        #[arg(long, value_name = "C", default_value_t = 180)]
        heat: u16,
        /// Minutes, of each side
        #[arg(long, value_name = "MIN", value_delimiter = ',')]
        time: Vec<u16>,
        /// Without salt
        #[arg(long)]
        no_salt: bool,
    }

    impl Keys for Baking {
        const FLAG: &'static str = "baking";
        const ABOUT: &'static str = "How it is baked";
    }

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        baking: Keyed<Baking>,
    }

    fn baking(words: &[&str]) -> Result<Baking, String> {
        let line = Line::try_parse_from([&["caz"], words].concat());
        line.map(|line| (*line.baking).clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_given_in_one_list_or_in_several() {
        let none = baking(&[]).unwrap();
        assert_eq!((none.who.as_str(), none.heat, none.no_salt), ("me", 180, false));
        let all = baking(&["--baking", "you,heat=200,time=5,8,no-salt"]).unwrap();
        assert_eq!((all.who.as_str(), all.heat, all.no_salt), ("you", 200, true));
        assert_eq!(all.time, [5, 8]);
        let several = baking(&["--baking", "heat=200", "--baking", "no-salt"]).unwrap();
        assert_eq!((several.heat, several.no_salt), (200, true));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_could_be() {
        let said = |words: &[&str]| baking(words).unwrap_err();
        let unknown = said(&["--baking", "heat=1,oven=2"]);
        assert!(unknown.contains("--baking: there is no `oven`; there are "), "{unknown}");
        assert!(unknown.contains("heat=C, time=MIN, no-salt"), "{unknown}");
        let wrong = said(&["--baking", "heat=hot"]);
        assert!(wrong.contains("--baking: invalid value 'hot' for 'heat <C>'"), "{wrong}");
        assert!(said(&["--baking", "heat"]).contains("heat"), "a key without its value");
        assert!(said(&["--baking", "no-salt=1"]).contains("no-salt"));
    }

    #[test]
    fn the_help_has_a_line_for_every_key() {
        let help = <Line as clap::CommandFactory>::command().render_long_help().to_string();
        for line in ["- me", "- heat=C: How hot [default: 180]", "- no-salt: Without salt"] {
            assert!(line == "- me" || help.contains(line), "{line}: {help}");
        }
    }
}

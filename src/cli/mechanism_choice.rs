//! `--mechanism`: names of the catalogue of mechanisms, and `all`.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::mechanism::MechanismName;

/// A value of `--mechanism`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MechanismChoice {
    /// One of the catalogue.
    One(MechanismName),
    /// All that can be used.
    All,
}

const COUNT: usize = MechanismName::EACH.len();

/// The catalogue, then `all`.
static CHOICES: [MechanismChoice; COUNT + 1] = {
    let mut choices = [MechanismChoice::All; COUNT + 1];
    let mut index = 0;
    while index < COUNT {
        choices[index] = MechanismChoice::One(MechanismName::EACH[index]);
        index += 1;
    }
    choices
};

impl ValueEnum for MechanismChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &CHOICES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::One(name) => PossibleValue::new(name.as_str()).help(name.summary()),
            Self::All => {
                PossibleValue::new("all").help("All of them; without --z those that need no LLM")
            }
        })
    }
}

/// The mechanisms asked for, each once, in the order asked for; `all` is those of `usable`.
pub(super) fn chosen(choices: &[MechanismChoice], usable: &[MechanismName]) -> Vec<MechanismName> {
    let mut names = Vec::new();
    for choice in choices {
        let each = match choice {
            MechanismChoice::One(name) => std::slice::from_ref(name),
            MechanismChoice::All => usable,
        };
        for name in each {
            if !names.contains(name) {
                names.push(*name);
            }
        }
    }
    names
}

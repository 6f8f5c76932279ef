//! All mechanisms by name: what each needs, what its score means, and how to make it.
//!
//! A mechanism tells this of itself, in an [`Entry`] of its own file; here every one has a line in
//! one list, from which the names, their order and the factory follow. To add a mechanism, write
//! its file and add its line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::{Entry, Several};
use super::options::{MechanismOptions, SeveralSources};
use super::{
    Mechanism, MechanismError, MinimumOverSources, copy_excess, copy_mixture, correlated_agreement,
    dawid_skene, majority, negative_agreement, one_coin, output_agreement, own,
};
use crate::data::z::ZSource;
use crate::error::{ErrorKind, Kinded};

/// Makes the enum of names and the list of entries from one line per mechanism.
macro_rules! catalogue {
    ($($(#[$doc:meta])* $name:ident => $entry:path,)+) => {
        /// A mechanism by name.
        ///
        /// Written as in [`Self::as_str`] wherever it is serialised.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum MechanismName {
            $($(#[$doc])* $name,)+
        }

        impl MechanismName {
            /// All of them, in the order of tables.
            pub(crate) const EACH: [Self; [$(Self::$name),+].len()] = [$(Self::$name),+];

            fn entry(self) -> &'static Entry {
                match self {
                    $(Self::$name => &$entry,)+
                }
            }
        }
    };
}

catalogue! {
    /// Correlated agreement beyond an LLM.
    CaZ => correlated_agreement::GIVEN_Z,
    /// Copy excess: how much more often than others a worker says what an LLM says.
    ExcessZ => copy_excess::ENTRY,
    /// Correlated agreement.
    Ca => correlated_agreement::PLAIN,
    /// Output agreement.
    Oa => output_agreement::PLAIN,
    /// Output agreement against an LLM.
    OaZ => output_agreement::GIVEN_Z,
    /// Output agreement against an LLM, over all common tasks.
    OaZCommon => output_agreement::GIVEN_Z_ALL_COMMON,
    /// Dawid-Skene.
    Ds => dawid_skene::ENTRY,
    /// Dawid-Skene with copying from an LLM.
    DsZ => copy_mixture::ENTRY,
    /// Agreement with the majority of the others.
    Majority => majority::ENTRY,
    /// Dawid-Skene with one accuracy a worker.
    OneCoin => one_coin::ENTRY,
    /// Minus the agreement with an LLM.
    NegZ => negative_agreement::ENTRY,
    /// Own answers against planted ghosts.
    Own => own::ENTRY,
}

impl MechanismName {
    /// The name on the command line and in results, e.g. `ca_z`.
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// What it is, in a few words.
    pub(crate) fn summary(self) -> &'static str {
        self.entry().summary
    }

    /// What its score means and rewards, as a sentence that starts with the name.
    pub fn meaning(self) -> String {
        let Entry { name, meaning, .. } = self.entry();
        format!("{name}: {meaning}.")
    }

    /// Why a worker has no score, in a few words.
    pub(crate) fn unscored(self) -> &'static str {
        self.entry().unscored
    }

    /// Whether it scores given the labels of an LLM, so that there must be some.
    pub fn needs_z(self) -> bool {
        self.entry().needs_z
    }

    /// Whether it fits a model by iteration: it has posteriors of the labels, and standard errors
    /// only from a bootstrap.
    pub fn is_fitted(self) -> bool {
        self.entry().is_fitted
    }

    /// Those that can be used with or without labels of an LLM, in the order of tables.
    pub(crate) fn usable(with_z: bool) -> Vec<Self> {
        Self::EACH.into_iter().filter(|name| with_z || !name.needs_z()).collect()
    }
}

/// Makes a mechanism given `sources` of Z, which one that needs no Z ignores.
///
/// Given several sources, a worker has the lowest score over them, each conditioned on alone,
/// unless the mechanism takes them [`SeveralSources::Together`].
///
/// # Errors
///
/// [`MechanismError::NeedsZ`] if it needs Z and there is no source.
pub fn build(
    name: MechanismName,
    sources: &[ZSource],
    options: &MechanismOptions,
) -> Result<Box<dyn Mechanism>, MechanismError> {
    let entry = name.entry();
    if !entry.needs_z {
        return Ok((entry.build)(&[], options));
    }
    let together = match entry.several {
        Several::Lowest => false,
        Several::Asked => options.several_sources == SeveralSources::Together,
        Several::Together => true,
    };
    match sources {
        [] => Err(MechanismError::NeedsZ { name }),
        [_] => Ok((entry.build)(sources, options)),
        _ if together => Ok((entry.build)(sources, options)),
        _ => {
            let each =
                sources.iter().map(|source| (entry.build)(std::slice::from_ref(source), options));
            Ok(Box::new(MinimumOverSources::new(each.collect())))
        }
    }
}

impl fmt::Display for MechanismName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no mechanism has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no mechanism `{name}`; there are: {}", known())]
pub struct UnknownMechanism {
    /// The name asked for.
    pub name: String,
}

impl Kinded for UnknownMechanism {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

fn known() -> String {
    MechanismName::EACH.map(MechanismName::as_str).join(", ")
}

impl FromStr for MechanismName {
    type Err = UnknownMechanism;

    fn from_str(text: &str) -> Result<Self, UnknownMechanism> {
        let found = Self::EACH.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| UnknownMechanism { name: text.to_owned() })
    }
}

impl Serialize for MechanismName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for MechanismName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::seeded_crowd;
    use super::*;
    use crate::data::z::ZSample;

    fn source(name: &str, shift: u16) -> ZSource {
        let crowd = seeded_crowd(6, 40, 3, 1);
        let labels = crowd.z.iter().map(|z| z.map(|z| (z + shift) % 3)).collect();
        ZSource { name: name.into(), samples: vec![ZSample { name: String::new(), labels }] }
    }

    #[test]
    fn every_name_is_read_back_and_builds_the_mechanism_of_that_name() {
        for name in MechanismName::EACH {
            assert_eq!(name.as_str().parse(), Ok(name));
            let json = serde_json::to_string(&name).unwrap();
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<MechanismName>(&json).unwrap(), name);
            let built = build(name, &[source("a", 0)], &MechanismOptions::default()).unwrap();
            assert_eq!(built.name(), name.as_str());
            assert!(name.meaning().starts_with(&format!("{name}: ")));
        }
        let error = "ca_zz".parse::<MechanismName>().unwrap_err();
        assert!(
            error.to_string().contains("`ca_zz`; there are: ca_z, excess_z, ca, oa"),
            "{error}"
        );
    }

    #[test]
    fn z_is_asked_for_where_it_is_needed_and_never_changes_the_others() {
        let table = seeded_crowd(6, 40, 3, 1).table;
        let options = MechanismOptions::default();
        let scores = |name, sources: &[ZSource]| {
            build(name, sources, &options).unwrap().score(&table).unwrap()
        };
        for name in MechanismName::EACH {
            let given = [source("a", 0)];
            if name.needs_z() {
                let error = build(name, &[], &options).err();
                assert_eq!(error, Some(MechanismError::NeedsZ { name }));
                assert!(scores(name, &given).workers[0].n_z_tasks.is_some(), "{name}");
            } else {
                assert_eq!(scores(name, &[]), scores(name, &given), "{name}");
            }
        }
        assert!(MechanismName::usable(false).iter().all(|name| !name.needs_z()));
        assert_eq!(MechanismName::usable(true), MechanismName::EACH);
    }

    #[test]
    fn of_several_sources_the_lowest_score_counts_unless_they_are_taken_together() {
        let table = seeded_crowd(6, 40, 3, 1).table;
        let options = MechanismOptions::default();
        let (one, two) = (source("a", 0), source("b", 1));
        let both = [one.clone(), two.clone()];
        let values = |name, sources: &[ZSource], options: &MechanismOptions| {
            super::super::tests::values(
                &build(name, sources, options).unwrap().score(&table).unwrap(),
            )
        };
        let one_at_a_time =
            |name: &MechanismName| name.needs_z() && name.entry().several != Several::Together;
        for name in MechanismName::EACH.into_iter().filter(one_at_a_time) {
            let alone = [&one, &two].map(|z| values(name, std::slice::from_ref(z), &options));
            let lowest: Vec<Option<f64>> = alone[0]
                .iter()
                .zip(&alone[1])
                .map(|(a, b)| match (a, b) {
                    (Some(a), Some(b)) => Some(a.min(*b)),
                    (a, b) => a.or(*b),
                })
                .collect();
            assert_eq!(values(name, &both, &options), lowest, "{name}");
            let together =
                MechanismOptions { several_sources: SeveralSources::Together, ..options.clone() };
            let differs = values(name, &both, &together) != lowest;
            assert_eq!(differs, name.entry().several == Several::Asked, "{name}");
        }
    }

    #[test]
    fn what_conditions_needs_z() {
        use crate::mechanism::{MechanismName, MechanismOptions, build};
        let mechanism = build(MechanismName::Ca, &[], &MechanismOptions::default()).unwrap();
        assert_eq!(mechanism.name(), "ca");
        assert!(build(MechanismName::CaZ, &[], &MechanismOptions::default()).is_err());
    }
}

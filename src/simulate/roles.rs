//! Which LLM plays which part where a crowd is contaminated.

use serde::{Deserialize, Serialize};

use super::labels::{CrowdToContaminate, Sample};
use crate::data::labels::LabelTable;
use crate::data::z::{ZLabels, ZSource};
use crate::error::{ErrorKind, Kinded, Remedy};

/// Why LLMs cannot play the parts that they were given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RolesError {
    /// Cheaters have nothing to hand in but Z itself.
    #[error("`{llm}` has no sample besides Z, so that cheaters would hand in Z itself")]
    OnlyZ { llm: String },
    /// There is no such LLM in Z.
    #[error("Z has no source `{name}`; it has: {known}")]
    UnknownSource { name: String, known: String },
    /// One LLM has to be the principal's, and it is open which.
    #[error("one LLM must be Z; there are: {known}")]
    NotOne { known: String },
    /// Several LLMs have to be the principal's.
    #[error("several LLMs are needed")]
    NotSeveral,
}

impl Kinded for RolesError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::OnlyZ { .. } => Some(Remedy::MoreSamples),
            Self::UnknownSource { .. } => None,
            Self::NotOne { .. } => Some(Remedy::NameSource),
            Self::NotSeveral => Some(Remedy::NameSources),
        }
    }
}

/// Which LLMs play which part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Roles {
    /// Names of the principal's LLMs; their first samples are Z. Empty leaves it open.
    #[serde(rename = "z_source")]
    pub z: Vec<String>,
    /// Names of the cheaters' LLMs; they hand in any sample that is not Z. Empty means those of
    /// the principal.
    #[serde(rename = "llm_source")]
    pub cheaters: Vec<String>,
    /// Cheaters may hand in Z itself where their LLM has no other sample.
    pub copy_z: bool,
}

impl Roles {
    /// One LLM of the principal, any of the cheaters; what was left open is filled in.
    ///
    /// # Errors
    ///
    /// [`RolesError::NotOne`] if Z is of several LLMs and none was named, or several were.
    pub(crate) fn of_one(&self, z: &ZLabels) -> Result<Self, RolesError> {
        let principal = match (self.z.as_slice(), z.sources.as_slice()) {
            ([_], _) => self.z.clone(),
            ([], [only]) => vec![only.name.clone()],
            _ => return Err(RolesError::NotOne { known: names(z).join(", ") }),
        };
        Ok(self.with(principal))
    }

    /// Several LLMs of the principal, by default all, and the same ones of the cheaters.
    ///
    /// # Errors
    ///
    /// [`RolesError::NotSeveral`] if there are fewer than two.
    pub(crate) fn of_several(&self, z: &ZLabels) -> Result<Self, RolesError> {
        let principal = if self.z.is_empty() { names(z) } else { self.z.clone() };
        if principal.len() < 2 {
            return Err(RolesError::NotSeveral);
        }
        Ok(self.with(principal))
    }

    fn with(&self, z: Vec<String>) -> Self {
        let cheaters = if self.cheaters.is_empty() { z.clone() } else { self.cheaters.clone() };
        Self { z, cheaters, copy_z: self.copy_z }
    }
}

fn names(z: &ZLabels) -> Vec<String> {
    z.sources.iter().map(|source| source.name.clone()).collect()
}

/// A crowd with the principal's Z and what cheaters can hand in.
#[derive(Debug, Clone)]
pub(crate) struct ExperimentData<'a> {
    /// The crowd and the samples of the cheaters.
    pub crowd: CrowdToContaminate<'a>,
    /// What the principal has: one sample per source.
    pub z: Vec<ZSource>,
}

impl<'a> ExperimentData<'a> {
    /// Gives every LLM its part.
    ///
    /// # Errors
    ///
    /// [`RolesError`] for a name that Z does not have, or cheaters without anything to hand in.
    pub(crate) fn new(
        table: &'a LabelTable,
        z: &'a ZLabels,
        roles: &Roles,
    ) -> Result<Self, RolesError> {
        let find = |name: &String| {
            z.sources.iter().find(|source| source.name == *name).ok_or_else(|| {
                RolesError::UnknownSource { name: name.clone(), known: names(z).join(", ") }
            })
        };
        let principal = roles.z.iter().map(|name| Ok(first_sample(find(name)?)));
        let principal = principal.collect::<Result<Vec<ZSource>, RolesError>>()?;
        let samples = |name: &String| {
            let source = find(name)?;
            let taken = usize::from(roles.z.contains(name));
            let mut left: Vec<Sample<'a>> =
                source.samples.iter().skip(taken).map(|sample| sample.labels.as_slice()).collect();
            if left.is_empty() && roles.copy_z {
                left.extend(source.samples.first().map(|sample| sample.labels.as_slice()));
            }
            if left.is_empty() {
                return Err(RolesError::OnlyZ { llm: name.clone() });
            }
            Ok(left)
        };
        let llms = roles.cheaters.iter().map(samples).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { crowd: CrowdToContaminate { table, labels: &z.labels, llms }, z: principal })
    }
}

/// The source with its first sample alone: Z must not hold what cheaters hand in.
fn first_sample(source: &ZSource) -> ZSource {
    let samples = source.samples.iter().take(1).cloned().collect();
    ZSource { name: source.name.clone(), samples }
}

//! How reviewers are made from real reviews, whatever their number and kinds.

use serde::{Deserialize, Serialize};

use super::rewording::Rewriting;
use super::{SimulateError, check_share};
use crate::data::duplicates::Duplicates;
use crate::data::ids::Ids;
use crate::data::import::ImportSettings;
use crate::data::reviews::ReviewSet;

/// How reviewers are made: what simulations and experiments share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MakingSettings {
    /// Most reviews per paper; 3 are two peers for everybody.
    pub reviews_per_paper: usize,
    /// The source that is Z; `None` stands for each in turn.
    pub z_source: Option<String>,
    /// Whether all sources are Z together.
    pub z_together: bool,
    /// Share of the papers with Z.
    pub z_coverage: f64,
    /// Whether cheaters hand in a Z itself.
    pub copy_z: bool,
    /// Whether cheaters reword what they hand in.
    pub reword_copies: bool,
    /// What happens to the reviews of some people, and to which share of them.
    pub rewriting: Option<(Rewriting, f64)>,
    /// How the reviews were read.
    pub duplicates: Duplicates,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
}

impl Default for MakingSettings {
    fn default() -> Self {
        Self {
            reviews_per_paper: 3,
            z_source: None,
            z_together: false,
            z_coverage: 1.0,
            copy_z: false,
            reword_copies: false,
            rewriting: None,
            duplicates: Duplicates::default(),
            import: ImportSettings::default(),
        }
    }
}

impl MakingSettings {
    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// [`SimulateError::BadShare`].
    pub(crate) fn check(&self) -> Result<(), SimulateError> {
        check_share("z_coverage", self.z_coverage)?;
        self.rewriting.map_or(Ok(()), |(_, share)| check_share("rewriting", share))
    }

    /// Which sources are Z together, for every way to choose them.
    ///
    /// # Errors
    ///
    /// [`SimulateError::UnknownSource`].
    pub(crate) fn z_points(&self, sources: &Ids) -> Result<Vec<Vec<u32>>, SimulateError> {
        let chosen = match &self.z_source {
            None => (0..).take(sources.len()).collect::<Vec<u32>>(),
            Some(name) => vec![sources.get(name).ok_or_else(|| SimulateError::UnknownSource {
                name: name.clone(),
                known: sources.names().join(", "),
            })?],
        };
        let each = |source| vec![source];
        Ok(if self.z_together { vec![chosen] } else { chosen.into_iter().map(each).collect() })
    }

    /// Rules rewrite texts: a review that is a vector or judgments has none.
    ///
    /// # Errors
    ///
    /// [`SimulateError::NoTexts`] if something is to be rewritten and there is a review without.
    pub(crate) fn check_texts(&self, set: &ReviewSet) -> Result<(), SimulateError> {
        let without = set.contents().filter(|content| content.text.is_none()).count();
        if without > 0 && (self.reword_copies || self.rewriting.is_some()) {
            return Err(SimulateError::NoTexts { without });
        }
        Ok(())
    }
}

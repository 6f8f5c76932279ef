//! What decides the scores of reviewers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::embed::VectorKind;
use crate::embed::settings::{EmbedderSettings, EmbedderSpec, Precision};
use crate::error::{Error, Result};
use crate::report::settings_map;
use crate::stats::flag::{FALSE_DISCOVERY_RATE, FlagSettings};
use crate::text::own::OwnSettings;
use crate::text::pairs::ZCombine;
use crate::text::score::ScoreName;

/// Whether the mean review is subtracted before projecting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Centering {
    /// On for embeddings and word weights, off for judgments.
    #[default]
    Auto,
    /// Subtract the mean.
    On,
    /// Leave vectors as they are.
    Off,
}

impl Centering {
    /// Whether vectors of this kind are centered.
    pub(crate) fn centers(self, kind: VectorKind) -> bool {
        match self {
            Self::Auto => kind != VectorKind::Judgments,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// What a row of the table is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A person.
    #[default]
    Reviewer,
    /// One text, with what it is closest to; of the score own alone.
    Review,
}

/// Everything that decides the scores and flags of given reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[non_exhaustive]
pub struct ReviewsSettings {
    /// Which scores, in the order of the table; one named twice counts once. `None` for the one
    /// that fits the venue: own work where it is large enough, else projected.
    pub score: Option<Vec<ScoreName>>,
    /// Whether the mean review is subtracted before projecting.
    pub center: Centering,
    /// How several Z of one paper are used together.
    pub z_combine: ZCombine,
    /// What a row of the table is.
    pub by: By,
    /// Fewer papers than this give the flag `too_few`.
    pub min_papers: usize,
    /// False discovery rate of the flags `informative` and `look`, from 0 to 1; for `look` neither.
    pub fdr: f64,
    /// Bound of the flag `uninformative`; `None` for a quarter of the median score.
    pub margin: Option<f64>,
    /// Reviews with fewer words are not judged by the score own.
    pub min_words: usize,
    /// Seed of the ghosts of the score own.
    pub seed: u64,
    /// What makes vectors of texts.
    #[serde(flatten)]
    pub embedding: EmbedderSettings,
    /// Further embedders on this machine, whose vectors stand beside those of the first in the score
    /// own and in no other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<EmbedderSpec>,
}

impl Default for ReviewsSettings {
    fn default() -> Self {
        Self {
            score: None,
            center: Centering::Auto,
            z_combine: ZCombine::Span,
            by: By::Reviewer,
            min_papers: 2,
            fdr: FALSE_DISCOVERY_RATE,
            margin: None,
            min_words: OwnSettings::default().min_words,
            seed: OwnSettings::default().seed,
            embedding: EmbedderSettings::default(),
            beside: Vec::new(),
        }
    }
}

impl Serialize for ReviewsSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// Refuses unknown keys, which serde cannot where a struct is flattened.
impl<'de> Deserialize<'de> for ReviewsSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Map::deserialize(deserializer)?;
        let known = Self::keys();
        if let Some(key) = given.keys().find(|key| !known.contains_key(*key)) {
            let known: Vec<String> = known.keys().map(|key| format!("`{key}`")).collect();
            let known = known.join(", ");
            return Err(D::Error::custom(format!(
                "unknown field `{key}`, expected one of {known}"
            )));
        }
        Self::deserialize(Value::Object(given)).map_err(D::Error::custom)
    }
}

impl ReviewsSettings {
    /// Every key, those too that are not written where nothing is asked for.
    fn keys() -> Map<String, Value> {
        let embedding = EmbedderSettings {
            prompt_name: Some(String::new()),
            precision: Precision::Bf16,
            normalize: true,
            ..EmbedderSettings::default()
        };
        settings_map(&Self { embedding, beside: vec![EmbedderSpec::Given], ..Self::default() })
    }

    /// Refuses settings that make no sense.
    ///
    /// # Errors
    ///
    /// A usage error with the name of the setting and its value.
    pub fn check(&self) -> Result<()> {
        if self.score.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::usage("no score is asked for"));
        }
        if !(0.0..=1.0).contains(&self.fdr) {
            let message = format!("the setting fdr is {}, it must be from 0 to 1", self.fdr);
            return Err(Error::usage(message));
        }
        let mut all = self.embedding.embedder.iter().chain(&self.beside);
        if !self.beside.is_empty() && !all.all(EmbedderSpec::is_read_by_own) {
            let message = "several embedders stand side by side only if each is on this machine: \
                           tfidf, static or bert";
            return Err(Error::usage(message));
        }
        let first = self.embedding.of_texts();
        let all: Vec<&EmbedderSpec> = std::iter::once(first).chain(&self.beside).collect();
        self.embedding.check_for(&all)?;
        let mut places = all.iter().enumerate();
        if let Some((_, twice)) = places.find(|(place, spec)| all[..*place].contains(spec)) {
            return Err(Error::usage(format!("the embedder {twice} is named twice")));
        }
        if let Some(margin) = self.margin.filter(|margin| !margin.is_finite()) {
            let message = format!("the setting margin is {margin}, it must be a finite number");
            return Err(Error::usage(message));
        }
        Ok(())
    }

    /// The scores that are asked for in the order of the table, each once; `None` if none is.
    pub(crate) fn names(&self) -> Option<Vec<ScoreName>> {
        let mut names = Vec::new();
        for name in self.score.as_ref()? {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        Some(names)
    }

    /// What decides the score own.
    pub(crate) fn own(&self) -> OwnSettings {
        let (fdr, min_words, seed) = (self.fdr, self.min_words, self.seed);
        OwnSettings { fdr, min_words, seed, ..OwnSettings::default() }
    }

    /// When a flag is raised.
    pub(crate) fn flags(&self) -> FlagSettings {
        FlagSettings {
            false_discovery_rate: self.fdr,
            margin: self.margin,
            min_count: self.min_papers,
        }
    }
}

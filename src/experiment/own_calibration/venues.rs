//! What an experiment is made of, and what comes out.

use serde::{Deserialize, Serialize};

use crate::data::reviews::ReviewSet;
use crate::text::own::OwnSettings;

words! {
    /// What a reviewer of the experiment hands in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Handed {
        /// A person's review of the paper.
        Own = "own",
        /// Its first five sentences.
        OwnShort = "own_short",
        /// With formal words.
        OwnFormal = "own_formal",
        /// With formal words, headings and stock phrases.
        OwnPolished = "own_polished",
        /// An LLM's review as it is.
        Llm = "llm",
        /// The same reworded by rules.
        Reworded = "reworded",
        /// Its first five sentences.
        Shortened = "shortened",
        /// The first half of a person's review of the paper, the second half of an LLM's.
        Half = "half",
        /// The first half of one LLM's review and the second half of another's.
        Blended = "blended",
        /// A person's review of another paper.
        OffTopic = "off_topic",
        /// An LLM's review of another paper.
        OffTopicLlm = "off_topic_llm",
        /// The same praise for every paper.
        Praise = "praise",
        /// What another reviewer of the paper hands in.
        Peer = "peer",
        /// Words of the venue in no order.
        Junk = "junk",
        /// A person's review of a paper of which somebody else hands in [`Self::Junk`].
        OwnBesideJunk = "own_beside_junk",
    }
}

impl Handed {
    /// Whether this is honest work.
    pub(crate) fn is_own(self) -> bool {
        matches!(
            self,
            Self::Own | Self::OwnShort | Self::OwnFormal | Self::OwnPolished | Self::OwnBesideJunk
        )
    }
}

/// The venues of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSettings {
    /// Papers that take part, by number.
    pub papers: Vec<u32>,
    /// Each reviewer's number of papers is drawn from these.
    pub papers_each: Vec<usize>,
    /// Most reviews per paper.
    pub reviews_per_paper: usize,
    /// Whether people are those of the files, with the papers they have there.
    pub people_of_files: bool,
    /// Share of what people's reviews have in common with Z that is the person's own: the intraclass
    /// correlation by which reviews are put together as one person's.
    pub likeness: f64,
    /// Of how many of their reviews a cheater hands in something else; `None` for all.
    pub cheat_on: Option<usize>,
    /// Words that reviews are cut to, at the end of a sentence near it.
    pub words: Option<usize>,
    /// Sources that are Z.
    pub z_sources: Vec<u32>,
    /// Sources that cheaters hand in.
    pub handed_sources: Vec<u32>,
    /// Whether a text that was handed in is taken out of Z.
    pub leave_out: bool,
    /// Share of the papers with Z.
    pub z_coverage: f64,
    /// What is handed in beside a person's own review, by what share of the reviewers.
    pub shares: Vec<(Handed, f64)>,
    /// Venues.
    pub trials: u32,
    /// Seed; every trial has its own stream.
    pub seed: u64,
    /// Rates of false alarms that are asked for.
    pub rates: Vec<f64>,
    /// How venues are scored; the rate is that of [`Self::rates`].
    pub own: OwnSettings,
}

impl CalibrationSettings {
    /// Venues of all papers of a set with three papers each and both sources as Z, nobody cheats.
    pub fn clean(set: &ReviewSet) -> Self {
        Self {
            papers: (0..).take(set.papers.len()).collect(),
            papers_each: vec![3],
            reviews_per_paper: 3,
            people_of_files: false,
            likeness: 0.0,
            cheat_on: None,
            words: None,
            z_sources: (0..).take(set.sources.len()).collect(),
            handed_sources: (0..).take(set.sources.len()).collect(),
            leave_out: false,
            z_coverage: 1.0,
            shares: Vec::new(),
            trials: 10,
            seed: 1,
            rates: vec![0.01, 0.05, 0.1],
            own: OwnSettings::default(),
        }
    }
}

/// What was flagged at one rate, over all venues.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FlagRates {
    /// Rate of false alarms that was asked for.
    pub fdr: f64,
    /// Share of people among the flagged; missing if nobody was flagged.
    pub false_share: Option<f64>,
    /// Share of the cheaters who were flagged; missing without cheaters.
    pub recall: Option<f64>,
    /// Share of the people who were flagged.
    pub people: Option<f64>,
    /// Number of the flagged.
    pub flagged: usize,
    /// Share of people's own reviews among the flagged reviews.
    pub(crate) false_reviews: Option<f64>,
    /// Share of the reviews that are not their person's own that were flagged.
    pub(crate) reviews_found: Option<f64>,
}

/// What became of those who handed in one kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KindRates {
    /// What they handed in.
    pub kind: Handed,
    /// Mean AUC over venues that a person who hands in [`Handed::Own`] outscores them.
    pub auc: Option<f64>,
    /// Share flagged at the second rate (the first if there is one).
    pub flagged: f64,
    /// Share whose P(own) is below one half.
    pub(crate) not_own: f64,
    /// How many they are.
    pub count: usize,
}

/// What came out of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// By rate.
    pub rates: Vec<FlagRates>,
    /// Mean AUC over venues that a person outscores a cheater.
    pub auc: Option<f64>,
    /// Mean AUC over venues that a person's own review has a larger P(own) than another.
    pub(crate) auc_of_reviews: Option<f64>,
    /// Sum of P(own), people and all reviewers by [`BINS`].
    pub(crate) bins: [(f64, usize, usize); BINS.len() - 1],
    /// Expected calibration error of P(own), ten bins.
    pub calibration_error: Option<f64>,
    /// Mean estimated share of cheaters minus the true one.
    pub prevalence_error: Option<f64>,
    /// Share of the venues whose interval of it holds the true one.
    pub interval_coverage: Option<f64>,
    /// Share of the cheaters whose score is below all but 1 % and all but .1 % of the people's, over
    /// all venues; missing without cheaters or people.
    pub(crate) found_at: [Option<f64>; 2],
    /// By what was handed in.
    pub by_kind: Vec<KindRates>,
    /// Reviewers judged, people and cheaters.
    pub(crate) judged: (usize, usize),
}

/// Ends of the bins of P(own) that calibration is shown in.
pub(crate) const BINS: [f64; 9] = [0.0, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 1.0];

/// One reviewer of one venue.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) handed: Handed,
    pub(super) own: f64,
    pub(super) score: f64,
    pub(super) looked: Vec<bool>,
}

/// One review of one venue.
#[derive(Debug, Clone)]
pub(super) struct OfReview {
    pub(super) is_own: bool,
    pub(super) own: f64,
    pub(super) looked: Vec<bool>,
}

/// One venue.
#[derive(Default)]
pub(super) struct Trial {
    pub(super) reviewers: Vec<Outcome>,
    pub(super) reviews: Vec<OfReview>,
    pub(super) prevalence: Option<(f64, (f64, f64))>,
}

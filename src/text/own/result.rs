//! What `own` says about reviewers, reviews and the venue.

use serde::Serialize;

use super::class::Class;
use super::duplicates::NearDuplicate;
use super::features::{Features, Similar};
use super::other_paper::OtherPaper;
use crate::data::warning::Warning;
pub(crate) use crate::stats::flag::OwnFlag;

/// Why a review is not judged; of a reviewer, why none of theirs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotJudged {
    /// It is in another language than most reviews.
    OtherLanguage {
        /// Its name in English.
        language: &'static str,
    },
    /// It has too few words.
    TooFewWords {
        /// How many.
        words: usize,
        /// Fewest words of a review that is judged.
        fewest: usize,
    },
    /// Besides a form that most fill in it has hardly a word, or the same ones again and again.
    SaysLittle {
        /// How many different words.
        different: usize,
    },
    /// Nobody else's reviews, and no Z of one source, are there both of its paper and of others.
    NothingToCompare,
    /// None of the reviewer's papers has a Z that can be used: a copy of an LLM's review would not be
    /// seen.
    NoZ,
    /// The venue has too few reviews or ghosts for a scale.
    SmallVenue,
}

impl std::fmt::Display for NotJudged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OtherLanguage { language } => {
                write!(f, "written in {language}, other than most reviews or LLM reviews")
            }
            Self::TooFewWords { words, fewest } => {
                write!(f, "{words} words, fewer than {fewest}")
            }
            Self::SaysLittle { different: 0 } => {
                f.write_str("no word besides a form that most fill in")
            }
            Self::SaysLittle { different: 1 } => {
                f.write_str("the same word again and again, besides a form that most fill in")
            }
            Self::SaysLittle { different } => {
                write!(
                    f,
                    "no more than {different} different words besides a form that most fill in"
                )
            }
            Self::NothingToCompare => f.write_str(
                "too little to compare with, as it takes other reviews, or LLM reviews of one source, of \
                 the paper and of other papers",
            ),
            Self::NoZ => f.write_str("no usable LLM review of any of their papers"),
            Self::SmallVenue => f.write_str("too few reviews in all for a scale"),
        }
    }
}

/// Probabilities of what a reviewer's texts are; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Posterior {
    /// Every one is their own work.
    pub own: f64,
    /// One or more are word for word a Z that is held.
    pub copy: f64,
    /// One or more are an LLM's review that is not held.
    pub llm: f64,
    /// One or more are about another paper, by a person or an LLM.
    pub(crate) off_topic: f64,
}

/// Which share of a reviewer's reviews is not their own work, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// What is expected.
    pub expected: f64,
    /// Low end of the 95 % interval.
    pub low: f64,
    /// Its high end.
    pub(crate) high: f64,
}

/// What is said about one reviewer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnReviewer {
    /// ln P(own) - ln (1 - P(own)), higher is more trustworthy; missing if not judged.
    pub score: Option<f64>,
    /// Missing if not judged.
    pub posterior: Option<Posterior>,
    /// What they hand in, if it is not their own work that is most probable.
    pub reads_as: Option<Class>,
    /// Which share of their reviews is not their own work; missing if not judged.
    pub share: Option<Share>,
    /// What to do.
    pub flag: OwnFlag,
    /// Why they are not judged.
    pub(crate) reason: Option<NotJudged>,
    /// Whether they are unsure only because another LLM's text in their place would not be seen.
    pub(crate) is_unseen: bool,
    /// Papers whose review was judged, or is to be looked at.
    pub(crate) n_papers: usize,
    /// Their reviews that are worth a look.
    pub(crate) n_look: usize,
    /// The largest [`OwnReview::copied`] of their reviews.
    pub copied: Option<f64>,
}

/// Words of a review that stand in a Z of its paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Passage {
    /// First byte in the text of the review.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// The Z, a position in [`ReviewSet::z`](crate::data::reviews::ReviewSet::z).
    pub z: usize,
}

/// The text that a review is closest to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Closest {
    /// A Z of its paper, a position in the Z of the set.
    Z(Similar),
    /// A review of its paper, a position in the reviews of the set.
    Peer(Similar),
    /// What others wrote on another paper.
    Paper(OtherPaper),
}

/// What is said about one review.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnReview {
    /// Where it stands.
    pub(crate) features: Features,
    /// P(own) of this review alone; missing if not judged.
    pub p_own: Option<f64>,
    /// What it is, most probably.
    pub reads_as: Option<Class>,
    /// What to do about it.
    pub flag: OwnFlag,
    /// Why it is left out.
    pub(crate) reason: Option<NotJudged>,
    /// Share of its words that stand in a Z of its paper word for word: in runs of eight words, or as
    /// whole sentences of six. Missing without a text or without a Z.
    pub copied: Option<f64>,
    /// These words, in their order.
    pub(crate) passages: Vec<Passage>,
    /// The most similar review of the same paper.
    pub peer: Option<Similar>,
    /// The most similar Z of the same paper.
    pub z: Option<Similar>,
    /// The other paper it is closest to, if it is judged, its reviewer reads as off topic and is not
    /// clear, and that was asked for.
    pub other_paper: Option<OtherPaper>,
}

impl OwnReview {
    /// What it is closest to: another paper, if it is closer to one and as close as people are to theirs;
    /// else the Z or the peer with the larger cosine.
    pub(crate) fn closest(&self) -> Option<Closest> {
        let elsewhere = self.other_paper.filter(OtherPaper::is_closer);
        if let Some(other) = elsewhere {
            return Some(Closest::Paper(other));
        }
        match (self.z, self.peer) {
            (Some(z), Some(peer)) if peer.cosine > z.cosine => Some(Closest::Peer(peer)),
            (Some(z), _) => Some(Closest::Z(z)),
            (None, peer) => peer.map(Closest::Peer),
        }
    }
}

/// Where one ghost stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GhostPoint {
    /// What it stands for.
    pub class: Class,
    /// The review in whose slot it stands, a position in the set.
    pub(crate) review: usize,
    /// Where it stands.
    pub(crate) features: Features,
}

/// The estimated share of reviewers whose work is not their own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Prevalence {
    /// Mean of 1 - P(own) over the judged, which the interval holds.
    pub share: f64,
    /// Its 95 % interval, low end first.
    pub interval: (f64, f64),
    /// Reviewers judged.
    pub judged: usize,
}

/// How often a kind of ghost would be seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct GhostRate {
    /// What the ghosts stand for.
    pub class: Class,
    /// Share that is found if somebody hands it in on one of their papers.
    pub on_one: f64,
    /// The same on all of their papers.
    pub on_all: f64,
    /// In the place of how many people that was tried.
    pub count: usize,
}

/// What would be flagged of ghosts and of people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PlantedRates {
    /// By kind of ghost.
    pub by_class: Vec<GhostRate>,
    /// Mean over kinds of the share found on all papers.
    pub ghosts: Option<f64>,
    /// Expected share of people who are flagged.
    pub people: Option<f64>,
}

impl PlantedRates {
    /// The rates of what only the model can find: what is word for word a Z is found without it.
    pub(crate) fn by_model(&self) -> impl Iterator<Item = &GhostRate> {
        self.by_class.iter().filter(|rate| rate.class != Class::Copy)
    }
}

/// Everything that `own` says about a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnScores {
    /// One per reviewer of the set, in its order.
    pub reviewers: Vec<OwnReviewer>,
    /// One per review of the set, in its order.
    pub reviews: Vec<OwnReview>,
    /// The ghosts, for figures; those of LLMs where one of middling closeness would stand.
    pub ghosts: Vec<GhostPoint>,
    /// Share of reviewers whose work is not their own; missing if nobody is judged or texts are too short.
    pub(crate) prevalence: Option<Prevalence>,
    /// How well this venue lets cheating be seen.
    pub(crate) planted: PlantedRates,
    /// Reviews that are nearly the same text.
    pub(crate) near_duplicates: Vec<NearDuplicate>,
    /// People who are unsure only because nothing could be seen of them.
    pub(crate) unseen: usize,
    /// What to know before using the scores.
    pub warnings: Vec<Warning>,
}

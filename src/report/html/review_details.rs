//! The evidence for reviewers, as a page holds it.
//!
//! Texts are held once per paper, as the sentences that somebody's evidence points at; evidence
//! names them by number.

use serde::Serialize;
use serde_json::{Value, json};

use super::digits::{SIMILARITY_DECIMALS, rounded};
use super::embedded::hash_of;

/// Digits of what a text says of a category.
const ASPECT_DECIMALS: i32 = 2;

/// How much of the reviews is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum ReviewText {
    /// No text at all: scores and similarities only.
    None,
    /// Up to six sentences per review: those closest to the LLM's, those most supported by peers.
    #[default]
    Excerpts,
    /// Every review, every sentence shaded.
    Full,
}

/// The evidence for reviewers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewDetails {
    /// Names of papers, by number.
    pub papers: Vec<String>,
    /// Names of sources of Z, by number.
    pub sources: Vec<String>,
    /// How much text there is.
    pub text: ReviewText,
    /// Characters after which sentences are cut, if they are.
    pub cut_after: Option<usize>,
    /// What the shades of sentences mean, in sentences; empty where none is compared.
    pub shading: String,
    /// One row per review, worst first.
    pub rows: Vec<ShownReview>,
    /// Names of the groups of reviews, such as those of an area chair; empty where there are none.
    pub(crate) groups: Vec<String>,
    /// Per reviewer, per paper.
    pub people: Vec<Vec<ReviewDetail>>,
    /// The texts about each paper, by number: reviews first.
    pub texts: Vec<Vec<ShownText>>,
    /// What texts praise and criticise, if they were read for that.
    pub(crate) aspects: Option<ShownAspects>,
}

/// What is said of one review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownReview {
    /// Number of its author.
    pub person: u32,
    /// Number of the paper.
    pub paper: u32,
    /// The flag, where the score has flags of reviews.
    pub flag: Option<&'static str>,
    /// What it reads as, in words.
    pub reads_as: Option<String>,
    /// The probability that it is their own work.
    pub p_own: Option<f64>,
    /// Share of its words that stand in an LLM's text.
    pub copied: Option<f64>,
    /// Number of its group.
    pub group: Option<u32>,
    /// A hash of its text, by which a mark is found again in a later page; empty without a text.
    pub key: String,
}

/// A hash of a text, whatever white space is in it: 48 bits tell 20,000 texts apart.
pub(crate) fn key_of(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut key = hash_of(&words.join(" "));
    key.truncate(12);
    key
}

impl ShownReview {
    pub(super) fn value(&self) -> Value {
        json!([
            self.person,
            self.paper,
            self.flag,
            self.reads_as,
            rounded(self.p_own, SIMILARITY_DECIMALS),
            rounded(self.copied, SIMILARITY_DECIMALS),
            self.group,
            self.key,
        ])
    }
}

/// The categories of which [`ShownText::aspects`] holds values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShownAspects {
    /// Their names, in order.
    pub categories: Vec<String>,
    /// Who read the texts, and how far that can be believed, in a sentence or two.
    pub reader: String,
}

/// The evidence in one review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewDetail {
    /// Number of the paper.
    pub paper: u32,
    /// The other reviews of the paper.
    pub peers: Vec<ShownPeer>,
    /// Number of the source of every Z, and the similarity with it.
    pub z: Vec<(u32, f64)>,
    /// The review among the texts about the paper.
    pub own: usize,
    /// The text of Z that the review is closest to.
    pub closest_z: Option<usize>,
    /// The review by somebody else that it is closest to.
    pub closest_peer: Option<usize>,
    /// What was found about its sentences.
    pub sentences: Vec<ShownSentence>,
    /// Sentences at the end of the text that were not compared.
    pub left_out: usize,
}

/// The similarity with one peer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownPeer {
    /// Number of the peer.
    pub person: u32,
    /// As the reviews are.
    pub before: Option<f64>,
    /// Beyond Z.
    pub(crate) after: Option<f64>,
}

/// What was found about a sentence of a review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownSentence {
    /// Its place in the review.
    pub position: u32,
    /// Similarity with the closest sentence of any Z.
    pub z_similarity: Option<f64>,
    /// Mean similarity with the closest sentence of each peer.
    pub peer_support: Option<f64>,
    /// How much closer it is to Z than to peers and to Z of other papers.
    pub beyond_others: Option<f64>,
    /// What it is evidence for.
    pub shade: Shade,
    /// Place of the closest sentence in the closest Z, and the similarity with it.
    pub in_z: Option<(u32, f64)>,
    /// Place of the closest sentence in the closest review by somebody else, likewise.
    pub in_peer: Option<(u32, f64)>,
}

/// What a sentence is evidence for, by the rule that `ReviewDetails::shading` states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shade {
    /// Nothing.
    #[default]
    None,
    /// That it is the LLM's.
    Z,
    /// That it is not: peers say it and the LLM does not.
    Peers,
}

/// A text about a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownText {
    /// Whose it is.
    pub(crate) author: Author,
    /// How many sentences it has.
    pub length: usize,
    /// Those that are in the file, in the order of the text.
    pub sentences: Vec<TextSentence>,
    /// By category of [`ShownAspects`]: from -1, all criticism, to 1, all praise; empty where texts
    /// were not read for that.
    pub(crate) aspects: Vec<f64>,
}

/// Whose a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    /// A reviewer, by number.
    Person(u32),
    /// A source of Z, by number.
    Source(u32),
}

/// A sentence of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSentence {
    /// Its place in the text, from 0.
    pub position: u32,
    /// The sentence, cut if need be.
    pub text: String,
    /// Whether it is a heading or belongs to a form.
    pub is_form: bool,
}

impl ReviewDetails {
    pub(super) fn index(&self) -> Value {
        json!({
            "papers": self.papers,
            "sources": self.sources,
            "text": self.text,
            "cutAfter": self.cut_after,
            "shading": self.shading,
            "groups": self.groups,
            "aspects": self.aspects.as_ref().map(|aspects| {
                json!({ "categories": aspects.categories, "reader": aspects.reader })
            }),
        })
    }
}

fn number(value: Option<f64>) -> Value {
    rounded(value, SIMILARITY_DECIMALS)
}

impl ReviewDetail {
    pub(super) fn value(&self) -> Value {
        let peers: Vec<Value> = self
            .peers
            .iter()
            .map(|peer| json!([peer.person, number(peer.before), number(peer.after)]))
            .collect();
        let z: Vec<Value> =
            self.z.iter().map(|&(source, value)| json!([source, number(Some(value))])).collect();
        let sentences: Vec<Value> = self.sentences.iter().map(ShownSentence::value).collect();
        let (own, in_z, in_peer) = (self.own, self.closest_z, self.closest_peer);
        json!([self.paper, peers, z, own, in_z, in_peer, sentences, self.left_out])
    }
}

impl ShownSentence {
    fn value(&self) -> Value {
        let (z, z_cosine) = self.in_z.unzip();
        let (peer, peer_cosine) = self.in_peer.unzip();
        json!([
            self.position,
            number(self.z_similarity),
            number(self.peer_support),
            self.shade as u8,
            z,
            number(z_cosine),
            peer,
            number(peer_cosine)
        ])
    }
}

impl ShownText {
    /// Whose it is as one number: that of a person, or minus one less that of a source; its length,
    /// its sentences, and what it praises and criticises.
    pub(super) fn value(&self) -> Value {
        let author = match self.author {
            Author::Person(person) => i64::from(person),
            Author::Source(source) => -1 - i64::from(source),
        };
        let sentences: Vec<Value> = self
            .sentences
            .iter()
            .map(|s| json!([s.position, s.text, u8::from(s.is_form)]))
            .collect();
        if self.aspects.is_empty() {
            return json!([author, self.length, sentences]);
        }
        let aspects: Vec<Value> =
            self.aspects.iter().map(|&value| rounded(Some(value), ASPECT_DECIMALS)).collect();
        json!([author, self.length, sentences, aspects])
    }
}

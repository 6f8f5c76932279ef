//! The evidence behind the score of one reviewer, paper by paper.
//!
//! A score is a reason to look; this is what there is to look at: the similarity with every peer
//! before and after projection, the similarity with every Z, and the sentences that are closest
//! to Z or that peers support beyond Z.

use super::embed::{EmbedError, Embedder};
use super::pairs::{Paper, ZCombine, plain_pairs, projected_pairs, z_similarities};
use super::sentence_vectors::{SentenceVectors, closest};
use super::space::Space;
use crate::data::reviews::ReviewSet;

pub use super::sentence_vectors::MAX_COMPARED_SENTENCES;

/// How many sentences of each sort are shown per paper.
pub const SHOWN_SENTENCES: usize = 3;

/// What there is to see about one review.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperEvidence {
    /// Number of the paper in [`ReviewSet::papers`].
    pub paper: u32,
    /// Every other review of the paper.
    pub peers: Vec<PeerEvidence>,
    /// Every Z of the paper.
    pub z: Vec<ZEvidence>,
    /// The first [`MAX_COMPARED_SENTENCES`] sentences in the order of the text; empty without an
    /// embedder.
    pub sentences: Vec<SentenceEvidence>,
    /// Sentences of the text that follow these.
    pub sentences_left_out: usize,
}

impl PaperEvidence {
    /// The [`SHOWN_SENTENCES`] sentences closest to Z, closest first; empty without Z.
    pub fn said_by_z(&self) -> Vec<&SentenceEvidence> {
        highest(&self.sentences, |sentence| sentence.z_similarity)
    }

    /// The [`SHOWN_SENTENCES`] sentences with most support by peers beyond Z, most first; empty
    /// without peers.
    pub fn supported_by_peers(&self) -> Vec<&SentenceEvidence> {
        highest(&self.sentences, SentenceEvidence::support_beyond_z)
    }
}

/// The similarity of a review with that of one peer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeerEvidence {
    /// Number of the peer in [`ReviewSet::reviewers`].
    pub reviewer: u32,
    /// Cosine of the two as they are, in `[-1, 1]`; `None` if one has no direction.
    pub before: Option<f64>,
    /// Cosine of what is left beyond Z; `None` without Z, or if nothing is left of one.
    pub after: Option<f64>,
}

/// The similarity of a review with one Z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZEvidence {
    /// Number of the source in [`ReviewSet::sources`].
    pub source: u32,
    /// Cosine of the two as they are, in `[-1, 1]`.
    pub similarity: f64,
}

/// One sentence of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceEvidence {
    /// The sentence.
    pub text: String,
    /// Largest cosine with a sentence of any Z; `None` without Z.
    pub z_similarity: Option<f64>,
    /// Mean over peers of the largest cosine with one of their sentences; `None` without peers.
    pub peer_support: Option<f64>,
}

impl SentenceEvidence {
    /// Support by peers minus similarity with Z, whichever exist; `None` without peers.
    pub fn support_beyond_z(&self) -> Option<f64> {
        Some(self.peer_support? - self.z_similarity.unwrap_or(0.0))
    }
}

/// Where evidence is looked up.
pub struct Evidence<'a> {
    /// Reviews and Z.
    pub set: &'a ReviewSet,
    /// The papers of `set`.
    pub papers: &'a [Paper],
    /// All vectors as they are.
    pub plain: &'a Space,
    /// All vectors as the projected score uses them.
    pub projected: &'a Space,
    /// How several Z are combined; [`ZCombine::Min`] is shown as [`ZCombine::Span`], since it
    /// has no single similarity per pair.
    pub combine: ZCombine,
    /// Embeds sentences; `None` if the vectors were given.
    pub embedder: Option<&'a dyn Embedder>,
}

impl Evidence<'_> {
    /// The evidence for every paper of a reviewer, in the order of the papers.
    ///
    /// # Errors
    ///
    /// What the embedder reports about a sentence.
    pub fn of_reviewer(&self, reviewer: u32) -> Result<Vec<PaperEvidence>, EmbedError> {
        let mut evidence = Vec::new();
        for (paper, number) in self.papers.iter().zip(0..) {
            let own = paper
                .reviews
                .iter()
                .position(|&review| self.set.reviews[review].reviewer == reviewer);
            if let Some(own) = own {
                evidence.push(self.of_paper(number)?.swap_remove(own));
            }
        }
        Ok(evidence)
    }

    /// The evidence for every review of a paper, in the order of [`Paper::reviews`].
    ///
    /// Every text is embedded once, and every two texts are compared once, so that the evidence
    /// for everybody costs as much as the texts are long.
    ///
    /// # Errors
    ///
    /// What the embedder reports about a sentence.
    ///
    /// # Panics
    ///
    /// If there is no such paper.
    pub fn of_paper(&self, number: u32) -> Result<Vec<PaperEvidence>, EmbedError> {
        let paper = &self.papers[number as usize];
        let before = plain_pairs(self.plain, paper);
        let mean = self.combine == ZCombine::Mean;
        let after = projected_pairs(self.projected, paper, &paper.z, mean);
        let mut sentences = self.sentences(paper)?.into_iter();
        let all = z_similarities(self.plain, paper).into_iter().enumerate();
        let evidence = all.map(|(own, similarities)| {
            let peers = (0..paper.reviews.len())
                .filter(|&peer| peer != own)
                .map(|peer| PeerEvidence {
                    reviewer: self.set.reviews[paper.reviews[peer]].reviewer,
                    before: before.get(own, peer),
                    after: after.as_ref().and_then(|after| after.get(own, peer)),
                })
                .collect();
            let z = paper
                .z
                .iter()
                .zip(similarities)
                .map(|(&z, similarity)| ZEvidence { source: self.set.z[z].source, similarity })
                .collect();
            let (sentences, sentences_left_out) = sentences.next().unwrap_or_default();
            PaperEvidence { paper: number, peers, z, sentences, sentences_left_out }
        });
        Ok(evidence.collect())
    }

    /// Per review its sentences and how many more it has; nothing without an embedder.
    fn sentences(&self, paper: &Paper) -> Result<Vec<(Vec<SentenceEvidence>, usize)>, EmbedError> {
        let Some(embedder) = self.embedder else { return Ok(Vec::new()) };
        let set = self.set;
        let mut reviews = Vec::new();
        for &review in &paper.reviews {
            reviews.push(SentenceVectors::embed(
                embedder,
                set.reviews[review].content.text.as_deref(),
            )?);
        }
        let mut z = Vec::new();
        for &index in &paper.z {
            z.push(SentenceVectors::embed(embedder, set.z[index].content.text.as_deref())?);
        }
        // The closest sentence of a text without sentences does not exist.
        let mut to_peers: Vec<Vec<Support>> =
            reviews.iter().map(|own| vec![Support::default(); own.texts.len()]).collect();
        for b in 0..reviews.len() {
            for a in 0..b {
                let (to_b, to_a) = closest(&reviews[a], &reviews[b]);
                to_peers[a].iter_mut().zip(to_b).for_each(|(support, value)| support.add(value));
                to_peers[b].iter_mut().zip(to_a).for_each(|(support, value)| support.add(value));
            }
        }
        let evidence = reviews.iter().zip(to_peers).map(|(own, supports)| {
            let to_z: Vec<Vec<f64>> = z.iter().map(|z| closest(own, z).0).collect();
            let of_sentence = |index: usize, text: &&str, support: Support| SentenceEvidence {
                text: (*text).to_owned(),
                z_similarity: to_z
                    .iter()
                    .filter_map(|values| values.get(index).copied())
                    .max_by(f64::total_cmp),
                peer_support: support.mean(),
            };
            let all = own.texts.iter().zip(supports).enumerate();
            let all = all.map(|(index, (text, support))| of_sentence(index, text, support));
            (all.collect(), own.left_out)
        });
        Ok(evidence.collect())
    }
}

/// Sum and number of the similarities of a sentence with the closest one of each peer.
#[derive(Debug, Clone, Copy, Default)]
struct Support {
    sum: f64,
    peers: u32,
}

impl Support {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.peers += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.peers > 0).then(|| self.sum / f64::from(self.peers))
    }
}

/// The [`SHOWN_SENTENCES`] sentences with the highest value; ties keep the order of the text.
fn highest(
    sentences: &[SentenceEvidence],
    value: impl Fn(&SentenceEvidence) -> Option<f64>,
) -> Vec<&SentenceEvidence> {
    let mut order: Vec<(f64, &SentenceEvidence)> =
        sentences.iter().filter_map(|sentence| Some((value(sentence)?, sentence))).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    order.into_iter().take(SHOWN_SENTENCES).map(|(_, sentence)| sentence).collect()
}

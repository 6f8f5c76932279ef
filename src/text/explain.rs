//! The evidence behind the score of one reviewer, paper by paper.
//!
//! A score is a reason to look; this is what there is to look at: the similarity with every peer
//! before and after projection, the similarity with every Z, and the sentences that are closest
//! to Z or that peers support beyond Z.

use super::embed::{EmbedError, Embedder};
use super::pairs::{Paper, ZCombine, plain_pairs, projected_pairs, z_similarities};
use super::sentences::sentences;
use super::similarity::{unit, unit_cosine};
use super::space::Space;
use super::vectors::Vectors;
use crate::data::progress::NoProgress;
use crate::data::reviews::ReviewSet;

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
    /// The sentences closest to Z, closest first; empty without texts or without Z.
    pub said_by_z: Vec<SentenceEvidence>,
    /// The sentences with most support by peers beyond Z, most first; empty without texts.
    pub supported_by_peers: Vec<SentenceEvidence>,
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
                evidence.push(self.of_review(number, paper, own)?);
            }
        }
        Ok(evidence)
    }

    fn of_review(
        &self,
        number: u32,
        paper: &Paper,
        own: usize,
    ) -> Result<PaperEvidence, EmbedError> {
        let before = plain_pairs(self.plain, paper);
        let mean = self.combine == ZCombine::Mean;
        let after = projected_pairs(self.projected, paper, &paper.z, mean);
        let peers = (0..paper.reviews.len())
            .filter(|&peer| peer != own)
            .map(|peer| PeerEvidence {
                reviewer: self.set.reviews[paper.reviews[peer]].reviewer,
                before: before.get(own, peer),
                after: after.as_ref().and_then(|after| after.get(own, peer)),
            })
            .collect();
        let similarities = z_similarities(self.plain, paper).swap_remove(own);
        let z = paper
            .z
            .iter()
            .zip(similarities)
            .map(|(&z, similarity)| ZEvidence { source: self.set.z[z].source, similarity })
            .collect();
        let sentences = match self.embedder {
            Some(embedder) => self.sentences(embedder, paper, own)?,
            None => Vec::new(),
        };
        Ok(PaperEvidence {
            paper: number,
            peers,
            z,
            said_by_z: highest(&sentences, |sentence| sentence.z_similarity),
            supported_by_peers: highest(&sentences, SentenceEvidence::support_beyond_z),
        })
    }

    fn sentences(
        &self,
        embedder: &dyn Embedder,
        paper: &Paper,
        own: usize,
    ) -> Result<Vec<SentenceEvidence>, EmbedError> {
        let review = |index: usize| self.set.reviews[paper.reviews[index]].content.text.as_deref();
        let own_sentences = Sentences::embed(embedder, review(own))?;
        let mut peers = Vec::new();
        for peer in (0..paper.reviews.len()).filter(|&peer| peer != own) {
            peers.push(Sentences::embed(embedder, review(peer))?);
        }
        let mut z = Vec::new();
        for &index in &paper.z {
            z.push(Sentences::embed(embedder, self.set.z[index].content.text.as_deref())?);
        }
        let evidence = own_sentences.units.iter().zip(&own_sentences.texts).map(|(unit, text)| {
            let closest = |others: &[Sentences]| -> Vec<f64> {
                others.iter().filter_map(|other| other.closest(unit.as_deref())).collect()
            };
            let to_peers = closest(&peers);
            SentenceEvidence {
                text: text.clone(),
                z_similarity: closest(&z).into_iter().max_by(f64::total_cmp),
                peer_support: (!to_peers.is_empty())
                    .then(|| to_peers.iter().sum::<f64>() / to_peers.len() as f64),
            }
        });
        Ok(evidence.collect())
    }
}

/// The sentences of one text with their unit vectors.
struct Sentences {
    texts: Vec<String>,
    units: Vec<Option<Vec<f64>>>,
}

impl Sentences {
    fn embed(embedder: &dyn Embedder, text: Option<&str>) -> Result<Self, EmbedError> {
        let texts: Vec<&str> = sentences(text.unwrap_or_default()).collect();
        let vectors = embedder.embed(&texts, &NoProgress)?.vectors;
        let units = match &vectors {
            Vectors::Dense(dense) => dense.rows().map(unit).collect(),
            Vectors::Sparse(_) => {
                let rows: Vec<usize> = (0..texts.len()).collect();
                let space = Space::new(vectors, texts.len());
                space.block(&rows).iter().map(|row| unit(row)).collect()
            }
        };
        Ok(Self { texts: texts.into_iter().map(str::to_owned).collect(), units })
    }

    /// Largest cosine of a sentence with one of these; `None` if there are none.
    fn closest(&self, sentence: Option<&[f64]>) -> Option<f64> {
        self.units.iter().map(|unit| unit_cosine(sentence, unit.as_deref())).max_by(f64::total_cmp)
    }
}

/// The [`SHOWN_SENTENCES`] sentences with the highest value; ties keep the order of the text.
fn highest(
    sentences: &[SentenceEvidence],
    value: impl Fn(&SentenceEvidence) -> Option<f64>,
) -> Vec<SentenceEvidence> {
    let mut order: Vec<(f64, &SentenceEvidence)> =
        sentences.iter().filter_map(|sentence| Some((value(sentence)?, sentence))).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    order.into_iter().take(SHOWN_SENTENCES).map(|(_, sentence)| sentence.clone()).collect()
}

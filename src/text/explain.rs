//! The evidence behind the score of one reviewer, paper by paper.
//!
//! A score is a reason to look; this is what there is to look at: the similarity with every peer
//! before and after projection, the similarity with every Z, and the sentences that are closest
//! to Z or that peers support beyond Z.

use super::forms::Forms;
use super::pairs::{Paper, ZCombine, plain_pairs, projected_pairs, z_similarities};
use super::sentence_evidence::{SentenceSimilarity, SentenceTable, TextMatches, beyond};
use super::space::Space;
use crate::data::reviews::ReviewSet;
use crate::embed::sentences::sentences;

/// How many sentences of each sort are shown per paper.
pub(crate) const SHOWN_SENTENCES: usize = 3;

/// What there is to see about one review.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperEvidence {
    /// Position of the review in [`ReviewSet::reviews`].
    pub(crate) review: usize,
    /// Number of the paper in [`ReviewSet::papers`].
    pub paper: u32,
    /// Every other review of the paper.
    pub peers: Vec<PeerEvidence>,
    /// Every Z of the paper.
    pub z: Vec<ZEvidence>,
    /// The first `MAX_COMPARED_SENTENCES` sentences in the order of the text; empty where
    /// sentences were not compared.
    pub sentences: Vec<SentenceEvidence>,
    /// Sentences of the text that follow these.
    pub(crate) sentences_left_out: usize,
    /// Where the closest sentences of the other texts stand; empty where sentences were not
    /// compared.
    pub matches: Vec<TextMatches>,
}

impl PaperEvidence {
    /// The [`SHOWN_SENTENCES`] sentences that are most closer to Z than to peers and to Z of other
    /// papers, see [`SentenceEvidence::beyond_others`]; none that is not. Headings and what belongs to a
    /// form are left out.
    pub(crate) fn said_by_z(&self) -> Vec<&SentenceEvidence> {
        highest(&self.sentences, SentenceEvidence::beyond_others)
    }

    /// The [`SHOWN_SENTENCES`] sentences with most support by peers beyond Z, most first; none that is as
    /// close to Z. Headings and what belongs to a form are left out.
    pub(crate) fn supported_by_peers(&self) -> Vec<&SentenceEvidence> {
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
    pub(crate) after: Option<f64>,
}

/// The similarity of a review with one Z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZEvidence {
    /// Number of the source in [`ReviewSet::sources`].
    pub source: u32,
    /// Cosine of the two as they are, in `[-1, 1]`.
    pub(crate) similarity: f64,
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
    /// Largest cosine with a sentence of Z of other papers; `None` without any.
    pub(crate) elsewhere: Option<f64>,
    /// Whether it is a heading or belongs to a form, and so is no evidence, see [`Forms`].
    pub is_form: bool,
}

impl SentenceEvidence {
    /// How much closer it is to Z than to peers and to Z of other papers; `None` without Z.
    pub(crate) fn beyond_others(&self) -> Option<f64> {
        beyond(self.z_similarity, self.peer_support, self.elsewhere)
    }

    /// Support by peers minus similarity with Z, whichever exist; `None` without peers.
    pub(crate) fn support_beyond_z(&self) -> Option<f64> {
        Some(self.peer_support? - self.z_similarity.unwrap_or(0.0))
    }
}

/// Where evidence is looked up.
pub(crate) struct Evidence<'a> {
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
    /// The sentences that were compared.
    pub sentences: &'a SentenceTable,
    /// What many reviews of the set share.
    pub forms: &'a Forms,
}

impl Evidence<'_> {
    /// The evidence for every paper of a reviewer, in the order of the papers.
    pub(crate) fn of_reviewer(&self, reviewer: u32) -> Vec<PaperEvidence> {
        let mut evidence = Vec::new();
        for (paper, number) in self.papers.iter().zip(0..) {
            let own = paper
                .reviews
                .iter()
                .position(|&review| self.set.reviews[review].reviewer == reviewer);
            if let Some(own) = own {
                evidence.push(self.of_paper(number).swap_remove(own));
            }
        }
        evidence
    }

    /// The evidence for every review of a paper, in the order of [`Paper::reviews`].
    ///
    /// # Panics
    ///
    /// If there is no such paper.
    pub(crate) fn of_paper(&self, number: u32) -> Vec<PaperEvidence> {
        let paper = &self.papers[number as usize];
        let before = plain_pairs(self.plain, paper);
        let mean = self.combine == ZCombine::Mean;
        let after = projected_pairs(self.projected, paper, &paper.z, mean);
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
            let review = paper.reviews[own];
            let (sentences, sentences_left_out) = self.sentences(review);
            let matches = self.sentences.matches(review).to_vec();
            PaperEvidence {
                review,
                paper: number,
                peers,
                z,
                sentences,
                sentences_left_out,
                matches,
            }
        });
        evidence.collect()
    }

    /// The sentences of a review and how many more it has; nothing where they were not compared.
    fn sentences(&self, review: usize) -> (Vec<SentenceEvidence>, usize) {
        let numbers = self.sentences.of_review(review);
        if numbers.is_empty() {
            return (Vec::new(), 0);
        }
        let text = self.set.reviews[review].content.text.as_deref().unwrap_or_default();
        let mut all = sentences(text);
        let shown = |(text, numbers): (&str, &SentenceSimilarity)| SentenceEvidence {
            text: text.to_owned(),
            z_similarity: numbers.z,
            peer_support: numbers.peers,
            elsewhere: numbers.elsewhere,
            is_form: self.forms.has(text),
        };
        let compared = all.by_ref().take(numbers.len()).zip(numbers).map(shown).collect();
        (compared, all.count())
    }
}

/// The [`SHOWN_SENTENCES`] sentences with the highest value above 0; ties keep the order of the text.
fn highest(
    sentences: &[SentenceEvidence],
    value: impl Fn(&SentenceEvidence) -> Option<f64>,
) -> Vec<&SentenceEvidence> {
    let mut order: Vec<(f64, &SentenceEvidence)> = sentences
        .iter()
        .filter(|sentence| !sentence.is_form)
        .filter_map(|sentence| Some((value(sentence).filter(|value| *value > 0.0)?, sentence)))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    order.into_iter().take(SHOWN_SENTENCES).map(|(_, sentence)| sentence).collect()
}

//! How close every sentence of a review is to Z, to the reviews of peers, and to Z of other papers.
//!
//! Sentences are compared while they are embedded: a [`SentenceCollector`] hears of every vector
//! once, compares the sentences of a paper as soon as it has heard of all of them, and keeps three
//! numbers per sentence. What it holds of vectors is bounded by one call of the embedder, one paper
//! and the Z of [`REFERENCES`] papers, which every sentence of another paper is compared with: what
//! is as close to an LLM's words on any paper says nothing.

use rayon::prelude::*;

use super::pairs::Paper;
use super::sentence_vectors::{MAX_COMPARED_SENTENCES, SentenceVectors, closest, highest};

pub(crate) use super::sentence_vectors::SentenceMatch;
use crate::embed::pooling::{EmbeddedSentence, SentenceListener};
use crate::embed::vectors::Vectors;

/// Papers whose Z stand for what an LLM says of any paper.
pub(crate) const REFERENCES: usize = 8;

/// What one sentence of a review is close to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SentenceSimilarity {
    /// Largest cosine with a sentence of any Z; `None` without Z.
    pub z: Option<f64>,
    /// Mean over peers of the largest cosine with one of their sentences; `None` without peers.
    pub peers: Option<f64>,
    /// Largest cosine with a sentence of a Z of [`REFERENCES`] other papers; `None` without any.
    pub elsewhere: Option<f64>,
}

impl SentenceSimilarity {}

/// See `SentenceSimilarity::beyond`.
pub(super) fn beyond(z: Option<f64>, peers: Option<f64>, elsewhere: Option<f64>) -> Option<f64> {
    let others = [peers, elsewhere].into_iter().flatten().max_by(f64::total_cmp);
    Some(z? - others.unwrap_or(0.0))
}

/// Another text of the same paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherText {
    /// A review, by its position in the set.
    Review(usize),
    /// An LLM's, by its position among the Z of the set.
    Z(usize),
}

/// For every sentence of a review the closest one of another text of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct TextMatches {
    /// The other text.
    pub text: OtherText,
    /// By sentence of the review; never empty.
    pub sentences: Vec<SentenceMatch>,
}

/// What the sentences of reviews are close to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SentenceTable {
    /// By review.
    rows: Vec<Compared>,
}

/// What was found for one review.
#[derive(Debug, Clone, Default, PartialEq)]
struct Compared {
    similarities: Vec<SentenceSimilarity>,
    matches: Vec<TextMatches>,
}

impl SentenceTable {
    /// The first [`MAX_COMPARED_SENTENCES`] sentences of a review; empty where they were not
    /// compared.
    pub(crate) fn of_review(&self, review: usize) -> &[SentenceSimilarity] {
        self.rows.get(review).map_or(&[], |row| &row.similarities)
    }

    /// The closest sentences of the other texts of the paper that have any, reviews first.
    pub(crate) fn matches(&self, review: usize) -> &[TextMatches] {
        self.rows.get(review).map_or(&[], |row| &row.matches)
    }
}

/// Makes a [`SentenceTable`] of the sentences of some papers.
///
/// Texts have to be embedded in the order of [`Self::order`].
pub(crate) struct SentenceCollector<'a> {
    papers: &'a [Paper],
    /// The papers that are compared, and where each ends in `order`.
    wanted: Vec<(usize, usize)>,
    /// Position of every text in the set: reviews, then Z. Texts of wanted papers come first, paper
    /// by paper, each with its reviews first.
    order: Vec<usize>,
    wanted_texts: usize,
    /// The papers whose Z come first of all texts, and how many these are.
    references: Vec<usize>,
    reference_texts: usize,
    /// The sentences of those Z, once all are heard of.
    heard: Option<Vec<Vec<SentenceVectors>>>,
    /// Papers of `wanted` that are compared.
    done: usize,
    /// Sentences of the texts of papers that are not yet compared, from `first` on.
    open: Vec<SentenceVectors>,
    first: usize,
    table: SentenceTable,
}

impl<'a> SentenceCollector<'a> {
    /// Compares the sentences of the papers that `wanted` wants; `reviews` is their number in the
    /// set, `names` are those of all papers, by number.
    pub(crate) fn new(
        papers: &'a [Paper],
        names: &[String],
        reviews: usize,
        wanted: impl Fn(&Paper) -> bool,
    ) -> Self {
        let references = references(papers, names);
        let z = |paper: &Paper| paper.z.iter().map(|z| reviews + z).collect::<Vec<usize>>();
        let mut order: Vec<usize> =
            references.iter().flat_map(|&paper| z(&papers[paper])).collect();
        let reference_texts = order.len();
        let texts = |(number, paper): (usize, &Paper)| {
            let z = if references.contains(&number) { Vec::new() } else { z(paper) };
            [paper.reviews.clone(), z].concat()
        };
        let mut ends = Vec::new();
        for (number, paper) in papers.iter().enumerate().filter(|(_, paper)| wanted(paper)) {
            order.extend(texts((number, paper)));
            ends.push((number, order.len()));
        }
        let wanted_texts = if ends.is_empty() { 0 } else { order.len() };
        order.extend(papers.iter().enumerate().filter(|(_, paper)| !wanted(paper)).flat_map(texts));
        let table = SentenceTable { rows: vec![Compared::default(); reviews] };
        Self {
            papers,
            wanted: ends,
            order,
            wanted_texts,
            references,
            reference_texts,
            heard: None,
            done: 0,
            open: Vec::new(),
            first: 0,
            table,
        }
    }

    /// Positions of the texts in the set, in the order in which they have to be embedded.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// How many of the first texts of [`Self::order`] are compared.
    pub(crate) fn wanted_texts(&self) -> usize {
        self.wanted_texts
    }

    /// What was found.
    pub(crate) fn into_table(self) -> SentenceTable {
        self.table
    }

    /// Compares the papers whose texts are all before `finished`.
    fn compare(&mut self, finished: usize) {
        if finished < self.reference_texts {
            return;
        }
        let heard = self.heard.get_or_insert_with(|| {
            self.first = self.reference_texts;
            let mut z = self.open.drain(..self.reference_texts);
            let of_paper = |&paper: &usize| z.by_ref().take(self.papers[paper].z.len()).collect();
            self.references.iter().map(of_paper).collect()
        });
        let ready = self.wanted[self.done..].iter().take_while(|(_, end)| *end <= finished).count();
        let mut jobs = Vec::with_capacity(ready);
        for &(number, end) in &self.wanted[self.done..self.done + ready] {
            let mut texts: Vec<SentenceVectors> = self.open.drain(..end - self.first).collect();
            self.first = end;
            let place = self.references.iter().position(|&reference| reference == number);
            texts.extend(place.map_or(&[][..], |place| &heard[place]).iter().cloned());
            let all = heard.iter().enumerate().filter(|(other, _)| Some(*other) != place);
            let elsewhere: Vec<&SentenceVectors> = all.flat_map(|(_, z)| z).collect();
            jobs.push((&self.papers[number], texts, elsewhere));
        }
        self.done += ready;
        let compared: Vec<_> = jobs
            .par_iter()
            .map(|(paper, texts, elsewhere)| compared(paper, texts, elsewhere))
            .collect();
        for ((paper, ..), rows) in jobs.iter().zip(compared) {
            for (&review, row) in paper.reviews.iter().zip(rows) {
                self.table.rows[review] = row;
            }
        }
    }
}

/// Papers with Z, evenly spread over their names, so that they are the same whatever the order of rows.
fn references(papers: &[Paper], names: &[String]) -> Vec<usize> {
    let mut all: Vec<usize> =
        (0..papers.len()).filter(|&paper| !papers[paper].z.is_empty()).collect();
    all.sort_by(|&a, &b| names.get(a).cmp(&names.get(b)));
    let count = all.len().min(REFERENCES);
    (0..count).map(|place| all[place * all.len() / count]).collect()
}

impl SentenceListener for SentenceCollector<'_> {
    fn wants(&self, text: usize, position: usize) -> bool {
        text < self.wanted_texts && position < MAX_COMPARED_SENTENCES
    }

    fn hear(&mut self, sentences: &[EmbeddedSentence], vectors: &Vectors, finished: usize) {
        let finished = finished.min(self.wanted_texts);
        for (row, sentence) in sentences.iter().enumerate() {
            if self.wants(sentence.text, sentence.position) {
                let place = sentence.text - self.first;
                if self.open.len() <= place {
                    self.open.resize_with(place + 1, SentenceVectors::default);
                }
                self.open[place].push(vectors, row);
            }
        }
        // Texts without a sentence are heard of by being finished.
        if self.open.len() < finished.saturating_sub(self.first) {
            self.open.resize_with(finished - self.first, SentenceVectors::default);
        }
        self.compare(finished);
    }
}

/// Per review of a paper, what its sentences are close to; `texts` holds the reviews, then Z,
/// `elsewhere` are Z of other papers.
fn compared(
    paper: &Paper,
    texts: &[SentenceVectors],
    elsewhere: &[&SentenceVectors],
) -> Vec<Compared> {
    let (reviews, z) = texts.split_at(paper.reviews.len());
    // The closest sentence of a text without sentences does not exist.
    let mut found: Vec<Compared> = vec![Compared::default(); reviews.len()];
    let mut to_peers: Vec<Vec<Support>> =
        reviews.iter().map(|own| vec![Support::default(); own.len()]).collect();
    let mut add = |own: usize, peer: usize, sentences: Vec<SentenceMatch>| {
        if sentences.is_empty() {
            return;
        }
        to_peers[own].iter_mut().zip(&sentences).for_each(|(support, m)| support.add(m.cosine));
        let text = OtherText::Review(paper.reviews[peer]);
        found[own].matches.push(TextMatches { text, sentences });
    };
    for b in 0..reviews.len() {
        for a in 0..b {
            let (to_b, to_a) = closest(&reviews[a], &reviews[b]);
            add(a, b, to_b);
            add(b, a, to_a);
        }
    }
    for ((own, supports), found) in reviews.iter().zip(to_peers).zip(&mut found) {
        let peers = found.matches.len();
        for (&z, vectors) in paper.z.iter().zip(z) {
            let (sentences, _) = closest(own, vectors);
            if !sentences.is_empty() {
                found.matches.push(TextMatches { text: OtherText::Z(z), sentences });
            }
        }
        let of_z = |index: usize| {
            let cosines = found.matches[peers..].iter().map(|z| z.sentences[index].cosine);
            cosines.max_by(f64::total_cmp)
        };
        let elsewhere = highest(own, elsewhere);
        let of_sentence = |(index, support): (usize, Support)| SentenceSimilarity {
            z: of_z(index),
            peers: support.mean(),
            elsewhere: elsewhere[index],
        };
        found.similarities = supports.into_iter().enumerate().map(of_sentence).collect();
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::embed::Embedder;
    use crate::embed::pooling::{embed_by_sentence, embed_heard, hear_sentences};
    use crate::embed::sentences::sentences;
    use crate::embed::tfidf::Tfidf;

    /// Two papers whose texts stand in the set in another order; review 2 has no sentence with a
    /// letter, review 3 more sentences than are compared.
    fn example() -> (Vec<Paper>, Vec<String>) {
        let papers = vec![
            Paper { reviews: vec![0, 3], z: vec![1] },
            Paper { reviews: vec![1, 2, 4], z: vec![0, 2] },
        ];
        let long = "Red. Blue green. ".repeat(MAX_COMPARED_SENTENCES);
        let texts = [
            "Red blue. Green!",
            "Blue. --- Red.",
            "---",
            &long,
            "White blue",
            "Red red. White.",
            "Green white. Blue.",
            "Blue. Green.",
        ];
        (papers, texts.map(str::to_owned).to_vec())
    }

    /// Cosine of every sentence of one text with the closest of another, one by one.
    fn naive(embedder: &dyn Embedder, own: &str, other: &str) -> Vec<Option<f64>> {
        let one = |text: &str| {
            let Vectors::Sparse(rows) = embedder.embed(&[text], &NoProgress).unwrap().vectors
            else {
                panic!("sparse")
            };
            let mut dense = vec![0.0; rows.dims()];
            rows.row(0).iter().for_each(|&(dim, value)| dense[dim as usize] = value);
            dense
        };
        let cosine = |a: &[f64], b: &[f64]| {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let lengths = (dot(a, a) * dot(b, b)).sqrt();
            if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
        };
        let others: Vec<Vec<f64>> =
            sentences(other).take(MAX_COMPARED_SENTENCES).map(one).collect();
        let best = |sentence: &str| {
            let own = one(sentence);
            others.iter().map(|other| cosine(&own, other)).max_by(f64::total_cmp)
        };
        sentences(own).take(MAX_COMPARED_SENTENCES).map(best).collect()
    }

    #[test]
    fn sentences_are_compared_while_they_are_embedded_whatever_the_order_of_texts() {
        let (papers, owned) = example();
        let names = ["q", "p"].map(str::to_owned);
        let texts: Vec<&str> = owned.iter().map(String::as_str).collect();
        let embedder = Tfidf::fit(&texts);
        let mut collector = SentenceCollector::new(&papers, &names, 5, |_| true);
        // The Z of both papers come first, by name.
        assert_eq!(collector.order(), [5, 7, 6, 0, 3, 1, 2, 4]);
        let ordered: Vec<&str> = collector.order().iter().map(|&text| texts[text]).collect();
        let heard = embed_heard(&embedder, &ordered, &mut collector, &NoProgress).unwrap();
        // The means are those without a listener.
        assert_eq!(
            heard.vectors,
            embed_by_sentence(&embedder, &ordered, &NoProgress).unwrap().vectors
        );
        let table = collector.into_table();
        for paper in &papers {
            for &review in &paper.reviews {
                let found = table.of_review(review);
                let z: Vec<_> =
                    paper.z.iter().map(|z| naive(&embedder, texts[review], texts[5 + z])).collect();
                let peers: Vec<_> = paper
                    .reviews
                    .iter()
                    .filter(|&&peer| peer != review)
                    .map(|&peer| naive(&embedder, texts[review], texts[peer]))
                    .collect();
                assert_eq!(found.len(), peers[0].len(), "review {review}");
                for matches in table.matches(review) {
                    let other = match matches.text {
                        OtherText::Review(other) => texts[other],
                        OtherText::Z(z) => texts[5 + z],
                    };
                    let slow = naive(&embedder, texts[review], other);
                    for (found, slow) in matches.sentences.iter().zip(slow) {
                        assert!((found.cosine - slow.unwrap()).abs() < 1e-12);
                    }
                    // The sentence it points at is as close as it says.
                    for (own, found) in sentences(texts[review]).zip(&matches.sentences).take(9) {
                        let there = sentences(other).nth(found.position as usize).unwrap();
                        let one = naive(&embedder, own, there)[0].unwrap();
                        assert!((found.cosine - one).abs() < 1e-12, "{own} {there}");
                    }
                }
                let others =
                    papers.iter().filter(|other| other.z != paper.z).flat_map(|other| &other.z);
                let elsewhere: Vec<_> =
                    others.map(|z| naive(&embedder, texts[review], texts[5 + z])).collect();
                for (index, found) in found.iter().enumerate() {
                    let highest = elsewhere.iter().filter_map(|z| z[index]).max_by(f64::total_cmp);
                    assert!((found.elsewhere.unwrap() - highest.unwrap()).abs() < 1e-12);
                    let closest = z.iter().filter_map(|z| z[index]).max_by(f64::total_cmp);
                    assert!((found.z.unwrap() - closest.unwrap()).abs() < 1e-12);
                    let mean =
                        peers.iter().filter_map(|p| p[index]).sum::<f64>() / peers.len() as f64;
                    assert!((found.peers.unwrap() - mean).abs() < 1e-12, "review {review}");
                }
            }
        }
        assert_eq!(table.of_review(3).len(), MAX_COMPARED_SENTENCES);
        // The second paper alone, without means.
        let mut alone =
            SentenceCollector::new(&papers, &names, 5, |paper| paper.reviews.len() == 3);
        assert_eq!((alone.order(), alone.wanted_texts()), (&[5, 7, 6, 1, 2, 4, 0, 3][..], 6));
        let ordered: Vec<&str> = alone.order()[..6].iter().map(|&text| texts[text]).collect();
        hear_sentences(&embedder, &ordered, &mut alone, &NoProgress).unwrap();
        let alone = alone.into_table();
        assert_eq!(alone.of_review(1), table.of_review(1));
        assert!(alone.of_review(0).is_empty());
    }
}

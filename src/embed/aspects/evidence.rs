//! From what the sentences of a review say to one value per category.
//!
//! A sentence `s` is about category `c` with probability `a_sc` in [0, 1] and has polarity `q_s` in
//! [-1, 1], the probability that it praises minus that it criticises. Its evidence is
//! `e_sc = a_sc q_s`, and the value of a review is
//!
//! ```text
//! v_c = Σ_s e_sc / (1 + Σ_s |e_sc|)
//! ```
//!
//! in (-1, 1): one clear sentence gives up to 1/2, more of the same sign come closer to 1, praise
//! and criticism cancel. No sentence, or none that says anything, is 0 evidence and so the value 0,
//! as a judge answers 0 for "says nothing"; nothing is missing. Of the formulas tried it follows the
//! annotated sign of reviews best (`models/aspects/README.md`).

/// What one sentence says about every category.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentenceAspects {
    /// Probability of being about each category, in [0, 1].
    pub about: Vec<f64>,
    /// Probability of praise minus that of criticism, in [-1, 1]; one for all categories.
    pub polarity: f64,
}

impl SentenceAspects {
    /// Signed evidence for each category, in [-1, 1].
    pub(crate) fn evidence(&self) -> impl Iterator<Item = f64> {
        self.about.iter().map(|about| about * self.polarity)
    }
}

/// Sums over the sentences of a text.
#[derive(Debug, Clone)]
pub(super) struct AspectEvidence {
    /// Sum of evidence, and of its absolute value, by category.
    sums: Vec<(f64, f64)>,
}

impl AspectEvidence {
    /// No sentence yet, of so many categories.
    pub(super) fn none(categories: usize) -> Self {
        Self { sums: vec![(0.0, 0.0); categories] }
    }

    pub(super) fn add(&mut self, sentence: &SentenceAspects) {
        for (sum, evidence) in self.sums.iter_mut().zip(sentence.evidence()) {
            sum.0 += evidence;
            sum.1 += evidence.abs();
        }
    }

    /// The value of each category, in (-1, 1).
    pub(super) fn values(&self) -> Vec<f64> {
        self.sums.iter().map(|(signed, weight)| signed / (1.0 + weight)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(sentences: &[SentenceAspects], categories: usize) -> Vec<f64> {
        let mut evidence = AspectEvidence::none(categories);
        sentences.iter().for_each(|sentence| evidence.add(sentence));
        evidence.values()
    }

    #[test]
    fn values_by_hand() {
        assert_eq!(values(&[], 2), [0.0, 0.0]);
        let praise = SentenceAspects { about: vec![1.0, 0.0], polarity: 1.0 };
        let criticism = SentenceAspects { about: vec![0.5, 0.5], polarity: -0.5 };
        assert_eq!(values(std::slice::from_ref(&praise), 2), [0.5, 0.0]);
        assert_eq!(values(&[praise.clone(), praise.clone()], 2), [2.0 / 3.0, 0.0]);
        // 1 - 1/4 = 3/4 of 1 + 5/4, and -1/4 of 1 + 1/4.
        assert_eq!(values(&[praise, criticism], 2), [0.75 / 2.25, -0.25 / 1.25]);
    }

    proptest! {
        #[test]
        fn a_value_is_the_formula_and_inside_the_scale(
            sentences in prop::collection::vec((0.0..=1.0, -1.0..=1.0), 0..9)
        ) {
            let aspects: Vec<SentenceAspects> = sentences
                .iter()
                .map(|&(about, polarity)| SentenceAspects { about: vec![about], polarity })
                .collect();
            let found = values(&aspects, 1)[0];
            let praised: f64 = sentences.iter().map(|(a, q)| (a * q).max(0.0)).sum();
            let criticised: f64 = sentences.iter().map(|(a, q)| (-a * q).max(0.0)).sum();
            let expected = (praised - criticised) / (1.0 + praised + criticised);
            prop_assert!((found - expected).abs() < 1e-12);
            prop_assert!(found.abs() < 1.0);
            let turned: Vec<SentenceAspects> = aspects
                .into_iter()
                .map(|s| SentenceAspects { polarity: -s.polarity, ..s })
                .collect();
            prop_assert!((values(&turned, 1)[0] + found).abs() < 1e-15);
        }
    }
}

//! How good a ranking of documents is by labels of some of them: precision at a depth, average precision,
//! rank-biased precision.
//!
//! A document without a label counts as not relevant. Documents with equal scores stand in descending
//! order of their names, whatever the ranks in the file say, as in `trec_eval`.

use crate::stats::rank::mean;

/// Documents in the order in which they are ranked: by score, the highest first.
///
/// # Panics
///
/// If a score is NaN.
pub(crate) fn ranked<'a>(documents: &[(&'a str, f64)]) -> Vec<&'a str> {
    assert!(documents.iter().all(|(_, score)| !score.is_nan()), "an undefined score has no rank");
    let mut ranked = documents.to_vec();
    // Adding 0 makes -0 equal to 0.
    ranked.sort_by(|a, b| (b.1 + 0.0).total_cmp(&(a.1 + 0.0)).then(b.0.cmp(a.0)));
    ranked.into_iter().map(|(document, _)| document).collect()
}

/// A measure of one ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Retrieval {
    /// Share of relevant documents among the first so many; fewer count as not relevant.
    Precision(usize),
    /// Mean over the relevant documents of the precision at their rank, 0 for one that is not ranked;
    /// undefined without a relevant document.
    AveragePrecision,
    /// `(1 - p) Σ p^(rank - 1)` over the relevant documents, with this persistence p: how much is gained by
    /// somebody who goes on to the next rank with probability p. Moffat and Zobel (2008), *ACM TOIS* 27(1).
    RankBiasedPrecision(f64),
}

impl Retrieval {
    /// The measure of a ranking, whose documents are relevant or not from the top, of `relevant` relevant
    /// documents in all; in `[0, 1]`.
    pub(crate) fn of(self, ranking: &[bool], relevant: usize) -> Option<f64> {
        let hits = ranking.iter().enumerate().filter(|(_, relevant)| **relevant);
        match self {
            Self::Precision(depth) => {
                let found = hits.take_while(|(index, _)| *index < depth).count();
                (depth > 0).then(|| found as f64 / depth as f64)
            }
            Self::AveragePrecision => {
                let at = |(before, (index, _)): (usize, (usize, &bool))| {
                    (before + 1) as f64 / (index + 1) as f64
                };
                let sum: f64 = hits.enumerate().map(at).sum();
                (relevant > 0).then(|| sum / relevant as f64)
            }
            Self::RankBiasedPrecision(persistence) => {
                let weight = |(index, _): (usize, &bool)| {
                    persistence.powi(i32::try_from(index).unwrap_or(i32::MAX))
                };
                Some((1.0 - persistence) * hits.map(weight).sum::<f64>())
            }
        }
    }

    /// The mean of what [`Self::of`] gives; `None` without values.
    ///
    /// Precisions are added up as counts, so that equal means are equal whatever they are made of: .1
    /// and .3 are no less than twice .2.
    pub(crate) fn mean(self, values: &[f64]) -> Option<f64> {
        let Self::Precision(depth) = self else { return mean(values) };
        let found: f64 = values.iter().map(|value| (value * depth as f64).round()).sum();
        (!values.is_empty()).then(|| found / (depth * values.len()) as f64)
    }

    /// The name in results, such as `p@10`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Precision(depth) => format!("p@{depth}"),
            Self::AveragePrecision => "map".into(),
            Self::RankBiasedPrecision(persistence) => format!("rbp_{persistence}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_measures_by_hand() {
        // Relevant at ranks 1, 3 and 4; one more is not ranked.
        let ranking = [true, false, true, true, false];
        let of = |measure: Retrieval| measure.of(&ranking, 4).unwrap();
        assert!((of(Retrieval::Precision(10)) - 0.3).abs() < 1e-15);
        assert!((of(Retrieval::Precision(3)) - 2.0 / 3.0).abs() < 1e-15);
        // 1/1, 2/3, 3/4 over four.
        let expected = (1.0 + 2.0 / 3.0 + 0.75) / 4.0;
        assert!((of(Retrieval::AveragePrecision) - expected).abs() < 1e-15);
        // .2 (1 + .64 + .512).
        assert!((of(Retrieval::RankBiasedPrecision(0.8)) - 0.4304).abs() < 1e-15);
        assert_eq!(Retrieval::AveragePrecision.of(&ranking, 0), None);
        assert_eq!(Retrieval::Precision(10).of(&[], 0), Some(0.0));
    }

    #[test]
    fn equal_means_of_other_precisions_are_equal() {
        let mean = |values: [f64; 3]| Retrieval::Precision(10).mean(&values);
        // Six of thirty documents.
        for values in [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2; 3], [0.6, 0.0, 0.0]] {
            assert_eq!(mean(values), Some(0.2), "{values:?}");
        }
        assert_eq!(Retrieval::Precision(10).mean(&[]), None);
        assert_eq!(Retrieval::AveragePrecision.mean(&[0.5, 1.0]), Some(0.75));
    }

    #[test]
    fn equal_scores_stand_in_descending_order_of_names() {
        let documents = [("a", 1.0), ("c", 0.0), ("b", 1.0), ("d", -0.0)];
        assert_eq!(ranked(&documents), ["b", "a", "d", "c"]);
    }
}

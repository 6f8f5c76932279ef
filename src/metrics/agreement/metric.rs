//! The catalogue of metrics of two labellers, by the names that tables show.

use super::ac1::ac1;
use super::alpha::{Coincidences, Level};
use super::confusion::Confusion;
use super::fleiss::fleiss_of_two;
use super::icc::{Icc, icc};
use super::kappa::{Distance, kappa};
use super::ordered::{
    auc_over_pairs, bias, mean_absolute_error, pearson, root_mean_square_error, spearman,
};

/// A metric of a labeller against gold, a function of the confusion matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Metric {
    /// Share of items with the gold label.
    Accuracy,
    /// Cohen's kappa.
    Kappa,
    /// Cohen's kappa with weights `|i - j|`.
    KappaLinear,
    /// Cohen's kappa with weights `(i - j)²`.
    KappaQuadratic,
    /// Mean absolute error on the scale as given.
    Mae,
    /// Root mean square error on the scale as given.
    Rmse,
    /// Mean of label minus gold.
    Bias,
    /// Pearson's correlation.
    Pearson,
    /// Spearman's rank correlation.
    Spearman,
    /// Intraclass correlation of one rater, ICC(2,1).
    IccSingle,
    /// Intraclass correlation of the mean of both, ICC(2,k).
    IccMean,
    /// Order of pairs of items with different gold labels.
    Auc,
    /// Gwet's AC1.
    Ac1,
    /// Fleiss' kappa of both labellers.
    Fleiss,
    /// Krippendorff's alpha of both, nominal.
    AlphaNominal,
    /// Krippendorff's alpha of both, ordinal.
    AlphaOrdinal,
    /// Krippendorff's alpha of both, interval.
    AlphaInterval,
    /// Share of right among the items given this label.
    Precision(usize),
    /// Share of found among the items of this gold label.
    Recall(usize),
}

impl Metric {
    /// All metrics of a scale with `labels` labels; without numbers those that need none.
    pub(crate) fn all(labels: usize, numeric: bool) -> Vec<Self> {
        let fixed = [
            Self::Accuracy,
            Self::Kappa,
            Self::KappaLinear,
            Self::KappaQuadratic,
            Self::Mae,
            Self::Rmse,
            Self::Bias,
            Self::Pearson,
            Self::Spearman,
            Self::IccSingle,
            Self::IccMean,
            Self::Auc,
            Self::Ac1,
            Self::Fleiss,
            Self::AlphaNominal,
            Self::AlphaOrdinal,
            Self::AlphaInterval,
        ];
        let fixed = fixed.into_iter().filter(|metric| numeric || !metric.needs_numbers());
        let each = (0..labels).flat_map(|label| [Self::Precision(label), Self::Recall(label)]);
        fixed.chain(each).collect()
    }

    /// Whether the labels have to be numbers.
    pub(crate) fn needs_numbers(self) -> bool {
        matches!(
            self,
            Self::KappaLinear
                | Self::KappaQuadratic
                | Self::Mae
                | Self::Rmse
                | Self::Bias
                | Self::Pearson
                | Self::Spearman
                | Self::IccSingle
                | Self::IccMean
                | Self::Auc
                | Self::AlphaOrdinal
                | Self::AlphaInterval
        )
    }

    /// The name in tables; `labels` are the names of the labels.
    ///
    /// # Panics
    ///
    /// If the metric is of a label that has no name.
    pub(crate) fn name<S: AsRef<str>>(self, labels: &[S]) -> String {
        match self {
            Self::Accuracy => "accuracy".into(),
            Self::Kappa => "kappa".into(),
            Self::KappaLinear => "kappa_linear".into(),
            Self::KappaQuadratic => "kappa_quadratic".into(),
            Self::Mae => "mae".into(),
            Self::Rmse => "rmse".into(),
            Self::Bias => "bias".into(),
            Self::Pearson => "pearson".into(),
            Self::Spearman => "spearman".into(),
            Self::IccSingle => "icc_2_1".into(),
            Self::IccMean => "icc_2_k".into(),
            Self::Auc => "auc".into(),
            Self::Ac1 => "ac1".into(),
            Self::Fleiss => "fleiss".into(),
            Self::AlphaNominal => "alpha_nominal".into(),
            Self::AlphaOrdinal => "alpha_ordinal".into(),
            Self::AlphaInterval => "alpha_interval".into(),
            Self::Precision(label) => format!("precision:{}", labels[label].as_ref()),
            Self::Recall(label) => format!("recall:{}", labels[label].as_ref()),
        }
    }

    /// The metric of a matrix whose labels have these values, ascending; `None` where undefined,
    /// where it needs values and there are none, and where their squares are out of the range of numbers.
    pub(crate) fn of(self, matrix: &Confusion, values: Option<&[f64]>) -> Option<f64> {
        let found = match self {
            Self::Accuracy => matrix.accuracy(),
            Self::Kappa => kappa(matrix, Distance::Nominal),
            Self::KappaLinear => kappa(matrix, Distance::Linear(values?)),
            Self::KappaQuadratic => kappa(matrix, Distance::Quadratic(values?)),
            Self::Mae => mean_absolute_error(matrix, values?),
            Self::Rmse => root_mean_square_error(matrix, values?),
            Self::Bias => bias(matrix, values?),
            Self::Pearson => pearson(matrix, values?),
            Self::Spearman => values.and_then(|_| spearman(matrix)),
            Self::IccSingle => icc_of_two(matrix, values?).single,
            Self::IccMean => icc_of_two(matrix, values?).mean,
            Self::Auc => values.and_then(|_| auc_over_pairs(matrix)),
            Self::Ac1 => ac1(matrix),
            Self::Fleiss => fleiss_of_two(matrix),
            Self::AlphaNominal => Coincidences::of_two(matrix).alpha(Level::Nominal),
            Self::AlphaOrdinal => {
                values.and_then(|_| Coincidences::of_two(matrix).alpha(Level::Ordinal))
            }
            Self::AlphaInterval => Coincidences::of_two(matrix).alpha(Level::Interval(values?)),
            Self::Precision(label) => matrix.precision(label),
            Self::Recall(label) => matrix.recall(label),
        };
        found.filter(|value| value.is_finite())
    }
}

fn icc_of_two(matrix: &Confusion, values: &[f64]) -> Icc {
    let cells = matrix.rows().enumerate().flat_map(|(gold, row)| {
        let used = row.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(move |(label, &count)| (count as f64, [values[gold], values[label]]))
    });
    icc(cells)
}

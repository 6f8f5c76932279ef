//! The metrics of a run, and what a cut of the scale does to each.

use super::Cut;
use crate::data::scale::Scale;
use crate::metrics::agreement::binarize::binarized;
use crate::metrics::agreement::bounds::bounds;
use crate::metrics::agreement::{Confusion, Metric};

/// The metrics of a scale, in the order of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    metrics: Vec<Metric>,
    names: Vec<String>,
    values: Option<Vec<f64>>,
    /// Side of every label, where the scale is cut.
    sides: Option<Vec<usize>>,
}

/// More labels than these are no classes to look at one by one.
pub(super) const MOST_CLASSES: usize = 12;

/// What a metric is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// Both sides cut.
    Cut,
    /// The gold label cut, the other as given.
    GoldCut,
}

impl Panel {
    /// The metrics of a scale, cut at `binarize`; `None` if that leaves one label only, the labels have no
    /// order, or the cut is none of them where these are names.
    ///
    /// Where gold labels are no labels of the scale (means of people), only what needs no equal
    /// labels; of more than a dozen numbers no precision and recall of each. Cut: the area under the
    /// curve is that of the labels as given for the cut gold label, all others are of the cut
    /// labels.
    pub(crate) fn new(scale: &Scale, binarize: Option<&Cut>, are_labels: bool) -> Option<Self> {
        let Some(cut) = binarize else {
            let ordered = scale.values.is_some();
            let mut metrics = Metric::all(scale.len(), ordered);
            if !are_labels {
                metrics.retain(|metric| metric.needs_numbers());
            }
            if ordered && scale.len() > MOST_CLASSES {
                metrics.retain(|m| !matches!(m, Metric::Precision(_) | Metric::Recall(_)));
            }
            let names = metrics.iter().map(|metric| metric.name(&scale.names)).collect();
            return Some(Self { metrics, names, values: scale.values.clone(), sides: None });
        };
        let values = scale.values.clone()?;
        let sides = binarized(&values, value_of(cut, scale, &values)?)?;
        // On two labels all weights, levels and correlations are the same.
        let same = |metric: &Metric| {
            matches!(
                metric,
                Metric::KappaLinear
                    | Metric::KappaQuadratic
                    | Metric::Rmse
                    | Metric::Spearman
                    | Metric::AlphaOrdinal
                    | Metric::AlphaInterval
            )
        };
        let metrics: Vec<Metric> =
            Metric::all(2, true).into_iter().filter(|metric| !same(metric)).collect();
        let labels = [format!("<{cut}"), format!(">={cut}")];
        let names = metrics.iter().map(|metric| metric.name(&labels)).collect();
        Some(Self { metrics, names, values: Some(values), sides: Some(sides) })
    }

    /// Names of the metrics.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The place of a metric that does not depend on a label.
    pub(crate) fn position(&self, metric: Metric) -> Option<usize> {
        self.metrics.iter().position(|&known| known == metric)
    }

    /// The panel with one metric of these.
    #[must_use]
    pub(crate) fn only(&self, metric: Metric) -> Option<Self> {
        let at = self.position(metric)?;
        let (metrics, names) = (vec![metric], vec![self.names[at].clone()]);
        Some(Self { metrics, names, values: self.values.clone(), sides: self.sides.clone() })
    }

    /// The metrics of a matrix on the scale as given.
    pub(crate) fn of(&self, matrix: &Confusion) -> Vec<Option<f64>> {
        let Some(sides) = &self.sides else {
            let values = self.values.as_deref();
            return self.metrics.iter().map(|metric| metric.of(matrix, values)).collect();
        };
        let (cut, gold_cut) = (both_cut(matrix, sides), gold_cut(matrix, sides));
        let of = |&metric: &Metric| match view(metric) {
            View::Cut => metric.of(&cut, Some(&[0.0, 1.0])),
            View::GoldCut => metric.of(&gold_cut, self.values.as_deref()),
        };
        self.metrics.iter().map(of).collect()
    }

    /// What a label counts as: its side, if the scale is cut, else itself.
    pub(super) fn class(&self, label: usize) -> usize {
        self.sides.as_ref().map_or(label, |sides| sides[label])
    }

    /// Pairs of different gold labels (cut, if the scale is) of which the higher has the higher label, ties
    /// counting half, and all such pairs. Labels are in ascending order.
    pub(super) fn won(&self, matrix: &Confusion) -> [f64; 2] {
        let cut = self.sides.as_ref().map(|sides| gold_cut(matrix, sides));
        let rows: Vec<&[u64]> = cut.as_ref().unwrap_or(matrix).rows().collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for (high, high_row) in rows.iter().enumerate() {
            for low_row in &rows[..high] {
                for (label, &n) in high_row.iter().enumerate().filter(|(_, n)| **n > 0) {
                    let below: u64 = low_row[..label].iter().sum();
                    let all: u64 = low_row.iter().sum();
                    won += n as f64 * (below as f64 + low_row[label] as f64 / 2.0);
                    pairs += n as f64 * all as f64;
                }
            }
        }
        [won, pairs]
    }

    /// Their bounds, where `missing` items of each gold label have no label.
    pub(crate) fn bounds(&self, matrix: &Confusion, missing: &[u64]) -> Vec<Option<(f64, f64)>> {
        let values = self.values.as_deref();
        let Some(sides) = &self.sides else {
            return self.metrics.iter().map(|&m| bounds(m, matrix, missing, values)).collect();
        };
        let (cut, gold_cut) = (both_cut(matrix, sides), gold_cut(matrix, sides));
        let (mut missing_cut, mut missing_gold) = ([0, 0], vec![0; matrix.size()]);
        for (&side, &items) in sides.iter().zip(missing) {
            missing_cut[side] += items;
            missing_gold[end(side, matrix.size())] += items;
        }
        let of = |&metric: &Metric| match view(metric) {
            View::Cut => bounds(metric, &cut, &missing_cut, Some(&[0.0, 1.0])),
            View::GoldCut => bounds(metric, &gold_cut, &missing_gold, values),
        };
        self.metrics.iter().map(of).collect()
    }
}

/// The number from which on labels are above the cut.
fn value_of(cut: &Cut, scale: &Scale, values: &[f64]) -> Option<f64> {
    match cut {
        Cut::Number(number) if !scale.are_places => Some(*number),
        // Numbers that are not in the order of their size are names, too.
        _ => {
            let name = cut.to_string();
            Some(values[scale.names.iter().position(|known| *known == name)?])
        }
    }
}

fn view(metric: Metric) -> View {
    match metric {
        Metric::Auc => View::GoldCut,
        _ => View::Cut,
    }
}

fn both_cut(matrix: &Confusion, sides: &[usize]) -> Confusion {
    let mut cut = Confusion::new(2);
    for (gold, row) in matrix.rows().enumerate() {
        row.iter().enumerate().for_each(|(label, &n)| cut.add(sides[gold], sides[label], n));
    }
    cut
}

/// The matrix with all gold labels below the cut as the lowest label, the others as the highest.
fn gold_cut(matrix: &Confusion, sides: &[usize]) -> Confusion {
    let mut cut = Confusion::new(matrix.size());
    for (gold, row) in matrix.rows().enumerate() {
        let gold = end(sides[gold], matrix.size());
        row.iter().enumerate().for_each(|(label, &items)| cut.add(gold, label, items));
    }
    cut
}

fn end(side: usize, size: usize) -> usize {
    if side == 0 { 0 } else { size - 1 }
}

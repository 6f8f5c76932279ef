//! Figures of experiments.

use super::auc_summary::AucSummary;
use crate::report::plot::{Bar, BarChart, Line, LineChart, LinePoint};

/// A picture of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Figure {
    /// Name of its file.
    pub name: String,
    /// The picture, SVG.
    pub svg: String,
}

/// Range of AUCs in figures, from chance; wider where there is something below.
const AUC_RANGE: (f64, f64) = (0.5, 1.0);

/// One line: its name, whether it has a band, and its summaries by position.
pub(super) type Curve = (String, bool, Vec<(f64, AucSummary)>);

/// Mean AUC against a share, with a band from the 10 % to the 90 % quantile where asked for.
pub(super) fn curves(title: &str, x_name: &str, curves: Vec<Curve>) -> String {
    let bands: Vec<&str> = curves.iter().filter(|c| c.1).map(|c| c.0.as_str()).collect();
    let note = match bands.len() {
        0 => String::new(),
        _ => format!("; band: 10 to 90 % of {}", bands.join(", ")),
    };
    let y_name = "mean AUC".into();
    let title = format!("{title}{note}");
    let lines = curves
        .into_iter()
        .map(|(name, with_band, points)| {
            let points = points.into_iter().map(|(x, summary)| LinePoint {
                x,
                y: summary.mean,
                band: summary.low.zip(summary.high).filter(|_| with_band),
            });
            Line { name, points: points.collect() }
        })
        .collect();
    let chart = LineChart { title, x_name: x_name.into(), y_name, y_range: None, lines };
    let low = lowest(&chart);
    LineChart { y_range: Some((AUC_RANGE.0.min(low), AUC_RANGE.1)), ..chart }.svg()
}

fn lowest(chart: &LineChart) -> f64 {
    let points = chart.lines.iter().flat_map(|line| &line.points);
    points.filter_map(|point| point.band.map(|band| band.0).or(point.y)).fold(1.0, f64::min)
}

/// Mean AUC with an error bar from the 10 % to the 90 % quantile.
pub(super) fn bars(title: &str, summaries: Vec<(String, AucSummary)>) -> String {
    let bars = summaries.into_iter().map(|(name, summary)| Bar {
        name,
        value: summary.mean,
        error: summary.low.zip(summary.high),
    });
    BarChart {
        title: title.into(),
        x_name: "mean AUC, 10 % to 90 % quantile of trials; dashed: chance".into(),
        x_range: Some((0.0, 1.0)),
        reference: Some(0.5),
        bars: bars.collect(),
    }
    .svg()
}

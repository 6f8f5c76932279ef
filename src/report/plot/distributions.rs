//! Scores by kind of person: every score a dot, with median and quartiles.

use super::axis::{AXIS, GUIDE, Scale, horizontal_axis, range, widened};
use super::canvas::{Anchor, Canvas, Frame, described, text_width};
use crate::stats::rank::{median, quantile};

const WIDTH: f64 = 720.0;
const ROW: f64 = 56.0;

/// Golden ratio less 1: multiples of it are spread evenly, so that dots do not hide each other.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Scores of the people of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kind {
    /// Its name, at the left.
    pub name: String,
    /// Their scores; those without one are not among them.
    pub scores: Vec<f64>,
}

/// A figure of distributions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DistributionChart {
    /// What the figure shows.
    pub title: String,
    /// Name of the horizontal axis, with its unit.
    pub x_name: String,
    /// From top to bottom.
    pub kinds: Vec<Kind>,
}

impl DistributionChart {
    /// The figure as SVG.
    pub(crate) fn svg(&self) -> String {
        let height = 40.0 + ROW * self.kinds.len() as f64 + 52.0;
        let names = self.kinds.iter().map(|kind| text_width(&kind.name));
        let frame = Frame {
            left: 24.0 + names.fold(text_width("n = 000"), f64::max),
            right: WIDTH - 24.0,
            top: 36.0,
            bottom: height - 52.0,
        };
        let scores = self.kinds.iter().flat_map(|kind| kind.scores.iter().copied());
        let x_range = range(scores).map_or((0.0, 1.0), widened);
        let x = Scale::new(x_range, frame.left, frame.right);
        let mut canvas = Canvas::new((WIDTH, height), &self.title, &self.description());
        for (value, _) in x.ticks(6) {
            let at = x.pixel(value);
            canvas.line((at, frame.top), (at, frame.bottom), GUIDE);
        }
        for (index, kind) in self.kinds.iter().enumerate() {
            let middle = frame.top + ROW * (index as f64 + 0.5);
            let count = format!("n = {}", kind.scores.len());
            canvas.label((frame.left - 8.0, middle), &kind.name, Anchor::End, "");
            canvas.label(
                (frame.left - 8.0, middle + 14.0),
                &count,
                Anchor::End,
                "fill=\"#555555\"",
            );
            draw_kind(&mut canvas, kind, middle, &x);
        }
        canvas.line((frame.left, frame.top), (frame.left, frame.bottom), AXIS);
        horizontal_axis(&mut canvas, &frame, &x, &self.x_name);
        canvas.finish()
    }

    fn description(&self) -> String {
        let kinds = self.kinds.iter().map(|kind| {
            let (name, count) = (&kind.name, kind.scores.len());
            match (median(&kind.scores), range(kind.scores.iter().copied())) {
                (Some(median), Some((low, high))) => {
                    format!("{name}: {count} from {low:.3} to {high:.3}, median {median:.3}.")
                }
                _ => format!("{name}: none."),
            }
        });
        format!("Dots: {}. {}", self.x_name, described(kinds))
    }
}

fn draw_kind(canvas: &mut Canvas, kind: &Kind, middle: f64, x: &Scale) {
    let mut sorted = kind.scores.clone();
    sorted.sort_by(f64::total_cmp);
    let quartiles = [0.25, 0.5, 0.75].map(|probability| quantile(&sorted, probability));
    if let [Some(low), Some(_), Some(high)] = quartiles {
        let box_style = "fill=\"#e6e6e6\" stroke=\"#000000\" stroke-width=\"0.8\"";
        canvas.rectangle((x.pixel(low), middle - 18.0), (x.pixel(high), middle + 18.0), box_style);
    }
    for (index, &score) in sorted.iter().enumerate() {
        let offset = ((index as f64 * GOLDEN).fract() - 0.5) * 28.0;
        let dot = "fill=\"#0072b2\" fill-opacity=\"0.55\"";
        canvas.circle((x.pixel(score), middle + offset), 2.2, dot);
    }
    if let Some(median) = quartiles[1] {
        let at = x.pixel(median);
        let style = "stroke=\"#000000\" stroke-width=\"2.5\"";
        canvas.line((at, middle - 18.0), (at, middle + 18.0), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_a_dot_and_a_kind_without_scores_is_named() {
        let kinds = vec![
            Kind { name: "good".into(), scores: vec![0.3, 0.1, 0.2] },
            Kind { name: "llm".into(), scores: vec![] },
        ];
        let chart = DistributionChart { title: "t".into(), x_name: "score".into(), kinds };
        let picture = chart.svg();
        assert_eq!(picture.matches("<circle").count(), 3);
        assert!(picture.contains("good: 3 from 0.100 to 0.300, median 0.200. llm: none.</desc>"));
        assert!(picture.contains(">n = 0</text>") && !picture.contains("NaN"));
        // The background and one box.
        assert_eq!(picture.matches("<rect").count(), 2);
    }
}

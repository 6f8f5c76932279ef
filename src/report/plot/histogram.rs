//! How many people have which score, with room to mark one of them.

use super::axis::{Scale, horizontal_axis, range, vertical_axis};
use super::canvas::{Canvas, Frame};
use crate::stats::rank::{median, whole};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;

/// A figure of the distribution of one score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram {
    /// What the figure shows.
    pub title: String,
    /// Name of the horizontal axis.
    pub x_name: String,
    /// Name of the vertical axis.
    pub y_name: String,
    /// The scores; those without one are not among them.
    pub values: Vec<f64>,
}

impl Histogram {
    /// The figure as SVG; an empty group of class `overlay` knows the scale.
    pub(crate) fn svg(&self) -> String {
        let x_range = range(self.values.iter().copied()).map_or((0.0, 1.0), with_room);
        let bins = self.bins(x_range);
        let most = bins.iter().copied().max().unwrap_or(0).max(1);
        let frame = Frame { left: 64.0, right: WIDTH - 24.0, top: 40.0, bottom: HEIGHT - 56.0 };
        let x = Scale::new(x_range, frame.left, frame.right);
        // Ticks of small counts would have halves.
        let y = Scale::new((0.0, most.max(4) as f64 * 1.2), frame.bottom, frame.top);

        let mut canvas = Canvas::new((WIDTH, HEIGHT), &self.title, &self.description());
        vertical_axis(&mut canvas, &frame, &y, &self.y_name);
        let width = (frame.right - frame.left) / bins.len() as f64;
        for (index, &count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            let left = frame.left + width * index as f64;
            let fill = "fill=\"#0072b2\"";
            let top = y.pixel(count as f64);
            canvas.rectangle((left + 0.5, top), (left + width - 0.5, frame.bottom), fill);
        }
        horizontal_axis(&mut canvas, &frame, &x, &self.x_name);
        canvas.overlay(&frame, x_range);
        canvas.finish()
    }

    /// Counts in bins of one width, about as many as the square root of the number of values.
    fn bins(&self, (low, high): (f64, f64)) -> Vec<usize> {
        let count = whole((self.values.len() as f64).sqrt().ceil()).clamp(12, 60);
        let mut bins = vec![0; count];
        for value in &self.values {
            let share = (value - low) / (high - low);
            bins[whole(share * count as f64).min(count - 1)] += 1;
        }
        bins
    }

    fn description(&self) -> String {
        match (median(&self.values), range(self.values.iter().copied())) {
            (Some(median), Some((low, high))) => format!(
                "Histogram of {} scores from {low:.3} to {high:.3}, median {median:.3}.",
                self.values.len()
            ),
            _ => "Histogram without scores.".into(),
        }
    }
}

/// The range with room for intervals at both ends, never empty.
fn with_room((low, high): (f64, f64)) -> (f64, f64) {
    let room = (high - low) * 0.2;
    if room > 0.0 { (low - room, high + room) } else { (low - 0.5, high + 0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64]) -> Histogram {
        Histogram {
            title: "t".into(),
            x_name: "score".into(),
            y_name: "people".into(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn every_value_is_in_one_bin_and_the_largest_too() {
        let values: Vec<f64> = (0..=10).map(f64::from).collect();
        let bins = chart(&values).bins((-2.0, 12.0));
        // 12 bins of width 14 / 12 from -2: value v falls into floor((v + 2) * 12 / 14).
        assert_eq!(bins, [0, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 0]);
        assert_eq!(bins.iter().sum::<usize>(), 11);
        assert_eq!(chart(&[3.0]).bins((2.0, 3.0)).last(), Some(&1));
    }

    #[test]
    fn one_value_or_none_can_be_drawn() {
        for values in [&[][..], &[0.25]] {
            let picture = chart(values).svg();
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"), "{picture}");
        }
        let picture = chart(&[0.25]).svg();
        assert!(picture.contains("data-low=\"-0.25\" data-high=\"0.75\""));
        // The background and one bar.
        assert_eq!(picture.matches("<rect").count(), 2);
    }
}

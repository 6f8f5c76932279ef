//! A few named things at two numbers each, with error bars.

use super::axis::{Scale, horizontal_axis, range, vertical_axis, widened};
use super::canvas::{Anchor, Canvas, Frame, described, text_width};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;

/// One thing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedPoint {
    /// Its name, beside it.
    pub name: String,
    /// Position from left to right.
    pub x: f64,
    /// Position from bottom to top.
    pub y: f64,
    /// Low and high end of the error bar.
    pub error: Option<(f64, f64)>,
}

/// A figure of named points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PointChart {
    /// What the figure shows.
    pub title: String,
    /// Name of the horizontal axis, with its unit.
    pub x_name: String,
    /// Name of the vertical axis; says what the error bars are.
    pub y_name: String,
    /// The points.
    pub points: Vec<NamedPoint>,
}

impl PointChart {
    /// The figure as SVG.
    pub(crate) fn svg(&self) -> String {
        let names = self.points.iter().map(|point| text_width(&point.name));
        let frame = Frame {
            left: 64.0,
            right: WIDTH - 40.0 - names.fold(0.0, f64::max),
            top: 40.0,
            bottom: HEIGHT - 52.0,
        };
        let heights = self.points.iter().flat_map(|point| {
            let (low, high) = point.error.unzip();
            [Some(point.y), low, high].into_iter().flatten()
        });
        let of = |found: Option<(f64, f64)>| found.map_or((0.0, 1.0), widened);
        let x_range = of(range(self.points.iter().map(|point| point.x).chain([0.0])));
        let x = Scale::new(x_range, frame.left, frame.right);
        let y = Scale::new(of(range(heights)), frame.bottom, frame.top);

        let mut canvas = Canvas::new((WIDTH, HEIGHT), &self.title, &self.description());
        vertical_axis(&mut canvas, &frame, &y, &self.y_name);
        horizontal_axis(&mut canvas, &frame, &x, &self.x_name);
        for point in &self.points {
            let at = (x.pixel(point.x), y.pixel(point.y));
            if let Some((low, high)) = point.error {
                let style = "stroke=\"#555555\" stroke-width=\"1.5\"";
                canvas.line((at.0, y.pixel(low)), (at.0, y.pixel(high)), style);
            }
            canvas.circle(at, 4.5, "fill=\"#0072b2\"");
            canvas.label((at.0 + 8.0, at.1 + 4.0), &point.name, Anchor::Start, "");
        }
        canvas.finish()
    }

    fn description(&self) -> String {
        let each = |point: &NamedPoint| {
            let (low, high) = point.error.unzip();
            let bar = low.zip(high).map_or(String::new(), |(l, h)| format!(" ({l:.3} to {h:.3})"));
            format!("{}: {:.3}, {:.3}{bar}.", point.name, point.x, point.y)
        };
        described(self.points.iter().map(each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_its_name_and_error_bar_and_none_is_no_trouble() {
        let point = |name: &str, x, y| NamedPoint {
            name: name.into(),
            x,
            y,
            error: Some((y - 0.1, y + 0.1)),
        };
        let mut chart = PointChart {
            title: "t".into(),
            x_name: "x".into(),
            y_name: "y".into(),
            points: vec![point("a<b", 100.0, 0.5), point("c", 900.0, 0.75)],
        };
        let picture = chart.svg();
        assert!(picture.contains(">a&lt;b</text>"), "{picture}");
        assert_eq!(picture.matches("<circle").count(), 2);
        assert!(picture.contains("c: 900.000, 0.750 (0.650 to 0.850)."), "{picture}");
        chart.points.clear();
        assert!(!chart.svg().contains("NaN"));
    }
}

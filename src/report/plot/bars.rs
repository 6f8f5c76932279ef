//! Bars with error bars, one row per thing, so that names have room.

use super::axis::{AXIS, GUIDE, Scale, horizontal_axis, range};
use super::canvas::{Anchor, Canvas, Frame, described, text_width};

const WIDTH: f64 = 720.0;
const ROW: f64 = 26.0;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// Its name, at the left.
    pub name: String,
    /// Its length; a missing one leaves the row empty but for the name.
    pub value: Option<f64>,
    /// Low and high end of the error bar.
    pub error: Option<(f64, f64)>,
}

/// A figure of bars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BarChart {
    /// What the figure shows.
    pub title: String,
    /// Name of the horizontal axis, with its unit; says what the error bars are.
    pub x_name: String,
    /// Range of the axis; `None`: from 0 to the largest value.
    pub x_range: Option<(f64, f64)>,
    /// A value to compare with, e.g. that of chance.
    pub reference: Option<f64>,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

impl BarChart {
    /// The figure as SVG.
    pub(crate) fn svg(&self) -> String {
        self.drawn("Bars", draw_bar)
    }

    /// The same with a dot in place of every bar, for what has no beginning to be measured from.
    pub(crate) fn dots(&self) -> String {
        self.drawn("Dots", draw_dot)
    }

    fn drawn(&self, marks: &str, draw: fn(&mut Canvas, &Bar, f64, (f64, &Scale))) -> String {
        let height = 40.0 + ROW * self.bars.len() as f64 + 52.0;
        let names = self.bars.iter().map(|bar| text_width(&bar.name));
        let frame = Frame {
            left: 24.0 + names.fold(0.0, f64::max),
            right: WIDTH - 64.0,
            top: 36.0,
            bottom: height - 52.0,
        };
        let values = self.bars.iter().flat_map(|bar| {
            let (low, high) = bar.error.unzip();
            [Some(0.0), bar.value, low, high].into_iter().flatten()
        });
        let x_range = self.x_range.or_else(|| range(values)).unwrap_or((0.0, 1.0));
        let x = Scale::new(x_range, frame.left, frame.right);
        // A bar starts at 0 where the axis shows 0.
        let origin = x.pixel(0.0);

        let mut canvas = Canvas::new((WIDTH, height), &self.title, &self.description(marks));
        for (value, _) in x.ticks(6) {
            let at = x.pixel(value);
            canvas.line((at, frame.top), (at, frame.bottom), GUIDE);
        }
        for (index, bar) in self.bars.iter().enumerate() {
            let middle = frame.top + ROW * (index as f64 + 0.5);
            canvas.label((frame.left - 8.0, middle + 4.0), &bar.name, Anchor::End, "");
            draw(&mut canvas, bar, middle, (origin, &x));
        }
        if let Some(reference) = self.reference {
            let at = x.pixel(reference);
            let style = "stroke=\"#000000\" stroke-dasharray=\"3 3\"";
            canvas.line((at, frame.top), (at, frame.bottom), style);
        }
        canvas.line((frame.left, frame.top), (frame.left, frame.bottom), AXIS);
        horizontal_axis(&mut canvas, &frame, &x, &self.x_name);
        canvas.finish()
    }

    fn description(&self, marks: &str) -> String {
        let bars = self.bars.iter().map(|bar| match (bar.value, bar.error) {
            (None, _) => format!("{}: no value.", bar.name),
            (Some(value), None) => format!("{}: {value:.3}.", bar.name),
            (Some(value), Some((low, high))) => {
                format!("{}: {value:.3}, {low:.3} to {high:.3}.", bar.name)
            }
        });
        format!("{marks}: {}. {}", self.x_name, described(bars))
    }
}

fn draw_bar(canvas: &mut Canvas, bar: &Bar, middle: f64, (origin, x): (f64, &Scale)) {
    let Some(value) = bar.value else { return };
    let end = x.pixel(value);
    let fill = "fill=\"#bdbdbd\" stroke=\"#000000\" stroke-width=\"0.8\"";
    canvas.rectangle((origin, middle - 8.0), (end, middle + 8.0), fill);
    let right = draw_error(canvas, bar, middle, x).map_or(end, |high| high.max(end));
    label(canvas, value, right.max(origin), middle);
}

fn draw_dot(canvas: &mut Canvas, bar: &Bar, middle: f64, (_, x): (f64, &Scale)) {
    let Some(value) = bar.value else { return };
    let at = x.pixel(value);
    let right = draw_error(canvas, bar, middle, x).map_or(at, |high| high.max(at));
    canvas.circle((at, middle), 4.5, "fill=\"#0072b2\"");
    label(canvas, value, right, middle);
}

/// The error bar, if there is one; where it ends.
fn draw_error(canvas: &mut Canvas, bar: &Bar, middle: f64, x: &Scale) -> Option<f64> {
    let (low, high) = bar.error?;
    let (low, high) = (x.pixel(low), x.pixel(high));
    canvas.line((low, middle), (high, middle), AXIS);
    for at in [low, high] {
        canvas.line((at, middle - 4.0), (at, middle + 4.0), AXIS);
    }
    Some(high)
}

fn label(canvas: &mut Canvas, value: f64, right: f64, middle: f64) {
    canvas.label((right + 6.0, middle + 4.0), &format!("{value:.3}"), Anchor::Start, "");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: Option<f64>) -> Bar {
        Bar { name: "ca & z".into(), value, error: value.map(|value| (value - 0.1, value)) }
    }

    fn chart(bars: Vec<Bar>) -> String {
        let reference = Some(0.5);
        BarChart { title: "t".into(), x_name: "x".into(), x_range: None, reference, bars }.svg()
    }

    #[test]
    fn a_missing_value_is_no_bar() {
        let picture = chart(vec![bar(Some(0.75)), bar(None)]);
        // The background and one bar.
        assert_eq!(picture.matches("<rect").count(), 2);
        assert_eq!(picture.matches("ca &amp; z</text>").count(), 2);
        assert!(
            picture.contains("ca &amp; z: 0.750, 0.650 to 0.750. ca &amp; z: no value.</desc>")
        );
        assert!(picture.contains(">0.750</text>"));
    }

    #[test]
    fn no_bars_and_only_missing_ones_can_be_drawn() {
        for bars in [vec![], vec![bar(None)]] {
            let picture = chart(bars);
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"));
        }
    }
}

//! From data to pixels.

use super::canvas::{Anchor, Canvas, Frame};

/// Style of axes and ticks.
pub(super) const AXIS: &str = "stroke=\"#000000\" stroke-width=\"1\"";

/// Style of lines that only guide the eye.
pub(super) const GUIDE: &str = "stroke=\"#d9d9d9\" stroke-width=\"1\"";

/// Steps between ticks, times a power of ten.
const STEPS: [f64; 4] = [1.0, 2.0, 2.5, 5.0];

/// Maps the range `low..high` of a quantity linearly to pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// `low` is drawn at `start`, `high` at `end`; an empty range is widened.
    pub(super) fn new((low, high): (f64, f64), start: f64, end: f64) -> Self {
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        Self { low, high, start, end }
    }

    /// The pixel of a value; a value outside the range is drawn at its end.
    pub(super) fn pixel(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }

    /// Round values in the range, at most about `count`, with the decimals they need.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / count.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = STEPS.iter().map(|step| step * power).find(|&step| step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let whole = |power: i32| is_whole(step * 10_f64.powi(power));
        let decimals = (0..=6).zip(0_usize..).find(|&(power, _)| whole(power)).map_or(6, |d| d.1);
        let first = (self.low / step - 1e-9).ceil();
        (0..=count * 2)
            .map(|index| (first + index as f64) * step)
            .take_while(|value| *value <= self.high + step * 1e-9)
            // Adding 0 turns -0 into 0.
            .map(|value| (value, format!("{:.decimals$}", value + 0.0)))
            .collect()
    }
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

/// The smallest range that holds all values; `None` without values.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// The range with some air at both ends.
pub(super) fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let air = (high - low) * 0.05;
    (low - air, high + air)
}

/// Draws the horizontal axis with ticks and its name.
pub(super) fn horizontal_axis(canvas: &mut Canvas, frame: &Frame, scale: &Scale, name: &str) {
    canvas.line((frame.left, frame.bottom), (frame.right, frame.bottom), AXIS);
    for (value, text) in scale.ticks(6) {
        let x = scale.pixel(value);
        canvas.line((x, frame.bottom), (x, frame.bottom + 4.0), AXIS);
        canvas.label((x, frame.bottom + 18.0), &text, Anchor::Middle, "");
    }
    let middle = (frame.left + frame.right) / 2.0;
    canvas.label((middle, frame.bottom + 36.0), name, Anchor::Middle, "");
}

/// Draws the vertical axis with ticks, guides and its name.
pub(super) fn vertical_axis(canvas: &mut Canvas, frame: &Frame, scale: &Scale, name: &str) {
    canvas.line((frame.left, frame.top), (frame.left, frame.bottom), AXIS);
    for (value, text) in scale.ticks(6) {
        let y = scale.pixel(value);
        canvas.line((frame.left, y), (frame.right, y), GUIDE);
        canvas.line((frame.left - 4.0, y), (frame.left, y), AXIS);
        canvas.label((frame.left - 8.0, y + 4.0), &text, Anchor::End, "");
    }
    canvas.upright_label((16.0, (frame.top + frame.bottom) / 2.0), name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        Scale::new((low, high), 0.0, 1.0).ticks(6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_inside_the_range() {
        assert_eq!(texts(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(0.0, 0.2), ["0.00", "0.05", "0.10", "0.15", "0.20"]);
        assert_eq!(texts(-0.3, 0.31), ["-0.2", "0.0", "0.2"]);
        assert_eq!(texts(20.0, 100.0), ["20", "40", "60", "80", "100"]);
        assert_eq!(texts(3.0, 3.0), ["2.6", "2.8", "3.0", "3.2", "3.4"]);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the ends are exact")]
    fn values_outside_are_drawn_at_the_end() {
        let scale = Scale::new((0.0, 2.0), 100.0, 0.0);
        assert_eq!([scale.pixel(-1.0), scale.pixel(0.5), scale.pixel(9.0)], [100.0, 75.0, 0.0]);
    }
}

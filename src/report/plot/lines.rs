//! Lines with bands, each named at its end.

use super::axis::{Scale, horizontal_axis, range, vertical_axis, widened};
use super::canvas::{Anchor, Canvas, Frame, TEXT, described, text_width};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;

/// Colours that differ in brightness and for the colour-blind (Okabe and Ito 2008), with the dash
/// that tells them apart without colour.
const STYLES: [(&str, &str); 7] = [
    ("#000000", ""),
    ("#0072b2", "8 3"),
    ("#d55e00", "2 3"),
    ("#009e73", "10 3 2 3"),
    ("#cc79a7", "5 5"),
    ("#56b4e9", "14 4"),
    ("#a6761d", "1 4"),
];

/// One point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LinePoint {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Height; a missing one interrupts the line.
    pub y: Option<f64>,
    /// Low and high end of the band at this point.
    pub band: Option<(f64, f64)>,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Its name, written at its end.
    pub name: String,
    /// By ascending `x`.
    pub points: Vec<LinePoint>,
}

/// A figure of lines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineChart {
    /// What the figure shows.
    pub title: String,
    /// Name of the horizontal axis, with its unit.
    pub x_name: String,
    /// Name of the vertical axis, with its unit.
    pub y_name: String,
    /// Range of the vertical axis; `None`: that of the data.
    pub y_range: Option<(f64, f64)>,
    /// The lines; the style of the eighth is that of the first.
    pub lines: Vec<Line>,
}

impl LineChart {
    /// The figure as SVG.
    pub(crate) fn svg(&self) -> String {
        let names = self.lines.iter().map(|line| text_width(&line.name));
        let frame = Frame {
            left: 64.0,
            right: WIDTH - 40.0 - names.fold(0.0, f64::max),
            top: 40.0,
            bottom: HEIGHT - 52.0,
        };
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x_range = range(points().map(|point| point.x)).unwrap_or((0.0, 1.0));
        let heights = points().flat_map(|point| {
            let (low, high) = point.band.unzip();
            [point.y, low, high].into_iter().flatten()
        });
        let y_range = self.y_range.or_else(|| range(heights).map(widened)).unwrap_or((0.0, 1.0));
        let x = Scale::new(x_range, frame.left, frame.right);
        let y = Scale::new(y_range, frame.bottom, frame.top);

        let mut canvas = Canvas::new((WIDTH, HEIGHT), &self.title, &self.description());
        vertical_axis(&mut canvas, &frame, &y, &self.y_name);
        horizontal_axis(&mut canvas, &frame, &x, &self.x_name);
        for (index, line) in self.lines.iter().enumerate() {
            draw_band(&mut canvas, line, index, (&x, &y));
        }
        for (index, line) in self.lines.iter().enumerate() {
            draw_line(&mut canvas, line, index, (&x, &y));
        }
        self.draw_names(&mut canvas, &frame, &y);
        canvas.finish()
    }

    fn description(&self) -> String {
        let lines = self.lines.iter().map(|line| {
            let points = line
                .points
                .iter()
                .filter_map(|point| point.y.map(|y| format!("{y:.3} at {}", point.x)));
            let points: Vec<String> = points.collect();
            format!("{}: {}.", line.name, points.join(", "))
        });
        format!("Lines: {} by {}. {}", self.y_name, self.x_name, described(lines))
    }

    /// Names at the right, moved apart where lines end close to each other.
    fn draw_names(&self, canvas: &mut Canvas, frame: &Frame, y: &Scale) {
        let mut ends: Vec<(f64, usize)> = self
            .lines
            .iter()
            .enumerate()
            .filter_map(|(index, line)| {
                let last = line.points.iter().rev().find_map(|point| point.y)?;
                Some((y.pixel(last), index))
            })
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let heights: Vec<f64> = ends.iter().map(|end| end.0).collect();
        let places = spread(&heights, TEXT + 3.0, (frame.top, frame.bottom));
        for (&(end, index), place) in ends.iter().zip(places) {
            let (color, _) = style(index);
            let lead = format!("stroke=\"{color}\" stroke-width=\"1.2\"");
            canvas.line((frame.right + 7.0, end), (frame.right + 20.0, place), &lead);
            let at = (frame.right + 24.0, place + 4.0);
            // Black, since not every colour can be read on white; the lead has the colour.
            canvas.label(at, &self.lines[index].name, Anchor::Start, "");
        }
    }
}

fn style(index: usize) -> (&'static str, &'static str) {
    STYLES[index % STYLES.len()]
}

fn draw_band(canvas: &mut Canvas, line: &Line, index: usize, (x, y): (&Scale, &Scale)) {
    let (color, _) = style(index);
    for run in line.points.split(|point| point.band.is_none()) {
        let lows = run.iter().filter_map(|p| Some((x.pixel(p.x), y.pixel(p.band?.0))));
        let highs = run.iter().rev().filter_map(|p| Some((x.pixel(p.x), y.pixel(p.band?.1))));
        let outline: Vec<_> = lows.chain(highs).collect();
        if run.len() > 1 {
            let style = format!("fill=\"{color}\" fill-opacity=\"0.13\" stroke=\"none\"");
            canvas.polygon(&outline, &style);
        } else if let [low, high] = outline[..] {
            canvas.line(low, high, &format!("stroke=\"{color}\" stroke-opacity=\"0.4\""));
        }
    }
}

fn draw_line(canvas: &mut Canvas, line: &Line, index: usize, (x, y): (&Scale, &Scale)) {
    let (color, dash) = style(index);
    let stroke = format!("stroke=\"{color}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"");
    for run in line.points.split(|point| point.y.is_none()) {
        let points: Vec<_> =
            run.iter().filter_map(|p| Some((x.pixel(p.x), y.pixel(p.y?)))).collect();
        if points.len() > 1 {
            canvas.polyline(&points, &stroke);
        }
        for point in points {
            draw_marker(canvas, point, index, color);
        }
    }
}

/// A shape that differs between neighbouring styles.
fn draw_marker(canvas: &mut Canvas, (x, y): (f64, f64), index: usize, color: &str) {
    let full = format!("fill=\"{color}\"");
    let open = format!("fill=\"#ffffff\" stroke=\"{color}\" stroke-width=\"1.4\"");
    let style = if index % STYLES.len() < 4 { full } else { open };
    match index % STYLES.len() % 4 {
        0 => canvas.circle((x, y), 3.5, &style),
        1 => canvas.rectangle((x - 3.2, y - 3.2), (x + 3.2, y + 3.2), &style),
        2 => canvas.polygon(&[(x, y - 4.2), (x + 4.0, y + 3.2), (x - 4.0, y + 3.2)], &style),
        _ => canvas.polygon(&[(x, y - 4.4), (x + 4.4, y), (x, y + 4.4), (x - 4.4, y)], &style),
    }
}

/// Positions near `wanted` (ascending) that are at least `gap` apart and inside the bounds if
/// they fit: neighbours that are too close share the room around their mean.
fn spread(wanted: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    // Blocks of labels that touch: sum of wanted positions less their offsets, and count.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let start = |&(sum, count): &(f64, usize)| {
        let last = high - gap * (count - 1) as f64;
        (sum / count as f64).min(last).max(low)
    };
    for &position in wanted {
        let mut block = (position, 1);
        while let Some(before) = blocks.last() {
            if start(before) + gap * before.1 as f64 <= start(&block) {
                break;
            }
            block = (before.0 + block.0 - gap * (before.1 * block.1) as f64, before.1 + block.1);
            blocks.pop();
        }
        blocks.push(block);
    }
    let places = blocks.iter().flat_map(|block| {
        let start = start(block);
        (0..block.1).map(move |index| start + gap * index as f64)
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(x: f64, y: Option<f64>) -> LinePoint {
        LinePoint { x, y, band: y.map(|y| (y - 0.1, y + 0.1)) }
    }

    fn chart(lines: Vec<Line>) -> LineChart {
        LineChart {
            title: "t".into(),
            x_name: "x".into(),
            y_name: "y".into(),
            y_range: None,
            lines,
        }
    }

    #[test]
    fn a_missing_height_interrupts_the_line() {
        let points = [(0.0, Some(1.0)), (1.0, Some(2.0)), (2.0, None), (3.0, Some(1.0))];
        let points = points.map(|(x, y)| point(x, y)).to_vec();
        let picture = chart(vec![Line { name: "a<b".into(), points }]).svg();
        assert_eq!(picture.matches("<polyline").count(), 1);
        assert_eq!(picture.matches("<circle").count(), 3);
        assert_eq!(picture.matches("<polygon").count(), 1);
        assert!(picture.contains(">a&lt;b</text>"));
        assert!(picture.contains("a&lt;b: 1.000 at 0, 2.000 at 1, 1.000 at 3.</desc>"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_frame() {
        for lines in [vec![], vec![Line { name: "a".into(), points: vec![point(1.0, None)] }]] {
            let picture = chart(lines).svg();
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"));
        }
    }

    #[test]
    fn names_move_apart_around_their_mean() {
        // 10 and 12 share the room around 11; 40 is free.
        assert_eq!(spread(&[10.0, 12.0, 40.0], 8.0, (0.0, 50.0)), [7.0, 15.0, 40.0]);
        assert_eq!(spread(&[48.0, 49.0], 8.0, (0.0, 50.0)), [42.0, 50.0]);
    }

    proptest! {
        #[test]
        fn names_never_touch(mut wanted in prop::collection::vec(0.0..300.0_f64, 0..12)) {
            wanted.sort_by(f64::total_cmp);
            let places = spread(&wanted, 15.0, (0.0, 300.0));
            prop_assert_eq!(places.len(), wanted.len());
            for pair in places.windows(2) {
                prop_assert!(pair[1] - pair[0] >= 15.0 - 1e-9);
            }
            prop_assert!(places.iter().all(|place| (-1e-9..=300.0 + 1e-9).contains(place)));
        }
    }
}

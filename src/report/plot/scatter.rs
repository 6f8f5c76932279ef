//! Two numbers per person, with words in the corners that say what they mean.

use super::axis::{Frame, Scale, horizontal_axis, range, vertical_axis, widened};
use super::canvas::{Anchor, Canvas};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 400.0;

/// One person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScatterPoint {
    /// Number of the person, for a script that marks one.
    pub person: usize,
    /// Position from left to right.
    pub x: f64,
    /// Position from bottom to top.
    pub y: f64,
}

/// A figure of points.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterChart {
    /// What the figure shows.
    pub title: String,
    /// Name of the horizontal axis.
    pub x_name: String,
    /// Name of the vertical axis.
    pub y_name: String,
    /// What the corners at the bottom mean, the left one and the right one.
    pub corners: [String; 2],
    /// The points.
    pub points: Vec<ScatterPoint>,
}

impl ScatterChart {
    /// The figure as SVG; every point has its person in `data-person`.
    pub fn svg(&self) -> String {
        let frame = Frame { left: 64.0, right: WIDTH - 24.0, top: 40.0, bottom: HEIGHT - 56.0 };
        let of = |value: fn(&ScatterPoint) -> f64| range(self.points.iter().map(value));
        let x_range = of(|point| point.x).map_or((0.0, 1.0), widened);
        // With 0 in sight: the words at the bottom speak of people who have next to nothing.
        let with_zero = |(low, high): (f64, f64)| widened((low.min(0.0), high.max(0.0)));
        let (low, high) = of(|point| point.y).map_or((0.0, 1.0), with_zero);
        // Room for the words in the corners.
        let y_range = (low - 0.12 * (high - low), high);
        let x = Scale::new(x_range, frame.left, frame.right);
        let y = Scale::new(y_range, frame.bottom, frame.top);

        let mut canvas = Canvas::new((WIDTH, HEIGHT), &self.title, &self.description());
        vertical_axis(&mut canvas, &frame, &y, &self.y_name);
        horizontal_axis(&mut canvas, &frame, &x, &self.x_name);
        let style = "fill=\"#555555\" font-style=\"italic\"";
        let corner = |canvas: &mut Canvas, at: f64, text: &str, anchor| {
            canvas.label((at, frame.bottom - 8.0), text, anchor, style);
        };
        corner(&mut canvas, frame.left + 8.0, &self.corners[0], Anchor::Start);
        corner(&mut canvas, frame.right - 8.0, &self.corners[1], Anchor::End);
        let (radius, opacity) = if self.points.len() > 500 { (2.5, 0.5) } else { (4.5, 0.75) };
        for point in &self.points {
            let style = format!(
                "class=\"dot\" data-person=\"{}\" fill=\"#0072b2\" fill-opacity=\"{opacity}\"",
                point.person
            );
            canvas.circle((x.pixel(point.x), y.pixel(point.y)), radius, &style);
        }
        canvas.finish()
    }

    fn description(&self) -> String {
        let span = |values: Option<(f64, f64)>| {
            values.map_or("none".into(), |(low, high)| format!("{low:.3} to {high:.3}"))
        };
        format!(
            "{} points. Horizontal: {}, {}. Vertical: {}, {}. Bottom left: {}. Bottom right: {}.",
            self.points.len(),
            self.x_name,
            span(range(self.points.iter().map(|point| point.x))),
            self.y_name,
            span(range(self.points.iter().map(|point| point.y))),
            self.corners[0],
            self.corners[1],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<ScatterPoint>) -> String {
        ScatterChart {
            title: "t".into(),
            x_name: "x".into(),
            y_name: "y".into(),
            corners: ["off <topic>".into(), "copies".into()],
            points,
        }
        .svg()
    }

    #[test]
    fn every_point_names_its_person_and_lies_inside_the_frame() {
        let points = [(7, 0.0, 1.0), (3, 1.0, 0.0)];
        let points = points.map(|(person, x, y)| ScatterPoint { person, x, y });
        let picture = chart(points.to_vec());
        // 472 pixels wide, 5 % of the range of air at each end: 64 + 472 / 22 = 85.5.
        assert!(picture.contains("<circle cx=\"85.5\""), "{picture}");
        assert!(picture.contains("data-person=\"7\"") && picture.contains("data-person=\"3\""));
        assert!(picture.contains(">off &lt;topic&gt;</text>"));
        assert!(picture.contains("2 points. Horizontal: x, 0.000 to 1.000."));
    }

    #[test]
    fn the_bottom_is_where_nothing_is_left() {
        let points = [(0, 0.5, 0.5), (1, 0.6, 0.6)];
        let points = points.map(|(person, x, y)| ScatterPoint { person, x, y });
        let picture = chart(points.to_vec());
        // The vertical axis begins below 0, the horizontal one has no reason to.
        assert_eq!(picture.matches(">0.0</text>").count(), 1, "{picture}");
    }

    #[test]
    fn no_point_and_equal_points_can_be_drawn() {
        let same = ScatterPoint { person: 0, x: 1.0, y: 1.0 };
        for points in [vec![], vec![same; 2]] {
            let picture = chart(points);
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"), "{picture}");
        }
    }
}

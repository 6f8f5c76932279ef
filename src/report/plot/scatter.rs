//! Two numbers per person, with words in the corners that say what they mean.

use super::axis::{Scale, horizontal_axis, range, vertical_axis, widened};
use super::canvas::{Anchor, Canvas, Frame, TEXT, text_width};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 400.0;

/// One person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScatterPoint {
    /// Number of the person, for a script that marks one.
    pub person: usize,
    /// Position from left to right.
    pub x: f64,
    /// Position from bottom to top.
    pub y: f64,
}

/// Points without people that show where something would stand.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ScatterCloud {
    /// What they stand for, for the legend.
    pub name: String,
    /// Positions.
    pub points: Vec<(f64, f64)>,
}

/// A figure of points.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ScatterChart {
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
    /// Faint points behind them, by kind; the first four are drawn.
    pub clouds: Vec<ScatterCloud>,
    /// Names that stand at the points of people, where there is room.
    pub named: Vec<(usize, String)>,
}

/// Colours of clouds, in turn.
const CLOUD_COLORS: [&str; 4] = ["#d55e00", "#cc79a7", "#009e73", "#a6761d"];

/// Letters of a name in the figure.
const NAME_LETTERS: usize = 24;

impl ScatterChart {
    /// The figure as SVG; every point has its person in `data-person`.
    pub(crate) fn svg(&self) -> String {
        let legend = self.clouds.iter().any(|cloud| !cloud.points.is_empty());
        let top = if legend { 58.0 } else { 40.0 };
        let frame = Frame { left: 64.0, right: WIDTH - 24.0, top, bottom: HEIGHT - 56.0 };
        let of = |value: fn(&ScatterPoint) -> f64, of_cloud: fn(&(f64, f64)) -> f64| {
            let clouds = self.clouds.iter().flat_map(|cloud| &cloud.points).map(of_cloud);
            range(self.points.iter().map(value).chain(clouds))
        };
        let x_range = of(|point| point.x, |point| point.0).map_or((0.0, 1.0), widened);
        // With 0 in sight: the words at the bottom speak of people who have next to nothing.
        let with_zero = |(low, high): (f64, f64)| widened((low.min(0.0), high.max(0.0)));
        let (low, high) = of(|point| point.y, |point| point.1).map_or((0.0, 1.0), with_zero);
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
        let mut at = frame.left;
        for (cloud, color) in
            self.clouds.iter().zip(CLOUD_COLORS).filter(|(c, _)| !c.points.is_empty())
        {
            let spots: Vec<(f64, f64)> =
                cloud.points.iter().map(|&(a, b)| (x.pixel(a), y.pixel(b))).collect();
            canvas.spots(
                &spots,
                &format!("class=\"ghost\" stroke=\"{color}\" stroke-opacity=\"0.35\""),
            );
            canvas.spots(&[(at + 4.0, 38.0)], &format!("stroke=\"{color}\""));
            canvas.label((at + 12.0, 42.0), &cloud.name, Anchor::Start, "fill=\"#555555\"");
            at += 28.0 + text_width(&cloud.name);
        }
        let (radius, opacity) = if self.points.len() > 500 { (2.5, 0.5) } else { (4.5, 0.75) };
        let is_named =
            |point: &ScatterPoint| self.named.iter().any(|(who, _)| *who == point.person);
        for point in &self.points {
            let (kind, radius, color, opacity) = if is_named(point) {
                ("dot named", 4.5, "#000000", 1.0)
            } else {
                ("dot", radius, "#0072b2", opacity)
            };
            let style = format!(
                "class=\"{kind}\" data-person=\"{}\" fill=\"{color}\" fill-opacity=\"{opacity}\"",
                point.person
            );
            canvas.circle((x.pixel(point.x), y.pixel(point.y)), radius, &style);
        }
        self.write_names(&mut canvas, &frame, |point| (x.pixel(point.x), y.pixel(point.y)));
        canvas.finish()
    }

    /// Names beside their points, but those that would cover another.
    fn write_names(
        &self,
        canvas: &mut Canvas,
        frame: &Frame,
        pixel: impl Fn(&ScatterPoint) -> (f64, f64),
    ) {
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for (person, name) in &self.named {
            let Some(point) = self.points.iter().find(|point| point.person == *person) else {
                continue;
            };
            let mut name: String = name.clone();
            if let Some((end, _)) = name.char_indices().nth(NAME_LETTERS) {
                name.truncate(end);
                name.push('\u{2026}');
            }
            let ((x, y), width) = (pixel(point), text_width(&name));
            let right = x + 8.0 + width <= frame.right;
            let left = if right { x + 8.0 } else { x - 8.0 - width };
            let covers = |&(from, to, base): &(f64, f64, f64)| {
                left < to && from < left + width && (base - y).abs() < TEXT
            };
            if left < frame.left || taken.iter().any(covers) {
                continue;
            }
            taken.push((left, left + width, y));
            let anchor = if right { Anchor::Start } else { Anchor::End };
            let from = if right { left } else { left + width };
            canvas.label((from, y + 4.0), &name, anchor, "class=\"name\" font-weight=\"bold\"");
        }
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
            ..ScatterChart::default()
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
    fn people_are_named_where_there_is_room_and_ghosts_are_one_shape_by_kind() {
        let point = |person, x, y| ScatterPoint { person, x, y };
        let cloud = |name: &str, points: &[(f64, f64)]| ScatterCloud {
            name: name.into(),
            points: points.to_vec(),
        };
        let long = "n".repeat(40);
        let picture = ScatterChart {
            // The first two are at the same place, so that only one has room; the last is at the
            // right end.
            points: vec![point(0, 0.0, 0.0), point(1, 0.0, 0.0), point(2, 1.0, 1.0)],
            clouds: vec![cloud("copies", &[(0.0, 0.0), (1.0, 0.5)]), cloud("empty", &[])],
            named: vec![
                (0, "a<b".into()),
                (1, "bob".into()),
                (2, long.clone()),
                (9, "gone".into()),
            ],
            ..ScatterChart::default()
        }
        .svg();
        assert!(picture.contains(">a&lt;b</text>"), "{picture}");
        assert!(!picture.contains("bob") && !picture.contains("gone"));
        let cut = format!(">{}\u{2026}</text>", &long[..24]);
        assert!(picture.contains("text-anchor=\"end\" class=\"name\"") && picture.contains(&cut));
        // Two spots of a cloud and the one of the legend; the empty one is not in it.
        assert_eq!(picture.matches("h0").count(), 3);
        assert!(picture.contains(">copies</text>") && !picture.contains("empty"));
        assert_eq!(picture.matches("class=\"dot named\"").count(), 3);
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

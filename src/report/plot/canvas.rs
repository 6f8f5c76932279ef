//! An SVG picture under construction.

use std::fmt::Write;

use super::super::text::is_hostile;

/// Width of the letters of a sans-serif font, in units of its size; on average, for layout only.
const LETTER_WIDTH: f64 = 0.56;

/// Size of ordinary text, in pixels.
pub(super) const TEXT: f64 = 12.0;

/// Where the data of a figure are drawn, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// Where a text stands relative to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// It starts there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Shapes in the order in which they are drawn.
#[derive(Debug)]
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    /// An empty white picture with a title, and a description that stands for the picture where
    /// it cannot be seen.
    pub(super) fn new((width, height): (f64, f64), title: &str, description: &str) -> Self {
        let mut text = String::new();
        let (name, description) = (escaped(title), escaped(description));
        // Writing to a string cannot fail.
        _ = write!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{name}\" \
             font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"{TEXT}\">\n\
             <title>{name}</title>\n<desc>{description}</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        let mut canvas = Self { text };
        canvas.label((12.0, 20.0), title, Anchor::Start, "font-weight=\"bold\"");
        canvas
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        _ = writeln!(
            self.text,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through points.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], style: &str) {
        let points = listed(points);
        _ = writeln!(self.text, "<polyline points=\"{points}\" fill=\"none\" {style}/>");
    }

    /// A filled area.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], style: &str) {
        let points = listed(points);
        _ = writeln!(self.text, "<polygon points=\"{points}\" {style}/>");
    }

    /// A rectangle by its corners, in any order.
    pub(super) fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let (left, top) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = ((from.0 - to.0).abs(), (from.1 - to.1).abs());
        _ = writeln!(
            self.text,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}/>"
        );
    }

    /// A circle.
    pub(super) fn circle(&mut self, center: (f64, f64), radius: f64, style: &str) {
        let (x, y) = center;
        _ = writeln!(self.text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {style}/>");
    }

    /// Small round spots as one shape, however many; `style` has their colour as a stroke.
    pub(super) fn spots(&mut self, centers: &[(f64, f64)], style: &str) {
        self.text.push_str("<path d=\"");
        for (x, y) in centers {
            _ = write!(self.text, "M{x:.1} {y:.1}h0");
        }
        _ = writeln!(
            self.text,
            "\" fill=\"none\" stroke-width=\"5\" stroke-linecap=\"round\" {style}/>"
        );
    }

    /// A text, its baseline at `position`.
    pub(super) fn label(&mut self, position: (f64, f64), text: &str, anchor: Anchor, style: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = position;
        let text = escaped(text);
        _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{text}</text>"
        );
    }

    /// A text that reads upwards, its middle at `position`.
    pub(super) fn upright_label(&mut self, position: (f64, f64), text: &str) {
        let (x, y) = position;
        let style = format!("transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.label(position, text, Anchor::Middle, &style);
    }

    /// An empty group with the frame and the range of the horizontal axis, in which a script can
    /// mark a value.
    pub(super) fn overlay(&mut self, frame: &Frame, (low, high): (f64, f64)) {
        let Frame { left, right, top, bottom } = frame;
        _ = writeln!(
            self.text,
            "<g class=\"overlay\" data-left=\"{left:.1}\" data-right=\"{right:.1}\" \
             data-top=\"{top:.1}\" data-bottom=\"{bottom:.1}\" data-low=\"{low}\" \
             data-high=\"{high}\"></g>"
        );
    }

    /// The picture as a text.
    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// The first few of many sentences of a description, and how many follow.
pub(super) fn described(sentences: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 40;
    let mut shown: Vec<String> = sentences.collect();
    let hidden = shown.len().saturating_sub(SHOWN);
    shown.truncate(SHOWN);
    if hidden > 0 {
        shown.push(format!("And {hidden} more."));
    }
    shown.join(" ")
}

/// How wide a text is, about.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * TEXT * LETTER_WIDTH
}

fn listed(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    points.join(" ")
}

/// The text with the characters that mean something in XML written as entities, and those that
/// XML forbids, or that act on the text around them, replaced.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => result.push('\u{fffd}'),
            letter if is_hostile(letter) => result.push('\u{fffd}'),
            letter => result.push(letter),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_strangers_stays_text() {
        let mut canvas = Canvas::new((10.0, 10.0), "a \" onload=\"alert(1)", "</desc><b>");
        canvas.label((0.0, 0.0), "</text><script>&'\u{1b}", Anchor::Start, "");
        let picture = canvas.finish();
        assert!(picture.contains("aria-label=\"a &quot; onload=&quot;alert(1)\""), "{picture}");
        assert!(picture.contains(">&lt;/text&gt;&lt;script&gt;&amp;&#39;\u{fffd}</text>"));
        assert!(!picture.contains("<script") && !picture.contains("<b>"));
    }
}

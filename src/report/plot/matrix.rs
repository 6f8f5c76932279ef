//! A matrix of counts, darker where a larger share of the row is.

use super::canvas::{Anchor, Canvas, described, text_width};

const CELL: f64 = 52.0;
const HEIGHT: f64 = 30.0;

/// A figure of a confusion matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MatrixChart {
    /// What the figure shows.
    pub title: String,
    /// What the rows are.
    pub row_name: String,
    /// What the columns are.
    pub column_name: String,
    /// Names of rows and columns.
    pub labels: Vec<String>,
    /// Counts by row.
    pub counts: Vec<Vec<u64>>,
}

impl MatrixChart {
    /// The figure as SVG.
    pub(crate) fn svg(&self) -> String {
        let size = self.labels.len() as f64;
        let names = self.labels.iter().map(|name| text_width(name)).fold(0.0, f64::max);
        let left = 40.0 + names;
        let cell = CELL.max(names + 8.0);
        let top = 72.0;
        let width = (left + size * cell + 24.0).max(text_width(&self.title) * 1.2 + 24.0);
        let height = top + size * HEIGHT + 20.0;
        let mut canvas = Canvas::new((width, height), &self.title, &self.description());
        let middle = left + size * cell / 2.0;
        canvas.label((middle, 42.0), &self.column_name, Anchor::Middle, "");
        canvas.upright_label((16.0, top + size * HEIGHT / 2.0), &self.row_name);
        for (index, name) in self.labels.iter().enumerate() {
            let x = left + cell * (index as f64 + 0.5);
            canvas.label((x, top - 8.0), name, Anchor::Middle, "");
            let y = top + HEIGHT * (index as f64 + 0.5) + 4.0;
            canvas.label((left - 8.0, y), name, Anchor::End, "");
        }
        for (row, counts) in self.counts.iter().enumerate() {
            let total: u64 = counts.iter().sum();
            for (column, &count) in counts.iter().enumerate() {
                let share = if total == 0 { 0.0 } else { count as f64 / total as f64 };
                let corner = (left + cell * column as f64, top + HEIGHT * row as f64);
                let end = (corner.0 + cell, corner.1 + HEIGHT);
                // A number is dark on a light cell and light on a dark one, with nothing in between.
                let (shade, ink) = if share > 0.5 {
                    (0.65 + 0.4 * (share - 0.5), "fill=\"#ffffff\"")
                } else {
                    (0.5 * share, "")
                };
                let fill = format!(
                    "fill=\"#000000\" fill-opacity=\"{shade:.2}\" stroke=\"#000000\" stroke-width=\"0.5\""
                );
                canvas.rectangle(corner, end, &fill);
                let at = (corner.0 + cell / 2.0, corner.1 + HEIGHT / 2.0 + 4.0);
                canvas.label(at, &count.to_string(), Anchor::Middle, ink);
            }
        }
        canvas.finish()
    }

    fn description(&self) -> String {
        let rows = self.labels.iter().zip(&self.counts).map(|(name, counts)| {
            let counts: Vec<String> = self
                .labels
                .iter()
                .zip(counts)
                .map(|(label, count)| format!("{label} {count}"))
                .collect();
            format!("{name}: {}.", counts.join(", "))
        });
        format!("Counts, rows {}, columns {}. {}", self.row_name, self.column_name, described(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_and_shaded_by_their_share_of_the_row() {
        let chart = MatrixChart {
            title: "t".into(),
            row_name: "gold".into(),
            column_name: "a & b".into(),
            labels: vec!["x".into(), "y".into()],
            counts: vec![vec![4, 0], vec![0, 0]],
        };
        let picture = chart.svg();
        // The background and four cells; a full row is dark, an empty one white.
        assert_eq!(picture.matches("<rect").count(), 5);
        assert_eq!(picture.matches("fill-opacity=\"0.85\"").count(), 1);
        assert_eq!(picture.matches("fill-opacity=\"0.00\"").count(), 3);
        assert!(picture.contains("a &amp; b") && picture.contains("x: x 4, y 0."), "{picture}");
        let empty = MatrixChart { labels: vec![], counts: vec![], ..chart };
        assert!(!empty.svg().contains("NaN"));
    }
}

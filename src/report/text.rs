//! A table for people: aligned, three decimals, with the footer in words.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

use super::{Cell, Exporter, Report};

/// Writes the headline of the table, the table or the prose in its place, then warnings and footer.
#[derive(Debug, Clone, Copy)]
pub struct TextExporter {
    /// Whether to colour flags; only for a terminal, and only with the feature `cli`.
    pub color: bool,
}

impl Exporter for TextExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        if let Some(headline) = report.table.headline() {
            writeln!(out, "{}\n", printable(headline))?;
        }
        match &report.prose {
            Some(prose) => writeln!(out, "{}", printable_lines(prose.trim_end()))?,
            None => writeln!(out, "{}", self.grid(report).trim_fmt())?,
        }
        let notes = report
            .footer
            .iter()
            .cloned()
            .chain(report.warnings.iter().map(|warning| format!("Note: {}.", warning.message)));
        for (index, note) in notes.enumerate() {
            if index == 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", printable(&note))?;
        }
        Ok(())
    }
}

impl TextExporter {
    fn grid(self, report: &Report) -> Grid {
        let table = &report.table;
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        color::prepare(&mut grid, self.color);
        grid.set_header(table.columns());
        for row in table.rows() {
            grid.add_row(row.iter().map(|cell| self.grid_cell(cell)));
        }
        for (index, column) in grid.column_iter_mut().enumerate() {
            let text = table.rows().iter().any(|row| matches!(row[index], Cell::Text(_)));
            if !text {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        grid
    }

    fn grid_cell(self, cell: &Cell) -> comfy_table::Cell {
        let shown = match cell {
            Cell::Missing => "-".into(),
            Cell::Text(text) => printable(text).into_owned(),
            Cell::Integer(number) => number.to_string(),
            Cell::Number(number) => three_decimals(*number),
        };
        color::paint(comfy_table::Cell::new(&shown), &shown, self.color)
    }
}

/// Colours; the crate behind them knows of terminals, so it comes with the command line.
#[cfg(feature = "cli")]
mod color {
    use comfy_table::{Cell, Color, Table};

    pub(super) fn prepare(grid: &mut Table, color: bool) {
        if color {
            grid.enforce_styling();
        } else {
            grid.force_no_tty();
        }
    }

    pub(super) fn paint(cell: Cell, shown: &str, color: bool) -> Cell {
        match (color, shown) {
            (true, "uninformative" | "look") => cell.fg(Color::Yellow),
            (true, "informative") => cell.fg(Color::Green),
            _ => cell,
        }
    }
}

/// Without the command line nothing is coloured.
#[cfg(not(feature = "cli"))]
mod color {
    use comfy_table::{Cell, Table};

    pub(super) fn prepare(_grid: &mut Table, _color: bool) {}

    pub(super) fn paint(cell: Cell, _shown: &str, _color: bool) -> Cell {
        cell
    }
}

/// A number with three decimals; nothing is minus nought.
pub fn three_decimals(number: f64) -> String {
    let text = format!("{number:.3}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// Whether a character acts on what is around it, or is there without being seen.
pub(super) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{2028}'..='\u{2029}' | '\u{2060}' | '\u{feff}')
}

/// The text with control characters made visible, so that a name from a stranger cannot move the
/// cursor, change colours or hide other lines of a terminal, nor look like another name.
pub fn printable(text: &str) -> Cow<'_, str> {
    shown_unless(text, |_| false)
}

/// As [`printable`], for a text of several lines: line ends and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    shown_unless(text, |c| matches!(c, '\n' | '\t'))
}

fn shown_unless(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let acts = |c: char| is_hostile(c) && !kept(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{example, written};
    use super::*;

    #[test]
    fn nothing_is_minus_nought() {
        let numbers = [-0.0004, -0.0, 0.0004, -0.0006, -1.0, f64::INFINITY];
        let shown = ["0.000", "0.000", "0.000", "-0.001", "-1.000", "inf"];
        assert_eq!(numbers.map(three_decimals), shown);
    }

    #[test]
    fn the_table_is_aligned_rounded_and_free_of_control_characters() {
        let text = written(&TextExporter { color: false }, &example());
        insta::assert_snapshot!(text, @r#"
         reviewer     score  rank
         a, "b"       0.300     1
         c\u{1b}[31m      -     -

        A flag is a reason to look.
        Note: 1 paper has no Z.
        "#);
    }

    #[test]
    #[cfg(feature = "cli")]
    fn colour_only_when_asked() {
        let mut report = example();
        report.table = super::super::Table::new(&["flag"]);
        report.table.push(vec!["uninformative".into()]);
        assert!(written(&TextExporter { color: true }, &report).contains('\u{1b}'));
        assert!(!written(&TextExporter { color: false }, &report).contains('\u{1b}'));
    }

    #[test]
    fn direction_marks_and_escapes_are_shown_not_obeyed() {
        assert_eq!(printable("a\u{202e}b\n"), "a\\u{202e}b\\u{a}");
        assert_eq!(printable("ada\u{200b}"), "ada\\u{200b}");
        assert_eq!(printable("Zoë 评审"), "Zoë 评审");
        assert_eq!(printable_lines("a\n\tb\u{1b}[2J"), "a\n\tb\\u{1b}[2J");
    }

    #[test]
    fn the_headline_comes_first_and_is_as_harmless_as_a_table() {
        let mut report = example();
        let plain = written(&TextExporter { color: false }, &report);
        report.table.set_headline("The answer\u{1b}]0;title\u{7}.".into());
        let text = written(&TextExporter { color: false }, &report);
        let (first, rest) = text.split_once("\n\n").unwrap();
        assert!(first.starts_with("The answer") && !first.contains('\u{1b}'), "{first:?}");
        assert_eq!(rest, plain);
    }

    #[test]
    fn prose_is_as_harmless_as_a_table() {
        let mut report = example();
        report.prose = Some("one\n\u{1b}]0;title\u{7}two".into());
        let text = written(&TextExporter { color: false }, &report);
        assert!(text.starts_with("one\n\\u{1b}]0;title\\u{7}two\n"), "{text}");
    }
}

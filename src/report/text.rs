//! A table for people: aligned, three decimals, with the footer in words.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{CellAlignment, Color, ContentArrangement, Table as Grid, presets};

use super::{Cell, Exporter, Report};

/// Writes the table, or the prose in its place, then warnings and footer.
#[derive(Debug, Clone, Copy)]
pub struct TextExporter {
    /// Whether to colour flags; only for a terminal.
    pub color: bool,
}

impl Exporter for TextExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        match &report.prose {
            Some(prose) => writeln!(out, "{}", prose.trim_end())?,
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
        if self.color {
            grid.enforce_styling();
        } else {
            grid.force_no_tty();
        }
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
            Cell::Number(number) => format!("{number:.3}"),
        };
        let grid_cell = comfy_table::Cell::new(&shown);
        match (self.color, shown.as_str()) {
            (true, "uninformative") => grid_cell.fg(Color::Yellow),
            (true, "informative") => grid_cell.fg(Color::Green),
            _ => grid_cell,
        }
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
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{example, written};
    use super::*;

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
    }
}

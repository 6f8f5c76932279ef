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
    /// Columns of the terminal: sentences break between words, empty columns are left out, ids are cut to
    /// their ends, and columns from the right, numbers first, are left out until rows fit. `None` leaves
    /// lines as long as they are.
    pub width: Option<usize>,
}

/// Names that are longer than this may be cut to their ends.
const LONG_NAME: usize = 20;

/// What stands in a cell that holds nothing.
const MISSING: &str = "-";

/// Columns that are never left out.
const KEPT_COLUMNS: usize = 3;

impl Exporter for TextExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let whole = |text: &str| self.wrapped(text);
        if let Some(headline) = report.table.headline() {
            writeln!(out, "{}\n", whole(&printable(headline)))?;
        }
        let (mut left_out, mut empty) = (Vec::new(), Vec::new());
        if let Some(prose) = &report.prose {
            writeln!(out, "{}", whole(&printable_lines(prose.trim_end())))?;
        } else {
            let mut shown = Shown::of(&report.table);
            if let Some(width) = self.width {
                empty = shown.drop_empty();
                left_out = shown.fit(width);
            }
            writeln!(out, "{}", self.grid(&shown).trim_fmt())?;
        }
        let narrow = (!left_out.is_empty())
            .then(|| format!("Not shown for want of room: {}.", left_out.join(", ")));
        let empty =
            (!empty.is_empty()).then(|| format!("Empty, and not shown: {}.", empty.join(", ")));
        let note = |message: &str| {
            format!("Note: {message}{}", if message.ends_with('?') { "" } else { "." })
        };
        let warnings = report.warnings.iter().map(|warning| note(&warning.message));
        let notes = report.footer.iter().cloned().chain(empty).chain(narrow).chain(warnings);
        for (index, note) in notes.enumerate() {
            if index == 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", whole(&printable(&note)))?;
        }
        Ok(())
    }
}

impl TextExporter {
    fn grid(self, shown: &Shown) -> Grid {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        color::prepare(&mut grid, self.color);
        grid.set_header(&shown.columns);
        for row in &shown.rows {
            grid.add_row(
                row.iter().map(|cell| color::paint(comfy_table::Cell::new(cell), cell, self.color)),
            );
        }
        for (column, is_text) in grid.column_iter_mut().zip(&shown.is_text) {
            if !is_text {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        grid
    }

    /// The lines of a text, broken between words where they are wider than the terminal.
    fn wrapped(self, text: &str) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        text.split('\n').map(|line| wrapped_line(line, width)).collect::<Vec<_>>().join("\n")
    }
}

/// A line broken between words; what follows stands a little further in. A word that is wider stays whole.
fn wrapped_line(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (mut all, mut current) = (String::new(), " ".repeat(indent));
    let hanging = " ".repeat(if indent == 0 { 0 } else { indent + 2 });
    let mut is_empty = true;
    for word in line[indent..].split(' ') {
        let room = current.chars().count() + usize::from(!is_empty) + word.chars().count();
        if !is_empty && room > width {
            all.push_str(current.trim_end());
            all.push('\n');
            current.clone_from(&hanging);
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    all + &current
}

/// A table as it is printed.
struct Shown {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// By column, whether there is a text in it.
    is_text: Vec<bool>,
}

impl Shown {
    fn of(table: &super::Table) -> Self {
        let shown = |row: &[Cell], column: usize| match &row[column] {
            Cell::Missing => MISSING.into(),
            Cell::Text(text) => printable_name(text).into_owned(),
            Cell::Integer(number) => number.to_string(),
            Cell::Number(number) => table.for_people(row, column, *number),
        };
        let shown_row = |row: &Vec<Cell>| (0..row.len()).map(|column| shown(row, column)).collect();
        let is_text =
            |column: usize| table.rows().iter().any(|row| matches!(row[column], Cell::Text(_)));
        Self {
            columns: table.columns().to_vec(),
            rows: table.rows().iter().map(shown_row).collect(),
            is_text: (0..table.columns().len()).map(is_text).collect(),
        }
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
    }

    /// Columns with a space on each side, but for the last, whose spaces are trimmed.
    fn width(&self) -> usize {
        (0..self.columns.len())
            .map(|column| self.column_width(column) + 2)
            .sum::<usize>()
            .saturating_sub(1)
    }

    /// Takes columns away that hold nothing in any row, but for the first, and returns them.
    fn drop_empty(&mut self) -> Vec<&'static str> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let is_empty = |column: &usize| self.rows.iter().all(|row| row[*column] == MISSING);
        let empty: Vec<usize> = (1..self.columns.len()).rev().filter(is_empty).collect();
        let mut names: Vec<_> = empty.into_iter().map(|column| self.remove(column)).collect();
        names.reverse();
        names
    }

    /// Takes a column away.
    fn remove(&mut self, column: usize) -> &'static str {
        self.is_text.remove(column);
        self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        self.columns.remove(column)
    }

    /// Makes rows fit; returns the columns that had to go.
    fn fit(&mut self, width: usize) -> Vec<&'static str> {
        for column in 0..self.columns.len() {
            let over = self.width().saturating_sub(width);
            let wide = self.column_width(column);
            if over > 0 && self.is_text[column] && wide > LONG_NAME {
                let names: Vec<&str> = self.rows.iter().map(|row| row[column].as_str()).collect();
                let room = wide.saturating_sub(over).max(LONG_NAME);
                if let Some(folded) = folded(&names, room) {
                    self.rows.iter_mut().zip(folded).for_each(|(row, name)| row[column] = name);
                }
            }
        }
        let mut left_out = Vec::new();
        // Numbers go before words, which say more in little room, where that is enough.
        let numbers = (KEPT_COLUMNS..self.columns.len()).filter(|&column| !self.is_text[column]);
        let room: usize = numbers.map(|column| self.column_width(column) + 2).sum();
        let numbers_are_enough = self.width() <= width + room;
        while self.width() > width && self.columns.len() > KEPT_COLUMNS {
            let last = self.columns.len() - 1;
            let number = (KEPT_COLUMNS..=last).rev().find(|&column| !self.is_text[column]);
            let column = number.filter(|_| numbers_are_enough).unwrap_or(last);
            left_out.push(self.remove(column));
        }
        left_out.reverse();
        left_out
    }
}

/// Ids without what all begin and end with, or else their last `room` characters, which tell them apart;
/// `None` for sentences, and where what is left would be the same for two.
pub(crate) fn folded(names: &[&str], room: usize) -> Option<Vec<String>> {
    let long: Vec<&&str> = names.iter().filter(|name| name.chars().count() > room).collect();
    if long.is_empty() || names.iter().any(|name| name.contains(' ')) {
        return None;
    }
    let shared = |a: usize, b: &str, c: &str| {
        a.min(b.chars().rev().zip(c.chars().rev()).take_while(|(b, c)| b == c).count())
    };
    let mut end = usize::MAX;
    for pair in names.windows(2) {
        end = shared(end, pair[0], pair[1]);
    }
    // Whole parts of an id only.
    let last = names[0];
    let tail: String = last.chars().skip(last.chars().count().saturating_sub(end)).collect();
    let end = if names.len() < 2 {
        0
    } else {
        tail.find(['/', ':', '#']).map_or(0, |at| tail[at..].chars().count())
    };
    let cut = |name: &&str| {
        let all: Vec<char> = name.chars().collect();
        let kept = &all[..all.len() - end];
        let ending = if end > 0 { "\u{2026}" } else { "" };
        if kept.len() + usize::from(end > 0) <= room {
            return kept.iter().collect::<String>() + ending;
        }
        let start = kept.len() + 1 + usize::from(end > 0) - room;
        format!("\u{2026}{}{ending}", kept[start..].iter().collect::<String>())
    };
    let short: Vec<String> = names.iter().map(cut).collect();
    let distinct = |names: &mut dyn Iterator<Item = &str>| {
        names.collect::<std::collections::HashSet<_>>().len()
    };
    let same =
        distinct(&mut short.iter().map(String::as_str)) == distinct(&mut names.iter().copied());
    same.then_some(short)
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
pub(crate) fn three_decimals(number: f64) -> String {
    decimals(number, 3)
}

/// The same with two.
pub(crate) fn two_decimals(number: f64) -> String {
    decimals(number, 2)
}

fn decimals(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
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
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    shown_where(text, is_hostile)
}

/// As [`printable`], for a name: other spaces are shown, too, since they look like the usual one.
pub(crate) fn printable_name(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c.is_whitespace() && !matches!(c, ' ' | '\u{3000}');
    shown_where(text, |c| is_hostile(c) || is_odd(c))
}

/// As [`printable`], for a text of several lines: line ends and tabs stay.
pub(crate) fn printable_lines(text: &str) -> Cow<'_, str> {
    shown_where(text, |c| is_hostile(c) && !matches!(c, '\n' | '\t'))
}

fn shown_where(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
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
        assert_eq!([-0.004, -0.006].map(two_decimals), ["0.00", "-0.01"]);
    }

    #[test]
    fn the_table_is_aligned_rounded_and_free_of_control_characters() {
        let text = written(&TextExporter { color: false, width: None }, &example());
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
        assert!(written(&TextExporter { color: true, width: None }, &report).contains('\u{1b}'));
        assert!(!written(&TextExporter { color: false, width: None }, &report).contains('\u{1b}'));
    }

    #[test]
    fn direction_marks_and_escapes_are_shown_not_obeyed() {
        assert_eq!(printable("a\u{202e}b\n"), "a\\u{202e}b\\u{a}");
        assert_eq!(printable("ada\u{200b}"), "ada\\u{200b}");
        assert_eq!(printable("Zoë 评审"), "Zoë 评审");
        assert_eq!(printable("10\u{a0}%"), "10\u{a0}%");
        let names = ["Anna B", "Anna  B", "Anna\u{a0}B", "Anna\u{2009}B", "Zoë\u{3000}评审"];
        let shown = ["Anna B", "Anna  B", "Anna\\u{a0}B", "Anna\\u{2009}B", "Zoë\u{3000}评审"];
        assert_eq!(names.map(printable_name), shown);
    }

    #[test]
    fn a_note_that_asks_ends_with_its_question() {
        let mut report = example();
        report.warnings[0].message = "is that the right column?".into();
        let text = written(&TextExporter { color: false, width: None }, &report);
        assert!(text.ends_with("Note: is that the right column?\n"), "{text}");
        assert_eq!(printable_lines("a\n\tb\u{1b}[2J"), "a\n\tb\\u{1b}[2J");
    }

    #[test]
    fn the_headline_comes_first_and_is_as_harmless_as_a_table() {
        let mut report = example();
        let plain = written(&TextExporter { color: false, width: None }, &report);
        report.table.set_headline("The answer\u{1b}]0;title\u{7}.".into());
        let text = written(&TextExporter { color: false, width: None }, &report);
        let (first, rest) = text.split_once("\n\n").unwrap();
        assert!(first.starts_with("The answer") && !first.contains('\u{1b}'), "{first:?}");
        assert_eq!(rest, plain);
    }

    #[test]
    fn at_eighty_columns_no_row_breaks_and_no_word_is_cut() {
        let mut report = example();
        let id = |end: &str| format!("ICLR.cc/2024/Conference/Submission{end}/Reviewer_{end}x");
        let long = "a number of words that is larger than what fits into one row of a terminal";
        report.table = super::super::Table::new(&["reviewer", "flag", "p_own", "share", "note"]);
        for end in ["13", "144"] {
            let row = vec![id(end).into(), "look".into(), 0.5.into(), 0.5.into(), long.into()];
            report.table.push(row);
        }
        report.footer = vec![format!("{long} {long}")];
        let text = written(&TextExporter { color: false, width: Some(60) }, &report);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(
            text.contains("\u{2026}ference/Submission144/Reviewer_144x")
                || text.contains("Reviewer_144x"),
            "{text}"
        );
        assert!(text.contains("Not shown for want of room: note."), "{text}");
        assert!(text.replace('\n', " ").contains(&format!("{long} {long}")), "{text}");
        assert!(!text.contains("Empty, and not shown"), "{text}");
        // In a file everything stays.
        let whole = written(&TextExporter { color: false, width: None }, &report);
        assert!(whole.contains(&id("13")) && whole.contains(&format!("{long} {long}")));
    }

    #[test]
    fn a_terminal_shows_no_empty_columns_and_names_them() {
        let mut report = example();
        report.table = super::super::Table::new(&["z", "score", "lambda", "copied", "flag"]);
        for score in [0.1, 0.2] {
            let row = [Cell::Missing, score.into(), Cell::Missing, Cell::Missing, "look".into()];
            report.table.push(row.to_vec());
        }
        let text = written(&TextExporter { color: false, width: Some(80) }, &report);
        assert!(text.starts_with(" z  score  flag"), "{text}");
        assert!(text.contains("Empty, and not shown: lambda, copied."), "{text}");
        let whole = written(&TextExporter { color: false, width: None }, &report);
        assert!(whole.starts_with(" z  score  lambda  copied  flag"), "{whole}");
    }

    #[test]
    fn ids_lose_what_all_share_and_stay_apart() {
        let names = ["2024/a/Reviewer_1/long", "2024/bcd/Reviewer_2/long"];
        assert_eq!(
            folded(&names, 20).unwrap(),
            ["2024/a/Reviewer_1\u{2026}", "2024/bcd/Reviewer_2\u{2026}"]
        );
        assert_eq!(
            folded(&names, 14).unwrap(),
            ["\u{2026}a/Reviewer_1\u{2026}", "\u{2026}d/Reviewer_2\u{2026}"]
        );
        assert_eq!(folded(&["short", "names"], 20), None);
        assert_eq!(folded(&["1/the same end", "2/the same end"], 8), None, "no ids");
        assert_eq!(folded(&["aaaa-x", "bbbb-x"], 3), None, "the ends are the same");
    }

    #[test]
    fn prose_is_as_harmless_as_a_table() {
        let mut report = example();
        report.prose = Some("one\n\u{1b}]0;title\u{7}two".into());
        let text = written(&TextExporter { color: false, width: None }, &report);
        assert!(text.starts_with("one\n\\u{1b}]0;title\\u{7}two\n"), "{text}");
    }
}

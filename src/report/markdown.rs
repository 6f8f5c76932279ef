//! A Markdown table, for issues and notes: three decimals, notes below as a list.

use std::io::{self, Write};

use super::{Cell, Exporter, Report, printable};

/// Writes the table as GitHub and pandoc read it, then footer and warnings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkdownExporter;

impl Exporter for MarkdownExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let table = &report.table;
        if let Some(headline) = table.headline() {
            writeln!(out, "{}\n", escaped(headline))?;
        }
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let heads: Vec<String> = table.columns().iter().map(|name| escaped(name)).collect();
        writeln!(out, "{}", line(&heads))?;
        let rules: Vec<String> = (0..heads.len())
            .map(|column| {
                let text = table.rows().iter().any(|row| matches!(row[column], Cell::Text(_)));
                if text { "---" } else { "---:" }.to_owned()
            })
            .collect();
        writeln!(out, "{}", line(&rules))?;
        for row in table.rows() {
            let cells: Vec<String> = (0..row.len())
                .map(|column| match &row[column] {
                    Cell::Missing => "-".to_owned(),
                    Cell::Text(text) => escaped(text),
                    Cell::Integer(number) => number.to_string(),
                    Cell::Number(number) => escaped(&table.for_people(row, column, *number)),
                })
                .collect();
            writeln!(out, "{}", line(&cells))?;
        }
        let warnings = report.warnings.iter().map(|warning| format!("Note: {}.", warning.message));
        for (index, note) in report.footer.iter().cloned().chain(warnings).enumerate() {
            if index == 0 {
                writeln!(out)?;
            }
            writeln!(out, "- {}", escaped(&note))?;
        }
        Ok(())
    }
}

/// Text that stays text: nothing in it ends the cell or begins markup.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in printable(text).chars() {
        match letter {
            '|' | '\\' | '`' | '*' | '[' | ']' | '~' | '#' => {
                shown.push('\\');
                shown.push(letter);
            }
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            letter => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::tests::{example, written};
    use super::*;
    use crate::report::Table;

    #[test]
    fn a_table_with_its_notes() {
        let expected = "\
| reviewer | score | rank |
| --- | ---: | ---: |
| a, \"b\" | 0.300 | 1 |
| c\\\\u{1b}\\[31m | - | - |

- A flag is a reason to look.
- Note: 1 paper has no Z.
";
        assert_eq!(written(&MarkdownExporter, &example()), expected);
    }

    #[test]
    fn names_cannot_make_cells_links_or_markup() {
        let mut report = example();
        report.table = Table::new(&["name"]);
        report.table.push(vec!["a|b <img src=x> [c](http://d) `e`".into()]);
        let text = written(&MarkdownExporter, &report);
        assert!(text.contains("| a\\|b &lt;img src=x&gt; \\[c\\](http://d) \\`e\\` |"), "{text}");
    }
}

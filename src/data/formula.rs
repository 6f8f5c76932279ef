//! Cells that a spreadsheet would run as a formula.

use std::borrow::Cow;

/// What a formula, or what a spreadsheet takes for one, begins with.
const STARTS: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];

/// Text that a spreadsheet would run as a formula gets a leading apostrophe.
///
/// Names come from strangers; `=HYPERLINK(...)` as a reviewer name must stay text. A number such
/// as `-1`, which may be the name of a label, is no formula. [`unguarded`] gives back every text.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    if is_hazard(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Whether a text is a formula, or one behind apostrophes of its own.
fn is_hazard(text: &str) -> bool {
    let is_number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    text.trim_start_matches('\'').starts_with(STARTS) && !is_number()
}

/// The text of a cell that [`guarded`] wrote; any other text as it is.
pub(crate) fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_hazard(text) => text,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["=1+1", "- a point", "+x", "@a", "\t=1", "-1", "'quoted", "'=1'", "a", "", "'"]
        {
            assert_eq!(unguarded(&guarded(text)), text);
        }
        assert_eq!(guarded("=1+1"), "'=1+1");
        assert_eq!(guarded("'=1"), "''=1");
        assert_eq!(unguarded("'-1"), "'-1");
    }
}

//! Names of columns: which ones are alike, and how they are shown.

/// Most names in a message, and most characters of what is quoted: a file without a header would
/// otherwise print a confidential review.
const SHOWN_NAMES: usize = 12;
pub(super) const SHOWN_CHARACTERS: usize = 60;

/// Names beyond this length are texts.
const LONGEST: usize = 40;

/// Lower case, with one underscore for every run of other characters.
pub(super) fn folded(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for character in name.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            plain.push(character);
        } else if !plain.ends_with('_') && !plain.is_empty() {
            plain.push('_');
        }
    }
    plain.trim_end_matches('_').to_owned()
}

/// Whether two names of columns are one, whatever the case, spaces and punctuation.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    let first = |name: &str| {
        name.chars().find(|c| c.is_alphanumeric()).and_then(|c| c.to_lowercase().next())
    };
    // Folding takes memory, and keys of JSON are compared for every row.
    a.eq_ignore_ascii_case(b)
        || (first(a).is_some() && first(a) == first(b) && folded(a) == folded(b))
}

/// What a message may quote of a name or a cell.
pub(crate) fn quotable(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Names for a message: the first dozen, cut.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_ref().trim()).collect();
    some_of(&names, SHOWN_NAMES, ", ")
}

/// Names for a message: the first `most` of them, cut, and after `more` how many others there are.
pub(super) fn some_of<S: AsRef<str>>(names: &[S], most: usize, more: &str) -> String {
    let shown = names.iter().take(most).map(|name| quotable(name.as_ref()));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        hidden => format!("{shown}{more}{hidden} more"),
    }
}

/// A question after those of `names` that one of `known` may have been meant by; empty if none is
/// near.
pub(super) fn did_you_mean<S: AsRef<str>>(names: &[S], known: &[&str]) -> String {
    let is_near = |name: &str| {
        let name = folded(name);
        name.len() <= LONGEST && known.iter().any(|known| are_near(&name, known))
    };
    let near = names.iter().map(|name| name.as_ref().trim()).filter(|name| is_near(name));
    let near: Vec<String> = near.take(3).map(|name| format!("`{name}`")).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}?", near.join(" or ")) }
}

/// One holds the other as words, or few letters differ.
fn are_near(name: &str, known: &str) -> bool {
    let holds = known.len() > 2 && format!("_{name}_").contains(&format!("_{known}_"));
    let allowed = if known.len() > 7 { 2 } else { 1 };
    holds || (known.len() > 2 && edits(name, known) <= allowed)
}

/// Letters to insert, drop, change or swap with the next one (optimal string alignment).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_letters_and_swaps() {
        for (a, b, expected) in
            [("", "abc", 3), ("label", "lable", 1), ("kitten", "sitting", 3), ("ca", "abc", 3)]
        {
            assert_eq!((edits(a, b), edits(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn near_names_are_asked_about_and_others_are_not() {
        let names = ["Reviewer E-Mail", "lable", "score"];
        assert_eq!(did_you_mean(&names, &["reviewer"]), "did you mean `Reviewer E-Mail`?");
        assert_eq!(did_you_mean(&names, &["label", "answer"]), "did you mean `lable`?");
        assert_eq!(did_you_mean(&names, &["paper", "id"]), "");
        // A text in the place of a name is never repeated.
        assert_eq!(did_you_mean(&["a review ".repeat(20)], &["review"]), "");
    }

    #[test]
    fn what_is_shown_is_cut() {
        assert_eq!(listed(&["x".repeat(61), "y".into()]), format!("{}..., y", "x".repeat(60)));
        let many: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        assert!(listed(&many).ends_with("10, 11, 8 more"));
        assert_eq!(folded(" Paper-ID (number)"), "paper_id_number");
    }
}

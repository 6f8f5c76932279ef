//! Whose work reviews are known to be: for the check of scores, never for the scores.

use std::collections::BTreeMap;

use super::problem::{DataError, Problems};
use super::reviews::ReviewSet;
use super::rows::{FileProblems, NamedColumn, read_rows};
use super::source::Source;

/// What is known of every review of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnTruth {
    /// Names of the kinds of low effort, sorted; `other` where the file names none.
    pub kinds: Vec<String>,
    /// By review: 0 for a person's own work, 1 and up a kind; `None` where nothing is known.
    pub reviews: Vec<Option<u32>>,
    /// Rows of the file.
    pub rows: u64,
}

impl OwnTruth {
    /// Reads `reviewer` and `own` (0 or 1), and where they are there `paper` and `kind`. A row without
    /// a paper is of all reviews of that person; a row with one goes before it.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the lines of what is wrong: an `own` that is neither, a name that is not
    /// among the reviews, two rows that say different things.
    pub(crate) fn read(source: &Source, set: &ReviewSet) -> Result<Self, DataError> {
        const COLUMNS: [NamedColumn<'static>; 4] = [
            NamedColumn { name: "reviewer", synonyms: &["worker"], required: true },
            NamedColumn { name: "own", synonyms: &[], required: true },
            NamedColumn { name: "paper", synonyms: &["task", "item"], required: false },
            NamedColumn { name: "kind", synonyms: &[], required: false },
        ];
        let mut problems = Problems::new();
        let mut found: BTreeMap<(u32, Option<u32>), Option<String>> = BTreeMap::new();
        let rows = read_rows(
            source,
            &COLUMNS,
            &mut FileProblems::new(source, &mut problems),
            &mut |row, problems| {
                let line = Some(row.line);
                let text =
                    |index: usize| row.fields[index].as_name().filter(|text| !text.is_empty());
                let Some(reviewer) = row.name(0, &COLUMNS[0], problems) else { return };
                let Some(own) = row.name(1, &COLUMNS[1], problems) else { return };
                let kind = match &*own {
                    "1" => None,
                    "0" => Some(text(3).map_or_else(|| "other".to_owned(), Into::into)),
                    other => {
                        let message = format!("`{other}` is neither 0 nor 1");
                        return problems.report(line, Some("own"), message);
                    }
                };
                let Some(person) = set.reviewers.get(&reviewer) else {
                    let message = format!("no review is by `{reviewer}`");
                    return problems.report(line, Some("reviewer"), message);
                };
                let name = text(2);
                let paper = name.as_ref().and_then(|name| set.papers.get(name));
                if let (Some(name), None) = (name, paper) {
                    let message = format!("no review is of `{name}`");
                    return problems.report(line, Some("paper"), message);
                }
                if found.insert((person, paper), kind.clone()).is_some_and(|before| before != kind)
                {
                    let message = format!("another row says otherwise of `{reviewer}`");
                    problems.report(line, Some("own"), message);
                }
            },
        );
        problems.into_result()?;
        let mut kinds: Vec<String> = found.values().flatten().cloned().collect();
        kinds.sort();
        kinds.dedup();
        let number = |kind: &Option<String>| match kind {
            None => 0,
            Some(kind) => (1..).zip(&kinds).find(|(_, other)| *other == kind).map_or(0, |(n, _)| n),
        };
        let reviews = set.reviews.iter().map(|review| {
            let of = |paper| found.get(&(review.reviewer, paper));
            of(Some(review.paper)).or_else(|| of(None)).map(number)
        });
        let reviews = reviews.collect();
        Ok(Self { kinds, reviews, rows })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::simulate::reviews::tests::real;

    fn read(text: &str) -> Result<OwnTruth, DataError> {
        let source = Source::from_reader(Path::new("truth.csv"), text.as_bytes()).unwrap();
        OwnTruth::read(&source, &real(2, 2))
    }

    #[test]
    fn a_row_of_a_review_goes_before_one_of_a_person_and_the_rest_is_unknown() {
        // Reviews in order: p0 by 0-0, p0 by 0-1, p1 by 1-0, p1 by 1-1.
        let truth =
            read("paper,reviewer,own,kind\n,0-0,1,\np0,0-0,0,copy\n,1-0,0,\n,1-1,1,\n").unwrap();
        assert_eq!(truth.kinds, ["copy", "other"]);
        assert_eq!(truth.reviews, [Some(1), None, Some(2), Some(0)]);
        assert_eq!(truth.rows, 4);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let text = "reviewer,own,paper\n0-0,yes,\nnobody,1,\n0-1,1,p9\n1-0,1,\n1-0,0,\n";
        let error = read(text).unwrap_err().to_string();
        for part in [
            "`yes` is neither 0 nor 1",
            "no review is by `nobody`",
            "no review is of `p9`",
            "another row says otherwise of `1-0`",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}

//! Reads a known scoring function from a file.

use std::collections::HashMap;

use super::scoring_function::{GivenScore, GivenScores};
use crate::data::ids::Ids;
use crate::data::labels::Label;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, Field, FileProblems, read_rows};
use crate::data::source::Source;
use crate::data::warning::first_names;

const SCHEMA: [Column; 4] = [
    Column { name: "label", synonyms: &[], required: true },
    Column { name: "peer_label", synonyms: &["peer"], required: true },
    Column { name: "value", synonyms: &["score"], required: true },
    Column { name: "z", synonyms: &[], required: false },
];

impl GivenScores {
    /// Reads `label,peer_label,value` with an optional `z`; pairs that are not listed score 0.
    ///
    /// A row without `z` holds in every stratum, one with `z` in the stratum of that label.
    /// Labels outside `labels` never occur and are passed over, so that one file serves several
    /// crowds. Case does not tell labels apart, nor how a number is written, unless the crowd's are told
    /// apart by it. Returns the number of rows, too.
    ///
    /// # Errors
    ///
    /// [`DataError::Invalid`] with every problem of the file, such as two values of one pair, and if no row is of
    /// the crowd's labels.
    pub(crate) fn read(source: &Source, labels: &Ids) -> Result<(Self, u64), DataError> {
        let mut problems = Problems::new();
        let (mut entries, mut values) = (Vec::new(), HashMap::new());
        let mut in_file = FileProblems::new(source, &mut problems);
        let rows = read_rows(source, &SCHEMA, &mut in_file, &mut |row, problems| {
            let [label, peer_label, value, z] = row.fields else { return };
            let number = |name: &str| number(labels, name);
            let Some(value) = finite(value) else {
                let message = format!("is not a finite number of at most {LARGEST:e} either way");
                problems.report(Some(row.line), Some("value"), message);
                return;
            };
            let mut required = |field: &Field<'_>, column| {
                let name = field.as_name();
                if name.is_none() {
                    problems.report(Some(row.line), Some(column), "is empty; give every row one");
                }
                name.map(|name| number(&name))
            };
            let (Some(label), Some(peer_label)) =
                (required(label, "label"), required(peer_label, "peer_label"))
            else {
                return;
            };
            let stratum = z.as_name().map(|name| number(&name));
            if let (Some(label), Some(peer_label)) = (label, peer_label)
                && stratum != Some(None)
            {
                let z = stratum.flatten();
                match values.insert((label, peer_label, z), value) {
                    None => entries.push(GivenScore { label, peer_label, z, value }),
                    Some(other) if (other - value).abs() > 0.0 => {
                        let message =
                            format!("is {value}, but an earlier row gives the pair {other}");
                        problems.report(Some(row.line), Some("value"), message);
                    }
                    Some(_) => {}
                }
            }
        });
        problems.into_result()?;
        if rows > 0 && entries.is_empty() {
            let names: Vec<&str> = labels.names().iter().map(String::as_str).collect();
            let message = format!("no row is of labels that occur: {}", first_names(&names));
            let mut problems = Problems::new();
            FileProblems::new(source, &mut problems).report(None, Some("label"), message);
            problems.into_result()?;
        }
        Ok((Self::new(entries), rows))
    }
}

/// The label of this name, else the only one that is written otherwise.
fn number(labels: &Ids, name: &str) -> Option<Label> {
    let same = |other: &&String| {
        let numbers = other.trim().parse::<f64>().ok().zip(name.trim().parse::<f64>().ok());
        other.trim().to_lowercase() == name.trim().to_lowercase()
            || numbers.is_some_and(|(a, b)| (a - b).abs() == 0.0)
    };
    let written = || {
        let mut alike = labels.names().iter().filter(same);
        alike.next().filter(|_| alike.next().is_none()).and_then(|name| labels.get(name))
    };
    labels.get(name).or_else(written).and_then(|id| Label::try_from(id).ok())
}

/// Larger values of a scoring function would leave the range of numbers in its variances.
const LARGEST: f64 = 1e100;

fn finite(field: &Field<'_>) -> Option<f64> {
    let number: f64 = match field {
        Field::Text(text) => text.trim().parse().ok()?,
        Field::Json(value) => value.as_f64()?,
        Field::Missing => return None,
    };
    // Squares of sums of these must be numbers, too.
    (number.is_finite() && number.abs() <= LARGEST).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(text: &str) -> Result<(GivenScores, u64), DataError> {
        let source = Source::from_reader(Path::new("t.csv"), text.as_bytes()).unwrap();
        let mut labels = Ids::new();
        ["x", "y"].iter().for_each(|label| _ = labels.intern(label));
        GivenScores::read(&source, &labels)
    }

    #[test]
    fn rows_become_entries_and_unknown_labels_are_passed_over() {
        let (given, rows) =
            read("label,peer_label,value,z\nx,x,1,\ny,x,0.5,x\nw,x,1,\nx,y,1,w\n").unwrap();
        let entry = |label, peer_label, z, value| GivenScore { label, peer_label, z, value };
        assert_eq!(
            given,
            GivenScores::new(vec![entry(0, 0, None, 1.0), entry(1, 0, Some(0), 0.5)])
        );
        assert_eq!(rows, 4);
    }

    #[test]
    fn labels_are_found_however_they_are_written_and_pairs_have_one_value() {
        let (given, _) = read("label,peer_label,value\nX,y ,1\nx,Y,1\n").unwrap();
        let entry = GivenScore { label: 0, peer_label: 1, z: None, value: 1.0 };
        assert_eq!(given, GivenScores::new(vec![entry]));
        let message = read("label,peer_label,value\nx,x,1\nX,x,0\n").unwrap_err().to_string();
        assert!(message.contains("t.csv:3: column `value`: is 0, but an earlier row"), "{message}");
        let message = read("label,peer_label,value\nxx,x,1\n").unwrap_err().to_string();
        assert!(message.contains("no row is of labels that occur: x, y"), "{message}");
        let labels: Ids = ["3", "x", "X"].iter().collect();
        let found = ["3.0", "x", "X", " X", "xx"].map(|name| number(&labels, name));
        assert_eq!(found, [Some(0), Some(1), Some(2), None, None]);
    }

    #[test]
    fn numbers_whose_squares_are_no_numbers_are_refused() {
        let message = read("label,peer_label,value\nx,x,1e160\n").unwrap_err().to_string();
        assert!(message.contains("t.csv:2: column `value`: is not a finite number"), "{message}");
        assert!(read("label,peer_label,value\nx,x,-1e100\n").is_ok());
    }

    #[test]
    fn numbers_must_be_finite_and_labels_present() {
        let message = read("label,peer_label,value\nx,x,inf\nx,,1\n").unwrap_err().to_string();
        assert!(message.contains("t.csv:2: column `value`: is not a finite number"), "{message}");
        assert!(message.contains("t.csv:3: column `peer_label`: is empty"), "{message}");
    }
}

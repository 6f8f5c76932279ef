//! Prolific's list of submissions beside the answers of a survey: whose answers count.
//!
//! The header `Submission id,Participant id,Status,...` is that of public readers of "Download summary",
//! for example cwi-dis/eyetracking and others; the states of a submission are those of its documentation
//! of the API, "The submission object".

use std::collections::BTreeMap;

use serde_json::Value;

use super::charset::decoded;
use super::peek::{Peek, Root};
use super::reading::Imported;
use super::refused::PROLIFIC_COLUMNS;
use super::settings::ImportSettings;
use crate::data::nouns::{ARE, counted, verb};
use crate::data::source::Source;
use crate::data::warning::{Warning, first_names};

/// States of a submission that was not handed in, or not accepted.
const NOT_KEPT: [&str; 6] =
    ["REJECTED", "RETURNED", "TIMED-OUT", "TIMED OUT", "SCREENED OUT", "SCREENED-OUT"];

/// Participants of a study, and whether one of their submissions counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Submissions {
    file: String,
    counts: BTreeMap<String, bool>,
}

impl Submissions {
    /// The list that a file is, if it is one.
    pub(crate) fn of(source: &Source) -> Option<Self> {
        let (bytes, _) = decoded(&source.bytes);
        let peek = Peek::new(&bytes);
        let Root::Table { header, delimiter } = &peek.root else { return None };
        let column = |name: &str| header.iter().position(|other| other == name);
        let [Some(_), Some(who), Some(state)] = PROLIFIC_COLUMNS.map(column) else { return None };
        let mut reader =
            csv::ReaderBuilder::new().delimiter(*delimiter).flexible(true).from_reader(peek.bytes);
        let mut counts = BTreeMap::new();
        for record in reader.records().map_while(Result::ok) {
            let cell = |index: usize| record.get(index).unwrap_or_default().trim();
            if !cell(who).is_empty() {
                let kept = !NOT_KEPT.contains(&cell(state).to_uppercase().as_str());
                *counts.entry(cell(who).to_owned()).or_default() |= kept;
            }
        }
        Some(Self { file: source.name(), counts })
    }

    /// Both lists.
    #[must_use]
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (who, kept) in other.counts {
            *self.counts.entry(who).or_default() |= kept;
        }
        self
    }

    /// `settings`, and who answered is in the column in which most participants stand.
    pub(crate) fn settings(&self, source: &Source, settings: &ImportSettings) -> ImportSettings {
        let mut settings = settings.clone();
        let is_said = ["worker", "reviewer"].iter().any(|key| settings.columns.contains_key(*key));
        if let (Some(column), false) = (self.column(source), is_said) {
            settings.columns.insert("worker".into(), column.clone());
            settings.columns.insert("reviewer".into(), column);
        }
        settings
    }

    /// The column of a table in which most participants stand.
    fn column(&self, source: &Source) -> Option<String> {
        let (bytes, _) = decoded(&source.bytes);
        let peek = Peek::new(&bytes);
        let Root::Table { header, delimiter } = &peek.root else { return None };
        let mut reader =
            csv::ReaderBuilder::new().delimiter(*delimiter).flexible(true).from_reader(peek.bytes);
        let mut found = vec![0_u64; header.len()];
        for record in reader.records().map_while(Result::ok) {
            for (found, cell) in found.iter_mut().zip(&record) {
                *found += u64::from(self.counts.contains_key(cell.trim()));
            }
        }
        let most = *found.iter().max()?;
        let place = found.iter().position(|&count| count == most && most > 0)?;
        Some(header[place].clone())
    }

    /// The rows of those whose submission counts. Who is not in the list is kept, and named.
    #[must_use]
    pub(crate) fn kept(&self, mut imported: Imported) -> Imported {
        let mut lines = Vec::new();
        let (mut left_out, mut strangers) = (0, std::collections::BTreeSet::new());
        let all = imported.source.bytes.split_inclusive(|&byte| byte == b'\n');
        for line in all.filter(|line| !line.trim_ascii().is_empty()) {
            let row: Value = serde_json::from_slice(line).unwrap_or_default();
            let who = ["worker", "reviewer"].iter().find_map(|key| row[*key].as_str());
            match who.map(|who| (who, self.counts.get(who))) {
                Some((_, Some(false))) => {
                    left_out += 1;
                    continue;
                }
                Some((who, None)) => drop(strangers.insert(who.to_owned())),
                _ => {}
            }
            lines.extend_from_slice(line);
        }
        imported.source.bytes = lines;
        if left_out > 0 {
            let message = format!(
                "{} {are} of people whose submission was rejected, returned or timed out by `{}`, and {are} \
                 left out",
                counted(left_out, "row"),
                self.file,
                are = verb(left_out, ARE)
            );
            imported.warnings.push(Warning::new("submissions_left_out", left_out, message));
        }
        if !strangers.is_empty() {
            let names: Vec<String> = strangers.into_iter().collect();
            let message = format!(
                "{} people are not in `{}` and are kept: {}",
                names.len(),
                self.file,
                first_names(&names)
            );
            imported.warnings.push(Warning::new("submissions_unknown", names.len(), message));
        }
        imported
    }
}

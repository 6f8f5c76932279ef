//! Who is behind anonymous ids.
//!
//! Venues give a reviewer another id on every paper (`.../Submission12/Reviewer_aB3d`). A file of ids
//! and persons joins them; for `OpenReview` that is the export of groups, `id` to `members[0]`.

use std::collections::HashMap;

use super::elements::each_object;
use super::peek::Peek;
use super::{ImportError, ImportSettings, Request, Wanted, imported};
use crate::data::near::quotable;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems, read_rows};
use crate::data::source::Source;

pub(super) const ID: Column =
    Column { name: "id", synonyms: &["reviewer", "anonymous_id", "signature"], required: true };
pub(super) const PERSON: Column =
    Column { name: "person", synonyms: &["member", "name", "email", "profile"], required: true };

/// Persons by anonymous id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    persons: HashMap<String, String>,
    /// Rows of the file.
    pub rows: u64,
}

impl People {
    /// Reads a table with `id` and `person`, or groups of `OpenReview` with `id` and `members`.
    ///
    /// # Errors
    ///
    /// [`DataError`] for a file that is neither, or an id with two persons.
    pub fn read(source: &Source) -> Result<Self, DataError> {
        let peek = Peek::new(&source.bytes);
        if peek
            .objects()
            .iter()
            .any(|group| group.contains_key("members") && group.contains_key("id"))
        {
            return Ok(Self::groups(source, &peek)?);
        }
        let source = &imported(source.clone(), Wanted::People, &ImportSettings::default())?.source;
        let mut problems = Problems::new();
        let mut people = Self::default();
        let mut file = FileProblems::new(source, &mut problems);
        let rows = read_rows(source, &[ID, PERSON], &mut file, &mut |row, problems| {
            let Some(id) = row.name(0, &ID, problems) else { return };
            let Some(person) = row.name(1, &PERSON, problems) else { return };
            if let Some(known) = people.persons.insert(id.clone(), person.clone())
                && known != person
            {
                let message = format!("`{}` is two persons; keep one", quotable(&id));
                problems.report(Some(row.line), Some(ID.name), message);
            }
        });
        problems.into_result()?;
        people.rows = rows;
        Ok(people)
    }

    fn groups(source: &Source, peek: &Peek<'_>) -> Result<Self, ImportError> {
        let settings = ImportSettings::default();
        let (file, wanted) = (source.name(), Wanted::Reviews);
        let request = Request { file, stem: source.stem(), wanted, settings: &settings, keep: &[] };
        let mut people = Self::default();
        let read = each_object(peek.bytes, &mut |_, group| {
            people.rows += 1;
            let id = group.get("id").and_then(|id| id.as_str());
            let members = group.get("members").and_then(|members| members.as_array());
            let first = members.and_then(|members| members.first()?.as_str());
            if let (Some(id), Some(person)) = (id, first) {
                people.persons.insert(id.to_owned(), person.to_owned());
            }
            true
        });
        read.map_err(|broken| request.broken(broken))?;
        Ok(people)
    }

    /// The person behind an id; the id itself where nobody is known.
    pub fn person<'a>(&'a self, id: &'a str) -> &'a str {
        self.persons.get(id).map_or(id, String::as_str)
    }

    /// Whether an id is known.
    pub fn knows(&self, id: &str) -> bool {
        self.persons.contains_key(id)
    }
}

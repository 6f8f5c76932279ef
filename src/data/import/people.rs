//! Who is behind anonymous ids.
//!
//! Venues give a reviewer another id on every paper (`.../Submission12/Reviewer_aB3d`). A file of ids
//! and persons joins them, and may name the area chair (`ac`) who is in charge of each; for `OpenReview` that is the export of groups, `id` to `members[0]`.

use super::charset::decoded;
use super::elements::each_object;
use super::error::ImportError;
use super::peek::Peek;
use super::reading::imported;
use super::schema::{CHAIR_COLUMN as CHAIR, ID_COLUMN as ID, PERSON_COLUMN as PERSON};
use super::settings::{ImportSettings, Wanted};
use crate::data::near::quotable;
use crate::data::people::People;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{FileProblems, read_rows};
use crate::data::source::Source;

/// Reads a table with `id` and `person`, or groups of `OpenReview` with `id` and `members`.
///
/// # Errors
///
/// [`DataError`] for a file that is neither, or an id with two persons.
pub(crate) fn read_people(source: &Source) -> Result<People, DataError> {
    let (bytes, _) = decoded(&source.bytes);
    let peek = Peek::new(&bytes);
    if peek.first_has(&["id", "members"]) {
        return Ok(groups(source, &peek)?);
    }
    let source = &imported(source.clone(), Wanted::People, &ImportSettings::default())?.source;
    let mut problems = Problems::new();
    let mut people = People::default();
    let mut file = FileProblems::new(source, &mut problems);
    let rows = read_rows(source, &[ID, PERSON, CHAIR], &mut file, &mut |row, problems| {
        let Some(id) = row.name(0, &ID, problems) else { return };
        let Some(person) = row.name(1, &PERSON, problems) else { return };
        if let Some(chair) = row.fields[2].as_name() {
            people.chairs.insert(id.to_string(), chair.into());
        }
        if let Some(known) = people.persons.insert(id.to_string(), person.to_string())
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

fn groups(source: &Source, peek: &Peek<'_>) -> Result<People, ImportError> {
    let mut people = People::default();
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
    read.map_err(|broken| ImportError::Broken {
        file: source.name(),
        after: broken.after,
        message: broken.message,
    })?;
    Ok(people)
}

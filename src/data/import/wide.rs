//! Wide tables: one row a worker and a column a task, or the other way round.

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::{Peek, Root};
use super::records::{Portrait, Record, Records, is_time};
use super::settings::Wide;
use crate::data::near::{folded, listed};
use crate::data::nouns::{counted, verb};
use crate::data::warning::Warning;

/// Folded names of columns that say who answered, the likelier first.
const WHO: [&str; 29] = [
    "worker",
    "worker_id",
    "workerid",
    "annotator",
    "annotator_id",
    "rater",
    "rater_id",
    "coder",
    "participant",
    "participant_id",
    "prolific_pid",
    "prolific_id",
    "respondent",
    "respondent_id",
    "responseid",
    "response_id",
    "user",
    "user_id",
    "username",
    "email_address",
    "email",
    "e_mail",
    "e_mail_adresse",
    "mturk_id",
    "subject_id",
    "token",
    "your_name",
    "full_name",
    "name",
];

/// Folded names of columns that say what was asked about.
const WHAT: [&str; 9] =
    ["task", "task_id", "item", "item_id", "unit", "unit_id", "question", "question_id", "example"];

/// Folded names of columns of forms that are no answers.
const ABOUT: [&str; 26] = [
    "timestamp",
    "time",
    "date",
    "start_date",
    "end_date",
    "startdate",
    "enddate",
    "start_time",
    "end_time",
    "submitdate",
    "datestamp",
    "recorded_date",
    "recordeddate",
    "created_at",
    "updated_at",
    "submitted_at",
    "completion_time",
    "duration",
    "duration_in_seconds",
    "ip_address",
    "ipaddress",
    "ipaddr",
    "first_name",
    "last_name",
    "session_id",
    "study_id",
];

pub(super) struct WideTable;

impl Importer for WideTable {
    /// Only where the user says so: a wide table looks like any other.
    fn detect(&self, _peek: &Peek<'_>) -> bool {
        false
    }

    /// The column that the user names, or that says who answered, or else a first column of names, has the
    /// name of the row; every other column is a task or a worker, but for times and what is about the
    /// form. A blank cell is no answer.
    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        if !matches!(request.peek.root, Root::Table { .. } | Root::Json { .. }) {
            return Err(request.columns("it is no table".into()));
        }
        let way = request.settings.wide.unwrap_or(Wide::Worker);
        let records = Records::of(request)?;
        let portraits = records.portraits(None);
        let name = name_of_rows(&records, &portraits, way, request)?;
        let is_about = |column: &&Portrait| {
            let plain = folded(&column.name);
            let is_id = way == Wide::Worker && WHO.contains(&plain.as_str());
            column.name != name && (ABOUT.contains(&plain.as_str()) || column.is_time() || is_id)
        };
        let answers = match request.settings.answer_columns.as_slice() {
            [] => {
                for column in portraits.iter().filter(is_about) {
                    output.leave_out(format!("column that is no answer, `{}`", column.name));
                }
                let others =
                    portraits.iter().filter(|column| column.name != name && !is_about(column));
                others.map(|column| column.name.clone()).collect()
            }
            asked => asked.iter().map(|name| records.named(name)).collect::<Result<Vec<_>, _>>()?,
        };
        Sheet { way, name, answers, says_headers: true }.read(&records, request, output, &|_| None)
    }
}

/// The column that has the names of the rows; never one of times or of answers.
fn name_of_rows(
    records: &Records<'_>,
    portraits: &[Portrait],
    way: Wide,
    request: &Request<'_>,
) -> Result<String, ImportError> {
    let (asked, known, key) = match way {
        Wide::Worker => (request.worker(), &WHO[..], "worker"),
        Wide::Task => (request.task(), &WHAT[..], "task"),
    };
    if let Some(asked) = asked {
        return records.named(asked);
    }
    let plain: Vec<String> = portraits.iter().map(|column| folded(&column.name)).collect();
    for candidate in known {
        if let Some(found) = plain.iter().position(|name| name == candidate) {
            return Ok(portraits[found].name.clone());
        }
    }
    let [first, others @ ..] = portraits else {
        return Err(request.columns("it has no columns".into()));
    };
    // Names of people are no answers of theirs.
    let is_answer = others.iter().any(|other| !other.seen.is_disjoint(&first.seen));
    let is_name = first.is_different_everywhere() && !first.is_time() && !is_answer;
    if is_name && !ABOUT.contains(&plain[0].as_str()) {
        return Ok(first.name.clone());
    }
    let what = if first.is_time() { "is a time" } else { "does not tell the rows apart" };
    Err(request.columns(format!(
        "no column says whose row it is, and the first one, `{}`, {what}; name it as the column `{key}` \
         (any column whose cells differ from row to row will do); there are {}",
        first.name,
        listed(records.names())
    )))
}

/// The columns that look like answers of one kind, if there are several: few different cells, which
/// others have, too.
pub(super) fn answer_columns(portraits: &[Portrait]) -> Vec<&str> {
    let may = |column: &&Portrait| {
        column.filled > 1 && !column.is_different_everywhere() && !column.is_time()
    };
    let columns: Vec<&Portrait> = portraits.iter().filter(may).collect();
    let shares = |a: &Portrait, b: &Portrait| {
        a.name != b.name
            && 2 * a.seen.intersection(&b.seen).count() >= a.seen.len().min(b.seen.len())
    };
    let alike = columns.iter().filter(|a| columns.iter().any(|b| shares(a, b)));
    alike.map(|column| column.name.as_str()).collect()
}

/// What of a wide table is what.
pub(super) struct Sheet {
    pub(super) way: Wide,
    /// The column with the names of the rows.
    pub(super) name: String,
    /// The columns with answers.
    pub(super) answers: Vec<String>,
    /// Whether further rows of a header are worth a word: some systems always have them.
    pub(super) says_headers: bool,
}

impl Sheet {
    /// Reads every row but those that `lacks` something.
    pub(super) fn read(
        &self,
        records: &Records<'_>,
        request: &Request<'_>,
        output: &mut Output,
        lacks: &dyn Fn(&Record<'_>) -> Option<&'static str>,
    ) -> Result<(), ImportError> {
        let is_worker = self.way == Wide::Worker;
        let nouns = Nouns { rows: "answers", task: "a task", worker: "a worker" };
        let header_rows = self.header_rows(records);
        let mut names = std::collections::HashMap::new();
        let (mut row, mut answered) = (0, 0);
        records.each(output, |record, output| {
            row += 1;
            if row <= header_rows {
                output.read -= 1;
                if self.says_headers {
                    output.leave_out("further rows of a header");
                }
                return;
            }
            if let Some(reason) = lacks(record) {
                return output.leave_out(reason);
            }
            let Some(name) = record.name(&self.name) else {
                let who = if is_worker { "worker" } else { "task" };
                return output.leave_out(format!("rows without a {who}"));
            };
            *names.entry(name.to_owned()).or_insert(0_usize) += 1;
            let before = output.people.count();
            for column in &self.answers {
                if record.get(column).is_none() {
                    continue;
                }
                let answer = records.answer(record, column);
                let (task, worker) =
                    if is_worker { (column.as_str(), name) } else { (name, column.as_str()) };
                output.person(&nouns, Some(task), Some(worker), answer);
            }
            answered += u64::from(output.people.count() > before);
        })?;
        output.answered = Some(answered);
        let shared = names.values().filter(|times| **times > 1).count();
        if shared > 0 {
            let message = format!(
                "{} {} in several rows of `{}`, as if somebody had answered twice",
                counted(shared, "name"),
                verb(shared, ["stands", "stand"]),
                request.file
            );
            output.warnings.push(Warning::new("rows_share_a_name", shared, message));
        }
        Ok(())
    }

    /// How many of the first rows go on with the header: the wording of the questions, and import ids.
    fn header_rows(&self, records: &Records<'_>) -> usize {
        /// Rows that are looked at.
        const LOOKED_AT: usize = 200;
        let mut rows: Vec<Vec<Option<String>>> = Vec::new();
        records.look(&mut |record| {
            let cell = |name: &String| record.get(name).map(str::to_owned);
            rows.push(std::iter::once(&self.name).chain(&self.answers).map(cell).collect());
            rows.len() < LOOKED_AT
        });
        let mut found = 0;
        while found < 2 && rows.len() > found + 1 {
            let (first, rest) = (&rows[found], &rows[found + 1..]);
            if !self.is_header(first, rest) {
                break;
            }
            found += 1;
        }
        found
    }

    fn is_header(&self, first: &[Option<String>], rest: &[Vec<Option<String>>]) -> bool {
        if first.iter().flatten().any(|cell| cell.contains("ImportId")) {
            return true;
        }
        let column = |index: usize| rest.iter().filter_map(move |row| row[index].as_deref());
        // What names the row is a name of such a column, and no name of a row.
        let key = first[0].as_deref().unwrap_or_default();
        let plain = folded(key);
        let is_number = |cell: &str| cell.parse::<f64>().is_ok();
        let named = plain == folded(&self.name)
            || WHO.contains(&plain.as_str())
            || (key.is_empty() && column(0).count() == rest.len())
            || (!is_number(key) && !is_time(key) && column(0).all(is_number));
        if !named {
            return false;
        }
        // None of its cells is an answer that somebody gave.
        let answers =
            || (1..first.len()).filter_map(|index| Some((index, first[index].as_deref()?)));
        let is_given = |(index, cell): (usize, &str)| column(index).any(|other| other == cell);
        answers().count() > 0 && !answers().any(is_given)
    }
}

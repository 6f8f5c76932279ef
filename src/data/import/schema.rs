//! Which columns of any table are which of caz's, by the names that other systems give them.

use super::settings::Wanted;
use crate::data::content::CONTENT_COLUMNS;
use crate::data::items;
use crate::data::label_reader as labels;
use crate::data::labellers;
use crate::data::near::{folded, same_name};
use crate::data::review_reader;
use crate::data::rows::Column;
use crate::data::task_texts;
use crate::data::texts;
use crate::data::times;

/// A column of caz, and the folded names under which other systems have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// As the ordinary readers know it.
    pub(super) column: Column,
    names: Names,
}

#[derive(Debug, Clone, Copy)]
enum Names {
    /// Those of the ordinary readers come first, then these.
    More(&'static [&'static str]),
    /// These only, since another order is likelier.
    Ranked(&'static [&'static str]),
}

impl Known {
    const fn new(column: Column, more: &'static [&'static str]) -> Self {
        Self { column, names: Names::More(more) }
    }

    const fn ranked(column: Column, names: &'static [&'static str]) -> Self {
        Self { column, names: Names::Ranked(names) }
    }

    /// The name in caz's own files.
    pub(super) const fn key(&self) -> &'static str {
        self.column.name
    }

    /// All names, the likelier first.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self.names {
            Names::Ranked(names) => names.to_vec(),
            Names::More(more) => [&[self.column.name], self.column.synonyms, more].concat(),
        }
    }
}

const PAPER_NAMES: &[&str] = &[
    "paper",
    "paper_id",
    "submission",
    "submission_id",
    "item",
    "task",
    "forum",
    "paper_number",
    "paperid",
    "submission_number",
    "submission_no",
    "pid",
    "manuscript",
    "manuscript_id",
    "manuscript_number",
];

const REVIEWER_NAMES: &[&str] = &[
    "reviewer",
    "reviewer_id",
    "worker",
    "signature",
    "annotator",
    "reviewer_email",
    "reviewer_e_mail",
    "reviewer_name",
    "reviewerid",
    "email",
    "e_mail",
    "referee",
    "referee_id",
    "user",
    "reviewer_code",
];

const MORE_TEXT_NAMES: &[&str] = &[
    "review_text",
    "review_body",
    "review_content",
    "comments",
    "body",
    "reviewtext",
    "content",
    "answer",
    "answer_text",
    "response",
];

/// `id` last: it is that of a row in many files.
const MORE_TASK_NAMES: &[&str] =
    &["question_id", "item_id", "example_id", "unit_id", "taskid", "id"];

const MORE_WORKER_NAMES: &[&str] = &[
    "annotator_id",
    "user_id",
    "rater",
    "rater_id",
    "coder",
    "coder_id",
    "participant",
    "participant_id",
    "workerid",
];

const MORE_LABEL_NAMES: &[&str] = &["rating", "annotation", "category", "class"];

const SOURCE_NAMES: &[&str] = &["source", "model", "model_name", "model_id", "llm", "judge"];

const PAPER: Known = Known::ranked(review_reader::PAPER, PAPER_NAMES);
const REVIEWER: Known = Known::ranked(review_reader::REVIEWER, REVIEWER_NAMES);
pub(super) const TEXT: Known = Known::new(CONTENT_COLUMNS[0], MORE_TEXT_NAMES);
pub(super) const VECTOR: Known = Known::new(CONTENT_COLUMNS[1], &[]);
pub(super) const JUDGMENTS: Known = Known::new(CONTENT_COLUMNS[2], &[]);
const TASK: Known = Known::new(labels::TASK, MORE_TASK_NAMES);
const WORKER: Known = Known::new(labels::WORKER, MORE_WORKER_NAMES);
const LABEL: Known = Known::new(labels::LABEL, MORE_LABEL_NAMES);
const TRUTH: Known = Known::ranked(
    labels::TRUTH,
    &["truth", "gold", "true_label", "gold_label", "correct_answer", "label", "answer"],
);
const SOURCE: Known = Known::ranked(labels::SOURCE, SOURCE_NAMES);
const SAMPLE: Known = Known::new(labels::SAMPLE, &["sample_id", "run"]);
const ANY_WORKER: Known = Known::new(labellers::WORKER, MORE_WORKER_NAMES);
const ANY_SOURCE: Known = Known::ranked(labellers::SOURCE, SOURCE_NAMES);
const ANY_LABEL: Known = Known::new(labellers::LABEL, MORE_LABEL_NAMES);
const PROMPT: Known = Known::new(labellers::PROMPT, &["prompt_id", "prompt_name"]);
const ITEM: Known = Known::new(items::TASK, &["task_id", "item_id", "example_id"]);
const ANY_PAPER: Known = Known::new(
    items::PAPER,
    &["submission_id", "paper_number", "submission_number", "manuscript", "manuscript_id", "pid"],
);
const ANY_TEXT: Known = Known::new(texts::TEXT, MORE_TEXT_NAMES);

const TASK_TEXT: Known = Known::new(task_texts::TASK_TEXT, &[]);
/// How long people worked, see [`times`].
const WORK_SECONDS: Known =
    Known::new(times::TIME_COLUMNS[0], &["work_time_in_seconds", "worktimeinseconds"]);
const WORK_TIME: Known = Known::new(times::TIME_COLUMNS[1], &[]);
const LEAD_TIME: Known = Known::new(times::TIME_COLUMNS[2], &["lead_time"]);
const BEGUN: Known = Known::new(times::TIME_COLUMNS[3], &["accept_time", "accepttime"]);
const ENDED: Known = Known::new(times::TIME_COLUMNS[4], &["submit_time", "submittime"]);
const MADE: Known = Known::new(times::TIME_COLUMNS[5], &[]);

/// An anonymous id.
pub(super) const ID_COLUMN: Column =
    Column { name: "id", synonyms: &["reviewer", "anonymous_id", "signature"], required: true };

/// Who is behind it.
pub(super) const PERSON_COLUMN: Column =
    Column { name: "person", synonyms: &["member", "name", "email", "profile"], required: true };

/// Column of the area chair, see [`PERSON_COLUMN`].
pub(super) const CHAIR_COLUMN: Column =
    Column { name: "ac", synonyms: &["area_chair"], required: false };

const CHAIR: Known = Known::new(CHAIR_COLUMN, &["area_chair_id", "meta_reviewer"]);

const ID: Known = Known::ranked(
    ID_COLUMN,
    &["id", "reviewer", "anonymous_id", "anon_id", "signature", "reviewer_id"],
);
const PERSON: Known = Known::new(PERSON_COLUMN, &["person_id", "profile_id", "e_mail"]);

const fn identifier(name: &'static str, names: &'static [&'static str]) -> Known {
    Known::ranked(Column { name, synonyms: &[], required: false }, names)
}

/// What may identify a text; see [`texts::ID_COLUMNS`].
const IDENTIFIERS: [Known; 6] = [
    identifier("id", &["id"]),
    identifier("paper", &["paper", "paper_id", "submission", "submission_id", "forum"]),
    identifier("reviewer", &["reviewer", "reviewer_id", "signature", "reviewer_email"]),
    identifier("source", SOURCE_NAMES),
    identifier("sample", &["sample", "sample_id"]),
    identifier("task", &["task", "task_id", "question_id"]),
];

/// Where the text of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRule {
    /// Rows have none.
    None,
    /// From a column of a usual name or from those that hold prose; there has to be one.
    Needed,
    /// The same, unless rows have vectors or judgments.
    Content,
    /// From the columns asked for, if any are.
    IfAsked,
}

/// What the rows of a table have.
pub(super) struct Schema {
    /// What every row has.
    pub(super) required: &'static [Known],
    /// What rows may have.
    pub(super) optional: &'static [Known],
    pub(super) text: TextRule,
    /// Whether all other columns are kept, under their folded names.
    pub(super) keeps_others: bool,
    /// Whether a row without a label is one that was not answered readably, and counts as that.
    pub(super) keeps_unanswered: bool,
}

impl Wanted {
    pub(super) fn schema(self) -> Schema {
        let schema = |required, optional, text| Schema {
            required,
            optional,
            text,
            keeps_others: false,
            keeps_unanswered: false,
        };
        match self {
            Self::Reviews => schema(
                &[PAPER, REVIEWER],
                &[TASK_TEXT, WORK_SECONDS, WORK_TIME, LEAD_TIME, BEGUN, ENDED, MADE],
                TextRule::Content,
            ),
            Self::LlmReviews => schema(&[PAPER], &[SOURCE, SAMPLE], TextRule::Content),
            Self::Labels => schema(
                &[TASK, WORKER, LABEL],
                &[WORK_SECONDS, WORK_TIME, LEAD_TIME, BEGUN, ENDED, MADE],
                TextRule::None,
            ),
            Self::LlmLabels => schema(&[TASK, LABEL], &[SOURCE, SAMPLE], TextRule::None),
            Self::JudgedLabels | Self::Labellers | Self::Gold => Schema {
                keeps_unanswered: true,
                ..schema(
                    &[TASK, ANY_LABEL],
                    &[ANY_SOURCE, ANY_WORKER, PROMPT, SAMPLE],
                    TextRule::None,
                )
            },
            Self::People => schema(&[ID, PERSON], &[CHAIR], TextRule::None),
            Self::Truth => schema(&[TASK, TRUTH], &[], TextRule::None),
            Self::Texts => schema(&[], &IDENTIFIERS, TextRule::Needed),
            Self::Items => Schema { keeps_others: true, ..schema(&[ITEM], &[], TextRule::IfAsked) },
            Self::Papers => {
                Schema { keeps_others: true, ..schema(&[ANY_PAPER], &[], TextRule::IfAsked) }
            }
        }
    }

    /// The keys of the columns that such rows may have.
    pub(super) fn keys(self) -> Vec<&'static str> {
        let schema = self.schema();
        let known = schema.required.iter().chain(schema.optional).map(Known::key);
        let text = (schema.text != TextRule::None).then_some("text");
        known.chain(text).collect()
    }

    /// Whether a column that rows need has a name here by which importers know it and the ordinary
    /// readers do not.
    pub(super) fn is_known_better(self, header: &[String]) -> bool {
        let folded: Vec<String> = header.iter().map(|name| folded(name)).collect();
        self.schema().required.iter().any(|known| {
            !header.iter().any(|name| known.column.matches(name))
                && known.names().iter().any(|name| folded.iter().any(|other| other == name))
        })
    }

    /// Whether the ordinary readers know the columns that they need by one of these names.
    pub(super) fn is_known_by(self, names: &[String]) -> bool {
        let schema = self.schema();
        let has = |known: &Known| names.iter().any(|name| known.column.matches(name));
        // Of `label` and `answer` one is meant, which an importer says.
        let is_doubled = |known: &&Known| {
            let count = names.iter().filter(|name| known.column.matches(name)).count();
            count > 1 && names.iter().any(|name| same_name(name, known.key()))
        };
        if schema
            .required
            .iter()
            .filter(|known| known.key() == "label")
            .any(|known| is_doubled(&known))
        {
            return false;
        }
        schema.required.iter().all(has)
            && match schema.text {
                TextRule::None | TextRule::IfAsked => true,
                TextRule::Needed => has(&ANY_TEXT),
                TextRule::Content => [TEXT, VECTOR, JUDGMENTS].iter().any(has),
            }
    }
}

/// The columns that rows in caz's own form need, and those of which they need one.
pub(super) fn columns(wanted: Wanted) -> (Vec<Column>, Vec<Column>) {
    let schema = wanted.schema();
    let required = schema.required.iter().map(|known| known.column).collect();
    let content: &[Known] = match schema.text {
        TextRule::None | TextRule::IfAsked => &[],
        TextRule::Needed => &[ANY_TEXT],
        TextRule::Content => &[TEXT, VECTOR, JUDGMENTS],
    };
    (required, content.iter().map(|known| known.column).collect())
}

/// Reviews or labels, by what the user maps, else by names that only one of them has.
pub(super) fn guessed<'a>(
    mapped: impl Fn(&str) -> bool,
    has_text_columns: bool,
    names: impl Iterator<Item = &'a str>,
) -> Wanted {
    if [TASK, WORKER, LABEL].iter().any(|known| mapped(known.key())) {
        return Wanted::Labels;
    }
    if [PAPER, REVIEWER, TEXT].iter().any(|known| mapped(known.key())) || has_text_columns {
        return Wanted::Reviews;
    }
    let names: Vec<String> = names.map(folded).collect();
    let is_review = |name: &String| {
        ["paper", "submission", "review", "manuscript", "forum"].iter().any(|s| name.starts_with(s))
    };
    let is_label = |name: &String| LABEL.names().contains(&name.as_str());
    if names.iter().any(is_review) || !names.iter().any(is_label) {
        Wanted::Reviews
    } else {
        Wanted::Labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_leaves_out_no_name_of_the_readers() {
        for known in [PAPER, REVIEWER, TRUTH, SOURCE, ANY_SOURCE, ID] {
            let names = known.names();
            let of_readers = [&[known.key()], known.column.synonyms].concat();
            let missing: Vec<_> = of_readers.iter().filter(|name| !names.contains(name)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", known.key());
        }
    }
}

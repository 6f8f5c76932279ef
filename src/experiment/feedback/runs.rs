//! Reads runs: `item, success` and as options `provider, feedback, max_turns, task, turns,
//! invalid_turns, tokens`.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::items::column;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems, Row, read_rows};
use crate::data::source::Source;

/// One item worked on once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// Whether it was solved within the budget.
    pub solved: bool,
    /// Turns that were used.
    pub turns: Option<u32>,
    /// Turns that could not be read or run.
    pub invalid: Option<u32>,
    /// Tokens of the run.
    pub tokens: Option<u64>,
}

/// Runs of one budget, by number of the item.
pub(crate) type ByItem = BTreeMap<u32, Run>;

/// Runs with feedback of one provider and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Who gives feedback, as in the file; empty or `none` for nobody.
    pub provider: String,
    /// What kind; empty or `none` for none.
    pub feedback: String,
    /// By budget.
    pub budgets: BTreeMap<u32, ByItem>,
}

impl Group {
    /// Whether there is no feedback.
    pub(crate) fn is_baseline(&self) -> bool {
        let nobody = |name: &str| name.is_empty() || name.eq_ignore_ascii_case("none");
        nobody(&self.provider) && nobody(&self.feedback)
    }

    /// The largest budget and its runs.
    pub(crate) fn largest(&self) -> Option<(u32, &ByItem)> {
        self.budgets.last_key_value().map(|(budget, runs)| (*budget, runs))
    }
}

/// Everything that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Runs {
    /// By provider and kind; the one without feedback first.
    pub groups: Vec<Group>,
    /// Number of items.
    pub items: usize,
    /// The task that an item is of, by number of the item; empty where the file does not say.
    pub tasks: Vec<String>,
    /// Rows read, by file.
    pub rows: Vec<u64>,
}

impl Runs {
    /// Tasks, and kinds of tasks (`kind/task`) of which there are several; sorted.
    pub(crate) fn kinds(&self) -> BTreeSet<&str> {
        let kind = |task: &'_ str| task.split('/').next().unwrap_or_default().len();
        let tasks: BTreeSet<&str> = self.tasks.iter().map(String::as_str).collect();
        let mut of_kind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for &task in &tasks {
            of_kind.entry(&task[..kind(task)]).or_default().push(task);
        }
        let several = of_kind.iter().filter(|(_, tasks)| tasks.len() > 1);
        let several: Vec<&str> = several.map(|(kind, _)| *kind).collect();
        // Of a kind with one task the kind says it all.
        let alone = of_kind.values().filter(|tasks| tasks.len() == 1).flatten();
        let split = of_kind.values().filter(|tasks| tasks.len() > 1).flatten();
        split.chain(alone).copied().chain(several).filter(|name| !name.is_empty()).collect()
    }

    /// The runs of the items of a task, or of a kind of tasks.
    #[must_use]
    pub(crate) fn of_kind(&self, name: &str) -> Self {
        let is = |task: &str| {
            task.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let kept = (0..).zip(&self.tasks).filter(|(_, task)| is(task)).map(|(item, _)| item);
        let numbers: BTreeMap<u32, u32> = kept.zip(0..).collect();
        let only = |runs: &ByItem| -> ByItem {
            runs.iter().filter_map(|(item, run)| Some((*numbers.get(item)?, *run))).collect()
        };
        let group = |group: &Group| {
            let budgets = group.budgets.iter().map(|(budget, runs)| (*budget, only(runs)));
            let budgets: BTreeMap<u32, ByItem> =
                budgets.filter(|(_, runs)| !runs.is_empty()).collect();
            let (provider, feedback) = (group.provider.clone(), group.feedback.clone());
            (!budgets.is_empty()).then_some(Group { provider, feedback, budgets })
        };
        Self {
            groups: self.groups.iter().filter_map(group).collect(),
            items: numbers.len(),
            tasks: self.tasks.iter().filter(|task| is(task)).cloned().collect(),
            rows: self.rows.clone(),
        }
    }
}

const SCHEMA: [Column; 9] = [
    column("provider", &[], false),
    column("feedback", &["kind"], false),
    column("max_turns", &["budget"], false),
    column("task", &[], false),
    column("item", &[], true),
    column("success", &["solved"], true),
    column("turns", &[], false),
    column("invalid_turns", &[], false),
    column("tokens", &[], false),
];

/// The budget where the file does not say.
const ONE_BUDGET: u32 = 0;

/// Reads runs of one or more files.
///
/// # Errors
///
/// [`DataError`] with every problem of the files.
pub(crate) fn read(sources: &[Source]) -> Result<Runs, DataError> {
    let mut problems = Problems::new();
    let mut found: Vec<Found> = Vec::new();
    let mut rows = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let mut file = FileProblems::new(source, &mut problems);
        rows.push(read_one((number, source), &mut file, &mut found));
    }
    let mut numbers: BTreeMap<Key, u32> =
        found.iter().map(|found| (found.item.clone(), 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let mut groups: BTreeMap<Key, BTreeMap<u32, ByItem>> = BTreeMap::new();
    for Found { file, line, group, budget, item, run } in found {
        let runs = groups.entry(group).or_default().entry(budget).or_default();
        if runs.insert(numbers[&item], run).is_some() {
            let message = "the same item stands twice with this provider, feedback and budget";
            let mut file = FileProblems::new(&sources[file], &mut problems);
            file.report(Some(line), None, message);
        }
    }
    problems.into_result()?;
    let group = |((provider, feedback), budgets)| Group { provider, feedback, budgets };
    let mut groups: Vec<Group> = groups.into_iter().map(group).collect();
    groups.sort_by_key(|group| !group.is_baseline());
    let tasks: Vec<String> = numbers.into_keys().map(|(task, _)| task).collect();
    Ok(Runs { groups, items: tasks.len(), tasks, rows })
}

/// Two names that belong together.
type Key = (String, String);

/// One row.
struct Found {
    /// Number of the file.
    file: usize,
    line: u64,
    group: Key,
    budget: u32,
    item: Key,
    run: Run,
}

/// Reads the file of a number; the rows read.
#[expect(clippy::cast_possible_truncation, reason = "turns and budgets are checked to be 32 bits")]
fn read_one(
    (numbered, source): (usize, &Source),
    file: &mut FileProblems<'_>,
    found: &mut Vec<Found>,
) -> u64 {
    read_rows(source, &SCHEMA, file, &mut |row, problems| {
        let name = |index: usize| row.fields[index].as_name().unwrap_or_default().into_owned();
        let Some(item) = row.fields[4].as_name() else {
            problems.report(Some(row.line), Some("item"), "is empty; give every row one");
            return;
        };
        let solved = match row.fields[5].as_name().as_deref() {
            Some("1" | "true" | "True" | "yes") => true,
            Some("0" | "false" | "False" | "no") => false,
            _ => {
                problems.report(Some(row.line), Some("success"), "is not 1 or 0");
                return;
            }
        };
        let mut number = |index: usize| whole(row, index, problems);
        let budget = number(2).map_or(ONE_BUDGET, |budget| budget as u32);
        let run = Run {
            solved,
            turns: number(6).map(|turns| turns as u32),
            invalid: number(7).map(|turns| turns as u32),
            tokens: number(8),
        };
        let item = (name(3), item.into_owned());
        let group = (name(0), name(1));
        found.push(Found { file: numbered, line: row.line, group, budget, item, run });
    })
}

/// A whole number of at least 0, if the cell is not empty.
fn whole(row: &Row<'_>, index: usize, problems: &mut FileProblems<'_>) -> Option<u64> {
    let field = &row.fields[index];
    let number = field.as_name().and_then(|text| text.parse::<u64>().ok());
    let number =
        number.filter(|number| u32::try_from(*number).is_ok() || index == SCHEMA.len() - 1);
    if number.is_none() && !field.is_missing() {
        let column = SCHEMA[index].name;
        problems.report(Some(row.line), Some(column), "is not a whole number of at least 0");
    }
    number
}

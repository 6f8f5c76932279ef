//! Reads verdicts and pairs.
//!
//! Verdicts: `item, judge, winner` with `winner` one of `a`, `b`, `tie` or empty (missing), and as
//! options
//! - `winner_swapped`: the verdict with `b` shown first, named by the sides of the pair;
//! - `order`: `ab` or `ba`, which side was shown first, for one verdict a row;
//! - `a`, `b`: names of what was compared; then `(x, y)` and `(y, x)` are the same pair;
//! - `tokens, calls, seconds, rounds`: what the row cost;
//! - `score_a, score_b`: scores of the sides, of one verdict a row.
//!
//! or the files of MT-Bench, see [`crate::data::mtbench`].
//!
//! Pairs: `item` and as options the texts `a` and `b`, `gold` and several rows per item, one for
//! each person who gave a verdict; or a file of MT-Bench.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::family::family;
use super::{Cluster, JudgesSettings};
use crate::data::items::column;
use crate::data::mtbench::{self, Judgment, is_mtbench, pair_name};
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, Field, FileProblems, header, read_rows};
use crate::data::side::Side;
use crate::data::source::Source;
use crate::report::Input;

/// What is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'a> {
    /// The verdicts.
    pub verdicts: &'a Source,
    /// The pairs, for gold verdicts and lengths.
    pub pairs: Option<&'a Source>,
    /// Clusters of items: `item, cluster`.
    pub clusters: Option<&'a Source>,
    /// What was said in the debates, see [`super::transcripts`].
    pub transcripts: Option<&'a Source>,
}

/// A pair of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pair {
    /// The item.
    pub item: String,
    /// What was compared, if the verdicts name it: side a, side b.
    pub names: Option<(String, String)>,
    /// What both answer, if the item is more than that.
    pub question: Option<String>,
    /// Words of either text, if they are known.
    pub words: Option<(u32, u32)>,
    /// Number of the cluster.
    pub cluster: u32,
    /// Verdicts of people.
    pub votes: Vec<Side>,
}

impl Pair {
    /// What most people say; a tie if several verdicts are equally common; `None` without people.
    pub(crate) fn gold(&self) -> Option<Side> {
        let count = |side: Side| self.votes.iter().filter(|vote| **vote == side).count();
        let counts = [Side::A, Side::B, Side::Tie].map(|side| (count(side), side));
        let most = counts.iter().map(|(count, _)| *count).max().filter(|&most| most > 0)?;
        let mut first = counts.iter().filter(|(count, _)| *count == most);
        let found = first.next().map(|(_, side)| *side);
        if first.next().is_some() { Some(Side::Tie) } else { found }
    }
}

/// What a judge said about a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Judged {
    /// With side a first, with side b first: not asked, missing, or a verdict.
    #[expect(clippy::option_option, reason = "not asked, missing, or a verdict")]
    pub orders: [Option<Option<Side>>; 2],
    /// Sums over the rows that say so, and the readable verdicts of these.
    pub cost: [(f64, f64); COSTS.len()],
    /// Scores of the sides, with side a first and with side b first.
    pub scores: [Option<[f64; 2]>; 2],
}

/// What a verdict may cost.
pub(crate) const COSTS: [&str; 4] = ["tokens", "calls", "seconds", "rounds"];

/// A judge and its verdicts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judge {
    /// Its name.
    pub name: String,
    /// Its family, if the name says so.
    pub family: Option<&'static str>,
    /// By number of the pair.
    pub judged: BTreeMap<u32, Judged>,
}

impl Judge {
    /// Adds the pairs with a gold verdict on which the judge has no row: its verdicts are missing, in the
    /// orders of the pair of which it has most.
    fn add_left_out(&mut self, pairs: &[Pair]) {
        let asked = |judged: &Judged| judged.orders.map(|order| order.map(|_| None));
        let most =
            self.judged.values().map(asked).max_by_key(|orders| orders.iter().flatten().count());
        let Some(orders) = most else { return };
        for (number, _) in (0..).zip(pairs).filter(|(_, pair)| pair.gold().is_some()) {
            let left_out = Judged { orders, ..Judged::default() };
            self.judged.entry(number).or_insert(left_out);
        }
    }
}

/// Everything that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdicts {
    /// By number, in the order of their names.
    pub pairs: Vec<Pair>,
    /// Those to measure, by name.
    pub judges: Vec<Judge>,
    /// Names of all judges of the file, those who are not measured among them.
    pub names: Vec<String>,
    /// Clusters.
    pub clusters: usize,
    /// Whether the gold verdicts are those of judges in the same file.
    pub gold_of_others: bool,
    /// What was read.
    pub inputs: Vec<Input>,
}

const ITEM: Column = column("item", &["task", "question"], true);
const VERDICTS: [Column; 13] = [
    ITEM,
    column("judge", &["method", "source"], true),
    column("winner", &["verdict"], true),
    column("winner_swapped", &[], false),
    column("order", &[], false),
    column("a", &[], false),
    column("b", &[], false),
    column(COSTS[0], &[], false),
    column(COSTS[1], &[], false),
    column(COSTS[2], &[], false),
    column(COSTS[3], &[], false),
    column("score_a", &[], false),
    column("score_b", &[], false),
];
const PAIRS: [Column; 4] =
    [ITEM, column("a", &["response_a"], false), column("b", &["response_b"], false), GOLD];
const GOLD: Column = column("gold", &[], false);
const CLUSTERS: [Column; 2] = [ITEM, column("cluster", &["topic", "group"], true)];

/// One row of verdicts.
struct Row {
    line: u64,
    item: String,
    judge: String,
    /// Names of both sides, in the order of their names; the verdicts are turned to it.
    names: Option<(String, String)>,
    #[expect(clippy::option_option, reason = "not asked, missing, or a verdict")]
    orders: [Option<Option<Side>>; 2],
    cost: [Option<f64>; COSTS.len()],
    scores: [Option<[f64; 2]>; 2],
}

/// Reads everything.
///
/// # Errors
///
/// [`DataError`] with every problem of the files.
pub(crate) fn read(files: &Files<'_>, settings: &JudgesSettings) -> Result<Verdicts, DataError> {
    let mut problems = Problems::new();
    let mut rows = Vec::new();
    let mut known: BTreeMap<String, Pair> = BTreeMap::new();
    let mut file = FileProblems::new(files.verdicts, &mut problems);
    let count = if is_mtbench(files.verdicts) {
        let judgments = mtbench::read(files.verdicts)?;
        for judgment in &judgments {
            // Whoever judged is no gold here; the texts are known all the same.
            add_pair(&mut known, pair_of(judgment, false), judgment.line, &mut file);
            rows.extend(row_of(judgment, &mut file));
        }
        judgments.len() as u64
    } else {
        read_verdicts(files.verdicts, &mut file, &mut rows)
    };
    let mut inputs = vec![Input::new(files.verdicts, count)];
    if let Some(source) = files.pairs {
        let mut file = FileProblems::new(source, &mut problems);
        let count = if is_mtbench(source) {
            let judgments = mtbench::read(source)?;
            for judgment in &judgments {
                add_pair(&mut known, pair_of(judgment, true), judgment.line, &mut file);
            }
            judgments.len() as u64
        } else {
            read_pairs(source, &mut file, &mut known)
        };
        inputs.push(Input::new(source, count));
    }
    let mut clusters: HashMap<String, String> = HashMap::new();
    if let Some(source) = files.clusters {
        let mut file = FileProblems::new(source, &mut problems);
        let count = read_rows(source, &CLUSTERS, &mut file, &mut |row, problems| {
            let named = (row.fields[0].as_name(), row.fields[1].as_name());
            let (Some(item), Some(cluster)) = named else {
                problems.report(Some(row.line), None, "needs an item and its cluster");
                return;
            };
            clusters.insert(item.into(), cluster.into());
        });
        inputs.push(Input::new(source, count));
    }
    let names: BTreeSet<String> = rows.iter().map(|row: &Row| row.judge.clone()).collect();
    let names = names.into_iter().collect();
    let gold_of_others = known.values().all(|pair| pair.votes.is_empty());
    let mut file = FileProblems::new(files.verdicts, &mut problems);
    let (mut pairs, mut judges) =
        gather(rows, (&known, gold_of_others), &settings.methods, &mut file);
    if !gold_of_others {
        judges.iter_mut().for_each(|judge| judge.add_left_out(&pairs));
    }
    let clusters = number_clusters(&mut pairs, settings.cluster, &clusters);
    problems.into_result()?;
    Ok(Verdicts { pairs, judges, names, clusters, gold_of_others, inputs })
}

fn read_verdicts(source: &Source, file: &mut FileProblems<'_>, rows: &mut Vec<Row>) -> u64 {
    let both = header(source).iter().any(|name| name.eq_ignore_ascii_case("winner_swapped"));
    read_rows(source, &VERDICTS, file, &mut |row, problems| {
        let line = row.line;
        let named = (row.fields[0].as_name(), row.fields[1].as_name());
        let (Some(item), Some(judge)) = named else {
            problems.report(Some(line), None, "needs an item and a judge");
            return;
        };
        let mut side =
            |index: usize| verdict(&row.fields[index], line, VERDICTS[index].name, problems);
        let (winner, swapped) = (side(2), if both { side(3) } else { None });
        let order = row.fields[4].as_name();
        let mut orders = match order.as_deref() {
            None | Some("ab") if both => [Some(winner), Some(swapped)],
            None | Some("ab") => [Some(winner), None],
            Some("ba") if !both => [None, Some(winner)],
            _ => {
                problems.report(
                    Some(line),
                    Some("order"),
                    "is `ab` or `ba`, for one verdict a row",
                );
                return;
            }
        };
        let mut cost = [None; COSTS.len()];
        for (index, cost) in cost.iter_mut().enumerate() {
            let field = &row.fields[7 + index];
            let number = field.as_name().and_then(|text| text.parse::<f64>().ok());
            *cost = number.filter(|number| number.is_finite() && *number >= 0.0);
            if cost.is_none() && !field.is_missing() {
                problems.report(Some(line), Some(COSTS[index]), "is not a number of at least 0");
            }
        }
        let score = |index: usize| {
            let number = row.fields[index].as_name()?.parse::<f64>().ok();
            number.filter(|number| number.is_finite())
        };
        // A row with both verdicts does not say whose the scores are.
        let of_row = score(11).zip(score(12)).map(|(a, b)| [a, b]).filter(|_| !both);
        let is_ab = matches!(orders, [Some(_), None]);
        let mut scores = if is_ab { [of_row, None] } else { [None, of_row] };
        let names = match (row.fields[5].as_name(), row.fields[6].as_name()) {
            (Some(a), Some(b)) if a > b => {
                // One name for the pair, whichever was shown first.
                let turned = |order: Option<Option<Side>>| order.map(|v| v.map(Side::exchanged));
                orders = [turned(orders[1]), turned(orders[0])];
                let exchanged = |scores: Option<[f64; 2]>| scores.map(|[a, b]| [b, a]);
                scores = [exchanged(scores[1]), exchanged(scores[0])];
                Some((b.into_owned(), a.into_owned()))
            }
            (Some(a), Some(b)) => Some((a.into_owned(), b.into_owned())),
            _ => None,
        };
        let (item, judge) = (item.into(), judge.into());
        rows.push(Row { line, item, judge, names, orders, cost, scores });
    })
}

/// A row of MT-Bench as a row of verdicts.
fn row_of(judgment: &Judgment, problems: &mut FileProblems<'_>) -> Option<Row> {
    let Judgment { line, question, models, judge, orders, .. } = judgment.clone();
    let Some(judge) = judge else {
        problems.report(Some(line), Some("judge"), "is empty; verdicts need one");
        return None;
    };
    Some(Row {
        line,
        item: question,
        judge,
        names: Some(models),
        orders,
        cost: [None; COSTS.len()],
        scores: [None; 2],
    })
}

/// A row of MT-Bench as a pair, with the votes of the row if it is of people.
fn pair_of(judgment: &Judgment, with_votes: bool) -> Pair {
    Pair {
        item: judgment.pair(),
        names: Some(judgment.models.clone()),
        question: Some(judgment.question.clone()),
        words: judgment.texts.as_ref().map(|texts| texts.words),
        cluster: 0,
        votes: judgment.orders.iter().filter_map(|o| o.flatten().filter(|_| with_votes)).collect(),
    }
}

/// Adds a pair, or its votes if it is known; texts must be the same where both have some.
fn add_pair(
    pairs: &mut BTreeMap<String, Pair>,
    pair: Pair,
    line: u64,
    problems: &mut FileProblems<'_>,
) {
    match pairs.get_mut(&pair.item) {
        None => drop(pairs.insert(pair.item.clone(), pair)),
        Some(known) if known.words.zip(pair.words).is_some_and(|(one, other)| one != other) => {
            problems.report(Some(line), None, "the pair stands twice, with other texts");
        }
        Some(known) => {
            known.words = known.words.or(pair.words);
            known.votes.extend(pair.votes);
        }
    }
}

/// A verdict, `None` if missing; anything else than a verdict is a problem.
fn verdict(
    field: &Field<'_>,
    line: u64,
    column: &str,
    problems: &mut FileProblems<'_>,
) -> Option<Side> {
    if field.is_missing() {
        return None;
    }
    let found = field.as_name().and_then(|text| Side::parse(&text));
    if found.is_none() {
        problems.report(
            Some(line),
            Some(column),
            "is not a, b or tie; leave it empty if it could not be read",
        );
    }
    found
}

fn read_pairs(
    source: &Source,
    file: &mut FileProblems<'_>,
    pairs: &mut BTreeMap<String, Pair>,
) -> u64 {
    read_rows(source, &PAIRS, file, &mut |row, problems| {
        let Some(item) = row.fields[0].as_name() else {
            problems.report(Some(row.line), Some(ITEM.name), "is empty; give every pair a name");
            return;
        };
        let words = |index: usize| {
            let text = row.fields[index].as_text()?;
            u32::try_from(text.split_whitespace().count()).ok()
        };
        let words = words(1).zip(words(2));
        let vote = verdict(&row.fields[3], row.line, GOLD.name, problems);
        match pairs.get_mut(item.as_ref()) {
            None => {
                let item = item.into_owned();
                let votes = vote.into_iter().collect();
                pairs.insert(item.clone(), Pair { item, words, votes, ..Pair::default() });
            }
            Some(pair) if pair.words != words => {
                problems.report(Some(row.line), None, "the pair stands twice, with other texts");
            }
            Some(pair) => pair.votes.extend(vote),
        }
    })
}

/// Pairs by name, judges by name.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 pairs")]
fn gather(
    rows: Vec<Row>,
    (known, gold_of_others): (&BTreeMap<String, Pair>, bool),
    methods: &[String],
    file: &mut FileProblems<'_>,
) -> (Vec<Pair>, Vec<Judge>) {
    let mut numbers: BTreeMap<(String, Option<(String, String)>), u32> =
        rows.iter().map(|row| ((row.item.clone(), row.names.clone()), 0)).collect();
    let mut pairs = Vec::with_capacity(numbers.len());
    for ((item, names), number) in &mut numbers {
        *number = pairs.len() as u32;
        // A pair of MT-Bench is known by its question and its models.
        let by_names = || known.get(&pair_name(item, names.as_ref()?));
        let pair = known.get(item).or_else(by_names).cloned().unwrap_or_default();
        let names = names.clone().or(pair.names);
        pairs.push(Pair { item: item.clone(), names, ..pair });
    }
    let mut judges: BTreeMap<String, Judge> = BTreeMap::new();
    for row in rows {
        let Row { line, item, judge: name, names, orders, cost, scores } = row;
        let number = numbers[&(item, names)];
        if !methods.is_empty() && !methods.contains(&name) {
            // Who is not measured is one of those to measure against.
            if gold_of_others {
                let votes = &mut pairs[number as usize].votes;
                votes.extend(orders.iter().filter_map(|order| order.flatten()));
            }
            continue;
        }
        let judge = judges.entry(name).or_insert_with_key(|name| Judge {
            name: name.clone(),
            family: family(name),
            judged: BTreeMap::new(),
        });
        let judged = judge.judged.entry(number).or_default();
        for (there, new) in judged.orders.iter_mut().zip(orders) {
            if there.is_some() && new.is_some() {
                file.report(
                    Some(line),
                    None,
                    "the same judge has two verdicts on this pair in this order",
                );
            }
            *there = there.or(new);
        }
        for (there, new) in judged.scores.iter_mut().zip(scores) {
            *there = there.or(new);
        }
        let readable = orders.iter().copied().flatten().flatten().count() as f64;
        for ((sum, verdicts), new) in judged.cost.iter_mut().zip(cost) {
            if let Some(new) = new {
                *sum += new;
                *verdicts += readable;
            }
        }
    }
    (pairs, judges.into_values().collect())
}

/// Numbers the clusters; returns how many there are.
fn number_clusters(
    pairs: &mut [Pair],
    cluster: Cluster,
    of_item: &HashMap<String, String>,
) -> usize {
    if cluster == Cluster::Pair {
        pairs.iter_mut().zip(0..).for_each(|(pair, number)| pair.cluster = number);
        return pairs.len();
    }
    // An item that the file does not name is a cluster of its own.
    let name = |pair: &Pair| {
        let question = pair.question.as_ref().unwrap_or(&pair.item);
        match of_item.get(&pair.item).or_else(|| of_item.get(question)) {
            Some(cluster) => (0, cluster.clone()),
            None => (1, question.clone()),
        }
    };
    let mut numbers: BTreeMap<(u8, String), u32> =
        pairs.iter().map(|pair| (name(pair), 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    for pair in pairs.iter_mut() {
        pair.cluster = numbers[&name(pair)];
    }
    numbers.len()
}

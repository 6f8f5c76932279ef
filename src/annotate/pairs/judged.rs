//! Verdicts on one pair of answers, and what is written of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::annotate::Failure;
use crate::annotate::row::Row;
use crate::data::side::Side;
use crate::judge::pairs::{Cause, Debate, Order};

/// A verdict of one method in one order.
pub(super) struct Judged {
    pub(super) method: String,
    pub(super) order: Order,
    pub(super) debate: Debate,
}

/// Whether the verdict changes with the order, where there are two.
fn flips(judged: &[Judged], method: &str) -> Option<bool> {
    let verdicts: Option<Vec<Side>> =
        judged.iter().filter(|j| j.method == method).map(|j| j.debate.verdict).collect();
    match verdicts?.as_slice() {
        [one, other] => Some(one != other),
        _ => None,
    }
}

/// Whole numbers without a fraction, as people write them.
fn plain_number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "sums of a few scores")]
    if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) }
}

/// One row per verdict, those of a method together.
pub(super) fn rows(item: &str, judged: &[Judged], timed: bool) -> Vec<Row> {
    let row = |judged_now: &Judged| {
        let Judged { method, order, debate } = judged_now;
        let scores = debate.scores.map(|scores| scores.map(plain_number));
        let [score_a, score_b] = scores.map_or([None, None], |[a, b]| [Some(a), Some(b)]);
        // Thousandths: more digits are noise.
        let seconds = debate.cost.seconds.filter(|_| timed).map(|s| (s * 1000.0).round() / 1000.0);
        let row = json!({
            "item": item,
            "method": method,
            "order": order.as_str(),
            "verdict": debate.verdict.map(Side::as_str),
            "score_a": score_a,
            "score_b": score_b,
            "rounds": debate.rounds,
            "calls": debate.cost.calls,
            "tokens": debate.cost.usage.total(),
            "seconds": seconds,
            "flip": flips(judged, method).map(u8::from),
            "failure": debate.failure,
        });
        row.as_object().cloned().unwrap_or_default()
    };
    let mut methods: Vec<&str> = Vec::new();
    for judged in judged {
        if !methods.contains(&judged.method.as_str()) {
            methods.push(&judged.method);
        }
    }
    let mut ordered: Vec<&Judged> = judged.iter().collect();
    ordered.sort_by_key(|judged| methods.iter().position(|method| *method == judged.method));
    ordered.into_iter().map(row).collect()
}

/// What was said in one debate.
pub(super) fn transcript(item: &str, judged: &Judged) -> Row {
    let Judged { method, order, debate } = judged;
    let row = json!({
        "item": item,
        "method": method,
        "order": order.as_str(),
        "verdict": debate.verdict.map(Side::as_str),
        "failure": debate.failure,
        "turns": debate.turns,
    });
    row.as_object().cloned().unwrap_or_default()
}

/// What failed, if anything did, and the first cause of each kind.
pub(super) fn failure(judged: &[Judged]) -> Option<Failure> {
    let mut message = String::new();
    let mut causes: BTreeMap<&str, &Cause> = BTreeMap::new();
    for Judged { method, order, debate } in judged {
        if let Some(failure) = &debate.failure {
            let gap = if message.is_empty() { "" } else { "; " };
            let _ = write!(message, "{gap}{method} {}: {failure}", order.as_str());
            if let Some(cause) = &debate.cause {
                causes.entry(failure).or_insert(cause);
            }
        }
    }
    for cause in causes.values() {
        let _ = write!(message, "; {}", cause.message);
    }
    let remedy = causes.values().find_map(|cause| cause.remedy);
    (!message.is_empty()).then_some(Failure::Unusable { kind: "no_verdict", message, remedy })
}

/// Verdicts, failures, calls and tokens by method.
pub(super) fn summary(pairs: &[Vec<Judged>]) -> Map<String, Value> {
    let mut methods: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    let mut steering = 0_u64;
    for Judged { method, debate, .. } in pairs.iter().flatten() {
        let sums = methods.entry(method).or_default();
        sums[0] += u64::from(debate.verdict.is_some());
        sums[1] += u64::from(debate.failure.is_some());
        sums[2] += debate.cost.calls;
        sums[3] += debate.cost.usage.total();
        steering += debate.turns.iter().filter(|turn| turn.suspicious).count() as u64;
    }
    let by_method: Map<String, Value> = methods
        .into_iter()
        .map(|(method, [verdicts, failures, calls, tokens])| {
            let sums = json!({"verdicts": verdicts, "failures": failures, "calls": calls, "tokens": tokens});
            (method.to_owned(), sums)
        })
        .collect();
    Map::from_iter([
        ("methods".to_owned(), by_method.into()),
        ("suspicious_arguments".to_owned(), steering.into()),
    ])
}

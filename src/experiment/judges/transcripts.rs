//! What was said in debates, as `caz judge` writes it: one JSON object per verdict.
//!
//! `{item, method, order, turns: [{speaker, round, text, scores}]}`; a speaker is `"judge"`,
//! `"summarizer"`,
//! `{"advocate": [number, side]}`, `{"aggregator": side}` or `{"juror": name}`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::row::Row;
use crate::data::problem::{DataError, Problems};
use crate::data::rows::FileProblems;
use crate::data::side::Side;
use crate::data::source::Source;
use crate::stats::rank::mean;

/// Who spoke.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    Advocate(u32, Side),
    Aggregator(Side),
    Judge,
    Summarizer,
    Juror(String),
}

impl Speaker {
    fn words(&self) -> String {
        match self {
            Self::Advocate(number, side) => format!("Advocate {number} of {}", side.as_str()),
            Self::Aggregator(side) => format!("The case for {}", side.as_str()),
            Self::Judge => "Judge".into(),
            Self::Summarizer => "Summary".into(),
            Self::Juror(who) => format!("Juror ({who})"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Turn {
    speaker: Speaker,
    round: u32,
    text: String,
    scores: Option<[f64; 2]>,
}

/// One debate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Transcript {
    item: String,
    method: String,
    order: String,
    verdict: Option<Side>,
    turns: Vec<Turn>,
}

/// Reads transcripts.
///
/// # Errors
///
/// [`DataError`] with every line that is none.
pub(crate) fn read(source: &Source) -> Result<Vec<Transcript>, DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    let mut found: Vec<Transcript> = Vec::new();
    for (line, bytes) in (1..).zip(source.bytes.split(|byte| *byte == b'\n')) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(bytes) {
            Ok(transcript) => found.push(transcript),
            Err(error) => {
                file.report(Some(line), None, format!("is not a transcript of a debate: {error}"));
            }
        }
    }
    problems.into_result()?;
    found.sort_by(|a, b| (&a.method, &a.item, &a.order).cmp(&(&b.method, &b.item, &b.order)));
    Ok(found)
}

/// By method and round: the mean gap between the scores, and how much the arguments of both sides
/// share, the words of both over the words of either.
pub(crate) fn rows(transcripts: &[Transcript]) -> Vec<Row> {
    let mut gaps: BTreeMap<(&str, u32), Vec<f64>> = BTreeMap::new();
    let mut shared: BTreeMap<(&str, u32), Vec<f64>> = BTreeMap::new();
    for transcript in transcripts {
        let rounds: BTreeSet<u32> = transcript.turns.iter().map(|turn| turn.round).collect();
        for round in rounds {
            let key = (transcript.method.as_str(), round);
            let turns = || transcript.turns.iter().filter(|turn| turn.round == round);
            // Repeated calls are one round; their mean gap is that of the method.
            let of_turn = |turn: &Turn| turn.scores.map(|[a, b]| (a - b).abs());
            let found: Vec<f64> = turns().filter_map(of_turn).collect();
            gaps.entry(key).or_default().extend(mean(&found));
            let words = |side: Side| -> BTreeSet<String> {
                turns()
                    .filter(|turn| matches!(turn.speaker, Speaker::Advocate(_, of) if of == side))
                    .flat_map(|turn| turn.text.split_whitespace())
                    .map(str::to_lowercase)
                    .collect()
            };
            let (a, b) = (words(Side::A), words(Side::B));
            if !a.is_empty() && !b.is_empty() {
                let both = a.intersection(&b).count() as f64 / a.union(&b).count() as f64;
                shared.entry(key).or_default().push(both);
            }
        }
    }
    let row = |metric: &str, ((method, round), values): ((&str, u32), Vec<f64>)| Row {
        method: Some(method.to_owned()),
        metric: format!("{metric}:{round}"),
        value: mean(&values),
        interval: None,
        items: values.len() as u64,
        missing: None,
    };
    let gaps = gaps.into_iter().filter(|(_, values)| !values.is_empty());
    let gaps = gaps.map(|of| row("score_gap_round", of));
    gaps.chain(shared.into_iter().map(|of| row("advocates_share_round", of))).collect()
}

/// By method and round: how often the side that leads after it is not the gold one, and how often that is
/// to be expected if rounds are independent.
///
/// The side that leads a round wins it, with a probability that is uniform beforehand (Beta(1, 1)): after
/// `w` of `n` won rounds the probability that the other side is the better one is that of a
/// Beta(1 + w, 1 + n - w) variable below 1/2, that is of at least `w + 1` heads in `n + 1` throws of a
/// coin. Debates without a gold side, or where neither leads, are left out.
pub(crate) fn errors(transcripts: &[Transcript], gold: &BTreeMap<&str, Side>) -> Vec<Row> {
    let mut found: BTreeMap<(&str, u32), Vec<[f64; 2]>> = BTreeMap::new();
    for transcript in transcripts {
        let Some(&gold) = gold.get(transcript.item.as_str()).filter(|s| **s != Side::Tie) else {
            continue;
        };
        let mut won = [0_u32; 2];
        let judged = transcript.turns.iter().filter(|turn| turn.speaker == Speaker::Judge);
        for (round, [a, b]) in judged.filter_map(|turn| Some((turn.round, turn.scores?))) {
            match Side::of_scores(a, b) {
                Side::A => won[0] += 1,
                Side::B => won[1] += 1,
                Side::Tie => {}
            }
            let lead = Side::of_scores(f64::from(won[0]), f64::from(won[1]));
            if lead != Side::Tie {
                let wrong = f64::from(u8::from(lead != gold));
                let expected = below_half(won[0].max(won[1]), won[0] + won[1]);
                let key = (transcript.method.as_str(), round);
                found.entry(key).or_default().push([wrong, expected]);
            }
        }
    }
    let mut rows = Vec::new();
    for ((method, round), errors) in found {
        for (index, metric) in ["error_round", "beta_error_round"].into_iter().enumerate() {
            rows.push(Row {
                method: Some(method.to_owned()),
                metric: format!("{metric}:{round}"),
                value: mean(&errors.iter().map(|error| error[index]).collect::<Vec<_>>()),
                interval: None,
                items: errors.len() as u64,
                missing: None,
            });
        }
    }
    rows
}

/// The probability that a Beta(1 + won, 1 + played - won) variable is below 1/2.
fn below_half(won: u32, played: u32) -> f64 {
    let throws = played + 1;
    let (mut ways, mut sum) = (1.0, 0.0);
    for heads in 0..=throws {
        if heads > won {
            sum += ways;
        }
        ways *= f64::from(throws - heads) / f64::from(heads + 1);
    }
    sum * 0.5_f64.powi(i32::try_from(throws).unwrap_or(i32::MAX))
}

/// The debate with most to read: its title, and who said what.
pub(crate) fn longest(transcripts: &[Transcript]) -> Option<(String, Vec<(String, String)>)> {
    let most = transcripts.iter().map(|transcript| transcript.turns.len()).max()?;
    let longest = transcripts.iter().find(|transcript| transcript.turns.len() == most)?;
    let Transcript { item, method, order, verdict, turns } = longest;
    let verdict = verdict.map_or("none", Side::as_str);
    let title = format!("One debate: {method} on {item}, order {order}, verdict {verdict}");
    let turn = |turn: &Turn| {
        let scores = turn.scores.map(|[a, b]| format!("a {a}, b {b}"));
        let parts: Vec<String> =
            scores.into_iter().chain((!turn.text.is_empty()).then(|| turn.text.clone())).collect();
        (format!("{}, round {}", turn.speaker.words(), turn.round), parts.join("\n"))
    };
    Some((title, turns.iter().map(turn).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const LINES: &str = concat!(
        r#"{"item":"1","method":"samre","order":"ab","verdict":"a","failure":null,"turns":["#,
        r#"{"speaker":{"advocate":[1,"a"]},"round":1,"text":"the cat sat","scores":null},"#,
        r#"{"speaker":{"advocate":[1,"b"]},"round":1,"text":"The dog","scores":null},"#,
        r#"{"speaker":"judge","round":1,"text":"more","scores":[70.0,60.0]},"#,
        r#"{"speaker":"judge","round":2,"text":"","scores":[60.0,64.0]}]}"#,
        "\n\n",
        r#"{"item":"2","method":"samre","order":"ab","verdict":null,"failure":"x","turns":[]}"#,
        "\n",
    );

    fn source(text: &str) -> Source {
        Source::from_reader(Path::new("said.jsonl"), text.as_bytes()).unwrap()
    }

    #[test]
    fn gaps_and_shared_words_by_hand() {
        let found = read(&source(LINES)).unwrap();
        let rows = rows(&found);
        let value = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().value;
        assert_eq!(value("score_gap_round:1"), Some(10.0));
        assert_eq!(value("score_gap_round:2"), Some(4.0));
        // the; the, cat, sat, dog.
        assert_eq!(value("advocates_share_round:1"), Some(0.25));
        assert_eq!(rows.len(), 3);
        let (title, turns) = longest(&found).unwrap();
        assert_eq!(title, "One debate: samre on 1, order ab, verdict a");
        assert_eq!(turns[2], ("Judge, round 1".into(), "a 70, b 60\nmore".into()));
    }

    #[test]
    fn errors_by_round_and_by_the_beta_model_by_hand() {
        // Beta(2, 1) below 1/2: 1/4. Beta(3, 1): 1/8. Beta(2, 2): 1/2. Beta(3, 2): 5/16.
        for (won, played, expected) in
            [(1, 1, 0.25), (2, 2, 0.125), (1, 2, 0.5), (2, 3, 5.0 / 16.0)]
        {
            assert!((below_half(won, played) - expected).abs() < 1e-15, "{won} of {played}");
        }
        // a leads in round 1, b in round 2: then neither leads, and only round 1 counts.
        let found = read(&source(LINES)).unwrap();
        for (gold, wrong) in [(Side::A, 0.0), (Side::B, 1.0)] {
            let rows = errors(&found, &[("1", gold), ("2", Side::A)].into_iter().collect());
            let value = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().value;
            assert_eq!(value("error_round:1"), Some(wrong));
            assert_eq!(value("beta_error_round:1"), Some(0.25));
            assert_eq!(rows.len(), 2);
        }
        assert!(errors(&found, &[("1", Side::Tie)].into_iter().collect()).is_empty());
    }

    /// Rounds that are independent tries, won with a probability that is uniform from debate to debate:
    /// after an odd number n of them the side that leads is the wrong one in C(n + 1, (n + 1) / 2) /
    /// 2^(n + 2) of the debates, so errors vanish, but only as 1 / sqrt(2 pi n).
    #[test]
    fn errors_of_independent_rounds_are_those_of_the_beta_model() {
        let mut random = crate::stats::seed::stream(3, "test", 0);
        let (mut said, mut gold) = (Vec::new(), BTreeMap::new());
        let names: Vec<String> = (0..20_000).map(|item| item.to_string()).collect();
        for item in &names {
            let wins: f64 = rand::RngExt::random_range(&mut random, 0.0..1.0);
            gold.insert(item.as_str(), if wins > 0.5 { Side::A } else { Side::B });
            let mut turn = |round| {
                let scores = if rand::RngExt::random_bool(&mut random, wins) {
                    [2.0, 1.0]
                } else {
                    [1.0, 2.0]
                };
                Turn { speaker: Speaker::Judge, round, text: String::new(), scores: Some(scores) }
            };
            said.push(Transcript {
                item: item.clone(),
                method: "samre".into(),
                order: "ab".into(),
                verdict: None,
                turns: (1..=5).map(&mut turn).collect(),
            });
        }
        let rows = errors(&said, &gold);
        let value = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().value;
        for (round, expected) in [(1, 0.25), (3, 0.1875), (5, 0.156_25)] {
            for metric in ["error_round", "beta_error_round"] {
                let found = value(&format!("{metric}:{round}")).unwrap();
                // Four standard errors of a share of 20,000.
                assert!((found - expected).abs() < 0.0125, "{metric}:{round} {found} {expected}");
            }
            let model = (0..=round).map(|won| below_half(won.max(round - won), round)).sum::<f64>();
            assert!((model / f64::from(round + 1) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_line_that_is_no_transcript_is_named() {
        let text = read(&source("{\"item\":1}\n")).unwrap_err().to_string();
        assert!(text.contains("said.jsonl:1: is not a transcript"), "{text}");
    }
}

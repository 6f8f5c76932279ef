//! Judgments of pairs as MT-Bench publishes them (Zheng and others 2023, arXiv 2306.05685).
//!
//! Two kinds of tables, mostly JSON lines:
//! - one vote a row: `question_id, turn, model_a, model_b, winner, judge`, and with what was judged in
//!   `conversation_a` and `conversation_b`, lists of `{role, content}`; `winner` is `model_a`,
//!   `model_b` or begins with `tie`;
//! - both orders in a row, as its judge writes them: `question_id, turn, model_1, model_2, g1_winner,
//!   g2_winner, judge`; the second verdict is that with `model_2` shown first, named by the model.
//!
//! The same two models stand in either order in different rows. Here side `a` is the one whose name
//! comes first, so that a pair is one pair.

use serde::Deserialize;
use serde_json::Value;

use super::items::column;
use super::problem::{DataError, Problems};
use super::rows::{Column, Field, FileProblems, Row, header, read_rows};
use super::side::Side;
use super::source::Source;

const SCHEMA: [Column; 9] = [
    column("question_id", &[], true),
    column("turn", &[], false),
    column("model_a", &["model_1"], true),
    column("model_b", &["model_2"], true),
    column("winner", &["g1_winner"], false),
    column("g2_winner", &[], false),
    column("judge", &[], false),
    column("conversation_a", &[], false),
    column("conversation_b", &[], false),
];

/// Two conversations on the same requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Texts {
    /// The requests.
    pub context: String,
    /// The answers of the first model.
    pub a: String,
    /// The answers of the second one.
    pub b: String,
    /// Words of either's answers.
    pub words: (u32, u32),
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgment {
    /// Line in the file, from 1.
    pub line: u64,
    /// The question and the turn, `81-2`.
    pub question: String,
    /// The models, in the order of their names: sides a and b.
    pub models: (String, String),
    /// Who judged.
    pub judge: Option<String>,
    /// With side a shown first, with side b shown first: not asked, missing, or a verdict.
    #[expect(clippy::option_option, reason = "not asked, missing, or a verdict")]
    pub orders: [Option<Option<Side>>; 2],
    /// What was judged, if the file has it.
    pub texts: Option<Texts>,
}

impl Judgment {
    /// A name of the pair: question and models.
    pub(crate) fn pair(&self) -> String {
        pair_name(&self.question, &self.models)
    }
}

/// A name of two models' answers to a question.
pub(crate) fn pair_name(question: &str, (a, b): &(String, String)) -> String {
    format!("{question}|{a}|{b}")
}

/// Whether a table has the columns of MT-Bench.
pub(crate) fn is_mtbench(source: &Source) -> bool {
    let names = header(source);
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    has("question_id") && (has("model_a") && has("model_b") || has("model_1") && has("model_2"))
}

/// Reads every row.
///
/// # Errors
///
/// [`DataError::Invalid`] with every problem of the file.
pub(crate) fn read(source: &Source) -> Result<Vec<Judgment>, DataError> {
    let mut problems = Problems::new();
    let mut found = Vec::new();
    let both = header(source).iter().any(|name| name.eq_ignore_ascii_case("g2_winner"));
    let mut file = FileProblems::new(source, &mut problems);
    read_rows(source, &SCHEMA, &mut file, &mut |row, problems| {
        found.extend(judgment(row, both, problems));
    });
    problems.into_result()?;
    Ok(found)
}

fn judgment(row: &Row<'_>, both: bool, problems: &mut FileProblems<'_>) -> Option<Judgment> {
    let question = row.name(0, &SCHEMA[0], problems)?.into_owned();
    let models = [row.name(2, &SCHEMA[2], problems)?, row.name(3, &SCHEMA[3], problems)?];
    let models = models.map(Into::<String>::into);
    if models[0] == models[1] {
        problems.report(Some(row.line), Some("model_b"), "is the model of the other side");
        return None;
    }
    let turn = row.fields[1].as_name().map(|turn| turn.parse::<usize>().unwrap_or(0));
    if turn == Some(0) {
        problems.report(Some(row.line), Some("turn"), "is not a whole number of at least 1");
        return None;
    }
    let mut winner = |index: usize| verdict(row, index, problems);
    let first = winner(4)?;
    let second = if both { Some(winner(5)?) } else { None };
    let texts = match (&row.fields[7], &row.fields[8]) {
        (Field::Missing, Field::Missing) => None,
        _ => Some(texts(row, turn, problems)?),
    };
    let judge = match &row.fields[6] {
        // The name of the model and that of its prompt.
        Field::Json(Value::Array(parts)) => {
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            (!parts.is_empty()).then(|| parts.join(":"))
        }
        field => field.as_name().map(Into::into),
    };
    let question = match turn {
        Some(turn) => format!("{question}-{turn}"),
        None => question,
    };
    let (line, [one, other]) = (row.line, models);
    Some(if one < other {
        let (models, orders) = ((one, other), [Some(first), second]);
        Judgment { line, question, models, judge, orders, texts }
    } else {
        let exchanged = |verdict: Option<Side>| verdict.map(Side::exchanged);
        let orders = [second.map(exchanged), Some(exchanged(first))];
        let texts = texts.map(|t| Texts { a: t.b, b: t.a, words: (t.words.1, t.words.0), ..t });
        Judgment { line, question, models: (other, one), judge, orders, texts }
    })
}

/// The verdict of a column by the sides of the row, `Some(None)` if it is missing; `None` and a
/// problem for anything else.
#[expect(clippy::option_option, reason = "a problem, missing, or a verdict")]
fn verdict(row: &Row<'_>, index: usize, problems: &mut FileProblems<'_>) -> Option<Option<Side>> {
    let field = &row.fields[index];
    if field.is_missing() {
        return Some(None);
    }
    let word = field.as_name().map(|word| word.to_lowercase());
    match word.as_deref() {
        Some("model_a" | "model_1") => Some(Some(Side::A)),
        Some("model_b" | "model_2") => Some(Some(Side::B)),
        // `tie (bothbad)`, `tie (inconsistent)`.
        Some(word) if word == "tie" || word.starts_with("tie ") => Some(Some(Side::Tie)),
        // What its judge writes for an answer that it could not read.
        Some("error") => Some(None),
        _ => {
            let message = "is not model_a, model_b or tie; leave it empty if it could not be read";
            problems.report(Some(row.line), Some(SCHEMA[index].name), message);
            None
        }
    }
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// Requests and answers in turn, up to `turn`; `None` if it is no conversation as long as that.
fn exchanges(field: &Field<'_>, turn: Option<usize>) -> Option<Vec<(String, String)>> {
    let messages: Vec<Message> = match field {
        Field::Json(value) => serde_json::from_value(value.clone()).ok()?,
        Field::Text(text) => serde_json::from_str(text).ok()?,
        Field::Missing => return None,
    };
    let (pairs, rest) = messages.as_chunks::<2>();
    let wanted = turn.unwrap_or(pairs.len());
    if !rest.is_empty() && turn.is_none() || wanted == 0 {
        return None;
    }
    let one = |[request, answer]: &[Message; 2]| {
        let right = request.role == "user" && answer.role == "assistant";
        right.then(|| (request.content.clone(), answer.content.clone()))
    };
    pairs.get(..wanted)?.iter().map(one).collect()
}

fn texts(row: &Row<'_>, turn: Option<usize>, problems: &mut FileProblems<'_>) -> Option<Texts> {
    let mut read = |index: usize| {
        let found = exchanges(&row.fields[index], turn);
        if found.is_none() {
            let message = "is not a list of role and content, user and assistant in turn, that \
                           reaches the turn";
            problems.report(Some(row.line), Some(SCHEMA[index].name), message);
        }
        found
    };
    let (of_a, of_b) = (read(7)?, read(8)?);
    let requests = |of: &[(String, String)]| of.iter().map(|(r, _)| r.clone()).collect::<Vec<_>>();
    if requests(&of_a) != requests(&of_b) {
        let message = "has other requests than conversation_a";
        problems.report(Some(row.line), Some("conversation_b"), message);
        return None;
    }
    let answers = |of: Vec<(String, String)>| of.into_iter().map(|(_, a)| a).collect::<Vec<_>>();
    let words = |texts: &[String]| {
        let words: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
        u32::try_from(words).unwrap_or(u32::MAX)
    };
    let context = numbered("Request", &requests(&of_a));
    let (a, b) = (answers(of_a), answers(of_b));
    let words = (words(&a), words(&b));
    let (a, b) = (numbered("Answer to request", &a), numbered("Answer to request", &b));
    Some(Texts { context, a, b, words })
}

/// Texts of several turns with their numbers; the text itself if there is one.
fn numbered(what: &str, texts: &[String]) -> String {
    if let [text] = texts {
        return text.clone();
    }
    let one = |(number, text): (usize, &String)| format!("{what} {number}:\n{text}");
    (1..).zip(texts).map(one).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn source(text: &str) -> Source {
        Source::from_reader(Path::new("m.jsonl"), text.as_bytes()).unwrap()
    }

    const VOTES: &str = concat!(
        r#"{"question_id":81,"model_a":"vicuna","model_b":"alpaca","winner":"model_a","#,
        r#""judge":"expert_1","turn":1,"conversation_a":[{"content":"Hi?","role":"user"},"#,
        r#"{"content":"Hello to you","role":"assistant"},{"content":"More","role":"user"},"#,
        r#"{"content":"No","role":"assistant"}],"conversation_b":[{"content":"Hi?","role":"user"},"#,
        r#"{"content":"Hm","role":"assistant"},{"content":"More","role":"user"},"#,
        r#"{"content":"Well well","role":"assistant"}]}"#,
        "\n",
    );

    #[test]
    fn a_vote_is_turned_to_the_order_of_the_names() {
        let found = read(&source(VOTES)).unwrap();
        let judgment = &found[0];
        assert_eq!(judgment.pair(), "81-1|alpaca|vicuna");
        // Vicuna stood first and won: it is side b.
        assert_eq!(judgment.orders, [None, Some(Some(Side::B))]);
        let texts = judgment.texts.as_ref().unwrap();
        assert_eq!((texts.context.as_str(), texts.a.as_str()), ("Hi?", "Hm"));
        assert_eq!((texts.b.as_str(), texts.words), ("Hello to you", (1, 3)));
    }

    #[test]
    fn the_second_turn_has_both_turns() {
        let found = read(&source(&VOTES.replace("\"turn\":1", "\"turn\":2"))).unwrap();
        let texts = found[0].texts.as_ref().unwrap();
        assert_eq!(found[0].question, "81-2");
        assert_eq!(texts.context, "Request 1:\nHi?\n\nRequest 2:\nMore");
        assert_eq!(texts.a, "Answer to request 1:\nHm\n\nAnswer to request 2:\nWell well");
        assert_eq!(texts.words, (3, 4));
    }

    #[test]
    fn both_orders_of_the_judge_of_mtbench_stand_in_a_row() {
        let row = r#"{"question_id":81,"model_1":"a","model_2":"b","g1_winner":"model_1",
            "g2_winner":"error","judge":["gpt-4","pair-v2"],"turn":1}"#
            .replace('\n', "");
        let turned = row
            .replace("\"model_1\":\"a\",\"model_2\":\"b\"", "\"model_1\":\"b\",\"model_2\":\"a\"");
        let ties = row.replace("\"model_1\",", "\"tie (inconsistent)\",");
        let found = read(&source(&format!("{row}\n{turned}\n{ties}\n"))).unwrap();
        assert_eq!(found[0].judge.as_deref(), Some("gpt-4:pair-v2"));
        assert_eq!(found[0].orders, [Some(Some(Side::A)), Some(None)]);
        assert_eq!(found[1].orders, [Some(None), Some(Some(Side::B))]);
        assert_eq!(found[2].orders[0], Some(Some(Side::Tie)));
        assert_eq!(found[0].texts, None);
    }

    #[test]
    fn what_is_wrong_is_said_by_line_and_column() {
        let lines = [
            VOTES.replace("\"winner\":\"model_a\"", "\"winner\":\"vicuna\""),
            VOTES.replace("\"model_b\":\"alpaca\"", "\"model_b\":\"vicuna\""),
            VOTES.replace("\"turn\":1", "\"turn\":3"),
            VOTES.replace("\"turn\":1", "\"turn\":\"x\""),
            VOTES.replacen("Hi?", "Hey", 1),
        ];
        let text = read(&source(&lines.concat())).unwrap_err().to_string();
        for part in [
            "m.jsonl:1: column `winner`",
            ":2: column `model_b`",
            ":3: column `conversation_a`",
            ":4: column `turn`",
            ":5: column `conversation_b`: has other requests",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_table_is_known_by_its_columns() {
        assert!(is_mtbench(&source(VOTES)));
        assert!(!is_mtbench(&source("{\"item\":\"1\",\"a\":\"x\",\"b\":\"y\"}\n")));
        assert!(!is_mtbench(&source("{\"question_id\":1,\"a\":\"x\",\"b\":\"y\"}\n")));
    }
}

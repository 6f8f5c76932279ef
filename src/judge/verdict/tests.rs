use super::*;
use crate::llm::Usage;
use proptest::prelude::*;

fn numbers(names: &[&str]) -> Vec<Field> {
    let domain = Domain::Numbers { values: vec![-1.0, 0.0, 1.0] };
    let field = |name: &&str| Field {
        name: (*name).into(),
        definition: String::new(),
        domain: domain.clone(),
    };
    names.iter().map(field).collect()
}

fn labels(names: &[&str], labels: &[&str]) -> Vec<Field> {
    let domain = Domain::Labels { labels: labels.iter().map(|l| (*l).to_owned()).collect() };
    let field = |name: &&str| Field {
        name: (*name).into(),
        definition: String::new(),
        domain: domain.clone(),
    };
    names.iter().map(field).collect()
}

fn values(text: &str) -> Result<Vec<f64>, Vec<AnswerProblem>> {
    let fields = numbers(&["Novelty of Method", "Clarity"]);
    parse_verdict(text, &fields).map(|verdict| verdict.numbers().unwrap())
}

fn yes_no(text: &str) -> Result<Vec<Value>, Vec<AnswerProblem>> {
    parse_verdict(text, &labels(&["toxic"], &["yes", "no"])).map(|verdict| verdict.values)
}

#[test]
fn ways_to_write_the_same_answer() {
    for text in [
        r#"{"Novelty of Method": 1, "Clarity": -1}"#,
        r#"{"Clarity": -1, "Novelty of Method": 1}"#,
        "```json\n{\"Novelty of Method\": 1, \"Clarity\": -1}\n```",
        "<think>{\"Novelty of Method\": 0, \"Clarity\": 0}</think>{'Novelty of Method': 1, 'Clarity': -1}",
        "Sure! Here it is: {“Novelty of Method”: +1, “Clarity”: −1,} Hope this helps {smile}.",
        r#"{"novelty_of_method": "1", " CLARITY ": "-1.0"}"#,
        r#"{"judgments": {"Novelty of Method": 1, "Clarity": -1}}"#,
        r#"{"Novelty of Method": 1, "Clarity": -1} again: {"Clarity": -1.0, "Novelty of Method": 1.0}"#,
        "- **Novelty of Method**: 1\n- **Clarity**: -1",
        "Here are my judgments: as asked\nNovelty of Method: 1\nClarity: -1.",
    ] {
        assert_eq!(values(text), Ok(vec![1.0, -1.0]), "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_exactly_and_all_of_it() {
    let problems = values(r#"{"Novelty of Method": 2, "Originality": 1, "novelty_of_method": 1}"#)
        .unwrap_err();
    let messages: Vec<String> = problems.iter().map(AnswerProblem::to_string).collect();
    assert_eq!(
        messages,
        [
            "`Novelty of Method` is 2, but it must be -1 or 0 or 1",
            "`Originality` was not asked for",
            "`Novelty of Method` stands twice",
            "`Clarity` is missing",
        ]
    );
}

#[test]
fn a_missing_field_is_never_filled_in() {
    for text in [
        r#"{"Novelty of Method": 1}"#,
        "Novelty of Method: 1",
        r#"{"Novelty of Method": 1, "Clarity": null}"#,
        r#"{"Novelty of Method": 1, "Clarity": ""}"#,
        r#"{"Novelty of Method": 1, "Clarity": true}"#,
        r#"{"Novelty of Method": 1, "Clarity": 0.5}"#,
        r#"{"Novelty of Method": 1, "Clarity": "1 (clear)"}"#,
        r#"{"Novelty of Method": 1, "Clarity": [1]}"#,
        r#"{"Novelty of Method": 1, "Clarity": NaN}"#,
        r#"{"Novelty of Method": 1, "Clarity": 1"#,
        "[1, -1]",
        "1, -1",
        "",
        "<think>{\"Novelty of Method\": 1, \"Clarity\": 1}",
        "I cannot judge this.",
    ] {
        assert!(values(text).is_err(), "{text}");
    }
}

#[test]
fn of_two_answers_that_differ_neither_is_chosen() {
    let text =
        r#"{"Novelty of Method": 1, "Clarity": 1} or {"Novelty of Method": 0, "Clarity": 1}"#;
    assert_eq!(values(text), Err(vec![AnswerProblem::Several { count: 2 }]));
    let text = r#"{"a": {"Clarity": 1}, "b": {"Clarity": 0}}"#;
    assert!(matches!(values(text).unwrap_err()[0], AnswerProblem::NoObject { .. }));
}

#[test]
fn a_quoted_object_is_not_chosen_over_what_is_said_beside_it() {
    let several = Err(vec![AnswerProblem::Several { count: 2 }]);
    for text in [
        "The comment demands {\"toxic\": \"no\"}; I ignore that.\n\n- toxic: yes",
        "**toxic: yes**\n\n(The comment asked for {\"toxic\": \"no\"}.)",
        "yes {\"toxic\": \"no\"}",
    ] {
        assert_eq!(yes_no(text), several, "{text}");
    }
    for text in [
        r#"{"quoted": {"toxic": "no"}, "answer": "yes"}"#,
        r#"{"toxic": "yes", "why": high, "text": {"toxic": "no"}}"#,
        r#"{"toxic": maybe, "text": {"toxic": "no"}"#,
    ] {
        assert!(yes_no(text).is_err(), "{text}");
    }
    // What says the same, gives no value or speaks of something else is no other answer.
    let yes = Ok(vec![Value::Label("yes".into())]);
    for text in [
        "toxic: it insults\n{\"toxic\": \"yes\"}",
        "toxic: yes\n{\"toxic\": \"yes\"}\nNote: no",
        "As asked, {\"toxic\": <yes or no>}: {\"toxic\": \"yes\"}",
    ] {
        assert_eq!(yes_no(text), yes, "{text}");
    }
    assert_eq!(
        values("Novelty of Method: 0\n{\"Novelty of Method\": 1, \"Clarity\": 1}"),
        Err(vec![AnswerProblem::Several { count: 2 }])
    );
}

#[test]
fn words_around_an_object_are_no_other_text() {
    let domain = Domain::Text { most_words: 30 };
    let fields = [Field { name: "why".into(), definition: String::new(), domain }];
    let verdict = parse_verdict("Here it is:\n{\"why\": \"It insults.\"}\nWhy: see above", &fields);
    assert_eq!(verdict.unwrap().values, [Value::Label("It insults.".into())]);
}

#[test]
fn an_extra_line_is_an_extra_field() {
    let problems = values("Novelty of Method: 1\nClarity: 0\nOriginality: 1").unwrap_err();
    assert_eq!(problems, [AnswerProblem::Unknown { name: "Originality".into() }]);
}

#[test]
fn yes_and_no_have_many_names_and_maybe_has_none() {
    let yes = Ok(vec![Value::Label("yes".into())]);
    let no = Ok(vec![Value::Label("no".into())]);
    for word in ["yes", "\"YES\"", "true", "True", "1", "\"1\"", "'y'"] {
        assert_eq!(yes_no(&format!("{{\"toxic\": {word}}}")), yes, "{word}");
    }
    for word in ["no", "\"No\"", "false", "0"] {
        assert_eq!(yes_no(&format!("{{\"toxic\": \"{}\"}}", word.trim_matches('"'))), no, "{word}");
    }
    assert_eq!(yes_no("**Yes.**"), yes);
    for word in ["maybe", "yes and no", "not sure", "2", "null", "-1"] {
        assert!(yes_no(&format!("{{\"toxic\": \"{word}\"}}")).is_err(), "{word}");
        assert!(yes_no(word).is_err(), "{word}");
    }
}

#[test]
fn labels_that_are_not_yes_and_no_have_no_synonyms() {
    let fields = labels(&["stance"], &["yes", "no", "unsure"]);
    assert!(parse_verdict(r#"{"stance": true}"#, &fields).is_err());
    let fields = labels(&["grade"], &["1", "2"]);
    let verdict = parse_verdict(r#"{"grade": 2}"#, &fields).unwrap();
    assert_eq!(verdict.values, [Value::Label("2".into())]);
    assert!(parse_verdict(r#"{"grade": "no"}"#, &fields).is_err());
}

#[test]
fn an_answer_that_was_cut_or_withheld_is_not_read_even_if_it_looks_whole() {
    let answer =
        |finish| ChatAnswer { text: r#"{"Clarity": 1}"#.into(), finish, usage: Usage::default() };
    let fields = numbers(&["Clarity"]);
    assert_eq!(
        parse_answer(&answer(FinishReason::Length), &fields),
        Err(vec![AnswerProblem::CutOff])
    );
    assert_eq!(
        parse_answer(&answer(FinishReason::ContentFilter), &fields),
        Err(vec![AnswerProblem::Withheld])
    );
    assert!(parse_answer(&answer(FinishReason::Stop), &fields).is_ok());
}

#[test]
fn an_interval_takes_its_ends_and_nothing_beyond() {
    let domain = Domain::Interval { min: -1.0, max: 1.0 };
    let fields = [Field { name: "q".into(), definition: String::new(), domain }];
    let read = |value: &str| parse_verdict(&format!("{{\"q\": {value}}}"), &fields).is_ok();
    assert!(read("1") && read("-1.0") && read("0.25"));
    assert!(!read("1.01") && !read("-2") && !read("1e999"));
}

proptest! {
    #[test]
    fn any_order_and_any_values_are_read_by_name(
        given in prop::collection::vec(-1_i8..=1, 1..20), rotate in 0_usize..20,
    ) {
        let names: Vec<String> = (0..given.len()).map(|i| format!("Category {i}")).collect();
        let fields = numbers(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut pairs: Vec<(String, serde_json::Value)> =
            names.iter().cloned().zip(given.iter().map(|&v| v.into())).collect();
        pairs.rotate_left(rotate % given.len());
        let object: serde_json::Map<String, serde_json::Value> = pairs.iter().cloned().collect();
        let text = serde_json::Value::Object(object.clone()).to_string();
        let expected: Vec<f64> = given.iter().map(|&v| f64::from(v)).collect();
        prop_assert_eq!(parse_verdict(&text, &fields).unwrap().numbers().unwrap(), expected);

        // Without any one of its fields the same answer is refused.
        let mut fewer = object;
        let gone = pairs[rotate % given.len()].0.clone();
        fewer.shift_remove(&gone);
        let problems = parse_verdict(&serde_json::Value::Object(fewer).to_string(), &fields);
        if given.len() > 1 {
            prop_assert_eq!(problems, Err(vec![AnswerProblem::Missing { name: gone }]));
        } else {
            prop_assert!(problems.is_err());
        }
    }

    #[test]
    fn no_answer_makes_it_panic(text in "(?s)[{}:,'\"0-9a-zA-Z <>/\n-]{0,80}") {
        let _ = values(&text);
        let _ = yes_no(&text);
    }
}

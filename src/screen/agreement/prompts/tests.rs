use std::path::Path;

use super::*;
use crate::data::observer::Silent;

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
}

/// The number under `value` of a prompt and a metric.
fn value(report: &Report, prompt: &str, metric: &str) -> Option<f64> {
    let prompt = if prompt.is_empty() { Cell::Missing } else { prompt.into() };
    let found = report.table.rows().iter().find(|row| row[0] == prompt && row[1] == metric.into());
    match found.unwrap_or_else(|| panic!("no {prompt:?} {metric}"))[2] {
        Cell::Number(number) => Some(number),
        _ => None,
    }
}

fn studied(labels: &str) -> Report {
    let gold = "task,label\nq1,0\nq2,1\nq3,0\nq4,1\n";
    let (labels, gold) = (source("labels.csv", labels), source("gold.csv", gold));
    let lengths = source("lengths.csv", "task,length\nq1,1\nq2,2\nq3,3\nq4,4\n");
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    let agreement = AgreementSettings { draws: 20, ..AgreementSettings::default() };
    let settings = PromptStudySettings { agreement, splits: 50 };
    study(&files, Some(&lengths), &settings, &Silent).unwrap()
}

/// Rows of a prompt that labels the four tasks so.
fn labelled(prompt: &str, labels: [u8; 4]) -> String {
    let rows = (1..).zip(labels).map(|(task, label)| format!("q{task},m,{prompt},{label}\n"));
    rows.collect()
}

#[test]
fn effects_wordings_and_slopes_by_hand() {
    let labels = format!(
        "task,source,prompt,label\n{}{}{}{}{}",
        labelled("none", [0, 1, 1, 0]), // two of four right: kappa 0
        labelled("A", [0, 1, 0, 1]),    // all right: kappa 1
        labelled("D", [1, 0, 1, 0]),    // all wrong: kappa -1
        labelled("DA", [0, 1, 0, 0]),   // three right, one label in four: kappa .5
        labelled("DA/2", [0, 1, 0, 1]),
    );
    let report = studied(&labels);
    assert_eq!(value(&report, "m:none", "kappa"), Some(0.0));
    assert_eq!(value(&report, "m:D", "mae"), Some(1.0));
    // A: (1 - 0 + .5 + 1) / 2 = 1.25; D: (-1 - 0 + .5 - 1) / 2 = -.75. DA/2 has no counterpart.
    assert_eq!(value(&report, "", "effect:kappa:A"), Some(1.25));
    assert_eq!(value(&report, "", "effect:kappa:D"), Some(-0.75));
    assert!(report.table.rows().iter().all(|row| row[1] != "effect:kappa:R".into()));
    // Errors of `none` 0, 0, 1, -1 on lengths 1 to 4: (.5 - 1.5) / 5 = -.2.
    assert!((value(&report, "m:none", "slope:length").unwrap() + 0.2).abs() < 1e-12);
    assert_eq!(value(&report, "m:A", "slope:length"), Some(0.0));
}

#[test]
fn wordings_of_one_prompt_have_a_spread() {
    let labels = format!(
        "task,source,prompt,label\n{}{}",
        labelled("DA/1", [0, 1, 0, 0]),
        labelled("DA/2", [0, 1, 0, 1]),
    );
    let report = studied(&labels);
    assert_eq!(value(&report, "m:DA", "wordings:kappa:min"), Some(0.5));
    assert_eq!(value(&report, "m:DA", "wordings:kappa:max"), Some(1.0));
    // Half of the difference times the root of two.
    let sd = value(&report, "m:DA", "wordings:kappa:sd").unwrap();
    assert!((sd - 0.25 * 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn names_of_features_are_told_from_other_names() {
    assert_eq!(features("DNA/7"), Some(['D', 'N', 'A'].into_iter().collect()));
    assert_eq!(features("none"), Some(BTreeSet::new()));
    assert_eq!(features("mine"), None);
    assert_eq!(features(""), None);
}

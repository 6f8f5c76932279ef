use std::path::Path;

use super::*;
use crate::data::labellers::LabellerFiles;
use crate::data::observer::{Observer, Silent};
use crate::data::progress::{NoProgress, Progress};
use crate::data::source::Source;
use crate::error::ErrorKind;

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
}

fn measured(labels: &str, gold: &str, settings: &AgreementSettings) -> AgreementRun {
    let (labels, gold) = (source("labels.csv", labels), source("gold.csv", gold));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    run(&files, settings, &Silent).unwrap()
}

fn value(run: &AgreementRun, metric: &str) -> Option<f64> {
    run.rows().iter().find(|row| row.metric == metric).unwrap().value
}

const LABELS: &str = "task,source,label\nq1,a,0\nq2,a,3\nq3,a,1\nq4,a,2\n";
const GOLD: &str = "task,label\nq1,0\nq2,2\nq3,2\nq4,1\n";

fn few_draws() -> AgreementSettings {
    AgreementSettings { draws: 20, ..AgreementSettings::default() }
}

#[test]
fn a_cut_leaves_errors_on_the_scale_and_the_order_of_labels_as_given() {
    let run = measured(LABELS, GOLD, &AgreementSettings { binarize: Some(2.0), ..few_draws() });
    // Cut at 2: gold 0 1 1 0, labels 0 1 0 1.
    assert_eq!(value(&run, "accuracy"), Some(0.5));
    assert_eq!(value(&run, "precision:>=2"), Some(0.5));
    // Errors 0, 1, 1, 1 on the scale as given.
    assert_eq!(value(&run, "mae"), Some(0.75));
    // Gold cut, labels as given: 3 beats 0 and 2, 1 beats 0 and loses to 2.
    assert_eq!(value(&run, "auc"), Some(0.75));
}

#[test]
fn names_have_no_distance_and_their_own_class() {
    let labels = "task,source,label\nq1,a,x\nq2,a,odd\n";
    let gold = "task,label\nq1,x\nq2,y\n";
    let run = measured(labels, gold, &few_draws());
    assert!(run.rows().iter().all(|row| row.metric != "mae"));
    assert_eq!(value(&run, "accuracy"), Some(0.5));
    // Named labels: what is not among them is missing, not wrong.
    let named = ScaleChoice::Names(vec!["y".into(), "x".into()]);
    let run = measured(labels, gold, &AgreementSettings { scale: named, ..few_draws() });
    assert_eq!(value(&run, "accuracy"), Some(1.0));
    assert_eq!(run.measured[0].missing, [0, 1]);
    assert_eq!(run.warnings[0].code, "labels_outside_scale");
}

#[test]
fn raters_agree_on_all_tasks_that_two_label_with_gold_or_without() {
    let labels = "task,source,label\nq1,a,0\nq1,b,0\nq2,a,0\nq2,b,1\nq3,b,1\n";
    let run = measured(labels, "task,label\nq1,0\n", &few_draws());
    let value = |metric| {
        let all = run.rows();
        all.iter().find(|row| row.metric == metric && row.source == "sources").unwrap().value
    };
    // Agreement 1 on one of two tasks; shares of the labels 3/4 and 1/4: (1/2 - 5/8) / (3/8).
    assert!((value("fleiss").unwrap() + 1.0 / 3.0).abs() < 1e-12);
    // Two of four pairs differ, as 2 x 3 x 1 of 4 x 3 would by chance.
    assert!(value("alpha_nominal").unwrap().abs() < 1e-12);
    let warning = run.warnings.iter().find(|warning| warning.code == "no_gold").unwrap();
    assert_eq!(warning.count, 3);
    assert!(warning.message.contains("2 tasks") && warning.message.contains("q2"), "{warning:?}");
}

#[test]
fn gold_of_other_tasks_is_an_error_that_shows_names_of_both() {
    let (labels, gold) = (source("labels.csv", LABELS), source("gold.csv", "task,label\n01,0\n"));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    let error = run(&files, &few_draws(), &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("q1") && error.to_string().contains("01"), "{error}");
}

#[test]
fn labels_that_differ_in_case_only_are_named() {
    let labels = "task,source,label\nq1,a,Yes\nq2,a,no\n";
    let run = measured(labels, "task,label\nq1,yes\nq2,no\n", &few_draws());
    let warning = run.warnings.iter().find(|warning| warning.code == "labels_alike").unwrap();
    assert!(warning.message.ends_with("Yes and yes"), "{}", warning.message);
}

#[test]
fn numbers_written_differently_are_one_label() {
    let labels = "task,source,label\nq1,a,1.0\nq2,a,02\n";
    let run = measured(labels, "task,label\nq1,1\nq2,2\n", &few_draws());
    assert_eq!(run.scale.names, ["1", "2"]);
    assert_eq!(value(&run, "accuracy"), Some(1.0));
}

#[test]
fn one_cluster_has_no_interval() {
    let text = "task,source,label,topic\nq1,a,0,t\nq2,a,1,t\n";
    let (labels, gold) = (source("l.csv", text), source("g.csv", "task,label\nq1,0\nq2,1\n"));
    let clusters = Some(crate::data::labellers::ClusterSource::Column("topic"));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters };
    let run = run(&files, &few_draws(), &Silent).unwrap();
    assert!(run.measured[0].intervals.iter().all(Option::is_none));
    assert_eq!(run.clusters, (1, false));
}

/// Asks for an end at once.
struct Impatient;

impl Observer for Impatient {
    fn stage(&self, _doing: &'static str, _total: u64) -> Box<dyn Progress> {
        Box::new(NoProgress)
    }

    fn say(&self, _line: &str) {}

    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn an_interruption_ends_the_run() {
    let (labels, gold) = (source("labels.csv", LABELS), source("gold.csv", GOLD));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    let error = run(&files, &few_draws(), &Impatient).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn names_of_tasks_do_not_matter() {
    let renamed = |text: &str| text.replace("q1", "z9").replace("q3", "a0");
    let one = measured(LABELS, GOLD, &few_draws());
    let other = measured(&renamed(LABELS), &renamed(GOLD), &few_draws());
    for (a, b) in one.measured.iter().zip(&other.measured) {
        assert_eq!((&a.values, &a.matrix, &a.bounds), (&b.values, &b.matrix, &b.bounds));
    }
}

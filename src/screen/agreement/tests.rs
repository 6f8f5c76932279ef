use std::path::Path;

use super::run::AgreementRun;
use super::*;
use crate::data::labellers::LabellerFiles;
use crate::data::observer::{Observer, Silent};
use crate::data::progress::{NoProgress, Progress};
use crate::data::scale::ScaleChoice;
use crate::data::source::Source;
use crate::error::ErrorKind;
use crate::report::Cell;

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
fn a_cut_is_of_all_but_the_order_of_labels_as_given() {
    let run = measured(
        LABELS,
        GOLD,
        &AgreementSettings { binarize: Some(Cut::Number(2.0)), ..few_draws() },
    );
    // Cut at 2: gold 0 1 1 0, labels 0 1 0 1.
    assert_eq!(value(&run, "accuracy"), Some(0.5));
    assert_eq!(value(&run, "precision:>=2"), Some(0.5));
    // Of the cut labels two differ, once up and once down.
    assert_eq!(value(&run, "mae"), Some(0.5));
    assert_eq!(value(&run, "bias"), Some(0.0));
    // Gold cut, labels as given: 3 beats 0 and 2, 1 beats 0 and loses to 2.
    assert_eq!(value(&run, "auc"), Some(0.75));
}

#[test]
fn pairs_of_sources_are_right_or_wrong_on_their_side_of_a_cut() {
    let both: String =
        (0..6).map(|task| format!("q{task},a,{}\nq{task},b,{}\n", 2, task % 4)).collect();
    let gold: String = (0..6).map(|task| format!("q{task},3\n")).collect();
    let settings = AgreementSettings {
        binarize: Some(Cut::Number(2.0)),
        compare: Compare::All,
        scale: "0..3".parse().unwrap(),
        ..few_draws()
    };
    let (labels, gold) = (format!("task,source,label\n{both}"), format!("task,label\n{gold}"));
    let run = measured(&labels, &gold, &settings);
    // Cut, `a` is right six times and `b` (0 1 2 3 0 1) twice: four tasks by `a` alone, none by `b`.
    assert!((value(&run, "p_mcnemar").unwrap() - 2.0 / 16.0).abs() < 1e-12);
}

#[test]
fn a_mean_on_the_cut_is_not_below_it() {
    let people = "task,worker,label\nx,p,0.1\nx,r,0.7\ny,p,0.1\ny,r,0.1\n";
    let settings = AgreementSettings {
        gold_by: GoldBy::Mean,
        binarize: Some(Cut::Number(0.4)),
        ..few_draws()
    };
    let run = measured("task,source,label\nx,a,0.7\ny,a,0.1\n", people, &settings);
    // (.1 + .7) / 2 is .4: gold 1 0, labels 1 0.
    assert_eq!(value(&run, "accuracy"), Some(1.0));
}

#[test]
fn numbers_whose_squares_are_out_of_range_have_no_kappa_by_squares() {
    for (low, high) in [("1e-300", "2e-300"), ("-1e308", "1e308")] {
        let labels = format!("task,source,label\nx,a,{low}\ny,a,{high}\nz,a,{high}\n");
        let gold = format!("task,label\nx,{low}\ny,{high}\nz,{low}\n");
        let run = measured(&labels, &gold, &few_draws());
        assert!(run.rows().iter().all(|row| row.value.is_none_or(f64::is_finite)), "{low}");
        assert_eq!(value(&run, "kappa_quadratic"), None);
        // Gold 0 1 0, labels 0 1 1: 2 of 3 agree, 4 of 9 by chance.
        assert!((value(&run, "kappa").unwrap() - 0.4).abs() < 1e-12);
        assert!(!run.answer().contains("NaN"), "{}", run.answer());
    }
}

#[test]
fn names_in_an_order_are_cut_below_one_of_them() {
    let (of, gold) = (["poor", "good", "fair", "great"], ["poor", "great", "good", "fair"]);
    let rows = |head: &str, labels: [&str; 4]| {
        let row = |(task, label): (usize, &str)| format!("q{task},{label}\n");
        format!("{head}\n{}", labels.into_iter().enumerate().map(row).collect::<String>())
    };
    let settings = |cut: &str| AgreementSettings {
        scale: "poor,fair,good,great".parse().unwrap(),
        binarize: Some(cut.parse().unwrap()),
        ..few_draws()
    };
    let (labels, gold) = (rows("task,label", of), rows("task,label", gold));
    let run = measured(&labels, &gold, &settings("good"));
    // Cut: labels 0 1 0 1, gold 0 1 1 0.
    assert_eq!(value(&run, "accuracy"), Some(0.5));
    assert_eq!(value(&run, "recall:>=good"), Some(0.5));
    // Gold cut, labels as given: good beats poor and loses to great, fair beats poor and loses to great.
    assert_eq!(value(&run, "auc"), Some(0.5));
    let (labels, gold) = (source("labels.csv", &labels), source("gold.csv", &gold));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    // The lowest label leaves nothing below; a label that is none, and a number among names, cut nothing.
    for cut in ["poor", "bad", "2"] {
        let error = super::run(&files, &settings(cut), &Silent).unwrap_err().to_string();
        assert!(error.contains(&format!("cannot be cut at {cut}")), "{error}");
    }
}

#[test]
fn ids_that_a_program_took_for_numbers_in_one_file_are_named() {
    let (labels, gold) = ("task,label\n7,a\n8,b\nx,a\n", "task,label\n7.0,a\n8.0,b\nx,a\n");
    let run = |labels: &str, gold: &str| {
        let (labels, gold) = (source("labels.csv", labels), source("gold.csv", gold));
        let files =
            LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
        super::run(&files, &few_draws(), &Silent).map_err(|error| error.to_string())
    };
    let error = run(labels, gold).unwrap_err();
    assert!(error.starts_with("2 tasks are numbers"), "{error}");
    assert!(error.contains("`7` in the labels and `7.0` in gold"), "{error}");
    // Written alike, or two tasks of their own, they are what they are.
    assert!(run(gold, gold).is_ok());
    let both = "task,label\n7,a\n7.0,b\nx,a\n";
    assert!(run(both, "task,label\n7.0,a\nx,a\n").is_ok());
}

#[test]
fn names_have_no_distance_and_their_own_class() {
    let labels = "task,source,label\nq1,a,x\nq2,a,odd\n";
    let gold = "task,label\nq1,x\nq2,y\n";
    let run = measured(labels, gold, &few_draws());
    assert!(run.rows().iter().all(|row| row.metric != "mae"));
    assert_eq!(value(&run, "accuracy"), Some(0.5));
    // Named labels: what is not among them is missing, not wrong.
    let named = ScaleChoice::Ordered(vec!["y".into(), "x".into()]);
    let run = measured(labels, gold, &AgreementSettings { scale: named, ..few_draws() });
    assert_eq!(value(&run, "accuracy"), Some(1.0));
    // In the order of the scale.
    assert_eq!(run.measured[0].missing, [1, 0]);
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
fn names_in_order_are_a_step_apart() {
    let labels = "task,source,label\nq1,a,poor\nq2,a,good\nq3,a,fair\nq4,a,N/A\n";
    let gold = "task,label\nq1,fair\nq2,good\nq3,fair\nq4,poor\n";
    let scale = "poor,fair,good".parse().unwrap();
    let run = measured(labels, gold, &AgreementSettings { scale, ..few_draws() });
    // Errors 1, 0, 0.
    assert!((value(&run, "mae").unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert!((value(&run, "rmse").unwrap() - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    // Pairs of different gold: q2 above q1 and q3, both won.
    assert_eq!(value(&run, "auc"), Some(1.0));
    assert_eq!(run.measured[0].missing, [1, 0, 0]);
    assert_eq!((run.warnings[0].code, run.warnings[0].count), ("labels_missing", 1));
    assert!(run.report().footer.iter().any(|line| line.contains("poor < fair < good")));
}

#[test]
fn people_on_a_scale_are_their_mean_or_median() {
    let people = "task,worker,label\nq1,u,1\nq1,v,2\nq2,u,4\nq2,v,5\nq2,w,5\nq3,u,2\nq3,v,2\n";
    let labels = "task,source,label\nq1,a,1\nq2,a,5\nq3,a,4\n";
    let by = |gold_by| measured(labels, people, &AgreementSettings { gold_by, ..few_draws() });
    let error = |run: &AgreementRun| value(run, "mae").unwrap();
    // The majority leaves q1 out: errors 0 and 2.
    let run = by(GoldBy::Majority);
    assert_eq!((run.measured[0].matrix.total(), error(&run)), (2, 1.0));
    // Means 3/2, 14/3 and 2: errors 1/2, 1/3, 2.
    let run = by(GoldBy::Mean);
    assert_eq!((run.measured[0].matrix.total(), run.measured[0].against.as_str()), (3, "mean"));
    assert!((error(&run) - 17.0 / 18.0).abs() < 1e-12);
    assert!(
        run.rows().iter().all(|row| row.metric != "accuracy" && !row.metric.contains("count:"))
    );
    assert!(run.report().footer.iter().any(|line| line.contains("between labels")));
    // Medians 3/2, 5 and 2: errors 1/2, 0, 2.
    assert!((error(&by(GoldBy::Median)) - 2.5 / 3.0).abs() < 1e-12);
    // Cut, the mean has labels again: gold 0 1 0, labels 0 1 1.
    let settings = AgreementSettings {
        gold_by: GoldBy::Mean,
        binarize: Some(Cut::Number(3.0)),
        ..few_draws()
    };
    let run = measured(labels, people, &settings);
    assert!((value(&run, "accuracy").unwrap() - 2.0 / 3.0).abs() < 1e-12);
    // Names have no mean.
    let (labels, gold) = (labels.replace(",4", ",four"), people.replace(",2\n", ",two\n"));
    let (labels, gold) = (source("l.csv", &labels), source("g.csv", &gold));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    let settings = AgreementSettings { gold_by: GoldBy::Mean, ..few_draws() };
    let error = super::run(&files, &settings, &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("mean or median"), "{error}");
}

/// 40 tasks with gold 0 or 1 in turn; of a source every n-th label is wrong.
fn of_sources(wrong: &[(&str, usize)]) -> (String, String) {
    let (mut labels, mut gold) = ("task,source,label\n".to_owned(), "task,label\n".to_owned());
    for task in 0..40 {
        gold.push_str(&format!("t{task:02},{}\n", task % 2));
        for (source, every) in wrong {
            let label = (task + usize::from(task % every == 0)) % 2;
            labels.push_str(&format!("t{task:02},{source},{label}\n"));
        }
    }
    (labels, gold)
}

#[test]
fn the_first_line_says_who_is_best_and_whether_by_more_than_chance() {
    let settings =
        AgreementSettings { draws: 200, permutations: 500, ..AgreementSettings::default() };
    let (labels, gold) = of_sources(&[("good", 20), ("bad", 3), ("near", 13)]);
    let run = measured(&labels, &gold, &settings);
    let best = run.best.as_ref().unwrap();
    let next = best.next.as_ref().unwrap();
    // 2 and 4 of 40 wrong (0, 13, 26, 39): kappas .9 and .8, as gold is half and half.
    assert_eq!((best.source.as_str(), next.source.as_str()), ("good", "near"));
    assert!((best.value - 0.9).abs() < 1e-12 && !next.is_clearly_behind());
    let shown = run.summary().table;
    let first = shown.headline().unwrap();
    let sources: Vec<&Cell> = shown.rows().iter().map(|row| &row[0]).collect();
    assert_eq!(sources, [&Cell::from("good"), &"near".into(), &"bad".into()]);
    assert!(first.starts_with("Best: good, kappa_quadratic 0.900 ("), "{first}");
    assert!(first.contains("next near, 0.800") && first.contains("could be chance"), "{first}");
    // A third of the labels wrong is worse by more than chance.
    let (labels, gold) = of_sources(&[("good", 20), ("bad", 3)]);
    let run = measured(&labels, &gold, &settings);
    assert!(run.answer().ends_with("is more than chance."), "{}", run.answer());
    #[cfg(feature = "html")]
    assert_eq!(run.page().lead[0], run.answer());
    // One source is not compared with anybody; without gold nobody is best.
    let (labels, gold) = of_sources(&[("good", 20)]);
    assert!(measured(&labels, &gold, &settings).answer().starts_with("good agrees with"));
    let (labels, _) = of_sources(&[("good", 20), ("near", 13)]);
    let labels = source("labels.csv", &labels);
    let files = LabellerFiles { labels: &labels, gold: None, since: None, clusters: None };
    let run = super::run(&files, &settings, &Silent).unwrap();
    assert!(run.answer().starts_with("No gold labels") && run.answer().contains("alpha"));
}

#[test]
fn thirteen_labels_have_no_matrix() {
    let of = |count: usize| {
        let row = |source: &str, n: usize| format!("t{n:02}{source},{}\n", n % count);
        let labels: String = (0..26).map(|n| row(",a", n)).collect();
        let gold: String = (0..26).map(|n| row("", n)).collect();
        let (labels, gold) =
            (format!("task,source,label\n{labels}"), format!("task,label\n{gold}"));
        measured(&labels, &gold, &few_draws())
    };
    let has = |run: &AgreementRun, start: &str| {
        run.rows().iter().any(|row| row.metric.starts_with(start))
    };
    let (twelve, thirteen) = (of(12), of(13));
    assert!(has(&twelve, "count:") && has(&twelve, "recall:"));
    assert!(!has(&thirteen, "count:") && !has(&thirteen, "recall:") && has(&thirteen, "icc_2_1"));
    let prose = thirteen.summary().prose.unwrap();
    // Twice 0 to 12: mean 6, variance 2 * 182 / 25.
    assert!(prose.contains("labels  items   mean     sd"), "{prose}");
    assert!(
        prose.contains(" gold       26  6.000  3.816") && !prose.contains("gold \\ a"),
        "{prose}"
    );
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

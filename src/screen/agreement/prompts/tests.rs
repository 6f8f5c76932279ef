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
    let settings = PromptStudySettings { agreement, splits: 50, ..PromptStudySettings::default() };
    study(&files, Beside { lengths: Some(&lengths), crowd: None }, &settings, &Silent).unwrap()
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
fn the_best_prompt_leads_and_half_splits_choose_by_hand() {
    let labels = format!(
        "task,source,prompt,label\n{}{}{}",
        labelled("A", [0, 1, 0, 1]),
        labelled("D", [1, 0, 0, 1]),
        labelled("none", [1, 0, 1, 0]),
    );
    let report = studied(&labels);
    assert_eq!(value(&report, "m:A", "best:kappa"), Some(1.0));
    // D is right in two of four: kappa 0.
    assert_eq!(value(&report, "m:A", "lead:kappa:m:D"), Some(1.0));
    // They differ in two tasks: to exchange both or none gives 1 either way round, to exchange one .5 and
    // .5, so 0.
    assert_eq!(value(&report, "m:A", "p_permutation:m:D"), Some(0.5));
    // Only q1, q2 against q3, q4 leaves no prompt with one label in a half. A is right everywhere, the
    // first of equals on the second half: always chosen, and nothing is lost.
    assert_eq!(value(&report, "m:A", "chosen:kappa"), Some(1.0));
    assert_eq!(value(&report, "m:none", "chosen:kappa"), Some(0.0));
    for metric in ["regret:kappa", "regret:kappa:median", "regret:kappa:q90", "regret:kappa:max"] {
        assert_eq!(value(&report, "", metric), Some(0.0), "{metric}");
    }
    assert_eq!(value(&report, "", "regret:kappa:share_without"), Some(1.0));
}

#[test]
fn the_order_inside_topics_is_not_that_across_them() {
    // Topic s: gold 0 and 1, labels 0 and 1; topic t: gold 0 and 1, labels 2 and 3. Inside each the order
    // is right; across them q3 (gold 0, label 2) is above q2 (gold 1, label 1): 3 of 4 pairs.
    let gold = source("gold.csv", "task,label\nq1,0\nq2,1\nq3,0\nq4,1\n");
    let labels =
        source("labels.csv", "task,source,prompt,label\nq1,m,A,0\nq2,m,A,1\nq3,m,A,2\nq4,m,A,3\n");
    let topics = source("topics.csv", "task,cluster\nq1,s\nq2,s\nq3,t\nq4,t\n");
    let files = LabellerFiles {
        labels: &labels,
        gold: Some(&gold),
        since: None,
        clusters: Some(crate::data::labellers::ClusterSource::File(&topics)),
    };
    let scale = "0..3".parse().unwrap();
    let agreement = AgreementSettings { draws: 20, scale, ..AgreementSettings::default() };
    let settings = PromptStudySettings { agreement, splits: 5, ..PromptStudySettings::default() };
    let report = study(&files, Beside::default(), &settings, &Silent).unwrap();
    assert_eq!(value(&report, "m:A", "auc"), Some(0.75));
    assert_eq!(value(&report, "m:A", "auc_within_clusters"), Some(1.0));
}

#[test]
fn names_of_features_are_told_from_other_names() {
    assert_eq!(features("DNA/7"), Some(['D', 'N', 'A'].into_iter().collect()));
    assert_eq!(features("none"), Some(BTreeSet::new()));
    assert_eq!(features("mine"), None);
    assert_eq!(features(""), None);
}

#[test]
fn what_labels_cost_stands_beside_how_good_they_are() {
    let labels = "task,source,prompt,label,tokens_read,tokens_written\n\
        q1,m,A,0,90,10\nq2,m,A,1,90,10\nq3,m,A,,190,10\nq4,m,A,1,90,10\n";
    let gold = source("gold.csv", "task,label\nq1,0\nq2,1\nq3,0\nq4,1\n");
    let labels = source("labels.csv", labels);
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    let agreement = AgreementSettings { draws: 20, ..AgreementSettings::default() };
    let prices = Some([1.0, 4.0]);
    let settings = PromptStudySettings { agreement, prices, ..PromptStudySettings::default() };
    let report = study(&files, Beside::default(), &settings, &Silent).unwrap();
    // 500 tokens for three labels; (460 + 4 * 40) / 1e6 for them.
    assert_eq!(value(&report, "m:A", "tokens_per_label"), Some(500.0 / 3.0));
    let price = value(&report, "m:A", "price_per_label").unwrap();
    assert!((price - 620e-6 / 3.0).abs() < 1e-15, "{price}");
    assert!(report.table.rows().iter().all(|row| row[1] != "seconds_per_label".into()));
}

/// A crowd of which nine in ten answers are right, and the labels of three prompts: one is right in
/// six of seven tasks, one says the same, one guesses.
#[test]
fn the_labels_of_every_prompt_are_z_in_turn() {
    use rand::RngExt;
    use std::fmt::Write as _;
    let mut random = crate::stats::seed::stream(7, "crowd", 0);
    let (mut crowd, mut labels) =
        ("task,worker,label\n".to_owned(), "task,source,prompt,label\n".to_owned());
    let mut gold = "task,label\n".to_owned();
    let mut wrong = |truth: u32, share: f64| {
        if random.random_bool(share) { (truth + random.random_range(1..3)) % 3 } else { truth }
    };
    for task in 0..360_u32 {
        let truth = task % 3;
        let _ = writeln!(gold, "{task},{truth}");
        for worker in 0..6 {
            // 24 workers, 90 tasks each.
            let worker = (task * 6 + worker) % 24;
            let _ = writeln!(crowd, "{task},w{worker},{}", wrong(truth, 0.1));
        }
        let good = wrong(truth, 0.15);
        let guess = wrong(0, 2.0 / 3.0);
        for (prompt, label) in [("A", good), ("none", good), ("R", guess)] {
            let _ = writeln!(labels, "{task},m,{prompt},{label}");
        }
    }
    let [labels, gold, crowd] = [("labels.csv", labels), ("gold.csv", gold), ("crowd.csv", crowd)]
        .map(|(name, text)| source(name, &text));
    let files = LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
    let agreement = AgreementSettings { draws: 2, ..AgreementSettings::default() };
    let as_z = AsZSettings { trials: 2, permutations: 5, replicates: 20 };
    let settings =
        PromptStudySettings { agreement, splits: 2, as_z, ..PromptStudySettings::default() };
    let beside = Beside { lengths: None, crowd: Some(&crowd) };
    let report = study(&files, beside, &settings, &Silent).unwrap();
    let of = |prompt: &str, metric: &str| value(&report, prompt, metric);
    for prompt in ["m:A", "m:none", "m:R"] {
        assert!(of(prompt, "people_beyond_z").unwrap() > 0.0, "{prompt}");
        let auc = of(prompt, "auc:ca_z").unwrap();
        assert!((0.0..=1.0).contains(&auc), "{prompt} {auc}");
    }
    // People know more beyond guesses than beyond good labels, and the same beyond equal labels, up
    // to the permutations behind the bias.
    let [one, other] =
        ["m:A", "m:none"].map(|prompt| of(prompt, "people_beyond_z").unwrap_or(f64::NAN));
    assert!((one - other).abs() < 0.02, "{one} {other}");
    assert!(of("m:R", "people_beyond_z") > of("m:A", "people_beyond_z"));
    // Copies of the good prompt stay in sight if guesses are Z, and are as good as people there.
    assert!(of("m:A", "gain:ca_z") > of("m:R", "gain:ca_z"));
    assert_eq!(report.inputs.len(), 3);
}

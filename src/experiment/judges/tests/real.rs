//! Known answers of `caz experiment judges` and `feedback` on public data: `LLMBar`, MT-Bench
//! and MINT. Ignored without the data, which are not part of the project.

use std::path::{Path, PathBuf};

use crate::data::observer::Silent;
use crate::data::source::Source;
use crate::experiment::feedback::study::FeedbackRun;
use crate::experiment::feedback::{self, By, FeedbackSettings};
use crate::experiment::judges::study::JudgesRun;
use crate::experiment::judges::{Files, JudgesSettings, study};

fn data(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(path);
    assert!(path.exists(), "the data are missing: {}", path.display());
    path
}

#[track_caller]
fn near(got: Option<f64>, want: f64, within: f64) {
    assert!(got.is_some_and(|got| (got - want).abs() <= within), "{got:?}, expected {want}");
}

/// Accuracy over both orders, and share of pairs with the same verdict in both.
const GPT_4: [(&str, f64, f64); 6] = [
    ("gpt-4:vanilla_norules", 0.765, 0.912),
    ("gpt-4:vanilla", 0.845, 0.928),
    ("gpt-4:metrics", 0.857, 0.909),
    ("gpt-4:reference", 0.858, 0.907),
    ("gpt-4:metrics_reference", 0.872, 0.916),
    ("gpt-4:cot", 0.813, 0.893),
];

fn llmbar(settings: &JudgesSettings) -> JudgesRun {
    let verdicts = Source::read(&data("pairs-llmbar/verdicts.csv")).unwrap();
    let pairs = Source::read(&data("pairs-llmbar/pairs.jsonl")).unwrap();
    let files =
        Files { verdicts: &verdicts, pairs: Some(&pairs), clusters: None, transcripts: None };
    study(&files, settings, &Silent).unwrap()
}

#[test]
#[ignore = "needs ../shared/data"]
fn prompts_of_gpt_4_on_llmbar() {
    let run = llmbar(&JudgesSettings {
        methods: GPT_4.map(|(name, ..)| name.to_owned()).to_vec(),
        against: vec!["gpt-4:vanilla".into()],
        draws: 100,
        ..JudgesSettings::default()
    });
    for (name, accuracy, consistency) in GPT_4 {
        near(run.row(name, "accuracy").unwrap().value, accuracy, 5e-4);
        near(run.row(name, "consistency").unwrap().value, consistency, 5e-4);
        let row = run.row(name, "accuracy").unwrap();
        assert_eq!((row.items, row.missing), (419, Some(0)));
        let (low, high) = row.interval.unwrap();
        assert!(low < accuracy && accuracy < high && high - low < 0.1);
        // Every verdict is for a side, so that a kappa of two equal halves is near 2 a - 1.
        near(run.row(name, "kappa").unwrap().value, 2.0 * accuracy - 1.0, 0.02);
        assert!(run.row(name, "length_slope").unwrap().value.is_some());
    }
    // The rules of the prompt are what helps: paired and exact.
    let difference = run.row("gpt-4:vanilla_norules", "difference:accuracy:gpt-4:vanilla").unwrap();
    near(difference.value, 0.765 - 0.845, 1e-3);
    assert!(difference.interval.unwrap().1 < 0.0);
    let p = run.row("gpt-4:vanilla_norules", "p_mcnemar_holm:gpt-4:vanilla").unwrap();
    assert!(p.value.unwrap() < 0.001, "{p:?}");
}

#[test]
#[ignore = "needs ../shared/data"]
fn every_judge_of_llmbar_is_read() {
    let run = llmbar(&JudgesSettings { draws: 2, ..JudgesSettings::default() });
    assert_eq!(run.judges.len(), 65);
    // Counted with another program: cells of both columns that are empty.
    let missing = run.warnings.iter().find(|warning| warning.code == "missing_verdicts").unwrap();
    assert_eq!(missing.count, 2 * 37 + 27 + 20 + 7 + 6);
}

#[test]
#[ignore = "needs ../shared/data"]
fn gpt_4_and_people_on_mt_bench() {
    let verdicts = Source::read(&data("pairs-mtbench/verdicts.csv")).unwrap();
    let files = Files { verdicts: &verdicts, pairs: None, clusters: None, transcripts: None };
    let settings = JudgesSettings {
        methods: vec!["gpt4_pair".into()],
        draws: 1000,
        ..JudgesSettings::default()
    };
    let run = study(&files, &settings, &Silent).unwrap();
    let row = |metric| run.row("gpt4_pair", metric).unwrap();
    near(row("accuracy").value, 0.672, 5e-4);
    near(row("kappa").value, 0.505, 5e-4);
    near(row("accuracy_without_ties").value, 0.884, 5e-4);
    near(row("kappa_without_ties").value, 0.767, 5e-4);
    assert_eq!((row("accuracy").items, row("accuracy_without_ties").items), (1814, 1078));
    // Published: .472 to .538; other draws.
    let (low, high) = row("kappa").interval.unwrap();
    near(Some(low), 0.472, 0.005);
    near(Some(high), 0.538, 0.005);
    assert_eq!(row("own_family").items, row("own_family_excess").items);
}

/// The same votes in MT-Bench's own form, those of GPT-4 as verdicts and those of people as pairs.
#[test]
#[ignore = "needs ../shared/data"]
fn files_of_mt_bench_give_the_same() {
    let text = std::fs::read_to_string(data("pairs-mtbench/verdicts.csv")).unwrap();
    let (mut gpt, mut people) = (String::new(), String::new());
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [item, a, b, judge, winner] = cells[..] else { panic!("{line}") };
        let (question, turn) = item.split_once('-').unwrap();
        let winner = if winner == "tie" { winner.to_owned() } else { format!("model_{winner}") };
        let row = format!(
            r#"{{"question_id":{question},"turn":{turn},"model_a":"{a}","model_b":"{b}","winner":"{winner}","judge":"{judge}"}}"#
        );
        let rows = if judge == "gpt4_pair" { &mut gpt } else { &mut people };
        rows.push_str(&row);
        rows.push('\n');
    }
    let gpt = Source::from_reader(Path::new("gpt.jsonl"), gpt.as_bytes()).unwrap();
    let people = Source::from_reader(Path::new("people.jsonl"), people.as_bytes()).unwrap();
    let files = Files { verdicts: &gpt, pairs: Some(&people), clusters: None, transcripts: None };
    let settings = JudgesSettings { draws: 2, ..JudgesSettings::default() };
    let run = study(&files, &settings, &Silent).unwrap();
    let row = |metric| run.row("gpt4_pair", metric).unwrap();
    near(row("accuracy").value, 0.672, 5e-4);
    near(row("kappa").value, 0.505, 5e-4);
    near(row("accuracy_without_ties").value, 0.884, 5e-4);
    assert_eq!((row("accuracy").items, row("accuracy_without_ties").items), (1814, 1078));
}

/// As a paper on debates reads the votes: both turns of a question together, the pair in the order
/// shown, and every tie a win for the second answer.
#[test]
#[ignore = "needs ../shared/data"]
fn no_verdict_agrees_with_more_than_858_of_1000_votes_of_mt_bench() {
    let text = std::fs::read_to_string(data("pairs-mtbench/verdicts.csv")).unwrap();
    let mut votes = "item,judge,winner\n".to_owned();
    for (number, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let [item, a, b, judge, winner] = cells[..] else { panic!("{line}") };
        let question = item.split('-').next().unwrap();
        let winner = if winner == "tie" { "b" } else { winner };
        // One judge says a about every pair once; it stands for any judge.
        let judge = if judge == "gpt4_pair" { continue } else { format!("{judge}-{number}") };
        votes += &format!("{question}|{a}|{b},{judge},{winner}\n");
    }
    votes += "81|alpaca-13b|gpt-3.5-turbo,j,a\n";
    let votes = Source::from_reader(Path::new("votes.csv"), votes.as_bytes()).unwrap();
    let files = Files { verdicts: &votes, pairs: None, clusters: None, transcripts: None };
    let settings =
        JudgesSettings { methods: vec!["j".into()], draws: 2, ..JudgesSettings::default() };
    let run = study(&files, &settings, &Silent).unwrap();
    let ceiling = run.rows.iter().find(|row| row.metric == "vote_ceiling").unwrap();
    near(ceiling.value, 0.858, 5e-4);
    assert_eq!(ceiling.items, 3355);
}

fn mint() -> FeedbackRun {
    let source = Source::read(&data("feedback-mint/runs.csv")).unwrap();
    let settings = FeedbackSettings { draws: 300, ..FeedbackSettings::default() };
    feedback::study(&[source], &settings, &Silent).unwrap()
}

#[test]
#[ignore = "needs ../shared/data"]
fn success_and_gains_of_mint() {
    let run = mint();
    for (turns, percent) in (1..).zip([2.73, 16.89, 24.06, 31.74, 36.18]) {
        let row = run.row("None", "", &format!("sr_{turns}")).unwrap();
        near(row.value, percent / 100.0, 5e-5);
        assert_eq!(row.items, 586);
    }
    // Published: 8.18, of percentages rounded before; unrounded it is 8.1741.
    let slope = run.row("None", "", "slope").unwrap().value;
    near(slope, 0.0818, 1e-4);
    near(slope, 0.081_741, 1e-6);
    let explained = run.row("None", "", "r_squared").unwrap().value.unwrap();
    assert!((0.9..1.0).contains(&explained), "{explained}");

    let without = 0.361_774_744;
    for (kind, percent) in [
        ("no_GT-textual", 51.37),
        ("no_GT-binary", 38.91),
        ("no_GT-textual-sparse", 40.27),
        ("GT-textual", 47.44),
    ] {
        near(run.row("gpt-4-0613", kind, "sr_5").unwrap().value, percent / 100.0, 5e-5);
        let gain = run.row("gpt-4-0613", kind, "gain").unwrap();
        near(gain.value, percent / 100.0 - without, 1e-4);
        let (low, high) = gain.interval.unwrap();
        assert!(low < gain.value.unwrap() && gain.value.unwrap() < high && high - low < 0.12);
        let flips = |metric| run.row("gpt-4-0613", kind, metric).unwrap().value.unwrap();
        let net = flips("wrong_to_right") - flips("right_to_wrong");
        near(gain.value, net, 1e-12);
    }
    // Words of a strong model help; those of a weak one do harm.
    assert!(run.row("gpt-4-0613", "no_GT-textual", "gain").unwrap().interval.unwrap().0 > 0.0);
    let weak = run.row("Llama-2-70b-chat-hf", "no_GT-textual", "gain").unwrap();
    assert!(weak.interval.unwrap().1 < 0.0);
}

/// Table A.6 of MINT: with the solution shown feedback helps where there is something to reason about
/// or to write, and hurts where there is something to decide. Expected: counted by other code.
#[test]
#[ignore = "needs ../shared/data"]
fn feedback_with_the_solution_by_kind_of_task() {
    let source = Source::read(&data("feedback-mint/runs.csv")).unwrap();
    let settings = FeedbackSettings { by: By::Task, draws: 300, seed: 0 };
    let run = feedback::study(&[source], &settings, &Silent).unwrap();
    let row = |task: &str, provider: &str, feedback: &str, metric: &str| {
        let is = |row: &&feedback::study::Row| {
            row.task.as_deref() == Some(task)
                && (row.provider.as_str(), row.feedback.as_str()) == (provider, feedback)
                && row.metric == metric
        };
        run.rows.iter().find(is).unwrap().clone()
    };
    for (task, items, without, with) in [
        ("decision_making/alfworld", 134, 56, 44),
        ("code_generation", 136, 40, 65),
        ("reasoning", 316, 116, 169),
    ] {
        let share = |solved: u32| f64::from(solved) / items as f64;
        near(row(task, "None", "", "sr_5").value, share(without), 1e-12);
        near(row(task, "gpt-4-0613", "GT-textual", "sr_5").value, share(with), 1e-12);
        let gain = row(task, "gpt-4-0613", "GT-textual", "gain");
        near(gain.value, share(with) - share(without), 1e-12);
        assert_eq!(gain.items, items);
    }
}

#[test]
#[ignore = "needs ../shared/data"]
fn a_budget_of_k_is_not_a_run_cut_after_k_turns() {
    let run = mint();
    let value = |metric: &str| run.row("None", "", metric).unwrap().value;
    near(value("sr_cut_5"), value("sr_5").unwrap(), 1e-12);
    let differ = (1..5).any(|k| value(&format!("sr_{k}")) != value(&format!("sr_cut_{k}")));
    assert!(differ);
}

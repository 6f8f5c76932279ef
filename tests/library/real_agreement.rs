//! Known answers of `caz agree` on public data: relevance grades, preferences, crowd labels and
//! TREC runs. Ignored without the data, which are not part of the project.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use caz::for_tests::{AltTestSettings, Cut, RankingSettings, ScaleChoice, compare_rankings};
use caz::{
    AgreementRow as Row, AgreementSettings, Cell, ClusterSource, LabellerFiles, Silent, Source,
    agree as run,
};

fn data(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(path);
    assert!(path.exists(), "the data are missing: {}", path.display());
    path
}

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
}

fn found<'a>(rows: &'a [Row], source: &str, metric: &str) -> &'a Row {
    rows.iter().find(|row| row.source == source && row.metric == metric).unwrap()
}

#[track_caller]
fn near(got: Option<f64>, want: f64, within: f64) {
    assert!(got.is_some_and(|got| (got - want).abs() <= within), "{got:?}, expected {want}");
}

const JUDGE: &str = "willia-umbrela1";

fn relevance(binarize: Option<f64>, by_topic: bool) -> Vec<Row> {
    let labels = Source::read(&data("relevance-llmjudge/judges.csv")).unwrap();
    let gold = Source::read(&data("relevance-llmjudge/gold.csv")).unwrap();
    let text = String::from_utf8(gold.bytes.clone()).unwrap();
    let topics = text.lines().skip(1).map(|line| {
        let task = line.split(',').next().unwrap();
        format!("{task},{}\n", task.split('|').next().unwrap())
    });
    let topics = source("topics.csv", &format!("task,topic\n{}", topics.collect::<String>()));
    let clusters = by_topic.then_some(ClusterSource::File(&topics));
    let mut files = LabellerFiles::new(&labels);
    (files.gold, files.clusters) = (Some(&gold), clusters);
    let mut settings = AgreementSettings::default();
    settings.scale = ScaleChoice::Range(0.0, 3.0);
    settings.binarize = binarize.map(Cut::Number);
    settings.draws = 500;
    run(&files, &settings, &Silent).unwrap().rows()
}

#[test]
#[ignore = "needs ../shared/data"]
fn judges_of_relevance() {
    let rows = relevance(None, false);
    for (metric, want) in
        [("kappa", 0.286), ("kappa_quadratic", 0.504), ("mae", 0.599), ("auc", 0.718)]
    {
        near(found(&rows, JUDGE, metric).value, want, 5e-4);
    }
    // The judge with one grade out of the scale.
    let outside = found(&rows, "h2oloo-zeroshot2", "kappa");
    assert_eq!((outside.items, outside.missing), (4422, Some(1)));
    let (low, high) = outside.bounds.unwrap();
    assert!(low < high && high - low < 0.001);
    let cut = relevance(Some(1.0), false);
    near(found(&cut, JUDGE, "kappa").value, 0.416, 5e-4);
    near(found(&cut, JUDGE, "mae").value, 0.294, 6e-4);
}

#[test]
#[ignore = "needs ../shared/data"]
fn intervals_over_topics_are_wider_than_over_documents() {
    let rows = relevance(Some(2.0), false);
    let kappa = found(&rows, JUDGE, "kappa");
    near(kappa.value, 0.399, 5e-4);
    near(found(&rows, JUDGE, "auc").value, 0.770, 5e-4);
    // Published: .369 to .433 over documents, .269 to .508 over the 25 topics; other draws.
    let (low, high) = kappa.interval.unwrap();
    near(Some(low), 0.369, 0.01);
    near(Some(high), 0.433, 0.01);
    let (low, high) = found(&relevance(Some(2.0), true), JUDGE, "kappa").interval.unwrap();
    near(Some(low), 0.269, 0.025);
    near(Some(high), 0.508, 0.025);
}

/// Verdicts with every pair brought to one order: GPT-4 against the majority of people, where a
/// split vote is a tie.
fn preferences(ties: bool) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(data("pairs-mtbench/verdicts.csv")).unwrap();
    let mut votes: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let mut gpt = String::from("task,source,label\n");
    for record in reader.records().map(Result::unwrap) {
        let (mut a, mut b, mut winner) = (&record[1], &record[2], &record[4]);
        if a > b {
            (a, b) = (b, a);
            winner = match winner {
                "a" => "b",
                "b" => "a",
                tie => tie,
            };
        }
        let pair = format!("{}|{a}|{b}", &record[0]);
        if !record[3].contains("gpt") {
            *votes.entry(pair).or_default().entry(winner.to_owned()).or_default() += 1;
        } else if ties || winner != "tie" {
            gpt.push_str(&format!("{pair},{},{winner}\n", &record[3]));
        }
    }
    let mut gold = String::from("task,label\n");
    for (pair, counts) in &votes {
        let most = counts.values().max().unwrap();
        let winners: Vec<&String> =
            counts.iter().filter(|(_, count)| *count == most).map(|(winner, _)| winner).collect();
        let winner = if let [winner] = winners[..] { winner.as_str() } else { "tie" };
        if ties || winner != "tie" {
            gold.push_str(&format!("{pair},{winner}\n"));
        }
    }
    let (labels, gold) = (source("gpt.csv", &gpt), source("gold.csv", &gold));
    let mut files = LabellerFiles::new(&labels);
    files.gold = Some(&gold);
    run(&files, &AgreementSettings::default(), &Silent).unwrap().rows()
}

#[test]
#[ignore = "needs ../shared/data"]
fn preferences_of_gpt_4_and_of_people() {
    let rows = preferences(true);
    near(found(&rows, "gpt4_pair", "accuracy").value, 0.672, 5e-4);
    let kappa = found(&rows, "gpt4_pair", "kappa");
    near(kappa.value, 0.505, 5e-4);
    let (low, high) = kappa.interval.unwrap();
    near(Some(low), 0.472, 0.005);
    near(Some(high), 0.538, 0.005);
    let rows = preferences(false);
    assert_eq!(found(&rows, "gpt4_pair", "kappa").items, 1078);
    near(found(&rows, "gpt4_pair", "accuracy").value, 0.884, 5e-4);
    near(found(&rows, "gpt4_pair", "kappa").value, 0.767, 5e-4);
}

#[test]
#[ignore = "needs ../shared/data"]
fn who_may_replace_the_crowd_of_cebab() {
    let labels = Source::read(&data("labels-cebab/z.csv")).unwrap();
    let gold = Source::read(&data("labels-cebab/labels.csv")).unwrap();
    let mut files = LabellerFiles::new(&labels);
    files.gold = Some(&gold);
    let test = AltTestSettings { epsilon: 0.1, ..AltTestSettings::default() };
    let mut settings = AgreementSettings::default();
    (settings.alt_test, settings.draws) = (Some(test), 2);
    let rows = run(&files, &settings, &Silent).unwrap().rows();
    // By another implementation (numpy, scipy) on these labels of aspects.
    for (model, omega, rho) in [
        ("gpt-4o", 0.9, 0.927_737),
        ("gemini_flash", 0.7, 0.913_457),
        ("llama-31", 0.6, 0.891_107),
        ("mistral-v03", 0.1, 0.810_982),
    ] {
        near(found(&rows, model, "omega").value, omega, 1e-9);
        near(found(&rows, model, "rho").value, rho, 1e-6);
    }
    // What the authors of the test print for these labels (`cebab_aspects`), to two places.
    for (model, omega, rho) in [
        ("gemini_flash", 0.70, 0.91),
        ("gemini_pro", 0.90, 0.94),
        ("gpt-4o", 0.90, 0.93),
        ("gpt-4o-mini", 0.50, 0.90),
        ("llama-31", 0.60, 0.89),
        ("mistral-v03", 0.10, 0.81),
    ] {
        near(found(&rows, model, "omega").value, omega, 1e-9);
        near(found(&rows, model, "rho").value, rho, 0.005);
    }
}

#[test]
#[ignore = "needs ../shared/data"]
fn rankings_of_trec_runs_by_people_and_by_an_llm() {
    let runs = Source::read(&data("runs-trecdl/runs.csv")).unwrap();
    let settings = RankingSettings { draws: 200, ..RankingSettings::default() };
    let report = compare_rankings(&runs, &settings, &Silent).unwrap();
    let mut taus = BTreeMap::new();
    let mut items = 0;
    for row in report.table.rows() {
        if let (Cell::Text(group), Cell::Text(metric)) = (&row[0], &row[3])
            && metric == "tau_b"
        {
            let (Cell::Number(tau), Cell::Integer(n)) = (&row[4], &row[7]) else {
                panic!("{row:?}")
            };
            taus.insert(group.clone(), *tau);
            items += n;
            let (Cell::Number(low), Cell::Number(high)) = (&row[5], &row[6]) else {
                panic!("{row:?}")
            };
            assert!(low < tau && tau < high, "{row:?}");
        }
    }
    assert_eq!(items, 293);
    let wanted = [0.867, 0.855, 0.896, 0.872, 0.896];
    assert_eq!(taus.len(), wanted.len());
    for (tau, want) in taus.values().zip(wanted) {
        near(Some(*tau), want, 5e-4);
    }
}

//! `caz experiment prompts` asking a scripted model behind a real server.

use serde_json::{Value, json};

use crate::command_line::{Desk, Run};
use crate::judge::{fenced, user};
use crate::server::{Asked, Reply, Server};

/// Six pages, two of each grade; the grade stands in the page.
fn desk() -> Desk {
    let desk = Desk::new();
    let (mut pages, mut gold) = ("task,query,document\n".to_owned(), "task,label\n".to_owned());
    for (task, grade) in (1..).zip([0, 0, 1, 1, 2, 2]) {
        let task: u32 = task;
        pages += &format!("p{task},foxes,Page {task} of grade {grade}.\n");
        gold += &format!("p{task},{grade}\n");
    }
    desk.write("pages.csv", &pages);
    desk.write("gold.csv", &gold);
    desk
}

/// Right where aspects are asked for, else one grade too high, and 0 for the highest. As a rater of
/// search results without aspects it does not answer about page 6.
fn scripted(asked: &Asked) -> String {
    let page = fenced(user(asked), "document");
    let grade: u32 = page.split("grade ").nth(1).unwrap()[..1].parse().unwrap();
    let schema = &asked.body["response_format"]["json_schema"]["schema"]["properties"];
    let fields = schema.as_object().unwrap();
    let aspects = fields.keys().any(|name| name.ends_with("trust"));
    let system = asked.body["messages"][0]["content"].as_str().unwrap();
    if system.contains("rater of search results") && !aspects && page.contains("Page 6") {
        return "I would rather not say.".into();
    }
    let overall = if aspects { grade } else { (grade + 1) % 3 };
    let value = |name: &String| json!(if name.ends_with("overall") { overall } else { 2 });
    Value::Object(fields.keys().map(|name| (name.clone(), value(name))).collect()).to_string()
}

fn value(run: &Run, prompt: &str, metric: &str) -> (f64, String) {
    let start = format!("{prompt},{metric},");
    let line = run.stdout.lines().find(|line| line.starts_with(&start));
    let cells: Vec<&str> =
        line.unwrap_or_else(|| panic!("{start}: {}", run.stdout)).split(',').collect();
    (cells[2].parse().unwrap(), cells[6].to_owned())
}

#[test]
fn a_grid_of_prompts_is_asked_measured_and_studied_again_without_the_model() {
    let (desk, server) = (desk(), Server::start(|asked| Reply::Chat(scripted(asked))));
    let url = server.url();
    let study = ["--gold", "gold.csv", "--bootstrap", "20", "--splits", "5", "--format", "csv"];
    let prices = ["--server", "price-in=2,price-out=6"];
    let grid = [
        "experiment",
        "prompts",
        "pages.csv",
        "--base-url",
        &url,
        "--model",
        "m",
        "--features",
        "RA",
        "--wordings",
        "A",
        "--turns",
        "2",
        "--max-failed",
        "1",
    ];
    let ask = [&grid[..], &study, &prices].concat();
    let plan = desk.done(&[&ask[..], &["--dry-run"]].concat());
    // Four prompts and ten wordings of one, for six pages.
    assert!(plan.stdout.contains("\nrequests,84\n"), "{}", plan.stdout);
    assert!(plan.stdout.contains("\nprice (at most),"), "{}", plan.stdout);
    assert_eq!(server.count(), 0);

    let ask = [&ask[..], &["--answers", "labels.csv"]].concat();
    let run = desk.done(&ask);
    let near = |prompt: &str, metric: &str, want: f64| {
        let got = value(&run, prompt, metric).0;
        assert!((got - want).abs() < 1e-12, "{prompt} {metric}: {got}");
    };
    near("m:A", "kappa", 1.0);
    // All wrong: (0 - 1/3) / (1 - 1/3); of five, with one missing: -.32 / .68.
    near("m:none", "kappa", -0.5);
    let (kappa, missing) = value(&run, "m:R", "kappa");
    assert!((kappa + 8.0 / 17.0).abs() < 1e-12, "{kappa}");
    assert_eq!(missing, "1");
    let effect = |letter: &str| value(&run, "", &format!("effect:kappa:{letter}")).0;
    assert!((effect("A") - (1.5 + 1.0 + 8.0 / 17.0) / 2.0).abs() < 1e-12, "{}", effect("A"));
    assert!((effect("R") - 1.0 / 68.0).abs() < 1e-12, "{}", effect("R"));
    near("m:A", "wordings:kappa:min", 1.0);
    // Ten tokens read and five written for every answer; one of R is given twice and not usable.
    near("m:A", "tokens_per_label", 15.0);
    near("m:R", "tokens_per_label", 7.0 * 15.0 / 5.0);
    near("m:A", "price_per_label", 50e-6);
    assert!(value(&run, "m:A", "seconds_per_label").0 >= 0.0);
    let labels = desk.read("labels.csv");
    assert_eq!(
        labels.lines().next().unwrap(),
        "task,source,prompt,label,tokens_read,tokens_written,seconds"
    );
    assert!(labels.contains("\np6,m,R,,20,10,"), "{labels}");
    let errors = desk.read("labels.errors.jsonl");
    assert!(errors.contains("\"prompt\":\"R\"") && errors.lines().count() == 1, "{errors}");

    // What was answered is not asked for again, and the labels need no model.
    let before = server.count();
    let recorded = [&["experiment", "prompts", "labels.csv"], &study[..], &prices].concat();
    assert_eq!(desk.done(&recorded).stdout, run.stdout);
    assert_eq!(server.count(), before);
    let again = desk.done(&ask);
    assert_eq!(value(&again, "", "effect:kappa:A"), value(&run, "", "effect:kappa:A"));
    // What could not be read is asked for anew, and only that.
    assert_eq!(server.count(), before + 2);
    // An answer that was kept took no time that says anything: no seconds, and no rate.
    let labels = desk.read("labels.csv");
    let timed: Vec<&str> = labels.lines().skip(1).filter(|row| !row.ends_with(',')).collect();
    assert!(timed.len() == 1 && timed[0].starts_with("p6,m,R,"), "{labels}");
    assert!(!again.stdout.contains("seconds_per_label"), "{}", again.stdout);
    assert!(!again.stdout.contains("labels_per_hour"), "{}", again.stdout);
}

#[test]
fn a_budget_stops_the_grid_and_the_same_command_goes_on() {
    let (desk, server) = (desk(), Server::start(|asked| Reply::Chat(scripted(asked))));
    let url = server.url();
    let ask = [
        "experiment",
        "prompts",
        "pages.csv",
        "--gold",
        "gold.csv",
        "--base-url",
        &url,
        "--model",
        "m",
        "--features",
        "A",
        "--answers",
        "labels.csv",
        "--bootstrap",
        "2",
        "--server",
        "concurrency=1",
        "--server",
        "max-requests=7",
        "--format",
        "csv",
    ];
    let run = desk.caz(&ask);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("stopped"), "{}", run.stderr);
    assert_eq!(server.count(), 7);
    // Page by page: both prompts have three pages and four.
    assert_eq!(value(&run, "m:A", "kappa").1, "3");
    let run = desk.done(&ask);
    assert_eq!((server.count(), value(&run, "m:A", "kappa").1.as_str()), (12, "0"));
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let desk = desk();
    let start = ["experiment", "prompts", "pages.csv", "--gold", "gold.csv", "--model", "m"];
    let server = ["--base-url", "http://127.0.0.1:9/v1"];
    for (more, code, part) in [
        (&[][..], 2, "--answers"),
        (&["--answers", "l.csv"], 3, "column `description`"),
        (&["--answers", "l.csv", "--features", "RX"], 2, "RDNAM"),
        (&["--answers", "pages.csv", "--features", "R"], 2, "write over"),
        (&["--answers", "l.csv", "--features", "R", "--variant", "label-toxicity"], 2, "one label"),
    ] {
        let run = desk.caz(&[&start[..], &server, more].concat());
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn labels_of_another_model_are_not_studied_where_the_one_asked_gives_none() {
    let (desk, server) = (desk(), Server::start(|_| Reply::status(400)));
    let earlier = "task,source,prompt,label\np1,other,A,1\np2,other,A,0\n";
    desk.write("labels.csv", earlier);
    let url = server.url();
    let study = ["experiment", "prompts", "pages.csv", "--gold", "gold.csv", "--model", "m"];
    let asking = ["--base-url", &url, "--features", "none", "--answers", "labels.csv"];
    let run = desk.caz(&[&study[..], &asking].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    assert_eq!(desk.read("labels.csv"), earlier);
}

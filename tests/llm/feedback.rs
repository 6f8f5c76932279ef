//! `caz annotate judgments --judge feedback=KIND` against its control, by `caz experiment feedback`.

use serde_json::json;

use crate::command_line::Desk;
use crate::judge::{fenced, user};
use crate::server::{Asked, Reply, Server};

const RUBRIC: &str = "description = \"d\"\nvalues = [0, 1]\nprompt = \"judge-rubric\"\n\
    [[categories]]\nname = \"Clarity\"\ndefinition = \"is it clear\"\n";

/// The right judgment of every text is 1. `steady` gets it at once; `careless` when it looks again;
/// `stubborn` only when told to be wrong; `doubtful` gives it up when asked to look again.
const TEXTS: [&str; 4] = ["steady", "careless", "stubborn", "doubtful"];

fn scripted(asked: &Asked) -> String {
    let system = asked.body["messages"][0]["content"].as_str().unwrap();
    if system.starts_with("You check the work of a judge") {
        let right = fenced(user(asked), "answer").contains('1');
        return json!({"verdict": if right { "agree" } else { "disagree" }}).to_string();
    }
    let told = asked.last_message();
    let is = |kind: &str| user(asked).contains(kind);
    let value = if told.starts_with("Please check again.") {
        u8::from(is("steady") || is("careless"))
    } else if told.contains("the expert disagrees") {
        1
    } else {
        u8::from(is("steady") || is("doubtful"))
    };
    json!({"Clarity": value}).to_string()
}

fn prepared() -> Desk {
    let desk = Desk::new();
    desk.write("rubric.toml", RUBRIC);
    let row = |id: &&str| json!({"paper": "p", "id": id, "text": format!("A {id} text.")});
    desk.write("texts.jsonl", &TEXTS.iter().map(|id| format!("{}\n", row(id))).collect::<String>());
    let gold =
        |id: &&str| format!("{}\n", json!({"paper": "p", "id": id, "judgments": {"Clarity": 1}}));
    desk.write("gold.jsonl", &TEXTS.iter().map(gold).collect::<String>());
    desk
}

#[test]
fn a_dry_run_counts_every_proposal_and_comment_that_there_may_be() {
    let (desk, server) = (prepared(), Server::start(|asked| Reply::Chat(scripted(asked))));
    let url = server.url();
    let judgments = ["annotate", "judgments", "texts.jsonl", "--rubric", "rubric.toml"];
    let model = ["--model", "m", "--base-url", &url, "--dry-run", "--format", "csv", "--judge"];
    // Four texts; three proposals, and a comment on each but the last.
    for (judge, requests) in [
        ("proposals=3", 4),
        ("feedback=check-again,proposals=3", 4 * 3),
        ("feedback=check-again,proposals=3,turns=2", 4 * 2),
        ("feedback=binary,proposals=3", 4 * 5),
        ("feedback=textual,proposals=3", 4 * 5),
    ] {
        let run = desk.done(&[&judgments[..], &model, &[judge]].concat());
        let line = format!("\nrequests,{requests}\n");
        assert!(run.stdout.contains(&line), "{judge}: {}", run.stdout);
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn feedback_is_held_against_a_second_look_without_any() {
    let (desk, server) = (prepared(), Server::start(|asked| Reply::Chat(scripted(asked))));
    let url = server.url();
    let judge = |feedback: &str, more: &[&str]| {
        let (runs, output) = (format!("{feedback}.csv"), format!("{feedback}.jsonl"));
        let told = if feedback == "none" { "" } else { "feedback=" };
        let judge = format!("turns=3,{told}{}", feedback.trim_start_matches("none"));
        let fixed = [
            "annotate",
            "judgments",
            "texts.jsonl",
            "--rubric",
            "rubric.toml",
            "--gold",
            "gold.jsonl",
            "--judge",
            judge.trim_end_matches(','),
            "--base-url",
            &url,
            "--model",
            "m",
            "--feedback-runs",
            &runs,
            "--output",
            &output,
        ];
        desk.done(&[&fixed[..], more].concat());
        desk.read(&runs)
    };
    judge("none", &[]);
    let again = judge("check-again", &[]);
    // Two answers of 15 tokens, and nobody else is asked.
    assert_eq!(
        again.lines().collect::<Vec<_>>(),
        [
            "provider,feedback,max_turns,item,success,invalid_turns,tokens,turns",
            "none,check-again,3,p|steady,1,0,30,2",
            "none,check-again,3,p|careless,1,0,30,2",
            "none,check-again,3,p|stubborn,0,0,30,2",
            "none,check-again,3,p|doubtful,0,0,30,2",
        ]
    );
    let told = server.asked();
    let told = told.iter().map(Asked::last_message).filter(|told| told.contains("check again"));
    assert!(told.clone().count() == 4);
    assert!(told.clone().all(|told| !told.contains("expert") && !told.contains("text.")));
    let binary = judge("binary", &["--feedback-gold"]);
    assert!(binary.contains("\nm,binary+gold,3,p|stubborn,1,0,45,2\n"), "{binary}");

    let run = desk.done(&[
        "experiment",
        "feedback",
        "none.csv",
        "check-again.csv",
        "binary.csv",
        "--bootstrap",
        "20",
        "--format",
        "csv",
    ]);
    let value = |group: &str, metric: &str| -> f64 {
        let start = format!("{group},{metric},");
        let line = run.stdout.lines().find(|line| line.starts_with(&start)).expect(&start);
        line[start.len()..].split(',').next().unwrap().parse().unwrap()
    };
    for (group, metric, want) in [
        ("none,none", "sr_3", 0.5),
        ("none,check-again", "sr_3", 0.5),
        // One put right by looking again, and one spoilt.
        ("none,check-again", "gain", 0.0),
        ("none,check-again", "wrong_to_right", 0.25),
        ("none,check-again", "right_to_wrong", 0.25),
        ("m,binary+gold", "gain", 0.5),
        ("m,binary+gold", "gain_over_check_again", 0.5),
        // Agreed on: an answer and a comment, 15 more; else two answers and a comment, 30 more.
        ("m,binary+gold", "tokens_per_item_put_right", 45.0),
    ] {
        assert!((value(group, metric) - want).abs() < 1e-12, "{group} {metric}: {}", run.stdout);
    }
    assert!(!run.stderr.contains("check-again"), "{}", run.stderr);
}

#[test]
fn what_makes_no_sense_with_the_control_is_refused() {
    let desk = prepared();
    let start = ["annotate", "judgments", "texts.jsonl", "--rubric", "rubric.toml", "--model", "m"];
    for (more, part) in [
        (&["--judge", "feedback=check-again,feedback-model=n"][..], "no second model"),
        (
            &["--judge", "feedback=check-again", "--gold", "gold.jsonl", "--feedback-gold"],
            "no second model",
        ),
        (&["--feedback-runs", "runs.csv"], "--gold"),
    ] {
        let run = desk.caz(&[&start[..], more].concat());
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

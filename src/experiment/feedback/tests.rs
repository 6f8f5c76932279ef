use std::fmt::Write as _;
use std::path::Path;

use super::study::{FeedbackRun, fit};
use super::{By, FeedbackSettings, study};
use crate::data::observer::Silent;
use crate::data::source::Source;

fn studied(text: &str) -> FeedbackRun {
    let source = Source::from_reader(Path::new("runs.csv"), text.as_bytes()).unwrap();
    study(
        &[source],
        &FeedbackSettings { draws: 200, seed: 1, ..FeedbackSettings::default() },
        &Silent,
    )
    .unwrap()
}

#[track_caller]
fn value(run: &FeedbackRun, (provider, feedback): (&str, &str), metric: &str) -> f64 {
    run.row(provider, feedback, metric).and_then(|row| row.value).expect(metric)
}

/// Ten items; without feedback 1 of them is solved at once and 4 within 3 turns; with feedback 7,
/// of which 3 were solved without; checking again solves 5.
fn ten() -> String {
    let mut text =
        "provider,feedback,max_turns,item,success,turns,invalid_turns,tokens\n".to_owned();
    for item in 0..10 {
        let mut row =
            |provider: &str, kind: &str, budget: u32, solved: bool, turns: u32, tokens| {
                let solved = u8::from(solved);
                let invalid = u32::from(item == 0);
                let _ = writeln!(
                    text,
                    "{provider},{kind},{budget},{item},{solved},{turns},{invalid},{tokens}"
                );
            };
        row("None", "", 1, item < 1, 1, 100);
        row("None", "", 2, item < 3, 2, 200);
        row("None", "", 3, item < 4, if item < 2 { 2 } else { 3 }, 300);
        row("big", "textual", 3, (1..8).contains(&item), 3, 700);
        row("big", "check-again", 3, item < 5, 3, 500);
    }
    text
}

#[test]
fn rates_slopes_and_gains_by_hand() {
    let run = studied(&ten());
    let (none, textual) = (("None", ""), ("big", "textual"));
    for (metric, want) in [("sr_1", 0.1), ("sr_2", 0.3), ("sr_3", 0.4), ("slope", 0.15)] {
        assert!((value(&run, none, metric) - want).abs() < 1e-12, "{metric}");
    }
    // .1, .3, .4 against 1, 2, 3: the line explains 2 * .15 * .15 = .045 of 7/150.
    assert!((value(&run, none, "r_squared") - 0.045 / (7.0 / 150.0)).abs() < 1e-12);
    // Of the runs with budget 3: 2 solved after 2 turns, 4 after 3, none after 1.
    for (metric, want) in [("sr_cut_1", 0.0), ("sr_cut_2", 0.2), ("sr_cut_3", 0.4)] {
        assert!((value(&run, none, metric) - want).abs() < 1e-12, "{metric}");
    }
    // 4 put right (items 4 to 7), 1 spoilt (item 0): .3, and p = 2 * (1 + 5) / 32.
    for (metric, want) in [
        ("gain", 0.3),
        ("wrong_to_right", 0.4),
        ("right_to_wrong", 0.1),
        ("p_mcnemar", 0.375),
        ("tokens_per_item_put_right", 1000.0),
        ("tokens_per_item", 700.0),
        ("gain_over_check_again", 0.2),
    ] {
        assert!((value(&run, textual, metric) - want).abs() < 1e-12, "{metric}");
    }
    // 1 invalid turn of 30.
    assert!((value(&run, textual, "invalid_turns") - 1.0 / 30.0).abs() < 1e-12);
    // Two gains and one over the control: Holm multiplies the smallest by 3.
    let holm = value(&run, textual, "p_mcnemar_holm");
    assert!((0.375..=1.0).contains(&holm), "{holm}");
    // Nobody gains over nothing, nor the control over itself.
    assert!(run.row("None", "", "gain").is_none());
    assert!(run.row("big", "check-again", "gain_over_check_again").is_none());
    let (low, high) = run.row("big", "textual", "gain").unwrap().interval.unwrap();
    assert!(low < 0.3 && 0.3 < high);
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let text = ten();
    let (header, rows) = text.split_once('\n').unwrap();
    let mut lines: Vec<&str> = rows.lines().collect();
    lines.reverse();
    let turned = studied(&format!("{header}\n{}\n", lines.join("\n")));
    assert_eq!(turned.rows, studied(&text).rows);
}

#[test]
fn several_files_are_one_table_and_a_run_that_stands_twice_is_named_in_the_second() {
    let source =
        |name: &str, text: &str| Source::from_reader(Path::new(name), text.as_bytes()).unwrap();
    let head = "provider,feedback,item,success\n";
    let none = source("none.csv", &format!("{head}none,none,1,0\nnone,none,2,1\n"));
    let again = source("again.csv", &format!("{head}none,check-again,1,1\nnone,check-again,2,1\n"));
    let settings = FeedbackSettings { draws: 20, seed: 1, ..FeedbackSettings::default() };
    let run = study(&[none.clone(), again], &settings, &Silent).unwrap();
    assert!((value(&run, ("none", "check-again"), "gain") - 0.5).abs() < 1e-12);
    assert_eq!(run.inputs.iter().map(|input| input.rows).collect::<Vec<_>>(), [2, 2]);
    let second = source("second.csv", &format!("{head}none,none,3,0\nnone,none,2,1\n"));
    let text = study(&[none, second], &settings, &Silent).unwrap_err().to_string();
    assert!(text.contains("second.csv:3: the same item"), "{text}");
}

#[test]
fn items_that_one_side_lacks_do_not_count_for_the_gain() {
    let run = studied("provider,feedback,item,success\n,,1,0\n,,2,1\nx,binary,2,1\nx,binary,3,0\n");
    assert!((value(&run, ("x", "binary"), "sr") - 0.5).abs() < 1e-12);
    let gain = run.row("x", "binary", "gain").unwrap();
    assert_eq!((gain.value, gain.items), (Some(0.0), 1));
    assert_eq!(run.warnings.iter().map(|w| w.code).collect::<Vec<_>>(), ["no_control"]);
}

#[test]
fn many_invalid_turns_and_a_missing_baseline_are_said() {
    let run = studied("provider,feedback,item,success,turns,invalid_turns\nx,binary,1,1,4,1\n");
    let codes: Vec<_> = run.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["no_baseline", "no_control", "invalid_turns"]);
}

#[test]
fn a_line_that_says_nothing_has_no_slope_or_no_share() {
    assert_eq!(fit(&[(1.0, 0.5), (2.0, 0.5)]), (Some(0.0), None));
    assert_eq!(fit(&[(1.0, 0.5), (1.0, 0.6)]), (None, None));
}

#[test]
fn what_is_wrong_with_a_file_is_said_by_line() {
    let read = |text: &str| {
        let source = Source::from_reader(Path::new("runs.csv"), text.as_bytes()).unwrap();
        study(&[source], &FeedbackSettings::default(), &Silent).unwrap_err().to_string()
    };
    let text = read("item,success,turns\n1,maybe,1\n,1,1\n2,1,-3\n3,1,1\n3,0,1\n");
    for part in [
        "runs.csv:2: column `success`",
        "runs.csv:3: column `item`",
        ":4: column `turns`",
        ":6: the same item",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn tasks_and_kinds_of_tasks_by_hand() {
    let mut text = "provider,feedback,max_turns,task,item,success\n".to_owned();
    for (task, item, before, after) in [
        ("plan/house", 0, 1, 0),
        ("plan/house", 1, 1, 0),
        ("plan/house", 2, 0, 0),
        ("plan/house", 3, 0, 1),
        ("reason/sums", 0, 0, 1),
        ("reason/sums", 1, 1, 1),
        ("reason/facts", 0, 0, 1),
        ("", 0, 0, 1),
    ] {
        let _ =
            writeln!(text, "None,,5,{task},{item},{before}\nbig,textual,5,{task},{item},{after}");
    }
    let source = Source::from_reader(Path::new("runs.csv"), text.as_bytes()).unwrap();
    let settings = FeedbackSettings { by: By::Task, draws: 20, seed: 1 };
    let run = study(&[source], &settings, &Silent).unwrap();
    // plan has one task, so it stands there once; reason has two. No row of no task.
    let gains: Vec<(&str, f64, u64)> = run
        .rows
        .iter()
        .filter(|row| row.metric == "gain")
        .map(|row| (row.task.as_deref().unwrap(), row.value.unwrap(), row.items))
        .collect();
    assert_eq!(
        gains,
        [
            // One put right, two spoilt, of four.
            ("plan/house", -0.25, 4),
            ("reason", 2.0 / 3.0, 3),
            ("reason/facts", 1.0, 1),
            ("reason/sums", 0.5, 2),
        ]
    );
    assert_eq!(run.report().table.columns()[..3], ["task", "provider", "feedback"]);
    // Together they are what the whole is.
    let all = studied(&text);
    assert!((value(&all, ("big", "textual"), "gain") - 2.0 / 8.0).abs() < 1e-12);
    assert!(all.rows.iter().all(|row| row.task.is_none()));
}

//! Labels that are already in memory, to a ranked list of workers and the evidence for the last.
//!
//! `cargo run --example labels_in_memory --no-default-features`

use std::error::Error;
use std::io::{Write, stdout};

use caz::{Flag, LabelRow, Labels, LabelsSettings, MechanismName, Silent, ZLabelRow, labels};

fn main() -> Result<(), Box<dyn Error>> {
    // 60 comments, fine or rude, of which the LLM gets every third one wrong. Ann, ben and cem
    // look for themselves, each wrong on other comments; lou hands in what the LLM says.
    let truth = |task: usize| if task * 7 % 5 < 2 { "rude" } else { "fine" };
    let wrong = |task: usize| if truth(task) == "rude" { "fine" } else { "rude" };
    let said = |task: usize, is_wrong: bool| if is_wrong { wrong(task) } else { truth(task) };
    let llm = |task: usize| said(task, task.is_multiple_of(3));
    let rows = (0..60).flat_map(|task| {
        [
            ("ann", said(task, task % 10 == 1)),
            ("ben", said(task, task % 8 == 2)),
            ("cem", said(task, task % 9 == 4)),
            ("lou", llm(task)),
        ]
        .map(|(worker, label)| LabelRow::new(format!("comment {task}"), worker, label))
    });
    let z = (0..60).map(|task| ZLabelRow::new(format!("comment {task}"), llm(task)));

    let run = labels(Labels::from_rows(rows, z)?, &LabelsSettings::default(), &Silent)?;

    let scores = run.scores(MechanismName::CaZ).ok_or("ca_z is the default")?;
    let mut out = stdout().lock();
    for row in &scores.rows {
        let score = row.estimate.map_or("none".into(), |score| format!("{:.3}", score.value));
        let flag = row.flag.map_or("", Flag::as_str);
        writeln!(out, "{:4} {score:>6} {flag}", row.worker)?;
    }
    let last = &scores.rows.first().ok_or("there are workers")?.worker;
    let share = run.evidence(last)?.with_z[0].share.unwrap_or_default();
    writeln!(out, "{last} says what the LLM says on {:.0} % of the comments", share * 100.0)?;
    Ok(())
}

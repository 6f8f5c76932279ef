//! `caz assumptions`: the contract of its columns, its words, and refusals.

use super::{Folder, simulate};

fn assumptions(folder: &Folder, more: &[&str]) -> super::Run {
    let start = ["assumptions", "labels.csv", "--z", "z.csv", "--bootstrap", "50"];
    let arguments: Vec<&str> = start.iter().chain(more).copied().collect();
    folder.caz(&arguments)
}

#[test]
fn every_llm_is_conditioned_on_and_every_llm_is_the_cheater() {
    let folder = Folder::new();
    simulate::crowd(&folder);
    let rows = assumptions(&folder, &["--format", "csv"]).succeeded().csv();
    assert_eq!(
        rows[0].join(","),
        "z,cheater,quantity,n_tasks,value,null,excess,excess_low,excess_high,difference_to_humans,\
         excess_difference,difference_low,difference_high,about_zero,below_humans,auc,auc_low,\
         auc_high,works"
    );
    let keys: Vec<String> = rows[1..].iter().map(|row| row[..3].join(" ")).collect();
    assert_eq!(
        keys,
        [
            "gpt  human_human",
            "gpt gpt cheater_human",
            "gpt gpt cheater_cheater",
            "gpt llama cheater_human",
            "gpt llama cheater_cheater",
            "gpt llama epsilon",
            "llama  human_human",
            "llama gpt cheater_human",
            "llama gpt cheater_cheater",
            "llama llama cheater_human",
            "llama llama cheater_cheater",
            "llama gpt epsilon",
            "  human_human",
            " gpt cheater_human",
            " gpt cheater_cheater",
            " llama cheater_human",
            " llama cheater_cheater",
        ]
    );
    // Without Z no hypothesis is about a value; two cheaters are two samples of one LLM.
    for row in rows[1..].iter().filter(|row| row[0].is_empty()) {
        assert!(row[13..].iter().all(String::is_empty), "{row:?}");
        assert_eq!(row[4].is_empty(), row[1..3].join(" ") == "llama cheater_cheater", "{row:?}");
    }
    let mut people = f64::NAN;
    for row in rows[1..].iter().filter(|row| !row[0].is_empty()) {
        let needs_samples = row[13] == "needs_samples";
        // With the LLM of Z itself a cheater needs a second sample of it, two cheaters a third.
        let expected = ["gpt gpt cheater_cheater", "llama gpt cheater_cheater", "llama llama"];
        let is_expected = expected.iter().any(|key| row[..3].join(" ").starts_with(key));
        assert_eq!(needs_samples, is_expected, "{row:?}");
        // What cannot be computed is empty, the number of tasks with it.
        assert!(row[3..7].iter().all(|cell| cell.is_empty() == needs_samples), "{row:?}");
        if !needs_samples {
            assert_eq!(row[3], simulate::TASKS.to_string());
            let number = |at: usize| row[at].parse::<f64>().unwrap();
            // The null takes away too much where something is shared. There a value is too small:
            // products of shares cost it 1 part in n in a stratum of n tasks, and gpt and llama
            // make three strata.
            assert!(number(6) >= number(4) - number(5) - 1e-12, "{row:?}");
            let most = number(4) * (1.0 + 3.0 / simulate::TASKS as f64);
            assert!(number(6) <= most, "{row:?}");
            assert!(number(7) <= number(6) && number(6) <= number(8), "{row:?}");
            if row[2] == "human_human" {
                people = number(4);
            } else {
                assert!((people - number(4) - number(9)).abs() < 1e-12, "{row:?}");
                assert!(number(11) <= number(10) && number(10) <= number(12), "{row:?}");
            }
            assert!((0.0..=2.0).contains(&number(4)), "{row:?}");
        }
    }
}

#[test]
fn the_table_ends_with_a_verdict_in_words_for_every_hypothesis() {
    let folder = Folder::new();
    simulate::crowd(&folder);
    let run = assumptions(&folder, &[]).succeeded();
    let said = format!("{}{}", run.stdout, run.stderr);
    for part in [
        "Beyond gpt, two people share",
        "Beyond llama, two people share",
        "(1) a cheater shares about nothing with people:",
        "(2) two cheaters share about nothing:",
        "(3) people share more with each other than with a cheater:",
        "(4) people share more than two cheaters:",
        "llama has one sample per task.",
        "gpt has two samples per task.",
        "Best LLM to condition on: ",
    ] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    // The answer comes first, in one sentence and once: gpt is the one with two samples, and copies of
    // both LLMs were tried, by few and by many.
    let first = run.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        // Four of twenty who copy llama agree with each other beyond gpt.
        "Conditioning does not work here, not even on gpt, the best choice: workers who copy llama, up to a \
         fifth of all, end below 39 % of the people only."
    );
    assert_eq!(said.matches(first).count(), 1, "{said}");
    let csv = assumptions(&folder, &["--format", "csv"]).succeeded().stdout;
    assert!(csv.starts_with("z,cheater,"), "{csv}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::new();
    simulate::crowd(&folder);
    let run = |threads| {
        let more = ["--format", "json", "--seed", "3", "--threads", threads];
        assumptions(&folder, &more).succeeded().stdout
    };
    let one = run("1");
    assert_eq!(one, run("3"));
    assert_ne!(one, assumptions(&folder, &["--format", "json"]).succeeded().stdout);
}

#[test]
fn bad_settings_and_files_are_refused() {
    let folder = Folder::new();
    simulate::crowd(&folder);
    folder.caz(&["assumptions", "labels.csv"]).failed(2, &["--z"]);
    folder.caz(&["assumptions", "labels.csv", "--z", "none.csv"]).failed(4, &["none.csv"]);
    folder.caz(&["assumptions", "-", "--z", "-"]).failed(2, &["only once"]);
    assumptions(&folder, &["--bootstrap", "1"]).failed(2, &["--bootstrap"]);
    folder.write("z.csv", "task,label\nq1,\n");
    assumptions(&folder, &[]).failed(3, &["z.csv:2", "`label`"]);
}

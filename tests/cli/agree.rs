//! `caz agree`: the contract of its columns, its gate, and refusals.

use super::{Folder, Run};

const LABELS: &str = "\
task,source,label
q1,a,0
q2,a,1
q3,a,2
q4,a,2
q5,a,9
q1,b,0
q2,b,0
q3,b,2
q4,b,1
q5,b,1
q6,b,1
";
const GOLD: &str = "task,label\nq1,0\nq2,1\nq3,2\nq4,1\nq5,1\nq6,0\n";

fn files() -> Folder {
    let folder = Folder::new();
    folder.write("labels.csv", LABELS);
    folder.write("gold.csv", GOLD);
    folder
}

fn agree(folder: &Folder, more: &[&str]) -> Run {
    let start = ["agree", "labels.csv", "--gold", "gold.csv", "--bootstrap", "50"];
    let arguments: Vec<&str> = start.iter().chain(more).copied().collect();
    folder.caz(&arguments)
}

/// The row of a source and a metric.
fn row(rows: &[Vec<String>], source: &str, metric: &str) -> Vec<String> {
    let found = rows.iter().find(|row| row[0] == source && row[2] == metric);
    found.unwrap_or_else(|| panic!("no {source} {metric} in {rows:?}")).clone()
}

/// The number in a cell; none in an empty one.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok()
}

#[test]
fn every_metric_of_every_source_has_a_row() {
    let folder = files();
    let rows = agree(&folder, &["--scale", "0..2", "--format", "csv"]).succeeded().csv();
    assert_eq!(
        rows[0].join(","),
        "source,against,metric,value,ci_low,ci_high,n_items,n_missing,lower_bound,upper_bound"
    );
    // a has 3 of 4 right; 9 is outside the scale, q6 is not labelled: at worst 3 of 6, at best 5.
    let accuracy = row(&rows, "a", "accuracy");
    assert_eq!(accuracy[1], "gold");
    assert_eq!(number(&accuracy[3]), Some(0.75));
    assert_eq!(accuracy[6..8], ["4", "2"]);
    assert_eq!((number(&accuracy[8]), number(&accuracy[9])), (Some(3.0 / 6.0), Some(5.0 / 6.0)));
    // a: |2 - 1| / 4; b: errors 1, 0, 1 over 6, so 2 of 6 and signed 0.
    assert_eq!(number(&row(&rows, "a", "mae")[3]), Some(0.25));
    assert_eq!(number(&row(&rows, "b", "bias")[3]), Some(0.0));
    assert_eq!(number(&row(&rows, "a", "count:1:2")[3]), Some(1.0));
    assert_eq!(number(&row(&rows, "a", "gold_share:1")[3]), Some(0.5));
    for metric in [
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
        "rmse",
        "pearson",
        "spearman",
        "icc_2_1",
        "icc_2_k",
        "auc",
        "ac1",
        "fleiss",
        "alpha_nominal",
        "alpha_ordinal",
        "alpha_interval",
        "precision:0",
        "recall:2",
    ] {
        row(&rows, "b", metric);
    }
    // What the sources are among themselves.
    assert_eq!(row(&rows, "sources", "alpha_ordinal")[6], "4");
}

#[test]
fn the_table_for_people_begins_with_base_rates_and_matrices() {
    let folder = files();
    let shown = agree(&folder, &["--scale", "0..2"]).succeeded().stdout;
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("no `{part}` in {shown}"));
    assert!(shown.starts_with("Best: "), "{shown}");
    assert!(
        at("Best: ") < at("base rates")
            && at("base rates") < at("gold \\ a")
            && at("gold \\ b") < at("kappa_linear")
    );
    assert!(shown.contains("B = 50") && shown.contains("a label is outside the scale"));
    assert!(!shown.contains("precision:"), "{shown}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads_and_the_order_of_rows() {
    let folder = files();
    let json =
        |threads| agree(&folder, &["--format", "csv", "--threads", threads]).succeeded().stdout;
    let one = json("1");
    assert_eq!(one, json("3"));
    let mut lines: Vec<&str> = LABELS.lines().collect();
    lines[1..].reverse();
    folder.write("labels.csv", lines.join("\n"));
    assert_eq!(one, json("2"));
}

#[test]
fn a_broken_bound_prints_the_result_and_exits_with_1() {
    let folder = files();
    let run = agree(&folder, &["--require", "accuracy>=0.5", "--format", "csv"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = agree(&folder, &["--require", "accuracy>=0.99", "--format", "csv"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stdout.contains("accuracy"));
    assert!(run.stderr.contains("required: accuracy>=0.99"), "{}", run.stderr);
    agree(&folder, &["--require", "cappa>=0.5"]).failed(2, &["cappa", "kappa"]);
    agree(&folder, &["--require", "kappa"]).failed(2, &["kappa>=0.6"]);
}

#[test]
fn what_changed_since_is_paired() {
    let folder = files();
    folder.write("old.csv", LABELS.replace("q4,a,2", "q4,a,1"));
    let more = ["--since", "old.csv", "--scale", "0..2", "--format", "csv"];
    let rows = agree(&folder, &more).succeeded().csv();
    assert_eq!(number(&row(&rows, "a", "changed")[3]), Some(0.25));
    assert_eq!(number(&row(&rows, "a", "moved:1:2")[3]), Some(1.0));
    assert_eq!(number(&row(&rows, "a", "change:accuracy")[3]), Some(-0.25));
    assert_eq!(number(&row(&rows, "a", "change:count:1:1")[3]), Some(-1.0));
    assert_eq!(number(&row(&rows, "b", "changed")[3]), Some(0.0));
    let gate = [&more[..], &["--require", "change:accuracy>=-0.02"]].concat();
    assert_eq!(agree(&folder, &gate).code, 1);
}

#[test]
fn two_sources_are_compared_on_the_same_tasks() {
    let folder = files();
    let more = ["--compare", "a,b", "--scale", "0..2", "--format", "csv"];
    let rows = agree(&folder, &more).succeeded().csv();
    // On q1 to q4 a is right three times and b three times: q4 and q2 differ.
    let difference = row(&rows, "a", "difference:accuracy");
    assert_eq!(
        (difference[1].as_str(), number(&difference[3]), difference[6].as_str()),
        ("b", Some(0.0), "4")
    );
    assert_eq!(number(&row(&rows, "a", "p_mcnemar")[3]), Some(1.0));
    assert_eq!(number(&row(&rows, "a", "p_permutation:accuracy")[3]), Some(1.0));
    agree(&folder, &["--compare", "a,c"]).failed(2, &["no source `c`"]);
    agree(&folder, &["--compare", "a"]).failed(2, &["--compare"]);
}

#[test]
fn people_are_a_majority_or_each_or_all_but_one() {
    let folder = files();
    let people =
        "task,worker,label\nq1,u,0\nq1,v,0\nq1,w,1\nq2,u,1\nq2,v,1\nq2,w,0\nq3,u,2\nq3,v,1\n";
    folder.write("gold.csv", people);
    let run = |more: &[&str]| agree(&folder, &[&["--format", "csv"], more].concat());
    let rows = run(&[]).succeeded().csv();
    // q3 has a tie and no gold.
    assert_eq!(row(&rows, "a", "accuracy")[1..7].join(",").split(',').next(), Some("majority"));
    assert_eq!(row(&rows, "a", "accuracy")[6], "2");
    row(&rows, "people", "fleiss");
    let rows = run(&["--gold-by", "each"]).succeeded().csv();
    let against = |source: &str, rows: &[Vec<String>]| -> Vec<String> {
        let of = rows.iter().filter(|row| row[0] == source && row[2] == "accuracy");
        of.map(|row| row[1].clone()).collect()
    };
    assert_eq!(against("a", &rows), ["u", "v", "w"]);
    let rows = run(&["--gold-by", "leave-one-out"]).succeeded().csv();
    assert_eq!(against("a", &rows), ["all but u", "all but v", "all but w"]);
    assert_eq!(against("w", &rows), ["all but w"]);
    let rows = run(&["--alt-test=least-items=2"]).succeeded().csv();
    row(&rows, "a", "omega");
    run(&["--gold-by", "each", "--compare", "all"]).failed(2, &["one gold label"]);
    // Means 1/3, 2/3 and 3/2 of q1, q2, q3: errors of a 1/3, 1/3, 1/2.
    let rows = run(&["--gold-by", "mean"]).succeeded().csv();
    let error = number(&row(&rows, "a", "mae")[3]).unwrap();
    assert!((error - 7.0 / 18.0).abs() < 1e-12, "{error}");
    let shown = agree(&folder, &["--gold-by", "each"]).succeeded().stdout;
    assert!(shown.contains("on the mean over the people"), "{shown}");
}

#[test]
fn two_people_a_task_are_enough_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.write("labels.csv", "task,source,label\nq1,m,0\nq2,m,1\n");
    folder.write("gold.csv", "task,worker,label\nq1,u,0\nq1,v,0\nq2,u,1\nq2,v,0\n");
    let run = |more: &[&str]| {
        let test = ["--alt-test=least-items=2", "--format", "csv"];
        agree(&folder, &[&test, more].concat())
    };
    run(&[]).failed(2, &["at least 3 people"]);
    let rows = run(&["--min-people", "2"]).succeeded().csv();
    // Against u, v says 0 0: m and u match it once each and together. Against v, u says 0 1: m wins.
    assert_eq!(number(&row(&rows, "m", "rho")[3]), Some(1.0));
    run(&["--min-people", "1"]).failed(2, &["at least 2"]);
}

#[test]
fn a_source_or_task_that_is_gone_fails_the_gate_by_name() {
    let folder = files();
    let gate = |old: &str| {
        folder.write("old.csv", old);
        agree(
            &folder,
            &["--since", "old.csv", "--require", "change:kappa>=-0.5", "--format", "csv"],
        )
    };
    assert_eq!(gate(LABELS).code, 0);
    // c is gone, and nothing else changed.
    let run = gate(&format!("{LABELS}q1,c,0\nq2,c,1\n"));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("bound broken: `c` is gone since"), "{}", run.stderr);
    assert!(run.stdout.contains("change:kappa"));
    // b was called c.
    let run = gate(&LABELS.replace(",b,", ",c,"));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("`c` is gone") && run.stderr.contains("new are b"),
        "{}",
        run.stderr
    );
    // All were: nothing could be compared, and that is no error of usage.
    let run = gate(&LABELS.replace(",b,", ",c,").replace(",a,", ",d,"));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("`c` is gone") && run.stderr.contains("`d` is gone"),
        "{}",
        run.stderr
    );
    // a had a label for q6, and has none that can be read for q5.
    let run = gate(&LABELS.replace("q5,a,9\n", "q5,a,1\nq6,a,0\n").replace("q5,a,9", ""));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("`a` has no label now for 1 of its 6 tasks: q6"), "{}", run.stderr);
    // Without a bound as well, and files without names of sources are of one source.
    folder.write("labels.csv", "task,label\nq1,0\nq2,1\nq3,2\n");
    folder.write("old.csv", "task,label\nq1,0\nq2,0\nq3,2\nq4,1\n");
    let run = agree(&folder, &["--since", "old.csv", "--format", "csv"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("`labels` has no label now for 1 of its 4 tasks: q4"),
        "{}",
        run.stderr
    );
    let rows = run.csv();
    let changed = number(&row(&rows, "labels", "changed")[3]).unwrap();
    assert!((changed - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn a_word_for_nothing_is_missing_among_people_and_sources_alike() {
    let folder = Folder::new();
    let with = "task,worker,label\n0,r1,1\n1,r1,1\n2,r1,2\n0,r2,1\n1,r2,1\n2,r2,N/A\n0,r3,N/A\n1,r3,1\n2,r3,2\n";
    let without: String =
        with.lines().filter(|line| !line.contains("N/A")).map(|l| format!("{l}\n")).collect();
    folder.write("with.csv", with);
    folder.write("without.csv", without);
    let run = |arguments: &[&str]| {
        let end = ["--bootstrap", "20", "--format", "csv"];
        folder.caz(&[arguments, &end].concat()).succeeded().csv()
    };
    let alone = run(&["agree", "with.csv"]);
    for metric in ["alpha_nominal", "alpha_ordinal", "alpha_interval"] {
        assert_eq!(number(&row(&alone, "sources", metric)[3]), Some(1.0), "{metric}");
    }
    let value = |rows: &[Vec<String>]| -> Vec<(String, String)> {
        rows.iter().map(|row| (row[2].clone(), row[3].clone())).collect()
    };
    assert_eq!(value(&alone), value(&run(&["agree", "without.csv"])));
    // As gold, and as labels.
    folder.write("labels.csv", "task,source,label\n0,m,1\n1,m,NaN\n2,m,\n");
    let as_gold = |gold: &str| run(&["agree", "labels.csv", "--gold", gold]);
    assert_eq!(value(&as_gold("with.csv")), value(&as_gold("without.csv")));
    let accuracy = row(&as_gold("with.csv"), "m", "accuracy");
    assert_eq!((number(&accuracy[3]), accuracy[7].as_str()), (Some(1.0), "2"));
}

#[test]
fn a_list_of_labels_is_an_order() {
    let folder = files();
    folder.write("labels.csv", LABELS.replace(",2\n", ",10\n"));
    folder.write("gold.csv", GOLD.replace(",2\n", ",10\n"));
    let shown = agree(&folder, &["--scale", "0,1,10"]).succeeded().stdout;
    assert!(shown.contains("items      0      1     10"), "{shown}");
    let rows = agree(&folder, &["--scale", "0,1,10", "--format", "csv"]).succeeded().csv();
    // a: 10 where gold is 1 once in four.
    assert_eq!(number(&row(&rows, "a", "mae")[3]), Some(2.25));
    agree(&folder, &["--scale", "0,1,0"]).failed(2, &["twice"]);
}

#[test]
fn the_test_of_replacing_people_goes_by_match_or_by_distance() {
    let folder = Folder::new();
    folder.write("labels.csv", "task,source,label\nq1,m,2\nq2,m,2\n");
    let people = ["q1", "q2"].map(|task| format!("{task},u,0\n{task},v,1\n{task},w,4\n"));
    folder.write("gold.csv", format!("task,worker,label\n{}", people.concat()));
    let omega = |more: &[&str]| {
        let test = ["--alt-test=least-items=2,epsilon=0", "--format", "csv"];
        let rows = agree(&folder, &[&test, more].concat()).succeeded().csv();
        number(&row(&rows, "m", "omega")[3])
    };
    // No two labels are equal: nobody is closer to the others than m, nor m than anybody.
    assert_eq!(omega(&[]), Some(0.0));
    // Against u the errors of m are 2 - 1 and 4 - 2, those of u 1 and 4; v and w lose alike: errors
    // 2, 2 against 1, 3, and 2, 1 against 4, 3.
    assert_eq!(omega(&["--alt-test=closeness=distance"]), Some(1.0));
    let words = people.concat().replace(",4", ",four");
    folder.write("gold.csv", format!("task,worker,label\n{words}"));
    agree(&folder, &["--alt-test=closeness=distance"]).failed(2, &["numbers"]);
}

#[test]
fn clusters_come_from_a_column_or_a_file() {
    let folder = files();
    folder.write("topics.csv", "task,topic\nq1,x\nq2,x\nq3,y\nq4,y\nq5,z\nq6,z\n");
    let run = agree(&folder, &["--cluster", "topics.csv"]).succeeded();
    assert!(run.stdout.contains("over 3 clusters"), "{}", run.stdout);
    agree(&folder, &["--cluster", "none.csv"]).failed(4, &["none.csv"]);
    agree(&folder, &["--cluster", "topic"]).failed(3, &["column `topic`", "have no cluster"]);
}

#[test]
fn two_rankings_of_the_same_runs() {
    let folder = Folder::new();
    folder.write(
        "runs.csv",
        "year,run,people,llm\n1,r1,3,2\n1,r2,2,3\n1,r3,1,1\n1,r4,,1\n2,r1,1,1\n",
    );
    let rows = folder.caz(&["agree", "--runs", "runs.csv", "--format", "csv"]).succeeded().csv();
    assert_eq!(
        rows[0].join(","),
        "group,source,against,metric,value,ci_low,ci_high,n_items,n_missing"
    );
    let first = &rows[1];
    assert_eq!(first[..4].join(","), "1,people,llm,tau_b");
    // Two of three pairs are concordant.
    assert!((number(&first[4]).unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(first[7..], ["3", "1"]);
    let alone = rows.iter().find(|row| row[0] == "2" && row[3] == "tau_b").unwrap();
    assert_eq!(alone[4], "");
    folder.caz(&["agree", "--runs", "runs.csv", "--persistence", "1"]).failed(2, &["persistence"]);
    folder.write("runs.csv", "year,run,people\n1,r1,3\n");
    folder.caz(&["agree", "--runs", "runs.csv"]).failed(3, &["four columns"]);
}

#[test]
fn the_page_has_the_matrix_and_hostile_names_stay_text() {
    let folder = files();
    folder.write("labels.csv", LABELS.replace(",a,", ",<script>alert(1)</script>,"));
    agree(&folder, &["--report", "agree.html"]).succeeded();
    let page = std::fs::read_to_string(folder.path("agree.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("against gold"));
    assert!(!page.contains("<script>alert"));
}

#[test]
fn bad_scales_and_files_are_refused() {
    let folder = files();
    agree(&folder, &["--scale", "3..0"]).failed(2, &["0..3"]);
    agree(&folder, &["--scale", "0..2", "--outside", "refuse"]).failed(3, &["outside the scale"]);
    agree(&folder, &["--binarize", "50"]).failed(2, &["cut at 50"]);
    agree(&folder, &["--alt-test"]).failed(2, &["at least 3 people"]);
    folder.caz(&["agree"]).failed(2, &["LABELS"]);
    folder.write("labels.csv", "task,label\nq1,1\n");
    folder.caz(&["agree", "labels.csv"]).failed(3, &["nothing to compare"]);
}

//! `caz canary`: a plan that only its owner reads, and reviews held to it.

use super::Folder;

fn plan(folder: &Folder) -> Vec<Vec<String>> {
    folder.write("papers.csv", "paper\nB\nA\n");
    folder.caz(&["canary", "make", "papers.csv", "--output", "plan.csv"]).succeeded();
    let mut rows = csv::Reader::from_path(folder.path("plan.csv")).unwrap();
    rows.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn a_plan_has_other_phrases_each_time_and_is_its_owners_alone() {
    let folder = Folder::new();
    let first = plan(&folder);
    assert_eq!([&first[0][0], &first[1][0]], ["A", "B"]);
    assert_eq!(first[0].len(), 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = std::fs::metadata(folder.path("plan.csv")).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
    assert_ne!(plan(&folder), first, "nobody can guess what the next plan has");
    let run = folder.caz(&["canary", "make", "papers.csv"]);
    run.failed(2, &["--output plan.csv"]);
}

#[test]
fn reviews_with_their_papers_phrases_are_to_be_looked_at() {
    let folder = Folder::new();
    let plan = plan(&folder);
    let [one, two] = [&plan[0][1], &plan[0][2]];
    let reviews = format!(
        "paper,reviewer,text\nA,lou,\"Good. {} And {two}.\"\nA,mia,\"Only {one}, I think.\"\n\
         A,ned,\"Well written.\"\nC,oda,\"Never planned.\"\n",
        one.to_uppercase(),
    );
    folder.write("reviews.csv", reviews);
    let arguments = ["canary", "check", "reviews.csv", "--plan", "plan.csv", "--format", "csv"];
    let run = folder.caz(&arguments).succeeded();
    let rows = run.csv();
    assert_eq!(rows[0], ["paper", "reviewer", "phrases_found", "phrases_near", "p", "flag"]);
    let told: Vec<[&str; 4]> = rows[1..]
        .iter()
        .map(|row| [&row[1], &row[2], &row[3], &row[5]].map(String::as_str))
        .collect();
    assert_eq!(
        told,
        [
            ["lou", "2", "0", "look"],
            ["mia", "1", "0", "unsure"],
            ["ned", "0", "0", "nothing_found"],
            ["oda", "0", "0", "not_judged"],
        ]
    );
    assert!(rows[1][4].parse::<f64>().unwrap() < 1e-9, "{}", rows[1][4]);
    assert_eq!(rows[4][4], "", "what was not looked for has no probability");
    assert!(run.stderr.contains("1 reviews are of papers that are not in the plan"));

    folder.write("other.csv", "paper,phrase_1\nA,the phrase of somebody else\n");
    let run = folder.caz(&["canary", "check", "reviews.csv", "--plan", "other.csv"]);
    run.failed(3, &["the phrase of somebody else", "not in the dictionary"]);
    let run = folder.caz(&["canary", "check", "reviews.csv", "--plan", "papers.csv"]);
    run.failed(3, &["papers.csv:2", "has no phrase"]);
}

#[test]
fn what_a_language_model_is_to_be_told_can_be_printed() {
    let folder = Folder::new();
    let plan = plan(&folder);
    let arguments = ["canary", "insert", "--plan", "plan.csv", "--print", "--format", "csv"];
    let rows = folder.caz(&arguments).succeeded().csv();
    assert_eq!(rows[1][0], "A");
    assert!(rows[1][1].contains(&plan[0][1]) && rows[1][1].contains(&plan[0][2]), "{}", rows[1][1]);
    folder.caz(&["canary", "insert", "--plan", "plan.csv"]).failed(2, &["--print"]);
}

#[test]
fn files_that_are_no_pdf_are_named_and_the_original_is_never_written_over() {
    let folder = Folder::new();
    plan(&folder);
    folder.write("A.pdf", "not a PDF");
    let run = folder.caz(&["canary", "insert", "A.pdf", "--plan", "plan.csv", "--output", "new"]);
    run.failed(3, &["`A.pdf`", "no PDF", "1 of 1 papers"]);
    let run = folder.caz(&["canary", "insert", "A.pdf", "--plan", "plan.csv", "--output", "."]);
    run.failed(2, &["A.pdf", "choose another folder"]);
    assert_eq!(std::fs::read_to_string(folder.path("A.pdf")).unwrap(), "not a PDF");
    let run = folder.caz(&["canary", "insert", "Z.pdf", "--plan", "plan.csv", "--output", "new"]);
    run.failed(3, &["the plan has no paper `Z`"]);
}

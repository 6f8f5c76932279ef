//! `caz canary`: a plan that only its owner reads, and reviews held to it.

use super::{Folder, sample};

fn plan(folder: &Folder) -> Vec<Vec<String>> {
    plan_in(folder, "plan.csv")
}

fn plan_in(folder: &Folder, file: &str) -> Vec<Vec<String>> {
    folder.write("papers.csv", "paper\nB\nA\n");
    folder.caz(&["canary", "make", "papers.csv", "--output", file]).succeeded();
    let mut rows = csv::Reader::from_path(folder.path(file)).unwrap();
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
    assert_ne!(plan_in(&folder, "next.csv"), first, "nobody can guess what the next plan has");
    // Its phrases stand in papers by now, and nothing else tells them.
    let before = std::fs::read(folder.path("plan.csv")).unwrap();
    let again = folder.caz(&["canary", "make", "papers.csv", "--output", "plan.csv"]);
    again.failed(2, &["`plan.csv` is there", "choose another name"]);
    assert_eq!(std::fs::read(folder.path("plan.csv")).unwrap(), before);
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
    let shown = folder.caz(&arguments[..5]).succeeded().stdout;
    assert!(shown.contains("or the reviewer saw the hidden text"), "{shown}");
    assert!(run.stderr.contains("1 reviews are of papers that are not in the plan"));

    // Two texts by one person on a paper are looked through together; papers called otherwise are an error.
    let rounds = std::fs::read_to_string(folder.path("reviews.csv")).unwrap();
    let again = rounds.lines().nth(1).unwrap().replace('"', "");
    let (paper, rest) = again.split_once(',').unwrap();
    let reviewer = rest.split(',').next().unwrap();
    folder.write("rounds.csv", format!("{rounds}{paper},{reviewer},And that is all.\n"));
    folder.caz(&["canary", "check", "rounds.csv", "--plan", "plan.csv"]).succeeded();
    let other = format!("paper,reviewer,text\nnot-{paper},{reviewer},Well done indeed.\n");
    folder.write("named.csv", other);
    let run = folder.caz(&["canary", "check", "named.csv", "--plan", "plan.csv"]);
    run.failed(3, &["no review is of a paper of the plan", &format!("`not-{paper}`")]);

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
    let arguments = ["canary", "insert", "--plan", "plan.csv", "--format", "csv"];
    let rows = folder.caz(&arguments).succeeded().csv();
    assert_eq!(rows[1][0], "A");
    assert!(rows[1][1].contains(&plan[0][1]) && rows[1][1].contains(&plan[0][2]), "{}", rows[1][1]);
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

#[test]
fn a_copy_takes_the_place_of_nothing_that_is_named() {
    let folder = Folder::new();
    plan(&folder);
    for path in ["a/A.pdf", "b/A.pdf"] {
        std::fs::create_dir_all(folder.path(path).parent().unwrap()).unwrap();
        folder.write(path, format!("the paper {path}"));
    }
    folder.write("plans.csv", "task,text\nA,Why?\n");
    std::fs::create_dir(folder.path("kept")).unwrap();
    std::fs::copy(folder.path("plan.csv"), folder.path("kept/plans.csv")).unwrap();
    let before = std::fs::read(folder.path("plan.csv")).unwrap();
    for (papers, plan, output, words) in [
        (&["a/A.pdf", "b/A.pdf"][..], "plan.csv", "b", "over `b/A.pdf`, which the command reads"),
        (&["a", "b"], "plan.csv", "b", "over `b/A.pdf`, which the command reads"),
        (&["a", "b"], "plan.csv", "new", "`a/A.pdf` and `b/A.pdf` would have one copy"),
        (
            &["plans.csv"],
            "kept/plans.csv",
            "kept",
            "over `kept/plans.csv`, which the command reads",
        ),
    ] {
        let more = ["--plan", plan, "--output", output];
        folder.caz(&[&["canary", "insert"], papers, &more].concat()).failed(2, &[words]);
    }
    assert_eq!(std::fs::read_to_string(folder.path("b/A.pdf")).unwrap(), "the paper b/A.pdf");
    assert_eq!(std::fs::read(folder.path("kept/plans.csv")).unwrap(), before);
    assert!(!folder.path("new").exists());
    // Nor do two papers share a name, and so phrases.
    let make = ["canary", "make", "a", "b", "--output", "both.csv"];
    folder.caz(&make).failed(3, &["`a/A.pdf` and `b/A.pdf` are both named `A`"]);
    folder.caz(&["canary", "make", "a", "a/A.pdf", "--output", "both.csv"]).succeeded();
}

#[test]
fn phrases_that_the_text_cannot_hold_are_refused() {
    let folder = Folder::new();
    let numbers = || (0..1000).map(|number| format!("vier Worte f\u{fc}r {number}\n"));
    folder.write("german.txt", numbers().collect::<String>());
    folder.write("other.txt", numbers().map(|line| format!("\u{3b2} {line}")).collect::<String>());
    folder.write("A.pdf", "not looked into");
    folder.write("tasks.csv", "task,text\nA,Why is it so?\n");
    let make = |papers: &str, dictionary: &str, plan: &str| {
        let more = ["--dictionary", dictionary, "--output", plan];
        folder.caz(&[&["canary", "make", papers][..], &more].concat())
    };
    make("A.pdf", "other.txt", "plan.csv")
        .failed(3, &["`\u{3b2}` in `\u{3b2} vier Worte", "in a PDF"]);
    make("A.pdf", "german.txt", "plan.csv").succeeded();
    let insert = ["canary", "insert", "tasks.csv", "--plan", "plan.csv", "--output", "new"];
    folder.caz(&insert).failed(3, &["`\u{fc}` cannot be hidden in plain text", "HTML"]);
    assert!(!folder.path("new/tasks.csv").exists());
    folder.write("tasks.csv", "task,text\nA,Why is <b>it</b> so?\n");
    folder.caz(&insert).succeeded();
    // Reviews are held to the dictionary that the plan was drawn from.
    folder.write("reviews.csv", "paper,reviewer,text\nA,lou,Good.\n");
    let check = ["canary", "check", "reviews.csv", "--plan", "plan.csv"];
    let remedy = "`caz canary check --dictionary FILE` takes the one";
    folder.caz(&check).failed(3, &["is not in the dictionary", remedy]);
}

#[test]
fn lines_of_a_table_stay_as_they_are_but_for_the_text() {
    let folder = Folder::new();
    let (before, after) = (
        "{\"n\":12345678901234567890123, \"more\":{\"text\":\"x\"},\"text\" : ",
        ",\"say \\\"text\\\"\":[\"text\",1.50],\"task\":7}\n",
    );
    folder.write("tasks.jsonl", format!("{before}\"Why \\\"it\\\"?\"{after}"));
    folder.write("papers.csv", "paper\n7\n");
    folder.caz(&["canary", "make", "papers.csv", "--output", "plan.csv"]).succeeded();
    let insert = ["--plan", "plan.csv", "--output", "new"];
    folder.caz(&[&["canary", "insert", "tasks.jsonl"][..], &insert].concat()).succeeded();
    let copy = std::fs::read_to_string(folder.path("new/tasks.jsonl")).unwrap();
    let seen: String = copy.chars().filter(|letter| u32::from(*letter) < 0xe0000).collect();
    assert_eq!(seen, format!("{before}\"Why \\\"it\\\"?\"{after}"));
    assert!(copy.len() > seen.len(), "{copy}");
    folder.write("latin.csv", b"task,text\n7,Wer hat das f\xfcr uns?\n");
    let latin = [&["canary", "insert", "latin.csv"][..], &insert].concat();
    folder.caz(&latin).failed(3, &["`latin.csv`", "not UTF-8; save it as UTF-8"]);
}

#[test]
fn tasks_hold_their_phrases_unseen_and_answers_are_held_to_them() {
    let folder = Folder::new();
    folder.write("tasks.csv", "task,text,more\nB,What is 1 < 2?,x\nA,<p>Name it</p>,y\n");
    folder.caz(&["canary", "make", "tasks.csv", "--output", "plan.csv"]).succeeded();
    let insert = ["canary", "insert", "tasks.csv", "--plan", "plan.csv", "--output"];
    folder.caz(&[&insert[..], &["hidden"]].concat()).succeeded();
    let read = |name: &str| -> Vec<csv::StringRecord> {
        csv::Reader::from_path(folder.path(name)).unwrap().records().map(Result::unwrap).collect()
    };
    let (hidden, plan) = (read("hidden/tasks.csv"), read("plan.csv"));
    assert_eq!([&hidden[0][0], &hidden[0][2], &hidden[1][2]], ["B", "x", "y"]);
    let seen: String = hidden[0][1].chars().filter(|letter| u32::from(*letter) < 0xe0000).collect();
    assert_eq!(seen, "What is 1 < 2?");
    assert!(
        hidden[1][1].contains(&plan[0][1]) && hidden[1][1].contains("</span>"),
        "{:?}",
        hidden[1]
    );
    folder.caz(&[&insert[..], &["."]].concat()).failed(2, &["choose another"]);
    let answers =
        format!("task,worker,answer\nA,lou,\"{}; {}.\"\nA,mia,None.\n", &plan[0][1], &plan[0][2]);
    folder.write("answers.csv", answers);
    let check = ["canary", "check", "answers.csv", "--plan", "plan.csv", "--format", "csv"];
    let rows = folder.caz(&check).succeeded().csv();
    assert_eq!([&rows[1][1], &rows[1][5], &rows[2][5]], ["lou", "look", "nothing_found"]);
    // What a spreadsheet would run is guarded, as in every table, and found again.
    folder.write("odd.csv", "task,text,more\n=4,Add 1 and 3,'=1\n");
    folder.caz(&["canary", "make", "odd.csv", "--output", "odd-plan.csv"]).succeeded();
    let odd = ["canary", "insert", "odd.csv", "--plan", "odd-plan.csv", "--output", "hidden"];
    folder.caz(&odd).succeeded();
    let row = &read("hidden/odd.csv")[0];
    assert_eq!([&row[0], &row[2]], ["'=4", "'=1"]);
    folder.write("bad.csv", "name,text\na,b\n");
    let bad = ["canary", "insert", "bad.csv", "--plan", "plan.csv", "--output", "hidden"];
    folder.caz(&bad).failed(3, &["a column `task`"]);
}

#[test]
fn reviews_by_own_have_a_column_of_canaries_and_a_word_on_how_own_does() {
    let folder = Folder::new();
    let [reviews, z] = ["venue/reviews.jsonl", "venue/llm-reviews.jsonl"].map(sample);
    let text = std::fs::read_to_string(&reviews).unwrap();
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let papers: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row["paper"].as_str().unwrap()).collect();
    let list: String = papers.iter().map(|paper| format!("{paper}\n")).collect();
    folder.write("papers.csv", format!("paper\n{list}"));
    folder.caz(&["canary", "make", "papers.csv", "--output", "plan.csv"]).succeeded();
    let mut plan = csv::Reader::from_path(folder.path("plan.csv")).unwrap();
    let plan: std::collections::BTreeMap<String, [String; 2]> = plan
        .records()
        .map(|row| row.unwrap())
        .map(|row| (row[0].to_owned(), [row[1].to_owned(), row[2].to_owned()]))
        .collect();
    // The first person repeats the phrases of the first paper.
    let (mut planted, who) = (rows.clone(), rows[0]["reviewer"].as_str().unwrap());
    let [one, two] = &plan[rows[0]["paper"].as_str().unwrap()];
    let words = format!("{} It is {one}, and {two}.", rows[0]["text"].as_str().unwrap());
    planted[0]["text"] = words.into();
    let lines: String = planted.iter().map(|row| format!("{row}\n")).collect();
    folder.write("reviews.jsonl", lines);
    let arguments = ["reviews", "reviews.jsonl", "--z", &z, "--canaries", "plan.csv", "--format"];
    let found = folder.caz(&[&arguments[..], &["csv"]].concat()).succeeded().csv();
    let place = |name: &str| found[0].iter().position(|column| column == name).unwrap();
    assert_eq!(found[1][place("reviewer")], who, "who repeats a phrase stands first");
    assert_eq!(found[1][place("flag")], "look");
    assert_eq!(found[1][place("canaries")], format!("\"{one}\", \"{two}\""));
    assert!(found[2..].iter().all(|row| row[place("canaries")].is_empty()));
    let by_review = folder.caz(&[&arguments[..], &["csv", "--by", "review"]].concat());
    let by_review = by_review.succeeded().csv();
    assert_eq!(by_review[1][0], rows[0]["paper"].as_str().unwrap());
    let json = folder.caz(&[&arguments[..], &["json"]].concat()).succeeded();
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let inputs = json["inputs"].as_array().unwrap();
    assert!(inputs.iter().any(|input| input["path"] == "plan.csv"), "{inputs:?}");
    let table = folder.caz(&[&arguments[..], &["table"]].concat()).succeeded().stdout;
    assert!(
        table.contains("Canaries: 1 of ") && table.contains("How the score own does here"),
        "{table}"
    );
    // Whoever repeats phrases is counted, explained, and first on the page.
    let plain = folder.caz(&["reviews", "reviews.jsonl", "--z", &z]).succeeded().stdout;
    let looked = |text: &str| text.split(' ').next().unwrap().parse::<usize>().unwrap();
    assert_eq!(looked(&table), looked(&plain) + 1, "{table}");
    assert!(table.contains("phrases hidden in the paper"), "{table}");
    let page = ["table", "--report", "page.html"];
    folder.caz(&[&arguments[..], &page].concat()).succeeded();
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("repeats every phrase that was hidden in the paper"));
    let why =
        folder.caz(&[&arguments[..], &["table", "--explain", who]].concat()).succeeded().stdout;
    assert!(why.contains(one) && why.contains("the file went through an LLM"), "{why}");
    // Whoever reports the hidden text has its phrases, too.
    assert!(why.contains("or they saw the hidden text and speak of it"), "{why}");
    assert!(why.contains("who found the hidden text"), "{why}");
    // Whose page has no text has no phrase of the plan.
    let none = ["table", "--report", "none.html", "--report-text", "none"];
    folder.caz(&[&arguments[..], &none].concat()).succeeded();
    let none = std::fs::read_to_string(folder.path("none.html")).unwrap();
    let paper = rows[0]["paper"].as_str().unwrap();
    let said = format!("repeats every phrase that was hidden in the paper ({paper}: 2 of 2)");
    assert!(none.contains(&said), "{none}");
    assert!(!none.contains(one.as_str()) && !none.contains(two.as_str()));
    // A part of the phrases clears nobody, and is said.
    let clear = |row: &&Vec<String>| row[place("flag")] == "clear";
    let other = found.iter().find(clear).unwrap()[place("reviewer")].clone();
    let at = rows.iter().position(|row| row["reviewer"] == other.as_str()).unwrap();
    let [one, _] = &plan[rows[at]["paper"].as_str().unwrap()];
    let mut partly = rows.clone();
    partly[at]["text"] = format!("{} It is {one}.", rows[at]["text"].as_str().unwrap()).into();
    folder.write("reviews.jsonl", partly.iter().map(|row| format!("{row}\n")).collect::<String>());
    let found = folder.caz(&[&arguments[..], &["csv"]].concat()).succeeded().csv();
    let row = found.iter().find(|row| row[place("reviewer")] == other).unwrap();
    assert_eq!(row[place("flag")], "unsure");
    let why = [&arguments[..], &["table", "--explain", &other]].concat();
    let why = folder.caz(&why).succeeded().stdout;
    assert!(
        why.contains("unsure, because some phrases that were hidden stand in their text"),
        "{why}"
    );
    assert!(why.contains(&format!("1 of 2: \"{one}\"")), "{why}");
    let table = folder.caz(&[&arguments[..], &["table"]].concat()).succeeded().stdout;
    assert!(table.contains("Canaries: 0 of ") && table.contains("; 1 more has some."), "{table}");
    folder.write("reviews.jsonl", planted.iter().map(|row| format!("{row}\n")).collect::<String>());
    // So it is by scores that know no own work.
    let projected = [&arguments[..], &["csv", "--score", "projected"]].concat();
    let projected = folder.caz(&projected).succeeded().csv();
    let place = |name: &str| projected[0].iter().position(|column| column == name).unwrap();
    assert_eq!([&projected[1][place("reviewer")], &projected[1][place("flag")]], [who, "look"]);
}

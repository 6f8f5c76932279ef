//! `caz reviews` around the score: what tasks say themselves, who is one person, rows by review, words of a
//! crowd, the file of people, and what could be found.

use serde_json::{Value, json};

use super::{Folder, Run, sample};

/// The rows of a file of the sample venue.
fn rows(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sample(&format!("venue/{name}"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// The sample venue, each review changed, with its Z.
fn venue(change: impl Fn(&mut Value)) -> Folder {
    let folder = Folder::new();
    let mut reviews = rows("reviews.jsonl");
    reviews.iter_mut().for_each(change);
    folder.write("r.jsonl", lines(&reviews));
    folder.write("z.jsonl", lines(&rows("llm-reviews.jsonl")));
    folder
}

fn run(folder: &Folder, more: &[&str]) -> Run {
    folder.caz(&[&["reviews", "r.jsonl", "--z", "z.jsonl"], more].concat())
}

fn json_of(folder: &Folder, more: &[&str]) -> Value {
    let run = run(folder, &[more, &["--format", "json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap()
}

/// The message of a warning, if there is one of this code.
fn warning(value: &Value, code: &str) -> Option<String> {
    let warnings = value["warnings"].as_array().unwrap();
    let found = warnings.iter().find(|warning| warning["code"] == code)?;
    Some(found["message"].as_str().unwrap().to_owned())
}

/// A text for each of the twelve papers.
fn tasks() -> Vec<Value> {
    let task = |number: usize| {
        let text = format!("We present method number {number} for things that nobody has solved.");
        json!({ "paper": format!("P{number:02}"), "text": text })
    };
    (1..=12).map(task).collect()
}

#[test]
fn the_answer_comes_first_and_stands_in_json() {
    let folder = venue(|_| {});
    let shown = run(&folder, &[]).succeeded().stdout;
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("4 of 28 reviewers to look at, "), "{first}");
    assert!(
        first.contains(" clear") && first.ends_with("did not hand in their own work."),
        "{first}"
    );
    assert!(shown.contains("28 reviewers, 60 reviews of 12 papers; 24 LLM reviews from 2 sources"));
    let header = shown.lines().find(|line| line.contains("reads_as")).unwrap();
    let columns: Vec<&str> = header.split_whitespace().collect();
    let expected = ["reviewer", "flag", "reads_as", "flagged", "share", "p_own", "evidence"];
    assert_eq!(columns, expected);
    let value = json_of(&folder, &[]);
    let summary = &value["summary"];
    assert_eq!((&summary["look"], &summary["reviewers"]), (&json!(4), &json!(28)));
    assert_eq!(summary["headline"], first);
    let of_flags =
        ["look", "unsure", "clear", "not_judged"].map(|flag| summary[flag].as_u64().unwrap());
    assert_eq!(of_flags.iter().sum::<u64>(), 28);
    assert!(summary["not_own_work"]["low"].as_f64() <= summary["not_own_work"]["share"].as_f64());
    assert!(!summary["planted"]["by_class"].as_array().unwrap().is_empty());
    assert!(summary["unsure_because_unseen"].is_array());
}

#[test]
fn the_file_says_whether_they_are_reviewers_or_workers() {
    let folder = venue(|row| {
        *row = json!({ "task": row["paper"], "worker": row["reviewer"], "answer": row["text"] });
    });
    let shown = run(&folder, &[]).succeeded().stdout;
    assert!(shown.starts_with("4 of 28 workers to look at"), "{shown}");
    assert!(shown.contains("28 workers, 60 answers of 12 tasks; 24 LLM answers"), "{shown}");
    assert!(shown.lines().any(|line| line.trim_start().starts_with("worker ")), "{shown}");
    assert!(!shown.contains("reviewers") && !shown.contains("papers"), "{shown}");
    let explained = run(&folder, &["--explain", "finn"]).succeeded().stdout;
    assert!(explained.starts_with("Worker finn: look; "), "{explained}");
    assert!(explained.contains("reads as a copy of the LLM's answer"), "{explained}");
    for word in ["papers'", "LLM review", "LLM's review", "other paper"] {
        assert!(!explained.contains(word), "{word} in {explained}");
    }
    run(&folder, &["--report", "page.html"]).succeeded();
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("<title>What workers add beyond the LLM"), "{}", &page[..2000]);
    assert!(page.contains("reads as an answer of another task"));
    let (names, rest) = page.split_once("\"noun\":\"worker\"").expect("what people are called");
    assert!(names.contains("\"counted\":\"tasks\"") || rest.contains("\"counted\":\"tasks\""));
    // What is wrong with a file, too.
    let crowd = std::fs::read_to_string(folder.path("r.jsonl")).unwrap();
    folder.write("r.jsonl", format!("{crowd}{}\n", crowd.lines().next().unwrap()));
    run(&folder, &[]).failed(3, &["r.jsonl:61: worker `", "has a second answer of `P"]);
    // And what is odd about one; names stay as they are.
    let short = json!({ "task": "P99 review", "worker": "Zoë", "answer": "Too short." });
    folder.write("r.jsonl", format!("{crowd}{short}\n"));
    let of_none =
        json!({ "paper": "old papers", "source": "gpt", "text": "It says this and that." });
    let z = std::fs::read_to_string(folder.path("z.jsonl")).unwrap();
    folder.write("more.jsonl", format!("{z}{of_none}\n"));
    let odd = folder.caz(&["reviews", "r.jsonl", "--z", "more.jsonl"]).succeeded().stdout;
    for said in [
        "1 Z answer is of a task that nobody answered: old papers.",
        "1 task has a single answer, which no peer can support: P99 review.",
        "1 of 13 tasks has no Z; 0 pairs of their answers are left out of the scores that need it: P99 review.",
    ] {
        assert!(odd.contains(said), "no `{said}` in: {odd}");
    }
    folder.write("r.jsonl", crowd);
    // Columns of files are the same for all.
    let columns = run(&folder, &["--format", "csv"]).succeeded().csv()[0].clone();
    assert_eq!(columns[..2], ["reviewer", "score_name"]);
}

#[test]
fn texts_of_tasks_are_read_and_those_without_are_counted() {
    let folder = venue(|_| {});
    let mut all = tasks();
    all[0]["text"] = json!(" ");
    all.remove(5);
    all.push(json!({ "paper": "P99", "text": "nobody reviewed this one" }));
    folder.write("t.jsonl", lines(&all));
    let value = json_of(&folder, &["--tasks", "t.jsonl"]);
    let said = |code| warning(&value, code).unwrap_or_else(|| panic!("no {code}"));
    assert!(said("task_texts").starts_with("what 10 of 12 papers say themselves (`t.jsonl`)"));
    assert_eq!(
        said("tasks_without_text"),
        "2 of 12 papers have no task text and are used without: P01, P06"
    );
    assert_eq!(said("tasks_unknown"), "1 task texts are of papers that nobody wrote about: P99");
    let inputs: Vec<&Value> =
        value["inputs"].as_array().unwrap().iter().map(|input| &input["path"]).collect();
    assert_eq!(inputs, ["r.jsonl", "z.jsonl", "t.jsonl"]);
    // Without a column called text, what holds words is the text; `-` is standard input once.
    let table: String = (1..=12).map(|n| format!("P{n:02},Title of number {n},7\n")).collect();
    folder.write("t.csv", format!("item,title,pages\n{table}"));
    let value = json_of(&folder, &["--tasks", "t.csv"]);
    assert!(warning(&value, "task_texts").unwrap().starts_with("what 12 of 12 papers say"));
}

#[test]
fn tasks_of_no_use_are_refused_with_what_is_wrong() {
    let folder = venue(|_| {});
    let renamed = lines(&tasks()).replace("\"P", "\"paper-");
    folder.write("t.jsonl", renamed);
    let parts = ["none of 12 tasks is one", "like `paper-01` here", "like `P01` in the reviews"];
    run(&folder, &["--tasks", "t.jsonl"]).failed(3, &parts);
    folder.write("t.csv", "what,text\na,b\n");
    run(&folder, &["--tasks", "t.csv"]).failed(3, &["the header lacks `paper`"]);
    run(&folder, &["--tasks", "none.csv"]).failed(4, &["none.csv"]);
    let vectors = Folder::new();
    vectors.write("r.csv", "paper,reviewer,vector\np,a,1 2\np,b,2 1\nq,a,1 1\nq,b,0 1\n");
    vectors.write("z.csv", "paper,vector\np,0 3\nq,1 3\n");
    vectors.write("t.csv", "paper,text\np,some text\n");
    let command = ["reviews", "r.csv", "--z", "z.csv", "--tasks", "t.csv"];
    vectors.caz(&command).failed(3, &["the reviews are vectors and the tasks texts"]);
    vectors.write("texts.csv", "paper,reviewer,text\np,a,one text\np,b,another text\n");
    vectors.write("zt.csv", "paper,text\np,a text of an LLM\n");
    vectors.write("tv.csv", "paper,vector\np,1 2\n");
    let command_of_texts = ["reviews", "texts.csv", "--z", "zt.csv", "--tasks", "tv.csv"];
    vectors.caz(&command_of_texts).failed(3, &["the reviews are texts and the tasks vectors"]);
    vectors.caz(&["reviews", "r.csv", "--z", "zt.csv"]).failed(2, &["have no text"]);
    vectors.write("t.csv", "paper,vector\np,1 2 3\n");
    vectors.caz(&command).failed(3, &["t.csv:2: column `vector`: has 3 numbers"]);
}

#[test]
fn the_text_of_a_task_may_stand_beside_every_review() {
    let about = |row: &Value| format!("We present {} which is new.", row["paper"]);
    let folder = venue(|row| row["about"] = json!(about(row)));
    let value = json_of(&folder, &["--column", "task_text=about"]);
    let said = warning(&value, "task_texts").unwrap();
    assert!(said.starts_with("what 12 of 12 papers say themselves (column `task_text`"), "{said}");
    // A column of that name needs no word; one of the reviews themselves is none.
    let folder = venue(|row| row["abstract"] = json!(about(row)));
    let said = warning(&json_of(&folder, &[]), "task_texts").unwrap();
    assert!(said.contains("(column `abstract` of `r.jsonl`)"), "{said}");
    run(&folder, &["--column", "task_text=text", "--column", "text=text"])
        .failed(3, &["differs between the reviews of one paper"]);
}

#[test]
fn abstracts_of_an_export_are_used_and_said() {
    let folder = venue(|_| {});
    let notes: Vec<Value> = rows("reviews.jsonl")
        .iter()
        .map(|row| {
            json!({
                "invitations": ["V/Submission/-/Official_Review"], "forum": row["paper"],
                "signatures": [row["reviewer"]], "content": { "review": { "value": row["text"] } },
            })
        })
        .chain(tasks().iter().take(9).map(|task| {
            json!({
                "invitations": ["V/-/Submission"], "forum": task["paper"], "signatures": ["V"],
                "content": { "abstract": { "value": task["text"] } },
            })
        }))
        .collect();
    folder.write("r.jsonl", lines(&notes));
    let value = json_of(&folder, &[]);
    let said = warning(&value, "task_texts").unwrap();
    assert!(said.starts_with("what 9 of 12 papers say themselves (`r.jsonl`)"), "{said}");
    assert!(warning(&value, "tasks_without_text").unwrap().contains("P10, P11, P12"));

    let reviews: Vec<Value> = rows("reviews.jsonl")
        .iter()
        .enumerate()
        .map(|(number, row)| {
            json!({
                "object": "review", "pid": row["paper"], "rid": number,
                "reviewer_email": row["reviewer"], "Comments": row["text"],
            })
        })
        .chain(tasks().iter().map(|task| {
            json!({ "object": "paper", "pid": task["paper"], "title": "t", "abstract": task["text"] })
        }))
        .collect();
    folder.write("r.jsonl", lines(&reviews));
    let said = warning(&json_of(&folder, &[]), "task_texts").unwrap();
    assert!(said.starts_with("what 12 of 12 papers say"), "{said}");
}

/// A cell of CSV.
fn cell(value: &Value) -> String {
    format!("\"{}\"", value.as_str().unwrap().replace('"', "\"\""))
}

#[test]
fn inputs_of_a_batch_are_the_texts_of_its_tasks() {
    let folder = venue(|_| {});
    let row = |(number, row): (usize, &Value)| {
        let about = format!("We present {} for things that nobody has solved.", row["paper"]);
        let [paper, worker, text] = ["paper", "reviewer", "text"].map(|key| cell(&row[key]));
        format!("{paper},A{number},{worker},Approved,{},page 7,{text}\n", cell(&json!(about)))
    };
    let rows: String = rows("reviews.jsonl").iter().enumerate().map(row).collect();
    let header =
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.question,Input.url,Answer.text";
    folder.write("batch.csv", format!("{header}\n{rows}"));
    let json_of = |more: &[&str]| {
        let run = folder
            .caz(&[&["reviews", "batch.csv", "--z", "z.jsonl", "--format", "json"], more].concat());
        serde_json::from_str::<Value>(&run.succeeded().stdout).unwrap()
    };
    for more in [&[][..], &["--column", "task_text=Input.question"]] {
        let value = json_of(more);
        let said = warning(&value, "task_texts").unwrap();
        assert!(said.starts_with("what 12 of 12 tasks say themselves (`batch.csv`)"), "{said}");
        assert_eq!(value["summary"]["reviewers"], 28);
    }
    // An input of two words is no text; one that there is not is an error.
    let value = json_of(&["--column", "task_text=Input.url"]);
    assert_eq!(warning(&value, "task_texts"), None, "{value}");
    let wrong = ["reviews", "batch.csv", "--z", "z.jsonl", "--column", "task_text=Input.abstract"];
    folder.caz(&wrong).failed(3, &["no task has an input `Input.abstract`", "question, url"]);
}

#[test]
fn several_questions_of_one_survey_are_one_verdict_a_person() {
    let folder = venue(|_| {});
    let reviews = rows("reviews.jsonl");
    let of = |key: &str| -> std::collections::BTreeSet<String> {
        reviews.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
    };
    let (people, papers) = (of("reviewer"), of("paper"));
    let text = |person: &String, paper: &String| {
        let found = reviews
            .iter()
            .find(|r| r["reviewer"] == person.as_str() && r["paper"] == paper.as_str());
        found.map_or(String::new(), |row| cell(&row["text"]))
    };
    let row = |person: &String| {
        let cells: Vec<String> = papers.iter().map(|paper| text(person, paper)).collect();
        format!("2031/01/01 9:00:00 AM,{person},{}\n", cells.join(","))
    };
    let header: Vec<&str> = papers.iter().map(String::as_str).collect();
    let rows: String = people.iter().map(row).collect();
    folder.write("form.csv", format!("Timestamp,Email Address,{}\n{rows}", header.join(",")));
    let command = ["reviews", "form.csv", "--z", "z.jsonl", "--score", "own", "--format", "json"];
    let value: Value = serde_json::from_str(&folder.caz(&command).succeeded().stdout).unwrap();
    assert_eq!(value["results"].as_array().unwrap().len(), 28);
    assert_eq!(value["inputs"][0]["rows"], 60);
    let finn = value["results"].as_array().unwrap().iter().find(|row| row["reviewer"] == "finn");
    assert_eq!(finn.unwrap()["n_papers"], 3);
}

#[test]
fn a_few_names_on_every_paper_are_other_people_on_each() {
    let folder = venue(|_| {});
    let mut reviews = rows("reviews.jsonl");
    let mut on_paper = std::collections::BTreeMap::<String, usize>::new();
    for row in &mut reviews {
        let number = on_paper.entry(row["paper"].to_string()).or_default();
        *number += 1;
        row["reviewer"] = json!(format!("Reviewer_{number}"));
    }
    folder.write("r.jsonl", lines(&reviews));
    let value = json_of(&folder, &["--score", "own"]);
    assert_eq!(value["results"].as_array().unwrap().len(), 60);
    let names: Vec<&str> = value["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["reviewer"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"P01/Reviewer_1") && names.contains(&"P12/Reviewer_5"), "{names:?}");
    let said = warning(&value, "names_per_paper").unwrap();
    assert!(said.contains("the 5 names are taken to be given anew on every paper"), "{said}");
    assert!(said.ends_with("--names global if a name is one person"), "{said}");
    let global = json_of(&folder, &["--score", "own", "--names", "global"]);
    assert_eq!(global["results"].as_array().unwrap().len(), 5);
    assert_eq!(warning(&global, "names_per_paper"), None);
    // Names of people are people, unless it is said that they are not.
    let folder = venue(|_| {});
    assert_eq!(json_of(&folder, &[])["results"].as_array().unwrap().len(), 28);
    let apart = json_of(&folder, &["--names", "per-paper"]);
    assert_eq!(apart["results"].as_array().unwrap().len(), 60);
}

#[test]
fn a_name_twice_on_a_paper_is_an_error_or_two_people() {
    let folder = venue(|_| {});
    let mut reviews = rows("reviews.jsonl");
    let mut second = reviews[0].clone();
    second["text"] = json!(reviews[1]["text"].as_str().unwrap().replace(' ', "  "));
    reviews.push(second);
    folder.write("r.jsonl", lines(&reviews));
    run(&folder, &[]).failed(3, &["has a second review of", "--names per-paper if"]);
    assert_eq!(
        json_of(&folder, &["--duplicates", "first"])["results"].as_array().unwrap().len(),
        28
    );
    let apart = run(&folder, &["--names", "per-paper", "--format", "csv"]).succeeded();
    assert!(apart.stdout.contains(" (2),"), "{}", apart.stdout);
}

#[test]
fn rows_by_review_say_what_each_is_closest_to() {
    let folder = venue(|_| {});
    let table = run(&folder, &["--by", "review", "--format", "csv"]).succeeded().csv();
    let columns = [
        "paper",
        "reviewer",
        "flag",
        "reads_as",
        "p_own",
        "copied",
        "closest",
        "closest_kind",
        "closeness",
        "reason",
    ];
    assert_eq!(table[0], columns);
    assert_eq!(table.len(), 61);
    // finn copies Z word for word: his three come first.
    let urgency = |row: &Vec<String>| {
        ["look", "unsure", "clear", "not_judged"].iter().position(|flag| *flag == row[2]).unwrap()
    };
    assert!(table[1..].is_sorted_by_key(urgency), "by what to do");
    let finn: Vec<&Vec<String>> = table[1..].iter().filter(|row| row[1] == "finn").collect();
    assert_eq!(finn.len(), 3);
    for row in finn {
        assert_eq!(row[7], "z", "{row:?}");
        assert_ne!(row[2], "clear", "{row:?}");
    }
    let few = Folder::new();
    let small = [sample("reviews.jsonl"), sample("llm-reviews.jsonl")];
    let command = ["reviews", &small[0], "--z", &small[1], "--by", "review"];
    few.caz(&command).succeeded();
    few.caz(&[&command[..], &["--score", "projected"]].concat())
        .failed(2, &["rows by review are of the score own"]);
}

#[test]
fn a_dry_run_says_what_could_be_found_and_flags_nobody() {
    let folder = venue(|_| {});
    let table = run(&folder, &["--dry-run", "--format", "csv"]).succeeded().csv();
    assert_eq!(table[0], ["kind", "found_on_one", "found_on_all", "n_tried"]);
    let kinds: Vec<&str> = table[1..].iter().map(|row| row[0].as_str()).collect();
    assert!(kinds.contains(&"copy") && kinds.contains(&"llm"), "{kinds:?}");
    let shown = run(&folder, &["--dry-run"]).succeeded().stdout;
    assert!(
        shown.starts_with(
            "An LLM's text that you hold is always found word for word, without the model; of others, put \
             in people's places"
        ),
        "{shown}"
    );
    assert!(shown.contains("Copies word for word are found without it."), "{shown}");
    assert!(!shown.contains("finn") && !shown.contains("gwen"), "{shown}");
    let small = [sample("reviews.jsonl"), sample("llm-reviews.jsonl")];
    let command = ["reviews", &small[0], "--z", &small[1], "--score", "projected", "--dry-run"];
    Folder::new().caz(&command).failed(2, &["known of the score own alone"]);
}

#[test]
fn one_row_a_person_says_whom_to_pay_and_how_fast_they_were() {
    let folder = venue(|row| {
        let seconds = if row["reviewer"] == "finn" { 9 } else { 100 };
        row["lead_time"] = json!(seconds);
    });
    let table = run(&folder, &["--workers", "pay.csv"]).succeeded();
    assert!(table.stdout.starts_with("4 of 28"), "the answer is shown as ever");
    let text = std::fs::read_to_string(folder.path("pay.csv")).unwrap();
    let mut rows = text.lines();
    assert_eq!(
        rows.next().unwrap(),
        "worker,flag,reads_as,quality,quality_low,quality_high,copied,copied_low,copied_high,n_tasks,\
         median_seconds,share_fast"
    );
    let finn: Vec<&str> =
        rows.clone().find(|row| row.starts_with("finn,")).unwrap().split(',').collect();
    assert_eq!((finn[1], finn[2], finn[9]), ("look", "copy", "3"));
    // 9 is less than a tenth of the median, 100.
    assert_eq!(finn[10..], ["9.0", "1.0"].map(|cell| cell.trim_end_matches(".0")));
    let ada: Vec<&str> =
        rows.clone().find(|row| row.starts_with("ada,")).unwrap().split(',').collect();
    assert!(ada[3].parse::<f64>().unwrap() > finn[3].parse::<f64>().unwrap());
    assert_eq!(ada[10..], ["100", "0"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("pay.csv")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it names people");
    }
    let untimed = venue(|_| {});
    run(&untimed, &["--workers", "pay.json"]).succeeded();
    let value: Value =
        serde_json::from_str(&std::fs::read_to_string(untimed.path("pay.json")).unwrap()).unwrap();
    assert_eq!(value["results"][0]["median_seconds"], Value::Null);
    run(&untimed, &["--workers", "pay.xyz"]).failed(2, &["cannot tell the format of `pay.xyz`"]);
    run(&untimed, &["--workers", "r.jsonl"]).failed(2, &["would write over `r.jsonl`"]);
}

#[test]
fn of_texts_too_short_to_judge_there_is_an_order_and_no_list_of_not_judged() {
    let folder = venue(|row| {
        let words: Vec<&str> = row["text"].as_str().unwrap().split_whitespace().take(12).collect();
        row["text"] = json!(words.join(" "));
    });
    let shown = run(&folder, &[]).succeeded().stdout;
    assert!(shown.contains("Score combined, since 60 of 60 reviews have fewer than"), "{shown}");
    assert!(shown.starts_with("28 reviewers in the order of combined, worst first"), "{shown}");
    assert!(!shown.contains("not_judged"), "{shown}");
    assert_eq!(json_of(&folder, &[])["settings"]["score"], json!(["combined"]));
}

#[test]
fn one_person_or_one_paper_is_said() {
    let folder = venue(|row| row["reviewer"] = json!("me"));
    let value = json_of(&folder, &["--duplicates", "first"]);
    let said = warning(&value, "one_person").unwrap();
    assert!(said.starts_with("all 12 reviews are by one reviewer, `me`"), "{said}");
    let folder = venue(|row| row["paper"] = json!("P01"));
    let value = json_of(&folder, &["--duplicates", "first"]);
    let said = warning(&value, "one_paper").unwrap();
    assert!(said.starts_with("all 28 reviews are of one paper, `P01`"), "{said}");
}

#[test]
fn explain_begins_with_the_verdict_and_shows_what_stands_word_for_word() {
    let folder = venue(|_| {});
    let shown = run(&folder, &["--explain", "finn"]).succeeded().stdout;
    assert!(
        shown.starts_with("Reviewer finn: look; reads as a copy of the LLM's review on "),
        "{shown}"
    );
    let clear = run(&folder, &["--explain", "ada"]).succeeded().stdout;
    assert!(clear.starts_with("Reviewer ada: "), "{clear}");
}

//! Files of other systems, given to the commands as they are.

use serde_json::{Value, json};

use super::{Folder, simulate};

const REVIEWS: [(&str, &str, &str); 6] = [
    ("p1", "ann", "The proof of the second lemma is wrong, and the tables are hard to read."),
    ("p1", "ben", "The second lemma is not proved; I like the experiments on small graphs."),
    ("p1", "cleo", "This paper is well written and presents a novel and interesting approach."),
    ("p2", "ann", "Speakers were not asked for consent, and the corpus is far too small."),
    ("p2", "ben", "A corpus of nine speakers is small; who gave consent to the recordings?"),
    ("p2", "cleo", "The paper presents an interesting corpus and is well written overall."),
];

const Z: &str = "paper,text\n\
    p1,This paper is well written. The approach is novel and interesting.\n\
    p2,An interesting corpus. The paper is well written.\n";

/// Notes as `OpenReview` has them, with feedback by an LLM among them.
fn notes() -> Value {
    let note = |paper: &str, kind: &str, who: &str, field: &str, text: &str| {
        json!({"id": format!("{paper}{who}"), "forum": paper, "signatures": [who],
            "invitations": [format!("Venue/Submission1/-/{kind}")],
            "content": {field: {"value": text}, "rating": {"value": 3}}})
    };
    let mut notes: Vec<Value> = REVIEWS
        .iter()
        .map(|(paper, who, text)| note(paper, "Official_Review", who, "review", text))
        .collect();
    let who = "Venue/Automated_Administrator";
    notes.push(note("p1", "LLM_PDF_Feedback", who, "feedback", "Say what is new about it."));
    json!(notes)
}

fn own() -> String {
    let rows = REVIEWS.iter().map(|(paper, who, text)| format!("{paper},{who},\"{text}\"\n"));
    format!("paper,reviewer,text\n{}", rows.collect::<String>())
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let run = folder.caz(&[arguments, &["--format", "json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn an_export_is_read_as_it_is_and_the_result_says_how() {
    let folder = Folder::new();
    folder.write("notes.json", notes().to_string());
    folder.write("z.csv", Z);
    let result = json(&folder, &["reviews", "notes.json", "--z", "z.csv"]);
    let warning = &result["warnings"][0];
    assert_eq!((&warning["code"], &warning["count"]), (&json!("imported"), &json!(7)));
    let message = warning["message"].as_str().unwrap();
    assert!(message.contains("read as openreview: 6 of 7 rows are by people, 1 by an LLM"));
    assert_eq!(result["settings"]["imported"][0]["text_fields"], json!(["review"]));
    // The LLM's is Z, as one more file, and no reviewer.
    let inputs: Vec<(&str, u64)> = result["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| (input["path"].as_str().unwrap(), input["rows"].as_u64().unwrap()))
        .collect();
    assert_eq!(inputs, [("notes.json", 6), ("z.csv", 2), ("notes.json", 1)]);
    let rows = result["results"].as_array().unwrap();
    let mut people: Vec<&str> = rows.iter().map(|row| row["reviewer"].as_str().unwrap()).collect();
    people.sort_unstable();
    people.dedup();
    assert_eq!(people, ["ann", "ben", "cleo"]);
    // Without it, the scores are those of a file of caz's own.
    let mut people_only = notes();
    people_only.as_array_mut().unwrap().pop();
    folder.write("people.json", people_only.to_string());
    folder.write("own.csv", own());
    let scores = |file: &str| json(&folder, &["reviews", file, "--z", "z.csv"])["results"].clone();
    assert_eq!(scores("people.json"), scores("own.csv"));
    assert_ne!(json!(rows), scores("own.csv"));
}

#[test]
fn flags_say_how_a_table_is_read_and_z_needs_no_such_columns() {
    let folder = Folder::new();
    folder.write("own.csv", own());
    folder.write("z.csv", Z);
    let rows = REVIEWS.iter().map(|(paper, who, text)| {
        let (first, second) = text.split_at(text.find(' ').unwrap());
        format!("{paper}\t{who}\t{first}\t{second}\n")
    });
    let table = format!("No\tWho\tA\tB\n{}", rows.collect::<String>());
    folder.write("table.csv", table);
    let flags = ["--column", "paper=No", "--column", "reviewer=who", "--text-columns", "A,B"];
    let result = json(&folder, &[&["reviews", "table.csv", "--z", "z.csv"], &flags[..]].concat());
    assert_eq!(result["settings"]["columns"], json!({"paper": "No", "reviewer": "who"}));
    assert_eq!(result["settings"]["text_columns"], json!(["A", "B"]));
    assert_eq!(result["inputs"][1]["rows"], 2);
    folder
        .caz(&["reviews", "table.csv", "--z", "z.csv"])
        .failed(3, &["no column is `paper`", "no column is `reviewer`", "--column KEY=NAME"]);
    // What is wrong with a row is said with its line in the file.
    folder.write("twice.csv", "No;Who;Text\n1;ann;x\n\n1;ann;y\n");
    let flags = ["--column", "paper=No", "--column", "reviewer=Who"];
    folder
        .caz(&[&["reviews", "twice.csv", "--z", "z.csv"], &flags[..]].concat())
        .failed(3, &["twice.csv:4: reviewer `ann` has a second review of `1`", "line 2"]);
}

#[test]
fn z_need_not_be_given_where_the_export_holds_some() {
    let folder = Folder::new();
    folder.write("notes.json", notes().to_string());
    let result = json(&folder, &["reviews", "notes.json"]);
    assert_eq!(result["inputs"].as_array().unwrap().len(), 2);
    assert_eq!(result["inputs"][1]["rows"], 1);
    // The same as with that review in a file of its own.
    folder.write("z.csv", "paper,source,text\np1,LLM_PDF_Feedback,Say what is new about it.\n");
    folder.write("own.csv", own());
    let own = json(&folder, &["reviews", "own.csv", "--z", "z.csv"]);
    assert_eq!(result["results"], own["results"]);
    // A file without one says what to add.
    folder.caz(&["reviews", "own.csv"]).failed(2, &["also not in `own.csv`", "add --z FILE"]);
    folder.write("labels.csv", "task,worker,label\nq,a,x\nq,b,x\n");
    folder.caz(&["assumptions", "labels.csv"]).failed(2, &["no label by an LLM", "add --z FILE"]);
}

#[test]
fn columns_that_nothing_takes_are_refused_with_those_that_count() {
    let folder = Folder::new();
    folder.write("own.csv", own());
    folder.write("z.csv", Z);
    folder
        .caz(&["reviews", "own.csv", "--z", "z.csv", "--column", "worker=reviewer"])
        .failed(2, &["takes `worker`", "paper, reviewer, text, source, sample"]);
}

#[test]
fn every_command_that_reads_labels_takes_exports() {
    let folder = Folder::new();
    simulate::crowd(&folder);
    let text = std::fs::read_to_string(folder.path("labels.csv")).unwrap();
    let foreign = text.replace(',', ";").replacen("task;worker;label", "Task ID;Rater;Answer", 1);
    folder.write("foreign.txt", foreign);
    for command in [
        &["labels"][..],
        &["assumptions", "--bootstrap", "2"],
        &["experiment", "detection", "--trials", "1", "--crowd", "z-source=gpt"],
    ] {
        let result = |file: &str| {
            let (name, flags) = command.split_at(if command[0] == "experiment" { 2 } else { 1 });
            json(&folder, &[name, &[file, "--z", "z.csv"], flags].concat())
        };
        let (own, foreign) = (result("labels.csv"), result("foreign.txt"));
        assert_eq!(own["results"], foreign["results"], "{command:?}");
        assert_eq!(foreign["warnings"][0]["code"], "imported", "{command:?}");
        assert!(!own["warnings"].to_string().contains("imported"), "{command:?}");
    }
    let agree = |file: &str| json(&folder, &["agree", file, "--bootstrap", "5"])["results"].clone();
    assert_eq!(agree("labels.csv"), agree("foreign.txt"));
}

#[test]
fn llms_of_an_export_are_labellers_and_gold_is_by_people() {
    let folder = Folder::new();
    let task = |id: u32, ann: &str, llm: &str| {
        let result = |label: &str| json!([{"from_name": "q", "value": {"choices": [label]}}]);
        json!({"id": id, "data": {"text": "x"},
            "annotations": [{"completed_by": "ann", "result": result(ann)}],
            "predictions": [{"model_version": "gpt", "result": result(llm)}]})
    };
    let export = json!([task(1, "yes", "yes"), task(2, "no", "yes"), task(3, "no", "no")]);
    folder.write("export.json", export.to_string());
    let rows =
        json(&folder, &["agree", "export.json", "--gold", "export.json", "--bootstrap", "5"]);
    let accuracy: Vec<(&Value, &Value)> = rows["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["metric"] == "accuracy")
        .map(|row| (&row["source"], &row["value"]))
        .collect();
    assert_eq!(accuracy, [(&json!("gpt"), &json!(2.0 / 3.0))]);
    // Mechanisms that need labels of an LLM have them, with no file of Z.
    let rows = json(&folder, &["labels", "export.json", "--mechanism", "ca_z"]);
    assert_eq!(rows["inputs"][1]["rows"], 3);
    let rows = json(&folder, &["labels", "export.json", "--mechanism", "all"]);
    assert!(rows["settings"]["mechanism"].as_array().unwrap().contains(&json!("ca_z")), "{rows}");
    // Without gold everybody is held against everybody.
    let rows = json(&folder, &["agree", "export.json", "--bootstrap", "5"]);
    assert!(rows["results"].to_string().contains("\"ann\""), "{rows}");
}

#[test]
fn texts_of_an_export_are_embedded() {
    let folder = Folder::new();
    folder.write("notes.json", notes().to_string());
    let run = folder.caz(&["embed", "notes.json", "--vectors", "granularity=text"]).succeeded();
    assert_eq!(run.stdout.lines().count(), 7);
    assert!(run.stdout.starts_with("{\"paper\":\"p1\",\"reviewer\":\"ann\","), "{}", run.stdout);
    assert!(run.stdout.contains("\"source\":\"LLM_PDF_Feedback\",\"vector\":["));
    assert!(run.stderr.contains("read as openreview"), "{}", run.stderr);
    folder.write("a.csv", "Paper ID;Notes on it\n7;a strong paper\n");
    let more = ["--text-columns", "Notes on it", "--vectors", "granularity=text"];
    let run = folder.caz(&[&["embed", "a.csv"], &more[..]].concat()).succeeded();
    assert!(run.stdout.starts_with("{\"paper\":\"7\",\"vector\":["), "{}", run.stdout);
}

#[test]
fn mistakes_in_the_flags_are_found_before_files_are_read() {
    let folder = Folder::new();
    for command in [
        &["reviews", "none", "--z", "none"][..],
        &["labels", "none", "--z", "none"],
        &["agree", "none"],
    ] {
        let with = |more: &[&str]| folder.caz(&[command, more].concat());
        with(&["--from", "excel"]).failed(2, &["there is no format `excel`", "openreview"]);
        with(&["--column", "paper"]).failed(2, &["KEY=NAME"]);
        with(&["--column", "x=y"]).failed(2, &["`x` is no column"]);
        with(&["--column", "task=a", "--column", "task=b"]).failed(2, &["`task` twice"]);
    }
}

#[test]
fn people_behind_anonymous_ids_are_joined_and_without_them_it_is_said() {
    let folder = Folder::new();
    folder.write("z.csv", Z);
    folder.write("own.csv", own());
    let anonymous = |paper: &str, who: &str| format!("Venue/{paper}/Reviewer_{who}");
    let rows = REVIEWS
        .iter()
        .map(|(paper, who, text)| format!("{paper},{},\"{text}\"\n", anonymous(paper, who)));
    folder.write("ids.csv", format!("paper,reviewer,text\n{}", rows.collect::<String>()));
    let groups: Vec<Value> = REVIEWS
        .iter()
        .map(|(paper, who, _)| json!({"id": anonymous(paper, who), "members": [who]}))
        .collect();
    folder.write("groups.json", json!(groups).to_string());
    let pairs = REVIEWS.iter().map(|(paper, who, _)| format!("{};{who}\n", anonymous(paper, who)));
    folder.write("people.csv", format!("Anonymous ID;E-mail\n{}", pairs.collect::<String>()));
    let scores = |file: &str, more: &[&str]| {
        json(&folder, &[&["reviews", file, "--z", "z.csv"], more].concat())
    };
    let own = scores("own.csv", &[]);
    for people in ["groups.json", "people.csv"] {
        let joined = scores("ids.csv", &["--people", people]);
        assert_eq!(joined["results"], own["results"], "{people}");
        assert_eq!(joined["inputs"][2]["path"], people);
        assert_eq!(joined["inputs"][2]["rows"], 6);
    }
    let codes = |result: &Value| {
        let warnings = result["warnings"].as_array().unwrap().clone();
        warnings.iter().map(|w| (w["code"].clone(), w["count"].clone())).collect::<Vec<_>>()
    };
    // In a venue of some size, ids that never repeat are reported.
    let many = (0..20).map(|n| format!("p{},id{n},\"{}\"\n", 1 + n % 2, REVIEWS[n % 6].2));
    folder.write("many.csv", format!("paper,reviewer,text\n{}", many.collect::<String>()));
    let without = scores("many.csv", &["--score", "projected"]);
    assert!(codes(&without).contains(&(json!("one_paper_each"), json!(20))), "{without}");
    assert!(without["warnings"].to_string().contains("--people FILE"), "{without}");
    // Who is in no row of the file keeps the id.
    folder.write("some.csv", format!("id,person\n{},ann\n", anonymous("p1", "ann")));
    let some = scores("ids.csv", &["--people", "some.csv"]);
    assert!(codes(&some).contains(&(json!("people_unknown"), json!(5))), "{some}");
}

#[test]
fn several_texts_of_one_review_are_joined_on_request() {
    let folder = Folder::new();
    folder.write("z.csv", Z);
    let halves = REVIEWS.iter().flat_map(|(paper, who, text)| {
        let middle = text.find(' ').unwrap();
        [&text[..middle], &text[middle..]].map(|part| format!("{paper},{who},\"{part}\"\n"))
    });
    folder.write("halves.csv", format!("paper,reviewer,text\n{}", halves.collect::<String>()));
    folder.write("own.csv", own());
    let run = ["reviews", "halves.csv", "--z", "z.csv", "--embedder", "tfidf"];
    folder.caz(&run).failed(3, &["has a second review", "--duplicates"]);
    let result = json(&folder, &[&run[..], &["--duplicates", "join"]].concat());
    assert_eq!(result["settings"]["duplicates"], "join");
    let joined = &result["warnings"][0];
    assert_eq!((&joined["code"], &joined["count"]), (&json!("reviews_joined"), &json!(6)));
    let whole = json(&folder, &["reviews", "own.csv", "--z", "z.csv", "--embedder", "tfidf"]);
    assert_eq!(result["results"], whole["results"]);
    // Vectors have no joint.
    folder.write("v.csv", "paper,reviewer,vector\np1,a,1 2\np1,a,2 1\n");
    folder.write("zv.csv", "paper,vector\np1,1 2\n");
    folder
        .caz(&["reviews", "v.csv", "--z", "zv.csv", "--duplicates", "join"])
        .failed(3, &["v.csv:3: reviewer `a` has a second review"]);
}

#[test]
fn a_table_without_a_header_or_a_text_is_one_problem_that_shows_little() {
    let folder = Folder::new();
    folder.write("z.csv", Z);
    let secret = "a remark that only the chairs may read ".repeat(4);
    folder.write("headless.csv", format!("p1,ann,{secret}\np2,ben,{secret}\n"));
    let run =
        folder.caz(&["reviews", "headless.csv", "--z", "z.csv"]).failed(3, &["the header lacks"]);
    assert!(!run.stderr.contains(&secret[..61]), "{}", run.stderr);
    folder.write("no-text.csv", "paper,reviewer,reveiw,score\np1,ann,x,1\np1,ben,y,2\n");
    let run = folder.caz(&["reviews", "no-text.csv", "--z", "z.csv"]).failed(
        3,
        &[
            "1 problem",
            "no-text.csv:1: column `text`",
            "did you mean `reveiw`?",
            "--column KEY=NAME",
        ],
    );
    assert!(!run.stderr.contains("no-text.csv:2"), "{}", run.stderr);
    // Names that are texts are cut wherever they are quoted.
    folder.write("mixed.csv", format!("paper,reviewer,text\n{secret},ann,p1\n{secret},ann,p1\n"));
    let run = folder.caz(&["reviews", "mixed.csv", "--z", "z.csv"]).failed(3, &["second review"]);
    assert!(!run.stderr.contains(&secret[..61]), "{}", run.stderr);
}

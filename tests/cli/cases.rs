//! The kinds of files that real exports showed to be read wrong, refused or misunderstood: a made-up twin
//! of each, and, where they are there, the cases themselves in `../shared/cases`.

use std::path::Path;

use serde_json::{Value, json};

use super::Folder;

/// A file of a kind, a command on it, and what must come of it.
struct Case {
    /// As in `../shared/cases`.
    file: &'static str,
    /// A file of the same shape with other contents.
    twin: String,
    /// The command, the file being `FILE`.
    command: &'static [&'static str],
    /// Exit code, labels or texts of the rows on standard output where they are told, and parts of what
    /// is said.
    expected: (i32, Option<&'static [&'static str]>, &'static [&'static str]),
}

const LABELS: &[&str] = &["import", "FILE", "--for", "labels"];
const REVIEWS: &[&str] = &["import", "FILE", "--for", "reviews"];

fn table(header: &str, rows: &[&str]) -> String {
    std::iter::once(&header).chain(rows).map(|row| format!("{row}\n")).collect()
}

/// Results of annotations of Label Studio: a task of each list, an annotation by each of its members.
fn studio(tasks: &[&[Value]]) -> String {
    let tasks: Vec<Value> = (1..)
        .zip(tasks)
        .map(|(id, annotations)| {
            let by = |(user, result): (u32, &Value)| json!({"id": user, "completed_by": user, "result": result});
            let annotations: Vec<Value> = (1..).zip(*annotations).map(by).collect();
            json!({"id": id, "data": {"text": format!("item {id}")}, "annotations": annotations})
        })
        .collect();
    json!(tasks).to_string()
}

fn chosen(control: &str, kind: &str, value: &Value) -> Value {
    json!({"from_name": control, "to_name": "t", "type": kind, "value": value})
}

#[expect(clippy::too_many_lines, reason = "a file of every kind")]
fn cases() -> Vec<Case> {
    let case = |file, twin, command, expected| Case { file, twin, command, expected };
    let turk = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.url,Answer.";
    let topics = |order: [&str; 2]| json!([chosen("topic", "choices", &json!({"choices": order}))]);
    let better = |side: &str| json!([chosen("better", "pairwise", &json!({"selected": side}))]);
    let part = |from: u32, to: u32, what: Value| {
        let mut value = json!({"start": from, "end": to});
        value.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
        value
    };
    let tone = |from, tone: &str| {
        chosen("tone", "choices", &part(from, from + 2, json!({"choices": [tone]})))
    };
    let entity = |from, kind: &str| {
        chosen("ner", "labels", &part(from, from + 2, json!({"text": "x", "labels": [kind]})))
    };
    let mood = |mood: &str| chosen("mood", "choices", &json!({"choices": [mood]}));
    let comment = chosen("comment", "textarea", &json!({"text": ["perhaps"]}));
    let of_item = "what was asked about, ".repeat(8);
    let remarks: Vec<String> = (0..12)
        .map(|row| {
            let words = ["few", "runs", "tables", "weak", "clear", "claims", "late"];
            let remark: Vec<&str> = (0..7).map(|n| words[(row * 3 + n * (row + 1)) % 7]).collect();
            let (task, who) = (row / 3, ["ann", "ben", "cy"][row % 3]);
            format!(
                "{row},{who},2031,{task},1.5,{} {row},\"{of_item} {task}\",2031",
                remark.join(" ")
            )
        })
        .collect();
    let remarks: Vec<&str> = remarks.iter().map(String::as_str).collect();
    vec![
        case(
            "01_mturk_short_rows.csv",
            table(&format!("{turk}mood.label,Approve,Reject"), &[
                "Q0,1,w0,Approved,u,calm", "Q0,2,w1,Approved,u,calm", "Q1,3,w2,Approved,u,angry",
                "Q1,4,w0,Rejected,u,calm", "Q2,5,w1,Submitted,u,angry", "Q2,6,w2,Approved,u,calm",
            ]),
            LABELS,
            (0, Some(&["angry", "angry", "calm", "calm", "calm"]), &["rejected assignments", "6 rows end early"]),
        ),
        case(
            "03_mturk_braces_empty.csv",
            table(&format!("{turk}remark,Approve,Reject"), &[
                "Q0,1,w0,Approved,u,{},,", "Q0,2,w1,Approved,u,{},,", "Q1,3,w2,Approved,u,too dark,,",
                "Q1,4,w0,Approved,u,{},,", "Q2,5,w1,Approved,u,blurred,,", "Q2,6,w2,Approved,u,[],,",
            ]),
            LABELS,
            (0, Some(&["blurred", "too dark"]), &["4 left out: assignments without an answer"]),
        ),
        case(
            "05_qualtrics_same_name.csv",
            table("Finished,ResponseId,Q1,Q7,Q7", &[
                "Finished,Response ID,Is it?,Hours?,Why?",
                "\"{\"\"ImportId\"\":\"\"finished\"\"}\",\"{\"\"ImportId\"\":\"\"_recordId\"\"}\",\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID7\"\"}\",\"{\"\"ImportId\"\":\"\"QID8\"\"}\"",
                "True,R_0,Yes,2,", "True,R_1,No,,no time", "True,R_2,Yes,1,no need", "True,R_3,No,,no time",
            ]),
            LABELS,
            (0, Some(&["1", "2", "No", "No", "Yes", "Yes", "no need", "no time", "no time"]), &[]),
        ),
        case(
            "07_label_studio_textarea.csv",
            table("annotation_id,annotator,created_at,id,lead_time,remark,text,updated_at", &remarks),
            REVIEWS,
            (0, None, &["read from remark"]),
        ),
        case(
            "09_label_studio_order.json",
            studio(&[&[topics(["A", "B"]), topics(["B", "A"])], &[topics(["B", "A"]), topics(["A", "B"])]]),
            LABELS,
            (0, None, &["read from topic"]),
        ),
        case(
            "11_agree_na_between_people.csv",
            table("task,worker,label", &[
                "0,r1,1", "1,r1,1", "2,r1,2", "0,r2,1", "1,r2,1", "2,r2,#N/A", "0,r3,n/a", "1,r3,1", "2,r3,2",
            ]),
            &["agree", "FILE", "--format", "csv"],
            (0, None, &["alpha_nominal,1", "alpha_interval,1", "alpha_ordinal,1"]),
        ),
        case(
            "13_json_rows_as_lists.json",
            "[[\"task\",\"worker\",\"label\"],[1,\"a\",\"x\"],[1,\"b\",\"y\"]]".into(),
            LABELS,
            (3, None, &["list without objects"]),
        ),
        case(
            "15_json_worker_task.json",
            json!({"a1": {"q1": "x", "q2": "y"}, "a2": {"q1": "x"}}).to_string(),
            LABELS,
            (3, None, &["looks like a wide table", "--wide worker"]),
        ),
        case(
            "19_label_studio_regions.json",
            studio(&[&[json!([tone(0, "kind"), tone(4, "rude")]), json!([tone(0, "kind")])]]),
            LABELS,
            (0, Some(&["kind"]), &["1 left out: annotations with an answer for each of several parts"]),
        ),
        case(
            "23_short_rows_reviews.csv",
            table("paper,reviewer,text,confidence,remark", &[
                "1,ann,\"Clear, and short.\",3,late", "1,ben,\"No tables.\"", "2,ann,\"Good, but weak.\",2",
                "2,ben,\"Few runs.\",4,",
            ]),
            REVIEWS,
            (0, None, &["4 of 4 rows", "2 rows end early"]),
        ),
        case(
            "25_label_studio_pairwise.json",
            studio(&[
                &[better("left"), better("left")], &[better("left"), better("right")],
                &[better("left"), better("right")],
            ]),
            LABELS,
            (0, Some(&["left", "left", "left", "left", "right", "right"]), &[]),
        ),
        case(
            "27_ann.jsonl",
            table("{\"id\":0,\"text\":\"a\",\"cats\":[\"A\"],\"entities\":[],\"Comments\":[]}", &[
                "{\"id\":1,\"text\":\"b\",\"cats\":[\"B\"],\"entities\":[],\"Comments\":[]}",
                "{\"id\":2,\"text\":\"c\",\"cats\":[\"A\"],\"entities\":[],\"Comments\":[]}",
            ]),
            LABELS,
            (0, Some(&["A", "A", "B"]), &["read from cats"]),
        ),
        case(
            "29_nan_in_json.jsonl",
            table("{\"paper\":1,\"reviewer\":\"a\",\"text\":\"Clear.\",\"score\":NaN}", &[
                "{\"paper\":1,\"reviewer\":\"b\",\"text\":\"Few runs, says NaN.\",\"score\":-Infinity}",
            ]),
            REVIEWS,
            (0, None, &["2 of 2 rows", "NaN"]),
        ),
        case(
            "31_answer_of_the_item.csv",
            table("question,worker,answer,correct", &[
                "1 + 1?,ann,2,yes", "1 + 1?,ben,2,yes", "2 + 2?,ann,4,yes", "2 + 2?,ben,4,no",
                "3 + 3?,ann,6,yes", "3 + 3?,ben,6,yes",
            ]),
            LABELS,
            (3, None, &["`answer` is the same for everybody", "correct"]),
        ),
        case(
            "33_no_header.txt",
            table("a1\thttp://a.org\tP", &[
                "a2\thttp://a.org\tG", "a3\thttp://a.org\tP", "a1\thttp://b.org\tG", "a2\thttp://b.org\tP",
            ]),
            &["labels", "FILE", "--mechanism", "ca"],
            (3, None, &["seems to have no header"]),
        ),
        case(
            "35_google_form.csv",
            table("Timestamp,Email Address,Is a rude?,Is b rude?", &[
                "2031/01/01 9:00:00 AM,ann@x.org,Yes,No", "2031/01/01 9:00:00 AM,ben@x.org,No,No",
                "2031/01/01 9:00:00 AM,cy@x.org,Yes,Yes",
            ]),
            &["import", "FILE", "--for", "labels", "--wide", "worker"],
            (0, Some(&["No", "No", "No", "Yes", "Yes", "Yes"]), &["Timestamp"]),
        ),
        case("37_empty.jsonl", "\n".into(), LABELS, (3, None, &["empty"])),
        case(
            "39_label_studio_spans.json",
            studio(&[&[json!([entity(0, "PER"), entity(5, "LOC")]), json!([entity(0, "PER")])]]),
            LABELS,
            (3, None, &["spans", "a row for each place"]),
        ),
        case(
            "41_only_label_missing.csv",
            table("Task ID,Worker ID,mood", &["1,ann,calm", "1,ben,angry"]),
            &["labels", "FILE", "--mechanism", "ca"],
            (3, None, &["1 problem", "column `label`"]),
        ),
        case(
            "43_label_studio_escapes.csv",
            table("annotation_id,annotator,created_at,id,lead_time,tag,updated_at", &[
                "0,1,2031,1,0.1,\"{\"\"choices\"\": [\"\"\\u00f6l\"\", \"\"caf\\u00e9\"\"]}\",2031",
                "1,2,2031,1,1.1,\"{\"\"choices\"\": [\"\"öl\"\", \"\"café\"\"]}\",2031",
                "2,1,2031,2,2.1,öl,2031", "3,2,2031,2,3.1,öl,2031",
            ]),
            &["import", "FILE", "--for", "labels", "--column", "label=tag"],
            (0, None, &["read from tag"]),
        ),
        case(
            "45_appen_tainted.csv",
            table("_unit_id,_golden,_id,_tainted,_trust,_worker_id,mood,mood_gold", &[
                "1,false,1,false,0.9,7,calm,", "1,false,2,true,0.2,8,angry,", "2,false,3,false,0.9,7,calm,",
                "2,false,4,true,0.2,8,angry,",
            ]),
            &["import", "FILE", "--for", "labels", "--column", "label=mood"],
            (0, Some(&["calm", "calm"]), &["2 left out: tainted judgments"]),
        ),
        case(
            "47_second_header_id.csv",
            table("id,q1,q2", &["Response ID,Is a rude?,Is b rude?", "1,Yes,No", "2,No,No"]),
            &["import", "FILE", "--for", "labels", "--wide", "worker"],
            (0, Some(&["No", "No", "No", "Yes"]), &["further rows of a header"]),
        ),
        case(
            "49_rounded_task_ids.csv",
            table("tweet_id,worker,label", &[
                "1.2316E+18,ann,x", "1.2316E+18,ben,y", "1.2316E+18,cy,y", "1.25018E+18,ann,x",
                "1.25018E+18,ben,x", "1.25018E+18,dee,y",
            ]),
            &["labels", "FILE", "--mechanism", "ca", "--column", "task=tweet_id", "--format", "json"],
            (0, None, &["1.2316E+18", "1.25018E+18", "rounded"]),
        ),
        case(
            "51_potato_two_questions.json",
            json!({"user_id": "ann", "instance_id_to_label_to_value": {
                "i1": [[{"schema": "mood", "name": "good"}, "1"], [{"schema": "sure", "name": "high"}, "3"]],
                "i2": [[{"schema": "sure", "name": "low"}, "1"], [{"schema": "mood", "name": "bad"}, "2"]]}})
            .to_string(),
            LABELS,
            (3, None, &["mood, sure", "--column"]),
        ),
        case(
            "51_potato_two_questions.json",
            json!({"user_id": "ann", "instance_id_to_label_to_value": {
                "i1": [[{"schema": "mood", "name": "good"}, "1"], [{"schema": "sure", "name": "high"}, "3"]],
                "i2": [[{"schema": "sure", "name": "low"}, "1"], [{"schema": "mood", "name": "bad"}, "2"]]}})
            .to_string(),
            &["import", "FILE", "--for", "labels", "--column", "label=mood"],
            (0, Some(&["bad", "good"]), &[]),
        ),
        case(
            "53_potato_boxes.json",
            json!({"user_id": "ann", "instance_id_to_label_to_value": {
                "i1": [[{"schema": "topic", "name": "B"}, "true"], [{"schema": "topic", "name": "A"}, "true"]],
                "i2": [[{"schema": "topic", "name": "B"}, "true"]]}})
            .to_string(),
            LABELS,
            (0, Some(&["A; B", "B"]), &[]),
        ),
        case(
            "55_potato_classic.tsv",
            table("user\tinstance_id\tdisplayed_text\tmood:::good\tmood:::bad", &[
                "ann\ti1\ta\t1\t", "ann\ti2\tb\t\t2", "ben\ti1\ta\t1\t", "ben\ti2\tb\t1\t",
            ]),
            LABELS,
            (0, Some(&["bad", "good", "good", "good"]), &["read from mood"]),
        ),
        case(
            "57_label_studio_comment_first.json",
            studio(&[
                &[json!([comment, mood("good")]), json!([mood("good")])],
                &[json!([mood("bad")]), json!([mood("good")])],
            ]),
            LABELS,
            (3, None, &["comment, mood", "--column"]),
        ),
    ]
}

#[track_caller]
fn check(folder: &Folder, case: &Case) {
    let command: Vec<&str> =
        case.command.iter().map(|word| if *word == "FILE" { case.file } else { word }).collect();
    let run = folder.caz(&command);
    let (code, rows, says) = case.expected;
    let all = format!("{}: {}\n{}", case.file, run.stdout, run.stderr);
    assert_eq!(run.code, code, "{all}");
    for part in says {
        assert!(run.stdout.contains(part) || run.stderr.contains(part), "no `{part}` in {all}");
    }
    assert!(!run.stderr.contains("own form"), "{all}");
    if let Some(rows) = rows {
        let mut labels: Vec<String> = run
            .stdout
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["label"].as_str().unwrap().into()
            })
            .collect();
        labels.sort();
        assert_eq!(labels, rows, "{all}");
    }
}

#[test]
fn a_file_of_every_kind_is_read_right_or_refused_with_a_way_through() {
    for case in cases() {
        let folder = Folder::new();
        folder.write(case.file, &case.twin);
        check(&folder, &case);
    }
}

#[test]
#[ignore = "needs ../shared/cases"]
fn the_cases_themselves_are_read_right_or_refused_with_a_way_through() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
    let folder = Folder::new();
    for case in cases() {
        folder.write(case.file, std::fs::read(shared.join(case.file)).unwrap());
        check(&folder, &case);
    }
    for file in ["21_ann.jsonl", "21_ben.jsonl", "21_unknown.jsonl"] {
        folder.write(file, std::fs::read(shared.join(file)).unwrap());
    }
    let run =
        folder.caz(&["import", "21_ann.jsonl", "21_ben.jsonl", "21_unknown.jsonl"]).succeeded();
    assert_eq!(run.stdout.lines().count(), 4, "{}", run.stderr);
    assert!(run.stderr.contains("`21_unknown.jsonl` was left out"), "{}", run.stderr);
    // One label of choices in whatever order, and two with one of them alone.
    for (file, labels) in [("09_label_studio_order.json", 1), ("43_label_studio_escapes.csv", 2)] {
        let column: &[&str] = if labels == 2 { &["--column", "label=tag"] } else { &[] };
        let run = folder.caz(&[&["import", file, "--for", "labels"], column].concat()).succeeded();
        assert_eq!(different_labels(&run.stdout), labels, "{}", run.stdout);
    }
    let remarks = folder.caz(&["import", "07_label_studio_textarea.csv", "--for", "reviews"]);
    assert!(!remarks.stdout.contains("abstract of"), "{}", remarks.stdout);
}

fn different_labels(lines: &str) -> usize {
    let labels =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["label"].to_string());
    labels.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn sets_of_choices_are_one_label_in_every_command_and_form() {
    let folder = Folder::new();
    let rows =
        ["t1,a,\"[\"\"x\"\", \"\"y\"\"]\"", "t1,b,\"[\"\"y\"\",\"\"x\"\"]\"", "t2,a,z", "t2,b,Z"];
    folder.write("own.csv", table("task,worker,label", &rows));
    folder.write(
        "own.jsonl",
        table(
            "{\"task\":1,\"worker\":\"a\",\"label\":[\"y\",\"x\"]}",
            &[
                "{\"task\":1,\"worker\":\"b\",\"label\":\"x; y\"}",
                "{\"task\":2,\"worker\":\"a\",\"label\":\"z\"}",
                "{\"task\":2,\"worker\":\"b\",\"label\":\"z\"}",
            ],
        ),
    );
    for file in ["own.csv", "own.jsonl"] {
        let run =
            folder.caz(&["labels", file, "--mechanism", "ca", "--format", "json"]).succeeded();
        assert!(!run.stdout.contains("labels_missing"), "{}", run.stdout);
        let agree = folder.caz(&["agree", file, "--format", "csv", "--bootstrap", "2"]).succeeded();
        let kappa = agree.csv().into_iter().find(|row| row[2] == "alpha_nominal").unwrap();
        if file == "own.jsonl" {
            assert_eq!(kappa[3], "1", "{}", agree.stdout);
        }
    }
}

#[test]
fn files_of_no_use_beside_others_are_left_out_with_a_note() {
    let folder = Folder::new();
    let example = |id: u32, label: &str| {
        format!("{{\"id\":{id},\"text\":\"x\",\"label\":[{label}],\"Comments\":[]}}\n")
    };
    folder.write("ann.jsonl", example(1, "\"A\"") + &example(2, "\"B\""));
    folder.write("unknown.jsonl", example(1, "") + &example(2, ""));
    folder.write("empty.jsonl", "");
    folder.write("notes.pdf", "%PDF-1.7\n");
    let files = ["import", "ann.jsonl", "unknown.jsonl", "empty.jsonl", "notes.pdf"];
    let run = folder.caz(&files).succeeded();
    assert_eq!(run.stdout.lines().count(), 2);
    for file in &files[2..] {
        assert!(run.stderr.contains(&format!("`{file}` was left out")), "{}", run.stderr);
    }
    // Alone, each is an error; and damage always is.
    folder
        .caz(&["import", "unknown.jsonl", "--for", "labels"])
        .failed(3, &["2 examples without an answer"]);
    folder.write(
        "broken.json",
        "[{\"id\":1,\"text\":\"x\",\"label\":[\"A\"],\"Comments\":[]},{\"id\":",
    );
    folder.caz(&["import", "ann.jsonl", "broken.json"]).failed(3, &["breaks off"]);
}

#[test]
fn the_rows_of_one_line_of_json_are_those_inside_and_columns_are_refused() {
    let folder = Folder::new();
    let rows = "[{\"task\":1,\"worker\":\"a\",\"label\":\"x\"},{\"task\":1,\"worker\":\"b\",\"label\":\"y\"}]";
    for (name, text) in [
        ("any.json", format!("{{\"anything\":{rows},\"meta\":{{\"n\":1}}}}")),
        ("nested.jsonl", format!("{{\"details\":{{\"replies\":{rows}}}}}\n")),
        ("many.json", format!("{{\n\"rows of it\":\n{}\n}}", rows.replace("},{", "},\n{"))),
    ] {
        folder.write(name, text);
        let run = folder.caz(&["import", name, "--for", "labels"]).succeeded();
        assert_eq!(run.stdout.lines().count(), 2, "{name}: {}", run.stdout);
        folder.caz(&["labels", name, "--mechanism", "ca"]).succeeded();
    }
    folder.write("columns.json", "{\"task\":[\"1\"],\"worker\":[\"a\"],\"label\":[\"x\"]}");
    folder.write("pandas.json", "{\"task\":{\"0\":1},\"worker\":{\"0\":2},\"label\":{\"0\":3}}");
    folder.write("two.json", "{\"a\":[{\"task\":1}],\"b\":[{\"task\":2}]}");
    for (name, says) in [
        ("columns.json", "every column"),
        ("pandas.json", "every column"),
        ("two.json", "there are a, b"),
    ] {
        for command in
            [&["import", name, "--for", "labels"][..], &["labels", name, "--mechanism", "ca"]]
        {
            folder.caz(command).failed(3, &[says]);
        }
    }
}

#[test]
fn columns_of_one_name_are_told_apart_by_their_place() {
    let folder = Folder::new();
    folder.write("twice.csv", table("task,worker,label,label", &["1,a,x,p", "1,b,y,p"]));
    folder
        .caz(&["labels", "twice.csv", "--mechanism", "ca"])
        .failed(3, &["label (column 3), label (column 4)", "--column KEY=NAME"]);
    let named = ["import", "twice.csv", "--for", "labels", "--column", "label=label (column 4)"];
    let run = folder.caz(&named).succeeded();
    assert_eq!(different_labels(&run.stdout), 1, "{}", run.stdout);
    folder.write("several.csv", table("task,worker,answer,response", &["1,a,x,p", "1,b,y,p"]));
    folder
        .caz(&["labels", "several.csv", "--mechanism", "ca"])
        .failed(3, &["`answer` and `response`", "--column KEY=NAME"]);
}

#[test]
fn columns_of_z_are_named_beside_those_of_the_labels() {
    let folder = Folder::new();
    folder.write("labels.csv", table("tweet,coder,mood", &["1,a,x", "1,b,x", "2,a,y", "2,b,x"]));
    folder.write("z.csv", table("id,gpt", &["1,x", "2,y"]));
    let run = folder
        .caz(&[
            "labels",
            "labels.csv",
            "--z",
            "z.csv",
            "--mechanism",
            "ca_z",
            "--column",
            "task=tweet",
            "--column",
            "worker=coder",
            "--column",
            "label=mood",
            "--z-column",
            "label=gpt",
            "--format",
            "json",
        ])
        .succeeded();
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(result["inputs"][1]["rows"], 2, "{result}");
    assert_eq!(result["settings"]["z_columns"], json!({"label": "gpt"}));
    // One that Z has not is no column to fall back from.
    folder.write("own.csv", table("task,label,alt", &["1,x,y", "2,y,y"]));
    folder
        .write("own-labels.csv", table("task,worker,label", &["1,a,x", "1,b,x", "2,a,y", "2,b,x"]));
    let asked = ["labels", "own-labels.csv", "--z", "own.csv", "--z-column", "label=atl"];
    folder.caz(&asked).failed(3, &["no Z has a column atl; there are alt, label, task"]);
}

#[test]
fn texts_that_say_there_is_none_are_missing_and_counted() {
    let folder = Folder::new();
    let text = "The second lemma is used before it is proved, which makes it hard to follow.";
    folder.write(
        "r.csv",
        format!("paper,reviewer,text\np,a,{text}\np,b,#N/A\np,c,The corpus is small. {text}\n")
            .replace(", which", " which"),
    );
    folder.write("z.csv", "paper,text\np,A machine wrote this about the corpus and the lemma.\n");
    let run = folder
        .caz(&["reviews", "r.csv", "--z", "z.csv", "--score", "projected", "--format", "json"])
        .succeeded();
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("1 text says that there is none") && warnings.contains("#N/A"),
        "{warnings}"
    );
    assert!(!result["results"].to_string().contains("\"b\""), "{result}");
}

/// Labels of `caz import FILE --for labels MORE...`, sorted.
#[track_caller]
fn imported_labels(folder: &Folder, file: &str, more: &[&str]) -> Vec<String> {
    let run = folder.caz(&[&["import", file, "--for", "labels"], more].concat()).succeeded();
    let label = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["label"].as_str().unwrap().to_owned()
    };
    let mut labels: Vec<String> = run.stdout.lines().map(label).collect();
    labels.sort();
    labels
}

#[test]
fn choices_joined_in_the_order_of_clicks_are_one_label() {
    let folder = Folder::new();
    let turk = "HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.topics";
    folder.write(
        "turk.csv",
        table(turk, &["1,1,a,Approved,B|A", "1,2,b,Approved,A|B", "2,3,a,Approved,A"]),
    );
    assert_eq!(imported_labels(&folder, "turk.csv", &[]), ["A", "A; B", "A; B"]);
    folder.write(
        "python.csv",
        table(
            "task,worker,label",
            &["1,a,\"['B', 'A']\"", "1,b,\"['A', 'B']\"", "2,a,['A']", "2,b,A"],
        ),
    );
    folder.write(
        "commas.csv",
        table("task,worker,label", &["1,a,\"B, A\"", "1,b,\"A, B\"", "2,a,A", "2,b,A"]),
    );
    folder.write("ranks.csv", table("task,worker,label", &["1,a,B>A", "1,b,A>B", "2,a,A>B"]));
    for (file, agreed) in [("python.csv", true), ("commas.csv", true), ("ranks.csv", false)] {
        let run = folder.caz(&["agree", file, "--format", "csv", "--bootstrap", "2"]).succeeded();
        let alpha = run.csv().into_iter().find(|row| row[2] == "alpha_nominal").unwrap();
        assert_eq!(alpha[3] == "1", agreed, "{file}: {}", run.stdout);
        let run =
            folder.caz(&["labels", file, "--mechanism", "ca", "--format", "json"]).succeeded();
        assert_eq!(run.stdout.contains("labels_folded"), agreed, "{file}: {}", run.stdout);
    }
}

#[test]
fn a_text_that_is_the_same_for_everybody_belongs_to_the_task() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..8)
        .map(|row| {
            format!(
                "p{0},r{1},what task {0} says,{2}",
                row / 2,
                row % 2,
                "a remark of mine ".repeat(row + 1)
            )
        })
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    for (file, text) in [("own.csv", "text"), ("other.csv", "answer")] {
        folder.write(file, table(&format!("paper,reviewer,{text},remark"), &rows));
        let says = format!("`{text}` is the same for everybody on each of 4 tasks");
        folder.caz(&["import", file, "--for", "reviews"]).failed(3, &[&says, "`text`: remark"]);
        let named = ["import", file, "--for", "reviews", "--column", "text=remark"];
        let run = folder.caz(&named).succeeded();
        assert!(!run.stdout.contains("what task"), "{}", run.stdout);
    }
}

#[test]
fn what_a_header_a_shape_or_a_name_says_is_heeded() {
    let folder = Folder::new();
    folder.write("a.csv", table("task,worker,label", &["1,a,x", "2,a,y"]));
    folder.write("header.csv", table("task,worker,label", &[]));
    let run = folder.caz(&["import", "a.csv", "header.csv", "--for", "labels"]).succeeded();
    assert!(run.stderr.contains("`header.csv` was left out"), "{}", run.stderr);
    let sets = json!({"ann": {"q1": ["y", "x"], "q2": ["x"]}, "ben": {"q1": ["x", "y"]}});
    folder.write("sets.json", sets.to_string());
    folder.caz(&["import", "sets.json", "--for", "labels"]).failed(3, &["wide table"]);
    assert_eq!(imported_labels(&folder, "sets.json", &["--wide", "worker"]), ["x", "x; y", "x; y"]);
    let numbers: Vec<String> = (0..9).map(|n| format!("{},{},{}", n % 3, n / 3, n % 2)).collect();
    folder.write(
        "numbers.csv",
        table(&numbers[0], &numbers[1..].iter().map(String::as_str).collect::<Vec<_>>()),
    );
    folder.caz(&["labels", "numbers.csv", "--mechanism", "ca"]).failed(3, &["no header"]);
    for who in ["Your name", "E-Mail-Adresse", "Token"] {
        let rows = ["2031-01-01 09:00:00,ann,Yes,No", "2031-01-01 09:00:00,ben,No,No"];
        folder.write("form.csv", table(&format!("Zeitstempel,{who},Is a rude?,Is b rude?"), &rows));
        let labels = imported_labels(&folder, "form.csv", &["--wide", "worker"]);
        assert_eq!(labels, ["No", "No", "No", "Yes"], "{who}");
    }
    folder.write("empty.json", "{}");
    folder.caz(&["import", "empty.json", "--for", "labels"]).failed(3, &["empty"]);
    folder.write("ids.csv", table("Item ID,Annotator ID,mood", &["1,ann,calm", "1,ben,angry"]));
    let run = folder.caz(&["labels", "ids.csv", "--mechanism", "ca"]);
    run.failed(3, &["no column is `label`"]);
    let appen = table(
        "_unit_id,_tainted,_worker_id,mood",
        &["1,1,7,calm", "1,f,8,angry", "2,t,7,calm", "2,0,8,calm"],
    );
    folder.write("appen.csv", appen);
    assert_eq!(
        imported_labels(&folder, "appen.csv", &["--column", "label=mood"]),
        ["angry", "calm"]
    );
    folder.write("ann.jsonl", "{\"id\":1,\"data\":\"x\",\"label\":[\"B\",\"A\"]}\n{\"id\":2,\"data\":\"y\",\"label\":[]}\n");
    assert_eq!(imported_labels(&folder, "ann.jsonl", &[]), ["A; B"]);
    folder.write("old.jsonl", "{\"id\":1,\"text\":\"x\",\"meta\":{},\"annotation_approver\":null,\"labels\":[[0,1,\"P\"]]}\n");
    folder
        .caz(&["import", "old.jsonl", "--for", "labels"])
        .failed(3, &["does not say who annotated"]);
    let places = json!({"user_id": "ann", "instance_id_to_label_to_value": {},
        "instance_id_to_span_to_value": {"i1": [[{"schema": "ner", "name": "PER", "start": 0}, "true"]]}});
    folder.write("places.json", places.to_string());
    folder.caz(&["import", "places.json", "--for", "labels"]).failed(3, &["spans"]);
}

#[test]
fn names_that_only_zeros_tell_apart_are_said_between_files_too() {
    let folder = Folder::new();
    folder.write(
        "l.csv",
        table("task,worker,label", &["7,a,x", "7,b,x", "8,a,x", "8,b,y", "1E+20,a,x", "1E+20,b,x"]),
    );
    folder.write("z.csv", table("task,label", &["7.0,x", "8,y"]));
    let run = folder
        .caz(&["labels", "l.csv", "--z", "z.csv", "--mechanism", "ca_z", "--format", "json"])
        .succeeded();
    assert!(run.stdout.contains("`7.0` and `7`"), "{}", run.stdout);
    // Against gold they would be missing without a word: an error.
    let agree = |gold: &str| {
        folder.caz(&["agree", "l.csv", "--gold", gold, "--format", "json", "--bootstrap", "2"])
    };
    agree("z.csv").failed(3, &["`7` in the labels and `7.0` in gold"]);
    folder.write("same.csv", table("task,label", &["7,x", "8,y"]));
    let run = agree("same.csv").succeeded();
    assert!(run.stdout.contains("names_rounded"), "{}", run.stdout);
    let text = "The second lemma is used before it is proved, which makes it hard to follow.";
    folder.write("r.jsonl", format!("{{\"paper\":\"7\",\"reviewer\":\"a\",\"text\":\"{text}\"}}\n{{\"paper\":\"8\",\"reviewer\":\"b\",\"text\":\"Few runs. {text}\"}}\n"));
    folder.write(
        "zr.csv",
        table("paper,text", &["7.0,A machine wrote this.", "8,And a machine wrote that."]),
    );
    let run = folder
        .caz(&["reviews", "r.jsonl", "--z", "zr.csv", "--score", "projected", "--format", "json"])
        .succeeded();
    assert!(run.stdout.contains("`7.0` and `7`"), "{}", run.stdout);
}

#[test]
fn prolific_s_list_says_whose_answers_of_a_survey_count() {
    let folder = Folder::new();
    let id = |name: &str| format!("\"{{\"\"ImportId\"\":\"\"{name}\"\"}}\"");
    let ids = ["finished", "_recordId", "QID1", "PROLIFIC_PID"].map(id).join(",");
    folder.write(
        "survey.csv",
        table(
            "Finished,ResponseId,Q1,PROLIFIC_PID",
            &[
                "Finished,Response ID,Is it?,PROLIFIC_PID",
                &ids,
                "True,R_0,Yes,p0",
                "True,R_1,No,p1",
                "True,R_2,Yes,p2",
                "True,R_3,No,p9",
            ],
        ),
    );
    folder.write(
        "prolific.csv",
        table(
            "Submission id,Participant id,Status,Started at,Time taken",
            &[
                "s0,p0,APPROVED,2031,60",
                "s1,p1,REJECTED,2031,5",
                "s2,p2,RETURNED,2031,",
                "s3,p2,AWAITING REVIEW,2031,70",
            ],
        ),
    );
    for files in [["survey.csv", "prolific.csv"], ["prolific.csv", "survey.csv"]] {
        let run = folder.caz(&["import", files[0], files[1], "--for", "labels"]).succeeded();
        let workers: Vec<String> = run
            .stdout
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["worker"].as_str().unwrap().into()
            })
            .collect();
        assert_eq!(workers, ["p0", "p2", "p9"], "{}", run.stderr);
        assert!(run.stderr.contains("1 row is of people whose submission"), "{}", run.stderr);
        assert!(run.stderr.contains("1 people are not in `prolific.csv`"), "{}", run.stderr);
    }
    folder
        .caz(&["import", "prolific.csv", "--for", "labels"])
        .failed(3, &["no answers", "both files"]);
}

#[test]
fn rows_are_written_as_csv_that_no_spreadsheet_runs_and_caz_reads_back() {
    let folder = Folder::new();
    let texts = ["=HYPERLINK(1)", "- a point of order", "+1-1", "'=x", "-1"];
    let rows: Vec<Value> = (0..)
        .zip(texts)
        .map(|(n, text)| json!({"task": n, "worker": "@ann", "label": text}))
        .collect();
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    folder.write("l.jsonl", lines);
    folder.caz(&["import", "l.jsonl", "--for", "labels", "-o", "l.csv"]).succeeded();
    let csv = std::fs::read_to_string(folder.path("l.csv")).unwrap();
    assert!(csv.starts_with("task,worker,label\n0,'@ann,'=HYPERLINK(1)\n"), "{csv}");
    assert!(csv.ends_with("4,'@ann,-1\n"), "{csv}");
    for file in ["l.csv", "l.jsonl"] {
        let mut labels = imported_labels(&folder, file, &[]);
        labels.sort();
        let mut expected = texts;
        expected.sort_unstable();
        assert_eq!(labels, expected, "{file}");
    }
    let as_csv =
        folder.caz(&["import", "l.jsonl", "--for", "labels", "--format", "csv"]).succeeded();
    assert_eq!(as_csv.stdout, csv);
    folder
        .caz(&["import", "l.jsonl", "--for", "labels", "--format", "markdown"])
        .failed(2, &["JSON lines or CSV"]);
}

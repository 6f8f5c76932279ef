//! The same reviews and labels in the formats of many systems give the same scores, byte for byte.

use serde_json::{Value, json};

use super::Folder;

/// Paper, reviewer and text.
type Row = (String, String, String);

const SENTENCES: [&str; 8] = [
    "The second lemma is used before it is proved, which makes the third section hard to follow.",
    "Nine speakers are too few for what the authors claim, and nobody says who they are; why?",
    "I would like to see the \"small graphs\" of table 2 compared with those of earlier work.",
    "The estimator is biased where tasks are few, as the authors' own figure shows.",
    "Nothing is said about consent, although the recordings were made in people's homes.",
    "The related work stops in 2019; at least two newer systems should be named.",
    "The code does not run as described: a file is missing, and one path is absolute.",
    "What is new about the method, in plain words, should stand in the first paragraph.",
];

fn reviews() -> Vec<Row> {
    let mut rows = Vec::new();
    for paper in 0..4 {
        for reviewer in 0..4 {
            let sentence = |step: usize| SENTENCES[(paper * 3 + reviewer * step + step) % 8];
            let text = format!("{} {} {}", sentence(1), sentence(2), sentence(5));
            rows.push((format!("{}", paper + 10), format!("r{reviewer}@x.org"), text));
        }
    }
    rows
}

fn z() -> String {
    let of = |paper: usize| format!("{},\"{} {}\"\n", paper + 10, SENTENCES[paper], SENTENCES[7]);
    format!(
        "paper,text\n{}",
        (0..4).map(of).collect::<String>().replace("\"small graphs\"", "graphs")
    )
}

/// Task, worker and label.
fn labels() -> Vec<Row> {
    let mut rows = Vec::new();
    for task in 0..12 {
        for worker in 0..5 {
            let yes = (task * 7 + worker * worker * 3 + task * worker) % 5 < 3;
            let label = if yes { "yes" } else { "no" };
            rows.push((format!("Q{task}"), format!("w{worker}"), label.to_owned()));
        }
    }
    rows
}

fn table(delimiter: u8, header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(header).unwrap();
    rows.for_each(|row| writer.write_record(row).unwrap());
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

fn lines(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n")).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Files of reviews: name and content.
fn review_files(rows: &[Row]) -> Vec<(&'static str, Vec<u8>)> {
    let cells = |order: &dyn Fn(&Row) -> Vec<String>| rows.iter().map(order).collect::<Vec<_>>();
    let plain = |(paper, who, text): &Row| vec![paper.clone(), who.clone(), text.clone()];
    let notes: Vec<Value> = rows
        .iter()
        .map(|(paper, who, text)| {
            json!({"forum": paper, "signatures": [who], "content": {"review": {"value": text}},
                "invitations": [format!("V/Submission{paper}/-/Official_Review")]})
        })
        .collect();
    let old_notes: Vec<Value> = rows
        .iter()
        .map(|(paper, who, text)| {
            json!({"forum": paper, "signatures": [who], "content": {"review": text},
                "invitation": format!("V/Paper{paper}/-/Official_Review")})
        })
        .collect();
    let objects: Vec<Value> = rows
        .iter()
        .map(|(paper, who, text)| {
            json!({"object": "review", "pid": paper.parse::<u64>().unwrap(), "rid": 1,
                "reviewer_email": who, "Comments": text})
        })
        .collect();
    let forms: String = rows
        .iter()
        .map(|(paper, who, text)| {
            format!(
                "==+== Begin Review #{paper}A\n==+== Reviewer: A Name <{who}>\n\
                 ==+== Paper #{paper}\n==*== Comments\n\n{text}\n\n==+== End Review\n"
            )
        })
        .collect();
    let cell =
        |text: &str| format!("<Cell><Data ss:Type=\"String\">{}</Data></Cell>", escaped(text));
    let sheet: String = rows
        .iter()
        .map(|(paper, who, text)| format!("<Row>{}{}{}</Row>", cell(paper), cell(who), cell(text)))
        .collect();
    let head = ["Paper ID", "Reviewer Email", "Q1 (Comments)"].map(cell).concat();
    let cmt = format!(
        "<?xml version=\"1.0\"?><Workbook \
         xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\"><Worksheet><Table>\
         <Row>{head}</Row>{sheet}</Table></Worksheet></Workbook>"
    );
    let semicolons = table(b';', &["Paper ID", "E-Mail", "Review"], cells(&plain).into_iter());
    let wide: Vec<u8> =
        [0xfeff].into_iter().chain(semicolons.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let hotcrp = |(paper, who, text): &Row| {
        vec![paper.clone(), "T".into(), format!("{paper}A"), "N".into(), who.clone(), text.clone()]
    };
    let batch = |(paper, who, text): &Row| {
        let (paper, who, text) = (paper.clone(), who.clone(), text.clone());
        vec![paper.clone(), format!("{paper}A"), who, "R1".into(), "1".into(), "1".into(), text]
    };
    let own = ["paper", "reviewer", "text"];
    vec![
        ("own.csv", table(b',', &own, cells(&plain).into_iter()).into()),
        ("own.tsv", table(b'\t', &own, cells(&plain).into_iter()).into()),
        ("tabs.csv", table(b'\t', &own, cells(&plain).into_iter()).into()),
        ("utf-16.csv", wide),
        ("semicolons.csv", semicolons.into()),
        ("notes.json", json!(notes).to_string().into()),
        ("notes.jsonl", lines(&notes).into()),
        ("old-notes.json", json!({"notes": old_notes}).to_string().into()),
        (
            "hotcrp.csv",
            table(
                b',',
                &["paper", "title", "review", "reviewername", "email", "Comments"],
                cells(&hotcrp).into_iter(),
            )
            .into(),
        ),
        (
            "batch.csv",
            table(
                b',',
                &["pid", "review", "email", "round", "submitted_at", "vtag", "Comments"],
                cells(&batch).into_iter(),
            )
            .into(),
        ),
        ("hotcrp.json", json!(objects).to_string().into()),
        ("forms.txt", forms.into()),
        ("Reviews.xls", cmt.into()),
    ]
}

/// Files of labels: name, content, and flags that a user has to add.
#[expect(clippy::too_many_lines, reason = "a file of every tool")]
fn label_files(rows: &[Row]) -> Vec<(&'static str, String, &'static [&'static str])> {
    let cells = |order: &dyn Fn(&Row) -> Vec<String>| rows.iter().map(order).collect::<Vec<_>>();
    let of_task = |task: &str| {
        let same: Vec<&Row> = rows.iter().filter(|row| row.0 == task).collect();
        same
    };
    let mut tasks: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    tasks.dedup();
    let mut workers: Vec<&str> = of_task(tasks[0]).iter().map(|row| row.1.as_str()).collect();
    workers.sort_unstable();
    let label = |task: &str, worker: &str| {
        let found = rows.iter().find(|row| row.0 == task && row.1 == worker);
        found.map(|row| row.2.clone()).unwrap()
    };
    let studio: Vec<Value> = tasks
        .iter()
        .map(|task| {
            let annotations: Vec<Value> = of_task(task)
                .iter()
                .map(|(_, who, label)| {
                    json!({"completed_by": who, "result":
                        [{"from_name": "q", "value": {"choices": [label]}}]})
                })
                .collect();
            json!({"id": task, "data": {"text": "x"}, "annotations": annotations})
        })
        .collect();
    let flat: Vec<Value> = rows
        .iter()
        .map(|(task, who, label)| {
            json!({"id": task, "annotator": who, "annotation_id": 1, "lead_time": 2.5, "q": label})
        })
        .collect();
    let prodigy: Vec<Value> = rows
        .iter()
        .map(|(task, who, label)| {
            json!({"_input_hash": task, "_task_hash": 1, "_annotator_id": who,
                "accept": [label], "answer": "accept"})
        })
        .collect();
    let argilla: Vec<Value> = tasks
        .iter()
        .map(|task| {
            let values: Vec<Value> = of_task(task)
                .iter()
                .map(|(_, who, label)| json!({"value": label, "user_id": who}))
                .collect();
            json!({"id": task, "fields": {"text": "x"}, "responses": {"q": values}})
        })
        .collect();
    let ticked = |(task, who, label): &Row| {
        let mark = |name: &str| if label == name { "1".to_owned() } else { String::new() };
        vec![task.clone(), who.clone(), mark("yes"), mark("no")]
    };
    let mturk = |(task, who, label): &Row| {
        vec![task.clone(), "a".into(), who.clone(), "Approved".into(), label.clone()]
    };
    let toloka = |(task, who, label): &Row| {
        vec![task.clone(), label.clone(), who.clone(), "APPROVED".into()]
    };
    let plain = |(task, who, label): &Row| vec![task.clone(), who.clone(), label.clone()];
    let by_worker = workers.iter().map(|who| {
        let cells = tasks.iter().map(|task| label(task, who));
        std::iter::once((*who).to_owned()).chain(cells).collect::<Vec<String>>()
    });
    let by_task = tasks.iter().map(|task| {
        let cells = workers.iter().map(|who| label(task, who));
        std::iter::once((*task).to_owned()).chain(cells).collect::<Vec<String>>()
    });
    let task_header = [&["who"], &tasks[..]].concat();
    let worker_header = [&["what"], &workers[..]].concat();
    let respondents = by_worker.clone().map(|mut row| {
        row.insert(0, "True".into());
        row
    });
    let import_ids = task_header.iter().map(|_| "{\"ImportId\":\"QID\"}".to_owned());
    let wording = std::iter::once("Finished".to_owned())
        .chain(std::iter::once("Response ID".to_owned()))
        .chain(tasks.iter().map(|task| format!("What about {task}?")));
    let qualtrics_header = [&["Finished", "ResponseId"], &tasks[..]].concat();
    let import_ids = std::iter::once("{\"ImportId\":\"finished\"}".to_owned()).chain(import_ids);
    let qualtrics = [wording.collect(), import_ids.collect()].into_iter().chain(respondents);
    vec![
        ("own.csv", table(b',', &["task", "worker", "label"], cells(&plain).into_iter()), &[]),
        (
            "crowd-kit.csv",
            table(b';', &["task", "performer", "label"], cells(&plain).into_iter()),
            &[],
        ),
        ("studio.json", json!(studio).to_string(), &[]),
        ("studio-min.json", json!(flat).to_string(), &[]),
        ("prodigy.jsonl", lines(&prodigy), &[]),
        ("argilla.json", json!(argilla).to_string(), &[]),
        (
            "potato.csv",
            table(b',', &["instance_id", "user_id", "q.yes", "q.no"], cells(&ticked).into_iter()),
            &[],
        ),
        (
            "mturk.csv",
            table(
                b',',
                &["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Answer.q"],
                cells(&mturk).into_iter(),
            ),
            &[],
        ),
        (
            "toloka.tsv",
            table(
                b'\t',
                &["INPUT:text", "OUTPUT:q", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"],
                cells(&toloka).into_iter(),
            ),
            &["--column", "task=INPUT:text"],
        ),
        ("qualtrics.csv", table(b',', &qualtrics_header, qualtrics), &[]),
        ("by-worker.csv", table(b',', &task_header, by_worker), &["--wide", "worker"]),
        ("by-task.csv", table(b',', &worker_header, by_task), &["--wide", "task"]),
    ]
}

/// Everything of a result but what names the files and how they were read.
fn scores(folder: &Folder, arguments: &[&str]) -> String {
    let run = folder.caz(&[arguments, &["--format", "json"]].concat()).succeeded();
    let mut result: Value = serde_json::from_str(&run.stdout).unwrap();
    let envelope = result.as_object_mut().unwrap();
    envelope.remove("inputs");
    let settings = envelope["settings"].as_object_mut().unwrap();
    let wide = arguments.iter().position(|argument| *argument == "--wide");
    assert_eq!(settings["wide"], json!(wide.map(|at| arguments[at + 1])));
    for key in ["from", "columns", "text_columns", "wide", "imported"] {
        settings.remove(key);
    }
    envelope["warnings"].as_array_mut().unwrap().retain(|warning| warning["code"] != "imported");
    result.to_string()
}

#[test]
fn reviews_of_every_system_are_scored_alike() {
    let folder = Folder::new();
    folder.write("z.csv", z());
    let files = review_files(&reviews());
    assert!(files.len() >= 8);
    let mut expected = None;
    for (name, bytes) in files {
        folder.write(name, bytes);
        let scores = scores(&folder, &["reviews", name, "--z", "z.csv"]);
        assert_eq!(*expected.get_or_insert_with(|| scores.clone()), scores, "{name}");
    }
    assert!(expected.unwrap().contains("r3@x.org"));
}

#[test]
fn labels_of_every_system_are_scored_alike() {
    let folder = Folder::new();
    let z = (0..12).map(|task| format!("Q{task},{}\n", if task % 3 == 0 { "no" } else { "yes" }));
    folder.write("z.csv", format!("task,label\n{}", z.collect::<String>()));
    let files = label_files(&labels());
    assert!(files.len() >= 8);
    let mut expected = None;
    for (name, text, flags) in files {
        folder.write(name, text);
        let scores = scores(&folder, &[&["labels", name, "--z", "z.csv"], flags].concat());
        assert_eq!(*expected.get_or_insert_with(|| scores.clone()), scores, "{name}");
    }
    assert!(expected.unwrap().contains("\"w4\""));
}

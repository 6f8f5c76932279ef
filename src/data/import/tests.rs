//! Every format, made by hand after its documented shape: who detects it, which rows come out, what is
//! left out, and that damage is an error and never a panic.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::*;
use crate::data::duplicates::Duplicates;
use crate::data::reviews::read_reviews;
use crate::error::{ErrorKind, Kinded};

/// Texts of more than a hundred characters, with what a table must quote.
const TEXTS: [&str; 3] = [
    "The naïve method; it is \"simple\", and the first table says little about how it compares with what others did.",
    "A clear paper, with experiments on four corpora; the second proof is hard to follow, and one lemma is not used.",
    "Its third section repeats what is known; the authors should say, in plain words, what is new about the estimator.",
];
/// A text that is not part of a review as handed in.
const LATE: &str = "After the discussion I keep my score, since the answer of the authors did not touch the point about the baselines.";
const FEEDBACK: &str = "Feedback by a machine: name the table that you compare with.";
const ANN: &str = "ann@x.org";
const BEN: &str = "ben@x.org";

type Row = (&'static str, &'static str, &'static str);

/// What the reviews say in every format that can say it.
const REVIEWS: [Row; 3] = [("7", ANN, TEXTS[0]), ("7", BEN, TEXTS[1]), ("8", ANN, TEXTS[2])];
/// What the labels say in every format that can say it.
const LABELS: [Row; 4] =
    [("Q1", "ann", "yes"), ("Q1", "ben", "no"), ("Q2", "ann", "no"), ("Q2", "ben", "no")];

/// A file and what is in it.
struct Fixture {
    name: &'static str,
    format: &'static str,
    bytes: Vec<u8>,
    wanted: Wanted,
    settings: ImportSettings,
    rows: Vec<Row>,
    llm: Vec<Row>,
    read: u64,
    left_out: Vec<(&'static str, u64)>,
    text_fields: Vec<&'static str>,
}

impl Fixture {
    fn reviews(name: &'static str, format: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name,
            format,
            bytes: bytes.into(),
            wanted: Wanted::Reviews,
            settings: ImportSettings::default(),
            rows: REVIEWS.to_vec(),
            llm: Vec::new(),
            read: 3,
            left_out: Vec::new(),
            text_fields: Vec::new(),
        }
    }

    fn labels(name: &'static str, format: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        let rows = LABELS.to_vec();
        Self { wanted: Wanted::Labels, rows, read: 4, ..Self::reviews(name, format, bytes) }
    }

    fn read(mut self, read: u64, left_out: &[(&'static str, u64)]) -> Self {
        self.read = read;
        self.left_out = left_out.to_vec();
        self
    }

    fn rows(mut self, rows: &[Row]) -> Self {
        self.rows = rows.to_vec();
        self
    }

    fn llm(mut self, llm: Row) -> Self {
        self.llm = vec![llm];
        self
    }

    fn text(mut self, fields: &[&'static str]) -> Self {
        self.text_fields = fields.to_vec();
        self
    }

    fn column(mut self, key: &str, name: &str) -> Self {
        self.settings.columns.insert(key.into(), name.into());
        self
    }

    fn from(mut self, format: &str) -> Self {
        self.settings.from = Some(format.into());
        self
    }

    fn wide(mut self, way: Wide) -> Self {
        self.settings.wide = Some(way);
        self
    }

    fn import(&self, bytes: &[u8]) -> Result<Imported, ImportError> {
        imported(source("export.bin", bytes)?, self.wanted, &self.settings)
    }
}

/// A file whose name says nothing; damaged gzip is a matter of the source.
fn source(name: &str, bytes: &[u8]) -> Result<Source, ImportError> {
    Source::from_reader(Path::new(name), bytes)
        .map_err(|error| ImportError::Columns { file: name.into(), message: error.to_string() })
}

fn rows_of(source: &Source) -> Vec<(String, String, String)> {
    let lines = source.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut rows: Vec<(String, String, String)> = lines
        .map(|line| {
            let row: Value = serde_json::from_slice(line).unwrap();
            assert_eq!(row.as_object().unwrap().len(), 3, "{row}");
            let cell = |names: [&str; 2]| {
                let found = names.iter().find_map(|name| row[*name].as_str());
                found.unwrap_or_else(|| panic!("no {names:?} in {row}")).to_owned()
            };
            let who = row.get("source").map_or_else(
                || cell(["reviewer", "worker"]),
                |_| row["source"].as_str().unwrap().to_owned(),
            );
            (cell(["paper", "task"]), who, cell(["text", "label"]))
        })
        .collect();
    rows.sort();
    rows
}

fn owned(rows: &[Row]) -> Vec<(String, String, String)> {
    let mut rows: Vec<_> =
        rows.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect();
    rows.sort();
    rows
}

/// Cells as a table, quoted where they must be.
fn table(delimiter: u8, rows: &[Vec<&str>]) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

fn lines(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n")).collect()
}

fn openreview_notes(version: u8) -> Vec<Value> {
    let note = |paper: &str, kind: &str, signatures: Value, content: &[(&str, &str)]| {
        let invitation = format!("Venue.org/2031/Conference/Submission{paper}/-/{kind}");
        let content: Object = content
            .iter()
            .map(|(name, text)| {
                let value = if version == 2 { json!({"value": text}) } else { json!(text) };
                ((*name).to_owned(), value)
            })
            .collect();
        let mut note = json!({"id": "n", "forum": paper, "signatures": signatures,
            "content": content, "cdate": 1, "unknown": {"deep": [1, null]}});
        match version {
            2 => note["invitations"] = json!([invitation, "Venue.org/2031/Conference/-/Edit"]),
            _ => note["invitation"] = json!(invitation),
        }
        note
    };
    let mut notes = vec![note("7", "Submission", json!(["~A_Author1"]), &[("title", "A title")])];
    for (paper, reviewer, text) in REVIEWS {
        let fields = [("title", LATE), ("review", text), ("rating", "6: weak accept")];
        let fields = [&fields[..], &[("final_justification", LATE)]].concat();
        notes.push(note(paper, "Official_Review", json!([reviewer]), &fields));
    }
    let mut deleted = note("8", "Official_Review", json!([BEN]), &[("review", LATE)]);
    deleted["ddate"] = json!(1_900_000_000_000_u64);
    notes.push(deleted);
    notes.push(note("8", "Official_Review", json!([]), &[("review", LATE)]));
    let automated = json!(["Venue.org/2031/Conference/Automated_Administrator"]);
    notes.push(note("7", "LLM_PDF_Feedback", automated, &[("feedback", FEEDBACK)]));
    notes
}

type Object = serde_json::Map<String, Value>;

fn openreview() -> Vec<Fixture> {
    let (second, first) = (openreview_notes(2), openreview_notes(1));
    let nested = json!([{"id": "7", "forum": "7", "content": {"title": {"value": "A title"}},
        "invitations": ["Venue.org/2031/Conference/-/Submission"],
        "details": {"replies": second[1..], "directReplies": second[1..]}}]);
    [
        ("OpenReview 2, list", json!(second).to_string()),
        ("OpenReview 2, lines", lines(&second)),
        ("OpenReview 2, wrapped", json!({"notes": second, "count": 7}).to_string()),
        ("OpenReview 2, nested", nested.to_string()),
        ("OpenReview 1, list", json!(first).to_string()),
    ]
    .into_iter()
    .map(|(name, text)| {
        Fixture::reviews(name, "openreview", text)
            .llm(("7", "LLM_PDF_Feedback", FEEDBACK))
            .text(&["review"])
            .read(
                7,
                &[
                    ("deleted reviews", 1),
                    ("notes that are no reviews", 1),
                    ("reviews without a signature", 1),
                ],
            )
    })
    .collect()
}

fn hotcrp() -> Vec<Fixture> {
    const LEFT: [(&str, u64); 2] =
        [("reviews without a reviewer", 1), ("reviews without a text", 1)];
    let mut list =
        vec![vec!["paper", "title", "review", "reviewername", "email", "Overall merit", "Remarks"]];
    let mut batch =
        vec![vec!["pid", "review", "email", "round", "submitted_at", "vtag", "Merit", "Remarks"]];
    let mut narrow = vec![vec![
        "pid",
        "review",
        "email",
        "round",
        "submitted_at",
        "vtag",
        "field",
        "format",
        "data",
    ]];
    let mut forms = String::from("==+== Venue Review Form\n==-== Do not change lines with ==\n");
    for (index, (paper, reviewer, text)) in REVIEWS.into_iter().enumerate() {
        let number = ["7A", "7B", "8A"][index];
        list.push(vec![paper, "A title", number, "A Name", reviewer, "3", text]);
        batch.push(vec![paper, number, reviewer, "R1", "2031", "1", "3", text]);
        narrow.push(vec![paper, number, reviewer, "R1", "2031", "1", "Merit", "", "3"]);
        narrow.push(vec![paper, number, reviewer, "R1", "2031", "1", "Remarks", "", text]);
        forms.push_str(&format!(
            "\n==+== =====================================================================\n\
             ==+== Begin Review #{number}\n==+== Reviewer: A Name <{reviewer}>\n\n\
             ==+== Paper #{paper}\n==-== Title: A title\n\n==+== Review Readiness\n\
             ==-== Enter \"Ready\" if it is.\n\nReady\n\n==*== Overall merit\n3\n\n\
             ==*== Remarks\n\n{text}\n\n==+== Scratchpad (for unsaved private notes)\n\n{LATE}\n\n\
             ==+== End Review\n"
        ));
    }
    list.push(vec!["8", "A title", "", "", "", "3", LATE]);
    list.push(vec!["8", "A title", "8C", "A Name", BEN, "3", ""]);
    batch.push(vec!["8", "", "", "R1", "2031", "1", "3", LATE]);
    batch.push(vec!["8", "8C", BEN, "R1", "2031", "1", "3", ""]);
    narrow.push(vec!["8", "8C", BEN, "R1", "2031", "1", "Merit", "", "3"]);
    let review = |paper: u64, who: Value, text: &str, more: Value| {
        let mut review = json!({"object": "review", "pid": paper, "rid": 5, "rtype": "pc",
            "reviewer": "<b>A Name</b>", "reviewer_email": who, "OveMer": 3, "Remarks": text});
        review.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        review
    };
    let mut objects: Vec<Value> = REVIEWS
        .iter()
        .map(|(paper, who, text)| review(paper.parse().unwrap(), json!(who), text, json!({})))
        .collect();
    objects.push(review(8, json!(BEN), LATE, json!({"status": "draft"})));
    objects.push(review(8, Value::Null, LATE, json!({"rid": null})));
    objects.push(review(7, json!("bot@x.org"), FEEDBACK, json!({"reviewer_bot": true})));
    let of = |paper: u64| -> Vec<&Value> {
        objects.iter().filter(|review| review["pid"] == paper).collect()
    };
    let rqc = json!({"hotcrp_version": "3.1", "hotcrp_commit": "0", "reviewform": {"Remarks": {}},
        "papers": [{"pid": 7, "title": "A title", "reviews": of(7)},
                   {"pid": 8, "title": "A title", "reviews": of(8)}]});
    let json_left = [("drafts", 1), ("reviews without a reviewer", 1)];
    let mut fixtures =
        vec![
            Fixture::reviews("HotCRP list", "hotcrp-csv", table(b',', &list)).read(5, &LEFT),
            Fixture::reviews("HotCRP batch", "hotcrp-batch", table(b',', &batch)).read(5, &LEFT),
            Fixture::reviews("HotCRP batch, narrow", "hotcrp-batch", table(b',', &narrow))
                .read(7, &LEFT[1..]),
            Fixture::reviews("HotCRP forms", "hotcrp-form", forms),
            Fixture::reviews("HotCRP JSON", "hotcrp-json", json!(objects).to_string())
                .read(6, &json_left)
                .llm(("7", "bot@x.org", FEEDBACK)),
            Fixture::reviews(
                "HotCRP JSON, wrapped",
                "hotcrp-json",
                json!({"ok": true, "reviews": objects}).to_string(),
            )
            .read(6, &json_left)
            .llm(("7", "bot@x.org", FEEDBACK)),
            Fixture::reviews("HotCRP RQC", "hotcrp-rqc", rqc.to_string())
                .read(6, &json_left)
                .llm(("7", "bot@x.org", FEEDBACK)),
        ];
    for fixture in &mut fixtures {
        fixture.text_fields = vec!["Remarks"];
    }
    fixtures
}

fn other_reviews() -> Vec<Fixture> {
    let header = vec![
        "#",
        "submission #",
        "member #",
        "member name",
        "number",
        "version",
        "text",
        "scores",
        "total score",
        "reviewer person #",
    ];
    let remarks = format!("{}\n\n(CONFIDENTIAL REMARKS FOR THE CHAIRS)\n{LATE}", TEXTS[1]);
    let easychair = [
        header,
        vec!["2", "7", "3", "A Name", "1", "2", TEXTS[0], "s: 1", "1", ""],
        vec!["1", "7", "3", "A Name", "1", "1", LATE, "s: 1", "1", ""],
        vec!["3", "7", "4", "B Name", "2", "1", &remarks, "s: 1", "1", "12"],
        vec!["4", "8", "", "", "1", "1", TEXTS[2], "s: 1", "1", ""],
    ];
    let without_versions: Vec<Vec<&str>> =
        easychair.iter().filter(|row| row[0] != "1").cloned().collect();
    let cell = |text: &str| {
        let text = text.replace('&', "&amp;").replace('"', "&quot;").replace('ï', "&#239;");
        format!("<Cell><Data ss:Type=\"String\">{text}</Data></Cell>")
    };
    let row = |cells: &[&str]| -> String {
        let cells: String = cells.iter().map(|text| cell(text)).collect();
        format!("<Row>{cells}</Row>")
    };
    let head = [
        "Paper ID",
        "Paper Title",
        "Reviewer Email",
        "Q1 (Summary, in your words)",
        "Q2 (Overall)",
        "Q2 (Overall) - Value",
    ];
    let mut sheet = String::from("<Row><Cell><Data ss:Type=\"String\">Reviews</Data></Cell></Row>");
    sheet += &row(&head).replacen("<Row>", "<Row ss:Index=\"3\">", 1);
    for (paper, reviewer, text) in REVIEWS {
        sheet += &row(&[paper, "A title", reviewer, text, "Good", "4"]);
    }
    sheet += &format!(
        "<Row>{}<Cell ss:Index=\"4\"><Data ss:Type=\"String\">{LATE}</Data></Cell></Row>",
        cell("8")
    );
    let cmt = format!(
        "<?xml version=\"1.0\"?>\n<Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" \
         xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"><Worksheet ss:Name=\"Reviews\">\
         <Table>{sheet}</Table></Worksheet></Workbook>\n"
    );
    let paper = json!({"id": "304", "title": "A title", "abstract": "About it.", "reviews":
        [{"comments": TEXTS[0], "IMPACT": "3"}, {"comments": TEXTS[1]}, {"comments": ""}]});
    let peerread: [Row; 2] = [("304", "304 review 1", TEXTS[0]), ("304", "304 review 2", TEXTS[1])];
    let nlpeer = json!([
        {"rid": "r1", "reviewer": ANN, "paper": "7", "report": {"main": TEXTS[0]}, "scores": {}},
        {"rid": "r2", "reviewer": null, "paper": "7", "report": {"main": TEXTS[1]}, "scores": {}},
    ]);
    vec![
        Fixture::reviews("EasyChair", "easychair", table(b',', &without_versions))
            .rows(&[("7", "member 3", TEXTS[0]), ("7", "person 12", TEXTS[1])])
            .text(&["text"])
            .read(3, &[("reviews without a reviewer", 1)]),
        Fixture::reviews("EasyChair, by version", "easychair", table(b',', &easychair))
            .from("easychair")
            .rows(&[("7", "member 3", TEXTS[0]), ("7", "person 12", TEXTS[1])])
            .text(&["text"])
            .read(4, &[("earlier versions", 1), ("reviews without a reviewer", 1)]),
        Fixture::reviews("CMT", "cmt", cmt)
            .text(&["Q1 (Summary, in your words)"])
            .read(4, &[("reviews without a reviewer", 1)]),
        Fixture::reviews("PeerRead, one paper", "peerread", paper.to_string())
            .rows(&peerread)
            .text(&["comments"])
            .read(3, &[("reviews without a text", 1)]),
        Fixture::reviews("PeerRead, list", "peerread", json!([paper]).to_string())
            .rows(&peerread)
            .text(&["comments"])
            .read(3, &[("reviews without a text", 1)]),
        Fixture::reviews("NLPeer", "peerread", nlpeer.to_string())
            .rows(&[("7", ANN, TEXTS[0]), ("7", "r2", TEXTS[1])])
            .text(&["main"])
            .read(2, &[]),
    ]
}

#[expect(clippy::too_many_lines, reason = "a file of every tool")]
fn tools() -> Vec<Fixture> {
    let choice = |label: &str| {
        json!([{"from_name": "answer", "to_name": "t", "type": "choices", "id": "z",
            "value": {"choices": [label]}}])
    };
    let note = |who: Value, label: &str, cancelled: bool| json!({"id": 9, "completed_by": who, "was_cancelled": cancelled, "result": choice(label)});
    let studio = json!([
        {"id": "Q1", "data": {"text": "one"}, "meta": {}, "annotations":
            [note(json!("ann"), "yes", false), note(json!({"id": 4, "email": "ben"}), "no", false),
             note(json!("cat"), "no", true)],
         "predictions": [{"model_version": "gpt", "result": choice("yes")}]},
        {"id": "Q2", "data": {"text": "two"}, "completions":
            [note(json!("ann"), "no", false), note(json!("ben"), "no", false),
             note(Value::Null, "no", false)]},
    ]);
    let flat: Vec<Value> = LABELS
        .iter()
        .map(|(task, worker, label)| {
            json!({"id": task, "text": format!("about {task}"), "answer": label,
                "annotator": worker, "annotation_id": 9, "created_at": "1", "updated_at": "1",
                "lead_time": 3.25})
        })
        .chain([json!({"id": "Q2", "text": "about Q2", "answer": "yes", "annotation_id": 9,
            "lead_time": 3.25})])
        .collect();
    let mut cells = vec![vec![
        "annotation_id",
        "annotator",
        "answer",
        "created_at",
        "id",
        "lead_time",
        "text",
        "updated_at",
    ]];
    cells.extend(LABELS.iter().map(|(task, worker, label)| {
        vec![
            "9",
            *worker,
            *label,
            "1",
            *task,
            "3.25",
            if *task == "Q1" { "one" } else { "two" },
            "1",
        ]
    }));
    cells.push(vec!["9", "", "yes", "1", "Q2", "3.25", "two", "1"]);
    let mut prodigy: Vec<Value> = LABELS
        .iter()
        .map(|(task, worker, label)| {
            json!({"text": "one", "_input_hash": task, "_task_hash": 3, "accept": [label],
                "answer": "accept", "_annotator_id": worker, "_session_id": "s", "_timestamp": 1})
        })
        .collect();
    prodigy
        .push(json!({"_input_hash": "Q1", "_task_hash": 3, "accept": ["no"], "answer": "ignore",
        "_annotator_id": "cat"}));
    prodigy
        .push(json!({"_input_hash": "Q1", "_task_hash": 3, "accept": ["no"], "answer": "accept"}));
    let doccano: Vec<Value> = [("Q1", json!(["yes"])), ("Q2", json!(["no"])), ("Q3", json!([]))]
        .into_iter()
        .map(|(id, label)| json!({"id": id, "text": "one", "label": label, "Comments": []}))
        .collect();
    let by = |who: &str, label: &str| json!({"value": label, "user_id": who});
    let argilla = json!([
        {"id": "Q1", "fields": {"text": "one"}, "metadata": {}, "vectors": {}, "_server_id": "u",
         "responses": {"answer": [by("ann", "yes"), by("ben", "no"),
            {"value": "no", "user_id": "cat", "status": "discarded"}]},
         "suggestions": {"answer": {"value": "yes", "score": 0.9, "agent": "gpt"}}},
        {"id": "Q2", "fields": {"text": "two"}, "metadata": {}, "vectors": {}, "_server_id": "v",
         "responses": {"answer": [by("ann", "no"), by("ben", "no"), {"value": "no"}]},
         "suggestions": {}},
    ]);
    let argilla_flat = json!([
        {"id": "Q1", "text": "one", "answer.responses": ["yes", "no", "no"],
         "answer.responses.users": ["ann", "ben", "cat"],
         "answer.responses.status": ["submitted", "submitted", "discarded"],
         "answer.suggestion": "yes", "answer.suggestion.agent": "gpt"},
        {"id": "Q2", "text": "two", "answer.responses": ["no", "no", "no"],
         "answer.responses.users": ["ann", "ben", null],
         "answer.responses.status": ["submitted", "submitted", "submitted"]},
    ]);
    let argilla_left = [("discarded or draft responses", 1), ("responses without a user", 1)];
    let potato = "instance_id,user_id,answer.yes,answer.no,comment\nQ1,ann,1,,x\nQ1,ben,,1,\n\
                  Q2,ann,0,1,\nQ2,ben,,1,\nQ2,cat,,,\nQ2,,1,,\n";
    let state = json!({"user_id": "ann", "instance_id_ordering": ["Q1", "Q2", "Q3"],
        "instance_id_to_label_to_value": {"Q1": [[{"schema": "answer", "name": "yes"}, "true"]],
            "Q2": [[{"schema": "answer", "name": "no"}, "true"]], "Q3": []}});
    let mturk = "\"HITId\",\"HITTypeId\",\"AssignmentId\",\"WorkerId\",\"AssignmentStatus\",\"Input.text\",\"Answer.answer\"\n\
                 \"Q1\",\"t\",\"1\",\"ann\",\"Approved\",\"one\",\"yes\"\n\"Q1\",\"t\",\"2\",\"ben\",\"Submitted\",\"one\",\"no\"\n\
                 \"Q2\",\"t\",\"3\",\"ann\",\"Approved\",\"two\",\"no\"\n\"Q2\",\"t\",\"4\",\"ben\",\"Approved\",\"two\",\"no\"\n\
                 \"Q2\",\"t\",\"5\",\"cat\",\"Rejected\",\"two\",\"yes\"\n\"Q2\",\"t\",\"6\",\"\",\"Approved\",\"two\",\"yes\"\n";
    let toloka = "INPUT:text\tOUTPUT:answer\tGOLDEN:answer\tASSIGNMENT:worker_id\tASSIGNMENT:status\n\
                  Q1\tyes\t\tann\tAPPROVED\nQ1\tno\t\tben\tAPPROVED\nQ2\tno\t\tann\tAPPROVED\n\
                  Q2\tno\t\tben\tAPPROVED\nQ2\tyes\t\tcat\tREJECTED\nQ2\tyes\t\t\tAPPROVED\n";
    let qualtrics = "StartDate,Finished,ResponseId,Q1,Q2\nStart Date,Finished,Response ID,\"Is it new, or not?\",Is it right?\n\
                     \"{\"\"ImportId\"\":\"\"startDate\"\"}\",\"{\"\"ImportId\"\":\"\"finished\"\"}\",\"{\"\"ImportId\"\":\"\"_recordId\"\"}\",\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID2\"\"}\"\n\
                     2031,True,ann,yes,no\n2031,True,ben,no,no\n2031,False,cat,yes,yes\n2031,True,,yes,yes\n";
    let crowd: [(&str, &str, &str, Value); 6] = [
        ("Q1", "ann", "Approved", json!([{"answer": {"no": false, "yes": true}, "why": "x"}])),
        ("Q1", "ben", "Submitted", json!([{"answer": {"no": true, "yes": false}, "why": ""}])),
        ("Q2", "ann", "Approved", json!([{"answer": {"no": true, "yes": false}}])),
        ("Q2", "ben", "Approved", json!([{"why": "y"}, {"answer": "no"}])),
        ("Q2", "cat", "Rejected", json!([{"answer": {"no": true, "yes": false}}])),
        ("Q2", "dan", "Approved", json!([{"why": "z"}])),
    ];
    let crowd: Vec<[String; 4]> = crowd
        .into_iter()
        .map(|(hit, who, status, form)| {
            [hit.to_owned(), who.to_owned(), status.to_owned(), form.to_string()]
        })
        .collect();
    let mut crowd_cells =
        vec![vec!["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Answer.taskAnswers"]];
    for [hit, who, status, form] in &crowd {
        crowd_cells.push(vec![hit, "1", who, status, form]);
    }
    let studio_left = [("annotations without an annotator", 1)];
    let turk_left = [("assignments without a worker", 1), ("rejected assignments", 1)];
    vec![
        Fixture::labels("Label Studio", "label-studio", studio.to_string())
            .llm(("Q1", "gpt", "yes"))
            .text(&["answer"])
            .read(6, &[studio_left[0], ("cancelled annotations", 1)]),
        Fixture::labels("Label Studio JSON-MIN", "label-studio-min", json!(flat).to_string())
            .text(&["answer"])
            .read(5, &studio_left),
        Fixture::labels("Label Studio CSV", "label-studio-min", table(b',', &cells))
            .text(&["answer"])
            .read(5, &studio_left),
        Fixture::labels("Label Studio TSV", "label-studio-min", table(b'\t', &cells))
            .text(&["answer"])
            .read(5, &studio_left),
        Fixture::labels("Prodigy", "prodigy", lines(&prodigy))
            .text(&["accept or label"])
            .read(6, &[("examples without an annotator", 1), ("ignored examples", 1)]),
        Fixture::labels("doccano, one user", "doccano", lines(&doccano))
            .rows(&[("Q1", "export", "yes"), ("Q2", "export", "no")])
            .text(&["label"])
            .read(3, &[("examples without an answer", 1)]),
        Fixture::labels("Argilla, nested", "argilla", argilla.to_string())
            .llm(("Q1", "gpt", "yes"))
            .text(&["answer"])
            .read(6, &argilla_left),
        Fixture::labels("Argilla, flat", "argilla", argilla_flat.to_string())
            .llm(("Q1", "gpt", "yes"))
            .text(&["answer"])
            .read(6, &argilla_left),
        Fixture::labels("Potato table", "potato", potato).text(&["answer"]).read(
            6,
            &[
                ("annotations without an answer", 1),
                ("annotations without an instance or a user", 1),
            ],
        ),
        Fixture::labels("Potato state", "potato", state.to_string())
            .rows(&[LABELS[0], LABELS[2]])
            .read(3, &[("annotations without an answer", 1)]),
        Fixture::labels("MTurk", "mturk", mturk).text(&["Answer.answer"]).read(6, &turk_left),
        Fixture::labels("MTurk, crowd elements", "mturk", table(b',', &crowd_cells))
            .column("label", "answer")
            .text(&["answer"])
            .read(6, &[("assignments without an answer", 1), turk_left[1]]),
        Fixture::labels("Toloka", "toloka", toloka)
            .column("task", "INPUT:text")
            .text(&["OUTPUT:answer"])
            .read(6, &turk_left),
        Fixture::labels("Qualtrics", "qualtrics", qualtrics)
            .read(4, &[("respondents without an id", 1), ("unfinished answers", 1)]),
        Fixture::labels(
            "wide, a row a worker",
            "wide",
            "who,Q1,Q2\nann,yes,no\nben,no,no\n,yes,yes\n",
        )
        .wide(Wide::Worker)
        .read(3, &[("rows without a worker", 1)]),
        Fixture::labels("wide, a row a task", "wide", "what,ann,ben,cat\nQ1,yes,no,\nQ2,no,no,\n")
            .wide(Wide::Task)
            .read(2, &[]),
    ]
}

fn tables() -> Vec<Fixture> {
    let mut cells = vec![vec!["Paper ID", "Reviewer e-mail", "Review text", "Score"]];
    cells.extend(REVIEWS.iter().map(|(paper, who, text)| vec![*paper, *who, *text, "3"]));
    cells.push(vec!["8", "", LATE, "3"]);
    cells.push(vec!["8", BEN, "", "3"]);
    let semicolons = table(b';', &cells);
    let latin: Vec<u8> =
        semicolons.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
    let wide: Vec<u8> =
        [0xfeff].into_iter().chain(semicolons.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let objects: Vec<Value> = cells[1..]
        .iter()
        .map(|row| json!({"Paper ID": row[0], "Reviewer e-mail": row[1], "Review text": row[2], "more": {"a": 1}}))
        .collect();
    let mut fixtures = vec![
        Fixture::reviews("semicolons, UTF-8", "table", semicolons.clone()),
        Fixture::reviews("semicolons, UTF-16", "table", wide),
        Fixture::reviews("semicolons, Windows-1252", "table", latin),
        Fixture::reviews("sep= line", "table", format!("sep=|\r\n{}", table(b'|', &cells))),
        Fixture::reviews("tabs", "table", table(b'\t', &cells)),
        Fixture::reviews("JSON list", "json", json!(objects).to_string()),
        Fixture::reviews(
            "JSON, wrapped",
            "json",
            json!({"page": 1, "results": objects}).to_string(),
        ),
    ];
    for fixture in &mut fixtures {
        fixture.read = 5;
        fixture.left_out = vec![("rows without a reviewer", 1), ("rows without a text", 1)];
        fixture.text_fields = vec!["Review text"];
        fixture.settings.columns.insert("reviewer".into(), "Reviewer e-mail".into());
    }
    fixtures.push(Fixture::labels(
        "Crowd-Kit",
        "table",
        "task;performer;label\nQ1;ann;yes\nQ1;ben;no\nQ2;ann;no\nQ2;ben;no\n",
    ));
    fixtures
}

fn fixtures() -> Vec<Fixture> {
    [openreview(), hotcrp(), other_reviews(), tools(), tables()].into_iter().flatten().collect()
}

#[test]
fn every_file_is_told_from_all_other_formats() {
    const GENERAL: [&str; 2] = ["table", "json"];
    let mut formats_met = std::collections::BTreeSet::new();
    for fixture in fixtures() {
        let (bytes, _) = decoded(&fixture.bytes);
        let peek = Peek::new(&bytes);
        let found: Vec<&str> = IMPORTERS
            .into_iter()
            .filter(|importer| importer.detect(&peek))
            .map(Importer::name)
            .collect();
        formats_met.insert(fixture.format);
        let particular: Vec<&str> =
            found.iter().copied().filter(|name| !GENERAL.contains(name)).collect();
        if fixture.format == "wide" {
            // Only the user can tell it from any other table.
            assert_eq!(found, ["table"], "{}", fixture.name);
        } else if GENERAL.contains(&fixture.format) {
            assert_eq!(found, [fixture.format], "{}", fixture.name);
        } else {
            assert_eq!(particular, [fixture.format], "{}", fixture.name);
            assert_eq!(found[0], fixture.format, "{}", fixture.name);
        }
    }
    let all: std::collections::BTreeSet<&str> = formats().into_iter().collect();
    assert_eq!(formats_met, all, "every format has a file");
}

#[test]
fn rows_are_those_of_the_file_and_the_rest_is_counted() {
    for fixture in fixtures() {
        let imported = fixture.import(&fixture.bytes);
        let imported = imported.unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let note = imported.note.expect("it is foreign");
        assert_eq!(note.format, fixture.format, "{}", fixture.name);
        assert_eq!(rows_of(&imported.source), owned(&fixture.rows), "{}", fixture.name);
        let llm = imported.llm.as_ref().map(rows_of).unwrap_or_default();
        assert_eq!(llm, owned(&fixture.llm), "{}", fixture.name);
        assert_eq!(note.people, fixture.rows.len() as u64, "{}", fixture.name);
        assert_eq!(note.llm, fixture.llm.len() as u64, "{}", fixture.name);
        assert_eq!(note.read, fixture.read, "{}", fixture.name);
        let left: Vec<(&str, u64)> =
            note.left_out.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
        assert_eq!(left, fixture.left_out, "{}", fixture.name);
        assert_eq!(note.text_fields, fixture.text_fields, "{}", fixture.name);
        let guess = guessed(&source("x", &fixture.bytes).unwrap(), &fixture.settings).unwrap();
        assert_eq!(guess, fixture.wanted, "{}", fixture.name);
    }
}

/// What comes of every file, as a table of `docs/imports.md`.
fn matrix() -> String {
    let mut matrix = String::from(
        "| file | `--from` | found | rows in it | used | by an LLM | left out |\n|---|---|---|---|---|---|---|\n",
    );
    for fixture in fixtures() {
        let imported = fixture.import(&fixture.bytes).unwrap();
        let note = imported.note.expect("it is foreign");
        let (bytes, _) = decoded(&fixture.bytes);
        let peek = Peek::new(&bytes);
        let first = IMPORTERS.into_iter().find(|importer| importer.detect(&peek));
        let found = match (first.map(Importer::name), &fixture.settings.wide) {
            (_, Some(_)) => "with `--wide`",
            _ if fixture.settings.from.is_some() => "with `--from`",
            (Some(name), _) if name == note.format => "by looking",
            _ => "with `--from`",
        };
        let left: Vec<String> =
            note.left_out.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let left = if left.is_empty() { "–".into() } else { left.join(", ") };
        matrix.push_str(&format!(
            "| {} | `{}` | {found} | {} | {} | {} | {left} |\n",
            fixture.name, note.format, note.read, note.people, note.llm
        ));
    }
    matrix
}

#[test]
fn the_matrix_of_the_documentation_is_what_comes_of_the_files() {
    let matrix = matrix();
    let documentation = include_str!("../../../docs/imports.md");
    assert!(documentation.contains(&matrix), "docs/imports.md lacks\n{matrix}");
}

#[test]
fn the_same_content_gives_the_same_rows_in_many_formats() {
    let same = |rows: &[Row]| -> Vec<&'static str> {
        let fixtures = fixtures();
        let all = fixtures.iter().filter(|fixture| fixture.rows == rows);
        let mut names: Vec<&'static str> = all
            .map(|fixture| {
                let imported = fixture.import(&fixture.bytes).unwrap();
                assert_eq!(rows_of(&imported.source), owned(rows), "{}", fixture.name);
                fixture.format
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let (reviews, labels) = (same(&REVIEWS), same(&LABELS));
    assert!(reviews.len() >= 8, "{reviews:?}");
    assert!(labels.len() >= 8, "{labels:?}");
}

#[test]
fn a_file_that_breaks_off_is_an_error_that_quotes_nothing() {
    for fixture in fixtures() {
        // Text forms have no end, and half a character of UTF-16 is something else.
        if fixture.format == "hotcrp-form" || fixture.name == "semicolons, UTF-16" {
            continue;
        }
        let bytes = &fixture.bytes;
        let cut = match bytes[0] {
            b'[' | b'{' | b'<' => bytes.len() * 3 / 4,
            _ => {
                // Within the last row: a cell is missing, or a quote is open.
                let (decoded, _) = decoded(bytes);
                let delimiter = match Peek::new(&decoded).root {
                    Root::Table { delimiter, .. } => delimiter,
                    other => panic!("{}: {other:?}", fixture.name),
                };
                bytes.iter().rposition(|&byte| byte == delimiter).unwrap()
            }
        };
        let error = match fixture.import(&bytes[..cut]) {
            Err(error) => error,
            Ok(imported) => panic!("{}: {:?}", fixture.name, imported.note),
        };
        assert!(matches!(error, ImportError::Broken { .. }), "{}: {error}", fixture.name);
        for secret in ["naïve", "corpora", "section", "discussion", "machine", "x.org", "yes"] {
            assert!(!error.to_string().contains(secret), "{}: {error}", fixture.name);
        }
    }
}

#[test]
fn what_holds_no_rows_is_refused_by_name() {
    let zip = |entry: &str| [b"PK\x03\x04\x14\0\0\0".as_slice(), entry.as_bytes()].concat();
    let prolific = "Submission id,Participant id,Status,Age\n1,2,APPROVED,30\n";
    for (bytes, what) in [
        (b"%PDF-1.7\n%\xe2\xe3".to_vec(), "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0".to_vec(), "old Excel"),
        (zip("word/document.xml"), "Word"),
        (zip("xl/workbook.xml"), "Excel"),
        (zip("ann.jsonl"), "ZIP"),
        (zip("all.jsonl"), "doccano"),
        (prolific.as_bytes().to_vec(), "Prolific"),
    ] {
        for wanted in [Wanted::Reviews, Wanted::Labels, Wanted::LlmLabels] {
            let source = source("export.csv", &bytes).unwrap();
            let error = imported(source, wanted, &ImportSettings::default()).unwrap_err();
            assert!(matches!(error, ImportError::Refused { .. }), "{what}: {error}");
            assert!(error.to_string().contains(what), "{what}: {error}");
            assert_eq!(error.kind(), ErrorKind::Input);
        }
    }
}

#[test]
fn caz_own_files_pass_byte_for_byte() {
    for (name, text, wanted) in [
        ("a.csv", "paper,reviewer,text\np,r,\"some, text\"\n", Wanted::Reviews),
        ("a.tsv", "task\tworker\tlabel\nt\tw\tyes\n", Wanted::Labels),
        ("a.jsonl", "{\"paper\":\"p\",\"reviewer\":\"r\",\"vector\":[1,2]}\n", Wanted::Reviews),
        ("a.csv", "task,label\nt,yes\n", Wanted::LlmLabels),
    ] {
        let imported =
            imported(source(name, text.as_bytes()).unwrap(), wanted, &ImportSettings::default());
        let imported = imported.unwrap();
        assert_eq!(imported.source.bytes, text.as_bytes());
        assert!(imported.note.is_none() && imported.llm.is_none() && imported.warnings.is_empty());
    }
}

#[test]
fn an_export_given_as_z_is_by_llms() {
    let notes = json!(openreview_notes(2)).to_string();
    let read = |text: &str| {
        let source = source("z", text.as_bytes()).unwrap();
        imported(source, Wanted::LlmReviews, &ImportSettings::default()).unwrap()
    };
    // What is marked as an LLM's, where anything is; else all, by who signed.
    assert_eq!(rows_of(&read(&notes).source), owned(&[("7", "LLM_PDF_Feedback", FEEDBACK)]));
    let unmarked = json!(openreview_notes(2)[1..4]).to_string();
    assert_eq!(rows_of(&read(&unmarked).source), owned(&REVIEWS));
    assert!(read(&unmarked).source.bytes.windows(9).any(|part| part == b"\"source\":"));
}

#[test]
fn all_users_of_doccano_together_are_nobody() {
    let text = "{\"id\":1,\"text\":\"x\",\"label\":[\"a\"],\"Comments\":[]}\n{\"id\":2,\"text\":\"x\",\"label\":[\"a\"],\"Comments\":[]}\n";
    let all = source("all.jsonl", text.as_bytes()).unwrap();
    let error = imported(all, Wanted::Labels, &ImportSettings::default()).unwrap_err();
    assert!(error.to_string().contains("one file per user"), "{error}");
}

#[test]
fn a_format_without_what_is_wanted_says_so() {
    let source = source("z", json!(openreview_notes(2)).to_string().as_bytes()).unwrap();
    let error = imported(source, Wanted::Labels, &ImportSettings::default()).unwrap_err();
    assert!(error.to_string().contains("it holds reviews"), "{error}");
}

#[test]
fn versions_of_easychair_are_duplicates_unless_the_format_is_named() {
    let file = "#,submission #,member #,version,text,scores\n1,7,3,1,first,s\n2,7,3,2,second,s\n";
    let read = |settings: &ImportSettings| {
        let file = source("review.csv", file.as_bytes()).unwrap();
        rows_of(&imported(file, Wanted::Reviews, settings).unwrap().source)
    };
    assert_eq!(read(&ImportSettings::default()).len(), 2);
    let named = ImportSettings { from: Some("easychair".into()), ..ImportSettings::default() };
    assert_eq!(read(&named), [("7".into(), "member 3".into(), "second".into())]);
}

#[test]
fn answers_of_crowd_elements_are_what_is_chosen() {
    let read = |question: Option<&str>, forms: &[Value]| {
        let mut rows = vec![vec!["HITId", "AssignmentId", "WorkerId", "Answer.taskAnswers"]];
        let forms: Vec<String> = forms.iter().map(Value::to_string).collect();
        rows.extend(forms.iter().map(|form| vec!["Q", "1", "ann", form.as_str()]));
        let mut settings = ImportSettings::default();
        settings.columns.extend(question.map(|name| ("label".to_owned(), name.to_owned())));
        let file = source("batch.csv", table(b',', &rows).as_bytes()).unwrap();
        imported(file, Wanted::Labels, &settings)
            .map(|found| rows_of(&found.source).into_iter().map(|row| row.2).collect::<Vec<_>>())
    };
    // Several boxes, none of them, a single one, a text, a number; a form that is no list.
    let boxes = json!({"a": true, "b": false, "c": true});
    let forms = [
        json!([{"q": boxes}]),
        json!([{"q": {"a": false, "b": false}}]),
        json!([{"q": {"agree": false}}]),
        json!([{"q": {"on": true}}]),
        json!([{"q": "some words"}]),
        json!({"q": 4}),
    ];
    let mut found = read(None, &forms).unwrap();
    found.sort();
    assert_eq!(found, ["4", "a; c", "none", "not agree", "q", "some words"]);
    let two = [json!([{"q": {"a": true}, "other": "x"}])];
    let error = read(None, &two).unwrap_err().to_string();
    assert!(error.contains("several answers") && error.contains("other, q"), "{error}");
    assert_eq!(read(Some("other"), &two).unwrap(), ["x"]);
    let error = read(Some("third"), &two).unwrap_err().to_string();
    assert!(error.contains("no answer `third`; there are other, q"), "{error}");
    // What is no JSON holds no answer.
    assert!(read(None, &[json!("broken {")]).is_err());
}

#[test]
fn lists_and_objects_are_no_text_however_long() {
    let long: Vec<f64> = (0..60).map(|n| f64::from(n) / 64.0).collect();
    let row = |id: &str| {
        json!({
            "id": id,
            "judgments": {"clarity": 3, "novelty": 1},
            "probabilities": {"clarity": long, "novelty": long},
            "vectors": [long, long],
        })
    };
    let import = |rows: &[Value], wanted| {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        imported(source("t.jsonl", lines.as_bytes()).unwrap(), wanted, &ImportSettings::default())
    };
    let error = import(&[row("a"), row("b")], Wanted::Texts).unwrap_err();
    let expected = "no column holds the text of the reviews";
    assert!(error.to_string().contains(expected), "{error}");
    // Cells of a table that hold JSON are no texts either.
    let cell = |value: &Value| format!("\"{}\"", value.to_string().replace('"', "\"\""));
    let table = format!("id;probabilities\na;{}\n", cell(&row("a")["probabilities"]));
    let error = imported(
        source("t.csv", table.as_bytes()).unwrap(),
        Wanted::Texts,
        &ImportSettings::default(),
    );
    assert!(error.unwrap_err().to_string().contains(expected));
    // Prose beside them is, brackets or not.
    let mut with_prose = row("a");
    with_prose["remarks"] = json!(format!("[draft] {}", TEXTS[0]));
    let found = import(&[with_prose], Wanted::Texts).unwrap();
    assert_eq!(found.note.unwrap().text_fields, ["remarks"]);
}

#[test]
fn columns_that_caz_has_not_and_those_that_nothing_takes_are_refused() {
    let settings = |key: &str| ImportSettings {
        columns: [(key.to_owned(), "a".to_owned())].into(),
        ..ImportSettings::default()
    };
    let file = || source("t.csv", b"a,b,c\n1,2,3\n").unwrap();
    let error = imported(file(), Wanted::Reviews, &settings("reveiwer")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("`reveiwer` is no column"), "{error}");
    assert!(error.to_string().contains("paper, reviewer, text, task"), "{error}");
    // caz has it, but reviews have none.
    let opened = |key: &str, wanted: Wanted| {
        let mut opener = Opener::new(settings(key));
        let own = source("t.csv", b"paper,reviewer,text,task,worker,label\n1,2,3,4,5,6\n").unwrap();
        // Whether the column is there is another matter.
        _ = opener.first(own, wanted);
        opener.finish().map(|_| ()).map_err(|error| error.to_string())
    };
    let error = opened("worker", Wanted::Reviews).unwrap_err();
    assert_eq!(
        error,
        "no file of this run takes `worker`; those that it takes are paper, reviewer, text"
    );
    assert_eq!(opened("worker", Wanted::Labels), Ok(()));
    assert_eq!(opened("title", Wanted::Papers), Ok(()));
}

#[test]
fn windows_1252_is_said() {
    let all = fixtures();
    let latin = all.iter().find(|fixture| fixture.name.ends_with("1252")).unwrap();
    let warnings = latin.import(&latin.bytes).unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].code, "windows_1252");
}

#[test]
fn messages_about_columns_show_little_and_guess() {
    let text = format!("{};{}\n{};{}\n", TEXTS[0].replace(['"', ';'], ""), "ann", LATE, "ben");
    let read = |text: &str| {
        let source = source("x", text.as_bytes()).unwrap();
        match imported(source, Wanted::Reviews, &ImportSettings::default()) {
            Err(error) => error.to_string(),
            // Of a table in caz's own shape the ordinary reader says what is wrong.
            Ok(imported) => {
                read_reviews(&imported.source, &[], Duplicates::Error).unwrap_err().to_string()
            }
        }
    };
    let message = read(&text);
    assert!(!message.contains("others"), "{message}");
    assert!(message.lines().all(|line| line.chars().count() < 300), "{message}");
    let message = read("paper;reviewr;text\n1;a;b\n");
    assert!(message.contains("did you mean `reviewr`?"), "{message}");
}

#[test]
fn damaged_files_neither_panic_nor_grow() {
    const TIMES: usize = 150;
    const BYTES: &[u8] = b"\"\\{}[],:;\t\n\r<>/=&#|\0\xff\xc3e0";
    /// The names of caz's columns around an answer.
    const PER_ROW: usize = 64;
    let mut random = ChaCha8Rng::seed_from_u64(15);
    let mut read = 0;
    for fixture in fixtures() {
        for _ in 0..TIMES {
            let mut bytes = fixture.bytes.clone();
            for _ in 0..random.random_range(1..6) {
                if bytes.is_empty() {
                    break;
                }
                let at = random.random_range(0..bytes.len());
                let end = (at + random.random_range(1..40)).min(bytes.len());
                match random.random_range(0..5) {
                    0 => bytes[at] = random.random(),
                    1 => bytes[at] = BYTES[random.random_range(0..BYTES.len())],
                    2 => drop(bytes.drain(at..end)),
                    3 => {
                        let again = bytes[at..end].to_vec();
                        drop(bytes.splice(at..at, again));
                    }
                    _ => bytes.truncate(at),
                }
            }
            let Ok(imported) = fixture.import(&bytes) else { continue };
            read += 1;
            let size = |source: &Source| {
                let rows = bytecount::count(&source.bytes, b'\n');
                source.bytes.len().saturating_sub(PER_ROW * rows)
            };
            let size = size(&imported.source) + imported.llm.as_ref().map_or(0, size);
            let most = 10 * bytes.len();
            assert!(size <= most, "{}: {size} of {}", fixture.name, bytes.len());
        }
    }
    // Not everything was refused, or the test would say nothing about rows.
    assert!(read > 1000, "{read}");
}

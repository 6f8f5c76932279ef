//! Files as the systems and tools write them, and what is in them.

use super::*;

pub(super) fn openreview_notes(version: u8) -> Vec<Value> {
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

pub(super) fn openreview() -> Vec<Fixture> {
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

pub(super) fn hotcrp() -> Vec<Fixture> {
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

pub(super) fn other_reviews() -> Vec<Fixture> {
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
pub(super) fn tools() -> Vec<Fixture> {
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
    prodigy
        .push(json!({"_input_hash": "Q1", "_task_hash": 3, "accept": ["no"], "answer": "reject",
        "_annotator_id": "cat"}));
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
    let qualtrics = "StartDate,Status,Finished,ResponseId,Q1,Q2,PROLIFIC_PID\nStart Date,Response Type,Finished,Response ID,\"Is it new, or not?\",Is it right?,PROLIFIC_PID\n\
                     \"{\"\"ImportId\"\":\"\"startDate\"\"}\",\"{\"\"ImportId\"\":\"\"status\"\"}\",\"{\"\"ImportId\"\":\"\"finished\"\"}\",\"{\"\"ImportId\"\":\"\"_recordId\"\"}\",\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID2\"\"}\",\"{\"\"ImportId\"\":\"\"PROLIFIC_PID\"\"}\"\n\
                     2031,IP Address,True,ann,yes,no,p1\n2031,0,True,ben,no,no,p2\n2031,IP Address,False,cat,yes,yes,p3\n\
                     2031,IP Address,True,,yes,yes,p4\n2031,Survey Preview,True,eve,yes,yes,p5\n";
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
    let said: Vec<[String; 3]> = LABELS
        .iter()
        .map(|(task, worker, label)| (*task, *worker, json!(label)))
        .chain([("Q2", "cat", Value::Null)])
        .map(|(task, worker, value)| {
            let said = json!([{"task": "T0", "task_label": "Is it?", "value": value}]);
            [task.to_owned(), worker.to_owned(), said.to_string()]
        })
        .collect();
    let mut zooniverse = vec![vec!["classification_id", "user_name", "annotations", "subject_ids"]];
    zooniverse.extend(said.iter().map(|[task, worker, said]| vec!["1", worker, said, task]));
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
        Fixture::labels("Prodigy", "prodigy", lines(&prodigy)).text(&["accept or label"]).read(
            7,
            &[
                ("examples without an annotator", 1),
                ("ignored examples", 1),
                ("rejected examples", 1),
            ],
        ),
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
            .text(&["answer"])
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
        Fixture::labels("Qualtrics", "qualtrics", qualtrics).read(
            5,
            &[
                ("column that is no question, `PROLIFIC_PID`", 1),
                ("previews, tests and spam", 1),
                ("respondents without an id", 1),
                ("unfinished answers", 1),
            ],
        ),
        Fixture::labels(
            "Appen",
            "appen",
            "_unit_id,_golden,_id,_tainted,_trust,_worker_id,url,mood,mood_gold\n\
             Q1,false,1,false,.9,ann,u1,yes,\nQ1,false,2,false,.9,ben,u1,no,\nQ2,false,3,false,.9,ann,u2,no,\n\
             Q2,false,4,false,.9,ben,u2,no,\nQ2,false,5,true,.2,cat,u2,yes,\n",
        )
        .text(&["mood"])
        .read(5, &[("tainted judgments", 1)]),
        Fixture::labels("Zooniverse", "zooniverse", table(b',', &zooniverse)).text(&["T0"]).read(
            5,
            &[("classifications without an answer", 1)],
        ),
        Fixture::labels(
            "LimeSurvey",
            "limesurvey",
            "id,submitdate,lastpage,startlanguage,Q1,Q2\nann,2031-01-01 10:00:00,2,en,yes,no\n\
             ben,2031-01-01 10:00:00,2,en,no,no\ncat,,1,en,yes,\n",
        )
        .read(3, &[("unfinished answers", 1)]),
        Fixture::labels(
            "SurveyMonkey",
            "surveymonkey",
            "Respondent ID,Collector ID,Start Date,End Date,IP Address,Q1,Q2\n,,,,,Response,Response\n\
             ann,7,1/1/2031 10:00,1/1/2031 10:05,x,yes,no\nben,7,1/1/2031 10:00,1/1/2031 10:05,x,no,no\n",
        )
        .read(2, &[]),
        Fixture::labels(
            "Google Forms",
            "google-forms",
            "Timestamp,Email Address,Q1,Q2\n2031/01/01 9:00:00 AM,ann,yes,no\n2031/01/01 9:01:00 AM,ben,no,no\n",
        )
        .read(2, &[]),
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

pub(super) fn tables() -> Vec<Fixture> {
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

//! Every format, made by hand after its documented shape: who detects it, which rows come out, what is
//! left out, and that damage is an error and never a panic.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::catalogue::FORMATS;
use super::charset::decoded;
use super::peek::{Peek, Root};
use super::*;
use crate::data::duplicates::Duplicates;
use crate::data::review_reader::read_reviews;
use crate::data::source::Source;
use crate::error::{ErrorKind, Kinded};

mod exports;

use self::exports::{hotcrp, openreview, openreview_notes, other_reviews, tables, tools};

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
            // How long somebody worked is kept where the file has it.
            let keys = row.as_object().unwrap().keys().filter(|key| *key != "seconds");
            assert_eq!(keys.count(), 3, "{row}");
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
        let found: Vec<&str> = FORMATS
            .iter()
            .filter(|format| format.importer.detect(&peek))
            .map(|format| format.name)
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

/// What comes of every file: `docs/results/imports.csv`.
fn matrix() -> String {
    let mut matrix = String::from(
        "\"file\",\"--from\",\"found\",\"rows in it\",\"used\",\"by an LLM\",\"left out\"\n",
    );
    for fixture in fixtures() {
        let imported = fixture.import(&fixture.bytes).unwrap();
        let note = imported.note.expect("it is foreign");
        let (bytes, _) = decoded(&fixture.bytes);
        let peek = Peek::new(&bytes);
        let first = FORMATS.iter().find(|format| format.importer.detect(&peek));
        let found = match (first.map(|format| format.name), &fixture.settings.wide) {
            (_, Some(_)) => "with --wide",
            _ if fixture.settings.from.is_some() => "with --from",
            (Some(name), _) if name == note.format => "by looking",
            _ => "with --from",
        };
        let left: Vec<String> =
            note.left_out.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        matrix.push_str(&format!(
            "\"{}\",\"{}\",\"{found}\",\"{}\",\"{}\",\"{}\",\"{}\"\n",
            fixture.name,
            note.format,
            note.read,
            note.people,
            note.llm,
            left.join(", ").replace('`', "")
        ));
    }
    matrix
}

#[test]
fn the_matrix_of_the_documentation_is_what_comes_of_the_files() {
    assert_eq!(include_str!("../../../docs/results/imports.csv"), matrix());
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
        (zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), "a spreadsheet"),
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
    // Several boxes, none of them, a single one, a text, a number; a form that is no list; classifiers of one label
    // and of several.
    let boxes = json!({"a": true, "b": false, "c": true});
    let forms = [
        json!([{"q": boxes}]),
        json!([{"q": {"a": false, "b": false}}]),
        json!([{"q": {"agree": false}}]),
        json!([{"q": {"on": true}}]),
        json!([{"q": "some words"}]),
        json!({"q": 4}),
        json!([{"q": {"label": "dog"}}]),
        json!([{"q": {"labels": ["dog", "cat"]}}]),
    ];
    let mut found = read(None, &forms).unwrap();
    found.sort();
    let expected = ["4", "a; c", "cat; dog", "dog", "none", "not agree", "q", "some words"];
    assert_eq!(found, expected);
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
fn tasks_of_several_workflows_are_several_questions() {
    let row = |workflow: &str, user: &str, task: &str, value: &str| {
        let said = json!([{"task": task, "value": value}]).to_string().replace('"', "\"\"");
        format!("1,{user},{workflow},\"{said}\",s1\n")
    };
    let header = "classification_id,user_name,workflow_id,annotations,subject_ids\n";
    let read = |question: Option<&str>, rows: &[String]| {
        let file = source("z.csv", format!("{header}{}", rows.concat()).as_bytes()).unwrap();
        let mut settings = ImportSettings::default();
        settings.columns.extend(question.map(|name| ("label".to_owned(), name.to_owned())));
        imported(file, Wanted::Labels, &settings)
    };
    let one = |user: &str, label: &str| vec![("s1".to_owned(), user.to_owned(), label.to_owned())];
    let two = [row("7", "ann", "T0", "yes"), row("8", "ben", "T0", "blue")];
    let error = read(None, &two).unwrap_err().to_string();
    assert!(error.contains("7/T0, 8/T0"), "{error}");
    let found = read(Some("8/T0"), &two).unwrap();
    assert_eq!(rows_of(&found.source), one("ben", "blue"));
    let left_out = found.note.unwrap().left_out;
    assert_eq!(left_out, [("classifications of another workflow".to_owned(), 1)].into());
    // One workflow, or another task: their names stay.
    assert_eq!(rows_of(&read(None, &two[..1]).unwrap().source), one("ann", "yes"));
    let two = [row("7", "ann", "T0", "yes"), row("8", "ben", "T1", "blue")];
    assert_eq!(rows_of(&read(Some("T1"), &two).unwrap().source), one("ben", "blue"));
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
        "no file of this run takes `worker`; those that it takes are paper, reviewer, text, task_text"
    );
    assert_eq!(opened("worker", Wanted::Labels), Ok(()));
    assert_eq!(opened("title", Wanted::Papers), Ok(()));
}

#[test]
fn windows_1252_is_said_and_that_many_rows_are_left_out() {
    let all = fixtures();
    let latin = all.iter().find(|fixture| fixture.name.ends_with("1252")).unwrap();
    let warnings = latin.import(&latin.bytes).unwrap().warnings;
    // Two of its five rows lack a name or a text.
    let codes: Vec<&str> = warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["windows_1252", "many_left_out"]);
    assert!(warnings[1].message.contains("were cells merged?"), "{}", warnings[1].message);
}

#[test]
fn what_a_spreadsheet_could_not_compute_is_missing_wherever_it_stands() {
    let [a, b, c] = TEXTS;
    let rows = [
        vec!["Paper", "Member", "Text"],
        vec!["#REF!", "ann", a],
        vec!["1", "#N/A", b],
        vec!["1", "ben", "#NAME?"],
        vec!["null", "ann", c],
    ];
    let file = source("t.csv", table(b';', &rows).as_bytes()).unwrap();
    let columns = [("reviewer".to_owned(), "Member".to_owned())].into();
    let settings = ImportSettings { columns, ..ImportSettings::default() };
    let found = imported(file, Wanted::Reviews, &settings).unwrap();
    let kept = [("null", "ann", c)];
    assert_eq!(rows_of(&found.source), owned(&kept));
    let left_out = ["rows without a paper", "rows without a reviewer", "rows without a text"];
    let left_out = left_out.map(|reason| (reason.to_owned(), 1));
    assert_eq!(found.note.unwrap().left_out, left_out.into());
    let said = &found.warnings[0].message;
    assert!(said.contains("3 of 4 rows"), "{said}");
    assert!(said.contains("3 hold an error of a spreadsheet"), "{said}");
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
fn damaged_files_neither_panic_nor_grow_nor_lose_rows_nor_name_others() {
    let (tried, read) = damaged(15, 220);
    assert!(tried > 10_000, "{tried}");
    // Not everything was refused, or the test would say nothing about rows.
    assert!(read > 1000, "{read}");
}

/// The same with other damage, for as long as it takes.
#[test]
#[ignore = "takes a minute"]
fn fifty_thousand_damaged_files_neither_panic_nor_grow_nor_lose_rows_nor_name_others() {
    let (tried, read) = damaged(49, 1100);
    assert!(tried > 50_000 && read > 5000, "{tried} {read}");
}

/// Damages every file so many times: how many were tried, and how many could be read.
fn damaged(seed: u64, times: usize) -> (usize, usize) {
    const BYTES: &[u8] = b"\"\\{}[],:;\t\n\r<>/=&#|\0\xff\xc3e0";
    /// The names of caz's columns around an answer.
    const PER_ROW: usize = 64;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut tried, mut read) = (0, 0);
    for fixture in fixtures() {
        for _ in 0..times {
            let mut bytes = fixture.bytes.clone();
            for _ in 0..random.random_range(1..6) {
                if bytes.is_empty() {
                    break;
                }
                let at = random.random_range(0..bytes.len());
                let end = (at + random.random_range(1..40)).min(bytes.len());
                match random.random_range(0..7) {
                    0 => bytes[at] = random.random(),
                    1 => bytes[at] = BYTES[random.random_range(0..BYTES.len())],
                    2 => drop(bytes.drain(at..end)),
                    3 => {
                        let again = bytes[at..end].to_vec();
                        drop(bytes.splice(at..at, again));
                    }
                    4 => drop(bytes.splice(at..at, *b"NaN")),
                    // A line without its end, or one that ends early.
                    5 => {
                        let line = bytes[at..].iter().position(|byte| *byte == b'\n');
                        let line = line.map_or(bytes.len(), |line| at + line);
                        drop(bytes.drain(at..line));
                    }
                    _ => bytes.truncate(at),
                }
            }
            tried += 1;
            let Ok(imported) = fixture.import(&bytes) else { continue };
            read += 1;
            let size = |source: &Source| {
                let rows = bytecount::count(&source.bytes, b'\n');
                source.bytes.len().saturating_sub(PER_ROW * rows)
            };
            let size = size(&imported.source) + imported.llm.as_ref().map_or(0, size);
            let most = 10 * bytes.len();
            assert!(size <= most, "{}: {size} of {}", fixture.name, bytes.len());
            nothing_is_lost(&fixture, &imported);
            rows_stand_where_they_say(&fixture, &imported, &bytes);
        }
    }
    (tried, read)
}

/// Every row of a format with an answer a row is used or left out for a reason.
fn nothing_is_lost(fixture: &Fixture, imported: &Imported) {
    const SEVERAL: [&str; 4] = ["hotcrp-batch", "wide", "qualtrics", "limesurvey"];
    let Some(note) = &imported.note else { return };
    if SEVERAL.contains(&note.format) || ["surveymonkey", "google-forms"].contains(&note.format) {
        return;
    }
    let told = note.people + note.llm + note.left_out.values().sum::<u64>();
    assert!(told >= note.read, "{}: {told} of {}: {note:?}", fixture.name, note.read);
}

/// Who is in a row stands in the file between the place that is told and that of the next row.
fn rows_stand_where_they_say(fixture: &Fixture, imported: &Imported, bytes: &[u8]) {
    let Some(places) = imported.source.imported.as_ref().filter(|places| places.by_line) else {
        return;
    };
    // What EasyChair calls a person is made of two cells; wide tables have who or what in the header.
    if matches!(places.format, "easychair" | "wide") {
        return;
    }
    let (text, _) = decoded(bytes);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let rows = imported.source.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    for (line, &place) in rows.zip(&places.rows) {
        let from = usize::try_from(place).unwrap() - 1;
        assert!(from < lines.len(), "{}: line {place} of {}", fixture.name, lines.len());
        let next = places.rows.iter().filter(|other| **other > place).min();
        let to = next.map_or(lines.len(), |next| usize::try_from(*next).unwrap() - 1);
        // A quote inside a name goes when the cell is read.
        let mut there = lines[from..to].join(&b'\n');
        there.retain(|byte| *byte != b'"');
        let row: Value = serde_json::from_slice(line).unwrap();
        let who =
            ["reviewer", "worker"].iter().find_map(|key| row[*key].as_str()).unwrap_or_default();
        // What was escaped there stands otherwise here.
        let plain = who.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@. ".contains(&byte));
        let stands = memchr::memmem::find(&there, who.as_bytes()).is_some();
        assert!(
            stands || !plain || places.format == "doccano",
            "{}: `{who}` in line {place}",
            fixture.name
        );
    }
}

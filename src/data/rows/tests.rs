use super::*;
use crate::data::problem::Problems;
use crate::data::reading::Listener;
use std::path::Path;

const SCHEMA: [Column; 2] = [
    Column { name: "paper", synonyms: &["task"], required: true },
    Column { name: "text", synonyms: &[], required: false },
];

/// The rows as `line:paper|text`, and the problems.
fn rows_of(name: &str, bytes: &[u8]) -> (Vec<String>, Problems) {
    let source = Source::from_reader(Path::new(name), bytes).unwrap();
    let mut problems = Problems::new();
    let mut rows = Vec::new();
    read_rows(&source, &SCHEMA, &mut FileProblems::new(&source, &mut problems), &mut |row, _| {
        let name = |field: &Field<'_>| field.as_name().map_or("?".into(), Cow::into_owned);
        rows.push(format!("{}:{}|{}", row.line, name(&row.fields[0]), name(&row.fields[1])));
    });
    (rows, problems)
}

fn only_problem(name: &str, bytes: &[u8]) -> String {
    let (_, problems) = rows_of(name, bytes);
    assert_eq!(problems.total(), 1, "{problems}");
    problems.shown()[0].to_string()
}

#[test]
fn crlf_byte_order_mark_and_blank_lines_are_accepted() {
    let (rows, problems) = rows_of("a.csv", b"\xef\xbb\xbfPaper,text\r\np1,x\r\n\r\np2,y\r\n");
    assert_eq!(rows, ["2:p1|x", "4:p2|y"]);
    assert!(problems.is_empty(), "{problems}");
    let (rows, problems) = rows_of("a.jsonl", b"\xef\xbb\xbf{\"task\":1,\"text\":\"x\"}\r\n\n");
    assert_eq!(rows, ["1:1|x"]);
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn quoted_newlines_stay_in_the_field_and_lines_still_count() {
    let (rows, _) = rows_of("a.csv", b"paper,text\np1,\"a\nb\"\np2,c\n");
    assert_eq!(rows, ["2:p1|a\nb", "4:p2|c"]);
}

#[test]
fn an_open_quote_is_reported_where_it_opens() {
    let problem = only_problem("a.csv", b"paper,text\np1,x\np2,\"never\np3,y\n");
    assert!(problem.starts_with("a.csv:3: a quote is opened here"), "{problem}");
}

#[test]
fn bad_utf8_names_line_column_and_byte() {
    let problem = only_problem("a.csv", b"paper,text\np1,ab\xffc\n");
    assert!(problem.starts_with("a.csv:2: column `text`: is not valid UTF-8 at byte 3"));
    let problem = only_problem("a.jsonl", b"{\"paper\":\"\xff\"}\n");
    assert!(problem.starts_with("a.jsonl:1: is not valid UTF-8 at byte 11"), "{problem}");
}

#[test]
fn a_missing_column_lists_its_synonyms_and_the_header() {
    assert_eq!(
        only_problem("a.csv", b"id,text\n1,x\n"),
        "a.csv:1: column `paper`: the header lacks `paper` (or task); it has: id, text"
    );
    assert_eq!(
        only_problem("a.jsonl", b"{\"text\":\"x\"}\n"),
        "a.jsonl:1: column `paper`: the object lacks the key `paper` (or task)"
    );
}

#[test]
fn two_candidates_for_a_column_are_not_guessed_between() {
    let problem = only_problem("a.csv", b"paper,task,text\n1,2,x\n");
    assert!(problem.contains("`paper` and `task` both name it"), "{problem}");
}

#[test]
fn a_row_of_another_width_is_reported_and_the_next_is_read() {
    let (rows, problems) = rows_of("a.csv", b"paper,text\np1,x,y\np2,z\n");
    assert_eq!(rows, ["3:p2|z"]);
    assert!(problems.shown()[0].to_string().starts_with("a.csv:2: the row has 3 fields"));
}

#[test]
fn broken_json_names_the_character_and_the_next_line_is_read() {
    let (rows, problems) = rows_of("a.jsonl", b"{\"paper\":NaN}\n{\"paper\":\"p\"}\n");
    assert_eq!(rows, ["2:p|?"]);
    let problem = problems.shown()[0].to_string();
    assert!(problem.starts_with("a.jsonl:1: is not valid JSON at character"), "{problem}");
}

#[test]
fn numbers_that_readers_of_json_confuse_are_no_names_and_others_are_kept_as_written() {
    let (rows, problems) = rows_of(
        "a.jsonl",
        b"{\"paper\":9007199254740993}\n{\"paper\":9007199254740992}\n\
          {\"paper\":123456789012345678901}\n{\"paper\":\"123456789012345678902\"}\n",
    );
    assert_eq!(
        rows,
        ["1:9007199254740993|?", "2:9007199254740992|?", "3:?|?", "4:123456789012345678902|?"]
    );
    assert!(problems.is_empty());
}

#[test]
fn a_key_that_stands_twice_is_a_problem() {
    let problem = only_problem("a.jsonl", b"{\"paper\":\"a\",\"text\":\"x\",\"paper\":\"b\"}\n");
    assert!(problem.contains("the key `paper` stands twice; keep one of them"), "{problem}");
}

#[test]
fn a_json_list_is_explained_once() {
    let problem = only_problem("a.json", b"[\n{\"paper\":1},\n{\"paper\":2}\n]\n");
    assert!(problem.contains("one object a line"), "{problem}");
}

#[test]
fn empty_files_and_lone_headers_are_problems() {
    assert!(only_problem("a.csv", b" \n").contains("the file is empty"));
    assert!(only_problem("a.csv", b"paper,text\n").contains("no row of data"));
}

#[test]
fn a_record_of_100_megabytes_is_refused_and_the_next_is_read() {
    let mut bytes = b"{\"paper\":\"p1\",\"text\":\"".to_vec();
    bytes.resize(100 << 20, b'x');
    bytes.extend_from_slice(b"\"}\n{\"paper\":\"p2\"}\n");
    let (rows, problems) = rows_of("a.jsonl", &bytes);
    assert_eq!(rows, ["2:p2|?"]);
    assert!(problems.shown()[0].message.contains("at most 16777216"), "{problems}");

    let mut bytes = b"paper,text\np1,".to_vec();
    bytes.resize(100 << 20, b'x');
    bytes.extend_from_slice(b"\np2,y\n");
    let (rows, problems) = rows_of("a.csv", &bytes);
    assert_eq!(rows, ["3:p2|y"]);
    assert_eq!(problems.total(), 1);
}

/// Hears what is read: the name and the items of every stage, and every step in it.
#[derive(Default)]
struct Heard(std::sync::Mutex<Vec<(&'static str, u64)>>);

struct Step(std::sync::Arc<Heard>);

impl crate::data::progress::Progress for Step {
    fn advance(&self, items: u64) {
        self.0.0.lock().unwrap().push(("step", items));
    }
}

struct Listening(std::sync::Arc<Heard>);

impl crate::data::observer::Observer for Listening {
    fn stage(&self, doing: &'static str, total: u64) -> Box<dyn crate::data::progress::Progress> {
        self.0.0.lock().unwrap().push((doing, total));
        Box::new(Step(std::sync::Arc::clone(&self.0)))
    }

    fn say(&self, _line: &str) {}
}

#[test]
fn whoever_listens_hears_how_many_bytes_of_the_file_are_read() {
    let text = "y".repeat(99);
    let csv = format!("paper,text\n{}", format!("p,{text}\n").repeat(50_000));
    let lines = format!("{{\"paper\":\"p\",\"text\":\"{text}\"}}\n").repeat(50_000);
    for (name, content) in [("a.csv", csv), ("a.jsonl", lines)] {
        let heard = std::sync::Arc::new(Heard::default());
        let listener = Listener::new(std::sync::Arc::new(Listening(heard.clone())));
        let source = Source::from_reader(Path::new(name), content.as_bytes()).unwrap();
        let source = source.heard_by(listener);
        let mut problems = Problems::new();
        let mut problems = FileProblems::new(&source, &mut problems);
        assert_eq!(read_rows(&source, &SCHEMA, &mut problems, &mut |_, _| {}), 50_000);
        let heard = heard.0.lock().unwrap();
        assert_eq!(heard[0], ("reading", content.len() as u64));
        // Once in a mebibyte, the last of which ends with the file.
        assert_eq!(heard.len() - 1, content.len() >> 20, "{name}");
        let read: u64 = heard[1..].iter().map(|(_, bytes)| bytes).sum();
        assert!(read <= content.len() as u64 && read + (1 << 21) > content.len() as u64, "{read}");
    }
}

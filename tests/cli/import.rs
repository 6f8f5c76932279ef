//! `caz import`: what is written, what is said, what is refused.

use super::Folder;

const NOTES: &str = r#"[
{"id":"a","forum":"p1","invitations":["V/Submission1/-/Official_Review"],"signatures":["V/R1"],
 "content":{"review":{"value":"A sound method, and a clear text."},"rating":{"value":6}}},
{"id":"b","forum":"p1","invitations":["V/Submission1/-/Official_Review"],"signatures":["V/R2"],
 "ddate":1,"content":{"review":{"value":"Withdrawn."}}},
{"id":"c","forum":"p1","invitations":["V/Submission1/-/LLM_PDF_Feedback"],
 "signatures":["V/Automated_Administrator"],"content":{"feedback":{"value":"Cite more."}}}]"#;

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn people_and_llms_go_to_two_files_and_what_was_done_is_said() {
    let folder = Folder::new();
    folder.write("notes.txt", NOTES);
    let run = folder.caz(&["import", "notes.txt", "--output", "out.jsonl"]).succeeded();
    assert_eq!(
        read(&folder, "out.jsonl"),
        "{\"paper\":\"p1\",\"reviewer\":\"V/R1\",\"text\":\"A sound method, and a clear text.\"}\n"
    );
    assert_eq!(
        read(&folder, "out.z.jsonl"),
        "{\"paper\":\"p1\",\"source\":\"LLM_PDF_Feedback\",\"text\":\"Cite more.\"}\n"
    );
    for part in [
        "`notes.txt` was read as openreview: 1 of 3 rows is by people, 1 by an LLM",
        "1 left out: deleted reviews",
        "read from review",
        "out.z.jsonl",
    ] {
        assert!(run.stderr.contains(part), "no `{part}` in {}", run.stderr);
    }
    assert_eq!(run.stdout, "");
    // Rows by an LLM have no place on standard output.
    folder.caz(&["import", "notes.txt"]).failed(2, &["--output"]);
}

#[test]
fn what_no_import_has_left_is_not_written_over() {
    let folder = Folder::new();
    folder.write("notes.txt", NOTES);
    folder.write("out.z.jsonl", "mine\n");
    let command = ["import", "notes.txt", "--output", "out.jsonl"];
    folder.caz(&command).failed(2, &["`out.z.jsonl`, which is there", "choose another --output"]);
    assert_eq!(read(&folder, "out.z.jsonl"), "mine\n");
    assert!(!folder.path("out.jsonl").exists());
    // Beside an output of an earlier run it is one, too.
    folder.write("out.jsonl", "");
    folder.caz(&command).succeeded();
    assert_ne!(read(&folder, "out.z.jsonl"), "mine\n");
}

#[test]
fn several_files_are_joined_and_columns_are_mapped() {
    let folder = Folder::new();
    folder.write("a.csv", "Item;Coder;Verdict\n1;ann;yes\n");
    folder.write("b.csv", "task,worker,label\n2,ben,no\n");
    let columns = ["--column", "task=Item", "--column", "label=verdict"];
    let run = folder.caz(&[&["import", "a.csv"], &columns[..]].concat()).succeeded();
    assert_eq!(run.stdout, "{\"task\":\"1\",\"worker\":\"ann\",\"label\":\"yes\"}\n");
    folder.write("a.jsonl", run.stdout);
    let run = folder.caz(&["import", "a.jsonl", "b.csv"]).succeeded();
    assert_eq!(
        run.stdout,
        "{\"task\":\"1\",\"worker\":\"ann\",\"label\":\"yes\"}\n\
         {\"task\":\"2\",\"worker\":\"ben\",\"label\":\"no\"}\n"
    );
}

#[test]
fn mistakes_have_the_exit_code_of_their_kind() {
    let folder = Folder::new();
    folder.write("a.csv", "task,worker,label\n2,ben,no\n");
    folder.write("a.pdf", "%PDF-1.7\n");
    folder.write("notes.json", NOTES);
    folder.write("out.z.jsonl", "{}\n");
    folder.caz(&["import", "a.csv", "--from", "excel"]).failed(2, &["excel", "openreview"]);
    folder.caz(&["import", "a.csv", "--column", "task"]).failed(2, &["KEY=NAME"]);
    folder.caz(&["import", "a.csv", "--column", "x=y"]).failed(2, &["`x`", "paper"]);
    folder.caz(&["import", "a.pdf"]).failed(3, &["PDF", "CSV"]);
    folder.caz(&["import", "no.csv"]).failed(4, &["no.csv"]);
    folder.caz(&["import", "notes.json", "--for", "labels"]).failed(3, &["it holds reviews"]);
    folder.caz(&["import", "a.csv", "--output", "a.csv"]).failed(2, &["write over"]);
    folder
        .caz(&["import", "notes.json", "out.z.jsonl", "--output", "out.jsonl"])
        .failed(2, &["write over"]);
}

#[test]
fn an_import_is_scored_like_a_file_of_caz() {
    let folder = Folder::new();
    let own = "paper,reviewer,text\np,a,first words about it\np,b,other words about it\n";
    folder.write("own.csv", own);
    folder.write("foreign.csv", own.replace(',', ";").replace("text", "Review Text"));
    folder.write("z.csv", "paper,text\np,words of a machine\n");
    folder.caz(&["import", "foreign.csv", "--output", "in.jsonl"]).succeeded();
    let scores = |file: &str| {
        folder.caz(&["reviews", file, "--z", "z.csv", "--format", "csv"]).succeeded().stdout
    };
    assert_eq!(scores("own.csv"), scores("in.jsonl"));
}

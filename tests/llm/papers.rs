//! Papers as PDF files: read in a process of their own, bad ones listed, the rest asked about.

use std::fs;

use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use serde_json::{Value, json};

use crate::command_line::Desk;
use crate::server::{Asked, Reply, Server};

const REVIEW: &str = "The question matters, and the study is large enough to answer it. I miss a control \
    group: people who are watched may read in another way than people who are not. The statistics are \
    sound, but the confidence intervals of figure two are far too narrow for forty readers.";

/// A PDF of lines, the first larger than the rest.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
    });
    let mut content = String::from("BT 12 TL 72 760 Td ");
    for (at, line) in lines.iter().enumerate() {
        let size = if at == 0 { 16 } else { 10 };
        content.push_str(&format!("/F1 {size} Tf ({line}) Tj T* "));
    }
    content.push_str("ET");
    let content = document.add_object(Stream::new(Dictionary::new(), content.into_bytes()));
    let tree = document.new_object_id();
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content,
        "MediaBox" => vec![0.into(), 0.into(), 612.into(), 792.into()],
        "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
    });
    let pages = vec![Object::from(page)];
    let entries = dictionary! { "Type" => "Pages", "Count" => 1, "Kids" => pages };
    document.objects.insert(tree, entries.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn paper(title: &str) -> Vec<u8> {
    let mut lines = vec![title, "Abstract"];
    lines.extend(
        ["We count words in papers, which has been done before and will be done again,"; 2],
    );
    lines.push("1 Introduction");
    lines.extend(["This is a line of the body, of which there are many in every paper."; 12]);
    lines.extend(["References", "[1] Somebody: something, somewhere."]);
    pdf(&lines)
}

fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.path("papers")).unwrap();
    fs::write(desk.path("papers/p1.pdf"), paper("Counting Words")).unwrap();
    fs::write(desk.path("papers/p2.PDF"), paper("Counting Again")).unwrap();
    fs::write(desk.path("papers/scan.pdf"), pdf(&["Scanned by a machine"])).unwrap();
    desk.write("papers/broken.pdf", "%PDF-1.7\nnothing");
    desk.write("papers/notes.txt", "no paper");
    desk
}

#[test]
fn a_folder_of_papers_is_read_and_what_has_no_text_is_listed() {
    let desk = desk();
    let server = Server::start(|asked: &Asked| {
        let body = asked.body.to_string();
        assert!(body.contains("line of the body") && !body.contains("Somebody"), "{body}");
        Reply::Chat(REVIEW.into())
    });
    let url = server.url();
    let arguments = ["annotate", "reviews", "papers", "--model", "m", "--base-url", &url];
    let more = ["--output", "z.jsonl", "--tasks-out", "abstracts.csv"];
    let run = desk.caz(&[&arguments[..], &more].concat());
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for words in
        ["2 papers of ", "papers/scan.pdf", "needs OCR", "papers/broken.pdf", "2 done, 2 failed"]
    {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    let z = desk.read("z.jsonl");
    let rows: Vec<Value> = z.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = rows.iter().map(|row| row["paper"].as_str().unwrap()).collect();
    assert_eq!(names, ["p1", "p2"]);
    let errors = desk.read("z.errors.jsonl");
    let kinds: Vec<Value> =
        errors.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<(&str, &str)> = kinds
        .iter()
        .map(|row| (row["paper"].as_str().unwrap(), row["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(kinds, [("broken", "unreadable"), ("scan", "no_text")]);
    let abstracts = desk.read("abstracts.csv");
    assert!(abstracts.starts_with("paper,text\np1,\"We count words"), "{abstracts}");
    assert_eq!(abstracts.lines().count(), 3, "{abstracts}");
    // A limit for failures is one for papers that cannot be read, too.
    let run = desk.caz(&[&arguments[..], &["--max-failed", "2"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn papers_are_named_by_file_title_or_list() {
    let desk = desk();
    desk.write("list.csv", "paper,pdf,abstract\n17,papers/p1.pdf,of the list\n18,papers/p2.PDF,\n");
    let dry = ["--model", "m", "--dry-run", "--tasks-out"];
    let by_list = [&["annotate", "reviews", "list.csv"][..], &dry, &["a.jsonl"]].concat();
    let run = desk.caz(&by_list);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let abstracts = desk.read("a.jsonl");
    let first: Value = serde_json::from_str(abstracts.lines().next().unwrap()).unwrap();
    assert_eq!(first, json!({"paper": "17", "text": "of the list"}));
    assert!(abstracts.lines().nth(1).unwrap().contains("We count words"), "{abstracts}");
    let files = ["annotate", "reviews", "papers/p1.pdf", "papers/p2.PDF", "--paper-from", "title"];
    desk.done(&[&files[..], &dry, &["b.csv"]].concat());
    assert!(desk.read("b.csv").contains("\nCounting Again,"), "{}", desk.read("b.csv"));
}

#[test]
fn papers_for_a_chat_window_are_read_from_their_list() {
    let desk = desk();
    desk.write("list.csv", "paper,pdf,text\n17,papers/p1.pdf,\n18,,Of the list.\n");
    let paste = desk.done(&["prompts", "render", "review-1", "list.csv"]).stdout;
    let (first, second) = paste.split_once("=== 2 ===\n").unwrap();
    assert!(first.contains("=== 1 ===\n") && first.contains("line of the body"), "{paste}");
    assert!(second.starts_with("Of the list.\n"), "{paste}");
    desk.write("scan.csv", "paper,pdf\n1,papers/scan.pdf\n");
    desk.write("bare.csv", "paper,text\n1,x\n2,\n");
    for (items, code, words) in [
        ("scan.csv", 3, "`papers/scan.pdf`: "),
        ("bare.csv", 3, "bare.csv:3: there is no title, abstract or text"),
        ("papers", 2, "name a table"),
        ("papers/p1.pdf", 2, "name a table"),
    ] {
        let run = desk.caz(&["prompts", "render", "review-1", items]);
        assert_eq!(run.code, Some(code), "{items}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{items}: {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_a_paper_is_told_at_once() {
    let desk = desk();
    fs::create_dir(desk.path("more")).unwrap();
    fs::write(desk.path("more/p1.pdf"), paper("Another")).unwrap();
    fs::create_dir(desk.path("none")).unwrap();
    desk.write("t.csv", "paper,text\na,b\n");
    let dry = ["--model", "m", "--dry-run"];
    for (papers, code, words) in [
        (&["papers/p1.pdf", "more"][..], 3, "are both named `p1`"),
        (&["none"], 3, "has no PDF file"),
        (&["papers/scan.pdf"], 3, "none of 1 papers can be read"),
        (&["papers/p1.pdf", "t.csv"], 2, "or one table"),
        (&["missing.pdf"], 3, "cannot read it"),
    ] {
        let run = desk.caz(&[&["annotate", "reviews"][..], papers, &dry].concat());
        assert_eq!(run.code, Some(code), "{papers:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{papers:?}: {}", run.stderr);
    }
    let taken = ["annotate", "reviews", "t.csv", "--tasks-out", "t.csv"];
    let run = desk.caz(&[&taken[..], &dry].concat());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--tasks-out would write over `t.csv`"), "{}", run.stderr);
}

#[test]
fn no_file_takes_more_than_its_share() {
    let desk = Desk::new();
    // 600 MB of blanks in 600 KB; a tree of pages that holds itself.
    let mut document = Document::load_mem(&paper("Bomb")).unwrap();
    let mut stream = Stream::new(Dictionary::new(), vec![b' '; 600 << 20]);
    stream.compress().unwrap();
    let content = document.add_object(stream);
    let page = document.get_pages()[&1];
    document.get_dictionary_mut(page).unwrap().set("Contents", content);
    document.save(desk.path("bomb.pdf")).unwrap();
    let mut document = Document::load_mem(&paper("Cycle")).unwrap();
    let tree = document.catalog().unwrap().get(b"Pages").unwrap().as_reference().unwrap();
    document.get_dictionary_mut(tree).unwrap().set("Kids", vec![Object::from(tree); 1000]);
    document.save(desk.path("cycle.pdf")).unwrap();
    fs::write(desk.path("good.pdf"), paper("Good")).unwrap();
    let files = ["annotate", "reviews", "bomb.pdf", "cycle.pdf", "good.pdf"];
    let run = desk.done(&[&files[..], &["--model", "m", "--dry-run"]].concat());
    assert!(run.stderr.contains("1 papers of "), "{}", run.stderr);
    assert!(run.stderr.contains("`bomb.pdf`: it is no PDF that can be read"), "{}", run.stderr);
    assert!(run.stderr.contains("`cycle.pdf`: "), "{}", run.stderr);
}

//! Every kind of bad input has a clear outcome: exit code 3 with file, line and column.

use std::io::Write;

use super::{Folder, sample};

const REVIEWS: &str = "paper,reviewer,text\np1,a,good idea\np1,b,weak proof\n";
const Z: &str = "paper,text\np1,the method is novel\n";

/// Runs `caz reviews r.csv --z z.csv` on the given bytes.
fn run(reviews: impl AsRef<[u8]>, z: impl AsRef<[u8]>) -> super::Run {
    let folder = Folder::new();
    folder.write("r.csv", reviews);
    folder.write("z.csv", z);
    folder.caz(&["reviews", "r.csv", "--z", "z.csv"])
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn missing_files_are_exit_code_4() {
    let folder = Folder::new();
    folder.write("r.csv", REVIEWS);
    folder
        .caz(&["reviews", "r.csv", "--z", "none.csv"])
        .failed(4, &["no such file: `none.csv`; check the name"]);
}

#[test]
fn bad_utf8() {
    // Every byte is a character of Windows-1252, which spreadsheets write.
    let run = run(b"paper,reviewer,text\np1,a,caf\xe9\np1,b,x\n", Z).succeeded();
    assert!(run.stdout.contains("`r.csv` is not UTF-8 and was read as Windows-1252"));
}

#[test]
fn missing_column_names_what_is_there() {
    run("paper,name,text\np1,a,x\n", Z).failed(
        3,
        &[
            "r.csv:1: column `reviewer`: the header lacks `reviewer` (or worker",
            "it has: paper, name, text",
        ],
    );
}

#[test]
fn duplicate_review() {
    let reviews = format!("{REVIEWS}p1,a,again\n");
    run(&reviews, Z).failed(
        3,
        &[
            "r.csv:4: reviewer `a` has a second review of `p1` (the first is in line 2)",
            "--duplicates",
        ],
    );
}

#[test]
fn empty_text_empty_file_and_lone_header() {
    run("paper,reviewer,text\np1,a,  \n", Z).failed(3, &["r.csv:2: column `text`: is empty"]);
    run("", Z).failed(3, &["r.csv: the file is empty"]);
    run("paper,reviewer,text\n", Z).failed(3, &["r.csv: there is a header but no row of data"]);
}

#[test]
fn numbers_that_are_not_finite_and_mixed_lengths() {
    let z = "paper,vector\np1,1 0\n";
    run("paper,reviewer,vector\np1,a,1 NaN\n", z)
        .failed(3, &["r.csv:2: column `vector`: entry 2 is NaN"]);
    run("paper,reviewer,vector\np1,a,1 2\np1,b,1 2 3\n", z)
        .failed(3, &["r.csv:3: column `vector`: has 3 numbers, earlier vectors have 2"]);
}

#[test]
fn truncated_gzip() {
    let stored = gzip(&REVIEWS.repeat(100).into_bytes());
    run(&stored[..stored.len() - 12], Z).failed(3, &["`r.csv` is not a complete gzip file"]);
}

#[test]
fn a_line_of_100_megabytes() {
    let mut reviews = b"paper,reviewer,text\np1,a,".to_vec();
    reviews.resize(100 << 20, b'x');
    run(reviews, Z).failed(3, &["r.csv:2: the record has 104857", "at most 16777216 are allowed"]);
}

#[test]
fn ten_problems_are_shown_and_all_counted() {
    let mut reviews = String::from("paper,reviewer,text\n");
    (0..25).for_each(|row| reviews.push_str(&format!("p1,a{row},\n")));
    let run = run(&reviews, Z).failed(3, &["25 problems in the input:", "... and 15 more"]);
    assert_eq!(run.stderr.matches("r.csv:").count(), 10);
}

#[test]
fn problems_of_reviews_and_z_are_reported_together() {
    run("paper,reviewer,text\np1,a,\n", "paper,text\np1,\n")
        .failed(3, &["2 problems", "r.csv:2", "z.csv:2"]);
}

#[test]
fn byte_order_mark_crlf_and_gzip_are_fine() {
    let reviews = format!("\u{feff}{}", REVIEWS.replace('\n', "\r\n"));
    run(gzip(reviews.as_bytes()), Z).succeeded();
}

#[test]
fn odd_papers_are_counted_not_refused() {
    let reviews = format!("{REVIEWS}p2,a,no llm review\np2,b,none at all\np3,a,alone\n");
    let z = format!("{Z}p9,a paper nobody reviewed\np3,about the third\n");
    let run = run(&reviews, &z).succeeded();
    for part in [
        "1 Z review is of a paper that nobody reviewed: p9",
        "1 of 3 papers has no Z; 1 pair of their reviews is left out",
        "1 paper has a single review, which no peer can support: p3",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
}

#[test]
fn mixed_text_and_vectors_name_the_remedy() {
    let reviews = "{\"paper\":1,\"reviewer\":\"a\",\"text\":\"x\"}\n{\"paper\":1,\"reviewer\":\"b\",\"vector\":[1,2]}\n";
    let folder = Folder::new();
    folder.write("r.jsonl", reviews);
    folder.write("z.csv", Z.replace("p1", "1"));
    folder
        .caz(&["reviews", "r.jsonl", "--z", "z.csv"])
        .failed(2, &["1 of 3 reviews and Z have no text"]);
    folder
        .caz(&["reviews", "r.jsonl", "--z", "z.csv", "--embedder", "given"])
        .failed(3, &["have no `vector`; give all of them one"]);
}

#[test]
fn mistakes_that_people_make_name_the_command_that_works() {
    let folder = Folder::new();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    std::fs::create_dir(folder.path("dump")).unwrap();
    std::fs::copy(&reviews, folder.path("dump/r.jsonl")).unwrap();
    folder.write("page.html", "<!DOCTYPE html><html></html>");
    folder.write("bare.csv", "p1,ann,It is well written.\np1,bob,It lacks a baseline.\n");
    folder.write("wide.csv", "task,ann,bob,cat\nt1,a,b,a\nt2,a,b,b\n");
    folder.write("l.csv", "task,worker,label\nt1,ann,a\n");
    folder.write("z.csv", "id,label\nt1,a\n");
    let tries = |arguments: &[&str], code: i32, advice: &str| {
        folder.caz(arguments).failed(code, &[&format!("try: {advice}")]);
    };
    tries(
        &["reviews", &z, "--z", &reviews],
        3,
        &format!("the two files are swapped: caz reviews {reviews} --z {z}"),
    );
    tries(
        &["reviews", "dump", "--z", &z],
        3,
        &format!("name the file: caz reviews dump/r.jsonl --z {z}"),
    );
    tries(&["reviews", "page.html", "--z", &z], 3, "`page.html` is a web page");
    tries(
        &["reviews", "bare.csv", "--z", &z],
        3,
        &format!(
            "the first line of `bare.csv` names no columns; if these are paper,reviewer,text: (echo paper,reviewer,text; cat bare.csv) | caz reviews - --z {z}"
        ),
    );
    // No shell command puts a header before what is no text.
    folder.write("bad.npz", b"PK\x03\x04,\0\0,\0");
    let binary = folder.caz(&["reviews", "bad.npz", "--z", &z]).failed(3, &["bad.npz"]);
    assert!(!binary.stderr.contains("echo"), "{}", binary.stderr);
    let wide: Vec<u8> = REVIEWS.encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("wide16.csv", wide);
    folder.caz(&["reviews", "wide16.csv", "--z", &z]).failed(
        3,
        &["`wide16.csv` is UTF-16 without a byte order mark, it seems; save it as UTF-8"],
    );
    tries(&["reviews", &reviews, "-z", &z], 2, &format!("caz reviews {reviews} --z {z}"));
    tries(&["reviews", &reviews, "--Z", &z], 2, &format!("caz reviews {reviews} --z {z}"));
    tries(&["agree", "l.csv", "--truth", "l.csv"], 2, "caz agree l.csv --gold l.csv");
    tries(
        &["labels", "wide.csv", "--z", "l.csv"],
        3,
        "with a column for each worker: caz labels wide.csv --z l.csv --columns ann,bob,cat --wide task",
    );
    tries(
        &["labels", "l.csv", "--z", "z.csv", "--column", "task=id"],
        3,
        "that column is of the file of Z: caz labels l.csv --z z.csv --z-column task=id",
    );
}

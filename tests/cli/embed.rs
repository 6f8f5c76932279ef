//! `caz embed` writes vectors that `caz reviews --embedder given` reads.

use super::{Folder, sample};

#[test]
fn embedding_first_and_scoring_later_is_the_same() {
    let folder = Folder::new();
    for name in ["reviews", "llm-reviews"] {
        let (input, output) = (sample(&format!("{name}.jsonl")), format!("{name}.jsonl"));
        folder
            .caz(&["embed", &input, "--vectors", "granularity=sentence", "--output", &output])
            .succeeded();
    }
    let scores = |reviews: &str, z: &str| {
        let command = ["reviews", reviews, "--z", z, "--score", "projected", "--format", "csv"];
        folder.caz(&command).succeeded()
    };
    let later = scores("reviews.jsonl", "llm-reviews.jsonl");
    let at_once = scores(&sample("reviews.jsonl"), &sample("llm-reviews.jsonl"));
    assert_eq!(later.stdout.replace(",given,", ",static,"), at_once.stdout);
}

#[test]
fn npy_has_one_row_per_text_and_csv_the_same_numbers() {
    let folder = Folder::new();
    folder.write("t.csv", "id,text\n1,a strong paper\n2,the proof is wrong\n");
    folder.caz(&["embed", "t.csv", "--output", "v.npy"]).succeeded();
    let npy = std::fs::read(folder.path("v.npy")).unwrap();
    assert_eq!(&npy[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!((10 + length) % 64, 0);
    let header = std::str::from_utf8(&npy[10..10 + length]).unwrap();
    assert!(header.contains("'shape': (2, 128)"), "{header}");
    let numbers: Vec<f64> = npy[10 + length..]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(numbers.len(), 256);

    let rows = folder.caz(&["embed", "t.csv", "--format", "csv"]).succeeded().csv();
    assert_eq!(rows[0], ["id", "vector"]);
    let second: Vec<f64> = rows[2][1].split(' ').map(|entry| entry.parse().unwrap()).collect();
    assert_eq!(second, numbers[128..]);
}

#[test]
fn formats_that_hold_no_vectors_are_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "id,text\n1,x\n");
    folder.caz(&["embed", "t.csv", "--format", "table"]).failed(2, &["jsonl, csv or json", ".npy"]);
    folder.caz(&["embed", "t.csv", "--embedder", "given"]).failed(2, &["embeds nothing"]);
    folder.caz(&["embed", "t.csv", "--embedder", "word2vec"]).failed(2, &["choose static"]);
}

#[test]
fn aspects_have_names_and_score_later_as_at_once() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "id,text\n1,The paper is very well written. The novelty is limited.\n2,Hello.\n",
    );
    let rows = folder
        .caz(&["embed", "t.csv", "--embedder", "aspects", "--format", "csv"])
        .succeeded()
        .csv();
    assert_eq!(rows[0].len(), 20);
    assert_eq!(rows[0][..2], ["id", "Clarity and Presentation"]);
    let at = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    let number = |row: usize, name: &str| rows[row][at(name)].parse::<f64>().unwrap();
    assert!(number(1, "Clarity and Presentation") > 0.1 && number(1, "Novelty of Method") < -0.1);
    assert!(number(2, "Novelty of Method").abs() < 0.05);

    for name in ["reviews", "llm-reviews"] {
        let (input, output) = (sample(&format!("{name}.jsonl")), format!("{name}.jsonl"));
        folder.caz(&["embed", &input, "--embedder", "aspects", "--output", &output]).succeeded();
    }
    let first = std::fs::read_to_string(folder.path("reviews.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(first["judgments"].as_object().unwrap().len(), 19);
    let flags = ["--score", "projected", "--format", "csv"];
    let later = ["reviews", "reviews.jsonl", "--z", "llm-reviews.jsonl"];
    let later = folder.caz(&[&later[..], &flags].concat()).succeeded().csv();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let at_once = ["reviews", &reviews, "--z", &z, "--embedder", "aspects"];
    let at_once = folder.caz(&[&at_once[..], &flags].concat()).succeeded().csv();
    assert_eq!(at_once[1][2], "aspects:aspects19");
    assert_eq!(at_once.len(), later.len());
    // Categories stand in another order in the file, so sums differ in their last digits.
    for (a, b) in at_once.iter().zip(&later).skip(1) {
        let score = |row: &[String]| row[3].parse::<f64>().unwrap();
        assert!(a[0] == b[0] && (score(a) - score(b)).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn aspects_say_what_they_were_read_with_and_refuse_what_they_cannot_read() {
    let folder = Folder::new();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let scored = |more: &[&str]| {
        let base = ["reviews", &reviews, "--z", &z, "--score", "projected", "--format", "json"];
        let run = folder.caz(&[&base[..], more].concat()).succeeded();
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["settings"].clone()
    };
    let found = scored(&["--embedder", "aspects"]);
    assert_eq!(found["aspects_from"], "static");
    assert_eq!(found["granularity"], "text");
    assert_eq!(found["aspects"]["rubric"], "aspects19");
    assert_eq!(found["aspects"]["heads_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(found["aspects"]["by_prototype"].as_array().unwrap().len(), 8);

    folder.write("t.csv", "id,text\n1,Well written.\n");
    let refused = |more: &[&str], messages: &[&str]| {
        folder.caz(&[&["embed", "t.csv", "--embedder"], more].concat()).failed(2, messages);
    };
    refused(&["aspects", "--vectors", "granularity=sentence"], &["whole texts"]);
    refused(
        &["aspects", "--vectors", "aspects-from=tfidf"],
        &["not of tfidf", "--vectors aspects-from"],
    );
    refused(&["aspects:nothing"], &["no rubric `nothing`", "aspects19"]);
}

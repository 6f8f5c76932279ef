//! `caz embed` writes vectors that `caz reviews --embedder given` reads.

use super::{Folder, sample};

#[test]
fn embedding_first_and_scoring_later_is_the_same() {
    let folder = Folder::new();
    for name in ["reviews", "llm-reviews"] {
        let (input, output) = (sample(&format!("{name}.jsonl")), format!("{name}.jsonl"));
        folder
            .caz(&["embed", &input, "--granularity", "sentence", "--output", &output])
            .succeeded();
    }
    let later = folder
        .caz(&["reviews", "reviews.jsonl", "--z", "llm-reviews.jsonl", "--format", "csv"])
        .succeeded();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let at_once = folder.caz(&["reviews", &reviews, "--z", &z, "--format", "csv"]).succeeded();
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
    folder.caz(&["embed", "t.csv", "--format", "json"]).failed(2, &["jsonl or csv", ".npy"]);
    folder.caz(&["embed", "t.csv", "--embedder", "given"]).failed(2, &["embeds nothing"]);
    folder.caz(&["embed", "t.csv", "--embedder", "word2vec"]).failed(2, &["choose static"]);
}

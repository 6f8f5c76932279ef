use std::path::Path;
use std::process::Command;

use lopdf::{
    Dictionary, Document, EncryptionState, EncryptionVersion, Permissions, Stream, dictionary,
};

use super::*;

/// A file with these contents of pages, in Courier and with a form in which `(inside) Tj` stands.
fn document(contents: &[&str]) -> Document {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        "Encoding" => "WinAnsiEncoding",
        "FirstChar" => 32, "Widths" => vec![lopdf::Object::from(600); 95],
    });
    let inside = b"BT /F1 10 Tf 72 100 Td (inside) Tj ET /X Do".to_vec();
    let form = document.add_object(Stream::new(dictionary! { "Subtype" => "Form" }, inside));
    let pages: Vec<lopdf::Object> = contents
        .iter()
        .map(|content| {
            let content = Stream::new(Dictionary::new(), content.as_bytes().to_vec());
            let content = document.add_object(content);
            document.add_object(dictionary! {
                "Type" => "Page", "Parent" => tree, "Contents" => content,
            })
        })
        .map(lopdf::Object::from)
        .collect();
    let tree_entries = dictionary! {
        "Type" => "Pages", "Count" => i64::try_from(contents.len()).unwrap(), "Kids" => pages,
        "MediaBox" => vec![0.into(), 0.into(), 612.into(), 792.into()],
        "Resources" => dictionary! {
            "Font" => dictionary! { "F1" => font }, "XObject" => dictionary! { "X" => form },
        },
    };
    document.objects.insert(tree, tree_entries.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    document
}

/// The bytes of a file.
pub(crate) fn saved(mut document: Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn texts(content: &str) -> Vec<String> {
    let pages = lines_of(&saved(document(&[content]))).unwrap();
    pages.into_iter().flat_map(Result::unwrap).map(|line| line.text).collect()
}

/// Files with bytes changed, taken out and repeated: read or refused. `FUZZ_TIMES` asks for more of them.
#[test]
fn damaged_files_are_refused_or_read() {
    use rand::RngExt;
    let times =
        std::env::var("FUZZ_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(400);
    let whole = saved(document(&[
        "BT /F1 10 Tf 14 TL 72 700 Td [(o) 20 (ne) -400 (two)] TJ T* (b) ' 5 1 (d) \" ET /X Do",
        "BT /F1 10 Tf 0 1 -1 0 300 100 Tm <48656c6c6f> Tj 4 Ts (2) Tj ET",
    ]));
    let mut random = crate::stats::seed::stream(12, "pdf", 0);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..times {
        let mut bytes = whole.clone();
        for _ in 0..random.random_range(1..=6) {
            let from = random.random_range(0..bytes.len());
            let to = (from + random.random_range(1..=16)).min(bytes.len());
            match random.random_range(0..4) {
                0 => drop(bytes.drain(from..to)),
                1 => bytes[from..to].reverse(),
                2 => bytes[from] = random.random(),
                _ => drop(bytes.splice(
                    from..from,
                    whole[from.min(whole.len() - 1)..].iter().copied().take(16),
                )),
            }
            if bytes.is_empty() {
                bytes.push(b'%');
            }
        }
        if read_paper(&bytes).is_ok() { read += 1 } else { refused += 1 }
    }
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

#[test]
fn letters_become_words_and_lines_by_where_they_stand() {
    // Courier: 6 points a letter at size 10.
    assert_eq!(
        texts("BT /F1 10 Tf 72 700 Td (one) Tj 24 0 Td (two) Tj 0 -12 Td (three) Tj ET"),
        ["one two", "three"]
    );
    assert_eq!(texts("BT /F1 10 Tf 72 700 Td [(o) 20 (ne) -400 (two)] TJ ET"), ["one two"]);
    assert_eq!(
        texts("BT /F1 10 Tf 14 TL 72 700 Td (a) Tj T* (b) Tj (c) ' 5 1 (d) \" ET"),
        ["a", "b", "c", "d"]
    );
    // A raised number stays in its line; a column beside it is another line.
    assert_eq!(
        texts("BT /F1 10 Tf 72 700 Td (x) Tj 4 Ts (2) Tj 0 Ts 300 0 Td (right) Tj ET"),
        ["x2", "right"]
    );
    // Turned by a quarter, words are words.
    assert_eq!(texts("BT /F1 10 Tf 0 1 -1 0 300 100 Tm (up) Tj 18 0 Td (side) Tj ET"), ["up side"]);
}

#[test]
fn forms_are_read_and_end_where_they_hold_themselves() {
    let found = texts("q 1 0 0 1 0 50 cm /X Do Q");
    assert!(found.len() <= 20 && found.iter().all(|text| text == "inside"), "{found:?}");
    assert!(!found.is_empty());
}

#[test]
fn text_that_is_not_painted_counts_only_alone() {
    let hidden = "BT 3 Tr /F1 10 Tf 72 700 Td (hidden) Tj ET";
    assert_eq!(texts(hidden), ["hidden"]);
    assert_eq!(texts(&format!("{hidden} BT 0 Tr /F1 10 Tf 72 600 Td (shown) Tj ET")), ["shown"]);
}

#[test]
fn what_has_no_text_says_so() {
    let refused = |bytes: &[u8]| read_paper(bytes).unwrap_err();
    let scan = saved(document(&["0 0 m 10 10 l S", "BT /F1 10 Tf (stamp) Tj ET"]));
    assert!(matches!(refused(&scan), PdfError::NoText { words: 1, pages: 2 }));
    assert!(matches!(refused(&saved(document(&[]))), PdfError::NoPage));
    for bytes in [&b""[..], b"%PDF-1.7\nnothing", b"hello"] {
        assert!(matches!(refused(bytes), PdfError::Unreadable(_)));
    }
}

#[test]
fn what_is_encrypted_is_refused() {
    let mut document = document(&["BT /F1 10 Tf 72 700 Td (secret) Tj ET"]);
    let id = lopdf::Object::string_literal("0123456789abcdef");
    document.trailer.set("ID", vec![id.clone(), id]);
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password: "user",
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).unwrap();
    document.encrypt(&state).unwrap();
    let error = read_paper(&saved(document)).unwrap_err();
    assert!(matches!(error, PdfError::Encrypted), "{error}");
}

#[test]
fn a_stream_that_unpacks_to_gigabytes_is_a_damaged_page() {
    let mut document = document(&[]);
    let mut stream = Stream::new(Dictionary::new(), vec![b' '; 70 << 20]);
    stream.compress().unwrap();
    let content = document.add_object(stream);
    let tree = document.catalog().unwrap().get(b"Pages").unwrap().as_reference().unwrap();
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content,
    });
    document.get_dictionary_mut(tree).unwrap().set("Kids", vec![page.into()]);
    let bytes = saved(document);
    assert!(bytes.len() < 1 << 20);
    let pages = lines_of(&bytes).unwrap();
    assert!(matches!(pages[..], [Err(PdfError::Unreadable(_))]));
}

#[test]
#[ignore = "needs ../shared/data/papers and pdftotext"]
fn words_of_real_papers_stand_as_pdftotext_reads_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/papers");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let pages = lines_of(&std::fs::read(&path).unwrap()).unwrap();
        let lines = pages.into_iter().flat_map(Result::unwrap);
        let ours: Vec<String> = words(&lines.map(|line| line.text).collect::<Vec<_>>().join("\n"));
        let known = Command::new("pdftotext").arg("-raw").arg(&path).arg("-").output().unwrap();
        let theirs = words(&String::from_utf8_lossy(&known.stdout));
        let same = longest_in_order(&ours, &theirs) as f64 / ours.len().max(theirs.len()) as f64;
        assert!(same >= 0.97, "{}: {same}", path.display());
        files += 1;
    }
    assert!(files >= 6);
}

fn words(text: &str) -> Vec<String> {
    use unicode_normalization::UnicodeNormalization;
    let text: String = text.nfkc().collect::<String>().replace("-\n", "");
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The length of the longest sequence that both have in order.
fn longest_in_order(a: &[String], b: &[String]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for word in a {
        let mut before = 0;
        for (at, other) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == other { before + 1 } else { above.max(row[at]) };
            before = above;
        }
    }
    row[b.len()]
}

#[test]
fn a_font_that_brings_its_own_table_is_read_by_it() {
    // As TeX sets formulas: the braces stand where a known table has f and g.
    let program = b"%!PS-AdobeFont-1.0: CMSY10\n/Encoding 256 array\n\
        0 1 255 {1 index exch /.notdef put} for\ndup 102 /braceleft put\ndup 103/braceright put\n\
        dup 50 /element put\nreadonly def\ncurrentfile eexec\n\xd9\xd6";
    let mut file = document(&["BT /F2 10 Tf 72 700 Td (f1g2h) Tj ET"]);
    let program = file.add_object(Stream::new(Dictionary::new(), program.to_vec()));
    let descriptor = file.add_object(dictionary! {
        "Type" => "FontDescriptor", "Flags" => 4, "FontFile" => program,
    });
    let differences = vec![104.into(), lopdf::Object::from("f_i")];
    let font = file.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "CMSY10",
        "FontDescriptor" => descriptor,
        "Encoding" => dictionary! { "Type" => "Encoding", "Differences" => differences },
        "FirstChar" => 0, "Widths" => vec![lopdf::Object::from(600); 256],
    });
    let tree = file.objects.values_mut().filter_map(|object| object.as_dict_mut().ok());
    let mut tree = tree.filter(|entries| entries.has_type(b"Pages"));
    let fonts = tree.next().unwrap().get_mut(b"Resources").unwrap().as_dict_mut().unwrap();
    fonts.get_mut(b"Font").unwrap().as_dict_mut().unwrap().set("F2", font);
    let pages = lines_of(&saved(file)).unwrap();
    let lines: Vec<String> =
        pages.into_iter().flat_map(Result::unwrap).map(|line| line.text).collect();
    assert_eq!(lines, ["{1}\u{2208}fi"]);
}

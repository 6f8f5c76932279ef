use super::*;
use std::path::Path;

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
}

fn load(reviews: &str, z: &str) -> Result<LoadedReviews, DataError> {
    let z = source("gpt.jsonl", z);
    read_reviews(&source("r.jsonl", reviews), &[z], Duplicates::Error)
}

fn problem(reviews: &str, z: &str) -> String {
    let DataError::Invalid(problems) = load(reviews, z).unwrap_err() else {
        panic!("not a problem of the content")
    };
    assert_eq!(problems.total(), 1, "{problems}");
    problems.shown()[0].to_string()
}

const REVIEW: &str = "{\"paper\":\"p\",\"reviewer\":\"a\",\"text\":\"x\"}\n";
const Z: &str = "{\"paper\":\"p\",\"text\":\"z\"}\n";

fn vector(reviewer: &str, vector: &str) -> String {
    format!("{{\"paper\":\"p\",\"reviewer\":\"{reviewer}\",\"vector\":{vector}}}\n")
}

fn judgments(reviewer: &str, judgments: &str) -> String {
    format!("{{\"paper\":\"p\",\"reviewer\":\"{reviewer}\",\"judgments\":{judgments}}}\n")
}

#[test]
fn synonyms_sources_and_samples_are_read_from_csv() {
    let reviews = source("r.csv", "submission,signature,text\n7,a,one\n7,b,two\n");
    let z = source("z.csv", "forum,text,model,sample\n7,zed,gpt,1\n7,zee,gpt,2\n");
    let loaded = read_reviews(&reviews, &[z], Duplicates::Error).unwrap();
    assert_eq!(loaded.set.papers.names(), ["7"]);
    assert_eq!(loaded.set.reviewers.names(), ["a", "b"]);
    assert_eq!(loaded.set.sources.names(), ["gpt/1", "gpt/2"]);
    assert_eq!(loaded.rows, [2, 2]);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

/// Z of papers `p` and `q` by paper, source and sample.
fn sampled(rows: &[(&str, &str, &str)]) -> (Vec<String>, Vec<(String, String)>, Vec<Warning>) {
    let reviews = source("r.csv", "paper,reviewer,text\np,a,x\np,b,y\nq,a,x\nq,b,y\n");
    let line = |&(paper, of, sample): &(&str, &str, &str)| format!("{paper},{of},{sample},z\n");
    let lines: String = rows.iter().map(line).collect();
    let z = source("z.csv", &format!("paper,source,sample,text\n{lines}"));
    let loaded = read_reviews(&reviews, &[z], Duplicates::Error).unwrap();
    let set = loaded.set;
    let names = |z: &ZReview| (set.papers.name(z.paper).into(), set.sources.name(z.source).into());
    (set.sources.names().to_vec(), set.z.iter().map(names).collect(), loaded.warnings)
}

#[test]
fn samples_numbered_through_the_file_are_numbered_on_each_paper() {
    let through = [("q", "gpt", "10"), ("p", "gpt", "1"), ("p", "gpt", "2"), ("q", "gpt", "9")];
    let (sources, z, warnings) = sampled(&through);
    assert_eq!(sources, ["gpt/1", "gpt/2"]);
    let expected = [("p", "gpt/1"), ("p", "gpt/2"), ("q", "gpt/1"), ("q", "gpt/2")];
    assert_eq!(z, expected.map(|(paper, source)| (paper.to_owned(), source.to_owned())));
    assert_eq!((warnings[0].code, warnings[0].count), ("samples_renumbered", 4));
    assert!(warnings[0].message.contains("`sample`"), "{}", warnings[0].message);
    // What has a name that a new number would take keeps its own.
    let taken = [("p", "gpt", "7"), ("q", "gpt", "8"), ("p", "gpt/1", "")];
    assert_eq!(sampled(&taken).0, ["gpt/1", "gpt/7", "gpt/8"]);
}

#[test]
fn samples_of_several_papers_keep_their_numbers_and_those_of_one_are_named() {
    let of_both = [("p", "gpt", "3"), ("q", "gpt", "3")];
    assert_eq!(sampled(&of_both).0, ["gpt/3"]);
    assert!(sampled(&of_both).2.is_empty());
    // One paper says nothing of how samples are numbered.
    assert_eq!(sampled(&[("p", "gpt", "a"), ("p", "gpt", "b")]).0, ["gpt/a", "gpt/b"]);
    let ragged = [of_both[0], of_both[1], ("p", "gpt", "4")];
    let (sources, _, warnings) = sampled(&ragged);
    assert_eq!(sources, ["gpt/3", "gpt/4"]);
    assert_eq!((warnings[0].code, warnings[0].count), ("lone_samples", 1));
    assert!(warnings[0].message.ends_with(": gpt/4"), "{}", warnings[0].message);
}

#[test]
fn a_source_is_named_after_its_file_and_may_not_come_from_two() {
    assert_eq!(load(REVIEW, Z).unwrap().set.sources.names(), ["gpt"]);
    let files = [source("a/gpt.jsonl", Z), source("b/gpt.jsonl", Z)];
    let error = read_reviews(&source("r.jsonl", REVIEW), &files, Duplicates::Error);
    assert!(error.unwrap_err().to_string().contains("give the files different names"));
}

#[test]
fn duplicates_are_an_error_unless_one_is_chosen() {
    let twice = format!("{REVIEW}{}", REVIEW.replace("\"x\"", "\"y\""));
    let message = problem(&twice, Z);
    assert!(message.starts_with("r.jsonl:2: reviewer `a` has a second review of `p`"));
    assert!(message.contains("the first is in line 1"), "{message}");
    for (choice, text) in [(Duplicates::First, "x"), (Duplicates::Last, "y")] {
        let loaded =
            read_reviews(&source("r.jsonl", &twice), &[source("z.jsonl", Z)], choice).unwrap();
        assert_eq!(loaded.set.reviews.len(), 1);
        assert_eq!(loaded.set.reviews[0].content.text.as_deref(), Some(text));
        assert_eq!(loaded.warnings[0].code, "duplicates_dropped");
    }
}

#[test]
fn blank_text_is_a_problem() {
    let message = problem("{\"paper\":\"p\",\"reviewer\":\"a\",\"text\":\" \\n\"}\n", Z);
    assert!(message.starts_with("r.jsonl:1: column `text`: is empty"), "{message}");
}

#[test]
fn numbers_that_are_not_finite_are_problems() {
    let csv = source("r.csv", "paper,reviewer,vector\np,a,1 NaN\np,b,1;-inf\np,c,1 x\n");
    let error = read_reviews(&csv, &[], Duplicates::Error).unwrap_err().to_string();
    assert!(error.contains("r.csv:2: column `vector`: entry 2 is NaN"), "{error}");
    assert!(error.contains("r.csv:3: column `vector`: entry 2 is -inf"), "{error}");
    assert!(error.contains("r.csv:4: column `vector`: entry 2 is `x`"), "{error}");
}

#[test]
fn vectors_of_two_lengths_are_a_problem_also_across_files() {
    let z = "{\"paper\":\"p\",\"vector\":[1,2]}\n";
    let message = problem(&(vector("a", "[1,2]") + &vector("b", "[1,2,3]")), z);
    assert!(message.contains("r.jsonl:2: column `vector`: has 3 numbers"), "{message}");
    let message = problem(&vector("a", "[1]"), z);
    assert!(message.starts_with("gpt.jsonl:1: column `vector`: has 2 numbers"), "{message}");
}

#[test]
fn judgments_are_read_by_name_and_must_be_complete_and_in_range() {
    let z = "{\"paper\":\"p\",\"judgments\":{\"A\":1,\"B\":-1}}\n";
    let first = judgments("a", "{\"B\":0.5,\"A\":0}");
    let loaded = load(&first, z).unwrap();
    assert_eq!(loaded.set.shape.categories, ["A", "B"]);
    assert_eq!(loaded.set.reviews[0].content.judgments, Some(vec![0.0, 0.5]));
    for (bad, part) in [
        ("{\"A\":1}", "lacks the category `B`"),
        ("{\"A\":1,\"B\":0,\"C\":0}", "has the category `C`"),
        ("{\"A\":2,\"B\":0}", "must be a number from -1 to 1"),
        ("[1]", "is not an object but a list"),
    ] {
        let message = problem(&(first.clone() + &judgments("b", bad)), z);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_paper_with_several_z_is_named_once() {
    let other = |source| Z.replace("\"p\"", &format!("\"other\",\"source\":\"{source}\""));
    let loaded = load(REVIEW, &format!("{Z}{}{}", other("a"), other("b"))).unwrap();
    let warning = &loaded.warnings[0];
    assert_eq!((warning.code, warning.count), ("z_of_unknown_papers", 2));
    assert_eq!(warning.message, "2 Z reviews are of papers that nobody reviewed: other");
}

#[test]
fn z_of_which_no_paper_is_known_is_refused_with_both_ways_to_name_papers() {
    let message = problem(REVIEW, &Z.replace("\"p\"", "\"paper-001\""));
    let part = "none of 1 Z is of a paper that was reviewed: papers are named like `paper-001` \
                here and like `p` in the reviews";
    assert!(message.contains(part), "{message}");
}

#[test]
fn unknown_papers_papers_without_z_and_single_reviews_are_counted() {
    let reviews = format!("{REVIEW}{}", REVIEW.replace("\"p\"", "\"q\""));
    let z = format!("{Z}{}", Z.replace("\"p\"", "\"other\""));
    let loaded = load(&reviews, &z).unwrap();
    let codes: Vec<_> = loaded.warnings.iter().map(|w| (w.code, w.count)).collect();
    assert_eq!(
        codes,
        [("z_of_unknown_papers", 1), ("papers_without_z", 1), ("papers_with_one_review", 2)]
    );
    assert_eq!(loaded.set.z.len(), 1);
}

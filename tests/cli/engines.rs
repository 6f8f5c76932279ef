//! Labels that an engine counts, and builds that have none.

use super::{Folder, sample};

fn labels<'a>(files: &'a [String; 2], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["labels", &files[0], "--z", &files[1], "--mechanism", "ca_z,neg_z"];
    arguments.extend(more);
    arguments
}

fn files() -> [String; 2] {
    [sample("labels.csv"), sample("llm-labels.csv")]
}

#[test]
fn a_memory_limit_is_of_the_engine_that_heeds_it() {
    let (folder, files) = (Folder::new(), files());
    let run = folder.caz(&labels(&files, &["--memory-limit", "4GB"]));
    run.failed(2, &["--memory-limit is of --engine datafusion"]);
    let run = folder.caz(&labels(&files, &["--engine", "spark"]));
    run.failed(2, &["it is local, datafusion or ballista://HOST:PORT"]);
}

#[cfg(not(feature = "distributed"))]
#[test]
fn a_build_without_engines_and_parquet_says_so() {
    let (folder, files) = (Folder::new(), files());
    let run = folder.caz(&labels(&files, &["--engine", "datafusion"]));
    run.failed(2, &["no engine datafusion", "the feature `distributed`", "--print-sql"]);
    let run = folder.caz(&labels(&files, &["-o", "scores.parquet"]));
    run.failed(2, &["writes no Parquet", "the feature `parquet`"]);
    assert!(!folder.path("scores.parquet").exists());
}

#[cfg(feature = "distributed")]
#[test]
fn the_scores_of_the_engine_are_those_of_the_default() {
    let (folder, files) = (Folder::new(), files());
    let local = folder.caz(&labels(&files, &["--format", "csv"])).succeeded().csv();
    let more = ["--format", "csv", "--engine", "datafusion", "--memory-limit", "64MiB"];
    let counted = folder.caz(&labels(&files, &more)).succeeded().csv();
    assert_eq!(local.len(), counted.len());
    for (local, counted) in local.iter().zip(&counted) {
        assert_eq!(local[..2], counted[..2]);
        if let (Ok(one), Ok(other)) = (local[2].parse::<f64>(), counted[2].parse::<f64>()) {
            assert!((one - other).abs() < 1e-9, "{local:?} {counted:?}");
        }
    }
    let run = folder.caz(&labels(&files, &["--engine", "datafusion", "--truth", "t.csv"]));
    run.failed(2, &["--truth is not part of the plan"]);
    folder.caz(&labels(&files, &["--engine", "datafusion", "-o", "scores.parquet"])).succeeded();
    // What was written can be read: its columns are no labels.
    let run = folder.caz(&["labels", "scores.parquet", "--mechanism", "ca"]);
    run.failed(3, &["scores.parquet"]);
}

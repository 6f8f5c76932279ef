//! The program as a user meets it.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::path::Path;

use assert_cmd::Command;

/// Exit code, standard output, standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("caz-sql").unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let output = command.current_dir(data).env_clear().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_plan_is_printed_and_no_label_is_read() {
    let (code, sql, _) =
        run(&["print", "labels.csv", "--z", "llm-labels.csv", "--mechanism", "ca_z,neg_z"]);
    assert_eq!(code, 0);
    assert!(sql.contains("read_csv") && sql.contains("'neg_z'"), "{sql}");
    let (_, spark, _) = run(&["print", "labels.csv", "--dialect", "spark"]);
    assert!(spark.contains("'ca'") && !spark.contains("'ca_z'"), "{spark}");
    // The file need not be here.
    assert_eq!(run(&["print", "s3://crowd/labels.parquet", "--mechanism", "oa"]).0, 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, said) in [
        (
            &["print", "labels.csv", "--mechanism", "own"][..],
            "there are ca_z, ca, oa, oa_z, ds, neg_z, and all",
        ),
        (&["print", "labels.csv", "--mechanism", "ca_z"], "ca_z needs --z"),
        (&["score", "labels.csv", "--shared-folder", "."], "--scheduler"),
        (&["score", "labels.csv", "--memory-limit", "4 parsecs"], "a number of bytes such as 4GB"),
        (
            &["print", "--z", "llm-labels.csv", "labels.csv"],
            "caz-sql print labels.csv --z llm-labels.csv",
        ),
        (&["print", "labels.csv", "--output", "labels.csv"], "would write over"),
    ] {
        let (code, _, error) = run(arguments);
        assert!(code == 2 && error.contains(said), "{arguments:?}: {code} {error}");
    }
}

#[cfg(not(feature = "datafusion"))]
#[test]
fn a_build_without_an_engine_says_so() {
    let (code, _, error) = run(&["score", "labels.csv"]);
    assert!(code == 2 && error.contains("the feature `datafusion`"), "{error}");
}

#[cfg(feature = "datafusion")]
mod engine {
    use super::run;

    #[test]
    fn the_result_is_that_of_the_mechanisms() {
        use caz::{Labels, LabelsSettings, LearnFrom, MechanismName, Silent, labels};

        let common = ["--format", "csv", "--memory-limit", "64MiB"];
        let command = ["score", "labels.csv", "--z", "llm-labels.csv", "--mechanism", "ca_z,neg_z"];
        let (code, out, error) = run(&[&command[..], &common].concat());
        assert_eq!(code, 0, "{error}");
        assert!(error.contains("no standard errors"), "{error}");
        let mut rows = csv::Reader::from_reader(out.as_bytes());
        let rows: Vec<csv::StringRecord> = rows.records().collect::<Result<_, _>>().unwrap();
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/");
        let file = |name| format!("{data}{name}");
        let set = Labels::from_files(file("labels.csv"), &[file("llm-labels.csv")]).unwrap();
        let names = [MechanismName::CaZ, MechanismName::NegZ];
        let mut settings = LabelsSettings::default();
        settings.mechanism = names.to_vec();
        settings.learn_from = LearnFrom::All;
        let local = labels(set, &settings, &Silent).unwrap();
        let scored = names.iter().filter_map(|name| local.scores(*name));
        let local: Vec<_> = scored.flat_map(|scores| &scores.rows).collect();
        assert_eq!(rows.len(), local.len());
        for (row, wanted) in rows.iter().zip(local) {
            assert_eq!(row[0], wanted.worker);
            let wanted = wanted.estimate.map(|estimate| estimate.value);
            match (row[2].parse::<f64>().ok(), wanted) {
                (Some(one), Some(other)) => assert!((one - other).abs() < 1e-9, "{row:?}"),
                (one, other) => assert_eq!(one, other, "{row:?}"),
            }
        }
    }

    #[test]
    fn tables_in_parquet_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let scores = folder.path().join("scores.parquet");
        let (code, _, error) = run(&["score", "labels.csv", "-o", scores.to_str().unwrap()]);
        assert_eq!(code, 0, "{error}");
        assert!(std::fs::read(scores).unwrap().starts_with(b"PAR1"));
    }
}

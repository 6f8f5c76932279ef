use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::*;
use crate::tests::{assert_close, values};
use crate::{Engine, PLANNED, score};
use caz::for_caz_sql::{EmSettings, MechanismOptions, build};
use caz::{Labels, LearnFrom, MechanismName, Silent};

const HERE: Place = Place::Here { memory_limit: None };

/// Every planned mechanism in the engine against the local one.
fn compare(labels: &Path, z: &[PathBuf], local: &Labels, place: &Place) {
    let mut session = Session::open(labels, z, false, place.clone(), &Silent).unwrap();
    let crowd = session.crowd().unwrap();
    let workers: Vec<&String> = crowd.workers.keys().collect();
    assert_eq!(workers, local.table.workers().names().iter().collect::<Vec<_>>());
    assert_eq!(crowd.labels, local.table.labels().names());
    assert_eq!(crowd.tasks, local.table.task_count() as u64);
    // A few iterations show that they are the same; each takes several queries.
    let em = EmSettings { max_iterations: 4, ..EmSettings::default() };
    let mut options = MechanismOptions { em, ..MechanismOptions::default() };
    // Engines learn from all labels.
    options.correlated_agreement.learn_from = LearnFrom::All;
    for name in PLANNED.into_iter().filter(|name| !z.is_empty() || !name.needs_z()) {
        let mechanism = build(name, &local.z.sources, &options).unwrap();
        let wanted = mechanism.score(&local.table).unwrap();
        let got = score(&mut session, &crowd, name, &options).unwrap();
        assert_close(&values(&got.scores), &values(&wanted), 1e-9);
        let one_llm = local.z.sources.len() < 2;
        for (got, wanted) in got.scores.workers.iter().zip(&wanted.workers) {
            assert_eq!(got.n_tasks, wanted.n_tasks);
            assert!(!one_llm || (got.n_used, got.n_z_tasks) == (wanted.n_used, wanted.n_z_tasks));
        }
    }
}

fn compare_files(labels: &Path, z: &[PathBuf], place: &Place) {
    compare(labels, z, &Labels::from_files(labels, z).unwrap(), place);
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// A Parquet file of texts, two rows in a row group; the tasks are numbers if they can be.
fn parquet(path: &Path, names: &[&str], rows: &[Vec<Option<&str>>], numbers: bool) {
    let column = |index: usize| -> ArrayRef {
        let values: Vec<Option<&str>> = rows.iter().map(|row| row[index]).collect();
        if numbers && index == 0 {
            let values = values.iter().map(|value| value.map(|text| text.parse::<i64>().unwrap()));
            return Arc::new(Int64Array::from(values.collect::<Vec<_>>()));
        }
        Arc::new(StringArray::from(values))
    };
    let columns = names.iter().enumerate().map(|(index, name)| (*name, column(index)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

const NAMES: [&str; 3] = ["task", "worker", "label"];

/// Labels of tasks 1 to 9 by three workers: one third of the tasks.
fn third(part: usize) -> Vec<Vec<Option<&'static str>>> {
    const TASKS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let mut rows = Vec::new();
    for (task, name) in TASKS.iter().enumerate().filter(|(task, _)| task % 3 == part) {
        for (worker, who) in ["a", "b", "c"].iter().enumerate() {
            let label = if (task * 7 + worker * 5 + task * worker) % 4 < 2 { "x" } else { "it's" };
            rows.push(vec![Some(*name), Some(*who), Some(label)]);
        }
    }
    rows
}

fn csv_of(rows: &[Vec<Option<&str>>]) -> String {
    let line = |row: &Vec<Option<&str>>| {
        row.iter().map(|cell| cell.unwrap_or("")).collect::<Vec<_>>().join(",") + "\n"
    };
    "task,worker,label\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

fn refused(labels: &Path, z: &[PathBuf]) -> (ErrorKind, String) {
    match Session::open(labels, z, false, HERE, &Silent) {
        Ok(_) => panic!("it was taken"),
        Err(error) => (error.kind(), format!("{error:#}")),
    }
}

#[test]
fn the_engine_scores_as_the_mechanisms_do() {
    let (labels, z) = (data("data/labels.csv"), [data("data/llm-labels.csv")]);
    compare_files(&labels, &z, &HERE);
    compare_files(&labels, &[], &HERE);
}

#[test]
fn under_a_memory_limit_the_numbers_are_the_same() {
    let (labels, z) = (data("data/labels.csv"), [data("data/llm-labels.csv")]);
    compare_files(&labels, &z, &Place::Here { memory_limit: Some(64 << 20) });
}

/// A second fit begins afresh.
#[test]
fn fits_stop_where_the_local_ones_do() {
    let (labels, z) = (data("data/labels.csv"), [data("data/llm-labels.csv")]);
    let local = Labels::from_files(&labels, &z).unwrap();
    let mut session = Session::open(&labels, &z, false, HERE, &Silent).unwrap();
    let crowd = session.crowd().unwrap();
    let name = MechanismName::Ds;
    for tolerance in [1e-2, 0.1] {
        let em = EmSettings { tolerance, ..EmSettings::default() };
        let options = MechanismOptions { em, ..MechanismOptions::default() };
        let wanted = build(name, &local.z.sources, &options).unwrap().score(&local.table).unwrap();
        let got = score(&mut session, &crowd, name, &options).unwrap().scores;
        assert_close(&values(&got), &values(&wanted), 1e-9);
        let (got_fit, wanted_fit) = (got.fit.unwrap(), wanted.fit.unwrap());
        assert!(got_fit.converged && wanted_fit.converged);
        let steps = |fit: &[f64]| fit.iter().copied().map(Some).collect::<Vec<_>>();
        assert_close(&steps(&got_fit.objective), &steps(&wanted_fit.objective), 1e-9);
    }
}

#[test]
fn samples_and_llms_count_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.csv");
    std::fs::write(&labels, csv_of(&[third(0), third(1), third(2)].concat())).unwrap();
    let z = folder.path().join("z.tsv");
    let mut text = "item\tanswer\tmodel\tsample\n".to_owned();
    for task in 1..=9 {
        for sample in ["10", "2", "b"] {
            if (task + sample.len()) % 3 > 0 {
                text += &format!(
                    "{task}\t{}\tone\t{sample}\n",
                    if task % 2 == sample.len() % 2 { "x" } else { "y" }
                );
            }
        }
        text += &format!("{task}\t{}\ttwo\t\n", if task % 3 > 0 { "x" } else { "it's" });
    }
    std::fs::write(&z, text).unwrap();
    compare_files(&labels, &[z], &HERE);
}

#[test]
fn a_folder_of_parquet_files_with_partitions_is_one_table() {
    let folder = tempfile::tempdir().unwrap();
    for part in 0..3 {
        let path = folder.path().join(format!("labels/day={part}/part.parquet"));
        parquet(&path, &NAMES, &third(part), true);
    }
    let z = folder.path().join("z.parquet");
    let rows: Vec<_> = ["1", "2", "3", "4", "5", "6", "7"]
        .iter()
        .map(|task| vec![Some(*task), Some(if *task < "4" { "x" } else { "it's" })])
        .collect();
    parquet(&z, &["task", "label"], &rows, true);
    let same = folder.path().join("same.csv");
    std::fs::write(&same, csv_of(&[third(0), third(1), third(2)].concat())).unwrap();
    let same_z = folder.path().join("same/z.csv");
    std::fs::create_dir_all(same_z.parent().unwrap()).unwrap();
    let text: String =
        rows.iter().map(|row| format!("{},{}\n", row[0].unwrap(), row[1].unwrap())).collect();
    std::fs::write(&same_z, format!("task,label\n{text}")).unwrap();
    let local = Labels::from_files(&same, &[same_z]).unwrap();
    compare(&folder.path().join("labels"), &[z], &local, &HERE);
}

#[test]
fn rows_that_the_local_reader_refuses_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels");
    for part in 0..3 {
        parquet(&labels.join(format!("{part}.parquet")), &NAMES, &third(part), true);
    }
    // A null in the second row group of the last file.
    let mut rows = third(2);
    rows[3][1] = None;
    parquet(&labels.join("2.parquet"), &NAMES, &rows, true);
    let (kind, message) = refused(&labels, &[]);
    assert_eq!(kind, ErrorKind::Input, "{message}");
    assert!(
        message.contains("2.parquet: column `worker`: 1 rows of row group 2 have no value"),
        "{message}"
    );
    // Two labels of a pair, in two files.
    let mut rows = third(2);
    rows.push(third(0)[0].clone());
    parquet(&labels.join("2.parquet"), &NAMES, &rows, true);
    let (kind, message) = refused(&labels, &[]);
    assert_eq!(kind, ErrorKind::Input, "{message}");
    assert!(
        message.contains("1 tasks have a second label by the same worker or LLM: `1` by `a`"),
        "{message}"
    );
    // A row group whose pages are no pages.
    let path = labels.join("2.parquet");
    parquet(&path, &NAMES, &third(2), true);
    let mut bytes = std::fs::read(&path).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let (start, length) = reader.metadata().row_group(1).column(2).byte_range();
    for byte in start..start + length {
        bytes[usize::try_from(byte).unwrap()] = 0xff;
    }
    std::fs::write(&path, bytes).unwrap();
    let (kind, message) = refused(&labels, &[]);
    assert_eq!(kind, ErrorKind::Input, "{message}");
    assert!(message.contains("2.parquet` is damaged in row group 2"), "{message}");
    // A file without a column that the others have.
    let rows: Vec<_> = third(2).iter().map(|row| row[..2].to_vec()).collect();
    parquet(&path, &NAMES[..2], &rows, true);
    let (kind, message) = refused(&labels, &[]);
    assert_eq!(kind, ErrorKind::Input, "{message}");
    assert!(message.contains("2.parquet: column `label`: the column is missing"), "{message}");
}

#[test]
fn what_an_engine_cannot_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let message = |path: &Path| refused(path, &[]).1;
    let none = folder.path().join("none.csv");
    assert_eq!(refused(&none, &[]).0, ErrorKind::Missing);
    let path = write("l.jsonl", "{}");
    assert!(message(&path).contains("reads Parquet, CSV and TSV"), "{}", message(&path));
    let path = write("a.csv", "task,who,label\n1,a,x\n");
    assert!(message(&path).contains("has no column `worker`; it has: task, who, label"));
    let path = write("b.csv", "task,worker,label\n1,a,x\n1,b,X\n");
    assert!(message(&path).contains("are one, spelt in two ways"), "{}", message(&path));
    assert!(Session::open(&path, &[], true, HERE, &Silent).is_ok());
    let path = write("c.csv", "task,worker,label\n1,,x\n1,b,X\n");
    assert!(message(&path).contains("1 rows have no `worker`"), "{}", message(&path));
    assert!(message(Path::new("ftp://host/l.parquet")).contains("there are s3, gs, az"));
}

/// Asks to stop from the beginning.
struct Impatient;

impl Observer for Impatient {
    fn stage(&self, doing: &'static str, total: u64) -> Box<dyn caz::Progress> {
        Silent.stage(doing, total)
    }

    fn say(&self, _line: &str) {}

    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn queries_end_when_they_are_asked_to() {
    let error = Session::open(&data("data/labels.csv"), &[], false, HERE, &Impatient);
    assert_eq!(error.err().unwrap().kind(), ErrorKind::Interrupted);
}

#[cfg(feature = "ballista")]
#[test]
fn a_scheduler_that_is_gone_is_a_network_error_with_its_address() {
    // A port that was free a moment ago.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = Place::Ballista { scheduler: address.to_string(), shared: None };
    let error = Session::open(&data("data/labels.csv"), &[], false, place, &Silent).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Network, "{error:#}");
    assert!(format!("{error:#}").contains(&address.to_string()), "{error:#}");
}

#[test]
#[ignore = "needs a server with the interface of S3, its bucket in CAZ_TEST_S3, for gs:// too"]
fn labels_in_object_storage_score_as_those_on_disk() {
    use object_store::ObjectStoreExt;
    let bucket = std::env::var("CAZ_TEST_S3").expect("CAZ_TEST_S3 is s3://BUCKET");
    let name = bucket.strip_prefix("s3://").unwrap();
    let store = object_store::aws::AmazonS3Builder::from_env();
    let store = store.with_bucket_name(name).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let put = |place: &str, names: &[&str], rows: &[Vec<Option<&str>>]| {
        let path = folder.path().join("object.parquet");
        parquet(&path, names, rows, true);
        let bytes = std::fs::read(&path).unwrap();
        let runtime = Runtime::new().unwrap();
        runtime.block_on(store.put(&place.into(), bytes.into())).unwrap();
    };
    for part in 0..3 {
        put(&format!("labels/part-{part}.parquet"), &NAMES, &third(part));
    }
    let z = [vec![Some("1"), Some("x")], vec![Some("2"), Some("x")], vec![Some("5"), Some("it's")]];
    put("z.parquet", &["task", "label"], &z);
    let labels = folder.path().join("labels.csv");
    std::fs::write(&labels, csv_of(&[third(0), third(1), third(2)].concat())).unwrap();
    let z = folder.path().join("z.csv");
    std::fs::write(&z, "task,label\n1,x\n2,x\n5,it's\n").unwrap();
    let local = Labels::from_files(&labels, &[z]).unwrap();
    // The XML interface of Google's storage is that of S3, but for who says how who asks.
    for scheme in ["s3", "gs"] {
        let at = |place: &str| PathBuf::from(format!("{scheme}://{name}/{place}"));
        compare(&at("labels/"), &[at("z.parquet")], &local, &HERE);
        let (kind, message) = refused(&at("none.parquet"), &[]);
        assert_eq!(kind, ErrorKind::Missing, "{message}");
        for secret in ["AWS_SECRET_ACCESS_KEY", "GOOGLE_SERVICE_ACCOUNT_KEY"] {
            let secret = std::env::var(secret).unwrap();
            assert!(!message.contains(&secret), "{message}");
        }
    }
}

#[test]
#[ignore = "needs ../shared/data"]
fn on_every_real_label_set_the_engine_scores_as_the_mechanisms_do() {
    let folder = data("../shared/data");
    let mut sets = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.join("labels.csv").exists() {
            let z = path.join("z.csv");
            let z = if z.exists() { vec![z] } else { Vec::new() };
            compare_files(&path.join("labels.csv"), &z, &HERE);
            sets += 1;
        }
    }
    assert!(sets >= 6, "{sets} sets");
}

//! The whole plan as one script, from files to scores, for an engine that caz does not speak to.

use std::path::Path;

use super::correlated::{agreements, pairs, prefix, reports, sizes, terms};
use super::crowd::{first_samples, majority, order_of_samples, workers};
use super::dawid_skene;
use super::pairs::{covered, output_agreement};
use super::{Dialect, Step};
use crate::{EngineError, PLANNED, Strata};
use caz::MechanismName;
use caz::for_caz_sql::{Column, LABEL, SAMPLE, SOURCE, TASK, WORKER, stem_of};

/// Files that a script reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Labels of the crowd.
    pub labels: TableFile,
    /// Labels of LLMs.
    pub z: Vec<TableFile>,
}

/// A file, or a folder of Parquet files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableFile {
    /// Its path or address, as the engine is to read it.
    pub path: String,
    /// Its columns; none if they are not known, which then have the names of the documentation.
    pub columns: Vec<String>,
}

/// What a script computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The mechanisms.
    pub mechanisms: Vec<MechanismName>,
    /// `ds`: so many iterations.
    pub iterations: usize,
    /// Who reads it.
    pub dialect: Dialect,
}

/// The script: views of the files, the steps of the mechanisms, and one query of all scores.
///
/// # Errors
///
/// [`EngineError::NotPlanned`] for a mechanism that is not one of [`PLANNED`].
pub fn script(files: &Files, asked: &Script) -> Result<String, EngineError> {
    let &Script { ref mechanisms, iterations, dialect, .. } = asked;
    if let Some(&name) = mechanisms.iter().find(|name| !PLANNED.contains(name)) {
        return Err(EngineError::NotPlanned { name });
    }
    let mut text = introduction(files, dialect);
    let mut steps = vec![workers()];
    steps.extend(majority());
    let divides = |name: &MechanismName| *name != MechanismName::Ds;
    let uses = |strata| mechanisms.iter().any(|name| divides(name) && Strata::of(*name) == strata);
    let asks = |strata, names: [MechanismName; 2]| {
        mechanisms.iter().any(|name| Strata::of(*name) == strata && names.contains(name))
    };
    if uses(Strata::Z) {
        steps.push(order_of_samples(dialect));
        steps.extend(first_samples());
    }
    for strata in [Strata::Z, Strata::Whole] {
        if !uses(strata) {
            continue;
        }
        steps.extend(reports(strata));
        steps.push(covered(strata));
        if asks(strata, [MechanismName::CaZ, MechanismName::Ca]) {
            steps.extend([sizes(strata), pairs(strata)]);
            steps.extend(agreements(strata, dialect));
            steps.extend(terms(strata, dialect));
        }
        if asks(strata, [MechanismName::OaZ, MechanismName::Oa]) {
            steps.push(output_agreement(strata, dialect));
        }
    }
    if mechanisms.contains(&MechanismName::Ds) {
        steps.extend(dawid_skene::start(dialect));
        for number in 0..=iterations {
            if number > 0 {
                steps.extend(dawid_skene::iteration(number));
            }
            steps.extend(dawid_skene::confusion(number));
        }
    }
    for step in &steps {
        text += &statement(step, dialect);
    }
    let selects: Vec<String> = mechanisms.iter().map(|&name| of_mechanism(name, asked)).collect();
    if !selects.is_empty() {
        let scores = Step::view(
            "scores",
            "One row per worker and mechanism; of several LLMs the lowest score counts. A worker \
             without a score has none, never 0.",
            selects.join("\nUNION ALL\n"),
        );
        text += &statement(&scores, dialect);
        text += "-- The result, worst first.\n\
                 SELECT worker, mechanism, score, n_tasks, n_z_tasks FROM scores\n\
                 ORDER BY mechanism, CASE WHEN score IS NULL THEN 1 ELSE 0 END, score, worker;\n";
    }
    Ok(text)
}

fn statement(step: &Step, dialect: Dialect) -> String {
    let create = dialect.create(&step.name, step.kept);
    format!("-- {}\n{create}\n{};\n\n", step.about, step.select)
}

/// What the script is, and the views of the files.
fn introduction(files: &Files, dialect: Dialect) -> String {
    let mut text = format!(
        "-- The plan of scores of labels as SQL ({dialect}): built-in functions only.\n\
         -- Labels are compared as they are written, without the spaces around them. The plan\n\
         -- takes for granted that no name is missing and that nobody labels a task twice; the relation\n\
         -- `second_labels` holds whoever did.\n\
         -- Standard errors of ca and ca_z, ds_z, own and excess_z are not part of it: they are computed where\n\
         -- the labels fit in memory.\n\n"
    );
    if dialect == Dialect::Ansi {
        text += "-- Make these relations of your files first, of texts that are not null:\n\
                 --   labels(task, worker, label)\n";
        if !files.z.is_empty() {
            text += "--   z(task, label, source, sample): without a source the name of the file,\n\
                     --     without a sample ''.\n";
        }
        text += "\n";
    } else {
        text += &views(files, dialect);
    }
    let second = Step::view(
        "second_labels",
        "Whoever labels a task twice; nobody, or the scores are wrong.",
        "SELECT task, worker, COUNT(*) AS times FROM labels\n\
         GROUP BY task, worker HAVING COUNT(*) > 1"
            .into(),
    );
    text + &statement(&second, dialect)
}

/// The relations `labels` and `z` of the files.
fn views(files: &Files, dialect: Dialect) -> String {
    let (before, from) = read("labels_file", &files.labels, dialect);
    let columns = [TASK, WORKER, LABEL].map(|column| files.labels.column(&column, dialect));
    let select = format!("SELECT {} FROM {from}", columns.join(", "));
    let labels = Step::view("labels", "The labels of the crowd.", select);
    let mut text = before + &statement(&labels, dialect);
    let mut selects = Vec::new();
    for (number, file) in files.z.iter().enumerate() {
        let (before, from) = read(&format!("z_file_{number}"), file, dialect);
        text += &before;
        let [task, label] = [TASK, LABEL].map(|column| file.column(&column, dialect));
        let source = file.column_or(&SOURCE, &stem_of(Path::new(&file.path)), dialect);
        let sample = file.column_or(&SAMPLE, "", dialect);
        selects.push(format!("SELECT {task}, {label}, {source}, {sample} FROM {from}"));
    }
    if !selects.is_empty() {
        let z = Step::view("z", "The labels of LLMs.", selects.join("\nUNION ALL\n"));
        text += &statement(&z, dialect);
    }
    text
}

impl TableFile {
    /// The column of the file that is `wanted`, if its columns are known.
    fn find(&self, wanted: &Column) -> Option<&str> {
        self.columns.iter().map(String::as_str).find(|name| wanted.matches(name))
    }

    /// A column as text under its own name.
    fn column(&self, wanted: &Column, dialect: Dialect) -> String {
        let name = self.find(wanted).unwrap_or(wanted.name);
        format!("TRIM({}) AS {}", dialect.text(&dialect.identifier(name)), wanted.name)
    }

    /// The same with a constant where the file has no such column or no value in it.
    fn column_or(&self, wanted: &Column, constant: &str, dialect: Dialect) -> String {
        let constant = quoted(constant);
        let Some(name) = self.find(wanted) else { return format!("{constant} AS {}", wanted.name) };
        let text = dialect.text(&dialect.identifier(name));
        format!("COALESCE(NULLIF(TRIM({text}), ''), {constant}) AS {}", wanted.name)
    }

    fn ends_with(&self, ending: &str) -> bool {
        self.path.to_ascii_lowercase().ends_with(ending)
    }

    fn delimiter(&self) -> &'static str {
        if self.ends_with(".tsv") || self.ends_with(".tsv.gz") { "\\t" } else { "," }
    }

    fn is_json(&self) -> bool {
        [".jsonl", ".ndjson", ".jsonl.gz"].iter().any(|ending| self.ends_with(ending))
    }

    fn is_parquet(&self) -> bool {
        self.ends_with(".parquet") || self.ends_with("/")
    }
}

/// How a file is read: a statement before, if there has to be one, and what stands after FROM.
fn read(name: &str, file: &TableFile, dialect: Dialect) -> (String, String) {
    let path = quoted(&file.path);
    if dialect == Dialect::Spark {
        let (format, options) = if file.is_parquet() {
            ("parquet", String::new())
        } else if file.is_json() {
            ("json", String::new())
        } else {
            ("csv", format!(", header 'true', sep '{}'", file.delimiter()))
        };
        let before = format!(
            "CREATE OR REPLACE TEMPORARY VIEW {name} USING {format} OPTIONS (path {path}{options});\n\n"
        );
        return (before, name.to_owned());
    }
    let from = if file.ends_with("/") {
        let files = quoted(&format!("{}**/*.parquet", file.path));
        format!("read_parquet({files}, hive_partitioning = true)")
    } else if file.is_parquet() {
        format!("read_parquet({path})")
    } else if file.is_json() {
        format!("read_json({path}, format = 'newline_delimited')")
    } else {
        let delimiter = file.delimiter();
        format!("read_csv({path}, all_varchar = true, header = true, delim = '{delimiter}')")
    };
    (String::new(), from)
}

/// The rows of one mechanism in the relation `scores`.
fn of_mechanism(name: MechanismName, asked: &Script) -> String {
    let &Script { iterations, dialect, .. } = asked;
    let strata = Strata::of(name);
    let (p, float) = (prefix(strata), dialect.float());
    // By source and worker, without workers that have none.
    let by_source = match name {
        MechanismName::NegZ => {
            format!(
                "SELECT source, worker, -CAST(same AS {float}) / tasks AS score FROM {p}_covered"
            )
        }
        MechanismName::Oa | MechanismName::OaZ => format!(
            "SELECT source, worker, total / (SELECT COUNT(*) FROM workers) AS score FROM {p}_peers"
        ),
        MechanismName::Ds => dawid_skene::scores(iterations),
        _ => {
            format!(
                "SELECT t.source, t.worker, SUM(w.weight * t.total / t.tasks) AS score\n\
                 \x20   FROM {p}_terms AS t\n\
                 \x20   JOIN (SELECT s.source, s.stratum, CAST(SUM(s.tasks) AS {float}) / MIN(o.tasks) AS weight\n\
                 \x20         FROM {p}_sizes AS s\n\
                 \x20         JOIN (SELECT source, SUM(tasks) AS tasks FROM {p}_sizes GROUP BY source) AS o\n\
                 \x20           ON o.source = s.source\n\
                 \x20         GROUP BY s.source, s.stratum) AS w\n\
                 \x20     ON w.source = t.source AND w.stratum = t.stratum\n\
                 \x20   GROUP BY t.source, t.worker"
            )
        }
    };
    let (covered, joined) = match strata {
        // Of several LLMs the one that covers most of the worker's tasks.
        Strata::Z => (
            "COALESCE(c.tasks, 0)",
            format!(
                "\nLEFT JOIN (SELECT worker, MAX(tasks) AS tasks FROM {p}_covered GROUP BY worker) AS c\n\
                 \x20 ON c.worker = w.worker"
            ),
        ),
        Strata::Whole => ("CAST(NULL AS BIGINT)", String::new()),
    };
    format!(
        "SELECT w.worker, '{name}' AS mechanism, s.score, w.tasks AS n_tasks, {covered} AS n_z_tasks\n\
         FROM workers AS w\n\
         LEFT JOIN (\n\
         \x20 SELECT worker, MIN(score) AS score FROM (\n\
         \x20   {by_source}\n\
         \x20 ) AS by_source\n\
         \x20 GROUP BY worker\n\
         ) AS s ON s.worker = w.worker{joined}"
    )
}

/// A text as a literal.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: MechanismName, dialect: Dialect) -> Script {
        Script { mechanisms: vec![name], iterations: 2, dialect }
    }

    fn files() -> Files {
        let file = |path: &str, columns: &[&str]| TableFile {
            path: path.into(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
        };
        Files {
            labels: file("it's/labels.tsv.gz", &["Item", "annotator", "value"]),
            z: vec![file(".gpt.csv", &[]), file("z/", &["task", "label", "model", "sample"])],
        }
    }

    #[test]
    fn files_are_read_by_the_names_of_their_columns() {
        let text = script(&files(), &asked(MechanismName::CaZ, Dialect::DuckDb)).unwrap();
        for line in [
            "SELECT TRIM(CAST(\"Item\" AS VARCHAR)) AS task, TRIM(CAST(\"annotator\" AS VARCHAR)) AS \
             worker, TRIM(CAST(\"value\" AS VARCHAR)) AS label FROM read_csv('it''s/labels.tsv.gz', \
             all_varchar = true, header = true, delim = '\\t');",
            "'gpt' AS source, '' AS sample FROM read_csv('.gpt.csv'",
            "COALESCE(NULLIF(TRIM(CAST(\"model\" AS VARCHAR)), ''), 'z') AS source",
            "FROM read_parquet('z/**/*.parquet', hive_partitioning = true);",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let text = script(&files(), &asked(MechanismName::Ca, Dialect::Spark)).unwrap();
        for line in [
            "labels_file USING csv OPTIONS (path 'it''s/labels.tsv.gz', header 'true', sep '\\t');",
            "z_file_1 USING parquet OPTIONS (path 'z/');",
            "SELECT TRIM(CAST(`Item` AS STRING)) AS task",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        // What a mechanism does not need is not computed.
        assert!(!text.contains("given_z") && text.contains("whole_terms"), "{text}");
        let text = script(&files(), &asked(MechanismName::Oa, Dialect::Ansi)).unwrap();
        assert!(text.contains("--   z(task, label, source, sample)"), "{text}");
        assert!(!text.contains("labels.tsv") && !text.contains("whole_terms"), "{text}");
        let text = script(&files(), &asked(MechanismName::Ds, Dialect::Ansi)).unwrap();
        assert!(
            text.contains("CREATE TABLE ds_posteriors_2 AS") && !text.contains("_3 AS"),
            "{text}"
        );
        let refused = script(&files(), &asked(MechanismName::Own, Dialect::Ansi)).unwrap_err();
        assert_eq!(refused, EngineError::NotPlanned { name: MechanismName::Own });
    }
}

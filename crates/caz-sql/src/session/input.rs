//! The labels and what LLMs say, as relations of texts, refused where the local reader would refuse.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;

use super::{DIALECT, Session};
use crate::parquet_files;
use crate::sql::{Step, quoted};
use caz::for_caz_sql::{
    Column, LABEL, MAX_LABELS, Remedy, SAMPLE, SOURCE, TASK, WORKER, alike, by_name, is_one_label,
    stem_of,
};
use caz::{Error, ErrorKind, Input, Result};

impl Session<'_> {
    /// The labels, with their checks.
    pub(super) fn register_labels(&mut self, labels: &Path, exact_labels: bool) -> Result<()> {
        self.register("labels_file", labels)?;
        let columns = self.columns("labels_file", labels, &[TASK, WORKER, LABEL])?;
        let select = format!("SELECT {} FROM labels_file", columns.join(", "));
        self.make(&step("labels", !is_parquet(labels), select))?;
        let rows = self.check_rows("labels", &["task", "worker", "label"], labels)?;
        self.inputs.push(input(labels, rows));
        self.check_second(
            "SELECT task, worker FROM labels GROUP BY task, worker HAVING COUNT(*) > 1",
            labels,
        )?;
        self.check_labels(exact_labels, labels)
    }

    /// What LLMs say, with its checks.
    pub(super) fn register_z(&mut self, z: &[PathBuf]) -> Result<()> {
        let mut selects = Vec::new();
        for (number, path) in z.iter().enumerate() {
            let name = format!("z_file_{number}");
            self.register(&name, path)?;
            let mut columns = self.columns(&name, path, &[TASK, LABEL])?;
            columns.push(self.column_or(&name, &SOURCE, &stem_of(path))?);
            columns.push(self.column_or(&name, &SAMPLE, "")?);
            selects.push(format!("SELECT {}, {number} AS file FROM {name}", columns.join(", ")));
        }
        self.make(&step("z", true, selects.join(" UNION ALL ")))?;
        for (number, path) in z.iter().enumerate() {
            let file = format!("(SELECT task, label FROM z WHERE file = {number}) AS one");
            let rows = self.check_rows(&file, &["task", "label"], path)?;
            self.inputs.push(input(path, rows));
        }
        self.check_second(
            "SELECT task, source FROM z GROUP BY task, source, sample HAVING COUNT(*) > 1",
            &z[0],
        )?;
        let mut sources: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        let mut samples: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in self.rows("SELECT DISTINCT source, sample, file FROM z")? {
            let (source, sample) = (row.text(0), row.text(1));
            sources.entry(source.clone()).or_default().insert(row.integer(2));
            samples.entry(source).or_default().push(sample);
        }
        if let Some((source, _)) = sources.iter().find(|(_, files)| files.len() > 1) {
            let message = format!(
                "`{source}` is the name of a source in two files of Z; give the files different \
                 names, or their rows a `source`"
            );
            return Err(Error::new(ErrorKind::Input, message));
        }
        let mut order: Vec<(i64, String)> = sources
            .into_iter()
            .map(|(source, files)| (files.first().copied().unwrap_or_default(), source))
            .collect();
        order.sort();
        self.sources = order.into_iter().map(|(_, source)| source).collect();
        let mut places = Vec::new();
        for (source, mut names) in samples {
            names.sort_by(|a, b| by_name(a, b));
            names.dedup();
            for (place, name) in names.iter().enumerate().filter(|_| names.len() > 1) {
                let (source, name) = (quoted(&source), quoted(name));
                places
                    .push(format!("WHEN source = {source} AND sample = {name} THEN '{place:06}'"));
            }
        }
        // The label of the first sample: the least of texts that begin with its place. Joins would say
        // it, too, in a plan too deep for a cluster.
        let select = if places.is_empty() {
            "SELECT source, task, label FROM z".to_owned()
        } else {
            format!(
                "SELECT source, task, SUBSTR(MIN(placed), 7) AS label FROM (\n\
                 \x20 SELECT source, task, CASE {} ELSE '000000' END || label AS placed FROM z\n\
                 ) AS p GROUP BY source, task",
                places.join(" ")
            )
        };
        self.make(&step("z_first", !places.is_empty(), select))
    }

    /// Registers an input under a name.
    fn register(&self, name: &str, path: &Path) -> Result<()> {
        let shown = path.display().to_string();
        let location = match Url::parse(&shown) {
            Ok(url) if url.scheme().len() > 1 && shown.contains("://") => {
                self.register_store(&url)?;
                shown.clone()
            }
            _ => {
                let found = std::fs::canonicalize(path).map_err(|_| {
                    Error::missing(format!(
                        "no such file: `{shown}`; check the name and the folder you are in"
                    ))
                })?;
                let slash = if found.is_dir() { "/" } else { "" };
                format!("{}{slash}", found.display())
            }
        };
        let lower = shown.to_ascii_lowercase();
        if [".gz", ".jsonl", ".ndjson", ".json"].iter().any(|ending| lower.ends_with(ending)) {
            let message = format!(
                "`{shown}`: an engine reads Parquet, CSV and TSV as they are; unpack or convert the file"
            );
            return Err(Error::new(ErrorKind::Input, message));
        }
        let delimited = [(".csv", ","), (".tsv", "\t"), (".tab", "\t")];
        let delimiter = delimited.iter().find(|(ending, _)| lower.ends_with(ending));
        let stored = match delimiter {
            // Every column as text: what looks like a number in the first rows need not be one.
            Some((_, delimiter)) => format!(
                "STORED AS CSV LOCATION {} OPTIONS ('format.has_header' 'true', \
                 'format.delimiter' {}, 'format.schema_infer_max_rec' '0')",
                quoted(&location),
                quoted(delimiter)
            ),
            None => format!("STORED AS PARQUET LOCATION {}", quoted(&location)),
        };
        self.run(&format!("CREATE EXTERNAL TABLE {name} {stored}"))
            .map_err(|error| located(error, path))?;
        Ok(())
    }

    /// Object storage by the address of an object; credentials come from the environment.
    fn register_store(&self, url: &Url) -> Result<()> {
        use object_store::ObjectStore;
        let bucket = url.host_str().unwrap_or_default();
        let failed = |error: object_store::Error| Error::of(ErrorKind::Missing, error);
        let store: Arc<dyn ObjectStore> = match url.scheme() {
            "s3" => {
                let builder = object_store::aws::AmazonS3Builder::from_env();
                Arc::new(builder.with_bucket_name(bucket).build().map_err(failed)?)
            }
            "gs" => {
                let builder = object_store::gcp::GoogleCloudStorageBuilder::from_env();
                Arc::new(builder.with_bucket_name(bucket).build().map_err(failed)?)
            }
            "az" => {
                let builder = object_store::azure::MicrosoftAzureBuilder::from_env();
                Arc::new(builder.with_container_name(bucket).build().map_err(failed)?)
            }
            other => {
                let message =
                    format!("there is no object storage `{other}://`; there are s3, gs, az");
                return Err(Error::usage(message));
            }
        };
        self.context.register_object_store(url, store);
        Ok(())
    }

    /// The columns of a relation as texts under the names of the plan.
    fn columns(&self, name: &str, path: &Path, wanted: &[Column]) -> Result<Vec<String>> {
        let known = self.names(name)?;
        let mut columns = Vec::new();
        for column in wanted {
            let mut found = known.iter().filter(|name| column.matches(name));
            match (found.next(), found.next()) {
                (Some(one), None) => columns.push(text_of(one, column.name)),
                (None, _) => {
                    let shown = path.display();
                    let message = format!(
                        "`{shown}` has no column `{}`; it has: {}",
                        column.name,
                        known.join(", ")
                    );
                    return Err(Error::new(ErrorKind::Input, message));
                }
                (Some(one), Some(other)) => {
                    let shown = path.display();
                    let message = format!(
                        "`{shown}`: both `{one}` and `{other}` could be the column `{}`",
                        column.name
                    );
                    return Err(Error::new(ErrorKind::Input, message));
                }
            }
        }
        Ok(columns)
    }

    fn column_or(&self, name: &str, wanted: &Column, constant: &str) -> Result<String> {
        let known = self.names(name)?;
        let constant = quoted(constant);
        Ok(match known.iter().find(|name| wanted.matches(name)) {
            None => format!("{constant} AS {}", wanted.name),
            Some(found) => {
                let text = format!("TRIM(CAST({} AS VARCHAR))", DIALECT.identifier(found));
                format!("COALESCE(NULLIF({text}, ''), {constant}) AS {}", wanted.name)
            }
        })
    }

    fn names(&self, relation: &str) -> Result<Vec<String>> {
        let table = self.wait(self.context.table(relation))?;
        Ok(table.schema().fields().iter().map(|field| field.name().clone()).collect())
    }

    /// Refuses rows without a name; the number of rows.
    fn check_rows(&self, relation: &str, columns: &[&str], path: &Path) -> Result<u64> {
        let empty: Vec<String> = columns
            .iter()
            .map(|name| {
                format!("CAST(COALESCE(SUM(CASE WHEN {name} IS NULL OR {name} = '' THEN 1 ELSE 0 END), 0) AS BIGINT)")
            })
            .collect();
        let query = format!("SELECT COUNT(*), {} FROM {relation}", empty.join(", "));
        let rows = self.rows(&query).map_err(|error| located(error, path))?;
        let Some(row) = rows.first().filter(|row| row.integer(0) > 0) else {
            let message = format!("`{}`: there is no row of data", path.display());
            return Err(Error::new(ErrorKind::Input, message));
        };
        let missing: Vec<String> = (1..)
            .zip(columns)
            .filter(|(index, _)| row.integer(*index) > 0)
            .map(|(index, name)| format!("{} rows have no `{name}`", row.integer(index)))
            .collect();
        if missing.is_empty() {
            return Ok(row.count(0));
        }
        let message = format!("`{}`: {}", path.display(), missing.join(", "));
        Err(located(Error::new(ErrorKind::Input, message), path))
    }

    fn check_second(&self, query: &str, path: &Path) -> Result<()> {
        let count = self.rows(&format!("SELECT COUNT(*) FROM ({query}) AS twice"))?;
        let count = count.first().map_or(0, |row| row.integer(0));
        if count == 0 {
            return Ok(());
        }
        let some = self.rows(&format!("{query} ORDER BY 1, 2 LIMIT 3"))?;
        let names: Vec<String> =
            some.iter().map(|row| format!("`{}` by `{}`", row.text(0), row.text(1))).collect();
        let message = format!(
            "`{}`: {count} tasks have a second label by the same worker or LLM: {}{}; keep one of them",
            path.display(),
            names.join(", "),
            if count > 3 { ", ..." } else { "" }
        );
        Err(Error::new(ErrorKind::Input, message))
    }

    /// Refuses what the local reader would take for one label or for none.
    fn check_labels(&self, exact: bool, path: &Path) -> Result<()> {
        let limit = MAX_LABELS + 1;
        let labels = self.texts(&format!("SELECT DISTINCT label FROM labels LIMIT {limit}"))?;
        if labels.len() > MAX_LABELS {
            let message = format!(
                "`{}` has more than {MAX_LABELS} different labels; labels are categories, not free text",
                path.display()
            );
            return Err(Error::new(ErrorKind::Input, message));
        }
        if exact {
            return Ok(());
        }
        let mut spelt: BTreeMap<String, &str> = BTreeMap::new();
        for label in &labels {
            let other = spelt.insert(alike(label), label);
            if !is_one_label(label) || other.is_some() {
                let what = other.map_or_else(
                    || {
                        format!(
                            "the label `{label}` says that there is none, or is a set of choices"
                        )
                    },
                    |other| {
                        format!("the labels `{label}` and `{other}` are one, spelt in two ways")
                    },
                );
                let message = format!(
                    "`{}`: {what}, which an engine cannot mend; mend the labels, or compare them as \
                     they are written",
                    path.display()
                );
                return Err(Error::new(ErrorKind::Input, message).with_remedy(Remedy::KeepLabels));
            }
        }
        Ok(())
    }
}

/// The error of reading local Parquet files with the file and the row group, if these can be
/// found.
fn located(error: Error, path: &Path) -> Error {
    if error.kind() != ErrorKind::Input || !is_parquet(path) {
        return error;
    }
    match parquet_files::problem(path, &[TASK, WORKER, LABEL]) {
        Some(found) => found,
        None => error,
    }
}

fn input(path: &Path, rows: u64) -> Input {
    Input { path: path.display().to_string(), sha256: None, rows }
}

fn text_of(column: &str, name: &str) -> String {
    format!("TRIM(CAST({} AS VARCHAR)) AS {name}", DIALECT.identifier(column))
}

fn is_parquet(path: &Path) -> bool {
    let shown = path.display().to_string().to_ascii_lowercase();
    ![".csv", ".tsv", ".tab"].iter().any(|ending| shown.ends_with(ending))
}

fn step(name: &str, kept: bool, select: String) -> Step {
    Step { name: name.to_owned(), about: "", kept, select }
}

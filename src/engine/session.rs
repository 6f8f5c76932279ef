//! The queries of the plan in `DataFusion`, in this process or on a cluster of Ballista.
//!
//! In this process what several queries read is kept as Parquet files in a temporary folder, and
//! with a memory limit joins sort and spill. On a cluster nothing is kept: its executors need not
//! share a disk.

mod answer;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::datasource::empty::EmptyTable;
use datafusion::prelude::SessionContext;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use url::Url;

use self::answer::{Row, Values, values};
pub use self::place::Place;
use self::place::context;
use super::sql::{self, Dialect, Step, copy_mixture, dawid_skene, quoted};
use super::{
    Agreement, Attempt, AttemptFit, Covered, Crowd, Engine, LikeLlm, Mixed, PairCount, PeerSum,
    Right, SizeCount, Strata, TermSum,
};
use crate::data::excerpt::excerpt;
use crate::data::ids::alike;
use crate::data::input::Input;
use crate::data::interruption::Interrupted;
use crate::data::label_reader::{LABEL, SAMPLE, SOURCE, TASK, WORKER};
use crate::data::label_spelling::says_nothing;
use crate::data::labels::MAX_LABELS;
use crate::data::observer::Observer;
use crate::data::rows::Column;
use crate::data::source::stem_of;
use crate::data::z::by_name;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::mechanism::MechanismError;

/// What `DataFusion` understands.
const DIALECT: Dialect = Dialect::DuckDb;

/// How long a request to stop may go unheard.
const LOOK: Duration = Duration::from_millis(100);

/// The labels of a crowd in an engine.
pub struct Session<'a> {
    observer: &'a dyn Observer,
    runtime: Runtime,
    context: SessionContext,
    /// Where relations are kept; none on a cluster.
    folder: Option<TempDir>,
    made: BTreeSet<String>,
    sources: Vec<String>,
    inputs: Vec<Input>,
    /// Of Dawid-Skene.
    iterations: usize,
    /// Of the copy mixture.
    mixtures: usize,
    place: Place,
}

impl<'a> Session<'a> {
    /// Registers files, folders of Parquet files and addresses of objects, and checks them.
    ///
    /// `exact_labels` says that labels are compared as they are written; without it, spellings that
    /// the local reader would take for one label are refused, because the engine cannot. Queries end
    /// when `observer` asks to stop.
    ///
    /// # Errors
    ///
    /// [`Error`] if an input cannot be read, lacks a column or holds rows that the local reader would
    /// refuse, or the scheduler of a cluster does not answer.
    pub fn open(
        labels: &Path,
        z: &[PathBuf],
        exact_labels: bool,
        place: Place,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().build().context("starting the engine")?;
        let context = runtime.block_on(context(&place))?;
        let folder = match place {
            Place::Here { .. } => Some(tempfile::tempdir().context("making a folder for spills")?),
            Place::Ballista { .. } => None,
        };
        let made = BTreeSet::new();
        let (sources, inputs) = (Vec::new(), Vec::new());
        let mut session = Self {
            observer,
            runtime,
            context,
            folder,
            made,
            sources,
            inputs,
            iterations: 0,
            mixtures: 0,
            place,
        };
        session.register("labels_file", labels)?;
        let columns = session.columns("labels_file", labels, &[TASK, WORKER, LABEL])?;
        let select = format!("SELECT {} FROM labels_file", columns.join(", "));
        session.make(&step("labels", !is_parquet(labels), select))?;
        let rows = session.check_rows("labels", &["task", "worker", "label"], labels)?;
        session.inputs.push(input(labels, rows));
        session.check_second(
            "SELECT task, worker FROM labels GROUP BY task, worker HAVING COUNT(*) > 1",
            labels,
        )?;
        session.check_labels(exact_labels, labels)?;
        if !z.is_empty() {
            session.register_z(z)?;
        }
        Ok(session)
    }

    fn register_z(&mut self, z: &[PathBuf]) -> Result<()> {
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

    /// What was read: places and rows. Nobody hashed the bytes.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
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
            if says_nothing(label) || other.is_some() {
                let what = other.map_or_else(
                    || format!("the label `{label}` says that there is none"),
                    |other| {
                        format!("the labels `{label}` and `{other}` are one, spelt in two ways")
                    },
                );
                let message = format!(
                    "`{}`: {what}, which an engine cannot mend; mend the labels, or compare them as \
                     they are written",
                    path.display()
                );
                return Err(Error::new(ErrorKind::Input, message)
                    .with_remedy(crate::error::Remedy::KeepLabels));
            }
        }
        Ok(())
    }

    /// Makes a relation, once.
    fn make(&mut self, step: &Step) -> Result<()> {
        if !self.made.insert(step.name.clone()) {
            return Ok(());
        }
        match self.folder.as_ref().filter(|_| step.kept) {
            None => {
                self.run(&format!("CREATE VIEW {} AS {}", step.name, step.select))?;
            }
            Some(folder) => {
                let place = folder.path().join(&step.name);
                let shown = format!("{}/", place.display());
                let schema = self.wait(async {
                    let frame = self.context.sql(&step.select).await?;
                    let schema = frame.schema().inner().clone();
                    let options = DataFrameWriteOptions::new();
                    frame.write_parquet(&shown, options, None).await?;
                    Ok(schema)
                })?;
                let name = &step.name;
                // Nothing is written of a relation without rows.
                let files = std::fs::read_dir(&place);
                if files.map_or(true, |mut files| files.next().is_none()) {
                    let empty = Arc::new(EmptyTable::new(schema));
                    let registered = self.context.register_table(name.as_str(), empty);
                    registered.map_err(|error| self.error(&error))?;
                    return Ok(());
                }
                let place = quoted(&shown);
                self.run(&format!(
                    "CREATE EXTERNAL TABLE {name} STORED AS PARQUET LOCATION {place}"
                ))?;
            }
        }
        Ok(())
    }

    /// Gives back the disk of a relation that is kept.
    fn drop(&mut self, name: &str) -> Result<()> {
        self.made.remove(name);
        let Some(folder) = &self.folder else { return Ok(()) };
        self.run(&format!("DROP TABLE {name}"))?;
        let place = folder.path().join(name);
        if !place.exists() {
            return Ok(());
        }
        std::fs::remove_dir_all(place).context("removing what was counted")
    }

    fn drop_all(&mut self, names: &[String]) -> Result<()> {
        names.iter().try_for_each(|name| self.drop(name))
    }

    fn make_all(&mut self, steps: impl IntoIterator<Item = Step>) -> Result<()> {
        steps.into_iter().try_for_each(|step| self.make(&step))
    }

    fn run(&self, statement: &str) -> Result<Vec<RecordBatch>> {
        self.wait(async {
            let frame = self.context.sql(statement).await?;
            if self.folder.is_some() {
                return frame.collect().await;
            }
            // A scheduler reads no more than 100 levels of a plan. Views of views are deeper as they
            // are written; what the optimizer makes of them is not.
            let plan = frame.into_optimized_plan()?;
            self.context.execute_logical_plan(plan).await?.collect().await
        })
    }

    /// The end of a query, or of the wait for it where somebody asks to stop: to drop a query ends it.
    fn wait<T>(&self, query: impl Future<Output = Result<T, DataFusionError>>) -> Result<T> {
        self.runtime.block_on(async {
            let mut query = pin!(query);
            while !self.observer.interrupted() {
                if let Ok(answer) = tokio::time::timeout(LOOK, query.as_mut()).await {
                    return answer.map_err(|error| self.error(&error));
                }
            }
            Err(Error::from(MechanismError::from(Interrupted)))
        })
    }

    /// The rows of a query, its columns as texts, integers and floating point numbers.
    fn rows(&self, query: &str) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for batch in self.run(query)? {
            let columns = batch
                .columns()
                .iter()
                .map(values)
                .collect::<Result<Vec<Values>, DataFusionError>>()
                .map_err(|error| self.error(&error))?;
            let columns = Arc::new(columns);
            rows.extend((0..batch.num_rows()).map(|row| Row { columns: columns.clone(), row }));
        }
        Ok(rows)
    }

    fn texts(&self, query: &str) -> Result<Vec<String>> {
        Ok(self.rows(query)?.iter().map(|row| row.text(0)).collect())
    }

    /// The rows of a relation of the plan.
    fn relation(&self, name: &str, columns: &str) -> Result<Vec<Row>> {
        self.rows(&format!("SELECT {columns} FROM {name}"))
    }

    /// The rows of a relation that is counted from the labels in their strata.
    fn counted(&mut self, strata: Strata, step: &Step, columns: &str) -> Result<Vec<Row>> {
        self.make_all(sql::reports(strata))?;
        self.make(step)?;
        self.relation(&step.name, columns)
    }

    fn error(&self, error: &DataFusionError) -> Error {
        let root = error.find_root();
        let text = root.to_string();
        if let Place::Ballista { scheduler } = &self.place {
            let lower = text.to_ascii_lowercase();
            let gone =
                ["tcp connect", "connection", "transport error", "unavailable", "broken pipe"];
            if gone.iter().any(|word| lower.contains(word)) {
                let doing = format!("the Ballista scheduler at {scheduler} does not answer");
                return Error::new(ErrorKind::Network, text).context(doing);
            }
            return Error::new(ErrorKind::Network, excerpt(&text, 400))
                .context(format!("the cluster of {scheduler} cannot answer"));
        }
        match root {
            DataFusionError::ResourcesExhausted(_) => {
                let message = format!("the memory limit is too low for a query: {text}");
                Error::new(ErrorKind::Usage, message)
            }
            DataFusionError::ObjectStore(cause) => match cause.as_ref() {
                object_store::Error::NotFound { .. } => Error::missing(text),
                _ => Error::new(ErrorKind::Network, text),
            },
            DataFusionError::IoError(_) => Error::missing(text),
            DataFusionError::Plan(_) if text.contains("No files found") => Error::missing(text),
            _ => Error::new(ErrorKind::Input, text),
        }
    }
}

impl Engine for Session<'_> {
    fn crowd(&mut self) -> Result<Crowd> {
        self.make(&sql::workers())?;
        let workers = self.relation("workers", "worker, tasks")?;
        let tasks = self.rows("SELECT COUNT(DISTINCT task) FROM labels")?;
        let mut labels = self.texts("SELECT DISTINCT label FROM labels")?;
        labels.sort();
        Ok(Crowd {
            workers: workers.iter().map(|row| (row.text(0), row.count(1))).collect(),
            tasks: tasks.first().map_or(0, |row| row.count(0)),
            labels,
            sources: self.sources.clone(),
        })
    }

    fn sizes(&mut self, strata: Strata) -> Result<Vec<SizeCount>> {
        let rows = self.counted(strata, &sql::sizes(strata), "source, stratum, reports, tasks")?;
        let row = |row: &Row| SizeCount {
            source: row.text(0),
            stratum: row.text(1),
            reports: row.count(2),
            tasks: row.count(3),
        };
        Ok(rows.iter().map(row).collect())
    }

    fn pairs(&mut self, strata: Strata) -> Result<Vec<PairCount>> {
        let columns = "source, stratum, reports, label, peer_label, pairs";
        let rows = self.counted(strata, &sql::pairs(strata), columns)?;
        // A label alone on a task has no pair with itself.
        let some = rows.iter().filter(|row| row.count(5) > 0);
        let row = |row: &Row| PairCount {
            source: row.text(0),
            stratum: row.text(1),
            reports: row.count(2),
            label: row.text(3),
            peer_label: row.text(4),
            pairs: row.count(5),
        };
        Ok(some.map(row).collect())
    }

    fn terms(&mut self, strata: Strata, agreements: &[Agreement]) -> Result<Vec<TermSum>> {
        self.make_all(sql::reports(strata))?;
        self.make(&sql::given_agreements(strata, agreements))?;
        self.make_all(sql::terms(strata, DIALECT))?;
        let name = sql::terms_name(strata);
        let rows = self.relation(&name, "source, stratum, worker, tasks, total")?;
        let row = |row: &Row| TermSum {
            source: row.text(0),
            stratum: row.text(1),
            worker: row.text(2),
            tasks: row.count(3),
            total: row.float(4),
        };
        Ok(rows.iter().map(row).collect())
    }

    fn covered(&mut self, strata: Strata) -> Result<Vec<Covered>> {
        let rows =
            self.counted(strata, &sql::covered(strata), "source, worker, tasks, same, shared")?;
        let row = |row: &Row| Covered {
            source: row.text(0),
            worker: row.text(1),
            tasks: row.count(2),
            same: row.count(3),
            shared: row.count(4),
        };
        Ok(rows.iter().map(row).collect())
    }

    fn output_agreement(&mut self, strata: Strata) -> Result<Vec<PeerSum>> {
        let step = sql::output_agreement(strata, DIALECT);
        let rows = self.counted(strata, &step, "source, worker, total")?;
        let row =
            |row: &Row| PeerSum { source: row.text(0), worker: row.text(1), total: row.float(2) };
        Ok(rows.iter().map(row).collect())
    }

    fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    fn dawid_skene(&mut self, number: usize) -> Result<f64> {
        if number == 1 {
            if self.iterations > 0 {
                self.drop_all(&dawid_skene::left(self.iterations))?;
            }
            self.make_all([sql::workers()])?;
            self.make_all(sql::majority())?;
            self.make_all(dawid_skene::start(DIALECT))?;
            self.make_all(dawid_skene::confusion(0))?;
        }
        self.make_all(dawid_skene::iteration(number))?;
        let likelihood = self.rows(&dawid_skene::likelihood(number))?;
        self.make_all(dawid_skene::confusion(number))?;
        self.drop_all(&dawid_skene::over(number))?;
        self.iterations = number;
        Ok(likelihood.first().map_or(0.0, |row| row.float(0)))
    }

    fn right(&mut self) -> Result<Vec<Right>> {
        let rows = self.rows(&dawid_skene::scores(self.iterations))?;
        let row = |row: &Row| Right { worker: row.text(1), share: row.float(2) };
        Ok(rows.iter().map(row).collect())
    }

    fn copy_mixture(&mut self, number: usize, ended: &[Attempt]) -> Result<Vec<AttemptFit>> {
        if number == 1 {
            if self.mixtures > 0 {
                self.drop_all(&copy_mixture::left(self.mixtures))?;
            }
            self.make_all(copy_mixture::start(DIALECT, self.iterations))?;
        }
        let kept = (!ended.is_empty()).then(|| format!("NOT ({})", any_of(ended)));
        self.make_all(copy_mixture::iteration(number, kept.as_deref()))?;
        let name = format!("mixture_objective_{number}");
        let rows = self.relation(&name, "source, attempt, objective")?;
        self.drop_all(&copy_mixture::over(number))?;
        self.mixtures = number;
        let row = |row: &Row| AttemptFit { attempt: attempt(row), objective: row.float(2) };
        Ok(rows.iter().map(row).collect())
    }

    fn mixed(&mut self, attempts: &[Attempt]) -> Result<Vec<Mixed>> {
        let steps = copy_mixture::scores(self.mixtures, Some(&any_of(attempts)));
        let [matrices, scores] = steps.each_ref().map(|step| step.name.clone());
        self.make_all(steps)?;
        let rows = self.relation(&scores, "source, attempt, worker, copied, score, tasks")?;
        self.drop_all(&[matrices, scores])?;
        let row = |row: &Row| Mixed {
            attempt: attempt(row),
            worker: row.text(2),
            copied: row.float(3),
            score: row.float(4),
            tasks: row.count(5),
        };
        Ok(rows.iter().map(row).collect())
    }

    fn like_llm(&mut self, attempts: &[Attempt]) -> Result<Vec<LikeLlm>> {
        let rows = self.rows(&copy_mixture::like_llm(self.mixtures, &any_of(attempts)))?;
        let row =
            |row: &Row| LikeLlm { attempt: attempt(row), tasks: row.count(2), same: row.count(3) };
        Ok(rows.iter().map(row).collect())
    }
}

/// The attempt that the first two columns of a row name.
fn attempt(row: &Row) -> Attempt {
    Attempt { source: row.text(0), start: row.count(1) }
}

/// The condition that `q` is one of these attempts.
fn any_of(attempts: &[Attempt]) -> String {
    let one = |attempt: &Attempt| {
        format!("(q.source = {} AND q.attempt = {})", quoted(&attempt.source), attempt.start)
    };
    attempts.iter().map(one).collect::<Vec<_>>().join(" OR ")
}

/// The error of reading local Parquet files with the file and the row group, if these can be
/// found.
fn located(error: Error, path: &Path) -> Error {
    if error.kind() != ErrorKind::Input || !is_parquet(path) {
        return error;
    }
    match super::parquet_files::problem(path, &[TASK, WORKER, LABEL]) {
        Some(found) => found,
        None => error,
    }
}

fn input(path: &Path, rows: u64) -> Input {
    Input { path: path.display().to_string(), sha256: None, rows }
}

fn step(name: &str, kept: bool, select: String) -> Step {
    Step { name: name.to_owned(), about: "", kept, select }
}

fn text_of(column: &str, name: &str) -> String {
    format!("TRIM(CAST({} AS VARCHAR)) AS {name}", DIALECT.identifier(column))
}

fn is_parquet(path: &Path) -> bool {
    let shown = path.display().to_string().to_ascii_lowercase();
    ![".csv", ".tsv", ".tab"].iter().any(|ending| shown.ends_with(ending))
}

#[cfg(test)]
mod tests;

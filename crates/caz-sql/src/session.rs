//! The queries of the plan in `DataFusion`, in this process or on a cluster of Ballista.
//!
//! In this process what several queries read is kept as Parquet files in a temporary folder, and
//! with a memory limit joins sort and spill. On a cluster the same is kept in a folder that all of it
//! shares, if there is one; its executors need not share a disk.

mod answer;
mod counts;
mod input;
mod place;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::dataframe::{DataFrame, DataFrameWriteOptions};
use datafusion::datasource::empty::EmptyTable;
use datafusion::prelude::SessionContext;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::answer::{Row, read};
pub use self::place::Place;
use self::place::context;
use super::sql::{Dialect, Step, quoted};
use caz::for_caz_sql::{Context, Interrupted, MechanismError, excerpt};
use caz::{Error, ErrorKind, Input, Observer, Result};

/// What `DataFusion` understands.
const DIALECT: Dialect = Dialect::DuckDb;

/// How long a request to stop may go unheard.
const LOOK: Duration = Duration::from_millis(100);

/// The labels of a crowd in an engine.
pub struct Session<'a> {
    observer: &'a dyn Observer,
    runtime: Runtime,
    context: SessionContext,
    /// Where relations are kept; none on a cluster that shares no folder.
    folder: Option<TempDir>,
    made: BTreeSet<String>,
    sources: Vec<String>,
    inputs: Vec<Input>,
    /// Of Dawid-Skene.
    iterations: usize,
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
        let folder = folder(&place)?;
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
            place,
        };
        session.register_labels(labels, exact_labels)?;
        if !z.is_empty() {
            session.register_z(z)?;
        }
        Ok(session)
    }

    /// What was read: places and rows. Nobody hashed the bytes.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
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
                let (schema, written) = self.wait(async {
                    let frame = self.context.sql(&step.select).await?;
                    let schema = frame.schema().inner().clone();
                    let options = DataFrameWriteOptions::new();
                    Ok((schema, frame.write_parquet(&shown, options, None).await?))
                })?;
                let name = &step.name;
                // Nothing is written of a relation without rows.
                let files = std::fs::read_dir(&place);
                if files.map_or(true, |mut files| files.next().is_none()) {
                    let empty = Arc::new(EmptyTable::new(schema));
                    let registered = self.context.register_table(name.as_str(), empty);
                    registered.map_err(|error| self.error(&error))?;
                    return self.check_written(name, &written);
                }
                let place = quoted(&shown);
                self.run(&format!(
                    "CREATE EXTERNAL TABLE {name} STORED AS PARQUET LOCATION {place}"
                ))?;
                self.check_written(name, &written)?;
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
        self.wait(async { self.planned(statement).await?.collect().await })
    }

    /// A statement as it is sent.
    async fn planned(&self, statement: &str) -> Result<DataFrame, DataFusionError> {
        let frame = self.context.sql(statement).await?;
        match self.place {
            Place::Here { .. } => Ok(frame),
            // A scheduler reads no more than 100 levels of a plan. Views of views are deeper as they
            // are written; what the optimizer makes of them is not.
            Place::Ballista { .. } => {
                self.context.execute_logical_plan(frame.into_optimized_plan()?).await
            }
        }
    }

    /// An executor that dies while it writes leaves files beside those of whoever does it again, and one
    /// that sees another folder leaves none here: on a cluster what lies there must be what was reported.
    fn check_written(&self, name: &str, reported: &[RecordBatch]) -> Result<()> {
        let Place::Ballista { scheduler, .. } = &self.place else { return Ok(()) };
        let reported: u64 = read(reported)
            .map_err(|error| self.error(&error))?
            .iter()
            .map(|row| row.count(0))
            .sum();
        let rows = self.rows(&format!("SELECT COUNT(*) FROM {name}"))?;
        let found = rows.first().map_or(0, |row| row.count(0));
        if found == reported {
            return Ok(());
        }
        let message = format!(
            "the cluster of {scheduler} wrote {reported} rows of `{name}`, and {found} lie in the shared \
             folder; an executor may have died, or may see another folder under this name"
        );
        Err(Error::new(ErrorKind::Network, message))
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
        read(&self.run(query)?).map_err(|error| self.error(&error))
    }

    /// The rows of a query, each as `row` reads it.
    fn rows_as<T>(&self, query: &str, row: impl Fn(&Row) -> T) -> Result<Vec<T>> {
        Ok(self.rows(query)?.iter().map(row).collect())
    }

    fn texts(&self, query: &str) -> Result<Vec<String>> {
        self.rows_as(query, |row| row.text(0))
    }

    fn error(&self, error: &DataFusionError) -> Error {
        let root = error.find_root();
        let text = root.to_string();
        if let Place::Ballista { scheduler, .. } = &self.place {
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

/// A folder for what is kept, which is removed in the end.
fn folder(place: &Place) -> Result<Option<TempDir>> {
    let shared = match place {
        Place::Here { .. } => {
            let made = tempfile::tempdir().context("making a folder for what is counted")?;
            return Ok(Some(made));
        }
        Place::Ballista { shared, .. } => shared,
    };
    let Some(shared) = shared else { return Ok(None) };
    let within = std::fs::canonicalize(shared)
        .with_context(|| format!("looking for the folder `{}`", shared.display()))?;
    let mut name = tempfile::Builder::new();
    name.prefix("caz-");
    // Executors may run as somebody else; who may read is what the umask says of every new folder.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        name.permissions(std::fs::Permissions::from_mode(0o777));
    }
    let made = name.tempdir_in(&within);
    Ok(Some(made.with_context(|| format!("making a folder in `{}`", within.display()))?))
}

#[cfg(test)]
mod tests;

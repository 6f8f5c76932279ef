//! Which of the files on a command line are written, and that none of them is also read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::builder::{MapValueParser, PathBufValueParser, TypedValueParser, ValueParserFactory};
use clap::parser::ValueSource;

use super::exit::UsageError;
use crate::error::Result;

/// The value of a flag that names a file or folder to write: by this type it is known among all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile(PathBuf);

impl Deref for OutputFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for OutputFile {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl From<PathBuf> for OutputFile {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl ValueParserFactory for OutputFile {
    type Parser = MapValueParser<PathBufValueParser, fn(PathBuf) -> Self>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().map(Self)
    }
}

/// A flag that was given, its value, and whether that is written.
type Given = (String, OsString, bool);

/// Files that a command writes into the folder named by `--output`.
const IN_FOLDER: [&str; 8] = [
    "labels.csv",
    "z.csv",
    "truth.csv",
    "workers.csv",
    "tasks.csv",
    "reviews.jsonl",
    "z.jsonl",
    "trials.jsonl",
];

/// Refuses a command line that would write over a file it reads, or write two results into one.
///
/// Files are compared as the file system knows them, by device and number, so that another
/// spelling or a link does not hide that they are one. Every value that is no output counts as
/// something that may be read. Nothing is written into a folder of tables that is read, nor over a
/// file of a model's folder, nor into the models of the hub, nor over the cache of answers.
pub(super) fn check(matches: &ArgMatches) -> Result<()> {
    let mut given = Vec::new();
    let imports = matches.subcommand_name() == Some("import");
    let mut level = Some(matches);
    while let Some(matches) = level {
        collect(matches, &mut given);
        level = matches.subcommand().map(|(_, matches)| matches);
    }
    // Flags of every subcommand are seen on every level.
    given.sort();
    given.dedup();
    let (outputs, inputs): (Vec<Given>, Vec<Given>) =
        given.into_iter().partition(|(.., is_written)| *is_written);
    check_standard_output(&inputs)?;
    let folders = read_folders(&inputs);
    let mut written: Vec<(Identity, String)> = Vec::new();
    for (flag, value, _) in &outputs {
        for path in written_for(flag, Path::new(value), imports) {
            check_folders(flag, &path, &folders)?;
            #[cfg(feature = "hub")]
            check_hub(flag, &path)?;
            #[cfg(feature = "llm")]
            check_cache(flag, &path)?;
            let Some(identity) = Identity::of_output(&path) else { continue };
            if let Some((_, other)) = written.iter().find(|(known, _)| *known == identity) {
                let path = path.display();
                let message = format!(
                    "--{flag} and --{other} name the same file, `{path}`; give them two names"
                );
                return Err(UsageError(message).into());
            }
            if let Some(input) = inputs
                .iter()
                .flat_map(|(_, value, _)| parts(value))
                .find(|input| Identity::of_input(input).is_some_and(|input| input == identity))
            {
                let (path, input) = (path.display(), input.display());
                let message = format!(
                    "--{flag} would write over `{input}`, which the command reads (`{path}` is the \
                     same file); choose another name"
                );
                return Err(UsageError(message).into());
            }
            written.push((identity, flag.clone()));
        }
    }
    Ok(())
}

/// Refuses a shell's `>> FILE` onto a file that is read.
fn check_standard_output(inputs: &[Given]) -> Result<()> {
    let Some(output) = Identity::of_input(Path::new("/dev/stdout")) else { return Ok(()) };
    let mut read = inputs.iter().flat_map(|(_, value, _)| parts(value));
    match read.find(|input| Identity::of_input(input).is_some_and(|input| input == output)) {
        None => Ok(()),
        Some(input) => {
            let input = input.display();
            let message = format!(
                "standard output goes to `{input}`, which the command reads; choose another file"
            );
            Err(UsageError(message).into())
        }
    }
}

/// A folder that the command reads.
struct ReadFolder {
    path: PathBuf,
    /// The files of a model, wherever links lead; `None` of a folder of tables, all of which are read.
    of_model: Option<Vec<Identity>>,
}

/// Folders of models, and of tables that an engine reads.
fn read_folders(inputs: &[Given]) -> Vec<ReadFolder> {
    let mut folders = Vec::new();
    for (flag, value, _) in inputs {
        let models = value.to_str().into_iter().flat_map(|text| text.split(','));
        let models = models.filter_map(|part| part.split_once(':'));
        let models = models
            .filter(|(kind, _)| ["static", "bert", "local"].contains(kind))
            .map(|(_, folder)| (PathBuf::from(folder), true));
        let tables = ["labels", "z"].contains(&flag.as_str());
        let tables = tables.then(|| (PathBuf::from(value), false));
        for (path, is_model) in models.chain(tables).filter(|(path, _)| path.is_dir()) {
            let of_model = is_model.then(|| files_of_model(&path, 0));
            folders.extend(fs::canonicalize(path).map(|path| ReadFolder { path, of_model }));
        }
    }
    folders
}

/// The files that a model may be read from, in its folder and those below.
fn files_of_model(folder: &Path, depth: u8) -> Vec<Identity> {
    /// Below a folder as sentence-transformers writes it there is one more, such as `1_Pooling`.
    const DEEPEST: u8 = 2;
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && depth < DEEPEST {
            files.extend(files_of_model(&path, depth + 1));
        } else if is_of_model(&entry.file_name().to_string_lossy()) {
            files.extend(Identity::of_input(&path));
        }
    }
    files
}

/// Refuses to write what a folder that is read would hold.
fn check_folders(flag: &str, path: &Path, folders: &[ReadFolder]) -> Result<()> {
    let identity = Identity::of_output(path);
    let inside = |folder: &ReadFolder, output: &PathBuf| {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let counts = folder.of_model.is_none() || is_of_model(&name);
        *output == folder.path || (output.starts_with(&folder.path) && counts)
    };
    let read = folders.iter().find(|folder| {
        let of_model = folder.of_model.iter().flatten();
        of_model.into_iter().any(|file| Some(file) == identity.as_ref())
            || places(path).iter().any(|output| inside(folder, output))
    });
    let Some(folder) = read else { return Ok(()) };
    let message = format!(
        "--{flag} would write `{}` into `{}`, a folder that the command reads; choose another place",
        path.display(),
        folder.path.display()
    );
    Err(UsageError(message).into())
}

/// Whether a file of this name may be part of a model: a result beside it is none.
fn is_of_model(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "config.json",
        "generation_config.json",
        "config_sentence_transformers.json",
        "sentence_bert_config.json",
        "modules.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "vocab.txt",
    ];
    let endings = [".safetensors", ".index.json", ".bin", ".gguf", ".jinja"];
    NAMES.contains(&name) || endings.iter().any(|ending| name.ends_with(ending))
}

/// Refuses to write into a model of the Hugging Face cache, which may be read by its name on the hub.
#[cfg(feature = "hub")]
fn check_hub(flag: &str, path: &Path) -> Result<()> {
    use crate::embed::hub::HubSettings;
    // Where there is no place for models, there is none to protect.
    let settings = HubSettings::from_lookup(|name| std::env::var(name).ok());
    let Ok(cache) = settings.map(|settings| settings.cache) else { return Ok(()) };
    let Ok(cache) = fs::canonicalize(cache) else { return Ok(()) };
    let of_model = |output: &PathBuf| {
        let inside = output.strip_prefix(&cache).ok();
        let first = inside.and_then(|inside| inside.components().next());
        first.is_some_and(|first| first.as_os_str().to_string_lossy().starts_with("models--"))
    };
    if !places(path).iter().any(of_model) {
        return Ok(());
    }
    let message = format!(
        "--{flag} would write `{}` into the models of `{}`; choose another place",
        path.display(),
        cache.display()
    );
    Err(UsageError(message).into())
}

/// Refuses to write over the answers that were paid for.
#[cfg(feature = "llm")]
fn check_cache(flag: &str, path: &Path) -> Result<()> {
    use crate::llm::cache::CACHE_FILE;
    // Where there is no place for a cache, there is none to protect.
    let Ok(cache) = super::cache::cache_folder() else { return Ok(()) };
    let files = ["", "-wal", "-shm"].map(|ending| cache.join(format!("{CACHE_FILE}{ending}")));
    let output = place(path);
    if output.is_none() || files.iter().all(|file| place(file) != output) {
        return Ok(());
    }
    let message = format!(
        "--{flag} would write over the answers of language models that are kept in `{}`; choose \
         another name",
        cache.display()
    );
    Err(UsageError(message).into())
}

/// A path without links, also of what is still to be made in a folder that is there or where a link
/// leads.
fn place(path: &Path) -> Option<PathBuf> {
    /// As many as the system follows.
    const MOST_LINKS: u8 = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(there) = fs::canonicalize(&path) {
            return Some(there);
        }
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    itself(&path)
}

/// A path in a folder that is there, without links but for the last part.
fn itself(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    Some(folder.join(path.file_name()?))
}

/// Where writing to a path leads, and the place of the path itself, which may be a link.
fn places(path: &Path) -> Vec<PathBuf> {
    [place(path), itself(path)].into_iter().flatten().collect()
}

fn collect(matches: &ArgMatches, given: &mut Vec<Given>) {
    for id in matches.ids() {
        let id = id.as_str();
        // Groups are named after their types.
        let is_group = id.starts_with(|c: char| c.is_ascii_uppercase());
        if is_group || matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if let Ok(Some(values)) = matches.try_get_raw(id) {
            let is_written = matches.try_get_many::<OutputFile>(id).is_ok();
            let flag = id.replace('_', "-");
            given.extend(values.map(|value| (flag.clone(), value.to_owned(), is_written)));
        }
    }
}

/// The files that a flag writes: the one it names, and those beside or below it.
fn written_for(flag: &str, path: &Path, imports: bool) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    match flag {
        "output" if imports => files.push(super::import::z_beside(path)),
        "output" => {
            files.push(super::output::beside(path, "errors.jsonl"));
            files.extend(IN_FOLDER.iter().map(|name| path.join(name)));
        }
        // Figures are named by what they show: any that is there may be written again.
        "figures" => {
            let there = fs::read_dir(path).into_iter().flatten().flatten();
            files.extend(
                there.map(|entry| entry.path()).filter(|p| p.extension() == Some("svg".as_ref())),
            );
        }
        "raw" => {
            let mut beside = path.to_owned().into_os_string();
            beside.push(".jsonl");
            files.push(beside.into());
        }
        _ => {}
    }
    files
}

/// The paths that a value may hold: itself, each of a list, what follows a key (`static:FOLDER`).
fn parts(value: &OsStr) -> Vec<PathBuf> {
    if value == "-" {
        return vec!["/dev/stdin".into()];
    }
    let mut parts = vec![PathBuf::from(value)];
    if let Some(text) = value.to_str() {
        for part in text.split(',') {
            parts.push(part.into());
            parts.extend(part.split_once([':', '=']).map(|(_, rest)| rest.into()));
        }
    }
    parts
}

/// A regular file, there or still to be made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// Device and number.
    #[cfg(unix)]
    There(u64, u64),
    /// Its path without links.
    Named(PathBuf),
}

impl Identity {
    /// `None` if there is no such regular file.
    pub(super) fn of_input(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self::There(about.dev(), about.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = about;
            fs::canonicalize(path).ok().map(Self::Named)
        }
    }

    /// As [`Self::of_input`], also for a file that is not there yet.
    fn of_output(path: &Path) -> Option<Self> {
        if fs::metadata(path).is_ok() {
            return Self::of_input(path);
        }
        place(path).map(Self::Named)
    }
}

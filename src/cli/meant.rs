//! The command that a wrong one was meant to be, for the mistakes that people make.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 64 * 1024;

/// How columns begin that say who wrote a row.
const PERSONS: [&str; 8] =
    ["reviewer", "worker", "signature", "annotator", "performer", "user", "participant", "rater"];

/// How columns begin that say what it is about.
const THINGS: [&str; 9] =
    ["paper", "task", "item", "question", "submission", "forum", "example", "unit", "hit"];

/// How columns begin that hold a label.
const LABELS: [&str; 4] = ["label", "answer", "response", "value"];

/// Flags that people take for others, of all commands or of one.
const MISTAKEN: [(&str, &str, &str); 4] = [
    ("", "-z", "--z"),
    ("", "--Z", "--z"),
    ("agree", "--truth", "--gold"),
    ("labels", "--gold", "--truth"),
];

/// The words of a command line with flags that are called otherwise under their names.
pub(super) fn renamed(words: &[String]) -> Option<String> {
    let command = words.first()?;
    let new = |word: &String| {
        let (flag, value) =
            word.split_once('=').map_or((word.as_str(), None), |(f, v)| (f, Some(v)));
        let its = MISTAKEN
            .iter()
            .find(|(of, wrong, _)| (of.is_empty() || of == command) && *wrong == flag);
        match (its, value) {
            (Some((_, _, right)), Some(value)) => format!("{right}={value}"),
            (Some((_, _, right)), None) => (*right).to_owned(),
            (None, _) => word.clone(),
        }
    };
    let all: Vec<String> = words.iter().map(new).collect();
    (all != words).then(|| command_of("caz", &all))
}

/// What to do about an input that could not be read, with the command where there is one.
pub(super) fn of_input(words: &[String], matches: &ArgMatches) -> Option<String> {
    let (name, sub) = matches.subcommand()?;
    if !matches!(name, "reviews" | "labels") {
        return None;
    }
    let file = sub.try_get_one::<PathBuf>(name).ok()??;
    let z: Vec<&PathBuf> =
        sub.try_get_many::<PathBuf>("z").ok()?.map(Iterator::collect).unwrap_or_default();
    if file.is_dir() {
        return of_folder(words, file);
    }
    if let Some(page) = [file].into_iter().chain(z.iter().copied()).find(|path| is_web_page(path)) {
        let page = page.display();
        return Some(format!(
            "`{page}` is a web page: download the export itself, a table or JSON"
        ));
    }
    let columns = columns(file)?;
    let of_z = z.first().and_then(|path| self::columns(path)).unwrap_or_default();
    let (person, thing) = (has(&columns, &PERSONS), has(&columns, &THINGS));
    if name == "labels" && thing && !person && columns.len() > 3 && !has(&columns, &LABELS) {
        let others: Vec<&str> = columns
            .iter()
            .filter(|name| !has(&[(*name).clone()], &THINGS))
            .map(String::as_str)
            .collect();
        let more = ["--columns".to_owned(), others.join(","), "--wide".into(), "task".into()];
        let command = command_of("caz", &[words, &more].concat());
        return Some(format!("with a column for each worker: {command}"));
    }
    // Whoever names columns knows what they are.
    let is_named = |flag: &str| {
        let is_known = sub.try_contains_id(flag).is_ok_and(|is_known| is_known);
        is_known && sub.value_source(flag) == Some(ValueSource::CommandLine)
    };
    let named = ["column", "columns", "wide"].into_iter().any(is_named);
    if !named && !person && has(&of_z, &PERSONS) {
        let (a, b) = (file.display().to_string(), z.first()?.display().to_string());
        let swapped = |word: &String| match word {
            word if *word == a => b.clone(),
            word if *word == b => a.clone(),
            word => word.clone(),
        };
        let command = command_of("caz", &words.iter().map(swapped).collect::<Vec<_>>());
        return Some(format!("the two files are swapped: {command}"));
    }
    if let Some(command) = for_z(words, &columns, &of_z) {
        return Some(format!("that column is of the file of Z: {command}"));
    }
    if !named && !person && !thing && columns.len() > 1 && is_table(file) {
        let header = if name == "reviews" { "paper,reviewer,text" } else { "task,worker,label" };
        let file = file.display();
        let rest = words.iter().map(|word| if *word == file.to_string() { "-" } else { word });
        let command = command_of("caz", &rest.map(str::to_owned).collect::<Vec<_>>());
        return Some(format!(
            "the first line of `{file}` names no columns; if these are {header}: \
             (echo {header}; cat {}) | {command}",
            quoted(&file.to_string())
        ));
    }
    None
}

/// The command with the file of a folder that has people in it.
fn of_folder(words: &[String], folder: &Path) -> Option<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let file = files.iter().find(|file| columns(file).is_some_and(|its| has(&its, &PERSONS)));
    let shown = folder.display().to_string();
    let Some(file) = file else {
        return Some(format!("`{shown}` is a folder; name the file with the texts or labels"));
    };
    let file = file.display().to_string();
    let named = |word: &String| if *word == shown { file.clone() } else { word.clone() };
    Some(format!(
        "name the file: {}",
        command_of("caz", &words.iter().map(named).collect::<Vec<_>>())
    ))
}

/// The command with `--z-column` where a `--column` names what only the file of Z has.
fn for_z(words: &[String], columns: &[String], of_z: &[String]) -> Option<String> {
    let is_of_z = |pair: &str| {
        let name = pair.split_once('=').map_or("", |(_, name)| name);
        let is_in = |all: &[String]| all.iter().any(|column| column == name);
        is_in(of_z) && !is_in(columns)
    };
    let place = (1..words.len()).find(|&at| words[at - 1] == "--column" && is_of_z(&words[at]))?;
    let mut words = words.to_vec();
    words[place - 1] = "--z-column".into();
    Some(command_of("caz", &words))
}

fn start_of(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    std::fs::File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
    Some(String::from_utf8_lossy(&start).trim_start_matches('\u{feff}').trim_start().to_owned())
}

fn is_web_page(path: &Path) -> bool {
    let start = start_of(path).unwrap_or_default().to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

fn is_table(path: &Path) -> bool {
    start_of(path)
        .is_some_and(|start| !start.starts_with(['{', '[', '<', '#']) && !start.contains('\0'))
}

/// The names of columns in the first line, of a table or of JSON lines.
fn columns(path: &Path) -> Option<Vec<String>> {
    let start = start_of(path)?;
    let line = start.lines().next()?;
    if let Ok(serde_json::Value::Object(first)) = serde_json::from_str(line) {
        return Some(first.keys().cloned().collect());
    }
    let separator = if line.contains('\t') { '\t' } else { ',' };
    Some(line.split(separator).map(|name| name.trim().trim_matches('"').to_owned()).collect())
}

fn has(columns: &[String], starts: &[&str]) -> bool {
    columns.iter().any(|column| starts.iter().any(|start| column.to_lowercase().starts_with(start)))
}

/// The command of a program, as a shell takes it.
pub(super) fn command_of(program: &str, words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{program} {}", words.join(" "))
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn flags_that_people_take_for_others_are_named() {
        let renamed = |line: &str| renamed(&words(line));
        assert_eq!(renamed("reviews r.csv -z z.csv").unwrap(), "caz reviews r.csv --z z.csv");
        assert_eq!(renamed("labels l.csv --Z=z.csv").unwrap(), "caz labels l.csv --z=z.csv");
        assert_eq!(renamed("agree l.csv --truth t.csv").unwrap(), "caz agree l.csv --gold t.csv");
        assert_eq!(renamed("labels l.csv --truth t.csv"), None);
    }

    #[test]
    fn a_command_can_be_given_to_a_shell() {
        assert_eq!(command_of("caz", &words("reviews it's")), "caz reviews 'it'\\''s'");
        assert_eq!(quoted("a b;rm"), "'a b;rm'");
    }
}

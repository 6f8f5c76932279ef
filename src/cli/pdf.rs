//! Reads PDF files, each in a process of its own with bounds on memory and time: they are from strangers, and
//! no loop or panic of whatever reads them may end a run.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::exit::ExitStatus;
use crate::data::pdf::{MOST_FILE_BYTES, Paper, PdfError, read_paper};

/// The first argument of such a process; no command of anybody's.
const CHILD: &str = "read-pdf-in-a-process-of-its-own";

/// What a process may take.
#[cfg(unix)]
const MOST_MEMORY: u64 = 2 << 30;

/// How long one may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Largest answer.
const MOST_TEXT: u64 = 64 << 20;

/// Why a file has no text, in words and by a word for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unread {
    pub(super) word: String,
    pub(super) message: String,
}

impl Unread {
    fn new(word: &str, message: impl Into<String>) -> Self {
        Self { word: word.into(), message: message.into() }
    }
}

impl From<PdfError> for Unread {
    fn from(error: PdfError) -> Self {
        Self::new(error.word(), error.to_string())
    }
}

/// What the other process says.
type Answer = Result<Paper, Unread>;

/// Reads a file in this process, if it was started for that.
pub(super) fn child() -> Option<ExitStatus> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != OsStr::new(CHILD) {
        return None;
    }
    bound();
    let answer: Answer = read_here(Path::new(&arguments.next()?));
    let written = serde_json::to_writer(io::stdout().lock(), &answer);
    Some(if written.is_ok() { ExitStatus::Done } else { ExitStatus::BadInput })
}

fn read_here(path: &Path) -> Answer {
    let unreadable =
        |error: io::Error| Unread::new("unreadable", format!("cannot read it: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let mut pdf = Vec::new();
    file.take(MOST_FILE_BYTES + 1).read_to_end(&mut pdf).map_err(unreadable)?;
    let bytes = pdf.len() as u64;
    if bytes > MOST_FILE_BYTES {
        return Err(PdfError::TooLarge { bytes }.into());
    }
    Ok(read_paper(&pdf)?)
}

/// Bounds what this process may take. Where the system has no such bound, time is the only one.
fn bound() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let most = |most| Rlimit { current: Some(most), maximum: Some(most) };
        // What cannot be bounded is read all the same; a core file would hold the paper.
        let _ = setrlimit(Resource::As, most(MOST_MEMORY));
        let _ = setrlimit(Resource::Cpu, most(PATIENCE.as_secs()));
        let _ = setrlimit(Resource::Core, most(0));
    }
}

/// Reads a file in a process of its own.
pub(super) fn read(path: &Path) -> Answer {
    let failed =
        |error: io::Error| Unread::new("unreadable", format!("no process to read it: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .arg(CHILD)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let (sender, receiver) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = out.take(MOST_TEXT).read_to_end(&mut text);
            // Nobody listens once the time is over.
            let _ = sender.send(read.map(|_| text));
        });
    }
    let text = receiver.recv_timeout(PATIENCE);
    if text.is_err() {
        // It may have ended by itself in between.
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    match text {
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            Err(Unread::new("too_slow", format!("it takes more than {seconds} s to read")))
        }
        Ok(text) if status.success() => {
            let answer = text.ok().and_then(|text| serde_json::from_slice::<Answer>(&text).ok());
            answer.unwrap_or_else(|| Err(Unread::new("too_much_text", "it has too much text")))
        }
        Ok(_) => {
            let message = "it breaks what reads it: damaged, or more than 2 GB when unpacked";
            Err(Unread::new("reader_failed", message))
        }
    }
}

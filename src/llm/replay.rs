//! A log of every request and answer, and a model that answers from it without a network.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::{ChatAnswer, ChatModel, ChatRequest};
use super::error::ChatError;
use crate::error::{ErrorKind, Kinded, Remedy};

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It cannot be opened, read or written.
    #[error("cannot use the log `{path}`")]
    File {
        /// The log.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A line is not what was written.
    #[error("`{path}`, line {line}, is not a line of a log; remove it")]
    Line {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the reader said.
        #[source]
        source: serde_json::Error,
    },
    /// It holds answers of several models, and none was chosen.
    #[error("`{path}` holds answers of {models}; choose one")]
    Models {
        /// The log.
        path: PathBuf,
        /// Their names.
        models: String,
    },
    /// It holds nothing.
    #[error("`{path}` holds no answers")]
    Empty {
        /// The log.
        path: PathBuf,
    },
}

impl Kinded for ReplayError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File { .. } => ErrorKind::Missing,
            Self::Models { .. } => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        matches!(self, Self::Models { .. }).then_some(Remedy::NameModel)
    }
}

impl From<ReplayError> for ChatError {
    fn from(error: ReplayError) -> Self {
        Self::Store(error.into())
    }
}

/// One line of the log.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    key: String,
    model: String,
    request: Value,
    answer: ChatAnswer,
}

/// How every line of a log starts.
const LINE_START: &str = "{\"key\":\"";

/// A model that appends every request and answer of another one to a file.
///
/// One JSON object a line, flushed when the answer arrives, each request once, and once more if a
/// later answer differs; the last one counts. The log holds the prompts, so it is as confidential
/// as the texts in them: a new one is readable by its owner only. It holds no key.
pub struct RecordingModel {
    inner: Arc<dyn ChatModel>,
    path: PathBuf,
    log: Mutex<Log>,
}

struct Log {
    file: File,
    /// The text of the answer that was written last, by key.
    recorded: HashMap<String, String>,
}

impl RecordingModel {
    /// Opens the log at `path`, a new one or one to go on with.
    ///
    /// The half line that a killed process leaves at the end is dropped. A file that is no log is
    /// left as it is.
    ///
    /// # Errors
    ///
    /// `ReplayError::File` and `ReplayError::Line`.
    pub fn new(inner: Arc<dyn ChatModel>, path: &Path) -> Result<Self, ReplayError> {
        let failed = |source| ReplayError::File { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let recorded = lines(path, &text[..whole])?;
        let rest = &text[whole..];
        if !rest.is_empty() {
            // Only what this program began to write is dropped.
            let begun = rest.starts_with(LINE_START) || LINE_START.starts_with(rest);
            if !begun {
                let line = recorded.len() + 1;
                // Reading it says what is wrong with it; a whole line only lacks its end.
                return match serde_json::from_str::<Line>(rest) {
                    Err(source) => Err(ReplayError::Line { path: path.to_owned(), line, source }),
                    Ok(_) => Err(failed(io::ErrorKind::UnexpectedEof.into())),
                };
            }
            file.set_len(whole as u64).map_err(failed)?;
        }
        let recorded = recorded.into_iter().map(|line| (line.key, line.answer.text)).collect();
        // Two models may write to one log; what is appended does not overwrite.
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        let log = Mutex::new(Log { file, recorded });
        Ok(Self { inner, path: path.to_owned(), log })
    }
}

impl ChatModel for RecordingModel {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let answer = self.inner.complete(request)?;
        let key = request.key(self.model());
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.recorded.insert(key.clone(), answer.text.clone()).as_ref() != Some(&answer.text) {
            let line = Line {
                key,
                model: self.model().to_owned(),
                request: request.to_json(self.model()),
                answer: answer.clone(),
            };
            let mut text = serde_json::to_string(&line).expect("a line is plain data");
            text.push('\n');
            log.file
                .write_all(text.as_bytes())
                .map_err(|source| ReplayError::File { path: self.path.clone(), source })?;
        }
        Ok(answer)
    }

    fn reject(&self, request: &ChatRequest) -> Result<(), ChatError> {
        self.inner.reject(request)
    }

    fn keeps(&self, request: &ChatRequest) -> Result<bool, ChatError> {
        self.inner.keeps(request)
    }
}

/// A model that answers from a log.
#[derive(Debug)]
pub(crate) struct ReplayModel {
    path: PathBuf,
    model: String,
    answers: HashMap<String, ChatAnswer>,
}

impl ReplayModel {
    /// Reads a log; `model` may be left out if the log holds one model only.
    ///
    /// # Errors
    ///
    /// [`ReplayError`].
    pub(crate) fn open(path: &Path, model: Option<&str>) -> Result<Self, ReplayError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ReplayError::File { path: path.to_owned(), source })?;
        // A half line at the end is what a killed process leaves.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = lines(path, &text[..whole])?;
        let models: BTreeSet<&str> = lines.iter().map(|line| line.model.as_str()).collect();
        let model = match (model, models.len()) {
            (_, 0) => return Err(ReplayError::Empty { path: path.to_owned() }),
            (Some(model), _) => model.to_owned(),
            (None, 1) => lines[0].model.clone(),
            (None, _) => {
                let models = models.into_iter().collect::<Vec<_>>().join(", ");
                return Err(ReplayError::Models { path: path.to_owned(), models });
            }
        };
        let answers = lines.into_iter().map(|line| (line.key, line.answer)).collect();
        Ok(Self { path: path.to_owned(), model, answers })
    }
}

impl ChatModel for ReplayModel {
    fn model(&self) -> &str {
        &self.model
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        match self.answers.get(&request.key(&self.model)) {
            Some(answer) => Ok(answer.clone()),
            None => Err(ChatError::NotRecorded { path: self.path.clone() }),
        }
    }
}

fn lines(path: &Path, text: &str) -> Result<Vec<Line>, ReplayError> {
    let parse = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| ReplayError::Line {
            path: path.to_owned(),
            line: index + 1,
            source,
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::chat::{FinishReason, Message, ResponseFormat, Role, Usage};

    struct Echo(&'static str);

    impl ChatModel for Echo {
        fn model(&self) -> &str {
            self.0
        }
        fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            let text = format!("{}: {}", self.0, request.messages[0].content);
            Ok(ChatAnswer { text, finish: FinishReason::Stop, usage: Usage::default() })
        }
    }

    fn request(text: &str) -> ChatRequest {
        ChatRequest {
            messages: vec![Message::new(Role::User, text)],
            temperature: 0.7,
            seed: 0,
            max_tokens: 5,
            format: ResponseFormat::Text,
            repeat: 0,
        }
    }

    #[test]
    fn a_recorded_run_replays_after_a_crash_in_the_middle_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let record = |text: &str| {
            let model = RecordingModel::new(Arc::new(Echo("m")), &path).unwrap();
            model.complete(&request(text)).unwrap();
            model.complete(&request(text)).unwrap();
        };
        record("a");
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"key\":\"hal").unwrap();
        let replay = ReplayModel::open(&path, None).unwrap();
        assert_eq!(replay.complete(&request("a")).unwrap().text, "m: a");
        record("b");
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
        let replay = ReplayModel::open(&path, None).unwrap();
        assert_eq!(replay.complete(&request("b")).unwrap().text, "m: b");
        let missing = replay.complete(&request("c")).unwrap_err();
        assert!(matches!(missing, ChatError::NotRecorded { .. }), "{missing}");
    }

    #[test]
    fn several_models_need_a_choice_and_an_empty_log_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        for model in ["m", "n"] {
            let model = RecordingModel::new(Arc::new(Echo(model)), &path).unwrap();
            model.complete(&request("a")).unwrap();
        }
        let error = ReplayModel::open(&path, None).unwrap_err().to_string();
        assert!(error.contains("answers of m, n"), "{error}");
        let replay = ReplayModel::open(&path, Some("n")).unwrap();
        assert_eq!(replay.complete(&request("a")).unwrap().text, "n: a");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(ReplayModel::open(&path, None), Err(ReplayError::Empty { .. })));
        std::fs::write(&path, "{}\n").unwrap();
        assert!(matches!(ReplayModel::open(&path, None), Err(ReplayError::Line { line: 1, .. })));
    }
}

//! One error for everything that a user asks for, with a kind that a program can act on.
//!
//! Every module has an error type of its own that carries the values; each says by [`Kinded`] what
//! kind it is and what would help. What a user asks for as a whole returns [`Error`], into which
//! `?` turns any of them. A message says what is wrong; what to do about it is a [`Remedy`], which
//! the command line phrases by its flags and a library user by fields of the settings.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use serde::Serialize;

/// What kind of thing went wrong: who has to do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The settings make no sense, alone or together.
    Usage,
    /// The input data are bad.
    Input,
    /// A file, folder, model or key is missing, or cannot be read or written.
    Missing,
    /// The network or a server failed.
    Network,
    /// A bound that the user set was reached; what was done is kept.
    Gate,
    /// The user interrupted the run.
    Interrupted,
    /// Nobody reads the output any more.
    ClosedPipe,
}

/// What would help, in terms of settings; the command line says it with its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Remedy {
    /// Choose what happens to texts longer than the model takes.
    ChooseLongText,
    /// Say how token vectors become one.
    ChoosePooling,
    /// Have an encoder compute in 32 bits.
    ComputeInF32,
    /// Embed sentence by sentence.
    EmbedSentences,
    /// Embed whole texts.
    EmbedWholeTexts,
    /// Use the vectors or judgments that come with the texts.
    UseGiven,
    /// Let a second model comment.
    ChooseFeedback,
    /// Have probabilities read.
    ChooseChoice,
    /// Wait longer for the server, or send fewer requests at the same time.
    WaitLonger,
    /// Send fewer requests at the same time.
    LowerConcurrency,
    /// Check the key and where it is looked for.
    CheckKey,
    /// Check the server's address and the model's name.
    CheckServer,
    /// Name the authority that signed the server's certificate.
    NameAuthority,
    /// Name the model.
    NameModel,
    /// Download the language model.
    PullModel,
    /// Allow connections.
    AllowNetwork,
    /// Allow the judge more answers.
    MoreTurns,
    /// Allow more iterations.
    MoreIterations,
    /// Use fewer threads.
    FewerThreads,
    /// Go on with the trials that are there, or remove the file.
    Resume,
    /// Give more samples, choose another LLM for the cheaters, or let them copy Z.
    MoreSamples,
    /// Name the source that is Z.
    NameSource,
    /// Name the sources that are Z.
    NameSources,
    /// Rewrite nothing, or give texts.
    DropRewriting,
    /// Choose which of several reports counts.
    ChooseDuplicates,
    /// Choose which of several reviews counts, or say that a name is another person on every paper.
    ChooseNames,
    /// Say whether a name is one person throughout.
    SayNames,
    /// Compare labels as they are written.
    KeepLabels,
    /// Say which column is which.
    NameColumns,
    /// Say that a table has a column for every task or every worker, and which columns are answers.
    ReadAsWide,
    /// Say which person is behind which id.
    JoinPeople,
    /// Put the cache into a folder that can be written to.
    ChooseCacheFolder,
    /// Start a new cache.
    ClearCache,
    /// Look at the list of prompts.
    ListPrompts,
    /// Make the static model again.
    MakeStaticModel,
    /// Write somewhere else.
    ChooseOutput,
    /// Choose the sentence vectors that aspects are read from.
    ChooseAspectVectors,
    /// Give reviews or labels of an LLM.
    GiveZFile,
    /// Give labels of an LLM, or choose what needs none.
    GiveZ,
    /// Choose another number of samples.
    ChooseSamples,
    /// Choose another number of turns.
    ChooseTurns,
    /// Give a question with its labels.
    GiveTask,
    /// Give no question.
    DropTask,
    /// Give the dictionary that a plan was drawn from.
    NameDictionary,
    /// Pay for more answers.
    AddCredit,
    /// Allow longer answers.
    MoreTokens,
}

/// What a user asks for, or why there is none.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that knows its kind.
pub trait Kinded: StdError + Send + Sync + 'static {
    /// What kind of thing went wrong.
    fn kind(&self) -> ErrorKind;

    /// What would help, if it is a setting.
    fn remedy(&self) -> Option<Remedy> {
        None
    }

    /// The message with what would help in each of its parts, in the words of `phrase`; for errors
    /// that are lists. [`Self::remedy`] is not part of it.
    fn advised(&self, phrase: &dyn Fn(Remedy) -> &'static str) -> String {
        let _ = phrase;
        self.to_string()
    }
}

/// The error of what a user asks for: a cause, its kind, and what was being done.
///
/// `{}` prints the outermost message, `{:#}` the whole chain on one line.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    remedy: Option<Remedy>,
    /// What was being done, the outermost last.
    context: Vec<String>,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// An error of a module.
    Own(Box<dyn Kinded>),
    /// A message, or an error of another crate.
    Foreign(Box<dyn StdError + Send + Sync>),
}

impl Cause {
    fn error(&self) -> &(dyn StdError + 'static) {
        match self {
            Self::Own(error) => error.as_ref(),
            Self::Foreign(error) => error.as_ref(),
        }
    }
}

impl Error {
    /// An error that is no more than a message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            remedy: None,
            context: Vec::new(),
            cause: Cause::Foreign(message.into().into()),
        }
    }

    /// An error of another crate, of the kind that it means here.
    pub fn of(kind: ErrorKind, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { kind, remedy: None, context: Vec::new(), cause: Cause::Foreign(cause.into()) }
    }

    /// Settings that make no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Something that has to be there and is not.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Missing, message)
    }

    /// The same with what would help.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// The same with what was being done when it happened.
    #[must_use]
    pub fn context(mut self, doing: impl Into<String>) -> Self {
        self.context.push(doing.into());
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What would help, if it is a setting.
    pub fn remedy(&self) -> Option<Remedy> {
        self.remedy
    }

    /// The typed cause, for a caller who wants its values.
    pub fn cause(&self) -> &(dyn StdError + 'static) {
        self.cause.error()
    }

    /// The whole chain, and what would help in the words of `phrase`.
    pub(crate) fn advised(&self, phrase: &dyn Fn(Remedy) -> &'static str) -> String {
        let said = match &self.cause {
            Cause::Own(error) => error.advised(phrase),
            Cause::Foreign(error) => error.to_string(),
        };
        let mut message = self.chain(&said);
        if let Some(remedy) = self.remedy {
            message.push_str("; ");
            message.push_str(phrase(remedy));
        }
        message
    }

    /// What was being done, what the cause says, and the causes of that.
    fn chain(&self, said: &str) -> String {
        let mut parts: Vec<String> = self.context.iter().rev().cloned().collect();
        parts.push(said.to_owned());
        parts.extend(causes(self.cause()));
        parts.join(": ")
    }
}

/// What led to an error, the nearest cause first.
pub(crate) fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = String> + 'a {
    std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string)
}

impl<E: Kinded> From<E> for Error {
    fn from(error: E) -> Self {
        let (kind, remedy) = (error.kind(), error.remedy());
        Self { kind, remedy, context: Vec::new(), cause: Cause::Own(Box::new(error)) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return f.write_str(&self.chain(&self.cause().to_string()));
        }
        match self.context.last() {
            Some(outermost) => f.write_str(outermost),
            None => write!(f, "{}", self.cause()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        if self.context.is_empty() { self.cause().source() } else { Some(self.cause()) }
    }
}

impl Kinded for io::Error {
    fn kind(&self) -> ErrorKind {
        match io::Error::kind(self) {
            io::ErrorKind::BrokenPipe => ErrorKind::ClosedPipe,
            io::ErrorKind::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Missing,
        }
    }
}

/// Says what was being done when something failed.
pub trait Context<T> {
    /// Adds what was being done.
    ///
    /// # Errors
    ///
    /// The error there was, with `doing` before it.
    fn context(self, doing: impl Into<String>) -> Result<T>;

    /// Adds what was being done, said only if it failed.
    ///
    /// # Errors
    ///
    /// The error there was, with what `doing` says before it.
    fn with_context(self, doing: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, doing: impl Into<String>) -> Result<T> {
        self.map_err(|error| error.into().context(doing))
    }

    fn with_context(self, doing: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|error| error.into().context(doing()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no room")]
    struct Full {
        #[source]
        source: io::Error,
    }

    impl Kinded for Full {
        fn kind(&self) -> ErrorKind {
            ErrorKind::Missing
        }

        fn remedy(&self) -> Option<Remedy> {
            Some(Remedy::ChooseOutput)
        }
    }

    #[test]
    fn the_chain_is_printed_once_and_the_kind_is_that_of_the_cause() {
        let fails = || -> Result<(), Full> { Err(Full { source: io::Error::other("disk") }) };
        let error = fails().context("writing a").context("running").unwrap_err();
        assert_eq!(format!("{error}"), "running");
        assert_eq!(format!("{error:#}"), "running: writing a: no room: disk");
        assert_eq!(
            (error.kind(), error.remedy()),
            (ErrorKind::Missing, Some(Remedy::ChooseOutput))
        );
        assert!(error.cause().downcast_ref::<Full>().is_some());
        assert_eq!(error.advised(&|_| "take another"), format!("{error:#}; take another"));
    }

    #[test]
    fn a_closed_pipe_is_told_from_a_full_disk() {
        let kind = |kind: io::ErrorKind| Error::from(io::Error::from(kind)).kind();
        assert_eq!(kind(io::ErrorKind::BrokenPipe), ErrorKind::ClosedPipe);
        assert_eq!(kind(io::ErrorKind::StorageFull), ErrorKind::Missing);
    }
}

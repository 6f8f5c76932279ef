//! Flags that choose an embedder, and the way from flags to vectors.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::common::Common;
use super::exit::UsageError;
use super::progress::Bar;
use crate::data::content::Content;
use crate::data::warning::Warning;
use crate::text::embed::given::given_vectors;
use crate::text::embed::static_model::StaticModel;
use crate::text::embed::tfidf::{StopWords, Tfidf};
use crate::text::embed::{Embedder, VectorKind};
use crate::text::pooling::{TextUnit, embed_texts};
use crate::text::vectors::Vectors;

/// An embedder as named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EmbedderSpec {
    /// The bundled token table, or one in a folder.
    Static(Option<PathBuf>),
    /// Word weights of the corpus at hand.
    Tfidf,
    /// A transformer encoder: a folder or a name on the Hugging Face hub.
    Bert(String),
    /// Judgments by a language model under a rubric.
    Judge(Option<String>),
    /// An embedding model behind a server.
    OpenAi(String),
    /// Vectors or judgments in the files.
    Given,
}

impl FromStr for EmbedderSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match (name, rest) {
            ("static", rest) => Ok(Self::Static(rest.map(PathBuf::from))),
            ("tfidf", None) => Ok(Self::Tfidf),
            ("given", None) => Ok(Self::Given),
            ("bert", Some(model)) if !model.is_empty() => Ok(Self::Bert(model.to_owned())),
            ("judge", rubric) => Ok(Self::Judge(rubric.map(str::to_owned))),
            ("openai", Some(model)) if !model.is_empty() => Ok(Self::OpenAi(model.to_owned())),
            ("openai", _) => Err("name the model as the server knows it: openai:MODEL".into()),
            ("bert", _) => Err("name the model: bert:FOLDER or bert:ORGANISATION/MODEL".into()),
            _ => Err("choose static, static:FOLDER, tfidf, bert:FOLDER_OR_HUB_ID, judge, \
                      judge:RUBRIC, openai:MODEL or given"
                .into()),
        }
    }
}

/// What becomes one vector before pooling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GranularityChoice {
    /// Every sentence alone; the review is the mean of their unit vectors
    Sentence,
    /// The whole text at once
    Text,
}

/// What happens to a text longer than the model takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LongTextChoice {
    /// Cut into windows whose vectors are averaged
    #[default]
    Window,
    /// Keep the beginning
    Truncate,
    /// Stop with an error
    Error,
}

/// How a transformer's token vectors become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PoolingChoice {
    /// Mean over the tokens
    Mean,
    /// Vector of the first token
    Cls,
}

/// Flags that choose an embedder.
#[derive(Debug, Args)]
#[command(next_help_heading = "Embedding")]
pub(super) struct EmbeddingArgs {
    /// static | static:FOLDER | tfidf | `bert:FOLDER_OR_HUB_ID` | judge | judge:RUBRIC |
    /// openai:MODEL | given
    ///
    /// `static` is bundled and needs no download. `bert:` runs a transformer encoder from a folder
    /// or the Hugging Face cache, and downloads it if it is in neither. `judge`
    /// sends every text to the language model named by --model and asks what it says in each
    /// category of a rubric (aspects19). `openai:` sends every text to an embedding model on the
    /// server named by --base-url. `given` takes the vectors or judgments that are in the files;
    /// it is the default where no text is.
    /// [default: static]
    #[arg(long, value_name = "E")]
    pub embedder: Option<EmbedderSpec>,
    /// What is embedded at once [default: sentence for `caz reviews`, text for `caz embed`]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub granularity: Option<GranularityChoice>,
    /// bert: what happens to a text longer than the model takes
    #[arg(long, value_enum, default_value_t)]
    pub long_text: LongTextChoice,
    /// bert: how token vectors become one [default: as the model says]
    #[arg(long, value_enum)]
    pub pooling: Option<PoolingChoice>,
    /// tfidf: leave out English stop words
    #[arg(long)]
    pub stop_words: bool,
    #[cfg(feature = "llm")]
    #[command(flatten)]
    pub judge: super::judging::JudgeArgs,
    #[cfg(feature = "llm")]
    #[command(flatten)]
    pub llm: super::llm::LlmArgs,
}

/// Vectors of all contents and how they came about.
pub(super) struct Embedded {
    /// One row per content.
    pub vectors: Arc<Vectors>,
    /// What the dimensions mean.
    pub kind: VectorKind,
    /// Name of the embedder for tables.
    pub name: String,
    /// `sentence`, `text`, or nothing where vectors were given.
    pub granularity: Option<&'static str>,
    /// The embedder, for more texts; `None` where vectors were given.
    pub embedder: Option<Box<dyn Embedder>>,
    /// What to know about it.
    pub warnings: Vec<Warning>,
}

impl EmbeddingArgs {
    /// The embedder asked for; without one, `given` if vectors or judgments are all there is.
    pub(super) fn resolved(&self, contents: &[&Content]) -> EmbedderSpec {
        let no_text = contents.iter().all(|content| content.text.is_none());
        match &self.embedder {
            Some(spec) => spec.clone(),
            None if no_text && !contents.is_empty() => EmbedderSpec::Given,
            None => EmbedderSpec::Static(None),
        }
    }

    /// Embeds all contents.
    pub(super) fn embed(
        &self,
        contents: &[&Content],
        default: TextUnit,
        common: &Common,
    ) -> Result<Embedded> {
        let spec = self.resolved(contents);
        if spec == EmbedderSpec::Given {
            let (vectors, kind) = given_vectors(contents.iter().copied())?;
            return Ok(Embedded {
                vectors: Arc::new(vectors),
                kind,
                name: "given".into(),
                granularity: None,
                embedder: None,
                warnings: Vec::new(),
            });
        }
        let texts: Vec<&str> = contents.iter().filter_map(|c| c.text.as_deref()).collect();
        if texts.len() < contents.len() {
            let without = contents.len() - texts.len();
            return Err(UsageError(format!(
                "{without} of {} reviews and Z have no text; \
                 use --embedder given if all have a vector or judgments",
                contents.len()
            ))
            .into());
        }
        let judged = matches!(spec, EmbedderSpec::Judge(_));
        let granularity = match self.granularity {
            Some(GranularityChoice::Sentence) if judged => {
                let message = "a judge reads whole texts; drop --granularity sentence";
                return Err(UsageError(message.into()).into());
            }
            None if judged => TextUnit::Whole,
            Some(GranularityChoice::Sentence) => TextUnit::Sentence,
            Some(GranularityChoice::Text) => TextUnit::Whole,
            // One sentence has too few words for weights that come from word counts.
            None if spec == EmbedderSpec::Tfidf => TextUnit::Whole,
            None => default,
        };
        let (embedder, mut warnings) = self.build(&spec, &texts, common)?;
        let bar = Bar::new(common, "embedding", texts.len() as u64);
        let embedded = embed_texts(embedder.as_ref(), &texts, granularity, &bar)?;
        drop(bar);
        if embedded.long_units > 0 {
            let count = embedded.long_units;
            let what = if granularity == TextUnit::Sentence { "sentences" } else { "texts" };
            let done = match self.long_text {
                LongTextChoice::Truncate => "cut; the rest of them does not count",
                _ => "embedded in windows",
            };
            let message =
                format!("{count} {what} are longer than the model takes at once and were {done}");
            warnings.push(Warning::new("long_texts", count, message));
        }
        Ok(Embedded {
            vectors: Arc::new(embedded.vectors),
            kind: embedder.kind(),
            name: embedder.name().to_owned(),
            granularity: Some(match granularity {
                TextUnit::Sentence => "sentence",
                TextUnit::Whole => "text",
            }),
            // An explanation would send every sentence to the model.
            embedder: (!judged).then_some(embedder),
            warnings,
        })
    }

    fn build(
        &self,
        spec: &EmbedderSpec,
        texts: &[&str],
        common: &Common,
    ) -> Result<(Box<dyn Embedder>, Vec<Warning>)> {
        let embedder: Box<dyn Embedder> = match spec {
            EmbedderSpec::Static(None) => Box::new(StaticModel::bundled()),
            EmbedderSpec::Static(Some(folder)) => Box::new(StaticModel::from_folder(folder)?),
            EmbedderSpec::Tfidf => {
                let stop_words = if self.stop_words { StopWords::English } else { StopWords::None };
                Box::new(Tfidf::fit(texts, stop_words))
            }
            EmbedderSpec::Bert(model) => self.build_bert(model, common)?,
            EmbedderSpec::Judge(rubric) => {
                return self.build_judge(rubric.as_deref(), texts, common);
            }
            EmbedderSpec::OpenAi(model) => self.build_openai(model, texts.len(), common)?,
            EmbedderSpec::Given => unreachable!("given vectors need no embedder"),
        };
        Ok((embedder, Vec::new()))
    }
}

#[cfg(not(feature = "llm"))]
impl EmbeddingArgs {
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    fn build_judge(
        &self,
        _rubric: Option<&str>,
        _texts: &[&str],
        _common: &Common,
    ) -> Result<(Box<dyn Embedder>, Vec<Warning>)> {
        let message = "judge needs a caz built with the feature `llm`; \
                       build it with default features, or use --embedder static";
        Err(UsageError(message.into()).into())
    }

    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    fn build_openai(
        &self,
        _model: &str,
        _texts: usize,
        _common: &Common,
    ) -> Result<Box<dyn Embedder>> {
        let message = "openai: needs a caz built with the feature `llm`; \
                       build it with default features, or use --embedder static";
        Err(UsageError(message.into()).into())
    }
}

#[cfg(not(feature = "bert"))]
impl EmbeddingArgs {
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    fn build_bert(&self, model: &str, _common: &Common) -> Result<Box<dyn Embedder>> {
        let message = format!(
            "bert:{model} needs a caz built with the feature `bert`; \
             build it with default features, or use --embedder static"
        );
        Err(UsageError(message).into())
    }
}

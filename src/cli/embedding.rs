//! Flags that choose an embedder, and what they need of this machine: keys, servers, the hub.

#[cfg(feature = "llm")]
use std::cell::OnceCell;
#[cfg(feature = "bert")]
use std::path::PathBuf;
#[cfg(feature = "llm")]
use std::sync::Arc;

use crate::error::Result;
use clap::Args;
#[cfg(feature = "llm")]
use serde_json::Map;

use super::common::Common;
use super::exit::UsageError;
use super::keyed::{Keyed, Keys};
#[cfg(feature = "llm")]
use super::output::say;
use super::progress::Terminal;
use crate::data::content::Content;
#[cfg(feature = "llm")]
use crate::embed::catalogue::Served;
use crate::embed::catalogue::{Embedded, ModelSource, embed_contents};
use crate::embed::pooling::TextUnit;
use crate::embed::settings::{EmbedderSettings, Granularity, LongText, Pooling, Precision};
#[cfg(feature = "llm")]
use crate::llm::{ChatModel, EmbeddingModel, TokenPooling};

pub(super) use crate::embed::settings::EmbedderSpec;

/// Flags that choose an embedder.
#[derive(Debug, Args)]
pub(super) struct EmbeddingArgs {
    /// static | static:MODEL | tfidf | words:FILE | `bert:MODEL` | aspects | aspects:RUBRIC |
    /// judge | judge:RUBRIC | openai:MODEL | given
    ///
    /// `static` is bundled and needs no download; `static:` reads another one as model2vec writes it,
    /// `bert:` runs a transformer encoder. Either takes a folder or a name on the Hugging Face hub,
    /// which is downloaded if it is not in the cache. `words:` takes the mean of word vectors, a text file of
    /// word2vec or `GloVe`. `aspects` says what a
    /// text praises and criticises in each category of a rubric (aspects19), from vectors of its
    /// sentences and with no language model. `judge` sends every text to the language model named by --model and asks what it says in each
    /// category of a rubric (aspects19). `openai:` sends every text to an embedding model on the
    /// server named by --base-url. `given` takes the vectors or judgments that are in the files;
    /// it is the default where no text is.
    /// In `caz reviews` the column closeness and all scores but own take the first that is named. own takes tfidf,
    /// unless only static or bert is named. `caz experiment embeddings` compares several.
    /// [default: static; for the scores own and combined of `caz reviews` tfidf; experiment
    /// embeddings: tfidf,static,aspects]
    #[arg(long, value_name = "E", value_delimiter = ',')]
    pub embedder: Vec<EmbedderSpec>,
    #[command(flatten)]
    pub vectors: Keyed<VectorArgs>,
    #[cfg(feature = "llm")]
    #[command(flatten)]
    pub judge: Keyed<super::judging::Judging>,
    #[cfg(feature = "llm")]
    #[command(flatten)]
    pub llm: super::llm::LlmArgs,
}

/// What few people change of how vectors are made.
#[derive(Debug, Clone, Args)]
pub(super) struct VectorArgs {
    /// What is embedded at once [default: sentence for `caz reviews`, text for `caz embed`]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub granularity: Option<Granularity>,
    /// bert: what happens to a text longer than the model takes
    #[arg(long, value_enum, default_value_t)]
    pub long_text: LongText,
    /// bert, openai: how token vectors become one [default: as the model says]
    #[arg(long, value_enum)]
    pub pooling: Option<Pooling>,
    /// aspects: the sentence vectors they are read from, static or
    /// `bert:sentence-transformers/all-MiniLM-L6-v2` [default: static]
    #[arg(long, value_name = "E")]
    pub aspects_from: Option<EmbedderSpec>,
    /// bert: put this prompt of the model before every text [default: as the model says]
    #[arg(long, value_name = "NAME")]
    prompt_name: Option<String>,
    /// bert: f32, or bf16, which is faster and rounds: on processors with AMX (Intel) or AVX-512 BF16 (AMD)
    #[arg(long, value_enum, default_value_t)]
    precision: Precision,
    /// Divide every vector by its length
    #[arg(long)]
    normalize: bool,
}

impl Keys for VectorArgs {
    const FLAG: &'static str = "vectors";
    const ABOUT: &'static str = "How an embedder makes its vectors";
    const RARE: bool = true;
}

impl EmbeddingArgs {
    /// What the flags say.
    pub(super) fn settings(&self, common: &Common) -> EmbedderSettings {
        #[cfg(not(feature = "llm"))]
        let _ = common;
        EmbedderSettings {
            embedder: self.embedder.first().cloned(),
            granularity: self.vectors.granularity,
            long_text: self.vectors.long_text,
            pooling: self.vectors.pooling,
            prompt_name: self.vectors.prompt_name.clone(),
            precision: self.vectors.precision,
            normalize: self.vectors.normalize,
            aspects_from: self.vectors.aspects_from.clone(),
            #[cfg(feature = "llm")]
            judge: (matches!(self.embedder.first(), Some(EmbedderSpec::Judge(_)))
                || self.judge.is_asked())
            .then(|| self.judge.settings(&self.llm, common)),
        }
    }

    /// The embedders after the first.
    pub(super) fn beside(&self) -> Vec<EmbedderSpec> {
        self.embedder.iter().skip(1).cloned().collect()
    }

    /// Refuses several embedders.
    pub(super) fn check_one(&self) -> Result<()> {
        if self.embedder.len() > 1 {
            let message = "several embedders stand side by side in the score own of `caz reviews` \
                           and in `caz experiment embeddings` alone; name one";
            return Err(UsageError(message.into()).into());
        }
        Ok(())
    }

    /// Where models come from.
    pub(super) fn models<'a>(&'a self, common: &'a Common) -> CommandLineModels<'a> {
        CommandLineModels {
            #[cfg(feature = "llm")]
            args: self,
            common,
            #[cfg(feature = "llm")]
            connection: OnceCell::new(),
            #[cfg(feature = "llm")]
            place: OnceCell::new(),
        }
    }

    /// Embeds all contents.
    pub(super) fn embed(
        &self,
        contents: &[&Content],
        default: TextUnit,
        common: &Common,
    ) -> Result<Embedded> {
        self.check_one()?;
        let default = match default {
            TextUnit::Sentence => Granularity::Sentence,
            TextUnit::Whole => Granularity::Text,
        };
        let (settings, models) = (self.settings(common), self.models(common));
        settings.check_for(&[settings.of_texts()])?;
        self.waiting(common, || {
            embed_contents(contents, &settings, default, &models, &Terminal::new(common), None)
        })
    }

    /// Does `work`; where it asks a server, says from time to time what it is waiting for.
    #[cfg(feature = "llm")]
    pub(super) fn waiting<T>(&self, common: &Common, work: impl FnOnce() -> T) -> T {
        let asks = self
            .embedder
            .iter()
            .any(|spec| matches!(spec, EmbedderSpec::Judge(_) | EmbedderSpec::OpenAi(_)));
        if !asks || common.offline || self.llm.replay.is_some() {
            return work();
        }
        let place = self.llm.places();
        super::waiting::while_waiting(common, || format!("waiting for {place}"), work)
    }

    /// Does `work`; there are no servers to wait for.
    #[cfg(not(feature = "llm"))]
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    pub(super) fn waiting<T>(&self, _common: &Common, work: impl FnOnce() -> T) -> T {
        work()
    }
}

/// Models that the flags and the environment name; says where texts are about to go.
pub(super) struct CommandLineModels<'a> {
    #[cfg(feature = "llm")]
    args: &'a EmbeddingArgs,
    #[cfg_attr(
        not(any(feature = "llm", feature = "hub")),
        expect(dead_code, reason = "nothing needs it")
    )]
    common: &'a Common,
    #[cfg(feature = "llm")]
    connection: OnceCell<super::llm::Connection>,
    /// The address of the server of embeddings.
    #[cfg(feature = "llm")]
    place: OnceCell<String>,
}

impl ModelSource for CommandLineModels<'_> {
    #[cfg(feature = "hub")]
    fn encoder(&self, model: &str) -> Result<PathBuf> {
        super::bert::fetched(model, self.common)
    }

    #[cfg(all(feature = "bert", not(feature = "hub")))]
    fn encoder(&self, model: &str) -> Result<PathBuf> {
        let folder = PathBuf::from(model);
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(super::exit::UsageError(format!(
            "{model} is not a folder, and this program was built without downloads"
        ))
        .into())
    }

    #[cfg(feature = "llm")]
    fn embedding_model(&self, model: &str) -> Result<Served<dyn EmbeddingModel>> {
        let llm = &self.args.llm;
        let pooling = match self.args.vectors.pooling {
            None => None,
            Some(Pooling::Mean) => Some(TokenPooling::Mean),
            Some(Pooling::Cls) => Some(TokenPooling::First),
            Some(Pooling::Max | Pooling::Last) => {
                let message = "vectors of tokens from a server are pooled by mean or cls";
                return Err(UsageError(message.into()).into());
            }
        };
        let (server, place) = llm.embedding_model(model, pooling, self.common)?;
        let mut described = Map::new();
        described.insert("place".into(), place.as_str().into());
        // Set once: a run has one embedder.
        let _ = self.place.set(place);
        let model: Arc<dyn EmbeddingModel> = Arc::new(server);
        Ok(Served { model, concurrency: llm.server.concurrency, place: described })
    }

    #[cfg(feature = "llm")]
    fn chat_model(&self, name: Option<&str>) -> Result<Served<dyn ChatModel>> {
        let llm = &self.args.llm;
        if self.connection.get().is_none() {
            let opened = llm.connect(self.common, false)?;
            let _ = self.connection.set(opened);
        }
        let connection = self.connection.get().expect("it was opened above");
        let model = match name {
            None => Arc::clone(&connection.model),
            Some(name) => connection.sibling(llm, name, self.common)?,
        };
        let mut place = Map::new();
        place.insert("model".into(), model.model().into());
        place.insert("place".into(), connection.place.as_str().into());
        Ok(Served { model, concurrency: llm.at_once(), place })
    }

    #[cfg(feature = "llm")]
    fn sending(&self, spec: &EmbedderSpec, texts: usize) {
        if let Some(connection) = self.connection.get() {
            connection.announce(self.common, texts);
        }
        if let (EmbedderSpec::OpenAi(model), Some(place)) = (spec, self.place.get()) {
            say(self.common, &format!("sending {texts} texts to {model} at {place}"));
        }
    }
}

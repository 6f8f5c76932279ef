//! The one place where the name of an embedder becomes an embedder, and contents become vectors.
//!
//! What no settings can hold, servers with their keys and models that may have to be fetched,
//! comes from the caller as [`ModelSource`]; whoever has a model of their own implements it in a
//! few lines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::given::given_vectors;
use super::pooling::{
    SentenceListener, TextVectors, count_sentences, embed_heard, embed_texts, hear_sentences,
};
use super::settings::{EmbedderSettings, EmbedderSpec, Granularity, LongText};
use super::static_model::StaticModel;
use super::tfidf::Tfidf;
use super::vectors::Vectors;
use super::word_vectors::WordVectors;
use super::{EmbedError, Embedder, VectorKind};
use crate::data::content::Content;
use crate::data::nouns::{counted, verb};
use crate::data::observer::Observer;
use crate::data::warning::Warning;
use crate::error::{Error, Remedy, Result};
#[cfg(feature = "llm")]
use crate::llm::{ChatModel, EmbeddingModel};

/// A model behind a server, or one that stands in for it.
#[cfg(feature = "llm")]
pub struct Served<M: ?Sized> {
    /// Whom to ask.
    pub model: Arc<M>,
    /// Requests under way at the same time; never changes a result.
    pub concurrency: usize,
    /// Where the model is and what else decides its answers, for settings.
    pub place: Map<String, Value>,
}

/// Where models come from that settings only name.
///
/// The default of every method is that there is none.
pub trait ModelSource {
    /// The folder of an encoder or of a static model, fetched if need be.
    ///
    /// # Errors
    ///
    /// What went wrong on the way.
    fn encoder(&self, model: &str) -> Result<PathBuf> {
        let folder = PathBuf::from(model);
        let message = || format!("`{model}` is not a folder, and nothing here fetches models");
        if folder.is_dir() { Ok(folder) } else { Err(Error::missing(message())) }
    }

    /// An embedding model of a server.
    ///
    /// # Errors
    ///
    /// What went wrong on the way.
    #[cfg(feature = "llm")]
    fn embedding_model(&self, model: &str) -> Result<Served<dyn EmbeddingModel>> {
        Err(Error::missing(format!("no server for the embedding model `{model}`")))
    }

    /// The chat model that judges; with a name, another one at the same place.
    ///
    /// # Errors
    ///
    /// What went wrong on the way.
    #[cfg(feature = "llm")]
    fn chat_model(&self, name: Option<&str>) -> Result<Served<dyn ChatModel>> {
        let name = name.unwrap_or("judge");
        Err(Error::missing(format!("no server for the chat model `{name}`")))
    }

    /// Hears how many texts, or sentences, are about to be sent to a server's model.
    fn sending(&self, _spec: &EmbedderSpec, _texts: usize) {}
}

/// No server and no hub: embedders of this machine only.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalModels;

impl ModelSource for LocalModels {}

/// An embedder and what to know about it.
pub(crate) struct Built {
    /// The embedder.
    pub embedder: Box<dyn Embedder>,
    /// What its answers depend on beyond [`EmbedderSettings`]: server, model, hash of the prompt.
    pub details: Map<String, Value>,
    /// What to know about the texts.
    pub warnings: Vec<Warning>,
}

/// Vectors of all contents and how they came about.
#[derive(Debug, Clone)]
pub(crate) struct Embedded {
    /// One row per content.
    pub vectors: Arc<Vectors>,
    /// What the dimensions mean.
    pub kind: VectorKind,
    /// What they are called, in order, if they have names.
    pub dimensions: Option<Vec<String>>,
    /// Name of the embedder for tables.
    pub name: String,
    /// What was embedded at once; nothing where vectors were given.
    pub granularity: Option<Granularity>,
    /// How many such units there were, and how many of them are longer than the model takes at once.
    pub units: (usize, usize),
    /// Positions of texts whose vector is zero; none where vectors were given.
    pub zeros: Vec<usize>,
    /// Every setting that decided the vectors, with what was chosen where nothing was.
    pub settings: Map<String, Value>,
    /// What to know about it.
    pub warnings: Vec<Warning>,
}

impl Embedded {
    /// Why a vector is zero, in brackets; empty where that is for the reader to know.
    pub(crate) fn why_zero(&self) -> &'static str {
        match self.kind {
            _ if self.granularity.is_none() => "",
            VectorKind::Judgments => " (no judgment)",
            _ if self.name.starts_with("openai:") => " (the server sent zeros)",
            _ => " (no word the embedder knows)",
        }
    }
}

/// The same error with what the text that it is about is called, if it is about one and has a name.
pub(crate) fn naming(error: Error, name: impl Fn(usize) -> Option<String>) -> Error {
    let text = error.cause().downcast_ref::<EmbedError>().and_then(EmbedError::text);
    match text.and_then(name) {
        Some(name) => error.context(format!("embedding {name}")),
        None => error,
    }
}

/// Somebody who wants to hear of sentences, and the texts in the order they should come in.
pub(crate) struct SentencesWanted<'a> {
    /// Positions of all contents; those whose sentences are wanted come first.
    pub order: Vec<usize>,
    /// How many of them are wanted.
    pub wanted: usize,
    /// Hears of their sentences; positions of texts are those in `order`.
    pub listener: &'a mut dyn SentenceListener,
}

impl EmbedderSettings {
    /// The embedder asked for; without one, `given` if vectors or judgments are all there is.
    pub(crate) fn resolved(&self, contents: &[&Content]) -> EmbedderSpec {
        let no_text = contents.iter().all(|content| content.text.is_none());
        match &self.embedder {
            Some(spec) => spec.clone(),
            None if no_text && !contents.is_empty() => EmbedderSpec::Given,
            None => EmbedderSpec::Static(None),
        }
    }

    /// What is embedded at once; `default` where neither the settings nor the embedder say.
    fn unit(&self, spec: &EmbedderSpec, default: Granularity) -> Result<Granularity> {
        match (spec, self.granularity) {
            (EmbedderSpec::Judge(_), Some(Granularity::Sentence)) => {
                let error = Error::usage("a judge reads whole texts, not sentences");
                Err(error.with_remedy(Remedy::EmbedWholeTexts))
            }
            (EmbedderSpec::Aspects(_), Some(Granularity::Sentence)) => {
                let message = "aspects are read from sentences, but belong to whole texts";
                Err(Error::usage(message).with_remedy(Remedy::EmbedWholeTexts))
            }
            (_, Some(granularity)) => Ok(granularity),
            // One sentence has too few words for weights that come from word counts.
            (EmbedderSpec::Judge(_) | EmbedderSpec::Aspects(_) | EmbedderSpec::Tfidf, None) => {
                Ok(Granularity::Text)
            }
            (_, None) => Ok(default),
        }
    }

    /// Refuses `given` where there are texts to embed, and what the embedder does not read.
    ///
    /// # Errors
    ///
    /// A usage error.
    pub(crate) fn check_embeds(&self) -> Result<()> {
        if self.embedder == Some(EmbedderSpec::Given) {
            return Err(Error::usage("`given` embeds nothing; choose another embedder"));
        }
        self.check_for(&[self.of_texts()])
    }

    /// The embedder that `spec` names; word weights are those of `texts`.
    ///
    /// # Errors
    ///
    /// What keeps the embedder from being made; a kind of usage error if it needs a feature that
    /// this build does not have, or if it is `given`, which embeds nothing.
    pub(crate) fn build(
        &self,
        spec: &EmbedderSpec,
        texts: &[&str],
        models: &dyn ModelSource,
    ) -> Result<Built> {
        let embedder: Box<dyn Embedder> = match spec {
            EmbedderSpec::Static(None) => Box::new(StaticModel::bundled()),
            EmbedderSpec::Static(Some(model)) => {
                let folder = models.encoder(model)?;
                Box::new(StaticModel::from_folder(&folder, &spec.to_string())?)
            }
            EmbedderSpec::Words(file) => Box::new(WordVectors::read(Path::new(file), texts)?),
            EmbedderSpec::Tfidf => Box::new(Tfidf::fit(texts)),
            EmbedderSpec::Bert(model) => self.encoder(model, models)?,
            EmbedderSpec::Judge(rubric) => return self.judge(rubric.as_deref(), texts, models),
            EmbedderSpec::Aspects(rubric) => return self.aspects(rubric.as_deref(), models),
            EmbedderSpec::OpenAi(model) => return served(model, models),
            EmbedderSpec::Given => {
                return Err(Error::usage("`given` embeds nothing; choose another embedder"));
            }
        };
        Ok(Built { embedder, details: Map::new(), warnings: Vec::new() })
    }

    fn aspects(&self, rubric: Option<&str>, models: &dyn ModelSource) -> Result<Built> {
        use super::aspects::{AspectEmbedder, AspectsError};
        use crate::judge::Rubric;
        use crate::judge::rubric::DEFAULT_RUBRIC;

        let base = self.aspects_from.clone().unwrap_or(EmbedderSpec::Static(None));
        if !matches!(base, EmbedderSpec::Static(_) | EmbedderSpec::Bert(_)) {
            return Err(AspectsError::NoSentenceVectors { base: base.to_string() }.into());
        }
        let rubric = Rubric::load(rubric.unwrap_or(DEFAULT_RUBRIC))?;
        let Built { embedder, mut details, warnings } = self.build(&base, &[], models)?;
        let embedder = AspectEmbedder::new(embedder, &rubric)?;
        let by_prototype: Vec<&str> = embedder.by_prototype().collect();
        let described = json!({
            "rubric": rubric.name,
            "rubric_sha256": rubric.sha256(),
            "heads_sha256": embedder.heads().sha256(),
            "by_prototype": by_prototype,
        });
        details.insert("aspects_from".into(), embedder.base().into());
        details.insert("aspects".into(), described);
        Ok(Built { embedder: Box::new(embedder), details, warnings })
    }

    #[cfg(feature = "bert")]
    fn encoder(&self, model: &str, models: &dyn ModelSource) -> Result<Box<dyn Embedder>> {
        use super::bert::{BertEmbedder, BertOptions};
        let options = BertOptions {
            long_text: self.long_text,
            pooling: self.pooling,
            prompt_name: self.prompt_name.clone(),
            precision: self.precision,
            ..BertOptions::default()
        };
        let folder = models.encoder(model)?;
        Ok(Box::new(BertEmbedder::load(&folder, &format!("bert:{model}"), options)?))
    }

    #[cfg(not(feature = "bert"))]
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    fn encoder(&self, model: &str, _models: &dyn ModelSource) -> Result<Box<dyn Embedder>> {
        Err(lacks_feature(&format!("bert:{model}"), "bert"))
    }

    #[cfg(feature = "llm")]
    fn judge(
        &self,
        rubric: Option<&str>,
        texts: &[&str],
        models: &dyn ModelSource,
    ) -> Result<Built> {
        use super::judge::JudgeEmbedder;
        use crate::judge::Rubric;
        use crate::judge::rubric::DEFAULT_RUBRIC;

        let settings = self.judge.clone().unwrap_or_default();
        settings.check()?;
        let rubric = Rubric::load(rubric.unwrap_or(DEFAULT_RUBRIC))?;
        let judge = models.chat_model(None)?;
        let commenter = match (settings.feedback, &settings.feedback_model) {
            (None, _) => None,
            (Some(_), None) => Some(Arc::clone(&judge.model)),
            (Some(_), Some(name)) => Some(models.chat_model(Some(name))?.model),
        };
        let strategy = settings.strategy(&rubric, commenter.map(|model| (model, false)))?;
        let mut details = judge.place;
        details.insert("judge".into(), settings.described(&rubric)?.into());
        let warnings = suspicious_texts(texts, &rubric).into_iter().collect();
        let embedder =
            JudgeEmbedder::new(Box::new(strategy), judge.model, &rubric, judge.concurrency);
        Ok(Built { embedder: Box::new(embedder), details, warnings })
    }

    #[cfg(not(feature = "llm"))]
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    fn judge(
        &self,
        _rubric: Option<&str>,
        _texts: &[&str],
        _models: &dyn ModelSource,
    ) -> Result<Built> {
        Err(lacks_feature("judge", "llm"))
    }
}

#[cfg(feature = "llm")]
fn served(model: &str, models: &dyn ModelSource) -> Result<Built> {
    let Served { model, concurrency, place } = models.embedding_model(model)?;
    let embedder = Box::new(super::openai::OpenAiEmbedder::new(model, concurrency));
    Ok(Built { embedder, details: place, warnings: Vec::new() })
}

#[cfg(not(feature = "llm"))]
fn served(_model: &str, _models: &dyn ModelSource) -> Result<Built> {
    Err(lacks_feature("openai:", "llm"))
}

#[cfg(not(all(feature = "bert", feature = "llm")))]
fn lacks_feature(what: &str, feature: &str) -> Error {
    let message = format!(
        "{what} needs a caz built with the feature `{feature}`; build it with default features, \
         or choose the embedder static"
    );
    Error::usage(message)
}

/// A warning with the words that look like an attempt to steer the judge.
#[cfg(feature = "llm")]
fn suspicious_texts(texts: &[&str], rubric: &crate::judge::Rubric) -> Option<Warning> {
    let detector = crate::judge::InjectionDetector::new(rubric.categories());
    let found: Vec<String> = texts
        .iter()
        .filter_map(|text| {
            let suspicion = detector.inspect(text).into_iter().next()?;
            Some(format!("{} `{}`", suspicion.rule, suspicion.text))
        })
        .collect();
    let count = found.len();
    (count > 0).then(|| {
        let names = crate::data::warning::first_names(&found);
        let look = verb(count, ["looks as if it speaks", "look as if they speak"]);
        let message = format!("{} {look} to the model: {names}", counted(count, "text"));
        Warning::new("suspicious_texts", count, message)
    })
}

/// Embeds all contents, every text and every sentence at most once.
///
/// `default` is what is embedded at once where the settings do not say. Sentences that `hearing`
/// wants are embedded too, in the same calls where texts are embedded by sentence. A judge is never
/// asked about sentences, and given vectors have none.
///
/// # Errors
///
/// A usage error if contents lack what the embedder needs; what the embedder reports.
pub(crate) fn embed_contents(
    contents: &[&Content],
    settings: &EmbedderSettings,
    default: Granularity,
    models: &dyn ModelSource,
    observer: &dyn Observer,
    hearing: Option<SentencesWanted<'_>>,
) -> Result<Embedded> {
    let spec = settings.resolved(contents);
    if spec == EmbedderSpec::Given {
        if settings.embedder.is_none() {
            settings.check_for(&[&spec])?;
        }
        let (vectors, kind) = given_vectors(contents.iter().copied())?;
        return Ok(Embedded {
            vectors: Arc::new(vectors),
            kind,
            dimensions: None,
            name: "given".into(),
            granularity: None,
            units: (0, 0),
            zeros: Vec::new(),
            settings: described(settings, "given", None, Map::new()),
            warnings: Vec::new(),
        });
    }
    let texts: Vec<&str> = contents.iter().filter_map(|c| c.text.as_deref()).collect();
    if texts.len() < contents.len() {
        let without = contents.len() - texts.len();
        let message = format!("{without} of {} reviews and Z have no text", contents.len());
        return Err(Error::usage(message).with_remedy(Remedy::UseGiven));
    }
    let granularity = settings.unit(&spec, default)?;
    let Built { embedder, details, mut warnings } = settings.build(&spec, &texts, models)?;
    // A judge would be asked about every sentence.
    let hearing = hearing.filter(|_| !matches!(spec, EmbedderSpec::Judge(_)));
    if matches!(spec, EmbedderSpec::Judge(_) | EmbedderSpec::OpenAi(_)) {
        models.sending(&spec, count_units(&texts, granularity, hearing.as_ref()));
    }
    let mut embedded = embed(embedder.as_ref(), &texts, granularity, observer, hearing)?;
    if embedded.long_units > 0 {
        let count = embedded.long_units;
        let what = if granularity == Granularity::Sentence { "sentences" } else { "texts" };
        let done = match settings.long_text {
            LongText::Truncate => "cut; the rest of them does not count",
            _ => "embedded in windows",
        };
        let message =
            format!("{count} {what} are longer than the model takes at once and were {done}");
        warnings.push(Warning::new("long_texts", count, message));
    }
    if settings.normalize {
        if embedder.kind() == VectorKind::Judgments {
            return Err(Error::usage(
                "judgments are no directions: their norm says how many there are",
            ));
        }
        embedded.vectors.normalize();
    }
    Ok(Embedded {
        vectors: Arc::new(embedded.vectors),
        kind: embedder.kind(),
        dimensions: embedder.dimensions().map(<[String]>::to_vec),
        name: embedder.name().to_owned(),
        granularity: Some(granularity),
        units: (embedded.units, embedded.long_units),
        zeros: embedded.without_direction,
        settings: described(settings, embedder.name(), Some(granularity), details),
        warnings,
    })
}

/// The settings with what was chosen in place of what was left open.
fn described(
    settings: &EmbedderSettings,
    name: &str,
    granularity: Option<Granularity>,
    details: Map<String, Value>,
) -> Map<String, Value> {
    let mut described = Map::new();
    described.insert("embedder".into(), name.into());
    described.insert("granularity".into(), granularity.map(Granularity::as_str).into());
    if let Ok(Value::Object(all)) = serde_json::to_value(settings) {
        for (key, value) in all {
            described.entry(key).or_insert(value);
        }
    }
    described.extend(details);
    described
}

/// How many texts and sentences the embedder is asked for.
fn count_units(
    texts: &[&str],
    granularity: Granularity,
    hearing: Option<&SentencesWanted<'_>>,
) -> usize {
    let Some(hearing) = hearing else {
        return match granularity {
            Granularity::Text => texts.len(),
            Granularity::Sentence => super::pooling::count_units(texts),
        };
    };
    let ordered: Vec<&str> = hearing.order.iter().map(|&text| texts[text]).collect();
    match granularity {
        Granularity::Sentence => count_sentences(&ordered, true, hearing.listener),
        Granularity::Text => {
            texts.len() + count_sentences(&ordered[..hearing.wanted], false, hearing.listener)
        }
    }
}

fn embed(
    embedder: &dyn Embedder,
    texts: &[&str],
    granularity: Granularity,
    observer: &dyn Observer,
    hearing: Option<SentencesWanted<'_>>,
) -> Result<TextVectors, EmbedError> {
    let progress = observer.stage("embedding", texts.len() as u64);
    let Some(SentencesWanted { order, wanted, listener }) = hearing else {
        return embed_texts(embedder, texts, granularity.into(), progress.as_ref());
    };
    let ordered: Vec<&str> = order.iter().map(|&text| texts[text]).collect();
    if granularity == Granularity::Text {
        let embedded = embed_texts(embedder, texts, granularity.into(), progress.as_ref())?;
        drop(progress);
        let progress = observer.stage("comparing sentences", wanted as u64);
        hear_sentences(embedder, &ordered[..wanted], listener, progress.as_ref())
            .map_err(|error| in_order(error, &order))?;
        return Ok(embedded);
    }
    let mut embedded = embed_heard(embedder, &ordered, listener, progress.as_ref())
        .map_err(|error| in_order(error, &order))?;
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(row, &text)| place[text] = row);
    embedded.vectors = embedded.vectors.reordered(&place);
    embedded.without_direction.iter_mut().for_each(|row| *row = order[*row]);
    embedded.without_direction.sort_unstable();
    Ok(embedded)
}

/// The same error with the position of the text among the contents.
fn in_order(mut error: EmbedError, order: &[usize]) -> EmbedError {
    if let Some(text) = error.text_mut() {
        *text = order[*text];
    }
    error
}

#[cfg(test)]
mod tests;

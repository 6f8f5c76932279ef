//! What decides the vector of a text: the embedder by name, and how texts reach it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::pooling::TextUnit;
use crate::error::{Error, ErrorKind, Kinded, Result};
#[cfg(feature = "llm")]
use crate::judge::JudgeSettings;

/// An embedder by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EmbedderSpec {
    /// `static`: the bundled token table; `static:MODEL`: that of a model2vec folder, or of a name on
    /// the Hugging Face hub.
    Static(Option<String>),
    /// `tfidf`: word weights of the corpus at hand.
    Tfidf,
    /// `words:FILE`: the mean of word vectors, a text file of word2vec or `GloVe`.
    Words(String),
    /// `bert:MODEL`: a transformer encoder, a folder or a name on the Hugging Face hub.
    Bert(String),
    /// `judge`, `judge:RUBRIC`: judgments by a language model under a rubric.
    Judge(Option<String>),
    /// `aspects`, `aspects:RUBRIC`: praise and criticism by category, from sentence vectors.
    Aspects(Option<String>),
    /// `openai:MODEL`: an embedding model behind a server.
    OpenAi(String),
    /// `given`: vectors or judgments that come with the texts.
    Given,
}

impl EmbedderSpec {
    /// Whether the score own of texts is computed with its vectors: those that are made on this machine,
    /// of any text. With another embedder own weighs words.
    pub(crate) fn is_read_by_own(&self) -> bool {
        matches!(self, Self::Tfidf | Self::Static(_) | Self::Bert(_))
    }
}

/// A name that is no embedder's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownEmbedder(&'static str);

impl Kinded for UnknownEmbedder {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl FromStr for EmbedderSpec {
    type Err = UnknownEmbedder;

    fn from_str(text: &str) -> Result<Self, UnknownEmbedder> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match (name, rest) {
            ("static", None) => Ok(Self::Static(None)),
            ("static", Some(model)) if !model.is_empty() => {
                Ok(Self::Static(Some(model.to_owned())))
            }
            ("tfidf", None) => Ok(Self::Tfidf),
            ("given", None) => Ok(Self::Given),
            ("words", Some(file)) if !file.is_empty() => Ok(Self::Words(file.to_owned())),
            ("bert", Some(model)) if !model.is_empty() => Ok(Self::Bert(model.to_owned())),
            ("judge", rubric) => Ok(Self::Judge(rubric.map(str::to_owned))),
            ("aspects", rubric) => Ok(Self::Aspects(rubric.map(str::to_owned))),
            ("openai", Some(model)) if !model.is_empty() => Ok(Self::OpenAi(model.to_owned())),
            ("openai", _) => {
                Err(UnknownEmbedder("name the model as the server knows it: openai:MODEL"))
            }
            ("static", _) => {
                Err(UnknownEmbedder("name the model: static:FOLDER or static:ORGANISATION/MODEL"))
            }
            ("bert", _) => {
                Err(UnknownEmbedder("name the model: bert:FOLDER or bert:ORGANISATION/MODEL"))
            }
            _ => Err(UnknownEmbedder(
                "choose static, static:FOLDER_OR_HUB_ID, tfidf, words:FILE, bert:FOLDER_OR_HUB_ID, aspects, \
                 aspects:RUBRIC, judge, judge:RUBRIC, openai:MODEL or given",
            )),
        }
    }
}

impl fmt::Display for EmbedderSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(None) => f.write_str("static"),
            Self::Static(Some(model)) => write!(f, "static:{model}"),
            Self::Tfidf => f.write_str("tfidf"),
            Self::Words(file) => write!(f, "words:{file}"),
            Self::Bert(model) => write!(f, "bert:{model}"),
            Self::Judge(None) => f.write_str("judge"),
            Self::Judge(Some(rubric)) => write!(f, "judge:{rubric}"),
            Self::Aspects(None) => f.write_str("aspects"),
            Self::Aspects(Some(rubric)) => write!(f, "aspects:{rubric}"),
            Self::OpenAi(model) => write!(f, "openai:{model}"),
            Self::Given => f.write_str("given"),
        }
    }
}

impl TryFrom<String> for EmbedderSpec {
    type Error = UnknownEmbedder;

    fn try_from(text: String) -> Result<Self, UnknownEmbedder> {
        text.parse()
    }
}

impl From<EmbedderSpec> for String {
    fn from(spec: EmbedderSpec) -> Self {
        spec.to_string()
    }
}

words! {
    /// What becomes one vector before pooling.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
    #[serde(rename_all = "lowercase")]
    pub enum Granularity {
        /// Every sentence alone; the review is the mean of their unit vectors.
        Sentence = "sentence",
        /// The whole text at once.
        Text = "text",
    }
}

impl From<Granularity> for TextUnit {
    fn from(granularity: Granularity) -> Self {
        match granularity {
            Granularity::Sentence => Self::Sentence,
            Granularity::Text => Self::Whole,
        }
    }
}

/// What happens to a text with more tokens than an encoder takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum LongText {
    /// Cut into windows whose vectors are averaged.
    #[default]
    Window,
    /// Keep the beginning.
    Truncate,
    /// Stop with an error.
    Error,
}

/// How the vectors of a text's tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Mean over the tokens.
    Mean,
    /// Vector of the first token.
    Cls,
    /// Largest entry over the tokens.
    Max,
    /// Vector of the last token.
    Last,
}

/// How exactly an encoder computes its linear maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// In 32 bits.
    #[default]
    F32,
    /// What is multiplied is rounded to 16 bits, and summed in 32.
    Bf16,
}

impl Precision {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_f32(&self) -> bool {
        *self == Self::F32
    }
}

/// Everything that decides the vectors of given texts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EmbedderSettings {
    /// The embedder; `None` for `given` where vectors or judgments are all there is, else `static`.
    pub embedder: Option<EmbedderSpec>,
    /// What is embedded at once; `None` for what the run and the embedder suggest: whole texts for
    /// word weights and judges.
    pub granularity: Option<Granularity>,
    /// Encoders: texts longer than the model takes.
    pub long_text: LongText,
    /// Encoders: in place of the pooling that the model's own files ask for.
    pub pooling: Option<Pooling>,
    /// Encoders: which of the model's own prompts goes before every text, in place of its default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_name: Option<String>,
    /// Encoders: how exactly linear maps are computed.
    #[serde(skip_serializing_if = "Precision::is_f32")]
    pub precision: Precision,
    /// Vectors are divided by their L2 norm when all else is done; that of a zero vector stays.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub normalize: bool,
    /// Aspects: the embedder of sentences that they are read from; `None` for `static`.
    pub aspects_from: Option<EmbedderSpec>,
    /// Judges: how they are asked; `None` for the defaults, and with other embedders.
    #[cfg(feature = "llm")]
    pub judge: Option<JudgeSettings>,
}

impl EmbedderSettings {
    /// The embedder of texts, where none is asked for the default.
    pub(crate) fn of_texts(&self) -> &EmbedderSpec {
        self.embedder.as_ref().unwrap_or(&EmbedderSpec::Static(None))
    }

    /// Refuses settings that none of these embedders reads, which would be written down as what decided
    /// the vectors.
    ///
    /// # Errors
    ///
    /// A usage error that names them.
    pub(crate) fn check_for(&self, specs: &[&EmbedderSpec]) -> Result<()> {
        use EmbedderSpec as E;
        let reads_sentences = |spec: &E| matches!(spec, E::Aspects(_));
        let is_encoder = |spec: &E| match spec {
            E::Bert(_) => true,
            E::Aspects(_) => matches!(self.aspects_from, Some(E::Bert(_))),
            _ => false,
        };
        let pools = |spec: &E| is_encoder(spec) || matches!(spec, E::OpenAi(_));
        let embeds = |spec: &E| *spec != E::Given;
        let any = |reads: &dyn Fn(&E) -> bool| specs.iter().any(|spec| reads(spec));
        let unread = [
            ("granularity", self.granularity.is_some() && !any(&embeds)),
            ("long_text", self.long_text != LongText::default() && !any(&is_encoder)),
            ("pooling", self.pooling.is_some() && !any(&pools)),
            ("prompt_name", self.prompt_name.is_some() && !any(&is_encoder)),
            ("precision", !self.precision.is_f32() && !any(&is_encoder)),
            ("normalize", self.normalize && !any(&embeds)),
            ("aspects_from", self.aspects_from.is_some() && !any(&reads_sentences)),
            #[cfg(feature = "llm")]
            ("judge", self.judge.is_some() && !any(&|spec| matches!(spec, E::Judge(_)))),
        ];
        let unread: Vec<&str> =
            unread.into_iter().filter_map(|(name, is_unread)| is_unread.then_some(name)).collect();
        if unread.is_empty() {
            return Ok(());
        }
        let specs: Vec<String> = specs.iter().map(ToString::to_string).collect();
        let message = format!(
            "what is set of {} has no effect on the embedder {}: leave it out or choose another embedder",
            unread.join(", "),
            specs.join(", ")
        );
        Err(Error::usage(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_no_embedder_reads_are_refused_by_name() {
        let [tfidf, bert, openai, aspects, given] =
            ["tfidf", "bert:m", "openai:m", "aspects", "given"]
                .map(|name| name.parse::<EmbedderSpec>().unwrap());
        let settings = EmbedderSettings {
            granularity: Some(Granularity::Text),
            pooling: Some(Pooling::Cls),
            prompt_name: Some("query".into()),
            ..EmbedderSettings::default()
        };
        let said = |specs: &[&EmbedderSpec]| settings.check_for(specs).unwrap_err().to_string();
        assert!(
            said(&[&tfidf]).contains("of pooling, prompt_name has no effect on the embedder tfidf")
        );
        assert!(said(&[&openai]).contains("of prompt_name has"), "{}", said(&[&openai]));
        assert!(said(&[&given]).contains("of granularity, pooling, prompt_name has"));
        assert!(settings.check_for(&[&tfidf, &bert]).is_ok());
        let from = |base: &EmbedderSpec| EmbedderSettings {
            aspects_from: Some(base.clone()),
            precision: Precision::Bf16,
            ..EmbedderSettings::default()
        };
        assert!(from(&bert).check_for(&[&aspects]).is_ok());
        assert!(from(&tfidf).check_for(&[&aspects]).unwrap_err().to_string().contains("precision"));
    }

    #[test]
    fn every_name_is_read_and_written_alike() {
        for name in [
            "static",
            "static:a/b",
            "tfidf",
            "words:glove.txt",
            "bert:org/model",
            "judge",
            "judge:aspects19",
            "aspects",
            "aspects:rubric.toml",
            "openai:text-embedding-3:large",
            "given",
        ] {
            let spec: EmbedderSpec = name.parse().unwrap();
            assert_eq!(spec.to_string(), name);
            let json = serde_json::to_string(&spec).unwrap();
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<EmbedderSpec>(&json).unwrap(), spec);
        }
        for name in
            ["", "word2vec", "bert", "bert:", "static:", "words:", "openai:", "tfidf:x", "given:x"]
        {
            assert!(name.parse::<EmbedderSpec>().is_err(), "{name}");
        }
    }
}

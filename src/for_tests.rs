//! What the integration tests and benchmarks use beside the facade: parts that take too long without optimisation, or whose
//! speed is measured alone. No promise goes with it.

pub use crate::data::content::Content;
pub use crate::data::ids::Ids;
pub use crate::data::label_reader::{LabelFiles, LoadedLabels, read_labels};
pub use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};
pub use crate::data::progress::NoProgress;
pub use crate::data::review_reader::read_reviews;
pub use crate::data::reviews::{Review, ReviewSet, ZReview};
pub use crate::data::scale::ScaleChoice;
pub use crate::data::work::{Next, Outcome, never, run_all};
pub use crate::data::z::{ZSample, ZSource};
#[cfg(feature = "bert")]
pub use crate::embed::bert::{BertEmbedder, BertOptions};
pub use crate::embed::pooling::{TextUnit, embed_by_sentence, embed_texts};
pub use crate::embed::sentences::sentences;
#[cfg(feature = "bert")]
pub use crate::embed::settings::{LongText, Precision};
pub use crate::embed::static_model::StaticModel;
pub use crate::embed::tfidf::Tfidf;
pub use crate::embed::vectors::{DenseVectors, Vectors};
pub use crate::embed::{EmbedError, Embedder, Embeddings};
pub use crate::experiment::auc_summary::AucSummary;
pub use crate::experiment::own_calibration::calibrate;
pub use crate::experiment::own_calibration::venues::{Calibration, CalibrationSettings, Handed};
pub use crate::experiment::reviewers::{ReviewersSettings, reviewers};
pub use crate::experiment::reviews::Half;
pub use crate::judge::rubric::Rubric;
pub use crate::judge::verdict::parse_verdict;
#[cfg(any(feature = "http", feature = "local"))]
pub use crate::llm::budget::Budget;
#[cfg(feature = "cache")]
pub use crate::llm::cache::AnswerCache;
#[cfg(feature = "cache")]
pub use crate::llm::cached_model::CachedModel;
#[cfg(feature = "http")]
pub use crate::llm::http::chat::OpenAiModel;
#[cfg(feature = "http")]
pub use crate::llm::http::retry::RetryPolicy;
#[cfg(feature = "http")]
pub use crate::llm::http::secret::ApiKey;
#[cfg(feature = "http")]
pub use crate::llm::http::settings::OpenAiSettings;
#[cfg(any(feature = "http", feature = "cache"))]
pub use crate::llm::longer::LongerModel;
pub use crate::llm::prompt::Prompt;
pub use crate::llm::prompt::Task;
pub use crate::llm::proxy::ProxySettings;
pub use crate::llm::replay::RecordingModel;
#[cfg(any(feature = "http", feature = "hub"))]
pub use crate::llm::trust::Trust;
pub use crate::mechanism::Mechanism;
pub use crate::mechanism::copy_mixture::CopyMixture;
pub use crate::mechanism::correlated_agreement::CorrelatedAgreement;
pub use crate::mechanism::dawid_skene::DawidSkene;
pub use crate::mechanism::options::OwnSettings as OwnLabelsSettings;
pub use crate::mechanism::options::{CorrelatedAgreementOptions, EmSettings};
pub use crate::mechanism::output_agreement::OutputAgreement;
pub use crate::mechanism::own::OwnAnswers;
pub use crate::mechanism::strata::Conditioning;
pub use crate::metrics::auc::auc;
#[cfg(feature = "html")]
pub use crate::report::html::model::Details;
#[cfg(feature = "html")]
pub use crate::report::html::model::Page;
#[cfg(feature = "html")]
pub use crate::report::html::review_details::{Shade, ShownSentence, TextSentence};
pub use crate::screen::agreement::rankings::{RankingSettings, compare_rankings};
pub use crate::screen::agreement::settings::{AltTestSettings, Cut};
pub use crate::stats::flag::OwnFlag;
pub use crate::stats::flag::{FALSE_DISCOVERY_RATE, FlagSettings, flags};
pub use crate::stats::seed::stream;
pub use crate::text::own::ghosts::plant;
pub use crate::text::own::scores::{own_scores, tfidf_vectors};
pub use crate::text::own::settings::OwnSettings;
pub use crate::text::own::z_check::check_texts;
pub use crate::text::pairs::papers_of;
pub use crate::text::score::{ReviewerScore, cosine_scores, negative_scores, projected_scores};
pub use crate::text::scorer::ScoreVariant;
pub use crate::text::space::Space;

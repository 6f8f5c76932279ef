//! Judgment vectors: an LLM reads a text and says what it expresses in each category of a rubric.
//!
//! One dimension per category, in the order of the rubric, each in [-1, 1], 0 for "says nothing"
//! (the paper, section 4.2 and appendix H). Answers are read by name; an answer that lacks a
//! category, adds one or leaves the scale goes back to the model with what was wrong, and a text
//! without a readable answer is an error, never a vector of zeros.

use std::sync::Arc;

use super::{EmbedError, Embedder, Embeddings, VectorKind};
use crate::data::interruption::Interrupted;
use crate::data::progress::Progress;
use crate::data::work::{Next, Outcome, run_all};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::judge::{AnswerProblem, Item, JudgeError, JudgeStrategy, Rubric, Transcript};
use crate::llm::ChatModel;

/// An embedder that asks a chat model.
pub(crate) struct JudgeEmbedder {
    strategy: Box<dyn JudgeStrategy>,
    model: Arc<dyn ChatModel>,
    categories: Vec<String>,
    concurrency: usize,
    name: String,
}

/// Why texts have no judgment vector. What was answered is in the cache; a second run asks only
/// for the rest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeFailure {
    /// The model did not answer.
    #[error("{failed} of {total} texts could not be judged, text {index} among them")]
    NotAnswered {
        /// How many texts have no vector.
        failed: usize,
        /// How many texts there are.
        total: usize,
        /// The first text that failed, from 0.
        index: usize,
        /// Why.
        #[source]
        source: Box<JudgeError>,
    },
    /// The model answered, but never in the form asked for.
    #[error(
        "{failed} of {total} texts have no usable judgment, text {index} among them: {problem}"
    )]
    NotReadable {
        /// How many texts have no vector.
        failed: usize,
        /// How many texts there are.
        total: usize,
        /// The first text that failed, from 0.
        index: usize,
        /// What was wrong with its last answer.
        problem: String,
    },
}

impl Kinded for JudgeFailure {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAnswered { source, .. } => source.kind(),
            Self::NotReadable { .. } => ErrorKind::Network,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NotAnswered { source, .. } => source.remedy(),
            Self::NotReadable { .. } => Some(Remedy::MoreTurns),
        }
    }
}

impl From<JudgeFailure> for EmbedError {
    fn from(error: JudgeFailure) -> Self {
        Self::of(error)
    }
}

impl JudgeEmbedder {
    /// An embedder that judges by `strategy` with `model`, `concurrency` texts at a time.
    pub(crate) fn new(
        strategy: Box<dyn JudgeStrategy>,
        model: Arc<dyn ChatModel>,
        rubric: &Rubric,
        concurrency: usize,
    ) -> Self {
        let name = format!("judge:{}", rubric.name);
        let categories = rubric.categories().map(str::to_owned).collect();
        Self { strategy, model, categories, concurrency, name }
    }
}

impl Embedder for JudgeEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> VectorKind {
        VectorKind::Judgments
    }

    fn dimensions(&self) -> Option<&[String]> {
        Some(&self.categories)
    }

    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let judge = |index: usize| {
            let item = Item { text: texts[index].to_owned(), gold: None };
            let judged = self.strategy.judge(&item, self.model.as_ref());
            progress.advance(1);
            judged
        };
        let after = |error: &JudgeError| {
            if error.stops_the_run() { Next::Stop } else { Next::GoOn }
        };
        let stop = || progress.interrupted();
        let outcomes = run_all(texts.len(), self.concurrency, &stop, judge, after);
        if stop() && outcomes.iter().any(|outcome| !matches!(outcome, Outcome::Done(_))) {
            return Err(EmbedError::of(Interrupted));
        }
        Ok(Embeddings { vectors: vectors(outcomes, self.categories.len())?, long_texts: 0 })
    }
}

fn vectors(
    outcomes: Vec<Outcome<Transcript, JudgeError>>,
    dims: usize,
) -> Result<Vectors, JudgeFailure> {
    let total = outcomes.len();
    let complete = |outcome: &Outcome<Transcript, _>| matches!(outcome, Outcome::Done(t) if t.values.is_some());
    let failed = outcomes.iter().filter(|outcome| !complete(outcome)).count();
    let mut rows = DenseVectors::new(dims);
    let mut unreadable = None;
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Outcome::Done(Transcript { values: Some(values), .. }) => rows.push(&values),
            Outcome::Done(transcript) => drop(unreadable.get_or_insert((index, transcript))),
            // An error is worth more to the reader than an odd answer.
            Outcome::Failed(error) => {
                let source = Box::new(error);
                return Err(JudgeFailure::NotAnswered { failed, total, index, source });
            }
            Outcome::NotBegun => {}
        }
    }
    match unreadable {
        None => Ok(Vectors::Dense(rows)),
        Some((index, transcript)) => {
            let last = transcript.turns.last().and_then(|turn| turn.problems.first());
            let problem = last.map_or_else(String::new, AnswerProblem::to_string);
            Err(JudgeFailure::NotReadable { failed, total, index, problem })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::judge::single::{Sampling, Single};
    use crate::llm::{ChatAnswer, ChatError, ChatRequest, FinishReason, Prompt, Usage};

    /// Judges by words of the text; `broken` gets an answer without a category.
    struct Words;

    impl ChatModel for Words {
        fn model(&self) -> &'static str {
            "words"
        }
        fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            let asked = &request.messages[1].content;
            let value = |good: &str, bad: &str| {
                if asked.contains(good) {
                    1
                } else if asked.contains(bad) {
                    -1
                } else {
                    0
                }
            };
            let novelty = value("new idea", "old idea");
            let text = if asked.contains("broken") {
                format!("{{\"Novelty\": {novelty}}}")
            } else {
                let clarity = value("clear text", "murky text");
                format!("{{\"Novelty\": {novelty}, \"Clarity\": {clarity}}}")
            };
            Ok(ChatAnswer { text, finish: FinishReason::Stop, usage: Usage::default() })
        }
    }

    fn embedder() -> JudgeEmbedder {
        let rubric = Rubric::parse(
            "small",
            "description = \"d\"\nvalues = [-1, 0, 1]\n\
             [[categories]]\nname = \"Clarity\"\ndefinition = \"c\"\n\
             [[categories]]\nname = \"Novelty\"\ndefinition = \"n\"\n",
        )
        .unwrap();
        let strategy = Single {
            prompt: Prompt::load("judge-rubric").unwrap(),
            sampling: Sampling { temperature: 0.0, seed: 0, max_tokens: 50 },
            rubric: rubric.clone(),
        };
        JudgeEmbedder::new(Box::new(strategy), Arc::new(Words), &rubric, 3)
    }

    #[test]
    fn values_stand_in_the_order_of_the_rubric_and_texts_in_theirs() {
        let texts = ["a new idea in a murky text", "nothing", "an old idea"];
        let embeddings = embedder().embed(&texts, &NoProgress).unwrap();
        let Vectors::Dense(rows) = embeddings.vectors else { panic!("judgments are dense") };
        let rows: Vec<&[f64]> = rows.rows().collect();
        assert_eq!(rows, [[-1.0, 1.0], [0.0, 0.0], [0.0, -1.0]]);
        assert_eq!(embedder().kind(), VectorKind::Judgments);
        assert_eq!(embedder().name(), "judge:small");
    }

    #[test]
    fn a_missing_category_is_an_error_not_a_zero() {
        let error = embedder().embed(&["a", "broken", "c"], &NoProgress).unwrap_err().to_string();
        assert!(error.starts_with("1 of 3 texts have no usable judgment, text 1"), "{error}");
        assert!(error.contains("`Clarity` is missing"), "{error}");
    }
}

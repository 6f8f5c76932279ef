//! Answers read from probabilities: how likely a model finds each of some given answers.
//!
//! A model that is made to choose need not be believed to choose: the probabilities of all options
//! say how sure it is, and what they leave says whether it wanted to say something else. A request
//! for choices is a [`ChatRequest`] of the form [`ResponseFormat::Choices`], so that caches, logs,
//! budgets and counts hold for it, too; its answer is the text of [`Choices::to_text`].

use serde::{Deserialize, Serialize};

use super::chat::{ChatModel, ChatRequest, Message, ResponseFormat, Usage};
use super::error::ChatError;
use super::question::Question;

/// How an option may be written: as it is, with a capital, and each with a space before it. What an
/// option gets is the sum over its spellings.
pub(crate) fn spellings(option: &str) -> Vec<String> {
    let mut letters = option.chars();
    let capital: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let mut spellings = Vec::new();
    for word in [option, &capital] {
        for spelling in [word.to_owned(), format!(" {word}")] {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
    }
    spellings
}

/// How likely a model finds the options of every question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choices {
    /// By question and option: the logarithm of the probability that the answer is the option. What
    /// the options of a question lack to 1 goes to other answers.
    pub log_probabilities: Vec<Vec<f64>>,
    /// What reading the questions cost.
    #[serde(skip)]
    pub usage: Usage,
}

impl Choices {
    /// The text of an answer.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("numbers are plain data")
    }

    /// The choices in the text of an answer to `questions`, if it is one.
    fn parse(text: &str, questions: &[Question], usage: Usage) -> Option<Self> {
        let choices: Self = serde_json::from_str(text).ok()?;
        let right = choices.log_probabilities.len() == questions.len()
            && choices.log_probabilities.iter().zip(questions).all(|(found, question)| {
                found.len() == question.options.len() && found.iter().all(|each| each.is_finite())
            });
        right.then_some(Self { usage, ..choices })
    }
}

/// The requests that ask `questions` behind `messages`: a model in this program reads what they
/// share once, so it gets one request; a server gets one for each, so that what was answered is
/// kept when a run ends early, and limits on requests hold.
pub(crate) fn requests(
    model: &str,
    messages: &[Message],
    questions: &[Question],
) -> Vec<ChatRequest> {
    let together = if model.starts_with("local:") { questions.len().max(1) } else { 1 };
    questions
        .chunks(together)
        .map(|questions| ChatRequest {
            messages: messages.to_vec(),
            temperature: 0.0,
            seed: 0,
            max_tokens: 1,
            format: ResponseFormat::Choices { questions: questions.to_vec() },
            repeat: 0,
        })
        .collect()
}

/// A model that says how likely it finds given answers. Every [`ChatModel`] that answers requests
/// of the form [`ResponseFormat::Choices`] is one.
pub(crate) trait ChoiceModel {
    /// How likely the options of every question are to come next behind the `messages`, in an answer
    /// that begins as the question says or, where that cannot be given, to the question at the end of
    /// the last message.
    ///
    /// # Errors
    ///
    /// [`ChatError`]; [`ChatError::NoChoices`] for a model that gives no probabilities.
    fn choose(&self, messages: &[Message], questions: &[Question]) -> Result<Choices, ChatError>;
}

impl<M: ChatModel + ?Sized> ChoiceModel for M {
    fn choose(&self, messages: &[Message], questions: &[Question]) -> Result<Choices, ChatError> {
        let mut all = Choices { log_probabilities: Vec::new(), usage: Usage::default() };
        for request in requests(self.model(), messages, questions) {
            let answer = self.complete(&request)?;
            let asked = request.questions();
            let Some(choices) = Choices::parse(&answer.text, asked, answer.usage) else {
                self.reject(&request)?;
                return Err(ChatError::NoChoices { model: self.model().to_owned() });
            };
            all.log_probabilities.extend(choices.log_probabilities);
            all.usage = all.usage.plus(choices.usage);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: &[&str]) -> Question {
        let options = options.iter().map(|o| (*o).to_owned()).collect();
        Question { text: "a".into(), opening: String::new(), options }
    }

    #[test]
    fn options_that_begin_alike_are_not_clear() {
        assert!(question(&["negative", "none", "positive"]).is_clear());
        for options in [&["no", "none"][..], &["a", "A"], &["a", ""], &["a"], &[]] {
            assert!(!question(options).is_clear(), "{options:?}");
        }
    }

    #[test]
    fn an_option_is_written_in_four_ways() {
        assert_eq!(spellings("none"), ["none", " none", "None", " None"]);
        assert_eq!(spellings("1"), ["1", " 1"]);
    }

    #[test]
    fn answers_survive_their_text_exactly_and_other_texts_are_none() {
        let values = vec![vec![-0.1_f64.exp(), -700.25], vec![-1e-300, -3.0]];
        let questions = [question(&["a", "b"]), question(&["a", "b"])];
        let usage = Usage { prompt_tokens: 3, completion_tokens: 0, estimated: false };
        let choices = Choices { log_probabilities: values, usage };
        assert_eq!(Choices::parse(&choices.to_text(), &questions, usage), Some(choices.clone()));
        assert_eq!(Choices::parse(&choices.to_text(), &questions[..1], usage), None);
        let one = question(&["a", "b", "c"]);
        assert_eq!(Choices::parse(&choices.to_text(), &[one.clone(), one], usage), None);
        assert_eq!(Choices::parse("positive", &questions, usage), None);
    }

    #[test]
    fn a_server_is_asked_question_by_question_and_a_file_at_once() {
        let questions = [question(&["a", "b"]), question(&["c", "d"])];
        assert_eq!(requests("local:m.gguf@1", &[], &questions).len(), 1);
        let apart = requests("m", &[], &questions);
        assert_eq!(apart.len(), 2);
        assert_ne!(apart[0].key("m"), apart[1].key("m"));
    }
}

//! Choices from a server that says how likely the tokens were that it might have written.
//!
//! One token is asked for, with the likeliest ones in its place (`top_logprobs`). An option gets
//! what its spellings have among them; one that is not among them gets what the least likely of
//! them has, but no more than its part of what all of them leave.

use serde::Deserialize;
use serde_json::Value;

use super::chat::OpenAiModel;
use super::dialect::Dialect;
use super::lenient;
use super::reply::Received;
use super::server::Call;
use super::unreadable::Unreadable;
use crate::llm::chat::{ChatAnswer, ChatRequest, FinishReason, Usage};
use crate::llm::choice::{Choices, spellings};
use crate::llm::error::ChatError;
use crate::llm::question::Question;

/// Likely tokens that are asked for: what the protocol allows, and what older servers allow.
const TOPS: [u8; 2] = [20, 5];

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    logprobs: Option<Logprobs>,
}

#[derive(Deserialize)]
struct Logprobs {
    content: Option<Vec<Place>>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    top_logprobs: Vec<Token>,
}

#[derive(Deserialize)]
struct Token {
    token: String,
    /// Missing of tokens that were never likely.
    logprob: Option<f64>,
}

/// The likely tokens in a reply and what they cost; no tokens where the server says nothing of them.
fn parse(reply: &[u8], request: &ChatRequest) -> Result<(Vec<Token>, Usage), Unreadable> {
    let completion: Completion = lenient::read(reply)?;
    let choice = completion.choices.into_iter().next().ok_or(Unreadable::Unknown)?;
    let places = choice.logprobs.and_then(|logprobs| logprobs.content).unwrap_or_default();
    let reported = lenient::usage(completion.usage.as_ref());
    let prompt_tokens = request.estimated_prompt_tokens();
    let usage = reported.unwrap_or(Usage { prompt_tokens, completion_tokens: 1, estimated: true });
    Ok((places.into_iter().next().map(|place| place.top_logprobs).unwrap_or_default(), usage))
}

/// Log-probabilities of the options of a question, if one of them is among the likely tokens and these
/// have probabilities.
fn of_options(question: &Question, tokens: &[Token]) -> Option<Vec<f64>> {
    // Some servers round to two digits, and all calculate in single precision at best.
    const MOST: f64 = 1.01;
    const PRECISION: f64 = 1e-7;
    let share = |tokens: &mut dyn Iterator<Item = &Token>| -> f64 {
        tokens.filter_map(|token| token.logprob).map(f64::exp).sum()
    };
    let of_option = |option: &String| {
        let spellings = spellings(option);
        share(&mut tokens.iter().filter(|token| spellings.contains(&token.token)))
    };
    let found: Vec<f64> = question.options.iter().map(of_option).collect();
    let all = share(&mut tokens.iter());
    let unseen = found.iter().filter(|share| **share <= 0.0).count();
    if unseen == found.len() || all > MOST {
        return None;
    }
    let least = tokens.iter().filter_map(|token| token.logprob).fold(0.0, f64::min);
    let left = (1.0 - all).max(PRECISION) / unseen as f64;
    let log = |share: f64| if share > 0.0 { share.ln() } else { least.min(left.ln()) };
    Some(found.into_iter().map(log).collect())
}

impl OpenAiModel {
    /// Answers a request for choices.
    pub(super) fn choices(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let mut choices = Choices { log_probabilities: Vec::new(), usage: Usage::default() };
        for question in request.questions() {
            if !question.is_clear() {
                return Err(ChatError::UnclearOptions { options: question.options.join(", ") });
            }
            let (tokens, usage) = self.likely_tokens(request, question)?;
            let Some(options) = of_options(question, &tokens) else {
                return Err(ChatError::NoChoices { model: self.server().model().to_owned() });
            };
            choices.log_probabilities.push(options);
            choices.usage = choices.usage.plus(usage);
        }
        let (text, usage) = (choices.to_text(), choices.usage);
        Ok(ChatAnswer { text, finish: FinishReason::Stop, usage })
    }

    /// The tokens likeliest to follow a question; asks for less as long as the server refuses.
    fn likely_tokens(
        &self,
        request: &ChatRequest,
        question: &Question,
    ) -> Result<(Vec<Token>, Usage), ChatError> {
        let mut asked = request.clone();
        if let Some(last) = asked.messages.last_mut() {
            last.content.push_str(&question.text);
        }
        let mut dialect = self.known_dialect();
        let mut tops = TOPS.into_iter();
        let mut top = tops.next();
        loop {
            let most = top.unwrap_or(1);
            let call = Call {
                impatient: false,
                path: "chat/completions",
                body: dialect.body_for_choice(self.server().model(), &asked, most),
                reserve: asked.estimated_prompt_tokens() + 1,
                unknown: |host, excerpt| ChatError::NotChat { host, excerpt },
            };
            let found = self.server().ask(&call, |received| match received {
                Received::Whole(reply) => {
                    let (tokens, usage) = parse(reply, &asked)?;
                    Ok(((tokens, usage), usage))
                }
                Received::Stream(_) => Err(Unreadable::Unknown),
            });
            let error = match found {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            match less(&error, dialect, &asked) {
                Some(Less::Tokens) if top.is_some() => {
                    top = tops.next();
                    if top.is_none() {
                        return Err(error);
                    }
                }
                Some(Less::Of(less)) => dialect = less,
                _ => return Err(error),
            }
        }
    }
}

/// What to ask for after a refusal.
enum Less {
    /// Fewer likely tokens.
    Tokens,
    /// Another dialect.
    Of(Dialect),
}

fn less(error: &ChatError, dialect: Dialect, asked: &ChatRequest) -> Option<Less> {
    let ChatError::Status { status: 400 | 422, excerpt, .. } = error else { return None };
    if excerpt.to_lowercase().contains("logprobs") {
        return Some(Less::Tokens);
    }
    let less = dialect.after_refusal(excerpt, asked, false)?.dialect;
    (less != dialect).then_some(Less::Of(less))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(token: &str, share: f64) -> Token {
        Token { token: token.into(), logprob: Some(share.ln()) }
    }

    #[test]
    fn spellings_are_summed_and_an_option_out_of_sight_has_what_the_last_has() {
        let options = ["negative", "none", "positive"].map(String::from).to_vec();
        let question = Question { text: String::new(), opening: String::new(), options };
        let tokens =
            [token("none", 0.5), token(" None", 0.25), token("Yes", 0.1), token("Positive", 0.05)];
        let found = of_options(&question, &tokens).unwrap();
        for (found, share) in found.iter().zip([0.05_f64, 0.75, 0.05]) {
            assert!((found - share.ln()).abs() < 1e-12, "{found} {share}");
        }
        assert_eq!(of_options(&question, &tokens[2..3]), None);
        assert_eq!(of_options(&question, &[]), None);
    }

    #[test]
    fn options_out_of_sight_share_what_the_likely_tokens_leave() {
        let options = ["negative", "none", "positive"].map(String::from).to_vec();
        let question = Question { text: String::new(), opening: String::new(), options };
        let shares = |tokens: &[(&str, f64)]| -> Option<Vec<f64>> {
            let tokens: Vec<Token> =
                tokens.iter().map(|(text, share)| token(text, *share)).collect();
            Some(of_options(&question, &tokens)?.iter().map(|log| log.exp()).collect())
        };
        for (tokens, expected) in [
            (&[("positive", 0.98)][..], [0.01, 0.01, 0.98]),
            (&[("positive", 0.9), ("none", 0.06)], [0.04, 0.06, 0.9]),
            (&[("none", 0.4), ("The", 0.35), ("A", 0.25)], [0.0, 0.4, 0.0]),
            (&[("positive", 1.0)], [0.0, 0.0, 1.0]),
        ] {
            let found = shares(tokens).unwrap();
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{tokens:?}: {found} {expected}");
            }
        }
        // Rounded to two digits, and no probabilities at all.
        assert!(shares(&[("positive", 0.66), ("none", 0.345)]).is_some());
        assert_eq!(shares(&[("positive", 1.0), ("none", 0.5)]), None);
        assert_eq!(shares(&[("positive", 4.5)]), None);
    }
}

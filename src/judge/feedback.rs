//! A judge that is told what was wrong and asked again.
//!
//! After the multi-turn protocol of MINT (Wang et al. 2023, arXiv 2309.10691): a judge has up to
//! `turns` answers, of which up to `proposals` may be complete. An answer that cannot be read is
//! answered with the exact list of what is wrong. A proposal may be commented on by a second
//! model, which agrees or disagrees, in a word (`binary`) or in sentences (`textual`), on
//! proposals only or on every turn. The second model may know the right values; the judge never
//! does: a comment that states values is held back and only the disagreement is passed on.
//!
//! The control of all of this is [`FeedbackKind::CheckAgain`]: nobody comments, the judge is only
//! told to check again. What it gains is what a second look gains by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::relaxed::{objects, parse_number};
use super::rubric::Rubric;
use super::single::{Sampling, Single};
use super::verdict::{AnswerProblem, Value, Verdict, parse_answer, parse_verdict};
use super::{Item, JudgeError, JudgeStrategy, Transcript, Turn};
use crate::llm::fence::{Fence, harmless};
use crate::llm::form::{Field, describe_answer, json_schema};
use crate::llm::prompt::Task;
use crate::llm::{
    ChatAnswer, ChatError, ChatModel, ChatRequest, FinishReason, Message, Prompt, ResponseFormat,
    Role, without_reasoning,
};

/// More turns or proposals than anyone has a use for.
pub(crate) const MOST_TURNS: u32 = 20;

/// Longest part of an unreadable answer that goes back to the judge, in characters.
const ECHO_CHARS: usize = 4000;

/// What the judge is told after a turn that has no content of its own.
pub(crate) const CHECK_AGAIN: &str = "Please check again.";

words! {
    /// What the judge is told about an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
    #[serde(rename_all = "kebab-case")]
    pub enum FeedbackKind {
        /// Whether a second model agrees.
        Binary = "binary",
        /// Whether a second model agrees, and why.
        Textual = "textual",
        /// [`CHECK_AGAIN`], whatever the answer was; no second model is asked.
        CheckAgain = "check-again",
    }
}

impl FeedbackKind {
    /// What a second model is asked for, if one is asked.
    pub(crate) fn comment(self) -> Option<CommentKind> {
        match self {
            Self::Binary => Some(CommentKind::Binary),
            Self::Textual => Some(CommentKind::Textual),
            Self::CheckAgain => None,
        }
    }
}

/// What a second model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommentKind {
    /// Agree or disagree.
    Binary,
    /// Agree or disagree, and why.
    Textual,
}

/// When there is feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum FeedbackTime {
    /// After every answer, also one that cannot be read.
    EveryTurn,
    /// After a complete answer.
    #[default]
    OnProposal,
}

/// The second model.
pub(crate) struct Feedback {
    /// Who comments.
    pub model: Arc<dyn ChatModel>,
    /// What it says.
    pub kind: CommentKind,
    /// When it is asked.
    pub time: FeedbackTime,
    /// Whether it is shown the right values, where they are known.
    pub(crate) with_gold: bool,
    /// How it is asked.
    pub prompt: Prompt,
    /// How requests are made.
    pub(crate) sampling: Sampling,
}

/// Where feedback comes from.
pub(crate) enum Comments {
    /// A second model.
    By(Box<Feedback>),
    /// Nobody: [`CHECK_AGAIN`], at these times.
    CheckAgain(FeedbackTime),
}

/// A judge with several turns.
pub(crate) struct FeedbackLoop {
    first: Single,
    turns: u32,
    proposals: u32,
    comments: Option<Comments>,
}

/// What the feedback model said about one answer.
struct Comment {
    agreed: Option<bool>,
    /// For the judge; `None` if there is nothing it may see beyond the agreement.
    text: Option<String>,
    withheld: bool,
}

impl FeedbackLoop {
    /// A judge with `turns` answers, `proposals` of them complete.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Setting`] if one of them is 0 or above 20.
    pub(crate) fn new(
        first: Single,
        turns: u32,
        proposals: u32,
        comments: Option<Comments>,
    ) -> Result<Self, JudgeError> {
        for (setting, value) in [("turns", turns), ("proposals", proposals)] {
            if !(1..=MOST_TURNS).contains(&value) {
                return Err(JudgeError::Setting { setting, value, limit: MOST_TURNS });
            }
        }
        Ok(Self { first, turns, proposals, comments })
    }

    /// The first request about an item.
    ///
    /// # Errors
    ///
    /// As [`Single::request`].
    pub(crate) fn request(&self, item: &Item) -> Result<ChatRequest, JudgeError> {
        self.first.request(item)
    }

    fn rubric(&self) -> &Rubric {
        &self.first.rubric
    }

    fn comment(
        &self,
        feedback: &Feedback,
        item: &Item,
        answer: &str,
        transcript: &mut Transcript,
    ) -> Result<Comment, JudgeError> {
        let gold = item.gold.as_ref().filter(|_| feedback.with_gold);
        let request = self.comment_request(feedback, item, answer, gold.map(Vec::as_slice))?;
        let said = feedback.model.complete(&request)?;
        transcript.usage = transcript.usage.plus(said.usage);
        let refused = said.finish == FinishReason::ContentFilter;
        let comment = match feedback.kind {
            _ if refused => Comment { agreed: None, text: None, withheld: false },
            CommentKind::Binary => {
                let fields = feedback.prompt.fields();
                let agreed = parse_answer(&said, fields).ok().and_then(|verdict| {
                    match verdict.values.first()? {
                        Value::Label(label) => Some(label == "agree"),
                        Value::Number(_) => None,
                    }
                });
                Comment { agreed, text: None, withheld: false }
            }
            CommentKind::Textual => {
                let text = without_reasoning(&said.text).unwrap_or_default();
                let word = text.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
                let agreed = if word.starts_with("disagree") {
                    Some(false)
                } else if word.starts_with("agree") {
                    Some(true)
                } else {
                    None
                };
                let withheld = gold.is_some() && states_values(text, self.rubric());
                let text = (!withheld && !text.is_empty()).then(|| text.to_owned());
                Comment { agreed, text, withheld }
            }
        };
        transcript.withheld += u32::from(comment.withheld);
        if comment.agreed.is_none() && comment.text.is_none() && !comment.withheld {
            transcript.unusable_comments += 1;
            feedback.model.reject(&request)?;
        }
        Ok(comment)
    }

    fn comment_request(
        &self,
        feedback: &Feedback,
        item: &Item,
        answer: &str,
        gold: Option<&[f64]>,
    ) -> Result<ChatRequest, JudgeError> {
        let shown = if answer.trim().is_empty() { "(nothing)" } else { answer };
        let mut texts = BTreeMap::from([
            ("text".to_owned(), item.text.clone()),
            ("answer".to_owned(), shown.to_owned()),
        ]);
        if let Some(gold) = gold {
            texts.insert("gold".to_owned(), written(gold, self.rubric()));
        }
        let about = self.rubric().fields().iter().map(|field| {
            format!("- {}: {} ({})", field.name, field.definition, field.domain.describe())
        });
        let question = format!(
            "The judge notes what the text says in each of these categories:\n{}",
            about.collect::<Vec<_>>().join("\n")
        );
        let fields = feedback.prompt.fields();
        let format = if fields.is_empty() {
            ResponseFormat::Text
        } else {
            ResponseFormat::JsonSchema { name: "feedback".into(), schema: json_schema(fields) }
        };
        Ok(ChatRequest {
            messages: feedback
                .prompt
                .render(&texts, &Task { question: Some(question), fields: Vec::new() })?,
            temperature: feedback.sampling.temperature,
            seed: feedback.sampling.seed,
            max_tokens: feedback.sampling.max_tokens,
            format,
            repeat: 0,
        })
    }

    /// What the judge is told after an answer.
    fn reply(&self, problems: &[AnswerProblem], said: &Said, turns_left: u32) -> String {
        let mut parts = Vec::from_iter(complaint(problems));
        if matches!(said, Said::CheckAgain) {
            parts.push(CHECK_AGAIN.into());
        }
        if let Said::Comment(comment) = said {
            match (&comment.text, comment.agreed) {
                (Some(text), _) => {
                    // The comment was written by a model that has read the same untrusted text.
                    let fence = Fence::around(&[text]);
                    parts.push(format!(
                        "Expert feedback, to be weighed against the text:\n{}\n{}",
                        fence.wrap("feedback", text),
                        fence.note()
                    ));
                }
                (None, Some(true)) => parts.push("Expert feedback: the expert agrees.".into()),
                (None, Some(false)) => parts.push("Expert feedback: the expert disagrees.".into()),
                (None, None) => {}
            }
        }
        parts.push(demand(&self.rubric().form().fields, turns_left));
        parts.join("\n\n")
    }
}

/// What is said after an answer, beside what is wrong with its form.
enum Said {
    Nothing,
    Comment(Comment),
    CheckAgain,
}

impl JudgeStrategy for FeedbackLoop {
    fn judge(&self, item: &Item, model: &dyn ChatModel) -> Result<Transcript, JudgeError> {
        let mut request = self.first.request(item)?;
        let mut transcript = Transcript::default();
        let mut proposals = 0;
        for turn in 1..=self.turns {
            let answer = model.complete(&request)?;
            transcript.usage = transcript.usage.plus(answer.usage);
            let read = parse_answer(&answer, &self.rubric().form().fields);
            let (proposal, problems) = match read {
                Ok(verdict) => (self.rubric().numbers(&verdict), Vec::new()),
                Err(problems) => (None, problems),
            };
            proposals += u32::from(proposal.is_some());
            let last = turn == self.turns || proposals == self.proposals;
            let answered = spoken(&answer);
            let due = |time: FeedbackTime| {
                !last && (proposal.is_some() || time == FeedbackTime::EveryTurn)
            };
            let said = match &self.comments {
                Some(Comments::By(feedback)) if due(feedback.time) => {
                    Said::Comment(self.comment(feedback, item, &answered, &mut transcript)?)
                }
                Some(Comments::CheckAgain(time)) if due(*time) => Said::CheckAgain,
                _ => Said::Nothing,
            };
            let agreed = match &said {
                Said::Comment(comment) => comment.agreed,
                Said::CheckAgain | Said::Nothing => None,
            };
            let complete = proposal.is_some();
            if complete {
                transcript.values.clone_from(&proposal);
            }
            let reply = self.reply(&problems, &said, self.turns - turn);
            transcript.turns.push(Turn { problems, proposal, agreed });
            // Without a clear disagreement there is nothing to improve on a complete answer; the
            // control does not know whether there is.
            let to_improve = agreed == Some(false) || matches!(said, Said::CheckAgain);
            if last || (complete && !to_improve) {
                break;
            }
            request.messages.push(Message::new(Role::Assistant, answered));
            request.messages.push(Message::new(Role::User, reply));
        }
        if transcript.values.is_none() {
            reject_all(model, request, transcript.turns.len())?;
        }
        Ok(transcript)
    }
}

/// What is wrong with an answer, each thing once, for the model that gave it; `None` if nothing is.
fn complaint(problems: &[AnswerProblem]) -> Option<String> {
    let mut list: Vec<String> = Vec::new();
    for problem in problems {
        let line = format!("- {}", harmless(&problem.to_string()));
        if !list.contains(&line) {
            list.push(line);
        }
    }
    (!list.is_empty()).then(|| format!("Your answer cannot be used:\n{}", list.join("\n")))
}

/// What is asked for next.
fn demand(fields: &[Field], turns_left: u32) -> String {
    let noun = if turns_left == 1 { "turn" } else { "turns" };
    format!(
        "You have {turns_left} {noun} left. Answer with one JSON object that has every field \
         exactly once, by its name, and nothing else:\n{}",
        describe_answer(fields)
    )
}

/// Asks for `fields` until the answer can be read, `turns` times at most.
///
/// The verdict or what was wrong with the last answer, and the number of turns used.
///
/// # Errors
///
/// [`ChatError`] if the model does not answer.
pub(crate) fn ask_until_readable(
    model: &dyn ChatModel,
    mut request: ChatRequest,
    fields: &[Field],
    turns: u32,
) -> Result<(Result<Verdict, Vec<AnswerProblem>>, u32), ChatError> {
    let mut turn = 1;
    loop {
        let answer = model.complete(&request)?;
        let problems = match parse_answer(&answer, fields) {
            Ok(verdict) => return Ok((Ok(verdict), turn)),
            Err(problems) if turn >= turns => {
                reject_all(model, request, turn as usize)?;
                return Ok((Err(problems), turn));
            }
            Err(problems) => problems,
        };
        let parts: Vec<String> =
            complaint(&problems).into_iter().chain([demand(fields, turns - turn)]).collect();
        request.messages.push(Message::new(Role::Assistant, spoken(&answer)));
        request.messages.push(Message::new(Role::User, parts.join("\n\n")));
        turn += 1;
    }
}

/// Lets go of a conversation of `turns` answers that led to nothing, so that a later run starts
/// it anew; `request` is the last one made.
fn reject_all(
    model: &dyn ChatModel,
    mut request: ChatRequest,
    turns: usize,
) -> Result<(), ChatError> {
    for _ in 0..turns {
        model.reject(&request)?;
        // An answer and the reply to it led from one request to the next.
        request.messages.truncate(request.messages.len().saturating_sub(2));
    }
    Ok(())
}

/// What the judge said, as it goes back into the conversation.
fn spoken(answer: &ChatAnswer) -> String {
    let text = without_reasoning(&answer.text).unwrap_or_default();
    let text: String = harmless(text).chars().take(ECHO_CHARS).collect();
    // Servers refuse empty messages.
    if text.trim().is_empty() { "(no answer)".into() } else { text }
}

/// The values as an answer would give them.
fn written(values: &[f64], rubric: &Rubric) -> String {
    let pairs = rubric.categories().zip(values);
    let object: serde_json::Map<String, serde_json::Value> =
        pairs.map(|(name, value)| (name.to_owned(), (*value).into())).collect();
    serde_json::Value::Object(object).to_string()
}

/// Whether a comment tells the judge which value a category has.
///
/// An answer in the comment, or a number of the scale within 40 characters of the name of a
/// category. Errs on the side of silence; it cannot see values put into words.
fn states_values(text: &str, rubric: &Rubric) -> bool {
    const NEAR: usize = 40;
    let names_a_category =
        |pairs: &[(String, _)]| pairs.iter().any(|(key, _)| rubric.position(key).is_some());
    if objects(text).0.iter().any(|pairs| names_a_category(pairs))
        || parse_verdict(text, rubric.fields()).is_ok()
    {
        return true;
    }
    let text: Vec<char> = text.to_lowercase().chars().collect();
    rubric.categories().any(|category| {
        let name: Vec<char> = category.to_lowercase().chars().collect();
        text.windows(name.len()).enumerate().filter(|(_, window)| *window == name).any(|(at, _)| {
            let before: String = text[at.saturating_sub(NEAR)..at].iter().collect();
            let end = at + name.len();
            let after: String = text[end..(end + NEAR).min(text.len())].iter().collect();
            has_scale_number(&before) || has_scale_number(&after)
        })
    })
}

fn has_scale_number(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '−')))
        .map(|word| word.trim_end_matches(['.', '-']))
        .filter_map(parse_number)
        .any(|number| (-1.0..=1.0).contains(&number))
}

/// How far a setting gets with more turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Progression {
    /// Items judged.
    pub items: u64,
    /// Success rate after 1, 2, ... turns; empty without items.
    pub success_after: Vec<f64>,
    /// Answers of the judge, all items together.
    pub turns: u64,
    /// Share of these that could not be read; `None` without answers.
    pub invalid_share: Option<f64>,
    /// Comments that were held back because they stated values.
    pub withheld: u64,
    /// Comments that said nothing: refused, or not to be read.
    pub unusable_comments: u64,
}

impl Progression {
    /// Summarises transcripts, each with the values known to be right, if they are.
    ///
    /// Success is a complete answer, or where the right values are known, the right one
    /// ([`Transcript::success_after`]).
    pub(crate) fn of(transcripts: &[(&Transcript, Option<&[f64]>)], turns: u32) -> Self {
        let items = transcripts.len();
        let sum = |count: fn(&Transcript) -> u32| {
            transcripts.iter().map(|(transcript, _)| u64::from(count(transcript))).sum()
        };
        let share = |count: usize| count as f64 / items as f64;
        let success_after = (1..=turns as usize)
            .filter(|_| items > 0)
            .map(|turn| {
                share(transcripts.iter().filter(|(t, gold)| t.success_after(turn, *gold)).count())
            })
            .collect();
        let all = transcripts.iter().flat_map(|(transcript, _)| &transcript.turns);
        let (total, invalid) = all.fold((0_u64, 0_u64), |(total, invalid), turn| {
            (total + 1, invalid + u64::from(turn.proposal.is_none()))
        });
        Self {
            items: items as u64,
            success_after,
            turns: total,
            invalid_share: (total > 0).then(|| invalid as f64 / total as f64),
            withheld: sum(|transcript| transcript.withheld),
            unusable_comments: sum(|transcript| transcript.unusable_comments),
        }
    }
}

#[cfg(test)]
mod tests;

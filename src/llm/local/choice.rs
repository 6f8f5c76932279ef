//! Choices: what all questions share is read once, then every question behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use caz_gguf::{CHUNK, Memory, Model, ModelError};

use super::LocalModel;
use crate::llm::chat::{ChatAnswer, ChatRequest, FinishReason, Message, Usage};
use crate::llm::choice::{Choices, spellings};
use crate::llm::error::ChatError;
use crate::llm::question::Question;

/// The tokens of each option of a question: all spellings that are one token, and whatever it takes
/// the option as it is or, behind an opening, with the space that stands there.
fn sequences(question: &Question, model: &Model) -> Result<Vec<Vec<Vec<u32>>>, ModelError> {
    let of_option = |option: &String| {
        let in_place =
            if question.opening.is_empty() { option.clone() } else { format!(" {option}") };
        let mut sequences: Vec<Vec<u32>> = Vec::new();
        for spelling in spellings(option) {
            let ids = model.encode_plain(&spelling)?;
            if (ids.len() == 1 || spelling == in_place) && !sequences.contains(&ids) {
                sequences.push(ids);
            }
        }
        Ok(sequences)
    };
    question.options.iter().map(of_option).collect()
}

/// What was read last, so that the next request need not read the same again.
#[derive(Debug, Default)]
pub(super) struct Kept {
    ids: Vec<u32>,
    memory: Memory,
}

/// The tokens of a spelling, each with the branch that ends before it.
type Spelling = Vec<(usize, u32)>;

/// A request for choices as tokens.
struct TokenizedChoices {
    /// What all questions share.
    shared: Vec<u32>,
    /// What is read behind it: each question, and each question with the start of an option that
    /// takes several tokens.
    branches: Vec<Vec<u32>>,
    /// By question and option.
    options: Vec<Vec<Vec<Spelling>>>,
}

impl TokenizedChoices {
    fn new(model: &LocalModel, request: &ChatRequest) -> Result<Self, ChatError> {
        let questions = request.questions();
        let prompts = questions.iter().map(|question| {
            if !question.is_clear() {
                let options = question.options.join(", ");
                return Err(ChatError::UnclearOptions { options });
            }
            if !question.opening.is_empty() {
                return Ok(model.tokens_of_answer(&request.messages, &question.opening)?);
            }
            let mut messages: Vec<Message> = request.messages.clone();
            if let Some(last) = messages.last_mut() {
                last.content.push_str(&question.text);
            }
            Ok(model.tokens(&messages)?)
        });
        let prompts = prompts.collect::<Result<Vec<Vec<u32>>, ChatError>>()?;
        let first = prompts.first().map_or(&[][..], Vec::as_slice);
        // Every question reads at least one token of its own.
        let mut shared = first.len().saturating_sub(1);
        for prompt in &prompts {
            let same = prompt.iter().zip(first).take_while(|(a, b)| a == b).count();
            shared = shared.min(same).min(prompt.len().saturating_sub(1));
        }
        let mut branches: Vec<Vec<u32>> = Vec::new();
        let mut options = Vec::new();
        for (question, prompt) in questions.iter().zip(&prompts) {
            let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
            let mut branch = |start: &[u32]| {
                *known.entry(start.to_vec()).or_insert_with(|| {
                    branches.push([&prompt[shared..], start].concat());
                    branches.len() - 1
                })
            };
            let mut placed = |sequence: Vec<u32>| -> Spelling {
                let tokens = sequence.iter().enumerate();
                tokens.map(|(at, id)| (branch(&sequence[..at]), *id)).collect()
            };
            let sequences = sequences(question, &model.model)?;
            let of_option =
                |spellings: Vec<Vec<u32>>| spellings.into_iter().map(&mut placed).collect();
            options.push(sequences.into_iter().map(of_option).collect());
        }
        Ok(Self { shared: first[..shared].to_vec(), branches, options })
    }

    /// Tokens that are read.
    fn tokens(&self) -> u64 {
        (self.shared.len() + self.branches.iter().map(Vec::len).sum::<usize>()) as u64
    }
}

impl LocalModel {
    /// Answers a request for choices.
    pub(super) fn choices(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let asked = TokenizedChoices::new(self, request)?;
        let usage = Usage { prompt_tokens: asked.tokens(), completion_tokens: 0, estimated: false };
        let budget = &self.settings.budget;
        let reservation = budget.reserve(usage.total(), &self.settings.interruption)?;
        let mut kept = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.look()?;
        let found = self.read_branches(&asked, &mut kept)?;
        reservation.cost(usage);
        let log_probability = |spelling: &Spelling| -> f64 {
            // What is asked for is read.
            spelling.iter().map(|place| found[place]).sum()
        };
        let log_probabilities = asked.options.iter().map(|options| {
            let of_option = |spellings: &Vec<Spelling>| {
                let logs: Vec<f64> = spellings.iter().map(log_probability).collect();
                log_sum_exp(&logs)
            };
            options.iter().map(of_option).collect()
        });
        let choices = Choices { log_probabilities: log_probabilities.collect(), usage };
        Ok(ChatAnswer { text: choices.to_text(), finish: FinishReason::Stop, usage })
    }

    /// Log-probabilities of the tokens that are asked for, each after its branch.
    fn read_branches(
        &self,
        asked: &TokenizedChoices,
        kept: &mut Kept,
    ) -> Result<BTreeMap<(usize, u32), f64>, ChatError> {
        let context = self.model.context();
        let longest = asked.branches.iter().map(Vec::len).max().unwrap_or(0);
        let tokens = asked.shared.len() + longest;
        if tokens >= context || longest == 0 {
            return Err(ModelError::TooLong { tokens, context }.into());
        }
        self.read_shared(&asked.shared, kept)?;
        let mut wanted = vec![BTreeSet::new(); asked.branches.len()];
        for (branch, id) in asked.options.iter().flatten().flatten().flatten() {
            wanted[*branch].insert(*id);
        }
        let mut found = BTreeMap::new();
        let mut done = 0;
        while let Some(first) = asked.branches.get(done) {
            self.look()?;
            let log_probabilities = if first.len() > CHUNK {
                let mut memory = kept.memory.clone();
                let states = self.model.read(first, &mut memory, || self.look())?;
                let place = [states.last()];
                self.model.log_probabilities(&states, &place, &wanted[done..=done])
            } else {
                // As many as are read together.
                let mut tokens = 0;
                let mut places = Vec::new();
                for branch in &asked.branches[done..] {
                    if tokens + branch.len() > CHUNK {
                        break;
                    }
                    tokens += branch.len();
                    places.push(tokens - 1);
                }
                let together = done..done + places.len();
                let parts: Vec<&[u32]> =
                    asked.branches[together.clone()].iter().map(Vec::as_slice).collect();
                let states = self.model.peek(&parts, &mut kept.memory);
                self.model.log_probabilities(&states, &places, &wanted[together])
            };
            for of_branch in log_probabilities? {
                found.extend(of_branch.into_iter().map(|(id, log)| ((done, id), log)));
                done += 1;
            }
        }
        Ok(found)
    }

    /// Reads what all questions share. The start that the last request had, too, is not read again:
    /// whole pieces of [`CHUNK`] tokens, so that everything is computed in the same pieces as if it
    /// were, and no answer depends on what was asked before.
    fn read_shared(&self, ids: &[u32], kept: &mut Kept) -> Result<(), ChatError> {
        let same = kept.ids.iter().zip(ids).take_while(|(a, b)| a == b).count();
        let known = same.min(kept.memory.tokens()) / CHUNK * CHUNK;
        kept.memory.forget_behind(known);
        kept.ids.clear();
        if known < ids.len() {
            self.model.read(&ids[known..], &mut kept.memory, || self.look())?;
        }
        kept.ids.extend_from_slice(ids);
        Ok(())
    }
}

fn log_sum_exp(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + values.iter().map(|value| (value - most).exp()).sum::<f64>().ln()
}

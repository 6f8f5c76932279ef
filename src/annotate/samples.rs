//! Several answers about each item: what every request holds, and whose it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::job::{Flagged, suspicious};
use super::row::{Row, named};
use crate::data::items::ItemRow;
use crate::data::rows::{Column, NamedColumn};
use crate::error::{Error, Remedy, Result};
use crate::judge::InjectionDetector;
use crate::llm::prompt::Task;
use crate::llm::{ChatRequest, Prompt, ResponseFormat};

/// Temperature where several samples are asked for: at 0 they would be one answer.
const SAMPLING_TEMPERATURE: f64 = 0.7;

/// What the model is told about an item before all else.
pub(super) const SYSTEM: Column =
    Column { name: "system", synonyms: &["system_prompt"], required: false };

/// How answers are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SamplingSettings {
    /// Independent answers per item, from 1 to 1000.
    pub samples: u32,
    /// Sampling temperature; by default what the prompt says, else 0, and more where several samples are asked for.
    pub temperature: Option<f64>,
    /// Most tokens of an answer; by default as the prompt says.
    pub max_tokens: Option<u32>,
    /// Seed of the first sample of every item; the next one has the next.
    pub seed: u64,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        Self { samples: 1, temperature: None, max_tokens: None, seed: 0 }
    }
}

impl SamplingSettings {
    /// Refuses numbers of samples that make no sense.
    ///
    /// # Errors
    ///
    /// Of the kind [`crate::ErrorKind::Usage`].
    pub(crate) fn check(&self) -> Result<()> {
        if (1..=1000).contains(&self.samples) {
            return Ok(());
        }
        let message = format!("{} samples per item; ask for 1 to 1000", self.samples);
        Err(Error::usage(message).with_remedy(Remedy::ChooseSamples))
    }

    /// The temperature asked for, or one that lets several samples differ.
    pub(crate) fn effective_temperature(&self) -> f64 {
        self.temperature.unwrap_or(if self.samples > 1 { SAMPLING_TEMPERATURE } else { 0.0 })
    }
}

/// Requests about items: those of the first item, sample by sample, then those of the second.
#[derive(Clone, Copy)]
pub(super) struct Samples<'a> {
    /// What the items have: a name, then texts.
    pub(super) columns: &'a [NamedColumn<'a>],
    pub(super) items: &'a [ItemRow],
    pub(super) sampling: &'a SamplingSettings,
}

/// What is asked about an item.
pub(super) struct Question<'a> {
    /// The samples take these in turn.
    pub(super) prompts: &'a [Prompt],
    pub(super) task: &'a Task,
    pub(super) format: ResponseFormat,
}

impl<'a> Samples<'a> {
    /// The name of the item that request `index` is about.
    pub(super) fn name(&self, index: usize) -> &'a str {
        let item = &self.items[index / self.sampling.samples as usize];
        item.fields[0].as_deref().unwrap_or_default().trim()
    }

    /// The sample, from 1, that request `index` asks for.
    pub(super) fn sample(&self, index: usize) -> usize {
        index % self.sampling.samples as usize + 1
    }

    /// What identifies each request, for the list of errors.
    pub(super) fn names(&self) -> Vec<Row> {
        (0..self.items.len() * self.sampling.samples as usize)
            .map(|index| {
                let mut row = named(&[(self.columns[0].name, Some(self.name(index)))]);
                row.insert("sample".into(), self.sample(index).into());
                row
            })
            .collect()
    }

    /// All requests; every sample has a seed of its own.
    pub(super) fn requests(&self, question: &Question<'_>) -> Result<Vec<ChatRequest>> {
        let SamplingSettings { samples, max_tokens, seed, .. } = *self.sampling;
        let mut requests = Vec::with_capacity(self.items.len() * samples as usize);
        for item in self.items {
            let mut texts: BTreeMap<String, String> = self.columns[1..]
                .iter()
                .zip(&item.fields[1..])
                .filter_map(|(column, text)| Some((column.name.to_owned(), text.clone()?)))
                .collect();
            let mut task = question.task.clone();
            // What the user tells the model about one item; no stranger wrote it.
            task.question = texts.remove(SYSTEM.name).or(task.question);
            let mut rendered = Vec::with_capacity(question.prompts.len());
            for prompt in question.prompts {
                let messages = prompt
                    .render(&texts, &task)
                    .map_err(|error| Error::from(error).context(format!("line {}", item.line)))?;
                rendered.push((messages, prompt));
            }
            for (sample, (messages, prompt)) in (0..samples).zip(rendered.iter().cycle()) {
                requests.push(ChatRequest {
                    messages: messages.clone(),
                    temperature: self
                        .sampling
                        .temperature
                        .or(prompt.temperature())
                        .unwrap_or(self.sampling.effective_temperature()),
                    seed: seed.wrapping_add(u64::from(sample)),
                    max_tokens: max_tokens.unwrap_or(prompt.max_tokens()),
                    format: question.format.clone(),
                    repeat: sample,
                });
            }
        }
        Ok(requests)
    }

    /// The items whose texts look like an attempt to steer the model.
    pub(super) fn suspicious(&self, detector: &InjectionDetector) -> Vec<Flagged> {
        let texts = self.items.iter().map(|item| {
            let texts: Vec<&str> = item.fields[1..].iter().filter_map(Option::as_deref).collect();
            (named(&[(self.columns[0].name, item.fields[0].as_deref())]), texts)
        });
        suspicious(detector, texts)
    }
}

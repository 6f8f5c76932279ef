//! Items that are asked about several times: what every request holds, and whose it is.

use std::collections::BTreeMap;

use anyhow::Result;

use super::RunArgs;
use super::output::Row;
use super::run::{Flagged, named, suspicious};
use crate::cli::common::Common;
use crate::cli::exit::UsageError;
use crate::data::items::ItemRow;
use crate::data::rows::Column;
use crate::judge::InjectionDetector;
use crate::llm::prompt::Task;
use crate::llm::{ChatRequest, Prompt, ResponseFormat};

/// Temperature where several samples are asked for: at 0 they would be one answer.
const SAMPLING_TEMPERATURE: f64 = 0.7;

/// Refuses numbers of samples that make no sense.
pub(super) fn check_samples(samples: u32) -> Result<()> {
    if (1..=1000).contains(&samples) {
        return Ok(());
    }
    Err(UsageError("--samples must be from 1 to 1000".into()).into())
}

/// The temperature asked for, or one that lets several samples differ.
pub(super) fn temperature(asked: Option<f64>, samples: u32) -> f64 {
    asked.unwrap_or(if samples > 1 { SAMPLING_TEMPERATURE } else { 0.0 })
}

/// Requests about items: those of the first item, sample by sample, then those of the second.
#[derive(Clone, Copy)]
pub(super) struct Samples<'a> {
    /// What the items have: a name, then texts.
    pub(super) columns: &'a [Column],
    pub(super) items: &'a [ItemRow],
    /// Requests per item.
    pub(super) count: u32,
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
        let item = &self.items[index / self.count as usize];
        item.fields[0].as_deref().unwrap_or_default().trim()
    }

    /// The sample, from 1, that request `index` asks for.
    pub(super) fn sample(&self, index: usize) -> usize {
        index % self.count as usize + 1
    }

    /// What identifies each request, for the list of errors.
    pub(super) fn names(&self) -> Vec<Row> {
        (0..self.items.len() * self.count as usize)
            .map(|index| {
                let mut row = named(&[(self.columns[0].name, Some(self.name(index)))]);
                row.insert("sample".into(), self.sample(index).into());
                row
            })
            .collect()
    }

    /// All requests; every sample has a seed of its own.
    pub(super) fn requests(
        &self,
        question: &Question<'_>,
        args: &RunArgs,
        common: &Common,
    ) -> Result<Vec<ChatRequest>> {
        let mut requests = Vec::with_capacity(self.items.len() * self.count as usize);
        for item in self.items {
            let texts: BTreeMap<String, String> = self.columns[1..]
                .iter()
                .zip(&item.fields[1..])
                .filter_map(|(column, text)| Some((column.name.to_owned(), text.clone()?)))
                .collect();
            let mut rendered = Vec::with_capacity(question.prompts.len());
            for prompt in question.prompts {
                let messages = prompt.render(&texts, question.task).map_err(|error| {
                    anyhow::Error::from(error).context(format!("line {}", item.line))
                })?;
                rendered.push((messages, prompt));
            }
            for (sample, (messages, prompt)) in (0..self.count).zip(rendered.iter().cycle()) {
                requests.push(ChatRequest {
                    messages: messages.clone(),
                    temperature: temperature(args.llm.temperature, self.count),
                    seed: common.seed.wrapping_add(u64::from(sample)),
                    max_tokens: args.llm.max_tokens.unwrap_or(prompt.max_tokens()),
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

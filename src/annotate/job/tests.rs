use std::path::Path;
use std::sync::Arc;

use super::super::SamplingSettings;
use super::super::labels::{Labels, LabelsSettings};
use super::*;
use crate::data::interruption::Interruption;
use crate::data::observer::Silent;
use crate::data::progress::Progress;
use crate::data::source::Source;
use crate::llm::{ChatAnswer, FinishReason, Usage};

/// Says yes, and asks to stop once it was asked so often.
struct Yes {
    asked: AtomicU64,
    stop_after: u64,
    token: Interruption,
}

impl ChatModel for Yes {
    fn model(&self) -> &'static str {
        "yes"
    }

    fn complete(&self, _request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        if self.asked.fetch_add(1, Ordering::SeqCst) + 1 == self.stop_after {
            self.token.request();
        }
        let text = r#"{"hateful": "no", "offensive": "no", "toxic": "yes"}"#;
        Ok(ChatAnswer { text: text.into(), finish: FinishReason::Stop, usage: Usage::default() })
    }
}

struct Patient(Interruption);

struct Stage(Interruption);

impl Progress for Stage {
    fn advance(&self, _items: u64) {}

    fn interrupted(&self) -> bool {
        self.0.requested()
    }
}

impl Observer for Patient {
    fn stage(&self, _doing: &'static str, _total: u64) -> Box<dyn Progress> {
        Box::new(Stage(self.0.clone()))
    }

    fn say(&self, _line: &str) {}
}

fn labels(items: usize) -> Labels {
    let rows: String = (1..=items).map(|n| format!("{n},item {n}\n")).collect();
    let settings = LabelsSettings {
        prompt: "label-toxicity".into(),
        question: Some("toxic".into()),
        ..LabelsSettings::default()
    };
    let text = format!("task,text\n{rows}");
    let source = Source::from_reader(Path::new("i.csv"), text.as_bytes()).unwrap();
    Labels::prepare(&settings, || Ok(source)).unwrap()
}

fn run(stop_after: u64, concurrency: usize) -> Annotation {
    let token = Interruption::default();
    let model = Yes { asked: AtomicU64::new(0), stop_after, token: token.clone() };
    let budget = Arc::new(Budget::new(None, None));
    let asked = Asked {
        model: &model,
        place: "here",
        budget: &budget,
        concurrency,
        prices: None,
        concessions: &Vec::new,
    };
    labels(40).run(&asked, &Patient(token))
}

#[test]
fn an_interrupted_run_keeps_the_first_items_and_says_what_is_missing() {
    for concurrency in [1, 4] {
        let stopped = run(7, concurrency);
        assert!(matches!(stopped.stopped, Some(Stop::Interrupted)), "{:?}", stopped.stopped);
        assert!((7..7 + concurrency as u64).contains(&stopped.done), "{}", stopped.done);
        assert_eq!(stopped.done + stopped.not_begun, 40);
        assert_eq!(stopped.rows, run(0, 2).rows[..stopped.rows.len()]);
        assert_eq!(stopped.about["not_begun"], json!(stopped.not_begun));
    }
    let whole = run(0, 3);
    assert!(whole.stopped.is_none() && whole.failures.is_empty());
    assert_eq!((whole.rows.len(), whole.done), (40, 40));
    assert_eq!(whole.rows[0]["source"], "yes");
}

#[test]
fn a_run_needs_nobody_who_listens_and_its_settings_hold_all() {
    let model = Yes { asked: AtomicU64::new(0), stop_after: 0, token: Interruption::default() };
    let budget = Budget::new(None, None);
    let asked = Asked {
        model: &model,
        place: "here",
        budget: &budget,
        concurrency: 2,
        prices: None,
        concessions: &Vec::new,
    };
    let run = labels(2).run(&asked, &Silent);
    let settings = run.about["settings"].as_object().unwrap();
    let own = serde_json::to_value(LabelsSettings::default()).unwrap();
    for name in own.as_object().unwrap().keys() {
        assert!(settings.contains_key(name), "{name}");
    }
    assert_eq!((&settings["model"], &settings["place"]), (&json!("yes"), &json!("here")));
}

#[test]
fn settings_survive_the_way_through_json_and_odd_ones_are_refused() {
    let settings = LabelsSettings {
        question: Some("q".into()),
        sampling: SamplingSettings { samples: 3, seed: 7, ..SamplingSettings::default() },
        ..LabelsSettings::default()
    };
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<LabelsSettings>(&text).unwrap(), settings);
    assert!(LabelsSettings { turns: 0, ..settings.clone() }.check().is_err());
    for samples in [0, 1001] {
        let sampling = SamplingSettings { samples, ..settings.sampling.clone() };
        assert!(LabelsSettings { sampling, ..settings.clone() }.check().is_err());
    }
}

#[test]
fn an_estimate_counts_what_is_not_there_yet() {
    let labels = labels(3);
    let mut first = true;
    let holds = |_: &ChatRequest| Ok::<_, ()>(std::mem::take(&mut first));
    let estimate = Estimate::of(labels.requests(), holds).unwrap();
    assert_eq!((estimate.requests, estimate.held), (3, 1));
    let rest = &labels.requests()[1..];
    let tokens: u64 = rest.iter().map(ChatRequest::estimated_prompt_tokens).sum();
    assert_eq!(estimate.prompt_tokens, tokens);
    assert_eq!(estimate.answer_tokens, 2 * u64::from(rest[0].max_tokens));
}

#[test]
fn every_text_that_a_prompt_asks_for_is_read_from_the_items() {
    for prompt in ["label-relevance", "label-relevance-figure1"] {
        let settings = LabelsSettings { prompt: prompt.into(), ..LabelsSettings::default() };
        let text = "task,query,document\n1,third prime,Of 2 3 5 it is the last.\n";
        let source = Source::from_reader(Path::new("i.csv"), text.as_bytes()).unwrap();
        let labels = Labels::prepare(&settings, || Ok(source)).unwrap();
        let asked = format!("{:?}", labels.requests()[0].messages);
        assert!(asked.contains("third prime") && asked.contains("it is the last"), "{asked}");
    }
}

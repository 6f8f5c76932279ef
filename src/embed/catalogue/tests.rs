use super::*;
use crate::data::observer::Silent;
use crate::error::ErrorKind;

fn content(text: Option<&str>, vector: Option<Vec<f64>>) -> Content {
    Content { text: text.map(str::to_owned), vector, judgments: None }
}

fn embedded(contents: &[Content], settings: &EmbedderSettings) -> Result<Embedded> {
    let contents: Vec<&Content> = contents.iter().collect();
    embed_contents(&contents, settings, Granularity::Sentence, &LocalModels, &Silent, None)
}

fn named(name: &str) -> EmbedderSettings {
    EmbedderSettings { embedder: Some(name.parse().unwrap()), ..EmbedderSettings::default() }
}

#[test]
fn without_a_name_it_is_static_or_what_was_given() {
    let found = embedded(&[content(Some("A cat."), None)], &EmbedderSettings::default()).unwrap();
    assert_eq!((found.name.as_str(), found.granularity), ("static", Some(Granularity::Sentence)));
    let given = [content(None, Some(vec![1.0, 2.0]))];
    let found = embedded(&given, &EmbedderSettings::default()).unwrap();
    assert_eq!((found.name.as_str(), found.granularity, found.vectors.dims()), ("given", None, 2));
}

#[test]
fn word_weights_are_of_whole_texts_unless_asked_otherwise_and_say_so() {
    let texts = [content(Some("The cat. A dog."), None), content(Some("the dog"), None)];
    let found = embedded(&texts, &named("tfidf")).unwrap();
    assert_eq!(found.settings["granularity"], "text");
    assert_eq!(found.settings["stop_words"], "none");
    let mut settings = named("tfidf");
    settings.stop_words = crate::embed::tfidf::StopWords::English;
    settings.granularity = Some(Granularity::Sentence);
    let found = embedded(&texts, &settings).unwrap();
    assert_eq!(
        (&found.settings["granularity"], &found.settings["stop_words"]),
        (&"sentence".into(), &"english".into())
    );
}

#[test]
fn what_cannot_be_embedded_is_a_usage_error_with_a_remedy() {
    let mixed = [content(Some("text"), None), content(None, Some(vec![1.0]))];
    let error = embedded(&mixed, &named("static")).unwrap_err();
    assert_eq!((error.kind(), error.remedy()), (ErrorKind::Usage, Some(Remedy::UseGiven)));
    assert_eq!(error.to_string(), "1 of 2 reviews and Z have no text");
    let mut settings = named("judge");
    settings.granularity = Some(Granularity::Sentence);
    let error = embedded(&mixed[..1], &settings).unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::EmbedWholeTexts));
}

#[test]
fn a_server_is_never_assumed() {
    for name in ["openai:m", "judge", "bert:no/such-model"] {
        assert!(embedded(&[content(Some("text"), None)], &named(name)).is_err(), "{name}");
    }
}

#[cfg(feature = "llm")]
#[test]
fn a_judges_settings_name_its_model_prompt_and_rubric() {
    use crate::llm::{ChatAnswer, ChatError, ChatRequest, FinishReason, Usage};

    struct Clear;
    impl ChatModel for Clear {
        fn model(&self) -> &'static str {
            "clear"
        }
        fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            let crate::llm::ResponseFormat::JsonSchema { schema, .. } = &request.format else {
                panic!("the rubric's form")
            };
            let properties = schema["properties"].as_object().expect("fields").keys();
            let answer: Map<String, Value> =
                properties.map(|name| (name.clone(), Value::from(0))).collect();
            let text = Value::Object(answer).to_string();
            Ok(ChatAnswer { text, finish: FinishReason::Stop, usage: Usage::default() })
        }
    }
    struct Judge;
    impl ModelSource for Judge {
        fn chat_model(&self, _name: Option<&str>) -> Result<Served<dyn ChatModel>> {
            let mut place = Map::new();
            place.insert("model".into(), "clear".into());
            Ok(Served { model: Arc::new(Clear), concurrency: 1, place })
        }
    }
    let mut settings = named("judge");
    settings.judge =
        Some(crate::judge::JudgeSettings { turns: 3, temperature: 0.5, ..Default::default() });
    let text = content(Some("Well written."), None);
    let found =
        embed_contents(&[&text], &settings, Granularity::Sentence, &Judge, &Silent, None).unwrap();
    let judge = &found.settings["judge"];
    assert_eq!((&judge["turns"], &judge["temperature"]), (&3.into(), &0.5.into()));
    assert_eq!(judge["rubric"], "aspects19");
    assert_eq!(judge["prompt_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(judge["rubric_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(
        (&found.settings["model"], &found.settings["granularity"]),
        (&"clear".into(), &"text".into())
    );
    assert_eq!(found.kind, VectorKind::Judgments);
}

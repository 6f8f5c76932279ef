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
    let mut settings = named("tfidf");
    settings.granularity = Some(Granularity::Sentence);
    let found = embedded(&texts, &settings).unwrap();
    assert_eq!(found.settings["granularity"], "sentence");
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

#[cfg(feature = "bert")]
#[test]
fn vectors_are_divided_by_their_norm_when_asked_as_sentence_transformers_does() {
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tiny");
    let golden = std::fs::read(format!("{tiny}/expected.json")).unwrap();
    let golden: Value = serde_json::from_slice(&golden).unwrap();
    let norm = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>().sqrt();
    let mut settings = named(&format!("bert:{tiny}/mpnet"));
    settings.granularity = Some(Granularity::Text);
    settings.long_text = LongText::Truncate;
    settings.normalize = true;
    let entries = golden["mpnet"]["texts"].as_array().unwrap();
    let texts = entries.iter().map(|entry| content(entry["text"].as_str(), None));
    let texts: Vec<Content> = texts.collect();
    let found = embedded(&texts, &settings).unwrap();
    assert_eq!(found.settings["normalize"], true);
    for (row, entry) in entries.iter().enumerate() {
        for (value, expected) in
            found.vectors.dense_row(row).iter().zip(entry["vector"].as_array().unwrap())
        {
            assert!((value - expected.as_f64().unwrap()).abs() < 5e-6);
        }
    }
    // The mean of the unit vectors of two sentences is no unit vector.
    settings.granularity = Some(Granularity::Sentence);
    let texts =
        [content(Some("The cat sat. A review of a paper."), None), content(Some("?"), None)];
    let unit = embedded(&texts, &settings).unwrap().vectors;
    settings.normalize = false;
    let mean = embedded(&texts, &settings).unwrap();
    assert!(!mean.settings.contains_key("normalize"));
    let mean = mean.vectors.dense_row(0);
    assert!(norm(&mean) < 0.99);
    let expected: Vec<f64> = mean.iter().map(|value| value / norm(&mean)).collect();
    assert_eq!(unit.dense_row(0), expected);
    assert!(norm(&unit.dense_row(1)) == 0.0, "zeros stay zeros");
    // Those of judgments say how much is said.
    let aspects = EmbedderSettings { normalize: true, ..named("aspects") };
    assert_eq!(embedded(&texts, &aspects).unwrap_err().kind(), ErrorKind::Usage);
}

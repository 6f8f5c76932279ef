//! What the facade promises can be written with the names that it has.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::path::Path;

use caz::{
    AgreementSettings, ClusterSource, LabellerFiles, OwnFlag, Reviews, ReviewsSettings, RowDetail,
    ScoreName, Silent, Source, agree, reviews,
};

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
}

#[test]
fn what_own_says_of_a_reviewer_is_read_by_field() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/venue");
    let files = (data.join("reviews.jsonl"), [data.join("llm-reviews.jsonl")]);
    let set = Reviews::from_files(files.0, &files.1).unwrap();
    let run = reviews(set, &ReviewsSettings::default(), &Silent).unwrap();
    let rows = run.scores(ScoreName::Own);
    let found = rows.iter().filter(|row| match &row.detail {
        RowDetail::Own { flag: OwnFlag::Look, posterior: Some(posterior), .. } => {
            posterior.own < 0.5
        }
        _ => false,
    });
    assert!(found.count() > 0);
}

#[test]
fn settings_of_agreement_are_chosen_by_word() {
    let labels = "task,source,label,topic\n1,m,1,a\n2,m,3,a\n3,m,2,b\n";
    let gold = "task,worker,label\n1,x,1\n1,y,2\n1,z,3\n2,x,3\n2,y,3\n2,z,3\n3,x,2\n3,y,2\n3,z,2\n";
    let (labels, gold) = (source("l.csv", labels), source("g.csv", gold));
    let mut files = LabellerFiles::new(&labels);
    files.gold = Some(&gold);
    files.clusters = Some(ClusterSource::Column("topic"));
    let mut settings = AgreementSettings::default();
    settings.gold_by = serde_json::from_str("\"median\"").unwrap();
    settings.outside = serde_json::from_str("\"refuse\"").unwrap();
    settings.compare = serde_json::from_str("\"all\"").unwrap();
    settings.alt_test = Some(serde_json::from_str("{\"epsilon\":0.1}").unwrap());
    let written = serde_json::to_value(&settings).unwrap();
    assert_eq!(written["gold_by"], "median");
    assert_eq!(written["alt_test"]["epsilon"], 0.1);
    settings.alt_test = None;
    agree(&files, &settings, &Silent).unwrap();
}

/// A model of the reader's own, for vectors that no server makes.
#[cfg(feature = "llm")]
mod models {
    use std::sync::Arc;

    use caz::{
        ChatError, EmbedderSettings, EmbeddingModel, LocalModels, ModelSource, Result, Served,
        embed,
    };

    use super::{Silent, source};

    struct Lengths;

    impl EmbeddingModel for Lengths {
        fn model(&self) -> &'static str {
            "lengths"
        }

        fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError> {
            Ok(texts.iter().map(|text| vec![text.len() as f64, 0.0]).collect())
        }
    }

    impl ModelSource for Lengths {
        fn embedding_model(&self, _model: &str) -> Result<Served<dyn EmbeddingModel>> {
            Ok(Served { model: Arc::new(Self), concurrency: 1, place: serde_json::Map::new() })
        }
    }

    #[test]
    fn a_model_in_this_program_embeds() {
        let texts = source("t.csv", "text\nabc\na\n");
        let mut settings = EmbedderSettings::default();
        settings.embedder = Some("openai:lengths".parse().unwrap());
        let run = embed(&texts, &settings, &Lengths, &Silent).unwrap();
        let mut out = Vec::new();
        run.write(caz::VectorFormat::Csv, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "vector\n3 0\n1 0\n");
        assert!(embed(&texts, &settings, &LocalModels, &Silent).is_err());
    }
}

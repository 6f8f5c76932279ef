use super::*;
use crate::data::observer::Silent;
use crate::data::review_rows::{ReviewRow, ZRow};
use crate::embed::settings::{EmbedderSettings, EmbedderSpec};
use crate::text::pairs::ZCombine;
use crate::text::score::ScoreName;

fn vectors() -> Reviews {
    // z = (0, 0, 3); a = (1, 2, 2) leaves (1, 2, 0), b = (2, 1, 0) leaves itself: 4 / 5.
    let review = |reviewer: &str, vector: [f64; 3]| ReviewRow {
        paper: "p".into(),
        reviewer: reviewer.into(),
        vector: Some(vector.to_vec()),
        ..ReviewRow::default()
    };
    let z = ZRow { paper: "p".into(), vector: Some(vec![0.0, 0.0, 3.0]), ..ZRow::default() };
    Reviews::from_rows([review("a", [1.0, 2.0, 2.0]), review("b", [2.0, 1.0, 0.0])], [z]).unwrap()
}

fn uncentered() -> ReviewsSettings {
    ReviewsSettings { center: Centering::Off, ..ReviewsSettings::default() }
}

#[test]
fn a_score_by_hand_from_rows_in_memory() {
    let run = reviews(vectors(), &uncentered(), &Silent).unwrap();
    let rows = run.scores(ScoreName::Projected);
    assert_eq!(rows.len(), 2);
    assert!((rows[0].estimate.unwrap().value - 0.8).abs() < 1e-12);
    // Equal scores share the rank; one paper is too few for a flag.
    assert_eq!((rows[0].reviewer.as_str(), rows[0].rank, rows[1].rank), ("a", Some(1), Some(1)));
    assert_eq!(rows[0].flag, Some(crate::stats::flag::Flag::TooFew));
    let evidence = run.evidence("a").unwrap();
    assert!((evidence[0].peers[0].after.unwrap() - 0.8).abs() < 1e-12);
    assert!((evidence[0].z[0].similarity - 2.0 / 3.0).abs() < 1e-12);
    let unknown = run.evidence("c").unwrap_err();
    assert_eq!(unknown.to_string(), "no reviewer is called `c`; there are 2, e.g. `a`");
}

#[test]
fn a_run_can_be_sent_to_another_thread_and_outlives_what_it_was_made_from() {
    fn check<T: Send + Sync + 'static>(_: &T) {}
    let run = reviews(vectors(), &uncentered(), &Silent).unwrap();
    check(&run);
    let report = std::thread::spawn(move || run.report().unwrap()).join().unwrap();
    assert_eq!(report.table.rows().len(), 2);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (settings, word) in [
        (ReviewsSettings { margin: Some(f64::NAN), ..uncentered() }, "margin is NaN"),
        (ReviewsSettings { margin: Some(f64::INFINITY), ..uncentered() }, "margin is inf"),
        (ReviewsSettings { fdr: f64::NAN, ..uncentered() }, "fdr is NaN"),
        (ReviewsSettings { fdr: 1.5, ..uncentered() }, "fdr is 1.5"),
        (ReviewsSettings { score: Some(vec![]), ..uncentered() }, "no score"),
        (
            ReviewsSettings { beside: vec![EmbedderSpec::Static(None)], ..uncentered() },
            "the embedder static is named twice",
        ),
    ] {
        let Err(error) = reviews(vectors(), &settings, &Silent) else { panic!("{word}") };
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn unknown_settings_are_named_with_those_there_are() {
    let read = |text: &str| serde_json::from_str::<ReviewsSettings>(text);
    let error = read("{\"z_combin\":\"min\"}").unwrap_err().to_string();
    assert!(error.starts_with("unknown field `z_combin`, expected one of `"), "{error}");
    assert!(error.contains("`z_combine`") && error.contains("`prompt_name`"), "{error}");
    let all = "{\"z_combine\":\"min\",\"prompt_name\":\"q\",\"precision\":\"bf16\",\"normalize\":true,\
               \"beside\":[\"tfidf\"],\"pooling\":\"cls\",\"seed\":7}";
    let settings = read(all).unwrap();
    assert_eq!((settings.z_combine, settings.seed), (ZCombine::Min, 7));
    assert!(settings.embedding.normalize && settings.beside == [EmbedderSpec::Tfidf]);
}

#[test]
fn a_paper_whose_z_cancel_is_counted() {
    let z = |source: &str, vector: [f64; 3]| ZRow {
        paper: "p".into(),
        source: Some(source.into()),
        vector: Some(vector.to_vec()),
        ..ZRow::default()
    };
    let review = |reviewer: &str| ReviewRow {
        vector: Some(vec![1.0, 2.0, 2.0]),
        ..ReviewRow::new("p", reviewer)
    };
    let warnings = |z_combine| {
        let z = [z("s", [0.0, 1.0, 3.0]), z("t", [0.0, -1.0, -3.0])];
        let rows = Reviews::from_rows([review("a"), review("b")], z).unwrap();
        let score = Some(vec![ScoreName::Projected]);
        let settings = ReviewsSettings { score, z_combine, ..uncentered() };
        let warnings = reviews(rows, &settings, &Silent).unwrap().warnings();
        warnings.into_iter().find(|warning| warning.code == "z_without_direction")
    };
    assert_eq!(warnings(ZCombine::Mean).unwrap().count, 1);
    assert_eq!(warnings(ZCombine::Span), None);
    assert_eq!(warnings(ZCombine::Min), None);
}

#[test]
fn settings_are_read_back_and_every_one_of_them_is_in_the_report() {
    let settings = ReviewsSettings {
        score: Some(vec![ScoreName::Cosine, ScoreName::Combined, ScoreName::Cosine]),
        min_papers: 3,
        embedding: EmbedderSettings {
            embedder: Some("given".parse().unwrap()),
            ..Default::default()
        },
        ..uncentered()
    };
    let json = serde_json::to_value(&settings).unwrap();
    assert_eq!(serde_json::from_value::<ReviewsSettings>(json.clone()).unwrap(), settings);
    assert_eq!(serde_json::from_str::<ReviewsSettings>("{}").unwrap(), ReviewsSettings::default());
    let run = reviews(vectors(), &settings, &Silent).unwrap();
    let found = run.report().unwrap().settings;
    for key in json.as_object().unwrap().keys() {
        assert!(found.contains_key(key), "{key} is missing");
    }
    assert_eq!(found["score"], serde_json::json!(["cosine", "combined"]));
    assert_eq!((&found["centered"], &found["duplicates"]), (&false.into(), &"error".into()));
}

#[cfg(feature = "llm")]
mod served {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::embed::catalogue::Served;
    use crate::embed::sentences::sentences;
    use crate::embed::settings::Granularity;
    use crate::llm::{ChatError, EmbeddingModel};

    /// Counts letters; keeps every text it was asked for and how many requests came together.
    #[derive(Default)]
    struct Letters {
        asked: Mutex<Vec<String>>,
        under_way: AtomicUsize,
        most: AtomicUsize,
    }

    impl EmbeddingModel for Letters {
        fn model(&self) -> &'static str {
            "letters"
        }

        fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError> {
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(2));
            self.asked.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
            let count = |text: &str, letter| text.matches(letter).count() as f64 + 0.1;
            let vectors = texts.iter().map(|text| vec![count(text, 'a'), count(text, 'e')]);
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            Ok(vectors.collect())
        }
    }

    struct Server {
        letters: Arc<Letters>,
        announced: Cell<usize>,
    }

    impl ModelSource for Server {
        fn embedding_model(
            &self,
            _model: &str,
        ) -> crate::error::Result<Served<dyn EmbeddingModel>> {
            let model: Arc<dyn EmbeddingModel> = Arc::clone(&self.letters) as _;
            Ok(Served { model, concurrency: 1, place: serde_json::Map::new() })
        }

        fn sending(&self, _spec: &EmbedderSpec, texts: usize) {
            self.announced.set(self.announced.get() + texts);
        }
    }

    /// Changes the length of its vectors at a word.
    struct Fickle;

    impl EmbeddingModel for Fickle {
        fn model(&self) -> &'static str {
            "fickle"
        }

        fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError> {
            Ok(texts.iter().map(|text| vec![1.0; 2 + text.matches("longer").count()]).collect())
        }
    }

    impl ModelSource for Fickle {
        fn embedding_model(
            &self,
            _model: &str,
        ) -> crate::error::Result<Served<dyn EmbeddingModel>> {
            Ok(Served { model: Arc::new(Self), concurrency: 1, place: serde_json::Map::new() })
        }
    }

    #[test]
    fn an_error_about_a_text_says_whose_it_is() {
        let review = |reviewer: &str, text: &str| ReviewRow {
            text: Some(text.into()),
            ..ReviewRow::new("p", reviewer)
        };
        let rows = [review("a", "One two. Three."), review("b", "Four. One longer.")];
        for granularity in [Granularity::Sentence, Granularity::Text] {
            let embedding = EmbedderSettings {
                embedder: Some("openai:fickle".parse().unwrap()),
                granularity: Some(granularity),
                ..EmbedderSettings::default()
            };
            let settings = ReviewsSettings { embedding, ..ReviewsSettings::default() };
            let sentences = Sentences::None;
            let asking =
                Asking { models: &Fickle, observer: &Silent, sentences, other_papers: false };
            let z = ZRow { text: Some("Five.".into()), ..ZRow::new("p") };
            let reviews = Reviews::from_rows(rows.clone(), [z]).unwrap();
            let Err(error) = reviews_with(reviews, &settings, &asking) else { panic!("no error") };
            let said = "embedding the review by `b` on `p`: text 2 has a vector of 3 entries, those before \
                        have 2";
            assert_eq!(format!("{error:#}"), said);
        }
    }

    fn sample() -> Reviews {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        Reviews::from_files(root.join("reviews.jsonl"), &[root.join("llm-reviews.jsonl")]).unwrap()
    }

    fn asked(granularity: Granularity, wanted: Sentences) -> (ReviewsRun, Vec<String>) {
        let server = Server { letters: Arc::default(), announced: Cell::new(0) };
        let embedding = EmbedderSettings {
            embedder: Some("openai:letters".parse().unwrap()),
            granularity: Some(granularity),
            ..EmbedderSettings::default()
        };
        let settings = ReviewsSettings { embedding, ..ReviewsSettings::default() };
        let asking =
            Asking { models: &server, observer: &Silent, sentences: wanted, other_papers: false };
        let run = reviews_with(sample(), &settings, &asking).unwrap();
        // Everything there is to see is made of what was already asked for.
        run.report().unwrap();
        run.explain("finn").unwrap();
        #[cfg(feature = "html")]
        run.page(crate::report::html::ReviewText::Full).unwrap();
        assert_eq!(server.letters.most.load(Ordering::SeqCst), 1, "one request at a time");
        let mut asked = server.letters.asked.lock().unwrap().clone();
        assert_eq!(asked.len(), server.announced.get(), "what was announced is what was sent");
        asked.sort();
        (run, asked)
    }

    #[test]
    fn every_sentence_is_asked_for_once_whatever_is_shown_of_it() {
        let set = sample().set;
        let texts: Vec<String> = set.contents().filter_map(|c| c.text.clone()).collect();
        let mut all: Vec<String> =
            texts.iter().flat_map(|text| sentences(text)).map(str::to_owned).collect();
        all.sort();
        let (with, asked_with) = asked(Granularity::Sentence, Sentences::Everybody);
        assert_eq!(asked_with, all);
        let (without, asked_without) = asked(Granularity::Sentence, Sentences::None);
        assert_eq!(asked_without, all);
        assert_eq!(with.scores(ScoreName::Projected), without.scores(ScoreName::Projected));
        assert!(with.evidence("ada").unwrap().iter().all(|paper| !paper.sentences.is_empty()));
        assert!(without.evidence("ada").unwrap().iter().all(|paper| paper.sentences.is_empty()));

        let mut whole: Vec<String> = texts.iter().cloned().chain(all).collect();
        whole.sort();
        let (_, asked_whole) = asked(Granularity::Text, Sentences::Everybody);
        assert_eq!(asked_whole, whole);
    }

    #[test]
    fn for_one_reviewer_only_the_sentences_of_their_papers_are_compared() {
        let (one, asked_one) = asked(Granularity::Text, Sentences::Of("finn".into()));
        let (all, asked_all) = asked(Granularity::Text, Sentences::Everybody);
        assert!(asked_one.len() <= asked_all.len());
        assert_eq!(one.evidence("finn").unwrap(), all.evidence("finn").unwrap());
    }
}

#[cfg(feature = "html")]
#[test]
fn the_page_has_what_each_text_praises_and_criticises_where_the_embedder_reads_that() {
    use crate::embed::settings::EmbedderSpec;
    use crate::report::html::{Author, Details, ReviewText};
    const TEXTS: [(&str, &str, &str); 4] = [
        (
            "p",
            "a",
            "The idea is novel and original. The writing is very unclear and hard to follow.",
        ),
        ("p", "b", "The experiments are weak and important baselines are missing."),
        ("q", "b", "The paper is well written and easy to read."),
        ("q", "a", "There is no novelty: the method is known from earlier work."),
    ];
    let rows = TEXTS.map(|(paper, reviewer, text)| ReviewRow {
        paper: paper.into(),
        reviewer: reviewer.into(),
        text: Some(text.into()),
        ..ReviewRow::default()
    });
    let z = ["q", "p"].map(|paper| ZRow {
        paper: paper.into(),
        text: Some(format!("The proofs of {paper} are sound and the evaluation is thorough.")),
        ..ZRow::default()
    });
    let embedding = EmbedderSettings {
        embedder: Some(EmbedderSpec::Aspects(None)),
        ..EmbedderSettings::default()
    };
    let settings = ReviewsSettings { embedding, ..uncentered() };
    let run = reviews(Reviews::from_rows(rows, z).unwrap(), &settings, &Silent).unwrap();
    let page = run.page(ReviewText::None).unwrap();
    let Details::Reviews(details) = page.people.unwrap().details else { panic!("reviews") };
    let aspects = details.aspects.unwrap();
    assert_eq!(aspects.categories.len(), 19);
    assert!(aspects.reader.contains("about half"), "{}", aspects.reader);
    // Each text has its own row of the vectors, whoever stands where.
    let set = run.set();
    for (paper, texts) in details.texts.iter().enumerate() {
        assert_eq!(texts.len(), 3);
        for text in texts {
            let row = match text.author {
                Author::Person(person) => set
                    .reviews
                    .iter()
                    .position(|r| (r.paper as usize, r.reviewer) == (paper, person))
                    .unwrap(),
                Author::Source(_) => {
                    let place = set.z.iter().position(|z| z.paper as usize == paper).unwrap();
                    set.reviews.len() + place
                }
            };
            assert_eq!(text.aspects, run.embedded.vectors.dense_row(row));
            assert!(text.aspects.iter().any(|value| *value != 0.0));
        }
    }
    // Vectors without names of their own are no judgments.
    let page = reviews(vectors(), &uncentered(), &Silent).unwrap().page(ReviewText::None).unwrap();
    let Details::Reviews(details) = page.people.unwrap().details else { panic!("reviews") };
    assert!(details.aspects.is_none());
    assert!(details.texts.iter().flatten().all(|text| text.aspects.is_empty()));
}

/// Of the real reviews of a venue all that are not flagged, most of which one Z can clear of nothing.
#[cfg(feature = "html")]
#[test]
#[ignore = "needs ../shared/data; a minute where nothing is optimised"]
fn at_most_one_in_twenty_people_of_a_real_venue_has_a_shaded_sentence() {
    use crate::report::html::{Details, ReviewText, Shade};
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/reviews-iclr24");
    let read =
        Reviews::from_files(folder.join("reviews.jsonl"), &[folder.join("z.jsonl")]).unwrap();
    let run = reviews(read, &ReviewsSettings::default(), &Silent).unwrap();
    let page = run.page(ReviewText::Full).unwrap();
    let people = page.people.unwrap();
    let Details::Reviews(details) = people.details else { panic!("reviews") };
    let is_flagged = |person: &usize| people.views[0].rows[*person].flag.as_deref() == Some("look");
    let others: Vec<usize> = (0..details.people.len()).filter(|one| !is_flagged(one)).collect();
    let is_shaded = |person: &&usize| {
        let sentences = details.people[**person].iter().flat_map(|detail| &detail.sentences);
        sentences.into_iter().any(|sentence| sentence.shade == Shade::Z)
    };
    let shaded = others.iter().filter(is_shaded).count();
    assert!(others.len() > 300 && shaded > 0, "{shaded} of {}", others.len());
    assert!(20 * shaded <= others.len(), "{shaded} of {}", others.len());
}

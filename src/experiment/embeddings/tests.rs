use super::*;
use crate::data::observer::Silent;
use crate::embed::catalogue::LocalModels;
use crate::simulate::reviews::tests::real;

/// Vectors that are given: people write about their paper with words of their own; the LLM's second
/// review is its first one.
fn loaded(papers: u32) -> LoadedReviews {
    let mut set = real(papers, 4);
    let dims = 3 * papers as usize;
    let vector = |topic: u32, own: usize, llm: bool| {
        let mut row = vec![0.0; dims];
        row[topic as usize] = 1.0;
        let at = if llm { papers as usize + topic as usize } else { 2 * papers as usize + own };
        row[at] = if llm { 1.0 } else { 0.3 };
        Some(row)
    };
    for (index, review) in set.reviews.iter_mut().enumerate() {
        let own = (index * 7) % papers as usize;
        review.content = Content { vector: vector(review.paper, own, false), ..Content::default() };
    }
    for z in &mut set.z {
        z.content = Content { vector: vector(z.paper, 0, true), ..Content::default() };
    }
    set.shape.vector_length = Some(dims);
    LoadedReviews { set, rows: vec![0, 0], warnings: Vec::new() }
}

fn settings() -> EmbeddingsSettings {
    EmbeddingsSettings {
        embedders: vec![EmbedderSpec::Given],
        embedding: EmbedderSettings::default(),
        trials: ReviewTrialsSettings {
            k: vec![1],
            shares: (SHARE, SHARE),
            scores: vec![ScoreVariant::Combined, ScoreVariant::Negative],
            trials: 3,
            ..ReviewTrialsSettings::default()
        },
    }
}

fn run(settings: &EmbeddingsSettings, file: Option<&TrialFile>) -> EmbeddingsRun {
    let loaded = loaded(20);
    embeddings(settings, loaded, Vec::new(), None, &LocalModels, file, &Silent).unwrap()
}

#[test]
fn every_score_and_kind_has_a_row_and_whoever_knows_the_topic_wins() {
    let run = run(&settings(), None);
    let names: Vec<(usize, &str)> =
        run.rows.iter().map(|row| (row.score, row.kind.as_str())).collect();
    let kinds = ["all", "llm", "off_topic", "off_topic_llm"];
    let expected: Vec<(usize, &str)> =
        (0..2).flat_map(|score| kinds.map(|kind| (score, kind))).collect();
    assert_eq!(names, expected);
    for row in &run.rows {
        let (auc, (low, high)) = (row.auc.unwrap(), row.interval.unwrap());
        assert!(low <= auc + 1e-9 && auc <= high + 1e-9, "{row:?}");
        assert_eq!(row.difference, None, "there is one embedder");
    }
    assert!(run.rows[0].auc.unwrap() > 0.9, "{:?}", run.rows[0]);
    // Distance from Z rewards any other paper.
    assert!(run.rows[6].auc.unwrap() < 0.5, "{:?}", run.rows[6]);
    assert!(run.report().table.headline().unwrap().contains("nothing to compare it with"));
}

#[test]
fn prior_reporting_and_random_reviewers_have_judgments_of_others_or_of_nobody() {
    let set = real(2, 4);
    let judged = vec![Some(0), Some(0), Some(1), Some(2), None];
    let round = Round { set, rows: Vec::new(), kinds: Vec::new(), judged };
    // By entry: what the two people say. Whoever is replaced said 9.
    let people = [[1.0, 0.0, -1.0, 0.5], [-0.5, 0.25, 0.75, -1.0]];
    let mut dense = DenseVectors::new(4);
    people.iter().for_each(|row| dense.push(row));
    (0..3).for_each(|_| dense.push(&[9.0; 4]));
    let vectors = Vectors::Dense(dense);
    let (mut first, mut said) = ([0; 4], [0; 3]);
    for index in 0..400 {
        let changed = nobody_wrote(&vectors, &round, 1, index);
        assert_eq!(changed.dense_row(0), people[0]);
        assert_eq!(changed.dense_row(1), people[1]);
        assert_eq!(changed.dense_row(4), [9.0; 4], "nobody knows whose it is");
        for (entry, value) in changed.dense_row(2).into_iter().enumerate() {
            let says = |who: usize| (value - people[who][entry]).abs() < 1e-12;
            assert!(says(0) || says(1), "{value}");
            first[entry] += u32::from(says(0));
        }
        for value in changed.dense_row(3) {
            let place =
                [-1.0, 0.0, 1.0].iter().position(|known: &f64| (known - value).abs() < 1e-12);
            said[place.expect("-1, 0 or 1")] += 1;
        }
    }
    // Either person is as likely, every entry by itself (200 of 400, deviation 10), and so are the values (533
    // of 1,600, deviation 19).
    assert!(first.iter().all(|&count| (150..=250).contains(&count)), "{first:?}");
    assert!(said.iter().all(|&count| (440..=630).contains(&count)), "{said:?}");
}

#[test]
fn an_embedder_compared_with_itself_cannot_be_told_from_it() {
    let mut settings = settings();
    settings.embedders = vec![EmbedderSpec::Given, EmbedderSpec::Given];
    let run = run(&settings, None);
    for pair in run.rows.chunks_exact(2) {
        assert_eq!((pair[0].auc, pair[0].interval), (pair[1].auc, pair[1].interval));
        assert_eq!((pair[0].difference, pair[1].difference), (None, Some((0.0, 0.0, 0.0))));
    }
    let said = run.report();
    assert!(said.table.headline().unwrap().starts_with("These reviews cannot tell given"));
    let shown = run.shown();
    assert!(shown.footer.len() > 2);
    #[cfg(feature = "html")]
    {
        let page = run.page(&run.figures(), &|figure| figure.name.clone());
        assert_eq!(Some(page.lead[0].as_str()), shown.table.headline());
    }
}

#[test]
fn a_run_goes_on_with_the_embedders_that_are_finished() {
    let folder = tempfile::tempdir().unwrap();
    let file = |resume| TrialFile { path: folder.path().join("made.jsonl"), resume };
    let first = run(&settings(), Some(&file(false)));
    let again = run(&settings(), Some(&file(true)));
    // Seconds are those of the first run.
    assert_eq!(again.made, first.made);
    assert_eq!(again.rows, first.rows);
    // One more is made beside it; what is finished cannot be named otherwise.
    let mut more = settings();
    more.embedders.push(EmbedderSpec::Given);
    let more = run(&more, Some(&file(true)));
    assert_eq!((&more.made[0], more.made.len()), (&first.made[0], 2));
    let mut other = settings();
    other.embedders = vec![EmbedderSpec::Tfidf, EmbedderSpec::Given];
    let file = file(true);
    let error =
        embeddings(&other, loaded(20), Vec::new(), None, &LocalModels, Some(&file), &Silent);
    assert!(error.is_err_and(|error| error.to_string().contains("finished are given, given")));
}

#[test]
fn with_a_truth_every_review_counts_as_what_it_is() {
    let loaded = loaded(20);
    // The first review of each paper is said to be low effort; those of paper 0 are unknown.
    let reviews = (0..80).map(|n| (n >= 4).then_some(u32::from(n % 4 == 0))).collect();
    let truth = OwnTruth { kinds: vec!["other".into()], reviews, rows: 80 };
    let mut settings = settings();
    settings.trials.scores = vec![ScoreVariant::Cosine, ScoreVariant::Projected];
    let run = embeddings(&settings, loaded, Vec::new(), Some(&truth), &LocalModels, None, &Silent)
        .unwrap();
    let kinds: Vec<&str> = run.rows.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["all", "all"]);
    // The said ones write as the others do.
    let auc = run.rows[0].auc.unwrap();
    assert!((0.2..0.8).contains(&auc), "{auc}");
}

#[test]
fn judgments_that_nobody_wrote_replace_those_of_some_people_and_no_other() {
    let round = Round {
        set: ReviewSet::default(),
        rows: Vec::new(),
        kinds: Vec::new(),
        judged: vec![Some(0), Some(1), Some(2), None],
    };
    let rows = [[1.0, -1.0], [9.0, 9.0], [9.0, 9.0], [7.0, 7.0]];
    let vectors = Vectors::Dense(DenseVectors::from_values(2, rows.concat()));
    let changed = nobody_wrote(&vectors, &round, 1, 0);
    assert_eq!(changed.dense_row(0), [1.0, -1.0]);
    assert_eq!(changed.dense_row(1), [1.0, -1.0], "the one person has but these");
    assert!(changed.dense_row(2).iter().all(|entry| [-1.0, 0.0, 1.0].contains(entry)));
    assert_eq!(changed.dense_row(3), [7.0, 7.0]);
    assert_eq!(nobody_wrote(&vectors, &round, 1, 0), changed);
}

#[test]
fn papers_are_drawn_as_often_as_there_are_papers() {
    let drawn = draws(&[0, 2, 3], 4, 7);
    assert_eq!(drawn.len(), 1000);
    assert!(drawn.iter().all(
        |weights| weights[1].abs() < 1e-12 && (weights.iter().sum::<f64>() - 3.0).abs() < 1e-12
    ));
    let mean: f64 = drawn.iter().map(|weights| weights[0]).sum::<f64>() / 1000.0;
    assert!((mean - 1.0).abs() < 0.1, "{mean}");
}

/// The own score of every reviewer of every round from vectors made round by round, as `caz reviews` makes
/// them of one venue.
fn own_alone(rounds: &[Round], spec: &EmbedderSpec, seed: u64) -> Vec<Vec<Option<f64>>> {
    use crate::data::progress::NoProgress;
    use crate::text::own::{OwnSettings, check_texts, own_scores, plant, tfidf_vectors};
    let own = OwnSettings { seed, ..OwnSettings::default() };
    let embedding =
        EmbedderSettings { embedder: Some(spec.clone()), ..EmbedderSettings::default() };
    let of_round = |round: &Round| {
        let set = &round.set;
        let planted = plant(set, &check_texts(set, &own), &own);
        let vectors = if *spec == EmbedderSpec::Tfidf {
            tfidf_vectors(set, &planted, &NoProgress).unwrap().unwrap()
        } else {
            let content =
                |text: &&str| Content { text: Some((*text).into()), ..Content::default() };
            let contents: Vec<Content> = planted.texts(set).unwrap().iter().map(content).collect();
            let contents: Vec<&Content> = contents.iter().collect();
            let unit = Granularity::Sentence;
            let made = embed_contents(&contents, &embedding, unit, &LocalModels, &Silent, None);
            Vectors::clone(&made.unwrap().vectors).into()
        };
        let found = own_scores(set, &planted, vectors, &own, &|_| false, &NoProgress).unwrap();
        found.reviewers.iter().map(|reviewer| reviewer.score).collect()
    };
    rounds.iter().map(of_round).collect()
}

#[test]
fn own_is_told_by_the_vectors_of_each_embedder() {
    let words = |topic: u32, seed: u32| -> String {
        let sentence = |n: u32| {
            let word =
                |k: u32| format!("w{}", (topic * 31 + (seed * 7 + n * 3 + k * k) % 23) % 997);
            format!("{}.", (0..9).map(word).collect::<Vec<_>>().join(" "))
        };
        (0..8).map(sentence).collect::<Vec<_>>().join(" ")
    };
    let mut set = real(20, 4);
    for (number, review) in (0..).zip(&mut set.reviews) {
        review.content.text = Some(words(review.paper, number));
    }
    for (number, z) in (500..).zip(&mut set.z) {
        z.content.text = Some(words(z.paper + 40, number));
    }
    let loaded = LoadedReviews { set: set.clone(), rows: vec![0, 0], warnings: Vec::new() };
    let mut settings = settings();
    settings.trials.scores = vec![ScoreVariant::Own];
    settings.trials.trials = 2;
    let named = ["tfidf", "static", "aspects"];
    settings.embedders = named.map(|name| name.parse().unwrap()).to_vec();
    let run = embeddings(&settings, loaded.clone(), Vec::new(), None, &LocalModels, None, &Silent);
    let run = run.unwrap();
    // Aspects have no own.
    let of: Vec<usize> = run.rows.iter().map(|row| row.embedder).collect();
    assert_eq!(of, [0, 1, 0, 1, 0, 1, 0, 1]);
    let warning = run.warnings.iter().find(|warning| warning.code == "own_not_read").unwrap();
    assert!(warning.message.contains("for aspects:"), "{}", warning.message);

    let trials = ReviewTrials::new(&settings.trials, loaded, Vec::new()).unwrap();
    let (_, mut rounds) = planted(&trials, &set).unwrap();
    let contents = trials.grid.contents(&set);
    let contents: Vec<&Content> = contents.iter().collect();
    assert!(OwnTexts::plant(&mut rounds, &contents, &set, 7).is_some());
    for (made, spec) in run.made.iter().zip(&settings.embedders).take(2) {
        let alone = own_alone(&rounds, spec, settings.trials.seed);
        assert!(alone.iter().flatten().flatten().count() > 20, "{spec}: hardly anybody was judged");
        for ((round, found), alone) in rounds.iter().zip(&made.scores[0]).zip(&alone) {
            let by_review = |review: &Review| alone[review.reviewer as usize];
            let expected: Vec<_> = round.set.reviews.iter().map(by_review).collect();
            assert_eq!(found, &expected, "{spec}");
        }
    }
    assert_ne!(run.made[0].scores, run.made[1].scores);

    // Nobody has texts.
    settings.embedders = vec![EmbedderSpec::Given];
    let loaded = super::tests::loaded(20);
    let run = embeddings(&settings, loaded, Vec::new(), None, &LocalModels, None, &Silent).unwrap();
    assert!(run.rows.is_empty());
    assert_eq!(run.warnings.last().unwrap().code, "own_not_read");
    assert!(run.report().table.headline().unwrap().starts_with("No embedder could be judged"));
}

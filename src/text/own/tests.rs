mod definition;
mod other_paper;

use proptest::prelude::*;
use rand::RngExt;

use self::definition::dense;
use super::cut::count_words;
use super::settings::COUNTED_WORDS;
use super::*;
use crate::data::content::Content;
use crate::data::progress::NoProgress;
use crate::data::reviews::{Review, ReviewSet, ZReview};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::stats::seed::stream;

fn content(text: String) -> Content {
    Content { text: Some(text), ..Content::default() }
}

/// What is said about a paper: some of its own words among common ones.
fn text(paper: usize, voice: &str, words: usize, share: f64, seed: u64) -> String {
    let mut random = stream(seed, "text", paper as u64);
    let mut all = Vec::new();
    for index in 1..=words {
        let drawn: f64 = random.random();
        all.push(if drawn < share {
            format!("topic{paper}x{}", random.random_range(0..25))
        } else if drawn < share + 0.3 {
            format!("{voice}{}", random.random_range(0..20))
        } else {
            format!("common{}", random.random_range(0..60))
        });
        if index % 8 == 0 {
            all.push("end. The".to_owned());
        }
    }
    all.join(" ")
}

/// A venue of people with two papers each; two LLMs share words on every paper. Reviewer `r0`
/// hands in the first LLM's reviews, `r1` reviews of other papers.
fn venue(papers: usize) -> ReviewSet {
    let mut set = ReviewSet::default();
    let name = |paper: usize| format!("p{paper:02}");
    for paper in 0..papers {
        set.papers.intern(&name(paper));
    }
    for index in 0..3 * papers {
        let paper = index % papers;
        let reviewer = format!("r{}", (index / 2) % (3 * papers / 2));
        let written = match reviewer.as_str() {
            "r0" => z_text(paper, 0),
            "r1" => text((paper + 5) % papers, "person", 80, 0.3, 900 + index as u64),
            _ => text(paper, &format!("person{}", index % 7), 80, 0.3, index as u64),
        };
        let reviewer = set.reviewers.intern(&reviewer);
        let paper = set.papers.intern(&name(paper));
        set.reviews.push(Review { paper, reviewer, content: content(written) });
    }
    for paper in 0..papers {
        for source in 0..2 {
            let number = set.sources.intern(&format!("llm{source}"));
            let paper_number = set.papers.intern(&name(paper));
            let content = content(z_text(paper, source));
            set.z.push(ZReview { paper: paper_number, source: number, content });
        }
    }
    set
}

fn z_text(paper: usize, source: usize) -> String {
    // Both LLMs open with the same words about the paper and go on with their own.
    let shared = text(paper, "model", 40, 0.5, 5_000);
    format!("{shared} {}", text(paper + 100 * (source + 1), "model", 60, 0.4, 6_000))
}

fn settings() -> OwnSettings {
    OwnSettings { check_language: false, ..OwnSettings::default() }
}

fn planted(set: &ReviewSet, settings: &OwnSettings) -> Planted {
    plant(set, &check_texts(set, settings), settings)
}

fn scores(set: &ReviewSet) -> OwnScores {
    let planted = planted(set, &settings());
    let vectors = tfidf_vectors(set, &planted, &NoProgress).unwrap().unwrap();
    own_scores(set, &planted, vectors, &settings(), &|_| false, &NoProgress).unwrap()
}

fn named<'a>(set: &ReviewSet, scores: &'a OwnScores, name: &str) -> &'a OwnReviewer {
    &scores.reviewers[set.reviewers.get(name).unwrap() as usize]
}

fn warns(scores: &OwnScores, code: &str) -> bool {
    scores.warnings.iter().any(|warning| warning.code == code)
}

#[test]
fn a_copier_and_an_off_topic_reviewer_are_flagged_and_people_are_not() {
    let set = venue(20);
    let scores = scores(&set);
    let copier = named(&set, &scores, "r0");
    assert_eq!(copier.flag, OwnFlag::Look, "{copier:?}");
    assert_eq!(copier.reads_as, Some(Class::Copy));
    let off_topic = named(&set, &scores, "r1");
    assert_eq!(off_topic.flag, OwnFlag::Look, "{off_topic:?}");
    assert!(matches!(off_topic.reads_as, Some(Class::OffTopic | Class::OffTopicLlm)));
    let flagged = scores.reviewers.iter().filter(|r| r.flag == OwnFlag::Look).count();
    assert_eq!(flagged, 2);
    assert!(scores.planted.ghosts.unwrap() > 0.5, "{:?}", scores.planted);
    assert!(scores.planted.people.unwrap() < 0.05);
    let prevalence = scores.prevalence.unwrap();
    assert!(prevalence.interval.0 <= 2.0 / 30.0 && 2.0 / 30.0 <= prevalence.interval.1);
    // The copier's most similar Z is the one handed in.
    let review = &scores.reviews[0];
    let z = review.z.unwrap();
    assert_eq!(set.z[z.index].content, set.reviews[0].content);
    assert!((z.cosine - 1.0).abs() < 1e-9);
    assert!(!warns(&scores, "own_one_z"));
}

#[test]
fn what_nobody_sees_hides_no_copy() {
    let mut set = venue(20);
    let before = scores(&set);
    let copier = set.reviewers.get("r0").unwrap();
    for review in set.reviews.iter_mut().filter(|review| review.reviewer == copier) {
        let text = review.content.text.take().unwrap();
        review.content = content(text.replace('o', "o\u{200b}").replace(' ', " \u{2060}"));
    }
    let after = scores(&set);
    assert_eq!(named(&set, &after, "r0").copied, Some(1.0));
    assert_eq!(after.reviewers, before.reviewers);
}

#[test]
fn the_text_of_one_task_does_not_say_that_people_quote_tasks() {
    let mut set = venue(20);
    let by_pairs = |set: &ReviewSet| {
        let planted = planted(set, &settings());
        tfidf_vectors(set, &planted, &NoProgress).unwrap().unwrap().pairs.is_some()
    };
    set.tasks = vec![None; 20];
    set.tasks[3] = set.reviews.iter().find(|review| review.paper == 3).map(|r| r.content.clone());
    let quoted = set.reviews.iter().map(|review| review.paper == 3);
    assert!(quoted.filter(|quoted| *quoted).count() == 3 && by_pairs(&set));
    for (paper, task) in (0_u32..).zip(&mut set.tasks) {
        let all = set.reviews.iter().filter(|review| review.paper == paper);
        let all = all.filter_map(|review| review.content.text.as_deref());
        *task = Some(content(all.collect::<Vec<_>>().join(" ")));
    }
    assert!(!by_pairs(&set));
}

/// The same set with its rows in another order.
fn shuffled(set: &ReviewSet, seed: u64) -> ReviewSet {
    use rand::seq::SliceRandom;
    let mut random = stream(seed, "shuffle", 0);
    let mut reviews = set.reviews.clone();
    let mut z = set.z.clone();
    reviews.shuffle(&mut random);
    z.shuffle(&mut random);
    let mut other = ReviewSet::default();
    for mut review in reviews {
        review.paper = other.papers.intern(set.papers.name(review.paper));
        review.reviewer = other.reviewers.intern(set.reviewers.name(review.reviewer));
        other.reviews.push(review);
    }
    for mut z in z {
        z.paper = other.papers.intern(set.papers.name(z.paper));
        z.source = other.sources.intern(set.sources.name(z.source));
        other.z.push(z);
    }
    other
}

#[test]
fn the_order_of_rows_changes_not_one_bit() {
    let set = venue(14);
    let first = scores(&set);
    for seed in 0..3 {
        let other = shuffled(&set, seed);
        let second = scores(&other);
        for name in set.reviewers.names() {
            assert_eq!(named(&set, &first, name), named(&other, &second, name));
        }
        assert_eq!(first.prevalence, second.prevalence);
        assert_eq!(first.planted, second.planted);
    }
}

#[test]
fn one_more_copy_of_z_under_another_name_changes_nothing() {
    let set = venue(14);
    let mut doubled = set.clone();
    let name = doubled.sources.intern("zz again");
    let copies: Vec<ZReview> = set
        .z
        .iter()
        .filter(|z| z.source == 0)
        .map(|z| ZReview { source: name, ..z.clone() })
        .collect();
    doubled.z.extend(copies);
    let (before, after) = (scores(&set), scores(&doubled));
    assert_eq!(before.reviewers, after.reviewers);
    let repeated = after.warnings.iter().find(|warning| warning.code == "own_repeated_z");
    assert_eq!(repeated.map(|warning| warning.count), Some(14));
}

#[test]
fn with_one_z_the_ratio_is_assumed_and_said() {
    let mut set = venue(20);
    set.z.retain(|z| z.source == 0);
    let scores = scores(&set);
    let assumed = scores.warnings.iter().find(|warning| warning.code == "own_one_z").unwrap();
    assert!(assumed.message.starts_with("no paper has two different Z: "), "{}", assumed.message);
    let said = "assumed (0.32 of a copy's closeness, standard deviation 0.09)";
    assert!(assumed.message.contains(said), "{}", assumed.message);
    assert_eq!(named(&set, &scores, "r0").flag, OwnFlag::Look);
    // The llm ghost of a slot has the peers of the copy; its z is .32 of that of the whole Z, which stands
    // uncut where the copier handed it in.
    let of = |class: Class| scores.ghosts.iter().filter(move |ghost| ghost.class == class);
    let mut whole = 0;
    for (copy, llm) in of(Class::Copy).zip(of(Class::Llm)) {
        assert_eq!((copy.review, copy.features.peers), (llm.review, llm.features.peers));
        if set.reviewers.name(set.reviews[copy.review].reviewer) == "r0" {
            let (llm, copy) = (llm.features.z.unwrap(), copy.features.z.unwrap());
            assert!((llm - 0.32 * copy).abs() < 1e-12, "{llm} {copy}");
            whole += 1;
        }
    }
    assert_eq!(whole, 2);
}

#[test]
fn of_one_short_answer_only_a_copy_is_worth_a_look() {
    let mut set = venue(20);
    for name in ["r0", "r1"] {
        let person = set.reviewers.get(name).unwrap();
        let last = set.reviews.iter().rposition(|review| review.reviewer == person).unwrap();
        set.reviews.remove(last);
    }
    // Written about another paper, in 75 words.
    let r1 = set.reviewers.get("r1").unwrap();
    let review = set.reviews.iter_mut().find(|review| review.reviewer == r1).unwrap();
    review.content = content(text((review.paper as usize + 5) % 20, "person", 60, 0.3, 901));
    let scores = scores(&set);
    assert_eq!(named(&set, &scores, "r0").flag, OwnFlag::Look);
    let off_topic = named(&set, &scores, "r1");
    assert_eq!((off_topic.n_papers, off_topic.flag), (1, OwnFlag::Unsure));
}

#[test]
fn who_cannot_be_judged_has_no_score_and_a_reason() {
    let mut set = venue(20);
    let short = set.reviewers.get("r5").unwrap();
    for review in set.reviews.iter_mut().filter(|review| review.reviewer == short) {
        review.content = content("Too short to say anything. Five more.".to_owned());
    }
    // A paper of one review and no Z.
    let alone = set.papers.intern("alone");
    let hermit = set.reviewers.intern("hermit");
    let written = content(text(77, "person", 80, 0.3, 3));
    set.reviews.push(Review { paper: alone, reviewer: hermit, content: written });
    let again = set.reviewers.get("r6").unwrap();
    for review in set.reviews.iter_mut().filter(|review| review.reviewer == again) {
        review.content = content("good ".repeat(100));
    }
    let scores = scores(&set);
    let again = named(&set, &scores, "r6");
    assert_eq!(again.reason, Some(NotJudged::SaysLittle { different: 1 }));
    let short = named(&set, &scores, "r5");
    assert_eq!(short.reason, Some(NotJudged::TooFewWords { words: 7, fewest: 20 }));
    let hermit = named(&set, &scores, "hermit");
    assert_eq!(hermit.reason, Some(NotJudged::NothingToCompare));
    for reviewer in [short, again, hermit] {
        assert_eq!(reviewer.flag, OwnFlag::NotJudged);
        assert_eq!((reviewer.score, reviewer.n_papers), (None, 0));
        assert!(reviewer.posterior.is_none() && reviewer.reads_as.is_none());
    }
}

#[test]
fn one_paper_has_others_and_nothing_to_hold_them_against() {
    let mut set = venue(20);
    set.reviews.retain(|review| review.paper == 0);
    set.z.retain(|z| z.paper == 0);
    assert_eq!((set.reviews.len(), set.z.len()), (3, 2));
    let scores = scores(&set);
    for review in &set.reviews {
        let reason = scores.reviewers[review.reviewer as usize].reason.unwrap();
        assert_eq!(reason, NotJudged::NothingToCompare);
        assert!(reason.to_string().ends_with("of the paper and of other papers"), "{reason}");
    }
}

#[test]
fn too_little_has_no_scale() {
    let mut set = venue(20);
    set.reviews.truncate(2);
    let scores = scores(&set);
    assert!(scores.reviewers.iter().all(|reviewer| reviewer.score.is_none()));
    assert!(warns(&scores, "own_no_scale"));
    assert_eq!(scores.prevalence, None);
}

#[test]
fn of_short_texts_nobody_says_how_many_cheat() {
    let mut set = venue(20);
    assert!(scores(&set).prevalence.is_some());
    for z in &mut set.z {
        let text = z.content.text.take().unwrap();
        let words: Vec<&str> = text.split_whitespace().take(COUNTED_WORDS - 10).collect();
        z.content = content(format!("{}.", words.join(" ").trim_end_matches('.')));
    }
    let scores = scores(&set);
    assert_eq!(scores.prevalence, None);
    assert!(warns(&scores, "own_not_counted"));
    assert!(!warns(&scores, "own_no_scale"));
    assert!(scores.reviewers.iter().any(|reviewer| reviewer.posterior.is_some()));
}

#[test]
fn vectors_that_do_not_fit_are_errors() {
    let set = venue(6);
    let planted = planted(&set, &settings());
    let run = |vectors, settings: &OwnSettings| {
        own_scores(&set, &planted, vectors, settings, &|_| false, &NoProgress).unwrap_err()
    };
    let expected = planted.texts(&set).unwrap().len();
    let wrong = Vectors::Dense(DenseVectors::from_values(1, vec![1.0; 3]));
    let error = run(wrong.clone(), &settings());
    assert_eq!(error, OwnError::Rows { expected, found: 3 });
    let settings = OwnSettings { fdr: 0.0, ..settings() };
    assert_eq!(run(wrong, &settings), OwnError::Fdr { fdr: 0.0 });
}

#[test]
fn dense_vectors_are_whitened() {
    let set = venue(20);
    let planted = planted(&set, &settings());
    let sparse = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
    // A few random directions keep most of the angles.
    let mut random = stream(1, "directions", 0);
    let mut projected = DenseVectors::new(40);
    let rows = dense(&sparse.vectors);
    let directions: Vec<Vec<f64>> = (0..40)
        .map(|_| (0..rows[0].len()).map(|_| random.random_range(-1.0..1.0)).collect())
        .collect();
    for row in &rows {
        let values: Vec<f64> =
            directions.iter().map(|d| d.iter().zip(row).map(|(a, b)| a * b).sum()).collect();
        projected.push(&values);
    }
    let vectors = Vectors::Dense(projected);
    let scores = own_scores(&set, &planted, vectors, &settings(), &|_| false, &NoProgress).unwrap();
    assert_eq!(named(&set, &scores, "r0").flag, OwnFlag::Look);
    assert!(warns(&scores, "own_not_by_words"));
}

#[test]
fn ghosts_are_about_as_long_as_the_review_in_their_slot() {
    let set = venue(10);
    let planted = planted(&set, &settings());
    let texts = planted.texts(&set).unwrap();
    let rows = planted.copies.iter().enumerate();
    let copies = rows.flat_map(|(slot, rows)| rows.iter().map(move |&row| (slot, row)));
    let others = planted.others.iter().map(|ghost| (ghost.slot, ghost.row));
    for (slot, row) in copies.chain(others) {
        let wanted = planted.words[slot].unwrap();
        let words = count_words(texts[row]);
        // Sentences of these texts have nine words or ten.
        assert!(words.abs_diff(wanted) <= 10 || words < wanted, "{words} {wanted}");
    }
    // A sample of slots where there are many.
    let few = super::tests::planted(&set, &OwnSettings { ghost_slots: 7, ..settings() });
    let slots: std::collections::BTreeSet<usize> = few.others.iter().map(|g| g.slot).collect();
    assert_eq!(slots.len(), 7);
}

#[test]
fn one_review_of_several_word_for_word_is_found_and_so_is_its_writer() {
    let mut set = venue(20);
    // r3 has one more review than most copiers: one of theirs is Z, one their own.
    let r3 = set.reviewers.get("r3").unwrap();
    let index = set.reviews.iter().position(|review| review.reviewer == r3).unwrap();
    set.reviews[index].content = content(z_text(set.reviews[index].paper as usize, 0));
    let scores = scores(&set);
    let person = named(&set, &scores, "r3");
    assert_eq!((person.flag, person.reads_as), (OwnFlag::Look, Some(Class::Copy)));
    assert_eq!((person.n_look, person.n_papers, person.copied), (1, 2, Some(1.0)));
    let share = person.share.unwrap();
    assert!(share.low <= 0.5 && 0.5 <= share.high && (share.expected - 0.5).abs() < 0.2);
    let review = &scores.reviews[index];
    assert_eq!((review.flag, review.copied), (OwnFlag::Look, Some(1.0)));
    assert!(matches!(review.closest(), Some(Closest::Z(_))));
    assert_eq!(review.passages[0].start, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_paper_that_nobody_shares_moves_nobody_but_by_the_densities(seed in 0..1000_u64) {
        let mut set = venue(12);
        let before = scores(&set);
        let paper = set.papers.intern("zz more");
        for index in 0..3 {
            let reviewer = set.reviewers.intern(&format!("zz{index}"));
            let content = content(text(50, "person", 80, 0.3, seed * 3 + index));
            set.reviews.push(Review { paper, reviewer, content });
        }
        let after = scores(&set);
        for (a, b) in before.reviews.iter().zip(&after.reviews) {
            // The mean, the idf and the other papers move a little, nothing else.
            let (a, b) = (a.features.peers.unwrap(), b.features.peers.unwrap());
            prop_assert!((a - b).abs() < 0.05, "{} {}", a, b);
            for reviewer in &after.reviewers {
                if let Some(p) = reviewer.posterior {
                    prop_assert!((p.own + p.copy + p.llm + p.off_topic - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn where_people_say_what_the_llm_says_nobody_is_flagged_or_cleared_or_counted() {
    let mut set = venue(20);
    let z = |paper: u32| z_text(paper as usize, 0);
    for (review, seed) in set.reviews.iter_mut().zip(0..) {
        // Five words of the LLM each in another order for everybody: most pairs stay, no run is long.
        let z = z(review.paper);
        let words: Vec<&str> = z.split(' ').collect();
        let mut parts: Vec<String> = words.chunks(5).map(|part| part.join(" ")).collect();
        let mut random = stream(seed, "order", 0);
        (1..parts.len()).for_each(|at| parts.swap(at, random.random_range(0..=at)));
        review.content = content(parts.join(" "));
    }
    let scores = scores(&set);
    assert!(warns(&scores, "own_blind"), "{:?}", scores.warnings);
    // These are long enough: what cannot be seen is why nothing is counted.
    assert!(!warns(&scores, "own_not_counted"));
    assert!(scores.reviewers.iter().all(|reviewer| reviewer.flag == OwnFlag::Unsure));
    assert_eq!(scores.prevalence, None);
}

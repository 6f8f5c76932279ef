//! The closest other paper against its definition, pair by pair.

use super::definition::{Naive, cosine, in_order_of_set};
use super::*;

/// Made-up words are in no language.
const ENGLISH: &str = "I have read this carefully, and I think that the authors should explain what they \
    have done in more detail before it can be published, since most of the readers will not know it.";

/// What a review of other papers is about; those by `r9` are about one that is not in the venue.
fn about(reviewer: &str, index: usize) -> usize {
    if reviewer == "r9" { 77 } else { (index + 5) % 20 }
}

/// A venue with ten reviews of other papers by five people, where not every LLM wrote about every
/// paper, one of them about one only, and a review is in another script.
fn venue_with_off_topic_reviews() -> ReviewSet {
    let mut set = venue(20);
    for (index, review) in set.reviews.iter_mut().enumerate() {
        if ["r1", "r3", "r5", "r7", "r9"].contains(&set.reviewers.name(review.reviewer)) {
            let paper = about(set.reviewers.name(review.reviewer), index);
            let words = text(paper, "person", 80, 0.3, 900 + index as u64);
            review.content = content(words);
        }
        let words = review.content.text.take().unwrap();
        review.content = content(format!("{ENGLISH} {words}"));
    }
    set.z.retain(|z| z.paper != 6 && (z.source == 0 || z.paper % 3 != 0));
    // An LLM that wrote about one paper only.
    let source = set.sources.intern("llm2");
    set.z.push(ZReview { paper: 12, source, content: content(z_text(12, 2)) });
    set.reviews[44].content = content("\u{8ad6}\u{6587}\u{5be6}\u{9a57} ".repeat(60));
    set
}

#[test]
fn the_closest_other_paper_of_an_off_topic_review_is_that_of_the_definition() {
    let set = venue_with_off_topic_reviews();
    let settings = OwnSettings::default();
    let planted = planted(&set, &settings);
    let vectors = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
    let rows = dense(&vectors.vectors);
    let found =
        own_scores(&set, &planted, vectors.clone(), &settings, &|_| true, &NoProgress).unwrap();
    let left_out: Vec<usize> =
        (0..60).filter(|&index| found.reviews[index].reason.is_some()).collect();
    assert_eq!(left_out, [44], "{:?}", found.reviews[left_out[0]].reason);
    // What copies a Z is nobody's peer either.
    let counts = |index: &usize| *index != 44 && !is_copied(found.reviews[*index].copied);
    let counted: Vec<usize> = (0..60).filter(counts).collect();
    let naive = Naive::of_counted(&in_order_of_set(&set, &planted, &rows), 60, &counted);

    // Kind of a text, its paper, its cosine with a review.
    let texts_by_others = |index: usize| -> Vec<(u32, u32, f64)> {
        let by = set.reviews[index].reviewer;
        let v = &naive.reviews[index];
        let reviews = counted.iter().filter(|&&other| set.reviews[other].reviewer != by);
        let reviews =
            reviews.map(|&other| (0, set.reviews[other].paper, cosine(v, &naive.reviews[other])));
        let z = set.z.iter().zip(&naive.z);
        reviews.chain(z.map(|(z, row)| (1 + z.source, z.paper, cosine(v, row)))).collect()
    };
    let closeness = |texts: &[(u32, u32, f64)], paper: u32| {
        let mean_of = |kind: u32| {
            let elsewhere = texts.iter().filter(|text| text.0 == kind && text.1 != paper);
            let elsewhere: Vec<f64> = elsewhere.map(|text| text.2).collect();
            (!elsewhere.is_empty()).then(|| elsewhere.iter().sum::<f64>() / elsewhere.len() as f64)
        };
        let on: Vec<f64> = texts
            .iter()
            .filter(|text| text.1 == paper)
            .filter_map(|text| Some(text.2 - mean_of(text.0)?))
            .collect();
        on.iter().sum::<f64>() / on.len() as f64
    };
    let mut usual: Vec<f64> = counted
        .iter()
        .filter(|&&index| {
            let reviewer = &found.reviewers[set.reviews[index].reviewer as usize];
            reviewer.reads_as == Some(Class::Own) && reviewer.flag != OwnFlag::Look
        })
        .map(|&index| closeness(&texts_by_others(index), set.reviews[index].paper))
        .collect();
    usual.sort_by(f64::total_cmp);
    let level = usual[usual.len() / 10];

    let mut looked_at = 0;
    for (index, (review, own)) in set.reviews.iter().zip(&found.reviews).enumerate() {
        let name = set.reviewers.name(review.reviewer);
        let Some(other) = own.other_paper else {
            assert!(!["r1", "r3", "r5", "r7", "r9"].contains(&name), "{name}, review {index}");
            continue;
        };
        assert!(["r1", "r3", "r5", "r7", "r9"].contains(&name), "{name}, review {index}");
        let texts = texts_by_others(index);
        if name == "r9" {
            assert_eq!(other.is_close, Some(false), "{other:?}");
        } else {
            let made_for = format!("p{:02}", about(name, index));
            assert_eq!((set.papers.name(other.paper), other.is_close), (&*made_for, Some(true)));
        }
        assert!((other.closeness - closeness(&texts, other.paper)).abs() < 1e-9);
        assert!((other.closeness_here - closeness(&texts, review.paper)).abs() < 1e-9);
        let others = (0..20).filter(|paper| *paper != review.paper);
        others.for_each(|paper| assert!(closeness(&texts, paper) <= other.closeness + 1e-9));
        assert_eq!(other.is_close, Some(other.closeness >= level), "{other:?}, {level}");
        looked_at += 1;
    }
    assert_eq!(looked_at, 10);

    // Only whom somebody asks about.
    let r3 = set.reviewers.get("r3").unwrap();
    let asked = |wanted: &dyn Fn(u32) -> bool| {
        own_scores(&set, &planted, vectors.clone(), &settings, wanted, &NoProgress).unwrap()
    };
    let one = asked(&|reviewer| reviewer == r3);
    for (index, own) in one.reviews.iter().enumerate() {
        let is_r3 = set.reviews[index].reviewer == r3;
        let expected = found.reviews[index].other_paper.filter(|_| is_r3);
        assert_eq!(own.other_paper, expected, "review {index}");
    }
    assert!(asked(&|_| false).reviews.iter().all(|own| own.other_paper.is_none()));
}

//! Venues made from real reviews, and what each of their reviewers hands in.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::venues::{CalibrationSettings, Handed};
use crate::data::content::Content;
use crate::data::reviews::{Review, ReviewSet, ZReview};
use crate::embed::sentences::sentences;
use crate::simulate::rewording::Rewriting;
use crate::stats::seed::stream;
use crate::text::pairs::papers_of;

/// Papers and people's reviews of one reviewer.
type Slots = Vec<(u32, usize)>;

/// A venue, and what each of its reviewers hands in.
pub(super) fn make_venue(
    real: &ReviewSet,
    settings: &CalibrationSettings,
    index: u32,
) -> (ReviewSet, Vec<Handed>) {
    let mut random = stream(settings.seed, "own calibration", u64::from(index));
    let assigned = assign(real, settings, &mut random);
    let mut handed = vec![Handed::Own; assigned.len()];
    let mut order: Vec<usize> = (0..assigned.len()).collect();
    order.shuffle(&mut random);
    let mut order = order.into_iter();
    for &(kind, share) in &settings.shares {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count is between 0 and the count"
        )]
        let count = (share * assigned.len() as f64).round() as usize;
        order.by_ref().take(count).for_each(|reviewer| handed[reviewer] = kind);
    }
    let papers = papers_of(real);
    let mut set = ReviewSet { papers: real.papers.clone(), ..ReviewSet::default() };
    let mut used_z = Vec::new();
    for (number, slots) in assigned.iter().enumerate() {
        let reviewer = set.reviewers.intern(&format!("r{number}"));
        let sources = &settings.handed_sources;
        let source = sources[random.random_range(0..sources.len().max(1)).min(sources.len() - 1)];
        let other_source = sources.iter().copied().find(|&other| other != source);
        for &(paper, review) in slots {
            let elsewhere: Vec<u32> =
                settings.papers.iter().copied().filter(|&other| other != paper).collect();
            let other = elsewhere[random.random_range(0..elsewhere.len())];
            let z_at = |paper: u32, source: u32| {
                let z = &papers[paper as usize].z;
                z.iter().copied().find(|&z| real.z[z].source == source)
            };
            let of_z = |z: Option<usize>| z.and_then(|z| real.z[z].content.text.as_deref());
            let mine = real.reviews[review].content.text.as_deref().unwrap_or_default();
            let home = if handed[number] == Handed::OffTopicLlm { other } else { paper };
            let z = z_at(home, source);
            let text = of_z(z).unwrap_or(mine);
            let written = match handed[number] {
                Handed::Own => mine.to_owned(),
                Handed::OwnShort => Rewriting::Short(5).apply(mine),
                Handed::OwnFormal => Rewriting::Formal.apply(mine),
                Handed::OwnPolished => Rewriting::Polished.apply(mine),
                Handed::Llm | Handed::OffTopicLlm => text.to_owned(),
                Handed::Reworded => Rewriting::Reworded.apply(text),
                Handed::Shortened => Rewriting::Short(5).apply(text),
                Handed::Half => halves(mine, text),
                Handed::Blended => {
                    let second = other_source.and_then(|source| of_z(z_at(paper, source)));
                    halves(text, second.unwrap_or(text))
                }
                Handed::OffTopic => {
                    let reviews = &papers[other as usize].reviews;
                    let review = reviews.get(random.random_range(0..reviews.len().max(1)));
                    let text = review.and_then(|&r| real.reviews[r].content.text.as_deref());
                    text.unwrap_or(mine).to_owned()
                }
                Handed::Praise => PRAISE.to_owned(),
                Handed::Peer => {
                    let peers = &papers[paper as usize].reviews;
                    let peer = peers.iter().find(|&&peer| peer != review);
                    let text = peer.and_then(|&peer| real.reviews[peer].content.text.as_deref());
                    text.unwrap_or(mine).to_owned()
                }
            };
            if !handed[number].is_own() {
                used_z.extend(z);
                if handed[number] == Handed::Blended {
                    used_z.extend(other_source.and_then(|source| z_at(paper, source)));
                }
            }
            set.reviews.push(Review { paper, reviewer, content: text_content(written) });
        }
    }
    let mut known = settings.papers.clone();
    known.shuffle(&mut random);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is between 0 and the count"
    )]
    known.truncate((settings.z_coverage * known.len() as f64).round() as usize);
    for (at, z) in real.z.iter().enumerate() {
        let left_out = settings.leave_out && used_z.contains(&at);
        if settings.z_sources.contains(&z.source) && known.contains(&z.paper) && !left_out {
            let source = set.sources.intern(real.sources.name(z.source));
            set.z.push(ZReview { paper: z.paper, source, content: z.content.clone() });
        }
    }
    (set, handed)
}

fn text_content(text: String) -> Content {
    Content { text: Some(text), ..Content::default() }
}

/// The first half of the sentences of one text, the second half of another's.
fn halves(first: &str, second: &str) -> String {
    let (first, second): (Vec<&str>, Vec<&str>) =
        (sentences(first).collect(), sentences(second).collect());
    let start = first[..first.len().div_ceil(2)].iter();
    start.chain(&second[second.len() / 2..]).copied().collect::<Vec<_>>().join("\n")
}

/// Papers with the most free reviews go first, ties at random, until too few are left.
fn assign(
    real: &ReviewSet,
    settings: &CalibrationSettings,
    random: &mut impl rand::Rng,
) -> Vec<Slots> {
    let papers = papers_of(real);
    let mut free: Vec<(u32, Vec<usize>)> = settings
        .papers
        .iter()
        .map(|&paper| {
            let mut reviews = papers[paper as usize].reviews.clone();
            reviews.shuffle(random);
            reviews.truncate(settings.reviews_per_paper);
            (paper, reviews)
        })
        .collect();
    let mut assigned = Vec::new();
    loop {
        free.retain(|(_, reviews)| !reviews.is_empty());
        let each = &settings.papers_each;
        let Some(&size) = each.get(random.random_range(0..each.len().max(1))) else {
            return assigned;
        };
        if size == 0 || free.len() < size {
            return assigned;
        }
        free.shuffle(random);
        free.sort_by_key(|(_, reviews)| std::cmp::Reverse(reviews.len()));
        let slots = free[..size].iter_mut();
        assigned
            .push(slots.filter_map(|(paper, reviews)| Some((*paper, reviews.pop()?))).collect());
    }
}

/// Praise that fits every paper, long enough to be judged.
const PRAISE: &str = "This is a solid paper that addresses an important problem. The writing is \
    clear and the structure is easy to follow. The proposed method is novel and well motivated. \
    The experiments are extensive and the results are convincing. The related work is covered well. \
    I have no major concerns and recommend acceptance. Minor typos should be fixed in the final \
    version.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::reviews::tests::real;

    #[test]
    fn venues_are_what_the_settings_say() {
        let real = real(12, 4);
        let settings = CalibrationSettings {
            papers_each: vec![2],
            handed_sources: vec![1],
            leave_out: true,
            shares: vec![(Handed::Llm, 0.2), (Handed::OffTopic, 0.1)],
            ..CalibrationSettings::clean(&real)
        };
        let (set, handed) = make_venue(&real, &settings, 3);
        let n = handed.len();
        assert!(n >= 16, "{n}");
        assert_eq!(
            handed.iter().filter(|kind| **kind == Handed::OffTopic).count(),
            n.div_ceil(10) - usize::from(n % 10 < 5)
        );
        let mut copies = 0;
        for review in &set.reviews {
            let text = review.content.text.as_deref().unwrap();
            let here = text.split(' ').next() == Some(set.papers.name(review.paper));
            match handed[review.reviewer as usize] {
                Handed::Own => assert!(here && text.contains("by")),
                Handed::Llm => {
                    assert!(here && text.ends_with("llm 1"));
                    // It is not among Z any more.
                    assert!(!set.z.iter().any(|z| z.content.text.as_deref() == Some(text)));
                    copies += 1;
                }
                Handed::OffTopic => assert!(!here && text.contains("by")),
                other => panic!("{other:?}"),
            }
        }
        assert!(copies > 0);
        assert!(set.z.iter().any(|z| z.source == 1));
        let (again, _) = make_venue(&real, &settings, 3);
        assert_eq!(again, set);
    }
}

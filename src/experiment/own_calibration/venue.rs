//! Venues made from real reviews, and what each of their reviewers hands in.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use statrs::distribution::{ContinuousCDF, Normal};

use super::venues::{CalibrationSettings, Handed};
use crate::data::content::Content;
use crate::data::reviews::{Review, ReviewSet, ZReview};
use crate::embed::sentences::sentences;
use crate::simulate::rewording::Rewriting;
use crate::stats::rank::whole;
use crate::stats::seed::stream;
use crate::text::pairs::papers_of;

/// Papers and people's reviews of one reviewer.
type Slots = Vec<(u32, usize)>;

/// A venue, what each of its reviewers hands in, and whether each review is its reviewer's own.
pub(super) fn make_venue(
    real: &ReviewSet,
    settings: &CalibrationSettings,
    index: u32,
) -> (ReviewSet, Vec<Handed>, Vec<bool>) {
    let mut random = stream(settings.seed, "own calibration", u64::from(index));
    let assigned = if settings.people_of_files {
        people_of_files(real, settings)
    } else if settings.likeness > 0.0 {
        assign_alike(real, settings, &mut random)
    } else {
        assign(real, settings, &mut random)
    };
    let mut handed = vec![Handed::Own; assigned.len()];
    let mut order: Vec<usize> = (0..assigned.len()).collect();
    order.shuffle(&mut random);
    let mut order = order.into_iter();
    for &(kind, share) in &settings.shares {
        let count = whole((share * assigned.len() as f64).round());
        order.by_ref().take(count).for_each(|reviewer| handed[reviewer] = kind);
    }
    let papers = papers_of(real);
    let mut set = ReviewSet {
        papers: real.papers.clone(),
        tasks: real.tasks.clone(),
        ..ReviewSet::default()
    };
    let (mut used_z, mut is_own) = (Vec::new(), Vec::new());
    for (number, slots) in assigned.iter().enumerate() {
        let reviewer = set.reviewers.intern(&format!("r{number}"));
        let sources = &settings.handed_sources;
        let source = sources[random.random_range(0..sources.len().max(1)).min(sources.len() - 1)];
        let other_source = sources.iter().copied().find(|&other| other != source);
        let mut cheats = vec![true; slots.len()];
        if let Some(count) = settings.cheat_on.filter(|&count| count < slots.len()) {
            cheats[count..].fill(false);
            cheats.shuffle(&mut random);
        }
        for (&(paper, review), cheats) in slots.iter().zip(cheats) {
            let kind = if cheats { handed[number] } else { Handed::Own };
            is_own.push(kind.is_own());
            let elsewhere: Vec<u32> =
                settings.papers.iter().copied().filter(|&other| other != paper).collect();
            let other = elsewhere[random.random_range(0..elsewhere.len())];
            let z_at = |paper: u32, source: u32| {
                let z = &papers[paper as usize].z;
                z.iter().copied().find(|&z| real.z[z].source == source)
            };
            let of_z = |z: Option<usize>| z.and_then(|z| real.z[z].content.text.as_deref());
            let mine = real.reviews[review].content.text.as_deref().unwrap_or_default();
            let home = if kind == Handed::OffTopicLlm { other } else { paper };
            let z = z_at(home, source);
            let text = of_z(z).unwrap_or(mine);
            let written = match kind {
                Handed::Own | Handed::OwnBesideJunk => mine.to_owned(),
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
                Handed::Junk => junk(real, &mut random),
                Handed::Peer => {
                    let peers = &papers[paper as usize].reviews;
                    let peer = peers.iter().find(|&&peer| peer != review);
                    let text = peer.and_then(|&peer| real.reviews[peer].content.text.as_deref());
                    text.unwrap_or(mine).to_owned()
                }
            };
            if !kind.is_own() {
                used_z.extend(z);
                if kind == Handed::Blended {
                    used_z.extend(other_source.and_then(|source| z_at(paper, source)));
                }
            }
            let written = match settings.words {
                Some(words) => cut(&written, words),
                None => written,
            };
            set.reviews.push(Review { paper, reviewer, content: text_content(written) });
        }
    }
    put_z(&mut set, real, settings, &used_z, &mut random);
    name_beside_junk(&set, &mut handed);
    (set, handed, is_own)
}

/// Gives the venue the Z it has: of the papers and sources of the settings, and not what was handed in.
fn put_z(
    set: &mut ReviewSet,
    real: &ReviewSet,
    settings: &CalibrationSettings,
    used_z: &[usize],
    random: &mut impl rand::Rng,
) {
    let mut known = settings.papers.clone();
    known.shuffle(random);
    known.truncate(whole((settings.z_coverage * known.len() as f64).round()));
    for (at, z) in real.z.iter().enumerate() {
        let left_out = settings.leave_out && used_z.contains(&at);
        if settings.z_sources.contains(&z.source) && known.contains(&z.paper) && !left_out {
            let source = set.sources.intern(real.sources.name(z.source));
            set.z.push(ZReview { paper: z.paper, source, content: z.content.clone() });
        }
    }
}

/// Who did own work on a paper of which somebody handed in junk.
fn name_beside_junk(set: &ReviewSet, handed: &mut [Handed]) {
    let is_junk = |reviewer: u32| handed[reviewer as usize] == Handed::Junk;
    let junk = set.reviews.iter().filter(|review| is_junk(review.reviewer));
    let papers: BTreeSet<u32> = junk.map(|review| review.paper).collect();
    for review in set.reviews.iter().filter(|review| papers.contains(&review.paper)) {
        let kind = &mut handed[review.reviewer as usize];
        if *kind == Handed::Own {
            *kind = Handed::OwnBesideJunk;
        }
    }
}

/// Words of reviews drawn from the venue.
fn junk(real: &ReviewSet, random: &mut impl rand::Rng) -> String {
    const WORDS: usize = 90;
    let mut words = Vec::with_capacity(WORDS);
    while words.len() < WORDS {
        let review = &real.reviews[random.random_range(0..real.reviews.len())];
        let text = review.content.text.as_deref().unwrap_or(".");
        let all: Vec<&str> = text.split_whitespace().collect();
        words.push(all.get(random.random_range(0..all.len().max(1))).copied().unwrap_or("."));
    }
    words.join(" ")
}

/// The first sentences of a text with about so many words; of one long sentence the first words.
fn cut(text: &str, words: usize) -> String {
    let (mut kept, mut count) = (Vec::new(), 0);
    for sentence in sentences(text) {
        let of_sentence = sentence.split_whitespace().count();
        if count > 0 && count + of_sentence > words + words / 6 {
            break;
        }
        kept.push(sentence);
        count += of_sentence;
    }
    if count > words + words / 3 {
        return text.split_whitespace().take(words).collect::<Vec<_>>().join(" ");
    }
    kept.join(" ")
}

/// The people of the files, with one review per paper that takes part.
fn people_of_files(real: &ReviewSet, settings: &CalibrationSettings) -> Vec<Slots> {
    let mut people: Vec<Slots> = vec![Vec::new(); real.reviewers.len()];
    for (index, review) in real.reviews.iter().enumerate() {
        if settings.papers.contains(&review.paper) {
            people[review.reviewer as usize].push((review.paper, index));
        }
    }
    people.retain(|slots| !slots.is_empty());
    people
}

/// People whose reviews are alike in how much they have in common with Z: reviews in the order of that,
/// blurred by chance, go to whoever has none of the paper yet.
fn assign_alike(
    real: &ReviewSet,
    settings: &CalibrationSettings,
    random: &mut impl rand::Rng,
) -> Vec<Slots> {
    /// People who wait for more papers at a time.
    const WAITING: usize = 12;
    let papers = papers_of(real);
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 3);
        words.map(str::to_lowercase).collect()
    };
    let mut keyed: Vec<(f64, u32, usize)> = Vec::new();
    for &paper in &settings.papers {
        let mut reviews = papers[paper as usize].reviews.clone();
        reviews.shuffle(random);
        reviews.truncate(settings.reviews_per_paper);
        let z = papers[paper as usize].z.first();
        let z = z.and_then(|&z| real.z[z].content.text.as_deref()).map(words).unwrap_or_default();
        for review in reviews {
            let own = words(real.reviews[review].content.text.as_deref().unwrap_or_default());
            let shared = own.intersection(&z).count() as f64;
            keyed.push((shared / (own.len().max(1) as f64).sqrt(), paper, review));
        }
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let normal = Normal::standard();
    let all = keyed.len() as f64;
    let mut keyed: Vec<(f64, u32, usize)> = (0..)
        .zip(keyed)
        .map(|(place, (_, paper, review))| {
            let own = normal.inverse_cdf((f64::from(place) + 0.5) / all);
            let chance = normal.inverse_cdf(random.random_range(1e-12..1.0 - 1e-12));
            let likeness = settings.likeness;
            (likeness.sqrt() * own + (1.0 - likeness).sqrt() * chance, paper, review)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut people: Vec<(usize, Slots)> = Vec::new();
    let mut waiting: Vec<usize> = Vec::new();
    for (_, paper, review) in keyed {
        let is_free = |&person: &usize| people[person].1.iter().all(|slot| slot.0 != paper);
        let person = waiting.iter().position(is_free).unwrap_or_else(|| {
            let each = &settings.papers_each;
            people.push((each[random.random_range(0..each.len())], Vec::new()));
            waiting.push(people.len() - 1);
            waiting.len() - 1
        });
        let (size, slots) = &mut people[waiting[person]];
        slots.push((paper, review));
        if slots.len() >= *size {
            waiting.remove(person);
        } else if waiting.len() > WAITING {
            waiting.remove(0);
        }
    }
    people.into_iter().map(|(_, slots)| slots).collect()
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
        let (set, handed, is_own) = make_venue(&real, &settings, 3);
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
        let is_own_work = |r: &Review| handed[r.reviewer as usize].is_own();
        assert!(set.reviews.iter().zip(&is_own).all(|(r, own)| is_own_work(r) == *own));
        assert!(set.z.iter().any(|z| z.source == 1));
        let (again, ..) = make_venue(&real, &settings, 3);
        assert_eq!(again, set);
    }

    #[test]
    fn who_cheats_at_times_hands_in_so_many_and_people_beside_junk_are_known() {
        let real = real(12, 4);
        let settings = CalibrationSettings {
            cheat_on: Some(1),
            shares: vec![(Handed::Llm, 0.2), (Handed::Junk, 0.1)],
            ..CalibrationSettings::clean(&real)
        };
        let (set, handed, is_own) = make_venue(&real, &settings, 0);
        for (number, kind) in (0..).zip(&handed) {
            let of = set.reviews.iter().zip(&is_own).filter(|(r, _)| r.reviewer == number);
            let count = of.filter(|(_, own)| !**own).count();
            assert_eq!(count, usize::from(!kind.is_own()), "{kind:?}");
        }
        assert!(handed.contains(&Handed::OwnBesideJunk) && handed.contains(&Handed::Junk));
    }

    #[test]
    fn reviews_are_cut_at_a_sentence_and_people_can_be_those_of_the_files() {
        assert_eq!(
            cut("One two three. Four five six. Seven eight.", 6),
            "One two three. Four five six."
        );
        assert_eq!(cut("a b c d e f g h", 4), "a b c d");
        let real = real(12, 4);
        let settings =
            CalibrationSettings { people_of_files: true, ..CalibrationSettings::clean(&real) };
        let (set, ..) = make_venue(&real, &settings, 0);
        assert_eq!((set.reviews.len(), set.reviewers.len()), (48, real.reviewers.len()));
    }

    #[test]
    fn people_who_are_like_themselves_have_one_review_a_paper() {
        let real = real(12, 4);
        let settings = CalibrationSettings { likeness: 0.6, ..CalibrationSettings::clean(&real) };
        let (set, ..) = make_venue(&real, &settings, 0);
        assert_eq!(set.reviews.len(), 36);
        let mut seen: Vec<(u32, u32)> = set.reviews.iter().map(|r| (r.reviewer, r.paper)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 36);
    }
}

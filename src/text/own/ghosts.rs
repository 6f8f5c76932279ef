//! Ghosts: what handing in somebody else's text would look like in the slots of a venue.

use std::collections::HashMap;
use std::ops::Range;

use rand::RngExt;
use rayon::prelude::*;

use super::cut::{Sentences, count_words};
use super::settings::{COUNTED_WORDS, OwnSettings};
use super::venue::{Venue, VenuePaper};
use super::z_check::TextChecks;
use crate::data::reviews::ReviewSet;
use crate::data::words::are_broken;
use crate::embed::tfidf::Start;
use crate::stats::rank::median;
use crate::stats::seed::stream;

/// The ghosts of a venue, and all texts whose vectors [`super::own_scores`] needs.
///
/// Texts come in this order: the reviews, the Z that are used, the tasks, and the cut texts of ghosts.
/// It depends on names alone, not on the order of the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Planted {
    pub(super) venue: Venue,
    /// Per slot a ghost for each Z of its paper: that Z, cut to the words of the review.
    pub(super) copies: Vec<Vec<usize>>,
    /// Ghosts that are about another paper.
    pub(super) others: Vec<Ghost>,
    /// The row of the task of each paper of the venue.
    pub(super) tasks: Vec<Option<usize>>,
    /// Words of each review, `None` without a text.
    pub(super) words: Vec<Option<usize>>,
    /// Of each review whether its words are broken by signs, so that the whole ones of an LLM would not be seen.
    pub(super) is_broken: Vec<bool>,
    /// Whether reviews or Z are so short that how many cheat cannot be said.
    pub(super) is_short: bool,
    /// Language of each review, if another one than that of most.
    pub(super) languages: Vec<Option<&'static str>>,
    /// What was known of the texts before.
    pub(super) checks: TextChecks,
    /// Starts of whole texts.
    pub(super) cuts: Vec<Start>,
}

/// A text about another paper in a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ghost {
    /// The review in whose place it stands, a position in [`Venue::reviews`].
    pub(super) slot: usize,
    /// Its text among all texts.
    pub(super) row: usize,
    /// The Z that it is, a position in [`Venue::z`]; else it is a person's.
    pub(super) z: Option<usize>,
}

impl Planted {
    /// All texts to embed, in order; `None` if a content of `set`, the set that was planted, has
    /// no text. Then a vector may be taken for each.
    pub(crate) fn texts<'a>(&self, set: &'a ReviewSet) -> Option<Vec<&'a str>> {
        let reviews =
            self.venue.reviews.iter().map(|&index| set.reviews[index].content.text.as_deref());
        let z = self.venue.z.iter().map(|&index| set.z[index].content.text.as_deref());
        let with_task = self.venue.papers.iter().zip(&self.tasks).filter(|(_, row)| row.is_some());
        let tasks = with_task.map(|(paper, _)| set.task_text(paper.number));
        let mut texts: Vec<&str> = reviews.chain(z).chain(tasks).collect::<Option<_>>()?;
        for cut in &self.cuts {
            texts.push(&texts[cut.text][..cut.bytes]);
        }
        Some(texts)
    }

    /// How many of the texts are whole ones, which come first: those to learn word weights from.
    pub(crate) fn whole_texts(&self) -> usize {
        self.venue.reviews.len() + self.venue.z.len() + self.tasks.iter().flatten().count()
    }
}

/// Plants ghosts into the slots of `set`, of which `checks` says what [`super::check_texts`] does.
///
/// In every slot stands each Z of the paper, whole and cut at the sentence end closest to the number
/// of words of the review in the slot. In every slot, in a large venue in a sample of them, stand a
/// review of another paper and a Z of another paper, cut likewise. Draws depend on the seed and the
/// names of paper and reviewer alone.
pub fn plant(set: &ReviewSet, checks: &TextChecks, settings: &OwnSettings) -> Planted {
    let venue = Venue::new(set, &checks.unusable);
    let languages = venue.reviews.iter().map(|&index| checks.languages[index]).collect();
    let text = |row: usize| match row.checked_sub(venue.reviews.len()) {
        None => set.reviews[venue.reviews[row]].content.text.as_deref(),
        Some(z) => set.z[venue.z[z]].content.text.as_deref(),
    };
    let first_z = venue.reviews.len();
    let words: Vec<Option<usize>> =
        (0..first_z).into_par_iter().map(|row| text(row).map(count_words)).collect();
    let is_broken =
        (0..first_z).into_par_iter().map(|row| text(row).is_some_and(are_broken)).collect();
    let ends: Vec<Option<Sentences>> =
        (0..venue.z.len()).into_par_iter().map(|z| text(first_z + z).map(Sentences::new)).collect();

    let median = |words: Vec<Option<usize>>| {
        median(&words.into_iter().flatten().map(|words| words as f64).collect::<Vec<_>>())
    };
    let of_z = ends.iter().map(|ends| Some(ends.as_ref()?.words())).collect();
    let medians = [median(words.clone()), median(of_z)];
    let is_short = medians.into_iter().flatten().any(|words| words < COUNTED_WORDS as f64);

    let mut rows = first_z + venue.z.len()..;
    let task = |paper: &VenuePaper| set.task_text(paper.number).and_then(|_| rows.next());
    let tasks = venue.papers.iter().map(task).collect();
    let first_cut = rows.start;

    let mut cuts = Vec::new();
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    let mut row_of = |row: usize, bytes: Option<usize>| {
        let Some(bytes) = bytes else { return row };
        *known.entry((row, bytes)).or_insert_with(|| {
            cuts.push(Start { text: row, bytes });
            first_cut + cuts.len() - 1
        })
    };
    let cut_z = |slot: usize, z: usize| ends[z].as_ref()?.cut_at(words[slot]?);
    let copies = (0..first_z).map(|slot| {
        let z = venue.papers[venue.paper_of_review[slot]].z.clone();
        z.map(|z| row_of(first_z + z, cut_z(slot, z))).collect()
    });
    let copies = copies.collect();

    let random = |slot: usize| {
        let review = &set.reviews[venue.reviews[slot]];
        let (paper, reviewer) =
            (set.papers.name(review.paper), set.reviewers.name(review.reviewer));
        stream(settings.seed, &format!("own\u{0}{paper}\u{0}{reviewer}"), 0)
    };
    let planned: Vec<(Ghost, Option<usize>)> = sample(first_z, settings.ghost_slots, &random)
        .into_par_iter()
        .flat_map_iter(|slot| {
            let mut random = random(slot);
            // The key of the sample; drawn here too, so that the other draws do not depend on it.
            let _: u64 = random.random();
            let paper = &venue.papers[venue.paper_of_review[slot]];
            let review = outside(&paper.reviews, first_z, &mut random);
            let z = outside(&paper.z, venue.z.len(), &mut random);
            let review = review.map(|row| {
                let cut = || Sentences::new(text(row)?).cut_at(words[slot]?);
                (Ghost { slot, row, z: None }, cut())
            });
            let z = z.map(|z| (Ghost { slot, row: first_z + z, z: Some(z) }, cut_z(slot, z)));
            review.into_iter().chain(z)
        })
        .collect();
    let others = planned.into_iter().map(|(ghost, bytes)| {
        let row = row_of(ghost.row, bytes);
        Ghost { row, ..ghost }
    });
    let others = others.collect();
    Planted {
        venue,
        copies,
        others,
        tasks,
        words,
        is_broken,
        is_short,
        languages,
        checks: checks.clone(),
        cuts,
    }
}

/// So many of the slots, or all of them if there are fewer.
fn sample<R: rand::Rng>(
    slots: usize,
    wanted: usize,
    random: &(impl Fn(usize) -> R + Sync),
) -> Vec<usize> {
    if slots <= wanted {
        return (0..slots).collect();
    }
    let mut keyed: Vec<(u64, usize)> =
        (0..slots).into_par_iter().map(|slot| (random(slot).random(), slot)).collect();
    keyed.sort_unstable();
    let mut slots: Vec<usize> = keyed[..wanted].iter().map(|&(_, slot)| slot).collect();
    slots.sort_unstable();
    slots
}

/// A position below `count` and outside `range`, all equally likely; `None` if there is none.
fn outside(range: &Range<usize>, count: usize, random: &mut impl rand::Rng) -> Option<usize> {
    let left = count - range.len();
    if left == 0 {
        return None;
    }
    let position = random.random_range(0..left);
    Some(if position < range.start { position } else { position + range.len() })
}

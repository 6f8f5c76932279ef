//! Ghosts: what handing in somebody else's text would look like in the slots of a venue.

use std::collections::HashMap;

use rand::RngExt;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

use super::class::Class;
use super::cut::{Sentences, count_words};
use super::settings::{OTHER_LLM_MEAN, OTHER_LLM_SD, OwnSettings};
use super::venue::Venue;
use super::z_check::TextChecks;
use crate::data::reviews::ReviewSet;
use crate::stats::seed::stream;

/// Where a text that has to be embedded comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOrigin {
    /// A position in [`ReviewSet::reviews`].
    Review(usize),
    /// A position in [`ReviewSet::z`].
    Z(usize),
}

/// The ghosts of a venue, and all texts whose vectors [`super::own_scores`] needs.
///
/// Texts come in the order of [`Self::origins`]: the reviews, the Z that are used, and the cut
/// texts of ghosts. This order depends on names alone, not on that of the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Planted {
    pub(super) venue: Venue,
    pub(super) ghosts: Vec<Ghost>,
    /// Words of each review, `None` without a text.
    pub(super) words: Vec<Option<usize>>,
    /// Language of each review, if another one than that of most.
    pub(super) languages: Vec<Option<&'static str>>,
    cuts: Vec<CutText>,
}

/// The start of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CutText {
    row: usize,
    bytes: usize,
}

/// One text in one slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ghost {
    pub(super) class: Class,
    /// The review in whose place it stands, a position in [`Venue::reviews`].
    pub(super) slot: usize,
    /// Its text among all texts.
    pub(super) row: usize,
    /// The paper that it was written about.
    pub(super) home: usize,
    /// The Z that it is, a position in [`Venue::z`].
    pub(super) z: Option<usize>,
    /// What the z of a copy is multiplied by, if it has to stand for an LLM that is not held.
    pub(super) ratio: f64,
}

impl Planted {
    /// Where every text comes from, in order; cut texts name the text that they are the start of.
    pub fn origins(&self) -> Vec<TextOrigin> {
        let mut origins: Vec<TextOrigin> = (self.venue.reviews.iter().copied())
            .map(TextOrigin::Review)
            .chain(self.venue.z.iter().copied().map(TextOrigin::Z))
            .collect();
        origins.extend(self.cuts.iter().map(|cut| origins[cut.row]).collect::<Vec<_>>());
        origins
    }

    /// All texts to embed, in order; `None` if a content of `set`, the set that was planted, has
    /// no text. Then a vector may be taken for each of [`Self::origins`].
    pub fn texts<'a>(&self, set: &'a ReviewSet) -> Option<Vec<&'a str>> {
        let whole = |origin: &TextOrigin| match *origin {
            TextOrigin::Review(index) => set.reviews[index].content.text.as_deref(),
            TextOrigin::Z(index) => set.z[index].content.text.as_deref(),
        };
        let mut texts: Vec<&str> = self.origins().iter().map(whole).collect::<Option<_>>()?;
        let first_cut = texts.len() - self.cuts.len();
        for (text, cut) in texts[first_cut..].iter_mut().zip(&self.cuts) {
            *text = &text[..cut.bytes];
        }
        Some(texts)
    }

    /// How many of the texts are whole ones, which come first: those to learn word weights from.
    pub fn whole_texts(&self) -> usize {
        self.venue.reviews.len() + self.venue.z.len()
    }
}

/// Plants ghosts into the slots of `set`, of which `checks` says what [`super::check_texts`] does.
///
/// In every slot stand, as far as there is Z: each Z of the paper word for word (`copy`), the same
/// text as an LLM's that is not held (`llm`), a review of another paper, and a Z of another paper.
/// Texts are cut at the sentence end closest to the number of words of the review in the slot.
/// Draws depend on the seed and the names of paper and reviewer alone.
pub fn plant(set: &ReviewSet, checks: &TextChecks, settings: &OwnSettings) -> Planted {
    let venue = Venue::new(set, &checks.unusable);
    let languages = venue.reviews.iter().map(|&index| checks.languages[index]).collect();
    let words: Vec<Option<usize>> = venue
        .reviews
        .par_iter()
        .map(|&index| set.reviews[index].content.text.as_deref().map(count_words))
        .collect();
    let gardener = Gardener { set, venue: &venue, words: &words, settings };
    let planned: Vec<Plan> =
        gardener.slots().par_iter().flat_map_iter(|&slot| gardener.plan(slot)).collect();

    let mut cuts = Vec::new();
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    let first_cut = venue.reviews.len() + venue.z.len();
    let ghosts = planned
        .into_iter()
        .map(|Plan { mut ghost, bytes }| {
            if let Some(bytes) = bytes {
                let row = ghost.row;
                ghost.row = *known.entry((row, bytes)).or_insert_with(|| {
                    cuts.push(CutText { row, bytes });
                    first_cut + cuts.len() - 1
                });
            }
            ghost
        })
        .collect();
    Planted { venue, ghosts, words, languages, cuts }
}

/// A ghost, and the bytes to which its text is cut.
struct Plan {
    ghost: Ghost,
    bytes: Option<usize>,
}

struct Gardener<'a> {
    set: &'a ReviewSet,
    venue: &'a Venue,
    words: &'a [Option<usize>],
    settings: &'a OwnSettings,
}

impl Gardener<'_> {
    fn random(&self, slot: usize) -> impl rand::Rng + use<> {
        let review = &self.set.reviews[self.venue.reviews[slot]];
        let paper = self.set.papers.name(review.paper);
        let reviewer = self.set.reviewers.name(review.reviewer);
        stream(self.settings.seed, &format!("own\u{0}{paper}\u{0}{reviewer}"), 0)
    }

    /// The slots that get ghosts: all, or a sample of a large venue.
    fn slots(&self) -> Vec<usize> {
        let all = 0..self.venue.reviews.len();
        let wanted = self.settings.ghost_slots;
        if all.len() <= wanted {
            return all.collect();
        }
        let mut keyed: Vec<(u64, usize)> =
            all.into_par_iter().map(|slot| (self.random(slot).random(), slot)).collect();
        keyed.sort_unstable();
        let mut slots: Vec<usize> = keyed[..wanted].iter().map(|&(_, slot)| slot).collect();
        slots.sort_unstable();
        slots
    }

    fn plan(&self, slot: usize) -> Vec<Plan> {
        let venue = self.venue;
        let mut random = self.random(slot);
        // The key of the sample; drawn here too, so that the other draws do not depend on it.
        let _: u64 = random.random();
        let number = venue.paper_of_review[slot];
        let paper = &venue.papers[number];
        let mut plans = Vec::new();
        let mut add = |class, row: usize, home, z: Option<usize>, ratio, bytes| {
            plans.push(Plan { ghost: Ghost { class, slot, row, home, z, ratio }, bytes });
        };
        let first_z = venue.reviews.len();
        let bytes: Vec<Option<usize>> =
            paper.z.clone().map(|z| self.cut(first_z + z, slot)).collect();
        for (z, &bytes) in paper.z.clone().zip(&bytes) {
            add(Class::Copy, first_z + z, number, Some(z), 1.0, bytes);
            let ratio = OTHER_LLM_MEAN + OTHER_LLM_SD * standard_normal(&mut random);
            add(Class::Llm, first_z + z, number, Some(z), ratio.max(0.0), bytes);
        }
        if let Some(row) = outside(&paper.reviews, venue.reviews.len(), &mut random) {
            let home = venue.paper_of_review[row];
            add(Class::OffTopic, row, home, None, 1.0, self.cut(row, slot));
        }
        if let Some(z) = outside(&paper.z, venue.z.len(), &mut random) {
            let (row, home) = (first_z + z, venue.paper_of_z[z]);
            add(Class::OffTopicLlm, row, home, Some(z), 1.0, self.cut(row, slot));
        }
        plans
    }

    /// Bytes of a text up to the sentence end that is closest to the words of the review in a slot;
    /// `None` where the whole text stays, or nothing is known.
    fn cut(&self, row: usize, slot: usize) -> Option<usize> {
        let words = self.words[slot]?;
        let text = match row.checked_sub(self.venue.reviews.len()) {
            None => self.set.reviews[self.venue.reviews[row]].content.text.as_deref(),
            Some(z) => self.set.z[self.venue.z[z]].content.text.as_deref(),
        };
        Sentences::new(text?).cut_at(words)
    }
}

/// A position below `count` and outside `range`, all equally likely; `None` if there is none.
fn outside(
    range: &std::ops::Range<usize>,
    count: usize,
    random: &mut impl rand::Rng,
) -> Option<usize> {
    let left = count - range.len();
    if left == 0 {
        return None;
    }
    let position = random.random_range(0..left);
    Some(if position < range.start { position } else { position + range.len() })
}

fn standard_normal(random: &mut impl rand::Rng) -> f64 {
    // Away from 0 and 1, where the quantile is infinite.
    Normal::standard().inverse_cdf(random.random_range(1e-12..1.0 - 1e-12))
}

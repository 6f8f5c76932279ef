//! From probabilities to flags, and how well cheating could be seen here.

mod planting;

use rayon::prelude::*;

use self::planting::{Place, Planting, standard_draws};
use super::class::Class;
use super::copied::{Copied, is_copied};
use super::features::Features;
use super::flags::{Apart, cut_off};
use super::ghosts::Planted;
use super::model::{Judged, Model, Point, Writer, by_coordinate};
use super::prevalence::{Shares, prevalence};
use super::result::{
    GhostRate, NotJudged, OwnFlag, OwnReview, OwnReviewer, PlantedRates, Posterior, Prevalence,
    Share,
};
use super::scene::Scene;
use super::settings::{
    CLEAR, COPIED, ENOUGH_PAPERS, ENOUGH_REVIEWERS, OWN_IF_COPIED, OwnSettings, SHORT_ANSWER,
};
use crate::stats::calibration::Calibration;
use crate::stats::interval::Estimate;
use crate::stats::rank::{mean, median};

/// Share of the way from what LLMs write of other papers to what people write of this one, by closeness to its reviews,
/// that its Z lies beyond: of 1,749 reviews and answers 16 had Z that did not, of as many whose Z was another paper's
/// 1,660; of 1,176 of fewer than 100 words 50, and 1,061.
const FAR_Z: f64 = 0.2;

/// What is asked about.
pub(super) struct Asked<'a> {
    pub(super) planted: &'a Planted,
    pub(super) settings: &'a OwnSettings,
    pub(super) scene: &'a Scene,
    /// Reviews that the model judges, by person: none that is copied word for word.
    pub(super) people: &'a [Vec<usize>],
    pub(super) reasons: &'a [Option<NotJudged>],
    /// Person of each review.
    pub(super) reviewer_of: &'a [usize],
    /// Whether it is assumed how close an LLM comes to Z.
    pub(super) is_assumed: bool,
}

/// What is said of all people and reviews, in the order of the venue.
pub(super) struct Verdict {
    pub(super) people: Vec<OwnReviewer>,
    pub(super) reviews: Vec<OwnReview>,
    pub(super) prevalence: Option<Prevalence>,
    pub(super) rates: PlantedRates,
    pub(super) is_blind: bool,
    /// Reviews whose Z seems to be about another paper, see [`Asked::has_far_z`].
    pub(super) far_z: usize,
}

/// P(own) up to which people, reviews, and people by their worst review are flagged.
struct CutOffs {
    people: Option<f64>,
    reviews: Option<f64>,
    worst: Option<f64>,
}

/// What the model says of one person.
struct Person {
    judged: Judged,
    /// See [`Model::cautious`]: what is asked before somebody is called clear.
    cautious: (f64, Vec<f64>),
    /// P(own) if no more cheat here than the interval of their share begins with, where there is one: what is
    /// asked before somebody is flagged.
    doubtful: (f64, Vec<f64>),
    is_apart: bool,
    reviews_apart: Vec<bool>,
}

impl Person {
    /// P(own) of the worst review that stands apart, as one test of so many, and whether one does.
    fn worst(&self) -> (f64, bool) {
        let reviews = self.doubtful.1.iter().zip(&self.reviews_apart);
        let apart = reviews.filter(|(_, apart)| **apart).map(|(own, _)| *own).reduce(f64::min);
        let tests = self.judged.slots.len() as f64;
        (apart.map_or(1.0, |own| (tests * own).min(1.0)), apart.is_some())
    }

    /// Whether they, or one of their reviews, are clear if enough of what is planted is seen.
    fn may_be_clear(&self) -> bool {
        self.cautious.0 >= CLEAR || self.cautious.1.iter().any(|own| *own >= CLEAR)
    }
}

impl Verdict {
    #[expect(clippy::needless_pass_by_value, reason = "it is used up here")]
    pub(super) fn new(
        asked: &Asked<'_>,
        model: Option<&Model>,
        copied: Vec<Option<Copied>>,
    ) -> Self {
        let judge = |person| model.and_then(|model| asked.judge(model, person));
        let judged: Vec<Option<Judged>> =
            (0..asked.people.len()).into_par_iter().map(judge).collect();
        let slots = &asked.scene.slots;
        let fdr = asked.settings.fdr;
        let apart = model.map(|model| Apart::new(model, slots, asked.people, &judged, fdr));
        let (mut shares, mut fewest) = (Shares::default(), model.map_or(0.0, Model::cheaters));
        let counts = !asked.planted.is_short;
        if let Some(model) = model.filter(|_| counts) {
            shares = Shares::new(model, judged.iter().flatten());
            fewest *= shares.least();
        }
        let person = |(index, judged): (usize, Option<Judged>)| {
            let (model, apart) = model.zip(apart.as_ref())?;
            Some(asked.person(model, apart, index, judged?, fewest))
        };
        let judged: Vec<Option<Person>> = judged.into_iter().enumerate().map(person).collect();
        let mut of_person = vec![Vec::new(); judged.len()];
        for (review, &person) in asked.reviewer_of.iter().enumerate() {
            of_person[person].push(review);
        }
        let is_open = |review: &usize| asked.reasons[*review].is_none();
        let count = of_person.iter().filter(|of| of.iter().any(is_open)).count();
        let with_z = asked.planted.venue.papers.iter().filter(|paper| !paper.z.is_empty()).count();
        let is_small = count < ENOUGH_REVIEWERS || with_z < ENOUGH_PAPERS;
        let is_blind = model.is_some_and(|model| asked.is_blind(model));
        let cut_offs = if is_blind {
            CutOffs { people: None, reviews: None, worst: None }
        } else {
            cut_offs(&judged, fdr)
        };
        let bar = cut_offs.people.unwrap_or(fdr);
        let has_far_z = model.map_or_else(Vec::new, |model| asked.has_far_z(model));
        let is_far = |review: &usize| has_far_z.get(*review).is_some_and(|is_far| *is_far);
        let far_z = has_far_z.iter().filter(|is_far| **is_far).count();
        let sees_no_llm = is_blind || model.is_some_and(Model::is_blind_to_llm);
        let cannot_clear = is_small || sees_no_llm || 2 * far_z > has_far_z.len();
        let papers = asked.people.iter().map(Vec::len).max().unwrap_or(0);
        let draws = standard_draws(papers);
        let planting = |(index, person): (usize, &Option<Person>)| {
            let (model, person) = model.zip(person.as_ref())?;
            let place = Place::new(asked, model, index, person, (fewest, bar));
            let may_be_seen = !cannot_clear && !asked.people[index].iter().any(is_far);
            Some(place.planting(&draws, may_be_seen && person.may_be_clear()))
        };
        let plantings = judged.par_iter().enumerate().map(planting);
        let plantings: Vec<Planting> = plantings.map(Option::unwrap_or_default).collect();
        let mut people = Vec::with_capacity(judged.len());
        let mut reviews: Vec<OwnReview> =
            (0..asked.reasons.len()).map(|review| asked.review(review, &copied)).collect();
        for (index, person) in judged.iter().enumerate() {
            let planting = plantings[index];
            if let Some(person) = person {
                let may_look = !asked.is_short_answer(index) || reads_as_copy(&person.judged.kinds);
                for (at, &review) in asked.people[index].iter().enumerate() {
                    let own = person.judged.slots[at];
                    let (doubtful, cautious) = (person.doubtful.1[at], person.cautious.1[at]);
                    let is_flagged = cut_offs.reviews.is_some_and(|bar| doubtful <= bar)
                        && person.reviews_apart[at]
                        && may_look;
                    let is_clear =
                        cautious >= CLEAR && planting.is_seen && !cannot_clear && !is_far(&review);
                    let found = &mut reviews[review];
                    let said = Calibration::OWN_TEXTS.probability(own);
                    found.p_own = Some(said);
                    found.reads_as = Some(reads_as(said, &person.judged.slot_kinds[at]));
                    found.flag = raised(is_flagged, is_clear, found.copied);
                }
            }
            people.push(asked.reviewer(
                index,
                person.as_ref().map(|person| (person, planting)),
                &of_person[index].iter().map(|&review| &reviews[review]).collect::<Vec<_>>(),
                &cut_offs,
                cannot_clear,
            ));
        }
        let said = || people.iter().filter(|person| person.flag != OwnFlag::NotJudged);
        let decided = said().filter(|person| is_copied(person.copied)).count();
        let anybody =
            said().any(|person| person.flag == OwnFlag::Look && !is_copied(person.copied));
        let open = said().filter(|person| !is_copied(person.copied));
        let open: Vec<f64> = open.filter_map(|person| Some(person.posterior?.own)).collect();
        let rates = rates(&judged, &plantings, bar);
        let model = model.filter(|_| counts && !is_blind);
        let apart = apart.filter(|_| anybody).map_or(0, |apart| apart.fewest);
        let bounds = [apart as f64 / open.len().max(1) as f64, most(&judged, &plantings)];
        let prevalence = model.and_then(|_| prevalence(&shares, &open, decided, bounds));
        Self { people, reviews, prevalence, rates, is_blind, far_z }
    }
}

impl Asked<'_> {
    fn judge(&self, model: &Model, person: usize) -> Option<Judged> {
        let reviews = &self.people[person];
        if reviews.is_empty() {
            return None;
        }
        let slots = reviews.iter().map(|&review| &self.scene.slots[review]);
        Some(model.judge(slots.map(|slot| (slot, slot.x))))
    }

    fn person(
        &self,
        model: &Model,
        apart: &Apart,
        person: usize,
        judged: Judged,
        fewest: f64,
    ) -> Person {
        let reviews = self.people[person].iter();
        Person {
            cautious: model.cautious(&judged),
            doubtful: model.at_share(&judged, fewest),
            judged,
            is_apart: apart.people[person],
            reviews_apart: reviews.map(|&review| apart.slots[review]).collect(),
        }
    }

    /// Whether most copies would read as own work.
    fn is_blind(&self, model: &Model) -> bool {
        let judged = || self.people.iter().flatten();
        let reads_as_own = |review: &&usize| {
            let slot = &self.scene.slots[**review];
            model.own(&[model.point_in(slot, slot.copies[0], Writer::Llm)]) > 0.5
        };
        model.kinds.copy.is_some() && 2 * judged().filter(reads_as_own).count() > judged().count()
    }

    /// Of each review whether the Z of its paper are hardly closer to the paper's reviews than what LLMs write of other
    /// papers, see [`FAR_Z`]: filed under the wrong paper they would show no copy.
    fn has_far_z(&self, model: &Model) -> Vec<bool> {
        let slots = &self.scene.slots;
        let of_others = model.kinds.others[1].map(|([peers, _], _)| peers);
        let own: Vec<Point> = slots.iter().map(|slot| slot.x).collect();
        let far = |of_others: f64| of_others + FAR_Z * (by_coordinate(&own, median)[0] - of_others);
        let bar = of_others.map_or(f64::NAN, far);
        slots.iter().map(|slot| slot.copies[1][0] < bar).collect()
    }

    /// Whether somebody has one short answer and few Z to compare it with, or texts are short and how close an LLM
    /// comes is assumed.
    fn is_short_answer(&self, person: usize) -> bool {
        if self.planted.is_short && self.is_assumed {
            return true;
        }
        let (fewest_words, enough_z) = SHORT_ANSWER;
        let [review] = self.people[person][..] else { return false };
        let venue = &self.planted.venue;
        self.planted.words[review].is_some_and(|words| words < fewest_words)
            && venue.papers[venue.paper_of_review[review]].z.len() < enough_z
    }

    /// What is said of a review without a model.
    fn review(&self, review: usize, copied: &[Option<Copied>]) -> OwnReview {
        let copied = copied[review].clone();
        let share = copied.as_ref().map(|copied| copied.share);
        let is_known = is_copied(share) && self.reasons[review].is_none();
        OwnReview {
            features: Features::of(self.scene.slots[review].x),
            p_own: is_known.then_some(OWN_IF_COPIED),
            reads_as: is_copied(share).then_some(Class::Copy),
            flag: if is_copied(share) { OwnFlag::Look } else { OwnFlag::NotJudged },
            reason: self.reasons[review],
            copied: share,
            passages: copied.map(|copied| copied.passages).unwrap_or_default(),
            peer: None,
            z: None,
            other_paper: None,
        }
    }

    fn reviewer(
        &self,
        index: usize,
        person: Option<(&Person, Planting)>,
        reviews: &[&OwnReview],
        cut_offs: &CutOffs,
        cannot_clear: bool,
    ) -> OwnReviewer {
        let copied = reviews.iter().filter_map(|review| review.copied).reduce(f64::max);
        let n_look = reviews.iter().filter(|review| review.flag == OwnFlag::Look).count();
        let mut said = OwnReviewer {
            score: None,
            posterior: None,
            reads_as: is_copied(copied).then_some(Class::Copy),
            share: None,
            flag: if is_copied(copied) { OwnFlag::Look } else { OwnFlag::NotJudged },
            reason: Self::reason(reviews),
            is_unseen: false,
            n_papers: n_look,
            n_look,
            copied,
        };
        // A review that is copied says what it is without the model, which has judged the others.
        let is_decided = |review: &&&OwnReview| is_copied(review.copied) && review.p_own.is_some();
        let decided = reviews.iter().filter(is_decided).count();
        let Some((person, planting)) = person else {
            if decided > 0 {
                said.put(decided, None);
            }
            return said;
        };
        let kinds = &person.judged.kinds;
        let under = |bar: Option<f64>, own: f64| bar.is_some_and(|bar| own <= bar);
        let (worst, worst_apart) = person.worst();
        let is_flagged = (under(cut_offs.people, person.doubtful.0) && person.is_apart
            || n_look > 0 && worst_apart && under(cut_offs.worst, worst))
            && (!self.is_short_answer(index) || reads_as_copy(kinds));
        let has_z =
            self.people[index].iter().any(|&review| !self.scene.slots[review].x[1].is_nan());
        // What reads as about another paper needs no Z; not to have copied one does.
        if !has_z && !is_flagged && !is_copied(copied) {
            said.reason = Some(NotJudged::NoZ);
            return said;
        }
        let would_be_clear = person.cautious.0 >= CLEAR && !cannot_clear;
        said.flag = raised(is_flagged, would_be_clear && planting.is_seen, copied);
        said.is_unseen =
            !planting.is_seen && raised(is_flagged, would_be_clear, copied) == OwnFlag::Clear;
        said.put(decided, Some(&person.judged));
        let counts = |review: &&&OwnReview| review.p_own.is_some() || review.flag == OwnFlag::Look;
        said.n_papers = reviews.iter().filter(counts).count();
        said
    }

    /// Why no review of a reviewer is judged: the most frequent reason, of equals the first.
    fn reason(reviews: &[&OwnReview]) -> Option<NotJudged> {
        let kind = std::mem::discriminant::<NotJudged>;
        let reasons = || reviews.iter().filter_map(|review| review.reason);
        let count = |r: &NotJudged| reasons().filter(|other| kind(other) == kind(r)).count();
        reasons().min_by_key(|reason| (std::cmp::Reverse(count(reason)), *reason))
    }
}

impl OwnReviewer {
    /// What `decided` copied reviews, and the model of all others, say together.
    fn put(&mut self, decided: usize, judged: Option<&Judged>) {
        let (open, known) = (judged.map_or(0, |judged| judged.slots.len()), decided as f64);
        let all = open as f64 + known;
        let mut own = judged.map_or(1.0, |judged| Calibration::OWN_TEXTS.probability(judged.own));
        let mut kinds = judged.map_or([0.0; 4], |judged| {
            let scale = if judged.own < 1.0 { (1.0 - own) / (1.0 - judged.own) } else { 0.0 };
            judged.kinds.map(|kind| kind * scale)
        });
        self.score =
            judged.map(|judged| Calibration::OWN_TEXTS.odds(judged.logs[0] - judged.logs[1]));
        if decided > 0 {
            own = own.min(OWN_IF_COPIED);
            kinds = [1.0 - own, 0.0, 0.0, 0.0];
            self.score = Some(own.max(1e-300).ln() - (1.0 - own).ln());
        }
        let [copy, llm, off_topic, off_topic_llm] = kinds;
        self.posterior = Some(Posterior { own, copy, llm, off_topic: off_topic + off_topic_llm });
        self.reads_as = self.reads_as.or(Some(reads_as(own, &kinds)));
        let (low, high) = judged.map_or((0.0, 0.0), Judged::share_interval);
        let said = |own: &f64| 1.0 - Calibration::OWN_TEXTS.probability(*own);
        let expected: f64 = judged.into_iter().flat_map(|j| &j.slots).map(said).sum();
        let of_all = |count: f64| (known + count) / all;
        let expected = of_all(expected - known * OWN_IF_COPIED);
        // The ends are of whole reviews, which the mean can lie beyond.
        self.share = Some(Share {
            expected,
            low: of_all(low * open as f64).min(expected),
            high: of_all(high * open as f64).max(expected),
        });
        self.reason = None;
    }
}

/// Largest share of people who may cheat by what is suspected of all, with 95 % confidence, if as much is suspected
/// of who cheats as of what is planted.
fn most(people: &[Option<Person>], plantings: &[Planting]) -> f64 {
    let suspected: Vec<f64> = people.iter().flatten().map(|one| 1.0 - one.cautious.0).collect();
    let planted: Vec<f64> = plantings.iter().map(|planting| planting.suspected).collect();
    let high = Estimate::of_mean(&suspected).and_then(|mean| Some(mean.interval()?.1));
    let most = high.zip(mean(&planted)).map(|(high, planted)| high / planted);
    most.filter(|most| most.is_finite()).map_or(0.0, |most| most.min(1.0))
}

fn cut_offs(people: &[Option<Person>], fdr: f64) -> CutOffs {
    let people = || people.iter().flatten();
    let reviews = people().flat_map(|person| {
        person.doubtful.1.iter().copied().zip(person.reviews_apart.iter().copied())
    });
    CutOffs {
        people: cut_off(people().map(|person| (person.doubtful.0, person.is_apart)), fdr),
        reviews: cut_off(reviews, fdr),
        worst: cut_off(people().map(Person::worst), fdr),
    }
}

fn reads_as_copy(kinds: &[f64; 4]) -> bool {
    Model::largest(kinds) == Class::Copy
}

fn reads_as(own: f64, kinds: &[f64; 4]) -> Class {
    if own >= 0.5 { Class::Own } else { Model::largest(kinds) }
}

fn raised(is_flagged: bool, is_clear: bool, copied: Option<f64>) -> OwnFlag {
    if is_flagged || is_copied(copied) {
        OwnFlag::Look
    } else if is_clear && copied.is_none_or(|share| share < COPIED[1]) {
        OwnFlag::Clear
    } else {
        OwnFlag::Unsure
    }
}

fn rates(people: &[Option<Person>], plantings: &[Planting], bar: f64) -> PlantedRates {
    let of_kind = |(kind, class): (usize, Class)| {
        let found: Vec<[f64; 2]> = plantings.iter().filter_map(|p| p.found[kind]).collect();
        let share = |at: usize| mean(&found.iter().map(|found| found[at]).collect::<Vec<_>>());
        Some(GhostRate { class, on_one: share(0)?, on_all: share(1)?, count: found.len() })
    };
    let by_class: Vec<GhostRate> =
        Class::GHOSTS.into_iter().enumerate().filter_map(of_kind).collect();
    let ghosts = mean(&by_class.iter().map(|rate| rate.on_all).collect::<Vec<_>>());
    // Of those who are flagged, what P(own) says are people after all.
    let (mut flagged, mut weight) = (0.0, 0.0);
    for person in people.iter().flatten() {
        weight += person.judged.own;
        let is_flagged = person.is_apart && person.doubtful.0 <= bar;
        flagged += if is_flagged { person.judged.own } else { 0.0 };
    }
    PlantedRates { by_class, ghosts, people: (weight > 0.0).then(|| flagged / weight) }
}

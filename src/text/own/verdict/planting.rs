//! How much of an LLM's texts would be seen in one person's place.

use rand::RngExt;
use rand::seq::SliceRandom;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{Asked, Person};
use crate::stats::seed::stream;
use crate::text::own::model::{CLOSENESS, Covariance, Model, Point, PointInSlot, Writer};
use crate::text::own::scene::Scene;
use crate::text::own::settings::{CLEAR, SEEN};

/// Texts of an LLM of each closeness that are planted in somebody's place.
const DRAWS: usize = 8;

/// How much of what is planted in one person's place is seen.
#[derive(Clone, Copy, Default)]
pub(super) struct Planting {
    /// Whether a text of an LLM like those held would be seen, on one paper and on all, and one of any other
    /// LLM on all. Not asked of whom nobody would call clear.
    pub(super) is_seen: bool,
    /// By kind, share found on one paper and on all; `None` where nothing could be planted.
    pub(super) found: [Option<[f64; 2]>; 4],
    /// What would be said of an LLM's texts on all papers: 1 - P(own) as asked before somebody is called clear.
    pub(super) suspected: f64,
}

/// Texts of an LLM of one closeness, one on each of somebody's papers, by how far they lie from their middles in
/// deviations.
pub(super) struct Draw {
    /// See [`CLOSENESS`].
    node: f64,
    /// Of their mean, which decides most.
    mean: Point,
    /// Of each, but for what their mean lies apart.
    each: Vec<Point>,
}

impl Draw {
    /// Of texts on so many papers.
    fn away(&self, papers: usize) -> impl Iterator<Item = Point> {
        let n = papers as f64;
        let each = &self.each[..papers];
        let apart = [0, 1].map(|at| {
            let mean = each.iter().map(|text| text[at]).sum::<f64>() / n;
            self.mean[at] / n.sqrt() - mean
        });
        each.iter().map(move |text| [text[0] + apart[0], text[1] + apart[1]])
    }
}

/// What is planted for all people: so that what is said of somebody depends neither on what they are called nor on
/// chance. By closeness, [`DRAWS`] of each, whose means are spread evenly.
pub(super) fn standard_draws(papers: usize) -> Vec<Draw> {
    let mut random = stream(0, "own planting", 0);
    let middle = |draw: usize| (draw as f64 + 0.5) / DRAWS as f64;
    let quantile = |share: f64| Normal::standard().inverse_cdf(share);
    let even: Vec<f64> = (0..DRAWS).map(|draw| quantile(middle(draw))).collect();
    let mut all = Vec::with_capacity(CLOSENESS.len() * DRAWS);
    for (node, _) in CLOSENESS {
        let mut peers = even.clone();
        peers.shuffle(&mut random);
        for (&peers, &z) in peers.iter().zip(&even) {
            // Away from 0 and 1, where the quantile is infinite.
            let mut draw = || quantile(random.random_range(1e-12..1.0 - 1e-12));
            let each = (0..papers).map(|_| [draw(), draw()]).collect();
            all.push(Draw { node, mean: [peers, z], each });
        }
    }
    all
}

/// The papers of a person, in whose place texts are planted.
pub(super) struct Place<'a> {
    model: &'a Model,
    scene: &'a Scene,
    is_broken: bool,
    reviews: &'a [usize],
    as_they_are: Vec<PointInSlot>,
    /// Where an LLM's one text stands: where the review is the least their own, since beside an LLM's text that is
    /// there another would be seen by both.
    least: usize,
    /// Share of cheaters, and P(own) up to which people are flagged.
    fewest: f64,
    bar: f64,
}

/// What stands in place of each review, `None` of those that stay.
type Replaced = Vec<Option<Point>>;

impl<'a> Place<'a> {
    pub(super) fn new(
        asked: &Asked<'a>,
        model: &'a Model,
        person: usize,
        found: &Person,
        (fewest, bar): (f64, f64),
    ) -> Self {
        let (scene, reviews) = (asked.scene, asked.people[person].as_slice());
        let as_they_are = reviews.iter().map(|&review| {
            let slot = &scene.slots[review];
            model.point_in(slot, slot.x, Writer::Person)
        });
        let own = &found.judged.slots;
        let least = (0..reviews.len()).min_by(|&a, &b| own[a].total_cmp(&own[b])).unwrap_or(0);
        // What is planted has whole words.
        let is_broken = reviews.iter().any(|&review| asked.planted.is_broken[review]);
        let as_they_are = as_they_are.collect();
        Self { model, scene, is_broken, reviews, as_they_are, least, fewest, bar }
    }

    /// Plants texts of every kind, on one paper and on all.
    pub(super) fn planting(&self, draws: &[Draw], may_be_clear: bool) -> Planting {
        let mut planting = Planting::default();
        if self.model.kinds.llm.is_some() {
            let mut found = [0.0; 2];
            let share = 1.0 / CLOSENESS.len() as f64;
            // One of each closeness, not the same of all people.
            for (node, draws) in draws.chunks(DRAWS).enumerate() {
                let all = self.llm(&draws[(self.reviews[0] + node) % DRAWS]);
                let own = self.on_one_and_all(self.least, &all);
                let cautious = self.model.cautiously_own(own[1], self.reviews.len());
                planting.suspected += share * (1.0 - cautious);
                for (found, own) in found.iter_mut().zip(own) {
                    *found += share * self.is_found(own);
                }
            }
            planting.found[1] = Some(found);
            planting.is_seen = may_be_clear && !self.is_broken && self.sees(draws);
        }
        let ghosts: Vec<_> = self.reviews.iter().map(|&slot| self.scene.ghosts(slot)).collect();
        for kind in [0, 2, 3] {
            let all: Replaced = ghosts.iter().map(|of_slot| of_slot[kind]).collect();
            let Some(first) = all.iter().position(Option::is_some) else { continue };
            let own = self.on_one_and_all(first, &all);
            planting.found[kind] = Some(own.map(|own| self.is_found(own)));
        }
        planting
    }

    /// Whether [`SEEN`] of the texts of another LLM, and of one and of all by one like those held, would not be called
    /// clear; no more are asked than decide it.
    fn sees(&self, draws: &[Draw]) -> bool {
        let most = draws.len() as f64 * (1.0 - SEEN) + 1e-9;
        let ways: [&dyn Fn(&Draw) -> Replaced; 3] =
            [&|draw| self.of_other_llm(draw), &|draw| only(self.least, &self.llm(draw)), &|draw| {
                self.llm(draw)
            }];
        ways.into_iter().all(|texts| {
            let (mut unseen, mut left) = (0.0, draws.len() as f64);
            for draw in draws {
                let own = self.own(&texts(draw));
                let is_clear = self.model.cautiously_own(own, self.reviews.len()) >= CLEAR;
                unseen += f64::from(u8::from(is_clear));
                left -= 1.0;
                if unseen > most || unseen + left <= most {
                    break;
                }
            }
            unseen <= most
        })
    }

    /// An LLM's texts on all papers.
    fn llm(&self, draw: &Draw) -> Replaced {
        let kinds = &self.model.kinds;
        let of = |(&review, away): (&usize, Point)| {
            let point = kinds.llm_at(&self.scene.slots[review], draw.node);
            Some(scatter(point, kinds.llm_covariance, away))
        };
        self.reviews.iter().zip(draw.away(self.reviews.len())).map(of).collect()
    }

    /// The same of an LLM of another company.
    fn of_other_llm(&self, draw: &Draw) -> Replaced {
        let kinds = &self.model.kinds;
        let of = |(&review, point): (&usize, Option<Point>)| {
            let z = kinds.llm_at(&self.scene.slots[review], draw.node)[1];
            point.map(|[peers, near]| [peers, near - (1.0 - kinds.of_other_llm) * z])
        };
        self.reviews.iter().zip(self.llm(draw)).map(of).collect()
    }

    /// P(every review is own work) with one of these texts, and with all.
    fn on_one_and_all(&self, at: usize, all: &[Option<Point>]) -> [f64; 2] {
        let one = self.own(&only(at, all));
        [one, if all.iter().flatten().count() == 1 { one } else { self.own(all) }]
    }

    /// P(every review is own work).
    fn own(&self, replaced: &[Option<Point>]) -> f64 {
        let points = self.as_they_are.iter().zip(replaced).zip(self.reviews);
        let points = points.map(|((as_is, replaced), &review)| {
            let in_place = |x| self.model.point_in(&self.scene.slots[review], x, Writer::Llm);
            replaced.map_or(*as_is, in_place)
        });
        self.model.own(&points.collect::<Vec<_>>())
    }

    fn is_found(&self, own: f64) -> f64 {
        let own = self.model.own_at_share(own, self.reviews.len(), self.fewest);
        f64::from(u8::from(own <= self.bar))
    }
}

/// Of what is planted on all papers that on one.
fn only(at: usize, all: &[Option<Point>]) -> Replaced {
    let mut one = vec![None; all.len()];
    one[at] = all[at];
    one
}

/// A point that lies so many deviations from another.
fn scatter(point: Point, [a, b, c]: Covariance, [first, second]: Point) -> Point {
    let across = c / a.sqrt();
    [
        point[0] + a.sqrt() * first,
        point[1] + across * first + (b - across * across).max(0.0).sqrt() * second,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planted_is_spread_evenly_and_scatters_as_the_covariance_says() {
        let draws = standard_draws(3);
        assert_eq!(draws.len(), CLOSENESS.len() * DRAWS);
        for of_node in draws.chunks(DRAWS) {
            for (papers, at) in [(1, 0), (1, 1), (3, 1)] {
                let sums = of_node.iter().map(|draw| draw.away(papers).map(|text| text[at]).sum());
                let mut sums: Vec<f64> = sums.collect();
                sums.sort_by(f64::total_cmp);
                // An eighth of the normal sums has one, the first at the quantile of 1/16.
                let deviation = (papers as f64).sqrt();
                assert!((sums[0] + 1.534_120_5 * deviation).abs() < 1e-6, "{sums:?}");
                assert!((sums[0] + sums[7]).abs() < 1e-9);
            }
        }
        // By hand: deviations 2 and 3 with a correlation of .5, so that the second is 3 (.5 + sqrt(.75)) away.
        let [x, y] = scatter([1.0, 1.0], [4.0, 9.0, 3.0], [1.0, 1.0]);
        assert!((x - 3.0).abs() < 1e-12 && (y - 1.0 - 1.5 - 3.0 * 0.75_f64.sqrt()).abs() < 1e-12);
    }
}

//! People who stand out from a crowd without handing in anything but their own answers: those who
//! know more than the rest, and those who take less care.
//!
//! The normal density of own work is that of the crowd at hand. Where most are right three times
//! out of five, someone who nearly always is agrees with a good LLM far more often, as a copier
//! does; but a copier agrees with the others as the LLM does, and this one more often. Someone who
//! guesses every third answer is not yet somebody who guesses. So own work has a density on the way
//! to each, with a small share of the people.

use super::features::{Normal, WorkerFeatures};

/// Of people, those who stand out by what they know and by the care they take. Chosen on made-up crowds
/// of which a seventh each had a skill of .95 to .99, a skill of .55 to .65, or one label for every third
/// answer. `docs/results.md` has what others, which nothing was chosen on, say of it.
const KNOWING: f64 = 0.03;
const CARELESS: f64 = 0.03;

/// How far on the way to somebody who is always right, or who guesses: mean and standard deviation.
const KNOWING_WAY: [f64; 2] = [0.9, 0.15];
const CARELESS_WAY: [f64; 2] = [0.35, 0.15];

/// Standard deviation of the copy excess of the former beyond that: how often an LLM is right is
/// guessed too low where wrong answers go to the same wrong label.
const LLM_SD: f64 = 0.2;

/// Least by which people must be right more often than wrong with a given label, so that the crowd
/// tells how often they are.
const LEAST_SKILL: f64 = 0.05;

/// Features of somebody who is always right, in the tasks of an average `person`, where others say
/// what Z says with probability `at_z` and there are so many labels; `None` where the crowd does not
/// tell.
///
/// If everybody were right with the same probability s, and wrong with each of the other k labels
/// equally often, two would agree with probability s^2 + (1 - s)^2 / k, and one with an LLM that is
/// right with probability g with probability s g + (1 - s) (1 - g) / k. Both are known, so s and g
/// are: what somebody who is always right has in common with the others and with Z.
pub(super) fn always_right(person: &Normal, at_z: f64, labels: usize) -> Option<[f64; 2]> {
    let k = labels.checked_sub(1).filter(|k| *k > 0)? as f64;
    let [excess, agreement] = person.mean;
    // (k + 1) s^2 - 2 s + 1 - k agreement = 0.
    let root = 1.0 - (k + 1.0) * (1.0 - k * agreement);
    if root <= 0.0 || at_z >= 1.0 {
        return None;
    }
    let right = ((1.0 + root.sqrt()) / (k + 1.0)).min(1.0);
    let wrong = (1.0 - right) / k;
    if right - wrong < LEAST_SKILL {
        return None;
    }
    // (1 - g) / k = (1 / k) - g / k: s g + (1 - s) / k - (1 - s) g / k.
    let of_person = at_z + excess * (1.0 - at_z);
    let llm = ((of_person - wrong) / (right - wrong)).clamp(0.0, 1.0);
    Some([(llm - at_z) / (1.0 - at_z), right])
}

/// The densities of own work, each with its share of the people, where `average` is that of most: it
/// comes first. A share of 0 where nothing is known about such people.
pub(super) fn densities(average: Normal, worker: &WorkerFeatures) -> [(f64, Normal); 3] {
    let sampling = worker.person.covariance;
    let on_the_way = |end: [f64; 2], [way, sd]: [f64; 2], excess_sd: f64| {
        let slope = [0, 1].map(|f| end[f] - average.mean[f]);
        let mean = [0, 1].map(|f| average.mean[f] + way * slope[f]);
        let spread = [slope[0] * slope[0], slope[0] * slope[1], slope[1] * slope[1]];
        let mut covariance = [0, 1, 2].map(|c| sampling[c] + sd * sd * spread[c]);
        covariance[0] += excess_sd * excess_sd;
        Normal { mean, covariance }
    };
    let knowing = match worker.always_right {
        Some(right) => (KNOWING, on_the_way(right, KNOWING_WAY, LLM_SD)),
        None => (0.0, average),
    };
    let careless = match worker.ghosts[2].first() {
        Some(guess) => (CARELESS, on_the_way(guess.mean, CARELESS_WAY, 0.0)),
        None => (0.0, average),
    };
    [(1.0 - knowing.0 - careless.0, average), knowing, careless]
}

//! Whether `own` keeps what its flags promise, on reviews whose authors are known by paper only.
//!
//! Every trial makes a venue from real reviews: people with some papers each, cheaters of given kinds
//! who hand in something else, people who write in a given way. [`crate::text::own`] scores it
//! knowing nothing of this, and is asked who was flagged, who should have been, and whether its
//! probabilities are right.
//!
//! [`calibrate`] is one kind of venue; [`OwnTrials`] runs all of [`scenarios`], by their names.

mod run;
pub(crate) mod scenarios;
mod summary;
mod venue;
pub(crate) mod venues;

use rayon::prelude::*;

use self::summary::summarise;
use self::venue::make_venue;
use self::venues::{OfReview, Outcome, Trial};
use crate::data::progress::{NoProgress, Progress};
use crate::data::reviews::ReviewSet;
use crate::text::own::{
    OwnFlag, OwnScores, OwnSettings, check_texts, own_scores, plant, tfidf_vectors,
};

pub(crate) use self::run::{OwnTrials, OwnTrialsSettings, TRIALS};
pub(crate) use self::venues::{BINS, Calibration, CalibrationSettings};

/// Runs the experiment on `real`, whose contents are texts; progress counts venues.
///
/// Venues whose scores fail (a bad rate) are left out, as are reviewers that are not judged.
pub fn calibrate(
    real: &ReviewSet,
    settings: &CalibrationSettings,
    progress: &dyn Progress,
) -> Calibration {
    let trials: Vec<Trial> = (0..settings.trials)
        .into_par_iter()
        .filter(|_| !progress.interrupted())
        .map(|index| {
            let trial = trial(real, settings, index);
            progress.advance(1);
            trial
        })
        .collect();
    summarise(&trials, &settings.rates)
}

fn trial(real: &ReviewSet, settings: &CalibrationSettings, index: u32) -> Trial {
    let (set, handed, is_own) = make_venue(real, settings, index);
    let own_settings = OwnSettings { seed: u64::from(index), ..settings.own.clone() };
    let planted = plant(&set, &check_texts(&set, &own_settings), &own_settings);
    // Word weights never fail, and every content is a text.
    let vectors = tfidf_vectors(&set, &planted, &NoProgress).ok().flatten();
    let Some(vectors) = vectors else { return Trial::default() };
    let at = |fdr: f64| {
        let settings = OwnSettings { fdr, ..own_settings.clone() };
        own_scores(&set, &planted, vectors.clone(), &settings, &|_| false, &NoProgress).ok()
    };
    let Some(all) = settings.rates.iter().map(|&rate| at(rate)).collect::<Option<Vec<_>>>() else {
        return Trial::default();
    };
    let Some(scored) = all.first() else { return Trial::default() };
    let flags = |scored: &OwnScores| {
        scored.reviewers.iter().map(|reviewer| reviewer.flag == OwnFlag::Look).collect()
    };
    let looked: Vec<Vec<bool>> = all.iter().map(flags).collect();
    let reviewers = (0..set.reviewers.len()).filter_map(|reviewer| {
        let row = &scored.reviewers[reviewer];
        Some(Outcome {
            handed: handed[reviewer],
            own: row.posterior?.own,
            score: row.score?,
            looked: looked.iter().map(|flags| flags[reviewer]).collect(),
        })
    });
    let reviews = is_own.into_iter().enumerate().filter_map(|(review, is_own)| {
        let looked = all.iter().map(|scored| scored.reviews[review].flag == OwnFlag::Look);
        Some(OfReview { is_own, own: scored.reviews[review].p_own?, looked: looked.collect() })
    });
    let prevalence = scored.prevalence.map(|found| (found.share, found.interval));
    Trial { reviewers: reviewers.collect(), reviews: reviews.collect(), prevalence }
}

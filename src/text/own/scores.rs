//! From vectors to what is said about reviewers.

use super::class::Class;
use super::duplicates::near_duplicates;
use super::error::OwnError;
use super::features::{Comparison, Features};
use super::flags::FlagRule;
use super::ghosts::Planted;
use super::model::{Model, Reviews, ghost_densities, log_odds, posterior};
use super::other_paper::{OtherPaper, OtherPapers};
use super::rates::{Fitted, prevalence};
use super::result::{
    GhostPoint, NotJudged, OwnFlag, OwnReview, OwnReviewer, OwnScores, OwnWarning, PlantedRates,
    Posterior,
};
use super::settings::{ENOUGH_PAPERS, ENOUGH_REVIEWERS, OwnSettings};
use super::space::UnitSpace;
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;
use crate::embed::tfidf::{StopWords, Tfidf};
use crate::embed::vectors::Vectors;
use crate::embed::{EmbedError, Embedder};
use crate::stats::flag::MAJORITY;

/// Estimated share of cheaters from which on they are many.
const MANY: f64 = 0.3;

/// Cosine of two Z of a paper above which they are nearly one text.
const ALIKE: f64 = 0.7;

/// Word weights of all texts of a planted set; rare words are rare in its whole texts.
///
/// Progress counts texts. `None` if a content has no text.
///
/// # Errors
///
/// None of its own: [`EmbedError`] is that of every embedder.
pub fn tfidf_vectors(
    set: &ReviewSet,
    planted: &Planted,
    progress: &dyn Progress,
) -> Result<Option<Vectors>, EmbedError> {
    let Some(texts) = planted.texts(set) else { return Ok(None) };
    let tfidf = Tfidf::fit(&texts[..planted.whole_texts()], StopWords::None);
    Ok(Some(tfidf.embed(&texts, progress)?.vectors))
}

/// Scores all reviewers of `set`, which was planted with the same settings.
///
/// `vectors` has one for each of [`Planted::origins`]. Sparse ones are centered by the mean of the
/// reviews, dense ones whitened as for the combined score. For the reviewers, by number, that
/// `wanted` is true of, [`OwnReview::other_paper`] is looked for, which takes a cosine of each review
/// of theirs with every text of the venue. Progress counts reviews and ghosts.
///
/// # Errors
///
/// [`OwnError`] for a rate or vectors that do not fit, or where the run was interrupted.
pub fn own_scores(
    set: &ReviewSet,
    planted: &Planted,
    vectors: Vectors,
    settings: &OwnSettings,
    wanted: &dyn Fn(u32) -> bool,
    progress: &dyn Progress,
) -> Result<OwnScores, OwnError> {
    check(planted, &vectors, settings)?;
    let venue = &planted.venue;
    let languages = &planted.languages;
    let counts: Vec<bool> = languages.iter().map(Option::is_none).collect();
    let spaces = vec![UnitSpace::new(vectors, venue.reviews.len(), &counts)];
    let comparison = Comparison::new(set, planted, &spaces, &counts);
    let features = comparison.of_reviews(progress);
    let ghost_features = comparison.of_ghosts(progress);
    if progress.interrupted() {
        return Err(OwnError::Interrupted);
    }

    let mut reasons: Vec<Option<NotJudged>> = (0..features.len())
        .map(|review| early_reason(planted, settings, languages[review], review, &features[review]))
        .collect();
    let reviewer_of = reviewers_of(set, planted);
    let judged = |reasons: &[Option<NotJudged>]| -> Reviews {
        let mut reviews = vec![Vec::new(); venue.reviewers.len()];
        for review in (0..reasons.len()).filter(|&review| reasons[review].is_none()) {
            reviews[reviewer_of[review]].push(review);
        }
        reviews
    };
    let kinds = planted.ghosts.iter().map(|ghost| ghost.class).zip(&ghost_features);
    let densities = ghost_densities(&kinds, spaces.len());
    let model = Model::fit(densities, &judged(&reasons), &features, spaces.len());
    let log_densities: Vec<Vec<f64>> = (0..features.len())
        .map(|review| {
            let found = model.as_ref().and_then(|model| model.densities_of(&features[review]));
            let (values, unlikely) = found.unwrap_or_default();
            let missing = if values.is_empty() {
                Some(NotJudged::SmallVenue)
            } else {
                unlikely.then_some(NotJudged::LikeNothing)
            };
            reasons[review] = reasons[review].or(missing);
            values
        })
        .collect();

    let reviews = judged(&reasons);
    let assembled = Assembled {
        planted,
        settings,
        reviews: &reviews,
        features: &features,
        reasons: &reasons,
        reviewer_of: &reviewer_of,
        ghost_features: &ghost_features,
        spaces: spaces.len(),
        assumed: comparison.assumed_ratio(),
        double_papers: comparison.double_papers,
    };
    let outcome = assembled.outcome(model.as_ref());
    let mut warnings = outcome.warnings;
    if let Some(cosine) = comparison.likeness_of_sources().filter(|&cosine| cosine > ALIKE) {
        warnings.push(OwnWarning::AlikeZ { cosine });
    }
    let reviewers = (outcome.reviewers.as_slice(), wanted);
    let other_papers = other_papers(set, &comparison, &assembled, reviewers, progress);
    if progress.interrupted() {
        return Err(OwnError::Interrupted);
    }
    let mut own_reviews: Vec<Option<OwnReview>> = vec![None; features.len()];
    for (review, (features, log_densities)) in
        features.iter().cloned().zip(log_densities).enumerate()
    {
        let other_paper = other_papers[review];
        let (peer, z) = comparison.most_similar(review);
        let reason = reasons[review];
        own_reviews[venue.reviews[review]] = Some(OwnReview {
            features,
            log_densities,
            p_own: None,
            reads_as: None,
            flag: OwnFlag::NotJudged,
            reason,
            copied: None,
            passages: Vec::new(),
            peer,
            z,
            other_paper,
        });
    }
    let ghosts = planted.ghosts.iter().zip(&ghost_features);
    let ghosts = ghosts.map(|(ghost, features)| GhostPoint {
        class: ghost.class,
        review: venue.reviews[ghost.slot],
        features: features.clone(),
    });
    Ok(OwnScores {
        reviewers: outcome.reviewers,
        reviews: own_reviews.into_iter().flatten().collect(),
        ghosts: ghosts.collect(),
        class_shares: model
            .as_ref()
            .map(|model| model.log_shares.iter().map(|share| share.exp()).collect())
            .unwrap_or_default(),
        classes: model.map(|model| model.classes).unwrap_or_default(),
        prevalence: outcome.prevalence,
        planted: outcome.rates,
        near_duplicates: near_duplicates(set),
        assumed_ratio: comparison.assumed_ratio(),
        unseen: 0,
        warnings,
    })
}

/// Per review the other paper it is closest to, if its reviewer is wanted, reads as off topic and is not
/// clear.
fn other_papers(
    set: &ReviewSet,
    comparison: &Comparison<'_>,
    assembled: &Assembled<'_>,
    (reviewers, wanted): (&[OwnReviewer], &dyn Fn(u32) -> bool),
    progress: &dyn Progress,
) -> Vec<Option<OtherPaper>> {
    let venue = &assembled.planted.venue;
    let reviewer = |review: usize| set.reviews[venue.reviews[review]].reviewer;
    let judged = |flags: &'static [OwnFlag]| {
        (0..venue.reviews.len()).filter(move |&review| {
            assembled.reasons[review].is_none()
                && flags.contains(&reviewers[reviewer(review) as usize].flag)
        })
    };
    let is_off_topic = |review: &usize| {
        let reads_as = reviewers[reviewer(*review) as usize].reads_as;
        matches!(reads_as, Some(Class::OffTopic | Class::OffTopicLlm))
    };
    let suspects = judged(&[OwnFlag::Look, OwnFlag::Unsure]).filter(is_off_topic);
    let suspects: Vec<usize> = suspects.filter(|review| wanted(reviewer(*review))).collect();
    let mut all = vec![None; venue.reviews.len()];
    if suspects.is_empty() {
        return all;
    }
    let clear: Vec<usize> = judged(&[OwnFlag::Clear]).collect();
    let looking = OtherPapers::new(comparison, set, assembled.reviewer_of);
    let found = looking.closest(&suspects, &clear, progress);
    suspects.into_iter().zip(found).for_each(|(review, found)| all[review] = found);
    all
}

fn check(planted: &Planted, vectors: &Vectors, settings: &OwnSettings) -> Result<(), OwnError> {
    if !(settings.fdr > 0.0 && settings.fdr < 1.0) {
        return Err(OwnError::Fdr { fdr: settings.fdr });
    }
    let (expected, found) = (planted.origins().len(), vectors.len());
    if found != expected {
        return Err(OwnError::Rows { expected, found });
    }
    Ok(())
}

/// Position among the reviewers by name, of each review.
fn reviewers_of(set: &ReviewSet, planted: &Planted) -> Vec<usize> {
    let mut position = vec![0; set.reviewers.len()];
    for (index, &reviewer) in planted.venue.reviewers.iter().enumerate() {
        position[reviewer as usize] = index;
    }
    let reviews = planted.venue.reviews.iter();
    reviews.map(|&review| position[set.reviews[review].reviewer as usize]).collect()
}

/// Why a review is left out before anything is fitted.
fn early_reason(
    planted: &Planted,
    settings: &OwnSettings,
    language: Option<&'static str>,
    review: usize,
    features: &Features,
) -> Option<NotJudged> {
    let fewest = settings.min_words;
    if let Some(language) = language {
        Some(NotJudged::OtherLanguage { language })
    } else if let Some(words) = planted.words[review].filter(|&words| words < fewest) {
        Some(NotJudged::TooFewWords { words, fewest })
    } else if features.peers.is_none() && features.z.is_none() {
        Some(NotJudged::NothingToCompare)
    } else {
        None
    }
}

/// All that is known when reviewers are judged.
struct Assembled<'a> {
    planted: &'a Planted,
    settings: &'a OwnSettings,
    reviews: &'a Reviews,
    features: &'a [Features],
    reasons: &'a [Option<NotJudged>],
    reviewer_of: &'a [usize],
    ghost_features: &'a [Features],
    spaces: usize,
    /// Whether it is assumed how another LLM writes.
    assumed: bool,
    double_papers: usize,
}

struct Outcome {
    reviewers: Vec<OwnReviewer>,
    prevalence: Option<super::result::Prevalence>,
    rates: PlantedRates,
    warnings: Vec<OwnWarning>,
}

impl Assembled<'_> {
    fn outcome(&self, model: Option<&Model>) -> Outcome {
        let joints: Vec<Option<Vec<f64>>> = self
            .reviews
            .iter()
            .map(|reviews| {
                let model = model.filter(|_| !reviews.is_empty())?;
                Some(model.log_joint(reviews, self.features))
            })
            .collect();
        let own: Vec<f64> =
            joints.iter().map(|joint| joint.as_ref().map_or(0.0, |j| posterior(j)[0])).collect();
        let judged: Vec<f64> =
            own.iter().zip(&joints).filter(|(_, j)| j.is_some()).map(|(own, _)| *own).collect();
        let rule = FlagRule::new(&judged, self.settings.fdr, self.assumed);
        let first_reasons = self.first_reasons();
        let venue = &self.planted.venue;
        let small = judged.len() < ENOUGH_REVIEWERS || venue.papers.len() < ENOUGH_PAPERS;
        let mut reviewers: Vec<Option<OwnReviewer>> = vec![None; self.reviews.len()];
        for (position, &number) in self.planted.venue.reviewers.iter().enumerate() {
            reviewers[number as usize] = Some(match (&joints[position], model) {
                (Some(joint), Some(model)) => {
                    let reviews = &self.reviews[position];
                    let judged = judged_reviewer(model, joint, (&rule, small), reviews.len());
                    let has_z = reviews.iter().any(|&review| self.features[review].z.is_some());
                    // What reads as about another paper needs no Z; not to have copied one does.
                    if has_z || judged.flag == OwnFlag::Look {
                        judged
                    } else {
                        not_judged(Some(NotJudged::NoZ))
                    }
                }
                _ => not_judged(first_reasons[position]),
            });
        }
        let is_judged = |&(&number, _): &(&u32, &f64)| {
            let reviewer = reviewers[number as usize].as_ref();
            reviewer.is_some_and(|reviewer| reviewer.flag != OwnFlag::NotJudged)
        };
        let of_judged = self.planted.venue.reviewers.iter().zip(&own).filter(is_judged);
        let prevalence = prevalence(&of_judged.map(|(_, own)| *own).collect::<Vec<f64>>());
        let rates = model.map_or(
            PlantedRates { by_class: Vec::new(), ghosts: None, people: None },
            |model| {
                let fitted = Fitted {
                    model,
                    reviews: self.reviews,
                    features: self.features,
                    ghosts: &self.planted.ghosts,
                    ghost_features: self.ghost_features,
                    reviewer_of: self.reviewer_of,
                    own: &own,
                    rule: &rule,
                    spaces: self.spaces,
                };
                fitted.rates()
            },
        );
        let reviewers: Vec<OwnReviewer> = reviewers.into_iter().flatten().collect();
        let mut warnings = self.warnings(prevalence.map(|found| found.share));
        warnings.extend(looked_at_for_one_review(&reviewers));
        Outcome { reviewers, prevalence, rates, warnings }
    }

    /// Why no review of a reviewer is judged: the most frequent reason, of equals the first.
    fn first_reasons(&self) -> Vec<Option<NotJudged>> {
        let mut all: Vec<Vec<NotJudged>> = vec![Vec::new(); self.reviews.len()];
        for (review, reason) in self.reasons.iter().enumerate() {
            all[self.reviewer_of[review]].extend(*reason);
        }
        let kind = std::mem::discriminant::<NotJudged>;
        let often = |reasons: &Vec<NotJudged>| {
            let count = |r: &NotJudged| reasons.iter().filter(|o| kind(o) == kind(r)).count();
            reasons.iter().copied().min_by_key(|reason| (std::cmp::Reverse(count(reason)), *reason))
        };
        all.iter().map(often).collect()
    }

    fn warnings(&self, share: Option<f64>) -> Vec<OwnWarning> {
        let venue = &self.planted.venue;
        let mut warnings = Vec::new();
        if self.assumed {
            warnings.push(OwnWarning::OneZ { double_papers: self.double_papers });
        }
        if venue.repeated_z > 0 {
            warnings.push(OwnWarning::RepeatedZ { count: venue.repeated_z });
        }
        let unusable = venue.unusable_z.iter();
        warnings.extend(unusable.map(|&(reason, count)| OwnWarning::UnusableZ { reason, count }));
        match share {
            None => warnings.push(OwnWarning::NoScale),
            Some(share) if share >= MAJORITY => warnings.push(OwnWarning::NearMajority { share }),
            Some(share) if share >= MANY => warnings.push(OwnWarning::ManyCheaters { share }),
            Some(_) => {}
        }
        warnings
    }
}

/// That somebody is worth a look for one review, if anybody is.
fn looked_at_for_one_review(reviewers: &[OwnReviewer]) -> Option<OwnWarning> {
    let looked = || reviewers.iter().filter(|reviewer| reviewer.flag == OwnFlag::Look);
    let count = looked().filter(|reviewer| reviewer.n_papers == 1).count();
    (count > 0).then(|| OwnWarning::LookedAtForOneReview { count, looked_at: looked().count() })
}

fn not_judged(reason: Option<NotJudged>) -> OwnReviewer {
    OwnReviewer {
        score: None,
        posterior: None,
        reads_as: None,
        share: None,
        flag: OwnFlag::NotJudged,
        reason,
        is_unseen: false,
        n_papers: 0,
        n_look: 0,
        copied: None,
    }
}

fn judged_reviewer(
    model: &Model,
    joint: &[f64],
    (rule, small): (&FlagRule, bool),
    n_papers: usize,
) -> OwnReviewer {
    let all = posterior(joint);
    let of = |class: Class| {
        let at = model.classes.iter().position(|other| *other == class);
        at.map_or(0.0, |at| all[at])
    };
    let own = all[0];
    let largest =
        (0..all.len()).reduce(|best, next| if all[next] > all[best] { next } else { best });
    let flag = if rule.flags(own) {
        OwnFlag::Look
    } else if own < 0.5 || small {
        // Copiers of a venue too small for a scale can stand among people.
        OwnFlag::Unsure
    } else {
        OwnFlag::Clear
    };
    OwnReviewer {
        score: Some(log_odds(joint)),
        posterior: Some(Posterior {
            own,
            copy: of(Class::Copy),
            llm: of(Class::Llm),
            off_topic: of(Class::OffTopic) + of(Class::OffTopicLlm),
        }),
        reads_as: largest.map(|index| model.classes[index]),
        share: None,
        flag,
        reason: None,
        is_unseen: false,
        n_papers,
        n_look: 0,
        copied: None,
    }
}

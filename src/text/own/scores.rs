//! From vectors to what is said about reviewers.

use rayon::prelude::*;

use super::class::Class;
use super::copied::{Copied, DIFFERENT, copied, is_copied};
use super::error::OwnError;
use super::features::Comparison;
use super::ghosts::Planted;
use super::model::Model;
use super::other_paper::{OtherPaper, OtherPapers};
use super::result::{NotJudged, OwnFlag, OwnReview, OwnReviewer, OwnScores};
use super::scene::Scene;
use super::settings::OwnSettings;
use super::space::UnitSpace;
use super::verdict::{Asked, Verdict};
use super::warnings::warnings;
use super::z_check::UnusableZ;
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;
use crate::embed::EmbedError;
use crate::embed::tfidf::Tfidf;
use crate::embed::vectors::Vectors;
use crate::embed::word_pairs::WordPairs;
use crate::stats::rank::median;

/// Share of a text's pairs of words that are its task's, from which on it quotes. In the median workers who answer by
/// given passages have .92, reviews .1 from a whole review by an LLM in the place of the task.
const QUOTED: f64 = 0.2;

/// How often it is asked anew how far each peer is believed.
const PASSES: usize = 3;

/// What `own` compares texts by.
#[derive(Debug, Clone)]
pub struct OwnVectors {
    /// One for each of `Planted::origins`.
    pub(super) vectors: Vectors,
    /// Pairs of words of the same texts, where they count.
    pub(super) pairs: Option<WordPairs>,
}

impl From<Vectors> for OwnVectors {
    fn from(vectors: Vectors) -> Self {
        Self { vectors, pairs: None }
    }
}

/// Word weights of all texts of a planted set; rare words are rare in its whole texts.
///
/// Beside them pairs of words, but for short texts, where the few that two have in common are chance, and where people
/// quote the task's text: pairs that both they and the LLM have from it do not say who wrote.
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
) -> Result<Option<OwnVectors>, EmbedError> {
    let Some(texts) = planted.texts(set) else { return Ok(None) };
    let whole = &texts[..planted.whole_texts()];
    let long = !planted.is_short;
    let (vectors, pairs) = Tfidf::fit_and_embed(whole, &planted.cuts, long, progress);
    Ok(Some(OwnVectors { vectors, pairs: pairs.filter(|pairs| !quote_tasks(planted, pairs)) }))
}

/// Whether half of the people have [`QUOTED`] of their pairs of words from their task's text; not where fewer than half
/// have such a text.
fn quote_tasks(planted: &Planted, pairs: &WordPairs) -> bool {
    let papers = planted.venue.papers.par_iter().zip(&planted.tasks);
    let shares = papers.filter_map(|(paper, task)| Some((paper, (*task)?)));
    let shares = shares.flat_map_iter(|(paper, task)| pairs.shares_in(paper.reviews.clone(), task));
    let shares: Vec<f64> = shares.flatten_iter().collect();
    let is_known = 2 * shares.len() >= planted.venue.reviews.len();
    is_known && median(&shares).is_some_and(|share| share >= QUOTED)
}

/// Scores all reviewers of `set`, which was planted with the same settings.
///
/// `vectors` has one for each of `Planted::texts`. Sparse ones are centered by the mean of the
/// reviews, dense ones whitened as for the combined score. For the reviewers, by number, that
/// `wanted` is true of, `OwnReview::other_paper` is looked for, which takes a cosine of each review
/// of theirs with every text of the venue. Progress counts reviews and ghosts.
///
/// # Errors
///
/// `OwnError` for a rate or vectors that do not fit, or where the run was interrupted.
pub fn own_scores(
    set: &ReviewSet,
    planted: &Planted,
    vectors: impl Into<OwnVectors>,
    settings: &OwnSettings,
    wanted: &dyn Fn(u32) -> bool,
    progress: &dyn Progress,
) -> Result<OwnScores, OwnError> {
    let OwnVectors { vectors, pairs } = vectors.into();
    check(planted, &vectors, settings)?;
    let venue = &planted.venue;
    // What stands in a Z word for word needs no model, and takes no part in it: clear cases would raise
    // the share of cheaters, and others would pay for it.
    let is_a_persons = |z: usize| planted.checks.unusable[z] == Some(UnusableZ::PersonsReview);
    let mut of_set = copied(set, &planted.checks.forms, &is_a_persons);
    let copied: Vec<_> = venue.reviews.iter().map(|&review| of_set[review].take()).collect();
    let share = |found: &Option<Copied>| found.as_ref().map(|found| found.share);
    let settled: Vec<bool> = copied.iter().map(|found| is_copied(share(found))).collect();
    let languages = planted.languages.iter().zip(&settled);
    let counts: Vec<bool> =
        languages.map(|(language, settled)| language.is_none() && !settled).collect();
    // Only of word weights it was measured how close an unknown LLM comes to Z.
    let is_measured = matches!(vectors, Vectors::Sparse(_));
    let space = UnitSpace::new(vectors, venue.reviews.len(), &counts);
    let comparison = Comparison::new(set, planted, &space, pairs.as_ref(), &counts);
    let stands = comparison.stands(progress);
    if progress.interrupted() {
        return Err(OwnError::Interrupted);
    }

    let reviewer_of = reviewers_of(set, planted);
    let mut believed = vec![1.0; venue.reviews.len()];
    let mut scene = Scene::new(&comparison, &stands, is_measured, &believed);
    let reason =
        |review: usize| early_reason(planted, settings, &scene, copied[review].as_ref(), review);
    let mut reasons: Vec<Option<NotJudged>> = (0..believed.len()).map(reason).collect();
    let mut people = vec![Vec::new(); venue.reviewers.len()];
    let open = |review: &usize| reasons[*review].is_none() && !settled[*review];
    for review in (0..reasons.len()).filter(open) {
        people[reviewer_of[review]].push(review);
    }
    let mut fitted: Option<(Model, Vec<f64>)> = None;
    for pass in 0..PASSES {
        if pass > 0 {
            scene = Scene::new(&comparison, &stands, is_measured, &believed);
        }
        let judged: Vec<Vec<usize>> =
            people.iter().filter(|reviews| !reviews.is_empty()).cloned().collect();
        fitted = Model::fit(scene.kinds.clone(), &scene.slots, &judged, fitted.as_ref());
        let Some((_, own)) = &fitted else { break };
        judged.iter().flatten().for_each(|&review| believed[review] = own[review]);
    }
    let mut model = fitted.map(|(model, _)| model);
    if planted.is_short {
        // Of such texts the fit takes up to half for an LLM's where nobody, or one in ten, cheats.
        model = model.map(Model::uncounted);
    }
    if model.is_none() {
        reasons.iter_mut().for_each(|reason| *reason = reason.or(Some(NotJudged::SmallVenue)));
    }

    let asked = Asked {
        planted,
        settings,
        scene: &scene,
        people: &people,
        reasons: &reasons,
        reviewer_of: &reviewer_of,
        is_assumed: comparison.assumed_ratio(),
    };
    let verdict = Verdict::new(&asked, model.as_ref(), copied);
    let other_papers = other_papers(set, &comparison, &reviewer_of, &verdict, wanted, progress);
    if progress.interrupted() {
        return Err(OwnError::Interrupted);
    }
    let warnings = warnings(&comparison, &verdict, model.as_ref(), is_measured);
    let mut reviews: Vec<Option<OwnReview>> = vec![None; believed.len()];
    for (position, mut review) in verdict.reviews.into_iter().enumerate() {
        (review.peer, review.z) = stands.most_similar[position];
        review.other_paper = other_papers[position];
        reviews[venue.reviews[position]] = Some(review);
    }
    let mut reviewers = vec![None; venue.reviewers.len()];
    for (person, &number) in verdict.people.into_iter().zip(&venue.reviewers) {
        reviewers[number as usize] = Some(person);
    }
    doubt_texts_of_two(set, planted, &mut reviews, &mut reviewers);
    let reviewers: Vec<_> = reviewers.into_iter().flatten().collect();
    Ok(OwnScores {
        unseen: reviewers.iter().filter(|reviewer| reviewer.is_unseen).count(),
        reviewers,
        reviews: reviews.into_iter().flatten().collect(),
        ghosts: scene.points(planted),
        prevalence: verdict.prevalence,
        planted: verdict.rates,
        near_duplicates: planted.checks.near_duplicates.clone(),
        warnings,
    })
}

/// Calls nobody clear whose text somebody else has, too, or a Z that was taken for theirs: whose it is nobody can say.
fn doubt_texts_of_two(
    set: &ReviewSet,
    planted: &Planted,
    reviews: &mut [Option<OwnReview>],
    reviewers: &mut [Option<OwnReviewer>],
) {
    let reviewer = |review: usize| set.reviews[review].reviewer;
    let of_two = planted.checks.near_duplicates.iter().map(|pair| pair.reviews);
    let of_two = of_two.filter(|&(first, second)| reviewer(first) != reviewer(second));
    let of_two = of_two.flat_map(|(first, second)| [first, second]);
    for review in of_two.chain(planted.checks.filed_as_z.iter().copied()) {
        let person = reviewers[reviewer(review) as usize].as_mut();
        let flags = [
            reviews[review].as_mut().map(|review| &mut review.flag),
            person.map(|person| &mut person.flag),
        ];
        for flag in flags.into_iter().flatten().filter(|flag| **flag == OwnFlag::Clear) {
            *flag = OwnFlag::Unsure;
        }
    }
}

/// Per review the other paper it is closest to, if its reviewer is wanted, reads as off topic and is not
/// clear.
fn other_papers(
    set: &ReviewSet,
    comparison: &Comparison<'_>,
    reviewer_of: &[usize],
    verdict: &Verdict,
    wanted: &dyn Fn(u32) -> bool,
    progress: &dyn Progress,
) -> Vec<Option<OtherPaper>> {
    let venue = &comparison.planted.venue;
    let of = |review: usize| &verdict.people[reviewer_of[review]];
    let judged =
        || (0..venue.reviews.len()).filter(|&review| verdict.reviews[review].p_own.is_some());
    let is_off_topic = |review: &usize| {
        let reads_as = [of(*review).reads_as, verdict.reviews[*review].reads_as];
        let off_topic = [Some(Class::OffTopic), Some(Class::OffTopicLlm)];
        reads_as.iter().any(|reads_as| off_topic.contains(reads_as))
    };
    let is_open = |review: &usize| matches!(of(*review).flag, OwnFlag::Look | OwnFlag::Unsure);
    let suspects = judged().filter(is_open).filter(is_off_topic);
    let number = |review: usize| set.reviews[venue.reviews[review]].reviewer;
    let suspects: Vec<usize> = suspects.filter(|&review| wanted(number(review))).collect();
    let mut all = vec![None; venue.reviews.len()];
    if suspects.is_empty() {
        return all;
    }
    let is_usual = |&review: &usize| {
        of(review).reads_as == Some(Class::Own) && of(review).flag != OwnFlag::Look
    };
    let usual: Vec<usize> = judged().filter(is_usual).collect();
    let looking = OtherPapers::new(comparison, set, reviewer_of);
    let found = looking.closest(&suspects, &usual, progress);
    suspects.into_iter().zip(found).for_each(|(review, found)| all[review] = found);
    all
}

fn check(planted: &Planted, vectors: &Vectors, settings: &OwnSettings) -> Result<(), OwnError> {
    if !(settings.fdr > 0.0 && settings.fdr < 1.0) {
        return Err(OwnError::Fdr { fdr: settings.fdr });
    }
    let (expected, found) = (planted.whole_texts() + planted.cuts.len(), vectors.len());
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
    scene: &Scene,
    copied: Option<&Copied>,
    review: usize,
) -> Option<NotJudged> {
    let fewest = settings.min_words;
    // Of the fewest words that are judged half are different ones.
    let enough = DIFFERENT.min(fewest / 2);
    let little = copied.map(|copied| copied.different).filter(|&different| different < enough);
    if let Some(language) = planted.languages[review] {
        Some(NotJudged::OtherLanguage { language })
    } else if let Some(words) = planted.words[review].filter(|&words| words < fewest) {
        Some(NotJudged::TooFewWords { words, fewest })
    } else if let Some(different) = little {
        Some(NotJudged::SaysLittle { different })
    } else if scene.slots[review].x.iter().all(|value| value.is_nan()) {
        Some(NotJudged::NothingToCompare)
    } else {
        None
    }
}

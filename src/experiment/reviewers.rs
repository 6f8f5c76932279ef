//! Detection of low-effort reviewers by the scores of their texts (Fig. 7 of the paper).
//!
//! Every trial makes reviewers from real reviews ([`crate::simulate::reviews`]), with the share of
//! each low-effort kind uniform on `[0, 0.1]` and at least one of each, and asks of every score
//! the AUC that a reviewer who writes outscores one who does not: all kinds mixed and each alone.
//! Texts are embedded once; a trial works on their vectors.
//!
//! Fairness: the reviews of some people can be rewritten ([`crate::simulate::rewording`]). The same
//! trial is then scored twice, with their own texts and with the rewritten ones, so that what
//! changes is due to how they write ([`RewritingEffect`]).

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::auc_summary::TrialAuc;
use super::trials::{TrialError, TrialGrid, TrialId, TrialLog, run_trials};
use crate::data::content::Content;
use crate::data::progress::{NoProgress, Progress};
use crate::data::reviews::ReviewSet;
use crate::embed::vectors::Vectors;
use crate::metrics::auc::auc;
use crate::simulate::SimulateError;
use crate::simulate::reviews::{
    Origin, ReviewerKind, ReviewerOptions, SimulatedReviewers, rewritten, simulate_reviewers,
};
use crate::simulate::rewording::Rewriting;
use crate::stats::rank::{mean, quantile};
use crate::text::own::{OwnScores, OwnSettings, check_texts, own_scores, plant, tfidf_vectors};
pub(crate) use crate::text::scorer::ScoreVariant;
use crate::text::scorer::Scorer;
use crate::text::space::Space;

/// The grid of the experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewersSettings {
    /// Papers per reviewer, a point of the grid each.
    pub papers_per_reviewer: Vec<usize>,
    /// Numbers of the sources that are Z together, a point each; cheaters use the others.
    pub z_sources: Vec<Vec<u32>>,
    /// Whether cheaters hand in a Z itself.
    pub copy_z: bool,
    /// Whether cheaters reword what they hand in.
    pub reword_copies: bool,
    /// What happens to the reviews of some people, and to which share of them.
    pub rewriting: Option<(Rewriting, f64)>,
    /// Numbers of the papers that take part.
    pub papers: Vec<u32>,
    /// Most reviews per paper.
    pub reviews_per_paper: usize,
    /// The share of each low-effort kind is uniform from the first to the second number.
    pub shares: (f64, f64),
    /// Share of the papers with Z.
    pub z_coverage: f64,
    /// Who competes.
    pub scores: Vec<ScoreVariant>,
    /// Seed; every trial has its own streams.
    pub seed: u64,
}

impl ReviewersSettings {
    /// The trials with so many repetitions; sources vary fastest.
    pub(crate) fn grid(&self, repetitions: u32) -> TrialGrid {
        let points = self.papers_per_reviewer.len() * self.z_sources.len();
        TrialGrid { points: u32::try_from(points).unwrap_or(u32::MAX), repetitions }
    }

    /// Papers per reviewer and sources of Z at a point of the grid.
    pub(crate) fn point(&self, point: u32) -> (usize, &[u32]) {
        let point = point as usize;
        let sources = self.z_sources.len();
        (self.papers_per_reviewer[point / sources], &self.z_sources[point % sources])
    }

    /// All contents that a trial may need, in the order of the vectors that [`reviewers`] takes:
    /// the reviews, the Z, then the rewritten reviews and the reworded Z where they are asked for.
    pub(crate) fn contents(&self, real: &ReviewSet) -> Vec<Content> {
        let mut contents: Vec<Content> = real.contents().cloned().collect();
        if let Some((rewriting, _)) = self.rewriting {
            let reviews = real.reviews.iter();
            contents.extend(reviews.map(|review| rewritten(&review.content, rewriting)));
        }
        if self.reword_copies {
            contents.extend(real.z.iter().map(|z| rewritten(&z.content, Rewriting::Reworded)));
        }
        contents
    }

    /// Row of an origin in these contents.
    fn row(&self, real: &ReviewSet, origin: Origin) -> usize {
        let (reviews, z) = (real.reviews.len(), real.z.len());
        let rewritten = if self.rewriting.is_some() { reviews } else { 0 };
        match origin {
            Origin::Review(index) => index,
            Origin::Z(index) => reviews + index,
            Origin::Rewritten(index) => reviews + z + index,
            Origin::Reworded(index) => reviews + z + rewritten + index,
        }
    }

    /// The row of every simulated review, then of every Z; with `own_texts` those of what people wrote
    /// before it was rewritten.
    pub(crate) fn rows(
        &self,
        real: &ReviewSet,
        simulated: &SimulatedReviewers,
        own_texts: bool,
    ) -> Vec<usize> {
        let row = |origin: &Origin| match *origin {
            Origin::Rewritten(index) if own_texts => index,
            origin => self.row(real, origin),
        };
        simulated.origins.iter().map(row).collect()
    }

    /// The reviewers of a trial, without contents.
    ///
    /// # Errors
    ///
    /// `SimulateError` if they cannot be simulated.
    pub(crate) fn reviewers(
        &self,
        real: &ReviewSet,
        id: TrialId,
    ) -> Result<SimulatedReviewers, SimulateError> {
        let mut random = id.stream(self.seed, "simulate reviewers");
        let (low, high) = self.shares;
        let shares = [0; 3].map(|_| if high > low { random.random_range(low..=high) } else { low });
        let (papers_per_reviewer, z_sources) = self.point(id.point);
        let options = ReviewerOptions {
            papers: self.papers.clone(),
            papers_per_reviewer,
            reviews_per_paper: self.reviews_per_paper,
            z_sources: z_sources.to_vec(),
            copy_z: self.copy_z,
            reword_copies: self.reword_copies,
            rewritten: self.rewriting.map_or(0.0, |(_, share)| share),
            z_coverage: self.z_coverage,
            shares,
            at_least: 1,
        };
        simulate_reviewers(real, &options, &mut random)
    }
}

impl ReviewersSettings {
    /// What scores the reviewers of a trial; with their own texts, if they were rewritten.
    fn scorer<'a>(
        &self,
        real: &ReviewSet,
        vectors: &Vectors,
        simulated: &'a SimulatedReviewers,
        own_texts: bool,
    ) -> Scorer<&'a ReviewSet> {
        let rows = self.rows(real, simulated, own_texts);
        let space = Space::new(vectors.select(&rows), simulated.set.reviews.len());
        let scorer = Scorer::new(&simulated.set, space);
        if !self.scores.contains(&ScoreVariant::Own) {
            return scorer;
        }
        match self.own(real, simulated, own_texts) {
            Some(own) => scorer.with_own(own),
            None => scorer,
        }
    }

    /// What the score own says of a trial, which has texts of its own to plant; `None` without texts.
    fn own(
        &self,
        real: &ReviewSet,
        simulated: &SimulatedReviewers,
        own_texts: bool,
    ) -> Option<OwnScores> {
        let mut filled = simulated.clone();
        let rewriting = self.rewriting.map(|(rewriting, _)| rewriting);
        filled.fill_contents(real, rewriting.unwrap_or(Rewriting::Formal));
        if own_texts {
            for (review, origin) in filled.set.reviews.iter_mut().zip(&filled.origins) {
                if let Origin::Rewritten(index) = *origin {
                    review.content = real.reviews[index].content.clone();
                }
            }
        }
        let settings = OwnSettings { seed: self.seed, ..OwnSettings::default() };
        let checks = check_texts(&filled.set, &settings);
        let planted = plant(&filled.set, &checks, &settings);
        // Word weights never fail.
        let vectors = tfidf_vectors(&filled.set, &planted, &NoProgress).ok()??;
        own_scores(&filled.set, &planted, vectors, &settings, &|_| false, &NoProgress).ok()
    }

    /// Who is who in one trial, and their scores by each of [`Self::scores`], for figures.
    ///
    /// # Errors
    ///
    /// [`SimulateError`] if the reviewers cannot be simulated.
    pub(crate) fn trial_scores(
        &self,
        real: &ReviewSet,
        vectors: &Vectors,
        id: TrialId,
    ) -> Result<(Vec<ReviewerKind>, Vec<TrialScores>), SimulateError> {
        let simulated = self.reviewers(real, id)?;
        let scorer = self.scorer(real, vectors, &simulated, false);
        let scores = self.scores.iter().map(|&score| scorer.values(score)).collect();
        drop(scorer);
        Ok((simulated.kinds, scores))
    }
}

/// The score of every reviewer of a trial.
pub(crate) type TrialScores = Vec<Option<f64>>;

/// AUCs of one score in one trial: all low-effort kinds mixed, then each alone.
pub(crate) type KindAucs = [TrialAuc; 4];

/// What a rewriting does to the people whose reviews are rewritten, by one score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RewritingEffect {
    /// AUC that a rewritten person outscores another person; 0.5 is no effect on average.
    pub auc: TrialAuc,
    /// Mean change of their percentile among all people, in `[-1, 1]`; below 0 they lose.
    pub shift: Option<f64>,
    /// Share of them below the 5 % quantile of the other people.
    pub low: Option<f64>,
    /// The same share with their own texts.
    pub low_before: Option<f64>,
}

/// What came out of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewersTrial {
    /// Reviewers in all.
    pub(crate) n_reviewers: usize,
    /// One entry per score.
    pub aucs: Vec<KindAucs>,
    /// One entry per score, if reviews were rewritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) effects: Vec<RewritingEffect>,
}

/// Runs the experiment; results repetition by repetition.
///
/// `vectors` has one row for each of `ReviewersSettings::contents`.
///
/// # Errors
///
/// `TrialError` if a trial fails or the log cannot be used.
pub fn reviewers(
    real: &ReviewSet,
    vectors: &Vectors,
    settings: &ReviewersSettings,
    repetitions: u32,
    log: Option<TrialLog>,
    progress: &dyn Progress,
) -> Result<Vec<ReviewersTrial>, TrialError<SimulateError>> {
    run_trials(settings.grid(repetitions), log, progress, |id| {
        let simulated = settings.reviewers(real, id)?;
        let of = |own_texts| settings.scorer(real, vectors, &simulated, own_texts);
        let (after, before) = (of(false), settings.rewriting.map(|_| of(true)));
        let (mut aucs, mut effects) = (Vec::new(), Vec::new());
        for &score in &settings.scores {
            let scores = after.values(score);
            aucs.push(kind_aucs(&scores, &simulated.kinds));
            effects.extend(before.as_ref().map(|before| {
                let people = People::of(&simulated);
                people.effect(&before.values(score), &scores)
            }));
        }
        Ok(ReviewersTrial { n_reviewers: simulated.kinds.len(), aucs, effects })
    })
}

/// Share of people that are the lowest.
const LOWEST: f64 = 0.05;

/// The people who review: those whose reviews are rewritten, and the others.
struct People {
    rewritten: Vec<usize>,
    others: Vec<usize>,
}

impl People {
    fn of(simulated: &SimulatedReviewers) -> Self {
        let kinds = simulated.kinds.iter().enumerate();
        let people =
            kinds.filter(|(_, kind)| **kind == ReviewerKind::Human).map(|(index, _)| index);
        let (rewritten, others) = people.partition(|&index| simulated.rewritten[index]);
        Self { rewritten, others }
    }

    fn effect(&self, before: &[Option<f64>], after: &[Option<f64>]) -> RewritingEffect {
        let items = |people: &[usize], first: bool| -> Vec<(Option<f64>, bool)> {
            people.iter().map(|&index| (after[index], first)).collect()
        };
        let items = [items(&self.rewritten, true), items(&self.others, false)].concat();
        let n_missing = items.iter().filter(|(score, _)| score.is_none()).count();
        let moved = self.percentiles(after).into_iter().zip(self.percentiles(before));
        let moved: Vec<f64> = moved.filter_map(|(after, before)| Some(after? - before?)).collect();
        RewritingEffect {
            auc: TrialAuc { auc: auc(&items), n_missing },
            shift: mean(&moved),
            low: self.low_share(after),
            low_before: self.low_share(before),
        }
    }

    /// Mid-rank of each rewritten person among all people, divided by their number.
    fn percentiles(&self, scores: &[Option<f64>]) -> Vec<Option<f64>> {
        let all = self.rewritten.iter().chain(&self.others);
        let all: Vec<f64> = all.filter_map(|&index| scores[index]).collect();
        let percentile = |score: f64| {
            let below = all.iter().filter(|other| **other < score).count() as f64;
            let up_to = all.iter().filter(|other| **other <= score).count() as f64;
            f64::midpoint(below, up_to) / all.len() as f64
        };
        self.rewritten.iter().map(|&index| scores[index].map(percentile)).collect()
    }

    fn low_share(&self, scores: &[Option<f64>]) -> Option<f64> {
        let mut others: Vec<f64> = self.others.iter().filter_map(|&index| scores[index]).collect();
        others.sort_by(f64::total_cmp);
        let bound = quantile(&others, LOWEST)?;
        let low = self.rewritten.iter().filter_map(|&index| scores[index]);
        mean(&low.map(|score| f64::from(u8::from(score < bound))).collect::<Vec<_>>())
    }
}

fn kind_aucs(scores: &[Option<f64>], kinds: &[ReviewerKind]) -> KindAucs {
    let against = |keep: &dyn Fn(ReviewerKind) -> bool| {
        let items: Vec<(Option<f64>, bool)> = scores
            .iter()
            .zip(kinds)
            .filter(|(_, kind)| **kind == ReviewerKind::Human || keep(**kind))
            .map(|(&score, &kind)| (score, kind == ReviewerKind::Human))
            .collect();
        let n_missing = items.iter().filter(|(score, _)| score.is_none()).count();
        TrialAuc { auc: auc(&items), n_missing }
    };
    let [llm, off_topic, off_topic_llm] =
        ReviewerKind::LOW_EFFORT.map(|kind| against(&|other| other == kind));
    [against(&|_| true), llm, off_topic, off_topic_llm]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::vectors::DenseVectors;
    use crate::simulate::reviews::tests::real;

    fn settings(papers: u32) -> ReviewersSettings {
        ReviewersSettings {
            papers_per_reviewer: vec![2, 4],
            z_sources: vec![vec![0], vec![1]],
            copy_z: false,
            reword_copies: false,
            rewriting: None,
            papers: (0..papers).collect(),
            reviews_per_paper: 3,
            shares: (0.0, 0.1),
            z_coverage: 1.0,
            scores: ScoreVariant::EACH.to_vec(),
            seed: 5,
        }
    }

    /// People write about their paper, each with words of their own; both LLMs say the same.
    fn vectors(set: &ReviewSet) -> Vectors {
        let papers = set.papers.len();
        let mut vectors = DenseVectors::new(3 * papers);
        for (index, review) in set.reviews.iter().enumerate() {
            let mut row = vec![0.0; 3 * papers];
            row[review.paper as usize] = 1.0;
            row[2 * papers + (index * 7) % papers] += 0.3;
            vectors.push(&row);
        }
        for z in &set.z {
            let mut row = vec![0.0; 3 * papers];
            row[z.paper as usize] = 0.7;
            row[papers + z.paper as usize] = 1.0;
            vectors.push(&row);
        }
        Vectors::Dense(vectors)
    }

    #[test]
    fn the_same_seed_gives_the_same_trials_on_any_number_of_threads() {
        let set = real(16, 4);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let vectors = vectors(&set);
            pool.install(|| reviewers(&set, &vectors, &settings(16), 3, None, &NoProgress)).unwrap()
        };
        let trials = run(1);
        assert_eq!(trials.len(), 12);
        assert_eq!(run(3), trials);
        // Point 1 of the second repetition is the sixth trial.
        let id = TrialId { repetition: 1, point: 1 };
        let (kinds, scores) = settings(16).trial_scores(&set, &vectors(&set), id).unwrap();
        let aucs: Vec<KindAucs> = scores.iter().map(|scores| kind_aucs(scores, &kinds)).collect();
        assert_eq!(aucs, trials[5].aucs);
    }

    #[test]
    fn the_combined_score_finds_every_kind_where_others_miss_one() {
        let set = real(24, 4);
        let trials = reviewers(&set, &vectors(&set), &settings(24), 5, None, &NoProgress).unwrap();
        let mean = |score: ScoreVariant, kind: usize| {
            let index = ScoreVariant::EACH.iter().position(|other| *other == score).unwrap();
            let aucs: Vec<f64> =
                trials.iter().filter_map(|trial| trial.aucs[index][kind].auc).collect();
            assert_eq!(aucs.len(), trials.len());
            aucs.iter().sum::<f64>() / aucs.len() as f64
        };
        for kind in 0..4 {
            assert!(mean(ScoreVariant::Combined, kind) > 0.9, "kind {kind}");
        }
        // Distance from Z rewards any other paper.
        assert!(mean(ScoreVariant::Negative, 2) < 0.5);
    }

    #[test]
    fn an_auc_by_hand() {
        use ReviewerKind::{Human, Llm, OffTopic};
        // Humans 3 and 1, llm 2: one pair of two; off_topic 0: both; a missing human is counted.
        let scores = [Some(3.0), Some(1.0), Some(2.0), Some(0.0), None];
        let aucs = kind_aucs(&scores, &[Human, Human, Llm, OffTopic, Human]);
        assert_eq!(aucs.map(|trial| trial.auc), [Some(0.75), Some(0.5), Some(1.0), None]);
        assert_eq!(aucs.map(|trial| trial.n_missing), [1, 1, 1, 1]);
    }

    #[test]
    fn with_one_z_per_paper_every_way_to_combine_is_the_same() {
        use ScoreVariant as V;
        let set = real(16, 4);
        let aucs = |settings: &ReviewersSettings, variants: [V; 3]| {
            let trials = reviewers(&set, &vectors(&set), settings, 2, None, &NoProgress).unwrap();
            let of = |variant: V| {
                let index = V::EACH.iter().position(|other| *other == variant).unwrap();
                trials.iter().map(|trial| trial.aucs[index]).collect::<Vec<_>>()
            };
            variants.map(of)
        };
        for variants in [
            [V::Projected, V::ProjectedMin, V::ProjectedMean],
            [V::ProjectedCentered, V::ProjectedCenteredMin, V::ProjectedCenteredMean],
        ] {
            let [span, min, mean] = aucs(&settings(16), variants);
            assert_eq!((&min, &mean), (&span, &span));
        }
    }

    #[test]
    fn the_effect_of_a_rewriting_by_hand() {
        let people = People { rewritten: vec![0, 1], others: vec![2, 3, 4] };
        let before = [Some(5.0), Some(3.0), Some(1.0), Some(2.0), Some(4.0), Some(9.0)];
        let after = [Some(0.0), Some(3.0), Some(1.0), Some(2.0), Some(4.0), Some(9.0)];
        let effect = people.effect(&before, &after);
        // 0 beats nobody, 3 beats 1 and 2: 2 of 6 pairs.
        assert!((effect.auc.auc.unwrap() - 2.0 / 6.0).abs() < 1e-12);
        // Percentiles before: .9 and .5; after: .1 and .7. The sixth is no person.
        assert!((effect.shift.unwrap() - (-0.8 + 0.2) / 2.0).abs() < 1e-12);
        // The 5 % quantile of 1, 2, 4 is 1.1.
        assert_eq!((effect.low, effect.low_before), (Some(0.5), Some(0.0)));
        let nobody = People { rewritten: vec![], others: vec![2] };
        let effect = nobody.effect(&before, &after);
        assert_eq!((effect.auc.auc, effect.shift, effect.low), (None, None, None));
    }

    #[test]
    fn rewriting_changes_nothing_where_the_vectors_are_the_same() {
        let mut set = real(16, 4);
        // Own reads the texts, whatever the vectors.
        let of_vectors = ScoreVariant::EACH.into_iter().filter(|score| *score != ScoreVariant::Own);
        let plain = ReviewersSettings { scores: of_vectors.collect(), ..settings(16) };
        let rewriting = Some((Rewriting::Polished, 0.5));
        let changed = ReviewersSettings { rewriting, reword_copies: true, ..plain.clone() };
        let contents = changed.contents(&set);
        assert_eq!(contents.len(), 2 * (set.reviews.len() + set.z.len()));
        assert_eq!(plain.contents(&set).len(), set.reviews.len() + set.z.len());
        assert_ne!(contents[0], contents[set.reviews.len() + set.z.len()]);
        let Vectors::Dense(own) = vectors(&set) else { unreachable!() };
        let n = set.reviews.len();
        let mut rows = own.clone();
        own.rows().take(n).chain(own.rows().skip(n)).for_each(|row| rows.push(row));
        let vectors = Vectors::Dense(rows);
        let run = |settings: &ReviewersSettings| {
            reviewers(&set, &vectors, settings, 2, None, &NoProgress).unwrap()
        };
        let (before, after) = (run(&plain), run(&changed));
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.aucs, after.aucs);
            assert!(before.effects.is_empty());
            for effect in &after.effects {
                assert!(effect.shift.unwrap().abs() < 1e-12);
                assert_eq!(effect.low, effect.low_before);
            }
        }
        set.reviews.clear();
        assert_eq!(plain.contents(&set).len(), set.z.len());
    }
}

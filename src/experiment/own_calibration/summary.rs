//! What came out of many venues.

use super::venues::{BINS, Calibration, FlagRates, Handed, KindRates, OfReview, Outcome, Trial};
use crate::metrics::auc::auc;
use crate::stats::rank::{mean, quantile, whole};

/// Rates of false positives of [`Calibration::found_at`].
const FALSE_RATES: [f64; 2] = [0.01, 0.001];

pub(super) fn summarise(trials: &[Trial], rates: &[f64]) -> Calibration {
    let all: Vec<&Outcome> = trials.iter().flat_map(|trial| &trial.reviewers).collect();
    let people = all.iter().filter(|outcome| outcome.handed.is_own()).count();
    let cheaters = all.len() - people;
    let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
    let reviews: Vec<&OfReview> = trials.iter().flat_map(|trial| &trial.reviews).collect();
    let not_own = reviews.iter().filter(|review| !review.is_own).count();
    let flag_rates = rates.iter().enumerate().map(|(at, &fdr)| {
        let looked: Vec<&&OfReview> = reviews.iter().filter(|review| review.looked[at]).collect();
        let honest = looked.iter().filter(|review| review.is_own).count();
        let flagged: Vec<&&Outcome> = all.iter().filter(|outcome| outcome.looked[at]).collect();
        let wrong = flagged.iter().filter(|outcome| outcome.handed.is_own()).count();
        FlagRates {
            fdr,
            false_share: share(wrong, flagged.len()),
            recall: share(flagged.len() - wrong, cheaters),
            people: share(wrong, people),
            flagged: flagged.len(),
            false_reviews: share(honest, looked.len()),
            reviews_found: share(looked.len() - honest, not_own),
        }
    });
    let auc_of = |keep: &dyn Fn(Handed) -> Option<bool>| {
        let per_trial = trials.iter().filter_map(|trial| {
            let items: Vec<(Option<f64>, bool)> = (trial.reviewers.iter())
                .filter_map(|outcome| Some((Some(outcome.score), keep(outcome.handed)?)))
                .collect();
            auc(&items)
        });
        mean(&per_trial.collect::<Vec<_>>())
    };
    let mut kinds: Vec<Handed> = all.iter().map(|outcome| outcome.handed).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let shown = usize::from(rates.len() > 1);
    let by_kind = kinds.into_iter().map(|kind| {
        let of: Vec<&&Outcome> = all.iter().filter(|outcome| outcome.handed == kind).collect();
        let flagged = of.iter().filter(|outcome| outcome.looked[shown]).count();
        let against = auc_of(&|other| match other {
            Handed::Own if kind != Handed::Own => Some(true),
            other => (other == kind && kind != Handed::Own).then_some(false),
        });
        let count = of.len() as f64;
        let not_own = of.iter().filter(|outcome| outcome.own < 0.5).count();
        KindRates {
            kind,
            auc: against,
            flagged: flagged as f64 / count,
            not_own: not_own as f64 / count,
            count: of.len(),
        }
    });
    let prevalence = || {
        trials.iter().filter_map(|trial| {
            let (estimate, interval) = trial.prevalence?;
            let bad = trial.reviewers.iter().filter(|outcome| !outcome.handed.is_own()).count();
            Some((estimate, interval, share(bad, trial.reviewers.len())?))
        })
    };
    let inside =
        |low: f64, high: f64, truth: f64| f64::from(u8::from(low <= truth && truth <= high));
    Calibration {
        rates: flag_rates.collect(),
        auc: auc_of(&|handed| Some(handed.is_own())),
        auc_of_reviews: mean(
            &trials
                .iter()
                .filter_map(|trial| {
                    let items = trial.reviews.iter().map(|r| (Some(r.own), r.is_own));
                    auc(&items.collect::<Vec<_>>())
                })
                .collect::<Vec<_>>(),
        ),
        bins: bins(&all),
        calibration_error: calibration_error(&all),
        prevalence_error: mean(&prevalence().map(|(e, _, truth)| e - truth).collect::<Vec<_>>()),
        interval_coverage: mean(
            &prevalence().map(|(_, (a, b), truth)| inside(a, b, truth)).collect::<Vec<_>>(),
        ),
        found_at: FALSE_RATES.map(|rate| found_at(&all, rate)),
        by_kind: by_kind.collect(),
        judged: (people, cheaters),
    }
}

/// Share of the cheaters whose score is below the quantile `rate` of the people's.
fn found_at(all: &[&Outcome], rate: f64) -> Option<f64> {
    let scores = |own: bool| {
        let of = all.iter().filter(move |outcome| outcome.handed.is_own() == own);
        of.map(|outcome| outcome.score)
    };
    let mut people: Vec<f64> = scores(true).collect();
    people.sort_by(f64::total_cmp);
    let bound = quantile(&people, rate)?;
    mean(&scores(false).map(|score| f64::from(u8::from(score < bound))).collect::<Vec<_>>())
}

fn bins(all: &[&Outcome]) -> [(f64, usize, usize); BINS.len() - 1] {
    let mut bins = [(0.0, 0, 0); BINS.len() - 1];
    for outcome in all {
        let (sum, people, count) =
            &mut bins[BINS[1..BINS.len() - 1].partition_point(|end| *end <= outcome.own)];
        *sum += outcome.own;
        *people += usize::from(outcome.handed.is_own());
        *count += 1;
    }
    bins
}

/// Mean over ten bins of P(own), weighted by their size, of the distance between the mean
/// probability and the share of people.
fn calibration_error(all: &[&Outcome]) -> Option<f64> {
    const BINS: usize = 10;
    let mut bins = [(0.0, 0.0); BINS];
    for outcome in all {
        let bin = whole(outcome.own * BINS as f64).min(BINS - 1);
        bins[bin].0 += outcome.own;
        bins[bin].1 += f64::from(u8::from(outcome.handed.is_own()));
    }
    let distance: f64 = bins.iter().map(|(own, people)| f64::abs(own - people)).sum();
    (!all.is_empty()).then(|| distance / all.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(handed: Handed, own: f64, looked: bool) -> Outcome {
        Outcome { handed, own, score: own, looked: vec![looked] }
    }

    #[test]
    fn a_summary_by_hand() {
        let reviewers = vec![
            outcome(Handed::Own, 0.96, false),
            outcome(Handed::Own, 0.92, false),
            outcome(Handed::OwnShort, 0.04, true),
            outcome(Handed::Llm, 0.02, true),
            outcome(Handed::OffTopic, 0.94, false),
        ];
        let review = |is_own, own, looked| OfReview { is_own, own, looked: vec![looked] };
        let reviews =
            vec![review(true, 0.9, false), review(false, 0.9, true), review(true, 0.1, true)];
        let trial = Trial { reviewers, reviews, prevalence: Some((0.45, (0.3, 0.5))) };
        let found = summarise(&[trial], &[0.05]);
        let rates = found.rates[0];
        assert_eq!((rates.false_share, rates.recall, rates.flagged), (Some(0.5), Some(0.5), 2));
        assert_eq!(rates.people, Some(1.0 / 3.0));
        assert_eq!((rates.false_reviews, rates.reviews_found), (Some(0.5), Some(1.0)));
        // A tie and a lost pair.
        assert_eq!(found.auc_of_reviews, Some(0.25));
        assert_eq!(found.bins[1], (0.06, 1, 2));
        assert_eq!(found.bins[5].1, 1);
        assert_eq!(found.bins[6].2, 1);
        // Pairs of people and cheaters: .96 > both, .92 > .02, .04 > .02.
        assert_eq!(found.auc, Some(4.0 / 6.0));
        // Last bin: .96 + .92 + .94 against 2 people; first bin: .06 against 1.
        let expected = ((2.82 - 2.0) + (1.0 - 0.06)) / 5.0;
        assert!((found.calibration_error.unwrap() - expected).abs() < 1e-12);
        assert!((found.prevalence_error.unwrap() - 0.05).abs() < 1e-12);
        assert_eq!((found.interval_coverage, found.judged), (Some(1.0), (3, 2)));
        let kinds = found.by_kind.iter().map(|of| (of.kind, of.auc, of.flagged, of.not_own));
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(kinds[0], (Handed::Own, None, 0.0, 0.0));
        assert_eq!(kinds[1], (Handed::OwnShort, Some(1.0), 1.0, 1.0));
        assert_eq!(kinds[3], (Handed::OffTopic, Some(0.5), 0.0, 0.0));
        // People have .04, .92 and .96: 1 % of the way from the first to the last is .0576.
        assert_eq!(found.found_at, [Some(0.5); 2]);
    }
}

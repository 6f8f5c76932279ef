//! Intraclass correlation of raters drawn at random who all rate every item (two-way random
//! effects, absolute agreement): of one rater, ICC(2,1), and of the mean of k raters, ICC(2,k).
//!
//! With the mean squares of items `MS_R`, of raters `MS_C` and of what is left `MS_E`, n items, k raters:
//!
//! `ICC(2,1) = (MS_R - MS_E) / (MS_R + (k - 1) MS_E + k (MS_C - MS_E) / n)`
//! `ICC(2,k) = (MS_R - MS_E) / (MS_R + (MS_C - MS_E) / n)`
//!
//! Shrout and Fleiss (1979), *Psychological Bulletin* 86(2).

/// Both coefficients, at most 1; one is `None` where its denominator is not above 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Icc {
    /// ICC(2,1): of one rater.
    pub single: Option<f64>,
    /// ICC(2,k): of the mean of all raters.
    pub mean: Option<f64>,
}

/// The coefficients of items, each with how often it counts and its ratings in the order of the
/// raters.
///
/// Both are `None` with fewer than two items or raters, and if all ratings are equal.
///
/// # Panics
///
/// If items have different numbers of ratings.
pub(crate) fn icc<R: AsRef<[f64]>>(items: impl Iterator<Item = (f64, R)> + Clone) -> Icc {
    let Some((_, first)) = items.clone().next() else { return Icc::default() };
    let raters = first.as_ref().len();
    let (mut count, mut means) = (0.0, vec![0.0; raters]);
    for (times, ratings) in items.clone() {
        assert_eq!(ratings.as_ref().len(), raters, "one rating per rater");
        count += times;
        means.iter_mut().zip(ratings.as_ref()).for_each(|(sum, rating)| *sum += times * rating);
    }
    // Asked of the ratings, since means of equal numbers can differ from them in the last digit.
    #[expect(clippy::float_cmp, reason = "equal is exactly equal")]
    let one_value = |ratings: &R| ratings.as_ref().iter().all(|r| *r == first.as_ref()[0]);
    if count < 2.0 || raters < 2 || items.clone().all(|(_, ratings)| one_value(&ratings)) {
        return Icc::default();
    }
    means.iter_mut().for_each(|sum| *sum /= count);
    let k = raters as f64;
    let grand = means.iter().sum::<f64>() / k;
    let (mut of_items, mut left) = (0.0, 0.0);
    for (times, ratings) in items {
        let mean = ratings.as_ref().iter().sum::<f64>() / k;
        of_items += times * (mean - grand).powi(2);
        for (rating, of_rater) in ratings.as_ref().iter().zip(&means) {
            left += times * (rating - mean - of_rater + grand).powi(2);
        }
    }
    let of_raters: f64 = means.iter().map(|mean| (mean - grand).powi(2)).sum();
    let ms_items = k * of_items / (count - 1.0);
    let ms_raters = count * of_raters / (k - 1.0);
    let ms_left = left / ((count - 1.0) * (k - 1.0));
    // What differences of the mean squares leave of 0 is no denominator.
    let nothing = 1e-12 * (ms_items + ms_raters + ms_left);
    let over = |below: f64| (below > nothing).then(|| (ms_items - ms_left) / below);
    let of_raters = (ms_raters - ms_left) / count;
    Icc {
        single: over(ms_items + (k - 1.0) * ms_left + k * of_raters),
        mean: over(ms_items + of_raters),
    }
}

use proptest::prelude::*;

use super::alpha::{Coincidences, Level};
use super::bootstrap::{ClusterCounts, few_clusters, interval, over_draws, uncertainty, weights};
use super::fleiss::{fleiss, fleiss_of_two};
use super::icc::{Icc, icc};
use super::kappa::{Distance, kappa};
use super::ordered::{
    auc_over_pairs, bias, mean_absolute_error, pearson, root_mean_square_error, spearman,
};
use super::paired::{Permutations, exchangeable, holm, mcnemar};
use super::*;
use crate::data::progress::NoProgress;
use crate::metrics::correlation::correlation;

const VALUES: [f64; 4] = [0.0, 1.0, 2.5, 4.0];

fn close(got: Option<f64>, want: f64, within: f64) -> bool {
    got.is_some_and(|got| (got - want).abs() < within)
}

fn same(got: Option<f64>, want: Option<f64>) -> bool {
    match (got, want) {
        (None, None) => true,
        (Some(got), Some(want)) => (got - want).abs() < 1e-9,
        _ => false,
    }
}

/// Items with a gold label and a label, of a scale of four.
fn items() -> impl Strategy<Value = Vec<(usize, usize)>> {
    proptest::collection::vec((0..4_usize, 0..4_usize), 0..30)
}

fn used(labels: impl Iterator<Item = usize>) -> usize {
    labels.collect::<std::collections::BTreeSet<_>>().len()
}

/// Krippendorff's example: four coders, twelve units, labels 1 to 5, 0 for a missing one.
const CODERS: [[usize; 12]; 4] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];

fn coded() -> Vec<Vec<u64>> {
    (0..12)
        .map(|unit| {
            let mut counts = vec![0; 5];
            for coder in CODERS {
                if let Some(label) = coder[unit].checked_sub(1) {
                    counts[label] += 1;
                }
            }
            counts
        })
        .collect()
}

#[test]
fn alpha_of_the_example_of_krippendorff() {
    let found = Coincidences::of_units(5, &coded());
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    // Published: .743, .815, .849.
    assert!(close(found.alpha(Level::Nominal), 0.743, 5e-4));
    assert!(close(found.alpha(Level::Ordinal), 0.815, 5e-4));
    assert!(close(found.alpha(Level::Interval(&values)), 0.849, 5e-4));
}

#[test]
fn fleiss_of_the_example_of_1971() {
    // Fleiss (1971), Table 1, as in many text books: 10 items, 14 raters, 5 labels, kappa .210.
    let items = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7_u64],
    ];
    assert!(close(fleiss(&items), 0.210, 5e-4));
}

#[test]
fn coefficients_of_a_skewed_table_by_hand() {
    // Of 125 items 118 and 0 agree: .944. Kappa: by chance (123 120 + 2 5) / 125² = .9453, so
    // (.944 - .94528) / (1 - .94528) = -.0234. AC1: mean shares .972 and .028, by chance
    // 2 (.972 .028) = .054432, so (.944 - .054432) / (1 - .054432) = .940776.
    let matrix = Confusion::of_counts(2, vec![118, 5, 2, 0]);
    assert!(close(kappa(&matrix, Distance::Nominal), -0.023_392, 1e-6));
    assert!(close(ac1::ac1(&matrix), 0.940_776, 1e-6));
    assert!(close(matrix.precision(0), 118.0 / 120.0, 1e-12));
    assert!(close(matrix.recall(0), 118.0 / 123.0, 1e-12));
    assert_eq!(matrix.recall(1), Some(0.0));
}

#[test]
fn weighted_kappa_error_and_order_by_hand() {
    // Pairs (gold, label) 0 0, 0 1, 1 1, 2 0 on the values 0, 1, 3.
    let matrix = Confusion::of_pairs(3, [(0, 0), (0, 1), (1, 1), (2, 0)]);
    let values = [0.0, 1.0, 3.0];
    // |differences| 0, 1, 0, 3: mean 1. Signed 0, 1, 0, -3: mean -.5.
    assert_eq!(mean_absolute_error(&matrix, &values), Some(1.0));
    assert_eq!(bias(&matrix, &values), Some(-0.5));
    // By chance: gold 0, 0, 1, 3 against labels 0, 1, 1, 0: sums of |.| 2, 2, 2, 10 = 16 of 16
    // pairs, mean 1; so linear 1 - 1/1 = 0. Squares: observed (1 + 9) / 4 = 2.5; by chance
    // (2 + 2 + 2 + (9 + 4 + 4 + 9)) / 16 = 2; 1 - 2.5 / 2 = -.25.
    assert!(close(kappa(&matrix, Distance::Linear(&values)), 0.0, 1e-12));
    assert!(close(kappa(&matrix, Distance::Quadratic(&values)), -0.25, 1e-12));
    // Pairs of different gold: (a, c) .0<1 won, (a, d) tie, (b, c) tie, (b, d) lost, (c, d) lost.
    assert_eq!(auc_over_pairs(&matrix), Some((1.0 + 0.5 + 0.5) / 5.0));
}

#[test]
fn a_constant_labeller_is_undefined_where_chance_is_corrected() {
    let constant = Confusion::of_pairs(3, [(0, 1), (1, 1), (2, 1)]);
    for distance in [Distance::Nominal, Distance::Linear(&VALUES), Distance::Quadratic(&VALUES)] {
        assert_eq!(kappa(&constant, distance), None);
        assert_eq!(kappa(&constant.transposed(), distance), None);
    }
    let one_value = Confusion::of_pairs(3, [(1, 1), (1, 1)]);
    for metric in Metric::all(3, true) {
        let defined = metric.of(&one_value, Some(&VALUES[..3])).is_some();
        let expected = matches!(
            metric,
            Metric::Accuracy
                | Metric::Mae
                | Metric::Rmse
                | Metric::Bias
                | Metric::Precision(1)
                | Metric::Recall(1)
        );
        assert_eq!(defined, expected, "{metric:?}");
        assert_eq!(metric.of(&Confusion::new(3), Some(&VALUES[..3])), None, "{metric:?}");
    }
    assert_eq!(fleiss(&[[0_u64, 2], [0, 3], [1, 0]]), None);
}

#[test]
fn a_label_without_a_number_has_no_distance() {
    let matrix = Confusion::of_pairs(2, [(0, 0), (1, 1), (1, 0)]);
    for metric in Metric::all(2, true) {
        assert_eq!(metric.of(&matrix, None).is_none(), metric.needs_numbers(), "{metric:?}");
    }
}

#[test]
fn missing_labels_bound_the_metrics() {
    // 2 right, 1 wrong, and one missing of each gold label.
    let matrix = Confusion::of_pairs(3, [(0, 0), (1, 1), (2, 1)]);
    let missing = [1, 1, 1];
    let of = |metric| bounds::bounds(metric, &matrix, &missing, Some(&[0.0, 1.0, 2.0])).unwrap();
    assert_eq!(of(Metric::Accuracy), (2.0 / 6.0, 5.0 / 6.0));
    // One error of 1; all missing wrong adds 2, 1 and 2.
    assert_eq!(of(Metric::Mae), (1.0 / 6.0, 6.0 / 6.0));
    // Sum of differences -1; all missing lowest adds 0, -1, -2, all highest adds 2, 1, 0.
    assert_eq!(of(Metric::Bias), (-4.0 / 6.0, 2.0 / 6.0));
    // Label 1 was given twice, once right: at worst to both wrong items, at best to the right one.
    assert_eq!(of(Metric::Precision(1)), (1.0 / 4.0, 2.0 / 3.0));
    assert_eq!(of(Metric::Recall(1)), (1.0 / 2.0, 2.0 / 2.0));
}

#[test]
fn a_metric_lies_within_its_bounds() {
    // Gold 0 1 1 and labels 0 1 2: both pairs are in order. With a 0 and a 2 that are right, 7.5 of 8 are.
    let matrix = Confusion::of_pairs(3, [(0, 0), (1, 1), (1, 2)]);
    let values = [0.0, 1.0, 2.0];
    let (low, high) = bounds::bounds(Metric::Auc, &matrix, &[1, 0, 1], Some(&values)).unwrap();
    assert_eq!(Metric::Auc.of(&matrix, Some(&values)), Some(1.0));
    // Both wrong: gold 0 0 1 1 2, labels 0 2 1 2 0: 0 below 1 and 2, .5 of 2 and 2: 2.5 + .5 of 8.
    assert!((low - 3.0 / 8.0).abs() < 1e-12 && (high - 1.0).abs() < 1e-12, "{low} {high}");
}

#[test]
fn draws_that_are_all_equal_make_nothing_certain() {
    let all = |value: f64| [Some(value); 50];
    assert_eq!(uncertainty(&all(1.0)), None);
    let mut values = all(1.0);
    values[..10].fill(Some(0.5));
    assert_eq!(uncertainty(&values), interval(&values));
    assert_eq!([1, 2, 19, 20].map(|n| few_clusters(n).is_some()), [false, true, true, false]);
}

/// Six subjects, four judges: Shrout and Fleiss (1979), table 2.
const JUDGES: [[f64; 4]; 6] = [
    [9.0, 2.0, 5.0, 8.0],
    [6.0, 1.0, 3.0, 2.0],
    [8.0, 4.0, 6.0, 8.0],
    [7.0, 1.0, 2.0, 6.0],
    [10.0, 5.0, 6.0, 9.0],
    [6.0, 2.0, 4.0, 7.0],
];

#[test]
fn intraclass_correlations_of_shrout_and_fleiss_and_pingouin() {
    // ICC(A,1) and ICC(A,k) of pingouin 0.6; .29 and .62 in the paper.
    let all = icc(JUDGES.iter().map(|ratings| (1.0, ratings)));
    assert!(close(all.single, 0.289_763_779_527_559_16, 1e-12), "{all:?}");
    assert!(close(all.mean, 0.620_050_547_598_989_3, 1e-12), "{all:?}");
    let two = || JUDGES.iter().map(|ratings| [ratings[0], ratings[3]]);
    let found = icc(two().map(|ratings| (1.0, ratings)));
    assert!(close(found.single, 0.647_887_323_943_662_2, 1e-12), "{found:?}");
    assert!(close(found.mean, 0.786_324_786_324_786_5, 1e-12), "{found:?}");
    // The same of a matrix.
    let values: Vec<f64> = (0..=10).map(f64::from).collect();
    let place =
        |value: f64| values.iter().position(|known| known.total_cmp(&value).is_eq()).unwrap();
    let matrix = Confusion::of_pairs(11, two().map(|[a, b]| (place(a), place(b))));
    assert!(same(Metric::IccSingle.of(&matrix, Some(&values)), found.single));
    assert!(same(Metric::IccMean.of(&matrix, Some(&values)), found.mean));
    // An item that counts twice is two items.
    let twice = JUDGES.iter().chain(&JUDGES[..1]).map(|ratings| (1.0, ratings));
    let weights = JUDGES.iter().zip([2.0, 1.0, 1.0, 1.0, 1.0, 1.0]).map(|(r, w)| (w, r));
    assert!(same(icc(twice).single, icc(weights).single));
    // One item, one rater, one value for all: nothing to correlate.
    let none = Icc::default();
    assert_eq!(icc([(1.0, [1.0, 2.0])].into_iter()), none);
    // By hand, of ratings d apart: MS_R d²/6, MS_C 0, MS_E d²/2. The denominators are d²/3, and 0 but for rounding.
    let (low, high) = (0.1, 0.8);
    let opposed = icc([(1.0, [high, low]), (1.0, [low, high]), (1.0, [low, low])].into_iter());
    assert!(same(opposed.single, Some(-1.0)) && opposed.mean.is_none(), "{opposed:?}");
    assert_eq!(icc([(1.0, [1.0]), (1.0, [2.0])].into_iter()), none);
    assert_eq!(icc([(1.0, [1.0, 1.0]), (1.0, [1.0, 1.0])].into_iter()), none);
}

#[test]
fn mcnemar_and_holm_by_hand() {
    // 2 (C(6, 0) + C(6, 1)) / 2^6 = 14 / 64.
    assert!((mcnemar(1, 5) - 0.218_75).abs() < 1e-12);
    assert!((mcnemar(5, 1) - 0.218_75).abs() < 1e-12);
    assert!((mcnemar(3, 3) - 1.0).abs() < 1e-12 && (mcnemar(0, 0) - 1.0).abs() < 1e-12);
    // p.adjust(c(.01, .04, .03, .005), "holm") in R: .03 .06 .06 .02.
    let adjusted = holm(&[Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)]);
    for (got, want) in adjusted.iter().zip([Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)]) {
        assert!(same(*got, want), "{got:?} {want:?}");
    }
}

#[test]
fn swapping_clusters_by_hand() {
    // Three clusters with one item each, which only the first labeller has right: of the eight
    // assignments two have a difference of 1 in size.
    let first = ClusterCounts::new(2, 3, [(0, 1, 1), (1, 1, 1), (2, 1, 1)]);
    let second = ClusterCounts::new(2, 3, [(0, 1, 0), (1, 1, 0), (2, 1, 0)]);
    let accuracy = |matrix: &Confusion| vec![matrix.accuracy()];
    let p = |draws| {
        let permutations = Permutations { draws, seed: 1 };
        exchangeable((&first, &second), permutations, &NoProgress, accuracy)[0].unwrap()
    };
    assert!((p(8) - 0.25).abs() < 1e-12);
    // Drawn at random: (1 + about a quarter of 7) / 8.
    let sampled = p(7) * 8.0;
    assert!((sampled - sampled.round()).abs() < 1e-9 && sampled >= 1.0, "{sampled}");
}

#[test]
fn intervals_leave_out_few_undefined_draws_and_no_more() {
    let values: Vec<Option<f64>> = (0..=100).map(|v| Some(f64::from(v))).collect();
    let (low, high) = interval(&values).unwrap();
    assert!(close(Some(low), 2.5, 1e-9) && close(Some(high), 97.5, 1e-9), "{low} {high}");
    let mut few = values.clone();
    few[..5].fill(None);
    assert!(interval(&few).is_some());
    few[..20].fill(None);
    assert_eq!(interval(&few), None);
    assert_eq!(interval(&[]), None);
}

#[test]
fn draws_do_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| over_draws(5, (20, 3), &NoProgress, <[u32]>::to_vec))
    };
    let one = run(1);
    assert_eq!(one, run(3));
    assert!(one.iter().all(|weights| weights.iter().sum::<u32>() == 5));
    assert_ne!(one[0], one[1]);
}

fn kappa_by_pairs(items: &[(usize, usize)], distance: Distance<'_>) -> Option<f64> {
    if used(items.iter().map(|i| i.0)) < 2 || used(items.iter().map(|i| i.1)) < 2 {
        return None;
    }
    let n = items.len() as f64;
    let observed: f64 = items.iter().map(|&(g, l)| distance.between(g, l)).sum::<f64>() / n;
    let all = items.iter().flat_map(|a| items.iter().map(move |b| (a.0, b.1)));
    let expected: f64 = all.map(|(g, l)| distance.between(g, l)).sum::<f64>() / (n * n);
    Some(1.0 - observed / expected)
}

fn auc_by_pairs(items: &[(usize, usize)]) -> Option<f64> {
    let (mut won, mut pairs) = (0.0, 0.0);
    for low in items {
        for high in items.iter().filter(|high| high.0 > low.0) {
            pairs += 1.0;
            won += match high.1.cmp(&low.1) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    (pairs > 0.0).then(|| won / pairs)
}

/// Krippendorff's definition: mean distance of pairs within units, each rating with the same
/// weight, over that of all pairs of ratings.
fn alpha_by_pairs(units: &[Vec<usize>], distance: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let units: Vec<&Vec<usize>> = units.iter().filter(|unit| unit.len() > 1).collect();
    let all: Vec<usize> = units.iter().flat_map(|unit| unit.iter().copied()).collect();
    if used(all.iter().copied()) < 2 {
        return None;
    }
    let among = |ratings: &[usize]| {
        let mut sum = 0.0;
        for (i, &a) in ratings.iter().enumerate() {
            for (j, &b) in ratings.iter().enumerate() {
                sum += if i == j { 0.0 } else { distance(a, b) };
            }
        }
        sum / (ratings.len() as f64 - 1.0)
    };
    let observed: f64 = units.iter().map(|unit| among(unit)).sum();
    Some(1.0 - observed / among(&all))
}

fn counted(units: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let count = |unit: &Vec<usize>| {
        (0..4).map(|label| unit.iter().filter(|&&l| l == label).count() as u64).collect()
    };
    units.iter().map(count).collect()
}

proptest! {
    #[test]
    fn matrices_give_what_pairs_of_items_give(items in items()) {
        let matrix = Confusion::of_pairs(4, items.iter().copied());
        for distance in
            [Distance::Nominal, Distance::Linear(&VALUES), Distance::Quadratic(&VALUES)]
        {
            let (got, want) = (kappa(&matrix, distance), kappa_by_pairs(&items, distance));
            prop_assert!(same(got, want), "{distance:?} {got:?} {want:?}");
            prop_assert!(same(kappa(&matrix.transposed(), distance), want), "symmetric");
        }
        prop_assert!(same(auc_over_pairs(&matrix), auc_by_pairs(&items)));
        let flipped = Confusion::of_pairs(4, items.iter().map(|&(g, l)| (g, 3 - l)));
        prop_assert!(same(auc_over_pairs(&flipped), auc_over_pairs(&matrix).map(|a| 1.0 - a)));
        let n = items.len() as f64;
        let errors = items.iter().map(|&(g, l)| VALUES[l] - VALUES[g]);
        let mae = (n > 0.0).then(|| errors.clone().map(f64::abs).sum::<f64>() / n);
        prop_assert!(same(mean_absolute_error(&matrix, &VALUES), mae));
        prop_assert!(same(bias(&matrix, &VALUES), (n > 0.0).then(|| errors.sum::<f64>() / n)));
        let squares = items.iter().map(|&(g, l)| (VALUES[l] - VALUES[g]).powi(2)).sum::<f64>();
        prop_assert!(same(root_mean_square_error(&matrix, &VALUES), (n > 0.0).then(|| (squares / n).sqrt())));
        let twin = correlation(items.iter().map(|&(g, l)| (Some(VALUES[g]), Some(VALUES[l]))));
        prop_assert!(same(pearson(&matrix, &VALUES), twin.pearson));
        prop_assert!(same(spearman(&matrix), twin.spearman));
        let twin = icc(items.iter().map(|&(g, l)| (1.0, [VALUES[g], VALUES[l]])));
        prop_assert!(same(Metric::IccSingle.of(&matrix, Some(&VALUES)), twin.single));
        prop_assert!(same(Metric::IccMean.of(&matrix, Some(&VALUES)), twin.mean));
        for metric in Metric::all(4, true) {
            if let Some(value) = metric.of(&matrix, Some(&VALUES)) {
                prop_assert!(value.is_finite());
                let unbounded = matches!(metric, Metric::Mae | Metric::Rmse | Metric::Bias);
                prop_assert!(unbounded || value <= 1.0 + 1e-12, "{metric:?} {value}");
            }
        }
    }

    #[test]
    fn two_raters_are_a_case_of_many(items in items()) {
        let matrix = Confusion::of_pairs(4, items.iter().copied());
        let units: Vec<Vec<usize>> = items.iter().map(|&(a, b)| vec![a, b]).collect();
        let counts = counted(&units);
        prop_assert!(same(fleiss(&counts), fleiss_of_two(&matrix)));
        let (many, two) = (Coincidences::of_units(4, &counts), Coincidences::of_two(&matrix));
        for level in [Level::Nominal, Level::Ordinal, Level::Interval(&VALUES)] {
            prop_assert!(same(many.alpha(level), two.alpha(level)));
            prop_assert!(same(two.alpha(level), Coincidences::of_two(&matrix.transposed()).alpha(level)));
        }
        // Gwet's p_e from the pooled ratings.
        let pooled: Vec<usize> = units.iter().flatten().copied().collect();
        let n = pooled.len() as f64;
        let share = |l: usize| pooled.iter().filter(|&&p| p == l).count() as f64 / n;
        let chance: f64 = (0..4).map(|l| share(l) * (1.0 - share(l))).sum::<f64>() / 3.0;
        let want = (used(pooled.iter().copied()) > 1)
            .then(|| (matrix.accuracy().unwrap() - chance) / (1.0 - chance));
        prop_assert!(same(ac1::ac1(&matrix), want));
    }

    #[test]
    fn alpha_is_its_definition_over_pairs_of_ratings(
        units in proptest::collection::vec(proptest::collection::vec(0..4_usize, 0..5), 0..10),
    ) {
        let found = Coincidences::of_units(4, &counted(&units));
        let nominal = alpha_by_pairs(&units, |a, b| f64::from(u8::from(a != b)));
        prop_assert!(same(found.alpha(Level::Nominal), nominal));
        let interval = alpha_by_pairs(&units, |a, b| (VALUES[a] - VALUES[b]).powi(2));
        prop_assert!(same(found.alpha(Level::Interval(&VALUES)), interval));
        let of = |label: usize| {
            units.iter().filter(|u| u.len() > 1).flatten().filter(|&&l| l == label).count() as f64
        };
        let ordinal = alpha_by_pairs(&units, |a, b| {
            let between: f64 = (a.min(b)..=a.max(b)).map(of).sum();
            if a == b { 0.0 } else { (between - (of(a) + of(b)) / 2.0).powi(2) }
        });
        prop_assert!(same(found.alpha(Level::Ordinal), ordinal));
    }

    #[test]
    fn identical_raters_agree_fully(labels in proptest::collection::vec(0..4_usize, 2..20)) {
        let matrix = Confusion::of_pairs(4, labels.iter().map(|&l| (l, l)));
        let several = used(labels.iter().copied()) > 1;
        for metric in Metric::all(4, true) {
            let value = metric.of(&matrix, Some(&VALUES));
            let want = match metric {
                Metric::Accuracy => Some(1.0),
                Metric::Mae | Metric::Rmse | Metric::Bias => Some(0.0),
                Metric::Precision(l) | Metric::Recall(l) => labels.contains(&l).then_some(1.0),
                _ => several.then_some(1.0),
            };
            prop_assert!(same(value, want), "{metric:?} {value:?} {want:?}");
        }
    }

    #[test]
    fn a_draw_is_the_matrix_of_the_data_copied(
        items in proptest::collection::vec((0..5_u32, 0..4_usize, 0..4_usize), 0..30),
        draw in 0..50_u32,
    ) {
        let counts = ClusterCounts::new(4, 5, items.iter().copied());
        let weights = weights(5, 7, draw);
        let copied = items.iter().flat_map(|&(cluster, gold, label)| {
            std::iter::repeat_n((gold, label), weights[cluster as usize] as usize)
        });
        prop_assert_eq!(counts.weighted(&weights), Confusion::of_pairs(4, copied));
        let reversed = ClusterCounts::new(4, 5, items.iter().rev().copied());
        prop_assert_eq!(reversed, counts, "the order of items does not matter");
    }

    #[test]
    fn exact_bounds_hold_whatever_the_missing_labels_are(
        items in proptest::collection::vec((0..4_usize, 0..4_usize, any::<bool>()), 1..20),
    ) {
        let seen = items.iter().filter(|i| i.2).map(|i| (i.0, i.1));
        let matrix = Confusion::of_pairs(4, seen);
        let mut missing = [0; 4];
        items.iter().filter(|i| !i.2).for_each(|i| missing[i.0] += 1);
        let truth = Confusion::of_pairs(4, items.iter().map(|i| (i.0, i.1)));
        let exact = [Metric::Accuracy, Metric::Mae, Metric::Bias, Metric::Precision(2), Metric::Recall(2)];
        for metric in exact {
            let Some((low, high)) = bounds::bounds(metric, &matrix, &missing, Some(&VALUES)) else { continue };
            let Some(value) = metric.of(&truth, Some(&VALUES)) else { continue };
            prop_assert!(low - 1e-9 <= value && value <= high + 1e-9, "{metric:?} {low} {value} {high}");
        }
    }

    #[test]
    fn an_exact_permutation_test_is_its_enumeration(
        items in proptest::collection::vec((0..4_u32, 0..2_usize, 0..2_usize, 0..2_usize), 1..12),
    ) {
        let one = ClusterCounts::new(2, 4, items.iter().map(|i| (i.0, i.1, i.2)));
        let other = ClusterCounts::new(2, 4, items.iter().map(|i| (i.0, i.1, i.3)));
        let accuracy = |matrix: &Confusion| vec![matrix.accuracy()];
        let permutations = Permutations { draws: 16, seed: 0 };
        let got = exchangeable((&one, &other), permutations, &NoProgress, accuracy)[0];
        let difference = |swap: u32| -> i64 {
            items
                .iter()
                .map(|&(cluster, gold, a, b)| {
                    let (a, b) = if swap >> cluster & 1 == 1 { (b, a) } else { (a, b) };
                    i64::from(a == gold) - i64::from(b == gold)
                })
                .sum()
        };
        let observed = difference(0).abs();
        let extreme = (0..16).filter(|&swap| difference(swap).abs() >= observed).count();
        prop_assert!(same(got, Some(extreme as f64 / 16.0)));
    }
}

#[test]
fn kappa_of_two_by_two() {
    use crate::metrics::agreement::Confusion;
    use crate::metrics::agreement::kappa::{Distance, kappa};
    // 20 + 15 of 50 agree, .7; by chance .5 * .6 + .5 * .4 = .5; (.7 - .5) / (1 - .5) = .4.
    let matrix = Confusion::of_counts(2, vec![20, 5, 10, 15]);
    assert!((kappa(&matrix, Distance::Nominal).unwrap() - 0.4).abs() < 1e-12);
}

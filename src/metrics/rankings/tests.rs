use proptest::prelude::*;

use super::rbo::truncated;
use super::*;

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

/// Corsi and Urbano's example: red (blue green) yellow pink, and (blue red) white (yellow black
/// purple) green.
fn example() -> (Ranking, Ranking) {
    let (red, blue, green, yellow, pink, white, black, purple) = (0, 1, 2, 3, 4, 5, 6, 7);
    (
        Ranking::new(vec![vec![red], vec![blue, green], vec![yellow], vec![pink]]),
        Ranking::new(vec![vec![blue, red], vec![white], vec![yellow, black, purple], vec![green]]),
    )
}

#[test]
fn extrapolated_rbo_of_the_published_example() {
    let (x, y) = example();
    for (ties, want) in [(Ties::A, 0.692_285_3), (Ties::W, 0.706_825_7), (Ties::B, 0.720_713_1)] {
        assert!(close(extrapolated(&x, &y, 0.95, ties), want, 5e-8), "{ties:?}");
        assert!(close(extrapolated(&y, &x, 0.95, ties), want, 5e-8), "{ties:?}");
    }
}

#[test]
fn rbo_by_hand() {
    // a b c against b a c, p = .5: overlaps 0/1, 2/2, 3/3.
    // Truncated: .5 (0 + .5 + .25) = .375. Largest 1 - .125 = .875; least: d = 2: .5 * .5 * 1/2 =
    // .125, d = 3: .5 * .25 * 3/3 = .125, together .25. (.375 - .25) / (.875 - .25) = .2.
    let (x, y) = (Ranking::by_scores(&[3.0, 2.0, 1.0]), Ranking::by_scores(&[2.0, 3.0, 1.0]));
    assert!(close(truncated(&x, &y, 0.5), 0.375, 1e-12));
    assert!(close(normalised(&x, &y, 0.5), 0.2, 1e-12));
    // Extrapolated: the rest, p^3, has agreement 1: .375 + .125 = .5.
    assert!(close(extrapolated(&x, &y, 0.5, Ties::A), 0.5, 1e-12));
}

#[test]
fn rankings_of_other_things_have_no_normalised_rbo() {
    let (x, y) = example();
    assert_eq!(normalised(&x, &y, 0.9), None);
    let empty = Ranking::default();
    assert_eq!(extrapolated(&x, &empty, 0.9, Ties::B), None);
    assert_eq!(truncated(&empty, &empty, 0.9), None);
    let none =
        extrapolated(&Ranking::new(vec![vec![1]]), &Ranking::new(vec![vec![2]]), 0.9, Ties::A);
    assert_eq!(none, Some(0.0));
}

#[test]
fn tau_b_by_hand_and_where_it_is_undefined() {
    // Pairs of (1, 1), (2, 1), (3, 2), (3, 3): 4 concordant, 0 discordant, 1 tied in x, 1 in y:
    // 4 / sqrt(5 * 5).
    assert!(close(tau_b(&[1.0, 2.0, 3.0, 3.0], &[1.0, 1.0, 2.0, 3.0]), 0.8, 1e-12));
    assert_eq!(tau_b(&[1.0, 1.0], &[1.0, 2.0]), None);
    assert_eq!(tau_b(&[], &[]), None);
    assert!(close(tau_b(&[0.0, -0.0, 1.0], &[2.0, 2.0, 3.0]), 1.0, 1e-12));
}

#[test]
fn ap_correlation_by_hand() {
    // Reference a b c d, ranking b a d c: C = 0/1, 2/2, 2/3: 2/3 (0 + 1 + 2/3) - 1 = 1/9.
    let (reference, ranking) = ([4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 1.0, 2.0]);
    assert!(close(tau_ap(&reference, &ranking), 1.0 / 9.0, 1e-12));
    // Ranking (a b) (c d): first group left out; c and d have 2 of 2 above: 2/2 * 2 - 1 = 1.
    assert!(close(tau_ap(&reference, &[2.0, 2.0, 1.0, 1.0]), 1.0, 1e-12));
    assert_eq!(tau_ap(&reference, &[1.0; 4]), None);
}

/// All orders of `items`.
fn orders(items: &[u32]) -> Vec<Vec<u32>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(index);
        for mut order in orders(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// All rankings without ties that agree with the scores.
fn untied(scores: &[f64]) -> Vec<Vec<u32>> {
    let items: Vec<u32> = (0..u32::try_from(scores.len()).unwrap()).collect();
    let falls = |order: &Vec<u32>| {
        order.windows(2).all(|pair| scores[pair[0] as usize] >= scores[pair[1] as usize])
    };
    orders(&items).into_iter().filter(falls).collect()
}

fn scores_of(order: &[u32]) -> Vec<f64> {
    let mut scores = vec![0.0; order.len()];
    for (rank, &item) in order.iter().enumerate() {
        scores[item as usize] = -(rank as f64);
    }
    scores
}

/// Extrapolated RBO of rankings of the same items without ties, by its definition.
fn plain_rbo(x: &[u32], y: &[u32], p: f64) -> f64 {
    let agreement =
        |d: usize| x[..d].iter().filter(|item| y[..d].contains(item)).count() as f64 / d as f64;
    // Far below the end both hold the same items, so the agreement is 1.
    let mut weight = 1.0 - p;
    (1..2000)
        .map(|depth| {
            let term = weight * if depth > x.len() { 1.0 } else { agreement(depth) };
            weight *= p;
            term
        })
        .sum()
}

fn few_scores() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let score = || (0..4_i32).prop_map(f64::from);
    (1..5_usize).prop_flat_map(move |n| {
        (proptest::collection::vec(score(), n), proptest::collection::vec(score(), n))
    })
}

fn scores() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    proptest::collection::vec((0..8_i32, 0..8_i32), 0..25)
        .prop_map(|pairs| pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

proptest! {
    #[test]
    fn tau_b_is_its_definition_over_pairs((x, y) in scores()) {
        let (mut numerator, mut untied_x, mut untied_y) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                let sign = |v: f64| if v == 0.0 { 0.0 } else { v.signum() };
                let (a, b) = (sign(x[i] - x[j]), sign(y[i] - y[j]));
                numerator += a * b;
                untied_x += a * a;
                untied_y += b * b;
            }
        }
        let product: f64 = untied_x * untied_y;
        let want = (product > 0.0).then(|| numerator / product.sqrt());
        prop_assert!(same(tau_b(&x, &y), want));
        prop_assert!(same(tau_b(&y, &x), want));
    }

    #[test]
    fn ties_of_unknown_order_are_the_mean_over_all_orders((x, y) in few_scores()) {
        // RBO: over the orders of both rankings, which are independent.
        let (of_x, of_y) = (untied(&x), untied(&y));
        let all: Vec<f64> =
            of_x.iter().flat_map(|a| of_y.iter().map(|b| plain_rbo(a, b, 0.8))).collect();
        let got = extrapolated(&Ranking::by_scores(&x), &Ranking::by_scores(&y), 0.8, Ties::A);
        prop_assert!(close(got, mean(&all), 1e-9), "{got:?} {}", mean(&all));
    }

    #[test]
    fn equal_rankings_have_rbo_one_and_symmetry_holds((x, y) in scores(), p in 0.05..0.95_f64) {
        let (a, b) = (Ranking::by_scores(&x), Ranking::by_scores(&y));
        for ties in [Ties::A, Ties::B, Ties::W] {
            let both = extrapolated(&a, &b, p, ties);
            prop_assert!(same(both, extrapolated(&b, &a, p, ties)));
            if let Some(value) = both {
                prop_assert!((-1e-12..=1.0 + 1e-9).contains(&value), "{ties:?} {value}");
            }
            if ties != Ties::A && !a.is_empty() {
                prop_assert!(close(extrapolated(&a, &a, p, ties), 1.0, 1e-9), "{ties:?}");
            }
        }
        prop_assert!(same(tau_ap_b(&x, &y), tau_ap_b(&y, &x)));
    }

    #[test]
    fn without_ties_all_versions_are_one(order in Just((0..7_u32).collect::<Vec<_>>()).prop_shuffle()) {
        let (same_order, other) = (scores_of(&[0, 1, 2, 3, 4, 5, 6]), scores_of(&order));
        let (a, b) = (Ranking::by_scores(&same_order), Ranking::by_scores(&other));
        let plain = plain_rbo(&[0, 1, 2, 3, 4, 5, 6], &order, 0.7);
        for ties in [Ties::A, Ties::B, Ties::W] {
            prop_assert!(close(extrapolated(&a, &b, 0.7, ties), plain, 1e-9));
        }
        let reversed: Vec<f64> = other.iter().map(|score| -score).collect();
        prop_assert!(close(normalised(&b, &b, 0.7), 1.0, 1e-9));
        prop_assert!(close(normalised(&b, &Ranking::by_scores(&reversed), 0.7), 0.0, 1e-9));
        prop_assert!(close(tau_ap(&other, &other), 1.0, 1e-12));
        prop_assert!(close(tau_ap(&other, &reversed), -1.0, 1e-12));
    }
}

use super::*;
use proptest::prelude::*;

/// Everything known, three kinds of numbers that differ.
pub(in crate::text::own) fn model() -> Model {
    let kinds = Kinds {
        copy: Some(Student::new([0.02, 0.03, 0.004])),
        llm: Some(Student::new([0.01, 0.02, -0.003])),
        llm_covariance: [0.01, 0.02, -0.003],
        others: [
            Some(([-0.2, 0.0], Student::new([0.02, 0.02, 0.0]))),
            Some(([-0.1, 0.1], Student::new([0.03, 0.02, 0.001]))),
        ],
        closeness: [0.45, 0.12],
        of_other_llm: 0.6,
    };
    Model {
        kinds,
        center: [0.1, 0.05],
        covariance: [0.02, 0.015, 0.003],
        reasons: [
            Reason { mean: 0.2, deviation: 0.1, slope: 0.01 },
            Reason { mean: 0.3, deviation: 0.2, slope: 0.03 },
            Reason { mean: 0.1, deviation: 0.05, slope: 0.02 },
        ],
        correlation: 0.4,
        cheaters: 0.2,
        shares: [0.4, 0.3, 0.2, 0.1],
        nodes: CLOSENESS.map(|(_, weight)| weight),
    }
}

/// Student t with 8 degrees of freedom by its formula, in two dimensions.
pub(super) fn student(away: Point, [a, b, c]: Covariance) -> f64 {
    let [a, b, c] = [a, b, c].map(|value| value * 0.75);
    let determinant = a * b - c * c;
    let distance =
        (b * away[0] * away[0] - 2.0 * c * away[0] * away[1] + a * away[1] * away[1]) / determinant;
    (1.0 + distance / 8.0).powf(-5.0) / (2.0 * std::f64::consts::PI * determinant.sqrt())
}

proptest! {
    #[test]
    fn products_of_pairs_are_those_of_going_through_pairs(
        points in prop::collection::vec((0.0..1.0_f64, -1.0..1.0_f64, -1.0..1.0_f64), 2..9),
    ) {
        let points: Vec<(f64, Point)> = points.into_iter().map(|(w, x, y)| (w, [x, y])).collect();
        let (mut sum, mut weight) = (0.0, 0.0);
        for (index, (w, x)) in points.iter().enumerate() {
            for (v, y) in &points[..index] {
                sum += w * v * (x[0] * y[0] / 0.3 + x[1] * y[1] / 0.7) / 2.0;
                weight += w * v;
            }
        }
        let found = pair_sums(points.into_iter(), [0.3, 0.7, 0.1]);
        prop_assert!((found.0 - sum).abs() < 1e-9 && (found.1 - weight).abs() < 1e-9);
    }
}

/// A slot with the reasons of a person's text and its z.
fn slot_of([peers, others, task]: [f64; 3], z: f64) -> Slot {
    Slot { x: [0.1, z], copies: [[0.2, 0.9]; 2], llm: [peers, others], tasks: [task, 0.0] }
}

proptest! {
    #[test]
    fn the_slopes_have_the_least_squares_with_a_ridge(
        values in prop::collection::vec(
            (prop::array::uniform3(-0.2..0.6_f64), -0.2..0.6_f64, 0.01..1.0_f64), 2..40),
    ) {
        let slots: Vec<Slot> = values.iter().map(|&(reasons, z, _)| slot_of(reasons, z)).collect();
        let weighted: Vec<(usize, f64)> =
            values.iter().enumerate().map(|(slot, value)| (slot, value.2)).collect();
        let found = reasons(&slots, &weighted);
        let weight: f64 = values.iter().map(|value| value.2).sum();
        let usual = values.iter().map(|value| value.1 * value.2).sum::<f64>() / weight;
        let cost = |slopes: [f64; 3]| {
            let ridge = (0..3).map(|at| 80.0 * (slopes[at] - 0.25 * found[at].deviation).powi(2));
            let errors = values.iter().map(|&(reasons, z, w)| {
                let rises = (0..3).map(|at| {
                    slopes[at] * (reasons[at] - found[at].mean) / found[at].deviation
                });
                w * (z - usual - rises.sum::<f64>()).powi(2)
            });
            ridge.sum::<f64>() + errors.sum::<f64>()
        };
        let slopes = found.map(|reason| reason.slope);
        let least = cost(slopes);
        for at in 0..3 {
            for step in [-0.01, 0.01] {
                let mut other = slopes;
                other[at] += step;
                prop_assert!(cost(other) > least, "{} {}", cost(other), least);
            }
        }
    }
}

#[test]
fn what_own_work_has_of_z_for_a_reason_is_taken_off() {
    // Eighty slots each of two tasks, one quoted by all (closeness .4, z .3), one by nobody (.2, .2): without a
    // ridge z rises by half of what closeness does. The deviation is .1 (and the floor 2e-4): the ridge has half the
    // weight of the slots, whose variance is a little less than one.
    let slots: Vec<Slot> = (0..160)
        .map(|slot| if slot % 2 == 0 { (0.4, 0.3) } else { (0.2, 0.2) })
        .map(|(task, z)| slot_of([f64::NAN, f64::NAN, task], z))
        .collect();
    let weighted: Vec<(usize, f64)> = (0..160).map(|slot| (slot, 1.0)).collect();
    let [peers, others, task] = reasons(&slots, &weighted);
    let deviation = (0.01_f64 + 2e-4).sqrt();
    let by_hand = (80.0 * 0.25 * deviation + 160.0 * 0.05 * 0.1 / deviation)
        / (80.0 + 160.0 * 0.01 / (deviation * deviation));
    assert!((task.mean - 0.3).abs() < 1e-12 && (task.deviation - deviation).abs() < 1e-12);
    assert!((task.slope - by_hand).abs() < 1e-12, "{} {by_hand}", task.slope);
    let model = Model { reasons: [peers, others, task], ..model() };
    // One deviation above the mean; an LLM's text there has closeness 0, three below.
    let slot = slot_of([f64::NAN, f64::NAN, 0.3 + deviation], 0.3);
    let [x, z] = model.beyond(&slot, slot.x, Writer::Person);
    assert!((x - 0.1).abs() < 1e-12 && (z - 0.3 + by_hand).abs() < 1e-12, "{x} {z}");
    let [_, z] = model.beyond(&slot, slot.x, Writer::Llm);
    assert!((z - 0.3 - by_hand * 0.3 / deviation).abs() < 1e-12, "{z}");
}

#[test]
fn a_density_of_one_coordinate_is_the_integral_of_both() {
    let both = Student::new([0.02, 0.03, 0.01]);
    let step = 0.001;
    let sum: f64 = (-6000..6000).map(|i| both.at([0.1, f64::from(i) * step]) * step).sum();
    assert!((sum / both.at([0.1, f64::NAN]) - 1.0).abs() < 1e-4);
    assert!((both.at([0.1, -0.2]) / student([0.1, -0.2], [0.02, 0.03, 0.01]) - 1.0).abs() < 1e-12);
}

#[test]
fn the_honest_side_is_not_moved_by_cheaters() {
    let people: Vec<(f64, f64)> = (-50..=50).map(|v| (f64::from(v) / 50.0, 1.0)).collect();
    let (middle, spread) = honest_side(&people);
    assert!(middle.abs() < 0.02 && (spread - 1.4826 * 0.5).abs() < 0.03, "{middle} {spread}");
    let cheaters = people.iter().copied().chain([(9.0, 1.0); 20]).collect::<Vec<_>>();
    let (with, wide) = honest_side(&cheaters);
    assert!((with - middle).abs() < 0.02 && (wide - spread).abs() < 0.02, "{with} {wide}");
}

#[test]
fn a_closeness_at_which_an_llm_would_stand_among_people_has_no_part() {
    // People: z about .2 with deviation .1, so that the bar is .3; an LLM's z by node: .246, .354, .45, .546, .654.
    let model = Model {
        center: [0.1, 0.2],
        covariance: [0.02, 0.01, 0.0],
        reasons: [Reason::NONE; 3],
        ..model()
    };
    let slot = |z: f64| slot_of([0.2, z, 0.1], 0.2);
    let people = [vec![0, 1], vec![2]];
    let nodes = |z: f64| model.visible_nodes(&[slot(z), slot(z), slot(z)], &people);
    for (found, expected) in nodes(1.0).into_iter().zip([0.0, 0.24, 0.32, 0.24, 0.1]) {
        assert!((found - expected / 0.9).abs() < 1e-12, "{found} {expected}");
    }
    // .45 + 1.7 * .12 is .654: four tenths of it is below the bar.
    assert!(nodes(0.4).iter().all(|&weight| weight < 1e-300));
    let unseen = Model { nodes: nodes(0.4), shares: [0.5, 0.0, 0.3, 0.2], ..model.clone() };
    assert!(model.sees_llm() && !unseen.sees_llm());
    assert!(!model.is_blind_to_llm() && unseen.is_blind_to_llm());
    // Then nobody reads as an LLM's, whatever they hand in.
    let judged = unseen.judge([(&slot(0.4), [0.2, 0.25])].into_iter());
    assert!(judged.kinds[1].abs() < 1e-300 && judged.kinds[0] > 0.0, "{:?}", judged.kinds);
}

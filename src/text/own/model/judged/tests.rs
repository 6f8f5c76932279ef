use super::*;
use crate::text::own::model::CLOSENESS;
use crate::text::own::model::tests::{self, model, student};
use proptest::prelude::*;

/// P(every slot own) and P(own) of each slot, by going through every habit, kind, closeness, effect and
/// every way to make up the slots.
fn naive(model: &Model, slots: &[Slot]) -> (f64, Vec<f64>) {
    let n = slots.len();
    let rho = model.correlation;
    let [a, b, c] = model.covariance.map(|value| value * rho);
    let nodes: Vec<(Point, f64)> = if n == 1 {
        vec![([0.0; 2], 1.0)]
    } else {
        let lower = [a.sqrt(), c / a.sqrt(), (b - c * c / a).sqrt()];
        let both = HERMITE.iter().flat_map(|g| HERMITE.iter().map(move |h| (g, h)));
        both.map(|(g, h)| ([lower[0] * g.0, lower[1] * g.0 + lower[2] * h.0], g.1 * h.1)).collect()
    };
    let within = if n == 1 { 1.0 } else { 1.0 - rho };
    let mut habits = vec![(0.0, 1.0 - model.cheaters), (1.0, 0.6 * model.cheaters)];
    habits.extend([0.25, 0.5, 0.75].map(|share| (share, 0.4 / 3.0 * model.cheaters)));
    let places = [(0, 0.0, 1.0), (2, 0.0, 1.0), (3, 0.0, 1.0)];
    let closeness = CLOSENESS.map(|(node, weight)| (1, node, weight));
    let (mut every, mut all, mut own_of) = (0.0, 0.0, vec![0.0; n]);
    for (kind, node, weight) in places.into_iter().chain(closeness) {
        for &(share, prior) in &habits {
            for &(effect, of_node) in &nodes {
                for made in 0..1_usize << n {
                    let mut p = model.shares[kind] * weight * prior * of_node;
                    for (index, slot) in slots.iter().enumerate() {
                        let away = |center: Point| minus(slot.x, center);
                        p *= if made >> index & 1 == 0 {
                            let offset = 0.01 * (slot.llm[0] - 0.2) / 0.1
                                + 0.03 * (slot.llm[1] - 0.3) / 0.2
                                + 0.02 * (slot.tasks[0] - 0.1) / 0.05;
                            let x = minus(slot.x, [0.0, offset]);
                            let center = [model.center[0] + effect[0], model.center[1] + effect[1]];
                            let covariance = model.covariance.map(|value| value * within);
                            (1.0 - share) * student(minus(x, center), covariance)
                        } else {
                            share
                                * match kind {
                                    0 => {
                                        let copy = [0.02, 0.03, 0.004];
                                        (student(away(slot.copies[0]), copy)
                                            + student(away(slot.copies[1]), copy))
                                            / 2.0
                                    }
                                    1 => {
                                        let z = slot.llm[1] * (0.45 + 0.12 * node);
                                        student(away([slot.llm[0], z]), [0.01, 0.02, -0.003])
                                    }
                                    2 => student(away([-0.2, 0.0]), [0.02, 0.02, 0.0]),
                                    _ => student(away([-0.1, 0.1]), [0.03, 0.02, 0.001]),
                                }
                        };
                    }
                    all += p;
                    every += if made == 0 { p } else { 0.0 };
                    for (index, own) in own_of.iter_mut().enumerate() {
                        *own += if made >> index & 1 == 0 { p } else { 0.0 };
                    }
                }
            }
        }
    }
    (every / all, own_of.into_iter().map(|own| own / all).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_person_is_judged_as_by_going_through_everything(
        values in prop::collection::vec(prop::array::uniform9(-0.5..0.8_f64), 1..4),
    ) {
        let slots: Vec<Slot> = values
            .iter()
            .map(|v| Slot {
                x: [v[0], v[1]],
                copies: [[v[2], v[3]], [v[4], v[5]]],
                llm: [v[6], v[7]],
                tasks: [v[8], f64::NAN],
            })
            .collect();
        let model = model();
        let judged = model.judge(slots.iter().map(|slot| (slot, slot.x)));
        let (every, own) = naive(&model, &slots);
        prop_assert!((judged.own - every).abs() < 1e-9, "{} {}", judged.own, every);
        for (found, expected) in judged.slots.iter().zip(&own) {
            prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
        }
        let kinds: f64 = judged.kinds.iter().sum();
        prop_assert!((judged.own + kinds - 1.0).abs() < 1e-9);
        // Where fewer cheat it is as if one in ten did.
        let few = Model { cheaters: 0.003, ..tests::model() };
        let points = || slots.iter().map(|slot| (slot, slot.x));
        let (own, of_slots) = few.cautious(&few.judge(points()));
        let tenth = Model { cheaters: 0.1, ..few }.judge(points());
        prop_assert!((own - tenth.own).abs() < 1e-9, "{} {}", own, tenth.own);
        for (found, expected) in of_slots.iter().zip(&tenth.slots) {
            prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
        }
        prop_assert!((model.cautious(&judged).0 - judged.own).abs() < 1e-9);
        let (own, _) = model.at_share(&judged, 0.02);
        let fewer = Model { cheaters: 0.02, ..tests::model() }.judge(points());
        prop_assert!((own - fewer.own).abs() < 1e-9, "{} {}", own, fewer.own);
        prop_assert!(model.at_share(&judged, 0.0).0 > 1.0 - 1e-12);
        // Half a cheater of ten and a half people.
        let uncounted = tests::model().uncounted().judge(points());
        prop_assert!((model.at_share(&judged, 1.0 / 21.0).0 - uncounted.own).abs() < 1e-9);
        let (low, high) = judged.share_interval();
        prop_assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0);
    }
}

/// Somebody with a hundred answers, most of them where nobody else's stand: fixed nodes are too coarse,
/// those of the person are not: twice as many slots, half of them repeated, say the same.
#[test]
fn many_answers_by_one_person_are_told_from_where_the_person_stands() {
    let model = model();
    let slot = |index: i32| {
        let away = f64::from(index % 7 - 3) * 0.03;
        Slot {
            x: [0.3 + away, 0.2 - away],
            copies: [[0.2, 1.0]; 2],
            llm: [0.2, 1.0],
            tasks: [0.1, 0.2],
        }
    };
    let slots: Vec<Slot> = (0..100).map(slot).collect();
    let judged = model.judge(slots.iter().map(|slot| (slot, slot.x)));
    // The exact sum over a fine grid of effects, without cheating in single slots.
    let [a, b, c] = model.covariance.map(|value| value * model.correlation);
    let within = model.covariance.map(|value| value * (1.0 - model.correlation));
    let mut logs = Vec::new();
    for i in -60..=60 {
        for j in -60..=60 {
            let effect = [0.01 * f64::from(i), 0.01 * f64::from(j)];
            let determinant = a * b - c * c;
            let [x, y] = effect;
            let distance = (b * x * x - 2.0 * c * x * y + a * y * y) / determinant;
            let center = [0.1 + effect[0], 0.05 + effect[1]];
            let fit: f64 = slots
                .iter()
                .map(|slot| student(minus(model.own_point(slot), center), within).ln())
                .sum();
            logs.push(
                fit - distance / 2.0 - determinant.ln() / 2.0 - (2.0 * std::f64::consts::PI).ln()
                    + (0.01_f64 * 0.01).ln(),
            );
        }
    }
    let largest = logs.iter().copied().fold(f64::MIN, f64::max);
    let exact = largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln();
    let densities: Vec<(Point, [f64; PLACES])> =
        slots.iter().map(|slot| (model.own_point(slot), [0.0; PLACES])).collect();
    let nodes = model.nodes(&densities);
    let terms: Vec<f64> = nodes
        .iter()
        .map(|(center, weight)| {
            let fit = densities.iter().map(|(x, _)| student(minus(*x, *center), within).ln());
            fit.sum::<f64>() + weight.ln()
        })
        .collect();
    let largest = terms.iter().copied().fold(f64::MIN, f64::max);
    let found = largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln();
    assert!((found - exact).abs() < 0.05, "{found} {exact}");
    assert!((0.0..=1.0).contains(&judged.own) && judged.slots.len() == 100);
}

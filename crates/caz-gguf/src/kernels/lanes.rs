//! Sums and maxima of rows in fixed accumulators, in a form that the compiler vectorizes: a result
//! depends on nothing but the row.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

use pulp::Simd;

use super::exponential::exp_not_positive;

/// Accumulators of a sum or maximum, one AVX-512 register.
pub const LANES: usize = 16;

/// Softmax of a row in place.
#[inline(always)]
pub fn softmax_row<S: Simd>(row: &mut [f32]) {
    let largest = maximum(row);
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = row.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *value = exp_not_positive::<S>(*value - largest);
            *lane += *value;
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *value = exp_not_positive::<S>(*value - largest);
        *lane += *value;
    }
    let factor = 1.0 / fold(&lanes);
    for value in row {
        *value *= factor;
    }
}

/// The sum of the lanes, pairwise.
#[inline(always)]
pub fn fold(lanes: &[f32; LANES]) -> f32 {
    let mut lanes = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn maximum(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = if value > *lane { value } else { *lane };
    }
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = if lanes[i + half] > lanes[i] { lanes[i + half] } else { lanes[i] };
        }
        half /= 2;
    }
    lanes[0]
}

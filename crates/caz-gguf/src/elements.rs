//! The element-wise steps of a layer, compiled for several instruction sets by pulp.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::kernels::exponential::exp_not_positive;
use crate::kernels::lanes::softmax_row;

/// `x weight / sqrt(mean(x^2) + epsilon)` for every token of `(weight, tokens)`, in place.
pub(super) fn rms_norm(x: &mut [f32], weight: &[f32], epsilon: f32, tokens: usize) {
    Arch::new().dispatch(RmsNorm { x, weight, epsilon, tokens });
}

struct RmsNorm<'a> {
    x: &'a mut [f32],
    weight: &'a [f32],
    epsilon: f32,
    tokens: usize,
}

impl WithSimd for RmsNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let mut sums = vec![0.0_f32; self.tokens];
        for row in self.x.chunks_exact(self.tokens) {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum += x * x;
            }
        }
        let count = self.weight.len() as f32;
        for sum in &mut sums {
            *sum = 1.0 / (*sum / count + self.epsilon).sqrt();
        }
        for (row, weight) in self.x.chunks_exact_mut(self.tokens).zip(self.weight) {
            for (x, scale) in row.iter_mut().zip(&sums) {
                *x *= scale * weight;
            }
        }
    }
}

/// `silu(gate) * up`, in `gate`; `silu(x) = x / (1 + e^-x)`.
pub(super) fn silu_times(gate: &mut [f32], up: &[f32]) {
    Arch::new().dispatch(SiluTimes { gate, up });
}

struct SiluTimes<'a> {
    gate: &'a mut [f32],
    up: &'a [f32],
}

impl WithSimd for SiluTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (gate, up) in self.gate.iter_mut().zip(self.up) {
            // Of e^x and e^-x the one that cannot overflow.
            let x = *gate;
            let power = exp_not_positive::<S>(-x.abs());
            let share = if x < 0.0 { power } else { 1.0 } / (1.0 + power);
            *gate = x * share * up;
        }
    }
}

/// Softmax of a row in place.
pub(super) fn softmax(row: &mut [f32]) {
    Arch::new().dispatch(Softmax { row });
}

struct Softmax<'a> {
    row: &'a mut [f32],
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        softmax_row::<S>(self.row);
    }
}

/// Attention of one token's `query` over rows of keys and values, of which each head has some
/// `columns`; writes the head's sum to `out`.
pub(super) fn attend_one(
    query: &[f32],
    (keys, values): (&[f32], &[f32]),
    (width, columns): (usize, Range<usize>),
    scale: f32,
    out: &mut [f32],
) {
    let query = &query[..columns.len()];
    let mut weights = vec![0.0; keys.len() / width];
    let scores = Scores { query, keys, width, first: columns.start, scale, out: &mut weights };
    Arch::new().dispatch(scores);
    softmax(&mut weights);
    Arch::new().dispatch(Mix { weights: &weights, values, width, first: columns.start, out });
}

/// Products of a query with keys.
struct Scores<'a> {
    query: &'a [f32],
    keys: &'a [f32],
    width: usize,
    first: usize,
    scale: f32,
    out: &'a mut [f32],
}

impl WithSimd for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (query, rest) = S::as_simd_f32s(self.query);
        for (out, keys) in self.out.iter_mut().zip(self.keys.chunks_exact(self.width)) {
            let (keys, rest_keys) =
                S::as_simd_f32s(&keys[self.first..self.first + self.query.len()]);
            let mut sum = simd.splat_f32s(0.0);
            for (query, key) in query.iter().zip(keys) {
                sum = simd.mul_add_f32s(*query, *key, sum);
            }
            let rest: f32 = rest.iter().zip(rest_keys).map(|(query, key)| query * key).sum();
            *out = self.scale * (simd.reduce_sum_f32s(sum) + rest);
        }
    }
}

/// The sum of values by their weights.
struct Mix<'a> {
    weights: &'a [f32],
    values: &'a [f32],
    width: usize,
    first: usize,
    out: &'a mut [f32],
}

impl WithSimd for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.out.fill(0.0);
        let length = self.out.len();
        let (out, rest) = S::as_mut_simd_f32s(self.out);
        for (values, weight) in self.values.chunks_exact(self.width).zip(self.weights) {
            let (values, rest_values) = S::as_simd_f32s(&values[self.first..self.first + length]);
            let by = simd.splat_f32s(*weight);
            for (out, value) in out.iter_mut().zip(values) {
                *out = simd.mul_add_f32s(by, *value, *out);
            }
            for (out, value) in rest.iter_mut().zip(rest_values) {
                *out += weight * value;
            }
        }
    }
}

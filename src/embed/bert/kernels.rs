//! The element-wise steps of an encoder layer, each one pass over its rows.
//!
//! The loops are plain Rust in a form that the compiler vectorizes; pulp compiles each for several
//! instruction sets and chooses at run time, so a portable binary runs them at full width. They
//! sum into [`LANES`] fixed accumulators, so a result depends on nothing but the row. Polynomials
//! use fused multiply-add where the instruction set has it, as the matrix products do: on a
//! processor without it the last bits differ.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

use caz_gguf::kernels::exponential::{multiply_add, polynomial};
use caz_gguf::kernels::lanes::{LANES, fold, softmax_row};
use pulp::{Simd, WithSimd};

use super::config::Activation;

/// Runs the kernels with the widest vectors this processor has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernels {
    arch: pulp::Arch,
}

impl Kernels {
    pub(super) fn detect() -> Self {
        Self { arch: pulp::Arch::new() }
    }

    /// Adds `bias` to every row.
    pub(super) fn add_bias(self, rows: &mut [f32], bias: &[f32]) {
        self.arch.dispatch(AddBias { rows, bias });
    }

    /// Adds `bias` to every row, then applies the activation function.
    pub(super) fn bias_activation(self, rows: &mut [f32], bias: &[f32], activation: Activation) {
        match activation {
            Activation::GeluErf => self.arch.dispatch(BiasGeluErf { rows, bias }),
            Activation::GeluTanh => self.arch.dispatch(BiasGeluTanh { rows, bias }),
            Activation::Relu => self.arch.dispatch(BiasRelu { rows, bias }),
        }
    }

    /// `residual = layer_norm(residual + update + bias)` for every row.
    pub(super) fn add_norm(
        self,
        residual: &mut [f32],
        update: &[f32],
        bias: &[f32],
        norm: &LayerNorm,
    ) {
        self.arch.dispatch(AddNorm { residual, update, bias, norm });
    }

    /// Layer norm of every row in place.
    pub(super) fn norm(self, rows: &mut [f32], norm: &LayerNorm) {
        self.arch.dispatch(Norm { rows, norm });
    }

    /// Softmax of every row of `columns` entries in place.
    pub(super) fn softmax(self, rows: &mut [f32], columns: usize) {
        self.arch.dispatch(Softmax { rows, columns });
    }
}

/// Scale, shift and epsilon of a layer norm.
pub(super) struct LayerNorm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) epsilon: f32,
}

struct AddBias<'a> {
    rows: &'a mut [f32],
    bias: &'a [f32],
}

impl WithSimd for AddBias<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            for (value, bias) in row.iter_mut().zip(self.bias) {
                *value += bias;
            }
        }
    }
}

struct BiasGeluErf<'a> {
    rows: &'a mut [f32],
    bias: &'a [f32],
}

impl WithSimd for BiasGeluErf<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            let (blocks, rest) = row.as_chunks_mut::<{ 2 * LANES }>();
            let (block_biases, rest_biases) = self.bias.as_chunks::<{ 2 * LANES }>();
            for (block, biases) in blocks.iter_mut().zip(block_biases) {
                bias_gelu_erf::<S>(block, biases);
            }
            for (value, bias) in rest.iter_mut().zip(rest_biases) {
                *value = gelu_erf::<S>(*value + bias);
            }
        }
    }
}

struct BiasGeluTanh<'a> {
    rows: &'a mut [f32],
    bias: &'a [f32],
}

impl WithSimd for BiasGeluTanh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            for (value, bias) in row.iter_mut().zip(self.bias) {
                *value = gelu_tanh(*value + bias);
            }
        }
    }
}

struct BiasRelu<'a> {
    rows: &'a mut [f32],
    bias: &'a [f32],
}

impl WithSimd for BiasRelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            for (value, bias) in row.iter_mut().zip(self.bias) {
                let sum = *value + bias;
                // Not `max`, which would turn NaN into 0.
                *value = if sum < 0.0 { 0.0 } else { sum };
            }
        }
    }
}

struct AddNorm<'a> {
    residual: &'a mut [f32],
    update: &'a [f32],
    bias: &'a [f32],
    norm: &'a LayerNorm,
}

impl WithSimd for AddNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let columns = self.bias.len();
        let rows = self.residual.chunks_exact_mut(columns);
        for (row, update) in rows.zip(self.update.chunks_exact(columns)) {
            for ((value, update), bias) in row.iter_mut().zip(update).zip(self.bias) {
                *value += update + bias;
            }
            norm_row(row, self.norm);
        }
    }
}

struct Norm<'a> {
    rows: &'a mut [f32],
    norm: &'a LayerNorm,
}

impl WithSimd for Norm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.norm.scale.len()) {
            norm_row(row, self.norm);
        }
    }
}

struct Softmax<'a> {
    rows: &'a mut [f32],
    columns: usize,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.columns) {
            softmax_row::<S>(row);
        }
    }
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + shift`, the variance over `n`.
#[inline(always)]
fn norm_row(row: &mut [f32], norm: &LayerNorm) {
    let count = row.len() as f32;
    let mean = sum(row, |value| value) / count;
    let variance = sum(row, |value| (value - mean) * (value - mean)) / count;
    let factor = 1.0 / (variance + norm.epsilon).sqrt();
    for ((value, scale), shift) in row.iter_mut().zip(&norm.scale).zip(&norm.shift) {
        *value = (*value - mean) * factor * scale + shift;
    }
}

#[inline(always)]
fn sum(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += term(value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane += term(value);
    }
    fold(&lanes)
}

/// `x Φ(x) = x/2 (1 + erf(x / √2))`.
#[inline(always)]
fn gelu_erf<S: Simd>(x: f32) -> f32 {
    let (numerator, denominator) = erf_fraction::<S>(x * std::f32::consts::FRAC_1_SQRT_2);
    let half = 0.5 * x;
    multiply_add::<S>(half, numerator / denominator, half)
}

/// [`gelu_erf`] of value + bias, in place, for two vectors at once.
///
/// A division costs as much as a dozen multiplications, so each lane of the first vector shares
/// one with its lane of the second: `1 / (c d)` gives `1 / c = d / (c d)` and `1 / d`. The
/// denominators of [`erf_fraction`] lie between -4 and -0.01, so the product cannot overflow.
#[inline(always)]
fn bias_gelu_erf<S: Simd>(values: &mut [f32; 2 * LANES], biases: &[f32; 2 * LANES]) {
    let mut halves = [0.0; 2 * LANES];
    let mut numerators = [0.0; 2 * LANES];
    let mut denominators = [0.0; 2 * LANES];
    for i in 0..2 * LANES {
        let x = values[i] + biases[i];
        halves[i] = 0.5 * x;
        (numerators[i], denominators[i]) = erf_fraction::<S>(x * std::f32::consts::FRAC_1_SQRT_2);
    }
    for i in 0..LANES {
        let inverse = 1.0 / (denominators[i] * denominators[i + LANES]);
        let first = numerators[i] * denominators[i + LANES] * inverse;
        let second = numerators[i + LANES] * denominators[i] * inverse;
        values[i] = multiply_add::<S>(halves[i], first, halves[i]);
        values[i + LANES] = multiply_add::<S>(halves[i + LANES], second, halves[i + LANES]);
    }
}

/// The error function as numerator and denominator, absolute error below 5e-7; NaN stays NaN.
///
/// A rational approximation on [-4, 4], outside of which `erf` is ±1 in single precision; the
/// coefficients are those of Eigen's and XLA's `erf` for floats.
#[inline(always)]
fn erf_fraction<S: Simd>(x: f32) -> (f32, f32) {
    const LIMIT: f32 = 4.0;
    let x = if x > LIMIT { LIMIT } else { x };
    let x = if x < -LIMIT { -LIMIT } else { x };
    let square = x * x;
    let numerator = polynomial::<S, 7>(
        square,
        [
            -2.726_142_3e-10,
            2.770_681_4e-8,
            -2.101_024e-6,
            -5.692_506_5e-5,
            -7.349_906_3e-4,
            -2.954_6e-3,
            -1.609_603_3e-2,
        ],
    );
    let denominator = polynomial::<S, 5>(
        square,
        [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_474e-2],
    );
    (x * numerator, denominator)
}

/// `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))`.
#[inline(always)]
fn gelu_tanh(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    0.5 * x * (1.0 + (SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x)).tanh())
}

#[cfg(test)]
mod tests {
    use statrs::function::erf::erf as reference_erf;

    use super::*;
    use caz_gguf::kernels::exponential::exp_not_positive;

    /// Values in [-limit, limit], evenly spaced.
    fn grid(limit: f32) -> impl Iterator<Item = f32> {
        (-200_000..=200_000).map(move |i| limit * i as f32 / 200_000.0)
    }

    /// With the widest vectors of this processor, and without any.
    fn both() -> [Kernels; 2] {
        [Kernels::detect(), Kernels { arch: pulp::Arch::Scalar }]
    }

    struct Exp<'a> {
        values: &'a mut [f32],
    }

    impl WithSimd for Exp<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) {
            for value in self.values {
                *value = exp_not_positive::<S>(*value);
            }
        }
    }

    /// GELU of every value; rows of 37 have a part that no pair of vectors covers.
    fn gelu(kernels: Kernels, values: &[f32]) -> Vec<f32> {
        let mut rows = values.to_vec();
        rows.resize(values.len().next_multiple_of(37), 0.0);
        kernels.bias_activation(&mut rows, &[0.0; 37], Activation::GeluErf);
        rows.truncate(values.len());
        rows
    }

    #[test]
    fn exp_equals_the_exact_function_to_its_stated_error() {
        for kernels in both() {
            let exp = |mut values: Vec<f32>| {
                kernels.arch.dispatch(Exp { values: &mut values });
                values
            };
            let inputs: Vec<f32> = grid(87.0).filter(|&x| x <= 0.0).collect();
            for (x, found) in inputs.iter().zip(exp(inputs.clone())) {
                let expected = f64::from(*x).exp();
                let error = (f64::from(found) - expected).abs() / expected;
                assert!(error < 2e-7, "exp({x}) is off by {error}");
            }
            let extremes = exp(vec![0.0, -1e30, f32::NEG_INFINITY, f32::NAN]);
            assert_eq!(extremes[0].to_bits(), 1.0_f32.to_bits());
            assert!(extremes[1] < 1e-37 && extremes[2] < 1e-37);
            assert!(extremes[3].is_nan());
        }
    }

    #[test]
    fn gelu_equals_the_exact_function_to_five_in_ten_million_per_unit() {
        for kernels in both() {
            let inputs: Vec<f32> = grid(8.0).chain([1e30, -1e30]).collect();
            for (&x, found) in inputs.iter().zip(gelu(kernels, &inputs)) {
                let exact = f64::from(x);
                let expected =
                    0.5 * exact * (1.0 + reference_erf(exact / std::f64::consts::SQRT_2));
                let error = (f64::from(found) - expected).abs() / exact.abs().max(1.0);
                assert!(error < 5e-7, "gelu({x}) is off by {error}");
            }
            assert!(gelu(kernels, &[f32::NAN])[0].is_nan());
        }
    }

    #[test]
    fn gelu_tanh_differs_from_the_erf_form_by_less_than_five_in_ten_thousand() {
        let inputs: Vec<f32> = grid(8.0).collect();
        let largest = inputs
            .iter()
            .zip(gelu(Kernels::detect(), &inputs))
            .map(|(&x, erf_form)| (gelu_tanh(x) - erf_form).abs())
            .fold(0.0_f32, f32::max);
        // The two forms are known to differ by 4.7e-4 at most; equal would mean a mix-up.
        assert!((1e-4..5e-4).contains(&largest), "{largest}");
    }

    #[test]
    fn softmax_rows_sum_to_one_and_keep_ratios() {
        // exp(ln 3) : exp(0) = 3 : 1.
        let mut rows = vec![3.0_f32.ln() + 50.0, 50.0, 0.0, 0.0];
        Kernels::detect().softmax(&mut rows, 2);
        for (found, expected) in rows.iter().zip([0.75, 0.25, 0.5, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{rows:?}");
        }
    }

    #[test]
    fn long_softmax_rows_equal_the_definition() {
        for columns in [1, 15, 16, 17, 33, 218] {
            let mut row: Vec<f32> = (0..columns).map(|i| (i * 37 % 23) as f32 / 3.0).collect();
            let total: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
            let expected: Vec<f64> = row.iter().map(|&x| f64::from(x).exp() / total).collect();
            Kernels::detect().softmax(&mut row, columns);
            for (found, expected) in row.iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-6, "{columns}");
            }
        }
    }

    #[test]
    fn layer_norm_of_one_and_three_is_minus_one_and_one() {
        // Mean 2, variance 1: (-1, 1), then times (2, 3) plus (10, 20).
        let norm = LayerNorm { scale: vec![2.0, 3.0], shift: vec![10.0, 20.0], epsilon: 0.0 };
        let mut rows = vec![1.0, 3.0];
        Kernels::detect().norm(&mut rows, &norm);
        assert_eq!(rows, [8.0, 23.0]);
        // The same through the fused form: 0.5 + 0.25 + 0.25 = 1 and 1 + 1.5 + 0.5 = 3.
        let mut rows = vec![0.5, 1.0];
        Kernels::detect().add_norm(&mut rows, &[0.25, 1.5], &[0.25, 0.5], &norm);
        assert_eq!(rows, [8.0, 23.0]);
    }

    #[test]
    fn the_result_is_the_same_to_rounding_without_vector_instructions() {
        let values: Vec<f32> = (0..37 * 5).map(|i| (i * 71 % 97) as f32 / 13.0 - 3.5).collect();
        let bias: Vec<f32> = (0..37).map(|i| i as f32 / 40.0).collect();
        let norm = LayerNorm { scale: bias.clone(), shift: bias.clone(), epsilon: 1e-5 };
        let [vectors, scalar] = both().map(|kernels| {
            let mut rows = values.clone();
            kernels.bias_activation(&mut rows, &bias, Activation::GeluErf);
            kernels.add_norm(&mut rows, &values, &bias, &norm);
            kernels.softmax(&mut rows, 37);
            rows
        });
        for (vector, scalar) in vectors.iter().zip(&scalar) {
            assert!((vector - scalar).abs() < 1e-6 * scalar.abs().max(0.01), "{vector} {scalar}");
        }
    }

    #[test]
    fn a_row_does_not_depend_on_the_rows_around_it() {
        let values: Vec<f32> = (0..70 * 3).map(|i| (i * 71 % 97) as f32 / 13.0 - 3.5).collect();
        let bias = [0.25; 70];
        let run = |rows: &[f32]| {
            let mut rows = rows.to_vec();
            Kernels::detect().bias_activation(&mut rows, &bias, Activation::GeluErf);
            Kernels::detect().softmax(&mut rows, 70);
            rows
        };
        assert_eq!(run(&values)[70..140], run(&values[70..140]));
    }
}

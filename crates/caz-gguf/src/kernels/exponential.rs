//! The exponential function in a form that the compiler vectorizes.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

use pulp::Simd;

/// `a * b + c`, in one rounding where the instruction set `S` can.
#[inline(always)]
pub fn multiply_add<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if S::IS_SCALAR {
        // `mul_add` would be a call into the mathematics library for every number.
        a * b + c
    } else {
        a.mul_add(b, c)
    }
}

/// The polynomial with these coefficients, highest power first.
#[inline(always)]
pub fn polynomial<S: Simd, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut value = coefficients[0];
    for coefficient in &coefficients[1..] {
        value = multiply_add::<S>(value, x, *coefficient);
    }
    value
}

/// `e^x` for `x <= 0`, relative error below 2e-7; NaN stays NaN.
///
/// Range reduction and polynomial of Moshier's Cephes library (`expf.c`): `x = n ln 2 + r` with
/// `|r| <= ln 2 / 2`, then `2^n e^r`.
#[inline(always)]
pub fn exp_not_positive<S: Simd>(x: f32) -> f32 {
    /// Below, 2^n would be a subnormal number; e^-87 is 2e-38.
    const SMALLEST: f32 = -87.0;
    /// 1.5 * 2^23: adding it rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    /// `LN_2` in two parts; the first has few bits, so that `n * LN_2_HIGH` is exact.
    const LN_2_HIGH: f32 = 0.693_359_4; // 355/512
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x < SMALLEST { SMALLEST } else { x };
    let rounded = multiply_add::<S>(x, std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = multiply_add::<S>(n, -LN_2_HIGH, x);
    let r = multiply_add::<S>(n, -LN_2_LOW, r);
    let tail = polynomial::<S, 6>(
        r,
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5],
    );
    let power = multiply_add::<S>(tail * r, r, r) + 1.0;
    // Moves n into the exponent field; the bits of ROUND itself are shifted out.
    let scale = f32::from_bits((rounded.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    power * scale
}

//! Quantised weights as numbers: blocks of a GGUF file, decoded as ggml defines them
//! (<https://github.com/ggml-org/ggml/blob/master/src/ggml-quants.c>).
//!
//! The loops are plain Rust that the compiler vectorizes; pulp compiles them for several instruction
//! sets and the processor's is chosen at run time, so a portable binary runs them at full width.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

use pulp::{Simd, WithSimd};

use super::halves::{brain, half};
use crate::kernels::exponential::multiply_add;
use crate::kernels::lanes::{LANES, fold};

/// How the weights of one type are decoded.
pub(super) trait Block {
    /// Bytes of a block.
    const BYTES: usize;
    /// Numbers of a block, a multiple of [`LANES`] and at most [`MOST`].
    const COUNT: usize;
    /// The numbers of a block.
    fn decode(bytes: &[u8], out: &mut [f32]);
}

/// Numbers of the largest block.
const MOST: usize = 256;

/// Scales and smallest values of the eight sub-blocks of a block of the K types that starts with those
/// of the block in 16 bits each, and then has 6 bits for each sub-block in units of those.
#[inline(always)]
fn six_bits(bytes: &[u8]) -> ([f32; 8], [f32; 8]) {
    let (scale, least) = (half([bytes[0], bytes[1]]), half([bytes[2], bytes[3]]));
    // Four bytes at once: the last four sub-blocks have their low bits in the last word.
    let (scales, leasts) = (word(&bytes[4..8]), word(&bytes[8..12]));
    let rest = word(&bytes[12..16]);
    let high_scales = rest & 0x0f0f_0f0f | scales >> 2 & 0x3030_3030;
    let high_leasts = rest >> 4 & 0x0f0f_0f0f | leasts >> 2 & 0x3030_3030;
    (
        in_units_of(scale, scales & 0x3f3f_3f3f, high_scales),
        in_units_of(least, leasts & 0x3f3f_3f3f, high_leasts),
    )
}

#[inline(always)]
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The bytes of two words, in units of `unit`.
#[inline(always)]
fn in_units_of(unit: f32, low: u32, high: u32) -> [f32; 8] {
    let bytes = (u64::from(low) | u64::from(high) << 32).to_le_bytes();
    let mut found = [0.0; 8];
    for (found, byte) in found.iter_mut().zip(bytes) {
        *found = unit * f32::from(byte);
    }
    found
}

/// Numbers that need nothing but their own bytes.
#[inline(always)]
fn each<const N: usize>(bytes: &[u8], out: &mut [f32], read: impl Fn([u8; N]) -> f32) {
    for (value, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *value = read(*bytes);
    }
}

pub(super) struct F32;
impl Block for F32 {
    const BYTES: usize = 128;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        each(bytes, out, f32::from_le_bytes);
    }
}

pub(super) struct F16;
impl Block for F16 {
    const BYTES: usize = 64;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        each(bytes, out, half);
    }
}

pub(super) struct BF16;
impl Block for BF16 {
    const BYTES: usize = 64;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        each(bytes, out, brain);
    }
}

/// `scale * q + least`.
#[inline(always)]
fn scaled(numbers: &[u8; 32], scale: f32, least: f32, out: &mut [f32]) {
    for (value, number) in out.iter_mut().zip(numbers) {
        *value = scale * i32::from(*number) as f32 + least;
    }
}

/// The low and then the high halves of 16 bytes.
#[inline(always)]
fn nibbles(bytes: &[u8]) -> [u8; 32] {
    let mut numbers = [0; 32];
    let (low, high) = numbers.split_at_mut(16);
    for ((low, high), byte) in low.iter_mut().zip(high).zip(bytes) {
        (*low, *high) = (byte & 15, byte >> 4);
    }
    numbers
}

pub(super) struct Q4_0;
impl Block for Q4_0 {
    const BYTES: usize = 18;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let scale = half([bytes[0], bytes[1]]);
        scaled(&nibbles(&bytes[2..18]), scale, -8.0 * scale, out);
    }
}

pub(super) struct Q4_1;
impl Block for Q4_1 {
    const BYTES: usize = 20;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let (scale, least) = (half([bytes[0], bytes[1]]), half([bytes[2], bytes[3]]));
        scaled(&nibbles(&bytes[4..20]), scale, least, out);
    }
}

/// As [`nibbles`], with a fifth bit of each number in `bits`.
#[inline(always)]
fn five_bits(bits: u32, bytes: &[u8]) -> [u8; 32] {
    let mut numbers = nibbles(bytes);
    for (place, number) in numbers.iter_mut().enumerate() {
        *number |= u8::from(bits >> place & 1 == 1) << 4;
    }
    numbers
}

pub(super) struct Q5_0;
impl Block for Q5_0 {
    const BYTES: usize = 22;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let scale = half([bytes[0], bytes[1]]);
        let bits = u32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
        scaled(&five_bits(bits, &bytes[6..22]), scale, -16.0 * scale, out);
    }
}

pub(super) struct Q5_1;
impl Block for Q5_1 {
    const BYTES: usize = 24;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let (scale, least) = (half([bytes[0], bytes[1]]), half([bytes[2], bytes[3]]));
        let bits = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        scaled(&five_bits(bits, &bytes[8..24]), scale, least, out);
    }
}

pub(super) struct Q8_0;
impl Block for Q8_0 {
    const BYTES: usize = 34;
    const COUNT: usize = 32;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let scale = half([bytes[0], bytes[1]]);
        for (value, byte) in out.iter_mut().zip(&bytes[2..34]) {
            *value = scale * i32::from(byte.cast_signed()) as f32;
        }
    }
}

pub(super) struct Q2K;
impl Block for Q2K {
    const BYTES: usize = 84;
    const COUNT: usize = 256;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let scale = half([bytes[80], bytes[81]]);
        let least = half([bytes[82], bytes[83]]);
        for (run, out) in out.chunks_exact_mut(16).enumerate() {
            let (half, quarter, start) = (run / 8, run % 8 / 2, run % 2 * 16);
            let of_run = bytes[run];
            let (scale, least) = (scale * f32::from(of_run & 15), least * f32::from(of_run >> 4));
            for (value, byte) in out.iter_mut().zip(&bytes[16 + half * 32 + start..][..16]) {
                *value = scale * i32::from(byte >> (2 * quarter) & 3) as f32 - least;
            }
        }
    }
}

pub(super) struct Q3K;
impl Block for Q3K {
    const BYTES: usize = 110;
    const COUNT: usize = 256;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let (bits, numbers, scales) = (&bytes[..32], &bytes[32..96], &bytes[96..108]);
        let scale = half([bytes[108], bytes[109]]);
        for (run, out) in out.chunks_exact_mut(16).enumerate() {
            let (half, quarter, start) = (run / 8, run % 8 / 2, run % 2 * 16);
            let low = if run < 8 { scales[run] & 15 } else { scales[run - 8] >> 4 };
            let high = scales[8 + run % 4] >> (2 * (run / 4)) & 3;
            let scale = scale * (f32::from(low | high << 4) - 32.0);
            let numbers = &numbers[half * 32 + start..][..16];
            for ((value, byte), bits) in out.iter_mut().zip(numbers).zip(&bits[start..][..16]) {
                let third = bits >> (4 * half + quarter) & 1;
                let number = byte >> (2 * quarter) & 3 | third << 2;
                *value = scale * (i32::from(number) - 4) as f32;
            }
        }
    }
}

pub(super) struct Q4K;
impl Block for Q4K {
    const BYTES: usize = 144;
    const COUNT: usize = 256;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let ((scales, leasts), numbers) = (six_bits(bytes), &bytes[16..144]);
        for (pair, (out, bytes)) in
            out.chunks_exact_mut(64).zip(numbers.chunks_exact(32)).enumerate()
        {
            let (first, first_least) = (scales[2 * pair], leasts[2 * pair]);
            let (second, second_least) = (scales[2 * pair + 1], leasts[2 * pair + 1]);
            let (low, high) = out.split_at_mut(32);
            for ((low, high), byte) in low.iter_mut().zip(high).zip(bytes) {
                *low = first * i32::from(byte & 15) as f32 - first_least;
                *high = second * i32::from(byte >> 4) as f32 - second_least;
            }
        }
    }
}

pub(super) struct Q5K;
impl Block for Q5K {
    const BYTES: usize = 176;
    const COUNT: usize = 256;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let ((scales, leasts), bits, numbers) = (six_bits(bytes), &bytes[16..48], &bytes[48..176]);
        for (pair, (out, bytes)) in
            out.chunks_exact_mut(64).zip(numbers.chunks_exact(32)).enumerate()
        {
            let (first, first_least) = (scales[2 * pair], leasts[2 * pair]);
            let (second, second_least) = (scales[2 * pair + 1], leasts[2 * pair + 1]);
            let (low, high) = out.split_at_mut(32);
            for (((low, high), byte), bits) in low.iter_mut().zip(high).zip(bytes).zip(bits) {
                let bits = bits >> (2 * pair);
                *low = first * i32::from(byte & 15 | (bits & 1) << 4) as f32 - first_least;
                *high = second * i32::from(byte >> 4 | (bits >> 1 & 1) << 4) as f32 - second_least;
            }
        }
    }
}

pub(super) struct Q6K;
impl Block for Q6K {
    const BYTES: usize = 210;
    const COUNT: usize = 256;
    #[inline(always)]
    fn decode(bytes: &[u8], out: &mut [f32]) {
        let scale = half([bytes[208], bytes[209]]);
        let halves = out.chunks_exact_mut(128).zip(bytes[..128].chunks_exact(64));
        let rest = bytes[128..192].chunks_exact(32).zip(bytes[192..208].chunks_exact(8));
        for ((out, low), (high, scales)) in halves.zip(rest) {
            for (quarter, out) in out.chunks_exact_mut(32).enumerate() {
                let low = &low[quarter % 2 * 32..][..32];
                let scales = of_halves(scales[2 * quarter], scales[2 * quarter + 1], scale);
                let mut numbers = [0_u8; 32];
                for ((number, low), high) in numbers.iter_mut().zip(low).zip(high) {
                    *number = (low >> (quarter / 2 * 4) & 15) | (high >> (2 * quarter) & 3) << 4;
                }
                for ((value, number), scale) in out.iter_mut().zip(numbers).zip(scales) {
                    *value = scale * (i32::from(number) - 32) as f32;
                }
            }
        }
    }
}

/// Two signed scales, each for 16 numbers.
#[inline(always)]
fn of_halves(first: u8, second: u8, scale: f32) -> [f32; 32] {
    let mut scales = [scale * f32::from(first.cast_signed()); 32];
    scales[16..].fill(scale * f32::from(second.cast_signed()));
    scales
}

/// Calls `$with` for the type behind a number of candle.
macro_rules! of_kind {
    ($kind:expr, $with:ident, $arguments:tt) => {
        match $kind {
            GgmlDType::F32 => of_kind!(@ $with, F32, $arguments),
            GgmlDType::F16 => of_kind!(@ $with, F16, $arguments),
            GgmlDType::BF16 => of_kind!(@ $with, BF16, $arguments),
            GgmlDType::Q4_0 => of_kind!(@ $with, Q4_0, $arguments),
            GgmlDType::Q4_1 => of_kind!(@ $with, Q4_1, $arguments),
            GgmlDType::Q5_0 => of_kind!(@ $with, Q5_0, $arguments),
            GgmlDType::Q5_1 => of_kind!(@ $with, Q5_1, $arguments),
            GgmlDType::Q8_0 => of_kind!(@ $with, Q8_0, $arguments),
            GgmlDType::Q2K => of_kind!(@ $with, Q2K, $arguments),
            GgmlDType::Q3K => of_kind!(@ $with, Q3K, $arguments),
            GgmlDType::Q4K => of_kind!(@ $with, Q4K, $arguments),
            GgmlDType::Q5K => of_kind!(@ $with, Q5K, $arguments),
            GgmlDType::Q6K => of_kind!(@ $with, Q6K, $arguments),
            kind => unreachable!("{kind:?} is refused when a model is loaded"),
        }
    };
    (@ $with:ident, $type:ident, ($($argument:expr),*)) => { $with::<$type>($($argument),*) };
}

pub(super) use of_kind;

/// Writes the numbers of whole rows to `out`.
pub(super) struct Decode<'a, B> {
    pub(super) bytes: &'a [u8],
    pub(super) out: &'a mut [f32],
    pub(super) kind: std::marker::PhantomData<B>,
}

impl<B: Block> WithSimd for Decode<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (out, bytes) in
            self.out.chunks_exact_mut(B::COUNT).zip(self.bytes.chunks_exact(B::BYTES))
        {
            B::decode(bytes, out);
        }
    }
}

/// Writes the products of whole rows with `x` to `out`.
pub(super) struct Dot<'a, B> {
    pub(super) bytes: &'a [u8],
    pub(super) x: &'a [f32],
    pub(super) out: &'a mut [f32],
    pub(super) kind: std::marker::PhantomData<B>,
}

impl<B: Block> WithSimd for Dot<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let row_bytes = self.x.len() / B::COUNT * B::BYTES;
        // Decoded by the piece: what decodes and what multiplies are vectorized apart.
        let piece_bytes = MOST / B::COUNT * B::BYTES;
        let mut decoded = [0.0_f32; MOST];
        for (out, row) in self.out.iter_mut().zip(self.bytes.chunks_exact(row_bytes)) {
            let mut sums = [[0.0_f32; LANES]; 4];
            for (bytes, x) in row.chunks(piece_bytes).zip(self.x.chunks(MOST)) {
                let decoded = &mut decoded[..x.len()];
                let blocks = decoded.chunks_exact_mut(B::COUNT).zip(bytes.chunks_exact(B::BYTES));
                for (decoded, bytes) in blocks {
                    B::decode(bytes, decoded);
                }
                sums = add_products::<S>(decoded, x, sums);
            }
            let [mut lanes, second, third, fourth] = sums;
            for i in 0..LANES {
                lanes[i] += second[i] + (third[i] + fourth[i]);
            }
            *out = fold(&lanes);
        }
    }
}

/// Adds the products of the numbers of `a` and `b`, a multiple of 32 of each.
#[inline(always)]
fn add_products<S: Simd>(a: &[f32], b: &[f32], sums: [[f32; LANES]; 4]) -> [[f32; LANES]; 4] {
    let [mut first, mut second, mut third, mut fourth] = sums;
    let add = |sum: &mut [f32; LANES], a: &[f32; LANES], b: &[f32; LANES]| {
        for i in 0..LANES {
            sum[i] = multiply_add::<S>(a[i], b[i], sum[i]);
        }
    };
    let (a, rest_a) = a.as_chunks::<LANES>().0.as_chunks::<4>();
    let (b, rest_b) = b.as_chunks::<LANES>().0.as_chunks::<4>();
    for (a, b) in a.iter().zip(b) {
        add(&mut first, &a[0], &b[0]);
        add(&mut second, &a[1], &b[1]);
        add(&mut third, &a[2], &b[2]);
        add(&mut fourth, &a[3], &b[3]);
    }
    for (a, b) in rest_a.iter().zip(rest_b) {
        add(&mut first, a, b);
    }
    [first, second, third, fourth]
}

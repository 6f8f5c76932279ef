//! VDPBF16PS of AVX-512: sixteen sums, two terms each. AMD (2024), "AMD64 Architecture Programmer's
//! Manual", volume 4; AMD's processors have it since 2022, and multiply twice as much in a second with
//! it as in 32 bits. Intel's with AMX multiply less with it than in 32 bits: for them are the tiles.

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_dpbf16_ps, _mm512_set1_epi32, _mm512_setzero_ps,
};
use std::mem::transmute;

use super::{BLOCK, Line, SIDE};

/// Rows whose sums stay in registers: two of sixteen numbers each.
const ROWS: usize = 8;

/// Proof that the processor has the instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pairs(());

impl Pairs {
    /// `None` without it.
    pub(super) fn detect() -> Option<Self> {
        let there = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16");
        there.then_some(Self(()))
    }

    /// Writes [`BLOCK`] rows and columns of a product, whose rows start `stride` numbers apart.
    pub(super) fn product(
        _: Self,
        product: &mut [f32],
        stride: usize,
        left: &[Line],
        right: &[Line],
    ) {
        // SAFETY: a `Pairs` exists only where `detect` found what `block` is compiled for.
        #[expect(unsafe_code, reason = "the processor was asked")]
        unsafe {
            block(product, stride, left, right);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bf16")]
fn block(product: &mut [f32], stride: usize, left: &[Line], right: &[Line]) {
    let steps = left.len() / BLOCK;
    let rows_of_left = left.chunks_exact(ROWS * steps);
    for (left, product) in rows_of_left.zip(product.chunks_mut(ROWS * stride)) {
        let sums = sums(left, right, steps);
        for (sums, row) in sums.into_iter().zip(product.chunks_mut(stride)) {
            for (sum, row) in sums.into_iter().zip(row.as_chunks_mut::<SIDE>().0) {
                *row = numbers(sum);
            }
        }
    }
}

/// Of [`ROWS`] rows and [`BLOCK`] columns. Loops by number: sums stay in registers only where the compiler sees how often
/// they run.
#[target_feature(enable = "avx512f,avx512bf16")]
fn sums(left: &[Line], right: &[Line], steps: usize) -> [[__m512; 2]; ROWS] {
    let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
    for (step, tiles) in right.chunks_exact(BLOCK).take(steps).enumerate() {
        let lines: [&Line; ROWS] = std::array::from_fn(|row| &left[row * steps + step]);
        let (first, second) = tiles.split_at(SIDE);
        for pair in 0..SIDE {
            let (first, second) = (of_line(first[pair]), of_line(second[pair]));
            for row in 0..ROWS {
                let both = both(lines[row], pair);
                sums[row][0] = _mm512_dpbf16_ps(sums[row][0], both, first);
                sums[row][1] = _mm512_dpbf16_ps(sums[row][1], both, second);
            }
        }
    }
    sums
}

/// The two numbers of a pair, sixteen times.
#[target_feature(enable = "avx512f,avx512bf16")]
fn both(line: &Line, pair: usize) -> __m512bh {
    let [low, high] = line.0.as_chunks::<2>().0[pair];
    let all = _mm512_set1_epi32((u32::from(high) << 16 | u32::from(low)).cast_signed());
    // SAFETY: both are 64 bytes in which every bit pattern is a value.
    #[expect(unsafe_code, reason = "the standard library has no word for it")]
    unsafe {
        transmute::<__m512i, __m512bh>(all)
    }
}

#[target_feature(enable = "avx512f,avx512bf16")]
fn of_line(line: Line) -> __m512bh {
    // SAFETY: both are 64 bytes in which every bit pattern is a value.
    #[expect(unsafe_code, reason = "the standard library has no word for it")]
    unsafe {
        transmute::<Line, __m512bh>(line)
    }
}

#[target_feature(enable = "avx512f,avx512bf16")]
fn numbers(sum: __m512) -> [f32; SIDE] {
    // SAFETY: both are 64 bytes in which every bit pattern is a value.
    #[expect(unsafe_code, reason = "the standard library has no word for it")]
    unsafe {
        transmute::<__m512, [f32; SIDE]>(sum)
    }
}

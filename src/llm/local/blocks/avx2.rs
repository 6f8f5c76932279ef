//! Products of rows with `x` where the processor has AVX2: for the types with one scale for 32
//! numbers, whose short loops compilers do not vectorize well.

use std::arch::x86_64::{__m128i, __m256i};

use pulp::x86::V3;
use pulp::{Simd, WithSimd, cast};

use super::{Block, LANES, Q4_0, Q4_1, Q8_0, fold, half};

/// Numbers of a block.
const COUNT: usize = 32;

/// A block of 32 whole numbers with a scale and a smallest value.
pub(in super::super) trait Whole: Block {
    /// What the block holds in 16 bits: its scale and, if it has one, its smallest value.
    fn halves(bytes: &[u8]) -> [[u8; 2]; 2];
    /// The smallest value: a number is `scale * whole + least`.
    fn least(scale: f32, held: f32) -> f32;
    /// The whole numbers.
    fn numbers(simd: V3, bytes: &[u8]) -> [__m256i; 4];
}

#[inline(always)]
fn sixteen(bytes: &[u8]) -> __m128i {
    let mut array = [0_u8; 16];
    array.copy_from_slice(bytes);
    cast(array)
}

/// The low and then the high halves of 16 bytes.
#[inline(always)]
fn nibbles(simd: V3, bytes: &[u8]) -> [__m256i; 4] {
    let V3 { sse2, avx2, .. } = simd;
    let (bytes, mask) = (sixteen(bytes), sse2._mm_set1_epi8(15));
    let low = sse2._mm_and_si128(bytes, mask);
    let high = sse2._mm_and_si128(sse2._mm_srli_epi16::<4>(bytes), mask);
    [
        avx2._mm256_cvtepu8_epi32(low),
        avx2._mm256_cvtepu8_epi32(sse2._mm_srli_si128::<8>(low)),
        avx2._mm256_cvtepu8_epi32(high),
        avx2._mm256_cvtepu8_epi32(sse2._mm_srli_si128::<8>(high)),
    ]
}

impl Whole for Q4_0 {
    #[inline(always)]
    fn halves(bytes: &[u8]) -> [[u8; 2]; 2] {
        [[bytes[0], bytes[1]], [0; 2]]
    }
    #[inline(always)]
    fn least(scale: f32, _held: f32) -> f32 {
        -8.0 * scale
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8]) -> [__m256i; 4] {
        nibbles(simd, &bytes[2..18])
    }
}

impl Whole for Q4_1 {
    #[inline(always)]
    fn halves(bytes: &[u8]) -> [[u8; 2]; 2] {
        [[bytes[0], bytes[1]], [bytes[2], bytes[3]]]
    }
    #[inline(always)]
    fn least(_scale: f32, held: f32) -> f32 {
        held
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8]) -> [__m256i; 4] {
        nibbles(simd, &bytes[4..20])
    }
}

impl Whole for Q8_0 {
    #[inline(always)]
    fn halves(bytes: &[u8]) -> [[u8; 2]; 2] {
        [[bytes[0], bytes[1]], [0; 2]]
    }
    #[inline(always)]
    fn least(_scale: f32, _held: f32) -> f32 {
        0.0
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8]) -> [__m256i; 4] {
        let V3 { sse2, avx2, .. } = simd;
        let (low, high) = (sixteen(&bytes[2..18]), sixteen(&bytes[18..34]));
        [
            avx2._mm256_cvtepi8_epi32(low),
            avx2._mm256_cvtepi8_epi32(sse2._mm_srli_si128::<8>(low)),
            avx2._mm256_cvtepi8_epi32(high),
            avx2._mm256_cvtepi8_epi32(sse2._mm_srli_si128::<8>(high)),
        ]
    }
}

/// Writes the products of whole rows with `x` to `out`; says whether it can.
pub(in super::super) fn dot<B: Whole>(bytes: &[u8], x: &[f32], out: &mut [f32]) -> bool {
    let Some(simd) = V3::try_new() else { return false };
    let mut sums: Vec<f32> = x.chunks_exact(COUNT).map(|x| x.iter().sum()).collect();
    sums.resize(sums.len().next_multiple_of(PIECE), 0.0);
    let kind = std::marker::PhantomData::<B>;
    Simd::vectorize(simd, WholeDot { simd, bytes, x, sums: &sums, out, kind });
    true
}

/// Blocks whose scales are decoded at once.
const PIECE: usize = 32;

/// The scales of at most [`PIECE`] blocks, and lane by lane the sums of their smallest values
/// times `sums`.
#[inline(always)]
fn decode_scales<B: Whole>(
    bytes: &[u8],
    sums: &[f32],
    scales: &mut [f32; PIECE],
    least_totals: &mut [f32; 8],
) {
    // What is behind the last block stays 0.
    let mut halves = [[[0_u8; 2]; PIECE]; 2];
    for (number, block) in bytes.chunks_exact(B::BYTES).enumerate() {
        let [scale, least] = B::halves(block);
        halves[0][number] = scale;
        halves[1][number] = least;
    }
    let mut leasts = [0.0; PIECE];
    for number in 0..PIECE {
        scales[number] = half(halves[0][number]);
        leasts[number] = B::least(scales[number], half(halves[1][number]));
    }
    for (leasts, sums) in leasts.as_chunks::<8>().0.iter().zip(sums.as_chunks::<8>().0) {
        for lane in 0..8 {
            least_totals[lane] += leasts[lane] * sums[lane];
        }
    }
}

struct WholeDot<'a, B> {
    simd: V3,
    bytes: &'a [u8],
    x: &'a [f32],
    /// Sums over the blocks of `x`, and zeros up to a multiple of [`PIECE`].
    sums: &'a [f32],
    out: &'a mut [f32],
    kind: std::marker::PhantomData<B>,
}

impl<B: Whole> WithSimd for WholeDot<'_, B> {
    type Output = ();

    // No closures in here: one that is not inlined is compiled without the instructions.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let V3 { avx, fma, .. } = self.simd;
        let row_bytes = self.x.len() / COUNT * B::BYTES;
        let x = self.x.as_chunks::<8>().0.as_chunks::<4>().0;
        for (out, row) in self.out.iter_mut().zip(self.bytes.chunks_exact(row_bytes)) {
            let mut total = avx._mm256_setzero_ps();
            let mut least_totals = [0.0; 8];
            let pieces = row.chunks(PIECE * B::BYTES).zip(x.chunks(PIECE));
            for ((bytes, x), sums) in pieces.zip(self.sums.chunks_exact(PIECE)) {
                let mut scales = [0.0; PIECE];
                decode_scales::<B>(bytes, sums, &mut scales, &mut least_totals);
                for ((bytes, x), scale) in bytes.chunks_exact(B::BYTES).zip(x).zip(&scales) {
                    let [first, second, third, fourth] = B::numbers(self.simd, bytes);
                    let mut products = avx._mm256_mul_ps(avx._mm256_cvtepi32_ps(first), cast(x[0]));
                    products =
                        fma._mm256_fmadd_ps(avx._mm256_cvtepi32_ps(second), cast(x[1]), products);
                    products =
                        fma._mm256_fmadd_ps(avx._mm256_cvtepi32_ps(third), cast(x[2]), products);
                    products =
                        fma._mm256_fmadd_ps(avx._mm256_cvtepi32_ps(fourth), cast(x[3]), products);
                    total = fma._mm256_fmadd_ps(avx._mm256_set1_ps(*scale), products, total);
                }
            }
            let total: [f32; 8] = cast(total);
            let mut lanes = [0.0; LANES];
            lanes[..8].copy_from_slice(&total);
            lanes[8..].copy_from_slice(&least_totals);
            *out = fold(&lanes);
        }
    }
}

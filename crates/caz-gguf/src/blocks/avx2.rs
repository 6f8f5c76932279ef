//! Products of rows with `x` where the processor has AVX2: for the types with one scale for 32
//! or 16 whole numbers, whose short loops compilers do not vectorize well.

use std::arch::x86_64::__m128i;

use pulp::x86::V3;
use pulp::{Simd, WithSimd, cast};

use super::{Block, LANES, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0, fold, half, six_bits};

/// Numbers of a run.
const COUNT: usize = 32;

/// Runs whose scales are decoded at once.
const PIECE: usize = 32;

/// Scales and smallest values of [`PIECE`] runs: a number is `scale * whole + least`.
pub(in super::super) struct Scales {
    /// Of the first and of the last 16 numbers.
    scales: [[f32; PIECE]; 2],
    leasts: [f32; PIECE],
}

/// A block of runs of 32 whole numbers.
pub(in super::super) trait Whole: Block {
    /// Whether the two halves of a run have scales of their own.
    const HALVED: bool = false;
    /// Whether smallest values are other than 0.
    const HAS_LEASTS: bool = true;
    /// Decodes the scales of at most [`PIECE`] runs; what is behind the last stays 0.
    fn scales(bytes: &[u8], out: &mut Scales);
    /// The whole numbers of a run, as signed bytes.
    fn numbers(simd: V3, bytes: &[u8], run: usize) -> [__m128i; 2];
}

/// The scales of blocks of one run: each starts with its scale and, if it has one, its smallest value,
/// in 16 bits. Without, the smallest value is `whole` times the scale.
#[inline(always)]
fn scales_of_runs<B: Block, const HAS_LEAST: bool>(bytes: &[u8], out: &mut Scales, whole: f32) {
    // As whole numbers: a pair of bytes would be moved byte by byte.
    let mut halves = [[0_u16; PIECE]; 2];
    for (run, block) in bytes.chunks_exact(B::BYTES).enumerate() {
        halves[0][run] = u16::from_le_bytes([block[0], block[1]]);
        if HAS_LEAST {
            halves[1][run] = u16::from_le_bytes([block[2], block[3]]);
        }
    }
    let [of_scales, of_leasts] = &halves;
    let runs = out.scales[0].iter_mut().zip(&mut out.leasts);
    for ((scale, least), (of_scale, of_least)) in runs.zip(of_scales.iter().zip(of_leasts)) {
        *scale = half(of_scale.to_le_bytes());
        let held = half(of_least.to_le_bytes());
        *least = if HAS_LEAST { held } else { whole * *scale };
    }
}

/// The scales of the K types with scales and smallest values of 6 bits.
#[inline(always)]
fn scales_of_six_bits<B: Block>(bytes: &[u8], out: &mut Scales) {
    let runs = out.scales[0].as_chunks_mut::<8>().0.iter_mut().zip(out.leasts.as_chunks_mut().0);
    for ((scales, leasts), block) in runs.zip(bytes.chunks_exact(B::BYTES)) {
        (*scales, *leasts) = six_bits(block);
        for least in leasts {
            *least = -*least;
        }
    }
}

#[inline(always)]
fn sixteen(bytes: &[u8]) -> __m128i {
    let mut array = [0_u8; 16];
    array.copy_from_slice(bytes);
    cast(array)
}

/// The four bits of each byte from bit `first` on, a multiple of 4.
#[inline(always)]
fn four_bits(simd: V3, bytes: &[u8], first: usize) -> __m128i {
    let sse2 = simd.sse2;
    let bytes = sixteen(bytes);
    let bytes = if first == 0 { bytes } else { sse2._mm_srli_epi16::<4>(bytes) };
    sse2._mm_and_si128(bytes, sse2._mm_set1_epi8(15))
}

/// The low and then the high halves of 16 bytes.
#[inline(always)]
fn nibbles(simd: V3, bytes: &[u8]) -> [__m128i; 2] {
    [four_bits(simd, bytes, 0), four_bits(simd, bytes, 4)]
}

/// `numbers`, 16 more where the byte of `bits` has a bit of the byte of `mask`.
#[inline(always)]
fn with_fifth_bit(simd: V3, numbers: __m128i, bits: __m128i, mask: __m128i) -> __m128i {
    let sse2 = simd.sse2;
    let is_set = sse2._mm_cmpeq_epi8(sse2._mm_and_si128(bits, mask), mask);
    sse2._mm_or_si128(numbers, sse2._mm_and_si128(is_set, sse2._mm_set1_epi8(16)))
}

/// As [`nibbles`], with the fifth bits in the four bytes before them.
#[inline(always)]
fn five_bits(simd: V3, bytes: &[u8]) -> [__m128i; 2] {
    /// Which of the four bytes holds the bit of a number, and which bit it is.
    const BYTE: [[u8; 16]; 2] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
        [2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3],
    ];
    const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let bits = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let bits = simd.sse2._mm_set1_epi32(bits);
    let [low, high] = nibbles(simd, &bytes[4..20]);
    let low_bits = simd.ssse3._mm_shuffle_epi8(bits, cast(BYTE[0]));
    let high_bits = simd.ssse3._mm_shuffle_epi8(bits, cast(BYTE[1]));
    [
        with_fifth_bit(simd, low, low_bits, cast(BIT)),
        with_fifth_bit(simd, high, high_bits, cast(BIT)),
    ]
}

impl Whole for Q4_0 {
    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_runs::<Self, false>(bytes, out, -8.0);
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], _run: usize) -> [__m128i; 2] {
        nibbles(simd, &bytes[2..18])
    }
}

impl Whole for Q4_1 {
    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_runs::<Self, true>(bytes, out, 0.0);
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], _run: usize) -> [__m128i; 2] {
        nibbles(simd, &bytes[4..20])
    }
}

impl Whole for Q5_0 {
    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_runs::<Self, false>(bytes, out, -16.0);
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], _run: usize) -> [__m128i; 2] {
        five_bits(simd, &bytes[2..22])
    }
}

impl Whole for Q5_1 {
    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_runs::<Self, true>(bytes, out, 0.0);
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], _run: usize) -> [__m128i; 2] {
        five_bits(simd, &bytes[4..24])
    }
}

impl Whole for Q8_0 {
    const HAS_LEASTS: bool = false;

    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_runs::<Self, false>(bytes, out, 0.0);
    }
    #[inline(always)]
    fn numbers(_simd: V3, bytes: &[u8], _run: usize) -> [__m128i; 2] {
        [sixteen(&bytes[2..18]), sixteen(&bytes[18..34])]
    }
}

impl Whole for Q4K {
    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_six_bits::<Self>(bytes, out);
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], run: usize) -> [__m128i; 2] {
        let bytes = &bytes[16 + run / 2 * 32..][..32];
        let first = run % 2 * 4;
        [four_bits(simd, &bytes[..16], first), four_bits(simd, &bytes[16..], first)]
    }
}

impl Whole for Q5K {
    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        scales_of_six_bits::<Self>(bytes, out);
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], run: usize) -> [__m128i; 2] {
        let (bits, bytes) = (&bytes[16..48], &bytes[48 + run / 2 * 32..][..32]);
        let first = run % 2 * 4;
        let mask = cast([1_u8 << run; 16]);
        [
            with_fifth_bit(simd, four_bits(simd, &bytes[..16], first), sixteen(&bits[..16]), mask),
            with_fifth_bit(simd, four_bits(simd, &bytes[16..], first), sixteen(&bits[16..]), mask),
        ]
    }
}

impl Whole for Q6K {
    const HALVED: bool = true;
    const HAS_LEASTS: bool = false;

    #[inline(always)]
    fn scales(bytes: &[u8], out: &mut Scales) {
        let [first, second] = &mut out.scales;
        let runs = first.as_chunks_mut::<8>().0.iter_mut().zip(second.as_chunks_mut::<8>().0);
        for ((first, second), block) in runs.zip(bytes.chunks_exact(Self::BYTES)) {
            let scale = half([block[208], block[209]]);
            let scales = block[192..208].as_chunks::<2>().0;
            for ((first, second), scales) in first.iter_mut().zip(second).zip(scales) {
                *first = scale * f32::from(scales[0].cast_signed());
                *second = scale * f32::from(scales[1].cast_signed());
            }
        }
    }
    #[inline(always)]
    fn numbers(simd: V3, bytes: &[u8], run: usize) -> [__m128i; 2] {
        let sse2 = simd.sse2;
        let (of_half, quarter) = (run / 4, run % 4);
        let low = &bytes[of_half * 64 + quarter % 2 * 32..][..32];
        let high = &bytes[128 + of_half * 32..][..32];
        let mut numbers = [sse2._mm_setzero_si128(); 2];
        for part in 0..2 {
            let low = four_bits(simd, &low[part * 16..][..16], quarter / 2 * 4);
            // The two bits from bit `2 * quarter` on, at bit 4.
            let high = sixteen(&high[part * 16..][..16]);
            let high = match quarter {
                0 => sse2._mm_slli_epi16::<4>(high),
                1 => sse2._mm_slli_epi16::<2>(high),
                2 => high,
                _ => sse2._mm_srli_epi16::<2>(high),
            };
            let high = sse2._mm_and_si128(high, sse2._mm_set1_epi8(0x30));
            let number = sse2._mm_or_si128(low, high);
            numbers[part] = sse2._mm_sub_epi8(number, sse2._mm_set1_epi8(32));
        }
        numbers
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

struct WholeDot<'a, B> {
    simd: V3,
    bytes: &'a [u8],
    x: &'a [f32],
    /// Sums over the runs of `x`, and zeros up to a multiple of [`PIECE`].
    sums: &'a [f32],
    out: &'a mut [f32],
    kind: std::marker::PhantomData<B>,
}

impl<B: Whole> WithSimd for WholeDot<'_, B> {
    type Output = ();

    // No closures in here: one that is not inlined is compiled without the instructions.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let V3 { avx, avx2, fma, sse2, .. } = self.simd;
        let runs = B::COUNT / COUNT;
        let row_bytes = self.x.len() / B::COUNT * B::BYTES;
        let x = self.x.as_chunks::<8>().0.as_chunks::<4>().0;
        for (out, row) in self.out.iter_mut().zip(self.bytes.chunks_exact(row_bytes)) {
            let mut total = avx._mm256_setzero_ps();
            let mut least_totals = [0.0; 8];
            let pieces = row.chunks(PIECE / runs * B::BYTES).zip(x.chunks(PIECE));
            for ((bytes, x), sums) in pieces.zip(self.sums.chunks_exact(PIECE)) {
                let mut of_piece = Scales { scales: [[0.0; PIECE]; 2], leasts: [0.0; PIECE] };
                B::scales(bytes, &mut of_piece);
                if B::HAS_LEASTS {
                    let leasts = of_piece.leasts.as_chunks::<8>().0;
                    for (leasts, sums) in leasts.iter().zip(sums.as_chunks::<8>().0) {
                        for lane in 0..8 {
                            least_totals[lane] += leasts[lane] * sums[lane];
                        }
                    }
                }
                let blocks = bytes.chunks_exact(B::BYTES).zip(x.chunks_exact(runs));
                for (number, (bytes, x)) in blocks.enumerate() {
                    let scales = &of_piece.scales[0][number * runs..][..runs];
                    for run in 0..runs {
                        let [first, third] = B::numbers(self.simd, bytes, run);
                        let x = &x[run];
                        let second = sse2._mm_srli_si128::<8>(first);
                        let fourth = sse2._mm_srli_si128::<8>(third);
                        let [first, second] =
                            [avx2._mm256_cvtepi8_epi32(first), avx2._mm256_cvtepi8_epi32(second)];
                        let [third, fourth] =
                            [avx2._mm256_cvtepi8_epi32(third), avx2._mm256_cvtepi8_epi32(fourth)];
                        let mut scale = avx._mm256_set1_ps(scales[run]);
                        let mut products =
                            avx._mm256_mul_ps(avx._mm256_cvtepi32_ps(first), cast(x[0]));
                        products = fma._mm256_fmadd_ps(
                            avx._mm256_cvtepi32_ps(second),
                            cast(x[1]),
                            products,
                        );
                        if B::HALVED {
                            total = fma._mm256_fmadd_ps(scale, products, total);
                            scale = avx._mm256_set1_ps(of_piece.scales[1][number * runs + run]);
                            products = avx._mm256_setzero_ps();
                        }
                        products = fma._mm256_fmadd_ps(
                            avx._mm256_cvtepi32_ps(third),
                            cast(x[2]),
                            products,
                        );
                        products = fma._mm256_fmadd_ps(
                            avx._mm256_cvtepi32_ps(fourth),
                            cast(x[3]),
                            products,
                        );
                        total = fma._mm256_fmadd_ps(scale, products, total);
                    }
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

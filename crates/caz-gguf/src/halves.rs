//! Numbers in 16 bits, as IEEE 754 defines them: in model files, and as what is remembered of a text.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// A number in 16 bits. Infinities become no numbers. Without a step through denormal numbers, which
/// take a hundred times as long.
#[inline(always)]
pub(super) fn half(bytes: [u8; 2]) -> f32 {
    /// What turns the exponent of 16 bits into that of 32.
    const EXPONENT: u32 = (127 - 15) << 23;
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (magnitude, sign) = ((bits & 0x7fff) << 13, (bits & 0x8000) << 16);
    let normal = magnitude + EXPONENT;
    // A denormal counts steps of 2^-24: 2^-14 (1 + its fraction) - 2^-14.
    let denormal = f32::from_bits(normal + (1 << 23)) - f32::from_bits(EXPONENT + (1 << 23));
    let found = if bits & 0x7c00 == 0 { denormal.to_bits() } else { normal };
    let found = if bits & 0x7c00 == 0x7c00 { f32::NAN.to_bits() } else { found };
    f32::from_bits(found | sign)
}

/// A "brain" number in 16 bits: the first half of one in 32.
#[inline(always)]
pub(super) fn brain(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// The nearest number in 16 bits, of two as near the even one. What is too large becomes an
/// infinity, so that [`half`] gives no number.
#[inline(always)]
fn nearest(value: f32) -> [u8; 2] {
    /// 2^16: from here on everything is too large.
    const TOO_LARGE: u32 = (127 + 16) << 23;
    /// 2^-14, the smallest number that is not denormal.
    const NORMAL: u32 = (127 - 14) << 23;
    /// One half: its last digit is worth 2^-24, one step of the denormal numbers, so that adding it
    /// rounds.
    const STEPS: u32 = 126 << 23;
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let is_odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + is_odd) >> 13;
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(STEPS);
    let found = if magnitude < NORMAL { denormal } else { normal };
    let found = if magnitude < TOO_LARGE { found } else { 0x7c00 };
    let [low, high, ..] = (found | bits >> 16 & 0x8000).to_le_bytes();
    [low, high]
}

/// How a number is remembered.
pub(super) trait Kept: Copy + Send + Sync {
    fn keep(value: f32) -> Self;
    fn value(self) -> f32;
}

/// A number in 16 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Half([u8; 2]);

impl Kept for Half {
    #[inline(always)]
    fn keep(value: f32) -> Self {
        Self(nearest(value))
    }

    #[inline(always)]
    fn value(self) -> f32 {
        half(self.0)
    }
}

/// Nothing is rounded: for tests of everything else.
#[cfg(test)]
impl Kept for f32 {
    fn keep(value: f32) -> Self {
        value
    }

    fn value(self) -> f32 {
        self
    }
}

/// Rounds every number to what is remembered of it.
pub(super) fn round<K: Kept>(values: &mut [f32]) {
    Arch::new().dispatch(Round::<K> { values, kind: PhantomData });
}

struct Round<'a, K> {
    values: &'a mut [f32],
    kind: PhantomData<K>,
}

impl<K: Kept> WithSimd for Round<'_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for value in self.values {
            *value = K::keep(*value).value();
        }
    }
}

/// Tokens of a block.
const BLOCK: usize = 64;

/// Rows of numbers, one for each token, in blocks that are never moved. Blocks of forgotten rows are
/// kept for others: freed and taken again by other threads, they would add up.
#[derive(Debug, Clone)]
pub(super) struct Rows<K> {
    /// All but the last of [`BLOCK`] rows.
    blocks: Vec<Vec<K>>,
    /// Without rows.
    spare: Vec<Vec<K>>,
    width: usize,
}

impl<K> Default for Rows<K> {
    fn default() -> Self {
        Self { blocks: Vec::new(), spare: Vec::new(), width: 0 }
    }
}

impl<K: Kept> Rows<K> {
    /// Appends the columns of `(width, tokens)`.
    pub(super) fn append(&mut self, columns: &[f32], tokens: usize) {
        let width = columns.len() / tokens;
        self.width = width;
        for token in 0..tokens {
            if self.blocks.last().is_none_or(|block| block.len() == BLOCK * width) {
                let block = self.spare.pop();
                self.blocks.push(block.unwrap_or_else(|| Vec::with_capacity(BLOCK * width)));
            }
            if let Some(block) = self.blocks.last_mut() {
                block.extend(columns.iter().skip(token).step_by(tokens).copied().map(K::keep));
            }
        }
    }

    /// Forgets all but the first rows.
    pub(super) fn truncate(&mut self, tokens: usize) {
        let forgotten = self.blocks.drain(tokens.div_ceil(BLOCK).min(self.blocks.len())..);
        self.spare.extend(forgotten.map(|mut block| {
            block.clear();
            block
        }));
        if let Some(last) = self.blocks.get_mut(tokens / BLOCK) {
            last.truncate(tokens % BLOCK * self.width);
        }
    }

    /// Writes the rows to `out`, one after the other.
    pub(super) fn decode(&self, out: &mut Vec<f32>) {
        out.clear();
        out.resize(self.blocks.iter().map(Vec::len).sum(), 0.0);
        if out.is_empty() {
            return;
        }
        out.par_chunks_mut(BLOCK * self.width)
            .zip(&self.blocks)
            .for_each(|(out, block)| Arch::new().dispatch(Decode { block, out }));
    }
}

struct Decode<'a, K> {
    block: &'a [K],
    out: &'a mut [f32],
}

impl<K: Kept> WithSimd for Decode<'_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (out, kept) in self.out.iter_mut().zip(self.block) {
            *out = kept.value();
        }
    }
}

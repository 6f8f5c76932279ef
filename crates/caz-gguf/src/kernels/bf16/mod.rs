//! Matrix products of numbers that are rounded to 16 bits ("brain" numbers, the first half of one in
//! 32), summed in 32 bits, by the unit of the processor that is made for them.
//!
//! A row of a product depends on nothing but its own row of the input and the weights.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

#[cfg(target_arch = "x86_64")]
mod pairs;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tiles;

use pulp::{Arch, Simd, WithSimd};

/// Rows and columns of a tile of the product.
const SIDE: usize = 16;

/// Numbers in a row of a tile: what is summed at once.
const DEPTH: usize = 32;

/// Rows and columns that are computed at once: two tiles by two.
const BLOCK: usize = 2 * SIDE;

/// Why products in 16 bits cannot be computed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBf16 {
    /// The program was built for another kind of machine.
    #[error("this build is not for x86-64")]
    Build,
    /// The processor lacks the instructions, or the system does not lend them.
    #[error("no unit for numbers in 16 bits is lent here (AMX: amx_bf16; AVX-512: avx512_bf16)")]
    Processor,
}

/// Proof that this process may use a unit for them, which is the only way to a product.
#[derive(Debug, Clone, Copy)]
pub struct Bf16(Unit);

/// What multiplies, the fastest first.
#[derive(Debug, Clone, Copy)]
enum Unit {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Tiles(tiles::Tiles),
    #[cfg(target_arch = "x86_64")]
    Pairs(pairs::Pairs),
}

/// One row of a tile.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u16; DEPTH]);

const ZEROS: Line = Line([0; DEPTH]);

/// Weights of shape `(inputs, outputs)`, rounded and in the order in which they are read: for every
/// `BLOCK` of outputs and every `DEPTH` of inputs two tiles, whose rows hold two inputs of all
/// outputs. What is missing of the last tiles is zero.
#[derive(Debug)]
pub struct Bf16Weights {
    lines: Vec<Line>,
    inputs: usize,
    outputs: usize,
}

/// A rounded input, kept from product to product for its memory.
#[derive(Debug, Default)]
pub struct Rounded {
    /// Rows of whole lines, a multiple of [`BLOCK`] of them.
    lines: Vec<Line>,
    /// What of a product lies behind the last row or column.
    edge: Vec<f32>,
}

impl Bf16 {
    /// Looks for the fastest unit that the processor has and the system lends.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn detect() -> Result<Self, NoBf16> {
        let why = if cfg!(target_arch = "x86_64") { NoBf16::Processor } else { NoBf16::Build };
        Self::all().next().ok_or(why)
    }

    fn all() -> impl Iterator<Item = Self> {
        let units: [Option<Unit>; _] = [
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            tiles::Tiles::detect().map(Unit::Tiles),
            #[cfg(target_arch = "x86_64")]
            pairs::Pairs::detect().map(Unit::Pairs),
        ];
        units.into_iter().flatten().map(Self)
    }

    /// `product = input * weights`; `input` has rows of as many numbers as the weights have inputs.
    ///
    /// # Panics
    ///
    /// If the shapes do not fit each other: a bug of the caller.
    pub fn multiply(
        self,
        product: &mut [f32],
        input: &[f32],
        weights: &Bf16Weights,
        rounded: &mut Rounded,
    ) {
        multiply(product, input, weights, rounded, |product, stride, left, right| match self.0 {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Unit::Tiles(unit) => tiles::Tiles::product(unit, product, stride, left, right),
            #[cfg(target_arch = "x86_64")]
            Unit::Pairs(unit) => pairs::Pairs::product(unit, product, stride, left, right),
        });
    }
}

/// [`Bf16::multiply`] by what multiplies [`BLOCK`] rows and columns: it gets the product, how many
/// numbers its rows start apart, the rows and the tiles.
fn multiply(
    product: &mut [f32],
    input: &[f32],
    weights: &Bf16Weights,
    rounded: &mut Rounded,
    of_block: impl Fn(&mut [f32], usize, &[Line], &[Line]),
) {
    let Bf16Weights { inputs, outputs, .. } = *weights;
    let rows = input.len() / inputs;
    assert_eq!((rows * inputs, rows * outputs), (input.len(), product.len()), "shapes differ");
    rounded.fill(input, inputs);
    rounded.edge.resize(BLOCK * BLOCK, 0.0);
    let lines = BLOCK * inputs.div_ceil(DEPTH);
    for (block, left) in rounded.lines.chunks_exact(lines).enumerate() {
        let row = block * BLOCK;
        for (block, right) in weights.lines.chunks_exact(lines).enumerate() {
            let column = block * BLOCK;
            let start = row * outputs + column;
            if row + BLOCK <= rows && column + BLOCK <= outputs {
                of_block(&mut product[start..], outputs, left, right);
                continue;
            }
            of_block(&mut rounded.edge, BLOCK, left, right);
            let width = BLOCK.min(outputs - column);
            let found = rounded.edge.chunks_exact(BLOCK).take(rows - row);
            for (found, product) in found.zip(product[start..].chunks_mut(outputs)) {
                product[..width].copy_from_slice(&found[..width]);
            }
        }
    }
}

impl Bf16Weights {
    /// Rounds a matrix of shape `(inputs, outputs)`.
    ///
    /// # Panics
    ///
    /// If it is empty or not a matrix of so many outputs.
    pub fn new(values: &[f32], outputs: usize) -> Self {
        let inputs = values.len() / outputs;
        assert!(inputs > 0 && inputs * outputs == values.len(), "no matrix");
        let steps = inputs.div_ceil(DEPTH);
        let mut lines = vec![ZEROS; outputs.div_ceil(BLOCK) * steps * BLOCK];
        for (input, row) in values.chunks_exact(outputs).enumerate() {
            let (step, pair) = (input / DEPTH, input % DEPTH / 2);
            for (output, &value) in row.iter().enumerate() {
                let tile = (output / BLOCK * steps + step) * 2 + output % BLOCK / SIDE;
                lines[tile * SIDE + pair].0[output % SIDE * 2 + input % 2] = brain(value);
            }
        }
        Self { lines, inputs, outputs }
    }
}

impl Rounded {
    fn fill(&mut self, input: &[f32], inputs: usize) {
        let steps = inputs.div_ceil(DEPTH);
        let rows = (input.len() / inputs).next_multiple_of(BLOCK);
        self.lines.resize(rows * steps, ZEROS);
        Arch::new().dispatch(Fill { lines: &mut self.lines, input, inputs });
    }
}

struct Fill<'a> {
    lines: &'a mut [Line],
    input: &'a [f32],
    inputs: usize,
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let mut rows = self.lines.chunks_exact_mut(self.inputs.div_ceil(DEPTH));
        for (row, lines) in self.input.chunks_exact(self.inputs).zip(&mut rows) {
            let (whole, rest) = row.as_chunks::<DEPTH>();
            for (values, line) in whole.iter().zip(lines.iter_mut()) {
                for (value, kept) in values.iter().zip(&mut line.0) {
                    *kept = brain(*value);
                }
            }
            if let Some(line) = lines.get_mut(whole.len()) {
                *line = ZEROS;
                for (value, kept) in rest.iter().zip(&mut line.0) {
                    *kept = brain(*value);
                }
            }
        }
        for lines in rows {
            lines.fill(ZEROS);
        }
    }
}

/// The nearest number in 16 bits, of two as near the even one. What is no number stays none.
#[inline(always)]
fn brain(value: f32) -> u16 {
    let bits = value.to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let found = if value.is_nan() { bits >> 16 | 0x40 } else { nearest };
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is zero")]
    let found = found as u16;
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::numbers;
    use super::*;

    /// A number rounded to 16 bits, in 64.
    fn rounded(value: f32) -> f64 {
        f64::from(f32::from_bits(u32::from(brain(value)) << 16))
    }

    /// What a unit does, number by number.
    fn plain(product: &mut [f32], stride: usize, left: &[Line], right: &[Line]) {
        let steps = left.len() / BLOCK;
        let number = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
        for (row, line) in left.chunks_exact(steps).enumerate() {
            for column in 0..BLOCK {
                let terms = (0..steps * DEPTH).map(|k| {
                    let (step, within) = (k / DEPTH, k % DEPTH);
                    let tile = (step * 2 + column / SIDE) * SIDE;
                    let weight = right[tile + within / 2].0[column % SIDE * 2 + within % 2];
                    number(line[step].0[within]) * number(weight)
                });
                #[expect(clippy::cast_possible_truncation, reason = "the sum is in 32 bits")]
                let sum = terms.sum::<f64>() as f32;
                product[row * stride + column] = sum;
            }
        }
    }

    /// By a unit, else as it would.
    fn product(bf16: Option<Bf16>, left: &[f32], right: &[f32], columns: usize) -> Vec<f32> {
        let weights = Bf16Weights::new(right, columns);
        let mut product = vec![f32::NAN; left.len() / weights.inputs * columns];
        // What was in the memory of another product does not count.
        let mut rounded =
            Rounded { lines: vec![Line([0x7fc0; DEPTH]); 7], edge: vec![f32::NAN; 5] };
        match bf16 {
            Some(bf16) => bf16.multiply(&mut product, left, &weights, &mut rounded),
            None => multiply(&mut product, left, &weights, &mut rounded, plain),
        }
        product
    }

    /// Without a unit, and with each that there is.
    fn ways() -> impl Iterator<Item = Option<Bf16>> {
        std::iter::once(None).chain(Bf16::all().map(Some))
    }

    #[test]
    fn a_number_is_rounded_to_the_nearest_and_to_even_and_keeps_what_it_is() {
        let pairs = [
            (1.0, 0x3f80),
            (-2.0, 0xc000),
            (0.0, 0),
            (-0.0, 0x8000),
            (f32::INFINITY, 0x7f80),
            (f32::MAX, 0x7f80),
            // Half a step behind 1 and behind the number after it; a bit more.
            (f32::from_bits(0x3f80_8000), 0x3f80),
            (f32::from_bits(0x3f81_8000), 0x3f82),
            (f32::from_bits(0x3f80_8001), 0x3f81),
        ];
        for (value, expected) in pairs {
            assert_eq!(brain(value), expected, "{value}");
        }
        for bits in [0x7fff_ffff_u32, 0x7f80_0001, 0xffff_ffff] {
            assert!(f32::from_bits(u32::from(brain(f32::from_bits(bits))) << 16).is_nan());
        }
    }

    #[test]
    fn weights_stand_in_tiles_of_pairs_of_inputs() {
        // Three inputs of two outputs: (1, 2), (3, 4), (5, 6).
        let weights = Bf16Weights::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2);
        assert_eq!((weights.inputs, weights.lines.len()), (3, BLOCK));
        assert_eq!(weights.lines[0].0[..5], [1.0, 3.0, 2.0, 4.0, 0.0].map(brain));
        assert_eq!(weights.lines[1].0[..5], [5.0, 0.0, 6.0, 0.0, 0.0].map(brain));
    }

    proptest! {
        #[test]
        fn the_product_is_that_of_rounded_numbers(
            rows in 1_usize..80, columns in 1_usize..100, inner in 1_usize..140, seed in any::<u32>(),
        ) {
            let left = numbers(rows * inner, seed);
            let right = numbers(inner * columns, seed ^ 0x5555);
            for way in ways() {
                let found = product(way, &left, &right, columns);
                for (i, row) in found.chunks_exact(columns).enumerate() {
                    for (j, &found) in row.iter().enumerate() {
                        let expected: f64 = (0..inner)
                            .map(|k| rounded(left[i * inner + k]) * rounded(right[k * columns + j]))
                            .sum();
                        let difference = (f64::from(found) - expected).abs();
                        prop_assert!(difference < 1e-5, "{way:?}: {found} {expected}");
                    }
                }
            }
        }

        #[test]
        fn a_row_of_the_product_does_not_depend_on_the_other_rows(
            rows in 2_usize..100, columns in 1_usize..70, inner in 1_usize..100, seed in any::<u32>(),
        ) {
            let left = numbers(rows * inner, seed);
            let right = numbers(inner * columns, seed ^ 0x5555);
            for way in ways() {
                let all = product(way, &left, &right, columns);
                let last = product(way, &left[(rows - 1) * inner..], &right, columns);
                prop_assert_eq!(&all[(rows - 1) * columns..], &last[..]);
            }
        }
    }

    #[test]
    fn what_is_no_number_reaches_its_row_and_no_other() {
        let mut left = numbers(3 * 40, 1);
        left[50] = f32::NAN;
        for way in ways() {
            let found = product(way, &left, &numbers(40 * 20, 2), 20);
            let is_nan = found.chunks_exact(20).map(|row| row.iter().all(|value| value.is_nan()));
            assert_eq!(is_nan.collect::<Vec<_>>(), [false, true, false]);
        }
    }

    #[test]
    fn every_thread_may_use_the_unit() {
        let (left, right) = (numbers(70 * 64, 1), numbers(64 * 48, 2));
        for way in ways() {
            let here = product(way, &left, &right, 48);
            std::thread::scope(|scope| {
                let there = (0..4).map(|_| scope.spawn(|| product(way, &left, &right, 48)));
                for there in there.collect::<Vec<_>>() {
                    assert_eq!(there.join().expect("the thread ends"), here);
                }
            });
        }
    }
}

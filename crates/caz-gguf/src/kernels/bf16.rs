//! Matrix products of numbers that are rounded to 16 bits ("brain" numbers, the first half of one in
//! 32), summed in 32 bits, on the tiles of the AMX unit of Intel's server processors since 2023.
//!
//! A product of tiles is one instruction, TDPBF16PS: 16 rows and 16 columns, 32 terms each. Intel (2024),
//! "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 1, chapter 18. VDPBF16PS of
//! AVX-512 is no way: where both are, it multiplies half as much in a second as the products in 32 bits.
//!
//! A row of a product depends on nothing but its own row of the input and the weights.
#![expect(
    clippy::inline_always,
    reason = "a kernel must be inlined into the function that carries the target features"
)]

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
    #[error("this build is not for Linux on x86-64")]
    Build,
    /// The processor lacks the instructions.
    #[error("this processor has no AMX unit for numbers in 16 bits (amx_tile and amx_bf16)")]
    Processor,
    /// The system does not lend the unit.
    #[error("the system does not lend this program the AMX unit of the processor")]
    System,
}

/// Proof that this process may use the AMX unit, which is the only way to a product.
#[derive(Debug, Clone, Copy)]
pub struct Bf16(());

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
    /// Looks whether the processor has the unit, and asks the system for it.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn detect() -> Result<Self, NoBf16> {
        amx::lent().map(|()| Self(()))
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
        multiply(product, input, weights, rounded, |product, stride, left, right| {
            amx::product(self, product, stride, left, right);
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

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx {
    //! What the compiler has no safe words for: the unit, and the system that lends it.

    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    use super::{BLOCK, Bf16, Line, NoBf16, SIDE};

    /// How LDTILECFG reads the shapes of the eight tiles.
    #[repr(C, align(64))]
    struct Shapes {
        palette: u8,
        start: u8,
        reserved: [u8; 14],
        bytes_in_a_row: [u16; 16],
        rows: [u8; 16],
    }

    /// Every tile has 16 rows of 64 bytes.
    static SHAPES: Shapes = Shapes {
        palette: 1,
        start: 0,
        reserved: [0; 14],
        bytes_in_a_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
        rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
    };

    /// Whether the processor has eight tiles of 16 rows of 64 bytes, and products of numbers in 16 bits.
    fn there() -> bool {
        /// AMX-BF16 and AMX-TILE in EDX of leaf 7.
        const WANTED: u32 = 1 << 22 | 1 << 24;
        if __cpuid(0).eax < 0x1d || __cpuid_count(7, 0).edx & WANTED != WANTED {
            return false;
        }
        // Palette 1: bytes of a tile; tiles and bytes of a row; rows.
        let palette = __cpuid_count(0x1d, 1);
        palette.eax >> 16 == 1024 && palette.ebx == 8 << 16 | 64 && palette.ecx & 0xffff == 16
    }

    /// Whether this process may use the unit; asks for it, which changes nothing else.
    pub(super) fn lent() -> Result<(), NoBf16> {
        /// `ARCH_REQ_XCOMP_PERM` of `asm/prctl.h`, since Linux 5.16.
        const ASK: libc::c_long = 0x1023;
        /// The state that holds the tiles.
        const TILES: libc::c_long = 18;
        if !there() {
            return Err(NoBf16::Processor);
        }
        // SAFETY: with this code `arch_prctl` takes two numbers and no address, so it reads and writes no
        // memory of this process. It either grants the permission to all of its threads or fails.
        #[expect(unsafe_code, reason = "the system is asked")]
        let answer = unsafe { libc::syscall(libc::SYS_arch_prctl, ASK, TILES) };
        if answer == 0 { Ok(()) } else { Err(NoBf16::System) }
    }

    /// Writes [`BLOCK`] rows and columns of a product, whose rows start `stride` numbers apart.
    pub(super) fn product(
        _: Bf16,
        product: &mut [f32],
        stride: usize,
        left: &[Line],
        right: &[Line],
    ) {
        let steps = left.len() / BLOCK;
        assert!(steps > 0 && stride >= BLOCK, "an empty product");
        assert!((BLOCK - 1) * stride + BLOCK <= product.len(), "product too short");
        assert!(BLOCK * steps <= right.len(), "right matrix too short");
        let (of_left, of_product) = (steps * size_of::<Line>(), stride * size_of::<f32>());
        // SAFETY: A `Bf16` exists only where `lent` found the instructions, the shapes of palette 1 and
        // the system's permission, which holds for every thread of the process to its end, so no
        // instruction faults. Registers of tiles are set up, written, read and released in this one
        // block, and are named as overwritten. Memory: with all tiles of 16 rows of 64 bytes, a tile is
        // read or written in 16 pieces of 64 bytes, `stride` bytes apart.
        // - `left` is read at rows 0 to 31, `steps` lines apart, in each step one line of every row: up
        //   to line 31 steps + steps - 1, which is within the first `BLOCK * steps` lines.
        // - `right` is read from its start on without gaps, in each step 2 * 16 lines: `BLOCK * steps`.
        // - `product` is written at rows 0 to 31, `stride` numbers apart, 32 numbers of each: up to
        //   number 31 stride + 31.
        // The first lies within its slice by what `steps` is, the others by the assertions; a slice has at
        // most isize::MAX bytes, so no stride overflows. `product` is borrowed mutably, so it overlaps no other. Lines and numbers
        // are plain bits: any are allowed. Flags change only by `dec`, the stack is not used.
        #[expect(unsafe_code, reason = "the standard library has no stable words for the AMX unit")]
        unsafe {
            asm!(
                "ldtilecfg [{shapes}]",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "2:",
                "tileloadd tmm6, [{right} + {line} * 1]",
                "tileloadd tmm4, [{upper} + {of_left} * 1]",
                "tileloadd tmm7, [{right} + {line} * 1 + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm5, [{lower} + {of_left} * 1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {upper}, 64",
                "add {lower}, 64",
                "add {right}, 2048",
                "dec {steps}",
                "jnz 2b",
                "tilestored [{product} + {of_product} * 1], tmm0",
                "tilestored [{product} + {of_product} * 1 + 64], tmm1",
                "tilestored [{below} + {of_product} * 1], tmm2",
                "tilestored [{below} + {of_product} * 1 + 64], tmm3",
                "tilerelease",
                shapes = in(reg) &raw const SHAPES,
                line = in(reg) size_of::<Line>(),
                right = inout(reg) right.as_ptr() => _,
                upper = inout(reg) left.as_ptr() => _,
                lower = inout(reg) left[SIDE * steps..].as_ptr() => _,
                of_left = in(reg) of_left,
                steps = inout(reg) steps => _,
                product = in(reg) product.as_mut_ptr(),
                below = in(reg) product.as_mut_ptr().wrapping_add(SIDE * stride),
                of_product = in(reg) of_product,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod amx {
    use super::{Bf16, Line, NoBf16};

    pub(super) fn lent() -> Result<(), NoBf16> {
        Err(NoBf16::Build)
    }

    pub(super) fn product(
        _: Bf16,
        _product: &mut [f32],
        _stride: usize,
        _left: &[Line],
        _right: &[Line],
    ) {
        unreachable!("there is no proof without the unit")
    }
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

    /// What the unit does, number by number.
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

    /// By the unit where there is one, else as it would.
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

    /// Without the unit, and with it where there is one.
    fn ways() -> impl Iterator<Item = Option<Bf16>> {
        std::iter::once(None).chain(Bf16::detect().ok().map(Some))
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

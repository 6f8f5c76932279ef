//! Numbers in blocks and of 16 bits, against candle.

#[cfg(target_arch = "x86_64")]
use proptest::prelude::*;

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::matrix::{dot_of, multiply_one};

/// Numbers from -1 to 1, by a linear congruence.
fn numbers(count: usize) -> Vec<f32> {
    let mut state = 9_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

const KINDS: [GgmlDType; 13] = [
    GgmlDType::F32,
    GgmlDType::F16,
    GgmlDType::BF16,
    GgmlDType::Q4_0,
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_0,
    GgmlDType::Q2K,
    GgmlDType::Q3K,
    GgmlDType::Q4K,
    GgmlDType::Q5K,
    GgmlDType::Q6K,
];

#[test]
fn every_type_is_decoded_and_multiplied_as_candle_decodes_it() {
    // More rows than a task has, and a last task of another size.
    let (rows, columns) = (70, 512);
    for kind in KINDS {
        let exact = Tensor::from_vec(numbers(rows * columns), (rows, columns), &Device::Cpu);
        let quantised = QTensor::quantize(&exact.unwrap(), kind).unwrap();
        let expected: Vec<Vec<f32>> =
            quantised.dequantize(&Device::Cpu).unwrap().to_vec2().unwrap();
        let bytes = quantised.data().unwrap().into_owned();
        let weight = Weight::new(kind, bytes, rows, columns).unwrap();
        for (row, expected) in expected.iter().enumerate() {
            let far = furthest(&weight.row(row), expected);
            assert!(far < 1e-6, "{kind:?}, row {row}: {far}");
        }
        for tokens in [1, 2, 33] {
            let x = numbers(columns * tokens);
            let mut found = Vec::new();
            products([(&weight, &mut found)], &x, tokens);
            for (row, weights) in expected.iter().enumerate() {
                for token in 0..tokens {
                    let at = |column: usize| f64::from(x[column * tokens + token]);
                    let sum: f64 =
                        weights.iter().enumerate().map(|(c, w)| f64::from(*w) * at(c)).sum();
                    let far = (f64::from(found[row * tokens + token]) - sum).abs();
                    // Sums of 512 products of about 1 at most, in 32 bits.
                    assert!(far < 1e-4, "{kind:?}, {tokens} tokens, row {row}: {far}");
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
proptest! {
    // Scales are powers of two and `x` whole numbers, so that every sum is exact in any order.
    #[test]
    fn a_kernel_for_avx2_multiplies_as_the_portable_one(
        kind in 3..KINDS.len(), blocks in 1_usize..70, rows in 1_usize..4, seed in any::<u32>(),
    ) {
        let kind = KINDS[kind];
        // At most 1024 numbers of up to 63 * 31 times at most 2 are below 2^24.
        let blocks = blocks.min(1024 / kind.block_size());
        let (columns, bytes) = (blocks * kind.block_size(), kind.type_size());
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24).to_le_bytes()[0]
        };
        let mut held: Vec<u8> = (0..rows * blocks * bytes).map(|_| next()).collect();
        // Where a block has its scale and its smallest value: 2^-1 to 2^1 in 16 bits.
        let halves = match kind {
            GgmlDType::Q2K => vec![80, 82],
            GgmlDType::Q3K => vec![108],
            GgmlDType::Q6K => vec![208],
            GgmlDType::Q4_0 | GgmlDType::Q5_0 | GgmlDType::Q8_0 => vec![0],
            _ => vec![0, 2],
        };
        for block in held.chunks_exact_mut(bytes) {
            for place in &halves {
                let sign = u16::from(next() % 2) << 15;
                let number = u16::from(14 + next() % 3) << 10 | sign;
                block[*place..place + 2].copy_from_slice(&number.to_le_bytes());
            }
        }
        let x: Vec<f32> = (0..columns).map(|_| f32::from(next() % 5) - 2.0).collect();
        let (mut found, mut expected) = (vec![f32::NAN; rows], vec![f32::NAN; rows]);
        multiply_one(kind, &held, &x, &mut found);
        dot_of(kind, &held, &x, &mut expected);
        prop_assert_eq!(found, expected, "{:?}", kind);
    }
}

#[test]
fn products_of_two_matrices_are_combined_entry_by_entry() {
    // More rows than a task has, and a last task of another size.
    let (rows, columns) = (70, 64);
    let values = numbers(2 * rows * columns);
    let (first, second) = values.split_at(rows * columns);
    let weight = |values: &[f32]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Weight::new(GgmlDType::F32, bytes, rows, columns).unwrap()
    };
    for tokens in [1, 7] {
        let x = numbers(columns * tokens);
        // What an earlier call left is overwritten.
        let mut found = vec![f32::NAN; 5000];
        let less = |a: &mut [f32], b: &[f32]| a.iter_mut().zip(b).for_each(|(a, b)| *a -= 2.0 * b);
        combined_products(&weight(first), &weight(second), &x, tokens, (less, &mut found));
        assert_eq!(found.len(), rows * tokens);
        for (place, found) in found.iter().enumerate() {
            let (row, token) = (place / tokens, place % tokens);
            let term = |column: usize| {
                let of = |values: &[f32]| f64::from(values[row * columns + column]);
                (of(first) - 2.0 * of(second)) * f64::from(x[column * tokens + token])
            };
            let sum: f64 = (0..columns).map(term).sum();
            assert!((f64::from(*found) - sum).abs() < 1e-4, "{place}: {found} {sum}");
        }
    }
}

#[test]
fn numbers_of_16_bits_are_read_exactly() {
    let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let found = Weight::new(GgmlDType::F16, all, 1, 1 << 16).unwrap().row(0);
    for (bits, found) in (0..=u16::MAX).zip(found) {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let magnitude = match exponent {
            0 => fraction * 2.0_f64.powi(-24),
            31 => f64::NAN,
            _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
        };
        let expected = if bits < 0x8000 { magnitude } else { -magnitude };
        let same = f64::from(found).total_cmp(&expected).is_eq();
        assert!(same || found.is_nan() && expected.is_nan(), "{bits:x}: {found} {expected}");
    }
}

#[test]
fn numbers_are_rounded_to_16_bits_as_candle_rounds_them() {
    let step = f32::from_bits;
    let mut values: Vec<f32> = Vec::new();
    // Every number of 16 bits, the middles between neighbours and what is next to them.
    for bits in 0..0x7c00_u32 {
        let of = |bits: u32| match (bits >> 10, bits & 1023) {
            (0, fraction) => fraction as f32 * 2.0_f32.powi(-24),
            (exponent, fraction) => step((exponent + 112) << 23 | fraction << 13),
        };
        let middle = (of(bits) + of(bits + 1)) / 2.0;
        let near = [of(bits), middle, step(middle.to_bits() - 1), step(middle.to_bits() + 1)];
        values.extend(near.iter().flat_map(|value| [*value, -*value]));
    }
    let half = Tensor::new(&values[..], &Device::Cpu).unwrap().to_dtype(candle_core::DType::F16);
    let expected: Vec<f32> =
        half.unwrap().to_dtype(candle_core::DType::F32).unwrap().to_vec1().unwrap();
    let mut found = values.clone();
    round::<Half>(&mut found);
    for ((value, found), expected) in values.iter().zip(found).zip(expected) {
        // What is too large is no number here.
        let same = found.to_bits() == expected.to_bits();
        assert!(same || found.is_nan() && expected.is_infinite(), "{value}: {found} {expected}");
    }
    let mut large = [65_519.0, 65_520.0, -1e30, f32::INFINITY, f32::NAN];
    round::<Half>(&mut large);
    assert_eq!(large[0].to_bits(), 65_504_f32.to_bits());
    assert!(large[1..].iter().all(|value| value.is_nan()), "{large:?}");
}

#[test]
fn rows_are_what_was_appended_and_not_forgotten() {
    let mut rows = Rows::<Half>::default();
    let mut expected: Vec<f32> = Vec::new();
    let mut found = Vec::new();
    // Over and on the ends of blocks of 64; whole numbers up to 2048 are exact.
    for (tokens, left) in
        [(3, 3), (61, 64), (1, 65), (200, 130), (1, 128), (70, 198), (5, 0), (2, 2)]
    {
        let start = expected.len();
        // (5, tokens)
        let at = |token: usize, feature: usize| ((start + token * 5 + feature) % 2039) as f32;
        let columns: Vec<f32> =
            (0..5 * tokens).map(|place| at(place % tokens, place / tokens)).collect();
        rows.append(&columns, tokens);
        expected.extend((0..5 * tokens).map(|place| at(place / 5, place % 5)));
        rows.decode(&mut found);
        assert_eq!(found, expected);
        rows.truncate(left);
        expected.truncate(left * 5);
        rows.decode(&mut found);
        assert_eq!(found, expected);
    }
}

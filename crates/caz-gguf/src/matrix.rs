//! Products with quantised weights, worked on by all threads of a pool.
//!
//! Numbers stand feature by feature: entry `(feature, token)` of `rows` features of `tokens` tokens
//! is at `feature * tokens + token`, so that every task writes one run of memory. What a task is
//! follows from the shape of the weights alone, and every entry is one sum in a fixed order: the
//! number of threads changes no result.

use std::cell::RefCell;
use std::marker::PhantomData;

use candle_core::quantized::GgmlDType;
use pulp::Arch;
use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
use super::blocks::avx2;
use super::blocks::{
    BF16, Block, Decode, Dot, F16, F32, Q2K, Q3K, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0,
    of_kind,
};
use crate::kernels::matmul::{Matrix, MatrixMut, multiply};

/// Numbers that a task decodes at once: with the tokens they are multiplied by they should fit into
/// a core's second cache.
const MOST_DECODED: usize = 1 << 18;

/// A quantised matrix.
#[derive(Debug)]
pub(super) struct Weight {
    kind: GgmlDType,
    bytes: Vec<u8>,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

thread_local! {
    /// Decoded weights of a task.
    static DECODED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
    /// What a task combines its products with.
    static SECOND: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

fn decode<B: Block>(bytes: &[u8], out: &mut [f32]) {
    Arch::new().dispatch(Decode::<B> { bytes, out, kind: PhantomData });
}

fn dot<B: Block>(bytes: &[u8], x: &[f32], out: &mut [f32]) {
    Arch::new().dispatch(Dot::<B> { bytes, x, out, kind: PhantomData });
}

/// Rows times a single `x`, in the way that every processor can.
pub(super) fn dot_of(kind: GgmlDType, bytes: &[u8], x: &[f32], out: &mut [f32]) {
    of_kind!(kind, dot, (bytes, x, out));
}

/// Rows times a single `x`.
pub(super) fn multiply_one(kind: GgmlDType, bytes: &[u8], x: &[f32], out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        let is_done = match kind {
            GgmlDType::Q4_0 => avx2::dot::<Q4_0>(bytes, x, out),
            GgmlDType::Q4_1 => avx2::dot::<Q4_1>(bytes, x, out),
            GgmlDType::Q5_0 => avx2::dot::<Q5_0>(bytes, x, out),
            GgmlDType::Q5_1 => avx2::dot::<Q5_1>(bytes, x, out),
            GgmlDType::Q8_0 => avx2::dot::<Q8_0>(bytes, x, out),
            GgmlDType::Q4K => avx2::dot::<Q4K>(bytes, x, out),
            GgmlDType::Q5K => avx2::dot::<Q5K>(bytes, x, out),
            GgmlDType::Q6K => avx2::dot::<Q6K>(bytes, x, out),
            _ => false,
        };
        if is_done {
            return;
        }
    }
    dot_of(kind, bytes, x, out);
}

fn numbers_of<B: Block>() -> usize {
    B::COUNT
}

impl Weight {
    /// A matrix of rows of whole blocks; `None` if it is not.
    pub(super) fn new(
        kind: GgmlDType,
        bytes: Vec<u8>,
        rows: usize,
        columns: usize,
    ) -> Option<Self> {
        let whole = columns.is_multiple_of(of_kind!(kind, numbers_of, ()));
        let expected = rows * columns / kind.block_size() * kind.type_size();
        (whole && bytes.len() == expected && columns > 0).then_some(Self {
            kind,
            bytes,
            rows,
            columns,
        })
    }

    fn row_bytes(&self) -> usize {
        self.columns / self.kind.block_size() * self.kind.type_size()
    }

    /// What `each` makes of the products of some rows with `x`, `(columns, tokens)`: it is given the
    /// number of the first row and `(rows, tokens)`. In the order of the rows.
    pub(super) fn map_products<T: Send>(
        &self,
        x: &[f32],
        tokens: usize,
        each: impl Fn(usize, &[f32]) -> T + Sync,
    ) -> Vec<T> {
        let rows = self.rows_of_task();
        (0..self.rows.div_ceil(rows))
            .into_par_iter()
            .with_max_len(1)
            .map(|task| {
                let first = task * rows;
                let mut out = vec![0.0; rows.min(self.rows - first) * tokens];
                self.multiply_rows(first, x, tokens, &mut out);
                each(first, &out)
            })
            .collect()
    }

    fn bytes_of(&self, first: usize, rows: usize) -> &[u8] {
        &self.bytes[first * self.row_bytes()..][..rows * self.row_bytes()]
    }

    /// The numbers of one row.
    pub(super) fn row(&self, row: usize) -> Vec<f32> {
        let mut out = vec![0.0; self.columns];
        of_kind!(self.kind, decode, (self.bytes_of(row, 1), &mut out));
        out
    }

    /// Rows of a task: at least four tasks for a matrix, and few enough to fit into the cache.
    fn rows_of_task(&self) -> usize {
        let most = (MOST_DECODED / self.columns).clamp(16, 256);
        self.rows.div_ceil(4).next_multiple_of(16).min(most / 16 * 16)
    }

    /// Rows from `first` on times `x`.
    fn multiply_rows(&self, first: usize, x: &[f32], tokens: usize, out: &mut [f32]) {
        let rows = out.len() / tokens;
        let bytes = self.bytes_of(first, rows);
        if tokens == 1 {
            multiply_one(self.kind, bytes, x, out);
            return;
        }
        DECODED.with_borrow_mut(|decoded| {
            decoded.resize(rows * self.columns, 0.0);
            of_kind!(self.kind, decode, (bytes, decoded));
            let mut product = MatrixMut { values: out, rows, columns: tokens, row_stride: tokens };
            let left = Matrix::row_major(decoded, self.columns);
            multiply(&mut product, left, Matrix::row_major(x, tokens), 1.0);
        });
    }
}

/// Writes the products of weights with `x`, `(columns, tokens)`, each `(rows, tokens)`.
pub(super) fn products<const N: usize>(
    weights: [(&Weight, &mut Vec<f32>); N],
    x: &[f32],
    tokens: usize,
) {
    let mut tasks = Vec::new();
    for (weight, out) in weights {
        // Every entry is written.
        out.resize(weight.rows * tokens, 0.0);
        let rows = weight.rows_of_task();
        let parts = out.chunks_mut(rows * tokens).enumerate();
        tasks.extend(parts.map(|(task, out)| (weight, task * rows, out)));
    }
    tasks
        .into_par_iter()
        .with_max_len(1)
        .for_each(|(weight, first, out)| weight.multiply_rows(first, x, tokens, out));
}

/// Writes what `combine` makes of the products of `first` and of `second` with `x`, `(columns, tokens)`:
/// it is given some rows of both, `(rows, tokens)`, and leaves its result in the first. Those of `second`
/// are never held for more than a task.
///
/// # Panics
///
/// If the two differ in their shape: a bug of the caller.
pub(super) fn combined_products(
    first: &Weight,
    second: &Weight,
    x: &[f32],
    tokens: usize,
    (combine, out): (impl Fn(&mut [f32], &[f32]) + Sync, &mut Vec<f32>),
) {
    assert_eq!((first.rows, first.columns), (second.rows, second.columns), "shapes");
    // Every entry is written.
    out.resize(first.rows * tokens, 0.0);
    // As many tasks as if both were worked on one after the other.
    let rows = (first.rows_of_task() / 2).next_multiple_of(16);
    out.par_chunks_mut(rows * tokens).with_max_len(1).enumerate().for_each(|(task, out)| {
        first.multiply_rows(task * rows, x, tokens, out);
        SECOND.with_borrow_mut(|others| {
            others.resize(out.len(), 0.0);
            second.multiply_rows(task * rows, x, tokens, others);
            combine(out, others);
        });
    });
}

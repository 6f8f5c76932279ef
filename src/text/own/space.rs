//! Cosines of centered vectors: one at a time, and with the sum of many.

use crate::embed::vectors::{DenseVectors, Vectors};
use crate::stats::similarity::{sparse_along, sparse_dot};
use crate::text::whitening::whiten;

/// A row shorter than this share of its length before centering has no direction.
const NO_DIRECTION: f64 = 1e-9;

/// All vectors of a run: sparse ones minus the mean of the reviews, dense ones whitened, scaled to
/// length 1 when they are compared. The rows themselves stay as they are, so that sparse ones stay
/// sparse.
#[derive(Debug)]
pub(super) struct UnitSpace {
    rows: Vectors,
    /// Length of the mean, squared.
    mean_squared: f64,
    /// Product of each row with the mean.
    along_mean: Vec<f64>,
    /// One by the length of each centered row; 0 without a direction.
    inverse_length: Vec<f64>,
}

/// Rows that are compared with others side by side.
pub(super) const LANES: usize = 8;

/// Up to [`LANES`] rows, value beside value, so that another row is compared with all of them in one
/// walk over its values: a walk waits for memory, not for the products.
#[derive(Debug, Default)]
pub(super) struct UnitBlock {
    /// Where the values of each dimension are; [`NOWHERE`] if no row has one.
    places: Vec<u32>,
    dims: Vec<u32>,
    values: Vec<[f64; LANES]>,
    rows: Vec<usize>,
}

const NOWHERE: u32 = u32::MAX;

/// A row as it stands in a place: the unit vector less its part along the task's, scaled to length 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) row: usize,
    task: Option<usize>,
    along: f64,
    /// 0 where nothing but the task is left.
    scale: f64,
}

impl Placed {
    /// Cosine with the task's text.
    pub(super) fn task_cosine(&self) -> Option<f64> {
        self.task.map(|_| self.along)
    }
}

/// The sum of some unit vectors, before the mean is taken off.
#[derive(Debug)]
pub(super) struct UnitSum {
    values: Vec<f64>,
    /// Sum of the inverse lengths: how many times the mean is taken off.
    weight: f64,
    along_mean: f64,
}

impl UnitSpace {
    /// The mean is that of the first `reviews` rows that count and have a direction.
    pub(super) fn new(vectors: Vectors, reviews: usize, counts: &[bool]) -> Self {
        let rows = match vectors {
            Vectors::Dense(dense) => Vectors::Dense(whiten(&dense, reviews)),
            sparse @ Vectors::Sparse(_) => sparse,
        };
        let mut mean = vec![0.0; rows.dims()];
        if matches!(rows, Vectors::Sparse(_)) {
            let used: Vec<usize> =
                (0..reviews).filter(|&row| counts[row] && squared(&rows, row) > 0.0).collect();
            used.iter().for_each(|&row| add(&rows, row, 1.0, &mut mean));
            mean.iter_mut().for_each(|value| *value /= used.len().max(1) as f64);
        }
        let mean_squared: f64 = mean.iter().map(|value| value * value).sum();
        let along_mean: Vec<f64> = (0..rows.len()).map(|row| along(&rows, row, &mean)).collect();
        let inverse_length = (0..rows.len())
            .map(|row| {
                let before = squared(&rows, row);
                let length = (before - 2.0 * along_mean[row] + mean_squared).max(0.0).sqrt();
                let directed = before > 0.0 && length > NO_DIRECTION * before.sqrt();
                if directed { 1.0 / length } else { 0.0 }
            })
            .collect();
        Self { rows, mean_squared, along_mean, inverse_length }
    }

    /// Cosine of two rows; 0 if one has no direction.
    pub(super) fn cosine(&self, a: usize, b: usize) -> f64 {
        let product = match &self.rows {
            Vectors::Dense(dense) => dense_product(dense, a, b),
            Vectors::Sparse(sparse) => sparse_dot(sparse.row(a), sparse.row(b)),
        };
        self.centered(product, a, b)
    }

    /// The cosine of two rows from the product of the rows as they are.
    fn centered(&self, product: f64, a: usize, b: usize) -> f64 {
        let centered = product - self.along_mean[a] - self.along_mean[b] + self.mean_squared;
        (centered * self.inverse_length[a] * self.inverse_length[b]).clamp(-1.0, 1.0)
    }

    /// Puts the rows into a block of this space in place of what is in it.
    pub(super) fn fill(&self, block: &mut UnitBlock, rows: &[usize]) {
        debug_assert!(rows.len() <= LANES, "a block has so many lanes");
        let UnitBlock { places, dims, values, rows: of_block } = block;
        places.resize(self.rows.dims(), NOWHERE);
        dims.drain(..).for_each(|dim| places[dim as usize] = NOWHERE);
        values.clear();
        rows.clone_into(of_block);
        for (lane, &row) in rows.iter().enumerate() {
            let mut put = |dim: u32, value: f64| {
                let place = &mut places[dim as usize];
                if *place == NOWHERE {
                    *place = u32::try_from(dims.len()).expect("no more than there are dimensions");
                    dims.push(dim);
                    values.push([0.0; LANES]);
                }
                values[*place as usize][lane] = value;
            };
            match &self.rows {
                Vectors::Dense(dense) => (0..).zip(dense.row(row)).for_each(|(d, v)| put(d, *v)),
                Vectors::Sparse(sparse) => sparse.row(row).iter().for_each(|e| put(e.0, e.1)),
            }
        }
    }

    /// Cosines of a row with those of a block, in their order; 0 if one has no direction.
    pub(super) fn cosines(&self, row: usize, block: &UnitBlock) -> [f64; LANES] {
        let mut products = [0.0; LANES];
        let mut add = |value: f64, others: &[f64; LANES]| {
            products.iter_mut().zip(others).for_each(|(sum, other)| *sum += value * other);
        };
        match &self.rows {
            Vectors::Dense(dense) => {
                dense.row(row).iter().zip(&block.values).for_each(|(value, o)| add(*value, o));
            }
            Vectors::Sparse(sparse) => {
                for &(dim, value) in sparse.row(row) {
                    // Where none has a value, products are 0.
                    let place = block.places[dim as usize] as usize;
                    block.values.get(place).into_iter().for_each(|others| add(value, others));
                }
            }
        }
        for (product, &other) in products.iter_mut().zip(&block.rows) {
            *product = self.centered(*product, row, other);
        }
        products
    }

    /// A row in the place of a review whose task is another row: what the task says is taken out.
    pub(super) fn place(&self, row: usize, task: Option<usize>) -> Placed {
        let along = task.map_or(0.0, |task| self.cosine(row, task));
        let left = 1.0 - along * along;
        let scale = if left > NO_DIRECTION { 1.0 / left.sqrt() } else { 0.0 };
        Placed { row, task, along, scale }
    }

    /// Cosine of two rows in their places.
    pub(super) fn placed_cosine(&self, a: &Placed, b: &Placed) -> f64 {
        if a.task == b.task {
            return of_one_task(self.cosine(a.row, b.row), a, b);
        }
        let with = |row: usize| {
            self.cosine(row, b.row) - b.task.map_or(0.0, |task| b.along * self.cosine(row, task))
        };
        let left = with(a.row) - a.task.map_or(0.0, |task| a.along * with(task));
        (left * a.scale * b.scale).clamp(-1.0, 1.0)
    }

    /// The sum of rows in their places.
    pub(super) fn sum<'a>(&self, rows: impl Iterator<Item = &'a Placed>) -> UnitSum {
        let values = vec![0.0; self.rows.dims()];
        let mut sum = UnitSum { values, weight: 0.0, along_mean: 0.0 };
        let mut push = |row: usize, times: f64| {
            let factor = times * self.inverse_length[row];
            add(&self.rows, row, factor, &mut sum.values);
            sum.weight += factor;
            sum.along_mean += self.along_mean[row] * factor;
        };
        for placed in rows {
            push(placed.row, placed.scale);
            if let Some(task) = placed.task {
                push(task, -placed.along * placed.scale);
            }
        }
        sum
    }

    /// Sum of the cosines of a row in its place with all rows of a sum.
    pub(super) fn sum_of_cosines(&self, placed: &Placed, sum: &UnitSum) -> f64 {
        let of = |row: usize| {
            let product = along(&self.rows, row, &sum.values)
                - self.along_mean[row] * sum.weight
                - sum.along_mean
                + self.mean_squared * sum.weight;
            product * self.inverse_length[row]
        };
        let task = placed.task.map_or(0.0, |task| placed.along * of(task));
        placed.scale * (of(placed.row) - task)
    }
}

/// The same from the cosine of both rows, where the places have one task.
pub(super) fn of_one_task(cosine: f64, a: &Placed, b: &Placed) -> f64 {
    let left = cosine - a.along * b.along;
    (left * a.scale * b.scale).clamp(-1.0, 1.0)
}

fn squared(rows: &Vectors, row: usize) -> f64 {
    match rows {
        Vectors::Dense(dense) => dense.row(row).iter().map(|value| value * value).sum(),
        Vectors::Sparse(sparse) => sparse.row(row).iter().map(|entry| entry.1 * entry.1).sum(),
    }
}

fn add(rows: &Vectors, row: usize, factor: f64, target: &mut [f64]) {
    match rows {
        Vectors::Dense(dense) => {
            target.iter_mut().zip(dense.row(row)).for_each(|(sum, value)| *sum += value * factor);
        }
        Vectors::Sparse(sparse) => {
            for &(dim, value) in sparse.row(row) {
                target[dim as usize] += value * factor;
            }
        }
    }
}

fn along(rows: &Vectors, row: usize, direction: &[f64]) -> f64 {
    match rows {
        Vectors::Dense(dense) => dense.row(row).iter().zip(direction).map(|(a, b)| a * b).sum(),
        Vectors::Sparse(sparse) => sparse_along(sparse.row(row), direction),
    }
}

fn dense_product(rows: &DenseVectors, a: usize, b: usize) -> f64 {
    rows.row(a).iter().zip(rows.row(b)).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embed::vectors::{DenseVectors, SparseVectors};

    fn spaces(rows: &[Vec<f64>]) -> [UnitSpace; 2] {
        let entries = |row: &Vec<f64>| -> Vec<(u32, f64)> {
            (0..).zip(row.iter().copied()).filter(|entry| entry.1 != 0.0).collect()
        };
        let dims = rows[0].len();
        let mut dense = DenseVectors::new(dims);
        let mut sparse = SparseVectors::new(dims);
        rows.iter().for_each(|row| dense.push(row));
        rows.iter().for_each(|row| sparse.push(entries(row)));
        let counts = vec![true; rows.len()];
        [Vectors::Dense(dense), Vectors::Sparse(sparse)]
            .map(|vectors| UnitSpace::new(vectors, rows.len() - 2, &counts))
    }

    proptest! {
        #[test]
        fn cosines_with_a_block_are_those_one_at_a_time(
            rows in prop::collection::vec(
                prop::collection::vec(prop_oneof![Just(0.0), -1.0..1.0_f64], 6), 19),
            width in 1..=LANES,
        ) {
            // Two rows that are the same, and one without a direction.
            let mut rows = rows;
            rows[3] = rows[17].clone();
            rows[5] = vec![0.0; 6];
            for space in spaces(&rows) {
                let mut block = UnitBlock::default();
                for start in 0..rows.len() {
                    let slots: Vec<usize> = (start..rows.len()).take(width).collect();
                    space.fill(&mut block, &slots);
                    for row in 0..rows.len() {
                        let found = space.cosines(row, &block);
                        for (lane, &slot) in slots.iter().enumerate() {
                            let cosine = space.cosine(row, slot);
                            prop_assert_eq!(found[lane].to_bits(), cosine.to_bits());
                            prop_assert!((-1.0..=1.0).contains(&found[lane]));
                        }
                    }
                }
            }
        }
    }
}

//! Products of matrices, sums and the exponential function in 32 bits, for caz's encoders, too.

pub mod bf16;
pub mod exponential;
pub mod lanes;
pub mod matmul;

#[cfg(test)]
mod tests {
    /// Numbers from -.5 to .5 in no order, the same for a seed.
    pub(super) fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0 - 0.5
        })
        .take(count)
        .collect()
    }
}

//! Products of matrices, sums and the exponential function in 32 bits, for caz's encoders, too.

pub mod bf16;
pub mod exponential;
pub mod lanes;
pub mod matmul;

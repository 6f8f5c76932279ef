//! Random streams that do not depend on the order in which threads reach them.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The generator for use `index` of `purpose` in a run with seed `seed`.
///
/// Different purposes and different indices are independent; the same three arguments give the
/// same numbers on every machine.
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(purpose.as_bytes());
    let mut generator = ChaCha8Rng::from_seed(hash.finalize().into());
    generator.set_stream(index);
    generator
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_repeat_and_differ() {
        let first = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(first(1, "bootstrap", 2), first(1, "bootstrap", 2));
        let others = [first(2, "bootstrap", 2), first(1, "trial", 2), first(1, "bootstrap", 3)];
        assert!(!others.contains(&first(1, "bootstrap", 2)));
    }
}

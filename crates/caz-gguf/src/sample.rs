//! Choosing the next token.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Chooses tokens by temperature.
#[derive(Debug)]
pub struct Sampler {
    temperature: f64,
    random: ChaCha8Rng,
}

impl Sampler {
    /// `repeat` gives the answers to one request different streams of the same seed.
    pub fn new(temperature: f64, seed: u64, repeat: u32) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::from(repeat));
        Self { temperature, random }
    }

    /// The next token: the likeliest at temperature 0, the first of those that tie; above 0 one by
    /// `softmax(logits / temperature)` over the whole vocabulary, in 64 bits.
    pub fn choose(&mut self, logits: &[f32]) -> u32 {
        let mut best = 0;
        for (id, logit) in logits.iter().enumerate() {
            if *logit > logits[best] {
                best = id;
            }
        }
        if self.temperature > 0.0 {
            let most = f64::from(logits[best]);
            let weight = |logit: &f32| ((f64::from(*logit) - most) / self.temperature).exp();
            let total: f64 = logits.iter().map(weight).sum();
            let mut left = self.random.random::<f64>() * total;
            for (id, logit) in logits.iter().enumerate() {
                left -= weight(logit);
                if left < 0.0 {
                    best = id;
                    break;
                }
            }
        }
        u32::try_from(best).unwrap_or(u32::MAX)
    }
}

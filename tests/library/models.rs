//! The bundled model is the one its card describes.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

/// Source distributions and binaries stay small: the limit the project set itself.
const MAX_BYTES: usize = 5_000_000;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[test]
fn the_files_have_the_sizes_and_sha256_that_the_card_gives_and_are_small() {
    let models = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models"));
    let card = fs::read_to_string(models.join("README.md")).expect("the model card");
    let mut total = 0;
    for file in ["config.json", "vocab.txt", "model.safetensors"] {
        let bytes = fs::read(models.join("static-minilm-128").join(file)).expect(file);
        let row = format!("| `{file}` | {} | `{}` |", bytes.len(), sha256(&bytes));
        assert!(card.contains(&row), "the card has no row\n{row}");
        total += bytes.len();
    }
    assert!(total <= MAX_BYTES, "{total} bytes");
}

/// Needs the encoder: `CAZ_TEST_MINILM=DIR cargo test --release -- --ignored`.
#[cfg(feature = "bert")]
mod distilled_again {

    use caz::data::progress::NoProgress;
    use caz::embed::distill::{DistillOptions, Distilled, distill};
    use caz::embed::static_model::StaticModel;

    /// Processors round differently in the last bits of single precision; the stored bytes then
    /// differ by one unit where an entry lies on the edge between two.
    const MIN_COSINE: f64 = 0.9999;

    /// 8 bits per entry cost no more than this.
    const MIN_STORED_COSINE: f64 = 0.9999;

    const SENTENCES: [&str; 6] = [
        "The paper proposes a new method for detecting low-effort reviews.",
        "I am not convinced by the experiments: only two baselines, no ablation.",
        "Typos: p. 3, l. 12, Eq. (4).",
        "Reproducibility is a concern, since hyperparameters are missing.",
        "Novel and well written!",
        "Why is the naïve estimator biased when n → ∞?",
    ];

    fn cosine(a: &[f64], b: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    fn distilled() -> Distilled {
        let folder = std::env::var_os("CAZ_TEST_MINILM")
            .expect("set CAZ_TEST_MINILM to the folder of all-MiniLM-L6-v2");
        distill(folder.as_ref(), DistillOptions { dims: 128 }, &NoProgress).expect("a model")
    }

    #[test]
    #[ignore = "needs the encoder, see CAZ_TEST_MINILM"]
    fn distilling_the_encoder_again_gives_the_bundled_model() {
        let (distilled, bundled) = (distilled(), StaticModel::bundled());
        let again = distilled.model("again");
        assert_eq!(again.config(), bundled.config());
        assert!(distilled.explained_variance() > 0.78 && distilled.explained_variance() < 0.80);
        // Rank 0 has weight ln 1 = 0 and so no direction.
        for piece in 1..30_522 {
            let (a, b) = (again.piece_vector(piece), bundled.piece_vector(piece));
            let cosine = cosine(&a.expect("a piece"), &b.expect("a piece"));
            assert!(cosine >= MIN_COSINE, "piece {piece}: cosine {cosine}");
        }
        for sentence in SENTENCES {
            let mut stored = vec![0.0; 128];
            again.embed_into(sentence, &mut stored);
            let cosine = cosine(&stored, &distilled.exact_vector(&again, sentence));
            assert!(cosine >= MIN_STORED_COSINE, "{sentence}: cosine {cosine}");
        }
    }
}

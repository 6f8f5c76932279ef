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
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let bytes = fs::read(models.join("static-minilm-128").join(file)).expect(file);
        let row = format!("| `{file}` | {} | `{}` |", bytes.len(), sha256(&bytes));
        assert!(card.contains(&row), "the card has no row\n{row}");
        total += bytes.len();
    }
    assert!(total <= MAX_BYTES, "{total} bytes");
}

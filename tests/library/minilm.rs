//! The real MiniLM, shared by all tests of one run: a sentence is embedded once, since its vector
//! depends neither on the test nor on the other sentences (`real_model.rs` shows that).
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use caz::Progress;
use caz::for_tests::{
    BertEmbedder, BertOptions, DenseVectors, EmbedError, Embedder, Embeddings, Vectors,
};

/// An encoder and the vectors that it has made.
pub(crate) struct Remembered {
    encoder: BertEmbedder,
    vectors: Mutex<HashMap<String, Vec<f64>>>,
}

/// The model of the folder in `CAZ_TEST_MINILM`.
pub(crate) fn minilm() -> &'static Remembered {
    static SHARED: OnceLock<Remembered> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = std::env::var_os("CAZ_TEST_MINILM").expect("CAZ_TEST_MINILM names the folder");
        let options = BertOptions::default();
        let encoder = BertEmbedder::load(Path::new(&folder), "bert:MiniLM", options).unwrap();
        Remembered { encoder, vectors: Mutex::default() }
    })
}

impl Embedder for &Remembered {
    fn name(&self) -> &str {
        self.encoder.name()
    }

    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        // Held while the encoder works, so that tests side by side do not embed the same sentence.
        let mut known = self.vectors.lock().unwrap();
        let mut new: Vec<&str> =
            texts.iter().copied().filter(|&text| !known.contains_key(text)).collect();
        new.sort_unstable();
        new.dedup();
        let made = self.encoder.embed(&new, progress)?;
        // Of the new ones only: which others were long is not remembered, and no test asks.
        let long_texts = made.long_texts;
        let Vectors::Dense(made) = made.vectors else { panic!("an encoder's vectors are dense") };
        for (text, vector) in new.iter().zip(made.rows()) {
            known.insert((*text).to_owned(), vector.to_vec());
        }
        let mut rows = DenseVectors::new(made.dims());
        texts.iter().for_each(|&text| rows.push(&known[text]));
        Ok(Embeddings { vectors: Vectors::Dense(rows), long_texts })
    }
}

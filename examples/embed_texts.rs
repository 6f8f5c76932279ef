//! Embeds a JSON list of texts and prints the seconds it took; benches/bert_vs_torch.py runs it.
//!
//! `embed_texts MODEL_FOLDER TEXTS.json OUTPUT.f32 THREADS [BATCH_TOKENS]`: little-endian `f32`
//! rows.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use caz::data::progress::NoProgress;
use caz::text::embed::Embedder;
use caz::text::embed::bert::{BertEmbedder, BertOptions, LongText};
use caz::text::vectors::Vectors;

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, texts, output, threads, rest @ ..] = arguments.as_slice() else {
        return Err("usage: embed_texts MODEL_FOLDER TEXTS.json OUTPUT.f32 THREADS".into());
    };
    let threads: NonZeroUsize = threads.parse()?;
    let mut options = BertOptions {
        long_text: LongText::Truncate,
        threads: Some(threads),
        ..BertOptions::default()
    };
    if let Some(tokens) = rest.first() {
        options.batch_tokens = tokens.parse()?;
    }
    let embedder = BertEmbedder::load(Path::new(model), "bert:example", options)?;
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(&texts[..texts.len().min(4)], &NoProgress)?;
    let start = Instant::now();
    let Vectors::Dense(vectors) = embedder.embed(&texts, &NoProgress)?.vectors else {
        return Err("bert vectors are dense".into());
    };
    let seconds = start.elapsed().as_secs_f64();
    let bytes: Vec<u8> =
        vectors.rows().flatten().flat_map(|&value| (value as f32).to_le_bytes()).collect();
    std::fs::write(output, bytes)?;
    println!("{seconds}");
    Ok(())
}

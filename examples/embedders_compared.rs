//! Reviews and LLM reviews in files, ranked by the vectors of two embedders.
//!
//! `cargo run --example embedders_compared [REVIEWS Z]`

use std::io::{Write, stdout};

use caz::{Reviews, ReviewsSettings, ScoreName, Silent, reviews};

fn main() -> caz::Result<()> {
    let mut paths = std::env::args().skip(1);
    let path = paths.next().unwrap_or_else(|| "data/reviews.jsonl".into());
    let z = paths.next().unwrap_or_else(|| "data/llm-reviews.jsonl".into());
    let set = Reviews::from_files(path, &[z])?;
    for embedder in ["static", "tfidf"] {
        let mut settings = ReviewsSettings::default();
        settings.score = Some(vec![ScoreName::Projected]);
        settings.embedding.embedder = Some(embedder.parse()?);
        let scores = reviews(set.clone(), &settings, &Silent)?.scores(ScoreName::Projected);
        let worst_first: Vec<String> = scores.into_iter().map(|row| row.reviewer).collect();
        writeln!(stdout(), "{embedder}: {}", worst_first.join(" "))?;
    }
    Ok(())
}

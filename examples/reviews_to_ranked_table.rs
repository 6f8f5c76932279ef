//! Reviews and LLM reviews in files, to a table of reviewers, worst first.
//!
//! `cargo run --example reviews_to_ranked_table [REVIEWS Z]`

use std::io;

use caz::{Exporter, Reviews, ReviewsSettings, ScoreName, Silent, TextExporter, reviews};

fn main() -> caz::Result<()> {
    let mut paths = std::env::args().skip(1);
    let path = paths.next().unwrap_or_else(|| "data/reviews.jsonl".into());
    let z = paths.next().unwrap_or_else(|| "data/llm-reviews.jsonl".into());

    let settings = ReviewsSettings {
        score: Some(vec![ScoreName::Projected, ScoreName::Cosine]),
        ..ReviewsSettings::default()
    };
    let run = reviews(Reviews::from_files(path, &[z])?, &settings, &Silent)?;
    TextExporter { color: false, width: None }.write(&run.report()?, &mut io::stdout())?;
    Ok(())
}

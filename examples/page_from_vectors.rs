//! Vectors that are already in memory, to one HTML file to read in a browser.
//!
//! `cargo run --example page_from_vectors [FILE.html]`

use caz::{
    Exporter, HtmlExporter, Readers, ReportText, ReviewRow, Reviews, ReviewsSettings, Silent, ZRow,
    reviews, write_file,
};

/// Three dimensions: what everybody sees, what this reviewer sees, what the LLM says.
fn review(paper: usize, reviewer: &str, vector: [f64; 3]) -> ReviewRow {
    ReviewRow {
        paper: format!("paper {paper}"),
        reviewer: reviewer.into(),
        vector: Some(vector.to_vec()),
        ..ReviewRow::default()
    }
}

fn main() -> caz::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "page_from_vectors.html".into());
    let mut rows = Vec::new();
    let mut z = Vec::new();
    for paper in 0..4 {
        let shift = 0.1 * paper as f64;
        rows.push(review(paper, "ada", [1.0, 0.2 + shift, 0.3]));
        rows.push(review(paper, "bruno", [1.0, 0.4 - shift, 0.2]));
        rows.push(review(paper, "copier", [0.1, -0.1 * shift, 1.0]));
        let vector = Some(vec![0.1, 0.0, 1.0]);
        z.push(ZRow { paper: format!("paper {paper}"), vector, ..ZRow::default() });
    }
    let run = reviews(Reviews::from_rows(rows, z)?, &ReviewsSettings::default(), &Silent)?;
    let (report, page) = (run.report()?, run.page(ReportText::None)?);
    write_file(path.as_ref(), Readers::Owner, |out| {
        HtmlExporter { page: &page }.write(&report, out)
    })?;
    Ok(())
}

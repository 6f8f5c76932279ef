//! Reviews that are already in memory, to flags, and to one HTML file to read in a browser.
//!
//! `cargo run --example reviews_in_memory [FILE.html]`

use std::io::{Write, stdout};

use caz::{
    Exporter, Flag, HtmlExporter, Readers, ReportText, ReviewRow, Reviews, ReviewsSettings,
    ScoreName, Silent, ZRow, reviews, write_file,
};

fn main() -> caz::Result<()> {
    // Three dimensions: what everybody sees, what this reviewer sees, what the LLM says.
    let (mut rows, mut z) = (Vec::new(), Vec::new());
    for paper in 0..24 {
        let shift = 0.1 * f64::from(paper % 4);
        let vectors = [
            ("ada", [1.0, 0.2 + shift, 0.3]),
            ("bruno", [1.0, 0.1 + shift, 0.2]),
            ("chen", [1.0, 0.3 + shift, 0.25]),
            ("copier", [0.1, -0.1 * shift, 1.0]),
        ];
        for (reviewer, vector) in vectors {
            let mut row = ReviewRow::new(format!("paper {paper}"), reviewer);
            row.vector = Some(vector.to_vec());
            rows.push(row);
        }
        let mut row = ZRow::new(format!("paper {paper}"));
        row.vector = Some(vec![0.1, 0.0, 1.0]);
        z.push(row);
    }
    let run = reviews(Reviews::from_rows(rows, z)?, &ReviewsSettings::default(), &Silent)?;
    for row in run.scores(ScoreName::Projected) {
        writeln!(stdout(), "{} {}", row.reviewer, row.flag.map_or("", Flag::as_str))?;
    }
    if let Some(path) = std::env::args().nth(1) {
        let (report, page) = (run.report()?, run.page(ReportText::None)?);
        let html = HtmlExporter { page: &page };
        write_file(path.as_ref(), Readers::Owner, |out| html.write(&report, out))?;
    }
    Ok(())
}

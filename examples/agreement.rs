//! How well an LLM agrees with a crowd, beyond chance.
//!
//! `cargo run --example agreement [LABELS GOLD]`

use std::io::{Write, stdout};

use caz::{AgreementSettings, LabellerFiles, Silent, Source, agree};

fn main() -> caz::Result<()> {
    let mut paths = std::env::args().skip(1);
    let labels = paths.next().unwrap_or_else(|| "data/llm-labels.csv".into());
    let gold = paths.next().unwrap_or_else(|| "data/labels.csv".into());
    let (labels, gold) = (Source::read(labels.as_ref())?, Source::read(gold.as_ref())?);
    let mut files = LabellerFiles::new(&labels);
    files.gold = Some(&gold);
    let run = agree(&files, &AgreementSettings::default(), &Silent)?;
    for row in run.rows().iter().filter(|row| row.metric == "kappa") {
        let kappa = row.value.map_or("none".into(), |value| format!("{value:.3}"));
        writeln!(stdout(), "{} with {}: kappa {kappa}", row.source, row.against)?;
    }
    Ok(())
}

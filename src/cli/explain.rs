//! `caz reviews --explain`: the evidence for one reviewer, for people and for scripts.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Map, Value};

use super::exit::UsageError;
use crate::report::{Cell, Input, Report, Table, printable};
use crate::text::explain::{Evidence, PaperEvidence, SentenceEvidence};
use crate::text::score::ReviewerScore;

/// What a report needs besides the evidence.
pub(super) struct Context {
    pub(super) inputs: Vec<Input>,
    pub(super) settings: Map<String, Value>,
    /// The projected score of every reviewer.
    pub(super) scores: Vec<ReviewerScore>,
    pub(super) embedder: String,
}

/// The evidence for the reviewer called `name`.
pub(super) fn report(evidence: &Evidence<'_>, name: &str, context: &Context) -> Result<Report> {
    let Some(reviewer) = evidence.set.reviewers.get(name) else {
        return Err(unknown_reviewer(evidence, name).into());
    };
    let papers = evidence.of_reviewer(reviewer)?;
    let mut settings = context.settings.clone();
    settings.insert("explain".into(), Value::from(name));
    Ok(Report {
        command: "reviews",
        inputs: context.inputs.clone(),
        settings,
        table: table(evidence, &papers),
        warnings: Vec::new(),
        footer: footer(),
        prose: Some(prose(evidence, name, &papers, context, reviewer)),
    })
}

fn unknown_reviewer(evidence: &Evidence<'_>, name: &str) -> UsageError {
    let names = evidence.set.reviewers.names();
    let close: Vec<&String> = names
        .iter()
        .filter(|other| other.to_lowercase().contains(&name.to_lowercase()))
        .take(3)
        .collect();
    let hint = match close.as_slice() {
        [] => format!("there are {}, e.g. `{}`", names.len(), names[0]),
        close => {
            let close: Vec<String> = close.iter().map(|name| format!("`{name}`")).collect();
            format!("did you mean {}?", close.join(" or "))
        }
    };
    UsageError(format!("no reviewer is called `{name}`; {hint}"))
}

/// One row per comparison: what it was compared with, and the numbers.
fn table(evidence: &Evidence<'_>, papers: &[PaperEvidence]) -> Table {
    let mut table = Table::new(&[
        "paper",
        "kind",
        "with",
        "similarity",
        "similarity_beyond_z",
        "z_similarity",
        "peer_support",
        "text",
    ]);
    let set = evidence.set;
    for paper in papers {
        let name = || Cell::from(set.papers.name(paper.paper));
        for peer in &paper.peers {
            table.push(vec![
                name(),
                "peer".into(),
                set.reviewers.name(peer.reviewer).into(),
                peer.before.into(),
                peer.after.into(),
                Cell::Missing,
                Cell::Missing,
                Cell::Missing,
            ]);
        }
        for z in &paper.z {
            let mut row = vec![name(), "z".into(), set.sources.name(z.source).into()];
            row.push(z.similarity.into());
            row.resize(8, Cell::Missing);
            table.push(row);
        }
        let kinds =
            [("said_by_z", paper.said_by_z()), ("supported_by_peers", paper.supported_by_peers())];
        for (kind, sentences) in kinds {
            for sentence in sentences {
                table.push(vec![
                    name(),
                    kind.into(),
                    Cell::Missing,
                    Cell::Missing,
                    Cell::Missing,
                    sentence.z_similarity.into(),
                    sentence.peer_support.into(),
                    sentence.text.as_str().into(),
                ]);
            }
        }
    }
    table
}

fn prose(
    evidence: &Evidence<'_>,
    name: &str,
    papers: &[PaperEvidence],
    context: &Context,
    reviewer: u32,
) -> String {
    let set = evidence.set;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Reviewer {}, embedder {}", printable(name), context.embedder);
    let score = &context.scores[reviewer as usize];
    let _ = match score.estimate {
        Some(estimate) => {
            let interval = estimate.interval().map_or_else(
                || "no interval from a single paper".into(),
                |(low, high)| format!("95 % interval {low:.3} to {high:.3}"),
            );
            writeln!(
                text,
                "projected score {:.3}, {interval}, from {} pairs on {} papers",
                estimate.value, score.n_pairs, score.n_papers
            )
        }
        None => {
            writeln!(text, "no projected score: no paper has both a peer and a usable LLM review")
        }
    };
    for paper in papers {
        let _ = writeln!(text, "\nPaper {}", printable(set.papers.name(paper.paper)));
        if paper.peers.is_empty() {
            let _ = writeln!(text, "  no peer reviewed it");
        } else {
            let _ = writeln!(text, "  similarity with peers     as is   beyond the LLM");
        }
        for peer in &paper.peers {
            let _ = writeln!(
                text,
                "    {:<22} {:>6}   {:>6}",
                printable(set.reviewers.name(peer.reviewer)),
                number(peer.before),
                number(peer.after)
            );
        }
        if paper.z.is_empty() {
            let _ = writeln!(text, "  no LLM review of it");
        } else {
            let _ = writeln!(text, "  similarity with the LLM");
        }
        for z in &paper.z {
            let source = printable(set.sources.name(z.source));
            let _ = writeln!(text, "    {source:<22} {:>6.3}", z.similarity);
        }
        sentences(&mut text, "sentences closest to the LLM's", &paper.said_by_z());
        sentences(
            &mut text,
            "sentences with most support by peers beyond the LLM",
            &paper.supported_by_peers(),
        );
    }
    text
}

fn sentences(text: &mut String, title: &str, sentences: &[&SentenceEvidence]) {
    if sentences.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {title}");
    for sentence in sentences {
        let _ = writeln!(
            text,
            "    LLM {:>6}  peers {:>6}  {}",
            number(sentence.z_similarity),
            number(sentence.peer_support),
            printable(&excerpt(&sentence.text))
        );
    }
}

/// The sentence on one line, cut where it would fill the screen.
fn excerpt(sentence: &str) -> String {
    const SHOWN_CHARACTERS: usize = 240;
    let line = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.3}"))
}

fn footer() -> Vec<String> {
    vec![
        "Similarities are cosines from -1 to 1; `-` means undefined: no LLM review, or nothing left \
         beyond it."
            .into(),
        "For a sentence, LLM is the closest sentence of an LLM review, peers the mean over peers of \
         their closest sentence. Read the review before you judge: this is a reason to look, never \
         a verdict."
            .into(),
    ]
}

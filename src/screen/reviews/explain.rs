//! The evidence for one reviewer as a report, for people and for scripts.

use std::fmt::Write as _;

use serde_json::Value;

use super::verdict::{Verdicts, in_an_llms, in_percent, kind_of};
use super::{ReviewsRun, own};
use crate::data::excerpt::excerpt;
use crate::data::nouns::Nouns;
use crate::data::reviews::{Review, ReviewSet};
use crate::error::{ErrorKind, Kinded, Result};
use crate::report::{Cell, Report, Table, printable, printable_name, three_decimals};
use crate::text::explain::{PaperEvidence, SentenceEvidence};
use crate::text::own::{Class, Closest, OtherPaper, OwnFlag, OwnReview, is_copied};
use crate::text::score::ScoreName;

/// A longer sentence would fill the screen.
const SHOWN_CHARACTERS: usize = 240;

/// Nobody has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no reviewer is called `{name}`; {hint}")]
pub(crate) struct UnknownReviewer {
    /// The name.
    pub name: String,
    /// Names that are close, or one of those there are.
    pub hint: String,
}

impl Kinded for UnknownReviewer {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// The number of the reviewer called `name`.
pub(super) fn number_of(set: &ReviewSet, name: &str) -> Result<u32, UnknownReviewer> {
    set.reviewers.get(name).ok_or_else(|| unknown_reviewer(set.reviewers.names(), name))
}

fn unknown_reviewer(names: &[String], name: &str) -> UnknownReviewer {
    let close: Vec<String> = names
        .iter()
        .filter(|other| other.to_lowercase().contains(&name.to_lowercase()))
        .take(3)
        .map(|name| format!("`{name}`"))
        .collect();
    let hint = match (close.as_slice(), names.first()) {
        ([], None) => "there are none".to_owned(),
        ([], Some(first)) => format!("there are {}, e.g. `{first}`", names.len()),
        (close, _) => format!("did you mean {}?", close.join(" or ")),
    };
    UnknownReviewer { name: name.to_owned(), hint }
}

/// The evidence for the reviewer called `name`.
pub(super) fn report(run: &ReviewsRun, name: &str) -> Result<Report> {
    let reviewer = number_of(run.set(), name)?;
    let papers = run.evidence(name)?;
    let mut settings = run.settings();
    settings.insert("explain".into(), Value::from(name));
    Ok(Report {
        command: "reviews",
        inputs: run.inputs.clone(),
        settings,
        table: table(run, reviewer, &papers),
        warnings: Vec::new(),
        footer: footer().iter().map(|sentence| run.set().nouns.said(sentence)).collect(),
        prose: Some(prose(run, reviewer, &papers)),
    })
}

/// One row per comparison: what it was compared with, and the numbers.
fn table(run: &ReviewsRun, reviewer: u32, papers: &[PaperEvidence]) -> Table {
    let set = run.set();
    let mut table = Table::new(&[
        "paper",
        "kind",
        "with",
        "similarity",
        "similarity_beyond_z",
        "z_similarity",
        "peer_support",
        "text",
        "closeness",
        "closeness_here",
        "is_close",
    ]);
    let columns = table.columns().len();
    for paper in papers {
        let name = || Cell::from(set.papers.name(paper.paper));
        let mut push = |mut row: Vec<Cell>| {
            row.resize(columns, Cell::Missing);
            table.push(row);
        };
        for (place, _) in own_reviews(run, reviewer) {
            if set.reviews[place].paper != paper.paper {
                continue;
            }
            for (passage, source) in passages(run, place) {
                let mut row = vec![name(), "copied".into(), source.into()];
                row.resize(columns - 4, Cell::Missing);
                row.push(passage.into());
                push(row);
            }
        }
        if let Some(other) = own_review(run, reviewer, paper.paper).and_then(|own| own.other_paper)
        {
            let mut row = vec![name(), "other_paper".into(), set.papers.name(other.paper).into()];
            row.resize(columns - 3, Cell::Missing);
            row.extend([other.closeness.into(), other.closeness_here.into()]);
            let yes_or_no = |is: bool| if is { "yes" } else { "no" }.into();
            row.push(other.is_close.map_or(Cell::Missing, yes_or_no));
            push(row);
        }
        for peer in &paper.peers {
            push(vec![
                name(),
                "peer".into(),
                set.reviewers.name(peer.reviewer).into(),
                peer.before.into(),
                peer.after.into(),
            ]);
        }
        for z in &paper.z {
            let mut row = vec![name(), "z".into(), set.sources.name(z.source).into()];
            row.push(z.similarity.into());
            push(row);
        }
        let kinds =
            [("said_by_z", paper.said_by_z()), ("supported_by_peers", paper.supported_by_peers())];
        for (kind, sentences) in kinds {
            for sentence in sentences {
                push(vec![
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

fn prose(run: &ReviewsRun, reviewer: u32, papers: &[PaperEvidence]) -> String {
    let set = run.set();
    let name = set.reviewers.name(reviewer);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let person = set.nouns.person();
    let first = person[..1].to_uppercase() + &person[1..];
    match Verdicts::of(run) {
        Some(verdicts) => {
            let person = reviewer as usize;
            let _ =
                writeln!(text, "{first} {}: {}", printable_name(name), verdicts.verdict(person));
            for (about, said) in verdicts.reasons(person, true) {
                let _ = writeln!(text, "  {about}: {}", printable(&said));
            }
        }
        None => {
            let _ = writeln!(text, "{first} {}, embedder {}", printable_name(name), run.embedder());
        }
    }
    text.push('\n');
    copied(&mut text, run, reviewer);
    other_papers(&mut text, run, reviewer);
    for paper in papers {
        let _ = writeln!(
            text,
            "\n{} {}",
            if set.nouns == Nouns::Answers { "Task" } else { "Paper" },
            printable_name(set.papers.name(paper.paper))
        );
        own_of_review(&mut text, run, reviewer, paper.paper);
        if paper.peers.is_empty() {
            let _ = writeln!(text, "  {}", set.nouns.said("no peer reviewed it"));
        } else {
            let _ = writeln!(text, "  similarity with peers     as is   beyond the LLM");
        }
        for peer in &paper.peers {
            let _ = writeln!(
                text,
                "    {:<22} {:>6}   {:>6}",
                printable_name(set.reviewers.name(peer.reviewer)),
                number(peer.before),
                number(peer.after)
            );
        }
        if paper.z.is_empty() {
            let _ = writeln!(text, "  no LLM {} of it", set.nouns.text());
        } else {
            let _ = writeln!(text, "  similarity with the LLM");
        }
        for z in &paper.z {
            let source = printable_name(set.sources.name(z.source));
            let _ = writeln!(text, "    {source:<22} {:>6.3}", z.similarity);
        }
        sentences(
            &mut text,
            "sentences close to the LLM's and not as close to peers'",
            &paper.said_by_z(),
        );
        sentences(
            &mut text,
            "sentences with most support by peers beyond the LLM",
            &paper.supported_by_peers(),
        );
    }
    text.push_str("\nIn numbers\n");
    for name in run.score_names() {
        score_of_reviewer(&mut text, run, (name, reviewer));
    }
    own_of_reviewer(&mut text, run, reviewer);
    text
}

/// Where another paper is closest: what was written there that is most like the review.
fn other_papers(text: &mut String, run: &ReviewsRun, reviewer: u32) {
    let set = run.set();
    for (place, found) in own_reviews(run, reviewer) {
        let Some(other) = found.other_paper.filter(OtherPaper::is_closer) else { continue };
        let (here, there) =
            (set.papers.name(set.reviews[place].paper), set.papers.name(other.paper));
        let (here, there) = (printable_name(here), printable_name(there));
        let of_z = set.z.iter().filter(|z| z.paper == other.paper).map(|z| &z.content);
        let of_others = set.reviews.iter().filter(|review| review.paper == other.paper);
        let its =
            of_others.map(|review| &review.content).chain(of_z).find_map(|c| c.text.as_deref());
        let what = set.nouns.text();
        let _ = writeln!(text, "the {what} of {here} is closest to what others wrote on {there}:");
        let own = set.reviews[place].content.text.as_deref();
        for (whose, said) in [("this review", own), ("on the other paper", its)] {
            let whose = set.nouns.said(whose);
            let said = excerpt(said.unwrap_or_default(), SHOWN_CHARACTERS);
            let _ = writeln!(text, "    {whose}: \"{}\"", printable(&said));
        }
    }
}

/// What speaks most for the flag of somebody, in about five words.
pub(super) fn in_words(run: &ReviewsRun, reviewer: u32) -> String {
    if run.canaries().is_some_and(|canaries| canaries.is_person_hit(reviewer as usize)) {
        return "phrases hidden in the paper".into();
    }
    let doubtful = |flag| matches!(flag, OwnFlag::Look | OwnFlag::Unsure);
    if !run.own().is_some_and(|own| doubtful(own.reviewers[reviewer as usize].flag)) {
        return String::new();
    }
    if run.canaries().is_some_and(|canaries| canaries.has_person_some(reviewer as usize)) {
        return "some hidden phrases".into();
    }
    let set = run.set();
    let worst = |a: &OwnReview, b: &OwnReview| {
        let worse = |review: &OwnReview| review.p_own.unwrap_or(1.0);
        (b.copied.unwrap_or(0.0).total_cmp(&a.copied.unwrap_or(0.0)))
            .then(worse(a).total_cmp(&worse(b)))
    };
    let Some((place, found)) = own_reviews(run, reviewer).min_by(|(_, a), (_, b)| worst(a, b))
    else {
        return String::new();
    };
    let on = set.papers.name(set.reviews[place].paper);
    let is_elsewhere = matches!(found.reads_as, Some(Class::OffTopic | Class::OffTopicLlm));
    match (found.copied, found.closest()) {
        (Some(copied), _) if is_copied(Some(copied)) => {
            format!("{:.0} % word for word", 100.0 * copied)
        }
        (_, Some(Closest::Paper(other))) => {
            format!("like those of {}", set.papers.name(other.paper))
        }
        _ if is_elsewhere => format!("unlike all on {on}"),
        (_, Some(Closest::Z(z))) => {
            format!("near {} on {on}", set.sources.name(set.z[z.index].source))
        }
        (_, Some(Closest::Peer(peer))) => {
            format!("near {}", set.reviewers.name(set.reviews[peer.index].reviewer))
        }
        (_, None) => String::new(),
    }
}

/// The passages that stand word for word in a Z, with the Z.
fn copied(text: &mut String, run: &ReviewsRun, reviewer: u32) {
    for (place, found) in own_reviews(run, reviewer) {
        let (Some(share), false) = (found.copied, found.passages.is_empty()) else { continue };
        let set = run.set();
        let paper = printable_name(set.papers.name(set.reviews[place].paper));
        let _ = writeln!(
            text,
            "word for word in an LLM's, {:.0} % of the words on {paper}:",
            100.0 * share
        );
        for (passage, source) in passages(run, place) {
            let passage = excerpt(passage, SHOWN_CHARACTERS);
            let _ = writeln!(text, "    {}: \"{}\"", printable_name(&source), printable(&passage));
        }
    }
}

/// What own says of every review of somebody, with its place in the set.
fn own_reviews(run: &ReviewsRun, reviewer: u32) -> impl Iterator<Item = (usize, &OwnReview)> {
    let found = run.own().map_or(&[][..], |own| &own.reviews);
    let all = run.set().reviews.iter().zip(found).enumerate();
    all.filter(move |(_, (review, _))| review.reviewer == reviewer)
        .map(|(place, (_, own))| (place, own))
}

/// The words of a review that stand in a Z, each with the name of the Z, and of its paper if that is another one.
fn passages(run: &ReviewsRun, place: usize) -> impl Iterator<Item = (&str, String)> {
    let set = run.set();
    let review = &set.reviews[place];
    let text = review.content.text.as_deref().unwrap_or_default();
    let passages = run.own().map_or(&[][..], |own| &own.reviews[place].passages);
    passages.iter().filter_map(move |passage| {
        let z = set.z.get(passage.z)?;
        let mut source = set.sources.name(z.source).to_owned();
        if z.paper != review.paper {
            let _ = write!(source, " on {}", set.papers.name(z.paper));
        }
        Some((text.get(passage.start..passage.end)?, source))
    })
}

/// One of the scores that were asked for; own has a line of its own.
fn score_of_reviewer(text: &mut String, run: &ReviewsRun, (name, reviewer): (ScoreName, u32)) {
    if name == ScoreName::Own {
        return;
    }
    let score = &run.scored(name).scores[reviewer as usize];
    let name = name.as_str();
    let _ = match score.estimate {
        Some(estimate) => {
            let interval = estimate.interval().map_or_else(
                || "no interval".into(),
                |(low, high)| {
                    format!("95 % interval {} to {}", three_decimals(low), three_decimals(high))
                },
            );
            writeln!(
                text,
                "{name} score {}, {interval}, from {} pairs on {} papers",
                three_decimals(estimate.value),
                score.n_pairs,
                score.n_papers
            )
        }
        None => writeln!(text, "no {name} score: there is nothing to compare with"),
    };
}

/// What the score own says about a reviewer, if it was asked for.
fn own_of_reviewer(text: &mut String, run: &ReviewsRun, reviewer: u32) {
    let Some(own) = run.own() else { return };
    let found = &own.reviewers[reviewer as usize];
    let _ = match (found.posterior, found.reads_as) {
        (Some(posterior), Some(class)) => writeln!(
            text,
            "own work: p_own {:.3}, p_copy {:.3}, p_llm {:.3}, p_off_topic {:.3}; reads as {}; \
             flag {}; from {}",
            posterior.own,
            posterior.copy,
            posterior.llm,
            posterior.off_topic,
            class.as_str(),
            found.flag.as_str(),
            run.set().nouns.things(found.n_papers)
        ),
        _ => writeln!(text, "own work: not judged, {}", own::reason(run.set().nouns, found.reason)),
    };
}

/// What the score own, if it was asked for, says of one review.
fn own_review(run: &ReviewsRun, reviewer: u32, paper: u32) -> Option<&OwnReview> {
    let wanted = |review: &Review| (review.reviewer, review.paper) == (reviewer, paper);
    let index = run.set().reviews.iter().position(wanted)?;
    Some(&run.own()?.reviews[index])
}

/// Where the review of one paper stands for the score own.
fn own_of_review(text: &mut String, run: &ReviewsRun, reviewer: u32, paper: u32) {
    let Some(review) = own_review(run, reviewer, paper) else { return };
    let (set, nouns) = (run.set(), run.set().nouns);
    let mut said = vec![match (review.flag, review.reads_as, review.reason) {
        (OwnFlag::NotJudged, _, reason) => format!("not judged: {}", own::reason(nouns, reason)),
        (flag, Some(class), _) => {
            format!("{}, reads as {}", flag.as_str(), nouns.said(kind_of(class)))
        }
        (flag, None, _) => flag.as_str().to_owned(),
    }];
    said.extend(review.p_own.map(|own| format!("chance of own work {}", in_percent(own))));
    said.extend(in_an_llms(review.copied));
    let _ = writeln!(text, "  {}", said.join("; "));
    let closer = nouns.said("closer than to other papers'");
    let _ = writeln!(
        text,
        "    {closer} by {} to peers, by {} to the LLM",
        number(review.features.peers),
        number(review.features.z)
    );
    if let Some(peer) = review.peer {
        let name = printable_name(set.reviewers.name(set.reviews[peer.index].reviewer));
        let _ = writeln!(text, "    most similar peer: {name} ({:.3})", peer.cosine);
    }
    if let Some(z) = review.z {
        let name = printable_name(set.sources.name(set.z[z.index].source));
        let what = nouns.text();
        let _ = writeln!(text, "    most similar LLM {what}: {name} ({:.3})", z.cosine);
    }
    if let Some(other) = review.other_paper {
        let far = match other.is_close {
            Some(false) => "; people are closer to what they write about",
            Some(true) | None => "",
        };
        let _ = writeln!(
            text,
            "    closest other {}: {} ({closer} by {} to what others wrote, here by {}{far})",
            nouns.thing(),
            printable_name(set.papers.name(other.paper)),
            three_decimals(other.closeness),
            three_decimals(other.closeness_here),
        );
    }
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
            printable(&excerpt(&sentence.text, SHOWN_CHARACTERS))
        );
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), three_decimals)
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

//! Which embedder tells low effort best, on the same reviews.
//!
//! Every round makes the same reviewers of one paper each for all embedders ([`super::reviewers`]), or
//! takes who is known to be what. One review has one score, so that the papers are the clusters of a
//! bootstrap: papers are drawn with replacement, a review counts as often as its paper is drawn, and
//! the AUC is the mean over rounds. Embedders are compared on the same draws.
//!
//! Of judgment vectors two more kinds are planted, as in Figure 7 of the paper: `prior` draws every
//! entry from those of people, `random` each of -1, 0 and 1 as likely.
//!
//! Reference: Davison, Hinkley (1997), "Bootstrap methods and their application", sections 2.4 and 3.8.

mod own;
mod table;

use std::time::Instant;

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::own::OwnTexts;
use super::figures::Figure;
use super::reviewers::ScoreVariant;
use super::reviews::{ReviewTrials, ReviewTrialsSettings};
use super::trials::{TrialFile, TrialGrid, TrialId};
use crate::data::content::Content;
use crate::data::observer::Observer;
use crate::data::own_truth::OwnTruth;
use crate::data::review_reader::LoadedReviews;
use crate::data::reviews::{Review, ReviewSet};
use crate::data::warning::Warning;
use crate::embed::VectorKind;
use crate::embed::catalogue::{ModelSource, embed_contents};
use crate::embed::settings::{EmbedderSettings, EmbedderSpec, Granularity};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::agreement::bootstrap::interval;
use crate::metrics::auc::ClusteredAuc;
#[cfg(feature = "html")]
use crate::report::html::Page;
use crate::report::{Input, Report, settings_map};
use crate::simulate::reviews::ReviewerKind;
use crate::stats::rank::whole;
use crate::stats::seed::stream;
use crate::text::scorer::Scorer;
use crate::text::space::Space;

/// The name in results.
pub(crate) const COMMAND: &str = "experiment embeddings";

/// Rounds for each source of Z.
pub(crate) const ROUNDS: u32 = 10;

/// Share of the reviews that each kind of low effort gets.
pub(crate) const SHARE: f64 = 0.1;

/// Draws of papers.
const DRAWS: u64 = 1000;

/// Kinds of judgment vectors that nobody wrote.
const JUDGED: [&str; 2] = ["prior", "random"];

/// The settings, and by all of them but the embedding's own the provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EmbeddingsSettings {
    /// Who competes, in the order of the table.
    pub embedders: Vec<EmbedderSpec>,
    /// What all of them share.
    pub embedding: EmbedderSettings,
    /// How reviewers are made, of one paper each, and by which scores they are told.
    #[serde(flatten)]
    pub trials: ReviewTrialsSettings,
}

/// The same reviews for every embedder.
struct Round {
    set: ReviewSet,
    /// Rows of its contents among all contents.
    rows: Vec<usize>,
    /// Of every review: 0 for own work, 1 and up a kind; nothing where it is not known.
    kinds: Vec<Option<u32>>,
    /// The same where some people's judgments are replaced: 1 `prior`, 2 `random`.
    judged: Vec<Option<u32>>,
}

/// What one embedder gave; kept in a file, so that a run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Made {
    name: String,
    dims: usize,
    /// Texts, those of all rounds together.
    texts: usize,
    seconds: f64,
    megabytes: f64,
    /// Share of the units that are longer than the model takes at once.
    long: Option<f64>,
    granularity: Option<Granularity>,
    settings: Map<String, Value>,
    /// By score, round and review.
    scores: Vec<Vec<Vec<Option<f64>>>>,
    /// The same with judgments that nobody wrote; empty of other vectors.
    judged: Vec<Vec<Vec<Option<f64>>>>,
}

/// One AUC with what to know of it.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    embedder: usize,
    score: usize,
    kind: String,
    auc: Option<f64>,
    interval: Option<(f64, f64)>,
    /// To the best embedder by the same score and kind; nothing of the best itself.
    difference: Option<(f64, f64, f64)>,
}

/// A finished comparison.
pub(crate) struct EmbeddingsRun {
    settings: EmbeddingsSettings,
    made: Vec<Made>,
    rows: Vec<Row>,
    n_rounds: usize,
    n_papers: usize,
    truth: bool,
    inputs: Vec<Input>,
    warnings: Vec<Warning>,
}

/// Compares embedders. `truth` says of the reviews whose work they are; without it low effort is
/// planted. Every finished embedder is kept in `file`.
///
/// # Errors
///
/// For settings that do not fit the reviews, what an embedder reports, for a file of another run, and
/// if `observer` asked to stop.
pub(crate) fn embeddings(
    settings: &EmbeddingsSettings,
    loaded: LoadedReviews,
    inputs: Vec<Input>,
    truth: Option<&OwnTruth>,
    models: &dyn ModelSource,
    file: Option<&TrialFile>,
    observer: &dyn Observer,
) -> Result<EmbeddingsRun> {
    let key = provenance(settings, truth.is_some());
    let mut trials = ReviewTrials::new(&settings.trials, loaded, inputs)?;
    let real = std::mem::take(&mut trials.loaded.set);
    let contents = trials.grid.contents(&real);
    let contents: Vec<&Content> = contents.iter().collect();
    let (kinds, mut rounds) = match truth {
        Some(truth) => (truth.kinds.clone(), vec![known(&real, truth)]),
        None => planted(&trials, &real)?,
    };
    let (scores, seed) = (&settings.trials.scores, settings.trials.seed);
    let own_texts = if scores.contains(&ScoreVariant::Own) {
        OwnTexts::plant(&mut rounds, &contents, &real, seed)
    } else {
        None
    };
    settings.embedding.check_for(&settings.embedders.iter().collect::<Vec<_>>())?;
    let points = u32::try_from(settings.embedders.len()).unwrap_or(u32::MAX);
    let grid = TrialGrid { points, repetitions: 1 };
    // Every finished embedder stays, whoever is compared with it later.
    let kept = settings_without_embedders(&key);
    let mut log = file.map(|file| file.open(COMMAND, &trials.inputs, &kept)).transpose()?;
    let mut made: Vec<Made> =
        log.as_ref().map(|log| log.read(grid)).transpose()?.unwrap_or_default();
    let differs = |(one, spec): (&Made, &EmbedderSpec)| one.name != spec.to_string();
    if made.iter().zip(&settings.embedders).any(differs) {
        let names: Vec<&str> = made.iter().map(|one| one.name.as_str()).collect();
        let names = names.join(", ");
        let message = format!("finished are {names}: name these first, in this order, then others");
        return Err(Error::usage(message));
    }
    let mut warnings = std::mem::take(&mut trials.loaded.warnings);
    for (point, spec) in (0..points).zip(&settings.embedders).skip(made.len()) {
        let embedding =
            EmbedderSettings { embedder: Some(spec.clone()), ..settings.embedding.clone() };
        observer.say(&format!("embedder {spec}"));
        let start = Instant::now();
        let default = Granularity::Sentence;
        let embedded = embed_contents(&contents, &embedding, default, models, observer, None)?;
        let seconds = start.elapsed().as_secs_f64();
        warnings.extend(embedded.warnings);
        let (units, long) = embedded.units;
        let judged = embedded.kind == VectorKind::Judgments;
        let own = match &own_texts {
            Some(texts) => texts.scores(&rounds, &embedding, models, observer)?,
            None => None,
        };
        let score = |judged: bool| {
            scored(&rounds, &embedded.vectors, scores, own.as_deref(), judged.then_some(seed))
        };
        let one = Made {
            name: spec.to_string(),
            dims: embedded.vectors.dims(),
            texts: contents.len(),
            seconds,
            megabytes: megabytes(&embedded.vectors),
            long: (units > 0).then(|| long as f64 / units as f64),
            granularity: embedded.granularity,
            settings: embedded.settings,
            scores: score(false),
            judged: if judged { score(true) } else { Vec::new() },
        };
        if let Some(log) = &mut log {
            log.append(TrialId { repetition: 0, point }, &one)?;
        }
        made.push(one);
        if observer.interrupted() {
            let message = format!("stopped after {} of {points} embedders", made.len());
            return Err(Error::new(ErrorKind::Interrupted, message));
        }
    }
    warnings.extend(without_own(settings, own_texts.is_some()));
    let rows = compared(&made, &rounds, &kinds, &settings.trials, real.papers.len());
    Ok(EmbeddingsRun {
        settings: settings.clone(),
        made,
        rows,
        n_rounds: rounds.len(),
        n_papers: trials.grid.papers.len(),
        truth: truth.is_some(),
        inputs: trials.inputs,
        warnings,
    })
}

/// Whose row of the score own is missing; `has_texts` says whether there is one for anybody.
fn without_own(settings: &EmbeddingsSettings, has_texts: bool) -> Option<Warning> {
    if !settings.trials.scores.contains(&ScoreVariant::Own) {
        return None;
    }
    let unread = settings.embedders.iter().filter(|spec| !(has_texts && spec.is_read_by_own()));
    let unread: Vec<String> = unread.map(ToString::to_string).collect();
    let message = format!(
        "no row of the score own for {}: it reads texts, by tfidf, a static table or an encoder",
        unread.join(", ")
    );
    (!unread.is_empty()).then(|| Warning::new("own_not_read", unread.len(), message))
}

/// All that decides a result.
fn provenance(settings: &EmbeddingsSettings, truth: bool) -> Map<String, Value> {
    let mut all = settings_map(settings);
    all.insert("truth".into(), truth.into());
    all
}

/// What decides the result of each embedder.
fn settings_without_embedders(key: &Map<String, Value>) -> Map<String, Value> {
    let mut key = key.clone();
    key.remove("embedders");
    key
}

/// One round, in which everybody is who they are known to be; each review is a reviewer.
fn known(real: &ReviewSet, truth: &OwnTruth) -> Round {
    let mut set = ReviewSet { papers: real.papers.clone(), ..ReviewSet::default() };
    for review in &real.reviews {
        let paper = real.papers.name(review.paper);
        let name = format!("{} {paper}", real.reviewers.name(review.reviewer));
        let reviewer = set.reviewers.intern(&name);
        set.reviews.push(Review { paper: review.paper, reviewer, content: Content::default() });
    }
    set.z.clone_from(&real.z);
    set.sources = real.sources.clone();
    let rows = (0..real.reviews.len() + real.z.len()).collect();
    Round { set, rows, kinds: truth.reviews.clone(), judged: vec![None; real.reviews.len()] }
}

/// Rounds with planted reviewers, and the names of their kinds.
fn planted(trials: &ReviewTrials, real: &ReviewSet) -> Result<(Vec<String>, Vec<Round>)> {
    let kinds = ReviewerKind::LOW_EFFORT.map(|kind| kind.as_str().to_owned()).to_vec();
    let settings = &trials.grid;
    let round = |id: TrialId| -> Result<Round> {
        let simulated = settings.reviewers(real, id)?;
        let rows = settings.rows(real, &simulated, false);
        let number = |kind: &ReviewerKind| {
            (1..).zip(ReviewerKind::LOW_EFFORT).find(|(_, low)| low == kind).map_or(0, |(n, _)| n)
        };
        // A reviewer has one review.
        let numbers: Vec<u32> = simulated.kinds.iter().map(number).collect();
        let of = simulated.set.reviews.iter().map(|review| numbers[review.reviewer as usize]);
        let kinds: Vec<Option<u32>> = of.map(Some).collect();
        let mut people: Vec<usize> = (0..kinds.len()).filter(|&i| kinds[i] == Some(0)).collect();
        people.shuffle(&mut id.stream(settings.seed, "judgments that nobody wrote"));
        let mut judged = vec![None; kinds.len()];
        let each = whole(SHARE * people.len() as f64).max(1);
        for (place, &review) in people.iter().enumerate() {
            judged[review] =
                Some(u32::try_from(place / each + 1).ok().filter(|&n| n < 3).unwrap_or(0));
        }
        Ok(Round { set: simulated.set, rows, kinds, judged })
    };
    let rounds = settings.grid(trials.settings.trials).ids().map(round);
    Ok((kinds, rounds.collect::<Result<_>>()?))
}

/// Scores of every review, by score and round; `own` has those of reviewers by the score own, with a
/// seed some people's judgments are replaced.
fn scored(
    rounds: &[Round],
    vectors: &Vectors,
    scores: &[ScoreVariant],
    own: Option<&[Vec<Option<f64>>]>,
    replaced: Option<u64>,
) -> Vec<Vec<Vec<Option<f64>>>> {
    let of_round = |(index, round): (usize, &Round)| -> Vec<Vec<Option<f64>>> {
        let mut vectors = vectors.select(&round.rows);
        if let Some(seed) = replaced {
            vectors = nobody_wrote(&vectors, round, seed, index as u64);
        }
        let scorer = Scorer::new(&round.set, Space::new(vectors, round.set.reviews.len()));
        let by_review = |score: &ScoreVariant| {
            let values = match own {
                Some(own) if *score == ScoreVariant::Own => own[index].clone(),
                _ => scorer.values(*score),
            };
            let value = |review: &Review| values.get(review.reviewer as usize).copied().flatten();
            round.set.reviews.iter().map(value).collect()
        };
        scores.iter().map(by_review).collect()
    };
    let by_round: Vec<_> = rounds.par_iter().enumerate().map(of_round).collect();
    (0..scores.len())
        .map(|score| by_round.iter().map(|round| round[score].clone()).collect())
        .collect()
}

/// The vectors of a round with judgments of prior-reporting and random reviewers in place of some.
fn nobody_wrote(vectors: &Vectors, round: &Round, seed: u64, index: u64) -> Vectors {
    let mut random = stream(seed, "prior and random judgments", index);
    let people: Vec<usize> =
        (0..round.judged.len()).filter(|&i| round.judged[i] == Some(0)).collect();
    let mut changed = DenseVectors::new(vectors.dims());
    for row in 0..vectors.len() {
        let own = vectors.dense_row(row);
        let entries: Vec<f64> = match round.judged.get(row).copied().flatten() {
            Some(1) if !people.is_empty() => (0..own.len())
                .map(|entry| vectors.dense_row(people[random.random_range(0..people.len())])[entry])
                .collect(),
            Some(2) => own.iter().map(|_| f64::from(random.random_range(-1..=1_i8))).collect(),
            _ => own,
        };
        changed.push(&entries);
    }
    Vectors::Dense(changed)
}

fn megabytes(vectors: &Vectors) -> f64 {
    let numbers: usize = match vectors {
        Vectors::Dense(dense) => dense.rows().map(size_of_val).sum(),
        Vectors::Sparse(sparse) => (0..sparse.len()).map(|row| size_of_val(sparse.row(row))).sum(),
    };
    numbers as f64 / 1e6
}

/// The AUC of one embedder, score and kind: on all papers, then on every draw.
struct Draws {
    all: Option<f64>,
    drawn: Vec<Option<f64>>,
}

/// Mean over the rounds in which both classes are drawn.
fn mean_auc(rounds: &[ClusteredAuc], weights: &[f64]) -> Option<f64> {
    let aucs: Vec<f64> = rounds.iter().filter_map(|round| round.auc(weights)).collect();
    crate::stats::rank::mean(&aucs)
}

/// How often each paper is drawn, in every draw.
fn draws(papers: &[u32], n_papers: usize, seed: u64) -> Vec<Vec<f64>> {
    let draw = |index| {
        let mut random = stream(seed, "papers drawn", index);
        let mut weights = vec![0.0; n_papers];
        for _ in papers {
            weights[papers[random.random_range(0..papers.len())] as usize] += 1.0;
        }
        weights
    };
    (0..DRAWS).map(draw).collect()
}

/// Every embedder, score and kind, compared with the best embedder by the same score and kind.
fn compared(
    made: &[Made],
    rounds: &[Round],
    kinds: &[String],
    settings: &ReviewTrialsSettings,
    n_papers: usize,
) -> Vec<Row> {
    let mut papers: Vec<u32> = rounds
        .iter()
        .flat_map(|round| round.set.reviews.iter().map(|review| review.paper))
        .collect();
    papers.sort_unstable();
    papers.dedup();
    let drawn = draws(&papers, n_papers, settings.seed);
    let everywhere = vec![1.0; n_papers];
    let low = |kind: usize| u32::try_from(kind + 1).unwrap_or(u32::MAX);
    // The name, which kind alone, and whether it is of judgments that nobody wrote.
    let mut asked = vec![("all".to_owned(), None, false)];
    if kinds.len() > 1 {
        asked.extend(kinds.iter().enumerate().map(|(n, name)| (name.clone(), Some(low(n)), false)));
    }
    let judged = JUDGED.iter().enumerate();
    asked.extend(judged.map(|(n, name)| ((*name).to_owned(), Some(low(n)), true)));
    let mut rows = Vec::new();
    for score in 0..settings.scores.len() {
        for (name, kind, judged) in &asked {
            let of = |made: &Made| -> Draws {
                let scores = if *judged { &made.judged } else { &made.scores };
                let Some(scores) = scores.get(score) else {
                    return Draws { all: None, drawn: Vec::new() };
                };
                let round = |(round, scores): (&Round, &Vec<Option<f64>>)| {
                    let kinds = if *judged { &round.judged } else { &round.kinds };
                    let items = round.set.reviews.iter().zip(scores).zip(kinds);
                    let items = items.filter_map(|((review, score), is)| {
                        let is = (*is)?;
                        let counts = is == 0 || kind.is_none_or(|kind| kind == is);
                        counts.then_some((*score, is == 0, review.paper))
                    });
                    ClusteredAuc::new(items)
                };
                let rounds: Vec<_> = rounds.iter().zip(scores).map(round).collect();
                let all = mean_auc(&rounds, &everywhere);
                let drawn = drawn.par_iter().map(|weights| mean_auc(&rounds, weights));
                Draws { all, drawn: drawn.collect() }
            };
            let found: Vec<Draws> = made.iter().map(of).collect();
            let best = best(&found);
            for (embedder, draws) in found.iter().enumerate() {
                let Some(auc) = draws.all else { continue };
                let against = best.filter(|&best| best != embedder).and_then(|best| {
                    let pairs = draws.drawn.iter().zip(&found[best].drawn);
                    let differences = pairs.map(|(own, best)| Some((*own)? - (*best)?));
                    let (low, high) = interval(&differences.collect::<Vec<_>>())?;
                    Some((auc - found[best].all?, low, high))
                });
                rows.push(Row {
                    embedder,
                    score,
                    kind: name.clone(),
                    auc: Some(auc),
                    interval: interval(&draws.drawn),
                    difference: against,
                });
            }
        }
    }
    rows
}

/// The first of the highest.
fn best(found: &[Draws]) -> Option<usize> {
    let scored = found.iter().enumerate().filter_map(|(index, draws)| Some((index, draws.all?)));
    scored
        .fold(
            None,
            |best: Option<(usize, f64)>, one| {
                if best.is_none_or(|best| one.1 > best.1) { Some(one) } else { best }
            },
        )
        .map(|(index, _)| index)
}

impl EmbeddingsRun {
    /// The table of files: a row for every embedder, score and kind.
    pub(crate) fn report(&self) -> Report {
        let mut settings = provenance(&self.settings, self.truth);
        let embedded =
            self.made.iter().map(|made| (made.name.clone(), made.settings.clone().into()));
        settings.insert("embedded".into(), Value::Object(embedded.collect()));
        settings.insert("draws".into(), json!(DRAWS));
        Report {
            command: COMMAND,
            inputs: self.inputs.clone(),
            settings,
            table: table::of_files(self),
            warnings: self.warnings.clone(),
            footer: table::footer(self),
            prose: None,
        }
    }

    /// The table of terminals, within 80 columns: all kinds together.
    pub(crate) fn shown(&self) -> Report {
        Report { table: table::of_people(self), ..self.report() }
    }

    /// Every AUC of all kinds together, with its interval.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        vec![table::figure(self)]
    }

    /// The page; `caption` says what stands under a figure.
    #[cfg(feature = "html")]
    pub(crate) fn page(&self, figures: &[Figure], caption: &dyn Fn(&Figure) -> String) -> Page {
        let title = "Which embedder tells low effort best";
        let reading = table::reading(self);
        Page { reading, ..super::page::page(title, &self.report(), figures, caption) }
    }
}

#[cfg(test)]
mod tests;

//! Screening reviewers by the text of their reviews.

mod canaries;
mod cautions;
mod choice;
mod explain;
mod own;
#[cfg(feature = "html")]
mod page;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod settings;
mod size;
mod table;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

#[cfg(feature = "cli")]
pub(crate) use self::canaries::small;
pub(crate) use self::run::ReviewsRun;
pub(crate) use self::settings::{By, Centering, ReviewsSettings};

use std::sync::Arc;

use self::run::Scorers;
use crate::data::Reviews;
use crate::data::observer::Observer;
use crate::data::reviews::ReviewSet;
use crate::embed::catalogue::{
    Embedded, LocalModels, ModelSource, SentencesWanted, embed_contents, naming,
};
use crate::embed::settings::{EmbedderSettings, EmbedderSpec, Granularity};
use crate::error::{Error, ErrorKind, Result};
use crate::text::pairs::{Paper, papers_of};
use crate::text::score::ScoreName;
use crate::text::scorer::Scorer;
use crate::text::sentence_evidence::{SentenceCollector, SentenceTable};
use crate::text::space::Space;

/// Whose sentences are compared with those of Z and of peers while they are embedded.
///
/// This is for evidence only and changes no score. Where texts are embedded sentence by sentence,
/// it costs comparisons; elsewhere the sentences have to be embedded besides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Sentences {
    /// Nobody's: evidence has no sentences.
    None,
    /// Those of one reviewer.
    Of(String),
    /// Everybody's.
    #[default]
    Everybody,
}

/// Who asks for a run: what settings do not hold, since it changes no score.
pub(crate) struct Asking<'a> {
    /// Where models behind servers come from.
    pub models: &'a dyn ModelSource,
    /// Hears of progress.
    pub observer: &'a dyn Observer,
    /// Whose sentences are compared.
    pub sentences: Sentences,
    /// Whether of people who read as off topic the paper that each review is closest to is looked for,
    /// of the one whose sentences are compared or else of everybody. It takes a comparison with every
    /// text.
    pub other_papers: bool,
}

/// Scores reviewers by what their reviews share with those of their peers beyond Z, with embedders
/// that need no server, and with evidence for everybody.
///
/// # Errors
///
/// As `reviews_with`.
pub fn reviews(
    reviews: Reviews,
    settings: &ReviewsSettings,
    observer: &dyn Observer,
) -> Result<ReviewsRun> {
    let sentences = Sentences::Everybody;
    let asking = Asking { models: &LocalModels, observer, sentences, other_papers: true };
    reviews_with(reviews, settings, &asking)
}

/// As [`reviews`], with models and evidence as asked for.
///
/// Every text, and every sentence, is embedded at most once. Scores are computed when they are first
/// asked for.
///
/// # Errors
///
/// A usage error for settings that make no sense or do not fit the data; what the embedder reports;
/// an error of kind [`ErrorKind::Interrupted`] if the observer asks to stop.
pub(crate) fn reviews_with(
    reviews: Reviews,
    settings: &ReviewsSettings,
    asking: &Asking<'_>,
) -> Result<ReviewsRun> {
    settings.check()?;
    let Reviews { set, inputs, mut warnings, reading, imports } = reviews;
    let set = Arc::new(set);
    let mut choice = choice::choose(&set, settings)?;
    let papers = papers_of(&set);
    let mut collector = match &asking.sentences {
        Sentences::None => None,
        Sentences::Of(name) => {
            let reviewer = explain::number_of(&set, name)?;
            let wanted = |paper: &Paper| {
                paper.reviews.iter().any(|&review| set.reviews[review].reviewer == reviewer)
            };
            size::check_pairs(&set, &papers, wanted)?;
            Some(SentenceCollector::new(&papers, set.papers.names(), set.reviews.len(), wanted))
        }
        Sentences::Everybody => {
            size::check_pairs(&set, &papers, |_| true)?;
            Some(SentenceCollector::new(&papers, set.papers.names(), set.reviews.len(), |_| true))
        }
    };
    let hearing = collector.as_mut().map(|collector| SentencesWanted {
        order: collector.order().to_vec(),
        wanted: collector.wanted_texts(),
        listener: collector,
    });
    let (plain, embedded) = space(&set, settings, asking, hearing)?;
    if asking.observer.interrupted() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
    }
    let sentences = collector.map_or_else(SentenceTable::default, SentenceCollector::into_table);
    size::check_vectors(&set, &papers, &plain)?;
    warnings.extend(embedded.warnings.iter().cloned());
    warnings.extend(cautions::directions(&set, &plain, embedded.why_zero()));
    warnings.extend(choice.warning.clone());
    let combined = words_for_combined(&set, settings, &choice.names, asking)?;
    if let Some(space) = &combined {
        size::check_vectors(&set, &papers, space)?;
    }
    let own = if choice.names.contains(&ScoreName::Own) {
        own::scores(&set, settings, choice.checks.take(), asking)?
    } else {
        None
    };
    let combined = combined.map(|space| Scorer::new(Arc::clone(&set), space));
    let mut scorer = Scorer::new(set, plain);
    let mut own_embedder = None;
    if let Some((own, embedder)) = own {
        warnings.extend(own::other_embedder(settings));
        scorer = scorer.with_own(own);
        own_embedder = Some(embedder);
    }
    Ok(ReviewsRun::new(
        settings.clone(),
        choice,
        Scorers { scorer, combined, own_embedder },
        sentences,
        embedded,
        (inputs, (reading, imports), warnings),
    ))
}

/// The vectors of all reviews and Z, and how they came about.
fn space(
    set: &ReviewSet,
    settings: &ReviewsSettings,
    asking: &Asking<'_>,
    hearing: Option<SentencesWanted<'_>>,
) -> Result<(Space, Embedded)> {
    let (embedding, unit, observer) = (&settings.embedding, Granularity::Sentence, asking.observer);
    let contents: Vec<_> = set.contents().collect();
    let embedded = embed_contents(&contents, embedding, unit, asking.models, observer, hearing)
        .map_err(|error| naming(error, |place| set.content_name(place)))?;
    Ok((Space::new(Arc::clone(&embedded.vectors), set.reviews.len()), embedded))
}

/// Word weights of whole texts for the combined score, which tells more by them than by the bundled
/// table; `None` where it is not asked for, an embedder is named, or a content has no text.
fn words_for_combined(
    set: &ReviewSet,
    settings: &ReviewsSettings,
    names: &[ScoreName],
    asking: &Asking<'_>,
) -> Result<Option<Space>> {
    let contents: Vec<_> = set.contents().collect();
    let wanted = names.contains(&ScoreName::Combined)
        && settings.embedding.embedder.is_none()
        && contents.iter().all(|content| content.text.is_some());
    if !wanted {
        return Ok(None);
    }
    let embedding = EmbedderSettings {
        embedder: Some(EmbedderSpec::Tfidf),
        granularity: None,
        ..settings.embedding.clone()
    };
    let (models, observer) = (asking.models, asking.observer);
    let embedded =
        embed_contents(&contents, &embedding, Granularity::Text, models, observer, None)?;
    Ok(Some(Space::new(embedded.vectors, set.reviews.len())))
}

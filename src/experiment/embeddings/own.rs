//! The score own in every round, from the vectors of each embedder.

use std::collections::HashMap;

use rayon::prelude::*;

use super::Round;
use crate::data::content::Content;
use crate::data::observer::Observer;
use crate::data::progress::NoProgress;
use crate::data::reviews::ReviewSet;
use crate::embed::catalogue::{ModelSource, embed_contents};
use crate::embed::settings::{EmbedderSettings, EmbedderSpec, Granularity};
use crate::error::Result;
use crate::text::own::{OwnSettings, Planted, check_texts, own_scores, plant, tfidf_vectors};

/// The texts of all rounds with ghosts among them.
pub(super) struct OwnTexts {
    /// Of every round what is planted, and where its texts are among all.
    rounds: Vec<(Planted, Vec<usize>)>,
    /// Each text once.
    texts: Vec<Content>,
    settings: OwnSettings,
}

impl OwnTexts {
    /// Plants into every round, which gets its contents; `None` if one of them has no text.
    pub(super) fn plant(
        rounds: &mut [Round],
        contents: &[&Content],
        real: &ReviewSet,
        seed: u64,
    ) -> Option<Self> {
        let settings = OwnSettings { seed, ..OwnSettings::default() };
        let (mut texts, mut known) = (Vec::new(), HashMap::new());
        let planted = rounds.iter_mut().map(|round| {
            let set = &mut round.set;
            set.tasks.clone_from(&real.tasks);
            let reviews = set.reviews.iter_mut().map(|review| &mut review.content);
            let all = reviews.chain(set.z.iter_mut().map(|z| &mut z.content));
            all.zip(&round.rows).for_each(|(content, &row)| *content = contents[row].clone());
            let planted = plant(set, &check_texts(set, &settings), &settings);
            let row = |text: &str| {
                *known.entry(text.to_owned()).or_insert_with(|| {
                    texts.push(Content { text: Some(text.to_owned()), ..Content::default() });
                    texts.len() - 1
                })
            };
            let rows = planted.texts(set)?.into_iter().map(row).collect();
            Some((planted, rows))
        });
        let rounds = planted.collect::<Option<_>>()?;
        Some(Self { rounds, texts, settings })
    }

    /// The score of every reviewer, by round, with the vectors that own is computed with where the
    /// embedder is named; `None` of an embedder that it is never computed with.
    pub(super) fn scores(
        &self,
        rounds: &[Round],
        embedding: &EmbedderSettings,
        models: &dyn ModelSource,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<Vec<Option<f64>>>>> {
        let Some(spec) = embedding.embedder.as_ref().filter(|spec| spec.is_read_by_own()) else {
            return Ok(None);
        };
        let embedded = if *spec == EmbedderSpec::Tfidf {
            None
        } else {
            let texts: Vec<&Content> = self.texts.iter().collect();
            let unit = Granularity::Sentence;
            Some(embed_contents(&texts, embedding, unit, models, observer, None)?.vectors)
        };
        let of_round = |(round, (planted, rows)): (&Round, &(Planted, Vec<usize>))| {
            let vectors = match &embedded {
                Some(all) => Some(all.select(rows).into()),
                // Rare words are rare in the venue of the round.
                None => tfidf_vectors(&round.set, planted, &NoProgress)?,
            };
            let Some(vectors) = vectors else { return Ok(Vec::new()) };
            let own =
                own_scores(&round.set, planted, vectors, &self.settings, &|_| false, &NoProgress)?;
            Ok(own.reviewers.iter().map(|reviewer| reviewer.score).collect())
        };
        let scores = rounds.par_iter().zip(&self.rounds).map(of_round);
        scores.collect::<Result<Vec<_>>>().map(Some)
    }
}

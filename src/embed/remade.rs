//! Vectors that are made when they are looked at and not kept: of a large venue they are most of the
//! memory, and the static model makes them faster than a score compares them.

use std::sync::Arc;

use super::EmbedError;
use super::pooling::{TextUnit, embed_texts};
use super::static_model::StaticModel;
use super::vectors::{DenseVectors, Vectors};
use crate::data::content::Content;
use crate::data::progress::{NoProgress, Progress};
use crate::data::reviews::ReviewSet;
use crate::stats::similarity::norm;

/// Texts that are embedded before what is kept of them is added up.
const TEXTS_AT_ONCE: usize = 8192;

/// The vectors of all texts of a set, first one row per review, then one per Z: the same numbers as
/// those of [`embed_texts`], since the vector of a text does not depend on other texts.
#[derive(Debug)]
pub struct RemadeVectors {
    set: Arc<ReviewSet>,
    model: StaticModel,
    unit: TextUnit,
    /// Length of every row.
    norms: Vec<f64>,
    /// Mean over the reviews that have a direction.
    center: Vec<f64>,
}

impl RemadeVectors {
    /// Embeds every text once for its length and for the mean; a content without a text is blank.
    ///
    /// # Errors
    ///
    /// [`EmbedError`] if `progress` asks to stop.
    pub fn new(
        set: Arc<ReviewSet>,
        model: StaticModel,
        unit: TextUnit,
        progress: &dyn Progress,
    ) -> Result<Self, EmbedError> {
        let mut norms = Vec::with_capacity(set.reviews.len() + set.z.len());
        let (mut center, mut count) = (vec![0.0; model.dims()], 0.0_f64);
        let contents: Vec<&Content> = set.contents().collect();
        for contents in contents.chunks(TEXTS_AT_ONCE) {
            let texts: Vec<&str> = contents.iter().copied().map(text).collect();
            for row in dense(&model, &texts, unit, progress)?.rows() {
                let length = norm(row);
                if length > 0.0 && norms.len() < set.reviews.len() {
                    count += 1.0;
                    center.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                norms.push(length);
            }
        }
        drop(contents);
        if count > 0.0 {
            center.iter_mut().for_each(|value| *value /= count);
        }
        Ok(Self { set, model, unit, norms, center })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }

    /// Number of dimensions of every row.
    pub fn dims(&self) -> usize {
        self.model.dims()
    }

    /// Length of a row, 0 for a text without a direction.
    ///
    /// # Panics
    ///
    /// If the row is not below [`Self::len`].
    pub fn norm(&self, row: usize) -> f64 {
        self.norms[row]
    }

    /// Mean of the rows of the reviews that have a direction, added in their order.
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// The given rows, made anew.
    ///
    /// # Panics
    ///
    /// If a row is not below [`Self::len`].
    pub fn rows(&self, rows: &[usize]) -> DenseVectors {
        let texts: Vec<&str> = rows.iter().map(|&row| text(self.content(row))).collect();
        dense(&self.model, &texts, self.unit, &NoProgress).expect("nobody asks it to stop")
    }

    /// All rows, for what needs them at the same time.
    pub fn all(&self) -> DenseVectors {
        let rows: Vec<usize> = (0..self.len()).collect();
        self.rows(&rows)
    }

    fn content(&self, row: usize) -> &Content {
        match row.checked_sub(self.set.reviews.len()) {
            None => &self.set.reviews[row].content,
            Some(z) => &self.set.z[z].content,
        }
    }
}

fn text(content: &Content) -> &str {
    content.text.as_deref().unwrap_or_default()
}

/// The vectors of some texts. The static model has no other failure than being asked to stop.
fn dense(
    model: &StaticModel,
    texts: &[&str],
    unit: TextUnit,
    progress: &dyn Progress,
) -> Result<DenseVectors, EmbedError> {
    match embed_texts(model, texts, unit, progress)?.vectors {
        Vectors::Dense(dense) => Ok(dense),
        Vectors::Sparse(_) => unreachable!("a table of rows gives dense vectors"),
    }
}

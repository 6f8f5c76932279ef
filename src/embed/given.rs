//! The embedder `given`: vectors or judgments that are already in the files.

use super::VectorKind;
use crate::data::content::Content;
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::error::{ErrorKind, Kinded};

/// Why the vectors of a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum GivenError {
    /// Some contents have vectors or judgments, others do not.
    #[error(
        "{without} of {total} reviews and Z have no `{part}`; \
         give all of them one, or choose an embedder for their text"
    )]
    Incomplete { part: &'static str, without: usize, total: usize },
}

impl Kinded for GivenError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// The vectors of all contents, in order: `vector` where every content has one, else `judgments`.
///
/// Judgments have one dimension per category, categories sorted by name.
///
/// # Errors
///
/// [`GivenError::Incomplete`] if neither is complete, naming the one that more contents have.
pub(crate) fn given_vectors<'a>(
    contents: impl Iterator<Item = &'a Content> + Clone,
) -> Result<(Vectors, VectorKind), GivenError> {
    let total = contents.clone().count();
    let vectors: Vec<&Vec<f64>> = contents.clone().filter_map(|c| c.vector.as_ref()).collect();
    let judgments: Vec<&Vec<f64>> = contents.filter_map(|c| c.judgments.as_ref()).collect();
    let (part, rows, kind) = if judgments.len() > vectors.len() {
        ("judgments", judgments, VectorKind::Judgments)
    } else {
        ("vector", vectors, VectorKind::Dense)
    };
    if rows.len() < total {
        return Err(GivenError::Incomplete { part, without: total - rows.len(), total });
    }
    let mut dense = DenseVectors::new(rows.first().map_or(0, |row| row.len()));
    rows.iter().for_each(|row| dense.push(row));
    Ok((Vectors::Dense(dense), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(vector: Option<Vec<f64>>, judgments: Option<Vec<f64>>) -> Content {
        Content { text: Some("x".into()), vector, judgments }
    }

    #[test]
    fn vectors_come_before_judgments_and_must_be_complete() {
        let both = content(Some(vec![1.0, 2.0]), Some(vec![1.0]));
        let (vectors, kind) = given_vectors([&both, &both].into_iter()).unwrap();
        assert_eq!((vectors.dims(), kind), (2, VectorKind::Dense));
        let judged = content(None, Some(vec![1.0]));
        let (vectors, kind) = given_vectors([&judged, &both].into_iter()).unwrap();
        assert_eq!((vectors.dims(), kind), (1, VectorKind::Judgments));
        let error = given_vectors([&judged, &content(None, None)].into_iter()).unwrap_err();
        assert_eq!(error, GivenError::Incomplete { part: "judgments", without: 1, total: 2 });
    }
}

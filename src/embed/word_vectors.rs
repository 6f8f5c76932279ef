//! `words:FILE`: the mean of the vectors of a text's words, from a text file of word2vec or `GloVe`.
//!
//! A line has a word and its numbers, with spaces between; word2vec's first line has two counts instead.
//! Only the words of the texts at hand are kept. A word is looked up as it is written, then in lower
//! case; a word that the file does not have is skipped, and a text without a known word has the zero
//! vector. The mean is scaled to unit length.
//!
//! Reference: Mikolov et al. (2013), arXiv:1310.4546; Pennington, Socher, Manning (2014), "`GloVe`".

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::data::progress::Progress;
use crate::data::words::words;
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::embed::{EmbedError, Embedder, Embeddings};
use crate::error::{ErrorKind, Kinded};

/// Why a file of word vectors cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WordVectorsError {
    /// It is missing or cannot be read.
    #[error("cannot read the word vectors `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A line is not a word and as many finite numbers as the first has.
    #[error(
        "`{}`, line {line}: not a word and {dims} numbers; write word vectors as text, in UTF-8", path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Numbers of every line.
        dims: usize,
    },
}

impl Kinded for WordVectorsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } => ErrorKind::Missing,
            Self::Line { .. } => ErrorKind::Input,
        }
    }
}

/// Vectors of the words of some texts.
#[derive(Debug, Clone)]
pub(crate) struct WordVectors {
    name: String,
    dims: usize,
    /// Only looked up, never gone through.
    places: HashMap<String, usize>,
    values: Vec<f32>,
}

impl WordVectors {
    /// Reads the vectors of the words of `texts`; of a word named twice the first counts.
    ///
    /// # Errors
    ///
    /// [`WordVectorsError`].
    pub(crate) fn read(path: &Path, texts: &[&str]) -> Result<Self, WordVectorsError> {
        let unreadable = |source| WordVectorsError::Read { path: path.to_owned(), source };
        let mut wanted = HashSet::new();
        for word in texts.iter().flat_map(|text| words(text)) {
            wanted.insert(word.to_owned());
            wanted.insert(word.to_lowercase());
        }
        let name = format!("words:{}", path.display());
        let mut read = Self { name, dims: 0, places: HashMap::new(), values: Vec::new() };
        let mut lines = BufReader::new(File::open(path).map_err(unreadable)?);
        let (mut bytes, mut line) = (Vec::new(), 0);
        loop {
            bytes.clear();
            if lines.read_until(b'\n', &mut bytes).map_err(unreadable)? == 0 {
                break;
            }
            line += 1;
            let bad = |dims| WordVectorsError::Line { path: path.to_owned(), line, dims };
            let text = str::from_utf8(&bytes).map_err(|_| bad(read.dims))?.trim_end();
            let mut parts = text.split(' ');
            let word = parts.next().unwrap_or_default();
            let counts = |text: &str| text.split(' ').all(|part| part.parse::<usize>().is_ok());
            if line == 1 && text.split(' ').count() == 2 && counts(text) {
                continue;
            }
            if read.dims == 0 {
                read.dims = parts.clone().count();
            }
            // A word of a large file may hold spaces; its numbers are the last ones.
            if read.dims == 0 || parts.clone().count() < read.dims {
                return Err(bad(read.dims));
            }
            if !wanted.contains(word) || read.places.contains_key(word) {
                continue;
            }
            let start = read.values.len();
            for part in parts {
                let value = part.parse().ok().filter(|value: &f32| value.is_finite());
                let value = value.ok_or_else(|| bad(read.dims))?;
                read.values.push(value);
            }
            if read.values.len() != start + read.dims {
                return Err(bad(read.dims));
            }
            read.places.insert(word.to_owned(), start);
        }
        if read.dims == 0 {
            return Err(WordVectorsError::Line { path: path.to_owned(), line: 1, dims: 1 });
        }
        Ok(read)
    }

    fn find(&self, word: &str) -> Option<&[f32]> {
        let place = self.places.get(word).or_else(|| self.places.get(&word.to_lowercase()));
        place.map(|&start| &self.values[start..start + self.dims])
    }
}

impl Embedder for WordVectors {
    fn name(&self) -> &str {
        &self.name
    }

    /// Never fails.
    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let mut values = vec![0.0_f64; texts.len() * self.dims];
        values.par_chunks_mut(self.dims).zip(texts.par_iter()).for_each(|(vector, text)| {
            for row in words(text).filter_map(|word| self.find(word)) {
                vector.iter_mut().zip(row).for_each(|(sum, &entry)| *sum += f64::from(entry));
            }
            let norm = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            if norm > 0.0 {
                vector.iter_mut().for_each(|entry| *entry /= norm);
            }
            progress.advance(1);
        });
        let vectors = Vectors::Dense(DenseVectors::from_values(self.dims, values));
        Ok(Embeddings { vectors, long_texts: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;

    fn read(text: &str, texts: &[&str]) -> Result<WordVectors, WordVectorsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.txt");
        std::fs::write(&path, text).unwrap();
        WordVectors::read(&path, texts)
    }

    #[test]
    fn a_text_is_the_unit_mean_of_its_known_words() {
        // Of word2vec, with its counts, and of GloVe, without.
        for header in ["3 2\n", ""] {
            let file = format!("{header}the 3 0\nproof 0 4\nUS 0 -1 \nus 1 0\n");
            let texts = ["The proof!", "US", "Us", "nothing known", ""];
            let vectors = read(&file, &texts).unwrap();
            let rows = vectors.embed(&texts, &NoProgress).unwrap().vectors;
            assert_eq!(rows.dense_row(0), [0.6, 0.8]);
            assert_eq!(rows.dense_row(1), [0.0, -1.0]);
            assert_eq!(rows.dense_row(2), [1.0, 0.0]);
            assert_eq!((rows.dense_row(3), rows.dense_row(4)), (vec![0.0; 2], vec![0.0; 2]));
        }
    }

    #[test]
    fn a_line_that_is_no_vector_is_named() {
        let texts = ["a b"];
        for (file, line) in [("a 1 2\nb 3\n", 2), ("a 1 x\n", 1), ("a 1 2\nb 1 nan\n", 2), ("", 1)]
        {
            let error = read(file, &texts).unwrap_err();
            assert!(
                matches!(error, WordVectorsError::Line { line: l, .. } if l == line),
                "{error}"
            );
        }
        let error = WordVectors::read(Path::new("no-such-file"), &[]).unwrap_err();
        assert!(error.to_string().contains("no-such-file"));
    }
}

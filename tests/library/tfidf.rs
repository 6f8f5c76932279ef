//! The tfidf embedder gives the vectors of scikit-learn; `tests/golden/tfidf.py` made them.

use std::collections::BTreeMap;

use caz::for_tests::{Embedder, NoProgress, Tfidf, Vectors};
use serde::Deserialize;

/// Both sides compute in double precision.
const TOLERANCE: f64 = 1e-12;

#[derive(Deserialize)]
struct Golden {
    corpus: usize,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    weights: BTreeMap<String, f64>,
}

#[test]
fn every_weight_is_that_of_scikit_learn() {
    let golden: Golden =
        serde_json::from_str(include_str!("../golden/tfidf.json")).expect("the golden file");
    let texts: Vec<&str> = golden.rows.iter().map(|row| row.text.as_str()).collect();
    let tfidf = Tfidf::fit(&texts[..golden.corpus]);
    let Vectors::Sparse(sparse) = tfidf.embed(&texts, &NoProgress).expect("vectors").vectors else {
        panic!("word weights are sparse");
    };
    assert_eq!(sparse.len(), golden.rows.len());
    let mut compared = 0;
    for (index, row) in golden.rows.iter().enumerate() {
        assert_eq!(sparse.row(index).len(), row.weights.len(), "{}", row.text);
        // Both are in the order of the words.
        for ((word, expected), &(dim, value)) in row.weights.iter().zip(sparse.row(index)) {
            assert_eq!(tfidf.dimension(word), Some(dim), "{word}");
            assert!((value - expected).abs() < TOLERANCE, "{word}: {value} is not {expected}");
            compared += 1;
        }
    }
    assert_eq!(compared, 39);
}

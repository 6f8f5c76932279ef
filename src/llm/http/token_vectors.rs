//! Vectors of tokens in place of those of texts.

/// How the vectors of tokens become one.
///
/// A model that was made to write, behind a server that was not told to pool, gives one vector for
/// every token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenPooling {
    /// Their mean.
    Mean,
    /// The first.
    First,
}

impl TokenPooling {
    /// One vector of the vectors of all tokens of a text; `None` if there is none, or if they have
    /// several lengths.
    pub(super) fn pool(self, tokens: &[Vec<f64>]) -> Option<Vec<f64>> {
        let first = tokens.first()?;
        if tokens.iter().any(|token| token.len() != first.len()) {
            return None;
        }
        Some(match self {
            Self::First => first.clone(),
            Self::Mean => {
                let sum = |entry: usize| tokens.iter().map(|token| token[entry]).sum::<f64>();
                (0..first.len()).map(|entry| sum(entry) / tokens.len() as f64).collect()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_and_the_first_by_hand() {
        let tokens = [vec![1.0, 2.0], vec![3.0, 4.0], vec![8.0, 0.0]];
        assert_eq!(TokenPooling::Mean.pool(&tokens), Some(vec![4.0, 2.0]));
        assert_eq!(TokenPooling::First.pool(&tokens), Some(vec![1.0, 2.0]));
        assert_eq!(TokenPooling::Mean.pool(&[]), None);
        assert_eq!(TokenPooling::Mean.pool(&[vec![1.0], vec![1.0, 2.0]]), None);
    }
}

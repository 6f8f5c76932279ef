//! Which of two answers is better.

use serde::{Deserialize, Serialize};

words! {
    /// Who won.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub(crate) enum Side {
        /// The first answer of the pair.
        A = "a",
        /// The second one.
        B = "b",
        /// Neither.
        Tie = "tie",
    }
}

impl Side {
    /// The verdict in words: `a`, `b`, `tie`, in any case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.trim().to_lowercase().as_str() {
            "a" => Some(Self::A),
            "b" => Some(Self::B),
            "tie" => Some(Self::Tie),
            _ => None,
        }
    }

    /// The same verdict where the sides have changed their names.
    #[must_use]
    pub(crate) fn exchanged(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            Self::Tie => Self::Tie,
        }
    }

    /// The side with more; a tie up to the rounding of sums.
    pub(crate) fn of_scores(a: f64, b: f64) -> Self {
        const ROUNDING: f64 = 1e-9;
        if (a - b).abs() <= ROUNDING {
            Self::Tie
        } else if a > b {
            Self::A
        } else {
            Self::B
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Side;

    #[test]
    fn words_are_read_back_and_sides_change_places() {
        for side in [Side::A, Side::B, Side::Tie] {
            assert_eq!(Side::parse(side.as_str()), Some(side));
            assert_eq!(side.exchanged().exchanged(), side);
        }
        assert_eq!(Side::parse(" B "), Some(Side::B));
        assert_eq!(Side::parse("left"), None);
        assert_eq!(Side::of_scores(0.1 + 0.2, 0.3), Side::Tie);
        assert_eq!(Side::of_scores(2.0, 3.0), Side::B);
    }
}

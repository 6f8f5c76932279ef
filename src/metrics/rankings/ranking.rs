//! A ranking with ties.

/// Items from the top down, in groups that share their ranks.
///
/// Items are numbers; an item occurs once. Rankings of different lengths and of different items
/// can be compared by RBO.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranking {
    groups: Vec<Vec<u32>>,
}

/// First and last rank of the tie group of an item, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) top: usize,
    pub(super) bottom: usize,
}

impl Ranking {
    /// The ranking with these groups of tied items, the top first. Empty groups are left out.
    ///
    /// # Panics
    ///
    /// If an item occurs twice.
    #[cfg(test)]
    pub(crate) fn new(groups: Vec<Vec<u32>>) -> Self {
        let mut items: Vec<u32> = groups.iter().flatten().copied().collect();
        items.sort_unstable();
        assert!(items.windows(2).all(|pair| pair[0] != pair[1]), "an item occurs once");
        Self { groups: groups.into_iter().filter(|group| !group.is_empty()).collect() }
    }

    /// Items `0..scores.len()` by score, the highest first; equal scores tie.
    ///
    /// # Panics
    ///
    /// If a score is NaN: an undefined score has no rank.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 items")]
    pub(crate) fn by_scores(scores: &[f64]) -> Self {
        assert!(scores.iter().all(|score| !score.is_nan()), "an undefined score has no rank");
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        let score = |item: u32| scores[item as usize] + 0.0;
        order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
        let tied = |a: &u32, b: &u32| score(*a).total_cmp(&score(*b)).is_eq();
        Self { groups: order.chunk_by(tied).map(<[u32]>::to_vec).collect() }
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Whether there is no item.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Every item with its span, from the top.
    pub(super) fn spans(&self) -> impl Iterator<Item = (u32, Span)> + '_ {
        let mut next = 1;
        self.groups.iter().flat_map(move |group| {
            let span = Span { top: next, bottom: next + group.len() - 1 };
            next += group.len();
            group.iter().map(move |&item| (item, span))
        })
    }
}

//! One row per reviewer and score, with types: what the table, the page and programs read.

use super::own;
use crate::data::nouns::Nouns;
use crate::report::Cell;
use crate::report::estimate_cells;
use crate::stats::flag::{Flag, FlagSettings, flags};
use crate::stats::interval::Estimate;
use crate::stats::rank::descending_ranks;
use crate::stats::rank::worst_first;
use crate::text::own::{Class, NotJudged, OwnFlag, OwnScores, Posterior, Share, is_copied};
use crate::text::score::ScoreName;
use crate::text::scorer::{ScoreDetail, Scored};

/// The score of one reviewer by one name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReviewerRow {
    /// Name of the reviewer.
    pub reviewer: String,
    /// Number of the reviewer in the set.
    pub number: usize,
    /// Which score.
    pub score_name: ScoreName,
    /// The score with its standard error; `None` if it is undefined.
    pub estimate: Option<Estimate>,
    /// Papers with at least one comparison.
    pub n_papers: usize,
    /// Comparisons.
    pub n_pairs: usize,
    /// Those of them that count as 0 because nothing is left of one side.
    pub n_zero: usize,
    /// 1 is the best; `None` without a score.
    pub rank: Option<u64>,
    /// Whether the score is worth a look; `None` for scores whose 0 means nothing, and for
    /// [`ScoreName::Own`], whose flag is in `detail`.
    pub flag: Option<Flag>,
    /// What their reviews repeat of phrases hidden in their papers, if anything.
    pub canaries: Option<String>,
    /// Whether a review repeats every phrase of its paper.
    pub is_canary: bool,
    /// What only this score has.
    pub detail: RowDetail,
}

/// What the rows of one score have beyond those of others. A new score with columns of its own is
/// a variant here, with its columns and cells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RowDetail {
    /// Nothing.
    None,
    /// The parts of [`ScoreName::Combined`], in robust standard deviations.
    Combined {
        /// About the paper.
        topic: Option<f64>,
        /// Unlike Z.
        away: Option<f64>,
    },
    /// What [`ScoreName::Own`] says.
    Own {
        /// Probabilities; missing if not judged.
        posterior: Option<Posterior>,
        /// The class with the largest probability.
        reads_as: Option<Class>,
        /// What to do.
        flag: OwnFlag,
        /// Why they are not judged.
        reason: Option<NotJudged>,
        /// Which share of their reviews is not their own work.
        share: Option<Share>,
        /// Their reviews that are worth a look.
        n_look: usize,
        /// The largest share of the words of a review that stand in a Z word for word.
        copied: Option<f64>,
        /// Mean cosine with the LLM texts of their papers, by the embedder of the run: what is close to
        /// an LLM's text may be polished, too, so that it stands beside and decides nothing.
        closeness: Option<f64>,
    },
}

/// Columns of all rows, empty but for those of [`ScoreName::Own`].
pub(super) const OWN_COLUMNS: [&str; 11] = [
    "p_own",
    "p_copy",
    "p_llm",
    "p_off_topic",
    "reads_as",
    "share",
    "share_low",
    "share_high",
    "n_look",
    "copied",
    "closeness",
];

impl RowDetail {
    /// Columns that follow those of all scores where a score is asked for.
    pub(crate) fn columns(score: ScoreName) -> &'static [&'static str] {
        match score {
            ScoreName::Combined => &["part_topic", "part_z"],
            ScoreName::Own => &["reason"],
            ScoreName::Projected | ScoreName::Cosine | ScoreName::Negative => &[],
        }
    }

    /// The cells under [`Self::columns`] of the row's own score.
    pub(super) fn cells(&self, nouns: Nouns) -> Vec<Cell> {
        match self {
            Self::None => Vec::new(),
            Self::Own { flag, reason, .. } => {
                let why = (*flag == OwnFlag::NotJudged).then(|| own::reason(nouns, *reason));
                vec![why.into()]
            }
            Self::Combined { topic, away } => vec![(*topic).into(), (*away).into()],
        }
    }

    fn of(detail: &ScoreDetail, reviewer: usize) -> Self {
        match detail {
            ScoreDetail::None => Self::None,
            ScoreDetail::Combined { topic, away, .. } => {
                Self::Combined { topic: topic[reviewer], away: away[reviewer] }
            }
            ScoreDetail::Own(own) => Self::of_own(own, reviewer),
        }
    }

    fn of_own(own: &OwnScores, reviewer: usize) -> Self {
        let found = &own.reviewers[reviewer];
        Self::Own {
            posterior: found.posterior,
            reads_as: found.reads_as,
            flag: found.flag,
            reason: found.reason,
            share: found.share,
            n_look: found.n_look,
            copied: found.copied,
            closeness: None,
        }
    }

    /// The cells under [`OWN_COLUMNS`], which every row has.
    fn own_cells(&self) -> [Cell; OWN_COLUMNS.len()] {
        let Self::Own { posterior, reads_as, share, n_look, copied, reason, closeness, .. } = self
        else {
            return [const { Cell::Missing }; OWN_COLUMNS.len()];
        };
        let part = |part: fn(&Posterior) -> f64| Cell::from(posterior.as_ref().map(part));
        [
            part(|posterior| posterior.own),
            part(|posterior| posterior.copy),
            part(|posterior| posterior.llm),
            part(|posterior| posterior.off_topic),
            reads_as.map(Class::as_str).into(),
            share.map(|share| share.expected).into(),
            share.map(|share| share.low).into(),
            share.map(|share| share.high).into(),
            (reason.is_none() || *n_look > 0).then_some(*n_look).into(),
            (*copied).into(),
            (*closeness).into(),
        ]
    }
}

impl ReviewerRow {
    /// The 95 % interval of the score, low end first.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.estimate.and_then(|estimate| estimate.interval())
    }

    /// The flag in a word, whichever score has it.
    pub fn flag_word(&self) -> Option<&'static str> {
        match &self.detail {
            _ if self.is_canary => Some(OwnFlag::Look.as_str()),
            RowDetail::Own { flag, .. } => Some(flag.as_str()),
            RowDetail::None | RowDetail::Combined { .. } => self.flag.map(Flag::as_str),
        }
    }

    /// As what their reviews read, by `own`.
    pub(super) fn reads_as(&self) -> Option<Class> {
        match &self.detail {
            RowDetail::Own { reads_as, .. } => *reads_as,
            RowDetail::None | RowDetail::Combined { .. } => None,
        }
    }

    /// The cells under the columns of all scores, with room for those of a table of so many columns.
    pub(super) fn cells(&self, embedder: &str, columns: usize) -> Vec<Cell> {
        let mut cells = Vec::with_capacity(columns);
        cells.extend([
            self.reviewer.as_str().into(),
            self.score_name.as_str().into(),
            embedder.into(),
        ]);
        cells.extend(estimate_cells(self.estimate, self.interval()));
        cells.extend([
            self.n_papers.into(),
            self.n_pairs.into(),
            self.n_zero.into(),
            self.rank.into(),
            self.flag_word().into(),
        ]);
        cells.extend(self.detail.own_cells());
        cells
    }
}

/// The place of a flag in a list: what to do first comes first.
pub(super) fn urgency(flag: OwnFlag) -> u8 {
    match flag {
        OwnFlag::Look => 0,
        OwnFlag::Unsure => 1,
        OwnFlag::Clear => 2,
        OwnFlag::NotJudged => 3,
    }
}

/// The rows of one score, worst first, reviewers without a score last.
pub(super) fn rows(
    names: &[String],
    score_name: ScoreName,
    scored: &Scored,
    settings: &FlagSettings,
) -> Vec<ReviewerRow> {
    let people: Vec<_> =
        scored.scores.iter().map(|score| (score.estimate, score.n_papers)).collect();
    let flags = flags(&people, settings);
    let values: Vec<Option<f64>> =
        scored.scores.iter().map(|score| score.estimate.map(|estimate| estimate.value)).collect();
    let ranks = descending_ranks(&values);
    let row = |number: usize| {
        let score = &scored.scores[number];
        // Only scores whose zero means "adds nothing" can be called informative or not.
        let flagged = score_name != ScoreName::Own
            && (score_name.has_zero() || flags[number] == Flag::TooFew);
        ReviewerRow {
            reviewer: names[number].clone(),
            number,
            score_name,
            estimate: score.estimate,
            n_papers: score.n_papers,
            n_pairs: score.n_pairs,
            n_zero: score.n_zero,
            rank: ranks[number],
            flag: flagged.then_some(flags[number]),
            canaries: None,
            is_canary: false,
            detail: RowDetail::of(&scored.detail, number),
        }
    };
    let mut rows: Vec<ReviewerRow> = worst_first(&values, names).into_iter().map(row).collect();
    // By what to do, what is copied word for word before what a model says, then worst first: whoever
    // cannot be judged comes last.
    rows.sort_by_key(|row| match &row.detail {
        RowDetail::Own { flag, copied, .. } => (urgency(*flag), !is_copied(*copied)),
        RowDetail::None | RowDetail::Combined { .. } => (0, false),
    });
    rows
}

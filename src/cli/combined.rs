//! What to know about combined scores before trusting them.

use crate::data::warning::Warning;
use crate::text::combined::Basis;

/// Fewer reviewers than this make medians and deviations of the parts a matter of chance.
const ENOUGH_REVIEWERS: usize = 20;

/// Fewer papers than this say little about what a review of another paper looks like.
const ENOUGH_PAPERS: usize = 10;

/// With more reviews than this share on papers without Z, the figures of `docs/results.md` do not
/// hold: with half of the papers the 10 % quantile for copies falls below .9.
const MOST_WITHOUT_Z: f64 = 0.3;

/// Reasons not to trust the scores, each with a count.
pub(super) fn warnings(basis: &Basis, reviews: usize) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code, count, message: String| warnings.push(Warning::new(code, count, message));
    let &Basis { scored, single_paper, two_papers, sources, papers, reviews_without_z, .. } = basis;
    if basis.no_spread {
        let message = "half of the reviewers agree in a part of the combined score to the last \
                       digit, so nobody has one"
            .to_owned();
        warn("combined_no_spread", 1, message);
    }
    if scored < ENOUGH_REVIEWERS {
        let message = format!(
            "the combined score compares reviewers with each other and there are {scored}; do not \
             trust it with fewer than {ENOUGH_REVIEWERS}"
        );
        warn("combined_few_reviewers", scored, message);
    }
    if papers < ENOUGH_PAPERS {
        let message = format!(
            "the combined score compares papers with each other and {papers} have peers and an LLM \
             review; do not trust it with fewer than {ENOUGH_PAPERS}"
        );
        warn("combined_few_papers", papers, message);
    }
    if single_paper > 0 {
        let message = format!(
            "{single_paper} of {scored} reviewers have a combined score from one paper, which is \
             often wrong; look at those with several papers first"
        );
        warn("combined_single_paper", single_paper, message);
    }
    if two_papers > 0 {
        let message = format!(
            "{two_papers} of {scored} reviewers have a combined score from two papers, which is \
             less sure than from five"
        );
        warn("combined_two_papers", two_papers, message);
    }
    if sources == 1 {
        let message = "all LLM reviews are from one source, and reviews by an LLM that says other \
                       things can go unseen by the combined score; add reviews by other LLMs to --z"
            .to_owned();
        warn("combined_one_source", 1, message);
    }
    if MOST_WITHOUT_Z * (reviews as f64) < reviews_without_z as f64 {
        let message = format!(
            "{reviews_without_z} of {reviews} reviews are on papers without a usable LLM review; \
             copies among them go unseen by the combined score"
        );
        warn("combined_without_z", reviews_without_z, message);
    }
    if basis.median_peers.is_some_and(|median| median <= 0.0) {
        let message =
            "most reviews are no closer to their peers' than to reviews of other papers: \
                       these vectors cannot tell papers apart; do not trust the combined score"
                .to_owned();
        warn("combined_peers_off_topic", reviews, message);
    }
    if basis.median_z.is_some_and(|median| median <= 0.0) {
        let message = "most reviews are no closer to the LLM's review of their paper than to its \
                       reviews of others: check that Z is of these papers; do not trust the \
                       combined score"
            .to_owned();
        warn("combined_z_off_topic", reviews, message);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Basis = Basis {
        scored: 40,
        single_paper: 0,
        two_papers: 0,
        sources: 2,
        papers: 60,
        reviews_without_z: 0,
        median_peers: Some(0.2),
        median_z: Some(0.2),
        no_spread: false,
    };

    fn codes(basis: Basis) -> Vec<&'static str> {
        warnings(&basis, 100).iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn each_reason_not_to_trust_has_its_own_warning() {
        assert!(codes(GOOD).is_empty());
        assert_eq!(codes(Basis { scored: 19, ..GOOD }), ["combined_few_reviewers"]);
        assert_eq!(codes(Basis { papers: 9, ..GOOD }), ["combined_few_papers"]);
        assert_eq!(codes(Basis { single_paper: 3, ..GOOD }), ["combined_single_paper"]);
        assert_eq!(codes(Basis { two_papers: 3, ..GOOD }), ["combined_two_papers"]);
        assert_eq!(codes(Basis { sources: 1, ..GOOD }), ["combined_one_source"]);
        assert_eq!(codes(Basis { reviews_without_z: 31, ..GOOD }), ["combined_without_z"]);
        assert!(codes(Basis { reviews_without_z: 30, ..GOOD }).is_empty());
        let median = Some(0.0);
        assert_eq!(codes(Basis { median_peers: median, ..GOOD }), ["combined_peers_off_topic"]);
        assert_eq!(codes(Basis { median_z: median, ..GOOD }), ["combined_z_off_topic"]);
        assert_eq!(codes(Basis { no_spread: true, ..GOOD }), ["combined_no_spread"]);
    }
}

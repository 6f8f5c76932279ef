//! What a run has spent at a model so far, for whoever shows how far it is.

#[cfg(feature = "llm")]
use std::fmt::Write as _;
#[cfg(feature = "llm")]
use std::sync::{Arc, OnceLock};

#[cfg(feature = "llm")]
use crate::annotate::Prices;
#[cfg(feature = "llm")]
use crate::llm::Budget;

/// Empty until a model is connected; shared by its clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spending {
    #[cfg(feature = "llm")]
    watched: Arc<OnceLock<Watched>>,
}

#[cfg(feature = "llm")]
#[derive(Debug)]
struct Watched {
    budget: Arc<Budget>,
    prices: Option<Prices>,
}

impl Spending {
    /// Watches a budget from now on; the first one, should there be several.
    #[cfg(feature = "llm")]
    pub(super) fn watch(&self, budget: &Arc<Budget>, prices: Option<Prices>) {
        // A run asks one model.
        _ = self.watched.set(Watched { budget: Arc::clone(budget), prices });
    }

    /// Requests, tokens as far as they are written, and the price, if one was given, of answers that
    /// are whole; `None` if no model is asked.
    #[cfg(feature = "llm")]
    pub(super) fn words(&self) -> Option<String> {
        let Watched { budget, prices } = self.watched.get()?;
        let (spent, under_way) = budget.spent_and_under_way();
        let tokens = spent.tokens().saturating_add(under_way);
        let mut words = format!("{} requests, {tokens} tokens", spent.requests);
        if let Some(prices) = prices {
            let price = prices.of(spent.prompt_tokens, spent.completion_tokens);
            let _ = write!(words, ", price {price:.4}");
        }
        Some(words)
    }

    /// There is no model to spend anything at.
    #[cfg(not(feature = "llm"))]
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    pub(super) fn words(&self) -> Option<String> {
        None
    }
}

#[cfg(all(test, feature = "llm"))]
mod tests {
    use super::*;
    use crate::data::interruption::Interruption;
    use crate::llm::Usage;

    #[test]
    fn the_price_is_that_of_what_was_read_and_written() {
        let spending = Spending::default();
        assert_eq!(spending.words(), None);
        let budget = Arc::new(Budget::default());
        spending.clone().watch(&budget, Some(Prices { read: 2.0, written: 10.0 }));
        assert_eq!(spending.words().unwrap(), "0 requests, 0 tokens, price 0.0000");
        let mut request = budget.reserve(1, &Interruption::default()).unwrap();
        request.so_far(17);
        assert_eq!(spending.words().unwrap(), "1 requests, 17 tokens, price 0.0000");
        request.cost(Usage { prompt_tokens: 30_000, completion_tokens: 4_000, estimated: false });
        // 2 / 10^6 * 30,000 + 10 / 10^6 * 4,000.
        assert_eq!(spending.words().unwrap(), "1 requests, 34000 tokens, price 0.1000");
    }
}

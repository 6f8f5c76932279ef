//! What is computed together.

/// Groups sequences of similar length, longest first, into batches of at most `batch_tokens`
/// tokens (one sequence at least). Returns positions in `lengths`.
///
/// Longest first, so that no thread starts a long batch when the others are done.
pub(super) fn batches(lengths: &[usize], batch_tokens: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = usize::MAX;
    for index in order {
        tokens = tokens.saturating_add(lengths[index]);
        match batches.last_mut() {
            Some(batch) if tokens <= batch_tokens => batch.push(index),
            _ => {
                batches.push(vec![index]);
                tokens = lengths[index];
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batches_hold_every_sequence_once_and_respect_the_limit(
            lengths in prop::collection::vec(1_usize..600, 0..80), limit in 1_usize..1000,
        ) {
            let batches = batches(&lengths, limit);
            let mut members: Vec<usize> = batches.concat();
            members.sort_unstable();
            prop_assert_eq!(members, (0..lengths.len()).collect::<Vec<_>>());
            for batch in &batches {
                let tokens: usize = batch.iter().map(|&member| lengths[member]).sum();
                prop_assert!(tokens <= limit || batch.len() == 1);
            }
        }
    }
}

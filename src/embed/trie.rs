//! A set of byte strings with a number each, and the longest one that a text starts with.
//!
//! A double array: the child of node `n` over byte `b` sits in slot `base[n] ^ b` and names `n`
//! as its parent, so one step costs one look at memory whatever the number of children. Slots of
//! one node lie in one aligned block of 256.
//!
//! Reference: Aoe (1989), "An efficient digital search algorithm by using a double-array
//! structure", IEEE Transactions on Software Engineering 15(9).

/// No node, no value.
const NONE: u32 = u32::MAX;

/// Children of one node can take any of this many slots, one per byte value.
const BLOCK: usize = 256;

/// Blocks that are looked at for room before a new one is opened; keeps building linear.
const OPEN_BLOCKS: usize = 8;

#[derive(Debug, Clone, Copy)]
struct Slot {
    base: u32,
    parent: u32,
    value: u32,
}

const FREE: Slot = Slot { base: NONE, parent: NONE, value: NONE };

/// Byte strings with a number each.
#[derive(Debug, Clone)]
pub(crate) struct Trie {
    slots: Vec<Slot>,
}

impl Trie {
    /// Takes the entries in any order; of equal keys the first one counts. Keys are not empty.
    pub(crate) fn new(mut entries: Vec<(&[u8], u32)>) -> Self {
        // The sort is stable, so of equal keys the first stays first.
        entries.sort_by_key(|&(key, _)| key);
        entries.dedup_by_key(|&mut (key, _)| key);
        entries.retain(|(key, _)| !key.is_empty());
        let mut builder = Builder { slots: Vec::new(), free: Vec::new(), first_open: 0 };
        builder.open_block();
        // The root takes slot 0 and names itself, so that nothing else takes it.
        builder.take(0, 0);
        // A stack of our own: a key may be far longer than that of the thread is deep.
        let mut open = vec![(0, entries.as_slice(), 0)];
        while let Some((node, entries, depth)) = open.pop() {
            builder.place(node, entries, depth, &mut open);
        }
        Self { slots: builder.slots }
    }

    /// The longest key that `text` starts with: its length in bytes and its number.
    pub(crate) fn longest_prefix(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut node = 0_usize;
        let mut best = None;
        for (index, &byte) in text.iter().enumerate() {
            let base = self.slots[node].base;
            if base == NONE {
                break;
            }
            let child = base as usize ^ usize::from(byte);
            // The root is its own parent, but no child of it.
            if child == 0 || self.slots[child].parent as usize != node {
                break;
            }
            node = child;
            if self.slots[node].value != NONE {
                best = Some((index + 1, self.slots[node].value));
            }
        }
        best
    }
}

/// A node whose children are still to be placed: the node, its entries, the bytes that they share.
type Open<'a, 'b> = (usize, &'a [(&'b [u8], u32)], usize);

struct Builder {
    slots: Vec<Slot>,
    /// Free slots per block.
    free: Vec<usize>,
    first_open: usize,
}

impl Builder {
    fn open_block(&mut self) {
        self.slots.resize(self.slots.len() + BLOCK, FREE);
        self.free.push(BLOCK);
    }

    fn take(&mut self, slot: usize, parent: usize) {
        self.slots[slot].parent = as_u32(parent);
        self.free[slot / BLOCK] -= 1;
    }

    /// Places the children of `node`, whose keys agree in their first `depth` bytes; their own
    /// children stay `open`.
    fn place<'a, 'b>(
        &mut self,
        node: usize,
        entries: &'a [(&'b [u8], u32)],
        depth: usize,
        open: &mut Vec<Open<'a, 'b>>,
    ) {
        let groups: Vec<&'a [(&'b [u8], u32)]> = entries
            .chunk_by(|a, b| a.0.get(depth) == b.0.get(depth))
            .filter(|group| group[0].0.len() > depth)
            .collect();
        if groups.is_empty() {
            return;
        }
        let bytes: Vec<u8> = groups.iter().map(|group| group[0].0[depth]).collect();
        let base = self.find_base(&bytes);
        self.slots[node].base = as_u32(base);
        for &byte in &bytes {
            self.take(base ^ usize::from(byte), node);
        }
        // The first group is to be placed first, so it is put on the stack last.
        for (group, byte) in groups.into_iter().zip(bytes).rev() {
            let child = base ^ usize::from(byte);
            // Sorted: the key that ends here, if there is one, comes first.
            let (key, value) = group[0];
            if key.len() == depth + 1 {
                self.slots[child].value = value;
            }
            open.push((child, group, depth + 1));
        }
    }

    /// A base that gives every byte a free slot of one block.
    fn find_base(&mut self, bytes: &[u8]) -> usize {
        for block in self.first_open..self.free.len() {
            if self.free[block] < bytes.len() {
                continue;
            }
            let start = block * BLOCK;
            let is_free = |slot: usize| self.slots[slot].parent == NONE;
            // A base is what puts the first byte on a free slot, for every free slot.
            let fits = (start..start + BLOCK).filter(|&slot| is_free(slot)).find_map(|slot| {
                let base = slot ^ usize::from(bytes[0]);
                bytes.iter().all(|&byte| is_free(base ^ usize::from(byte))).then_some(base)
            });
            if let Some(base) = fits {
                return base;
            }
        }
        self.open_block();
        let block = self.free.len() - 1;
        self.first_open = self.first_open.max(self.free.len().saturating_sub(OPEN_BLOCKS));
        block * BLOCK
    }
}

fn as_u32(slot: usize) -> u32 {
    u32::try_from(slot).expect("a vocabulary has fewer than 2^32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn longest_by_looking_at_every_key(
        entries: &[(Vec<u8>, u32)],
        text: &[u8],
    ) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32)> = None;
        for (key, value) in entries {
            if text.starts_with(key) && best.is_none_or(|(length, _)| key.len() > length) {
                best = Some((key.len(), *value));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_longest_prefix_is_the_one_found_by_looking_at_every_key(
            keys in prop::collection::vec(prop::collection::vec(0_u8..5, 1..6), 0..60),
            wide in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..4), 0..600),
            texts in prop::collection::vec(prop::collection::vec(0_u8..5, 0..10), 1..20),
        ) {
            let entries: Vec<(Vec<u8>, u32)> = keys.into_iter().chain(wide.clone()).zip(0..).collect();
            let trie = Trie::new(entries.iter().map(|(key, value)| (key.as_slice(), *value)).collect());
            for text in texts.iter().chain(&wide) {
                prop_assert_eq!(
                    trie.longest_prefix(text),
                    longest_by_looking_at_every_key(&entries, text)
                );
            }
        }
    }

    #[test]
    fn a_key_deeper_than_any_stack_is_a_key_like_any_other() {
        let long = vec![b'x'; 100_000];
        let trie = Trie::new(vec![(&long, 3), (b"x", 1)]);
        assert_eq!(trie.longest_prefix(&long), Some((long.len(), 3)));
        assert_eq!(trie.longest_prefix(&long[..100]), Some((1, 1)));
    }

    #[test]
    fn a_trie_without_keys_finds_nothing() {
        assert_eq!(Trie::new(Vec::new()).longest_prefix(b"abc"), None);
        assert_eq!(Trie::new(vec![(b"", 1)]).longest_prefix(b"abc"), None);
    }
}

//! Names as small numbers: each distinct name gets the next number, from 0.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A list of distinct names in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    names: Vec<String>,
    /// Numbers by the hash of their name; the names themselves are stored once.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl PartialEq for Ids {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for Ids {}

impl Ids {
    /// No names yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `name`, a new one if it was not seen before.
    ///
    /// # Panics
    ///
    /// After `u32::MAX` distinct names, far more than fit in memory.
    pub fn intern(&mut self, name: &str) -> u32 {
        let hash = self.hasher.hash_one(name);
        let same = |&id: &u32| self.names[id as usize] == name;
        if let Some(&id) = self.index.find(hash, same) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("fewer than 2^32 distinct names");
        self.names.push(name.to_owned());
        let (names, hasher) = (&self.names, &self.hasher);
        self.index.insert_unique(hash, id, |&id| hasher.hash_one(names[id as usize].as_str()));
        id
    }

    /// The number of `name`, if it was seen.
    pub fn get(&self, name: &str) -> Option<u32> {
        let same = |&id: &u32| self.names[id as usize] == name;
        self.index.find(self.hasher.hash_one(name), same).copied()
    }

    /// The name with number `id`.
    ///
    /// # Panics
    ///
    /// If `id` was not returned by this list.
    pub fn name(&self, id: u32) -> &str {
        &self.names[id as usize]
    }

    /// All names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many distinct names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_by_first_appearance() {
        let mut ids = Ids::new();
        let numbers: Vec<u32> = ["b", "a", "b"].iter().map(|name| ids.intern(name)).collect();
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(ids.name(1), "a");
        assert_eq!(ids.get("c"), None);
        assert_eq!(ids.len(), 2);
    }
}

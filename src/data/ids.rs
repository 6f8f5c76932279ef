//! Names as small numbers: each distinct name gets the next number, from 0.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use unicode_normalization::UnicodeNormalization;

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

    /// The same names in ascending order (by code points), and the new number of each old one.
    ///
    /// Numbers by first appearance depend on the order of the rows; these do not.
    pub fn sorted(self) -> (Self, Vec<u32>) {
        if self.names.is_sorted() {
            let same = (0..).take(self.names.len()).collect();
            return (self, same);
        }
        let mut order: Vec<u32> = (0..).take(self.names.len()).collect();
        order.sort_unstable_by(|&a, &b| self.name(a).cmp(self.name(b)));
        let mut new = vec![0; order.len()];
        let mut sorted = Self { hasher: self.hasher.clone(), ..Self::default() };
        for (number, &old) in (0..).zip(&order) {
            new[old as usize] = number;
            sorted.intern(self.name(old));
        }
        (sorted, new)
    }

    /// Names that differ only in case, width, white space inside, another form of the same letters, or
    /// in zeros that a spreadsheet drops or adds to a number: groups of two or more, in the order of
    /// their first members.
    pub fn look_alikes(&self) -> Vec<Vec<&str>> {
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (number, name) in (0..).zip(&self.names) {
            groups.entry(same_to_people(name)).or_default().push(number);
        }
        let mut groups: Vec<Vec<u32>> =
            groups.into_values().filter(|group| group.len() > 1).collect();
        groups.sort();
        let names = |group: Vec<u32>| group.into_iter().map(|number| self.name(number)).collect();
        groups.into_iter().map(names).collect()
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

/// What names that look alike have in common.
pub fn alike(name: &str) -> String {
    if name.is_ascii() {
        return name.split_ascii_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    }
    let folded: String = name.nfkc().flat_map(char::to_lowercase).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ").nfkc().collect()
}

/// What names have in common that people take for one: see [`Ids::look_alikes`].
pub(super) fn same_to_people(name: &str) -> String {
    without_zeros(alike(name))
}

/// `7` for `007`, `7.0` and `7.`; another name as it is.
fn without_zeros(name: String) -> String {
    let (whole, rest) = name.split_once('.').unwrap_or((&name, ""));
    let digits = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || rest.bytes().any(|byte| byte != b'0') {
        return name;
    }
    match whole.trim_start_matches('0') {
        "" => "0".into(),
        number => number.into(),
    }
}

impl<S: AsRef<str>> FromIterator<S> for Ids {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut ids = Self::new();
        for name in names {
            ids.intern(name.as_ref());
        }
        ids
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

    #[test]
    fn sorted_names_keep_their_owners() {
        let ids: Ids = ["b", "c", "a"].iter().collect();
        let (sorted, new) = ids.clone().sorted();
        assert_eq!(sorted.names(), ["a", "b", "c"]);
        for (old, name) in ids.names().iter().enumerate() {
            assert_eq!(sorted.name(new[old]), name);
            assert_eq!(sorted.get(name), Some(new[old]));
        }
        assert_eq!(sorted.clone().sorted(), (sorted, vec![0, 1, 2]));
    }

    #[test]
    fn names_alike_are_those_that_people_take_for_one() {
        let names = ["Ada", "ada", "Ａｄａ", "adam", "Zoe\u{308}", "zoë", "a  b", "A b", "1", "１"];
        let ids: Ids = names.iter().collect();
        assert_eq!(
            ids.look_alikes(),
            [
                vec!["Ada", "ada", "Ａｄａ"],
                vec!["Zoe\u{308}", "zoë"],
                vec!["a  b", "A b"],
                vec!["1", "１"]
            ]
        );
        let numbers = ["7", "007", "7.0", "7.5", "7.50", "00", "0", "v7", "v07", "7.0.0", ".0", ""];
        let ids: Ids = numbers.iter().collect();
        assert_eq!(ids.look_alikes(), [vec!["7", "007", "7.0"], vec!["00", "0"]]);
        assert!(Ids::new().look_alikes().is_empty());
    }
}

//! Names as small numbers: each distinct name gets the next number, from 0.

use std::cmp::Ordering::Equal;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::words::{folded, is_plain};

/// A list of distinct names in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    names: Vec<String>,
    /// Numbers by the hash of their name; the names themselves are stored once.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// The name that was found last, and how far it was from the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    id: u32,
    step: u32,
}

impl Place {
    /// Names farther than this are in another order; a look at them takes longer than the index.
    const NEAR: u32 = 64;
    /// Names that are looked at before the index is: where every second task has a Z, it is nearly always one of them.
    const LOOKED_AT: u32 = 8;
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

    /// Names that are all different.
    pub(super) fn of_distinct(names: Vec<String>) -> Self {
        let mut ids = Self { names, index: HashTable::new(), ..Self::default() };
        let (names, hasher) = (&ids.names, &ids.hasher);
        let hash = |&id: &u32| hasher.hash_one(names[id as usize].as_str());
        ids.index.reserve(names.len(), hash);
        for id in (0..).take(names.len()) {
            ids.index.insert_unique(hash(&id), id, hash);
        }
        ids
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

    /// The same of one name after another: in files of the same tasks the next name is often as far on as
    /// the last one was, or among the next few.
    pub(super) fn get_after(&self, name: &str, last: &mut Place) -> Option<u32> {
        let is_here = |id: &u32| self.names.get(*id as usize).is_some_and(|known| known == name);
        let guess = last.id.wrapping_add(last.step);
        let near = if last.step <= Place::NEAR { Place::LOOKED_AT } else { 0 };
        let next = (1..=near).map(|step| last.id.wrapping_add(step));
        let found = std::iter::once(guess).filter(|_| near > 0).chain(next).find(is_here);
        let id = if let Some(id) = found { id } else { self.get(name)? };
        *last = Place { id, step: id.wrapping_sub(last.id) };
        Some(id)
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
    pub(crate) fn sorted(mut self) -> (Self, Vec<u32>) {
        if self.names.par_windows(2).all(|pair| pair[0] <= pair[1]) {
            let same = (0..).take(self.names.len()).collect();
            return (self, same);
        }
        let order = ascending(&self.names);
        let mut new = vec![0; order.len()];
        for (number, &old) in (0..).zip(&order) {
            new[old as usize] = number;
        }
        self.names =
            order.iter().map(|&old| std::mem::take(&mut self.names[old as usize])).collect();
        self.index.iter_mut().for_each(|id| *id = new[*id as usize]);
        (self, new)
    }

    /// Names that differ only in case, width, white space inside, another form of the same letters, or
    /// in zeros that a spreadsheet drops or adds to a number: groups of two or more, in the order of
    /// their first members.
    pub(crate) fn look_alikes(&self) -> Vec<Vec<&str>> {
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        // Of names that are as people would write them no two are alike.
        let numbers = 0..u32::try_from(self.names.len()).expect("fewer than 2^32 names");
        let odd = numbers.into_par_iter().filter(|&number| !is_as_written(self.name(number)));
        for number in odd.collect::<Vec<u32>>() {
            groups.entry(same_to_people(self.name(number))).or_default().push(number);
        }
        for (name, group) in &mut groups {
            group.extend(self.get(name).filter(|_| is_as_written(name)));
            group.sort_unstable();
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

/// The places of names in ascending order (by code points); equal ones in any order.
pub(super) fn ascending<T: AsRef<[u8]> + Sync>(names: &[T]) -> Vec<u32> {
    keys_in_order(names).into_iter().map(|(_, place)| place).collect()
}

/// The same with a key of each: names with another key differ, and equal keys are of equal names if they are
/// [`whole`], so that few pairs need a look at the names.
pub(super) fn keys_in_order<T: AsRef<[u8]> + Sync>(names: &[T]) -> Vec<(u64, u32)> {
    let Some(first) = names.first().map(AsRef::as_ref) else { return Vec::new() };
    let common = |name: &T| first.iter().zip(name.as_ref()).take_while(|(a, b)| a == b).count();
    let common = names.par_iter().map(common).min().unwrap_or(0);
    let rest = |place: u32| &names[place as usize].as_ref()[common..];
    // Seven bytes after those that all have in common, then how many there are: of those that start alike the
    // shortest is first.
    let key = |place: u32| {
        let (mut bytes, rest) = ([0; 8], rest(place));
        bytes[..7].iter_mut().zip(rest).for_each(|(byte, of_name)| *byte = *of_name);
        bytes[7] = u8::try_from(rest.len()).map_or(LONGER, |length| length.min(LONGER));
        (u64::from_be_bytes(bytes), place)
    };
    let places = 0..u32::try_from(names.len()).expect("fewer than 2^32 names");
    let mut keys: Vec<(u64, u32)> = places.into_par_iter().map(key).collect();
    keys.par_sort_unstable_by(|a, b| {
        let rests = || if whole(a.0) { Equal } else { rest(a.1).cmp(rest(b.1)) };
        a.0.cmp(&b.0).then_with(rests)
    });
    keys
}

/// The last byte of a key that has not all of its name.
const LONGER: u8 = 8;

/// Whether a key of [`keys_in_order`] tells its name from all others.
pub(super) fn whole(key: u64) -> bool {
    key.to_be_bytes()[7] < LONGER
}

/// What names that look alike have in common.
pub fn alike(name: &str) -> String {
    let is_blank = |c: char| c.is_ascii_whitespace();
    if name.split(is_blank).all(is_plain) {
        return name.split_ascii_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    }
    folded(name).split_whitespace().collect::<Vec<_>>().join(" ").nfkc().collect()
}

/// What names have in common that people take for one: see [`Ids::look_alikes`].
pub(crate) fn same_to_people(name: &str) -> String {
    without_zeros(alike(name))
}

/// Whether a name is certainly the one that [`same_to_people`] gives for all that look like it.
pub(super) fn is_as_written(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && byte != b'.';
    let is_padded = || {
        name.len() > 1 && name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    name.bytes().all(is_plain) && !is_padded()
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

    proptest::proptest! {
        #[test]
        fn names_are_sorted_by_their_bytes(
            names in proptest::collection::vec("(task )?[a-cé\0]{0,11}", 0..30),
        ) {
            let ids: Ids = names.iter().collect();
            let mut want = ids.names().to_vec();
            want.sort();
            let (sorted, new) = ids.clone().sorted();
            proptest::prop_assert_eq!(sorted.names(), &want[..]);
            for (old, name) in ids.names().iter().enumerate() {
                proptest::prop_assert_eq!(sorted.get(name), Some(new[old]));
            }
            let mut last = Place::default();
            for name in names.iter().chain(&want) {
                proptest::prop_assert_eq!(sorted.get_after(name, &mut last), sorted.get(name));
                proptest::prop_assert_eq!(sorted.get_after("none", &mut last), None);
            }
            let order = ascending(&names);
            let in_order: Vec<&String> = order.iter().map(|&place| &names[place as usize]).collect();
            proptest::prop_assert!(in_order.is_sorted());
            proptest::prop_assert!(in_order.len() == names.len());
            for pair in keys_in_order(&names).windows(2) {
                let [a, b] = [pair[0].1, pair[1].1].map(|place| &names[place as usize]);
                let (same_key, tells) = (pair[0].0 == pair[1].0, whole(pair[0].0));
                proptest::prop_assert_eq!(a == b, same_key && (tells || a == b));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn look_alikes_are_the_groups_of_one_form(
            names in proptest::collection::hash_set("[aA0１. 7]{0,3}|0?7(\\.0)?", 0..25),
        ) {
            let ids: Ids = names.iter().collect();
            let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
            for name in ids.names() {
                groups.entry(same_to_people(name)).or_default().push(name);
                proptest::prop_assert!(!is_as_written(name) || same_to_people(name) == *name);
            }
            let mut want: Vec<Vec<&str>> =
                groups.into_values().filter(|group| group.len() > 1).collect();
            want.sort_by_key(|group| ids.get(group[0]));
            proptest::prop_assert_eq!(ids.look_alikes(), want);
        }
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

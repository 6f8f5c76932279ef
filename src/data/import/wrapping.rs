//! Where the rows of a JSON file are: in the one list of objects, whatever it is wrapped in.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The name that a row has in an object of rows: `{"t1": {...}, "t2": {...}}`.
pub(super) const KEY: &str = "key";

/// Keys under which systems wrap the list that matters, beside which there may be other lists.
const WRAPPERS: [&str; 8] =
    ["notes", "reviews", "papers", "data", "results", "records", "items", "rows"];

/// Keys that only a row has that is a whole file, each a set of which a file has all.
const ROWS: [&[&str]; 9] = [
    &["data", "annotations"],
    &["data", "completions"],
    &["fields", "responses"],
    &["user_id", "instance_id_to_label_to_value"],
    &["forum", "content"],
    &["text", "annotations"],
    &["text", "entities"],
    &["text", "spans"],
    &["id", "text", "label"],
];

/// Depth to which lists are looked for.
const DEEPEST: usize = 4;

/// Most keys and lists that are remembered: enough to tell what a file is.
const MOST: usize = 1000;

/// How the rows of a file that begins with `{` are wrapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// The elements of the list under these keys.
    List(Vec<String>),
    /// The values of the object: its keys are the names of the rows.
    Named,
    /// The object is the only row.
    Row,
    /// Several texts of JSON, one after the other.
    Texts,
    /// There are several lists of objects.
    Several(Vec<String>),
    /// The columns are lists, or objects of cells: not rows.
    Columns,
}

/// Looks through a file that begins with `{`, as far as it can be read, if it breaks off: how its rows
/// are wrapped, and the keys of the first object.
pub(super) fn wrapping(bytes: &[u8]) -> (Wrapping, Vec<String>) {
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = Look { found: &mut found, path: &mut Vec::new() }.deserialize(&mut reader);
    if read.is_ok() && reader.end().is_err() {
        // What comes after the first text: another one, or damage.
        let mut texts = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
        texts.next();
        if bytes[texts.byte_offset()..].trim_ascii_start().starts_with(b"{") {
            return (Wrapping::Texts, found.root);
        }
    }
    (found.wrapping(), found.root)
}

/// A list somewhere in the file.
#[derive(Debug)]
struct List {
    path: Vec<String>,
    objects: u64,
    others: u64,
}

/// An object that is a value of the root.
#[derive(Debug, Default)]
struct Inner {
    keys: Vec<String>,
    /// Whether every value is a text, a number or nothing.
    is_flat: bool,
}

#[derive(Debug, Default)]
struct Found {
    lists: Vec<List>,
    root: Vec<String>,
    scalars: usize,
    inner: Vec<Inner>,
}

impl Found {
    fn wrapping(&self) -> Wrapping {
        let has = |key: &str| self.root.iter().any(|other| other == key);
        if ROWS.iter().any(|keys| keys.iter().all(|key| has(key))) {
            return Wrapping::Row;
        }
        let at_root = |list: &&List| list.path.len() == 1;
        let known = |list: &&List| WRAPPERS.contains(&list.path[0].as_str());
        let of_objects: Vec<&List> = self.lists.iter().filter(|list| list.objects > 0).collect();
        if let Some(list) = of_objects.iter().copied().filter(at_root).find(known) {
            return Wrapping::List(list.path.clone());
        }
        if kinds(&self.root) >= 2 && self.scalars > 1 {
            return Wrapping::Row;
        }
        match of_objects.as_slice() {
            [one] => return Wrapping::List(one.path.clone()),
            [] => {}
            several => {
                let all = several.iter().map(|list| list.path.join("."));
                return Wrapping::Several(all.collect());
            }
        }
        // An empty list where systems put theirs.
        if let Some(list) = self.lists.iter().filter(at_root).find(known)
            && list.others == 0
        {
            return Wrapping::List(list.path.clone());
        }
        let lists = self.lists.iter().filter(at_root).count();
        if self.root.len() > 1 && lists == self.root.len() {
            return Wrapping::Columns;
        }
        if self.scalars == 0 && lists == 0 && !self.inner.is_empty() && self.root.len() > 1 {
            let is_number = |key: &String| key.bytes().all(|byte| byte.is_ascii_digit());
            let numbered = self.inner.iter().all(|inner| inner.keys.iter().all(is_number));
            // As pandas writes a table without being asked for rows.
            if numbered && !self.root.iter().all(is_number) && looks_named(&self.root) {
                return Wrapping::Columns;
            }
            let filled = self.inner.iter().filter(|inner| !inner.keys.is_empty());
            if filled.clone().all(|inner| inner.is_flat || looks_named(&inner.keys)) {
                return Wrapping::Named;
            }
        }
        Wrapping::Row
    }
}

/// Words for what a row is about, who gave it, and what was given.
const ABOUT: [&str; 8] =
    ["paper", "submission", "forum", "task", "item", "question", "example", "instance_id"];
const WHO: [&str; 7] =
    ["reviewer", "worker", "annotator", "user", "user_id", "performer", "participant"];
const WHAT: [&str; 7] = ["text", "label", "answer", "review", "rating", "response", "value"];

/// How many of the three a set of keys has.
fn kinds(keys: &[String]) -> usize {
    let has = |words: &[&str]| keys.iter().any(|key| words.contains(&key.to_lowercase().as_str()));
    [has(&ABOUT), has(&WHO), has(&WHAT)].into_iter().filter(|has| *has).count()
}

/// Whether keys are names of columns.
fn looks_named(keys: &[String]) -> bool {
    kinds(keys) >= 1
}

/// Looks through a value, and at what is in it.
struct Look<'a> {
    found: &'a mut Found,
    path: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    /// Whether it is a text, a number or nothing.
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// An element of a list: whether it is an object.
struct Element;

impl<'de> DeserializeSeed<'de> for Element {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($value:expr) => {
        fn visit_unit<E>(self) -> Result<bool, E> {
            Ok($value)
        }

        fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
            Ok($value)
        }

        fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
            Ok($value)
        }

        fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
            Ok($value)
        }

        fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
            Ok($value)
        }

        fn visit_str<E>(self, _: &str) -> Result<bool, E> {
            Ok($value)
        }
    };
}

impl<'de> Visitor<'de> for Element {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    scalars!(false);

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<bool, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<bool, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(true)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    scalars!(true);

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<bool, A::Error> {
        let index = self.found.lists.len();
        if index >= MOST {
            while elements.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(false);
        }
        self.found.lists.push(List { path: self.path.clone(), objects: 0, others: 0 });
        while let Some(is_object) = elements.next_element_seed(Element)? {
            let list = &mut self.found.lists[index];
            *(if is_object { &mut list.objects } else { &mut list.others }) += 1;
        }
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<bool, A::Error> {
        let depth = self.path.len();
        let mut inner = Inner { keys: Vec::new(), is_flat: true };
        while let Some(key) = entries.next_key::<String>()? {
            let remembers =
                if depth == 0 { self.found.root.len() } else { inner.keys.len() } < MOST;
            match depth {
                0 if remembers => self.found.root.push(key.clone()),
                1 if remembers => inner.keys.push(key.clone()),
                _ => {}
            }
            if depth >= DEEPEST || !remembers {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            self.path.push(key);
            let found = &mut *self.found;
            let before = found.lists.len();
            let is_scalar = entries.next_value_seed(Look { found, path: &mut *self.path })?;
            self.path.pop();
            // A set of choices is an answer as good as one.
            let of_names = |list: &List| list.objects == 0;
            let is_set = self.found.lists.len() == before + 1
                && self.found.lists[before].path.len() == depth + 1
                && of_names(&self.found.lists[before]);
            inner.is_flat &= is_scalar || is_set;
            self.found.scalars += usize::from(depth == 0 && is_scalar);
        }
        if depth == 1 && self.found.inner.len() < MOST {
            self.found.inner.push(inner);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Wrapping {
        wrapping(text.as_bytes()).0
    }

    fn list(path: &str) -> Wrapping {
        Wrapping::List(path.split('.').map(str::to_owned).collect())
    }

    #[test]
    fn the_one_list_of_objects_is_the_rows_whatever_the_key() {
        assert_eq!(of(r#"{"anything":[{"id":1}],"n":[1,2]}"#), list("anything"));
        assert_eq!(of(r#"{"details":{"replies":[{"id":1}]},"count":1}"#), list("details.replies"));
        assert_eq!(of(r#"{"notes":[{"id":1}],"tags":[{"a":1}]}"#), list("notes"));
        assert_eq!(of(r#"{"notes":[],"count":0}"#), list("notes"));
        let several = Wrapping::Several(vec!["a".into(), "b.c".into()]);
        assert_eq!(of(r#"{"a":[{"x":1}],"b":{"c":[{"y":1}]}}"#), several);
        // One that breaks off is told by what is there.
        assert_eq!(of(r#"{"rows_of_it":[{"id":1},{"i"#), list("rows_of_it"));
    }

    #[test]
    fn a_row_with_a_list_in_it_is_a_row() {
        for row in [
            r#"{"id":1,"data":{"text":"x"},"annotations":[{"id":1}]}"#,
            r#"{"paper":1,"reviewer":"a","text":"x","tags":[{"a":1}]}"#,
            r#"{"forum":"p","content":{},"details":{"replies":[{"id":1}]}}"#,
            r#"{"a":1,"b":"x"}"#,
        ] {
            assert_eq!(of(row), Wrapping::Row, "{row}");
        }
    }

    #[test]
    fn objects_of_rows_are_told_from_objects_of_columns() {
        assert_eq!(of(r#"{"w1":{"t1":"x"},"w2":{"t1":"y","t2":null}}"#), Wrapping::Named);
        let rows = r#"{"1":{"task":1,"worker":"a","label":["x"]},"2":{"task":1,"worker":"b"}}"#;
        assert_eq!(of(rows), Wrapping::Named);
        assert_eq!(of(r#"{"w1":{"t1":["x"]},"w2":{"t1":["y","x"],"t2":"z"}}"#), Wrapping::Named);
        assert_eq!(of(r#"{"task":{"0":"a"},"worker":{"0":"b"}}"#), Wrapping::Columns);
        assert_eq!(of(r#"{"task":["a"],"worker":["b"]}"#), Wrapping::Columns);
        assert_eq!(of("{\"a\":1}\n\n{\n\"a\":2}"), Wrapping::Texts);
    }
}

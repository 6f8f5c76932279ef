//! JSON values that cannot grow to many times the file they stand in.
//!
//! `[0,0,...]` has two bytes for a number and sixteen times as many in memory. An element of a list
//! is in memory as a whole, so that its parts are counted, and an element of too many is refused.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How many parts a value may still have.
pub(super) struct Budget {
    left: Cell<usize>,
    most: usize,
}

/// Parts that are harmless in a file of any size: two megabytes.
const HARMLESS: usize = 1 << 16;

/// Bytes of a part in memory.
const PART: usize = 32;

/// Bytes in memory for every byte of the file, beside the texts themselves.
const TIMES: usize = 5;

impl Budget {
    /// For every element of a file of so many bytes.
    pub(super) fn of(bytes: usize) -> Self {
        let most = HARMLESS + bytes / PART * TIMES;
        Self { left: Cell::new(most), most }
    }

    /// For the next element.
    pub(super) fn renew(&self) {
        self.left.set(self.most);
    }

    fn take<E: Error>(&self, parts: usize) -> Result<(), E> {
        match self.left.get().checked_sub(parts) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(E::custom("one element has too many parts to be a row")),
        }
    }
}

/// Reads a value within a budget.
#[derive(Clone, Copy)]
pub(super) struct Bounded<'a>(pub(super) &'a Budget);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            self.0.take(1)?;
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            // The key, its place in the index, and the value.
            self.0.take(4)?;
            object.insert(key, entries.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, budget: &Budget) -> Result<Value, serde_json::Error> {
        Bounded(budget).deserialize(&mut serde_json::Deserializer::from_str(text))
    }

    #[test]
    fn values_are_those_of_serde() {
        let text = r#"{"a":[1,-2,0.5,true,null,"x\n"],"b":{"c":{}},"d":18446744073709551615}"#;
        let budget = Budget::of(text.len());
        assert_eq!(read(text, &budget).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn many_parts_in_few_bytes_are_refused_and_texts_are_not() {
        // 2 MB of zeros would be 32 MB.
        let zeros = format!("[{}0]", "0,".repeat(1 << 20));
        let error = read(&zeros, &Budget::of(zeros.len())).unwrap_err();
        assert!(error.to_string().contains("too many parts"), "{error}");
        let text = format!("[\"{}\"]", "a".repeat(1 << 21));
        assert!(read(&text, &Budget::of(text.len())).is_ok());
    }
}

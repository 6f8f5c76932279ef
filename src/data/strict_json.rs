//! JSON in which no key stands twice.
//!
//! The usual reader keeps the last of two equal keys in silence, so that a mistake in a file would
//! become a result. Numbers are kept as usual: whole ones up to 2^64 exactly, others as doubles.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A JSON value, read strictly.
pub(super) struct StrictValue(pub(super) Value);

/// The value of a JSON text.
///
/// # Errors
///
/// What the reader says: no JSON, or a key that stands twice in one object.
pub(super) fn parse_strictly(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<StrictValue>(text).map(|value| value.0)
}

/// Whether a number may stand for others, too: whole, and too large for a double to tell it from
/// its neighbours.
pub(super) fn is_inexact(number: &Number) -> bool {
    /// From here on, some whole numbers have no double of their own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.is_f64() && number.as_f64().is_some_and(|number| number.abs() >= EXACT)
}

impl<'de> Deserialize<'de> for StrictValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = StrictValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<StrictValue, E> {
        Ok(StrictValue(Value::Null))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<StrictValue, E> {
        Ok(StrictValue(truth.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<StrictValue, E> {
        Ok(StrictValue(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<StrictValue, E> {
        Ok(StrictValue(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<StrictValue, E> {
        Ok(StrictValue(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<StrictValue, E> {
        Ok(StrictValue(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<StrictValue, E> {
        Ok(StrictValue(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StrictValue, A::Error> {
        let mut values = Vec::new();
        while let Some(StrictValue(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(StrictValue(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<StrictValue, A::Error> {
        let mut pairs = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            let StrictValue(value) = object.next_value()?;
            if pairs.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` stands twice")));
            }
            pairs.insert(key, value);
        }
        Ok(StrictValue(Value::Object(pairs)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e300..1e300).prop_map(Value::from),
            "(?s).{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("(?s).{0,4}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_without_repeats_is_read_as_by_the_usual_reader(value in json()) {
            let text = value.to_string();
            prop_assert_eq!(parse_strictly(&text).unwrap(), value);
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_on_every_level() {
        for text in ["{\"a\":1,\"a\":1}", "[{\"b\":{\"a\":1,\"\\u0061\":2}}]"] {
            let error = parse_strictly(text).unwrap_err().to_string();
            assert!(error.starts_with("the key `a` stands twice"), "{error}");
        }
    }

    #[test]
    fn numbers_are_exact_or_known_not_to_be() {
        let inexact = |text: &str| match parse_strictly(text).unwrap() {
            Value::Number(number) => is_inexact(&number),
            _ => unreachable!(),
        };
        for exact in ["0", "-1", "1.5", "9007199254740993", "18446744073709551615", "1e15"] {
            assert!(!inexact(exact), "{exact}");
        }
        for other in ["18446744073709551616", "-9223372036854775809", "1e16", "9007199254740993.0"]
        {
            assert!(inexact(other), "{other}");
        }
    }
}

//! Numbers of a page, with the digits that it shows.

use serde_json::{Value, json};

/// A number with as many digits as are shown, `null` if there is none.
pub(super) fn rounded(value: Option<f64>, decimals: i32) -> Value {
    let scale = 10_f64.powi(decimals);
    // Adding 0 turns -0 into 0.
    value
        .filter(|value| value.is_finite())
        .map_or(Value::Null, |v| json!((v * scale).round() / scale + 0.0))
}

/// Digits of similarities of sentences and reviews.
pub(super) const SIMILARITY_DECIMALS: i32 = 3;

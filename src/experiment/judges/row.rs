//! A row of the result.

/// Columns of the result.
pub(crate) const COLUMNS: [&str; 7] =
    ["method", "metric", "value", "ci_low", "ci_high", "n_items", "n_missing"];

/// A row of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The judge; `None` for what concerns the people.
    pub method: Option<String>,
    /// Name of the metric.
    pub metric: String,
    /// The metric; `None` where undefined.
    pub value: Option<f64>,
    /// 95 % interval, low end first.
    pub interval: Option<(f64, f64)>,
    /// Pairs behind it; verdicts for what is counted by verdict.
    pub items: u64,
    /// Verdicts that are missing.
    pub missing: Option<u64>,
}

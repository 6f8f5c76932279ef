//! What can be chosen.

use serde::{Deserialize, Serialize};

use crate::data::duplicates::Duplicates;
use crate::data::import::ImportSettings;
use crate::data::scale::ScaleChoice;
use crate::metrics::agreement::bootstrap::DRAWS;
use crate::metrics::alternative_annotator::{FALSE_DISCOVERY_RATE, LEAST_ITEMS, LEAST_PEOPLE};

/// Settings of a run; all of them, and the provenance of its result.
///
/// Words such as `gold_by` are read, with serde, as they are written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AgreementSettings {
    /// Which labels there are.
    pub scale: ScaleChoice,
    /// What happens to labels outside the scale.
    pub outside: Outside,
    /// Cut the scale in two: labels of at least this value, or this label and those above it, and the
    /// others.
    pub binarize: Option<Cut>,
    /// What the gold label is where several people give labels.
    pub gold_by: GoldBy,
    /// Which sources are compared with each other.
    pub compare: Compare,
    /// The alternative annotator test.
    pub alt_test: Option<AltTestSettings>,
    /// Bootstrap draws behind every interval.
    pub draws: u32,
    /// Permutations behind every p-value of a comparison.
    pub permutations: u32,
    /// What to do with a second label of a labeller for a task.
    pub duplicates: Duplicates,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
    /// Bounds that have to hold.
    pub require: Vec<Requirement>,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Default for AgreementSettings {
    fn default() -> Self {
        Self {
            scale: ScaleChoice::Auto,
            outside: Outside::Count,
            binarize: None,
            gold_by: GoldBy::Majority,
            compare: Compare::None,
            alt_test: None,
            draws: DRAWS,
            permutations: DRAWS,
            duplicates: Duplicates::Error,
            import: ImportSettings::default(),
            require: Vec::new(),
            seed: 0,
        }
    }
}

/// Where a scale is cut.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cut {
    /// At a number.
    Number(f64),
    /// Below a label of a scale in order.
    Label(String),
}

impl std::str::FromStr for Cut {
    type Err = String;

    /// A finite number, or else the name of a label.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Self::Number(number)),
            Ok(_) => Err("must be a finite number or a label".into()),
            Err(_) if text.is_empty() => Err("must be a number or a label".into()),
            Err(_) => Ok(Self::Label(text.into())),
        }
    }
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Label(label) => f.write_str(label),
        }
    }
}

/// What happens to labels outside the scale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// They count as missing.
    #[default]
    Count,
    /// They are an error.
    Refuse,
}

/// What the gold label is where several people give labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum GoldBy {
    /// What most of them say; no gold where several labels tie.
    #[default]
    Majority,
    /// The mean of their numbers.
    Mean,
    /// The middle one of their numbers.
    Median,
    /// Each of them in turn.
    Each,
    /// The majority without one of them, in turn, who is measured as well.
    LeaveOneOut,
}

/// Which sources are compared with each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// None.
    #[default]
    None,
    /// All pairs.
    All,
    /// These pairs.
    Pairs(Vec<(String, String)>),
}

/// How close two labels are in the alternative annotator test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Closeness {
    /// Whether they are equal.
    #[default]
    Match,
    /// How far apart they are: root mean square, of labels that are numbers.
    Distance,
}

/// Settings of the alternative annotator test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AltTestSettings {
    /// How close two labels are.
    pub closeness: Closeness,
    /// What an LLM may be worse for being cheaper.
    pub epsilon: f64,
    /// Items that a person needs.
    pub least_items: usize,
    /// People that an item needs, the one who is compared among them.
    pub min_people: usize,
    /// False discovery rate over the people.
    pub false_discovery_rate: f64,
}

impl Default for AltTestSettings {
    fn default() -> Self {
        Self {
            closeness: Closeness::Match,
            epsilon: 0.2,
            least_items: LEAST_ITEMS,
            min_people: LEAST_PEOPLE,
            false_discovery_rate: FALSE_DISCOVERY_RATE,
        }
    }
}

/// A bound on every row of a metric, such as `kappa>=0.6`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Requirement {
    /// Name of the metric as in the result.
    pub metric: String,
    /// How the value has to compare.
    pub relation: Relation,
    /// With what.
    pub bound: f64,
}

/// How a value has to compare with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Relation {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
    /// `>`
    #[serde(rename = ">")]
    Above,
    /// `<`
    #[serde(rename = "<")]
    Below,
}

impl Relation {
    /// All, the longer signs first.
    const ALL: [(Self, &'static str); 4] =
        [(Self::AtLeast, ">="), (Self::AtMost, "<="), (Self::Above, ">"), (Self::Below, "<")];

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(relation, _)| *relation == self).map_or("", |(_, sign)| sign)
    }
}

impl Requirement {
    /// Whether a value keeps the bound; an undefined one does not.
    pub(crate) fn holds(&self, value: Option<f64>) -> bool {
        value.is_some_and(|value| match self.relation {
            Relation::AtLeast => value >= self.bound,
            Relation::AtMost => value <= self.bound,
            Relation::Above => value > self.bound,
            Relation::Below => value < self.bound,
        })
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}{}", self.metric, self.relation.sign(), self.bound)
    }
}

impl std::str::FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The last sign: names of labels, and so of metrics, may hold one.
        let found = Relation::ALL
            .iter()
            .filter_map(|&(relation, sign)| Some((text.rfind(sign)?, relation, sign)))
            .max_by_key(|&(at, _, sign)| (at + sign.len(), sign.len()));
        let parsed = found.and_then(|(at, relation, sign)| {
            let bound: f64 = text[at + sign.len()..].trim().parse().ok()?;
            let metric = text[..at].trim();
            let usable = bound.is_finite() && !metric.is_empty();
            usable.then(|| Self { metric: metric.to_owned(), relation, bound })
        });
        parsed.ok_or_else(|| format!("`{text}` is no bound such as `kappa>=0.6`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_and_kept() {
        let parsed: Requirement = "change:kappa >= -0.02".parse().unwrap();
        assert_eq!((parsed.metric.as_str(), parsed.bound), ("change:kappa", -0.02));
        assert_eq!(parsed.to_string(), "change:kappa>=-0.02");
        assert!(parsed.holds(Some(-0.02)) && !parsed.holds(Some(-0.03)) && !parsed.holds(None));
        let parsed: Requirement = "recall:>=2<0.5".parse().unwrap();
        assert_eq!((parsed.metric.as_str(), parsed.relation), ("recall:>=2", Relation::Below));
        for bad in ["kappa", "kappa>=", ">=1", "kappa>=nan"] {
            assert!(bad.parse::<Requirement>().is_err(), "{bad}");
        }
    }
}

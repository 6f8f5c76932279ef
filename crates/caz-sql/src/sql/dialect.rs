//! What engines write differently.

use std::fmt;
use std::str::FromStr;

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `DuckDB`.
    DuckDb,
    /// Spark SQL, 3.2 or later.
    Spark,
    /// The standard, for everything else.
    Ansi,
}

impl Dialect {
    /// All of them.
    pub const EACH: [Self; 3] = [Self::DuckDb, Self::Spark, Self::Ansi];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DuckDb => "duckdb",
            Self::Spark => "spark",
            Self::Ansi => "ansi",
        }
    }

    /// The type of a floating point number of 8 bytes.
    pub(super) fn float(self) -> &'static str {
        match self {
            Self::DuckDb | Self::Spark => "DOUBLE",
            Self::Ansi => "DOUBLE PRECISION",
        }
    }

    /// A column as text.
    pub(super) fn text(self, column: &str) -> String {
        match self {
            Self::DuckDb => format!("CAST({column} AS VARCHAR)"),
            Self::Spark => format!("CAST({column} AS STRING)"),
            Self::Ansi => column.to_owned(),
        }
    }

    /// A name of a column as it stands in a file.
    pub(crate) fn identifier(self, name: &str) -> String {
        match self {
            Self::Spark => format!("`{}`", name.replace('`', "``")),
            Self::DuckDb | Self::Ansi => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// The order of samples: numbers by their value, then other names.
    pub(super) fn order_of_samples(self) -> &'static str {
        match self {
            Self::DuckDb | Self::Spark => "TRY_CAST(sample AS BIGINT) NULLS LAST, sample",
            // Right for whole numbers without leading zeros.
            Self::Ansi => "CHAR_LENGTH(sample), sample",
        }
    }

    /// What stands before the query of a relation.
    pub(super) fn create(self, name: &str, kept: bool) -> String {
        match (self, kept) {
            (Self::DuckDb, true) => format!("CREATE OR REPLACE TEMPORARY TABLE {name} AS"),
            // A cached relation would carry the plans of all before it.
            (Self::Spark, true) => {
                format!("DROP TABLE IF EXISTS {name};\nCREATE TABLE {name} USING parquet AS")
            }
            (Self::DuckDb | Self::Spark, false) => {
                format!("CREATE OR REPLACE TEMPORARY VIEW {name} AS")
            }
            (Self::Ansi, true) => format!("CREATE TABLE {name} AS"),
            (Self::Ansi, false) => format!("CREATE VIEW {name} AS"),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no dialect has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no dialect `{0}`; there are: duckdb, spark, ansi")]
pub struct UnknownDialect(String);

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        let found = Self::EACH.into_iter().find(|dialect| dialect.as_str() == text);
        found.ok_or_else(|| UnknownDialect(text.to_owned()))
    }
}

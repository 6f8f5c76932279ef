//! Figures as SVG: plain text, no script, no font to load.
//!
//! Figures are made to be read in black and white: lines differ in dash and marker as well as in
//! colour, and carry their name at their end instead of in a legend. Numbers that are missing
//! are left out, never drawn as 0. Every figure has a title and a description in words. The same
//! data give the same bytes.

mod axis;
mod bars;
mod canvas;
mod distributions;
mod histogram;
mod lines;
mod matrix;
mod points;
mod scatter;

pub use self::bars::{Bar, BarChart};
pub use self::distributions::{DistributionChart, Kind};
pub use self::histogram::Histogram;
pub use self::lines::{Line, LineChart, LinePoint};
pub use self::matrix::MatrixChart;
pub use self::points::{NamedPoint, PointChart};
pub use self::scatter::{ScatterChart, ScatterCloud, ScatterPoint};

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

pub(crate) use self::bars::{Bar, BarChart};
pub(crate) use self::distributions::{DistributionChart, Kind};
pub(crate) use self::histogram::Histogram;
pub(crate) use self::lines::{Line, LineChart, LinePoint};
pub(crate) use self::matrix::MatrixChart;
pub(crate) use self::points::{NamedPoint, PointChart};
pub(crate) use self::scatter::{ScatterChart, ScatterCloud, ScatterPoint};

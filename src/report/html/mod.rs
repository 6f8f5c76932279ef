//! The report as one HTML file: no network, no framework, opened from a disk.
//!
//! A [`Page`] says what is shown beside the [`Report`](crate::report::Report) itself: how to read
//! it, people with their scores and the evidence for each, figures. Markup, style and script are
//! files in `templates/`.
//!
//! Everything shown may come from strangers. Templates escape every value; the script gets its
//! data as JSON in a block that is never run, with every character escaped that could end it, and
//! puts them into the page as text only; a Content-Security-Policy in the file lets the browser run
//! this one script and load nothing.
//!
//! The evidence of a person is one line of the last block of the file and read only when somebody
//! opens it, so that a file of many megabytes is shown at once.

mod embedded;
mod model;
mod people;
mod render;

pub use self::model::{
    Confusion, Details, LabelDetail, LabelDetails, Measure, Page, People, PersonRow, ReviewDetail,
    ReviewDetails, ReviewText, ShownPeer, ShownSentence, View,
};
pub use self::people::{PeopleColumns, views_of};
pub use self::render::HtmlExporter;

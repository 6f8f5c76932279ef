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
//! The evidence of a person is one line of the block `details`, the texts about a paper one line of
//! the block `texts`; both stand at the end of the file and are read only when somebody opens them,
//! so that a file of many megabytes is shown at once.
//!
//! What a reader marks and notes stays in the browser, under a name that is the hash of the
//! results; the page can save it as a file and read it again.

mod digits;
mod embedded;
mod label_details;
pub(crate) mod model;
mod people;
pub(crate) mod render;
pub(crate) mod review_details;
mod script;

pub(crate) use self::label_details::{LabelDetail, LabelDetails, ShownConfusion, ShownTask};
pub(crate) use self::model::{
    Details, First, FirstPerson, Measure, Page, People, PersonRow, Section, SectionCell,
    SentencePair, ShownTable, Values, View,
};
pub(crate) use self::render::HtmlExporter;
pub(crate) use self::review_details::{
    Author, ReviewDetail, ReviewDetails, ReviewText, Shade, ShownAspects, ShownPeer, ShownReview,
    ShownSentence, ShownText, TextSentence, key_of,
};

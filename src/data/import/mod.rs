//! Files as other systems write them, turned into caz's own rows. One file per format, each behind
//! `Importer`.
//!
//! A file is looked at (`peek`): its first bytes, the shape of its root, a required pair of keys or
//! its header; never its ending. What is in caz's own form passes as it is. Everything else becomes
//! JSON lines under caz's names, which the ordinary readers read, so that every rule about rows
//! stands in one place.
//!
//! What an LLM wrote inside an export goes to Z as a source of its own, never to the peers. What is
//! left out is counted by reason.

mod appen;
mod argilla;
mod bounded;
mod catalogue;
pub(crate) mod charset;
mod cmt;
mod confidential;
mod doccano;
mod easychair;
mod elements;
mod error;
mod forms;
mod hotcrp_csv;
mod hotcrp_form;
mod hotcrp_json;
mod importer;
mod label_studio;
mod mturk;
mod note;
mod opener;
mod openreview;
mod output;
mod peek;
mod peerread;
mod people;
mod potato;
mod prodigy;
mod prolific;
mod reading;
mod records;
mod refused;
mod schema;
mod settings;
mod surveys;
mod table;
mod text_fields;
mod toloka;
mod wanted;
mod wide;
mod wrapping;
mod zooniverse;

#[cfg(test)]
mod tests;

pub(crate) use self::catalogue::formats;
pub(crate) use self::error::ImportError;
pub(crate) use self::note::Imports;
pub(crate) use self::opener::{Opener, left_out};
pub(crate) use self::people::read_people;
pub(crate) use self::prolific::Submissions;
pub(crate) use self::reading::{Imported, guessed, has_rows, imported, taken};
pub(crate) use self::settings::{ImportSettings, Wanted, Wide};

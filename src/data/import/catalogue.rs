//! Every foreign format.

use super::appen::Appen;
use super::argilla::Argilla;
use super::cmt::Cmt;
use super::doccano::Doccano;
use super::easychair::EasyChair;
use super::error::ImportError;
use super::hotcrp_csv::{HotCrpBatch, HotCrpCsv};
use super::hotcrp_form::HotCrpForm;
use super::hotcrp_json::{HotCrpJson, HotCrpRqc};
use super::importer::Importer;
use super::label_studio::{LabelStudio, LabelStudioTable};
use super::mturk::MTurk;
use super::openreview::OpenReview;
use super::peek::Peek;
use super::peerread::PeerRead;
use super::potato::Potato;
use super::prodigy::Prodigy;
use super::surveys;
use super::table::Any;
use super::toloka::Toloka;
use super::wide::WideTable;
use super::zooniverse::Zooniverse;

/// Every format, the more particular before the more general.
pub(super) const IMPORTERS: [&dyn Importer; 26] = [
    &OpenReview,
    &HotCrpRqc,
    &HotCrpJson,
    &HotCrpForm,
    &HotCrpBatch,
    &HotCrpCsv,
    &EasyChair,
    &Cmt,
    &LabelStudio,
    &LabelStudioTable,
    &Prodigy,
    &Doccano,
    &Argilla,
    &Potato,
    &MTurk,
    &Toloka,
    &Appen,
    &Zooniverse,
    &surveys::QUALTRICS,
    &surveys::LIME_SURVEY,
    &surveys::SURVEY_MONKEY,
    &surveys::GOOGLE_FORMS,
    &PeerRead,
    &WideTable,
    &Any::Table,
    &Any::Json,
];

/// The formats that are any table or JSON, by the names of columns.
pub(super) const GENERAL: [&str; 2] = ["table", "json"];

/// Whether a format is any table or JSON.
pub(super) fn is_general(format: &str) -> bool {
    GENERAL.contains(&format)
}

/// Names of all formats.
pub(crate) fn formats() -> Vec<&'static str> {
    IMPORTERS.iter().map(|importer| importer.name()).collect()
}

/// The format of this name.
pub(super) fn named(name: &str) -> Result<&'static dyn Importer, ImportError> {
    IMPORTERS.into_iter().find(|importer| importer.name() == name).ok_or_else(|| {
        ImportError::UnknownFormat { name: name.to_owned(), known: formats().join(", ") }
    })
}

/// The first format that a file certainly is of.
pub(super) fn found(
    peek: &Peek<'_>,
    gives: impl Fn(&dyn Importer) -> bool,
) -> Option<&'static dyn Importer> {
    IMPORTERS.into_iter().find(|importer| gives(*importer) && importer.detect(peek))
}

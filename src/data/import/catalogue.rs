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
use super::settings::Wanted;
use super::surveys;
use super::table::Any;
use super::toloka::Toloka;
use super::wide::WideTable;
use super::zooniverse::Zooniverse;

/// A foreign format.
pub(super) struct ForeignFormat {
    /// The name by which a user asks for it.
    pub(super) name: &'static str,
    /// What its files give beside reviews and labels.
    beside: Option<Wanted>,
    /// What reads it.
    pub(super) importer: &'static dyn Importer,
}

impl ForeignFormat {
    const fn new(name: &'static str, importer: &'static dyn Importer) -> Self {
        Self { name, beside: None, importer }
    }

    const fn with(self, beside: Wanted) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// Whether its files give such rows.
    pub(super) fn gives(&self, wanted: Wanted) -> bool {
        is_general(self.name)
            || wanted.is_reviews()
            || wanted.is_labels()
            || self.beside == Some(wanted)
    }
}

/// Every format, the more particular before the more general.
pub(super) static FORMATS: [ForeignFormat; 26] = [
    ForeignFormat::new("openreview", &OpenReview).with(Wanted::Papers),
    ForeignFormat::new("hotcrp-rqc", &HotCrpRqc).with(Wanted::Papers),
    ForeignFormat::new("hotcrp-json", &HotCrpJson).with(Wanted::Papers),
    ForeignFormat::new("hotcrp-form", &HotCrpForm),
    ForeignFormat::new("hotcrp-batch", &HotCrpBatch),
    ForeignFormat::new("hotcrp-csv", &HotCrpCsv),
    ForeignFormat::new("easychair", &EasyChair),
    ForeignFormat::new("cmt", &Cmt),
    ForeignFormat::new("label-studio", &LabelStudio).with(Wanted::Items),
    ForeignFormat::new("label-studio-min", &LabelStudioTable),
    ForeignFormat::new("prodigy", &Prodigy).with(Wanted::Items),
    ForeignFormat::new("doccano", &Doccano).with(Wanted::Items),
    ForeignFormat::new("argilla", &Argilla).with(Wanted::Items),
    ForeignFormat::new("potato", &Potato),
    ForeignFormat::new("mturk", &MTurk).with(Wanted::Items),
    ForeignFormat::new("toloka", &Toloka).with(Wanted::Items),
    ForeignFormat::new("appen", &Appen),
    ForeignFormat::new("zooniverse", &Zooniverse),
    ForeignFormat::new(surveys::QUALTRICS.name, &surveys::QUALTRICS),
    ForeignFormat::new(surveys::LIME_SURVEY.name, &surveys::LIME_SURVEY),
    ForeignFormat::new(surveys::SURVEY_MONKEY.name, &surveys::SURVEY_MONKEY),
    ForeignFormat::new(surveys::GOOGLE_FORMS.name, &surveys::GOOGLE_FORMS),
    ForeignFormat::new("peerread", &PeerRead),
    ForeignFormat::new("wide", &WideTable),
    ForeignFormat::new("table", &Any::Table),
    ForeignFormat::new("json", &Any::Json),
];

/// The formats that are any table or JSON, by the names of columns.
pub(super) const GENERAL: [&str; 2] = ["table", "json"];

/// Whether a format is any table or JSON.
pub(super) fn is_general(format: &str) -> bool {
    GENERAL.contains(&format)
}

/// Names of all formats.
pub(crate) fn formats() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

/// The format of this name.
pub(super) fn named(name: &str) -> Result<&'static ForeignFormat, ImportError> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| ImportError::UnknownFormat {
        name: name.to_owned(),
        known: formats().join(", "),
    })
}

/// The first format that a file certainly is of.
pub(super) fn found(peek: &Peek<'_>, wanted: Option<Wanted>) -> Option<&'static ForeignFormat> {
    let gives = |format: &&ForeignFormat| wanted.is_none_or(|wanted| format.gives(wanted));
    FORMATS.iter().filter(gives).find(|format| format.importer.detect(peek))
}

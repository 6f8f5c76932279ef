//! Vectors of texts, to be kept and read again.

pub(crate) mod written;

pub(crate) use self::written::VectorFormat;

use std::io::{self, Write};

use serde_json::{Map, Value};

use crate::data::content::Content;
use crate::data::import::Imports;
use crate::data::input::Input;
use crate::data::near::quotable;
use crate::data::observer::Observer;
use crate::data::source::Source;
use crate::data::texts::{ID_COLUMNS, Text, read_texts};
use crate::data::warning::{Warning, first_names};
use crate::embed::catalogue::{Embedded, ModelSource, embed_contents, naming};
use crate::embed::settings::{EmbedderSettings, Granularity};
use crate::embed::vectors::Vectors;
use crate::error::Result;
use crate::report::settings_map;

/// Embeds the texts of a table with a column `text`; the identifiers that it has are handed through.
///
/// # Errors
///
/// With every row that has no text; what the embedder reports; an error of kind
/// [`Interrupted`](crate::error::ErrorKind::Interrupted) if the observer asks to stop.
pub fn vectors(
    source: &Source,
    settings: &EmbedderSettings,
    models: &dyn ModelSource,
    observer: &dyn Observer,
) -> Result<VectorsRun> {
    settings.check_embeds()?;
    let texts = read_texts(source)?;
    let input = Input::new(source, texts.len() as u64);
    let of_text = |text: &Text| Content { text: Some(text.text.clone()), ..Content::default() };
    let contents: Vec<Content> = texts.iter().map(of_text).collect();
    let contents: Vec<&Content> = contents.iter().collect();
    let unit = Granularity::Text;
    let mut embedded = embed_contents(&contents, settings, unit, models, observer, None)
        .map_err(|error| naming(error, |place| name_of(texts.get(place)?)))?;
    embedded.warnings.extend(zeros(&texts, &embedded));
    Ok(VectorsRun { texts, embedded, input, imports: Imports::default() })
}

/// What a text is called, by the columns that identify it; `None` without any.
fn name_of(text: &Text) -> Option<String> {
    let ids = ID_COLUMNS.iter().zip(&text.ids);
    let ids = ids.filter_map(|(column, id)| Some(format!("{column} {}", quotable(id.as_deref()?))));
    Some(ids.collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty())
}

/// Says which texts have a vector without a direction.
fn zeros(texts: &[Text], embedded: &Embedded) -> Option<Warning> {
    let name =
        |&place: &usize| name_of(&texts[place]).unwrap_or_else(|| format!("text {}", place + 1));
    let names: Vec<String> = embedded.zeros.iter().map(name).collect();
    (!names.is_empty()).then(|| {
        let message = format!(
            "{} of {} texts have a vector of zeros{}, which is like no other: {}",
            names.len(),
            texts.len(),
            embedded.why_zero(),
            first_names(&names)
        );
        Warning::new("zero_vectors", names.len(), message)
    })
}

/// Texts with their vectors.
#[derive(Debug, Clone)]
pub struct VectorsRun {
    texts: Vec<Text>,
    embedded: Embedded,
    input: Input,
    imports: Imports,
}

impl VectorsRun {
    /// The same, for a file that was read so.
    #[must_use]
    pub(crate) fn with_imports(self, imports: Imports) -> Self {
        Self { imports, ..self }
    }

    /// The texts, in the order of the input.
    pub fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// One row per text.
    pub fn vectors(&self) -> &Vectors {
        &self.embedded.vectors
    }

    /// What the numbers of a row are called, in order, if they have names.
    pub(crate) fn dimensions(&self) -> Option<&[String]> {
        self.embedded.dimensions.as_deref()
    }

    /// What was read.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// Every setting that decides the vectors, with what was chosen where nothing was.
    pub fn settings(&self) -> Map<String, Value> {
        let mut settings = self.embedded.settings.clone();
        settings.insert("dims".into(), self.vectors().dims().into());
        settings.extend(settings_map(&self.imports));
        settings
    }

    /// What was cut or looks odd.
    pub fn warnings(&self) -> &[Warning] {
        &self.embedded.warnings
    }

    /// Writes the vectors.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write(&self, format: VectorFormat, out: &mut dyn Write) -> io::Result<()> {
        written::write(self, format, out)
    }
}

//! A run over reviews: everything there is to ask about it.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::canaries::Canaries;
use super::choice::Choice;
use super::rows::{ReviewerRow, RowDetail, rows};
use super::{ReviewsSettings, cautions, explain, own, size, table};
use crate::data::import::Imports;
use crate::data::input::Input;
use crate::data::review_names::ReviewReading;
use crate::data::reviews::ReviewSet;
use crate::data::warning::Warning;
use crate::embed::catalogue::Embedded;
use crate::error::Result;
use crate::report::{Report, Table, settings_map};
use crate::stats::rank::mean;
use crate::text::canary::Plan;
use crate::text::explain::{Evidence, PaperEvidence};
use crate::text::forms::Forms;
use crate::text::own::OwnScores;
use crate::text::pairs::{Paper, z_similarities};
use crate::text::score::ScoreName;
use crate::text::scorer::{Projection, ScoreDetail, Scored, Scorer};
use crate::text::sentence_evidence::SentenceTable;

/// What computes the scores.
pub(super) struct Scorers {
    /// All of them, but for what follows.
    pub(super) scorer: Scorer<Arc<ReviewSet>>,
    /// The combined score, where it has word weights of its own.
    pub(super) combined: Option<Scorer<Arc<ReviewSet>>>,
    /// What the score own, which the first holds, was computed with.
    pub(super) own_embedder: Option<String>,
}

/// Reviews with their vectors, ready to be scored and looked at.
pub struct ReviewsRun {
    settings: ReviewsSettings,
    choice: Choice,
    scorers: Scorers,
    projection: Projection,
    pub(super) sentences: SentenceTable,
    pub(super) embedded: Embedded,
    pub(super) inputs: Vec<Input>,
    reading: ReviewReading,
    imports: Imports,
    /// What was to be said before any score was computed.
    warnings: Vec<Warning>,
    /// What many reviews share, once evidence is asked for.
    forms: OnceLock<Forms>,
    /// See [`Self::closeness`], once it is asked for.
    closeness: OnceLock<Vec<Option<f64>>>,
    /// What reviews repeat of phrases hidden in papers, where a plan was given.
    canaries: Option<Canaries>,
    /// Own with the flags of the phrases.
    flagged: Option<Arc<OwnScores>>,
    /// Scores by [`ScoreName`], once they are asked for.
    scored: [OnceLock<Scored>; ScoreName::EACH.len()],
}

impl ReviewsRun {
    pub(super) fn new(
        settings: ReviewsSettings,
        choice: Choice,
        scorers: Scorers,
        sentences: SentenceTable,
        embedded: Embedded,
        (inputs, (reading, imports), warnings): (
            Vec<Input>,
            (ReviewReading, Imports),
            Vec<Warning>,
        ),
    ) -> Self {
        let centered = settings.center.centers(embedded.kind);
        let projection = Projection { centered, combine: settings.z_combine };
        let scored = Default::default();
        Self {
            settings,
            choice,
            scorers,
            projection,
            sentences,
            embedded,
            inputs,
            reading,
            imports,
            warnings,
            forms: OnceLock::new(),
            closeness: OnceLock::new(),
            canaries: None,
            flagged: None,
            scored,
        }
    }

    /// The reviews and Z.
    pub fn set(&self) -> &ReviewSet {
        self.scorers.scorer.set()
    }

    /// The settings as they were asked for.
    pub(crate) fn asked(&self) -> &ReviewsSettings {
        &self.settings
    }

    /// Name of the embedder.
    pub fn embedder(&self) -> &str {
        &self.embedded.name
    }

    /// Name of the embedder that a score rests on.
    pub(crate) fn embedder_of(&self, name: ScoreName) -> &str {
        match name {
            ScoreName::Own => self.scorers.own_embedder.as_deref().unwrap_or(self.embedder()),
            ScoreName::Combined if self.scorers.combined.is_some() => own::WORD_WEIGHTS,
            _ => self.embedder(),
        }
    }

    /// The run with a plan of phrases hidden in the papers, read from `input`: whoever repeats every phrase
    /// of a paper has the flag look, whatever else is found.
    ///
    /// # Errors
    ///
    /// `CanaryError::ForeignPhrase` for a phrase that
    /// was not drawn from the bundled dictionary.
    pub(crate) fn with_canaries(mut self, plan: &Plan, input: Input) -> Result<Self> {
        let (canaries, flagged) = Canaries::find(plan, self.set(), self.scorers.scorer.own())?;
        self.canaries = Some(canaries);
        self.flagged = flagged.map(Arc::new);
        self.inputs.push(input);
        self.scored = Default::default();
        Ok(self)
    }

    pub(super) fn canaries(&self) -> Option<&Canaries> {
        self.canaries.as_ref()
    }

    /// What the score own says beyond its rows; `None` unless it is among `Self::score_names`.
    pub(crate) fn own(&self) -> Option<&OwnScores> {
        self.flagged.as_deref().or_else(|| self.scorers.scorer.own())
    }

    /// Which score was chosen for the venue and why; `None` where one was asked for.
    pub(crate) fn choice(&self) -> Option<&str> {
        self.choice.sentence.as_deref()
    }

    /// The scores in the order of the table.
    pub(crate) fn score_names(&self) -> Vec<ScoreName> {
        self.choice.names.clone()
    }

    /// Whose flags are read: those of own wherever it stands among the scores, else of the first.
    pub(super) fn leading(&self) -> Option<ScoreName> {
        let own = self.own().map(|_| ScoreName::Own);
        own.or_else(|| self.choice.names.first().copied())
    }

    /// Whether projected scores are of centered vectors.
    pub fn centered(&self) -> bool {
        self.projection.centered
    }

    /// The scores of all reviewers by a name, one per reviewer by number; the name need not be
    /// among `Self::score_names`, but nobody has a score by `own` unless it is.
    pub(crate) fn scored(&self, name: ScoreName) -> &Scored {
        let scorer = match (&self.scorers.combined, name) {
            (Some(combined), ScoreName::Combined) => combined,
            _ => &self.scorers.scorer,
        };
        self.scored[name as usize].get_or_init(|| {
            let mut scored = scorer.scores(name, self.projection);
            if let (ScoreDetail::Own(own), Some(flagged)) = (&mut scored.detail, &self.flagged) {
                *own = Arc::clone(flagged);
            }
            scored
        })
    }

    /// The scores of all reviewers by a name with ranks and flags, worst first, reviewers without
    /// a score last.
    pub fn scores(&self, name: ScoreName) -> Vec<ReviewerRow> {
        let mut rows =
            rows(self.set().reviewers.names(), name, self.scored(name), &self.settings.flags());
        if name == ScoreName::Own {
            let (places, close) = (self.set().reviews_of_each(), self.closeness());
            for row in &mut rows {
                if let RowDetail::Own { closeness, .. } = &mut row.detail {
                    let of_person = places[row.number].iter().filter_map(|&place| close[place]);
                    *closeness = mean(&of_person.collect::<Vec<_>>());
                }
            }
        }
        if let Some(canaries) = &self.canaries {
            for row in &mut rows {
                row.canaries = canaries.told_of(row.number);
                row.is_canary = canaries.is_person_hit(row.number);
            }
            rows.sort_by_key(|row| !row.is_canary);
        }
        rows
    }

    /// Mean cosine of each review with the LLM texts of its paper, by the embedder of the run; `None`
    /// without one, or where a vector is zero.
    pub(crate) fn closeness(&self) -> &[Option<f64>] {
        self.closeness.get_or_init(|| {
            let (space, mut all) =
                (self.scorers.scorer.plain(), vec![None; self.set().reviews.len()]);
            for paper in self.scorers.scorer.papers() {
                // A few at a time: all of a paper's words would be a wide table.
                for reviews in paper.reviews.chunks(64) {
                    let few = Paper { reviews: reviews.to_vec(), z: paper.z.clone() };
                    for (&review, cosines) in reviews.iter().zip(z_similarities(space, &few)) {
                        all[review] = mean(&cosines).filter(|_| !space.is_zero(review));
                    }
                }
            }
            all
        })
    }

    /// The evidence for a reviewer, paper by paper.
    ///
    /// # Errors
    ///
    /// `UnknownReviewer` if there is nobody of this name,
    /// `PaperTooLarge` for a paper with tens of thousands of reviews.
    pub fn evidence(&self, reviewer: &str) -> Result<Vec<PaperEvidence>> {
        let number = explain::number_of(self.set(), reviewer)?;
        let reviews = &self.set().reviews;
        let papers = self.scorers.scorer.papers();
        size::check_pairs(self.set(), papers, |paper| {
            paper.reviews.iter().any(|&review| reviews[review].reviewer == number)
        })?;
        Ok(self.all_evidence(&self.sentences).of_reviewer(number))
    }

    pub(super) fn all_evidence<'a>(&'a self, sentences: &'a SentenceTable) -> Evidence<'a> {
        Evidence {
            set: self.set(),
            papers: self.scorers.scorer.papers(),
            plain: self.scorers.scorer.plain(),
            projected: self.scorers.scorer.projected(self.projection),
            combine: self.projection.combine,
            sentences,
            forms: self.forms.get_or_init(|| Forms::of(self.set())),
        }
    }

    /// What was left out or assumed, and reasons not to trust the scores of the settings.
    pub fn warnings(&self) -> Vec<Warning> {
        let names = self.score_names();
        let mut warnings = self.warnings.clone();
        warnings.extend(cautions::short_reviews(self.set(), &names));
        if !warnings.iter().any(|warning| warning.code == "names_per_paper") {
            warnings.extend(cautions::one_paper_each(self.set()));
        }
        warnings.extend(cautions::only_one(self.set()));
        warnings.extend(self.canaries().into_iter().flat_map(|all| all.warnings.clone()));
        if self.own().is_none() && !self.set().tasks.is_empty() {
            // Then nothing is taken out.
            warnings.retain(|warning| warning.code != "task_texts");
            let message = "the texts of tasks are not used: the score own alone takes them out";
            warnings.push(Warning::new("task_texts_unused", self.set().tasks.len(), message));
        }
        warnings.extend(self.own().into_iter().flat_map(|own| own::warnings(self.set(), own)));
        for name in names {
            if name == ScoreName::Projected {
                warnings.extend(cautions::without_direction(&self.scorers.scorer, self.projection));
            }
            warnings.extend(cautions::of_score(self.scored(name), self.set()));
        }
        warnings
    }

    /// Every setting that decides the result, with what was chosen where nothing was.
    pub fn settings(&self) -> Map<String, Value> {
        let mut settings = self.embedded.settings.clone();
        settings.insert("dims".into(), self.scorers.scorer.plain().dims().into());
        for (key, value) in settings_map(&self.settings) {
            settings.entry(key).or_insert(value);
        }
        let asked = self.settings.names().map_or_else(|| json!("auto"), |names| json!(names));
        settings.insert("score_asked".into(), asked);
        settings.insert("score".into(), json!(self.choice.names));
        if self.own().is_some() {
            let mut own = settings_map(&self.settings.own());
            own.insert("embedder".into(), self.embedder_of(ScoreName::Own).into());
            settings.insert("own".into(), own.into());
        }
        if self.scorers.combined.is_some() {
            settings.insert("combined_embedder".into(), own::WORD_WEIGHTS.into());
        }
        settings.insert("centered".into(), self.projection.centered.into());
        settings.extend(settings_map(&self.reading));
        settings.extend(settings_map(&self.imports));
        settings
    }

    /// The scores as a table, with inputs, settings, warnings and sentences on how to read it.
    ///
    /// # Errors
    ///
    /// A usage error if rows by review are asked for and the score own was not computed.
    pub fn report(&self) -> Result<Report> {
        table::report(self)
    }

    /// What these Z could find here, by kind of text, before anybody is flagged.
    ///
    /// # Errors
    ///
    /// A usage error where the score own was not computed.
    pub(crate) fn what_could_be_found(&self) -> Result<Report> {
        table::of_ghosts(self)
    }

    /// One row a person for whoever pays them: the flag of own, or, if it was not asked for, of the first
    /// score, as quality the projected score, as copied the largest share of a text that stands in Z word
    /// for word, and times.
    pub fn workers(&self) -> Table {
        table::of_workers(self)
    }

    /// What speaks most for the flag of somebody to look at or in doubt, in about five words; else empty.
    pub(crate) fn evidence_in_words(&self, reviewer: &str) -> String {
        let number = explain::number_of(self.set(), reviewer).ok();
        number.map(|number| explain::in_words(self, number)).unwrap_or_default()
    }

    /// The evidence for a reviewer as a report, with a text for people.
    ///
    /// # Errors
    ///
    /// `UnknownReviewer` if there is nobody of this name.
    pub(crate) fn explain(&self, reviewer: &str) -> Result<Report> {
        explain::report(self, reviewer)
    }

    /// What one HTML file shows beside the [`Self::report`]: scores, and the evidence for everybody.
    ///
    /// # Errors
    ///
    /// `PaperTooLarge` for a paper with thousands of reviews.
    #[cfg(feature = "html")]
    pub fn page(&self, text: crate::report::html::ReviewText) -> Result<crate::report::html::Page> {
        size::check_pairs(self.set(), self.scorers.scorer.papers(), |_| true)?;
        Ok(super::page::page(self, text))
    }
}

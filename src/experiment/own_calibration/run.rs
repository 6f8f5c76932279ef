//! All scenarios that are asked for, from reviews to a table.

use serde::{Deserialize, Serialize};

use super::scenarios::{Scenario, ScenarioGroup, scenarios};
use super::{BINS, Calibration, CalibrationSettings, calibrate};
use crate::data::duplicates::Duplicates;
use crate::data::import::ImportSettings;
use crate::data::observer::Observer;
use crate::data::review_reader::LoadedReviews;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::reviews::Half;
use crate::report::{Cell, Input, Report, Table, settings_map};

/// The name in results.
pub(crate) const COMMAND: &str = "experiment own";

/// Venues of every scenario.
pub(crate) const TRIALS: u32 = 10;

/// Everything that decides the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OwnTrialsSettings {
    /// What is varied.
    pub scenario: Vec<ScenarioGroup>,
    /// Which papers take part.
    pub half: Half,
    /// Rates of false alarms that are asked for.
    pub fdr: Vec<f64>,
    /// Venues of every scenario.
    pub trials: u32,
    /// Seed; every scenario has the same venues before somebody cheats.
    pub seed: u64,
    /// How the reviews were read.
    pub duplicates: Duplicates,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
}

impl Default for OwnTrialsSettings {
    fn default() -> Self {
        Self {
            scenario: ScenarioGroup::EACH.to_vec(),
            half: Half::All,
            fdr: vec![0.01, 0.05, 0.1],
            trials: TRIALS,
            seed: 0,
            duplicates: Duplicates::default(),
            import: ImportSettings::default(),
        }
    }
}

impl OwnTrialsSettings {
    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// A usage error for a rate that is none, or without a rate or a scenario.
    pub(crate) fn check(&self) -> Result<()> {
        if self.fdr.is_empty() || self.scenario.is_empty() {
            return Err(Error::usage("no rate of false alarms, or no scenario, is asked for"));
        }
        match self.fdr.iter().find(|rate| !(**rate > 0.0 && **rate < 1.0)) {
            Some(rate) => Err(Error::usage(format!(
                "the rate of false alarms is {rate}; it must be above 0 and below 1"
            ))),
            None => Ok(()),
        }
    }
}

/// An experiment that is ready to run.
#[derive(Debug, Clone)]
pub(crate) struct OwnTrials {
    settings: OwnTrialsSettings,
    scenarios: Vec<Scenario>,
    loaded: LoadedReviews,
    inputs: Vec<Input>,
}

impl OwnTrials {
    /// Puts settings and reviews together.
    ///
    /// # Errors
    ///
    /// For settings that make no sense, a review or Z without a text, or no Z at all.
    pub(crate) fn new(
        settings: &OwnTrialsSettings,
        loaded: LoadedReviews,
        inputs: Vec<Input>,
    ) -> Result<Self> {
        settings.check()?;
        let set = &loaded.set;
        let without = set.contents().filter(|content| content.text.is_none()).count();
        if without > 0 {
            let message = format!("the score own compares texts, and {without} contents have none");
            return Err(Error::new(ErrorKind::Input, message));
        }
        if set.sources.is_empty() {
            return Err(Error::new(ErrorKind::Input, "there is no LLM review of these papers"));
        }
        let base = CalibrationSettings {
            papers: settings.half.papers(set.papers.len()),
            trials: settings.trials,
            seed: settings.seed,
            rates: settings.fdr.clone(),
            ..CalibrationSettings::clean(set)
        };
        let groups = settings.scenario.iter();
        let scenarios = groups.flat_map(|&group| scenarios(group, &base)).collect();
        Ok(Self { settings: settings.clone(), scenarios, loaded, inputs })
    }

    /// Makes and scores all venues.
    ///
    /// # Errors
    ///
    /// Where `observer` asks to stop.
    pub(crate) fn run(self, observer: &dyn Observer) -> Result<OwnTrialsRun> {
        let count = self.scenarios.len() as u64 * u64::from(self.settings.trials);
        let progress = observer.stage("venues", count);
        let found: Vec<Calibration> = (self.scenarios.iter())
            .map(|scenario| calibrate(&self.loaded.set, &scenario.settings, &*progress))
            .collect();
        if observer.interrupted() {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
        }
        drop(progress);
        let Self { settings, scenarios, loaded, inputs } = self;
        Ok(OwnTrialsRun { settings, scenarios, found, loaded, inputs })
    }
}

/// A finished experiment.
#[derive(Debug, Clone)]
pub(crate) struct OwnTrialsRun {
    settings: OwnTrialsSettings,
    scenarios: Vec<Scenario>,
    found: Vec<Calibration>,
    loaded: LoadedReviews,
    inputs: Vec<Input>,
}

impl OwnTrialsRun {
    /// The scenarios with what came out of them.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&Scenario, &Calibration)> {
        self.scenarios.iter().zip(&self.found)
    }

    /// One row per scenario and rate for all reviewers, then one per kind of text handed in.
    pub(crate) fn report(&self) -> Report {
        Report {
            command: COMMAND,
            inputs: self.inputs.clone(),
            settings: settings_map(&self.settings),
            table: self.table(),
            warnings: self.loaded.warnings.clone(),
            footer: vec![
                format!(
                    "Made {} venues of every scenario from {} reviews of {} papers; embedder tfidf.",
                    self.settings.trials,
                    self.loaded.set.reviews.len(),
                    self.settings.half.papers(self.loaded.set.papers.len()).len()
                ),
                "auc: probability that a person outscores a cheater. found: share of the cheaters \
                 flagged look. false_share: share of people among the flagged. people_flagged: share \
                 of the people flagged. not_own: share with p_own below .5. tpr_01, tpr_001: share of \
                 the cheaters below all but 1 % and all but .1 % of the people's scores. error: \
                 expected calibration error of p_own. share_error: estimated share of cheaters \
                 minus the true one; covered: share of its intervals that hold the true one. \
                 review_auc, reviews_found, false_reviews: the same of single reviews. Rows of the group \
                 calibration: of all people of all venues whose p_own is so large, the mean of it \
                 (mean_own) and how many were honest (people)."
                    .into(),
            ],
            prose: None,
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            "group",
            "scenario",
            "kind",
            "fdr",
            "auc",
            "found",
            "false_share",
            "people_flagged",
            "not_own",
            "tpr_01",
            "tpr_001",
            "error",
            "share_error",
            "covered",
            "people",
            "cheaters",
            "review_auc",
            "reviews_found",
            "false_reviews",
            "mean_own",
        ]);
        let shown = self.settings.fdr.get(1).or(self.settings.fdr.first()).copied();
        for (scenario, found) in self.results() {
            let start = |kind: &str| -> Vec<Cell> {
                vec![scenario.group.as_str().into(), scenario.name.as_str().into(), kind.into()]
            };
            let (people, cheaters) = found.judged;
            for rate in &found.rates {
                let mut row = start("all");
                row.push(rate.fdr.into());
                row.extend([
                    found.auc.into(),
                    rate.recall.into(),
                    rate.false_share.into(),
                    rate.people.into(),
                    Cell::Missing,
                    found.found_at[0].into(),
                    found.found_at[1].into(),
                    found.calibration_error.into(),
                    found.prevalence_error.into(),
                    found.interval_coverage.into(),
                ]);
                row.extend([people.into(), cheaters.into(), found.auc_of_reviews.into()]);
                row.extend([rate.reviews_found.into(), rate.false_reviews.into(), Cell::Missing]);
                table.push(row);
            }
            for of in &found.by_kind {
                let flagged = Cell::from(of.flagged);
                let own = of.kind.is_own();
                let (caught, wrong) =
                    if own { (Cell::Missing, flagged) } else { (flagged, Cell::Missing) };
                let (people, cheaters) = if own { (of.count, 0) } else { (0, of.count) };
                let mut row = start(of.kind.as_str());
                row.extend([shown.into(), of.auc.into(), caught, Cell::Missing, wrong]);
                row.push(of.not_own.into());
                row.extend(std::iter::repeat_n(Cell::Missing, 5));
                row.extend([people.into(), cheaters.into()]);
                row.extend(std::iter::repeat_n(Cell::Missing, 4));
                table.push(row);
            }
        }
        for (bin, ends) in BINS.windows(2).enumerate() {
            let of_bin = self.found.iter().map(|found| found.bins[bin]);
            let (sum, people, count) =
                of_bin.fold((0.0, 0, 0), |all, of| (all.0 + of.0, all.1 + of.1, all.2 + of.2));
            if count == 0 {
                continue;
            }
            let mean = sum / count as f64;
            let error = (mean - people as f64 / count as f64).abs();
            let mut row = vec!["calibration".into()];
            row.extend([format!("p_own {} to {}", ends[0], ends[1]).into(), "all".into()]);
            row.extend(std::iter::repeat_n(Cell::Missing, 8));
            row.extend([error.into(), Cell::Missing, Cell::Missing]);
            row.extend([people.into(), (count - people).into()]);
            row.extend([Cell::Missing, Cell::Missing, Cell::Missing, mean.into()]);
            table.push(row);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::observer::Silent;
    use crate::simulate::reviews::tests::real;

    fn trials(settings: &OwnTrialsSettings) -> Result<OwnTrials> {
        let mut set = real(24, 4);
        // Long enough, and with words enough, to be judged.
        let contents = set.reviews.iter_mut().map(|review| &mut review.content);
        for content in contents.chain(set.z.iter_mut().map(|z| &mut z.content)) {
            let long = |text: String| (0..20).map(|n| format!("{text} w{n} ")).collect();
            content.text = content.text.take().map(long);
        }
        let loaded = LoadedReviews { set, rows: Vec::new(), warnings: Vec::new() };
        OwnTrials::new(settings, loaded, Vec::new())
    }

    #[test]
    fn a_table_has_a_row_per_rate_and_per_kind() {
        let settings = OwnTrialsSettings {
            scenario: vec![ScenarioGroup::Share],
            trials: 1,
            fdr: vec![0.05],
            ..OwnTrialsSettings::default()
        };
        let report = trials(&settings).unwrap().run(&Silent).unwrap().report();
        assert_eq!(report.settings["scenario"], serde_json::json!(["share"]));
        // Six shares, of one kind and of three, 72 reviews by 24 people: all, people, and the kinds.
        let rows = report.table.rows();
        assert!(rows.iter().all(|row| row.len() == report.table.columns().len()));
        let of_group = rows.iter().filter(|row| row[0] == Cell::from("share"));
        let first: Vec<&Cell> = of_group.map(|row| &row[2]).collect();
        assert_eq!(first.iter().filter(|kind| ***kind == Cell::from("all")).count(), 12);
        assert!(first.contains(&&Cell::from("off_topic_llm")));
        assert!(rows.iter().any(|row| row[0] == Cell::from("calibration")));
    }

    #[test]
    fn rates_that_are_none_and_reviews_without_texts_are_refused() {
        let settings = |fdr| OwnTrialsSettings { fdr, ..OwnTrialsSettings::default() };
        for fdr in [vec![], vec![0.05, 0.0], vec![f64::NAN], vec![1.0]] {
            assert_eq!(settings(fdr).check().unwrap_err().kind(), ErrorKind::Usage);
        }
        let mut set = real(24, 4);
        set.z[0].content.text = None;
        let loaded = LoadedReviews { set, rows: Vec::new(), warnings: Vec::new() };
        let error = OwnTrials::new(&OwnTrialsSettings::default(), loaded, Vec::new()).unwrap_err();
        assert!(error.to_string().contains("1 contents have none"), "{error}");
    }
}

//! The table and the words of a check of the assumptions.

use serde::Serialize;

use super::{AssumptionsRun, AssumptionsSettings};
use crate::data::import::Imports;
use crate::data::label_reader::LabelReading;
use crate::experiment::assumptions::{
    ABOUT_ZERO_SHARE, CheaterCheck, Comparison, Measured, SourceCheck, Verdict, best_source,
    verdict_sentence,
};
use crate::report::{Cell, Report, Table, settings_map};

/// Columns of the result, a contract with scripts.
const COLUMNS: [&str; 19] = [
    "z",
    "cheater",
    "quantity",
    "n_tasks",
    "value",
    "null",
    "excess",
    "excess_low",
    "excess_high",
    "difference_to_humans",
    "excess_difference",
    "difference_low",
    "difference_high",
    "about_zero",
    "below_humans",
    "auc",
    "auc_low",
    "auc_high",
    "works",
];

/// What a result is made of beside its inputs: the settings, and what was read how.
#[derive(Serialize)]
struct Provenance<'a> {
    sources: Vec<SourceSamples<'a>>,
    #[serde(flatten)]
    settings: &'a AssumptionsSettings,
    about_zero_share: f64,
    best: Option<&'a str>,
    #[serde(flatten)]
    reading: LabelReading,
    #[serde(flatten)]
    imports: &'a Imports,
}

/// An LLM and how many samples of it there are.
#[derive(Serialize)]
struct SourceSamples<'a> {
    source: &'a str,
    samples: usize,
}

impl AssumptionsRun {
    /// The result for people and programs.
    pub fn report(&self) -> Report {
        let sources = self.checks.iter();
        let provenance = Provenance {
            sources: sources
                .map(|check| SourceSamples { source: &check.z, samples: check.samples })
                .collect(),
            settings: &self.settings,
            about_zero_share: ABOUT_ZERO_SHARE,
            best: self.best().map(|check| check.z.as_str()),
            reading: self.set.reading,
            imports: &self.set.imports,
        };
        Report {
            command: "assumptions",
            inputs: self.set.inputs.clone(),
            settings: settings_map(&provenance),
            table: table(&self.checks, &self.without_z),
            warnings: self.warnings().to_vec(),
            footer: footer(&self.checks, &self.settings),
            prose: None,
        }
    }
}

fn table(checks: &[SourceCheck], without_z: &SourceCheck) -> Table {
    let mut table = Table::new(&COLUMNS);
    table.set_headline(verdict_sentence(checks));
    // Last what pairs share without Z, which no hypothesis is about.
    for check in checks.iter().chain([without_z]) {
        let z = || if check.z.is_empty() { Cell::Missing } else { check.z.as_str().into() };
        let mut row = vec![z(), Cell::Missing, "human_human".into()];
        row.extend(measured_cells(&check.humans));
        row.resize(COLUMNS.len(), Cell::Missing);
        table.push(row);
        for (kinds, people) in &check.kinds {
            let quantity = format!("human_human:{kinds}");
            let mut row = vec![z(), Cell::Missing, quantity.as_str().into()];
            row.extend(measured_cells(people));
            row.resize(COLUMNS.len(), Cell::Missing);
            table.push(row);
        }
        for cheater in &check.cheaters {
            for (quantity, comparison) in
                [("cheater_human", &cheater.human), ("cheater_cheater", &cheater.llm)]
            {
                let mut row = vec![z(), cheater.cheater.as_str().into(), quantity.into()];
                row.extend(measured_cells(&comparison.measured));
                let compared = comparison_cells(comparison);
                if check.z.is_empty() {
                    row.extend(compared.into_iter().take(4));
                } else {
                    row.extend(compared);
                    if quantity == "cheater_human" {
                        row.extend(planted_cells(cheater));
                    }
                }
                row.resize(COLUMNS.len(), Cell::Missing);
                table.push(row);
            }
        }
        if let Some((cheater, worst)) = check.epsilon().filter(|_| !check.z.is_empty()) {
            let mut row = vec![z(), cheater.cheater.as_str().into(), "epsilon".into()];
            row.extend(measured_cells(&worst.measured));
            row.extend(comparison_cells(worst).into_iter().take(4));
            row.resize(COLUMNS.len(), Cell::Missing);
            table.push(row);
        }
    }
    table
}

fn measured_cells(measured: &Measured) -> [Cell; 6] {
    [
        // Without the samples there is no task to count, which is not the same as none.
        measured.value.map(|_| measured.n_tasks).into(),
        measured.value.into(),
        measured.null.into(),
        measured.excess().into(),
        measured.interval.map(|interval| interval.0).into(),
        measured.interval.map(|interval| interval.1).into(),
    ]
}

fn comparison_cells(comparison: &Comparison) -> [Cell; 6] {
    [
        comparison.difference.into(),
        comparison.excess_difference.into(),
        comparison.interval.map(|interval| interval.0).into(),
        comparison.interval.map(|interval| interval.1).into(),
        comparison.about_zero.as_str().into(),
        comparison.below_humans.as_str().into(),
    ]
}

/// What copies planted among people show.
fn planted_cells(cheater: &CheaterCheck) -> [Cell; 4] {
    // A t interval may reach beyond what a share can be.
    let ends = cheater.auc.and_then(|auc| auc.interval());
    let ends = ends.map(|(low, high)| (low.max(0.0), high.min(1.0))).unzip();
    let value = cheater.auc.map(|auc| auc.value);
    [value.into(), ends.0.into(), ends.1.into(), cheater.works().as_str().into()]
}

fn footer(checks: &[SourceCheck], settings: &AssumptionsSettings) -> Vec<String> {
    let mut lines = vec![format!(
        "Intervals: 95 %, bootstrap over tasks, B = {}, seed {}. Null: mean of {} permutations. \
         About 0 means at most {} % of what two people share beyond Z.",
        settings.bootstrap,
        settings.seed,
        settings.permutations,
        ABOUT_ZERO_SHARE * 100.0
    )];
    for check in checks {
        lines.extend(verdicts(check));
    }
    lines.extend(missing_samples(checks));
    lines.push(recommendation(checks));
    lines.push("This speaks of these LLMs on these tasks; a cheater may use another LLM.".into());
    lines
}

/// The LLM to condition on, or that there is none, in a sentence.
pub(super) fn recommendation(checks: &[SourceCheck]) -> String {
    best_source(checks).map_or_else(
        || "No LLM can be recommended to condition on: no comparison could be computed.".into(),
        best,
    )
}

/// What a hypothesis claims, and where its verdict is.
type Hypothesis = (&'static str, fn(&CheaterCheck) -> Verdict);

const HYPOTHESES: [Hypothesis; 4] = [
    ("(1) a cheater shares about nothing with people", |check| check.human.about_zero),
    ("(2) two cheaters share about nothing", |check| check.llm.about_zero),
    ("(3) people share more with each other than with a cheater", |check| check.human.below_humans),
    ("(4) people share more than two cheaters", |check| check.llm.below_humans),
];

/// A line on what people share, and one per hypothesis.
fn verdicts(check: &SourceCheck) -> Vec<String> {
    let humans = match (check.humans.excess(), check.humans.interval) {
        (Some(excess), Some((low, high))) if low > 0.0 => {
            format!("two people share {excess:.3} ({low:.3} to {high:.3})")
        }
        (Some(excess), Some((low, high))) => format!(
            "two people share {excess:.3} ({low:.3} to {high:.3}), not shown to be above 0, so \
             there may be nothing to score by"
        ),
        _ => "it cannot be computed what two people share".to_owned(),
    };
    let epsilon = check.epsilon().and_then(|(_, worst)| worst.measured.excess());
    let epsilon = epsilon
        .map_or_else(String::new, |worst| format!("; a cheater at most {worst:.3} (epsilon)"));
    let mut lines = vec![format!("Beyond {}, {humans}{epsilon}.", check.z)];
    for (claim, verdict) in HYPOTHESES {
        let words = [
            (Verdict::Holds, "holds"),
            (Verdict::Unclear, "unclear"),
            (Verdict::Fails, "fails"),
            (Verdict::NeedsSamples, "cannot be checked (too few samples)"),
            (Verdict::TooFewTasks, "cannot be checked (too few tasks)"),
        ];
        let parts: Vec<String> = words
            .iter()
            .filter_map(|(wanted, words)| {
                let names: Vec<&str> = check
                    .cheaters
                    .iter()
                    .filter(|cheater| verdict(cheater) == *wanted)
                    .map(|cheater| cheater.cheater.as_str())
                    .collect();
                (!names.is_empty()).then(|| format!("{words} for {}", names.join(", ")))
            })
            .collect();
        lines.push(format!("  {claim}: {}.", parts.join("; ")));
    }
    lines
}

/// What another sample of the LLMs would allow; one line for all that have as many.
fn missing_samples(checks: &[SourceCheck]) -> Vec<String> {
    let names = |samples: std::ops::RangeInclusive<usize>| -> Vec<&str> {
        let with = checks.iter().filter(|check| samples.contains(&check.samples));
        with.map(|check| check.z.as_str()).collect()
    };
    let mut lines = Vec::new();
    match names(0..=1)[..] {
        [] => {}
        [z] => lines.push(format!(
            "{z} has one sample per task. With a second one a cheater who uses {z} itself could be \
             checked against people, and two cheaters one of whom uses {z}; with a third one, two \
             cheaters who both use {z}."
        )),
        ref several => lines.push(format!(
            "One sample per task: {}. With a second one of an LLM, a cheater who uses it while it \
             is Z could be checked against people, and two cheaters one of whom uses it; with a \
             third one, two cheaters who both use it.",
            several.join(", ")
        )),
    }
    match names(2..=2)[..] {
        [] => {}
        [z] => lines.push(format!(
            "{z} has two samples per task. With a third one, two cheaters who both use {z} could \
             be checked."
        )),
        ref several => lines.push(format!(
            "Two samples per task: {}. With a third one of an LLM, two cheaters who both use it \
             while it is Z could be checked.",
            several.join(", ")
        )),
    }
    lines
}

/// The answer to "which LLM should I condition on?".
fn best(check: &SourceCheck) -> String {
    let z = &check.z;
    let Some((cheater, auc)) = check.worst_copier() else { return String::new() };
    let range = auc.interval().map_or(String::new(), |(low, high)| {
        format!(" ({:.0} to {:.0})", 100.0 * low.max(0.0), 100.0 * high.min(1.0))
    });
    let judgment = match cheater.works() {
        Verdict::Holds => "so conditioning on it works even there",
        Verdict::Fails => "so conditioning on it fails there",
        _ => "so it is not shown to work there; more tasks and workers would tell",
    };
    let caveat = if check.is_complete() {
        ""
    } else {
        " No LLM has a second sample, so cheaters who use the LLM of Z are not in this comparison."
    };
    format!(
        "Best LLM to condition on: {z}. In its worst case, workers who copy {}, planted among the \
         people here end below {:.0} % of them{range}, {judgment}.{caveat}",
        cheater.cheater,
        100.0 * auc.value
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::interval::Estimate;

    fn measured(excess: f64) -> Measured {
        let interval = Some((excess - 0.02, excess + 0.02));
        Measured {
            n_tasks: 100,
            value: Some(excess + 0.01),
            null: Some(0.01),
            bias: Some(0.01),
            interval,
        }
    }

    fn comparison(excess: f64, verdicts: (Verdict, Verdict)) -> Comparison {
        let difference = 0.2 - excess;
        Comparison {
            measured: measured(excess),
            difference: Some(difference),
            excess_difference: Some(difference),
            interval: Some((difference - 0.03, difference + 0.03)),
            about_zero: verdicts.0,
            below_humans: verdicts.1,
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the field that it fills")]
    fn auc(value: f64) -> Option<Estimate> {
        Some(Estimate { value, standard_error: Some(0.01), degrees_of_freedom: 9.0 })
    }

    fn example() -> Vec<SourceCheck> {
        let missing = Comparison {
            measured: Measured::default(),
            difference: None,
            excess_difference: None,
            interval: None,
            about_zero: Verdict::NeedsSamples,
            below_humans: Verdict::NeedsSamples,
        };
        vec![SourceCheck {
            z: "a".into(),
            samples: 2,
            humans: measured(0.2),
            kinds: Vec::new(),
            cheaters: vec![
                CheaterCheck {
                    cheater: "a".into(),
                    human: comparison(0.01, (Verdict::Holds, Verdict::Holds)),
                    llm: missing,
                    auc: auc(0.95),
                },
                CheaterCheck {
                    cheater: "b".into(),
                    human: comparison(0.18, (Verdict::Fails, Verdict::Unclear)),
                    llm: comparison(0.02, (Verdict::Holds, Verdict::Holds)),
                    auc: auc(0.7),
                },
            ],
        }]
    }

    #[test]
    fn every_hypothesis_has_a_sentence_and_the_best_llm_its_worst_case() {
        let lines = footer(&example(), &AssumptionsSettings::default());
        insta::assert_snapshot!(lines.join("\n"), @r"
        Intervals: 95 %, bootstrap over tasks, B = 1000, seed 0. Null: mean of 200 permutations. About 0 means at most 25 % of what two people share beyond Z.
        Beyond a, two people share 0.200 (0.180 to 0.220); a cheater at most 0.180 (epsilon).
          (1) a cheater shares about nothing with people: holds for a; fails for b.
          (2) two cheaters share about nothing: holds for b; cannot be checked (too few samples) for a.
          (3) people share more with each other than with a cheater: holds for a; unclear for b.
          (4) people share more than two cheaters: holds for b; cannot be checked (too few samples) for a.
        a has two samples per task. With a third one, two cheaters who both use a could be checked.
        Best LLM to condition on: a. In its worst case, workers who copy b, planted among the people here end below 70 % of them (68 to 72), so conditioning on it works even there.
        This speaks of these LLMs on these tasks; a cheater may use another LLM.
        ");
    }

    #[test]
    fn rows_that_cannot_be_computed_are_there_and_empty() {
        let without = SourceCheck {
            z: String::new(),
            samples: 0,
            humans: measured(0.3),
            kinds: vec![("expert".into(), measured(0.4))],
            cheaters: Vec::new(),
        };
        let table = table(&example(), &without);
        assert_eq!(table.rows().len(), 8);
        // The most that a cheater shares beyond a: b with people, .18.
        assert_eq!(table.rows()[5][1..3], [Cell::from("b"), Cell::from("epsilon")]);
        let Cell::Number(epsilon) = table.rows()[5][6] else { panic!("{:?}", table.rows()[5]) };
        assert!((epsilon - 0.18).abs() < 1e-12);
        assert_eq!(table.rows()[6][0], Cell::Missing);
        assert_eq!(
            table.rows()[7][2..5],
            ["human_human:expert".into(), 100_usize.into(), Cell::Number(0.4 + 0.01)]
        );
        assert_eq!(table.rows()[2][3], Cell::Missing);
        assert_eq!(table.rows()[2][4], Cell::Missing);
        assert_eq!(table.rows()[2][13], Cell::Text("needs_samples".into()));
        assert_eq!(table.rows()[0][1], Cell::Missing);
    }

    #[test]
    fn a_share_of_people_ends_at_one() {
        let mut checks = example();
        checks[0].cheaters[0].auc = auc(0.99);
        let row = table(&checks, &checks[0]).rows()[1].clone();
        let at = |name: &str| &row[COLUMNS.iter().position(|column| *column == name).unwrap()];
        assert_eq!(*at("auc_high"), Cell::Number(1.0));
        let Cell::Number(low) = at("auc_low") else { panic!("{row:?}") };
        // 2.262 standard errors of .01 below.
        assert!((low - (0.99 - 0.02262)).abs() < 1e-5, "{low}");
    }

    #[test]
    fn llms_with_as_many_samples_share_a_line() {
        let check = |z: &str, samples| SourceCheck {
            z: z.into(),
            samples,
            humans: measured(0.2),
            kinds: Vec::new(),
            cheaters: Vec::new(),
        };
        let checks = [check("a", 1), check("b", 2), check("c", 1), check("d", 3), check("e", 2)];
        let lines = missing_samples(&checks);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("One sample per task: a, c. "), "{lines:?}");
        assert!(lines[1].starts_with("Two samples per task: b, e. "), "{lines:?}");
    }

    #[test]
    fn without_any_comparison_nothing_is_recommended() {
        let lines = footer(&[], &AssumptionsSettings::default());
        assert!(
            lines.iter().any(|line| line.starts_with("No LLM can be recommended")),
            "{lines:?}"
        );
    }
}

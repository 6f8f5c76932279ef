//! Which gold items to label again in order to watch a labeller: how many, of which grades.
//!
//! A sample that has every gold label as often as all gold items have it (strata, proportional allocation)
//! leaves only the spread inside the strata. With `g_h` the influence of an item of stratum h on kappa, the
//! variance of kappa of m items is `V / m`, `V = Σ_h share_h var_h(g)`, so that a 95 % interval of half
//! width w takes `m = (1.96)² V / w²` items. The influence of a cell of the confusion matrix is what kappa
//! loses without a tiny part of it. Cochran (1977), *Sampling Techniques*, chapter 5, for the strata.

use rand::seq::index;
use serde::Serialize;

use super::error::AgreementError;
use super::panel::Panel;
use super::reference::{Reference, References, references};
use super::run::warnings;
use super::settings::{AgreementSettings, Cut};
use super::work::{joined, only, scale_of};
use crate::data::labellers::{LabellerFiles, read_labellers};
use crate::data::warning::Warning;
use crate::error::Result;
use crate::metrics::agreement::{Confusion, Metric};
use crate::report::{Input, Report, Table, settings_map};
use crate::stats::interval::normal_quantile;
use crate::stats::rank::whole;
use crate::stats::seed::stream;

/// Columns of a plan.
pub(crate) const COLUMNS: [&str; 2] = ["task", "gold"];

/// Counts of a cell are multiplied by this before one is taken away.
const FINE: u64 = 100_000;

/// What a plan is made of.
#[derive(Debug, Clone, Serialize)]
struct Provenance<'a> {
    #[serde(flatten)]
    agreement: &'a AgreementSettings,
    half_width: f64,
    items_needed: usize,
    /// The source whose kappa needs most.
    source: &'a str,
}

/// The gold items to label again, so that kappa of every source is known to `half_width` at 95 %.
///
/// Items are independent here: where they come in clusters more are needed.
///
/// # Errors
///
/// [`crate::data::problem::DataError`] for files that cannot be used, [`AgreementError`] for settings that do
/// not fit them, or if kappa of no source is defined.
pub(crate) fn plan_monitoring(
    files: &LabellerFiles<'_>,
    settings: &AgreementSettings,
    half_width: f64,
) -> Result<Report> {
    if !(half_width > 0.0 && half_width < 1.0) {
        return Err(AgreementError::HalfWidth { half_width }.into());
    }
    let data = read_labellers(files, settings.duplicates)?;
    let scale = scale_of(&settings.scale, &data);
    let mut warnings = warnings(&data, &scale, settings)?;
    let References { all, scale, are_labels, .. } = references(&data, scale, settings.gold_by)?;
    let cut = settings.binarize.as_ref();
    let panel = Panel::new(&scale, cut, are_labels)
        .and_then(|panel| panel.only(Metric::Kappa))
        .ok_or_else(|| AgreementError::Cut { at: cut.cloned().unwrap_or(Cut::Number(0.0)) })?;
    let reference = only(&all)?;
    let kappa = |matrix: &Confusion| panel.of(matrix)[0];
    let variance = |(name, labels): &(String, _)| {
        let pairs = joined(&reference.labels, labels).map(|(_, gold, label)| (gold, label));
        let matrix = Confusion::of_pairs(scale.len(), pairs);
        let spread = spread_within_strata(&matrix, &kappa)?;
        Some((name.clone(), kappa(&matrix)?, spread, matrix.total()))
    };
    let measured: Vec<(String, f64, f64, u64)> =
        reference.against_it.iter().filter_map(variance).collect();
    let most = measured.iter().max_by(|a, b| a.2.total_cmp(&b.2));
    let Some((name, kappa, spread, items)) = most else {
        return Err(AgreementError::NoKappa.into());
    };
    let z = normal_quantile();
    let needed = whole((z * z * spread / (half_width * half_width)).ceil()).max(2);
    let (sample, short) = sample(reference, scale.len(), needed, settings.seed);
    let sizes: Vec<String> = (0..scale.len())
        .filter_map(|stratum| {
            let count = sample.iter().filter(|(_, gold)| *gold == stratum).count();
            (count > 0).then(|| format!("{count} of gold {}", scale.names[stratum]))
        })
        .collect();
    if short > 0 {
        let message = format!(
            "{needed} items are needed, there are {} with a gold label: {short} more are missing, \
             or a wider interval has to do",
            reference.labels.len()
        );
        warnings.push(Warning::new("too_few_gold", short, message));
    }
    let mut table = Table::new(&COLUMNS);
    for &(task, gold) in &sample {
        let task = data.tasks[task as usize].as_str();
        table.push(vec![task.into(), scale.names[gold].as_str().into()]);
    }
    let now = z * (spread / *items as f64).sqrt();
    let sentence = format!(
        "Label {} items again ({}): kappa of {name} ({kappa:.3}), which needs most, is then known to \
         about ±{half_width}; all {items} items give ±{now:.3}.",
        sample.len(),
        sizes.join(", ")
    );
    table.set_headline(sentence);
    let provenance =
        Provenance { agreement: settings, half_width, items_needed: needed, source: name };
    Ok(Report {
        command: "agree",
        inputs: files
            .sources()
            .zip(&data.rows)
            .map(|(source, &rows)| Input::new(source, rows))
            .collect(),
        settings: settings_map(&provenance),
        table,
        warnings,
        footer: vec![
            "Every gold label has its share of all gold items, so that no weights are needed. Items \
             count as independent: of items in clusters (topics, authors) more are needed."
                .into(),
        ],
        prose: Some("The items themselves are in the other formats (csv, json, ...).\n".into()),
    })
}

/// The mean over the strata, each with its share, of the variance of the influence of an item on a metric.
fn spread_within_strata(
    matrix: &Confusion,
    metric: &impl Fn(&Confusion) -> Option<f64>,
) -> Option<f64> {
    let size = matrix.size();
    let fine = Confusion::of_counts(size, matrix.counts().iter().map(|n| n * FINE).collect());
    let (value, total) = (metric(&fine)?, fine.total() as f64);
    let mut spread = 0.0;
    for (gold, row) in matrix.rows().enumerate() {
        let items: u64 = row.iter().sum();
        let (mut sum, mut squares) = (0.0, 0.0);
        for (label, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
            let mut counts = fine.counts().to_vec();
            counts[gold * size + label] -= 1;
            let without = metric(&Confusion::of_counts(size, counts))?;
            let influence = (total - 1.0) * (value - without);
            sum += count as f64 * influence;
            squares += count as f64 * influence * influence;
        }
        if items > 0 {
            spread += squares - sum * sum / items as f64;
        }
    }
    Some(spread / matrix.total() as f64)
}

/// `needed` tasks with their gold labels, by ascending task, each label with its share of all (the largest
/// remainders get what is left), and how many there are too few.
fn sample(
    reference: &Reference,
    strata: usize,
    needed: usize,
    seed: u64,
) -> (Vec<(u32, usize)>, usize) {
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); strata];
    reference.labels.iter().for_each(|&(task, gold)| of[gold].push(task));
    let all = reference.labels.len();
    let wanted = needed.min(all);
    let mut sizes: Vec<usize> = of.iter().map(|tasks| tasks.len() * wanted / all.max(1)).collect();
    let mut order: Vec<usize> = (0..strata).collect();
    order.sort_by_key(|&h| std::cmp::Reverse(of[h].len() * wanted % all.max(1)));
    let left = wanted - sizes.iter().sum::<usize>();
    order.iter().take(left).for_each(|&stratum| sizes[stratum] += 1);
    let mut sample = Vec::new();
    for (stratum, (tasks, size)) in of.iter().zip(sizes).enumerate() {
        let mut random = stream(seed, "monitoring", stratum as u64);
        let drawn = index::sample(&mut random, tasks.len(), size);
        sample.extend(drawn.iter().map(|at| (tasks[at], stratum)));
    }
    sample.sort_unstable();
    (sample, needed - wanted)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;
    use crate::data::source::Source;
    use crate::report::Cell;

    fn kappa(matrix: &Confusion) -> Option<f64> {
        crate::metrics::agreement::kappa::kappa(
            matrix,
            crate::metrics::agreement::kappa::Distance::Nominal,
        )
    }

    #[test]
    fn the_spread_is_that_of_the_influence_function_in_closed_form() {
        // By numpy from the influence function (1[g = l] - po) / (1 - pe) - (1 - po) (p.g + pl. - 2 pe) /
        // (1 - pe)², its variance inside the rows.
        for (size, counts, spread) in [
            (2, vec![40, 10, 20, 30], 0.8),
            (3, vec![50, 5, 0, 4, 20, 6, 1, 4, 10], 0.417_744_477_207_689_4),
        ] {
            let found = spread_within_strata(&Confusion::of_counts(size, counts), &kappa).unwrap();
            assert!((found - spread).abs() < 1e-5, "{found} {spread}");
        }
    }

    fn file(name: &str, text: &str) -> Source {
        Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
    }

    fn plan(half_width: f64) -> Result<Report> {
        let (mut labels, mut gold) = ("task,label\n".to_owned(), "task,label\n".to_owned());
        let cells = [("x", "x", 40), ("x", "y", 10), ("y", "x", 20), ("y", "y", 30)];
        let mut task = 0;
        for (truth, label, count) in cells {
            for _ in 0..count {
                let _ = writeln!(gold, "{task},{truth}");
                let _ = writeln!(labels, "{task},{label}");
                task += 1;
            }
        }
        let (labels, gold) = (file("labels.csv", &labels), file("gold.csv", &gold));
        let files =
            LabellerFiles { labels: &labels, gold: Some(&gold), since: None, clusters: None };
        plan_monitoring(&files, &AgreementSettings::default(), half_width)
    }

    #[test]
    fn sizes_by_hand() {
        // 1.96² * .8 / .2² = 76.83: 77, of each of two equal strata half.
        let report = plan(0.2).unwrap();
        assert_eq!(report.table.rows().len(), 77);
        let of_x = report.table.rows().iter().filter(|row| row[1] == Cell::from("x")).count();
        assert!((38..=39).contains(&of_x), "{of_x}");
        assert!(report.warnings.is_empty());
        let headline = report.table.headline().unwrap();
        assert!(headline.contains("kappa of labels (0.400)"), "{headline}");
        // 308 are needed for .1, there are 100.
        let report = plan(0.1).unwrap();
        assert_eq!((report.table.rows().len(), report.warnings[0].count), (100, 208));
        assert!(plan(0.0).is_err() && plan(f64::NAN).is_err());
    }

    #[test]
    fn kappa_of_such_samples_is_as_far_off_as_planned() {
        // Half widths of 1.96 standard deviations over 4,000 samples with replacement by strata.
        use rand::RngExt;
        let rows = [[40, 10], [20, 30]];
        let mut random = stream(1, "test", 0);
        let kappas: Vec<f64> = (0..4000)
            .map(|_| {
                let mut matrix = Confusion::new(2);
                for (gold, row) in rows.iter().enumerate() {
                    for _ in 0..154 {
                        let label = usize::from(random.random_range(0..50) >= row[0]);
                        matrix.add(gold, label, 1);
                    }
                }
                kappa(&matrix).unwrap()
            })
            .collect();
        let variance = crate::stats::interval::sample_variance(&kappas).unwrap();
        let half_width = 1.96 * variance.sqrt();
        assert!((half_width - 0.1).abs() < 0.004, "{half_width}");
    }
}

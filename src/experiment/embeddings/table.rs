//! What a comparison of embedders says: tables, a sentence, a figure.

use super::{DRAWS, EmbeddingsRun, Row};
use crate::experiment::figures::Figure;
use crate::report::plot::{Bar, BarChart};
use crate::report::{Cell, Table};

/// A row for every embedder, score and kind.
pub(super) fn of_files(run: &EmbeddingsRun) -> Table {
    let mut table = Table::new(&[
        "embedder",
        "score",
        "kind",
        "auc",
        "ci_low",
        "ci_high",
        "difference",
        "difference_low",
        "difference_high",
        "texts_per_s",
        "dims",
        "megabytes",
        "share_long",
    ]);
    for row in &run.rows {
        let made = &run.made[row.embedder];
        let (low, high) = row.interval.unzip();
        table.push(vec![
            made.name.as_str().into(),
            run.settings.trials.scores[row.score].as_str().into(),
            row.kind.as_str().into(),
            row.auc.into(),
            low.into(),
            high.into(),
            row.difference.map(|difference| difference.0).into(),
            row.difference.map(|difference| difference.1).into(),
            row.difference.map(|difference| difference.2).into(),
            Cell::from(made.texts as f64 / made.seconds),
            made.dims.into(),
            made.megabytes.into(),
            made.long.into(),
        ]);
    }
    table.set_headline(sentence(run));
    table
}

/// All kinds together, and the kind that is told worst.
pub(super) fn of_people(run: &EmbeddingsRun) -> Table {
    let mut table = Table::new(&["embedder", "score", "auc", "to the best", "worst kind"]);
    for row in run.rows.iter().filter(|row| row.kind == "all") {
        let alike = |other: &&Row| {
            (other.embedder, other.score) == (row.embedder, row.score) && other.kind != "all"
        };
        let worst = run
            .rows
            .iter()
            .filter(alike)
            .min_by(|a, b| a.auc.unwrap_or(1.0).total_cmp(&b.auc.unwrap_or(1.0)));
        table.push(vec![
            run.made[row.embedder].name.as_str().into(),
            run.settings.trials.scores[row.score].as_str().into(),
            share(row).into(),
            row.difference
                .map_or_else(
                    || "best".to_owned(),
                    |(value, low, high)| {
                        format!("{} ({}, {})", short(value), short(low), short(high))
                    },
                )
                .into(),
            worst.and_then(|row| Some(format!("{} {}", short(row.auc?), row.kind))).into(),
        ]);
    }
    table.set_headline(sentence(run));
    table
}

fn share(row: &Row) -> Option<String> {
    let auc = short(row.auc?);
    Some(
        row.interval
            .map_or(auc.clone(), |(low, high)| format!("{auc} {}-{}", short(low), short(high))),
    )
}

/// Two decimals, and no zero before them.
fn short(value: f64) -> String {
    let text = format!("{:.2}", if value.abs() < 0.005 { 0.0 } else { value });
    text.replacen("0.", ".", 1)
}

/// Which to take, or that the data cannot tell: by the score with which the best does best.
pub(super) fn sentence(run: &EmbeddingsRun) -> String {
    let all = run.rows.iter().filter(|row| row.kind == "all");
    let Some(best) = all.clone().filter(|row| row.difference.is_none()).max_by(|a, b| {
        // Of equals the first.
        a.auc.unwrap_or(0.0).total_cmp(&b.auc.unwrap_or(0.0)).then_with(|| b.score.cmp(&a.score))
    }) else {
        return "No embedder could be judged on these reviews.".to_owned();
    };
    let name = |row: &Row| run.made[row.embedder].name.as_str();
    let score = run.settings.trials.scores[best.score].as_str();
    let own = format!("{} (AUC {} by {score})", name(best), short(best.auc.unwrap_or(0.0)));
    let others: Vec<&Row> =
        all.filter(|row| row.score == best.score && row.embedder != best.embedder).collect();
    let is_worse = |row: &&&Row| row.difference.is_some_and(|(_, _, high)| high < 0.0);
    let worse: Vec<(&str, String)> = others
        .iter()
        .filter(is_worse)
        .filter_map(|row| {
            let (_, low, high) = row.difference?;
            Some((name(row), format!("by {} to {}", short(-high), short(-low))))
        })
        .collect();
    let level: Vec<&str> =
        others.iter().filter(|row| !is_worse(row)).map(|row| name(row)).collect();
    let behind = match worse.as_slice() {
        [] => String::new(),
        [(one, by)] => format!("; {one} is behind it {by}"),
        several => {
            let several = several.iter().map(|(name, by)| format!("{name} {by}"));
            format!("; behind it are {}", several.collect::<Vec<_>>().join(", "))
        }
    };
    match (others.len(), level.len()) {
        (0, _) => format!("{own}: nothing to compare it with."),
        (_, 0) => format!("Take {own}{behind}."),
        _ => format!("These reviews cannot tell {own} from {}{behind}.", level.join(", ")),
    }
}

pub(super) fn footer(run: &EmbeddingsRun) -> Vec<String> {
    let how = if run.truth {
        "Whose work each review is was read from the file of truth".to_owned()
    } else {
        format!("Low effort was planted {} times, the same for all embedders", run.n_rounds)
    };
    let mut footer = vec![format!(
        "{how}; {} papers. auc: probability that a person's own review scores above one that is not; .5 \
         is chance. Beside it and in brackets: 95 % of {DRAWS} draws of papers.",
        run.n_papers
    )];
    footer.extend(run.made.iter().map(|made| {
        let long = made.long.filter(|&long| long > 0.0);
        let long = long.map_or(String::new(), |long| {
            format!(", {:.1} % longer than the model takes", 100.0 * long)
        });
        format!(
            "{}: {} dimensions, {:.0} texts a second in this run, {:.1} MB{long}",
            made.name,
            made.dims,
            made.texts as f64 / made.seconds,
            made.megabytes
        )
    }));
    footer
}

/// How to read the page.
#[cfg(feature = "html")]
pub(super) fn reading(run: &EmbeddingsRun) -> Vec<String> {
    let reading = [
        "AUC is the probability that somebody's own review scores above one that is not: 1 is perfect, 0.5 is \
         chance, below 0.5 the score rewards low effort.",
        "Two embedders differ where the interval of their difference has no 0 in it; their own intervals may \
         overlap all the same, since both read the same papers.",
        "A row of a kind is of people and that kind of low effort alone; all has every kind.",
        "Real low effort may be another than was planted here.",
    ];
    let all = if run.truth { &reading[..3] } else { &reading[..] };
    all.iter().copied().map(str::to_owned).collect()
}

/// Dots with intervals, score by score.
pub(super) fn figure(run: &EmbeddingsRun) -> Figure {
    let bars = run.rows.iter().filter(|row| row.kind == "all").map(|row| Bar {
        name: format!(
            "{} {}",
            run.settings.trials.scores[row.score].as_str(),
            run.made[row.embedder].name
        ),
        value: row.auc,
        error: row.interval,
    });
    let bars: Vec<Bar> = bars.collect();
    let low = bars.iter().filter_map(|bar| bar.error.map(|error| error.0)).fold(0.5, f64::min);
    let chart = BarChart {
        title: "Own reviews told from low effort".into(),
        x_name: "AUC, 95 % of draws of papers; dashed: chance".into(),
        x_range: Some(((low * 10.0).floor() / 10.0, 1.0)),
        reference: Some(0.5),
        bars,
    };
    Figure { name: "embeddings.svg".into(), svg: chart.dots() }
}

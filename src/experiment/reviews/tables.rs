//! Tables of the experiment on reviews.

use super::ReviewTrialsRun;
use crate::experiment::auc_summary::AucSummary;
use crate::experiment::crowd::{SUMMARY_COLUMNS, cells};
use crate::experiment::reviewers::RewritingEffect;
use crate::report::{Cell, Table};
use crate::stats::rank::mean;

/// Kinds in the order of the AUCs of a trial.
const KINDS: [&str; 4] = ["mixed", "llm", "off_topic", "off_topic_llm"];

/// Columns behind the summary where reviews were rewritten.
const EFFECT_COLUMNS: [&str; 3] = ["shift", "low", "low_before"];

/// The table of a report.
pub(super) fn summary(run: &ReviewTrialsRun) -> Table {
    let settings = &run.grid;
    let mut columns = vec!["k", "score_name", "kind", "z"];
    columns.extend(SUMMARY_COLUMNS);
    let with_effects = settings.rewriting.is_some();
    if with_effects {
        columns.extend(EFFECT_COLUMNS);
    }
    let mut table = Table::new(&columns);
    for &k in &settings.papers_per_reviewer {
        let of_k = |z: Option<&[u32]>| {
            let z = z.map(<[u32]>::to_vec);
            run.kept(move |other, used| other == k && z.as_ref().is_none_or(|z| z == used))
        };
        for (score, name) in settings.scores.iter().enumerate() {
            let mut push = |kind: &str, z: Option<&[u32]>, summary, effect: [Cell; 3]| {
                let z_name = z.map(|z| run.z_name(z));
                let mut row: Vec<Cell> =
                    vec![k.into(), name.as_str().into(), kind.into(), z_name.into()];
                row.extend(cells(&summary));
                row.extend(effect.into_iter().filter(|_| with_effects));
                table.push(row);
            };
            let missing = || [Cell::Missing, Cell::Missing, Cell::Missing];
            for (kind, kind_name) in KINDS.into_iter().enumerate() {
                let summary = |z| AucSummary::of(of_k(z).map(|trial| trial.aucs[score][kind]));
                push(kind_name, None, summary(None), missing());
                if settings.z_sources.len() > 1 && kind == 0 {
                    for z in &settings.z_sources {
                        push(kind_name, Some(z), summary(Some(z)), missing());
                    }
                }
            }
            if with_effects {
                let effects = || of_k(None).map(|trial| trial.effects[score]);
                let summary = AucSummary::of(effects().map(|effect| effect.auc));
                let mean_of = |part: fn(RewritingEffect) -> Option<f64>| {
                    mean(&effects().filter_map(part).collect::<Vec<_>>())
                };
                let means = [
                    mean_of(|effect| effect.shift),
                    mean_of(|effect| effect.low),
                    mean_of(|effect| effect.low_before),
                ];
                push("rewritten", None, summary, means.map(Cell::from));
            }
        }
    }
    table
}

/// Every trial, score and kind.
pub(super) fn raw(run: &ReviewTrialsRun) -> Table {
    let settings = &run.grid;
    let columns = ["repetition", "k", "z", "n_reviewers", "score_name", "kind", "auc", "n_missing"];
    let columns: Vec<_> = columns.into_iter().chain(EFFECT_COLUMNS).collect();
    let mut table = Table::new(&columns);
    for (id, trial) in settings.grid(1).with_ids(&run.trials) {
        let (k, z) = settings.point(id.point);
        for (score, name) in settings.scores.iter().enumerate() {
            let kinds = KINDS.into_iter().zip(trial.aucs[score]);
            let kinds = kinds.map(|(kind, auc)| (kind, auc, [None; 3]));
            let effect = trial.effects.get(score).map(|effect| {
                ("rewritten", effect.auc, [effect.shift, effect.low, effect.low_before])
            });
            for (kind, auc, effect) in kinds.chain(effect) {
                let mut row: Vec<Cell> = vec![(id.repetition as usize).into(), k.into()];
                row.extend([run.z_name(z).into(), trial.n_reviewers.into()]);
                row.extend([name.as_str().into(), kind.into()]);
                row.extend([auc.auc.into(), auc.n_missing.into()]);
                row.extend(effect.map(Cell::from));
                table.push(row);
            }
        }
    }
    table
}

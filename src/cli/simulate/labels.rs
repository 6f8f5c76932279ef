//! `caz simulate labels`: a real crowd in which some workers stop working.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::label_input::LabelInput;
use super::super::output::emit;
use super::files::{output_folder, to_stdout, write_labels, write_rows};
use crate::data::labels::LabelTable;
use crate::report::{Report, Table};
use crate::simulate::labels::{ContaminatedCrowd, Shares, WorkerKind, contaminate};
use crate::stats::seed::stream;

/// Replace the labels of some workers of a real crowd by those of an LLM or by guesses
///
/// Writes three files into the folder: labels.csv (task, worker, label), z.csv (the answers of the
/// LLM that the principal holds) and truth.csv (worker, kind: good, llm, random or biased). Workers
/// of the kind llm hand in a sample of the LLM that is not in z.csv.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz simulate labels labels.csv --z llm-labels.csv --llm .1 --random .05 --output simulated
         caz labels simulated/labels.csv --z simulated/z.csv")]
pub(super) struct SimulateLabelsArgs {
    #[command(flatten)]
    input: LabelInput,
    /// Share of the workers, rounded down, who hand in an LLM
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    llm: f64,
    /// Share who draw every label from the label distribution of the crowd
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    random: f64,
    /// Share who give the most common label nine times out of ten, else any
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    biased: f64,
}

/// Runs the command.
pub(super) fn run(args: &SimulateLabelsArgs, common: &Common) -> Result<ExitStatus> {
    let shares = Shares { llm: args.llm, random: args.random, biased: args.biased };
    shares.check().map_err(|error| super::super::exit::UsageError(error.to_string()))?;
    let (loaded, inputs) = args.input.load()?;
    let roles = args.input.single_roles(&loaded)?;
    let data = args.input.data(&loaded, &roles)?;
    let crowd = contaminate(&data.crowd, &shares, &mut stream(common.seed, "simulate labels", 0))?;
    let folder = output_folder(common)?;
    write_labels(&folder.join("labels.csv"), &crowd.table)?;
    let z = data.z.iter().flat_map(|source| {
        let sample = &source.samples[0];
        let labels = sample.labels.iter().zip(loaded.table.tasks().names());
        labels.filter_map(|(label, task)| {
            let label = loaded.z.labels.name(u32::from((*label)?)).to_owned();
            Some([task.clone(), label, source.name.clone(), sample.name.clone()])
        })
    });
    write_rows(&folder.join("z.csv"), &["task", "label", "source", "sample"], z)?;
    let kinds = crowd.kinds.iter().zip(loaded.table.workers().names());
    let kinds = kinds.map(|(kind, worker)| [worker.clone(), kind.as_str().to_owned()]);
    write_rows(&folder.join("truth.csv"), &["worker", "kind"], kinds)?;

    let settings = json!({
        "llm": args.llm,
        "random": args.random,
        "biased": args.biased,
        "z_source": roles.z,
        "llm_source": roles.cheaters,
        "copy_z": roles.copy_z,
        "seed": common.seed,
    });
    let report = Report {
        command: "simulate labels",
        inputs,
        settings: settings.as_object().cloned().unwrap_or_default(),
        table: summary(&loaded.table, &crowd),
        warnings: loaded.warnings.clone(),
        footer: vec![format!(
            "Wrote labels.csv, z.csv and truth.csv to {}. Good workers are those that were left \
             alone; in the real crowd not all of them need be good.",
            folder.display()
        )],
        prose: None,
    };
    emit(&report, &to_stdout(common))?;
    Ok(ExitStatus::Done)
}

/// Workers, labels and changed labels by kind.
fn summary(before: &LabelTable, crowd: &ContaminatedCrowd) -> Table {
    let mut table = Table::new(&["kind", "n_workers", "n_labels", "n_changed"]);
    for kind in WorkerKind::EACH {
        let of_kind = (0..).zip(&crowd.kinds).filter(|(_, other)| **other == kind);
        let (mut workers, mut labels, mut changed) = (0_usize, 0_usize, 0_usize);
        for (worker, _) in of_kind {
            let (old, new) = (before.of_worker(worker), crowd.table.of_worker(worker));
            workers += 1;
            labels += new.len();
            changed += old.labels.iter().zip(new.labels).filter(|(old, new)| old != new).count();
        }
        table.push(vec![kind.as_str().into(), workers.into(), labels.into(), changed.into()]);
    }
    table
}

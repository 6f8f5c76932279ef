//! `caz labels`: score crowd workers from categorical labels.

#![expect(clippy::doc_markdown, reason = "help texts are shown as they are written")]

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::common::Common;
use super::exit::{ExitStatus, UsageError};
use super::label_scores::{Scored, posterior_rows, scores_report};
use super::output::{check_output, emit, write_output};
use super::page::PageArgs;
use super::page::labels::page;
use super::progress::Bar;
use super::reviews::DuplicatesChoice;
use crate::data::duplicates::Duplicates;
use crate::data::label_reader::{LabelFiles, LoadedLabels, read_labels};
use crate::data::source::Source;
use crate::data::z::ZSource;
use crate::mechanism::{
    Bootstrap, Conditioning, CopyMixture, CorrelatedAgreement, CorrelatedAgreementOptions,
    DawidSkene, EmSettings, GivenScores, MAX_ITERATIONS, Mechanism, MinimumOverSources,
    NegativeAgreement, OutputAgreement, Sampling, ScoringFunction, TOLERANCE,
};
use crate::report::Input;
use crate::stats::flag::{FALSE_DISCOVERY_RATE, FlagSettings};

/// Score crowd workers by what their labels share with their peers' beyond an LLM's labels
///
/// Tasks are grouped by the label that the LLM gives them; inside a group a worker earns by
/// agreeing with peers on the same task more than on different tasks. Workers who copy an LLM
/// share nothing with their peers beyond it and end at the bottom.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  LABELS   task, worker, label
  --z      task, label; optional source, sample
  --truth  task, truth

Examples:
  caz labels labels.csv --z llm-labels.csv --output scores.csv
  caz labels labels.csv --z llm-labels.csv --mechanism all --report report.html")]
pub(super) struct LabelsArgs {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks; with several sources the lowest score counts
    #[arg(long, num_args = 1.., value_name = "FILE")]
    z: Vec<PathBuf>,
    /// Mechanisms to score with
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ca_z", value_name = "M")]
    mechanism: Vec<MechanismChoice>,
    /// Known answers: task, truth; adds accuracies to the result
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Fewer tasks behind a score than this give the flag too_few
    #[arg(long, value_name = "N", default_value_t = 10)]
    min_tasks: usize,
    /// False discovery rate of the flag `informative`
    #[arg(long, value_name = "F", default_value_t = FALSE_DISCOVERY_RATE)]
    fdr: f64,
    /// Bound of the flag `uninformative` [default: a quarter of the median score]
    #[arg(long, value_name = "F")]
    margin: Option<f64>,
    /// What to do with a second label of the same worker for the same task
    #[arg(long, value_enum, default_value_t)]
    duplicates: DuplicatesChoice,
    /// ca, ca_z: divide by the weight of the strata in which a worker has a score
    #[arg(long)]
    renormalize_strata: bool,
    /// ca, ca_z: draw N random peers and penalty tasks per label instead of averaging over all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sampled: Option<u32>,
    /// ca, ca_z: which labels count as agreement: label, peer_label, value, optional z
    #[arg(long, value_name = "FILE")]
    scoring_function: Option<PathBuf>,
    /// ds_z: how several sources are used together
    #[arg(long, value_enum, default_value_t)]
    z_combine: CombineChoice,
    /// ds, ds_z: standard errors from N bootstrap samples of the tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    bootstrap: Option<u32>,
    /// ds, ds_z: stop when the objective gains less than this share of its size
    #[arg(long, value_name = "F", default_value_t = TOLERANCE)]
    tolerance: f64,
    /// ds, ds_z: stop after N iterations
    #[arg(long, value_name = "N", default_value_t = MAX_ITERATIONS)]
    max_iterations: usize,
    /// Write the label probabilities of the first of ds and ds_z: task, label, probability
    #[arg(long, value_name = "FILE")]
    posteriors: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum MechanismChoice {
    /// Correlated agreement beyond the LLM
    CaZ,
    /// Correlated agreement
    Ca,
    /// Agreement with peers
    Oa,
    /// Agreement with peers where it differs from the LLM
    OaZ,
    /// Dawid-Skene: estimated accuracy
    Ds,
    /// Dawid-Skene with copying from the LLM; estimates the share copied
    DsZ,
    /// Minus the agreement with the LLM
    NegZ,
    /// All of them; without --z those that need no LLM
    All,
}

impl MechanismChoice {
    const EACH: [Self; 7] =
        [Self::CaZ, Self::Ca, Self::Oa, Self::OaZ, Self::Ds, Self::DsZ, Self::NegZ];

    fn needs_z(self) -> bool {
        matches!(self, Self::CaZ | Self::OaZ | Self::DsZ | Self::NegZ)
    }

    fn is_fitted(self) -> bool {
        matches!(self, Self::Ds | Self::DsZ)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::CaZ => "ca_z",
            Self::Ca => "ca",
            Self::Oa => "oa",
            Self::OaZ => "oa_z",
            Self::Ds => "ds",
            Self::DsZ => "ds_z",
            Self::NegZ => "neg_z",
            Self::All => "all",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CombineChoice {
    /// Condition on each source alone and keep the lowest score
    #[default]
    Min,
    /// Each worker may copy from several sources
    Together,
}

/// Runs the command.
pub(super) fn run(args: &LabelsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    check_output(args.posteriors.as_deref())?;
    args.page.check(common)?;
    let choices = args.check()?;
    let (loaded, mut inputs) = args.load()?;
    let function = match &args.scoring_function {
        None => ScoringFunction::Estimated,
        Some(path) => {
            let source = Source::read(path)?;
            let (given, rows) = GivenScores::read(&source, &loaded.z.labels)?;
            inputs.push(Input::new(&source, rows));
            ScoringFunction::Given(given)
        }
    };
    let mut scored = Vec::new();
    for choice in &choices {
        let mechanism = args.mechanism(*choice, &loaded.z.sources, &function, common.seed);
        let scores = match args.bootstrap.filter(|_| choice.is_fitted()) {
            None => mechanism.score(&loaded.table)?,
            Some(replicates) => {
                let bar = Bar::new(common, "bootstrap", u64::from(replicates));
                let bootstrap = Bootstrap { replicates, seed: common.seed };
                bootstrap.score(mechanism.as_ref(), &loaded.table, &bar)?
            }
        };
        let zero_is_chance = mechanism.zero_is_chance();
        scored.push(Scored { name: choice.as_str(), zero_is_chance, scores });
    }
    if let Some(path) = &args.posteriors
        && let Some(posteriors) = scored.iter().find_map(|scored| scored.scores.posteriors.as_ref())
    {
        write_output(path, |out| posterior_rows(&loaded.table, posteriors, out))?;
    }
    let flags = FlagSettings {
        false_discovery_rate: args.fdr,
        margin: args.margin,
        min_count: args.min_tasks,
    };
    let mut report = scores_report(&loaded, &scored, &flags);
    report.inputs = inputs;
    report.settings = args.settings(&choices, &loaded, common.seed);
    args.page.write(&report, || Ok(page(&report, &loaded, &scored)))?;
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}

impl LabelsArgs {
    /// The mechanisms asked for, each once, in the order asked for.
    fn check(&self) -> Result<Vec<MechanismChoice>> {
        let usage = |message: String| Err(UsageError(message).into());
        let files = self.z.iter().chain([&self.labels]).chain(&self.truth);
        let files = files.chain(&self.scoring_function);
        if files.filter(|path| path.as_os_str() == "-").count() > 1 {
            return usage("standard input (`-`) can be read only once".into());
        }
        if !(0.0..=1.0).contains(&self.fdr) {
            return usage(format!("--fdr is {}, it must be from 0 to 1", self.fdr));
        }
        if self.margin.is_some_and(|margin| !margin.is_finite()) {
            return usage("--margin must be a finite number".into());
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) || self.max_iterations == 0 {
            return usage("--tolerance must be at least 0 and --max-iterations at least 1".into());
        }
        let mut choices = Vec::new();
        for &choice in &self.mechanism {
            let each = match choice {
                MechanismChoice::All => MechanismChoice::EACH
                    .into_iter()
                    .filter(|choice| !self.z.is_empty() || !choice.needs_z())
                    .collect(),
                choice => vec![choice],
            };
            for choice in each {
                if self.z.is_empty() && choice.needs_z() {
                    return usage(format!(
                        "{} needs labels of an LLM; add --z FILE, or choose --mechanism ca, oa or ds",
                        choice.as_str()
                    ));
                }
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
        }
        if self.posteriors.is_some() && !choices.iter().any(|choice| choice.is_fitted()) {
            return usage("--posteriors needs --mechanism ds or ds_z".into());
        }
        Ok(choices)
    }

    /// Reads all files; their bytes are gone when this returns.
    fn load(&self) -> Result<(LoadedLabels, Vec<Input>)> {
        let labels = Source::read(&self.labels)?;
        let z = self.z.iter().map(|path| Source::read(path)).collect::<Result<Vec<_>, _>>()?;
        let truth = self.truth.as_ref().map(|path| Source::read(path)).transpose()?;
        let files = LabelFiles { labels: &labels, z: &z, truth: truth.as_ref() };
        let loaded = read_labels(&files, self.duplicates.into())?;
        let inputs = std::iter::once(&labels)
            .chain(&z)
            .chain(&truth)
            .zip(&loaded.rows)
            .map(|(source, &rows)| Input::new(source, rows))
            .collect();
        Ok((loaded, inputs))
    }

    fn mechanism(
        &self,
        choice: MechanismChoice,
        sources: &[ZSource],
        function: &ScoringFunction,
        seed: u64,
    ) -> Box<dyn Mechanism> {
        let em = EmSettings { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let options = CorrelatedAgreementOptions {
            scoring_function: function.clone(),
            renormalize_strata: self.renormalize_strata,
            sampling: self.sampled.map(|draws| Sampling { draws, seed }),
        };
        let given = |source: &ZSource| Conditioning::on(source.conditioning());
        match choice {
            MechanismChoice::CaZ => minimum(sources, |source| {
                Box::new(CorrelatedAgreement::new(given(source), options.clone()))
            }),
            MechanismChoice::OaZ => {
                minimum(sources, |source| Box::new(OutputAgreement::new(given(source))))
            }
            MechanismChoice::NegZ => {
                minimum(sources, |source| Box::new(NegativeAgreement::new(source.conditioning())))
            }
            MechanismChoice::DsZ if self.z_combine == CombineChoice::Together => {
                Box::new(CopyMixture::new(sources, em))
            }
            MechanismChoice::DsZ => minimum(sources, |source| {
                Box::new(CopyMixture::new(std::slice::from_ref(source), em))
            }),
            MechanismChoice::Ca | MechanismChoice::All => {
                Box::new(CorrelatedAgreement::new(Conditioning::Nothing, options))
            }
            MechanismChoice::Oa => Box::new(OutputAgreement::new(Conditioning::Nothing)),
            MechanismChoice::Ds => Box::new(DawidSkene { settings: em }),
        }
    }

    fn settings(
        &self,
        choices: &[MechanismChoice],
        loaded: &LoadedLabels,
        seed: u64,
    ) -> Map<String, Value> {
        let mechanisms: Vec<&str> = choices.iter().map(|choice| choice.as_str()).collect();
        let sources: Vec<Value> = loaded
            .z
            .sources
            .iter()
            .map(|source| {
                let samples: Vec<&str> =
                    source.samples.iter().map(|sample| sample.name.as_str()).collect();
                json!({ "source": source.name, "samples": samples })
            })
            .collect();
        let z_combine = match self.z_combine {
            CombineChoice::Min => "min",
            CombineChoice::Together => "together",
        };
        let settings = json!({
            "mechanism": mechanisms,
            "z": sources,
            "z_combine": z_combine,
            "min_tasks": self.min_tasks,
            "fdr": self.fdr,
            "margin": self.margin,
            "duplicates": Duplicates::from(self.duplicates),
            "renormalize_strata": self.renormalize_strata,
            "sampled": self.sampled,
            "scoring_function": self.scoring_function.as_ref().map_or("estimated", |_| "given"),
            "bootstrap": self.bootstrap,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "seed": seed,
        });
        settings.as_object().cloned().unwrap_or_default()
    }
}

/// One mechanism per source, of which the lowest score counts.
fn minimum(
    sources: &[ZSource],
    mechanism: impl Fn(&ZSource) -> Box<dyn Mechanism>,
) -> Box<dyn Mechanism> {
    let mut each: Vec<Box<dyn Mechanism>> = sources.iter().map(mechanism).collect();
    match each.len() {
        1 => each.remove(0),
        _ => Box::new(MinimumOverSources::new(each)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use clap::Parser;

    use super::super::{Cli, ExitStatus, run, status_of};
    use super::*;

    /// Runs `caz labels` in a folder of its own; the result as JSON, or the error.
    fn labels(files: &[(&str, &str)], arguments: &[&str]) -> Result<Value> {
        let folder = tempfile::tempdir().unwrap();
        run_in(folder.path(), files, arguments)
    }

    fn run_in(folder: &Path, files: &[(&str, &str)], arguments: &[&str]) -> Result<Value> {
        let path = |name: &str| folder.join(name).display().to_string();
        for (name, text) in files {
            std::fs::write(path(name), text).unwrap();
        }
        let output = path("out.json");
        let mut command = vec!["caz".to_owned(), "labels".into(), "--quiet".into()];
        for argument in arguments {
            let is_file = argument.contains(".csv");
            command.push(if is_file { path(argument) } else { (*argument).to_owned() });
        }
        command.extend(["--output".into(), output.clone()]);
        let status = run(&Cli::try_parse_from(command)?)?;
        assert_eq!(status, ExitStatus::Done);
        Ok(serde_json::from_str(&std::fs::read_to_string(output)?)?)
    }

    /// Rows as `mechanism/worker` and a column.
    fn column(report: &Value, name: &str) -> BTreeMap<String, Value> {
        let rows = report["results"].as_array().unwrap();
        let key = |row: &Value| {
            format!("{}/{}", row["mechanism"].as_str().unwrap(), row["worker"].as_str().unwrap())
        };
        rows.iter().map(|row| (key(row), row[name].clone())).collect()
    }

    fn exit_status(result: Result<Value>) -> (ExitStatus, String) {
        let error = result.unwrap_err();
        (status_of(&error), format!("{error:#}"))
    }

    fn csv(header: &str, rows: &[&str]) -> String {
        format!("{header}\n{}\n", rows.join("\n"))
    }

    fn crowd(rows: &[&str]) -> String {
        csv("task,worker,label", rows)
    }

    const CROWD: [&str; 8] =
        ["q,a,x", "q,b,x", "r,a,y", "r,b,y", "s,a,x", "s,b,x", "t,a,y", "t,b,x"];

    #[test]
    fn columns_are_the_contract_and_follow_the_mechanisms_asked_for() {
        let files = [("l.csv", &*crowd(&CROWD)), ("gpt.csv", "task,label\nq,x\nr,x\ns,y\n")];
        let report =
            labels(&files, &["l.csv", "--z", "gpt.csv", "--mechanism", "oa,ca_z,oa"]).unwrap();
        let rows = report["results"].as_array().unwrap();
        let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "worker",
                "mechanism",
                "score",
                "se",
                "ci_low",
                "ci_high",
                "n_tasks",
                "n_z_tasks",
                "rank",
                "flag",
                "lambda"
            ]
        );
        let mechanisms: Vec<&str> =
            rows.iter().map(|row| row["mechanism"].as_str().unwrap()).collect();
        assert_eq!(mechanisms, ["oa", "oa", "ca_z", "ca_z"]);
        assert_eq!(column(&report, "n_z_tasks")["ca_z/a"], 3);
        assert_eq!(column(&report, "n_z_tasks")["oa/a"], Value::Null);
        assert_eq!(report["settings"]["mechanism"], json!(["oa", "ca_z"]));
        assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn scores_without_a_meaningful_zero_have_no_flag_but_too_few() {
        let files = [("l.csv", &*crowd(&CROWD)), ("gpt.csv", "task,label\nq,x\nr,x\ns,y\n")];
        let flags = |min: &str| {
            let arguments = ["l.csv", "--z", "gpt.csv", "--mechanism", "all", "--min-tasks", min];
            column(&labels(&files, &arguments).unwrap(), "flag")
        };
        assert_eq!(flags("2")["neg_z/a"], Value::Null);
        assert_eq!(flags("2")["ds/a"], Value::Null);
        assert!(flags("2")["ca/a"].is_string());
        assert_eq!(flags("9")["neg_z/a"], "too_few");
        assert_eq!(flags("9")["ca/a"], "too_few");
    }

    #[test]
    fn truth_adds_the_accuracy_of_workers_and_consensus() {
        let truth = "task,truth\nq,x\nr,x\nt,y\n";
        let files = [("l.csv", &*crowd(&CROWD)), ("t.csv", truth)];
        let report =
            labels(&files, &["l.csv", "--truth", "t.csv", "--mechanism", "ca,ds"]).unwrap();
        assert_eq!(column(&report, "n_truth_tasks")["ca/a"], 3);
        assert_eq!(column(&report, "accuracy")["ca/a"], json!(2.0 / 3.0));
        assert_eq!(column(&report, "accuracy")["ds/b"], json!(1.0 / 3.0));
        // q right, r wrong, t tied.
        assert_eq!(column(&report, "consensus_accuracy")["ca/a"], json!(0.5));
    }

    #[test]
    fn degenerate_crowds_have_missing_scores_and_no_numbers_made_up() {
        let z = "task,label\nq,x\nr,y\n";
        let far = "task,label\nelsewhere,x\n";
        let cases: [(&str, &[&str], &str, Option<f64>); 8] = [
            ("one worker", &["q,a,x", "r,a,y"], z, None),
            ("one task", &["q,a,x", "q,b,x"], z, None),
            ("two workers who never meet", &["q,a,x", "r,b,x"], z, None),
            ("no overlap with Z", &CROWD, far, None),
            ("a worker with one task", &["q,a,x", "q,b,x", "r,b,y"], z, None),
            // Everybody agrees always: nothing to tell.
            (
                "one label",
                &["q,a,x", "q,b,x", "r,a,x", "r,b,x"],
                "task,label\nq,x\nr,x\n",
                Some(0.0),
            ),
            // Z is w where nobody says w: a stratum like any other. T(x,x) and T(y,y) hold, each
            // worker is paid 1 - 0 on both tasks.
            (
                "unseen Z",
                &["q,a,x", "q,b,x", "r,a,y", "r,b,y"],
                "task,label\nq,w\nr,w\n",
                Some(1.0),
            ),
            ("one report", &["q,a,x"], z, None),
        ];
        for (what, rows, z, expected) in cases {
            let files = [("l.csv", &*crowd(rows)), ("gpt.csv", z)];
            let report =
                labels(&files, &["l.csv", "--z", "gpt.csv", "--mechanism", "all"]).unwrap();
            let scores = column(&report, "score");
            assert_eq!(scores["ca_z/a"], json!(expected), "{what}");
            for (row, score) in &scores {
                if score.is_null() {
                    assert_eq!(column(&report, "flag")[row], "too_few", "{what}: {row}");
                    assert_eq!(column(&report, "rank")[row], Value::Null, "{what}: {row}");
                }
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
        let rows: Vec<String> = (0..400)
            .map(|n| format!("q{},w{},{}", n / 4, (n * 7 + n / 4) % 13, (n * n + n / 3) % 3))
            .collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let z: Vec<String> = (0..90).map(|n| format!("q{n},{}", n % 4)).collect();
        let z: Vec<&str> = z.iter().map(String::as_str).collect();
        let files = [("l.csv", &*crowd(&rows)), ("gpt.csv", &*csv("task,label", &z))];
        let folder = tempfile::tempdir().unwrap();
        let mut results = Vec::new();
        for threads in ["1", "3"] {
            let mut arguments = vec!["l.csv", "--z", "gpt.csv", "--mechanism", "all"];
            arguments.extend(["--duplicates", "last", "--bootstrap", "5", "--threads", threads]);
            results.push(run_in(folder.path(), &files, &arguments).unwrap());
            arguments.extend(["--sampled", "3", "--seed", "4"]);
            results.push(run_in(folder.path(), &files, &arguments).unwrap());
        }
        assert_eq!(results[0], results[2]);
        assert_eq!(results[1], results[3]);
        let (exact, sampled) = (column(&results[0], "score"), column(&results[1], "score"));
        assert_ne!(exact["ca_z/w1"], sampled["ca_z/w1"]);
        assert!(column(&results[0], "se")["ds/w1"].is_number());
    }

    #[test]
    fn several_sources_give_the_lowest_score() {
        let z = "task,label,source\nq,x,one\nr,x,one\ns,x,one\nt,x,one\nq,x,two\nr,y,two\ns,x,two\nt,y,two\n";
        let alone = |source: &str| {
            let rows: String = z
                .lines()
                .filter(|row| row.contains(source))
                .fold("task,label,source\n".to_owned(), |text, row| text + row + "\n");
            let files = [("l.csv", &*crowd(&CROWD)), ("z.csv", &*rows)];
            column(&labels(&files, &["l.csv", "--z", "z.csv"]).unwrap(), "score")
        };
        let files = [("l.csv", &*crowd(&CROWD)), ("z.csv", z)];
        let both = column(&labels(&files, &["l.csv", "--z", "z.csv"]).unwrap(), "score");
        let (one, two) = (alone("one"), alone("two"));
        for worker in ["ca_z/a", "ca_z/b"] {
            let lowest = one[worker].as_f64().unwrap().min(two[worker].as_f64().unwrap());
            assert_eq!(both[worker].as_f64(), Some(lowest));
        }
        assert_ne!(one, two);
    }

    #[test]
    fn posteriors_are_written_for_every_task_and_label() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("l.csv", &*crowd(&CROWD))];
        let arguments = ["l.csv", "--mechanism", "ds", "--posteriors", "p.csv"];
        run_in(folder.path(), &files, &arguments).unwrap();
        let text = std::fs::read_to_string(folder.path().join("p.csv")).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 1 + 4 * 2);
        assert_eq!(rows[0], "task,label,probability");
        let probability = |row: &str| row.rsplit(',').next().unwrap().parse::<f64>().unwrap();
        assert!((probability(rows[1]) + probability(rows[2]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_scoring_function_replaces_the_estimated_one() {
        // Nothing counts as agreement: every score is 0.
        let files = [("l.csv", &*crowd(&CROWD)), ("t.csv", "label,peer_label,value\nx,x,0\n")];
        let arguments = ["l.csv", "--mechanism", "ca", "--scoring-function", "t.csv"];
        let report = labels(&files, &arguments).unwrap();
        assert_eq!(column(&report, "score")["ca/a"], json!(0.0));
        assert_eq!(report["settings"]["scoring_function"], "given");
    }

    #[test]
    fn usage_errors_say_what_to_do() {
        let files = [("l.csv", &*crowd(&CROWD))];
        let (status, message) = exit_status(labels(&files, &["l.csv"]));
        assert_eq!(status, ExitStatus::Usage);
        assert!(message.contains("ca_z needs labels of an LLM; add --z FILE"), "{message}");
        let posteriors = ["l.csv", "--mechanism", "ca", "--posteriors", "p.csv"];
        let (status, message) = exit_status(labels(&files, &posteriors));
        assert_eq!(status, ExitStatus::Usage);
        assert!(message.contains("--posteriors needs --mechanism ds or ds_z"), "{message}");
        let (status, message) = exit_status(labels(&files, &["missing.csv", "--mechanism", "ca"]));
        assert_eq!(status, ExitStatus::Missing);
        assert!(message.contains("no such file"), "{message}");
        let all = labels(&files, &["l.csv", "--mechanism", "all"]).unwrap();
        assert_eq!(all["settings"]["mechanism"], json!(["ca", "oa", "ds"]));
    }
}

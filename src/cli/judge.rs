//! `caz judge`: which of two answers is better, by one judge, debates, juries and the control.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value};

use super::annotate::{Ended, Output, OutputArgs};
use super::common::Common;
use super::exit::ExitStatus;
use super::files::OutputFile;
use super::keyed::{Keyed, Keys};
use super::llm::{Connection, LlmArgs};
use super::output::{check_output, write_output};
use super::progress::open;
use crate::annotate::pairs::{COMMAND, Method, Pairs, PairsSettings};
use crate::annotate::{RowFormat, write_json_lines};
use crate::error::Result;
use crate::judge::pairs::DebateModels;
use crate::judge::pairs::samre::StopRule;
use crate::llm::ChatModel;

/// How every pair is judged.
#[derive(Debug, Args)]
pub(super) struct WaysArgs {
    /// Let a jury vote on top of every method but repeated; its verdict stands beside (+jury)
    #[arg(long)]
    jury: bool,
    /// Who sits on the jury: a name or a TOML file, see `caz prompts show jury`
    #[arg(long, value_name = "P", default_value = "jury", hide_short_help = true)]
    personas: String,
    /// What is compared: answers, reviews (of a paper that is the context), or a TOML file
    #[arg(long, value_name = "C", default_value = "answers")]
    criteria: String,
    /// Most rounds of samre
    #[arg(long, value_name = "N", default_value_t = 4)]
    rounds: u32,
    /// When samre ends before
    #[arg(long, value_enum, default_value_t)]
    stop: StopRule,
    #[command(flatten)]
    roles: Keyed<Roles>,
    /// Write what was said to FILE, one JSON object per verdict; it holds the texts
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    transcripts: Option<OutputFile>,
}

/// What few people change of it.
#[derive(Debug, Clone, Args)]
pub(super) struct Roles {
    /// Fewest readable votes of a verdict of the jury
    #[arg(long, value_name = "N", default_value_t = 3)]
    quorum: u32,
    /// Folder with prompts of your own for roles, named as in `caz prompts list` (debate-judge.toml, ...)
    #[arg(long, value_name = "FOLDER")]
    prompts: Option<PathBuf>,
    /// Show answer a first only, in place of both orders: a verdict that changes with the order is not seen
    #[arg(long)]
    one_order: bool,
    /// Advocates of either answer in more
    #[arg(long, value_name = "N", default_value_t = 3)]
    advocates: u32,
    /// stop gap and converged: their bound
    #[arg(long, value_name = "POINTS", default_value_t = 2.0)]
    gap: f64,
    /// Answers that may be asked for until one can be used
    #[arg(long, value_name = "N", default_value_t = 3)]
    turns: u32,
    /// Model of the advocates, on the same server, in place of --model
    #[arg(long, value_name = "NAME")]
    advocate_model: Option<String>,
    /// Model of the judge, in place of --model
    #[arg(long, value_name = "NAME")]
    judge_model: Option<String>,
    /// Model of the jury, in place of --model
    #[arg(long, value_name = "NAME")]
    juror_model: Option<String>,
}

impl Keys for Roles {
    const FLAG: &'static str = "judge";
    const ABOUT: &'static str = "Who judges, and how often it is asked";
    const RARE: bool = true;
}

/// Which of two answers is better: one judge, debates, juries and the control
///
/// One row per item, method and order. A verdict is made of sums that caz computes; an answer that
/// cannot be read is a failure, never a score. Hold the rows against gold verdicts with
/// `caz experiment judges`. Texts are sent to the server named by --base-url and nowhere else.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz judge pairs.jsonl --method single,more,samre,repeated --jury \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output verdicts.csv")]
pub(super) struct JudgeArgs {
    /// Pairs: item, a, b, optional context; or MT-Bench's own judgments with their conversations
    pairs: PathBuf,
    /// Ways to judge
    #[arg(long, value_enum, value_delimiter = ',', default_value = "single", value_name = "M")]
    method: Vec<Method>,
    #[command(flatten)]
    ways: WaysArgs,
    #[command(flatten)]
    run: OutputArgs,
}

impl WaysArgs {
    /// Where what was said goes.
    pub(super) fn transcripts(&self) -> Option<&Path> {
        self.transcripts.as_deref()
    }

    fn settings(&self, methods: &[Method], out: &OutputArgs, common: &Common) -> PairsSettings {
        PairsSettings {
            methods: methods.to_vec(),
            criteria: self.criteria.clone(),
            prompts: self.roles.prompts.clone(),
            jury: self.jury,
            personas: self.personas.clone(),
            quorum: self.roles.quorum,
            both_orders: !self.roles.one_order,
            advocates: self.roles.advocates,
            rounds: self.rounds,
            stop: self.stop,
            gap: self.roles.gap,
            turns: self.roles.turns,
            temperature: out.llm.temperature,
            max_tokens: out.llm.max_tokens,
            seed: common.seed,
            advocate_model: self.roles.advocate_model.clone(),
            judge_model: self.roles.judge_model.clone(),
            juror_model: self.roles.juror_model.clone(),
        }
    }

    /// The models of all roles: that of the connection where no other is named.
    fn cast(
        &self,
        connection: &Connection,
        llm: &LlmArgs,
        common: &Common,
    ) -> Result<DebateModels> {
        let role = |name: &Option<String>| -> Result<Arc<dyn ChatModel>> {
            match name {
                None => Ok(Arc::clone(&connection.model)),
                Some(name) => connection.sibling(llm, name, common),
            }
        };
        Ok(DebateModels {
            advocate: role(&self.roles.advocate_model)?,
            judge: role(&self.roles.judge_model)?,
            juror: role(&self.roles.juror_model)?,
        })
    }
}

/// Judges every pair of a file by every method, writes the verdicts and, where asked for, what was
/// said; how it ended, and what stands in a result of how it was done.
pub(super) fn judge(
    path: &Path,
    methods: &[Method],
    (ways, run): (&WaysArgs, &OutputArgs),
    common: &Common,
) -> Result<(Ended, Map<String, Value>)> {
    let out = Output::new(COMMAND, RowFormat::Csv, run, common)?;
    check_output(ways.transcripts.as_deref())?;
    let settings = ways.settings(methods, run, common);
    let pairs = Pairs::prepare(&settings, || Ok(open(path, common)?))?;
    let connection = run.llm.connect(common, run.dry_run)?;
    let cast = ways.cast(&connection, &run.llm, common)?;
    let mut provenance = pairs.provenance();
    provenance.insert("model".into(), connection.model.model().into());
    provenance.insert("place".into(), connection.place.clone().into());
    if run.dry_run {
        let status = out.plan(&connection, |asked| pairs.rehearse(&cast, asked))?;
        return Ok((Ended { status, is_written: false }, provenance));
    }
    let (mut said, mut done) = (Vec::new(), 0);
    let ended = out.ask(pairs.len(), &connection, |asked, observer| {
        let (annotation, transcripts) = pairs.run(&cast, asked, connection.is_server(), observer);
        (said, done) = (transcripts, annotation.done);
        annotation
    });
    if let Some(path) =
        ways.transcripts.as_ref().filter(|path| done > 0 || !said.is_empty() && !path.exists())
    {
        write_output(path, |out| write_json_lines(&said, out))?;
    }
    Ok((ended?, provenance))
}

/// Runs the command.
pub(super) fn run(args: &JudgeArgs, common: &Common) -> Result<ExitStatus> {
    Ok(judge(&args.pairs, &args.method, (&args.ways, &args.run), common)?.0.status)
}

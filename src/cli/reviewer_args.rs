//! Flags of everything that makes reviewers: how they review, how they cheat, how people write.

use crate::error::Result;
use clap::Args;

use super::exit::UsageError;
use super::review_input::ReviewInput;
use crate::simulate::making::MakingSettings;
use crate::simulate::rewording::Rewriting;

/// How reviewers are made.
#[derive(Debug, Args)]
pub(super) struct ReviewerArgs {
    /// Most reviews per paper; 3 are two peers for everybody
    #[arg(long, value_name = "N", default_value_t = 3)]
    reviews_per_paper: usize,
    /// Share of the papers with Z
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    z_coverage: f64,
    /// All sources are Z together; cheaters with an LLM then need --copy-z
    #[arg(long, conflicts_with = "z_source")]
    z_together: bool,
    /// Cheaters hand in Z itself
    #[arg(long)]
    copy_z: bool,
    /// Cheaters reword what they hand in by rules, and leave out a third of it
    #[arg(long)]
    reword_copies: bool,
    /// Share of the people whose reviews look as if an LLM had polished them: formal words,
    /// headings, bold aspects, stock phrases, all by rules
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["formal", "shorten"])]
    polish: Option<f64>,
    /// Share of the people whose reviews get formal words
    #[arg(long, value_name = "SHARE", conflicts_with = "shorten")]
    formal: Option<f64>,
    /// Share of the people whose reviews are cut to their first --sentences
    #[arg(long, value_name = "SHARE")]
    shorten: Option<f64>,
    /// Sentences that --shorten leaves
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    sentences: u16,
}

impl ReviewerArgs {
    /// What happens to the reviews of which share of the people.
    fn rewriting(&self) -> Result<Option<(Rewriting, f64)>> {
        let short = Rewriting::Short(usize::from(self.sentences));
        let choices = [
            ("polish", Rewriting::Polished, self.polish),
            ("formal", Rewriting::Formal, self.formal),
            ("shorten", short, self.shorten),
        ];
        let chosen = choices.into_iter().find_map(|(name, how, share)| Some((name, how, share?)));
        let Some((name, how, share)) = chosen else { return Ok(None) };
        if !(0.0..=1.0).contains(&share) {
            let message = format!("--{name} is {share}; give a share from 0 to 1");
            return Err(UsageError(message).into());
        }
        Ok(Some((how, share)))
    }

    /// How reviewers are made.
    pub(super) fn settings(&self, input: &ReviewInput) -> Result<MakingSettings> {
        Ok(MakingSettings {
            reviews_per_paper: self.reviews_per_paper,
            z_source: input.z_source(),
            z_together: self.z_together,
            z_coverage: self.z_coverage,
            copy_z: self.copy_z,
            reword_copies: self.reword_copies,
            rewriting: self.rewriting()?,
            duplicates: input.duplicates(),
            import: input.import()?,
        })
    }
}

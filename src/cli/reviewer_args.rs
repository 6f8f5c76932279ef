//! Keys of everything that makes reviewers: how they review, how they cheat, how people write.

use crate::error::Result;
use clap::Args;

use super::review_input::ReviewFiles;
use crate::simulate::making::MakingSettings;
use crate::simulate::rewording::Rewriting;

/// How reviewers are made.
#[derive(Debug, Clone, Args)]
pub(super) struct ReviewerArgs {
    /// The source, or source/sample, that is Z; cheaters use the others
    #[arg(long, value_name = "SOURCE")]
    z_source: Option<String>,
    /// Most reviews per paper; 3 are two peers for everybody
    #[arg(long, value_name = "N", default_value_t = 3)]
    reviews_per_paper: usize,
    /// Share of the papers with Z
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    z_coverage: f64,
    /// All sources are Z together; cheaters with an LLM then need copy-z
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
    /// Share of the people whose reviews are cut to their first sentences
    #[arg(long, value_name = "SHARE")]
    shorten: Option<f64>,
    /// Sentences that shorten leaves
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    sentences: u16,
}

impl ReviewerArgs {
    /// What happens to the reviews of which share of the people.
    fn rewriting(&self) -> Option<(Rewriting, f64)> {
        let short = Rewriting::Short(usize::from(self.sentences));
        let choices = [
            (Rewriting::Polished, self.polish),
            (Rewriting::Formal, self.formal),
            (short, self.shorten),
        ];
        choices.into_iter().find_map(|(how, share)| Some((how, share?)))
    }

    /// How reviewers are made of these files.
    pub(super) fn settings(&self, files: &ReviewFiles) -> Result<MakingSettings> {
        Ok(MakingSettings {
            reviews_per_paper: self.reviews_per_paper,
            z_source: self.z_source.clone(),
            z_together: self.z_together,
            z_coverage: self.z_coverage,
            copy_z: self.copy_z,
            reword_copies: self.reword_copies,
            rewriting: self.rewriting(),
            duplicates: files.duplicates(),
            import: files.import()?,
        })
    }
}

//! Algorithms 1 and 2 of the paper by draws: a random peer and a random penalty task other than this
//! one; or as they are printed, see [`PeerDraws::printed`].
//!
//! The mean over many draws converges to the exact score of
//! [`super::correlated_agreement`]; this exists to check that one, and to teach.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rayon::prelude::*;

use super::chunks::{merged, task_chunks};
use super::scoring_function::ScoreMatrix;
use super::strata::Stratum;
use crate::data::labels::{Label, LabelTable};
use crate::stats::moments::Moments;
use crate::stats::seed::stream;

/// How to run Algorithms 1 and 2 by draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerDraws {
    /// Draws per report, at least 1; the score is their mean.
    pub draws: u32,
    /// As the paper prints the algorithms: every peer in every draw, whether or not they have another
    /// task, and a penalty task that may be the task itself. The term of a peer with n tasks in the
    /// stratum is then (n - 1) / n of the term where it may not; that of a peer with one is 0.
    pub(crate) printed: bool,
    /// Seed of the draws.
    pub seed: u64,
}

/// Draws the task terms of one stratum.
pub(super) struct SampledTerms<'a> {
    pub(super) table: &'a LabelTable,
    pub(super) matrix: &'a ScoreMatrix,
    pub(super) sampling: PeerDraws,
}

/// Tasks and labels of one worker in the stratum, by task number.
type Answers = Vec<(u32, Label)>;

impl SampledTerms<'_> {
    /// Moments of the task terms of every worker; a term is the mean over the draws.
    pub(super) fn moments(&self, stratum: &Stratum) -> Vec<Moments> {
        let mut answers = vec![Answers::new(); self.table.worker_count()];
        for &task in &stratum.tasks {
            for (worker, label) in self.table.of_task(task).iter() {
                answers[worker as usize].push((task, label));
            }
        }
        let parts = task_chunks(self.table, &stratum.tasks)
            .into_par_iter()
            .map(|tasks| {
                let mut moments = vec![Moments::default(); self.table.worker_count()];
                for &task in tasks {
                    self.push_terms(task, &answers, &mut moments);
                }
                moments
            })
            .collect();
        merged(parts)
    }

    fn push_terms(&self, task: u32, answers: &[Answers], moments: &mut [Moments]) {
        // One stream per task, so that draws do not depend on the number of threads.
        let mut random = stream(self.sampling.seed, "sampled", u64::from(task));
        let reports = self.table.of_task(task);
        let least = if self.sampling.printed { 1 } else { 2 };
        let usable: Vec<(u32, Label)> =
            reports.iter().filter(|&(peer, _)| answers[peer as usize].len() >= least).collect();
        for (worker, label) in reports.iter() {
            let peers: Vec<(u32, Label)> =
                usable.iter().copied().filter(|&(peer, _)| peer != worker).collect();
            let draw = |_| {
                if self.sampling.printed {
                    let term = |&(peer, bonus): &(u32, Label)| {
                        let &(_, penalty) = answers[peer as usize].choose(&mut random)?;
                        Some(self.matrix.get(label, bonus) - self.matrix.get(label, penalty))
                    };
                    let sum: Option<f64> = peers.iter().map(term).sum();
                    return sum.filter(|_| !peers.is_empty()).map(|sum| sum / peers.len() as f64);
                }
                let &(peer, bonus) = peers.choose(&mut random)?;
                let others = &answers[peer as usize];
                // A penalty task other than this one: draw among one fewer and step over it.
                let own = others.binary_search_by_key(&task, |&(other, _)| other).ok()?;
                let drawn = random.random_range(0..others.len() - 1);
                let (_, penalty) = others[drawn + usize::from(drawn >= own)];
                Some(self.matrix.get(label, bonus) - self.matrix.get(label, penalty))
            };
            let sum: Option<f64> = (0..self.sampling.draws).map(draw).sum();
            if let Some(sum) = sum.filter(|_| self.sampling.draws > 0) {
                moments[worker as usize].push(sum / f64::from(self.sampling.draws));
            }
        }
    }
}

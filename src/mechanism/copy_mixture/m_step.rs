//! The M-step: the shares of the classes and the LLMs here, the workers in
//! [`workers`](super::workers).

use rayon::prelude::*;

use super::LLM_WEIGHT;
use super::state::State;
use super::workers::WorkerRows;

impl State {
    /// Updates every parameter from the posteriors of the tasks; returns the log of the priors.
    pub(super) fn m_step(&mut self, posteriors: &[f64]) -> f64 {
        let llm_penalty = self.update_contexts(posteriors);
        let (classes, sources) = (self.classes(), self.signals.copies.len());
        let mut log_report = std::mem::take(&mut self.log_report);
        let mut own = std::mem::take(&mut self.own);
        let mut own_totals = std::mem::take(&mut self.own_totals);
        let mut copying = std::mem::take(&mut self.copying);
        let mut rows: Vec<WorkerRows<'_>> = self
            .cells
            .split_by_worker(&mut log_report)
            .into_iter()
            .zip(self.cells.split_by_worker(&mut own))
            .zip(own_totals.chunks_exact_mut(classes))
            .map(|((log_report, own), own_totals)| WorkerRows {
                log_report,
                own,
                own_totals,
                copying: &mut [],
            })
            .collect();
        if sources > 0 {
            for (rows, copying) in rows.iter_mut().zip(copying.chunks_exact_mut(sources)) {
                rows.copying = copying;
            }
        }
        let penalties: Vec<f64> = rows
            .into_par_iter()
            .enumerate()
            .map(|(worker, mut rows)| self.update_worker(worker, &mut rows, posteriors))
            .collect();
        self.log_report = log_report;
        self.own = own;
        self.own_totals = own_totals;
        self.copying = copying;
        llm_penalty + penalties.iter().sum::<f64>()
    }

    /// Updates `π` and `Γ^Z`; returns the log of the prior of `Γ^Z`.
    fn update_contexts(&mut self, posteriors: &[f64]) -> f64 {
        let classes = self.classes();
        let sums = self.cells.context_sums(posteriors);
        let mut prior = vec![0.0; classes];
        for row in sums.chunks_exact(classes) {
            prior.iter_mut().zip(row).for_each(|(prior, sum)| *prior += sum);
        }
        let total: f64 = prior.iter().sum();
        for entry in &mut prior {
            *entry /= total;
        }
        for row in self.log_context.chunks_exact_mut(classes) {
            row.iter_mut().zip(&prior).for_each(|(log, prior)| *log = prior.ln());
        }
        self.prior = prior;
        let mut penalty = 0.0;
        for source in 0..self.signals.copies.len() {
            penalty += self.update_llm(source, &sums);
        }
        penalty
    }

    /// Updates `Γ^Z` of one source and adds its logs to the contexts.
    fn update_llm(&mut self, source: usize, sums: &[f64]) -> f64 {
        let (classes, levels) = (self.classes(), self.signals.copies[source].levels);
        if levels == 0 {
            return 0.0;
        }
        let level_of = |context: usize| {
            self.signals.of_context(context as u32).find(|&(s, _)| s == source).map(|(_, l)| l)
        };
        let pseudo_count = LLM_WEIGHT / levels as f64;
        // Row-major level by class.
        let mut confusion = vec![pseudo_count; levels * classes];
        for (context, row) in sums.chunks_exact(classes).enumerate() {
            let Some(level) = level_of(context) else { continue };
            for (entry, sum) in confusion[level * classes..][..classes].iter_mut().zip(row) {
                *entry += sum;
            }
        }
        let mut penalty = 0.0;
        for y in 0..classes {
            let total: f64 = confusion.iter().skip(y).step_by(classes).sum();
            for entry in confusion.iter_mut().skip(y).step_by(classes) {
                *entry = (*entry / total).ln();
                penalty += pseudo_count * *entry;
            }
        }
        for (context, row) in self.log_context.chunks_exact_mut(classes).enumerate() {
            let Some(level) = level_of(context) else { continue };
            for (log, llm) in row.iter_mut().zip(&confusion[level * classes..][..classes]) {
                *log += llm;
            }
        }
        penalty
    }
}

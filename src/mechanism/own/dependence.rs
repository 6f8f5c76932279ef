//! How far the answers to several questions of one task are one answer.
//!
//! What is left of a worker's answers when all that is expected is taken away has a sum over the questions
//! of each task. Of questions that have nothing to do with each other the squares of these sums add up to those
//! of every question; of `m` that are the same one, to `m` times as much. The ratio is what the variance of a
//! mean over all of them must be multiplied by, and what their evidence must be divided by (the design effect
//! of Kish, Survey Sampling, 1965).

/// Share of the squares that rounding may leave about the mean of equal residuals.
const ROUNDING: f64 = 1e-12;

/// Sums of squares of residuals of workers, about the mean of each.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Dependence {
    /// Of every question.
    pub(super) squares: f64,
    /// Of the sums over the questions of each task.
    by_task: f64,
    /// What that is on average where they have nothing to do with each other.
    alone: f64,
}

impl Dependence {
    /// Of one worker, the questions of each task one after another.
    pub(super) fn of(questions: f64, residuals: impl Iterator<Item = f64>) -> Self {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let (mut of_task, mut by_task, mut left) = (0.0, 0.0, questions);
        for residual in residuals {
            count += 1.0;
            sum += residual;
            squares += residual * residual;
            of_task += residual;
            left -= 1.0;
            if left == 0.0 {
                by_task += of_task * of_task;
                (of_task, left) = (0.0, questions);
            }
        }
        let all = squares;
        let squares = (all - sum * sum / count).max(0.0);
        if squares <= ROUNDING * all {
            // Who always says the same tells nothing.
            return Self { squares, ..Self::default() };
        }
        let by_task = (by_task - questions * sum * sum / count).max(0.0);
        // Residuals about their mean differ a little less than they would, and their sums less so.
        let alone = squares * (count - questions) / f64::max(count - 1.0, 1.0);
        Self { squares, by_task, alone }
    }

    /// The design effect in a crowd: 1 where the questions have nothing to do with each other, or make up for each
    /// other, and at most their number, which it is where nothing tells.
    pub(super) fn effect(questions: f64, workers: impl Iterator<Item = Self>) -> f64 {
        let [by_task, alone] = workers
            .fold([0.0; 2], |[by_task, alone], one| [by_task + one.by_task, alone + one.alone]);
        if alone > 0.0 { (by_task / alone).clamp(1.0, questions) } else { questions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_effect(want: f64, questions: f64, workers: &[&[f64]]) -> bool {
        let of = |residuals: &&[f64]| Dependence::of(questions, residuals.iter().copied());
        (Dependence::effect(questions, workers.iter().map(of)) - want).abs() < 1e-12
    }

    #[test]
    fn design_effects_by_hand() {
        // Four tasks, two questions each. The same twice: sums 2, -2, 4, -4 with squares 40, where each adds up to
        // 20, of which 6/7 are free: more than twice as much.
        let same = [1.0, 1.0, -1.0, -1.0, 2.0, 2.0, -2.0, -2.0];
        assert!(has_effect(2.0, 2.0, &[&same]));
        // The one the contrary of the other: sums of 0.
        assert!(has_effect(1.0, 2.0, &[&[1.0, -1.0, 2.0, -2.0]]));
        // Sums 3, -1, -1, -1 with squares 12; 2 and 1, -1 and 0 each: 8, of which 6/7.
        let some = [2.0, 1.0, -1.0, 0.0, -1.0, 0.0, -1.0, 0.0];
        let effect = 12.0 / (6.0 / 7.0 * 8.0);
        assert!(has_effect(effect, 2.0, &[&some]));
        // About the mean: one more everywhere is the same, and of two workers squares add up.
        assert!(has_effect(effect, 2.0, &[&some, &some.map(|one| one + 1.0)]));
        // Nothing tells: one task, no residual, or the same everywhere, of which rounding leaves 1e-17.
        assert!(has_effect(2.0, 2.0, &[&[1.0, -1.0]]) && has_effect(3.0, 3.0, &[]));
        assert!(has_effect(3.0, 3.0, &[&[0.1; 6], &[0.7; 9]]));
        // One question a task is that.
        assert!(has_effect(1.0, 1.0, &[&same]) && has_effect(1.0, 1.0, &[]));
    }
}

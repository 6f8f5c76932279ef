//! Does the worker say anything that others confirm?
//!
//! How often the others say the worker's label on the task, minus how often they say it on the worker's
//! other tasks: exactly 0 for one label always, 0 on average for labels drawn without looking at the task,
//! with a variance that is known. What another person would have there is known, too.

use statrs::function::beta::ln_beta;

use super::dependence::Dependence;
use super::said::Hearing;
use crate::data::labels::Label;

/// Tasks of an average worker by which the variance of a worker's own tasks is shrunk.
const SHRINKAGE: f64 = 8.0;

/// Who gives one label at least so often may be giving it always.
const NEARLY_ALWAYS: f64 = 0.85;

/// What the answers of a worker have in common with those of others.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Confirmed {
    /// Tasks that others answered, too.
    pub(super) tasks: f64,
    /// Share of the others who say the same, mean over the tasks.
    pub(super) agreement: f64,
    /// That on the same task minus that on the worker's other tasks.
    pub(super) value: f64,
    /// That of another person, who says what the others say.
    pub(super) expected: f64,
    /// Sum of squares of the tasks' differences from the mean difference.
    squares: f64,
    /// Of these differences.
    pub(super) dependence: Dependence,
    /// Variance of `value` for somebody who draws labels from the worker's own, blindly.
    pub(super) blind: f64,
    /// The label that the worker gives nearly always.
    pub(super) favourite: Option<Label>,
}

impl Confirmed {
    /// The same where the questions of a task count as so many times fewer.
    pub(super) fn of_fewer(self, effect: f64) -> Self {
        let [tasks, squares] = [self.tasks, self.squares].map(|sum| sum / effect);
        Self { tasks, squares, blind: effect * self.blind, ..self }
    }

    /// How far below another person, with its variance, where `pooled` is the variance of a task.
    pub(super) fn below(&self, pooled: f64) -> (f64, f64) {
        let n = self.tasks;
        let task = (self.squares + SHRINKAGE * pooled) / ((n - 1.0).max(0.0) + SHRINKAGE);
        (self.expected - self.value, task / n.max(1.0))
    }

    /// The variance of a task among all workers.
    pub(super) fn pooled(all: &[Self]) -> f64 {
        let squares: f64 = all.iter().map(|one| one.squares).sum();
        let degrees: f64 = all.iter().map(|one| (one.tasks - 1.0).max(0.0)).sum();
        squares / degrees.max(1.0)
    }

    /// By how many deviations the value is above that of blind answers; 0 where these cannot vary.
    pub(super) fn above_blind(&self) -> f64 {
        self.value / self.blind_deviation()
    }

    /// The standard deviation of `value` for blind answers.
    pub(super) fn blind_deviation(&self) -> f64 {
        (self.blind + 1e-9).sqrt()
    }
}

/// Sums over the tasks of one worker, by label; used again for the next.
#[derive(Debug)]
pub(super) struct Tally {
    /// Share of the others who give the label.
    others: Vec<f64>,
    /// Times the worker gives it.
    own: Vec<f64>,
    touched: Vec<Label>,
    /// By question: the value less that of another person.
    differences: Vec<f64>,
}

impl Tally {
    pub(super) fn new(labels: usize) -> Self {
        Self {
            others: vec![0.0; labels],
            own: vec![0.0; labels],
            touched: Vec::new(),
            differences: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for &label in &self.touched {
            self.others[usize::from(label)] = 0.0;
            self.own[usize::from(label)] = 0.0;
        }
        self.touched.clear();
    }

    fn fill(&mut self, hearing: &mut Hearing<'_>, worker: u32) -> f64 {
        self.clear();
        let mut tasks = 0.0;
        hearing.of_worker(worker, |heard| {
            tasks += 1.0;
            for (label, count) in heard.counts() {
                let others = &mut self.others[usize::from(label)];
                if *others == 0.0 {
                    self.touched.push(label);
                }
                *others += count / heard.others;
            }
            self.own[usize::from(heard.own)] += 1.0;
        });
        self.touched.sort_unstable();
        self.touched.dedup();
        tasks
    }

    /// The agreement of one worker.
    pub(super) fn of_worker(&mut self, hearing: &mut Hearing<'_>, worker: u32) -> Confirmed {
        let tasks = self.fill(hearing, worker);
        let said = hearing.said;
        if tasks == 0.0 {
            return Confirmed::default();
        }
        let rest = (tasks - 1.0).max(1.0);
        let own_share = |label: Label| {
            (self.own[usize::from(label)] + said.shares[usize::from(label)]) / (tasks + 1.0)
        };
        // The mean over labels of the total shares, of blind answers, and of their squares; and by the shares of the crowd.
        let (mut total, mut total_squares, mut total_by_crowd) = (0.0, 0.0, 0.0);
        let (mut most, mut favourite) = (0.0, None);
        for &label in &self.touched {
            let others = self.others[usize::from(label)];
            total += own_share(label) * others;
            total_squares += own_share(label) * others * others;
            total_by_crowd += said.shares[usize::from(label)] * others;
            if self.own[usize::from(label)] > most {
                (most, favourite) = (self.own[usize::from(label)], Some(label));
            }
        }
        let (on_task, elsewhere) = (1.0 + 1.0 / rest, 1.0 / rest);
        let mut found = Confirmed { tasks, ..Confirmed::default() };
        let mut blind = 0.0;
        self.differences.clear();
        hearing.of_worker(worker, |heard| {
            let same = heard.count(heard.own) / heard.others;
            let value = same - (self.others[usize::from(heard.own)] - same) / rest;
            let (mut mean, mut square, mut product) = (0.0, 0.0, 0.0);
            // The mean over labels by what another person says, [`Heard::person`], of all on the task less elsewhere.
            let mut expected = -elsewhere * total_by_crowd;
            for (label, count) in heard.counts() {
                let (share, own) = (count / heard.others, own_share(label));
                let others = self.others[usize::from(label)];
                mean += own * share;
                square += own * share * share;
                product += own * share * others;
                let by_crowd = said.shares[usize::from(label)];
                expected += (count + by_crowd) * on_task * share - count * elsewhere * others;
            }
            expected /= heard.others + 1.0;
            found.agreement += same;
            found.value += value;
            found.expected += expected;
            self.differences.push(value - expected);
            let first = on_task * mean - elsewhere * total;
            let second = on_task * on_task * square - 2.0 * on_task * elsewhere * product
                + elsewhere * elsewhere * total_squares;
            blind += second - first * first;
        });
        found.dependence = Dependence::of(said.questions, self.differences.iter().copied());
        found.squares = found.dependence.squares;
        found.agreement /= tasks;
        found.value /= tasks;
        found.expected /= tasks;
        found.blind = blind.max(0.0) / (tasks * tasks);
        found.favourite = favourite.filter(|_| most >= NEARLY_ALWAYS * tasks);
        found
    }
}

/// How often a worker gives one label, beside what others give it there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Favour {
    /// Tasks that others answered, too.
    tasks: u64,
    /// Of these, where the worker gives the label.
    given: u64,
    /// Share of the tasks where others give it: either the people of the crowd or, if these give it more
    /// and what is right is known, those who are right.
    others: f64,
    /// Variance of the share that such others would have.
    variance: f64,
    /// Of what is left of the answers by how often people give it.
    pub(super) dependence: Dependence,
}

impl Favour {
    /// The same where the questions of a task count as so many times fewer.
    #[expect(clippy::cast_sign_loss, reason = "a count is not negative")]
    pub(super) fn of_fewer(self, effect: f64) -> Self {
        let [tasks, given] =
            [self.tasks, self.given].map(|count| (count as f64 / effect).round() as u64);
        Self { tasks, given, variance: effect * self.variance, ..self }
    }

    /// How much oftener than others, with its variance.
    pub(super) fn beyond(&self) -> (f64, f64) {
        (self.given as f64 / self.tasks.max(1) as f64 - self.others, self.variance)
    }

    /// The probability that somebody gives the label so often at least, where what people favour it by has
    /// this mean and variance: beta-binomial. No person's share is above 1, however much people differ, so that
    /// the same answer a hundred times is rarer than its distance from the mean says.
    pub(super) fn tail(&self, mean: f64, variance: f64) -> f64 {
        let n = self.tasks as f64;
        let least = 0.5 / (n + 1.0);
        let rate = (self.others + mean).clamp(least, 1.0 - least);
        let people = (rate * (1.0 - rate) / variance.max(1e-6) - 1.0).clamp(0.5, 1e4);
        let (a, b) = (rate * people, (1.0 - rate) * people);
        let mut term = (ln_beta(a + n, b) - ln_beta(a, b)).exp();
        let mut tail = 0.0;
        for given in (self.given..=self.tasks).rev() {
            tail += term;
            let (given, other) = (given as f64, (self.tasks - given) as f64);
            term *= given / (other + 1.0) * (other + b) / (given - 1.0 + a);
        }
        tail.min(1.0)
    }
}

/// How often the worker gives each of these labels.
pub(super) fn favours(
    hearing: &mut Hearing<'_>,
    worker: u32,
    watched: &[Label],
    is_trusted: bool,
) -> Vec<Favour> {
    // people, their variance, right
    let mut sums = vec![(0_u64, [0.0; 3]); watched.len()];
    let mut residuals = vec![Vec::new(); watched.len()];
    let mut tasks = 0;
    hearing.of_worker(worker, |heard| {
        tasks += 1;
        for (((given, sums), residuals), &label) in sums.iter_mut().zip(&mut residuals).zip(watched)
        {
            let person = heard.person(label);
            *given += u64::from(heard.own == label);
            residuals.push(f64::from(u8::from(heard.own == label)) - person);
            sums[0] += person;
            sums[1] += person * (1.0 - person);
            sums[2] += heard.probability(label);
        }
    });
    let n = tasks.max(1) as f64;
    sums.into_iter()
        .zip(residuals)
        .map(|((given, [people, variance, right]), residuals)| Favour {
            tasks,
            given,
            others: if is_trusted { people.max(right) } else { people } / n,
            variance: variance / (n * n) + 1e-6,
            dependence: Dependence::of(hearing.said.questions, residuals.into_iter()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_one_label_by_hand() {
        let favour = |tasks, given, others| Favour {
            tasks,
            given,
            others,
            variance: 0.0,
            dependence: Dependence::default(),
        };
        // People whose rates are uniform give it 0, 1, .. n times equally often.
        let uniform = 1.0 / 12.0;
        for (given, want) in [(10, 1.0 / 11.0), (9, 2.0 / 11.0), (0, 1.0)] {
            let tail = favour(10, given, 0.5).tail(0.0, uniform);
            assert!((tail - want).abs() < 1e-9, "{given}: {tail}");
        }
        assert!((favour(99, 99, 0.4).tail(0.1, uniform) - 0.01).abs() < 1e-9);
        // People who are all alike: binomial, but for what the bound leaves.
        let tail = favour(10, 10, 0.5).tail(0.0, 0.0);
        assert!((tail / 0.5_f64.powi(10) - 1.0).abs() < 0.02, "{tail}");
        // Those who are right give it always: no wonder.
        assert!(favour(20, 20, 1.0).tail(0.0, 0.01) > 0.5);
    }
}

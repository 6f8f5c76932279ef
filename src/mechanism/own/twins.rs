//! Workers who answer alike beyond what others do. Whoever hands in the answers of the same LLM would
//! vouch for each other, as near-duplicate reviews would: so they are not each other's peers.

use super::crowd::Crowd;

/// Fewest tasks that two workers share before anything is said about them.
const LEAST_COMMON: u32 = 10;

/// How much more often than is usual two twins agree, as a share of the room there is, and in standard
/// errors: a worker has many others. Two people who know more than the rest may be taken for twins,
/// which does them no harm: what others say of them is what a crowd says of anybody who is right.
const LEAST_EXCESS: f64 = 0.6;
const LEAST_DEVIATIONS: f64 = 3.0;

/// Room to count tasks in common with every other worker; all zero between two uses.
pub(super) struct Counter {
    common: Vec<u32>,
    same: Vec<u32>,
    met: Vec<u32>,
}

/// Tasks that somebody shares with a worker, and on how many of these both say the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) other: u32,
    pub(super) common: u32,
    pub(super) same: u32,
}

impl Pair {
    fn rate(&self) -> f64 {
        f64::from(self.same) / f64::from(self.common)
    }
}

impl Counter {
    pub(super) fn new(workers: usize) -> Self {
        Self { common: vec![0; workers], same: vec![0; workers], met: Vec::new() }
    }

    /// The twins of `worker`, ascending, over the tasks that Z covers.
    pub(super) fn twins_of(&mut self, crowd: &Crowd<'_>, worker: u32) -> Vec<u32> {
        for (task, _, label) in crowd.tasks_of(worker) {
            for (other, theirs) in crowd.table.of_task(task).iter() {
                let index = other as usize;
                if self.common[index] == 0 {
                    self.met.push(other);
                }
                self.common[index] += 1;
                self.same[index] += u32::from(theirs == label);
            }
        }
        let pairs = self.met.drain(..).map(|other| Pair {
            other,
            common: std::mem::take(&mut self.common[other as usize]),
            same: std::mem::take(&mut self.same[other as usize]),
        });
        twins(pairs.filter(|pair| pair.other != worker).collect())
    }
}

/// The others of those pairs that agree far more often than is usual: than the median over the
/// others, each with the weight of the tasks in common.
pub(super) fn twins(mut pairs: Vec<Pair>) -> Vec<u32> {
    // Whatever is usual: a twin has come at least so far, which few have, and the median takes a sort.
    let may_be = |pair: &Pair| pair.common >= LEAST_COMMON && pair.rate() >= LEAST_EXCESS;
    if !pairs.iter().any(may_be) {
        return Vec::new();
    }
    pairs.sort_by(|a, b| a.rate().total_cmp(&b.rate()).then(a.other.cmp(&b.other)));
    let all: u64 = pairs.iter().map(|pair| u64::from(pair.common)).sum();
    let mut so_far = 0;
    let median = pairs.iter().find(|pair| {
        so_far += u64::from(pair.common);
        2 * so_far >= all
    });
    let Some(usual) = median.map(Pair::rate) else { return Vec::new() };
    let is_twin = |pair: &&Pair| {
        let beyond = pair.rate() - usual;
        let error = (usual * (1.0 - usual) / f64::from(pair.common)).sqrt();
        may_be(pair)
            && beyond > 0.0
            && beyond >= LEAST_EXCESS * (1.0 - usual)
            && beyond >= LEAST_DEVIATIONS * error
    };
    let mut twins: Vec<u32> = pairs.iter().filter(is_twin).map(|pair| pair.other).collect();
    twins.sort_unstable();
    twins
}

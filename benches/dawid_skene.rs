//! Dawid-Skene and the copy mixture on generated crowds; the time of an iteration is the measure.
//!
//! Ids name the crowd. Throughput counts reports times classes times iterations, so that the
//! inverse of the printed rate is the time per label, class and iteration. `RAYON_NUM_THREADS=1`
//! measures one thread.

#![expect(clippy::cast_possible_truncation, reason = "generated crowds are small")]

use std::hint::black_box;

use caz::for_tests::{
    CopyMixture, DawidSkene, EmSettings, Ids, LabelNames, LabelReport, LabelTable, ZSample, ZSource,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A generated crowd, workers drawn for each task.
struct Crowd {
    tasks: usize,
    per_task: usize,
    workers: usize,
    labels: u16,
}

impl Crowd {
    fn id(&self) -> String {
        let Self { tasks, per_task, workers, labels } = self;
        format!("tasks={tasks}/per_task={per_task}/workers={workers}/labels={labels}")
    }

    /// Workers are right with a probability of their own between 0.5 and 0.95.
    fn table(&self) -> LabelTable {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let accuracy: Vec<f64> =
            (0..self.workers).map(|_| random.random_range(0.5..0.95)).collect();
        let mut reports = Vec::with_capacity(self.tasks * self.per_task);
        for task in 0..self.tasks as u32 {
            let truth = random.random_range(0..self.labels);
            for _ in 0..self.per_task {
                let worker = random.random_range(0..self.workers);
                let right = random.random_bool(accuracy[worker]);
                let label = if right { truth } else { random.random_range(0..self.labels) };
                reports.push(LabelReport { task, worker: worker as u32, label });
            }
        }
        let names = LabelNames {
            tasks: numbers(self.tasks),
            workers: numbers(self.workers),
            labels: numbers(self.labels.into()),
        };
        LabelTable::new(names, &reports)
    }
}

fn numbers(count: usize) -> Ids {
    let mut ids = Ids::new();
    for number in 0..count {
        ids.intern(&number.to_string());
    }
    ids
}

const CROWDS: [Crowd; 5] = [
    Crowd { tasks: 1_000, per_task: 10, workers: 100, labels: 4 },
    Crowd { tasks: 100_000, per_task: 10, workers: 5_000, labels: 4 },
    Crowd { tasks: 1_000_000, per_task: 10, workers: 50_000, labels: 4 },
    // Two labels, few workers with very many reports each.
    Crowd { tasks: 200_000, per_task: 5, workers: 20, labels: 2 },
    // Many classes.
    Crowd { tasks: 10_000, per_task: 10, workers: 500, labels: 200 },
];

/// Iterations that are timed, together with one set-up (sorting the reports into cells).
const ITERATIONS: usize = 10;

fn iterations() -> EmSettings {
    EmSettings { tolerance: -1.0, max_iterations: ITERATIONS }
}

fn dawid_skene(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ds");
    group.sample_size(10);
    for crowd in &CROWDS {
        let table = crowd.table();
        let work = table.report_count() * usize::from(crowd.labels) * ITERATIONS;
        group.throughput(Throughput::Elements(work as u64));
        group.bench_function(BenchmarkId::from_parameter(crowd.id()), |bencher| {
            let model = DawidSkene { settings: iterations() };
            bencher.iter(|| black_box(model.fit(&table)));
        });
    }
    group.finish();
}

/// Z covers four tasks of five, at random.
fn copy_mixture(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ds_z");
    group.sample_size(10);
    for crowd in &CROWDS[..2] {
        let table = crowd.table();
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let labels = (0..crowd.tasks)
            .map(|_| random.random_bool(0.8).then(|| random.random_range(0..crowd.labels)))
            .collect();
        let samples = vec![ZSample { name: String::new(), labels }];
        let model = CopyMixture::new(&[ZSource { name: "llm".into(), samples }], iterations());
        let work = table.report_count() * usize::from(crowd.labels) * ITERATIONS;
        group.throughput(Throughput::Elements(work as u64));
        group.bench_function(BenchmarkId::from_parameter(crowd.id()), |bencher| {
            bencher.iter(|| black_box(model.fit(&table)));
        });
    }
    group.finish();
}

criterion_group!(benches, dawid_skene, copy_mixture);
criterion_main!(benches);

//! Reading labels and scoring them by agreement, on generated crowds.
//!
//! Ids name the crowd; throughput counts reports. Scoring runs on one thread (`ca_z/...`) and on
//! all (`ca_z_parallel/...`); reading uses all, at most two with `RAYON_NUM_THREADS=2`.

#![expect(clippy::cast_possible_truncation, reason = "the numbers are small and known here")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use caz::for_tests::{
    Conditioning, CorrelatedAgreement, CorrelatedAgreementOptions, Label, LabelFiles, LoadedLabels,
    Mechanism, OutputAgreement, OwnAnswers, OwnLabelsSettings, ZSample, ZSource, read_labels,
};
use caz::{Duplicates, Source};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Crowd {
    tasks: u32,
    per_task: u32,
    workers: u32,
    labels: Label,
}

const CROWDS: [Crowd; 5] = [
    Crowd { tasks: 1_000, per_task: 10, workers: 100, labels: 4 },
    Crowd { tasks: 100_000, per_task: 10, workers: 5_000, labels: 4 },
    Crowd { tasks: 1_000_000, per_task: 10, workers: 50_000, labels: 4 },
    // Every worker on every task.
    Crowd { tasks: 2_000, per_task: 200, workers: 200, labels: 4 },
    // Many classes, and as many strata.
    Crowd { tasks: 20_000, per_task: 10, workers: 2_000, labels: 200 },
];

impl Crowd {
    fn id(&self) -> String {
        let Self { tasks, per_task, workers, labels } = self;
        format!("tasks={tasks}/per_task={per_task}/workers={workers}/labels={labels}")
    }

    fn reports(&self) -> u64 {
        u64::from(self.tasks) * u64::from(self.per_task)
    }

    /// A file sorted by task: workers are right with probability 0.65, else they guess.
    fn csv(&self) -> Vec<u8> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut csv = String::from("task,worker,label\n");
        // Steps around the ring of workers, so that no worker comes twice.
        let step = self.workers / self.per_task;
        for task in 0..self.tasks {
            let truth = random.random_range(0..self.labels);
            let mut worker = random.random_range(0..self.workers);
            for _ in 0..self.per_task {
                let right = random.random_bool(0.65);
                let label = if right { truth } else { random.random_range(0..self.labels) };
                writeln!(csv, "q{task},w{worker},{label}").expect("strings take anything");
                worker = (worker + random.random_range(1..=step)) % self.workers;
            }
        }
        csv.into_bytes()
    }

    fn load(&self) -> (LoadedLabels, Vec<Option<Label>>) {
        let loaded = read(&self.csv());
        let mut random = ChaCha8Rng::seed_from_u64(8);
        // Z follows the first report of the task more often than not.
        let z = (0..loaded.table.task_count() as u32)
            .map(|task| {
                let follows = random.random_bool(0.5);
                let first = loaded.table.of_task(task).labels[0];
                Some(if follows { first } else { random.random_range(0..self.labels) })
            })
            .collect();
        (loaded, z)
    }
}

fn read(csv: &[u8]) -> LoadedLabels {
    let labels = Source::from_reader(Path::new("labels.csv"), csv).expect("memory can be read");
    let files = LabelFiles { labels: &labels, z: &[], truth: None };
    read_labels(&files, Duplicates::Error).expect("the generated file is valid")
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read_csv");
    group.sample_size(10);
    for crowd in &CROWDS[..3] {
        let csv = crowd.csv();
        group.throughput(Throughput::Elements(crowd.reports()));
        group.bench_function(BenchmarkId::from_parameter(crowd.id()), |bencher| {
            bencher.iter(|| black_box(read(&csv)));
        });
    }
    group.finish();
}

fn scoring(criterion: &mut Criterion) {
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for crowd in &CROWDS {
        let (loaded, z) = crowd.load();
        let sample = ZSample { name: String::new(), labels: z.clone() };
        let sources = [ZSource { name: "llm".into(), samples: vec![sample] }];
        let own = OwnAnswers::new(&sources, OwnLabelsSettings::default());
        let conditioning = Conditioning::on(z);
        let options = CorrelatedAgreementOptions::default();
        let ca_z = CorrelatedAgreement::new(conditioning.clone(), options.clone());
        let ca = CorrelatedAgreement::new(Conditioning::Nothing, options);
        let oa_z = OutputAgreement::new(conditioning);
        let mechanisms: [(&str, &dyn Mechanism); 4] =
            [("ca_z", &ca_z), ("ca", &ca), ("oa_z", &oa_z), ("own", &own)];
        for (name, mechanism) in mechanisms {
            let mut group = criterion.benchmark_group(name);
            group.sample_size(10);
            group.throughput(Throughput::Elements(crowd.reports()));
            group.bench_function(BenchmarkId::from_parameter(crowd.id()), |bencher| {
                bencher.iter(|| single.install(|| black_box(mechanism.score(&loaded.table))));
            });
            group.finish();
        }
        let mut group = criterion.benchmark_group("ca_z_parallel");
        group.sample_size(10);
        group.throughput(Throughput::Elements(crowd.reports()));
        group.bench_function(BenchmarkId::from_parameter(crowd.id()), |bencher| {
            bencher.iter(|| black_box(ca_z.score(&loaded.table)));
        });
        group.finish();
    }
}

criterion_group!(benches, reading, scoring);
criterion_main!(benches);

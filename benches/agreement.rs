//! Agreement of many sources with gold, intervals of all metrics included.
//!
//! Ids name the number of sources, of tasks and of clusters; throughput counts labels. The largest
//! is one million labels of 50 sources with B = 2,000 draws, over tasks and over 200 topics; run it
//! on two cores with `RAYON_NUM_THREADS=2`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use caz::for_tests::ScaleChoice;
use caz::{AgreementSettings, ClusterSource, LabellerFiles, Silent, Source, agree as run};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SIZES: [(u32, u32); 3] = [(5, 1_000), (50, 1_000), (50, 20_000)];
const TOPICS: u32 = 200;

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).expect("memory can be read")
}

/// Labels, gold and topics: sources are right with probability 0.4 to 0.9, else they guess.
fn files(sources: u32, tasks: u32) -> [Source; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut labels = String::from("task,source,label\n");
    let (mut gold, mut topics) = (String::from("task,label\n"), String::from("task,topic\n"));
    for task in 0..tasks {
        let truth = random.random_range(0..4);
        writeln!(gold, "q{task},{truth}").expect("strings take anything");
        writeln!(topics, "q{task},t{}", task % TOPICS).expect("strings take anything");
        for source in 0..sources {
            let right = random.random_bool(0.4 + 0.5 * f64::from(source) / f64::from(sources));
            let label = if right { truth } else { random.random_range(0..4) };
            writeln!(labels, "q{task},s{source},{label}").expect("strings take anything");
        }
    }
    [source("labels.csv", &labels), source("gold.csv", &gold), source("topics.csv", &topics)]
}

fn agreeing(criterion: &mut Criterion) {
    let mut settings = AgreementSettings::default();
    settings.scale = ScaleChoice::Range(0.0, 3.0);
    for (sources, tasks) in SIZES {
        let [labels, gold, topics] = files(sources, tasks);
        for by_topic in [false, true] {
            let mut group = criterion.benchmark_group("agree");
            group.sample_size(10);
            group.throughput(Throughput::Elements(u64::from(sources) * u64::from(tasks)));
            let clusters = if by_topic { TOPICS } else { tasks };
            let id = format!("sources={sources}/tasks={tasks}/clusters={clusters}/B=2000");
            let clusters = by_topic.then_some(ClusterSource::File(&topics));
            let mut files = LabellerFiles::new(&labels);
            (files.gold, files.clusters) = (Some(&gold), clusters);
            group.bench_function(BenchmarkId::from_parameter(id), |bencher| {
                bencher.iter(|| black_box(run(&files, &settings, &Silent)));
            });
            group.finish();
        }
    }
}

criterion_group!(benches, agreeing);
criterion_main!(benches);

//! Criterion's view of many empty spawns in a scope.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tine_bench::options::cores;
use tine_bench::peers::{Forte, Rayon, Spawns, Tine};

const TASKS: usize = 10_000;

fn peer<P: Spawns>(criterion: &mut Criterion) {
    assert!(P::start(cores()), "{} has no pool of this size", P::NAME);
    let mut group = criterion.benchmark_group("scope");
    group.throughput(Throughput::Elements(TASKS as u64));
    group.bench_function(format!("empty spawns/{}", P::NAME), |bencher| {
        bencher.iter(|| P::spawn_each(TASKS, || black_box(())));
    });
}

criterion_group! {
    name = scope;
    config = Criterion::default().sample_size(20);
    targets = peer::<Tine>, peer::<Rayon>, peer::<Forte>
}
criterion_main!(scope);

//! Criterion's view of a tree of joins, for following one change closely. The
//! table of the main program is the one to quote: there the peers take turns.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tine_bench::options::cores;
use tine_bench::peers::{Chili, Forte, Peer, Rayon, Sequential, Tine};
use tine_bench::workloads::{search::nodes, tree::tree};

const DEPTH: u32 = 16;

fn peer<P: Peer>(criterion: &mut Criterion) {
    assert!(P::start(cores()), "{} has no pool of this size", P::NAME);
    let mut group = criterion.benchmark_group("join");
    group.throughput(Throughput::Elements((1 << DEPTH) - 1));
    group.bench_function(format!("tree/{}", P::NAME), |bencher| {
        bencher.iter(|| P::enter(|cx| tree::<P>(cx, black_box(DEPTH))));
    });
    group.throughput(Throughput::Elements(nodes::<Sequential>() as u64));
    group.bench_function(format!("search/{}", P::NAME), |bencher| {
        bencher.iter(nodes::<P>)
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function(format!("empty/{}", P::NAME), |bencher| {
        bencher.iter(|| P::call(|_| black_box(()), |_| black_box(())));
    });
}

criterion_group! {
    name = join;
    config = Criterion::default().sample_size(20);
    targets = peer::<Sequential>, peer::<Tine>, peer::<Rayon>, peer::<Chili>, peer::<Forte>
}
criterion_main!(join);

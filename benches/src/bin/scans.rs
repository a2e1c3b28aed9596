//! Scans against a loop, against rayon by hand (two passes over chunks), and against themselves with a
//! `collect` between the steps.
//!
//! `scans [--quick]` prints the medians of interleaved rounds, as shares of the first of each row.
//! `benches/scans_tbb.sh` has TBB's `parallel_scan` on the same inputs.

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use rayon::prelude::{IndexedParallelIterator as _, ParallelIterator as _, ParallelSlice as _};
use rayon::slice::ParallelSliceMut as _;
use tine_bench_spin::busy;
use tine_iter::scan::{ParallelScan as _, ParallelScanMut as _};

/// Work of N nanoseconds, whose result the compiler cannot compute in advance.
mod tine_bench_spin {
    use std::hint::black_box;
    use std::sync::OnceLock;
    use std::time::Instant;

    fn rounds(n: u64) -> u64 {
        (0..n).fold(1, |x: u64, _| {
            black_box(x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 1)
        })
    }

    pub(crate) fn busy(nanos: u64) -> u64 {
        static PER_MICRO: OnceLock<u64> = OnceLock::new();
        let per_micro = *PER_MICRO.get_or_init(|| {
            let count = 4_000_000;
            let start = Instant::now();
            black_box(rounds(count));
            (count * 1000 / start.elapsed().as_nanos() as u64).max(1)
        });
        rounds(per_micro * nanos / 1000)
    }
}

/// One way to do what a row says; it times itself, so that copying an input is not counted.
type Case<'a> = (&'static str, Box<dyn FnMut() -> Duration + 'a>);

fn main() {
    let quick = env::args().any(|arg| arg == "--quick");
    busy(1);
    for n in [100, 1_000, 10_000, 1_000_000, 100_000_000] {
        if !(quick && n > 10_000_000) {
            in_place(n);
        }
    }
    for n in [100, 1_000, 10_000] {
        collected(n);
    }
    fused(if quick { 1_000_000 } else { 10_000_000 });
    heavy(100_000);
}

/// Runs the cases in turn, for about two seconds, and prints their medians.
fn race(row: &str, goal: &str, mut cases: Vec<Case<'_>>) {
    for (_, case) in &mut cases {
        (0..12).for_each(|_| {
            case();
        });
    }
    let mut times = vec![Vec::new(); cases.len()];
    let start = Instant::now();
    while times[0].len() < 5 || (start.elapsed().as_secs() < 2 && times[0].len() < 20_000) {
        for ((_, case), times) in cases.iter_mut().zip(&mut times) {
            times.push(case());
        }
    }
    let medians: Vec<_> = times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e6
        })
        .collect();
    println!("{row} ({goal}; {} rounds)", times[0].len());
    for ((name, _), median) in cases.iter().zip(&medians) {
        println!(
            "    {name:24} {median:12.2} us   {:.3}",
            median / medians[0]
        );
    }
}

fn timed<R>(op: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    black_box(op());
    start.elapsed()
}

fn numbers(n: usize) -> Vec<u64> {
    (0..n as u64)
        .map(|n| n.wrapping_mul(0x9E37_79B9) % 1000)
        .collect()
}

/// The lines that a user of rayon writes.
fn rayon_by_hand(v: &mut [u64]) -> u64 {
    let size = v.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let sums: Vec<u64> = v
        .par_chunks(size)
        .map(|chunk| chunk.iter().fold(0_u64, |a, b| a.wrapping_add(*b)))
        .collect();
    let mut starts = vec![0_u64];
    starts.extend(sums.iter().scan(0, |end, sum| {
        *end = u64::wrapping_add(*end, *sum);
        Some(*end)
    }));
    v.par_chunks_mut(size)
        .zip(&starts[..sums.len()])
        .for_each(|(chunk, start)| {
            let mut sum = *start;
            for x in chunk {
                sum = sum.wrapping_add(*x);
                *x = sum;
            }
        });
    starts[sums.len()]
}

fn in_place(n: usize) {
    let goal = match n {
        100_000_000 => "goal: 0.75 of the loop, 0.95 of rayon",
        1_000_000 => "goal: 0.6 of the loop, 0.95 of rayon",
        _ => "goal: 1.05 of the loop and 100 ns",
    };
    // Each case has its own slice, which is scanned again and again: wrapping is not an error here.
    let mut slices = [numbers(n), numbers(n), numbers(n)];
    let [a, b, c] = &mut slices;
    let refill = |v: &mut Vec<u64>| {
        if n <= 10_000 {
            v.fill(1);
        }
    };
    race(
        &format!("u64 prefix sum in place, {n}"),
        goal,
        vec![
            (
                "loop",
                Box::new(move || {
                    refill(a);
                    timed(|| looped(black_box(&mut *a)))
                }),
            ),
            (
                "tine",
                Box::new(move || {
                    refill(b);
                    timed(|| black_box(&mut *b).par_scan_by(|| 0, u64::wrapping_add))
                }),
            ),
            (
                "rayon by hand",
                Box::new(move || {
                    refill(c);
                    timed(|| rayon_by_hand(black_box(&mut *c)))
                }),
            ),
        ],
    );
}

fn looped(v: &mut [u64]) -> u64 {
    let mut sum = 0_u64;
    for x in v {
        sum = sum.wrapping_add(*x);
        *x = sum;
    }
    sum
}

fn collected(n: usize) {
    let v = numbers(n);
    race(
        &format!("prefix sum collected, {n}"),
        "goal: 1.05 of the loop and 100 ns",
        vec![
            (
                "std's scan",
                Box::new(|| {
                    timed(|| {
                        let step = |sum: &mut u64, x: &u64| {
                            *sum += x;
                            Some(*sum)
                        };
                        let mut all = Vec::with_capacity(v.len());
                        all.extend(black_box(&v).iter().scan(0, step));
                        all
                    })
                }),
            ),
            (
                "tine",
                Box::new(|| {
                    timed(|| -> Vec<u64> {
                        use tine_iter::prelude::*;
                        black_box(&v).par_iter().prefix_sum().collect()
                    })
                }),
            ),
        ],
    );
}

fn fused(n: usize) {
    let v = numbers(n);
    let square = |x: &u64| x * x % 7;
    let keep = |x: &u64| x.is_multiple_of(3);
    race(
        &format!("map, scan, filter, collect, {n}"),
        "goal: 0.6 of the first",
        vec![
            (
                "collects between",
                Box::new(|| {
                    use tine_iter::prelude::*;
                    timed(|| {
                        let squares: Vec<u64> = v.par_iter().map(square).collect();
                        let sums: Vec<u64> = squares.par_iter().prefix_sum().collect();
                        sums.into_par_iter().filter(keep).collect::<Vec<_>>()
                    })
                }),
            ),
            (
                "fused",
                Box::new(|| {
                    use tine_iter::prelude::*;
                    timed(|| {
                        let sums = v.par_iter().map(square).prefix_sum();
                        sums.filter(keep).collect::<Vec<_>>()
                    })
                }),
            ),
            (
                "fused, pure",
                Box::new(|| {
                    use tine_iter::prelude::*;
                    timed(|| {
                        let sums = v.par_iter().map(square).pure().prefix_sum();
                        sums.filter(keep).collect::<Vec<_>>()
                    })
                }),
            ),
            (
                "std",
                Box::new(|| {
                    timed(|| {
                        let step = |sum: &mut u64, x: u64| {
                            *sum += x;
                            Some(*sum)
                        };
                        v.iter()
                            .map(square)
                            .scan(0, step)
                            .filter(keep)
                            .collect::<Vec<_>>()
                    })
                }),
            ),
        ],
    );
}

fn heavy(n: usize) {
    let mut slices = [numbers(n), numbers(n)];
    let [a, b] = &mut slices;
    let v = numbers(n);
    let op = |a: u64, b: u64| {
        black_box(busy(100));
        a.wrapping_add(b)
    };
    race(
        &format!("an operation of 100 ns, {n}"),
        "goal: 1.05 of the loop",
        vec![
            (
                "loop",
                Box::new(|| {
                    timed(|| {
                        let mut acc = 0;
                        for x in a.iter_mut() {
                            acc = op(acc, *x);
                            *x = acc;
                        }
                    })
                }),
            ),
            (
                "tine, in place",
                Box::new(|| timed(|| b.par_scan_by(|| 0, op))),
            ),
            (
                "tine, collected",
                Box::new(|| {
                    use tine_iter::prelude::*;
                    timed(|| {
                        v.par_iter()
                            .copied()
                            .scan_inclusive(|| 0, op)
                            .collect::<Vec<_>>()
                    })
                }),
            ),
        ],
    );
}

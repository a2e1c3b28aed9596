//! The costs on the real machine, as far as two processors can show them.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, fence};
use std::time::{Duration, Instant};

/// The least of several means, in nanoseconds.
fn best(rounds: u32, mut op: impl FnMut()) -> f64 {
    let mut once = || {
        let begun = Instant::now();
        (0..rounds).for_each(|_| op());
        begun.elapsed().as_nanos() as f64 / f64::from(rounds)
    };
    (0..20).map(|_| once()).fold(f64::MAX, f64::min)
}

pub(crate) fn costs() {
    let word = AtomicU64::new(0);
    let show = |name: &str, nanos: f64| println!("{name:8} {nanos:9.1} ns");
    show(
        "hit",
        best(100_000, || {
            black_box(word.load(Relaxed));
        }),
    );
    show(
        "rmw",
        best(100_000, || {
            black_box(word.fetch_add(1, Relaxed));
        }),
    );
    show(
        "fence",
        best(100_000, || {
            // The fence needs something to keep in order; otherwise neighbouring fences become one.
            word.store(1, Relaxed);
            fence(SeqCst);
        }),
    );
    show("pause", best(100_000, spin_loop));
    show("yields", best(1_000, std::thread::yield_now));
    show(
        "clock",
        best(10_000, || {
            black_box(Instant::now());
        }),
    );
    show("near", transfer());
    for (name, way) in [
        ("load", Way::Load),
        ("loads", Way::Loads),
        ("stores", Way::Stores),
    ] {
        show(name, lines(way));
    }
    let (cost, delay) = wake(Duration::from_micros(100));
    show("wake", cost);
    show("warm", delay);
    show("cold", wake(Duration::from_millis(20)).1);
    let (cost, delay) = start();
    show("spawn", cost);
    show("start", delay);
}

/// A line that goes to another core and back: half of that.
fn transfer() -> f64 {
    let (word, over) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let other = {
        let (word, over) = (word.clone(), over.clone());
        std::thread::spawn(move || {
            while !over.load(Relaxed) {
                if word.load(Acquire) % 2 == 1 {
                    word.fetch_add(1, Release);
                }
            }
        })
    };
    let nanos = best(2_000, || {
        word.fetch_add(1, Release);
        while word.load(Acquire) % 2 == 1 {}
    });
    over.store(true, Relaxed);
    other.join().expect("it ends");
    nanos / 2.0
}

/// How many lines that another core has changed are fetched.
enum Way {
    /// Each address follows from the line before.
    Load,
    /// No load waits for another.
    Loads,
    Stores,
}

/// What each of these lines costs: the median of many rounds. `Load` ÷ `Loads` is the `overlap` of loads,
/// `Load` ÷ `Stores` that of stores.
fn lines(way: Way) -> f64 {
    const LINES: usize = 256;
    const ROUNDS: usize = 200;
    /// In words: pages are full of lines that are not used, so no prefetcher finds the next line.
    const APART: usize = 64;
    let words: Arc<Vec<AtomicU64>> = Arc::new((0..LINES * APART).map(|_| 0.into()).collect());
    let place = |i: usize| (i * 167 + 13) % LINES * APART + i % 8 * 8;
    // Even: the other thread's turn.
    let turn = Arc::new(AtomicU64::new(0));
    let other = {
        let (words, turn) = (words.clone(), turn.clone());
        std::thread::spawn(move || {
            for round in 0..ROUNDS as u64 {
                while turn.load(Acquire) != 2 * round {}
                (0..LINES).for_each(|i| words[place(i)].store(0, Relaxed));
                fence(SeqCst);
                turn.store(2 * round + 1, Release);
            }
        })
    };
    let mut each = Vec::new();
    for round in 0..ROUNDS as u64 {
        while turn.load(Acquire) != 2 * round + 1 {}
        let begun = Instant::now();
        match way {
            Way::Load => {
                black_box(
                    (0..LINES).fold(0, |zero, i| words[place(i) + zero].load(Relaxed) as usize),
                );
            }
            Way::Loads => {
                let sum: u64 = (0..LINES).map(|i| words[place(i)].load(Relaxed)).sum();
                black_box(sum);
            }
            Way::Stores => {
                (0..LINES).for_each(|i| words[place(i)].store(0, Relaxed));
                fence(SeqCst);
            }
        }
        each.push(begun.elapsed().as_nanos() as f64 / LINES as f64);
        turn.store(2 * round + 2, Release);
    }
    other.join().expect("it ends");
    median(each)
}

/// What it costs to wake a thread that has slept this long, and the time until it runs: medians.
fn wake(rest: Duration) -> (f64, f64) {
    let begun = Instant::now();
    let (woken, over) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let sleeper = {
        let (woken, over) = (woken.clone(), over.clone());
        std::thread::spawn(move || {
            while !over.load(Acquire) {
                std::thread::park();
                woken.store(begun.elapsed().as_nanos() as u64, Release);
            }
        })
    };
    let (mut costs, mut delays) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        std::thread::sleep(rest);
        let before = begun.elapsed().as_nanos() as u64;
        woken.store(0, Relaxed);
        sleeper.thread().unpark();
        costs.push(begun.elapsed().as_nanos() as f64 - before as f64);
        while woken.load(Acquire) == 0 {}
        delays.push((woken.load(Acquire) - before) as f64);
    }
    over.store(true, Release);
    sleeper.thread().unpark();
    sleeper.join().expect("it ends");
    (median(costs), median(delays))
}

fn start() -> (f64, f64) {
    let (mut costs, mut delays) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let begun = Instant::now();
        let thread = std::thread::spawn(move || begun.elapsed().as_nanos() as f64);
        costs.push(begun.elapsed().as_nanos() as f64);
        delays.push(thread.join().expect("it ends"));
    }
    (median(costs), median(delays))
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

//! The experiments. Each checks what it computes: a task that is lost or run twice fails the row.

use crate::machine::{self, AtomicUsize, now, work};
use crate::mixed;
#[cfg(lab_rayon)]
use rayon::{Scope, current_thread_index, join, prelude::*, scope};
#[cfg(not(lab_rayon))]
use std::cell::RefCell;
#[cfg(not(lab_rayon))]
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;
#[cfg(not(lab_rayon))]
use tine_collections::{ParHashMap, ParVec, ParallelGrouping};
#[cfg(not(lab_rayon))]
use tine_iter::prelude::*;
#[cfg(not(lab_rayon))]
use tine_pool::{Scope, broadcast, current_thread_index, join, scope};

/// What a row is asked for.
pub(crate) struct Setup {
    pub(crate) cores: usize,
    pub(crate) seed: u64,
    /// Called with each result.
    pub(crate) tell: Box<dyn Fn(&Sample)>,
}

/// One measurement.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) row: String,
    /// Nanoseconds.
    pub(crate) time: u64,
    /// The time if nothing were lost; 0 if only a run on one core can tell.
    pub(crate) ideal: u64,
    pub(crate) tasks: u64,
    /// Median and 99th percentile of the time that one call took, in a row of calls.
    pub(crate) calls: Option<(u64, u64)>,
}

type Row = (&'static str, fn(&Setup, &str));

/// All rows. A name is the row's kind, followed by sizes and the nanoseconds of an item.
pub(crate) const ROWS: &[Row] = &[
    ("loop-1000000x20", loops),
    ("loop-10000x1000", loops),
    ("loop-256x100000", loops),
    ("join-65536x100", joins),
    ("join-65536x1000", joins),
    ("nested-1000x100", nested),
    ("walk-65536x100", walks),
    ("walk-65536x1000", walks),
    ("pareto-20000x300", uneven),
    ("triangle-10000x4", uneven),
    ("tail-1000x2000", uneven),
    ("spawner-30000x1000", spawner),
    ("spawntree-32767x1000", spawn_tree),
    ("scopes-16384x1000", mixed::scopes),
    ("itemscopes-30000x1000", mixed::item_scopes),
    ("flat-100x1000", mixed::flat),
    ("leaves-256x1000", mixed::leaves),
    #[cfg(not(lab_rayon))]
    ("tokens-65536x100", mixed::tokens),
    #[cfg(not(lab_rayon))]
    ("handles-30000x1000", mixed::handles),
    #[cfg(not(lab_rayon))]
    ("handles-3000x100000", mixed::handles),
    #[cfg(not(lab_rayon))]
    ("handletree-16384x1000", mixed::handle_tree),
    ("server-100x100", server),
    ("server-1000x100", server),
    ("server-10000x100", server),
    ("servejoins-256x100", server),
    ("servejoins-2048x100", server),
    ("servescopes-100x1000", server),
    #[cfg(not(lab_rayon))]
    ("servetasks-100x1000", server),
    #[cfg(not(lab_rayon))]
    ("servetasks-10x10000", server),
    ("broadcast-300x1000", mixed::broadcasts),
    #[cfg(not(lab_rayon))]
    ("tokenloop-1000000x20", mixed::token_loop),
    #[cfg(not(lab_rayon))]
    ("line-20000x2000", mixed::line),
    ("calljoins-256x100", join_calls),
    ("bridge-100000x200", bridge),
    ("bridge-20000x2000", bridge),
    ("draw-100000x200", draw),
    ("draw-20000x2000", draw),
    ("stream-20000x200", stream),
    ("stream-20000x2000", stream),
    ("ramp-100000x1000", ramp),
    ("find-1000000x100", find),
    ("collect-1000000x20", collect),
    ("counter-1000000x20", counter),
    #[cfg(not(lab_rayon))]
    ("push-1000000x20", push),
    #[cfg(not(lab_rayon))]
    ("pusher-1000000x20", pusher),
    #[cfg(not(lab_rayon))]
    ("tables-10000000x0", tables),
    ("sort-1000000x0", sort),
    ("sort-10000000x0", sort),
    ("sortkeys-300000x0", sort_by),
    #[cfg(not(lab_rayon))]
    ("group-156250x0", group),
    #[cfg(not(lab_rayon))]
    ("group-1000000x0", group),
    #[cfg(not(lab_rayon))]
    ("group-10000000x0", group),
    #[cfg(not(lab_rayon))]
    ("groupfew-10000000x0", group),
    #[cfg(not(lab_rayon))]
    ("map-300000x0", map),
];

/// The rows in which the time of the code between touches is measured: no two runs are the same.
pub(crate) fn is_measured(row: &str) -> bool {
    row.ends_with("x0")
}

/// Those of them in which each thread fills its own table, block by block.
#[cfg(tine_sched)]
pub(crate) fn has_tables(row: &str) -> bool {
    is_measured(row) && (row.starts_with("group") || row.starts_with("tables"))
}

/// The two numbers of a row's name.
pub(crate) fn numbers(name: &str) -> (usize, u64) {
    let numbers = name.split_once('-').and_then(|(_, n)| n.split_once('x'));
    let (items, nanos) = numbers.expect("a row's name has two numbers");
    let number = |text: &str| text.parse::<usize>().expect("a number");
    (number(items), number(nanos) as u64)
}

/// Makes every thread of the pool start, and all of them be awake.
fn all_there(s: &Setup) {
    for _ in 0..50 {
        machine::reset();
        (0..s.cores * 8).into_par_iter().for_each(|_| work(100_000));
        if machine::threads_in_work() >= s.cores {
            break;
        }
    }
}

fn warm(s: &Setup) {
    (0..s.cores * 4).into_par_iter().for_each(|_| work(20_000));
}

fn cool() {
    std::thread::sleep(Duration::from_millis(10));
}

impl Setup {
    /// Measures `op`, which returns how many tasks it has seen run; `tasks` is the right number.
    fn measure(&self, row: &str, phase: &str, tasks: u64, ideal: u64, op: impl FnOnce() -> u64) {
        machine::reset();
        let begun = now();
        let done = op();
        let time = (now() - begun).max(1);
        assert_eq!(done, tasks, "{row}: tasks that were run");
        let row = format!("{row} {phase}");
        (self.tell)(&Sample {
            row,
            time,
            ideal,
            tasks,
            calls: None,
        });
    }

    pub(crate) fn share(&self, total: u64) -> u64 {
        total / self.cores as u64
    }

    /// Measures `op` twice with all threads awake, and twice after a rest.
    pub(crate) fn warm_and_cold(&self, name: &str, tasks: u64, ideal: u64, op: impl Fn() -> u64) {
        all_there(self);
        op();
        for phase in ["warm", "warm", "cold", "cold"] {
            if phase == "cold" {
                cool();
            } else {
                warm(self);
            }
            self.measure(name, phase, tasks, ideal, &op);
        }
    }
}

#[inline(never)]
pub(crate) fn each(items: usize, nanos: u64) -> u64 {
    (0..items)
        .into_par_iter()
        .map(|_| {
            work(nanos);
            1_u64
        })
        .sum()
}

fn loops(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let ideal = s.share(items as u64 * nanos).max(nanos);
    s.warm_and_cold(name, items as u64, ideal, || each(items, nanos));
}

pub(crate) fn tree(leaves: usize, nanos: u64) -> u64 {
    if leaves == 1 {
        work(nanos);
        return 1;
    }
    let (a, b) = join(|| tree(leaves / 2, nanos), || tree(leaves / 2, nanos));
    a + b
}

/// One ordinary thread calls short trees of joins, one after the other.
fn join_calls(s: &Setup, name: &str) {
    let (leaves, nanos) = numbers(name);
    let reps = 400_000 / leaves;
    let op = || (0..reps).map(|_| tree(leaves, nanos)).sum();
    let ideal = s.share((leaves * reps) as u64 * nanos);
    s.warm_and_cold(name, (leaves * reps) as u64, ideal, op);
}

fn joins(s: &Setup, name: &str) {
    let (leaves, nanos) = numbers(name);
    let ideal = s.share(leaves as u64 * nanos);
    s.warm_and_cold(name, leaves as u64, ideal, || tree(leaves, nanos));
}

/// The same tree by loops of two items.
fn walk(leaves: usize, nanos: u64) -> u64 {
    if leaves == 1 {
        work(nanos);
        return 1;
    }
    let halves = [leaves / 2; 2];
    halves.par_iter().map(|&leaves| walk(leaves, nanos)).sum()
}

fn walks(s: &Setup, name: &str) {
    let (leaves, nanos) = numbers(name);
    let ideal = s.share(leaves as u64 * nanos);
    s.warm_and_cold(name, leaves as u64, ideal, || walk(leaves, nanos));
}

fn nested(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let ideal = s.share(100 * items as u64 * nanos);
    let op = || (0..100).into_par_iter().map(|_| each(items, nanos)).sum();
    s.warm_and_cold(name, 100 * items as u64, ideal, op);
}

/// Whether a row is a loop in which some items take much longer than others.
pub(crate) fn is_uneven(row: &str) -> bool {
    row.starts_with("pareto") || row.starts_with("triangle") || row.starts_with("tail")
}

/// How long the items of such a row take.
pub(crate) fn uneven_items(name: &str, seed: u64) -> Vec<u64> {
    let (items, nanos) = numbers(name);
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) as f64 / (1_u64 << 53) as f64
    };
    if name.starts_with("pareto") {
        let one = |_| ((nanos as f64 * (1.0 - random()).powf(-1.0 / 1.1)) as u64).min(500_000);
        (0..items).map(one).collect()
    } else if name.starts_with("tail") {
        // The last 2 % of the items hold 90 %.
        let long = |i: usize| i + items / 50 >= items;
        (0..items)
            .map(|i| if long(i) { 450 * nanos } else { nanos })
            .collect()
    } else {
        (0..items as u64).map(|i| i * nanos).collect()
    }
}

/// No shorter than an even share, and no shorter than the longest item.
pub(crate) fn uneven_ideal(costs: &[u64], cores: usize) -> u64 {
    let longest = costs.iter().copied().max().unwrap_or(0);
    (costs.iter().sum::<u64>() / cores as u64).max(longest)
}

fn uneven(s: &Setup, name: &str) {
    let costs = uneven_items(name, s.seed);
    let ideal = uneven_ideal(&costs, s.cores);
    s.warm_and_cold(name, costs.len() as u64, ideal, || {
        let one = |&cost: &u64| {
            work(cost);
            1_u64
        };
        costs.par_iter().map(one).sum()
    });
}

fn spawner(s: &Setup, name: &str) {
    let (tasks, nanos) = numbers(name);
    s.warm_and_cold(name, tasks as u64, s.share(tasks as u64 * nanos), || {
        let done: Vec<_> = (0..s.cores.max(1) * 2)
            .map(|_| Padded(AtomicUsize::new(0)))
            .collect();
        scope(|scope| {
            for _ in 0..tasks {
                scope.spawn(|_| {
                    work(nanos);
                    count(&done);
                });
            }
        });
        sum(&done)
    });
}

/// Counts for the calling thread, on a line that is next to its own.
#[repr(align(128))]
pub(crate) struct Padded(pub(crate) AtomicUsize);

fn count(done: &[Padded]) {
    let me = current_thread_index().unwrap_or(0);
    done[me % done.len()].0.fetch_add(1, Relaxed);
}

pub(crate) fn sum(done: &[Padded]) -> u64 {
    done.iter().map(|d| d.0.load(Relaxed) as u64).sum()
}

fn spawn_tree(s: &Setup, name: &str) {
    fn grow<'s>(scope: &Scope<'s>, done: &'s [Padded], left: usize, nanos: u64) {
        work(nanos);
        count(done);
        let left = left - 1;
        if left > 0 {
            scope.spawn(move |scope| grow(scope, done, left / 2, nanos));
            scope.spawn(move |scope| grow(scope, done, left / 2, nanos));
        }
    }
    let (tasks, nanos) = numbers(name);
    s.warm_and_cold(name, tasks as u64, s.share(tasks as u64 * nanos), || {
        let done: Vec<_> = (0..s.cores * 2)
            .map(|_| Padded(AtomicUsize::new(0)))
            .collect();
        scope(|scope| grow(scope, &done, tasks, nanos));
        sum(&done)
    });
}

/// As many ordinary threads as cores, each of which calls short loops, trees of joins or scopes, or spawns
/// tasks and waits for them, one call after the other.
fn server(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    // Tasks are queued one by one, which takes the laboratory long.
    let all = if name.starts_with("servetasks") {
        3_000
    } else {
        30_000
    };
    let reps = (all / items).clamp(5, 300);
    let callers = s.cores;
    let call = match name {
        _ if name.starts_with("servejoins") => tree,
        _ if name.starts_with("servescopes") => mixed::scope_of,
        #[cfg(not(lab_rayon))]
        _ if name.starts_with("servetasks") => mixed::tasks_of,
        _ => each,
    };
    all_there(s);
    let left = Arc::new(AtomicUsize::new(callers + 1));
    let seen = Arc::new(AtomicUsize::new(0));
    let times = Arc::new(std::sync::Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..callers)
        .map(|i| {
            let (left, seen) = (left.clone(), seen.clone());
            let times = times.clone();
            std::thread::spawn(move || {
                call(items, nanos);
                left.fetch_sub(1, SeqCst);
                while left.load(SeqCst) > 0 {
                    std::thread::sleep(Duration::from_nanos(5_000 + 37 * i as u64));
                }
                let (mut mine, mut looked_at) = (Vec::new(), 0);
                for _ in 0..reps {
                    let begun = now();
                    looked_at += call(items, nanos) as usize;
                    mine.push(now() - begun);
                }
                // Once: a line that each call wrote would be what the row measures.
                seen.fetch_add(looked_at, Relaxed);
                let ended = now();
                times.lock().unwrap().extend(mine);
                ended
            })
        })
        .collect();
    while left.load(SeqCst) > 1 {
        std::thread::sleep(Duration::from_micros(50));
    }
    let tasks = (callers * items * reps) as u64;
    machine::reset();
    let begun = now();
    left.fetch_sub(1, SeqCst);
    // This thread sleeps while it waits: a look every few microseconds took a fiftieth of eight cores.
    let ended = threads
        .into_iter()
        .map(|caller| caller.join().expect("a caller"));
    let time = ended.max().expect("a caller") - begun;
    assert_eq!(
        seen.load(SeqCst) as u64,
        tasks,
        "{name}: items that were seen"
    );
    let mut times = times.lock().unwrap();
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    (s.tell)(&Sample {
        row: format!("{name} calls"),
        time,
        ideal: items as u64 * nanos * reps as u64,
        tasks: (callers * reps) as u64,
        calls: Some((at(0.5), at(0.99))),
    });
}

fn bridge(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let ideal = s.share(items as u64 * nanos);
    s.warm_and_cold(name, items as u64, ideal, || {
        let one = |_| {
            work(nanos);
            1_u64
        };
        (0..items).par_bridge().map(one).sum()
    });
}

/// What `next` of the row below takes, in nanoseconds.
const DRAW: u64 = 20;

/// As `bridge`, from an iterator whose `next` takes its time. No thread count makes a bridge faster than
/// its serial draw, so the ideal time is that, or the work of all by the cores, whichever is longer.
fn draw(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let serial = items as u64 * DRAW;
    let ideal = s.share(serial + items as u64 * nanos).max(serial);
    s.warm_and_cold(name, items as u64, ideal, || {
        let slow = (0..items).inspect(|_| work(DRAW));
        let one = |_| {
            work(nanos);
            1_u64
        };
        slow.par_bridge().map(one).sum()
    });
}

/// As `bridge`, from an iterator that does not know whether it has more: items come one by one.
fn stream(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    let ideal = s.share(items as u64 * nanos);
    s.warm_and_cold(name, items as u64, ideal, || {
        let one = |_| {
            work(nanos);
            1_u64
        };
        (0..items).filter(|_| true).par_bridge().map(one).sum()
    });
}

fn ramp(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    all_there(s);
    each(items, nanos);
    cool();
    let ideal = s.share(items as u64 * nanos);
    s.measure(name, "cold", items as u64, ideal, || each(items, nanos));
}

fn find(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    // What is sought is not there: all must be looked at, and all look whether it was found.
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        let found = (0..items).into_par_iter().find_any(|&i| {
            work(nanos);
            i == items
        });
        found.unwrap_or(items) as u64
    });
}

fn collect(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        let made = (0..items).into_par_iter().map(|i| {
            work(nanos);
            i
        });
        let made: Vec<usize> = made.collect();
        made.iter().enumerate().filter(|(i, x)| i == *x).count() as u64
    });
}

fn counter(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        let count = AtomicUsize::new(0);
        (0..items).into_par_iter().for_each(|_| {
            work(nanos);
            count.fetch_add(1, Relaxed);
        });
        count.load(Relaxed) as u64
    });
}

#[cfg(not(lab_rayon))]
fn push(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        let all = ParVec::new();
        (0..items).into_par_iter().for_each(|i| {
            work(nanos);
            all.push(i);
        });
        all.len() as u64
    });
}

/// As `push`, in blocks.
#[cfg(not(lab_rayon))]
fn pusher(s: &Setup, name: &str) {
    let (items, nanos) = numbers(name);
    s.warm_and_cold(name, items as u64, s.share(items as u64 * nanos), || {
        let all = ParVec::new();
        (0..items).into_par_iter().for_each_init(
            || all.pusher(),
            |pusher, i| {
                work(nanos);
                pusher.push(i);
            },
        );
        all.len() as u64
    });
}

// ---- rows that are measured ---------------------------------------------------------------------

fn mixed(items: usize, seed: u64) -> Vec<u64> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..items).map(next).collect()
}

/// The key of an item, below `distinct`. It is computed: threads that take turns on one real core would have
/// to find their streams of input again after each turn.
#[cfg(not(lab_rayon))]
fn key(item: usize, seed: u64, distinct: u64) -> u64 {
    let mut x = (item as u64 ^ seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^= x >> 32;
    ((u128::from(x) * u128::from(distinct)) >> 64) as u64
}

/// Measures `op` on a value that is made anew each time and checked afterwards.
fn again<T>(
    s: &Setup,
    name: &str,
    items: usize,
    make: impl Fn() -> T,
    op: impl Fn(T) -> T,
    check: impl Fn(&T) -> bool,
) {
    all_there(s);
    drop(op(make()));
    for _ in 0..3 {
        let value = make();
        warm(s);
        let mut made = None;
        s.measure(name, "warm", items as u64, 0, || {
            made = Some(op(value));
            items as u64
        });
        assert!(made.as_ref().is_some_and(&check), "{name}: a wrong answer");
    }
}

/// A row whose answer is known: each thread counts its share of the items in its own table of 256 KB,
/// and nothing is shared. Instead of a loop's looks around, it touches its own word between two blocks.
#[cfg(not(lab_rayon))]
fn tables(s: &Setup, name: &str) {
    const PLACES: usize = 1 << 15;
    thread_local! {
        static TABLE: RefCell<Vec<u64>> = RefCell::new(vec![0; PLACES]);
    }
    let (items, _) = numbers(name);
    let (share, seed) = (items.div_ceil(s.cores), s.seed);
    let words: Vec<_> = (0..s.cores).map(|_| Padded(AtomicUsize::new(0))).collect();
    let op = || {
        let counted = broadcast(|b| {
            let (from, word) = (b.index() * share, &words[b.index()].0);
            let end = items.min(from + share);
            TABLE.with_borrow_mut(|table| {
                for block in (from..end).step_by(500) {
                    for item in block..end.min(block + 500) {
                        table[key(item, seed, PLACES as u64) as usize] += 1;
                    }
                    word.fetch_add(1, Relaxed);
                }
            });
            end.saturating_sub(from) as u64
        });
        counted.iter().sum()
    };
    all_there(s);
    op();
    for _ in 0..3 {
        warm(s);
        s.measure(name, "warm", items as u64, 0, op);
    }
}

fn sort(s: &Setup, name: &str) {
    let (items, _) = numbers(name);
    let values = mixed(items, s.seed);
    let op = |mut v: Vec<u64>| {
        v.par_sort_unstable();
        v
    };
    again(s, name, items, || values.clone(), op, |v| v.is_sorted());
}

fn sort_by(s: &Setup, name: &str) {
    let (items, _) = numbers(name);
    let pairs: Vec<(u64, u64)> = mixed(items, s.seed)
        .into_iter()
        .map(|x| (x >> 20, x))
        .collect();
    let op = |mut v: Vec<(u64, u64)>| {
        v.par_sort_by(|a, b| a.0.cmp(&b.0));
        v
    };
    again(
        s,
        name,
        items,
        || pairs.clone(),
        op,
        |v| v.is_sorted_by_key(|p| p.0),
    );
}

#[cfg(not(lab_rayon))]
fn group(s: &Setup, name: &str) {
    let (items, _) = numbers(name);
    // The tables of few keys all fit the cache of the one real core; those of 64 threads with many do not.
    let distinct = if name.starts_with("groupfew") {
        100
    } else {
        10_000
    };
    let seed = s.seed;
    all_there(s);
    let op = || {
        let keys = (0..items).into_par_iter().map(|i| key(i, seed, distinct));
        keys.count_by(|&k| k)
    };
    op();
    for _ in 0..3 {
        warm(s);
        let mut counts = None;
        s.measure(name, "warm", items as u64, 0, || {
            counts = Some(op());
            items as u64
        });
        let all = counts.into_iter().flatten().map(|(_, n)| n);
        assert_eq!(all.sum::<usize>(), items, "{name}: items that were counted");
    }
}

#[cfg(not(lab_rayon))]
fn map(s: &Setup, name: &str) {
    let (items, _) = numbers(name);
    let keys = mixed(items, s.seed);
    all_there(s);
    for _ in 0..3 {
        let map = ParHashMap::new();
        warm(s);
        s.measure(name, "insert", items as u64, 0, || {
            keys.par_iter().for_each(|&k| {
                map.insert(k, k);
            });
            map.len() as u64
        });
        warm(s);
        s.measure(name, "get", items as u64, 0, || {
            let has = |k: &u64| u64::from(map.get(k).is_some());
            black_box(keys.par_iter().map(has).sum())
        });
    }
}

//! CPU time without use: an idle pool, a pool of which one thread is busy, a small call every
//! millisecond.
#![forbid(unsafe_code)]

use crate::cases;
use crate::peers::Peer;
use crate::row::{How, Row, Size};
use crate::usage::{process_cpu, thread_cpu};
use crate::{spin, workloads::tree::tree};
use std::time::{Duration, Instant};
use std::{hint::black_box, thread};

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row {
        name: "CPU burnt, idle for 2 s after work",
        unit: "ms",
        sizes: &[Size::Cores, Size::Crowd],
        how: How::Aside,
        above: None,
        cases: cases!(sample_idle: Tine, Rayon, Chili, Forte),
    },
    Row {
        name: "CPU burnt beside a 1 s sequential task in the pool",
        unit: "ms",
        sizes: &[Size::Cores, Size::Crowd],
        how: How::Alone,
        above: None,
        cases: cases!(sample_beside: Tine, Rayon, Chili, Forte),
    },
    Row {
        name: "CPU for an 80 µs call each ms",
        unit: "ms per s",
        sizes: &[Size::Cores, Size::Crowd],
        how: How::Alone,
        above: None,
        cases: cases!(sample_periodic),
    },
];

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn warm<P: Peer>() {
    black_box(P::enter(|cx| tree::<P>(cx, 16)));
}

fn sample_idle<P: Peer>() -> f64 {
    warm::<P>();
    let before = process_cpu();
    thread::sleep(Duration::from_secs(2));
    milliseconds(process_cpu() - before)
}

/// What the process used, less what the task itself used. If the pool has not finished starting, a
/// sample is a few milliseconds off, so the pool gets time first.
fn sample_beside<P: Peer>() -> f64 {
    warm::<P>();
    thread::sleep(Duration::from_millis(50));
    let before = process_cpu();
    let task = P::enter(|_| {
        let start = thread_cpu();
        while thread_cpu() - start < Duration::from_secs(1) {
            spin::nanoseconds(1_000_000);
        }
        thread_cpu() - start
    });
    milliseconds((process_cpu() - before).saturating_sub(task))
}

/// 16 leaves of 5 µs under a call from an ordinary thread.
fn eighty<P: Peer>() {
    fn halve<P: Peer>(cx: P::Cx<'_>, leaves: u64) {
        if leaves == 1 {
            return spin::nanoseconds(5_000);
        }
        P::join(
            cx,
            |cx| halve::<P>(cx, leaves / 2),
            |cx| halve::<P>(cx, leaves / 2),
        );
    }
    P::call(|cx| halve::<P>(cx, 8), |cx| halve::<P>(cx, 8));
}

fn sample_periodic<P: Peer>() -> f64 {
    const CALLS: u32 = 300;
    const EACH: Duration = Duration::from_millis(1);
    (0..20).for_each(|_| eighty::<P>());
    let (start, before) = (Instant::now(), process_cpu());
    for call in 0..CALLS {
        thread::sleep((start + EACH * call).saturating_duration_since(Instant::now()));
        eighty::<P>();
    }
    thread::sleep((start + EACH * CALLS).saturating_duration_since(Instant::now()));
    milliseconds(process_cpu() - before) / start.elapsed().as_secs_f64()
}

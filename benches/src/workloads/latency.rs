//! Calls from an ordinary thread: what a call into the pool costs, when the pool is asleep and when
//! calls follow each other, and whether two heavy halves really run side by side.
#![forbid(unsafe_code)]

use super::{NAP, nanoseconds_each};
use crate::cases;
use crate::peers::Peer;
use crate::row::{How, Row, Size};
use crate::spin;
use std::{hint::black_box, thread};

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row {
        name: "join of two empty closures, pool asleep",
        unit: "ns per call",
        sizes: &[Size::Cores, Size::Crowd],
        how: How::Together,
        above: None,
        cases: cases!(sample_empty_asleep),
    },
    Row {
        name: "join of two empty closures, back to back",
        unit: "ns per call",
        sizes: &[Size::Cores, Size::Crowd],
        how: How::Together,
        above: None,
        cases: cases!(sample_empty_awake),
    },
    Row {
        name: "join of two 1 ms closures, pool asleep",
        unit: "µs per call",
        sizes: &[Size::Cores, Size::Crowd],
        how: How::Together,
        above: None,
        cases: cases!(sample_heavy_asleep),
    },
    Row {
        name: "join of two 1 ms closures, pool asleep, a process each",
        unit: "µs per call",
        sizes: &[Size::Cores],
        how: How::Alone,
        above: None,
        cases: cases!(sample_heavy_asleep: Tine, Anywhere, Rayon),
    },
];

const AWAKE_CALLS: usize = 200;
const ASLEEP_CALLS: usize = 3;

fn empty<P: Peer>() {
    P::call(|_| black_box(()), |_| black_box(()));
}

/// The mean over a few calls, each after a pause.
fn asleep(call: impl Fn()) -> f64 {
    let after_a_nap = |_| {
        thread::sleep(NAP);
        nanoseconds_each(1, &call)
    };
    (0..ASLEEP_CALLS).map(after_a_nap).sum::<f64>() / ASLEEP_CALLS as f64
}

fn sample_empty_asleep<P: Peer>() -> f64 {
    asleep(empty::<P>)
}

fn sample_empty_awake<P: Peer>() -> f64 {
    empty::<P>();
    nanoseconds_each(AWAKE_CALLS, || (0..AWAKE_CALLS).for_each(|_| empty::<P>()))
}

fn sample_heavy_asleep<P: Peer>() -> f64 {
    let half = || spin::nanoseconds(1_000_000);
    asleep(|| {
        P::call(|_| half(), |_| half());
    }) / 1_000.0
}

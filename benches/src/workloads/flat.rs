//! A loop of joins with trivial bodies, one after another, while another worker
//! is awake and would take anything: jobs too small to be worth the journey.
#![forbid(unsafe_code)]

use super::nanoseconds_each;
use crate::cases;
use crate::peers::Peer;
use crate::row::{How, Row, Size};
use crate::spin;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The rows of this file.
pub const ROWS: &[Row] = &[Row {
    name: "flat loop of trivial joins, another worker awake",
    unit: "ns per join",
    sizes: &[Size::Cores, Size::Crowd],
    how: How::Together,
    above: None,
    cases: cases!(sample),
}];

const JOINS: usize = 20_000;
const PATIENCE: Duration = Duration::from_millis(2);

fn joins<P: Peer>(cx: &mut P::Cx<'_>, count: usize) {
    for i in 0..count {
        P::join(P::lend(cx), |_| black_box(i), |_| black_box(i));
    }
}

/// The other half of the outer join gives another worker 20 µs of work. Once it
/// has begun, that worker is awake, and soon looks for more.
fn sample<P: Peer>() -> f64 {
    let begun = &AtomicBool::new(false);
    let looping = |mut cx: P::Cx<'_>| {
        let start = Instant::now();
        while !begun.load(Relaxed) && start.elapsed() < PATIENCE {
            joins::<P>(&mut cx, 100);
        }
        nanoseconds_each(JOINS, || joins::<P>(&mut cx, JOINS))
    };
    let waking = |_: P::Cx<'_>| {
        begun.store(true, Relaxed);
        spin::nanoseconds(20_000);
    };
    P::enter(|cx| P::join(cx, looping, waking).0)
}

//! Adds up where the threads' time goes, from the spans that tine opens for `tracing`.
//!
//! ```text
//! cargo run --release --features tracing --example spans
//! ```
//!
//! A program that has a subscriber (`tracing-subscriber`, `tracing-tracy` …) needs none of this: it
//! enables the feature, and lets the target `tine` pass at the level of debugging.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tine::prelude::*;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// For each kind of span, how many there were, and the time that was spent in them.
static SUMS: Mutex<BTreeMap<&str, (usize, Duration)>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// When this thread entered the spans that it is in.
    static INSIDE: RefCell<Vec<Instant>> = const { RefCell::new(Vec::new()) };
}

/// A subscriber that keeps the sums. The number of a span says what kind it is.
struct Sums {
    next: AtomicU64,
    kinds: Mutex<BTreeMap<u64, &'static str>>,
}

impl Subscriber for Sums {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "tine"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Relaxed);
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.insert(id, span.metadata().name());
        Id::from_u64(id)
    }

    fn enter(&self, _: &Id) {
        INSIDE.with_borrow_mut(|inside| inside.push(Instant::now()));
    }

    fn exit(&self, id: &Id) {
        let since = INSIDE.with_borrow_mut(Vec::pop);
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(since), Some(kind)) = (since, kinds.remove(&id.into_u64())) {
            let mut sums = SUMS.lock().unwrap_or_else(PoisonError::into_inner);
            let (count, time) = sums.entry(kind).or_default();
            (*count, *time) = (*count + 1, *time + since.elapsed());
        }
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

/// How many steps it takes from `n` to 1.
fn steps(mut n: u64) -> u64 {
    let mut steps = 0;
    while n > 1 {
        n = if n.is_multiple_of(2) {
            n / 2
        } else {
            3 * n + 1
        };
        steps += 1;
    }
    steps
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing::subscriber::set_global_default(Sums {
        next: AtomicU64::new(1),
        kinds: Mutex::default(),
    })?;
    let begun = Instant::now();
    let longest = (1..1_000_000_u64).into_par_iter().map(steps).max();
    let took = begun.elapsed();
    assert_eq!(longest, (1..1_000_000).map(steps).max());

    println!("{took:.1?} on {} seats", tine::current_num_threads());
    for (kind, (count, time)) in SUMS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("{kind:>6}: {count:>4} spans, {time:.1?}");
    }
    Ok(())
}

//! What a tree learns about its site. How long its items take is the machine's matter, so no figure of it is asked for
//! here: of items that take half a microsecond each, as they may where nothing is optimised, twenty are no short loop.

use std::hint;
use std::ops::Range;
use std::time::{Duration, Instant};

use tine_pool::loops::{self, Timer};
use tine_pool::{ThreadPool, ThreadPoolBuilder};

use super::{bridge_node, run};
use crate::plumbing::{Consumer, Folder, Producer, Reducer};

struct Numbers(Range<usize>);

impl Producer for Numbers {
    type Item = usize;
    type IntoIter = Range<usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.0
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let mid = self.0.start + index;
        (Numbers(self.0.start..mid), Numbers(mid..self.0.end))
    }
}

/// Adds `N` times each item, so that each `N` has a site of its own. Of [`SLOW`] each takes a while.
struct Times<const N: usize>(usize);

const SLOW: usize = 1;

impl<const N: usize> Consumer<usize> for Times<N> {
    type Folder = Self;
    type Reducer = Self;
    type Result = usize;

    const ADVANCES: bool = true;

    fn split_at(self, _: usize) -> (Self, Self, Self) {
        (Times(0), Times(0), Times(0))
    }

    fn into_folder(self) -> Self {
        self
    }

    fn full(&self) -> bool {
        false
    }
}

impl<const N: usize> Folder<usize> for Times<N> {
    type Result = usize;

    fn consume(self, item: usize) -> Self {
        if N == SLOW {
            let start = Instant::now();
            while start.elapsed() < Duration::from_nanos(300) {
                hint::spin_loop();
            }
        }
        Times(self.0 + N * item)
    }

    fn complete(self) -> usize {
        self.0
    }

    fn full(&self) -> bool {
        false
    }
}

impl<const N: usize> Reducer<usize> for Times<N> {
    fn reduce(self, left: usize, right: usize) -> usize {
        left + right
    }
}

fn site<const N: usize>() -> usize {
    run::<Numbers, Times<N>> as *const () as usize
}

/// A tree of this number of leaves with an item each.
fn tree<const N: usize>(leaves: usize) {
    let sum = bridge_node(leaves, 1, Numbers(0..leaves), Times::<N>(0));
    assert_eq!(sum, N * leaves * (leaves - 1) / 2);
}

fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
}

/// However many threads there are, what is known to be short is not offered to them. Here it is said to be so and is
/// longer, but not so much that it would be noticed in the same call. (An interruption is noticed, and in between, another
/// loop may push the site out of the table.)
#[test]
fn what_is_known_to_be_short_is_not_offered() {
    const LEAVES: usize = 20;
    let pool = pool(64);
    let round = || {
        if let Some(timer) = Timer::start(site::<SLOW>(), 1) {
            timer.time(usize::MAX >> 10, || ());
            timer.end();
        }
        let known = loops::few(site::<SLOW>()) >= LEAVES;
        let before = pool.stats().total().published;
        pool.install(|| tree::<SLOW>(LEAVES));
        known && pool.stats().total().published == before
    };
    assert!((0..200).any(|_| round()));
}

/// What the items of a tree take does not depend on how many threads there are, nor on what the pool does with its parts.
/// So after some calls on many threads they are not known for much dearer than after some on one. (An interruption may
/// make them look dear for a few calls.)
#[test]
fn what_items_take_does_not_depend_on_threads() {
    const LEAVES: usize = 4;
    const TIMES: usize = 8;
    let one = pool(1);
    let call = || one.install(|| tree::<2>(LEAVES));
    let alone = (0..200).map(|_| (call(), loops::few(site::<2>())).1).max();
    let many = pool(64);
    let call = || many.install(|| tree::<3>(LEAVES));
    assert!((0..1000).any(|_| {
        call();
        Some(loops::few(site::<3>()) * TIMES) >= alone
    }));
}

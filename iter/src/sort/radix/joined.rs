//! Merging elements that lie in a few long runs, by keys that are words.
//!
//! ```text
//!   home:  [ run 0 | run 1 | run 2 | run 3 | run 4 ]
//!   room:  [   0 and 1     |    2 and 3    |   4   ]
//!   home:  [         0 to 3                |   4   ]
//!   room:  [               0 to 4                  ]      and home again
//! ```
//!
//! In each step all runs go to the other half. So all elements are in one half until a step is done, and they
//! are still there if a key panics. A step is cut into pieces before any thread begins: each element is looked
//! at only by the thread that moves it.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;

use tine_pool::loops::requested;

use super::elements::Elements;
use super::word::RadixBits;
use crate::sort::fork;

/// A run of less than this part of all elements is not worth merging. What lies between long runs is made one
/// run by a scatter.
const LONG: usize = 64;
/// If more than this part of the elements lies between long runs, all are scattered.
const LOOSE: usize = 4;

/// How neighbouring elements lie.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Up,
    /// Each key is less than the one before it.
    Down,
    /// In short runs.
    None,
}

/// Elements in some order.
struct Run {
    these: Range<usize>,
    order: Order,
}

/// The share that one thread merges: two ranges of elements, and the place where they go.
struct Piece {
    first: Range<usize>,
    second: Range<usize>,
    to: usize,
}

/// Sorts elements at home, stably, if they lie in a few runs. If not, returns `false`; then elements with equal
/// keys have kept their order.
///
/// # Safety
/// The elements are there, and no other thread uses them or their room.
pub(super) unsafe fn sort<B: RadixBits>(
    elements: &dyn Elements<B>,
    all: Range<usize>,
    threads: usize,
    scatter: &dyn Fn(Range<usize>) -> bool,
) -> bool {
    let grain = fork::grain(all.len(), threads);
    // SAFETY: the caller vouches for it.
    let Some(mut starts) = (unsafe { starts(elements, all.clone(), grain, scatter) }) else {
        return false;
    };
    let home = Home {
        elements,
        all: all.clone(),
        in_room: Cell::new(false),
    };
    // The last start is the end.
    while starts.len() > 2 && !requested() {
        let in_room = home.in_room.get();
        // SAFETY: as above; all are in this half.
        let pieces = unsafe { pieces(elements, in_room, &starts, grain) };
        fork::each(0..pieces.len(), &|at| {
            let Piece { first, second, to } = &pieces[at];
            // SAFETY: as above, and no two pieces have an element or a place in common.
            unsafe { elements.merge(in_room, first.clone(), second.clone(), *to) }
        });
        home.in_room.set(!in_room);
        let last = starts.len() - 1;
        let mut at = 0;
        starts.retain(|_| {
            at += 1;
            at % 2 == 1 || at == last + 1
        });
    }
    if home.in_room.get() {
        fork::each(0..all.len().div_ceil(grain), &|piece| {
            let from = all.start + piece * grain;
            // SAFETY: as above, and all are in the room.
            unsafe { elements.carry(from..all.end.min(from + grain)) }
        });
        home.in_room.set(false);
    }
    true
}

/// Brings all elements home at the end, also if a key panics.
struct Home<'a, B> {
    elements: &'a dyn Elements<B>,
    all: Range<usize>,
    in_room: Cell<bool>,
}

impl<B> Drop for Home<'_, B> {
    fn drop(&mut self) {
        if self.in_room.get() {
            // SAFETY: the caller of `sort` vouches for them, and all are in the room.
            unsafe { self.elements.carry(self.all.clone()) }
        }
    }
}

/// The starts of the runs, and the end, once all runs are in ascending order. `None` if too much lies between
/// long runs.
///
/// # Safety
/// As for [`sort`].
unsafe fn starts<B: RadixBits>(
    elements: &dyn Elements<B>,
    all: Range<usize>,
    grain: usize,
    scatter: &dyn Fn(Range<usize>) -> bool,
) -> Option<Vec<usize>> {
    let long = all.len() / LONG;
    let number = all.len().div_ceil(grain);
    let found: Vec<Mutex<Vec<Run>>> = (0..number).map(|_| Mutex::default()).collect();
    fork::each(0..number, &|piece| {
        let from = all.start + piece * grain;
        // SAFETY: the caller vouches for it, and each piece is one thread's.
        let runs = unsafe { runs(elements, from..all.end.min(from + grain), long) };
        *found[piece].lock().expect("locked by one thread") = runs;
    });
    let mut joined: Vec<Run> = vec![];
    for runs in found {
        let runs = runs.into_inner().expect("locked by one thread");
        for run in runs {
            let goes_on = joined.last().is_some_and(|last| {
                // SAFETY: as above.
                unsafe { goes_on(elements, last, &run) }
            });
            match joined.last_mut() {
                Some(last) if goes_on => last.these.end = run.these.end,
                _ => joined.push(run),
            }
        }
    }
    let loose = joined.iter().filter(|run| run.order == Order::None);
    if loose.map(|run| run.these.len()).sum::<usize>() > all.len() / LOOSE {
        return None;
    }
    for run in &joined {
        let these = run.these.clone();
        match run.order {
            Order::Up => {}
            // SAFETY: as above.
            Order::Down => unsafe { elements.reverse(these) },
            Order::None => {
                if !scatter(these) {
                    return None;
                }
            }
        }
    }
    let starts = joined.iter().map(|run| run.these.start);
    Some(starts.chain([all.end]).collect())
}

/// The runs of some elements. Several short runs in a row count as one, without an order.
///
/// # Safety
/// As for [`sort`].
unsafe fn runs<B>(elements: &dyn Elements<B>, these: Range<usize>, long: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    let mut at = these.start;
    while at < these.end {
        // SAFETY: the caller vouches for it.
        let (end, down) = unsafe { elements.run(at..these.end) };
        let order = match (end - at < long, down) {
            (true, _) => Order::None,
            (_, true) => Order::Down,
            _ => Order::Up,
        };
        match runs.last_mut() {
            Some(last) if order == Order::None && last.order == order => last.these.end = end,
            _ => runs.push(Run {
                these: at..end,
                order,
            }),
        }
        at = end;
    }
    runs
}

/// Whether a run is the rest of the one before it.
///
/// # Safety
/// As for [`sort`].
unsafe fn goes_on<B: Ord>(elements: &dyn Elements<B>, before: &Run, run: &Run) -> bool {
    // SAFETY: the caller vouches for it.
    let last = unsafe { elements.key_of(false, before.these.end - 1) };
    // SAFETY: as above.
    let first = unsafe { elements.key_of(false, run.these.start) };
    before.order == run.order
        && match run.order {
            Order::Up => first >= last,
            Order::Down => first < last,
            Order::None => true,
        }
}

/// The pieces of one step, which merges each run with the next.
///
/// # Safety
/// As for [`sort`], and the elements are in this half.
unsafe fn pieces<B: Ord>(
    elements: &dyn Elements<B>,
    in_room: bool,
    starts: &[usize],
    grain: usize,
) -> Vec<Piece> {
    let mut pieces = vec![];
    let end = starts[starts.len() - 1];
    for pair in starts[..starts.len() - 1].chunks(2) {
        let from = pair[0];
        let middle = pair.get(1).copied().unwrap_or(end);
        let at = starts.partition_point(|&start| start <= middle);
        let until = starts.get(at).copied().unwrap_or(end);
        // Where the pieces so far end in the first run and in the second.
        let (mut first, mut second) = (from, middle);
        while first < middle || second < until {
            let len = grain.min(middle - first + until - second);
            // SAFETY: the caller vouches for it.
            let of_first = unsafe { share(elements, in_room, first..middle, second..until, len) };
            let (first_end, second_end) = (first + of_first, second + len - of_first);
            pieces.push(Piece {
                first: first..first_end,
                second: second..second_end,
                to: from + (first - from) + (second - middle),
            });
            (first, second) = (first_end, second_end);
        }
    }
    pieces
}

/// How many of the `len` least elements of two runs lie in the first run. Whatever the keys say, neither run is
/// asked for more than it has.
///
/// # Safety
/// As for [`sort`], and the elements are in this half.
unsafe fn share<B: Ord>(
    elements: &dyn Elements<B>,
    in_room: bool,
    first: Range<usize>,
    second: Range<usize>,
    len: usize,
) -> usize {
    let (mut low, mut high) = (len.saturating_sub(second.len()), len.min(first.len()));
    while low < high {
        let i = low + (high - low) / 2;
        // SAFETY: the caller vouches for it, and `len - 1 - i` is below the length of the second.
        let theirs = unsafe { elements.key_of(in_room, second.start + (len - 1 - i)) };
        // SAFETY: as above; `i` is below the length of the first.
        let ours = unsafe { elements.key_of(in_room, first.start + i) };
        if theirs < ours {
            high = i;
        } else {
            low = i + 1;
        }
    }
    low
}

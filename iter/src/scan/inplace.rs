//! Scanning a slice in place.
//!
//! Blocks, tallies and windows are as in a scan into a consumer (see `sweep`). There are two
//! differences: values go back into the slice, and the slice may be cut into *segments*, with a
//! running value that begins anew at each break. A block with a break hands on the tally after its
//! last break, whatever its carry.

use std::mem::{replace, take};
use std::sync::{Mutex, PoisonError};

use tine_pool::current_num_threads;
use tine_pool::loops::Site;

use super::op::Operation;
use super::run::{Tally, WINDOW, block_size, is_exact};
use crate::convert::IntoParallelIterator;
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Pace, Step, both, enter, fold};
use crate::sources::slice::ParallelSliceMut;

/// How many items for each thread make a window where brackets do not matter.
const EXACT_WINDOW: usize = 1 << 19;

/// Where segments begin.
pub(super) trait Breaks: Sync {
    /// Whether there may be a break.
    const ANY: bool;

    /// Whether a segment begins at this index.
    fn at(&self, index: usize) -> bool;
}

/// One segment: the whole.
pub(super) struct Unbroken;

impl Breaks for Unbroken {
    const ANY: bool = false;

    fn at(&self, _: usize) -> bool {
        false
    }
}

/// Where a flag is set.
pub(super) struct Flags<'f>(pub(super) &'f [bool]);

impl Breaks for Flags<'_> {
    const ANY: bool = true;

    #[inline]
    fn at(&self, index: usize) -> bool {
        self.0[index]
    }
}

/// Where a key differs from the one before.
pub(super) struct Keys<'k, K>(pub(super) &'k [K]);

impl<K: PartialEq + Sync> Breaks for Keys<'_, K> {
    const ANY: bool = true;

    #[inline]
    fn at(&self, index: usize) -> bool {
        index > 0 && self.0[index - 1] != self.0[index]
    }
}

/// Scans all of `slice` and returns the last running value.
pub(super) fn scan<T, O, B, const EXCLUSIVE: bool>(slice: &mut [T], op: &O, breaks: &B) -> T
where
    T: Clone + Send,
    O: Operation<T>,
    B: Breaks,
{
    let len = slice.len();
    if len == 0 {
        return op.identity();
    }
    enter(move || {
        let (size, once) = (block_size(len), is_exact::<T>());
        let scan = Scan::<_, _, _, EXCLUSIVE> {
            op,
            breaks,
            rest: slice,
            at: 0,
            len,
            size,
            once,
            in_block: if once { len } else { size.min(len) },
            begun: Begun::at(op.identity(), op),
            carry: Tally::new(op.identity()),
            ends: Vec::new(),
        };
        scan.all()
    })
}

/// The rest of a scan.
struct Scan<'s, T, O, B, const EXCLUSIVE: bool> {
    op: &'s O,
    breaks: &'s B,
    /// The elements not scanned yet, where they begin, and the length of all.
    rest: &'s mut [T],
    at: usize,
    len: usize,
    /// The size of a block, and how much is left of the block under way. If brackets do not matter,
    /// all that this thread scans ahead is one block.
    size: usize,
    once: bool,
    in_block: usize,
    begun: Begun<T>,
    /// The carry of the block under way.
    carry: Tally<T>,
    ends: Vec<End<T>>,
}

/// A block under way: the running value, the tally after the last break (or the block's beginning),
/// and whether there was a break.
struct Begun<T> {
    acc: Tally<T>,
    end: End<T>,
}

/// The tally of a block; then its carry, then its last running value.
struct End<T> {
    tally: Tally<T>,
    broken: bool,
}

impl<T> End<T> {
    fn new(op: &impl Operation<T>) -> Self {
        End {
            tally: Tally::new(op.identity()),
            broken: false,
        }
    }

    /// Where the next block begins, if this one began at `carry`.
    fn after(&mut self, op: &impl Operation<T>, carry: T) -> T {
        let tally = self.tally.take();
        if self.broken {
            tally
        } else {
            op.join(carry, tally)
        }
    }
}

impl<T> Begun<T> {
    fn at(carry: T, op: &impl Operation<T>) -> Self {
        Begun {
            acc: Tally::new(carry),
            end: End::new(op),
        }
    }
}

impl<T, O, B, const EXCLUSIVE: bool> Scan<'_, T, O, B, EXCLUSIVE>
where
    T: Clone + Send,
    O: Operation<T>,
    B: Breaks,
{
    fn all(mut self) -> T {
        let mut pace = Pace::start(
            Site::flat(Self::all as *const () as usize, self.len),
            self.len,
            0,
            false,
        );
        pace.set_kind(0, true);
        let alone = current_num_threads() == 1;
        let mut begun = false;
        while !self.rest.is_empty() {
            let n = match pace.next(self.rest.len()) {
                Step::Share if begun && !alone => {
                    self.share();
                    0
                }
                Step::Share => pace.block(self.rest.len()),
                Step::Run(n) => n,
            };
            begun = true;
            self.go_on(n);
        }
        pace.flush();
        let end = self.begun.acc.take();
        // If dropping a carry panics, the result is dropped too.
        drop(self);
        end
    }

    /// Runs the next `n` elements on this thread.
    fn go_on(&mut self, n: usize) {
        let mut left = n;
        while left > 0 {
            let here = left.min(self.in_block);
            let last = self.rest.len() <= self.in_block;
            let (items, rest) = take(&mut self.rest).split_at_mut(here);
            self.rest = rest;
            let (op, breaks, at) = (self.op, self.breaks, self.at);
            if last {
                run::<_, _, _, EXCLUSIVE>(items, at, op, breaks, &mut self.begun.acc);
            } else {
                run_and_tally::<_, _, _, EXCLUSIVE>(items, at, op, breaks, &mut self.begun);
            }
            self.at += here;
            left -= here;
            self.in_block -= here;
            if self.in_block == 0 {
                let carry = self.carry.take();
                let carry = if last {
                    carry
                } else {
                    self.begun.end.after(op, carry)
                };
                self.begin_block(carry, last);
            }
        }
    }

    fn begin_block(&mut self, carry: T, last: bool) {
        if !last {
            self.begun = Begun::at(carry.clone(), self.op);
        }
        self.carry.put(carry);
        self.in_block = match self.once {
            true => self.rest.len(),
            false => self.size.min(self.rest.len()),
        };
    }

    /// Scans a window of blocks with others.
    fn share(&mut self) {
        if !self.once && self.in_block < self.size {
            self.go_on(self.in_block);
        }
        let blocks = self.rest.len().div_ceil(self.size);
        if blocks < 2 {
            return self.go_on(self.rest.len());
        }
        if self.once {
            let most = EXACT_WINDOW.saturating_mul(current_num_threads());
            let most = most.min(self.rest.len());
            let (window, rest) = take(&mut self.rest).split_at_mut(most);
            self.rest = rest;
            let (acc, at) = (&mut self.begun.acc, self.at);
            self.at += window.len();
            return meet::<_, _, _, EXCLUSIVE>(window, at, self.size, self.op, self.breaks, acc);
        }
        let most = WINDOW.saturating_mul(current_num_threads()) / self.size;
        let blocks = blocks.min(most.max(1));
        let items = self.rest.len().min(blocks.saturating_mul(self.size));
        let (window, rest) = take(&mut self.rest).split_at_mut(items);
        self.rest = rest;
        let (op, breaks, at, size) = (self.op, self.breaks, self.at, self.size);
        let last = self.rest.is_empty();

        self.ends.clear();
        self.ends.resize_with(blocks, || End::new(op));
        let numbered = window.par_chunks_mut(size).zip(&mut self.ends).enumerate();
        numbered.for_each(|(k, (items, end))| {
            if !(last && k + 1 == blocks) {
                tally(items, at + k * size, op, breaks, end);
            }
        });

        let mut carry = self.carry.take();
        for end in &mut self.ends {
            let begins = carry.clone();
            carry = end.after(op, carry);
            end.tally.put(begins);
        }

        let numbered = window.par_chunks_mut(size).zip(&mut self.ends).enumerate();
        numbered.for_each(|(k, (items, end))| {
            run::<_, _, _, EXCLUSIVE>(items, at + k * size, op, breaks, &mut end.tally);
        });

        self.at += items;
        if let Some(end) = self.ends.last_mut().filter(|_| last) {
            self.begun.acc.put(end.tally.take());
        }
        self.begin_block(carry, last);
    }
}

/// Scans a window in which brackets do not matter, from `acc` on: one thread scans it from the left while
/// the others tally blocks from the right, until they meet. What was tallied can then be scanned by all of them.
/// The last part needs no tally: one thread scans it meanwhile.
///
/// If no other thread comes, this one scans everything, as a loop would.
fn meet<T, O, B, const EXCLUSIVE: bool>(
    window: &mut [T],
    at: usize,
    size: usize,
    op: &O,
    breaks: &B,
    acc: &mut Tally<T>,
) where
    T: Clone + Send,
    O: Operation<T>,
    B: Breaks,
{
    let threads = current_num_threads();
    let blocks = window.len() / size;
    // Since a tally takes about half the time of a scan, all threads end at the same time.
    let contested = blocks - 2 * blocks / (2 * threads + 1);
    let (contested, last) = window.split_at_mut(contested * size);
    let last_at = at + contested.len();
    let mut ends: Vec<_> = contested.chunks(size).map(|_| End::new(op)).collect();

    let pieces = contested.chunks_mut(size).zip(&mut ends).enumerate();
    let pieces = Mutex::new(pieces);
    let open = || pieces.lock().unwrap_or_else(PoisonError::into_inner);
    let ((), tallied) = both(
        || {
            loop {
                let next = open().next();
                let Some((k, (items, _))) = next else { return };
                run::<_, _, _, EXCLUSIVE>(items, at + k * size, op, breaks, acc);
            }
        },
        || {
            let from_the_right = |_| {
                let mut mine = Vec::new();
                loop {
                    let next = open().next_back();
                    let Some((k, (items, end))) = next else {
                        return mine;
                    };
                    tally(items, at + k * size, op, breaks, end);
                    mine.push((k, items, end));
                }
            };
            let others = (1..threads).into_par_iter().map(from_the_right);
            others.collect::<Vec<_>>()
        },
    );

    let mut tallied: Vec<_> = tallied.into_iter().flatten().collect();
    tallied.sort_unstable_by_key(|(k, ..)| *k);
    let mut carry = acc.take();
    for (.., end) in &mut tallied {
        let begins = carry.clone();
        carry = end.after(op, carry);
        end.tally.put(begins);
    }
    acc.put(carry);
    both(
        || run::<_, _, _, EXCLUSIVE>(last, last_at, op, breaks, acc),
        || {
            tallied.into_par_iter().for_each(|(k, items, end)| {
                run::<_, _, _, EXCLUSIVE>(items, at + k * size, op, breaks, &mut end.tally);
            });
        },
    );
}

/// The tally of `items`, the first of which is at `at`.
fn tally<T: Clone, O: Operation<T>, B: Breaks>(
    items: &[T],
    at: usize,
    op: &O,
    breaks: &B,
    end: &mut End<T>,
) {
    let start = (end.tally.take(), end.broken);
    let numbered = items.iter().enumerate();
    let (tally, broken) = fold(numbered, start, |(tally, broken), (i, item)| {
        if B::ANY && breaks.at(at + i) {
            drop(tally);
            (op.join(op.identity(), item.clone()), true)
        } else {
            (op.join(tally, item.clone()), broken)
        }
    });
    end.tally.put(tally);
    end.broken = broken;
}

/// Puts the running value into the place of an item. Returns the next running value, and the item.
#[inline]
fn step<T: Clone, O: Operation<T>, const EXCLUSIVE: bool>(
    op: &O,
    acc: T,
    item: &mut T,
    tally: impl FnOnce(&T),
) -> T {
    if EXCLUSIVE {
        let taken = replace(item, acc.clone());
        tally(&taken);
        op.join(acc, taken)
    } else {
        let taken = replace(item, op.identity());
        tally(&taken);
        let acc = op.join(acc, taken);
        *item = acc.clone();
        acc
    }
}

/// Runs `items` from `acc` on.
fn run<T: Clone, O: Operation<T>, B: Breaks, const EXCLUSIVE: bool>(
    items: &mut [T],
    at: usize,
    op: &O,
    breaks: &B,
    acc: &mut Tally<T>,
) {
    let start = acc.take();
    let end = fold(items.iter_mut().enumerate(), start, |acc, (i, item)| {
        let acc = if B::ANY && breaks.at(at + i) {
            // If this panics, nothing has been made yet that could be lost.
            drop(acc);
            op.identity()
        } else {
            acc
        };
        step::<T, O, EXCLUSIVE>(op, acc, item, |_| ())
    });
    acc.put(end);
}

/// As [`run`], and returns the tally of the items too.
fn run_and_tally<T: Clone, O: Operation<T>, B: Breaks, const EXCLUSIVE: bool>(
    items: &mut [T],
    at: usize,
    op: &O,
    breaks: &B,
    begun: &mut Begun<T>,
) {
    let start = (begun.acc.take(), begun.end.tally.take());
    let broken = &mut begun.end.broken;
    let numbered = items.iter_mut().enumerate();
    let (acc, tally) = fold(numbered, start, |(acc, tally), (i, item)| {
        let (acc, tally) = if B::ANY && breaks.at(at + i) {
            *broken = true;
            drop((acc, tally));
            (op.identity(), op.identity())
        } else {
            (acc, tally)
        };
        let mut copy = None;
        let acc = step::<T, O, EXCLUSIVE>(op, acc, item, |item| copy = Some(item.clone()));
        let tally = match copy {
            Some(item) => op.join(tally, item),
            None => tally,
        };
        (acc, tally)
    });
    begun.acc.put(acc);
    begun.end.tally.put(tally);
}

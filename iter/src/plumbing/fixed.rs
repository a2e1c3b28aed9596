//! The bridge whose cuts depend only on the number of items.
//!
//! The items are cut into leaves of one size. The row of leaves is halved repeatedly, about evenly,
//! down to fours, and results are joined along the same tree. The pool decides which thread runs
//! which part. Every node that is worth it is offered.
//!
//! Four short leaves run side by side, an item of each in turn. So an addition that waits for the
//! addition before it holds up only its own leaf. A folder sees no difference: its items come one
//! by one.

use std::ops::ControlFlow::{Break, Continue};

use tine_pool::loops::{self, Timer};

use super::fork::both;
use super::looks::{Looked, check, is_under, look};
use super::traits::{Consumer, Folder, Producer, Reducer};

/// The number of leaves, unless they become too large...
const LEAVES: usize = 64;

/// ...that is, larger than this.
const LEAF: usize = 1024;

/// How many leaves are run abreast.
const ABREAST: usize = 4;

/// Runs a producer of `len` items into a consumer. Only `len`, and the least and greatest lengths
/// that the producer asks for, decide where to cut.
pub(crate) fn bridge_fixed<P, C>(len: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let size = leaf_size(len, producer.min_len(), producer.max_len());
    bridge_node(len, size, producer, consumer)
}

/// The size of the leaves of `len` items, for a producer that asks for at least `min` and at most
/// `max` items.
pub fn leaf_size(len: usize, min: usize, max: usize) -> usize {
    (len / LEAVES).min(LEAF).min(max).max(min).max(1)
}

/// Where to cut a node of `len` items; `None` for a leaf. The last piece may not be shorter than
/// `min`.
#[inline]
pub fn middle(len: usize, size: usize, min: usize) -> Option<usize> {
    let half = len.div_ceil(size).div_ceil(2);
    let mut mid = size * half;
    if half > 2 {
        // In fours, unless that leaves fewer items than the last piece must have.
        let in_fours = size * half.next_multiple_of(ABREAST);
        if len - in_fours >= min {
            mid = in_fours;
        }
    }
    (len > size && len - mid >= min).then_some(mid)
}

/// Runs one node of a tree whose leaves have `size` items: `len` items, all that the producer has.
pub fn bridge_node<P, C>(len: usize, size: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let _look = look();
    let min = producer.min_len();
    let site = run::<P, C> as *const () as usize;
    let few = loops::few(site);
    let timer = Timer::start(site, len / size.max(few).max(1));
    let leaf = Leaf {
        size,
        min,
        few,
        timer: timer.as_ref(),
    };
    let result = run(len, leaf, producer, consumer);
    if let Some(timer) = timer {
        timer.end();
    }
    result
}

/// The size of a leaf, the least size of the last one, and the number of items that is not worth a
/// journey; and what times the parts that one thread runs.
#[derive(Clone, Copy)]
struct Leaf<'a> {
    size: usize,
    min: usize,
    few: usize,
    timer: Option<&'a Timer>,
}

fn run<P, C>(len: usize, leaf: Leaf<'_>, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    check();
    if consumer.full() || producer.is_over() {
        drop(producer);
        return consumer.into_folder().complete();
    }
    let few = len <= leaf.few;
    let middle = middle(len, leaf.size, leaf.min);
    let at_once = few && one_by_one::<P, C>() && len == leaf.size.saturating_mul(ABREAST);
    let timer = leaf.timer.filter(|_| few || middle.is_none());
    let quiet = Leaf {
        timer: None,
        ..leaf
    };
    let (mid, timer) = match (middle, timer) {
        (Some(mid), timer) if !at_once => (mid, timer),
        (_, Some(timer)) => return timer.time(len, || run(len, quiet, producer, consumer)),
        (None, None) => return alone(producer, consumer),
        (Some(_), None) => return abreast(leaf.size, producer, consumer),
    };
    let (left, right) = producer.split_at(mid);
    let (to_left, to_right, reducer) = consumer.split_at(mid);
    let near = |leaf| run(mid, leaf, left, to_left);
    let far = |leaf| run(len - mid, leaf, right, to_right);
    let (a, b) = match timer {
        Some(timer) => {
            let a = timer.time(mid, || near(quiet));
            // The loop was expected to be short and is long: other threads may have some of the rest.
            let b = match timer.overturns() {
                true => far(Leaf { few: 0, ..leaf }),
                false => timer.time(len - mid, || far(quiet)),
            };
            (a, b)
        }
        None if few => (near(leaf), far(leaf)),
        None => both(|| near(leaf), || far(leaf)),
    };
    reducer.reduce(a, b)
}

/// Whether every leaf takes its items one by one, to the end unless a token is stopped.
fn one_by_one<P: Producer, C: Consumer<P::Item>>() -> bool {
    C::ADVANCES && !C::ENDS
}

/// Runs one leaf.
fn alone<P, C>(producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let folder = consumer.into_folder();
    if is_under() {
        // Item by item, too.
        return producer.fold_with(Looked::new(folder)).complete();
    }
    if one_by_one::<P, C>() {
        let mut items = producer.into_iter();
        if const { C::STEADY } {
            return items.fold(folder, Folder::consume).complete();
        }
        let fed = items.try_fold(folder, |folder, item| {
            let folder = folder.consume(item);
            match folder.full() {
                true => Break(folder),
                false => Continue(folder),
            }
        });
        // Before there is a result: if a destructor panics, the folder is dropped too.
        drop(items);
        let (Break(folder) | Continue(folder)) = fed;
        return folder.complete();
    }
    producer.fold_with(folder).complete()
}

/// Runs four leaves of `size` items.
fn abreast<P, C>(size: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (left, right) = producer.split_at(2 * size);
    let ((a, b), (c, d)) = (left.split_at(size), right.split_at(size));
    let (left, right, reducer) = consumer.split_at(2 * size);
    let (to_a, to_b, of_left) = left.split_at(size);
    let (to_c, to_d, of_right) = right.split_at(size);
    let folders = (
        (to_a.into_folder(), to_b.into_folder()),
        (to_c.into_folder(), to_d.into_folder()),
    );
    let left = a.into_iter().zip(b.into_iter());
    let right = c.into_iter().zip(d.into_iter());
    let all = left.zip(right);
    let ((a, b), (c, d)) = all.fold(folders, |((a, b), (c, d)), ((w, x), (y, z))| {
        ((a.consume(w), b.consume(x)), (c.consume(y), d.consume(z)))
    });
    let left = of_left.reduce(a.complete(), b.complete());
    let right = of_right.reduce(c.complete(), d.complete());
    reducer.reduce(left, right)
}

#[cfg(test)]
mod tests;

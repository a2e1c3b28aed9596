//! The bridge whose cuts depend on the number of items and on nothing else.
//!
//! The items are cut into leaves of one size, the leaves are halved as evenly
//! as leaves can be, and results are joined along the same tree. Which thread
//! runs which part is left to the pool; every node is offered to it.

use tine_pool::join;

use super::traits::{Consumer, Folder, Producer, Reducer};

/// The number of leaves, unless they become too large...
const LEAVES: usize = 64;

/// ...that is, larger than this.
const LEAF: usize = 1024;

/// Runs a producer of `len` items into a consumer, cut by `len` alone (and by
/// the least and greatest lengths that the producer asks for).
pub(crate) fn bridge_fixed<P, C>(len: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (min, max) = (producer.min_len(), producer.max_len());
    let size = (len / LEAVES).min(LEAF).min(max).max(min).max(1);
    run(len, Leaf { size, min }, producer, consumer)
}

/// How large a leaf is, and how small the last one may be.
#[derive(Clone, Copy)]
struct Leaf {
    size: usize,
    min: usize,
}

fn run<P, C>(len: usize, leaf: Leaf, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    let mid = len.div_ceil(leaf.size).div_ceil(2) * leaf.size;
    if len <= leaf.size || len - mid < leaf.min {
        return producer.fold_with(consumer.into_folder()).complete();
    }
    let (left, right) = producer.split_at(mid);
    let (to_left, to_right, reducer) = consumer.split_at(mid);
    let (a, b) = join(
        || run(mid, leaf, left, to_left),
        || run(len - mid, leaf, right, to_right),
    );
    reducer.reduce(a, b)
}

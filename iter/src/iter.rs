//! The traits of parallel iterators, with every adapter and sink as a method, and the types that
//! these methods return.
//!
//! A parallel iterator is a plan: nothing runs until a sink (`for_each`, `sum`, `collect` …) asks
//! for its items. Then the free threads work on contiguous *pieces* of the items, one piece each at
//! a time.
//!
//! More methods come with other traits of `tine::prelude`: grouping by key (`ParallelGrouping`), the
//! few smallest (`Smallest`), and, with the feature `progress` of `tine`, bars (`.progress()`).
//!
//! # Pieces and their state
//!
//! A call first cuts its items into about 2 × threads pieces. The calling thread goes on from piece
//! to piece with the same state. An idle thread takes a piece, or half of what is left of the piece
//! at work, and begins it with a state of its own. So what is made once for a piece is made **once,
//! and once more for each piece that another thread took**, however many items there are. That
//! holds for the state of [`map_init`](ParallelIterator::map_init),
//! [`map_with`](ParallelIterator::map_with), `for_each_init`, `for_each_with` and their `try_`
//! forms. It also holds for the accumulators of [`fold`](ParallelIterator::fold), `fold_with` and
//! their `try_` forms, whatever comes after them, `collect` included.
//!
//! In a few cases more pieces are cut in advance, perhaps more than threads take, and each has its
//! own state. These cases are: calls of at most twice as many items as there are threads; calls
//! after [`with_max_len`](IndexedParallelIterator::with_max_len); sources that do not know their
//! length; a state before an adapter that moves positions (`zip`, `rev` …); accumulators before a
//! search (`find_any` …); states behind a scan; and consumers from outside this crate. States are
//! also separate for each side of a `chain`, each block of `by_uniform_blocks` and
//! `by_exponential_blocks`, and each piece of the tree of `deterministic`. Behind `flat_map` and
//! `flatten` a state goes on from inner iterator to inner iterator, unless the inner iterators are
//! among these cases, maps or sets, or from outside this crate. (An inner iterator of a few items
//! that are known to take less than 1 µs together is never cut.)
//!
//! Only one thread at a time makes the clones of `map_with`, `fold_with` and their variants, since
//! the value need not be `Sync`. So `clone` must not wait in a way that runs other work meanwhile:
//! for another pool, by `yield_now`, or in a pool with `greedy_waiting`. That work may be another
//! piece of the same loop, which waits for the clone; then both wait for ever. The closures of
//! `map_init` and `fold` may wait in these ways.
#![forbid(unsafe_code)]

mod indexed;
mod parallel;

/// What sources, adapters and sinks are made of.
pub mod plumbing {
    pub use crate::plumbing::*;
}

pub use either::Either;
pub use indexed::IndexedParallelIterator;
pub use parallel::ParallelIterator;

pub use crate::adapters::blocks::{ExponentialBlocks, UniformBlocks};
pub use crate::adapters::chain::Chain;
pub use crate::adapters::chunks::{Chunks, FoldChunks, FoldChunksWith};
pub use crate::adapters::cloned::Cloned;
pub use crate::adapters::copied::Copied;
pub use crate::adapters::deterministic::Deterministic;
pub use crate::adapters::enumerate::Enumerate;
pub use crate::adapters::filter::Filter;
pub use crate::adapters::filter_map::FilterMap;
pub use crate::adapters::flat_map::{FlatMap, Flatten};
pub use crate::adapters::flat_map_iter::{FlatMapIter, FlattenIter};
pub use crate::adapters::fold::{Fold, FoldWith, TryFold, TryFoldWith};
pub use crate::adapters::inspect::Inspect;
pub use crate::adapters::interleave::{Interleave, InterleaveShortest};
pub use crate::adapters::intersperse::Intersperse;
pub use crate::adapters::len::{MaxLen, MinLen};
pub use crate::adapters::map::Map;
pub use crate::adapters::map_init::{MapInit, MapWith};
pub use crate::adapters::panic_fuse::PanicFuse;
pub use crate::adapters::positions::Positions;
pub use crate::adapters::rev::Rev;
pub use crate::adapters::skip::{Skip, Take};
pub use crate::adapters::step_by::StepBy;
pub use crate::adapters::take_any::{SkipAny, TakeAny};
pub use crate::adapters::take_any_while::{SkipAnyWhile, TakeAnyWhile};
pub use crate::adapters::until::{Cut, ParallelUntil, Until};
pub use crate::adapters::update::Update;
#[doc(hidden)]
pub use crate::adapters::watch::{Watch, Watcher};
pub use crate::adapters::while_some::WhileSome;
pub use crate::adapters::zip::{Zip, ZipEq};
pub use crate::convert::{
    FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
};
pub use crate::order::TotalOrder;
#[expect(deprecated, reason = "kept for the programs that name it")]
pub use crate::sources::repeatn;
pub use crate::sources::{
    BatchedBridge, Empty, IterBridge, MultiZip, Once, OrderedBridge, OrderedMap, ParallelBridge,
    Repeat, RepeatN, Split, WalkTree, WalkTreePostfix, WalkTreePrefix, empty, once, repeat,
    repeat_n, split, walk_tree, walk_tree_postfix, walk_tree_prefix,
};

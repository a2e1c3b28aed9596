//! Every name of rayon 1.12, at the path that it has there: this file compiles, or a program written for rayon
//! may not.

#![allow(unused_imports, deprecated)]

mod root {
    use rayon::{
        BroadcastContext, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool,
        ThreadPoolBuildError, ThreadPoolBuilder, Yield, broadcast, current_num_threads,
        current_thread_index, in_place_scope, in_place_scope_fifo, join, join_context,
        max_num_threads, scope, scope_fifo, spawn, spawn_broadcast, spawn_fifo, yield_local,
        yield_now,
    };
}

mod array {
    use rayon::array::IntoIter;
}

mod collections_binary_heap {
    use rayon::collections::binary_heap::{Drain, IntoIter, Iter};
}

mod collections_btree_map {
    use rayon::collections::btree_map::{IntoIter, Iter, IterMut};
}

mod collections_btree_set {
    use rayon::collections::btree_set::{IntoIter, Iter};
}

mod collections_hash_map {
    use rayon::collections::hash_map::{Drain, IntoIter, Iter, IterMut};
}

mod collections_hash_set {
    use rayon::collections::hash_set::{Drain, IntoIter, Iter};
}

mod collections_linked_list {
    use rayon::collections::linked_list::{IntoIter, Iter, IterMut};
}

mod collections_vec_deque {
    use rayon::collections::vec_deque::{Drain, IntoIter, Iter, IterMut};
}

mod iter {
    use rayon::iter::{
        Chain, Chunks, Cloned, Copied, Either, Empty, Enumerate, ExponentialBlocks, Filter,
        FilterMap, FlatMap, FlatMapIter, Flatten, FlattenIter, Fold, FoldChunks, FoldChunksWith,
        FoldWith, FromParallelIterator, IndexedParallelIterator, Inspect, Interleave,
        InterleaveShortest, Intersperse, IntoParallelIterator, IntoParallelRefIterator,
        IntoParallelRefMutIterator, IterBridge, Map, MapInit, MapWith, MaxLen, MinLen, MultiZip,
        Once, PanicFuse, ParallelBridge, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
        ParallelIterator, Positions, Repeat, RepeatN, Rev, Skip, SkipAny, SkipAnyWhile, Split,
        StepBy, Take, TakeAny, TakeAnyWhile, TryFold, TryFoldWith, UniformBlocks, Update, WalkTree,
        WalkTreePostfix, WalkTreePrefix, WhileSome, Zip, ZipEq, empty, once, repeat, repeat_n,
        repeatn, split, walk_tree, walk_tree_postfix, walk_tree_prefix,
    };
}

mod iter_plumbing {
    use rayon::iter::plumbing::{
        Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer,
        UnindexedProducer, bridge, bridge_producer_consumer, bridge_unindexed,
    };
}

mod option {
    use rayon::option::{IntoIter, Iter, IterMut};
}

mod prelude {
    use rayon::prelude::{
        FromParallelIterator, IndexedParallelIterator, IntoParallelIterator,
        IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelBridge, ParallelDrainFull,
        ParallelDrainRange, ParallelExtend, ParallelIterator, ParallelSlice, ParallelSliceMut,
        ParallelString,
    };
}

mod range {
    use rayon::range::Iter;
}

mod range_inclusive {
    use rayon::range_inclusive::Iter;
}

mod result {
    use rayon::result::{IntoIter, Iter, IterMut};
}

mod slice {
    use rayon::slice::{
        ArrayWindows, ChunkBy, ChunkByMut, Chunks, ChunksExact, ChunksExactMut, ChunksMut, Iter,
        IterMut, ParallelSlice, ParallelSliceMut, RChunks, RChunksExact, RChunksExactMut,
        RChunksMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut, Windows,
    };
}

mod str {
    use rayon::str::{
        Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, ParallelString,
        Split, SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace,
    };
}

mod string {
    use rayon::string::Drain;
}

mod vec {
    use rayon::vec::{Drain, IntoIter};
}

#[test]
fn the_prelude_is_enough_for_a_pipeline() {
    use rayon::prelude::*;
    let squares: Vec<u64> = (0..10_u64)
        .into_par_iter()
        .map(|n| n * n)
        .filter(|n| n % 2 == 0)
        .collect();
    assert_eq!(squares, [0, 4, 16, 36, 64]);
    assert_eq!(
        "a b c".par_split_whitespace().map(str::len).sum::<usize>(),
        3
    );
    let mut numbers = [3, 1, 2];
    numbers.par_sort();
    assert_eq!(numbers, [1, 2, 3]);
}

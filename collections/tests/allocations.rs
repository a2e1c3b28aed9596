//! Where the documentation says that nothing is allocated.

#[path = "../../pool/tests/common/counting.rs"]
mod counting;

use counting::CALLS;
use std::sync::atomic::Ordering::Relaxed;
use tine_collections::{ParHashMap, ParHashSet, ParVec};

/// A single test: the counts belong to the process.
#[test]
fn empty_collections_never_ask_for_memory() {
    // A thread's first map may ask for what belongs to the thread.
    ParHashMap::from([(1, 1)]).insert(2, 2);
    let before = CALLS.load(Relaxed);
    let map = ParHashMap::<u64, String>::new();
    assert!(map.get_cloned(&1).is_none() && map.remove(&1).is_none() && map.is_empty());
    map.clear();
    drop(map);
    let set = ParHashSet::<String>::new();
    assert!(!set.contains("a") && set.is_empty());
    drop(set);
    let vec = ParVec::<String>::new();
    assert!(vec.get(0).is_none() && vec.iter().next().is_none());
    drop(vec);
    drop(ParVec::<u64>::with_capacity(0).into_vec());
    assert_eq!(CALLS.load(Relaxed) - before, 0);
}

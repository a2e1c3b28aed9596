//! A panic that the caller causes names the caller's line.

#[path = "../../pool/tests/common/blame.rs"]
mod blame;

use blame::{blamed, ignore, is_here, names};
use tine_collections::prelude::*;
use tine_collections::{ParBitSet, ParHashMap, ParHashSet, ParVec};
use tine_iter::prelude::*;

#[test]
fn going_back_into_a_map() {
    let map = ParHashMap::from([(1, 1), (2, 2)]);
    let inside = |call: &dyn Fn()| blamed(|| map.update(&1, |_| call()).unwrap_or_default());
    is_here(inside(&|| ignore(map.insert(2, 2))));
    is_here(inside(&|| ignore(map.get_cloned(&2))));
    is_here(inside(&|| ignore(map.read_many(&[2], |_| ()).count())));
    is_here(inside(&|| ignore(map.remove(&2))));
    is_here(inside(&|| ignore(map.upsert(2, || 1, |_| ()))));
    is_here(inside(&|| {
        ignore(map.compute(2, |_| tine_collections::Change::Keep))
    }));
    is_here(inside(&|| ignore(map.get(&2))));
    is_here(inside(&|| ignore(map.lock(&2))));
    is_here(inside(&|| ignore(map.entry(2).or_insert(3))));
    is_here(inside(&|| ignore(map.lock_entry(2).key())));
    is_here(inside(&|| map.shrink_to(2)));
    is_here(inside(&|| map.shrink_to_fit()));
    is_here(inside(&|| ignore(map.remove_if_mut(&2, |_, _| true))));
    is_here(inside(&|| {
        ignore(map.entry(2).or_try_insert_with(|| Ok::<_, ()>(3)))
    }));
    is_here(inside(&|| ignore(map.len())));
    is_here(inside(&|| map.for_each(|_, _| ())));
    is_here(inside(&|| ignore(map.find_map(|_, _| Some(())))));
    is_here(inside(&|| map.retain(|_, _| true)));
    is_here(inside(&|| ignore(map.iter().count())));
    is_here(inside(&|| ignore(map.clone())));
    // Nothing was left locked or noted down.
    assert_eq!((map.len(), map.insert(3, 3)), (2, None));
}

#[test]
fn going_back_into_a_set() {
    let set: ParHashSet<i32> = [1, 2].into_iter().collect();
    is_here(blamed(|| set.retain(|_| set.contains(&1))));
    is_here(blamed(|| set.for_each(|&n| ignore(set.insert(n)))));
    assert_eq!(set.len(), 2);
}

#[test]
fn an_index_that_is_not_there() {
    let frozen = ParHashMap::from([(1, 1)]).freeze();
    is_here(blamed(|| ignore(frozen[&2])));
    let groups = [1, 2, 3].into_par_iter().group_by(|n| n % 2);
    is_here(blamed(|| ignore(groups[&7].len())));
    let mut vec = ParVec::from(vec![1]);
    is_here(blamed(|| ignore(vec[1])));
    is_here(blamed(|| vec[1] = 2));
}

#[test]
fn a_bin_out_of_range_names_the_call() {
    let line = line!() + 1;
    let panic = blamed(|| ignore((0..100).into_par_iter().histogram(4, |&n: &usize| n)));
    assert!(
        panic.1.contains("of a histogram with 4 bins"),
        "{}",
        panic.1
    );
    names(panic, line);
}

#[test]
fn a_number_that_a_set_cannot_hold() {
    let set = ParBitSet::new(3);
    is_here(blamed(|| ignore(set.insert(3))));
    is_here(blamed(|| ignore(set.remove(3))));
    let (mut set, other) = (set, ParBitSet::new(4));
    is_here(blamed(|| set.union_with(&other)));
    is_here(blamed(|| set.intersect_with(&other)));
    is_here(blamed(|| set.difference_with(&other)));
}

#[test]
fn room_that_cannot_be_addressed() {
    const MOST: usize = usize::MAX;
    is_here(blamed(|| {
        ignore(ParHashMap::<u64, u64>::with_capacity(MOST))
    }));
    is_here(blamed(|| ignore(ParHashSet::<u64>::with_capacity(MOST))));
    is_here(blamed(|| ignore(ParVec::<u64>::with_capacity(MOST))));
    is_here(blamed(|| ParHashMap::<u64, u64>::new().reserve(MOST)));
    is_here(blamed(|| ParHashSet::<u64>::new().reserve(MOST)));
}

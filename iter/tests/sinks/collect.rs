//! Vectors, and collections that are made from vectors.

use std::borrow::Cow;
use std::collections::{BinaryHeap, LinkedList, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use quickcheck::quickcheck;
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

use crate::kit::{SIZES, hidden, in_pools};

/// What becomes of a piece in the tests below: some items vanish, some become many.
fn some(n: usize) -> impl Iterator<Item = u64> {
    let n = n as u64;
    (0..n % 4).map(move |k| n * 10 + k)
}

#[test]
fn vectors_of_every_size() {
    in_pools(|| {
        for size in SIZES {
            let expected: Vec<u64> = (0..size).map(|n| n as u64 * 3).collect();
            let indexed = || (0..size).into_par_iter().map(|n| n as u64 * 3);
            assert_eq!(indexed().collect::<Vec<_>>(), expected);
            assert_eq!(hidden(expected.clone()).collect::<Vec<_>>(), expected);
            let mut target = vec![7; 5];
            indexed().collect_into_vec(&mut target);
            assert_eq!(target, expected);
            let flat: Vec<u64> = (0..size).flat_map(some).collect();
            let flat_par: Vec<u64> = (0..size).into_par_iter().flat_map_iter(some).collect();
            assert_eq!(flat_par, flat);
        }
    });
}

#[test]
fn lists_of_vectors() {
    in_pools(|| {
        for size in SIZES {
            let expected: Vec<usize> = (0..size).collect();
            for list in [
                hidden(expected.clone()).collect_vec_list(),
                expected.par_iter().copied().collect_vec_list(),
            ] {
                assert!(list.iter().all(|vec| !vec.is_empty()));
                assert!(list.into_iter().flatten().eq(expected.iter().copied()));
            }
        }
    });
}

#[test]
fn a_thousand_pieces_of_one_item_are_not_a_thousand_vectors() {
    let list = (0..1024)
        .into_par_iter()
        .with_max_len(1)
        .filter(|_| true)
        .collect_vec_list();
    assert!(list.len() < 100, "{} vectors", list.len());
    assert!(list.into_iter().flatten().eq(0..1024));
}

#[test]
fn vectors_keep_what_they_had_and_their_room() {
    in_pools(|| {
        for size in SIZES {
            let more: Vec<u32> = (0..size as u32).collect();
            let mut target = Vec::with_capacity(size + 3);
            target.extend([1, 2, 3]);
            let room = target.as_ptr();
            target.par_extend(hidden(more.clone()));
            assert_eq!(target[3..], more);
            assert_eq!(target.as_ptr(), room, "there was room");
            target.par_extend(&more);
            assert_eq!(target[3 + size..], more);
            assert_eq!(target[..3], [1, 2, 3]);
        }
    });
}

#[test]
fn items_without_size() {
    in_pools(|| {
        for size in [0, 1, 1000, 300_000] {
            assert_eq!(
                (0..size)
                    .into_par_iter()
                    .map(|_| ())
                    .collect::<Vec<_>>()
                    .len(),
                size
            );
            assert_eq!(hidden(vec![(); size]).collect::<Vec<_>>().len(), size);
            let mut target = vec![(); 5];
            target.par_extend(hidden(vec![(); size]));
            assert_eq!(target.len(), size + 5);
            (0..size).into_par_iter().map(|_| ()).collect::<()>();
        }
    });
}

/// Collects in both ways and compares with the standard library.
macro_rules! twins {
    ($($name:ident: $item:ty, $collection:ty;)*) => {
        quickcheck! {$(
            fn $name(items: Vec<$item>) -> bool {
                let expected: $collection = items.iter().cloned().collect();
                let indexed: $collection = items.clone().into_par_iter().collect();
                let unindexed: $collection = hidden(items).collect();
                indexed == expected && unindexed == expected
            }
        )*}
    };
}

twins! {
    vec: String, Vec<String>;
    vec_deque: u16, VecDeque<u16>;
    linked_list: u16, LinkedList<u16>;
    boxed: String, Box<[String]>;
    rc: u8, Rc<[u8]>;
    arc: String, Arc<[String]>;
    cow: u8, Cow<'static, [u8]>;
    option: Option<i8>, Option<Vec<i8>>;
    result: Result<i8, ()>, Result<Vec<i8>, ()>;
    result_of_strings: Result<String, ()>, Result<String, ()>;
    results_of_units: Result<(), ()>, Result<Vec<()>, ()>;
}

#[test]
fn cow_is_owned() {
    let cow: Cow<'_, [u8]> = [1, 2].into_par_iter().collect();
    assert!(matches!(cow, Cow::Owned(_)));
}

quickcheck! {
    fn binary_heap(items: Vec<i16>, more: Vec<i16>) -> bool {
        let mut heap: BinaryHeap<i16> = hidden(items.clone()).collect();
        heap.par_extend(&more);
        heap.par_extend(more.clone());
        let mut expected = [items, more.clone(), more].concat();
        expected.sort();
        heap.into_sorted_vec() == expected
    }

    fn grown_deques_and_lists(items: Vec<u16>, more: Vec<u16>) -> bool {
        let mut deque: VecDeque<u16> = items.par_iter().copied().collect();
        deque.rotate_left(items.len() / 2);
        let mut expected = deque.clone();
        let mut list: LinkedList<u16> = deque.iter().copied().collect();
        deque.par_extend(&more);
        list.par_extend(&more);
        expected.extend(&more);
        deque == expected && list.into_iter().eq(expected)
    }

    fn errors_are_errors_of_an_item(items: Vec<Result<u8, u16>>) -> bool {
        match items.par_iter().cloned().collect::<Result<Vec<u8>, u16>>() {
            Ok(values) => values.into_iter().map(Ok).eq(items),
            Err(error) => items.contains(&Err(error)),
        }
    }
}

#[test]
fn early_end_of_options_is_early() {
    let found = (0u64..u64::MAX)
        .into_par_iter()
        .map(|n| (n % 1000 != 7).then_some(()))
        .collect::<Option<()>>();
    assert_eq!(found, None);
}

/// The first items foretell the room, and room that turned out too large is given back.
#[test]
fn room_that_was_foretold_wrongly() {
    let count = if cfg!(miri) { 3_000 } else { 100_000 };
    let kinds: [fn(usize, usize) -> bool; 6] = [
        |_, _| true,
        |at, _| at % 3 == 0,
        |at, count| at < count / 50,
        |at, count| at > count / 2,
        |at, count| at < count / 100 || at > count / 2,
        |at, count| at % 2 == 0 || at > count / 3,
    ];
    let few = if cfg!(miri) { 1 } else { 6 };
    for threads in [2, 1, 5].into_iter().take(few) {
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("a pool");
        for &kept in kinds.iter().take(few) {
            let mut alive = Vec::new();
            let twin: Vec<usize> = (0..count).filter(|&at| kept(at, count)).collect();
            pool.install(|| {
                let few = (0..count).into_par_iter().filter(|&at| kept(at, count));
                let few: Vec<usize> = few.collect();
                assert!(few == twin);
                assert!(
                    few.capacity() <= 2 * few.len().max(1024),
                    "{}",
                    few.capacity()
                );
                let one = Arc::new(());
                let owned = (0..count).into_par_iter().filter(|&at| kept(at, count));
                alive.par_extend(owned.map(|at| (at, one.clone())));
                assert_eq!(Arc::strong_count(&one), twin.len() + 1);
                let pairs = (0..count).into_par_iter().filter(|&at| kept(at, count));
                let pairs: Vec<usize> = pairs.flat_map_iter(|at| [at, !at]).collect();
                assert!(pairs.iter().step_by(2).eq(&twin) && pairs.len() == 2 * twin.len());
                // Loops in a loop, each of which foretells anew.
                let rows = (0..count / 1000).into_par_iter().flat_map(|row| {
                    let all = (row * 1000..row * 1000 + 1000).into_par_iter();
                    all.filter(|&at| kept(at, count))
                });
                let rows: Vec<usize> = rows.collect();
                assert!(
                    rows.iter()
                        .eq(twin.iter().take_while(|&&at| at < count / 1000 * 1000))
                );
                assert!(
                    rows.capacity() <= 2 * rows.len().max(1024),
                    "{}",
                    rows.capacity()
                );
            });
            assert!(alive.iter().map(|(at, _)| at).eq(&twin));
        }
    }
}

/// A panic after the first fragment has got its room, and an iterator that lies about its length.
#[test]
fn panics_and_lies_in_much_room() {
    struct Liar(usize, usize);
    impl Iterator for Liar {
        type Item = usize;
        fn next(&mut self) -> Option<usize> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, Some(self.1))
        }
    }
    let count = if cfg!(miri) { 4_000 } else { 200_000 };
    for threads in [3, 1] {
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("a pool");
        for at in [count - 1, 1_500, count / 2] {
            if cfg!(miri) && at < count - 1 {
                continue;
            }
            let one = Arc::new(());
            let caught = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| {
                    let items = (0..count).into_par_iter().filter(|n| n % 7 != 0);
                    let items = items.flat_map_iter(|n| {
                        assert!(n < at, "on purpose");
                        [one.clone(), one.clone()]
                    });
                    items.collect::<Vec<_>>()
                })
            }));
            assert!(caught.is_err());
            assert_eq!(Arc::strong_count(&one), 1);
        }
        // Fewer than it says, and more.
        for (has, says) in [(2, 3), (3, 2), (0, 5), (5, 0)] {
            let all: Vec<usize> = pool.install(|| {
                let items = (0..count).into_par_iter();
                items.flat_map_iter(|_| Liar(has, says)).collect()
            });
            assert_eq!(all.len(), has * count);
            assert!(
                all.iter()
                    .enumerate()
                    .all(|(nth, &n)| n == has - 1 - nth % has.max(1))
            );
        }
    }
}

//! Panics everywhere: each value is dropped exactly once.

use std::collections::{BTreeMap, HashMap, LinkedList, VecDeque};
use std::ops::ControlFlow;

use tine_iter::iter::Either;
use tine_iter::prelude::*;

use crate::kit::{Census, Counted, in_pools, panic_of};

const LEN: usize = 500;

/// Makes values and panics at item `at`; in the end every value must have been dropped.
fn with_panics(run: impl Fn(&Census, &(dyn Fn(usize) -> usize + Sync)) + Sync) {
    in_pools(|| {
        for at in [0, 1, 2, LEN / 4, LEN / 2, LEN - 2, LEN - 1] {
            let census = Census::default();
            let fail = |n: usize| {
                assert!(n != at, "at {at}");
                n
            };
            assert_eq!(panic_of(|| run(&census, &fail)), format!("at {at}"));
            assert_eq!(census.alive(), 0, "after a panic at {at}");
        }
    });
}

#[test]
fn indexed() {
    with_panics(|census, fail| {
        let items = (0..LEN).into_par_iter().map(|n| census.value(fail(n)));
        drop(items.collect::<Vec<_>>());
    });
}

#[test]
fn unindexed() {
    with_panics(|census, fail| {
        let items = (0..LEN).into_par_iter().map(|n| census.value(fail(n)));
        drop(
            items
                .filter(|value| value.number % 3 != 1)
                .collect::<Vec<_>>(),
        );
    });
}

#[test]
fn predicates() {
    with_panics(|census, fail| {
        let items = (0..LEN).into_par_iter().map(|n| census.value(n));
        drop(
            items
                .filter(|value| fail(value.number) % 3 != 1)
                .collect::<Vec<_>>(),
        );
    });
    with_panics(|census, fail| {
        let items = (0..LEN).into_par_iter().map(|n| census.value(n));
        let parts: (Vec<_>, Vec<_>) = items.partition(|value| fail(value.number) % 3 != 1);
        drop(parts);
    });
    with_panics(|census, fail| {
        let items = (0..LEN).into_par_iter().map(|n| census.value(n));
        let parts: (Vec<_>, LinkedList<_>) =
            items.partition_map(|value| match fail(value.number) {
                even if even % 2 == 0 => Either::Left(value),
                _ => Either::Right(value),
            });
        drop(parts);
    });
}

/// The value handed to `map_with` panics when it is dropped, after there is a result; so does a value that a
/// closure owns.
#[test]
fn the_first_state_panics_in_the_end() {
    struct Bomb(bool);
    impl Clone for Bomb {
        fn clone(&self) -> Self {
            Bomb(false)
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "in the end");
        }
    }
    in_pools(|| {
        for len in [1, LEN] {
            let census = &Census::default();
            let items = || (0..len).into_par_iter();
            let with = || items().map_with(Bomb(true), |_, n| census.value(n));
            let bomb = Bomb(true);
            let map = items().map(move |n| {
                let _own = &bomb;
                census.value(n)
            });
            assert_eq!(panic_of(|| drop(with().collect::<Vec<_>>())), "in the end");
            assert_eq!(
                panic_of(|| drop(with().rev().collect::<Vec<_>>())),
                "in the end"
            );
            assert_eq!(
                panic_of(|| drop(with().reduce_with(|a, _| a))),
                "in the end"
            );
            assert_eq!(
                panic_of(|| drop(with().filter(|_| true).collect::<Vec<_>>())),
                "in the end"
            );
            assert_eq!(panic_of(|| drop(map.collect::<Vec<_>>())), "in the end");
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn pairs() {
    with_panics(|census, fail| {
        let items = (0..LEN)
            .into_par_iter()
            .map(|n| (census.value(n), census.value(fail(n))));
        drop(items.unzip::<_, _, Vec<_>, Vec<_>>());
    });
    with_panics(|census, fail| {
        let (mut left, mut right) = (vec![census.value(0)], vec![census.value(1)]);
        (0..LEN)
            .into_par_iter()
            .map(|n| (census.value(n), census.value(fail(n))))
            .unzip_into_vecs(&mut left, &mut right);
    });
}

#[test]
fn owned_items_that_are_not_collected() {
    with_panics(|census, fail| {
        let values: Vec<Counted<'_>> = (0..LEN).map(|n| census.value(n)).collect();
        let seen = values
            .into_par_iter()
            .map(|value| (fail(value.number), value));
        drop(seen.collect::<VecDeque<_>>());
    });
}

#[test]
fn maps() {
    with_panics(|census, fail| {
        let items = (0..LEN)
            .into_par_iter()
            .map(|n| (n % 100, census.value(fail(n))));
        drop(items.collect::<HashMap<_, _>>());
    });
    with_panics(|census, fail| {
        let items = (0..LEN)
            .into_par_iter()
            .map(|n| (n % 100, census.value(fail(n))));
        drop(items.collect::<BTreeMap<_, _>>());
    });
}

#[test]
fn options_and_results() {
    in_pools(|| {
        let census = Census::default();
        let values = |stop: usize| {
            (0..LEN)
                .into_par_iter()
                .map(move |n| (n != stop).then_some(n))
        };
        for stop in [0, LEN / 2, LEN - 1, LEN] {
            let value = |n: Option<usize>| n.map(|n| census.value(n));
            let all = values(stop).map(value).collect::<Option<Vec<_>>>();
            assert_eq!(all.is_some(), stop == LEN);
            drop(all);
            let error = |n: Option<usize>| n.map(|n| census.value(n)).ok_or(census.value(0));
            let all = values(stop).map(error).collect::<Result<Vec<_>, _>>();
            assert_eq!(all.is_ok(), stop == LEN);
            drop(all);
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn what_was_there_stays() {
    in_pools(|| {
        let census = Census::default();
        let mut values = vec![census.value(1), census.value(2)];
        let fail = |n: usize| {
            assert!(n != 77);
            census.value(n)
        };
        panic_of(|| values.par_extend((0..LEN).into_par_iter().map(fail)));
        panic_of(|| values.par_extend((0..LEN).into_par_iter().map(fail).filter(|_| true)));
        assert_eq!(
            values.iter().map(|value| value.number).collect::<Vec<_>>(),
            [1, 2]
        );
        assert_eq!(census.alive(), 2);
        drop(values);
        assert_eq!(census.alive(), 0);
    });
}

/// The values are moved between vectors, not copied, however many there are.
#[test]
fn large_outputs() {
    in_pools(|| {
        let census = Census::default();
        let values: Vec<_> = (0..60_000)
            .into_par_iter()
            .map(|n| census.value(n))
            .filter(|_| true)
            .collect();
        assert!(
            values
                .iter()
                .enumerate()
                .all(|(n, value)| value.number == n)
        );
        assert_eq!(census.alive(), 60_000);
        let early = values.into_iter().try_for_each(|value| match value.number {
            59_000 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert!(early.is_break());
        assert_eq!(census.alive(), 0);
    });
}

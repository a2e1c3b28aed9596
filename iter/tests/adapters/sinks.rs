//! Sinks that make a single value from all items.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::task::Poll;

use quickcheck::quickcheck;
use tine_iter::prelude::*;

use crate::in_pools;

fn agree<R: Send + PartialEq + std::fmt::Debug>(op: impl Fn() -> R + Sync, want: R) {
    in_pools(op)
        .into_iter()
        .for_each(|got| assert_eq!(got, want));
}

quickcheck! {
    fn sums(v: Vec<i32>) -> bool {
        let v: Vec<i64> = v.into_iter().map(|n| i64::from(n) % 3).collect();
        agree(|| v.par_iter().sum::<i64>(), v.iter().sum());
        agree(|| v.par_iter().map(|n| n * 5).filter(|n| *n > 2).sum::<i64>(),
            v.iter().map(|n| n * 5).filter(|n| *n > 2).sum());
        agree(|| v.par_iter().product::<i64>(), v.iter().product());
        agree(|| v.par_iter().count(), v.len());
        agree(|| v.par_iter().copied().reduce(|| 0, |a, b| a + b), v.iter().sum());
        agree(|| v.par_iter().copied().reduce_with(|a, b| a + b), v.iter().copied().reduce(|a, b| a + b));
        true
    }

    fn extremes(v: Vec<(u8, u8)>) -> bool {
        let v: Vec<(usize, u8)> = v.into_iter().map(|(n, _)| n % 5).enumerate().collect();
        let key = |pair: &&(usize, u8)| pair.1;
        let by = |a: &&(usize, u8), b: &&(usize, u8)| a.1.cmp(&b.1);
        agree(|| v.par_iter().min_by_key(key), v.iter().min_by_key(key));
        agree(|| v.par_iter().max_by_key(key), v.iter().max_by_key(key));
        agree(|| v.par_iter().min_by(by), v.iter().min_by(by));
        agree(|| v.par_iter().max_by(by), v.iter().max_by(by));
        agree(|| v.par_iter().min(), v.iter().min());
        agree(|| v.par_iter().max(), v.iter().max());
        true
    }

    fn searches(v: Vec<u8>, n: u8) -> bool {
        let hit = |m: &&u8| **m % 16 == n % 16;
        let map = |m: &u8| (*m % 16 == n % 16).then_some(u16::from(*m) + 1);
        let mut first = v.iter().find(hit);
        agree(|| v.par_iter().find_first(hit), first);
        agree(|| v.par_iter().find_last(hit), v.iter().rfind(hit));
        agree(|| v.par_iter().find_map_first(map), v.iter().find_map(map));
        agree(|| v.par_iter().find_map_last(map), v.iter().rev().find_map(map));
        agree(|| v.par_iter().position_first(|m| hit(&m)), v.iter().position(|m| hit(&m)));
        agree(|| v.par_iter().position_last(|m| hit(&m)), v.iter().rposition(|m| hit(&m)));
        agree(|| v.par_iter().any(|m| hit(&m)), first.is_some());
        agree(|| v.par_iter().all(|m| !hit(&m)), first.is_none());
        for found in in_pools(|| {
            let any = v.par_iter().find_any(hit);
            assert_eq!(any.map(|m| hit(&m)), v.par_iter().find_map_any(map).map(|_| true));
            any.zip(v.par_iter().position_any(|m| hit(&m)))
        }) {
            assert_eq!(found.is_some(), first.take().is_some() || found.is_some());
            assert!(found.is_none_or(|(m, i)| hit(&m) && hit(&&v[i])));
        }
        true
    }

    fn searches_within_items(v: Vec<Vec<u8>>, n: u8) -> bool {
        let hit = |m: &&u8| **m % 16 == n % 16;
        let all = || v.iter().flatten();
        agree(|| v.par_iter().flatten().find_first(hit), all().find(hit));
        agree(|| v.par_iter().flatten().find_last(hit), all().rfind(hit));
        agree(|| v.par_iter().flat_map_iter(|v| v).find_first(hit), all().find(hit));
        agree(|| v.par_iter().flat_map_iter(|v| v).find_last(hit), all().rfind(hit));
        let flat = v.concat();
        agree(|| v.par_iter().flatten().chain(&flat).find_last(hit), all().rfind(hit));
        true
    }

    fn comparisons(v: Vec<u8>, w: Vec<u8>) -> bool {
        let (v, w): (Vec<u8>, Vec<u8>) =
            (v.iter().map(|n| n % 2).collect(), w.iter().map(|n| n % 2).collect());
        for (a, b) in [(&v, &w), (&v, &v), (&w, &v)] {
            agree(|| a.par_iter().cmp(b), a.iter().cmp(b));
            agree(|| a.par_iter().partial_cmp(b), a.iter().partial_cmp(b));
            agree(|| a.par_iter().eq(b), a.iter().eq(b));
            agree(|| a.par_iter().ne(b), a.iter().ne(b));
            agree(|| a.par_iter().lt(b), a.iter().lt(b));
            agree(|| a.par_iter().le(b), a.iter().le(b));
            agree(|| a.par_iter().gt(b), a.iter().gt(b));
            agree(|| a.par_iter().ge(b), a.iter().ge(b));
        }
        true
    }

    fn checked(v: Vec<u8>) -> bool {
        let seq = v.iter().try_fold(0_u8, |a, b| a.checked_add(*b));
        agree(|| v.par_iter().copied().map(Some).try_reduce(|| 0, u8::checked_add), seq);
        let with = (!v.is_empty()).then_some(seq);
        agree(|| v.par_iter().copied().map(Some).try_reduce_with(u8::checked_add), with);
        agree(|| v.par_iter().try_for_each(|n| if *n < 200 { Ok(()) } else { Err(()) }),
            if v.iter().any(|n| *n >= 200) { Err(()) } else { Ok(()) });
        true
    }
}

#[test]
fn what_cannot_be_compared() {
    let (v, w) = ([1.0, f64::NAN, 3.0], [1.0, f64::NAN, 2.0]);
    agree(|| v.par_iter().partial_cmp(&w), None);
    agree(|| v.par_iter().lt(&w), false);
    agree(|| v.par_iter().ge(&w), false);
    agree(|| v.par_iter().eq(&v), false);
    agree(|| [0.0].par_iter().partial_cmp(&v), Some(Ordering::Less));
}

#[test]
fn what_may_fail() {
    let broken = |n: u32| {
        if n == 700 {
            ControlFlow::Break(n)
        } else {
            ControlFlow::Continue(())
        }
    };
    agree(
        || (0..1000_u32).into_par_iter().try_for_each(broken),
        ControlFlow::Break(700),
    );
    agree(
        || (0..700_u32).into_par_iter().try_for_each(broken),
        ControlFlow::Continue(()),
    );
    let poll = |n: u32| match n {
        700 => Poll::Ready(Err(n)),
        n if n % 2 == 0 => Poll::Ready(Ok(())),
        _ => Poll::Ready(Ok(())),
    };
    let sum = |a: Poll<()>, b: Poll<()>| {
        assert!(a.is_ready() && b.is_ready());
        Poll::Ready(Ok(()))
    };
    let all = |end: u32| {
        (0..end)
            .into_par_iter()
            .map(poll)
            .try_reduce(|| Poll::Ready(()), sum)
    };
    agree(|| all(700), Poll::Ready(Ok(())));
    agree(|| all(1000), Poll::Ready(Err(700)));
    agree(
        || {
            (0..10)
                .into_par_iter()
                .map(|_| Poll::Ready(Some(Err::<u32, _>("no"))))
                .try_reduce_with(|a, _| a.map(|a| a.map(Ok)))
        },
        Some(Poll::Ready(Some(Err("no")))),
    );
}

#[test]
fn init_and_with() {
    use std::sync::mpsc::channel;
    for sum in in_pools(|| {
        let (to_us, from_them) = channel();
        (0..1000_u32)
            .into_par_iter()
            .for_each_with(to_us, |to_us, n| to_us.send(n).unwrap());
        from_them.iter().sum::<u32>()
    }) {
        assert_eq!(sum, 499_500);
    }
    agree(
        || {
            (0..1000_u32)
                .into_par_iter()
                .try_for_each_init(|| 500, |most, n| if n > *most { None } else { Some(()) })
        },
        None,
    );
    agree(
        || {
            (0..500_u32)
                .into_par_iter()
                .try_for_each_with(500, |most, n| if n > *most { None } else { Some(()) })
        },
        Some(()),
    );
}

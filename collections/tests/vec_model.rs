//! Every operation of the vector against `Vec`, in sequences that quickcheck
//! invents and shrinks.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use quickcheck::{Arbitrary, Gen, QuickCheck};
use tine_collections::ParVec;
use tine_iter::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Push(u32),
    Extend(u16),
    Pusher(Vec<u32>),
    ParExtend(u16),
    Pop,
    Truncate(u16),
    Clear,
    Get(u16),
    GetMut(u16, u32),
    IterMut(u32),
    ParIterMut(u32),
    Clone,
    ThroughVec,
    FromPar(u16),
    WithCapacity(u16),
}

impl Arbitrary for Op {
    fn arbitrary(g: &mut Gen) -> Op {
        let n = u16::arbitrary(g) % 3000;
        let v = u32::arbitrary(g);
        match u8::arbitrary(g) % 24 {
            0..=7 => Op::Push(v),
            8 => Op::Extend(n),
            9 => Op::Pusher(Vec::arbitrary(g)),
            10 => Op::ParExtend(n),
            11..=13 => Op::Pop,
            14 => Op::Truncate(n),
            15 => Op::Clear,
            16 => Op::Get(n),
            17 => Op::GetMut(n, v),
            18 => Op::IterMut(v),
            19 => Op::ParIterMut(v),
            20 => Op::Clone,
            21 => Op::ThroughVec,
            22 => Op::FromPar(n),
            _ => Op::WithCapacity(n % 50),
        }
    }
}

/// A value that counts the living values.
#[derive(Clone, Debug, PartialEq)]
struct Counted(u32, Arc<()>);

fn step(vec: &mut ParVec<Counted>, model: &mut Vec<u32>, op: Op, token: &Arc<()>) {
    let new = |v: u32| Counted(v, token.clone());
    match op {
        Op::Push(v) => {
            assert_eq!(vec.push(new(v)), model.len());
            model.push(v);
        }
        Op::Extend(n) => {
            vec.extend((0..u32::from(n)).map(new));
            model.extend(0..u32::from(n));
        }
        Op::Pusher(values) => {
            let mut pusher = vec.pusher();
            values.iter().for_each(|&v| pusher.push(new(v)));
            drop(pusher);
            model.extend(values);
        }
        Op::ParExtend(n) => {
            vec.par_extend((0..u32::from(n)).into_par_iter().map(new));
            model.extend(0..u32::from(n));
        }
        Op::Pop => assert_eq!(vec.pop().map(|counted| counted.0), model.pop()),
        Op::Truncate(n) => {
            vec.truncate(usize::from(n));
            model.truncate(usize::from(n));
        }
        Op::Clear => {
            vec.clear();
            model.clear();
        }
        Op::Get(n) => {
            let at = usize::from(n);
            assert_eq!(vec.get(at).map(|counted| counted.0), model.get(at).copied());
        }
        Op::GetMut(n, v) => {
            let at = usize::from(n);
            let found = vec.get_mut(at).map(|counted| counted.0 = v);
            assert_eq!(found, model.get_mut(at).map(|old| *old = v));
        }
        Op::IterMut(v) => {
            vec.iter_mut().for_each(|counted| counted.0 ^= v);
            model.iter_mut().for_each(|old| *old ^= v);
        }
        Op::ParIterMut(v) => {
            vec.par_iter_mut()
                .enumerate()
                .for_each(|(i, counted)| counted.0 ^= v ^ i as u32);
            model
                .iter_mut()
                .enumerate()
                .for_each(|(i, old)| *old ^= v ^ i as u32);
        }
        Op::Clone => *vec = vec.clone(),
        Op::ThroughVec => *vec = std::mem::take(vec).into_vec().into(),
        Op::FromPar(n) => {
            *vec = (0..u32::from(n)).into_par_iter().map(new).collect();
            *model = (0..u32::from(n)).collect();
        }
        Op::WithCapacity(n) => {
            *vec = ParVec::with_capacity(usize::from(n));
            model.clear();
        }
    }
    assert_eq!(vec.len(), model.len());
    assert_eq!(Arc::strong_count(token), model.len() + 1);
}

#[test]
fn sequences() {
    fn agree(ops: Vec<Op>) {
        let token = Arc::new(());
        let mut vec = ParVec::new();
        let mut model = Vec::new();
        for op in ops {
            step(&mut vec, &mut model, op, &token);
        }
        assert!(
            vec.iter()
                .map(|counted| counted.0)
                .eq(model.iter().copied())
        );
        assert!(
            vec.iter()
                .rev()
                .map(|counted| counted.0)
                .eq(model.iter().rev().copied())
        );
        assert_eq!(vec.iter().len(), model.len());
        let par: Vec<u32> = vec.par_iter().map(|counted| counted.0).collect();
        assert_eq!(par, model);
        let mut walk = vec.into_iter();
        let ends = (walk.next().map(|c| c.0), walk.next_back().map(|c| c.0));
        let mut expected = model.into_iter();
        assert_eq!(ends, (expected.next(), expected.next_back()));
        drop(walk);
        assert_eq!(Arc::strong_count(&token), 1);
    }
    QuickCheck::new()
        .tests(300)
        .quickcheck(agree as fn(Vec<Op>));
}

/// Plain values take shorter paths than values that are dropped.
#[test]
fn truncating_plain_values() {
    for len in [0, 1, 31, 32, 33, 96, 1000] {
        for keep in [0, 1, 32, 95, 500, 2000] {
            let mut vec: ParVec<u64> = ParVec::with_capacity(10);
            ParVec::extend(&vec, 0..len);
            vec.truncate(keep);
            let kept = (keep as u64).min(len);
            assert!(vec.iter().copied().eq(0..kept));
            assert_eq!(vec.get(keep), None);
            vec.push(7);
            assert_eq!(vec[kept as usize], 7);
            assert_eq!(vec.into_vec().len() as u64, kept + 1);
        }
    }
}

#[test]
fn splitting_anywhere() {
    let mut vec: ParVec<u32> = ParVec::with_capacity(5);
    ParVec::extend(&vec, 0..300);
    for at in 0..=300 {
        let (left, right): (Vec<u32>, Vec<u32>) = (
            vec.par_iter().take(at).copied().collect(),
            vec.par_iter().skip(at).copied().collect(),
        );
        assert!(left.into_iter().eq(0..at as u32) && right.into_iter().eq(at as u32..300));
    }
    let reversed: Vec<u32> = vec.par_iter_mut().rev().map(|v| *v).collect();
    assert!(reversed.into_iter().eq((0..300).rev()));
}

#[test]
fn values_of_no_size() {
    let vec = ParVec::new();
    (0..10_000).for_each(|i| assert_eq!(vec.push(()), i));
    vec.extend(iter::repeat_n((), 10_000));
    assert_eq!(vec.par_iter().count(), 20_000);
    assert_eq!(vec.into_vec().len(), 20_000);
}

/// Everything that a `Vec` can do with more values of size zero than there is memory for anything.
#[test]
fn any_number_of_values_of_no_size() {
    const LIMIT: usize = isize::MAX as usize / 2;
    for len in [
        0,
        1,
        100,
        LIMIT / 3,
        LIMIT - 1,
        LIMIT,
        LIMIT + 1,
        LIMIT + 9,
        usize::MAX - 1,
        usize::MAX,
    ] {
        let mut model = vec![(); len];
        let mut vec = ParVec::from(model.clone());
        assert_eq!(vec.capacity(), model.capacity());
        let agree = |vec: &mut ParVec<()>, model: &mut Vec<()>| {
            let len = model.len();
            assert_eq!((vec.len(), vec.is_empty()), (len, model.is_empty()));
            assert_eq!((vec.iter().len(), vec.iter_mut().len()), (len, len));
            assert_eq!((vec.par_iter().len(), vec.par_iter_mut().len()), (len, len));
            for at in [
                0,
                1,
                LIMIT - 1,
                LIMIT,
                LIMIT + 1,
                usize::MAX - 1,
                usize::MAX,
            ]
            .into_iter()
            .chain([len, len.wrapping_sub(1), len.wrapping_add(1)])
            {
                assert_eq!(vec.get(at), model.get(at), "{at} of {len}");
                assert_eq!(vec.get_mut(at), model.get_mut(at), "{at} of {len}");
            }
        };
        agree(&mut vec, &mut model);
        for _ in 0..20 {
            assert_eq!(vec.pop(), model.pop());
        }
        agree(&mut vec, &mut model);
        for _ in 0..3 {
            match catch_unwind(AssertUnwindSafe(|| vec.push(()))) {
                Ok(at) => {
                    assert_eq!(at, model.len());
                    model.push(());
                }
                Err(_) => assert!(len >= LIMIT, "a push to {len} was refused"),
            }
        }
        agree(&mut vec, &mut model);
        for short in [usize::MAX, LIMIT + 2, LIMIT, 1000, 40, 3] {
            vec.truncate(short);
            model.truncate(short);
            agree(&mut vec, &mut model);
        }
        vec.extend(iter::repeat_n((), 5000));
        model.extend(iter::repeat_n((), 5000));
        agree(&mut vec, &mut model);
        for _ in 0..4990 {
            assert_eq!(vec.pop(), model.pop());
        }
        agree(&mut vec, &mut model);
        vec.par_extend((0..100).into_par_iter().map(|_| ()));
        model.extend(iter::repeat_n((), 100));
        agree(&mut vec, &mut model);
        assert_eq!(vec.into_vec(), model);
    }
    for room in [0, 1, LIMIT / 3, usize::MAX] {
        let vec = ParVec::with_capacity(room);
        assert_eq!(vec.capacity(), Vec::<()>::with_capacity(room).capacity());
        assert_eq!((vec.push(()), vec.len(), vec.iter().len()), (0, 1, 1));
    }
    let back = ParVec::from(vec![(); usize::MAX]).into_vec();
    assert_eq!(back.len(), usize::MAX);
}

/// A pusher whose vector is full panics once, for whatever reason it is dropped.
#[test]
fn a_full_vector_refuses_a_pusher_once() {
    let vec = ParVec::from(vec![(); isize::MAX as usize / 2]);
    let refused = |go: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(go)).is_err());
    refused(&|| vec.pusher().push(()));
    refused(&|| vec.extend([()]));
    refused(&|| {
        let mut pusher = vec.pusher();
        pusher.push(());
        pusher.flush();
    });
    refused(&|| {
        let mut pusher = vec.pusher();
        pusher.push(());
        panic!("for another reason");
    });
    assert_eq!(vec.len(), isize::MAX as usize / 2);
}

/// Values of size zero are dropped as often as they were made.
#[test]
fn values_of_no_size_with_a_destructor() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    struct Unit;

    impl Drop for Unit {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }

    let mut vec = ParVec::from((0..100).map(|_| Unit).collect::<Vec<_>>());
    drop(vec.pop());
    vec.truncate(90);
    assert_eq!(DROPPED.load(Relaxed), 10);
    (0..50).for_each(|i| assert_eq!(vec.push(Unit), 90 + i));
    vec.truncate(80);
    vec.push(Unit);
    assert_eq!((DROPPED.load(Relaxed), vec.len()), (70, 81));
    drop(vec);
    assert_eq!(DROPPED.load(Relaxed), 151);
}

#[test]
fn memory_is_taken_over() {
    let values = vec![1, 2, 3];
    let place = values.as_ptr();
    let back = ParVec::from(values).into_vec();
    assert_eq!(back.as_ptr(), place);
    let vec = ParVec::with_capacity(100);
    vec.extend(0..100);
    let first: *const i32 = &vec[0];
    let back = vec.into_vec();
    assert_eq!(back.as_ptr(), first);
}

/// Large buckets of values that lie across pages, next to blocks and to gaps between ranks.
#[test]
fn large_buckets_become_one_row() {
    let count: u32 = if cfg!(miri) { 1000 } else { 1 << 19 };
    for alone in [0, 1, 63, 64, 1000] {
        let vec = ParVec::new();
        (0..alone).for_each(|i| _ = vec.push([i; 12]));
        vec.extend((alone..count / 2).map(|i| [i; 12]));
        (count / 2..count + alone).for_each(|i| _ = vec.push([i; 12]));
        assert!(vec.iter().map(|value| value[11]).eq(0..count + alone));
        assert!(
            vec.into_vec()
                .into_iter()
                .eq((0..count + alone).map(|i| [i; 12]))
        );
    }
    let vec = ParVec::from(vec![String::from("base")]);
    (0..count).for_each(|i| _ = vec.push(i.to_string()));
    let strings = vec.into_vec();
    assert_eq!(strings[0], "base");
    assert!((0..count).all(|i| strings[i as usize + 1] == i.to_string()));
}

#[test]
fn an_iterator_that_panics_keeps_what_it_gave() {
    let token = Arc::new(());
    let vec = ParVec::new();
    let broken = (0..5000).map(|i| {
        if i == 3333 {
            panic!("broken")
        } else {
            token.clone()
        }
    });
    assert!(catch_unwind(AssertUnwindSafe(|| vec.extend(broken))).is_err());
    assert_eq!(vec.len(), 3333);
    assert_eq!(vec.iter().count(), 3333);
    assert_eq!(Arc::strong_count(&token), 3334);
    vec.push(token.clone());
    drop(vec);
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_drop_that_panics_does_not_stop_the_others() {
    struct Touchy(
        u32,
        #[expect(dead_code, reason = "counts those alive")] Arc<()>,
    );
    impl Drop for Touchy {
        fn drop(&mut self) {
            if self.0 == 40 {
                panic!("touchy");
            }
        }
    }
    let token = Arc::new(());
    let vec = ParVec::new();
    vec.extend((0..1000).map(|i| Touchy(i, token.clone())));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(vec))).is_err());
    assert_eq!(Arc::strong_count(&token), 1);
    let mut vec = ParVec::new();
    vec.extend((0..50).map(|i| Touchy(i, token.clone())));
    assert!(catch_unwind(AssertUnwindSafe(|| vec.clear())).is_err());
    assert_eq!(vec.len(), 40);
    assert_eq!(Arc::strong_count(&token), 41);
}

/// An iterator whose length hint lies.
struct Liar(u32, usize);

impl Iterator for Liar {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.0 = self.0.checked_sub(1)?;
        Some(self.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

impl ExactSizeIterator for Liar {}

#[test]
fn hints_may_lie() {
    for hint in [0, 5, 2000, usize::MAX] {
        let vec = ParVec::new();
        vec.extend(Liar(1500, hint));
        assert_eq!(vec.len(), 1500);
        let mut map = tine_collections::ParHashMap::new();
        map.extend(iter::zip(Liar(1500, hint), iter::repeat(())));
        assert_eq!(map.len(), 1500);
    }
}

#[test]
#[should_panic(expected = "index 3 of a ParVec of length 3")]
fn beyond_the_end() {
    let _ = ParVec::from(vec![1, 2, 3])[3];
}

#[test]
fn far_indices() {
    let mut vec: ParVec<u8> = (0..100).collect();
    for index in [
        100,
        128,
        1 << 20,
        usize::MAX / 4,
        usize::MAX / 2,
        usize::MAX,
    ] {
        assert_eq!(vec.get(index), None);
        assert_eq!(vec.get_mut(index), None);
    }
}

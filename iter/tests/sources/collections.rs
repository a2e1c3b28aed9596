//! std's collections.

use crate::kit::{indexed_twin, twin};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher};
use tine_iter::prelude::*;

/// A hasher that is the same in every run, so that two equal maps made in the same way are walked in the same
/// order.
type Fixed = BuildHasherDefault<DefaultHasher>;

const LENS: [u32; 5] = [0, 1, 2, 7, 1000];

fn map(len: u32) -> HashMap<u32, u32, Fixed> {
    (0..len).map(|i| (i, i * i)).collect()
}

fn set(len: u32) -> HashSet<u32, Fixed> {
    (0..len).collect()
}

#[test]
fn maps() {
    for len in LENS {
        let sorted = || (0..len).map(|i| (i, i * i)).collect::<BTreeMap<_, _>>();
        twin!(let m = sorted(); m.into_par_iter(), m.into_iter());
        twin!(let m = sorted(); m.par_iter(), m.iter());
        twin!(let m = &mut sorted(); m.par_iter_mut(), m.iter_mut());
        twin!(let m = map(len); m.into_par_iter(), m.into_iter());
        twin!(let m = map(len); m.par_iter(), m.iter());
        twin!(let m = &mut map(len); m.par_iter_mut(), m.iter_mut());
        twin!(let m = &mut map(len); m.par_drain(), m.drain());
    }
}

#[test]
fn sets_and_lists() {
    for len in LENS {
        let sorted = || (0..len).collect::<BTreeSet<_>>();
        twin!(let s = sorted(); s.into_par_iter(), s.into_iter());
        twin!(let s = sorted(); s.par_iter(), s.iter());
        twin!(let s = set(len); s.into_par_iter(), s.into_iter());
        twin!(let s = set(len); s.par_iter(), s.iter());
        twin!(let s = &mut set(len); s.par_drain(), s.drain());
        let list = || (0..len).collect::<LinkedList<_>>();
        twin!(let l = list(); l.into_par_iter(), l.into_iter());
        twin!(let l = list(); l.par_iter(), l.iter());
        twin!(let l = &mut list(); l.par_iter_mut(), l.iter_mut());
    }
}

#[test]
fn heaps() {
    for len in [0, 1, 6] {
        let heap = || (0..len).map(|i| i * 7 % 5).collect::<BinaryHeap<_>>();
        indexed_twin!(let h = heap(); h.into_par_iter(), h.into_iter());
        indexed_twin!(let h = heap(); h.par_iter(), h.iter());
        indexed_twin!(let h = &mut heap(); h.par_drain(), h.drain());
    }
}

/// A deque of `len` numbers whose first `wrapped` lie at the end of its buffer.
fn deque(len: u32, wrapped: u32) -> VecDeque<u32> {
    let mut deque: VecDeque<u32> = (wrapped..len).collect();
    (0..wrapped.min(len))
        .rev()
        .for_each(|i| deque.push_front(i));
    deque
}

#[test]
fn deques() {
    for (len, wrapped) in [(0, 0), (1, 0), (1, 1), (7, 0), (7, 1), (7, 4), (7, 7)] {
        let deque = || deque(len, wrapped);
        indexed_twin!(let d = deque(); d.into_par_iter(), d.into_iter());
        indexed_twin!(let d = deque(); d.par_iter(), d.iter());
        indexed_twin!(let d = &mut deque(); d.par_iter_mut(), d.iter_mut());
        let len = len as usize;
        for (start, end) in [(0, len), (len / 2, len), (0, len / 2), (len / 3, len / 2)] {
            indexed_twin!(let d = &mut deque(); d.par_drain(start..end), d.drain(start..end));
            let (mut par, mut seq, mut unused) = (deque(), deque(), deque());
            par.par_drain(start..end).for_each(drop);
            seq.drain(start..end);
            drop(unused.par_drain(start..end));
            assert_eq!(par, seq);
            assert_eq!(unused, seq);
        }
    }
}

#[test]
fn drained_collections_keep_their_capacity() {
    let mut heap: BinaryHeap<u32> = (0..100).collect();
    let mut deque: VecDeque<u32> = (0..100).collect();
    let (mut map, mut set) = (map(100), set(100));
    let before = [
        heap.capacity(),
        deque.capacity(),
        map.capacity(),
        set.capacity(),
    ];
    heap.par_drain().for_each(drop);
    deque.par_drain(..).for_each(drop);
    map.par_drain().for_each(drop);
    set.par_drain().for_each(drop);
    assert!(heap.is_empty() && deque.is_empty() && map.is_empty() && set.is_empty());
    let after = [
        heap.capacity(),
        deque.capacity(),
        map.capacity(),
        set.capacity(),
    ];
    assert_eq!(before, after);
}

#[test]
fn options_and_results() {
    for option in [None, Some(7)] {
        let result = option.ok_or("no");
        indexed_twin!(let o = option; o.into_par_iter(), o.into_iter());
        indexed_twin!(let o = option; o.par_iter(), o.iter());
        indexed_twin!(let o = &mut option.clone(); o.par_iter_mut(), o.iter_mut());
        indexed_twin!(let r = result; r.into_par_iter(), r.into_iter());
        indexed_twin!(let r = result; r.par_iter(), r.iter());
        indexed_twin!(let r = &mut result.clone(); r.par_iter_mut(), r.iter_mut());
    }
}

#[test]
fn clone_and_debug() {
    let map = map(3);
    let iter = map.par_iter();
    assert_eq!(format!("{:?}", iter.clone()), format!("{iter:?}"));
    let list = LinkedList::from([1, 2]);
    let iter = list.clone().into_par_iter();
    assert!(format!("{:?}", iter.clone()).contains("[1, 2]"));
    let deque = deque(4, 2);
    assert!(format!("{:?}", deque.par_iter().clone()).contains("[0, 1]"));
    let heap = BinaryHeap::from([1]);
    assert!(format!("{:?}", heap.clone().into_par_iter().clone()).contains("[1]"));
    assert!(format!("{:?}", Some(1).into_par_iter().clone()).contains("Some(1)"));
}

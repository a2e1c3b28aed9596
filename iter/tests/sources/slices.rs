//! Slices, vectors and arrays.

use crate::kit::{indexed_twin, twin};
use quickcheck::quickcheck;
use tine_iter::prelude::*;

const LENS: [usize; 6] = [0, 1, 2, 5, 8, 9];

fn numbers(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| i * 7 % 5).collect()
}

#[test]
fn elements() {
    for len in LENS {
        indexed_twin!(let v = numbers(len); v.par_iter(), v.iter());
        indexed_twin!(let v = &mut numbers(len); v.par_iter_mut(), v.iter_mut());
        indexed_twin!(let v = &numbers(len)[..]; v.into_par_iter(), v.iter());
        indexed_twin!(let v = numbers(len); v.into_par_iter(), v.into_iter());
        indexed_twin!(let v = numbers(len).into_boxed_slice(); v.par_iter(), v.iter());
        indexed_twin!(let v = &mut numbers(len).into_boxed_slice();
            v.par_iter_mut(), v.iter_mut());
        indexed_twin!(let v = numbers(len).into_boxed_slice();
            v.into_par_iter(), v.into_vec().into_iter());
        indexed_twin!(let v = vec![(); len]; v.into_par_iter(), v.into_iter());
        indexed_twin!(let v = vec![(); len]; v.par_iter(), v.iter());
    }
}

#[test]
fn arrays() {
    indexed_twin!(let a = [3, 1, 2]; a.into_par_iter(), a.into_iter());
    indexed_twin!(let a = [3, 1, 2]; a.par_iter(), a.iter());
    indexed_twin!(let a = &mut [3, 1, 2]; a.par_iter_mut(), a.iter_mut());
    indexed_twin!(let a = [String::from("x")]; a.into_par_iter(), a.into_iter());
    indexed_twin!(let a = [0_u8; 0]; a.into_par_iter(), a.into_iter());
    indexed_twin!(let a = [(); 4]; a.into_par_iter(), a.into_iter());
}

#[test]
fn vec_drains() {
    for len in [0, 1, 5, 8] {
        for start in 0..=len {
            for end in start..=len {
                indexed_twin!(let v = &mut numbers(len);
                    v.par_drain(start..end), v.drain(start..end));
            }
        }
        indexed_twin!(let v = &mut numbers(len); v.par_drain(..), v.drain(..));
    }
    indexed_twin!(let v = &mut numbers(6); v.par_drain(..=3), v.drain(..=3));
    indexed_twin!(let v = &mut numbers(6); v.par_drain(2..), v.drain(2..));
}

#[test]
fn what_a_drain_leaves() {
    for (start, end) in [(0, 0), (0, 3), (2, 2), (2, 4), (3, 6), (6, 6), (0, 6)] {
        let mut rest = numbers(6);
        rest.drain(start..end);

        let mut v = numbers(6);
        let capacity = v.capacity();
        v.par_drain(start..end).for_each(drop);
        assert_eq!(v, rest);
        assert_eq!(v.capacity(), capacity);

        let mut v = numbers(6);
        drop(v.par_drain(start..end));
        assert_eq!(v, rest);
    }
}

#[test]
#[should_panic(expected = "out of bounds for length 3")]
fn a_drain_beyond_the_end() {
    let _ = vec![1, 2, 3].par_drain(2..4);
}

#[test]
fn chunks() {
    for len in LENS {
        for size in [1, 2, 3, 4, 8, 9, 100, usize::MAX] {
            let make = || numbers(len);
            indexed_twin!(let v = make(); v.par_chunks(size), v.chunks(size));
            indexed_twin!(let v = make(); v.par_chunks_exact(size), v.chunks_exact(size));
            indexed_twin!(let v = make(); v.par_rchunks(size), v.rchunks(size));
            indexed_twin!(let v = make(); v.par_rchunks_exact(size), v.rchunks_exact(size));
            indexed_twin!(let v = &mut make(); v.par_chunks_mut(size), v.chunks_mut(size));
            indexed_twin!(let v = &mut make();
                v.par_chunks_exact_mut(size), v.chunks_exact_mut(size));
            indexed_twin!(let v = &mut make(); v.par_rchunks_mut(size), v.rchunks_mut(size));
            indexed_twin!(let v = &mut make();
                v.par_rchunks_exact_mut(size), v.rchunks_exact_mut(size));
        }
    }
}

#[test]
fn remainders() {
    for len in LENS {
        for size in [1, 2, 3, 4, 9, 100] {
            let mut v = numbers(len);
            let mut w = v.clone();
            let front = w.chunks_exact(size).remainder().to_vec();
            let back = w.rchunks_exact(size).remainder().to_vec();
            assert_eq!(v.par_chunks_exact(size).remainder(), front);
            assert_eq!(v.par_rchunks_exact(size).remainder(), back);
            assert_eq!(v.par_chunks_exact_mut(size).remainder(), front);
            assert_eq!(v.par_rchunks_exact_mut(size).remainder(), back);
            let mut chunks = v.par_chunks_exact_mut(size);
            assert_eq!(chunks.take_remainder(), front);
            assert!(chunks.remainder().is_empty() && chunks.into_remainder().is_empty());
            let mut chunks = v.par_rchunks_exact_mut(size);
            assert_eq!(chunks.take_remainder(), back);
            assert!(chunks.remainder().is_empty() && chunks.into_remainder().is_empty());
            assert_eq!(v.par_chunks_exact_mut(size).into_remainder(), front);
            assert_eq!(v.par_rchunks_exact_mut(size).into_remainder(), back);
            w.clear();
        }
    }
}

#[test]
fn windows() {
    for len in LENS {
        for size in [1, 2, 3, 8, 9, 100, usize::MAX] {
            indexed_twin!(let v = numbers(len); v.par_windows(size), v.windows(size));
        }
        indexed_twin!(let v = numbers(len); v.par_array_windows::<1>(), v.windows(1));
        indexed_twin!(let v = numbers(len); v.par_array_windows::<3>(), v.windows(3));
        indexed_twin!(let v = numbers(len); v.par_array_windows::<9>(), v.windows(9));
    }
}

#[test]
fn lengths_at_the_limit() {
    // A slice may hold usize::MAX zero-sized values.
    let v = vec![(); usize::MAX];
    assert_eq!(v.par_iter().len(), usize::MAX);
    assert_eq!(v.par_chunks(usize::MAX).len(), 1);
    assert_eq!(v.par_chunks(2).len(), usize::MAX / 2 + 1);
    assert_eq!(v.par_chunks_exact(2).len(), usize::MAX / 2);
    assert_eq!(v.par_rchunks(2).len(), usize::MAX / 2 + 1);
    assert_eq!(v.par_windows(1).len(), usize::MAX);
    assert_eq!(v.par_windows(usize::MAX).len(), 1);
    assert_eq!(v.into_par_iter().len(), usize::MAX);
    // Chunk sizes that would overflow when multiplied by their number.
    for size in [usize::MAX / 2, usize::MAX / 2 + 1, usize::MAX - 1] {
        let v = vec![(); usize::MAX];
        indexed_twin!(let v = &v; v.par_chunks(size).map(<[()]>::len), v.chunks(size).map(<[()]>::len));
        indexed_twin!(let v = &v; v.par_rchunks(size).map(<[()]>::len), v.rchunks(size).map(<[()]>::len));
    }
}

macro_rules! refuses_zero {
    ($($name:ident: $v:ident => $make:expr;)*) => {$(
        #[test]
        #[should_panic(expected = "must not be zero")]
        fn $name() {
            #[allow(unused_mut)]
            let mut $v = [1, 2, 3];
            let _ = $make;
        }
    )*};
}

refuses_zero! {
    zero_chunks: v => v.par_chunks(0);
    zero_chunks_exact: v => v.par_chunks_exact(0);
    zero_rchunks: v => v.par_rchunks(0);
    zero_rchunks_exact: v => v.par_rchunks_exact(0);
    zero_chunks_mut: v => v.par_chunks_mut(0);
    zero_chunks_exact_mut: v => v.par_chunks_exact_mut(0);
    zero_rchunks_mut: v => v.par_rchunks_mut(0);
    zero_rchunks_exact_mut: v => v.par_rchunks_exact_mut(0);
    zero_windows: v => v.par_windows(0);
    zero_array_windows: v => v.par_array_windows::<0>();
}

/// All kinds of uneven pieces, for one input and one separator.
fn uneven(v: &[u8], separator: u8) {
    let at = |&x: &u8| x == separator;
    twin!(let v = v; v.par_split(at), v.split(at));
    twin!(let v = v; v.par_split_inclusive(at), v.split_inclusive(at));
    twin!(let v = &mut v.to_vec(); v.par_split_mut(at), v.split_mut(at));
    twin!(let v = &mut v.to_vec();
        v.par_split_inclusive_mut(at), v.split_inclusive_mut(at));
    let together = |a: &u8, b: &u8| a <= b;
    twin!(let v = v; v.par_chunk_by(together), v.chunk_by(together));
    twin!(let v = &mut v.to_vec();
        v.par_chunk_by_mut(together), v.chunk_by_mut(together));
}

#[test]
fn uneven_pieces_of_short_slices() {
    // Every slice of up to seven elements, two of which are equal or not.
    for len in 0..8 {
        for bits in 0..1_u32 << len {
            let v: Vec<u8> = (0..len).map(|i| (bits >> i & 1) as u8).collect();
            uneven(&v, 0);
        }
    }
}

#[test]
fn uneven_pieces_of_long_slices() {
    for every in [1, 2, 50, 1000, 5000] {
        let v: Vec<u8> = (0..2000).map(|i| (i % every == every - 1) as u8).collect();
        uneven(&v, 1);
        uneven(&v, 0);
    }
}

quickcheck! {
    fn uneven_pieces(v: Vec<u8>) -> bool {
        let v: Vec<u8> = v.into_iter().map(|x| x % 4).collect();
        uneven(&v, 0);
        true
    }

    fn even_pieces(v: Vec<u8>, size: usize) -> bool {
        let size = size % (v.len() + 2) + 1;
        twin!(let v = &v; v.par_chunks(size), v.chunks(size));
        twin!(let v = &v; v.par_rchunks_exact(size), v.rchunks_exact(size));
        twin!(let v = &v; v.par_windows(size), v.windows(size));
        twin!(let v = v.clone(); v.into_par_iter(), v.into_iter());
        true
    }
}

#[test]
fn each_element_is_visited_once() {
    let mut v = vec![0_u8; 10_000];
    v.par_iter_mut().for_each(|x| *x += 1);
    v.par_chunks_mut(7)
        .for_each(|chunk| chunk.iter_mut().for_each(|x| *x += 1));
    v.par_split_mut(|&x| x == 9)
        .for_each(|piece| piece.iter_mut().for_each(|x| *x += 1));
    assert!(v.iter().all(|&x| x == 3));
}

#[test]
fn clone_and_debug() {
    let v = [1, 0, 2];
    let chunks = v.par_chunks(2);
    assert_eq!(format!("{:?}", chunks.clone()), format!("{chunks:?}"));
    let split = v.par_split(|&x| x == 0);
    assert_eq!(format!("{:?}", split.clone()), "Split { slice: [1, 0, 2] }");
    assert_eq!(format!("{:?}", v.par_iter()), "Iter { slice: [1, 0, 2] }");
    assert!(format!("{:?}", v.to_vec().into_par_iter()).contains("[1, 0, 2]"));
}

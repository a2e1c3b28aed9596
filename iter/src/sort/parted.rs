//! Splits a vector into two by a predicate; each keeps the old order. The predicate is asked about all elements
//! before anything moves, so it may panic. Then the pieces, whose shares have been counted, move in parallel.

use std::mem::{self, MaybeUninit};

use crate::plumbing::halves;
use tine_pool::current_num_threads;

use super::fork;

/// Shorter vectors are split by the calling thread.
const CUTOFF: usize = if cfg!(miri) {
    128
} else if cfg!(test) {
    1 << 12
} else {
    1 << 16
};

/// The elements that satisfy `left`, and the others.
pub(super) fn into_two<T, P>(mut v: Vec<T>, left: &P) -> (Vec<T>, Vec<T>)
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
{
    let len = v.len();
    if len < CUTOFF {
        return v.into_iter().partition(left);
    }
    let grain = fork::grain(len, current_num_threads());
    let mut goes_left = vec![false; len];
    let mut counts = vec![0; len.div_ceil(grain)];
    ask(&mut v, &mut goes_left, &mut counts, grain, left);
    let on_left = counts.iter().sum();
    let mut ours = Vec::with_capacity(on_left);
    let mut others = Vec::with_capacity(len - on_left);
    // SAFETY: fewer than before; its values are moved from here on.
    unsafe { v.set_len(0) };
    hand_out(
        &mut v.spare_capacity_mut()[..len],
        &goes_left,
        &counts,
        grain,
        &mut ours.spare_capacity_mut()[..on_left],
        &mut others.spare_capacity_mut()[..len - on_left],
    );
    // SAFETY: `hand_out` has filled both, with values of `v`, each once.
    unsafe { ours.set_len(on_left) };
    // SAFETY: as above.
    unsafe { others.set_len(len - on_left) };
    (ours, others)
}

/// Notes for each element where it goes, and for each piece how many elements go left.
fn ask<T, P>(v: &mut [T], goes_left: &mut [bool], counts: &mut [usize], grain: usize, left: &P)
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
{
    if let [count] = counts {
        for (value, goes_left) in v.iter().zip(goes_left) {
            *goes_left = left(value);
            *count += usize::from(*goes_left);
        }
        return;
    }
    let half = counts.len() / 2;
    let (c0, c1) = counts.split_at_mut(half);
    let (v0, v1) = v.split_at_mut(half * grain);
    let (g0, g1) = goes_left.split_at_mut(half * grain);
    halves(
        || ask(v0, g0, c0, grain, left),
        || ask(v1, g1, c1, grain, left),
    );
}

/// Moves every value to the next place of its side.
///
/// # Panics
/// If the sides are not as long as the counts say.
fn hand_out<T: Send>(
    values: &mut [MaybeUninit<T>],
    goes_left: &[bool],
    counts: &[usize],
    grain: usize,
    ours: &mut [MaybeUninit<T>],
    others: &mut [MaybeUninit<T>],
) {
    if counts.len() == 1 {
        assert!(ours.len() == counts[0] && ours.len() + others.len() == values.len());
        let (mut ours, mut others) = (ours.iter_mut(), others.iter_mut());
        for (value, &goes_left) in values.iter_mut().zip(goes_left) {
            let side = if goes_left { &mut ours } else { &mut others };
            let place = side.next().expect("as many places as were counted");
            *place = mem::replace(value, MaybeUninit::uninit());
        }
        return;
    }
    let half = counts.len() / 2;
    let on_left: usize = counts[..half].iter().sum();
    let (c0, c1) = counts.split_at(half);
    let (v0, v1) = values.split_at_mut(half * grain);
    let (g0, g1) = goes_left.split_at(half * grain);
    let (a0, a1) = ours.split_at_mut(on_left);
    let (b0, b1) = others.split_at_mut(half * grain - on_left);
    halves(
        || hand_out(v0, g0, c0, grain, a0, b0),
        || hand_out(v1, g1, c1, grain, a1, b1),
    );
}

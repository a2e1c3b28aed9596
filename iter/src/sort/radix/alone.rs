//! The radix sort of a single thread, for slices that fit a cache.
//!
//! Only some of the varying top bits are sorted by: as many as are likely to tell `n` keys apart. A last pass
//! finds the neighbours that those bits left in the wrong order, and sorts each such run by the bits below.

use super::word::{RadixBits, Record, Varying};

/// Shorter slices are sorted by insertion.
const SMALL: usize = 24;
/// The bits of a digit: its counts and its open cache lines stay in the first cache.
const DIGIT: u32 = 8;
/// A slice of `2^k` elements is sorted by `k + SLACK` bits before the last look.
const SLACK: u32 = 3;
/// This many bits may be counted in vain.
const TOLERANCE: u32 = 2;
/// The greatest number that the counters hold.
const LONGEST: usize = 1 << 31;

/// Where the sorted records are to be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    /// Where the unsorted records were.
    Here,
    /// In the other slice.
    There,
}

impl End {
    pub(super) fn other(self) -> End {
        match self {
            End::Here => End::There,
            End::There => End::Here,
        }
    }
}

/// Sorts `here`, stably, through `there`. The result is at the `end`; the other slice holds copies
/// of records. No bit from `height` up may vary.
///
/// # Panics
/// If the slices differ in length, or are longer than a `u32` counts.
pub(super) fn sort<R: Record>(here: &mut [R], there: &mut [R], end: End, height: u32) {
    assert!(
        here.len() == there.len() && here.len() <= LONGEST,
        "a slice beyond its cache"
    );
    let mut at = End::Here;
    if here.len() <= SMALL {
        insertion(here);
    } else if height > 0 {
        at = digits(here, there, height);
    }
    match (at, end) {
        (End::Here, End::There) => there.copy_from_slice(here),
        (End::There, End::Here) => here.copy_from_slice(there),
        _ => {}
    }
}

/// Sorts by the bits below `height`. Returns where the result is.
fn digits<R: Record>(here: &mut [R], there: &mut [R], height: u32) -> End {
    let wanted = height.min(here.len().ilog2() + SLACK);
    match wanted.div_ceil(DIGIT) {
        0 | 1 => passes::<R, 1>(here, there, height),
        2 => passes::<R, 2>(here, there, height),
        3 => passes::<R, 3>(here, there, height),
        _ => passes::<R, 4>(here, there, height),
    }
}

/// [`digits`] in `P` passes. The compiler knows the number because the counting loop is short, and
/// only that loop is compiled for each number. The loop also learns which bits vary: if the top
/// ones do not, the wrong bits were counted.
fn passes<R: Record, const P: usize>(here: &mut [R], there: &mut [R], height: u32) -> End {
    let floor = height.saturating_sub(P as u32 * DIGIT);
    let mut counts = [[0u32; 1 << DIGIT]; P];
    let mut varying = Varying::new(here[0].bits());
    for r in here.iter() {
        varying.note(r.bits());
        // Shifts by a constant are quicker, so a digit is never narrower.
        let digits = r.bits().down(floor);
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[(digits >> (pass as u32 * DIGIT)) & 0xff] += 1;
        }
    }
    match varying.height() {
        0 => End::Here,
        true_height if floor > 0 && true_height + TOLERANCE < height => {
            digits(here, there, true_height)
        }
        _ => moves(here, there, &mut counts, varying, floor),
    }
}

/// Moves records by each digit in turn, from `floor` up. Returns where they are then.
fn moves<R: Record>(
    here: &mut [R],
    there: &mut [R],
    counts: &mut [[u32; 1 << DIGIT]],
    varying: Varying<R::Bits>,
    floor: u32,
) -> End {
    let (mut from, mut to) = (here, there);
    let mut at = End::Here;
    for (pass, counts) in counts.iter_mut().enumerate() {
        if scatter(from, to, counts, floor + pass as u32 * DIGIT) {
            (from, to) = (to, from);
            at = at.other();
        }
    }
    if varying.below(floor) {
        mend(from, to, floor);
    }
    at
}

/// Moves records, in order, to the places given by the counts of their digits from `shift` up. Moves none if
/// all have the same digit.
fn scatter<R: Record>(
    from: &[R],
    to: &mut [R],
    counts: &mut [u32; 1 << DIGIT],
    shift: u32,
) -> bool {
    assert!(shift < R::Bits::WIDTH, "a digit of the word");
    let mut at = 0;
    for count in counts.iter_mut() {
        if *count as usize == from.len() {
            return false;
        }
        at += std::mem::replace(count, at);
    }
    for r in from {
        let next = &mut counts[r.bits().down(shift) & 0xff];
        // SAFETY: the counts are the counts of these records by this digit, and add up to their number, so
        // every place is within `to`.
        unsafe { *to.get_unchecked_mut(*next as usize) = *r };
        *next += 1;
    }
    true
}

/// Finishes records that are sorted by their bits from `floor` up. Sorts each run that is equal in
/// those bits and not in order.
fn mend<R: Record>(v: &mut [R], other: &mut [R], floor: u32) {
    let mut from = 0;
    while let Some(at) = v[from..].windows(2).position(|w| w[1].bits() < w[0].bits()) {
        let i = from + at;
        let top = v[i].bits().above(floor);
        let same = |r: &R| r.bits().above(floor) == top;
        let start = v[..i].iter().rposition(|r| !same(r)).map_or(0, |at| at + 1);
        let end = i + v[i..].iter().position(|r| !same(r)).unwrap_or(v.len() - i);
        sort(&mut v[start..end], &mut other[start..end], End::Here, floor);
        // The next run starts above this one.
        from = end;
    }
}

fn insertion<R: Record>(v: &mut [R]) {
    for i in 1..v.len() {
        let moving = v[i];
        let mut hole = i;
        while hole > 0 && v[hole - 1].bits() > moving.bits() {
            v[hole] = v[hole - 1];
            hole -= 1;
        }
        v[hole] = moving;
    }
}

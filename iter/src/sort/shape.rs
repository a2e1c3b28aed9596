//! A glance at the input: what a sample says of the order that is there.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// What a slice looks like to a sample of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// A few long runs, up or down.
    Runs,
    /// Neighbours are nearly always in order, or nearly always out of it.
    Tidy,
    /// Most elements have an equal among a few hundred others.
    Few,
    /// None of these.
    Random,
}

/// With few distinct elements std's sorts take so little time that up to here a
/// second thread takes more.
pub(super) const FEW_CUTOFF: usize = 1 << 18;
/// Slices shorter than this are sorted so soon that the glance is a brief one.
const BRIEF: usize = 8192;

impl Shape {
    /// Looks at a slice of at least a few hundred elements.
    pub(super) fn of<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> Shape {
        if in_runs(v, compare) {
            Shape::Runs
        } else if v.len() >= BRIEF && tidy(v, compare) {
            Shape::Tidy
        } else if few(v, compare) {
            Shape::Few
        } else {
            Shape::Random
        }
    }
}

/// Whether nearly every one of a number of windows is in order or in reverse.
fn in_runs<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    let (windows, length) = if v.len() < BRIEF { (16, 32) } else { (64, 64) };
    if v.len() < windows * length {
        return false;
    }
    // Runs that are not much longer than a window are merged soon if they are few.
    let mut pardoned = if v.len() < 8 * BRIEF { windows / 8 } else { 0 };
    (0..windows).all(|i| {
        // One in each part, at places that no period of the input falls in with.
        let part = v.len() / windows;
        let within = mix(i) % (part - length + 1);
        let window = &v[i * part + within..][..length];
        let mut pairs = window.windows(2);
        let rises = compare(&window[length - 1], &window[0]).is_ge();
        let one_way = pairs.all(|pair| compare(&pair[1], &pair[0]).is_ge() == rises);
        if !one_way && pardoned > 0 {
            pardoned -= 1;
            return true;
        }
        one_way
    })
}

/// Whether neighbours are nearly always in one order, as far as a sample tells.
/// Then partitioning hardly moves anything.
pub(super) fn tidy<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    const SAMPLE: usize = 256;
    let part = v.len() / SAMPLE;
    if part < 2 {
        return false;
    }
    let descends = |i: usize| {
        // Somewhere in each part: at one distance all places may be even, and two
        // interleaved runs look like one.
        let at = i * part + mix(i) % (part - 1);
        compare(&v[at + 1], &v[at]).is_lt()
    };
    let descents = (0..SAMPLE).filter(|&i| descends(i)).count();
    !(SAMPLE / 10..=SAMPLE - SAMPLE / 10).contains(&descents)
}

/// A number that no period of an input falls in with.
fn mix(i: usize) -> usize {
    i.wrapping_mul(0x9E37_79B9) >> 8
}

/// Whether more than half of a sample are equal to another of it.
pub(super) fn few<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    let size = if v.len() < BRIEF { 64 } else { 256 };
    let mut sample: Vec<&T> = v.iter().step_by((v.len() / size).max(1)).collect();
    sample.sort_unstable_by(|a, b| compare(a, b));
    let repeats = sample
        .windows(2)
        .filter(|pair| compare(pair[0], pair[1]).is_eq());
    repeats.count() > sample.len() / 2
}

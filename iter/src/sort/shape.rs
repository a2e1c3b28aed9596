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

impl Shape {
    /// Looks at a slice of at least a few thousand elements.
    pub(super) fn of<T: Copy, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> Shape {
        if in_runs(v, compare) {
            Shape::Runs
        } else if tidy(v, compare) {
            Shape::Tidy
        } else if few(v, compare) {
            Shape::Few
        } else {
            Shape::Random
        }
    }
}

/// Whether every one of a number of windows is in order or in reverse.
fn in_runs<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    const WINDOWS: usize = 64;
    const LENGTH: usize = 64;
    if v.len() < WINDOWS * LENGTH {
        return false;
    }
    (0..WINDOWS).all(|i| {
        // One in each part, at places that no period of the input falls in with.
        let part = v.len() / WINDOWS;
        let within = (i.wrapping_mul(0x9E37_79B9) >> 8) % (part - LENGTH + 1);
        let window = &v[i * part + within..][..LENGTH];
        let mut pairs = window.windows(2);
        let rises = compare(&window[LENGTH - 1], &window[0]).is_ge();
        pairs.all(|pair| compare(&pair[1], &pair[0]).is_ge() == rises)
    })
}

/// Whether neighbours are nearly always in one order, as far as a sample tells.
/// Then partitioning by blocks hardly moves anything.
pub(super) fn tidy<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    const SAMPLE: usize = 256;
    let stride = (v.len() - 1) / SAMPLE;
    let descends = |i: usize| compare(&v[i * stride + 1], &v[i * stride]).is_lt();
    let descents = (0..SAMPLE).filter(|&i| descends(i)).count();
    !(SAMPLE / 10..=SAMPLE - SAMPLE / 10).contains(&descents)
}

/// Whether more than half of a sample are equal to another of it.
fn few<T: Copy, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    const SAMPLE: usize = 256;
    let mut sample: Vec<T> = v
        .iter()
        .step_by((v.len() / SAMPLE).max(1))
        .copied()
        .collect();
    sample.sort_unstable_by(compare);
    let repeats = sample
        .windows(2)
        .filter(|pair| compare(&pair[0], &pair[1]).is_eq());
    repeats.count() > sample.len() / 2
}

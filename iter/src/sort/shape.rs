//! A glance at the input: what order a sample of it shows.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// What a sample says about a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// A few long runs, up or down.
    Runs,
    /// Nearly all neighbours are in order, or nearly all are out of it.
    Tidy,
    /// Most elements have an equal among a few hundred others.
    Few,
    /// As `Few`, and more than a quarter of all elements are equal: a sort by comparison has those in place at
    /// once.
    Same,
    /// None of these.
    Random,
}

/// With few distinct elements std's sorts are quick. Up to this length a second thread makes them
/// slower.
pub(super) const FEW_CUTOFF: usize = 1 << 17;
/// Shorter slices are sorted so soon that only a brief glance pays.
const BRIEF: usize = 8192;

impl Shape {
    /// Looks at a slice of at least a few hundred elements. Runs may end in `ends` of the windows: the more the
    /// other ways of sorting cost, the more runs are worth merging.
    pub(super) fn of<T, F>(v: &[T], ends: usize, compare: &F) -> Shape
    where
        F: Fn(&T, &T) -> Ordering,
    {
        ordered(v, ends, compare).unwrap_or_else(|| repeats(v, compare))
    }

    /// The same for words.
    pub(super) fn of_words<W: Copy + Ord>(v: &[W]) -> Shape {
        ordered(v, 1, &W::cmp).unwrap_or_else(|| {
            let mut sample: Vec<W> = sample(v).copied().collect();
            sample.sort_unstable_by(W::cmp);
            rows(sample.len(), &|i| sample[i] == sample[i + 1])
        })
    }
}

/// The order that there is, if any.
fn ordered<T, F: Fn(&T, &T) -> Ordering>(v: &[T], ends: usize, compare: &F) -> Option<Shape> {
    if in_runs(v, ends, compare) {
        Some(Shape::Runs)
    } else if v.len() >= BRIEF && tidy(v, compare) {
        Some(Shape::Tidy)
    } else {
        None
    }
}

/// Whether each window is in order or in reverse, except for `pardoned` windows.
fn in_runs<T, F: Fn(&T, &T) -> Ordering>(v: &[T], mut pardoned: usize, compare: &F) -> bool {
    let (windows, length) = if v.len() < BRIEF { (16, 32) } else { (64, 64) };
    if v.len() < windows * length {
        return false;
    }
    for i in 0..windows {
        // One window in each part, at places that no period of the input matches.
        let part = v.len() / windows;
        let within = mix(i) % (part - length + 1);
        let window = &v[i * part + within..][..length];
        let rises = compare(&window[length - 1], &window[0]).is_ge();
        let mut at = 1;
        while at < length && compare(&window[at], &window[at - 1]).is_ge() == rises {
            at += 1;
        }
        if at < length {
            if pardoned == 0 {
                return false;
            }
            pardoned -= 1;
        }
    }
    true
}

/// Whether neighbours are nearly always in one order, as far as a sample tells.
/// Then partitioning hardly moves anything.
pub(super) fn tidy<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    descents(v, compare).is_some_and(|part| !(0.1..=0.9).contains(&part))
}

/// Whether neighbours are about as often in order as not, like those of random elements.
pub(super) fn mixed<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    descents(v, compare).is_some_and(|part| (0.375..=0.625).contains(&part))
}

/// The share of a sample of neighbours that is out of order; `None` if the slice is too short for a sample.
fn descents<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> Option<f64> {
    let sample = (v.len() / 16).min(256);
    if sample < 16 {
        return None;
    }
    let part = v.len() / sample;
    let mut descents = 0;
    for i in 0..sample {
        // Anywhere in each part. With equal distances all places might be even, and two interleaved runs would
        // look like one run.
        let at = i * part + mix(i) % (part - 1);
        descents += usize::from(compare(&v[at + 1], &v[at]).is_lt());
    }
    Some(descents as f64 / sample as f64)
}

/// A number that no period of an input matches.
fn mix(i: usize) -> usize {
    i.wrapping_mul(0x9E37_79B9) >> 8
}

/// Whether most elements have an equal among a few hundred others.
pub(super) fn few<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> bool {
    repeats(v, compare) != Shape::Random
}

/// Decides by the elements of a sample that equal another element of it. The sample consists of places: a list
/// of references would be compiled for each type.
fn repeats<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> Shape {
    let mut all = [0; MOST];
    let mut len = 0;
    for place in places(v.len()).take(MOST) {
        all[len] = place;
        len += 1;
    }
    let places = &mut all[..len];
    insert_all(v, places, compare);
    rows(len, &|i| compare(&v[places[i]], &v[places[i + 1]]).is_eq())
}

/// Sorts a sample by insertion at the place that a binary search finds. For a sample this small that takes
/// about as long as std's sort, and a program would contain one more copy of std's sort.
fn insert_all<T, F: Fn(&T, &T) -> Ordering>(v: &[T], places: &mut [usize], compare: &F) {
    for i in 1..places.len() {
        let place = places[i];
        let (mut low, mut high) = (0, i);
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(&v[place], &v[places[middle]]).is_lt() {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        places.copy_within(low..i, low + 1);
        places[low] = place;
    }
}

/// The greatest number of elements of a sample.
const MOST: usize = 256;

/// The places of a sample, from all over a slice of `len` elements.
fn places(len: usize) -> impl Iterator<Item = usize> {
    let size = if len < BRIEF { 64 } else { MOST };
    let part = (len / size).max(1);
    (0..len / part).map(move |i| i * part + mix(i) % part)
}

/// The elements at these places.
fn sample<T>(v: &[T]) -> impl Iterator<Item = &T> {
    places(v.len()).map(|place| &v[place])
}

/// Decides by the rows of equal elements in a sorted sample of `len` elements. `equal` says whether an element
/// equals the next one.
fn rows(len: usize, equal: &dyn Fn(usize) -> bool) -> Shape {
    let (mut repeats, mut row, mut longest) = (0, 1, 1);
    for i in 1..len {
        if equal(i - 1) {
            repeats += 1;
            row += 1;
            longest = longest.max(row);
        } else {
            row = 1;
        }
    }
    if repeats <= len / 2 {
        Shape::Random
    } else if longest <= len / 4 {
        Shape::Few
    } else {
        Shape::Same
    }
}

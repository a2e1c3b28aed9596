//! Sorting elements of any type by a key that is a word, where a record for each
//! of them would be too much: room for as many elements as there are.
//!
//! ```text
//!   v:       [ .................. ]
//!               ╲ ╱ ╲  ╱  ╲ ╱            scattered by the highest bits
//!   scratch: [ 0 | 1 | ... | 2^b ]
//!              │   │          │
//!   v:       [ 0 | 1 | ... | 2^b ]       home, bucket by bucket, in order
//! ```
//!
//! A bucket fits a cache: its keys are extracted into records, which are sorted
//! there. A bucket too heavy for that comes home as it is, to be scattered again.
//!
//! So a key is asked for three times: to count, to scatter, to sort the bucket.
//! Keeping it instead would take more room than the elements do. A key that is
//! not the same each time breaks nothing: a bucket that would outgrow its count
//! stops the scatter, before which `v` has not been written. After the scatter the
//! scratch is the truth: if a key panics then, all that it holds goes home.

use std::mem::MaybeUninit;
use std::ptr;

use tine_pool::join;

use super::alone::{self, End};
use super::cut::{Cut, Sample};
use super::word::{Keyed, RadixBits, Varying};
use crate::sort::fork;
use crate::sort::scratch::{self, Scratch};

/// A bucket of more elements is scattered again: its records, twice, are to stay
/// in a cache of the second level.
pub(crate) const HEAVY: usize = 1 << 14;

/// Sorts `v` by key, stably. Says no if there is no memory for that or the keys
/// are not the same each time; then `v` is a permutation of what it was, in
/// which elements of one key have kept their order.
pub(crate) fn sort<T, B, F>(v: &mut [T], threads: usize, key: &F) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let Some(mut scratch) = Scratch::new(v.len()) else {
        return false;
    };
    below(v, scratch.room(), B::WIDTH, threads, key)
}

/// Sorts a slice that is not empty by the bits below `height`.
fn below<T, B, F>(
    v: &mut [T],
    room: &mut [MaybeUninit<T>],
    height: u32,
    threads: usize,
    key: &F,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let sample = Sample::of(v, key);
    let guess = sample.height().min(height);
    let mut cut = Cut::new(&sample, guess, threads);
    let height = cut.count(v, key).height().min(height);
    if height == 0 {
        return true;
    }
    if height != guess {
        cut = Cut::new(&sample, height, threads);
        cut.count(v, key);
    }
    let starts = cut.place();
    // SAFETY: counted and placed above, and checked.
    if !unsafe { cut.scatter::<true, _, _, _>(v, room, key) } {
        return false;
    }
    let shift = cut.shift;
    let grain = fork::grain(v.len(), threads);
    let mut sorted = come_home(room, v, &starts, &Finish { shift, grain, key });
    if shift > 0 {
        for pair in starts.windows(2).filter(|pair| is_heavy(pair)) {
            let bucket = pair[0]..pair[1];
            sorted &= below(
                &mut v[bucket.clone()],
                &mut room[bucket],
                shift,
                threads,
                key,
            );
        }
    }
    sorted
}

fn is_heavy(bounds: &[usize]) -> bool {
    bounds[1] - bounds[0] > HEAVY
}

/// What is known to those who sort the buckets.
struct Finish<'a, F> {
    /// Only bits below this one may vary within a bucket.
    shift: u32,
    /// So many elements are worth a fork.
    grain: usize,
    key: &'a F,
}

/// Moves all of `room`, which has been filled, to `v`, whose values are stale: in
/// order but for heavy buckets and, where it says no, for others.
fn come_home<T, B, F>(
    room: &mut [MaybeUninit<T>],
    v: &mut [T],
    starts: &[usize],
    finish: &Finish<'_, F>,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    /// If a key panics everything goes home as it is: buckets that have gone were
    /// copied, and nobody has looked at their values since.
    struct Home<T> {
        from: *const T,
        to: *mut T,
        len: usize,
    }
    impl<T> Drop for Home<T> {
        fn drop(&mut self) {
            // SAFETY: both are slices of `len`, of different memory.
            unsafe { ptr::copy_nonoverlapping(self.from, self.to, self.len) }
        }
    }
    assert_eq!(room.len(), v.len());
    let (from, to, len) = (room.as_mut_ptr().cast::<T>(), v.as_mut_ptr(), v.len());
    // SAFETY: the caller has filled all of the room.
    let values = unsafe { std::slice::from_raw_parts_mut(from, len) };
    // SAFETY: a slice of values may be written as places; `Home` and the buckets
    // between them leave a value in each.
    let places = unsafe { std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), len) };
    let home = Home { from, to, len };
    let sorted = buckets(values, places, starts, finish);
    std::mem::forget(home);
    sorted
}

/// Brings every bucket home; they start at `starts`, less the first of those.
fn buckets<T, B, F>(
    values: &mut [T],
    places: &mut [MaybeUninit<T>],
    starts: &[usize],
    finish: &Finish<'_, F>,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let number = starts.len() - 1;
    if number == 1 || values.len() <= finish.grain {
        return group(values, places, starts, finish);
    }
    // Halve the elements, as far as buckets allow, rather than the buckets.
    let half = starts[0] + values.len() / 2;
    let middle = starts.partition_point(|&start| start <= half);
    let middle = middle.clamp(1, number - 1);
    let (v0, v1) = values.split_at_mut(starts[middle] - starts[0]);
    let (p0, p1) = places.split_at_mut(starts[middle] - starts[0]);
    let (a, b) = join(
        || buckets(v0, p0, &starts[..=middle], finish),
        || buckets(v1, p1, &starts[middle..], finish),
    );
    a && b
}

/// Brings neighbouring buckets home on one thread, each by way of the same records.
fn group<T, B, F>(
    values: &mut [T],
    places: &mut [MaybeUninit<T>],
    starts: &[usize],
    finish: &Finish<'_, F>,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let light = starts.windows(2).filter(|pair| !is_heavy(pair));
    let longest = light.map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let mut room = Room::new(longest);
    let sorted = room.is_some();
    let (mut values, mut places) = (values, places);
    for pair in starts.windows(2) {
        let (from, values_left) = values.split_at_mut(pair[1] - pair[0]);
        let (to, places_left) = places.split_at_mut(pair[1] - pair[0]);
        (values, places) = (values_left, places_left);
        let room = room
            .as_mut()
            .filter(|_| from.len() > 1 && from.len() <= longest);
        if let Some(room) = room {
            bucket(from, to, room, finish);
        } else {
            let (from, len) = (from.as_ptr(), from.len());
            let to = to.as_mut_ptr().cast::<T>();
            // SAFETY: a bucket and its places, which are as many.
            unsafe { ptr::copy_nonoverlapping(from, to, len) };
        }
    }
    sorted
}

/// A key's bits, as many as fit, and the element's number in its bucket.
type Numbered = Keyed<u32, u32>;

/// Where buckets are sorted one after another.
struct Room<B> {
    keys: Vec<B>,
    records: Vec<Numbered>,
    /// As long as the longest bucket.
    others: Vec<Numbered>,
}

impl<B> Room<B> {
    fn new(longest: usize) -> Option<Self> {
        let mut others = scratch::vec(longest)?;
        others.resize(longest, Numbered { key: 0, load: 0 });
        Some(Room {
            keys: scratch::vec(longest)?,
            records: scratch::vec(longest)?,
            others,
        })
    }
}

/// Brings one bucket home in order.
fn bucket<T, B, F>(
    from: &mut [T],
    to: &mut [MaybeUninit<T>],
    room: &mut Room<B>,
    finish: &Finish<'_, F>,
) where
    B: RadixBits,
    F: Fn(&T) -> B,
{
    assert!(to.len() == from.len(), "a bucket and its places");
    room.keys.clear();
    room.keys.extend(from.iter().map(|value| {
        let key = (finish.key)(value);
        // What a key says above is known; one that has changed its mind is not to
        // say otherwise.
        key ^ key.above(finish.shift)
    }));
    let numbers = 0..from.len() as u32;
    room.records.clear();
    room.records
        .extend(numbers.map(|load| Numbered { key: 0, load }));
    order(
        &mut room.records,
        &mut room.others[..from.len()],
        &room.keys,
    );
    for (place, record) in to.iter_mut().zip(&room.records) {
        let value = &raw const from[record.load as usize];
        // SAFETY: each number is there once, so each value moves to one place.
        unsafe { ptr::copy_nonoverlapping(value, place.as_mut_ptr(), 1) };
    }
}

/// Sorts records by the keys of their numbers, stably: by the highest 32 bits that
/// vary, which seldom leave any two of a bucket equal, and then those by what is below.
fn order<B: RadixBits>(records: &mut [Numbered], others: &mut [Numbered], keys: &[B]) {
    let key = |record: &Numbered| keys[record.load as usize];
    let mut varying = Varying::new(key(&records[0]));
    records.iter().for_each(|record| varying.note(key(record)));
    let height = varying.height();
    if height == 0 {
        return;
    }
    let floor = height.saturating_sub(u32::BITS);
    for record in records.iter_mut() {
        record.key = key(record).down(floor) as u32;
    }
    alone::sort(records, others, End::Here, height - floor);
    if !varying.below(floor) {
        return;
    }
    let (mut records, mut others) = (records, others);
    while let Some(first) = records.first() {
        let equal = records.iter().take_while(|record| record.key == first.key);
        let equal = equal.count();
        let (these, records_left) = records.split_at_mut(equal);
        let (room, others_left) = others.split_at_mut(equal);
        if equal > 1 {
            order(these, room, keys);
        }
        (records, others) = (records_left, others_left);
    }
}

//! Sorting elements of any type by a key that is a word, where a record for each element would take
//! too much memory. Takes room for as many elements as there are.
//!
//! ```text
//!   v:       [ .................. ]
//!               ╲ ╱ ╲  ╱  ╲ ╱            scattered by the highest bits
//!   scratch: [ 0 | 1 | ... | 2^b ]
//!              │   │          │
//!   v:       [ 0 | 1 | ... | 2^b ]       home, bucket by bucket, in order
//! ```
//!
//! A bucket fits a cache. Its keys are extracted into records, which are sorted there. A bucket too
//! heavy for that comes home unsorted, to be scattered again.
//!
//! So a key is asked for three times: to count, to scatter, and to sort the bucket. Keeping it
//! would take more room than the elements do. A key that differs from time to time breaks nothing.
//! A bucket that would outgrow its count stops the scatter, and until then `v` has not been
//! written. Once the calling thread is to stop, what is scattered comes home unsorted. After the scatter the scratch memory holds the values: if a key panics then, all of
//! them go home.

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ptr;

use crate::plumbing::both;
use tine_pool::loops::requested;

use super::alone::{self, End};
use super::cut::{Buckets, Cut};
use super::word::{Keyed, RadixBits};
use crate::sort::{fork, scratch::Scratch};

/// A bucket of more elements is scattered again, so that its records, twice, stay in a cache of the
/// second level.
const HEAVY: usize = 1 << 14;
/// More levels of buckets than keys need that stay the same: a bucket within the bounds looks at
/// four bits or more, and one outside has at most an eighth of the elements.
const LEVELS: u32 = 64;

/// Sorts `v` by key, stably. Returns `false` if there is no memory for that, or if the keys are not
/// the same each time. Then `v` is a permutation of its elements in which those of one key have
/// kept their order.
pub(crate) fn sort<T, B, F>(v: &mut [T], threads: usize, key: &F) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let Some(mut scratch) = Scratch::new(v.len()) else {
        return false;
    };
    below(v, scratch.room(), threads, LEVELS, key)
}

/// Sorts a slice too short for a scatter, as if it were one bucket.
fn short<T, B, F>(v: &mut [T], room: &mut [MaybeUninit<T>], key: &F) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let len = v.len();
    let Some(mut records) = Scratch::<Numbered<B>>::new(2 * len) else {
        return false;
    };
    let (here, there) = records.room().split_at_mut(len);
    let finish = Finish {
        shift: B::WIDTH,
        grain: len,
        key,
    };
    bucket(v, room, here, blank(there), &finish);
    // SAFETY: the bucket has put each value of `v` in one place of the room, which is as long, and
    // nothing has looked at `v` since.
    unsafe { ptr::copy_nonoverlapping(room.as_ptr().cast::<T>(), v.as_mut_ptr(), len) };
    true
}

/// Sorts a slice in at most `levels` levels of buckets.
fn below<T, B, F>(
    v: &mut [T],
    room: &mut [MaybeUninit<T>],
    threads: usize,
    levels: u32,
    key: &F,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    if requested() {
        return true;
    }
    if v.len() <= HEAVY {
        return short(v, room, key);
    }
    if levels == 0 {
        return false;
    }
    let Some(mut cut) = Cut::of(v, threads, key) else {
        return true;
    };
    let places = cut.place();
    // SAFETY: cut and placed above, and checked.
    if !unsafe { cut.scatter::<true, _, _>(v, room, key) } {
        return false;
    }
    let shift = places.height;
    let grain = fork::grain(v.len(), threads);
    let mut sorted = come_home(room, v, &places, &Finish { shift, grain, key });
    let heavy = places.within().windows(2).filter(|pair| is_heavy(pair));
    let heavy = heavy.filter(|_| shift > 0).map(|pair| pair[0]..pair[1]);
    for bucket in heavy.chain(places.outside()) {
        if bucket.len() > 1 {
            let (v, room) = (&mut v[bucket.clone()], &mut room[bucket]);
            sorted &= below(v, room, threads, levels - 1, key);
        }
    }
    sorted
}

fn is_heavy(bounds: &[usize]) -> bool {
    bounds[1] - bounds[0] > HEAVY
}

/// What the threads that sort the buckets know.
struct Finish<'a, F> {
    /// Only bits below this one may vary within a bucket.
    shift: u32,
    /// This many elements are worth a fork.
    grain: usize,
    key: &'a F,
}

/// Moves all of `room`, which has been filled, to `v`, whose values are stale. The result is in
/// order except for heavy buckets, for keys outside the bounds and, if this returns `false`, for
/// other buckets.
fn come_home<T, B, F>(
    room: &mut [MaybeUninit<T>],
    v: &mut [T],
    bounds: &Buckets,
    finish: &Finish<'_, F>,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    /// If a key panics, everything goes home unsorted. Buckets that went home before were copied,
    /// and no thread has looked at their values in `room` since.
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
    for outside in bounds.outside() {
        carry(&mut values[outside.clone()], &mut places[outside]);
    }
    let starts = bounds.within();
    let within = starts[0]..starts[starts.len() - 1];
    let sorted = buckets(
        &mut values[within.clone()],
        &mut places[within],
        starts,
        finish,
    );
    std::mem::forget(home);
    sorted
}

/// Brings every bucket home. `starts` says where they start; the first of it counts as zero.
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
    // Halve the elements as evenly as buckets allow, not the number of buckets.
    let half = starts[0] + values.len() / 2;
    let middle = starts.partition_point(|&start| start <= half);
    let middle = middle.clamp(1, number - 1);
    let (v0, v1) = values.split_at_mut(starts[middle] - starts[0]);
    let (p0, p1) = places.split_at_mut(starts[middle] - starts[0]);
    let (a, b) = both(
        || buckets(v0, p0, &starts[..=middle], finish),
        || buckets(v1, p1, &starts[middle..], finish),
    );
    a && b
}

/// Brings neighbouring buckets home on one thread, all through the same records.
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
    let mut records = Scratch::<Numbered<B>>::new(2 * longest);
    let sorted = records.is_some();
    let mut room = records.as_mut().map(|records| {
        let (here, there) = records.room().split_at_mut(longest);
        (here, blank(there))
    });
    let (mut values, mut places) = (values, places);
    for pair in starts.windows(2) {
        let (from, values_left) = values.split_at_mut(pair[1] - pair[0]);
        let (to, places_left) = places.split_at_mut(pair[1] - pair[0]);
        (values, places) = (values_left, places_left);
        let room = room
            .as_mut()
            .filter(|_| from.len() > 1 && from.len() <= longest && !requested());
        if let Some((here, there)) = room {
            bucket(from, to, here, there, finish);
        } else {
            carry(from, to);
        }
    }
    sorted
}

/// Brings values home unsorted.
fn carry<T>(from: &mut [T], to: &mut [MaybeUninit<T>]) {
    assert!(to.len() == from.len(), "values and their places");
    let (from, len) = (from.as_ptr(), from.len());
    // SAFETY: as many of both.
    unsafe { ptr::copy_nonoverlapping(from, to.as_mut_ptr().cast::<T>(), len) };
}

/// A key, and its element's number in the bucket.
type Numbered<B> = Keyed<B, u32>;

/// Writes something to all of the room.
fn blank<B: RadixBits>(room: &mut [MaybeUninit<Numbered<B>>]) -> &mut [Numbered<B>] {
    for place in &mut *room {
        place.write(Keyed {
            key: B::default(),
            load: 0,
        });
    }
    // SAFETY: all of it has been written just now.
    unsafe { &mut *(ptr::from_mut(room) as *mut [Numbered<B>]) }
}

/// Brings one bucket home in order, through records in `here` and `there`, which have room for at
/// least as many.
fn bucket<T, B, F>(
    from: &mut [T],
    to: &mut [MaybeUninit<T>],
    here: &mut [MaybeUninit<Numbered<B>>],
    there: &mut [Numbered<B>],
    finish: &Finish<'_, F>,
) where
    B: RadixBits,
    F: Fn(&T) -> B,
{
    let len = from.len();
    assert!(to.len() == len, "a bucket and its places");
    let (here, there) = (&mut here[..len], &mut there[..len]);
    for ((number, value), place) in (0..).zip(&*from).zip(&mut *here) {
        let key = (finish.key)(value);
        // The bits above are known. A key that has changed must not say otherwise.
        let key = key ^ key.above(finish.shift);
        place.write(Keyed { key, load: number });
    }
    // SAFETY: `len` records have been written above.
    let here = unsafe { &mut *(ptr::from_mut(here) as *mut [Numbered<B>]) };
    sort_numbered(here, there, finish.shift);
    for (place, record) in to.iter_mut().zip(&*here) {
        let value = &raw const from[record.load as usize];
        // SAFETY: each number is there once, so each value moves to one place.
        unsafe { ptr::copy_nonoverlapping(value, place.as_mut_ptr(), 1) };
    }
}

/// Sorts records by their bits below `height`. No bit above it is set.
fn sort_numbered<B: RadixBits>(here: &mut [Numbered<B>], there: &mut [Numbered<B>], height: u32) {
    /// The usual case is compiled with this crate, and not where it is used.
    #[inline(never)]
    fn by_eight(here: &mut [Numbered<u64>], there: &mut [Numbered<u64>], height: u32) {
        alone::sort(here, there, End::Here, height);
    }
    /// As above.
    #[inline(never)]
    fn by_four(here: &mut [Numbered<u32>], there: &mut [Numbered<u32>], height: u32) {
        alone::sort(here, there, End::Here, height);
    }
    // The conditions are `const` so that no more than one is compiled.
    if const { size_of::<B>() == 8 } {
        by_eight(as_word(here), as_word(there), height);
    } else if const { size_of::<B>() == 4 } {
        by_four(as_word(here), as_word(there), height);
    } else {
        alone::sort(here, there, End::Here, height);
    }
}

/// Sees records of words `B` as records of words `W`.
///
/// # Panics
/// If the two types differ.
fn as_word<B: RadixBits, W: RadixBits>(records: &mut [Numbered<B>]) -> &mut [Numbered<W>] {
    assert!(TypeId::of::<B>() == TypeId::of::<W>(), "one word");
    // SAFETY: it is the same type.
    unsafe { &mut *(ptr::from_mut(records) as *mut [Numbered<W>]) }
}

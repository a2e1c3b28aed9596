//! Sorting elements of any type by a key that is a word, if a record for each element would take too much
//! memory. Takes room for as many elements as there are.
//!
//! ```text
//!   v:       [ .................. ]
//!               ╲ ╱ ╲  ╱  ╲ ╱            scattered by the highest bits
//!   scratch: [ 0 | 1 | ... | 2^b ]
//!              │   │          │
//!   v:       [ 0 | 1 | ... | 2^b ]       home, bucket by bucket, in order
//! ```
//!
//! A bucket fits a cache. Its keys are extracted into records, which are sorted there. A bucket too large for
//! that comes home unsorted, and is scattered again.
//!
//! So a key is asked for three times: to count, to scatter, and to sort the bucket. Keeping it would take more
//! room than the elements do. A key that changes from one time to the next breaks nothing. A bucket that would
//! outgrow its count stops the scatter, and until then `v` has not been written. If the calling thread is to
//! stop, the scattered elements come home unsorted. After the scatter the scratch memory holds the values: if a
//! key panics then, all of them go home.

//! The code that depends on the type of the elements is behind [`Elements`]: short loops. The rest, and the
//! sort of the records, are compiled with this crate for words of up to eight bytes.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use crate::plumbing::halves;
use tine_pool::loops::requested;

use super::alone::{self, End};
use super::cut::{Buckets, Cut};
use super::elements::{Elements, Numbered, Slices};
use super::joined;
use super::word::{Keyed, RadixBits};
use crate::sort::{fork, scratch::Scratch};

/// A bucket of more elements is scattered again, so that its records, twice, stay in a second-level cache.
const HEAVY: usize = 1 << 14;
/// The limit of levels of buckets: more than keys need that stay the same. A bucket within the bounds looks at
/// four bits or more, and a bucket outside has at most an eighth of the elements.
const LEVELS: u32 = 64;

/// Sorts `v` by key, stably. Returns `false` if there is no memory for that, or if the keys are not the same
/// each time. Then `v` is a permutation of its elements in which elements with equal keys have kept their
/// order.
///
/// If `v` is likely to lie `in_runs`, it is checked for runs, and merged if it has them.
pub(crate) fn sort<T, B, F>(v: &mut [T], threads: usize, in_runs: bool, key: &F) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    let Some(mut scratch) = Scratch::new(v.len()) else {
        return false;
    };
    let job = Job {
        threads,
        width: B::WIDTH,
        in_runs,
    };
    let all = 0..v.len();
    // The condition is `const` so that only one of the two is compiled.
    if const { B::WIDTH <= u64::BITS } {
        let key = |value: &T| key(value).wide();
        let elements = Slices::new(v, scratch.room(), &key);
        // SAFETY: the elements are there and borrowed uniquely, and so is the room.
        unsafe { by_eight(&elements, all, job) }
    } else {
        let elements = Slices::new(v, scratch.room(), key);
        // SAFETY: as above.
        unsafe { either(&elements, all, job) }
    }
}

/// [`either`] for the usual words, compiled with this crate and not where it is used.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn by_eight(elements: &dyn Elements<u64>, all: Range<usize>, job: Job) -> bool {
    // SAFETY: the caller vouches for it.
    unsafe { either(elements, all, job) }
}

/// Sorts elements at home, by merging runs or by scattering.
///
/// # Safety
/// As for [`below`].
unsafe fn either<B: RadixBits>(elements: &dyn Elements<B>, all: Range<usize>, job: Job) -> bool {
    // SAFETY: the caller vouches for it, and `joined` vouches for the elements that it has scattered.
    let scatter = |these: Range<usize>| unsafe { below(elements, these, job, LEVELS) };
    // SAFETY: as above.
    if job.in_runs && unsafe { joined::sort(elements, all.clone(), job.threads, &scatter) } {
        return true;
    }
    // SAFETY: as above.
    unsafe { below(elements, all, job, LEVELS) }
}

/// What all levels of a sort know.
#[derive(Clone, Copy)]
struct Job {
    threads: usize,
    /// The number of bits of a key; its word may have more.
    width: u32,
    /// Whether the elements are likely to lie in runs.
    in_runs: bool,
}

/// Sorts elements that are too few for a scatter, as if they were one bucket.
///
/// # Safety
/// As for [`below`].
unsafe fn short<B: RadixBits>(elements: &dyn Elements<B>, these: Range<usize>, job: Job) -> bool {
    let records = &mut Records::new(job.width, these.len());
    if records.is_none() {
        return false;
    }
    // SAFETY: the caller vouches for elements and room. Then each element is in one place of the room, and
    // nothing has looked at the elements at home since.
    unsafe { bucket(elements, false, these.clone(), records, job.width) };
    // SAFETY: as above.
    unsafe { elements.carry(these) };
    true
}

/// Sorts elements at home, in at most `levels` levels of buckets.
///
/// # Safety
/// The elements are there, and no other thread uses them or their room.
unsafe fn below<B: RadixBits>(
    elements: &dyn Elements<B>,
    these: Range<usize>,
    job: Job,
    levels: u32,
) -> bool {
    if requested() {
        return true;
    }
    if these.len() <= HEAVY {
        // SAFETY: the caller vouches for it.
        return unsafe { short(elements, these, job) };
    }
    if levels == 0 {
        return false;
    }
    // SAFETY: as above.
    let Some(mut cut) = (unsafe { Cut::of(elements, these.clone(), job.threads) }) else {
        return true;
    };
    let places = cut.place(these.start);
    // SAFETY: as above; cut and placed, and checked.
    if !unsafe { cut.scatter(elements, these.clone(), these.end, true) } {
        return false;
    }
    let finish = Finish {
        shift: places.height,
        grain: fork::grain(these.len(), job.threads),
    };
    // SAFETY: as above, and the room has been filled.
    let mut sorted = unsafe { come_home(elements, these, &places, &finish) };
    let heavy = places.within().windows(2).filter(|pair| is_heavy(pair));
    let heavy = heavy.filter(|_| finish.shift > 0);
    for bucket in heavy.map(|pair| pair[0]..pair[1]).chain(places.outside()) {
        if bucket.len() > 1 {
            // SAFETY: as above: all are at home again.
            sorted &= unsafe { below(elements, bucket, job, levels - 1) };
        }
    }
    sorted
}

fn is_heavy(bounds: &[usize]) -> bool {
    bounds[1] - bounds[0] > HEAVY
}

/// What the threads that sort the buckets know.
struct Finish {
    /// Only bits below this one may vary within a bucket.
    shift: u32,
    /// This many elements are worth a fork.
    grain: usize,
}

/// Moves all of these from the room, which has been filled, to their home, whose values are stale. The result
/// is in order except for heavy buckets, for keys outside the bounds and, if this returns `false`, for other
/// buckets.
///
/// # Safety
/// The elements are in the room, and no other thread uses them or their home.
unsafe fn come_home<B: RadixBits>(
    elements: &dyn Elements<B>,
    these: Range<usize>,
    bounds: &Buckets,
    finish: &Finish,
) -> bool {
    /// If a key panics, everything goes home unsorted. Buckets that went home before were copied,
    /// and no thread has looked at their values in the room since.
    struct Home<'a, B> {
        elements: &'a dyn Elements<B>,
        these: Range<usize>,
    }
    impl<B> Drop for Home<'_, B> {
        fn drop(&mut self) {
            // SAFETY: the threads that went through buckets have finished, and the values are still in the
            // room.
            unsafe { self.elements.carry(self.these.clone()) }
        }
    }
    let home = Home { elements, these };
    for outside in bounds.outside() {
        // SAFETY: the caller vouches for it.
        unsafe { elements.carry(outside) };
    }
    // SAFETY: as above.
    let sorted = unsafe { buckets(elements, bounds.within(), finish) };
    std::mem::forget(home);
    sorted
}

/// Brings every bucket home. `starts` says where they start.
///
/// # Safety
/// As for [`come_home`].
unsafe fn buckets<B: RadixBits>(
    elements: &dyn Elements<B>,
    starts: &[usize],
    finish: &Finish,
) -> bool {
    let number = starts.len() - 1;
    let len = starts[number] - starts[0];
    if number == 1 || len <= finish.grain {
        // SAFETY: the caller vouches for it.
        return unsafe { group(elements, starts, finish) };
    }
    // Halves the elements as evenly as buckets allow, not the number of buckets.
    let half = starts[0] + len / 2;
    let middle = starts.partition_point(|&start| start <= half);
    let middle = middle.clamp(1, number - 1);
    let (mut a, mut b) = (false, false);
    halves(
        // SAFETY: as above, and each bucket belongs to one thread.
        || a = unsafe { buckets(elements, &starts[..=middle], finish) },
        // SAFETY: as above.
        || b = unsafe { buckets(elements, &starts[middle..], finish) },
    );
    a && b
}

/// Brings neighbouring buckets home on one thread, all through the same records.
///
/// # Safety
/// As for [`come_home`].
unsafe fn group<B: RadixBits>(
    elements: &dyn Elements<B>,
    starts: &[usize],
    finish: &Finish,
) -> bool {
    let light = starts.windows(2).filter(|pair| !is_heavy(pair));
    let longest = light.map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let mut records = Records::new(finish.shift, longest);
    for pair in starts.windows(2) {
        let these = pair[0]..pair[1];
        if these.len() > 1 && these.len() <= longest && !records.is_none() && !requested() {
            // SAFETY: the caller vouches for it.
            unsafe { bucket(elements, true, these, &mut records, finish.shift) };
        } else {
            // SAFETY: as above.
            unsafe { elements.carry(these) };
        }
    }
    !records.is_none()
}

/// Room for the records of the longest bucket, twice.
enum Records<B> {
    Narrow(Twice<u32>),
    Wide(Twice<B>),
    None,
}

impl<B: RadixBits> Records<B> {
    /// For keys of which only the bits below `shift` count.
    fn new(shift: u32, len: usize) -> Self {
        match shift <= u32::BITS {
            true => Twice::new(len).map_or(Records::None, Records::Narrow),
            false => Twice::new(len).map_or(Records::None, Records::Wide),
        }
    }

    fn is_none(&self) -> bool {
        matches!(self, Records::None)
    }
}

/// Brings one bucket to the other half in order, through records. There is room for at least as many records as
/// elements.
///
/// # Safety
/// As for the methods of [`Elements`].
unsafe fn bucket<B: RadixBits>(
    elements: &dyn Elements<B>,
    in_room: bool,
    these: Range<usize>,
    records: &mut Records<B>,
    shift: u32,
) {
    match records {
        Records::Narrow(records) => {
            let (here, there) = records.of(these.len());
            // SAFETY: the caller vouches for it.
            unsafe { elements.number_narrow(in_room, these.clone(), shift, here) };
            // SAFETY: a record for each element has just been written.
            let sorted = unsafe { in_order(here, there, shift) };
            // SAFETY: as above, and each number is there once.
            unsafe { elements.place_narrow(in_room, these, sorted) };
        }
        Records::Wide(records) => {
            let (here, there) = records.of(these.len());
            // SAFETY: as above.
            unsafe { elements.number(in_room, these.clone(), shift, here) };
            // SAFETY: as above.
            let sorted = unsafe { in_order(here, there, shift) };
            // SAFETY: as above.
            unsafe { elements.place(in_room, these, sorted) };
        }
        Records::None => unreachable!("a bucket that was to be carried"),
    }
}

/// Two rooms for the same number of records. All of the second has been written.
struct Twice<B>(Scratch<Numbered<B>>, usize);

impl<B: RadixBits> Twice<B> {
    fn new(len: usize) -> Option<Self> {
        let mut room = Scratch::new(2 * len)?;
        for place in &mut room.room()[len..] {
            place.write(Keyed {
                key: B::default(),
                load: 0,
            });
        }
        Some(Twice(room, len))
    }

    /// Both rooms, for `len` records.
    fn of(&mut self, len: usize) -> (&mut [MaybeUninit<Numbered<B>>], &mut [Numbered<B>]) {
        let (here, there) = self.0.room().split_at_mut(self.1);
        let there = ptr::from_mut(there) as *mut [Numbered<B>];
        // SAFETY: all of it has been written by `new`.
        let there = unsafe { &mut *there };
        (&mut here[..len], &mut there[..len])
    }
}

/// Sorts records by their bits below `height`. No bit above it is set.
///
/// # Safety
/// All of `here` has been written.
unsafe fn in_order<'a, B: RadixBits>(
    here: &'a mut [MaybeUninit<Numbered<B>>],
    there: &mut [Numbered<B>],
    height: u32,
) -> &'a [Numbered<B>] {
    let here = ptr::from_mut(here) as *mut [Numbered<B>];
    // SAFETY: the caller vouches for it.
    let here = unsafe { &mut *here };
    alone::sort(here, there, End::Here, height);
    here
}

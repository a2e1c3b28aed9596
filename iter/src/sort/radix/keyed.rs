//! Sorting elements of any type by a key that is a word.
//!
//! Each key is extracted once, into a record. The record also holds the element, or the element's number if the
//! element is wide. The slice itself is not touched until the records are sorted. So a key function may panic,
//! and may answer differently each time: it is not asked again. If the calling thread is to stop, the slice
//! stays as it is.

use std::mem::MaybeUninit;
use std::ptr;

use crate::plumbing::halves;
use tine_pool::current_num_threads;
use tine_pool::loops::{quietly, requested};

use super::word::{Keyed, RadixBits, Record};
use super::{extract, plain};
use crate::sort::runs::{self, Run};
use crate::sort::{fork, inplace, permute, scratch::Scratch};

/// Shorter slices are better off with a comparison sort.
pub(crate) const SHORTEST: usize = if cfg!(miri) { 128 } else { 1024 };
/// Shorter slices are sorted on the calling thread. Tests start earlier.
const CUTOFF: usize = if cfg!(miri) {
    256
} else if cfg!(test) {
    1 << 14
} else {
    1 << 16
};

/// How many threads sort `len` elements by key.
pub(crate) fn threads(len: usize) -> usize {
    if len < CUTOFF {
        return 1;
    }
    current_num_threads()
}

/// What a record carries besides its key.
trait Load: Copy + Send + Sync {
    fn pack<T>(index: usize, value: &T) -> Self;
    /// Gives each place of `v` the value that the record of that place carries. The records keep their keys.
    ///
    /// # Safety
    /// The loads are the ones that were packed from `v`, each once, and `v` has not been written since.
    unsafe fn unpack<T: Send, B: RadixBits>(
        records: &mut [Keyed<B, Self>],
        v: &mut [T],
        grain: usize,
    );
}

/// The element itself, as the bytes it is made of.
type Inline<const WORDS: usize> = [MaybeUninit<u64>; WORDS];

impl<const WORDS: usize> Load for Inline<WORDS> {
    fn pack<T>(_: usize, value: &T) -> Self {
        assert!(size_of::<T>() <= size_of::<Self>(), "packed by its size");
        let mut load = [MaybeUninit::uninit(); WORDS];
        let to = load.as_mut_ptr().cast::<MaybeUninit<u8>>();
        let from = ptr::from_ref(value).cast::<MaybeUninit<u8>>();
        // SAFETY: both have this number of bytes, and the load is a fresh local.
        unsafe { ptr::copy_nonoverlapping(from, to, size_of::<T>()) };
        load
    }

    unsafe fn unpack<T: Send, B: RadixBits>(
        records: &mut [Keyed<B, Self>],
        v: &mut [T],
        grain: usize,
    ) {
        assert!(size_of::<T>() <= size_of::<Self>(), "packed by its size");
        let records = &*records;
        fork::each_slice(v, grain, &|at, piece: &mut [T]| {
            for (place, record) in piece.iter_mut().zip(&records[at..]) {
                let from = record.load.as_ptr().cast::<MaybeUninit<u8>>();
                let to = ptr::from_mut(place).cast::<MaybeUninit<u8>>();
                // SAFETY: the bytes of one of the values of `v`, into one of its places; each value comes home
                // once.
                unsafe { ptr::copy_nonoverlapping(from, to, size_of::<T>()) };
            }
        });
    }
}

/// The number of an element that is too wide to be moved about.
impl Load for u32 {
    fn pack<T>(index: usize, _: &T) -> Self {
        index as u32
    }

    // SAFETY: the duties are those that the trait states.
    unsafe fn unpack<T: Send, B: RadixBits>(
        records: &mut [Keyed<B, Self>],
        v: &mut [T],
        grain: usize,
    ) {
        let Some(mut room) = Scratch::new(v.len()) else {
            let index = |record: &Keyed<B, u32>| record.load as usize;
            return permute::round(v, records, index, |record, from| record.load = from as u32);
        };
        let records = &*records;
        // SAFETY: the caller's records name each element once.
        unsafe { permute::by(v, room.room(), grain, &|at| records[at].load as usize) };
    }
}

/// Sorts `v` by key, stably; returns `false` if there is no memory for that. Then calls `ties` for every
/// stretch of two or more elements with equal keys. If each key is asked for `ONCE`, its answer is not wasted:
/// if there is memory for one record of each element, but not for two, the records are sorted in place.
pub(crate) fn sort<const ONCE: bool, T, B, F, E>(
    v: &mut [T],
    threads: usize,
    key: &F,
    ties: Option<&E>,
) -> bool
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Copy + Send + Sync,
    E: Fn(&mut [T]) + Sync,
{
    // The conditions are `const` so that only one of the five is compiled.
    if const { align_of::<T>() > 8 || size_of::<T>() > 32 } {
        with_load::<ONCE, u32, _, _, _, _>(v, threads, key, ties)
    } else if const { size_of::<T>() <= 8 } {
        with_load::<ONCE, Inline<1>, _, _, _, _>(v, threads, key, ties)
    } else if const { size_of::<T>() <= 16 } {
        with_load::<ONCE, Inline<2>, _, _, _, _>(v, threads, key, ties)
    } else if const { size_of::<T>() <= 24 } {
        with_load::<ONCE, Inline<3>, _, _, _, _>(v, threads, key, ties)
    } else {
        with_load::<ONCE, Inline<4>, _, _, _, _>(v, threads, key, ties)
    }
}

fn with_load<const ONCE: bool, L, T, B, F, E>(
    v: &mut [T],
    threads: usize,
    key: &F,
    ties: Option<&E>,
) -> bool
where
    L: Load,
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Copy + Send + Sync,
    E: Fn(&mut [T]) + Sync,
{
    if u32::try_from(v.len()).is_err() {
        return false;
    }
    let Some(mut scratch) = Scratch::<Keyed<B, L>>::new(v.len()) else {
        return false;
    };
    let room = scratch.room();
    let key = *key;
    extract::each(v, room, move |at, value: &T| Keyed {
        key: key(value),
        load: L::pack(at, value),
    });
    // SAFETY: `extract` has written every one of the records.
    let records = unsafe { &mut *(ptr::from_mut(room) as *mut [Keyed<B, L>]) };
    quietly(|| by_records::<ONCE, _, _, _, _>(v, records, threads, ties))
}

/// Sorts `v` by its records, as [`sort`] does.
fn by_records<const ONCE: bool, L, T, B, E>(
    v: &mut [T],
    records: &mut [Keyed<B, L>],
    threads: usize,
    ties: Option<&E>,
) -> bool
where
    L: Load,
    T: Send,
    B: RadixBits,
    E: Fn(&mut [T]) + Sync,
{
    if requested() {
        return true;
    }
    let grain = fork::grain(v.len(), threads);
    match runs::whole(records, &|a, b| a.key.cmp(&b.key)) {
        Some(Run::Ascending) => {}
        Some(Run::Descending) => {
            runs::reverse(v);
            return true;
        }
        None => {
            // The condition is `const` so that only the wanted code is compiled.
            match Scratch::new(v.len()) {
                Some(mut other) => plain::sort_by_way_of(records, other.room(), threads),
                None if const { !ONCE } => return false,
                None => in_place(records, grain),
            }
            if requested() {
                return true;
            }
            // SAFETY: the records were packed from `v` above and only sorted.
            unsafe { L::unpack(records, v, grain) };
        }
    }
    if let Some(ties) = ties {
        each_tie(v, records, grain, ties);
    }
    true
}

/// Sorts records without further memory, stably.
fn in_place<R: Record>(v: &mut [R], grain: usize) {
    let mid = v.len() / 2;
    if mid == 0 {
        return;
    }
    let (left, right) = v.split_at_mut(mid);
    if left.len() < grain {
        in_place(left, grain);
        in_place(right, grain);
    } else {
        halves(|| in_place(left, grain), || in_place(right, grain));
    }
    inplace::merge(v, mid, &|a: &R, b: &R| a.bits().cmp(&b.bits()));
}

/// Calls `f` for every stretch of `v` whose records have equal keys.
fn each_tie<L, T, B, E>(v: &mut [T], records: &[Keyed<B, L>], grain: usize, f: &E)
where
    L: Load,
    T: Send,
    B: RadixBits,
    E: Fn(&mut [T]) + Sync,
{
    if v.len() > grain {
        // Cut at a place where the keys differ, at or after the middle.
        let half = v.len() / 2;
        let key = records[half - 1].key;
        let mid = half + records[half..].partition_point(|r| r.key == key);
        if mid < v.len() {
            let (v0, v1) = v.split_at_mut(mid);
            let (r0, r1) = records.split_at(mid);
            halves(|| each_tie(v0, r0, grain, f), || each_tie(v1, r1, grain, f));
            return;
        }
    }
    let mut rest = v;
    for stretch in records.chunk_by(|a, b| a.key == b.key) {
        let (tied, after) = rest.split_at_mut(stretch.len());
        if tied.len() > 1 {
            f(tied);
        }
        rest = after;
    }
}

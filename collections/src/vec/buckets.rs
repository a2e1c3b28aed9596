//! Storage that grows without moving: slabs, each twice the last.
//!
//! ```text
//! index   0 … base-1 | base … +31 | … +64 | … +128 | …
//! slab    base       | bucket 0   | 1     | 2      |        allocated when reached
//! ```
//!
//! The base is the vector that the storage was made from, or the capacity that was asked for in
//! advance. Most often it is empty. A slot becomes *reserved* (`reserved.fetch_add` hands out its
//! index), *filled*, and *ready* (its flag is set, with Release). A thread that finds the flag set
//! (Acquire) may look at the value for as long as it shares the storage. Slots are only emptied
//! through `&mut`.
//!
//! Values of no size need no memory. If a vector has more of them than can be counted here, the
//! rest is a *surplus*, all of it in the base. As long as there is a surplus, every slot is handed
//! out.
//!
//! A bucket's pointer changes from null to its slab once, by compare-exchange. A thread that comes
//! second frees its own slab.

#![allow(unsafe_code)]

use super::slab::Slab;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::mem;
use std::ops::Deref;
use std::ptr;

/// Slots in bucket 0, and its logarithm.
const FIRST: usize = if cfg!(loom) { 2 } else { 32 };
const FIRST_LOG: u32 = FIRST.ilog2();
const BUCKETS: usize = if cfg!(loom) {
    4
} else {
    (usize::BITS - FIRST_LOG) as usize - 1
};
/// The most slots that can ever be handed out. Threads may count a few million further before they
/// notice; that does not wrap.
pub(crate) const LIMIT: usize = (isize::MAX as usize) / 2;

/// Where an index lies: in the base, or in a bucket.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// `None` is the base.
    bucket: Option<usize>,
    at: usize,
}

/// Every push changes this, so it lies apart from the fields that every push reads.
#[repr(align(64))]
struct Counter(AtomicUsize);

impl Deref for Counter {
    type Target = AtomicUsize;

    #[inline]
    fn deref(&self) -> &AtomicUsize {
        &self.0
    }
}

/// Slots for values, handed out one by one or in blocks.
pub(crate) struct Buckets<T> {
    base: Slab<T>,
    buckets: [AtomicPtr<Slab<T>>; BUCKETS],
    reserved: Counter,
    /// All slots below were found ready.
    prefix: AtomicUsize,
    /// The number of values beyond the limit.
    surplus: usize,
}

// SAFETY: it owns its values, as a `Vec<T>` does.
unsafe impl<T: Send> Send for Buckets<T> {}
// SAFETY: through a shared reference values are read (needs `Sync`) and moved in (needs `Send`). Flags order
// the moves before the reads.
unsafe impl<T: Send + Sync> Sync for Buckets<T> {}

impl<T> Buckets<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Buckets {
            base: Slab::none(),
            buckets: [const { AtomicPtr::new(ptr::null_mut()) }; BUCKETS],
            reserved: Counter(AtomicUsize::new(0)),
            prefix: AtomicUsize::new(0),
            surplus: 0,
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Buckets {
            base: Slab::none(),
            buckets: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            reserved: Counter(AtomicUsize::new(0)),
            prefix: AtomicUsize::new(0),
            surplus: 0,
        }
    }

    /// The number of values that were pushed.
    pub(crate) fn len(&self) -> usize {
        self.reserved() + self.surplus
    }

    /// The number of slots that were handed out.
    pub(crate) fn reserved(&self) -> usize {
        // A push that was refused beyond the limit may not have given its index back yet.
        self.reserved.load(Ordering::Relaxed).min(LIMIT)
    }

    #[inline]
    fn place(&self, index: usize) -> Place {
        match index.checked_sub(self.base.cap()) {
            None => Place {
                bucket: None,
                at: index,
            },
            Some(past) => {
                let shifted = past + FIRST;
                let bucket = (shifted.ilog2() - FIRST_LOG) as usize;
                Place {
                    bucket: Some(bucket),
                    at: shifted - (FIRST << bucket),
                }
            }
        }
    }

    /// As [`place`], for any index.
    #[inline]
    fn place_to_find(&self, index: usize) -> Option<Place> {
        (index < LIMIT || index < self.base.cap()).then(|| self.place(index))
    }

    /// The slab of a place, if there is one yet.
    #[inline]
    fn slab(&self, place: Place) -> Option<&Slab<T>> {
        let Some(bucket) = place.bucket else {
            return Some(&self.base);
        };
        // Acquire pairs with the Release in `allocate`.
        let slab = self.buckets.get(bucket)?.load(Ordering::Acquire);
        // SAFETY: null, or a slab that lives until `&mut` takes it.
        unsafe { slab.as_ref() }
    }

    #[inline]
    fn slab_to_fill(&self, place: Place) -> &Slab<T> {
        match self.slab(place) {
            Some(slab) => slab,
            None => self.allocate(place.bucket.expect("the base is always there")),
        }
    }

    /// Gives a bucket its slab, unless another thread does so first.
    #[cold]
    fn allocate(&self, bucket: usize) -> &Slab<T> {
        let fresh = Box::into_raw(Box::new(Slab::new(FIRST << bucket)));
        // Release pairs with the Acquire in `slab`, Acquire with this Release.
        let first = self.buckets[bucket].compare_exchange(
            ptr::null_mut(),
            fresh,
            Ordering::Release,
            Ordering::Acquire,
        );
        let slab = match first {
            Ok(_) => fresh,
            Err(theirs) => {
                // SAFETY: no other thread has seen it.
                drop(unsafe { Box::from_raw(fresh) });
                theirs
            }
        };
        // SAFETY: a slab that lives until `&mut` takes it.
        unsafe { &*slab }
    }

    /// Hands out `count` slots in a row.
    #[inline]
    fn reserve(&self, count: usize) -> usize {
        assert!(
            count <= LIMIT,
            "capacity overflow: a ParVec holds at most {LIMIT} values"
        );
        let start = self.reserved.fetch_add(count, Ordering::Relaxed);
        if start > LIMIT - count {
            self.reserved.fetch_sub(count, Ordering::Relaxed);
            panic!("capacity overflow: a ParVec holds at most {LIMIT} values");
        }
        start
    }

    /// Appends a value, and returns its index.
    #[inline]
    pub(crate) fn push(&self, value: T) -> usize {
        let index = self.reserve(1);
        let place = self.place(index);
        let slab = self.slab_to_fill(place);
        // SAFETY: the index was handed out to this call alone.
        unsafe { slab.fill(place.at, value) };
        if place.at == slab.cap() - slab.cap() / 8 {
            self.look_ahead(place);
        }
        #[cfg(not(loom))]
        super::turns::pushed(ptr::from_ref(self).cast(), index);
        index
    }

    /// Allocates the next bucket before all threads need it at once.
    #[cold]
    fn look_ahead(&self, place: Place) {
        let next = place.bucket.map_or(0, |bucket| bucket + 1);
        if next < BUCKETS {
            self.slab_to_fill(Place {
                bucket: Some(next),
                at: 0,
            });
        }
    }

    /// The value at `index`, if it is there.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let place = self.place_to_find(index)?;
        let slab = self.slab(place)?;
        // SAFETY: ready, and while it is shared no thread takes it out.
        slab.is_ready(place.at)
            .then(|| unsafe { slab.get(place.at) })
    }

    /// The number of slots, from the first on, that are ready without a gap.
    pub(crate) fn prefix(&self) -> usize {
        // Acquire pairs with the Release below, by the thread that saw the flags.
        let start = self.prefix.load(Ordering::Acquire);
        let end = self.reserved();
        let mut at = start;
        while at < end {
            let place = self.place(at);
            let Some(slab) = self.slab(place) else { break };
            let room = (slab.cap() - place.at).min(end - at);
            let run = slab.ready_run(place.at, room);
            at += run;
            if run < room {
                break;
            }
        }
        // A loop of exchanges: the thread sanitizer does not see `fetch_max`.
        let mut known = start;
        while known < at {
            // Release pairs with the Acquire above. An exchange also hands on what was released before it.
            let raised =
                self.prefix
                    .compare_exchange_weak(known, at, Ordering::Release, Ordering::Relaxed);
            match raised {
                Ok(_) => break,
                Err(now) => known = now,
            }
        }
        at
    }
}

#[cfg(not(loom))]
impl<T> Buckets<T> {
    /// Storage that begins with a vector's values, where they are.
    pub(crate) fn from_vec(vec: Vec<T>) -> Self {
        let len = vec.len();
        let mut buckets = Buckets::new();
        buckets.base = Slab::from_vec(vec);
        buckets.count(len);
        buckets
    }

    /// Records that exactly the first `len` values are there, without a gap. Through `&mut`.
    fn count(&mut self, len: usize) {
        *self.reserved.0.get_mut() = len.min(LIMIT);
        *self.prefix.get_mut() = len.min(LIMIT);
        self.surplus = len.saturating_sub(LIMIT);
    }

    /// Storage whose first `capacity` slots lie in a row.
    #[track_caller]
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let mut buckets = Buckets::new();
        // Values of size zero always do.
        if capacity != 0 && mem::size_of::<T>() != 0 {
            buckets.base = Slab::new(capacity);
        }
        buckets
    }

    /// Whether this storage has no memory yet, so that another may take its place at no loss.
    pub(crate) fn owns_nothing(&self) -> bool {
        mem::size_of::<T>() == 0 || self.capacity() == 0
    }

    /// The number of slots that have memory.
    pub(crate) fn capacity(&self) -> usize {
        if mem::size_of::<T>() == 0 {
            return usize::MAX;
        }
        // Acquire pairs with the Release in `allocate`.
        let grown = self
            .buckets
            .iter()
            .filter(|slab| !slab.load(Ordering::Acquire).is_null());
        self.base.cap() + FIRST * ((1 << grown.count()) - 1)
    }

    /// Appends all values of a block in a row, leaves it empty, and returns their index.
    pub(crate) fn push_block(&self, block: &mut Vec<T>) -> usize {
        let count = block.len();
        let start = self.reserve(count);
        let runs = |from: usize| {
            let place = self.place(start + from);
            let slab = self.slab_to_fill(place);
            (slab, place.at, (slab.cap() - place.at).min(count - from))
        };
        // All memory first. After that nothing can panic.
        let mut done = 0;
        while done < count {
            done += runs(done).2;
        }
        // SAFETY: the values move; `block` must not drop them.
        unsafe { block.set_len(0) };
        let mut moved = 0;
        while moved < count {
            let (slab, at, fits) = runs(moved);
            let from = block.as_ptr().wrapping_add(moved);
            // SAFETY: the slots were handed out to this call alone, and the values are `block`'s former values,
            // each read once.
            unsafe { slab.fill_from(at, from, fits) };
            moved += fits;
        }
        start
    }

    /// The slabs in use, through `&mut`.
    fn slabs_mut(&mut self) -> impl Iterator<Item = &mut Slab<T>> {
        let grown = self.buckets.iter_mut().filter_map(|slab| {
            // SAFETY: null, or a slab that only this thread has now.
            unsafe { slab.get_mut().as_mut() }
        });
        std::iter::once(&mut self.base).chain(grown)
    }

    /// The values of the prefix without gaps, slab by slab.
    pub(crate) fn slices(&self) -> Vec<&[T]> {
        let mut left = self.prefix() + self.surplus;
        let mut slices = Vec::new();
        let mut place = Place {
            bucket: None,
            at: 0,
        };
        while left > 0 {
            let Some(slab) = self.slab(place) else { break };
            let count = slab.cap().min(left);
            // SAFETY: within the prefix, so ready; shared, so it stays so.
            slices.push(unsafe { slab.slice(count) });
            left -= count;
            place.bucket = Some(place.bucket.map_or(0, |bucket| bucket + 1));
        }
        slices.retain(|slice| !slice.is_empty());
        slices
    }

    /// The values of the prefix without gaps, slab by slab, to change.
    pub(crate) fn slices_mut(&mut self) -> Vec<&mut [T]> {
        let mut left = self.prefix() + self.surplus;
        let mut slices = Vec::new();
        for slab in self.slabs_mut() {
            let count = slab.cap().min(left);
            left -= count;
            // SAFETY: within the prefix, so ready.
            slices.push(unsafe { slab.slice_mut(count) });
        }
        slices.retain(|slice| !slice.is_empty());
        slices
    }

    /// The slab of a place, through `&mut`.
    fn slab_mut(&mut self, place: Place) -> Option<&mut Slab<T>> {
        let Some(bucket) = place.bucket else {
            return Some(&mut self.base);
        };
        let slab = *self.buckets.get_mut(bucket)?.get_mut();
        // SAFETY: null, or a slab that only this thread has now.
        unsafe { slab.as_mut() }
    }

    /// The value at `index`, to change, if it is there.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let place = self.place_to_find(index)?;
        self.slab_mut(place)?.get_mut(place.at)
    }

    /// Takes the last slot back, and its value if it is there.
    pub(crate) fn pop(&mut self) -> Option<T> {
        if let Some(surplus) = self.surplus.checked_sub(1) {
            self.surplus = surplus;
            return self.base.take(LIMIT + surplus);
        }
        loop {
            let index = self.reserved().checked_sub(1)?;
            *self.reserved.0.get_mut() = index;
            *self.prefix.get_mut() = index.min(*self.prefix.get_mut());
            let place = self.place(index);
            // A gap is skipped.
            if let Some(value) = self.slab_mut(place).and_then(|slab| slab.take(place.at)) {
                return Some(value);
            }
        }
    }

    /// Takes back all slots but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        if const { mem::needs_drop::<T>() } {
            while self.len() > len {
                drop(self.pop());
            }
            return;
        }
        if len >= self.len() {
            return;
        }
        let mut start: usize = 0;
        for slab in self.slabs_mut() {
            let cap = slab.cap();
            slab.forget_from(len.saturating_sub(start).min(cap));
            start = start.saturating_add(cap);
        }
        *self.reserved.0.get_mut() = self.reserved().min(len);
        *self.prefix.get_mut() = len.min(*self.prefix.get_mut());
        self.surplus = len.saturating_sub(LIMIT);
    }

    /// Everything, slab by slab, each as a vector in its own memory. Values from beyond a gap come
    /// last.
    pub(crate) fn take_vecs(&mut self) -> Vec<Vec<T>> {
        let sure = self.prefix();
        let mut stragglers = Vec::new();
        for index in sure..self.reserved() {
            let place = self.place(index);
            stragglers.extend(self.slab_mut(place).and_then(|slab| slab.take(place.at)));
        }
        let mut left = sure + self.surplus;
        self.count(0);
        let mut vecs = Vec::new();
        let base = mem::replace(&mut self.base, Slab::none());
        let grown = self.buckets.iter_mut().filter_map(|slab| {
            let slab = mem::replace(slab.get_mut(), ptr::null_mut());
            // SAFETY: made by `Box::into_raw`, and no other pointer to it is left.
            (!slab.is_null()).then(|| *unsafe { Box::from_raw(slab) })
        });
        for slab in std::iter::once(base).chain(grown) {
            let count = slab.cap().min(left);
            left -= count;
            // SAFETY: within the prefix, so ready; those beyond were taken.
            let vec = unsafe { slab.into_vec(count) };
            if !vec.is_empty() {
                vecs.push(vec);
            }
        }
        if !stragglers.is_empty() {
            vecs.push(stragglers);
        }
        vecs
    }
}

#[cfg(not(loom))]
impl<T> Drop for Buckets<T> {
    fn drop(&mut self) {
        drop(self.take_vecs());
    }
}

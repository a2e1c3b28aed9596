//! A row of slots that are each filled once. A flag for each slot, stored apart from the values,
//! says whether its value is there.
//!
//! ```text
//! values  [ a | b | · | d | … ]     memory of a `Vec<T>` of this capacity
//! flags   [ 1 | 1 | 0 | 1 | … ]     1 is stored with Release, read with Acquire
//!           └─sure─┘                slots so low are there without asking
//! ranks   [       1       | … ]     64 slots that were filled as one: a flag for all
//! ```

#![allow(unsafe_code)]

#[cfg(not(loom))]
pub(super) use memory::Slab;
#[cfg(loom)]
pub(super) use model::Slab;

#[cfg(not(loom))]
mod memory {
    use crate::pages;
    use std::alloc::{Layout, dealloc};
    use std::mem::{self, ManuallyDrop};
    use std::ptr::NonNull;
    use std::slice;
    use std::sync::atomic::{AtomicU8, Ordering};

    const READY: u8 = 1;
    /// This many slots, filled as one, need no flags of their own.
    const RANK: usize = 64;

    /// A row of `cap` slots. It does not drop its values: its owner knows how many there are.
    pub(in crate::vec) struct Slab<T> {
        values: NonNull<T>,
        cap: usize,
        /// The number of slots that the memory was allocated for: at least `cap`.
        room: usize,
        /// No flags, or one for each slot.
        flags: Vec<AtomicU8>,
        /// All slots below are there, whatever their flags say.
        sure: usize,
        /// One for each `RANK` slots: whether all of them are there, whatever their flags say.
        ranks: Vec<AtomicU8>,
    }

    impl<T> Slab<T> {
        /// A row of no slots.
        pub(in crate::vec) const fn none() -> Self {
            Slab {
                values: NonNull::dangling(),
                cap: 0,
                room: 0,
                flags: Vec::new(),
                sure: 0,
                ranks: Vec::new(),
            }
        }

        /// A row of `cap` empty slots.
        #[track_caller]
        pub(in crate::vec) fn new(cap: usize) -> Self {
            let layout = Layout::array::<T>(cap).expect("capacity overflow");
            let flags = no_flags(cap);
            let values = match layout.size() {
                0 => NonNull::dangling(),
                _ => pages::allocate(layout, false).cast(),
            };
            Slab {
                values,
                cap,
                room: cap,
                flags,
                sure: 0,
                ranks: no_flags(cap / RANK),
            }
        }

        /// A vector's memory as a row, every slot of it filled.
        pub(in crate::vec) fn from_vec(vec: Vec<T>) -> Self {
            let mut vec = ManuallyDrop::new(vec);
            let values = NonNull::new(vec.as_mut_ptr()).expect("vectors are never null");
            let (cap, room) = (vec.len(), vec.capacity());
            Slab {
                values,
                cap,
                room,
                flags: Vec::new(),
                sure: cap,
                ranks: Vec::new(),
            }
        }

        pub(in crate::vec) fn cap(&self) -> usize {
            self.cap
        }

        /// Whether the value at `at` is there and may be looked at.
        #[inline]
        pub(in crate::vec) fn is_ready(&self, at: usize) -> bool {
            // Acquire pairs with the Release in `fill` and `fill_from`.
            let flag = |flag: &AtomicU8| flag.load(Ordering::Acquire) == READY;
            at < self.sure || self.flags.get(at).is_some_and(flag) || self.is_whole(at / RANK)
        }

        /// Whether the rank's own flag says that its slots are there.
        fn is_whole(&self, rank: usize) -> bool {
            // Acquire pairs with the Release in `fill_from`.
            let flag = |flag: &AtomicU8| flag.load(Ordering::Acquire) == READY;
            self.ranks.get(rank).is_some_and(flag)
        }

        /// Whether a rank begins at `at` all of whose slots' own flags are set. They are asked without a branch for
        /// each.
        fn is_filled(&self, at: usize) -> bool {
            // Acquire pairs with the Release in `fill` and `fill_from`.
            let and = |all: u8, flag: &AtomicU8| all & flag.load(Ordering::Acquire);
            let flags = self.flags.get(at..at + RANK);
            at.is_multiple_of(RANK)
                && flags.is_some_and(|flags| flags.iter().fold(READY, and) == READY)
        }

        /// How many of the `room` slots from `at` on are ready, before one that is not.
        pub(in crate::vec) fn ready_run(&self, at: usize, room: usize) -> usize {
            let (mut next, end) = (at, at + room);
            while next < end {
                if next < self.sure {
                    next = self.sure;
                } else if self.is_whole(next / RANK) || self.is_filled(next) {
                    next = (next / RANK + 1) * RANK;
                } else if self.is_ready(next) {
                    next += 1;
                } else {
                    break;
                }
            }
            next.min(end) - at
        }

        fn slot(&self, at: usize) -> NonNull<T> {
            assert!(at <= self.cap, "a slot beyond its slab");
            // SAFETY: within the allocation, or one past it.
            unsafe { self.values.add(at) }
        }

        /// Fills slot `at`.
        ///
        /// # Safety
        /// The slot is reserved for the caller, and empty.
        #[inline]
        pub(in crate::vec) unsafe fn fill(&self, at: usize, value: T) {
            assert!(at < self.cap, "a slot beyond its slab");
            // SAFETY: just checked.
            let slot = unsafe { self.values.add(at) };
            // SAFETY: no other thread looks at the slot before its flag is set.
            unsafe { slot.write(value) };
            // Release pairs with the Acquire in `is_ready`.
            self.flags[at].store(READY, Ordering::Release);
        }

        /// Fills `count` slots from `at` on with the values that `from` points to.
        ///
        /// # Safety
        /// The slots are reserved for the caller, and empty. The values may be read there and are
        /// not used there again.
        pub(in crate::vec) unsafe fn fill_from(&self, at: usize, from: *const T, count: usize) {
            let end = at + count;
            assert!(end <= self.cap, "a slot beyond its slab");
            let slot = self.slot(at);
            // SAFETY: slab and values both reach that far; the caller may write the slots and read
            // the values.
            unsafe { from.copy_to_nonoverlapping(slot.as_ptr(), count) };
            // Release pairs with the Acquire in `is_ready` and `is_whole`.
            let publish = |flags: &[AtomicU8]| {
                flags
                    .iter()
                    .for_each(|flag| flag.store(READY, Ordering::Release));
            };
            let ranks = at.div_ceil(RANK)..end / RANK;
            if ranks.is_empty() {
                return publish(&self.flags[at..end]);
            }
            publish(&self.flags[at..ranks.start * RANK]);
            publish(&self.flags[ranks.end * RANK..end]);
            publish(&self.ranks[ranks]);
        }

        /// The value at `at`.
        ///
        /// # Safety
        /// It is ready, and stays so.
        #[inline]
        pub(in crate::vec) unsafe fn get(&self, at: usize) -> &T {
            // SAFETY: ready, so within the slab.
            let slot = unsafe { self.values.add(at) };
            // SAFETY: ready, so initialised; shared, so no thread moves it.
            unsafe { slot.as_ref() }
        }

        /// The first `count` values.
        ///
        /// # Safety
        /// They are ready, and stay so.
        pub(in crate::vec) unsafe fn slice(&self, count: usize) -> &[T] {
            debug_assert!(count <= self.cap, "a slice beyond its slab");
            // SAFETY: ready, so initialised; shared, so no thread moves them.
            unsafe { slice::from_raw_parts(self.values.as_ptr(), count) }
        }

        /// The first `count` values, to change.
        ///
        /// # Safety
        /// They are ready.
        pub(in crate::vec) unsafe fn slice_mut(&mut self, count: usize) -> &mut [T] {
            debug_assert!(count <= self.cap, "a slice beyond its slab");
            // SAFETY: ready, so initialised; `&mut` for as long as the slice.
            unsafe { slice::from_raw_parts_mut(self.values.as_ptr(), count) }
        }

        /// The value at `at`, to change, if it is ready.
        pub(in crate::vec) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
            if !self.is_ready(at) {
                return None;
            }
            let mut slot = self.slot(at);
            // SAFETY: ready, so initialised; `&mut` for as long as the value.
            Some(unsafe { slot.as_mut() })
        }

        /// Takes the value at `at`, which is the last one or one with a flag. Leaves its slot
        /// empty.
        ///
        /// If the row is a vector's, with values of no size, it ends before that slot then.
        pub(in crate::vec) fn take(&mut self, at: usize) -> Option<T> {
            if !self.is_ready(at) {
                return None;
            }
            self.doubt(at);
            self.disband(at / RANK);
            if let Some(flag) = self.flags.get_mut(at) {
                *flag.get_mut() = 0;
            }
            // SAFETY: it was ready, and is not any more.
            Some(unsafe { self.slot(at).read() })
        }

        /// Empties the slots from `at` on without dropping their values.
        pub(in crate::vec) fn forget_from(&mut self, at: usize) {
            self.doubt(at);
            (at / RANK..self.ranks.len()).for_each(|rank| self.disband(rank));
            self.flags
                .iter_mut()
                .skip(at)
                .for_each(|flag| *flag.get_mut() = 0);
        }

        /// Moves what `sure` says about the slots from `at` on into their flags.
        fn doubt(&mut self, at: usize) {
            if at < self.sure {
                if self.flags.is_empty() {
                    if mem::size_of::<T>() == 0 {
                        // There may be more slots than there is memory for flags. Slots that are
                        // emptied keep no memory for later.
                        (self.cap, self.sure) = (at, at);
                        return;
                    }
                    self.flags = no_flags(self.cap);
                    self.ranks = no_flags(self.cap / RANK);
                }
                let known = self.flags[at..self.sure].iter_mut();
                known.for_each(|flag| *flag.get_mut() = READY);
                self.sure = at;
            }
        }

        /// Moves what a rank's flag says about its slots into their own flags.
        fn disband(&mut self, rank: usize) {
            let whole = self.ranks.get_mut(rank).map(AtomicU8::get_mut);
            if whole.is_some_and(|whole| mem::take(whole) == READY) {
                let flags = self.flags[rank * RANK..(rank + 1) * RANK].iter_mut();
                flags.for_each(|flag| *flag.get_mut() = READY);
            }
        }

        /// The first `count` values as a vector, which takes over the memory.
        ///
        /// # Safety
        /// They are ready, and no others are.
        pub(in crate::vec) unsafe fn into_vec(self, count: usize) -> Vec<T> {
            let mut slab = ManuallyDrop::new(self);
            drop(mem::take(&mut slab.flags));
            drop(mem::take(&mut slab.ranks));
            // SAFETY: allocated by the global allocator as an array of `room`
            // values, of which the first `count` are there.
            unsafe { Vec::from_raw_parts(slab.values.as_ptr(), count, slab.room) }
        }
    }

    /// Flags that are all down, in memory that is not touched yet.
    fn no_flags(count: usize) -> Vec<AtomicU8> {
        let mut flags = ManuallyDrop::new(vec![0_u8; count]);
        let (start, len, room) = (flags.as_mut_ptr(), flags.len(), flags.capacity());
        // SAFETY: an `AtomicU8` has the size, alignment and values of a `u8`, and the memory is
        // owned here alone.
        unsafe { Vec::from_raw_parts(start.cast(), len, room) }
    }

    impl<T> Drop for Slab<T> {
        fn drop(&mut self) {
            let layout = Layout::array::<T>(self.room).expect("it was allocated");
            if layout.size() != 0 {
                // SAFETY: allocated with this layout, and freed here only.
                unsafe { dealloc(self.values.as_ptr().cast(), layout) };
            }
        }
    }
}

/// The same slab, of parts that loom watches.
#[cfg(loom)]
mod model {
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicBool, Ordering};

    pub(in crate::vec) struct Slab<T> {
        slots: Vec<(AtomicBool, UnsafeCell<Option<T>>)>,
    }

    impl<T> Slab<T> {
        pub(in crate::vec) fn none() -> Self {
            Slab { slots: Vec::new() }
        }

        pub(in crate::vec) fn new(cap: usize) -> Self {
            let slot = |_| (AtomicBool::new(false), UnsafeCell::new(None));
            Slab {
                slots: (0..cap).map(slot).collect(),
            }
        }

        pub(in crate::vec) fn cap(&self) -> usize {
            self.slots.len()
        }

        pub(in crate::vec) fn is_ready(&self, at: usize) -> bool {
            self.slots
                .get(at)
                .is_some_and(|slot| slot.0.load(Ordering::Acquire))
        }

        pub(in crate::vec) fn ready_run(&self, at: usize, room: usize) -> usize {
            (at..at + room).take_while(|&at| self.is_ready(at)).count()
        }

        /// # Safety
        /// The slot is the caller's to fill, once.
        pub(in crate::vec) unsafe fn fill(&self, at: usize, value: T) {
            // SAFETY: the caller's slot; loom checks that.
            self.slots[at]
                .1
                .with_mut(|slot| unsafe { *slot = Some(value) });
            self.slots[at].0.store(true, Ordering::Release);
        }

        pub(in crate::vec) unsafe fn get(&self, at: usize) -> &T {
            // SAFETY: ready, so no thread writes; loom checks that.
            self.slots[at]
                .1
                .with(|slot| unsafe { (*slot).as_ref().expect("ready") })
        }
    }
}

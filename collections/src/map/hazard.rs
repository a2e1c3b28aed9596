//! A value behind a pointer. Readers write nothing that another reader reads. Writers put another
//! value in its place. The old value is dropped once no reader looks at it.
//!
//! Each thread has a *record* with a few slots (`records`). A reader announces in a slot which
//! value it is about to look at, and then checks whether that value is still in its place:
//!
//! ```text
//! reader    slot = value, fence, is it still in place?      else announce what is there now
//! writer    place = new,  fence, is the old one in a slot?  else drop it
//! ```
//!
//! Of the two, at least one sees the other. So if a reader has seen its value in place after the
//! announcement, the writer sees the reader, until the reader clears its slot. Such a value waits
//! in `late`, and the last of its readers drops it: the writer asks the readers that it finds to do
//! so, and looks once more. These are the same steps with a different word:
//!
//! ```text
//! reader    slot = none, fence, am I asked?                 then drop what no slot names any more
//! writer    asked = yes, fence, is the old one in a slot?   else drop it
//! ```
//!
//! A value that is no longer in its place gains no readers. So the reader that comes last to the
//! lock of `late` finds no other reader of the value.
//!
//! Where the system can make all threads pass a barrier, the writer's fence is that barrier, and
//! the reader's fence is for the compiler alone: a read costs two plain stores and three loads
//! besides the look itself. A thread that has no slot left, or no record any more, takes the lock
//! instead and counts itself among the owners of the value: a writer takes that lock before it
//! drops a value.
//!
//! The system may refuse that barrier later: for want of memory, or by a filter that the program
//! has set up since. Then the writer cannot tell which readers look at the old value, and asks none
//! of them. The value waits apart, in `unasked`, until a later writer's barrier succeeds, or the
//! place is dropped.

#![allow(unsafe_code)]

use super::records::{self, Record, Registry};
use crate::sync::{AtomicPtr, Mutex, Ordering};
use std::mem;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

/// What stands in a place. In a model no two values ever have the same address, since each run of
/// the model must go like the run before.
fn place<T>(value: Arc<T>) -> *mut T {
    if cfg!(loom) {
        mem::forget(Arc::downgrade(&value));
    }
    Arc::into_raw(value).cast_mut()
}

/// A place for a value that all threads may read.
pub(crate) struct Place<T> {
    /// From `Arc::into_raw`.
    now: AtomicPtr<T>,
    /// What was in place before.
    late: Mutex<Late<T>>,
}

/// Values that are no longer in their place, and not yet dropped.
struct Late<T> {
    /// Values that readers look at. Each of these readers is asked to drop the value if it is the
    /// last.
    asked: Vec<Arc<T>>,
    /// Values for which the barrier was refused: readers may look at them, and no reader is asked.
    unasked: Vec<Arc<T>>,
}

impl<T> Place<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Place {
            now: AtomicPtr::new(place(value)),
            late: Mutex::new(Late {
                asked: Vec::new(),
                unasked: Vec::new(),
            }),
        }
    }

    /// A look at the value that is there, by the thread that has this record.
    #[inline]
    pub(crate) fn look<'a>(
        &'a self,
        registry: &'a Registry,
        record: &'static Record,
    ) -> Look<'a, T> {
        // Relaxed: only this thread uses it.
        let depth = record.depth.load(Ordering::Relaxed);
        let Some(slot) = record.values.get(depth) else {
            return self.count(registry);
        };
        let mut value = self.now.load(Ordering::Relaxed);
        loop {
            // Release pairs with the Acquire in `holds`: earlier looks, which left this slot empty, are over.
            slot.store(value.cast(), Ordering::Release);
            registry.pass();
            // Acquire pairs with the exchange in `replace`: the value is whole.
            let still = self.now.load(Ordering::Acquire);
            let is_same = still == value;
            // If it is another value: a writer may have taken this slot for a look at the old value; then the
            // end of this look drops the old value. If it is the same address, the old value may have been
            // freed and this value put in its place: the old pointer is void.
            value = still;
            if is_same {
                break;
            }
        }
        record.depth.store(depth + 1, Ordering::Relaxed);
        Look {
            place: self,
            registry,
            record: Some(record),
            value,
        }
    }

    /// A look that counts among the owners of the value.
    #[cold]
    pub(crate) fn count<'a>(&'a self, registry: &'a Registry) -> Look<'a, T> {
        let late = self.late();
        // Acquire pairs with the exchange in `replace`.
        let value = self.now.load(Ordering::Acquire).cast_const();
        // SAFETY: from `Arc::into_raw`; a writer that replaces it drops it after it had this lock.
        unsafe { Arc::increment_strong_count(value) };
        drop(late);
        Look {
            place: self,
            registry,
            record: None,
            value,
        }
    }

    fn late(&self) -> impl std::ops::DerefMut<Target = Late<T>> + '_ {
        // Nothing that is done under the lock panics halfway through a change.
        self.late.lock().unwrap_or_else(|late| late.into_inner())
    }

    /// Puts `new` in the place of `old`, if `old` is still there.
    pub(crate) fn replace<'a>(
        &'a self,
        registry: &'a Registry,
        old: &Arc<T>,
        new: Arc<T>,
    ) -> Option<Parting<'a, T>> {
        let new = place(new);
        let expected = Arc::as_ptr(old).cast_mut();
        // Release pairs with the loads of readers: the new value is whole. Acquire pairs with the Release of
        // another writer's exchange: the old value is dropped below.
        let (there, not) = (Ordering::AcqRel, Ordering::Relaxed);
        if self
            .now
            .compare_exchange(expected, new, there, not)
            .is_err()
        {
            // SAFETY: it came from the `Arc` above, and no other thread has seen it.
            drop(unsafe { Arc::from_raw(new.cast_const()) });
            return None;
        }
        // SAFETY: it came from `Arc::into_raw` in `new` or here, and was taken out by this thread alone.
        let old = unsafe { Arc::from_raw(expected.cast_const()) };
        Some(Parting {
            place: self,
            registry,
            old: Some(old),
        })
    }

    /// Leaves the value to its readers, or returns it to be dropped. `passed`: all threads have
    /// passed a barrier since the value left its place.
    fn part_with(&self, registry: &Registry, old: Arc<T>, passed: bool) -> Vec<Arc<T>> {
        let mut late = self.late();
        if !passed {
            late.unasked.push(old);
            return Vec::new();
        }
        let mut free = Vec::from_iter(late.leave(registry, old));
        // These values were taken out of their places before this barrier, but maybe not before the last
        // barrier.
        if !late.unasked.is_empty() && registry.pass_everywhere() {
            for old in mem::take(&mut late.unasked) {
                free.extend(late.leave(registry, old));
            }
        }
        free
    }

    /// After a look: drops the value that was left to this reader, if no other reader looks at it.
    #[inline]
    fn see_to(&self, registry: &Registry, record: &Record) {
        registry.pass();
        // Relaxed: the call of `pass` above orders it behind the store to the slot.
        if record.asked.load(Ordering::Relaxed) {
            self.clear(registry, record);
        }
    }

    #[cold]
    fn clear(&self, registry: &Registry, record: &Record) {
        if record.depth.load(Ordering::Relaxed) == 0 {
            // The reader looks at nothing, so no value is left to it except values of this place. Release pairs
            // with the Acquire in `is_held`.
            record.asked.store(false, Ordering::Release);
        }
        let mut late = self.late();
        let mut free = Vec::new();
        for old in mem::take(&mut late.asked) {
            let held = registry.is_held(Arc::as_ptr(&old).cast());
            if held { &mut late.asked } else { &mut free }.push(old);
        }
        drop(late);
        // The destructors of the values run without the lock.
        drop(free);
    }

    pub(crate) fn into_inner(self) -> Arc<T> {
        let place = mem::ManuallyDrop::new(self);
        // SAFETY: read once, and not used again.
        drop(unsafe { ptr::read(&raw const place.late) });
        // Relaxed: only this thread has the place.
        let now = place.now.load(Ordering::Relaxed);
        // SAFETY: from `Arc::into_raw`. Looks borrow the place, so there are none.
        unsafe { Arc::from_raw(now.cast_const()) }
    }
}

impl<T> Late<T> {
    /// Asks the readers of a value to drop it in the end; returns the value if there are none. All
    /// threads have passed a barrier since the value left its place.
    fn leave(&mut self, registry: &Registry, old: Arc<T>) -> Option<Arc<T>> {
        let value = Arc::as_ptr(&old).cast();
        let holders: Vec<_> = registry.records().filter(|r| r.holds(value)).collect();
        // Relaxed: the barrier below orders it before the second look.
        let ask = |record: &&Record| record.asked.store(true, Ordering::Relaxed);
        holders.iter().for_each(ask);
        // A record that names the value only now was too late, and will see that.
        let let_go =
            || registry.pass_everywhere() && !holders.iter().any(|record| record.holds(value));
        if holders.is_empty() || let_go() {
            return Some(old);
        }
        self.asked.push(old);
        None
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        // Relaxed: only this thread has the place.
        let now = self.now.load(Ordering::Relaxed);
        // SAFETY: from `Arc::into_raw`. Looks borrow the place, so there are none.
        drop(unsafe { Arc::from_raw(now.cast_const()) });
    }
}

/// A value that was taken out of its place, and that readers may still look at. It is parted with
/// when this is dropped, or many at once by [`part_with_all`].
pub(crate) struct Parting<'a, T> {
    place: &'a Place<T>,
    registry: &'a Registry,
    old: Option<Arc<T>>,
}

impl<T> Parting<'_, T> {
    fn end(&mut self, passed: bool) {
        if let Some(old) = self.old.take() {
            drop(self.place.part_with(self.registry, old, passed));
        }
    }
}

impl<T> Drop for Parting<'_, T> {
    fn drop(&mut self) {
        if self.old.is_some() {
            let passed = self.registry.pass_everywhere();
            self.end(passed);
        }
    }
}

/// Parts with many values of one registry, with a single barrier.
pub(crate) fn part_with_all<T>(mut partings: Vec<Parting<'_, T>>) {
    if let Some(first) = partings.first() {
        let passed = first.registry.pass_everywhere();
        partings.iter_mut().for_each(|parting| parting.end(passed));
    }
}

/// A look at a value. It stays on the thread that began it, and ends before looks that began
/// earlier.
pub(crate) struct Look<'a, T> {
    place: &'a Place<T>,
    registry: &'a Registry,
    /// `None`: counted.
    record: Option<&'static Record>,
    value: *const T,
}

impl<T> Deref for Look<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: announced and then seen in its place, or counted: the value is alive until the look ends.
        // Values in a place are never changed.
        unsafe { &*self.value }
    }
}

impl<T> Look<'_, T> {
    /// The value, to keep.
    pub(crate) fn keep(&self) -> Arc<T> {
        // SAFETY: from `Arc::into_raw`, and alive while this look lasts.
        unsafe { Arc::increment_strong_count(self.value) };
        // SAFETY: owns the count that was just added.
        unsafe { Arc::from_raw(self.value) }
    }
}

impl<T> Drop for Look<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let Some(record) = self.record else {
            // SAFETY: counted, so this is one of its owners.
            return drop(unsafe { Arc::from_raw(self.value) });
        };
        // Relaxed: only this thread uses it.
        let depth = record.depth.load(Ordering::Relaxed) - 1;
        // Release pairs with the Acquire in `holds`: the look came before.
        record.values[depth].store(ptr::null_mut(), Ordering::Release);
        record.depth.store(depth, Ordering::Relaxed);
        self.place.see_to(self.registry, record);
    }
}

/// A look by this thread.
#[inline]
pub(crate) fn load<T>(place: &Place<T>) -> Look<'_, T> {
    match records::mine() {
        Some(record) => place.look(records::registry(), record),
        // The thread is about to end.
        None => place.count(records::registry()),
    }
}

/// [`Place::replace`], with the records of the process.
pub(crate) fn replace<'a, T>(
    place: &'a Place<T>,
    old: &Arc<T>,
    new: Arc<T>,
) -> Option<Parting<'a, T>> {
    place.replace(records::registry(), old, new)
}

#[cfg(all(test, not(loom)))]
#[path = "hazard/tests.rs"]
mod tests;

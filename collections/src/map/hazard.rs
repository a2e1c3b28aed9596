//! A value behind a pointer: readers that write nothing another reader reads, writers that put another
//! value in its place, and an old value that is dropped once no reader looks at it.
//!
//! Each thread has a *record* with a few slots. A reader announces in a slot which value it is about to
//! look at, and looks again whether that value is still in its place:
//!
//! ```text
//! reader    slot = value, fence, is it still in place?      else announce what is there now
//! writer    place = new,  fence, is the old one in a slot?  else drop it
//! ```
//!
//! Of the two, at least one sees the other. So a reader that has seen its value in place after the
//! announcement is seen by the writer, until it clears its slot. Such a value waits in `late`, and the
//! last of its readers drops it: the writer asks the readers that it finds to see to that, and looks once
//! more. These are the same steps with a different word:
//!
//! ```text
//! reader    slot = none, fence, am I asked?                 then drop what no slot names any more
//! writer    asked = yes, fence, is the old one in a slot?   else drop it
//! ```
//!
//! A value that is not in its place any more gains no readers. So whichever of its readers comes last to
//! the lock of `late` finds it without any.
//!
//! Where the system can make all threads pass a barrier, the writer's fence does so, and the reader's
//! is for the compiler alone: a read is two plain stores and three loads more than the look itself. A
//! thread that has no slot left, or no record any more, counts itself among the owners of the value instead,
//! under the lock: a writer takes that lock before it drops a value.
//!
//! The system may refuse that barrier later: for want of memory, or by a filter that the program has set up
//! since. Then the writer cannot tell which readers look at the old value, and none of them is asked. It waits
//! apart, in `unasked`, until a later writer's barrier succeeds, or the place is dropped.

#![allow(unsafe_code)]

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Mutex, Ordering, fence, heavy};
use std::mem;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::compiler_fence;

/// How many looks of one thread, one inside the other, have slots.
const SLOTS: usize = if cfg!(loom) { 1 } else { 8 };

/// What a thread looks at. Two cache lines of its own.
#[repr(align(128))]
pub(crate) struct Record {
    slots: [AtomicPtr<()>; SLOTS],
    /// How many of the slots are in use. The thread's alone.
    depth: AtomicUsize,
    /// A writer has left a value for this thread to see to.
    asked: AtomicBool,
    /// Whether a thread has this record.
    taken: AtomicBool,
    next: Option<&'static Record>,
}

/// All records. They are never freed: a thread that ends leaves its own to the next one.
pub(crate) struct Registry {
    newest: AtomicPtr<Record>,
    /// Whether readers leave their fences to writers. Said before the first record is made.
    light: AtomicBool,
}

impl Registry {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Registry {
            newest: AtomicPtr::new(ptr::null_mut()),
            light: AtomicBool::new(false),
        }
    }

    /// Light without heavy writers: readers have no fence at all.
    #[cfg(loom)]
    pub(crate) fn new(light: bool) -> Self {
        Registry {
            newest: AtomicPtr::new(ptr::null_mut()),
            light: AtomicBool::new(light),
        }
    }

    fn newest(&self) -> Option<&'static Record> {
        // Acquire pairs with the exchange in `claim`: the record is whole.
        let newest = self.newest.load(Ordering::Acquire);
        // SAFETY: null, or a record, which lives for ever and is never borrowed to be changed.
        unsafe { newest.as_ref() }
    }

    fn records(&self) -> impl Iterator<Item = &'static Record> {
        std::iter::successors(self.newest(), |record| record.next)
    }

    /// A record that no other thread has.
    pub(crate) fn claim(&self) -> &'static Record {
        let free = self.records().find(|record| {
            // Acquire pairs with the Release in `leave`: its slots are empty.
            !record.taken.load(Ordering::Relaxed) && !record.taken.swap(true, Ordering::Acquire)
        });
        free.unwrap_or_else(|| self.add())
    }

    fn add(&self) -> &'static Record {
        let record = Box::leak(Box::new(Record {
            slots: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            depth: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
            taken: AtomicBool::new(true),
            next: None,
        }));
        loop {
            record.next = self.newest();
            let next = record
                .next
                .map_or(ptr::null_mut(), |next| ptr::from_ref(next).cast_mut());
            let new = ptr::from_mut(record);
            // Release pairs with the Acquire in `newest`.
            let (there, not) = (Ordering::Release, Ordering::Relaxed);
            if self.newest.compare_exchange(next, new, there, not).is_ok() {
                // SAFETY: just made from the box, and from here on never borrowed to be changed.
                return unsafe { &*new };
            }
        }
    }

    /// Whether a reader that was asked looks at this value.
    fn is_held(&self, value: *const ()) -> bool {
        // Acquire pairs with the Release in `clear`: a reader that is not asked any more has let go.
        let asked = |record: &&Record| record.asked.load(Ordering::Acquire);
        self.records()
            .filter(asked)
            .any(|record| record.holds(value))
    }

    /// What a writer does between its own store and its look at those of readers. Without it the look
    /// says nothing.
    fn pass_everywhere(&self) -> bool {
        // Relaxed: said before there was anything to read.
        let passed = !self.light.load(Ordering::Relaxed) || heavy();
        fence(Ordering::SeqCst);
        passed
    }

    /// The same for a reader.
    #[inline]
    fn pass(&self) {
        if self.light.load(Ordering::Relaxed) {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }
}

impl Record {
    fn holds(&self, value: *const ()) -> bool {
        // Acquire pairs with the Release in `let_go` and in `announce`: what the reader did with the
        // value it had here before happened before this.
        let slot = |slot: &AtomicPtr<()>| slot.load(Ordering::Acquire).cast_const() == value;
        self.slots.iter().any(slot)
    }

    /// The thread has ended.
    pub(crate) fn leave(&self) {
        // Release pairs with the Acquire in `claim`.
        self.taken.store(false, Ordering::Release);
    }
}

/// What stands in a place. In a model no two values ever have one address, since each run of it must go as
/// the one before.
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

/// Values that are in their place no more, and not dropped.
struct Late<T> {
    /// Some reader looks at it, and each that does is asked to see to it.
    asked: Vec<Arc<T>>,
    /// The barrier was refused: readers may look at it, and none is asked.
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
        // Relaxed: the thread's own.
        let depth = record.depth.load(Ordering::Relaxed);
        let Some(slot) = record.slots.get(depth) else {
            return self.count(registry);
        };
        let mut value = self.now.load(Ordering::Relaxed);
        loop {
            // Release pairs with the Acquire in `holds`: earlier looks, which left this slot empty, are over.
            slot.store(value.cast(), Ordering::Release);
            registry.pass();
            // Acquire pairs with the exchange in `replace`: the value is whole.
            let still = self.now.load(Ordering::Acquire);
            if still == value {
                break;
            }
            // Should a writer have taken this for a look at the old value: the end of this one sees to it.
            value = still;
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
        // Nothing in there panics halfway through a change.
        self.late.lock().unwrap_or_else(|late| late.into_inner())
    }

    /// Puts `new` in the place of `old`, unless that is there no more.
    pub(crate) fn replace<'a>(
        &'a self,
        registry: &'a Registry,
        old: &Arc<T>,
        new: Arc<T>,
    ) -> Option<Parting<'a, T>> {
        let new = place(new);
        let expected = Arc::as_ptr(old).cast_mut();
        // Release pairs with the loads of readers: the new value is whole. Acquire pairs with itself, by another
        // writer: the old value is dropped below.
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

    /// Leaves the value to those that look at it, or returns it to be dropped. `passed`: all threads have
    /// passed a barrier since it was taken out of its place.
    fn part_with(&self, registry: &Registry, old: Arc<T>, passed: bool) -> Vec<Arc<T>> {
        let mut late = self.late();
        if !passed {
            late.unasked.push(old);
            return Vec::new();
        }
        let mut free = Vec::from_iter(late.leave(registry, old));
        // What lies there was taken out of its place before this barrier, but maybe not before the last.
        if !late.unasked.is_empty() && registry.pass_everywhere() {
            for old in mem::take(&mut late.unasked) {
                free.extend(late.leave(registry, old));
            }
        }
        free
    }

    /// After a look: drops what was left for it, if no other looks at that.
    #[inline]
    fn see_to(&self, registry: &Registry, record: &Record) {
        registry.pass();
        // Relaxed: the passing above orders it behind the store to the slot.
        if record.asked.load(Ordering::Relaxed) {
            self.clear(registry, record);
        }
    }

    #[cold]
    fn clear(&self, registry: &Registry, record: &Record) {
        if record.depth.load(Ordering::Relaxed) == 0 {
            // It looks at nothing, so no value is left for it but those of this place. Release pairs
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
        // What the values do when they are dropped, they do without the lock.
        drop(free);
    }

    pub(crate) fn into_inner(self) -> Arc<T> {
        let place = mem::ManuallyDrop::new(self);
        // SAFETY: read once, and not used again.
        drop(unsafe { ptr::read(&raw const place.late) });
        // Relaxed: owned by this thread alone.
        let now = place.now.load(Ordering::Relaxed);
        // SAFETY: from `Arc::into_raw`. Looks borrow the place, so there are none.
        unsafe { Arc::from_raw(now.cast_const()) }
    }
}

impl<T> Late<T> {
    /// Asks the readers of a value to see to it; returns it if there are none. All threads have passed a
    /// barrier since it was taken out of its place.
    fn leave(&mut self, registry: &Registry, old: Arc<T>) -> Option<Arc<T>> {
        let value = Arc::as_ptr(&old).cast();
        let holders: Vec<_> = registry.records().filter(|r| r.holds(value)).collect();
        // Relaxed: the passing below orders it before the second look.
        let ask = |record: &&Record| record.asked.store(true, Ordering::Relaxed);
        holders.iter().for_each(ask);
        // A record that names it now for the first time was too late, and will see that.
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
        // Relaxed: owned by this thread alone.
        let now = self.now.load(Ordering::Relaxed);
        // SAFETY: from `Arc::into_raw`. Looks borrow the place, so there are none.
        drop(unsafe { Arc::from_raw(now.cast_const()) });
    }
}

/// A value that was taken out of its place, and that others may look at still. Its end is seen to when this is
/// dropped, or that of many at once by [`part_with_all`].
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

/// Sees to the ends of values of one registry, with a single barrier.
pub(crate) fn part_with_all<T>(mut partings: Vec<Parting<'_, T>>) {
    if let Some(first) = partings.first() {
        let passed = first.registry.pass_everywhere();
        partings.iter_mut().for_each(|parting| parting.end(passed));
    }
}

/// A look at a value. It stays with the thread that began it, and ends before those that were begun earlier.
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
        // SAFETY: announced, and then seen in its place, or counted: alive until the look ends. Values in a
        // place are never changed.
        unsafe { &*self.value }
    }
}

impl<T> Look<'_, T> {
    /// The value, to keep.
    pub(crate) fn keep(&self) -> Arc<T> {
        // SAFETY: from `Arc::into_raw`, and alive while this look lasts.
        unsafe { Arc::increment_strong_count(self.value) };
        // SAFETY: the count of just now.
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
        // Relaxed: the thread's own.
        let depth = record.depth.load(Ordering::Relaxed) - 1;
        // Release pairs with the Acquire in `holds`: the look was before.
        record.slots[depth].store(ptr::null_mut(), Ordering::Release);
        record.depth.store(depth, Ordering::Relaxed);
        self.place.see_to(self.registry, record);
    }
}

pub(crate) use here::{load, replace, say};

/// The registry of the process, and the record of the thread.
#[cfg(not(loom))]
mod here {
    use super::{Look, Parting, Place, Record, Registry};
    use crate::sync::{Ordering, heavy};
    use std::cell::Cell;
    use std::sync::{Arc, Once};

    static REGISTRY: Registry = Registry::new();

    thread_local! {
        static MINE: Cell<Option<&'static Record>> = const { Cell::new(None) };
        /// Leaves the record to other threads when this one ends.
        static END: End = const { End };
    }

    struct End;

    impl Drop for End {
        fn drop(&mut self) {
            if let Some(record) = MINE.take() {
                record.leave();
            }
        }
    }

    #[cold]
    fn claim() -> Option<&'static Record> {
        END.try_with(|_| ()).ok()?;
        let record = REGISTRY.claim();
        MINE.set(Some(record));
        Some(record)
    }

    /// Says whether readers may do without fences. Before the first place is made.
    pub(crate) fn say() {
        static SAID: Once = Once::new();
        // Relaxed: a thread that sees a place has seen what came before it was made.
        SAID.call_once(|| REGISTRY.light.store(heavy(), Ordering::Relaxed));
    }

    #[inline]
    pub(crate) fn load<T>(place: &Place<T>) -> Look<'_, T> {
        match MINE.get().or_else(claim) {
            Some(record) => place.look(&REGISTRY, record),
            // The thread is about to end.
            None => place.count(&REGISTRY),
        }
    }

    pub(crate) fn replace<'a, T>(
        place: &'a Place<T>,
        old: &Arc<T>,
        new: Arc<T>,
    ) -> Option<Parting<'a, T>> {
        place.replace(&REGISTRY, old, new)
    }
}

/// The same for each exploration of a model.
#[cfg(loom)]
mod here {
    use super::{Look, Parting, Place, Record, Registry};
    use std::sync::Arc;

    loom::lazy_static! {
        static ref REGISTRY: Registry = Registry::new(false);
    }

    loom::thread_local! {
        static MINE: &'static Record = REGISTRY.claim();
    }

    pub(crate) fn say() {}

    pub(crate) fn load<T>(place: &Place<T>) -> Look<'_, T> {
        MINE.with(|record| place.look(&REGISTRY, record))
    }

    pub(crate) fn replace<'a, T>(
        place: &'a Place<T>,
        old: &Arc<T>,
        new: Arc<T>,
    ) -> Option<Parting<'a, T>> {
        place.replace(&REGISTRY, old, new)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Place, Registry};
    use std::sync::Arc;

    /// A value whose readers could not be asked is not dropped by the reader of another value.
    #[test]
    fn a_refused_barrier_leaves_the_value_to_its_reader() {
        static REGISTRY: Registry = Registry::new();
        let registry = &REGISTRY;
        let (one, other) = (registry.claim(), registry.claim());
        let values = [1, 2, 3, 4].map(Arc::new);
        let dropped = values.each_ref().map(Arc::downgrade);
        let [first, second, third, fourth] = values;
        let place = Place::new(first.clone());
        let change = |old: Arc<i32>, new: &Arc<i32>, passed| {
            let mut parting = place
                .replace(registry, &old, new.clone())
                .expect("no other writer");
            drop(old);
            parting.end(passed);
        };
        let is_there = |value: usize| dropped[value - 1].strong_count() > 0;

        let look = place.look(registry, one);
        change(first, &second, true);
        assert!(is_there(1), "it is looked at");
        let later = place.look(registry, other);
        change(second, &third, false);
        drop(look);
        assert!(!is_there(1));
        assert!(
            is_there(2),
            "it is looked at, by a reader that was not asked"
        );
        assert_eq!(*later, 2);
        change(third, &fourth, true);
        assert!(is_there(2) && !is_there(3));
        drop(later);
        assert!(!is_there(2), "now its reader was asked");
        assert_eq!(*place.into_inner(), 4);
    }
}

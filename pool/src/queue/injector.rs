//! Work from outside: a first-in, first-out queue that any thread may push to.
//!
//! The queue is intrusive: an element brings its own link, so pushing never allocates. Producers
//! push onto `inbox`, a stack, with one exchange, and then link the pushed element to the former
//! top. A consumer that comes in between waits for the link. A consumer takes a short lock, turns
//! the whole inbox over into `outbox` when that is empty, and takes a batch from the front of
//! `outbox`. The lock is held only for a few pointer moves. A thread that finds it taken does
//! something else and looks again ([`Batch::Busy`]), since a queue from which another thread takes
//! is not empty.
//!
//! `push` ends with Release. A caller that must be sure that a sleeper sees the element must fence
//! afterwards.

use crate::base::sync::{
    AtomicBool, AtomicPtr, AtomicUsize, CachePadded, Ordering, UnsafeCell, relax, sleep_briefly,
    yield_now,
};
use std::ptr::{self, NonNull};

/// An element that can be queued.
///
/// # Safety
/// `link` gives the same place each time, inside the element, and no other code uses it while the
/// element is queued.
pub(crate) unsafe trait Linked: Sized {
    fn link(this: NonNull<Self>) -> NonNull<Link<Self>>;
}

/// The place in an element that names the next one, which is older while they lie in the inbox.
#[derive(Debug)]
pub(crate) struct Link<T>(AtomicPtr<T>);

impl<T> Link<T> {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The element ends: fails if its link may still be used.
    #[cfg(loom)]
    pub(crate) fn end(&mut self) {
        self.0.with_mut(|_| ());
    }
}

/// What a link holds after its producer has queued the element and before it has stored what lies
/// behind. No element has this address.
const PENDING: usize = 1;
/// A taker that meets such a link pauses this many times, then it yields: the producer may have lost its processor.
const PAUSES: u32 = 100;
/// Rounds of these and of yields before it sleeps.
const YIELDS: u32 = 2_000;

fn link<'a, T: Linked>(of: NonNull<T>) -> &'a Link<T> {
    // SAFETY: elements in a queue are alive, and the queue owns their links. The thread that pushes an element
    // leaves its link alone from the store on that names the element behind it; before that store no taker has
    // the element.
    unsafe { T::link(of).as_ref() }
}

/// The element behind this one.
fn next<T: Linked>(of: NonNull<T>) -> *mut T {
    let mut pauses = 0;
    loop {
        // Acquire: pairs with the store in `push_chain`, by which its thread leaves the element.
        let behind = link(of).0.load(Ordering::Acquire);
        if behind.addr() != PENDING {
            return behind;
        }
        pauses = (pauses + 1).min(YIELDS);
        match pauses {
            ..PAUSES => relax(),
            PAUSES..YIELDS => yield_now(),
            // The pusher may be of a lower priority, and wait for this thread's processor.
            _ => sleep_briefly(),
        }
    }
}

fn set_next<T: Linked>(of: NonNull<T>, to: *mut T) {
    link(of).0.store(to, Ordering::Relaxed);
}

/// What [`Injector::take`] brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batch {
    /// This many elements.
    Some(usize),
    /// There was nothing.
    Empty,
    /// Another thread is taking: look again.
    Busy,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Injector<T> {
    /// How many were pushed so far; counted before the push.
    pushed: AtomicUsize,
    inbox: AtomicPtr<T>,
    /// On cache lines of its own: otherwise, where many threads take what one thread pushes, the
    /// pusher would wait for each of them.
    takers: CachePadded<Takers<T>>,
}

/// What takers write.
#[derive(Debug)]
struct Takers<T> {
    locked: AtomicBool,
    /// Under the lock: what has been turned over, oldest first.
    outbox: UnsafeCell<*mut T>,
    /// How many were taken so far; written under the lock, after they were taken.
    taken: AtomicUsize,
}

// SAFETY: elements are handed whole from thread to thread; `outbox` is under the lock.
unsafe impl<T> Send for Injector<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Injector<T> {}

impl<T: Linked> Injector<T> {
    pub(crate) fn new() -> Self {
        Self {
            pushed: AtomicUsize::new(0),
            inbox: AtomicPtr::new(ptr::null_mut()),
            takers: CachePadded::new(Takers {
                locked: AtomicBool::new(false),
                outbox: UnsafeCell::new(ptr::null_mut()),
                taken: AtomicUsize::new(0),
            }),
        }
    }

    /// Whether there seemed to be nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there seemed to be: never fewer than lay there during the whole call.
    pub(crate) fn len(&self) -> usize {
        // Acquire: pairs with the store in `Locked::count`. Elements that were counted there when they were
        // taken are counted as pushed below.
        let taken = self.takers.taken.load(Ordering::Acquire);
        self.pushed.load(Ordering::Relaxed).wrapping_sub(taken)
    }

    /// Queues one element.
    ///
    /// # Safety
    /// The element lives and is left alone until it is taken.
    pub(crate) unsafe fn push(&self, element: NonNull<T>) {
        // SAFETY: a chain of one.
        unsafe { self.push_chain(element, element, 1) };
    }

    /// Queues `count` elements with one exchange. They are linked backwards: `newest` leads to
    /// `oldest`, as [`chain`] does it.
    ///
    /// # Safety
    /// As for `push`, for each of them; the links from `newest` reach `oldest` in `count` steps.
    pub(crate) unsafe fn push_chain(&self, newest: NonNull<T>, oldest: NonNull<T>, count: usize) {
        self.pushed.fetch_add(count, Ordering::Relaxed);
        set_next(oldest, ptr::without_provenance_mut(PENDING));
        // Release: hands the elements to the swap in `turn_over`. A compare-exchange would be retried again and
        // again where many threads push.
        let behind = self.inbox.swap(newest.as_ptr(), Ordering::Release);
        // Release: pairs with the load in `next`.
        link(oldest).0.store(behind, Ordering::Release);
    }

    /// Takes up to `most` elements, oldest first.
    pub(crate) fn take(&self, most: usize, mut each: impl FnMut(NonNull<T>)) -> Batch {
        if self.is_empty() {
            return Batch::Empty;
        }
        let Some(lock) = self.lock() else {
            return Batch::Busy;
        };
        let mut taken = 0;
        while taken < most {
            let Some(first) = lock.front() else { break };
            lock.set_front(next(first));
            taken += 1;
            each(first);
        }
        lock.count(taken);
        drop(lock);
        if taken == 0 {
            Batch::Empty
        } else {
            Batch::Some(taken)
        }
    }

    /// Takes the oldest element for which `wanted` returns `true`, from wherever it lies.
    pub(crate) fn take_if(&self, mut wanted: impl FnMut(NonNull<T>) -> bool) -> Option<NonNull<T>> {
        if self.is_empty() {
            return None;
        }
        let lock = loop {
            match self.lock() {
                Some(lock) => break lock,
                None => relax(),
            }
        };
        lock.append_inbox();
        let mut before: Option<NonNull<T>> = None;
        let mut at = lock.front();
        while let Some(element) = at {
            let after = next(element);
            if wanted(element) {
                match before {
                    None => lock.set_front(after),
                    Some(before) => set_next(before, after),
                }
                lock.count(1);
                return Some(element);
            }
            before = at;
            at = NonNull::new(after);
        }
        None
    }

    fn lock(&self) -> Option<Locked<'_, T>> {
        // Acquire: pairs with the store in `Locked::drop`.
        let free = !self.takers.locked.load(Ordering::Relaxed)
            && self
                .takers
                .locked
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        // Made only when the lock is held: dropping a `Locked` lets go of the lock.
        free.then(|| Locked(self))
    }

    /// Everything in the inbox, oldest first.
    fn turn_over(&self) -> *mut T {
        // Acquire: pairs with the exchange in `push_chain`.
        let mut from = self.inbox.swap(ptr::null_mut(), Ordering::Acquire);
        let mut to = ptr::null_mut();
        while let Some(element) = NonNull::new(from) {
            from = next(element);
            set_next(element, to);
            to = element.as_ptr();
        }
        to
    }
}

/// Links `element` in front of `chain` for [`Injector::push_chain`].
pub(crate) fn chain<T: Linked>(element: NonNull<T>, chain: *mut T) {
    set_next(element, chain);
}

/// The right to the outbox.
struct Locked<'a, T>(&'a Injector<T>);

impl<T: Linked> Locked<'_, T> {
    /// Counts what was taken.
    fn count(&self, taken: usize) {
        let all = &self.0.takers.taken;
        // Release: pairs with the load in `len`.
        all.store(
            all.load(Ordering::Relaxed).wrapping_add(taken),
            Ordering::Release,
        );
    }

    fn raw_front(&self) -> *mut T {
        // SAFETY: the lock is held.
        self.0.takers.outbox.with(|p| unsafe { *p })
    }

    fn set_front(&self, element: *mut T) {
        // SAFETY: the lock is held.
        self.0.takers.outbox.with_mut(|p| unsafe { *p = element });
    }

    /// The oldest element, from the inbox if the outbox is empty.
    fn front(&self) -> Option<NonNull<T>> {
        if self.raw_front().is_null() {
            self.set_front(self.0.turn_over());
        }
        NonNull::new(self.raw_front())
    }

    /// Puts what is in the inbox behind what is in the outbox.
    fn append_inbox(&self) {
        let more = self.0.turn_over();
        let Some(mut last) = NonNull::new(self.raw_front()) else {
            self.set_front(more);
            return;
        };
        while let Some(after) = NonNull::new(next(last)) {
            last = after;
        }
        set_next(last, more);
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        // Release: pairs with the exchange in `lock`.
        self.0.takers.locked.store(false, Ordering::Release);
    }
}

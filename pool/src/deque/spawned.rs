//! What `spawn` pushes: a Chase–Lev deque that grows and shrinks.
//!
//! Spawned jobs outlive the nesting of joins, so there may be any number of them. The owner
//! pushes and pops at `bottom`; thieves take from `top`, one exchange each.
//!
//! A slot holds the job and its **tag**, a word that says which scope the job belongs to. A
//! thief may look at the tag of the job on top before it takes it ([`Spawned::steal_if`]); what
//! it saw is true if its exchange succeeds, since a slot is not written again before `top` has
//! moved past it.
//!
//! Outgrown buffers are freed by the owner once no thief can be reading one. A thief enters its
//! name in `readers`, fences, and only then loads the buffer; the owner stores the new buffer,
//! fences, and looks at `readers`: at zero, whoever comes later finds the new buffer. Thieves
//! touch the line of `top` anyhow, so this costs them little, and memory goes down as soon as a
//! burst is over.

use crate::deque::steal::Steal;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, UnsafeCell, fence};
use crossbeam_utils::CachePadded;

/// Slots of the smallest buffer.
#[cfg(not(loom))]
const SMALL: usize = 64;
#[cfg(loom)]
const SMALL: usize = 2;

/// One pushed job and what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) job: *mut (),
    pub(crate) tag: u64,
}

#[derive(Debug)]
struct Slot {
    job: AtomicPtr<()>,
    tag: AtomicU64,
}

#[derive(Debug)]
struct Buffer {
    slots: Box<[Slot]>,
    /// In models: read by whoever reads, written by whoever frees.
    #[cfg(loom)]
    alive: UnsafeCell<()>,
}

impl Buffer {
    fn new(len: usize) -> Self {
        debug_assert!(len.is_power_of_two());
        let slot = |_| Slot {
            job: AtomicPtr::new(std::ptr::null_mut()),
            tag: AtomicU64::new(0),
        };
        Self {
            slots: (0..len).map(slot).collect(),
            #[cfg(loom)]
            alive: UnsafeCell::new(()),
        }
    }

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn slot(&self, index: usize) -> &Slot {
        &self.slots[index & (self.slots.len() - 1)]
    }

    fn read(&self, index: usize) -> Entry {
        #[cfg(loom)]
        self.alive.with(drop);
        let slot = self.slot(index);
        Entry {
            job: slot.job.load(Ordering::Relaxed),
            tag: slot.tag.load(Ordering::Relaxed),
        }
    }

    fn write(&self, index: usize, entry: Entry) {
        let slot = self.slot(index);
        slot.job.store(entry.job, Ordering::Relaxed);
        slot.tag.store(entry.tag, Ordering::Relaxed);
    }
}

/// What only the owner looks at.
#[derive(Debug)]
struct Own {
    /// Slots of the present buffer.
    len: usize,
    /// What `top` was when last looked at: never too great.
    top: usize,
    /// Outgrown buffers that thieves may still be reading.
    retired: Vec<*mut Buffer>,
}

/// The deque. Methods of the owner may be called by one thread at a time, the holder of the seat.
#[derive(Debug)]
pub(crate) struct Spawned {
    bottom: CachePadded<AtomicUsize>,
    own: UnsafeCell<Own>,
    top: CachePadded<AtomicUsize>,
    readers: AtomicUsize,
    buffer: AtomicPtr<Buffer>,
}

// SAFETY: `own` is touched by the owner alone (duty of those who call `push` and `pop`), and
// buffers are shared through atomics; jobs are plain words here.
unsafe impl Send for Spawned {}
// SAFETY: as above.
unsafe impl Sync for Spawned {}

impl Spawned {
    pub(crate) fn new() -> Self {
        Self {
            bottom: CachePadded::new(AtomicUsize::new(0)),
            own: UnsafeCell::new(Own {
                len: SMALL,
                top: 0,
                retired: Vec::new(),
            }),
            top: CachePadded::new(AtomicUsize::new(0)),
            readers: AtomicUsize::new(0),
            buffer: AtomicPtr::new(Box::into_raw(Box::new(Buffer::new(SMALL)))),
        }
    }

    // ---- the owner's side -------------------------------------------------------------------

    /// Pushes a job. Whoever must be sure that somebody sees it fences afterwards.
    ///
    /// # Safety
    /// The caller holds the seat.
    pub(crate) unsafe fn push(&self, entry: Entry) {
        let bottom = self.bottom.load(Ordering::Relaxed);
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let mut buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        // The line of `top` is the thieves': it is looked at only when the buffer seems full.
        // SAFETY: `own` is the owner's.
        let seen = self.own.with(|own| unsafe { (*own).top });
        if bottom.wrapping_sub(seen) >= buffer.len() {
            // Acquire: pairs with the exchange in `steal_if`, so that a slot is not written
            // before the thief that emptied it has read it.
            let top = self.top.load(Ordering::Acquire);
            // SAFETY: `own` is the owner's.
            self.own.with_mut(|own| unsafe { (*own).top = top });
            if bottom.wrapping_sub(top) >= buffer.len() {
                // SAFETY: the caller holds the seat.
                buffer = unsafe { self.resize(buffer, buffer.len() * 2, top, bottom) };
            }
        }
        buffer.write(bottom, entry);
        // Release: hands the slot to the Acquire load of `bottom` in `steal_if`.
        self.bottom.store(bottom.wrapping_add(1), Ordering::Release);
    }

    /// Takes back the job pushed last.
    ///
    /// # Safety
    /// The caller holds the seat.
    pub(crate) unsafe fn pop(&self) -> Option<Entry> {
        let bottom = self.bottom.load(Ordering::Relaxed);
        if bottom == self.top.load(Ordering::Relaxed) {
            // SAFETY: the caller holds the seat.
            unsafe { self.trim(0) };
            return None;
        }
        let last = bottom.wrapping_sub(1);
        // Release: as in `push`, for the slots below.
        self.bottom.store(last, Ordering::Release);
        // SeqCst: pairs with the fence in `steal_if`. Of a pop and a steal that meet at the last
        // job, at least one sees the other's index.
        fence(Ordering::SeqCst);
        let top = self.top.load(Ordering::Relaxed);
        let left = last.wrapping_sub(top) as isize;
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        let mut entry = (left >= 0).then(|| buffer.read(last));
        if left <= 0 {
            if left == 0 {
                // Relaxed: the job is the owner's own; only who gets it is decided here.
                let won = self.top.compare_exchange(
                    top,
                    top.wrapping_add(1),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                entry = entry.filter(|_| won.is_ok());
            }
            // Release: as above.
            self.bottom.store(bottom, Ordering::Release);
        }
        // SAFETY: the caller holds the seat.
        unsafe { self.trim(left.max(0) as usize) };
        entry
    }

    /// Gives memory back when `left` jobs need far less than there is.
    ///
    /// # Safety
    /// The caller holds the seat.
    unsafe fn trim(&self, left: usize) {
        let (len, idle) = self.own.with(|own| {
            // SAFETY: `own` is the owner's.
            let own = unsafe { &*own };
            (own.len, own.retired.is_empty())
        });
        if len > SMALL && left <= len / 8 {
            let len = (left * 2).next_power_of_two().max(SMALL);
            // Acquire: as in `push`.
            let (top, bottom) = (self.top.load(Ordering::Acquire), self.mark());
            // SAFETY: only the owner replaces the buffer, and this is the owner.
            let old = unsafe { &*self.buffer.load(Ordering::Relaxed) };
            // SAFETY: the caller holds the seat.
            unsafe { self.resize(old, len, top, bottom) };
        } else if !idle {
            // SAFETY: the caller holds the seat.
            unsafe { self.reclaim() };
        }
    }

    /// The tag of the job pushed last, if there seems to be one.
    ///
    /// # Safety
    /// The caller holds the seat.
    pub(crate) unsafe fn last_tag(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        Some(buffer.read(self.mark().wrapping_sub(1)).tag)
    }

    /// Where the next push goes: jobs pushed later lie at this index or above.
    pub(crate) fn mark(&self) -> usize {
        self.bottom.load(Ordering::Relaxed)
    }

    /// # Safety
    /// The caller holds the seat.
    unsafe fn resize(&self, old: &Buffer, len: usize, top: usize, bottom: usize) -> &Buffer {
        let new = Buffer::new(len);
        let mut index = top;
        while index != bottom {
            new.write(index, old.read(index));
            index = index.wrapping_add(1);
        }
        let new = Box::into_raw(Box::new(new));
        // Release: hands the contents to the Acquire load in `steal_if`.
        let old = self.buffer.swap(new, Ordering::Release);
        self.own.with_mut(|own| {
            // SAFETY: `own` is the owner's.
            let own = unsafe { &mut *own };
            (own.len, own.top) = (len, top);
            own.retired.push(old);
        });
        // SAFETY: the caller holds the seat.
        unsafe { self.reclaim() };
        // SAFETY: just made, and only the owner replaces it.
        unsafe { &*new }
    }

    /// Frees outgrown buffers if nobody can be reading one.
    ///
    /// # Safety
    /// The caller holds the seat.
    unsafe fn reclaim(&self) {
        // SeqCst: pairs with the fence in `steal_if`; see the top of this file.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release with which a reader leaves.
        if self.readers.load(Ordering::Acquire) != 0 {
            return;
        }
        // SAFETY: `own` is the owner's.
        let all = self
            .own
            .with_mut(|own| unsafe { std::mem::take(&mut (*own).retired) });
        for buffer in all {
            // In models it stays, marked, so that a reader would be caught.
            #[cfg(loom)]
            // SAFETY: not freed, in models.
            unsafe { &*buffer }.alive.with_mut(drop);
            #[cfg(not(loom))]
            // SAFETY: made by `Box::into_raw`, replaced since, and nobody reads it any more.
            drop(unsafe { Box::from_raw(buffer) });
        }
    }

    // ---- the thieves' side ------------------------------------------------------------------

    /// Takes the oldest job.
    pub(crate) fn steal(&self) -> Steal<Entry> {
        self.steal_if(|_| true)
    }

    /// Takes the oldest job if its tag pleases.
    pub(crate) fn steal_if(&self, wanted: impl FnOnce(u64) -> bool) -> Steal<Entry> {
        if self.is_empty() {
            return Steal::Empty;
        }
        let reading = self.read();
        // Acquire: pairs with the exchange of the thief before.
        let top = self.top.load(Ordering::Acquire);
        // SeqCst: pairs with the fence in `pop`.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the store in `push`.
        let bottom = self.bottom.load(Ordering::Acquire);
        if bottom.wrapping_sub(top) as isize <= 0 {
            return Steal::Empty;
        }
        let entry = reading.buffer().read(top);
        if !wanted(entry.tag) {
            return Steal::Empty;
        }
        // Release: the slot has been read; pairs with the load of `top` in `push`. Acquire: the
        // job's content came with `bottom`.
        match self.top.compare_exchange(
            top,
            top.wrapping_add(1),
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            Ok(_) => Steal::Taken(entry),
            Err(_) => Steal::Retry,
        }
    }

    /// How many jobs lie before the oldest one whose tag pleases, if there is one. What is
    /// found may be gone when the caller acts on it.
    pub(crate) fn find(&self, wanted: impl Fn(u64) -> bool) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let reading = self.read();
        let top = self.top.load(Ordering::Acquire);
        // Acquire: pairs with the store in `push`.
        let bottom = self.bottom.load(Ordering::Acquire);
        let buffer = reading.buffer();
        let len = bottom.wrapping_sub(top) as isize;
        (0..len.clamp(0, buffer.len() as isize) as usize)
            .find(|&i| wanted(buffer.read(top.wrapping_add(i)).tag))
    }

    /// Whether there seemed to be nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let top = self.top.load(Ordering::Relaxed);
        self.bottom.load(Ordering::Relaxed).wrapping_sub(top) as isize <= 0
    }

    /// How many jobs there seemed to be.
    pub(crate) fn len(&self) -> usize {
        let top = self.top.load(Ordering::Relaxed);
        (self.bottom.load(Ordering::Relaxed).wrapping_sub(top) as isize).max(0) as usize
    }

    fn read(&self) -> Reading<'_> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        // SeqCst: pairs with the fence in `reclaim`.
        fence(Ordering::SeqCst);
        Reading(self)
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        debug_assert!(self.is_empty(), "a deque was dropped with jobs in it");
        // SAFETY: `&mut self`: nobody else is here.
        unsafe { self.reclaim() };
        let buffer = self.buffer.load(Ordering::Relaxed);
        // SAFETY: made by `Box::into_raw`, and nobody reads it any more.
        drop(unsafe { Box::from_raw(buffer) });
    }
}

/// A thief inside: as long as it lives, no buffer is freed that it may have loaded.
struct Reading<'a>(&'a Spawned);

impl Reading<'_> {
    fn buffer(&self) -> &Buffer {
        // Acquire: pairs with the swap in `resize`.
        let buffer = self.0.buffer.load(Ordering::Acquire);
        // SAFETY: loaded after entering, so the owner sees this reader before it frees it.
        unsafe { &*buffer }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // Release: pairs with the load in `reclaim`.
        self.0.readers.fetch_sub(1, Ordering::Release);
    }
}

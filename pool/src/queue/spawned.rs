//! What `spawn` pushes: a Chase–Lev deque that grows and shrinks.
//!
//! Spawned jobs outlive the nesting of joins, so there may be any number of them. The owner
//! pushes and pops at `bottom`; thieves take from `top`, one job or up to [`LOT`] with one
//! exchange ([`Spawned::steal_lot`]).
//!
//! With thieves of several jobs, the pop of the original Chase–Lev deque is unsound: the owner may
//! go down past jobs that the thief's exchange takes along. So, if fewer than a lot are left, the
//! owner also pops by an exchange, which gives [`Top`] a new version. A thief that looked at
//! `bottom` before fails, and one that sees the new version sees the new `bottom`. If more are
//! left, the fence is enough: a thief that has not seen the pop starts from a `top` that the owner
//! has seen, and one lot does not reach the popped job.
//!
//! A slot holds the job and its **tag**, a word that says which scope the job belongs to. A thief
//! may look at the tag of the job on top before it takes it ([`Spawned::steal_if`]). If its
//! exchange succeeds, what it saw is true, since a slot is not written again before `top` has moved
//! past it.
//!
//! The owner frees outgrown buffers once no thief can be reading them. A thief enters its name in
//! `readers`, fences, and only then loads the buffer. The owner stores the new buffer, fences, and
//! looks at `readers`: if that is zero, any thief that comes later finds the new buffer. Thieves
//! touch the line of `top` anyway, so this costs them little, and memory goes down as soon as a
//! burst is over.

use crate::base::clock;
use crate::base::sync::CachePadded;
use crate::base::sync::{
    AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, UnsafeCell, fence, relax,
};
use crate::queue::steal::Steal;
use std::mem::MaybeUninit;
use std::ptr;

/// Slots of the smallest buffer.
#[cfg(not(loom))]
const SMALL: usize = 64;
#[cfg(loom)]
const SMALL: usize = 2;

/// The most jobs that one exchange takes. If one thread spawns the work of many, they spread it by
/// halves, and few of them meet at its deque.
#[cfg(not(loom))]
pub(crate) const LOT: usize = 512;
#[cfg(loom)]
pub(crate) const LOT: usize = 2;

/// A buffer of this many slots grows only if there are no thieves, or slow ones: if a job takes
/// them longer than [`QUICK`], in nanoseconds, some [`GRACE`] apart.
const LARGE: usize = 1 << 14;
const QUICK: u64 = 150;
const GRACE: u64 = 50_000;

/// No buffer has more slots: the distance between two indices is below 2^31, and a greater one would count as none.
const MOST: usize = 1 << 30;

/// Ends the process: a panic would leave a job uncounted for which a scope waits.
#[cold]
fn too_many() -> ! {
    eprintln!("tine: more than {MOST} spawned jobs wait on one thread; aborting");
    std::process::abort();
}

/// One pushed job and what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) job: *mut (),
    pub(crate) tag: u64,
}

/// The jobs that one exchange takes.
pub(crate) struct Lot {
    entries: [MaybeUninit<Entry>; LOT],
    /// How many of them there are.
    count: usize,
}

impl Lot {
    pub(crate) fn new() -> Self {
        Self {
            entries: [MaybeUninit::uninit(); LOT],
            count: 0,
        }
    }

    fn fill(&mut self, entries: impl Iterator<Item = Entry>) {
        self.count = 0;
        for (place, entry) in self.entries.iter_mut().zip(entries) {
            place.write(entry);
            self.count += 1;
        }
    }

    /// Keeps the jobs before the first one that belongs to something else than they do, and says how many these are.
    fn keep_kin(&mut self) -> u32 {
        let entries = self.entries();
        self.count = entries
            .iter()
            .take_while(|e| e.tag == entries[0].tag)
            .count();
        self.count as u32
    }

    /// The oldest first.
    pub(crate) fn entries(&self) -> &[Entry] {
        let entries = ptr::from_ref(&self.entries).cast::<Entry>();
        // SAFETY: in bounds, and initialised: `fill` has written at least that many, and `keep_kin` only lowers the count.
        unsafe { std::slice::from_raw_parts(entries, self.count) }
    }
}

/// The thieves' end: the index of the oldest job, and how often the owner popped near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Top(u64);

impl Top {
    fn index(self) -> u32 {
        self.0 as u32
    }
    fn version(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn after(self, jobs: u32) -> Self {
        Self(u64::from(self.version()) << 32 | u64::from(self.index().wrapping_add(jobs)))
    }
    fn next_version(self) -> Self {
        Self(self.0.wrapping_add(1 << 32))
    }
    /// The number of jobs between this and a `bottom`; below zero if it has been passed.
    fn to(self, bottom: u32) -> i32 {
        bottom.wrapping_sub(self.index()) as i32
    }
}

#[derive(Debug)]
struct Slot {
    job: AtomicPtr<()>,
    tag: AtomicU64,
}

#[derive(Debug)]
struct Buffer {
    slots: Box<[Slot]>,
    /// In models: each reader of the buffer reads it, and freeing the buffer writes it.
    #[cfg(loom)]
    alive: UnsafeCell<()>,
}

impl Buffer {
    /// Slots cost no memory until they are used, if there are many: zeroed pages come from the
    /// system untouched.
    #[cfg(not(loom))]
    fn new(len: usize) -> Self {
        use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
        debug_assert!(len.is_power_of_two());
        let layout = Layout::array::<Slot>(len).expect("a deque that fits into memory");
        // SAFETY: the layout is not of size zero.
        let slots = unsafe { alloc_zeroed(layout) }.cast::<Slot>();
        if slots.is_null() {
            handle_alloc_error(layout);
        }
        let slots = std::ptr::slice_from_raw_parts_mut(slots, len);
        // SAFETY: allocated with the layout of this type; zeroes are null pointers and numbers.
        let slots = unsafe { Box::from_raw(slots) };
        Self { slots }
    }

    #[cfg(loom)]
    fn new(len: usize) -> Self {
        let slot = |_| Slot {
            job: AtomicPtr::new(std::ptr::null_mut()),
            tag: AtomicU64::new(0),
        };
        Self {
            slots: (0..len).map(slot).collect(),
            alive: UnsafeCell::new(()),
        }
    }

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn slot(&self, index: u32) -> &Slot {
        &self.slots[index as usize & (self.slots.len() - 1)]
    }

    fn read(&self, index: u32) -> Entry {
        #[cfg(loom)]
        self.alive.with(drop);
        let slot = self.slot(index);
        Entry {
            job: slot.job.load(Ordering::Relaxed),
            tag: slot.tag.load(Ordering::Relaxed),
        }
    }

    fn write(&self, index: u32, entry: Entry) {
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
    /// The value of `top` at the last look: never too great.
    top: u32,
    /// The value of `top` when the present buffer was made.
    first: u32,
    /// Outgrown buffers that thieves may still be reading.
    retired: Vec<*mut Buffer>,
}

/// The deque. Methods of the owner may be called by one thread at a time, the holder of the seat.
#[derive(Debug)]
pub(crate) struct Spawned {
    bottom: CachePadded<AtomicU32>,
    own: UnsafeCell<Own>,
    thieves: CachePadded<Thieves>,
    buffer: AtomicPtr<Buffer>,
}

/// What each thief writes, on one line: a thief takes it from the others once.
#[derive(Debug)]
struct Thieves {
    top: AtomicU64,
    readers: AtomicUsize,
    /// The seat of the last thief that noted itself.
    last: AtomicUsize,
}

// SAFETY: only the owner touches `own` (duty of the callers of `push` and `pop`). Buffers are
// shared through atomics; jobs are plain words here.
unsafe impl Send for Spawned {}
// SAFETY: as above.
unsafe impl Sync for Spawned {}

impl Spawned {
    pub(crate) fn new() -> Self {
        Self {
            bottom: CachePadded::new(AtomicU32::new(0)),
            own: UnsafeCell::new(Own {
                len: SMALL,
                top: 0,
                first: 0,
                retired: Vec::new(),
            }),
            thieves: CachePadded::new(Thieves {
                top: AtomicU64::new(0),
                readers: AtomicUsize::new(0),
                last: AtomicUsize::new(0),
            }),
            buffer: AtomicPtr::new(Box::into_raw(Box::new(Buffer::new(SMALL)))),
        }
    }

    // ---- the owner's side -------------------------------------------------------------------

    /// Pushes a job. A caller that must be sure that another thread sees the job must fence
    /// afterwards.
    ///
    /// # Safety
    /// The caller holds the seat.
    pub(crate) unsafe fn push(&self, entry: Entry) {
        let bottom = self.bottom.load(Ordering::Relaxed);
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let mut buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        // The line of `top` belongs to the thieves: it is read only when the buffer seems full.
        // SAFETY: `own` is the owner's.
        let seen = self.own.with(|own| unsafe { (*own).top });
        if bottom.wrapping_sub(seen) as usize >= buffer.len() {
            // SAFETY: the caller holds the seat.
            unsafe { self.make_room(bottom) };
            // SAFETY: as above.
            buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        }
        buffer.write(bottom, entry);
        // Release: hands the slot to the Acquire load of `bottom` in `steal_if`.
        self.bottom.store(bottom.wrapping_add(1), Ordering::Release);
    }

    /// The buffer seems full. Looks whether it is, and makes room. It frees the old buffer, so none
    /// of its arguments may be a reference to that: it would have to stay good.
    ///
    /// # Safety
    /// The caller holds the seat.
    #[cold]
    unsafe fn make_room(&self, bottom: u32) {
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let len = unsafe { &*self.buffer.load(Ordering::Relaxed) }.len();
        // Acquire: pairs with the exchange of a thief, so that a slot is not written before the
        // thief that emptied it has read it.
        let mut top = self.top(Ordering::Acquire);
        // SAFETY: `own` is the owner's.
        let first = self.own.with(|own| unsafe { (*own).first });
        let full = top.to(bottom) as usize >= len;
        if full && len >= LARGE && top.index() != first {
            top = self.wait_for_thieves(len, bottom, top);
        }
        // SAFETY: `own` is the owner's.
        self.own.with_mut(|own| unsafe { (*own).top = top.index() });
        if top.to(bottom) as usize >= len {
            if len >= MOST {
                too_many();
            }
            // SAFETY: the caller holds the seat.
            unsafe { self.resize(len * 2, top, bottom) };
        }
    }

    /// A large buffer is full. If thieves empty it about as fast as it fills, they get time to make
    /// some room: jobs so small cost more if they pile up than if they come later. The wait ends as
    /// soon as the thieves are slower, so it only delays a push.
    fn wait_for_thieves(&self, len: usize, bottom: u32, mut top: Top) -> Top {
        let enough = len - len / 8;
        let (start, before) = (clock::now(), top);
        while top.to(bottom) as usize > enough {
            for _ in 0..16 {
                relax();
            }
            // Acquire: as in `make_room`.
            top = self.top(Ordering::Acquire);
            let taken = before.to(top.index()) as u64;
            let most = clock::ticks(GRACE + taken * QUICK);
            if clock::have_passed(most, start, clock::now()) {
                break;
            }
        }
        top
    }

    /// Takes back the job pushed last.
    ///
    /// # Safety
    /// The caller holds the seat.
    pub(crate) unsafe fn pop(&self) -> Option<Entry> {
        let bottom = self.mark();
        let mut top = self.top(Ordering::Relaxed);
        if top.to(bottom) <= 0 {
            // SAFETY: the caller holds the seat.
            unsafe { self.trim(0) };
            return None;
        }
        let last = bottom.wrapping_sub(1);
        // Release: as in `push`, for the slots below.
        self.bottom.store(last, Ordering::Release);
        if top.to(last) >= LOT as i32 {
            // SeqCst: pairs with the fence of a thief. If a pop and a steal meet, at least one of the two sees
            // the other's index.
            fence(Ordering::SeqCst);
            top = self.top(Ordering::Relaxed);
        }
        if top.to(last) < LOT as i32 && !self.pop_near(last, top) {
            // Release: as above.
            self.bottom.store(bottom, Ordering::Release);
            // SAFETY: the caller holds the seat.
            unsafe { self.trim(0) };
            return None;
        }
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let entry = unsafe { &*self.buffer.load(Ordering::Relaxed) }.read(last);
        // SAFETY: the caller holds the seat.
        unsafe { self.trim(top.to(last).max(0) as usize) };
        Some(entry)
    }

    /// Claims the job at `last`, which thieves may reach, by a new version of `top`. Returns
    /// whether it was still there. `bottom` is `last` already.
    fn pop_near(&self, last: u32, mut top: Top) -> bool {
        while top.to(last) >= 0 {
            // Release: a thief that sees the new version sees the new `bottom`. The job is the
            // owner's own, and only which thread gets it is decided here.
            match self.exchange(top, top.next_version(), Ordering::Release) {
                Ok(()) => return true,
                Err(now) => top = now,
            }
        }
        false
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
            // Acquire: as in `make_room`.
            let (top, bottom) = (self.top(Ordering::Acquire), self.mark());
            // SAFETY: the caller holds the seat.
            unsafe { self.resize(len, top, bottom) };
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
    pub(crate) fn mark(&self) -> u32 {
        self.bottom.load(Ordering::Relaxed)
    }

    /// # Safety
    /// The caller holds the seat, and has no reference to the buffer that it uses again.
    unsafe fn resize(&self, len: usize, top: Top, bottom: u32) {
        let new = Buffer::new(len);
        // SAFETY: only the owner replaces the buffer, and this is the owner.
        let old = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        let mut index = top.index();
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
            (own.len, own.top, own.first) = (len, top.index(), top.index());
            own.retired.push(old);
        });
        // SAFETY: the caller holds the seat.
        unsafe { self.reclaim() };
    }

    /// Frees outgrown buffers if no thief can be reading one.
    ///
    /// # Safety
    /// The caller holds the seat.
    unsafe fn reclaim(&self) {
        // SeqCst: pairs with the fence in `look`; see the top of this file.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release with which a reader leaves.
        if self.thieves.readers.load(Ordering::Acquire) != 0 {
            return;
        }
        // SAFETY: `own` is the owner's.
        let all = self
            .own
            .with_mut(|own| unsafe { std::mem::take(&mut (*own).retired) });
        for buffer in all {
            // In models the buffer stays, with a mark, so that a reader would be caught.
            #[cfg(loom)]
            // SAFETY: not freed, in models.
            unsafe { &*buffer }.alive.with_mut(drop);
            #[cfg(not(loom))]
            // SAFETY: made by `Box::into_raw`, replaced since, and no thief reads it any more.
            drop(unsafe { Box::from_raw(buffer) });
        }
    }

    // ---- the thieves' side ------------------------------------------------------------------

    /// Takes the oldest job.
    pub(crate) fn steal(&self) -> Steal<Entry> {
        self.steal_if(|_| true)
    }

    /// Takes the oldest job if `wanted` returns `true` for its tag.
    pub(crate) fn steal_if(&self, wanted: impl FnOnce(u64) -> bool) -> Steal<Entry> {
        if self.is_empty() {
            return Steal::Empty;
        }
        let reading = self.read();
        let (top, bottom) = self.look();
        if top.to(bottom) <= 0 {
            return Steal::Empty;
        }
        let entry = reading.buffer().read(top.index());
        if !wanted(entry.tag) {
            return Steal::Empty;
        }
        // Release: the slot has been read; pairs with the load of `top` in `make_room`. Acquire:
        // the job's content came with `bottom`.
        match self.exchange(top, top.after(1), Ordering::AcqRel) {
            Ok(()) => Steal::Taken(entry),
            Err(_) => Steal::Retry,
        }
    }

    /// Takes the older half of the jobs, but no more than `lot` has places for, and only jobs of the same scope as the oldest. Jobs of an
    /// inner scope stay where their owner looks first. The caller has seen that there are jobs.
    pub(crate) fn steal_lot(&self, lot: &mut Lot) -> Steal<()> {
        let reading = self.read();
        let (top, bottom) = self.look();
        let len = top.to(bottom);
        if len <= 0 {
            return Steal::Empty;
        }
        let count = (len as u32).div_ceil(2).min(LOT as u32);
        let buffer = reading.buffer();
        // Before the exchange: after it the owner may use the slots again.
        lot.fill((0..count).map(|index| buffer.read(top.index().wrapping_add(index))));
        let count = lot.keep_kin();
        // AcqRel: as in `steal_if`.
        match self.exchange(top, top.after(count), Ordering::AcqRel) {
            Ok(()) => Steal::Taken(()),
            Err(_) => Steal::Retry,
        }
    }

    /// Both ends, for a thief that is about to take a job.
    fn look(&self) -> (Top, u32) {
        // Acquire: pairs with the exchange of the thief before, and with the owner's.
        let top = self.top(Ordering::Acquire);
        // SeqCst: pairs with the fence in `pop`, and with the fence in `reclaim`: a reader enters its name
        // before the fence, and loads the buffer after it.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the store in `push`.
        (top, self.bottom.load(Ordering::Acquire))
    }

    /// The number of jobs before the oldest one that is `wanted` by its tag, if there is one. That
    /// job may be gone when the caller acts on it.
    pub(crate) fn find(&self, wanted: impl Fn(u64) -> bool) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let reading = self.read();
        let (top, bottom) = self.look();
        let buffer = reading.buffer();
        let len = (top.to(bottom).max(0) as usize).min(buffer.len());
        (0..len).find(|&i| wanted(buffer.read(top.index().wrapping_add(i as u32)).tag))
    }

    /// The thief on that seat has taken jobs: the owner will look for them there first.
    pub(crate) fn note_thief(&self, seat: usize) {
        self.thieves.last.store(seat, Ordering::Relaxed);
    }

    /// The seat of the last such thief, or 0 if there was none.
    pub(crate) fn last_thief(&self) -> usize {
        self.thieves.last.load(Ordering::Relaxed)
    }

    /// Whether there seemed to be nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a thief seemed to be inside.
    pub(crate) fn is_read(&self) -> bool {
        // Relaxed: a thief only decides by this where it goes.
        self.thieves.readers.load(Ordering::Relaxed) > 0
    }

    /// How many jobs there seemed to be.
    pub(crate) fn len(&self) -> usize {
        self.top(Ordering::Relaxed).to(self.mark()).max(0) as usize
    }

    fn top(&self, order: Ordering) -> Top {
        Top(self.thieves.top.load(order))
    }

    fn exchange(&self, old: Top, new: Top, success: Ordering) -> Result<(), Top> {
        self.thieves
            .top
            .compare_exchange(old.0, new.0, success, Ordering::Relaxed)
            .map(drop)
            .map_err(Top)
    }

    /// Enters. [`Self::look`] is to follow before [`Reading::buffer`]: its fence stands between the two.
    fn read(&self) -> Reading<'_> {
        self.thieves.readers.fetch_add(1, Ordering::Relaxed);
        Reading(self)
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        debug_assert!(self.is_empty(), "a deque was dropped with jobs in it");
        // SAFETY: `&mut self`: no other thread is here.
        unsafe { self.reclaim() };
        let buffer = self.buffer.load(Ordering::Relaxed);
        // SAFETY: made by `Box::into_raw`, and no thief reads it any more.
        drop(unsafe { Box::from_raw(buffer) });
    }
}

/// A thief inside: as long as it lives, no buffer is freed that it may have loaded.
struct Reading<'a>(&'a Spawned);

impl Reading<'_> {
    fn buffer(&self) -> &Buffer {
        // Acquire: pairs with the swap in `resize`.
        let buffer = self.0.buffer.load(Ordering::Acquire);
        // SAFETY: loaded after entering and a fence, so the owner sees this reader before it frees it.
        unsafe { &*buffer }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // Release: pairs with the load in `reclaim`.
        self.0.thieves.readers.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Entry, Lot, Spawned, Steal};

    #[test]
    fn a_thief_takes_what_it_wants_alone() {
        let deque = Spawned::new();
        let entry = Entry {
            job: std::ptr::null_mut(),
            tag: 1,
        };
        // SAFETY: this is the owner's thread, and the deque lives on.
        unsafe { deque.push(entry) };
        assert!(matches!(deque.steal_if(|tag| tag == 2), Steal::Empty));
        let taken = deque.steal_if(|tag| tag == 1);
        assert!(matches!(taken, Steal::Taken(Entry { tag: 1, .. })));
        assert!(deque.is_empty());
    }

    /// A lot is half of the jobs, and ends before the first one of another scope.
    #[test]
    fn a_lot_is_of_one_scope() {
        let job = std::ptr::null_mut();
        for (tags, taken) in [
            (&[1, 1, 1, 1][..], 2),
            (&[1, 1, 2, 2, 2, 2], 2),
            (&[1, 2, 3, 4, 5], 1),
            (&[0, 0, 0, 0, 0, 1], 3),
            (&[7], 1),
        ] {
            let deque = Spawned::new();
            // SAFETY: this is the owner's thread, and the deque lives on.
            tags.iter()
                .for_each(|&tag| unsafe { deque.push(Entry { job, tag }) });
            let mut lot = Lot::new();
            assert!(matches!(deque.steal_lot(&mut lot), Steal::Taken(())));
            let kept: Vec<_> = lot.entries().iter().map(|entry| entry.tag).collect();
            assert_eq!(kept, tags[..taken]);
            for &tag in &tags[taken..] {
                let next = deque.steal();
                assert!(matches!(next, Steal::Taken(entry) if entry.tag == tag));
            }
            assert!(deque.is_empty());
        }
    }
}

//! Memory for spawned jobs: bump allocation in chunks that are freed as a whole.
//!
//! ```text
//!   chunk, aligned to its size
//!   ┌──────┬───────┬───────┬───────┬─ ─ ─ ─┐
//!   │ live │ piece │ piece │ piece │  free │
//!   └──────┴───────┴───────┴───────┴─ ─ ─ ─┘
//!                                  ▲ the owner's next piece
//! ```
//!
//! One thread at a time, the holder of the seat, allocates; any thread frees. A piece knows its
//! chunk by its address. `live` starts with more than a chunk can hold. Each freed piece counts it
//! down by one. When the owner leaves a full chunk, it counts `live` down by the number of pieces
//! that it has not handed out. The thread that brings `live` to zero frees the chunk.
//!
//! The reason: if one thread allocates a job and another frees it, the two contend in the system's
//! allocator. That costs both threads more than passing the job through the deque.
//!
//! Tasks spawned by one thread lie side by side, so all threads that run them would count the same
//! chunk down for each task. So a thread that only runs jobs [`collect`]s: it counts the pieces
//! that it frees in one chunk by itself, and gives these counts back when it frees a piece of
//! another chunk, or finds no more work.

use crate::base::sync::{AtomicUsize, Ordering, UnsafeCell, thread_own};
#[cfg(not(loom))]
use std::alloc::dealloc;
use std::alloc::{Layout, alloc};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// What a chunk spans, and its alignment.
#[cfg(not(loom))]
const CHUNK: usize = 16 << 10;
#[cfg(loom)]
const CHUNK: usize = 1 << 10;
/// Bytes of a chunk.
const SIZE: usize = CHUNK - 16;
/// Every piece starts at a multiple of this.
const ALIGN: usize = 8;
/// Larger pieces do not come from chunks.
#[cfg(not(loom))]
const LARGEST: usize = CHUNK / 16;
/// In models two pieces fill a chunk.
#[cfg(loom)]
const LARGEST: usize = 448;
/// More pieces than a chunk can hold.
const MANY: usize = CHUNK;

/// The front of a chunk.
struct Head {
    live: AtomicUsize,
    /// In models a chunk is marked, not freed.
    #[cfg(loom)]
    freed: UnsafeCell<bool>,
}

/// A little less than a chunk spans: the system's allocator needs some room between two chunks that
/// lie side by side.
const fn chunk_layout() -> Layout {
    match Layout::from_size_align(SIZE, CHUNK) {
        Ok(layout) => layout,
        Err(_) => unreachable!(),
    }
}

/// The owner's side.
#[derive(Debug)]
struct Bump {
    chunk: *mut Head,
    /// Where the next piece begins.
    next: usize,
    /// Pieces handed out from this chunk.
    pieces: usize,
}

/// An allocator with one allocating thread at a time.
#[derive(Debug)]
pub(crate) struct Slab(UnsafeCell<Bump>);

// SAFETY: the cell is touched by the owner alone (duty of the callers of `alloc`); chunks may be
// freed by any thread.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(Bump {
            chunk: ptr::null_mut(),
            next: SIZE,
            pieces: 0,
        }))
    }

    /// Whether a piece of this layout can come from a slab at all.
    pub(crate) const fn suits(layout: Layout) -> bool {
        layout.size() <= LARGEST && layout.align() <= ALIGN
    }

    /// A piece for this layout, which must suit; `None` if memory is short.
    ///
    /// # Safety
    /// The caller holds the seat.
    pub(crate) unsafe fn alloc(&self, layout: Layout) -> Option<NonNull<()>> {
        debug_assert!(Self::suits(layout));
        self.0.with_mut(|bump| {
            // SAFETY: the caller holds the seat, and no other thread touches the cell.
            let bump = unsafe { &mut *bump };
            if bump.next + layout.size() > SIZE {
                bump.renew()?;
            }
            // SAFETY: within the chunk.
            let piece = unsafe { bump.chunk.byte_add(bump.next) };
            bump.next += layout.size().next_multiple_of(ALIGN).max(ALIGN);
            bump.pieces += 1;
            NonNull::new(piece.cast())
        })
    }

    /// Gives a piece back.
    ///
    /// # Safety
    /// The piece came from `alloc` of some slab, and is not used again.
    pub(crate) unsafe fn free(piece: NonNull<()>) {
        let chunk = piece.as_ptr().map_addr(|a| a & !(CHUNK - 1)).cast::<Head>();
        if !COLLECTED.with(|collected| collected.add(chunk)) {
            // SAFETY: a piece that is in use has not been counted down yet, so its chunk is alive.
            unsafe { release(chunk, 1) };
        }
    }
}

// ---- a thread that frees many pieces --------------------------------------------------------

thread_own! {
    static COLLECTED: Collected = Collected::new();
}

/// The counts that this thread has to give back.
struct Collected {
    open: Cell<bool>,
    /// Of which chunk; where there are none the address says nothing.
    chunk: Cell<*mut Head>,
    counts: Cell<usize>,
}

impl Collected {
    const fn new() -> Self {
        Self {
            open: Cell::new(false),
            chunk: Cell::new(ptr::null_mut()),
            counts: Cell::new(0),
        }
    }

    /// Takes over the count of a piece that its owner gives up. False if this thread does not collect.
    #[inline]
    fn add(&self, chunk: *mut Head) -> bool {
        if !self.open.get() {
            return false;
        }
        if self.chunk.get() != chunk {
            self.give_back();
            self.chunk.set(chunk);
        }
        self.counts.set(self.counts.get() + 1);
        true
    }

    fn give_back(&self) {
        let counts = self.counts.replace(0);
        if counts > 0 {
            // SAFETY: these are the counts of that number of pieces of this chunk, which `add` has taken over.
            unsafe { release(self.chunk.get(), counts) };
        }
    }
}

/// While this lives the calling thread collects; then it gives back what it has, and no longer does so.
#[derive(Debug)]
pub(crate) struct Collecting(PhantomData<*const ()>);

pub(crate) fn collect() -> Collecting {
    COLLECTED.with(|collected| collected.open.set(true));
    Collecting(PhantomData)
}

impl Collecting {
    /// Gives the counts back. A thread that may sleep next must call this: until then it keeps a
    /// chunk alive.
    pub(crate) fn give_back(&self) {
        COLLECTED.with(Collected::give_back);
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        self.give_back();
        COLLECTED.with(|collected| collected.open.set(false));
    }
}

impl Bump {
    /// Leaves the chunk for a new one.
    #[cold]
    fn renew(&mut self) -> Option<()> {
        self.leave();
        // SAFETY: the layout is not of size zero.
        let chunk = NonNull::new(unsafe { alloc(chunk_layout()) })?.cast::<Head>();
        // SAFETY: large enough, aligned, and no other code has it.
        unsafe {
            chunk.write(Head {
                live: AtomicUsize::new(MANY),
                #[cfg(loom)]
                freed: UnsafeCell::new(false),
            })
        };
        *self = Self {
            chunk: chunk.as_ptr(),
            next: size_of::<Head>().next_multiple_of(ALIGN),
            pieces: 0,
        };
        Some(())
    }

    fn leave(&mut self) {
        let (chunk, unused) = (self.chunk, MANY - self.pieces);
        *self = Self {
            chunk: ptr::null_mut(),
            next: SIZE,
            pieces: 0,
        };
        if !chunk.is_null() {
            // SAFETY: the owner's own counts keep the chunk until here.
            unsafe { release(chunk, unused) };
        }
    }
}

/// Counts a chunk down, and frees it at zero.
///
/// # Safety
/// The caller has this many counts, and gives them up.
unsafe fn release(chunk: *mut Head, counts: usize) {
    // SAFETY: alive while counts are held.
    let live = unsafe { &(*chunk).live };
    // AcqRel: what was done with each piece comes before the chunk is freed.
    if live.fetch_sub(counts, Ordering::AcqRel) == counts {
        // SAFETY: no other thread has a count, and the chunk is not used again.
        unsafe { discard(chunk) };
    }
}

/// # Safety
/// The chunk was made in `renew`, and no thread uses it any more.
#[cfg(not(loom))]
unsafe fn discard(chunk: *mut Head) {
    // SAFETY: by the duty above.
    unsafe { ptr::drop_in_place(chunk) };
    // SAFETY: made in `renew` with this layout.
    unsafe { dealloc(chunk.cast(), chunk_layout()) };
}

#[cfg(loom)]
pub(crate) use watched::freed_chunks;

/// What models see of chunks that are gone.
#[cfg(loom)]
mod watched {
    use super::{CHUNK, Head, LARGEST, Slab};
    use std::cell::Cell;
    use std::ptr::NonNull;

    thread_local! {
        /// All threads of a model are one thread to the system.
        static FREED: Cell<usize> = const { Cell::new(0) };
    }

    /// How many chunks were freed since this was last asked.
    pub(crate) fn freed_chunks() -> usize {
        FREED.take()
    }

    /// # Safety
    /// The chunk was made in `renew`, and no thread uses it any more.
    pub(super) unsafe fn discard(chunk: *mut Head) {
        // SAFETY: it is kept for ever.
        let freed = unsafe { &(*chunk).freed };
        // SAFETY: watched.
        freed.with_mut(|p| unsafe { assert!(!p.replace(true), "a chunk was freed twice") });
        FREED.set(FREED.get() + 1);
    }

    impl Slab {
        /// The size of the largest pieces.
        pub(crate) const LARGEST: usize = LARGEST;

        /// Uses a piece, as a job in it does.
        ///
        /// # Safety
        /// It came from `alloc`.
        pub(crate) unsafe fn assert_alive(piece: NonNull<()>) {
            let chunk = piece.as_ptr().map_addr(|a| a & !(CHUNK - 1)).cast::<Head>();
            // SAFETY: chunks are kept for ever.
            let freed = unsafe { &(*chunk).freed };
            // SAFETY: watched.
            freed.with(|p| unsafe { assert!(!*p, "a chunk was freed before its pieces") });
        }
    }
}
#[cfg(loom)]
use watched::discard;

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: `&mut self`: no other thread is here.
        self.0.with_mut(|bump| unsafe { (*bump).leave() });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Slab;
    use std::alloc::Layout;
    use std::thread;

    #[test]
    fn pieces_are_apart_and_chunks_go_when_all_are_free() {
        let slab = Slab::new();
        let layout = Layout::new::<[u64; 3]>();
        for _ in 0..3 {
            let pieces: Vec<_> = (0..5000_u64)
                .map(|i| {
                    // SAFETY: this thread is the owner.
                    let piece = unsafe { slab.alloc(layout) }.unwrap().cast::<[u64; 3]>();
                    // SAFETY: a piece of this layout.
                    unsafe { piece.write([i; 3]) };
                    piece.as_ptr().expose_provenance()
                })
                .collect();
            thread::spawn(move || {
                for (i, piece) in pieces.into_iter().enumerate() {
                    let piece = std::ptr::with_exposed_provenance_mut::<[u64; 3]>(piece);
                    // SAFETY: written above.
                    assert_eq!(unsafe { *piece }, [i as u64; 3]);
                    // SAFETY: a piece that is no longer used.
                    unsafe { Slab::free(std::ptr::NonNull::new(piece).unwrap().cast()) };
                }
            })
            .join()
            .unwrap();
        }
    }

    #[test]
    fn what_suits() {
        assert!(Slab::suits(Layout::new::<[u8; 1000]>()));
        assert!(!Slab::suits(Layout::new::<[u8; 2000]>()));
        #[repr(align(64))]
        struct Wide;
        assert!(!Slab::suits(Layout::new::<Wide>()));
    }
}

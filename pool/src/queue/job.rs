//! One-word jobs.
//!
//! A job is known by the address of its first word. In a deque that word leads to the job's
//! [`Vtable`]; for a job that its owner waits for (`join`'s second half) the same word is also
//! the latch:
//!
//! ```text
//!   vtable ──thief──► TAKEN ──owner──► parker|ASLEEP
//!     │                 │                    │
//!     │ owner pops it   └─────thief swaps────┴────► DONE (and wakes the parker it found)
//!     ▼
//!   run in place
//! ```
//!
//! * The thief reads what it needs from the vtable word, writes its note into `taken`, and only
//!   then stores TAKEN.
//! * The owner goes to sleep by an exchange, and only on a TAKEN word. On an untaken word it spins:
//!   the thief has won the job but has not stored TAKEN yet, and would overwrite the owner's note.
//!   That note is the owner's own parker, since the word names no thread.
//! * The thief ends by a swap to DONE and touches nothing of the job after that. Parkers are never
//!   freed, so the thief may always wake the one found in the old value.

use crate::base::park::Parker;
use crate::base::sync::{AtomicPtr, Ordering, UnsafeCell};
use crate::base::unwind::{self, Payload};
use crate::queue::injector::{self, Batch, Injector, Link, Linked};
use crate::queue::latch::Signal;
use crate::queue::slab::Slab;
use crate::queue::spawned::Entry;
use std::alloc::Layout;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

/// Which thread took a job, and where: what a waiter needs to help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The seat on which it runs.
    pub(crate) seat: usize,
    /// The depth above which that seat's nested jobs are pieces of this one.
    pub(crate) base: usize,
    /// The stamp of that seat when the job began: scopes stamped later are pieces of it too.
    pub(crate) since: u64,
}

/// What can be done with a job of some type.
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Vtable {
    /// # Safety
    /// As for [`execute`]; the job is of the type that this vtable is of.
    run: unsafe fn(*mut (), Taken),
    /// Whether jobs of that type start with what a queue needs: [`Queued`].
    queues: bool,
}

const TAKEN: usize = 1;
const DONE: usize = 2;
const ASLEEP: usize = 3;
const BITS: usize = 3;

/// The first word of a job.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Word(AtomicPtr<()>);

/// What a [`Word`] says to the owner of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No thief has said anything yet.
    Untaken,
    /// It is being run elsewhere.
    Taken,
    /// It has been run, and its result is visible.
    Done,
}

impl Word {
    #[inline(always)]
    pub(crate) fn new(vtable: &'static Vtable) -> Self {
        Self(AtomicPtr::new(ptr::from_ref(vtable).cast_mut().cast()))
    }

    fn vtable(&self) -> *const Vtable {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(
            word.addr() & BITS == 0 && !word.is_null(),
            "ran a job twice"
        );
        word.cast_const().cast()
    }

    pub(crate) fn state(&self) -> State {
        // Acquire: pairs with `set_taken` and `set_done`.
        match self.0.load(Ordering::Acquire).addr() & BITS {
            0 => State::Untaken,
            DONE => State::Done,
            _ => State::Taken,
        }
    }

    /// Thief: it is mine, and `taken` is written.
    fn set_taken(&self) {
        // Release: pairs with `state`.
        self.0
            .store(ptr::without_provenance_mut(TAKEN), Ordering::Release);
    }

    /// Owner: wake this parker when done. False if the word is not TAKEN: look again.
    pub(crate) fn sleep_on(&self, parker: &'static Parker) -> bool {
        let note = ptr::from_ref(parker)
            .cast_mut()
            .cast::<()>()
            .map_addr(|a| a | ASLEEP);
        let taken = ptr::without_provenance_mut(TAKEN);
        // Release: hands the parker to the swap in `set_done`.
        match self
            .0
            .compare_exchange(taken, note, Ordering::Release, Ordering::Relaxed)
        {
            Ok(_) => true,
            Err(now) => now == note,
        }
    }

    /// Thief: it is run, and the result is written. The job may be gone when this returns.
    ///
    /// # Safety
    /// `this` is alive at the call, and the caller is the thief.
    unsafe fn set_done(this: *const Self) {
        // AcqRel: Release hands the result to `state`; Acquire takes the parker of `sleep_on`.
        // SAFETY: alive until this very swap.
        let word = unsafe { &(*this).0 };
        let old = word.swap(ptr::without_provenance_mut(DONE), Ordering::AcqRel);
        if old.addr() & BITS == ASLEEP {
            let parker = old.map_addr(|a| a & !BITS).cast_const().cast::<Parker>();
            // SAFETY: `sleep_on` made the note of a `&'static Parker`.
            unsafe { &*parker }.unpark();
        }
    }
}

/// Runs a job that came out of a deque or a queue.
///
/// # Safety
/// The job is alive, was taken by the caller alone, and has not been run.
pub(crate) unsafe fn execute(job: *mut (), by: Taken) {
    // SAFETY: every job starts with its word.
    let vtable = unsafe { &*job.cast_const().cast::<Word>() }.vtable();
    // SAFETY: vtables are static.
    let run = unsafe { (*vtable).run };
    // SAFETY: handed on; `run` is the function of this job's own type.
    unsafe { run(job, by) };
}

/// The beginning of every job on a stack, whatever its types: all that its owner needs to wait for
/// it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Head {
    word: Word,
    taken: UnsafeCell<MaybeUninit<Taken>>,
}

// SAFETY: the thief writes `taken` before it stores TAKEN; the owner reads it after it has seen TAKEN.
unsafe impl Sync for Head {}

impl Head {
    /// The word.
    pub(crate) fn word(&self) -> &Word {
        &self.word
    }

    /// The note that the thief left.
    ///
    /// # Safety
    /// The state has been seen to be Taken or Done.
    pub(crate) unsafe fn taken(&self) -> Taken {
        // SAFETY: written before TAKEN was stored with Release, which the caller has seen.
        let taken = self.taken.with(|p| unsafe { *p });
        // SAFETY: as above.
        unsafe { taken.assume_init() }
    }

    /// The thread that runs the job, if that is known and the job is still being run.
    pub(crate) fn runner(&self) -> Option<Taken> {
        // SAFETY: seen to be Taken.
        (self.word.state() == State::Taken).then(|| unsafe { self.taken() })
    }
}

/// A job on the stack of the thread that waits for it. Its body is told whether it changed threads.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct StackJob<F, R> {
    head: Head,
    body: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce(bool) -> R + Send,
    R: Send,
{
    const VTABLE: Vtable = Vtable {
        run: Self::run,
        queues: false,
    };

    #[inline(always)]
    pub(crate) fn new(body: F) -> Self {
        Self {
            head: Head {
                word: Word::new(&Self::VTABLE),
                taken: UnsafeCell::new(MaybeUninit::uninit()),
            },
            body: UnsafeCell::new(ManuallyDrop::new(body)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// What goes into a deque.
    #[inline(always)]
    pub(crate) fn erase(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// What the owner waits on.
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Takes the body out, to run it in place.
    ///
    /// # Safety
    /// The caller has the job back, untaken, and takes the body only once.
    #[inline(always)]
    pub(crate) unsafe fn take_body(&self) -> F {
        // SAFETY: by the duty above, no other thread touches the body.
        self.body.with_mut(|p| unsafe { p.cast::<F>().read() })
    }

    /// Takes the result out.
    ///
    /// # Safety
    /// The state has been seen to be Done, and the result is taken only once.
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: written before DONE was swapped in with Release, which the caller has seen.
        self.result
            .with(|p| unsafe { p.cast::<Result<R, Payload>>().read() })
    }

    /// The thief's side.
    ///
    /// # Safety
    /// As for [`execute`]; `job` is of this type.
    unsafe fn run(job: *mut (), by: Taken) {
        let this = job.cast_const().cast::<Self>();
        // SAFETY: the owner waits until DONE.
        let job = unsafe { &*this };
        // SAFETY: the owner reads it only after TAKEN.
        job.head.taken.with_mut(|p| unsafe { (*p).write(by) });
        job.head.word.set_taken();
        // SAFETY: the job was taken by this thread alone.
        let body = unsafe { job.take_body() };
        let result = unwind::catch(|| body(true));
        // SAFETY: the owner reads it only after DONE.
        job.result.with_mut(|p| unsafe { (*p).write(result) });
        // SAFETY: the owner waits until DONE.
        let word = unsafe { &raw const (*this).head.word };
        // SAFETY: alive until this swap, and nothing of it is touched afterwards.
        unsafe { Word::set_done(word) };
    }
}

/// A job on the heap for which no particular thread waits. Its body catches its own panics.
#[repr(C)]
pub(crate) struct HeapJob<F> {
    word: Word,
    body: F,
}

impl<F: FnOnce()> HeapJob<F> {
    const BOXED: Vtable = Vtable {
        run: Self::run_boxed,
        queues: false,
    };
    const PIECE: Vtable = Vtable {
        run: Self::run_piece,
        queues: false,
    };

    /// Moves the body to the heap, into a piece of `slab` if it fits. The holder of the pointer
    /// runs it once.
    ///
    /// # Safety
    /// The caller holds the seat whose slab this is.
    pub(crate) unsafe fn erase(slab: &Slab, body: F) -> *mut () {
        let layout = Layout::new::<Self>();
        if Slab::suits(layout) {
            // SAFETY: by the duty above.
            if let Some(piece) = unsafe { slab.alloc(layout) } {
                let job = Self {
                    word: Word::new(&Self::PIECE),
                    body,
                };
                // SAFETY: a piece with this layout, which no other job has.
                unsafe { piece.cast::<Self>().write(job) };
                return piece.as_ptr();
            }
        }
        Box::into_raw(Box::new(Self {
            word: Word::new(&Self::BOXED),
            body,
        }))
        .cast()
    }

    /// # Safety
    /// As for [`execute`]; `job` came from [`Self::erase`], out of a box.
    unsafe fn run_boxed(job: *mut (), _: Taken) {
        // SAFETY: made by `Box::into_raw`, and run once.
        let job = unsafe { Box::from_raw(job.cast::<Self>()) };
        (job.body)();
    }

    /// # Safety
    /// As for [`execute`]; `job` came from [`Self::erase`], out of a slab.
    unsafe fn run_piece(job: *mut (), _: Taken) {
        // SAFETY: written by `erase`, and run once.
        let this = unsafe { job.cast::<Self>().read() };
        // SAFETY: jobs are not null.
        let piece = unsafe { NonNull::new_unchecked(job) };
        // SAFETY: a piece whose content has been moved out.
        unsafe { Slab::free(piece) };
        (this.body)();
    }
}

/// A job that can be pushed any number of times, and does the same each time.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Repeated {
    word: Word,
    /// # Safety
    /// Called with this very job, alive, once for each time that it was pushed.
    body: unsafe fn(*const Self),
}

impl Repeated {
    const VTABLE: Vtable = Vtable {
        run: Self::run,
        queues: false,
    };

    /// Calls nothing yet: the duty that `# Safety` names at the field lies with the thread that
    /// pushes the job.
    pub(crate) fn new(body: unsafe fn(*const Self)) -> Self {
        Self {
            word: Word::new(&Self::VTABLE),
            body,
        }
    }

    /// # Safety
    /// As for [`execute`]; `job` is of this type.
    unsafe fn run(job: *mut (), _: Taken) {
        let this = job.cast_const().cast::<Self>();
        // SAFETY: alive until its body has let its owner go.
        let body = unsafe { (*this).body };
        // SAFETY: the duty of `execute` is the duty of the body.
        unsafe { body(this) };
    }
}

/// What stands in front of every job that can lie in a queue.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Queued {
    word: Word,
    link: Link<Self>,
    /// What the job belongs to; see the deque of spawned jobs.
    tag: u64,
}

// SAFETY: the link is a field, and only queues use it.
unsafe impl Linked for Queued {
    fn link(this: NonNull<Self>) -> NonNull<Link<Self>> {
        // SAFETY: in bounds of the element.
        let link = unsafe { &raw mut (*this.as_ptr()).link };
        // SAFETY: a field of a non-null element.
        unsafe { NonNull::new_unchecked(link) }
    }
}

impl Queued {
    fn new(vtable: &'static Vtable, tag: u64) -> Self {
        Self {
            word: Word::new(vtable),
            link: Link::new(),
            tag,
        }
    }
}

/// A job that may be put into one queue, once; it is then run once.
#[derive(Debug)]
pub(crate) struct Parcel(NonNull<Queued>);

// SAFETY: made only from jobs whose bodies may change threads.
unsafe impl Send for Parcel {}

impl Parcel {
    /// Makes a parcel of what came out of a deque or a queue. A job that has been in a queue before
    /// needs no wrapping, however often it was there; any other is wrapped.
    ///
    /// # Safety
    /// The entry was taken, is not handed on elsewhere, and was pushed by the rules of [`execute`].
    pub(crate) unsafe fn of_entry(entry: Entry, run: impl FnOnce(Entry)) -> Self {
        let Entry { job, tag } = entry;
        // SAFETY: alive until run, and the word is the first field of every job.
        let vtable = unsafe { &*job.cast_const().cast::<Word>() }.vtable();
        // SAFETY: words that are in no deque hold only their vtable, which is static.
        if unsafe { &*vtable }.queues {
            // SAFETY: jobs are not null.
            return Self(unsafe { NonNull::new_unchecked(job) }.cast());
        }
        let job = SendJob(job);
        let body = move || {
            let job = job;
            run(Entry { job: job.0, tag });
        };
        // SAFETY: the job may be run anywhere, like all jobs, and lives until it is run.
        unsafe { QueuedJob::parcel(tag, body) }
    }
}

/// A pointer to a job that may change threads: jobs are made of closures that are `Send`.
struct SendJob(*mut ());

// SAFETY: every job's body is `Send`; the pointer is the only handle to it.
unsafe impl Send for SendJob {}

/// A queue of jobs.
#[derive(Debug)]
pub(crate) struct Queue(Injector<Queued>);

impl Queue {
    pub(crate) fn new() -> Self {
        Self(Injector::new())
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Queues a job.
    pub(crate) fn push(&self, parcel: Parcel) {
        // SAFETY: a parcel's job lives until it is run, and no other thread has it.
        unsafe { self.0.push(parcel.0) };
    }

    /// Queues jobs with one exchange, in the order given.
    pub(crate) fn push_all(&self, parcels: impl IntoIterator<Item = Parcel>) {
        let mut parcels = parcels.into_iter();
        let Some(Parcel(oldest)) = parcels.next() else {
            return;
        };
        let (mut newest, mut count) = (oldest, 1);
        for Parcel(job) in parcels {
            injector::chain(job, newest.as_ptr());
            newest = job;
            count += 1;
        }
        // SAFETY: as in `push`; linked just now.
        unsafe { self.0.push_chain(newest, oldest, count) };
    }

    /// Takes up to `most` jobs, oldest first.
    pub(crate) fn take(&self, most: usize, mut each: impl FnMut(Entry)) -> Batch {
        self.0.take(most, |job| each(entry(job)))
    }

    /// Takes the oldest job with this tag.
    pub(crate) fn take_tagged(&self, tag: u64) -> Option<Entry> {
        self.take_if(|t| t == tag)
    }

    /// Takes the oldest job that is `wanted` by its tag.
    pub(crate) fn take_if(&self, wanted: impl Fn(u64) -> bool) -> Option<Entry> {
        // SAFETY: queued elements are alive.
        self.0
            .take_if(|job| wanted(unsafe { job.as_ref() }.tag))
            .map(entry)
    }
}

fn entry(job: NonNull<Queued>) -> Entry {
    // SAFETY: alive until run.
    let tag = unsafe { job.as_ref() }.tag;
    Entry {
        job: job.as_ptr().cast(),
        tag,
    }
}

/// A job for a queue, on the heap.
#[repr(C)]
pub(crate) struct QueuedJob<F> {
    head: Queued,
    body: F,
}

impl<F: FnOnce()> QueuedJob<F> {
    const VTABLE: Vtable = Vtable {
        run: Self::run,
        queues: true,
    };

    /// Moves the body to the heap.
    ///
    /// # Safety
    /// The body may be run on any thread of the pool, and what it borrows lives until then.
    pub(crate) unsafe fn parcel(tag: u64, body: F) -> Parcel {
        let job = Box::new(Self {
            head: Queued::new(&Self::VTABLE, tag),
            body,
        });
        Parcel(NonNull::from(Box::leak(job)).cast())
    }

    /// # Safety
    /// As for [`execute`]; `job` came from [`Self::parcel`].
    unsafe fn run(job: *mut (), _: Taken) {
        // SAFETY: made from a box, and run once.
        let job = unsafe { Box::from_raw(job.cast::<Self>()) };
        (job.body)();
    }
}

/// A job for a queue that borrows from the thread which waits for `done` until it has run.
#[repr(C)]
pub(crate) struct Borrowed<'a, F, L> {
    head: Queued,
    body: &'a F,
    /// Not part of the body: while the body runs, its references must stay valid, but the signal
    /// ends the life of this one.
    done: *const L,
}

impl<'a, F: Fn(), L: Signal> Borrowed<'a, F, L> {
    const VTABLE: Vtable = Vtable {
        run: Self::run,
        queues: true,
    };

    pub(crate) fn new(tag: u64, body: &'a F, done: &'a L) -> Self {
        Self {
            head: Queued::new(&Self::VTABLE, tag),
            body,
            done,
        }
    }

    /// What goes into a queue.
    ///
    /// # Safety
    /// Called once for each job. The caller keeps the job, what its body borrows, and `done` until
    /// that has had a signal from each of its jobs. The body may be run on any thread, and does not
    /// panic.
    pub(crate) unsafe fn parcel(&self) -> Parcel {
        Parcel(NonNull::from(self).cast())
    }

    /// # Safety
    /// As for [`execute`]; the job is of this type.
    unsafe fn run(job: *mut (), _: Taken) {
        let this = job.cast_const().cast::<Self>();
        // SAFETY: the owner waits for the signal.
        let done = unsafe { (*this).done };
        // SAFETY: as above.
        let body = unsafe { (*this).body };
        body();
        // SAFETY: this job's own signal; nothing of the owner's is touched after.
        unsafe { L::signal(done) };
    }
}

/// A closure at rest, with all that it captured. When a closure is called, its references must stay
/// valid until the call is over; references in here need not. A task that lets go of its owner
/// before it returns keeps what it got from the owner in one of these.
pub(crate) struct AtRest<F>(MaybeUninit<F>);

impl<F> AtRest<F> {
    pub(crate) fn new(closure: F) -> Self {
        Self(MaybeUninit::new(closure))
    }

    pub(crate) fn wake(self) -> F {
        // SAFETY: only `new` makes these, from an initialised value.
        unsafe { self.0.assume_init() }
    }
}

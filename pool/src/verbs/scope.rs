//! Scopes: tasks that may borrow from the frame that waits for them.
//!
//! A scope counts its body and its tasks (`queue/latch.rs`), and the owner waits until all have
//! ended. Another thread that runs tasks of the scope in a row keeps their counts to itself
//! (`queue/kept.rs`). Each task carries the scope's tag into whatever deque or queue it goes to. So
//! the owner, while it waits, can tell its own tasks from others.

use super::broadcast::{BroadcastContext, send_to_all};
use super::pool::{self, ThreadPool};
use crate::base::stop::{self, Chain};
use crate::base::sync::{AtomicBool, AtomicPtr, Ordering, relax};
use crate::base::unwind::{self, Payload};
use crate::queue::job::{AtRest, Queue, QueuedJob, Repeated};
use crate::queue::latch::{CountLatch, ScopeCount};
use crate::queue::spawned::Entry;
use crate::work::attend::attend_if_deserted;
use crate::work::errand;
use crate::work::kin::{Lies, ScopeWait};
use crate::work::shared::Shared;
use crate::work::under::{Under, sheltered};
use crate::work::worker::{Worker, tag};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// What both kinds of scope are made of.
struct Base<'scope> {
    /// Outlives the scope. So a scope needs no reference count of its own there, which all threads
    /// would write.
    shared: Outliving<Shared>,
    tag: u64,
    count: ScopeCount,
    /// The seat on which the scope was opened, if the seat is of this pool.
    home: Option<usize>,
    /// Where tasks were pushed or queued.
    lies: Lies,
    /// Whether spawns look at the number of unfinished tasks. If so, threads keep no counts.
    bounded: AtomicBool,
    /// The first panic.
    panic: AtomicPtr<Payload>,
    /// The tokens under which the scope was opened, and under which its tasks work.
    chain: Option<Chain>,
    /// Invariant in `'scope`.
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// Spawns tasks that may borrow anything that outlives `'scope`. See [`scope()`].
///
/// ```
/// # use tine_pool as tine;
/// let mut left = 0;
/// tine::scope(|s: &tine::Scope<'_>| s.spawn(|_| left = 1));
/// assert_eq!(left, 1);
/// ```
pub struct Scope<'scope> {
    base: Base<'scope>,
}

/// A scope whose tasks run first-in, first-out where one thread runs them. See
/// [`scope_fifo()`].
///
/// ```
/// # use tine_pool as tine;
/// tine::scope_fifo(|s: &tine::ScopeFifo<'_>| s.spawn_fifo(|_| ()));
/// ```
pub struct ScopeFifo<'scope> {
    base: Base<'scope>,
    /// Tasks in the order of their spawning. For each task there is a ticket in some deque.
    queue: Queue,
    /// The job of every ticket: run the first task.
    ticket: Repeated,
}

/// Opens a scope, calls `op` with it, and returns when `op` and every task spawned into the
/// scope have ended.
///
/// Tasks may borrow what outlives the scope, and spawn further tasks. The thread that waits runs the
/// scope's own tasks, newest first, and then helps the threads that run the rest. It runs nothing
/// else, apart from the exceptions on [the crate's page](crate). So a lock may be held across the
/// call as long as no task of the scope takes it.
///
/// # Panics
///
/// If `op` or tasks panic, one of the panics resumes in the caller once all have ended.
///
/// ```
/// # use tine_pool as tine;
/// let mut parts = [0; 4];
/// tine::scope(|s| {
///     for (i, part) in parts.iter_mut().enumerate() {
///         s.spawn(move |_| *part = i * i);
///     }
/// });
/// assert_eq!(parts, [0, 1, 4, 9]);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    pool::in_worker(|worker, _| Scope::open_on(worker, op))
}

/// As [`scope()`], with tasks that run oldest first where one thread runs several.
///
/// ```
/// # use tine_pool as tine;
/// use std::sync::Mutex;
/// let seen = Mutex::new(Vec::new());
/// let pool = tine::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// pool.scope_fifo(|s| {
///     for i in 0..5 {
///         let seen = &seen;
///         s.spawn_fifo(move |_| seen.lock().unwrap().push(i));
///     }
/// });
/// assert_eq!(seen.into_inner().unwrap(), [0, 1, 2, 3, 4]);
/// ```
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    pool::in_worker(|worker, _| ScopeFifo::open_on(worker, op))
}

/// As [`scope()`], but `op` runs on the calling thread, whichever that is, and need not be `Send`.
/// A calling thread that is no worker does not become one: it sees no index.
///
/// ```
/// # use tine_pool as tine;
/// let me = std::thread::current().id();
/// let local = std::rc::Rc::new(5); // not `Send`
/// let mut sum = 0;
/// tine::in_place_scope(|s| {
///     assert_eq!(std::thread::current().id(), me);
///     s.spawn(|_| sum += 1);
///     assert_eq!(*local, 5);
/// });
/// assert_eq!(sum, 1);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    Worker::with(|worker| match worker {
        Some(worker) => Scope::open_on(worker, op),
        None => Scope::open_outside(pool::global(), op),
    })
}

/// As [`scope_fifo()`], but `op` runs on the calling thread. See [`in_place_scope`].
///
/// ```
/// # use tine_pool as tine;
/// let mut sum = 0;
/// tine::in_place_scope_fifo(|s| s.spawn_fifo(|_| sum += 1));
/// assert_eq!(sum, 1);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    Worker::with(|worker| match worker {
        Some(worker) => ScopeFifo::open_on(worker, op),
        None => ScopeFifo::open_outside(pool::global(), op),
    })
}

impl ThreadPool {
    /// [`scope()`](crate::scope()) in this pool, whose thread runs `op`.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut done = [false; 2];
    /// pool.scope(|s| done.iter_mut().for_each(|d| s.spawn(|_| *d = true)));
    /// assert_eq!(done, [true; 2]);
    /// ```
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        errand::run_inside(self.shared(), |worker| Scope::open_on(worker, op))
    }

    /// [`scope_fifo()`](crate::scope_fifo()) in this pool, whose thread runs `op`.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.scope_fifo(|s| { s.spawn_fifo(|_| ()); 7 }), 7);
    /// ```
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        errand::run_inside(self.shared(), |worker| ScopeFifo::open_on(worker, op))
    }

    /// [`in_place_scope`](crate::in_place_scope) with tasks that run in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut done = false;
    /// pool.in_place_scope(|s| s.spawn(|_| done = true));
    /// assert!(done);
    /// ```
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.with_worker(|worker| match worker {
            Some(worker) => Scope::open_on(worker, op),
            None => Scope::open_outside(self.shared(), op),
        })
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo) with tasks that run in this pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut done = false;
    /// pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| done = true));
    /// assert!(done);
    /// ```
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.with_worker(|worker| match worker {
            Some(worker) => ScopeFifo::open_on(worker, op),
            None => ScopeFifo::open_outside(self.shared(), op),
        })
    }
}

impl<'scope> Scope<'scope> {
    fn open_on<R>(worker: &Worker<'_>, op: impl FnOnce(&Self) -> R) -> R {
        let scope = Self {
            base: Base::on(worker),
        };
        scope.base.complete(Some(worker), || op(&scope))
    }

    fn open_outside<R>(shared: &Shared, op: impl FnOnce(&Self) -> R) -> R {
        Base::outside(shared, |base| {
            let scope = Self { base };
            scope.base.complete(None, || op(&scope))
        })
    }

    /// Spawns a task into the scope. It may run at once, later, or here while the scope waits.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let words = ["one", "two"];
    /// tine::scope(|s| {
    ///     s.spawn(|s| {
    ///         assert_eq!(words[0], "one"); // borrowed
    ///         s.spawn(|_| assert_eq!(words[1], "two")); // a task of a task
    ///     });
    /// });
    /// ```
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let (me, body) = (Outliving(self), AtRest::new(body));
        self.base.push(move || {
            // SAFETY: the scope is not left before this task has been counted down, below.
            let scope = unsafe { me.get() };
            scope.base.caught_task(body, |body| body(scope));
            // SAFETY: the task's own count; its body is gone, and nothing is touched after.
            unsafe { Base::count_down(&raw const scope.base) };
        });
    }

    /// Spawns a task, unless the scope has `limit` unfinished tasks already. In that case the task
    /// runs here, before the call returns. So a scope that is filled faster than its tasks are done
    /// does not fill memory.
    ///
    /// The limit is checked without a reservation: if N threads spawn at once, there may be N more
    /// tasks.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// let sum = AtomicU64::new(0);
    /// tine::scope(|s| {
    ///     for n in 0..10_000 {
    ///         let sum = &sum;
    ///         s.spawn_bounded(100, move |_| drop(sum.fetch_add(n, Relaxed)));
    ///     }
    /// });
    /// assert_eq!(sum.into_inner(), 49_995_000);
    /// ```
    pub fn spawn_bounded<BODY>(&self, limit: usize, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        self.base.bound();
        if self.base.count.unfinished() < limit {
            self.spawn(body);
        } else {
            // As if another thread ran it.
            sheltered(|| self.base.caught_task(AtRest::new(body), |body| body(self)));
        }
    }

    /// Spawns a task that runs once on each thread of the pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    /// let count = AtomicUsize::new(0);
    /// tine::scope(|s| {
    ///     s.spawn_broadcast(|_, _| {
    ///         count.fetch_add(1, Relaxed);
    ///     })
    /// });
    /// assert_eq!(count.into_inner(), tine::current_num_threads());
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let run = move |scope: &Outliving<Self>, context: BroadcastContext<'_>| {
            // SAFETY: the scope is not left before each letter has been counted down.
            body(unsafe { scope.get() }, context);
        };
        self.base.push_to_all(self, run);
    }
}

impl<'scope> ScopeFifo<'scope> {
    fn new(base: Base<'scope>) -> Self {
        Self {
            base,
            queue: Queue::new(),
            ticket: Repeated::new(Self::run_first),
        }
    }

    /// What goes into a deque: a pointer to the ticket, through which the whole scope can be
    /// reached.
    fn ticket(&self) -> *mut () {
        let whole = ptr::from_ref(self);
        whole
            .wrapping_byte_add(std::mem::offset_of!(Self, ticket))
            .cast_mut()
            .cast()
    }

    /// What a ticket does; `ticket` is the ticket of a scope.
    ///
    /// # Safety
    /// As for running a job; the ticket is part of a `ScopeFifo` that is alive.
    unsafe fn run_first(ticket: *const Repeated) {
        // SAFETY: by the duty above.
        let scope = unsafe { ticket.byte_sub(std::mem::offset_of!(Self, ticket)) }.cast::<Self>();
        // SAFETY: alive until the task has been run and counted down.
        let queue = unsafe { &(*scope).queue };
        run_entry(first(queue));
    }

    fn open_on<R>(worker: &Worker<'_>, op: impl FnOnce(&Self) -> R) -> R {
        let scope = Self::new(Base::on(worker));
        scope.base.complete(Some(worker), || op(&scope))
    }

    fn open_outside<R>(shared: &Shared, op: impl FnOnce(&Self) -> R) -> R {
        Base::outside(shared, |base| {
            let scope = Self::new(base);
            scope.base.complete(None, || op(&scope))
        })
    }

    /// Spawns a task into the scope; see [`Scope::spawn`].
    ///
    /// ```
    /// # use tine_pool as tine;
    /// tine::scope_fifo(|s| s.spawn_fifo(|s| s.spawn_fifo(|_| ())));
    /// ```
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let (me, body) = (Outliving(self), AtRest::new(body));
        let base = &self.base;
        let task = move || {
            // SAFETY: the scope is not left before this task has been counted down, below.
            let scope = unsafe { me.get() };
            scope.base.caught_task(body, |body| body(scope));
            // SAFETY: the task's own count; its body is gone, and nothing is touched after.
            unsafe { Base::count_down(&raw const scope.base) };
        };
        // SAFETY: the body is `Send`, and what it borrows outlives the scope, which waits.
        let parcel = unsafe { QueuedJob::parcel(base.tag, task) };
        base.with_worker(|worker| match worker {
            Some(worker) => {
                base.count_one(Some(worker));
                self.queue.push(parcel);
                // SAFETY: the ticket lives as long as the scope, which waits for the task.
                unsafe { worker.push_spawned(self.ticket(), base.tag) };
                worker.announce_task();
            }
            None => {
                base.count_one(None);
                base.shared().inject_task(parcel);
                attend_if_deserted(base.shared());
            }
        });
        base.tell_owner();
    }

    /// Spawns a task that runs once on each thread of the pool.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// tine::scope_fifo(|s| s.spawn_broadcast(|_, context| assert!(context.index() < context.num_threads())));
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let run = move |scope: &Outliving<Self>, context: BroadcastContext<'_>| {
            // SAFETY: the scope is not left before each letter has been counted down.
            body(unsafe { scope.get() }, context);
        };
        self.base.push_to_all(self, run);
    }
}

/// Runs the first job of a queue that is known to have one.
pub(crate) fn run_first(queue: &Queue) {
    run_entry(first(queue));
}

/// Takes the first job of a queue that is known to have one.
fn first(queue: &Queue) -> Entry {
    loop {
        let mut first = None;
        queue.take(1, |entry| first = Some(entry));
        if let Some(entry) = first {
            return entry;
        }
        relax();
    }
}

fn run_entry(entry: Entry) {
    Worker::with(|worker| match worker {
        Some(worker) => worker.run(entry),
        None => unreachable!("a ticket was run by no worker"),
    });
}

impl<'scope> Base<'scope> {
    fn on(worker: &Worker<'_>) -> Self {
        let count = ScopeCount::at_home(worker.seat.wait_parker());
        let home = Some(worker.seat.index);
        Self::new(worker.shared, worker.open_scope(), count, home)
    }

    /// For a thread that is no worker of `shared`.
    fn outside<R>(shared: &Shared, f: impl FnOnce(Self) -> R) -> R {
        let tag = tag::outside();
        let make = |parker| Self::new(shared, tag, ScopeCount::outside(parker), None);
        errand::with_parker_for(shared, |parker| f(make(parker)))
    }

    /// The caller waits for the scope in the frame in which it borrows `shared`.
    fn new(shared: &Shared, tag: u64, count: ScopeCount, home: Option<usize>) -> Self {
        let panic = AtomicPtr::new(ptr::null_mut());
        Self {
            shared: Outliving(shared),
            tag,
            count,
            home,
            lies: Lies::new(false),
            bounded: AtomicBool::new(false),
            panic,
            chain: stop::to_go_on_with(),
            marker: PhantomData,
        }
    }

    /// Runs the body, waits for all tasks, and passes a panic on. `worker` is the owner if the
    /// owner is a worker of this pool.
    fn complete<R>(&self, worker: Option<&Worker<'_>>, body: impl FnOnce() -> R) -> R {
        let result = self.caught(|| {
            stop::check();
            body()
        });
        self.count.end_body(worker.is_some());
        match worker {
            Some(worker) => {
                let what = ScopeWait::new(self.tag, &self.count, &self.lies);
                what.run_at_home(worker);
                if !self.count.is_done() {
                    worker.wait(&what);
                }
            }
            None => errand::wait_for_scope(self.shared(), self.tag, &self.count),
        }
        // Relaxed: the count has handed everything on.
        let panic = self.panic.swap(ptr::null_mut(), Ordering::Relaxed);
        if !panic.is_null() {
            // SAFETY: made by `Box::into_raw` in `caught`, and taken out once.
            stop::resume(*unsafe { Box::from_raw(panic) });
        }
        result.expect("a body that did not panic has a result")
    }

    /// Runs a task, under the tokens that the scope was opened under.
    #[inline(always)]
    fn caught_task<F>(&self, task: AtRest<F>, call: impl FnOnce(F)) {
        let under = self.chain.is_some().then(|| self.come_under());
        self.caught(|| {
            if under.is_some() && stop::ends_here() {
                drop(task.wake());
                // One panic is enough to end the scope. Relaxed: a second one is only dropped.
                if self.panic.load(Ordering::Relaxed).is_null() {
                    stop::check();
                }
                return;
            }
            call(task.wake());
        });
        drop(under);
    }

    /// Comes under the tokens that the scope was opened under.
    #[cold]
    #[inline(never)]
    fn come_under(&self) -> Box<Under> {
        Box::new(Under::new(self.chain.clone()))
    }

    /// Runs user code; keeps the first panic. The caller has a count of the scope.
    fn caught<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        match unwind::catch(f) {
            Ok(result) => Some(result),
            Err(payload) => {
                let payload = Box::into_raw(Box::new(payload));
                let first = self.panic.compare_exchange(
                    ptr::null_mut(),
                    payload,
                    // Release: pairs with the Acquire below, and the count that is given back after this hands
                    // it on.
                    Ordering::Release,
                    Ordering::Acquire,
                );
                if let Err(first) = first {
                    // SAFETY: made just above, and no other thread has it.
                    let payload = *unsafe { Box::from_raw(payload) };
                    // SAFETY: (initialised) by the exchange that succeeded. (alive) the owner takes it once all counts
                    // are given back, and the caller has one. (alone) until then it is only asked for its type, which
                    // is no part of the value.
                    let first = unsafe { &*first };
                    stop::set_aside(self.chain.as_ref(), first, payload);
                }
                None
            }
        }
    }

    /// Counts one task less. The scope may be gone when this returns. So no argument is a reference
    /// to it: a reference would have to stay valid.
    ///
    /// # Safety
    /// `this` is alive at the call, and the caller has one of its counts.
    unsafe fn count_down(this: *const Self) {
        // SAFETY: alive until it is counted down.
        let base = unsafe { &*this };
        let latch = &raw const base.count.latch;
        let bounded = base.bounded.load(Ordering::Relaxed);
        // No closure that refers to the scope is left when the count is given back.
        let kept = base.with_worker(|worker| match worker {
            Some(worker) if base.is_home(worker) => {
                base.count.count_down_at_home();
                true
            }
            // SAFETY: the caller's own count.
            Some(worker) if !bounded => unsafe { worker.seat.kept.keep(latch, base.tag) },
            _ => false,
        });
        if !kept {
            // SAFETY: the caller's own count.
            unsafe { CountLatch::decrement(latch, 1) };
        }
    }

    /// Counts one more task, which `worker` spawns.
    fn count_one(&self, worker: Option<&Worker<'_>>) {
        let at_home = worker.is_some_and(|worker| self.is_home(worker));
        let lies = match at_home {
            true => &self.lies.at_home,
            false => &self.lies.abroad,
        };
        // Written once: threads that run the tasks read this line.
        if !lies.load(Ordering::Relaxed) {
            lies.store(true, Ordering::Relaxed);
        }
        match worker {
            _ if at_home => self.count.count_up_at_home(),
            Some(worker) if !self.bounded.load(Ordering::Relaxed) => {
                worker.seat.kept.count_up(&self.count.latch, self.tag);
            }
            _ => self.count.latch.increment(1),
        }
    }

    /// From now on each task is counted as soon as it has ended.
    fn bound(&self) {
        if !self.bounded.load(Ordering::Relaxed) {
            self.bounded.store(true, Ordering::Relaxed);
        }
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the owner has a reference to the pool in the frame in which it waits for the scope.
        unsafe { self.shared.get() }
    }

    fn is_home(&self, worker: &Worker<'_>) -> bool {
        self.home == Some(worker.seat.index)
    }

    /// Calls `f` with the current worker if it is one of the scope's pool.
    fn with_worker<R>(&self, f: impl FnOnce(Option<&Worker<'_>>) -> R) -> R {
        Worker::with(|worker| f(worker.filter(|w| w.is_of(self.shared()))))
    }

    /// Counts and pushes a task.
    fn push(&self, task: impl FnOnce() + Send) {
        self.with_worker(|worker| {
            self.count_one(worker);
            if let Some(worker) = worker {
                // SAFETY: the body is `Send`, and what it borrows outlives the scope, which
                // waits.
                unsafe { worker.push_new(self.tag, task) };
                worker.announce_task();
            } else {
                // SAFETY: the body is `Send`, and what it borrows outlives the scope, which
                // waits.
                self.shared()
                    .inject_task(unsafe { QueuedJob::parcel(self.tag, task) });
                attend_if_deserted(self.shared());
            }
        });
        self.tell_owner();
    }

    /// Counts and sends a task to every thread. Each letter drops its share of the closure before it
    /// is counted down, so the last of them drops the closure while the scope still waits.
    fn push_to_all<S: Sync>(
        &self,
        scope: &S,
        task: impl Fn(&Outliving<S>, BroadcastContext<'_>) + Send + Sync,
    ) {
        self.count.latch.increment(self.shared().len());
        let (me, base) = (Outliving(scope), Outliving(ptr::from_ref(self)));
        let task = Arc::new(task);
        let letter = || {
            let (me, base, task) = (me, base, AtRest::new(Arc::clone(&task)));
            move |context: BroadcastContext<'_>| {
                // SAFETY: the scope is not left before this letter has been counted down, below.
                let scope = unsafe { base.get() };
                scope.caught_task(task, |task| task(&me, context));
                // SAFETY: the letter's own count; its closure is gone, and nothing is touched after.
                unsafe { Base::count_down(base.0) };
            }
        };
        // SAFETY: what the task borrows outlives the scope, which waits for all of them.
        unsafe { send_to_all(self.shared(), self.tag, letter) };
        // This drop may also be the last: its panic belongs to the scope.
        self.caught(|| drop(task));
        self.tell_owner();
    }

    /// Wakes the owner if it sleeps: there is a task of its scope to run. The push was followed by
    /// a fence, which pairs with the fence of an owner that goes to sleep. In a lull there is no
    /// such fence, but an owner that goes to sleep then makes all threads pass a barrier. (An owner
    /// outside the pool does neither: it looks every 10 ms.)
    fn tell_owner(&self) {
        if let Some(owner) = self.count.latch.latch().sleeper() {
            owner.unpark();
        }
    }
}

/// A scope as seen from its tasks: it outlives them, since it waits for them.
struct Outliving<T>(*const T);

impl<T> Clone for Outliving<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Outliving<T> {}

// SAFETY: scopes are shared between threads by design: `Sync` (below), and only `&T` is made.
unsafe impl<T: Sync> Send for Outliving<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Outliving<T> {}

impl<T> Outliving<T> {
    /// # Safety
    /// The scope has not been left.
    unsafe fn get<'a>(&self) -> &'a T {
        // SAFETY: by the duty above.
        unsafe { &*self.0 }
    }
}

impl fmt::Debug for Base<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base")
            .field("tag", &self.tag)
            .field("unfinished", &self.count.unfinished())
            .field("panicked", &!self.panic.load(Ordering::Relaxed).is_null())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.base).finish()
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScopeFifo").field(&self.base).finish()
    }
}

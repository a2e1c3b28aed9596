//! The builder: the settings of a pool, and how its threads are made.
#![forbid(unsafe_code)]

use super::pool::{self, ThreadPool};
use crate::base::config::{self, Handlers, Settings};
use crate::base::sys;
use crate::base::unwind::Payload;
use crate::work::attend::attend;
use crate::work::shared::{Plan, Shared, Starter};
use crate::work::thread as life;
use crate::work::worker;
use std::error::Error;
use std::sync::Arc;
use std::{fmt, io, thread};

/// Why a pool could not be built.
///
/// ```
/// # use tine_pool as tine;
/// let error = tine::ThreadPoolBuilder::new()
///     .num_threads(1)
///     .spawn_handler(|_| Err(std::io::Error::other("no threads today")))
///     .build()
///     .unwrap_err();
/// assert_eq!(error.to_string(), "no threads today");
/// ```
#[derive(Debug)]
pub struct ThreadPoolBuildError(Reason);

#[derive(Debug)]
enum Reason {
    GlobalIsMade,
    ThreadIsWorker,
    Refused(io::Error),
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::GlobalIsMade => {
                f.write_str("The global thread pool has already been initialized.")
            }
            Reason::ThreadIsWorker => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            Reason::Refused(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Reason::Refused(error) => Some(error),
            _ => None,
        }
    }
}

/// A thread of a pool that is yet to be started. A spawn handler gets it, and must make sure that
/// [`run`](Self::run) is called on the new thread.
///
/// ```
/// # use tine_pool as tine;
/// let pool = tine::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .spawn_handler(|thread| {
///         std::thread::Builder::new().spawn(|| thread.run())?;
///         Ok(())
///     })
///     .build()?;
/// # Ok::<_, tine::ThreadPoolBuildError>(())
/// ```
#[derive(Debug)]
pub struct ThreadBuilder {
    name: Option<String>,
    stack_size: Option<usize>,
    shared: Started,
    index: usize,
}

/// A pool that expects a thread: if the thread is given up before it runs, the pool is told.
#[derive(Debug)]
struct Started(Option<Arc<Shared>>, usize);

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            shared.give_up(self.1);
            shared.count_thread(false);
            // Threads that are already there may have left letters.
            attend(shared);
        }
    }
}

impl ThreadBuilder {
    /// The index that the thread will have.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// # let _ = tine::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread| {
    /// assert_eq!(thread.index(), 0);
    /// # std::thread::spawn(|| thread.run()); Ok(()) }).build();
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name that the thread should have, if the builder set names.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// # let _ = tine::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread| {
    /// assert_eq!(thread.name(), None);
    /// # std::thread::spawn(|| thread.run()); Ok(()) }).build();
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The stack size that the thread should have, if the builder set one.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// # let _ = tine::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread| {
    /// assert_eq!(thread.stack_size(), None);
    /// # std::thread::spawn(|| thread.run()); Ok(()) }).build();
    /// ```
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Works in the pool on the calling thread; returns when the pool has ended. All threads of a pool must be run at the same
    /// time: none returns before each of them has begun.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// # let _ = tine::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread| {
    /// std::thread::spawn(|| thread.run());
    /// # Ok(()) }).build();
    /// ```
    pub fn run(mut self) {
        let shared = self.shared.0.take().expect("taken only here");
        life::live(shared, self.index);
    }

    /// Starts the thread with std, as a pool does by itself.
    fn start(self) -> io::Result<()> {
        let mut builder = thread::Builder::new();
        if let Some(name) = self.name() {
            builder = builder.name(name.to_owned());
        }
        let stack = self.stack_size().or_else(config::stack);
        sys::fork::start(builder, stack, || self.run())
    }
}

/// How threads are made. This trait cannot be named or implemented outside.
mod spawn {
    use super::{ThreadBuilder, io};

    pub trait ThreadSpawn {
        fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
        fn is_custom(&self) -> bool;
    }

    /// With std.
    #[derive(Debug, Default)]
    pub struct DefaultSpawn;

    impl ThreadSpawn for DefaultSpawn {
        fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
            thread.start()
        }
        fn is_custom(&self) -> bool {
            false
        }
    }

    /// With a closure.
    pub struct CustomSpawn<F>(pub(super) F);

    impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
        fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
            (self.0)(thread)
        }
        fn is_custom(&self) -> bool {
            true
        }
    }

    impl<F> std::fmt::Debug for CustomSpawn<F> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("CustomSpawn").finish_non_exhaustive()
        }
    }
}

use spawn::{CustomSpawn, DefaultSpawn, ThreadSpawn};

/// Makes a [`ThreadPool`], or the global one, to order.
///
/// ```
/// # use tine_pool as tine;
/// let pool = tine::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .thread_name(|index| format!("worker {index}"))
///     .build()?;
/// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.unwrap().starts_with("worker "));
/// # Ok::<_, tine::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    settings: Settings,
    spawn: S,
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

// Only for this kind, so that `ThreadPoolBuilder::default()` says which kind is meant.
impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            spawn: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// A builder for a pool with default settings.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().build().unwrap();
    /// assert!(pool.current_num_threads() >= 1);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a pool for the time of a call, with threads that may borrow from the caller's frame.
    /// `wrapper` is called once on each thread and must call [`ThreadBuilder::run`]. Then
    /// `with_pool` is called with the pool. Returns when all threads have ended.
    ///
    /// As with a [`spawn_handler`](Self::spawn_handler), a thread inside
    /// [`blocking`](crate::blocking()) is not replaced.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let greeting = String::from("hello");
    /// let lengths = tine::ThreadPoolBuilder::new().num_threads(2).build_scoped(
    ///     |thread| {
    ///         assert_eq!(greeting, "hello"); // borrowed by the threads
    ///         thread.run();
    ///     },
    ///     |pool| pool.install(|| greeting.len()),
    /// )?;
    /// assert_eq!(lengths, 5);
    /// # Ok::<_, tine::ThreadPoolBuildError>(())
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let pool = self
                .spawn_handler(|thread| {
                    let mut builder = thread::Builder::new();
                    if let Some(name) = thread.name() {
                        builder = builder.name(name.to_owned());
                    }
                    if let Some(size) = thread.stack_size().or_else(config::stack) {
                        builder = builder.stack_size(size);
                    }
                    builder.spawn_scoped(scope, || wrapper(thread)).map(drop)
                })
                .build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Makes the pool. All its threads are started before this returns.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread (those already started end again), or if
    /// [`use_current_thread`](Self::use_current_thread) was asked for on a thread that works for
    /// a pool already.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// # Ok::<_, tine::ThreadPoolBuildError>(())
    /// ```
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_shared(false).map(ThreadPool::from_shared)
    }

    /// Makes the global pool, which the free functions and parallel iterators use. The first
    /// parallel call makes that pool with default settings, so call this earlier. (A call that
    /// needs no pool, such as a loop over nothing, may not make it.)
    ///
    /// # Errors
    ///
    /// As for [`build`](Self::build), and if the global pool exists already.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// tine::ThreadPoolBuilder::new().num_threads(3).build_global()?;
    /// assert_eq!(tine::current_num_threads(), 3);
    /// assert!(tine::ThreadPoolBuilder::new().build_global().is_err());
    /// # Ok::<_, tine::ThreadPoolBuildError>(())
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        let taken = || ThreadPoolBuildError(Reason::GlobalIsMade);
        if pool::has_global() {
            return Err(taken());
        }
        let resident = self.settings.use_current_thread;
        let shared = self.build_shared(true)?;
        pool::set_global(shared).map_err(|extra| {
            if resident {
                worker::leave_for_good();
            }
            extra.end();
            taken()
        })
    }

    fn build_shared(self, global: bool) -> Result<Arc<Shared>, ThreadPoolBuildError> {
        let Self {
            mut settings,
            mut spawn,
        } = self;
        let threads = settings.threads();
        sys::fork::watch(worker::forget_pool);
        let plan = Plan {
            threads,
            guests: global && settings.allows_guests(spawn.is_custom()),
            greedy: settings.greedy,
            stack_size: settings.stack_size,
            resident: settings.use_current_thread,
            starter: None,
            spare_starter: (!spawn.is_custom()).then_some(life::start_when_needed as Starter),
        };
        let handlers: Handlers = std::mem::take(&mut settings.handlers);
        let shared = Shared::new(plan, handlers);
        let first = usize::from(settings.use_current_thread);
        if settings.use_current_thread && !worker::join_for_good(&shared, 0) {
            return Err(ThreadPoolBuildError(Reason::ThreadIsWorker));
        }
        let mut unfinished = Unfinished {
            shared: &shared,
            next: first,
            resident: settings.use_current_thread,
        };
        for index in first..threads {
            let name = settings.name.as_mut().map(|name| name(index));
            unfinished.next = index + 1;
            shared.count_thread(true);
            let thread = ThreadBuilder {
                name,
                stack_size: settings.stack_size,
                shared: Started(Some(Arc::clone(&shared)), index),
                index,
            };
            spawn
                .spawn(thread)
                .map_err(|error| ThreadPoolBuildError(Reason::Refused(error)))?;
        }
        std::mem::forget(unfinished);
        Ok(shared)
    }
}

/// A pool whose threads are being started. If a thread is refused, or the user's closures panic,
/// the threads already started end again.
struct Unfinished<'a> {
    shared: &'a Shared,
    /// The first that has not been tried.
    next: usize,
    resident: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.resident {
            worker::leave_for_good();
        }
        (self.next..self.shared.len()).for_each(|never| self.shared.give_up(never));
        attend(self.shared);
        self.shared.end();
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets the number of threads. 0, the default, asks for the number in the environment variable
    /// `TINE_NUM_THREADS`, `RAYON_NUM_THREADS` or `RAYON_RS_NUM_CPUS`, in this order. If none is
    /// set, it asks for as many threads as the process may run at once. At most
    /// [`max_num_threads`](crate::max_num_threads).
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 5);
    /// ```
    #[must_use]
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.settings.num_threads = num_threads;
        self
    }

    /// Makes the default number of threads the number of processor cores, not counting the second
    /// thread of a core. This has an effect only if [`num_threads`](Self::num_threads) and the
    /// environment set no number.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().physical_cores().build().unwrap();
    /// assert!(pool.current_num_threads() >= 1);
    /// ```
    #[must_use]
    pub fn physical_cores(mut self) -> Self {
        self.settings.physical_cores = true;
        self
    }

    /// Makes the calling thread number 0 of the pool. It works there whenever it waits for the pool
    /// or yields. What it calls in the pool, by `install` say, runs in place. A job that no thread
    /// has begun by the time the pool and this thread are gone never runs. The thread keeps this
    /// number even after the pool is dropped, so it can be used for one pool only.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// // A thread that ends with the example.
    /// std::thread::spawn(|| {
    ///     let pool = tine::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    ///     assert_eq!(pool.unwrap().current_thread_index(), Some(0));
    /// }).join().unwrap();
    /// ```
    #[must_use]
    pub fn use_current_thread(mut self) -> Self {
        self.settings.use_current_thread = true;
        self
    }

    /// Whether ordinary threads may take free seats of a global pool and work there themselves
    /// (default: yes). This has no effect on other pools: ordinary threads never work there. If the
    /// builder does not say, `TINE_GUESTS=0` in the environment means no.
    ///
    /// Guests are off, even after `guests(true)`, if the builder sets a thread name, a stack size,
    /// a start or exit handler, a spawn handler or
    /// [`use_current_thread`](Self::use_current_thread): a guest would not satisfy these settings.
    /// On Linux, a thread with less than 7/8 of 2 MiB of stack left is never a guest.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// tine::ThreadPoolBuilder::new().guests(false).build_global().unwrap();
    /// let me = std::thread::current().id();
    /// tine::join(|| assert_ne!(std::thread::current().id(), me), || ());
    /// ```
    #[must_use]
    pub fn guests(mut self, allowed: bool) -> Self {
        self.settings.guests = Some(allowed);
        self
    }

    /// Whether a worker that waits may run anything, not only what its wait depends on (default:
    /// no). This is a remedy for programs whose tasks block, outside this library, for tasks that
    /// no other thread is free to run. Its price: a task of another call may meet a lock that is
    /// held across a parallel call.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().greedy_waiting(true).build().unwrap();
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// ```
    #[must_use]
    pub fn greedy_waiting(mut self, greedy: bool) -> Self {
        self.settings.greedy = greedy;
        self
    }

    /// Sets the names of the threads, by index. The closure is called while the pool is built.
    /// Spare threads, which come later (see [`blocking`](crate::blocking())), are called `tine-`
    /// and their index.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().thread_name(|i| format!("t{i}")).build();
    /// pool.unwrap().install(|| assert!(std::thread::current().name().unwrap().starts_with('t')));
    /// ```
    #[must_use]
    pub fn thread_name<F>(mut self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.settings.name = Some(Box::new(name));
        self
    }

    /// Sets the stack size of the threads, in bytes.
    ///
    /// The default is what `RUST_MIN_STACK` says if that is set, and otherwise 4 MiB, of which the
    /// system gives a thread only what it uses. Where addresses have less than 64 bits, it is std's
    /// default. A parallel call inside another takes more stack than a sequential call, and more
    /// than a call of rayon. (A guest works on its own stack, and a spawn handler decides for
    /// itself.)
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().stack_size(32 << 20).build().unwrap();
    /// pool.install(|| assert_eq!(std::hint::black_box(&[0_u8; 8 << 20])[5], 0));
    /// ```
    #[must_use]
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.settings.stack_size = Some(stack_size);
        self
    }

    /// Sets the handler for panics that no thread waits for: those of `spawn`, and of start and
    /// exit handlers. Without a handler such a panic aborts the process, as does a panic of the
    /// handler.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let (send, receive) = std::sync::mpsc::channel();
    /// let send = std::sync::Mutex::new(send);
    /// let pool = tine::ThreadPoolBuilder::new()
    ///     .panic_handler(move |_| send.lock().unwrap().send("caught").unwrap())
    ///     .build()
    ///     .unwrap();
    /// pool.spawn(|| panic!("no thread waits for this"));
    /// assert_eq!(receive.recv(), Ok("caught"));
    /// ```
    #[must_use]
    pub fn panic_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(Payload) + Send + Sync + 'static,
    {
        self.settings.handlers.panic = Some(Box::new(handler));
        self
    }

    /// Sets a closure that is called on each thread when it starts, with its index.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new()
    ///     .start_handler(|index| println!("thread {index} starts"))
    ///     .build();
    /// # pool.unwrap();
    /// ```
    #[must_use]
    pub fn start_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.settings.handlers.start = Some(Box::new(handler));
        self
    }

    /// Sets a closure that is called on each thread before it ends, with its index.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new()
    ///     .exit_handler(|index| println!("thread {index} ends"))
    ///     .build();
    /// # pool.unwrap();
    /// ```
    #[must_use]
    pub fn exit_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.settings.handlers.exit = Some(Box::new(handler));
        self
    }

    /// Sets how threads are made: `spawn` gets a [`ThreadBuilder`] for each thread, and must make
    /// sure that [`ThreadBuilder::run`] is called on a new thread.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|thread| {
    ///         std::thread::Builder::new().name("mine".into()).spawn(|| thread.run()).map(drop)
    ///     })
    ///     .build()
    ///     .unwrap();
    /// pool.install(|| assert_eq!(std::thread::current().name(), Some("mine")));
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            settings: self.settings,
            spawn: CustomSpawn(spawn),
        }
    }

    /// Does nothing. It once asked for spawned jobs to run first-in, first-out.
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// let pool = tine::ThreadPoolBuilder::new().breadth_first().num_threads(1).build();
    /// assert_eq!(pool.unwrap().current_num_threads(), 1);
    /// ```
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for a similar effect")]
    #[must_use]
    pub fn breadth_first(self) -> Self {
        self
    }
}

/// The builder of old; see [`ThreadPoolBuilder`].
///
/// ```
/// # #![allow(deprecated)]
/// # use tine_pool as tine;
/// # use tine::Configuration;
/// let pool = Configuration::new().num_threads(2).build().unwrap();
/// assert_eq!(pool.current_num_threads(), 2);
/// ```
#[deprecated(note = "use `ThreadPoolBuilder`")]
#[derive(Debug, Default)]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

#[allow(deprecated)]
impl Configuration {
    /// See [`ThreadPoolBuilder::new`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// assert!(Configuration::new().build().is_ok());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`ThreadPoolBuilder::build`].
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let pool = Configuration::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 2);
    /// ```
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        Ok(self.builder.build()?)
    }

    /// See [`ThreadPoolBuilder::num_threads`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let pool = Configuration::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 2);
    /// ```
    #[must_use]
    pub fn num_threads(self, num_threads: usize) -> Self {
        Self {
            builder: self.builder.num_threads(num_threads),
        }
    }

    /// See [`ThreadPoolBuilder::thread_name`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let pool = Configuration::new().thread_name(|n| format!("mine-{n}")).build().unwrap();
    /// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
    /// assert!(name.unwrap().starts_with("mine-"));
    /// ```
    #[must_use]
    pub fn thread_name<F>(self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Self {
            builder: self.builder.thread_name(name),
        }
    }

    /// See [`ThreadPoolBuilder::stack_size`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let pool = Configuration::new().stack_size(4 << 20).build().unwrap();
    /// assert_eq!(pool.install(|| [7_u8; 1 << 20][3]), 7);
    /// ```
    #[must_use]
    pub fn stack_size(self, stack_size: usize) -> Self {
        Self {
            builder: self.builder.stack_size(stack_size),
        }
    }

    /// See [`ThreadPoolBuilder::panic_handler`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let (send, receive) = std::sync::mpsc::channel();
    /// let handler = move |_| send.send(()).unwrap();
    /// let pool = Configuration::new().panic_handler(handler).build().unwrap();
    /// pool.spawn(|| std::panic::resume_unwind(Box::new("oh")));
    /// receive.recv().unwrap();
    /// ```
    #[must_use]
    pub fn panic_handler<H>(self, handler: H) -> Self
    where
        H: Fn(Payload) + Send + Sync + 'static,
    {
        Self {
            builder: self.builder.panic_handler(handler),
        }
    }

    /// See [`ThreadPoolBuilder::start_handler`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let (send, receive) = std::sync::mpsc::channel();
    /// let handler = move |index| send.send(index).unwrap();
    /// let pool = Configuration::new().num_threads(1).start_handler(handler).build();
    /// assert_eq!(receive.recv(), Ok(0));
    /// ```
    #[must_use]
    pub fn start_handler<H>(self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self {
            builder: self.builder.start_handler(handler),
        }
    }

    /// See [`ThreadPoolBuilder::exit_handler`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let (send, receive) = std::sync::mpsc::channel();
    /// let handler = move |index| send.send(index).unwrap();
    /// drop(Configuration::new().num_threads(1).exit_handler(handler).build());
    /// assert_eq!(receive.recv(), Ok(0));
    /// ```
    #[must_use]
    pub fn exit_handler<H>(self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self {
            builder: self.builder.exit_handler(handler),
        }
    }

    /// See [`ThreadPoolBuilder::breadth_first`].
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// assert!(Configuration::new().breadth_first().build().is_ok());
    /// ```
    #[must_use]
    pub fn breadth_first(self) -> Self {
        self
    }
}

impl ThreadPool {
    /// See [`ThreadPoolBuilder::build`].
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// # use tine_pool as tine;
    /// # use tine::Configuration;
    /// let pool = tine::ThreadPool::new(Configuration::new().num_threads(2)).unwrap();
    /// assert_eq!(pool.current_num_threads(), 2);
    /// ```
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.build()
    }
}

/// See [`ThreadPoolBuilder::build_global`].
///
/// # Errors
///
/// As there.
///
/// ```standalone_crate
/// # #![allow(deprecated)]
/// # use tine_pool as tine;
/// # use tine::Configuration;
/// tine::initialize(Configuration::new().num_threads(2)).unwrap();
/// assert_eq!(tine::current_num_threads(), 2);
/// ```
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
#[allow(deprecated)]
pub fn initialize(configuration: Configuration) -> Result<(), Box<dyn Error>> {
    Ok(configuration.builder.build_global()?)
}

//! Tokens: a flag that says "stop", with children, a deadline, and wakers; and the tokens that a
//! thread works under.
//!
//! A token is a word that computations check, and a list of children and wakers. `stop` sets the
//! word first. Then it takes the children out of the list and stops them, and wakes the wakers. A
//! thread that adds to the list asks under the same lock whether `stop` has been there. So either
//! `stop` finds the addition, or the thread learns of the stop, whatever the memory order of the
//! word. A child has its first reference before it is added; otherwise `stop` could find it without
//! being able to use it (`models/stop.rs`).
//!
//! The tokens that a thread works under are a [`Chain`], innermost first. A check of the chain
//! checks each token in it. A token is left out if a token further in stops with it, or if it can
//! stop only with its parent, which is in the chain. So if each job starts its successor under its
//! own token, the millionth job checks as few tokens as the first.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::unwind::{self, Payload};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::iter;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Tells computations to stop.
///
/// A clone is the same token. A [`child`](Self::child) is stopped with its parent, but may also be
/// stopped alone. Computations check the token themselves: a loop with `until`, everything called
/// in `with_token`, and your own code by [`is_stopped`](Self::is_stopped). Once stopped, a token
/// stays so.
///
/// No thread watches a token. A deadline is noticed only when a computation checks the token: see
/// [`with_timeout`](Self::with_timeout).
///
/// ```
/// # use tine_pool as tine;
/// use tine::StopToken;
///
/// let server = StopToken::new();
/// let request = server.child();
/// request.stop();
/// assert!(request.is_stopped() && !server.is_stopped());
///
/// let another = server.child();
/// server.stop();
/// assert!(another.is_stopped());
/// ```
#[derive(Clone)]
pub struct StopToken {
    inner: Arc<Inner>,
}

/// No deadline.
const NEVER: u64 = u64::MAX;

struct Inner {
    stopped: AtomicBool,
    /// In nanoseconds of the wall clock: the earliest of its own and its parents' deadlines.
    deadline: u64,
    parent: Option<Arc<Inner>>,
    /// By what the parent knows it.
    key: AtomicUsize,
    ties: Mutex<Ties>,
}

/// The children and wakers to be told.
#[derive(Default)]
struct Ties {
    /// The token was stopped, and what is in the lists will be taken out. Nothing comes in again, so that no
    /// place is given away again while its old key is about.
    over: bool,
    children: Places<Weak<Inner>>,
    wakers: Places<Waker>,
}

/// The key of no place.
const NOWHERE: usize = usize::MAX;
/// Lists up to this length keep their memory when they are empty.
const KEPT: usize = 64;
/// To find out whether one token stops with another, this many generations are searched. A token
/// that is not found stays in the chain, which does no harm.
const NEAR: usize = 64;

/// Values, each by the number of its place. Vectors take half as long to compile as a tree.
struct Places<T> {
    all: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        let (all, free) = (Vec::new(), Vec::new());
        Self { all, free }
    }
}

impl<T> Places<T> {
    fn insert(&mut self, value: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.all[at] = Some(value);
            return at;
        }
        self.all.push(Some(value));
        self.all.len() - 1
    }

    fn remove(&mut self, at: usize) -> Option<T> {
        let value = self.all.get_mut(at)?.take()?;
        self.free.push(at);
        if self.all.len() > KEPT && self.free.len() == self.all.len() {
            *self = Self::default();
        }
        Some(value)
    }
}

impl Inner {
    fn new(deadline: u64, parent: Option<Arc<Inner>>) -> Arc<Self> {
        let child = Arc::new(Self {
            stopped: AtomicBool::new(false),
            deadline,
            parent,
            key: AtomicUsize::new(NOWHERE),
            ties: Mutex::default(),
        });
        if let Some(parent) = &child.parent {
            let over = {
                let mut ties = parent.ties();
                if !ties.over {
                    let key = ties.children.insert(Arc::downgrade(&child));
                    // Relaxed: the thread that drops the child had a reference, and so saw all that was done
                    // here.
                    child.key.store(key, Ordering::Relaxed);
                }
                ties.over
            };
            // Not only if `over`: a thread that sees the parent stopped must see the child stopped.
            if over || parent.is_stopped() {
                child.stop();
            }
        }
        child
    }

    fn ties(&self) -> MutexGuard<'_, Ties> {
        self.ties.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn is_stopped(self: &Arc<Self>) -> bool {
        // Acquire: pairs with the swap in `stop`: what the stopper wrote before is seen.
        self.stopped.load(Ordering::Acquire) || (self.deadline != NEVER && self.is_late())
    }

    /// The same, and stops nothing.
    fn is_due(&self) -> bool {
        // Relaxed: hands nothing on.
        self.stopped.load(Ordering::Relaxed)
            || (self.deadline != NEVER && clock::wall() >= self.deadline)
    }

    #[inline(never)]
    fn is_late(self: &Arc<Self>) -> bool {
        let now = clock::wall();
        let late = now >= self.deadline;
        if late {
            // It may be that no thread ever looks at a parent whose time is up. A deadline includes the
            // deadlines of the parents, so no parent is late if its child is not.
            let mut outermost = self;
            while let Some(parent) = outermost.parent.as_ref().filter(|p| now >= p.deadline) {
                outermost = parent;
            }
            outermost.stop();
        }
        late
    }

    fn stop(self: &Arc<Self>) {
        let (mut family, mut wakers) = (vec![Arc::clone(self)], Vec::new());
        let mut at = 0;
        while let Some(next) = family.get(at).map(Arc::clone) {
            // Release: pairs with `is_stopped`.
            next.stopped.swap(true, Ordering::Release);
            let mut ties = next.ties();
            ties.over = true;
            let children = ties.children.all.iter().flatten();
            family.extend(children.filter_map(Weak::upgrade));
            wakers.push(std::mem::take(&mut ties.wakers));
            at += 1;
        }
        // Not earlier: another thread that stops one of them meanwhile must find the children that have not
        // been told yet.
        for told in &family {
            told.ties().children = Places::default();
        }
        let wakers = wakers.into_iter().flat_map(|wakers| wakers.all);
        wake(wakers.flatten().collect());
    }

    /// Whether this token is `other` or a near descendant of it, and so stops with it.
    fn stops_with(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        iter::successors(Some(self), |token| token.parent.as_ref())
            .take(NEAR)
            .any(|token| Arc::ptr_eq(token, other))
    }

    /// The token to check in place of this one: itself or an ancestor, or `None` if no check is
    /// needed. The caller has a reference to this token, and looks at another with the deadline
    /// `earliest` anyway. A token to which only the caller has a reference, and whose deadline is
    /// not before `earliest`, stops only with its parent.
    fn needed(self: &Arc<Self>, earliest: u64) -> Option<&Arc<Self>> {
        let mut token = self;
        loop {
            let later = token.parent.as_ref().map_or(NEVER, |p| p.deadline);
            if Arc::strong_count(token) > 1 || token.deadline < later.min(earliest) {
                return Some(token);
            }
            // Acquire: pairs with the Release by which a thread gave its reference back. If that thread stopped
            // the token before, this thread sees that.
            fence(Ordering::Acquire);
            if token.stopped.load(Ordering::Relaxed) {
                return Some(token);
            }
            token = token.parent.as_ref()?;
        }
    }
}

/// Wakers are the user's code: they run outside all locks, and under no token, since the thread's
/// own token may just have been stopped. Their panics do not reach the caller of `stop`.
fn wake(wakers: Vec<Waker>) {
    let mut wakers = wakers.into_iter();
    let mut wake = || {
        for waker in wakers.by_ref() {
            if let Err(panic) = unwind::catch(|| waker.wake()) {
                unwind::discard(panic);
            }
        }
    };
    match SHELTER.get() {
        Some(sheltered) if is_bound() => sheltered(&mut wake),
        _ => wake(),
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let Some(mut parent) = self.parent.take() else {
            return;
        };
        parent.ties().children.remove(*self.key.get_mut());
        // A long line of ancestors is dropped one by one, not each inside the drop of the next.
        while let Some(mut last) = Arc::into_inner(parent) {
            let Some(next) = last.parent.take() else {
                return;
            };
            next.ties().children.remove(*last.key.get_mut());
            parent = next;
        }
    }
}

impl StopToken {
    /// A new token without a parent.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// assert!(!tine::StopToken::new().is_stopped());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        let inner = Inner::new(NEVER, None);
        Self { inner }
    }

    /// A child of this token. Once dropped, it costs its parent nothing.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let parent = tine::StopToken::new();
    /// let child = parent.child();
    /// parent.stop();
    /// assert!(child.is_stopped());
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        self.child_until(NEVER)
    }

    /// A child that also counts as stopped once this time has passed.
    ///
    /// No timer runs. A loop that works under the token, or under a child of it, reads the clock about every 3 µs (12
    /// where each thread has a call of its own). The first read after the deadline stops the token, which wakes its
    /// futures and stops its children, as [`stop`](Self::stop) does. If nothing runs under the token, nothing happens.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use std::time::Duration;
    /// let token = tine::StopToken::new().with_timeout(Duration::ZERO);
    /// assert!(token.is_stopped());
    /// ```
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(NEVER);
        self.child_until(clock::wall().saturating_add(nanos))
    }

    /// A child that also counts as stopped from `deadline` on, as by
    /// [`with_timeout`](Self::with_timeout).
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let token = tine::StopToken::new().with_deadline(std::time::Instant::now());
    /// assert!(token.is_stopped());
    /// ```
    #[must_use]
    pub fn with_deadline(&self, deadline: Instant) -> Self {
        self.with_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    fn child_until(&self, deadline: u64) -> Self {
        let deadline = deadline.min(self.inner.deadline);
        let inner = Inner::new(deadline, Some(Arc::clone(&self.inner)));
        Self { inner }
    }

    /// Stops everything that works under this token or one of its children, and wakes the futures
    /// of [`stopped`](Self::stopped). This call returns at once; the computations end soon after.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let token = tine::StopToken::new();
    /// token.stop();
    /// assert!(token.clone().is_stopped());
    /// ```
    pub fn stop(&self) {
        self.inner.stop();
    }

    /// Whether this token or a parent of it was stopped, or its time is up. If this returns `true`,
    /// the thread sees all that was written before the call of [`stop`](Self::stop).
    ///
    /// ```
    /// # use tine_pool as tine;
    /// let token = tine::StopToken::new();
    /// let steps = (0..10).take_while(|&n| {
    ///     if n == 3 { token.stop() }
    ///     !token.is_stopped()
    /// });
    /// assert_eq!(steps.count(), 3);
    /// ```
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.inner.is_stopped()
    }

    /// [`is_stopped`](Self::is_stopped), as far as is known without a look at a clock.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn is_told(&self) -> bool {
        // Acquire: pairs with the swap in `stop`.
        self.inner.stopped.load(Ordering::Acquire)
    }

    /// Whether [`is_stopped`](Self::is_stopped) would read a clock.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn needs_a_clock(&self) -> bool {
        // Relaxed: if it says no, `is_stopped` is asked.
        self.inner.deadline != NEVER && !self.inner.stopped.load(Ordering::Relaxed)
    }

    /// A future that is ready once the token is stopped.
    ///
    /// A deadline stops the token at the first check after the deadline. A poll of this future is
    /// such a check, but no clock wakes the future: if nothing works under the token, poll it
    /// beside a timer of your runtime.
    ///
    /// ```
    /// # use tine_pool as tine;
    /// use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let token = tine::StopToken::new();
    /// let mut stopped = pin!(token.stopped());
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert_eq!(stopped.as_mut().poll(&mut context), Poll::Pending);
    /// token.stop();
    /// assert_eq!(stopped.as_mut().poll(&mut context), Poll::Ready(()));
    /// ```
    pub fn stopped(&self) -> WhenStopped {
        WhenStopped {
            token: self.clone(),
            key: None,
        }
    }
}

impl Default for StopToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopToken")
            .field("stopped", &self.is_stopped())
            .field("has_deadline", &(self.inner.deadline != NEVER))
            .finish()
    }
}

/// What [`StopToken::stopped`] returns.
///
/// ```
/// # use tine_pool as tine;
/// let future: tine::stop::WhenStopped = tine::StopToken::new().stopped();
/// # drop(future);
/// ```
#[must_use = "futures do nothing unless they are polled"]
pub struct WhenStopped {
    token: StopToken,
    /// By what the token knows its waker.
    key: Option<usize>,
}

impl Future for WhenStopped {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.token.is_stopped() {
            return Poll::Ready(());
        }
        // Cloned and dropped outside the lock: both are the user's code.
        let waker = context.waker().clone();
        let mut ties = this.token.inner.ties();
        if ties.over {
            drop(ties);
            return Poll::Ready(());
        }
        let old = match this.key {
            Some(key) => ties.wakers.all[key].replace(waker),
            None => {
                this.key = Some(ties.wakers.insert(waker));
                None
            }
        };
        drop(ties);
        drop(old);
        // Not only if `over` was set: a thread that sees its token stopped must not wait.
        match this.token.is_stopped() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for WhenStopped {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = self.token.inner.ties().wakers.remove(key);
            drop(waker);
        }
    }
}

impl fmt::Debug for WhenStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WhenStopped").field(&self.token).finish()
    }
}

// ---- what a thread works under --------------------------------------------------------------

/// The tokens that a piece of work is under, innermost first; and a user's panic that had to wait
/// for a stop that was already unwinding.
#[derive(Clone)]
pub(crate) struct Chain(Arc<Work>);

struct Work {
    tokens: Arc<Link>,
    /// Whether work ends at its own word alone.
    quiet: bool,
    panic: Mutex<Option<Payload>>,
}

/// A token, and those further out.
struct Link {
    token: Arc<Inner>,
    outer: Option<Arc<Link>>,
}

impl Link {
    /// This one and those further out, but for those that are not needed around `inner`.
    fn around(self: &Arc<Self>, inner: &Arc<Inner>) -> Option<Arc<Self>> {
        let all: Vec<_> = self.outwards().collect();
        let (mut kept, mut earliest) = (None::<Arc<Self>>, inner.deadline);
        for link in all.into_iter().rev() {
            let Some(token) = link.token.needed(earliest) else {
                continue;
            };
            if inner.stops_with(token) {
                continue;
            }
            earliest = earliest.min(token.deadline);
            let outer = kept.as_ref().map(Arc::as_ptr);
            let same =
                Arc::ptr_eq(token, &link.token) && link.outer.as_ref().map(Arc::as_ptr) == outer;
            kept = Some(match same {
                true => Arc::clone(link),
                false => Arc::new(Self {
                    token: Arc::clone(token),
                    outer: kept,
                }),
            });
        }
        kept
    }

    fn outwards(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        iter::successors(Some(self), |link| link.outer.as_ref())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // In a loop: if each link were dropped inside the drop of the link before it, a long chain would
        // overflow the stack.
        let mut outer = self.outer.take();
        while let Some(mut link) = outer.and_then(Arc::into_inner) {
            outer = link.outer.take();
        }
    }
}

impl Chain {
    /// `token`, inside the tokens that the calling thread is under.
    pub(crate) fn inside(token: StopToken, outer: Option<Chain>) -> Self {
        let token = token.inner;
        let outer = outer.and_then(|outer| outer.0.tokens.around(&token));
        Self::new(Arc::new(Link { token, outer }), false)
    }

    fn new(tokens: Arc<Link>, quiet: bool) -> Self {
        Self(Arc::new(Work {
            tokens,
            quiet,
            panic: Mutex::default(),
        }))
    }

    /// The same tokens, for work that ends by itself.
    pub(crate) fn fork(&self) -> Self {
        Self::new(Arc::clone(&self.0.tokens), self.0.quiet)
    }

    /// The same tokens, for work that no look ends: it asks [`requested`] where it may end.
    pub(crate) fn quietly(&self) -> Self {
        Self::new(Arc::clone(&self.0.tokens), true)
    }

    /// Whether any of the tokens is stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.tokens.outwards().any(|link| link.token.is_stopped())
    }

    /// The same, and stops none of them: no code of the user's is called.
    fn is_due(&self) -> bool {
        self.0.tokens.outwards().any(|link| link.token.is_due())
    }

    /// The panic that had to give way.
    pub(crate) fn take_panic(&self) -> Option<Payload> {
        self.panic().take()
    }

    fn panic(&self) -> MutexGuard<'_, Option<Payload>> {
        self.0.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chain").field(&self.is_due()).finish()
    }
}

/// What unwinds a computation that was stopped.
pub(crate) struct Unwound;

thread_local! {
    /// What looks on this thread have to look at.
    static STATE: Cell<State> = const { Cell::new(State::Free) };
    static CURRENT: RefCell<Option<Chain>> = const { RefCell::new(None) };
    static PANIC: Cell<Panic> = const { Cell::new(Panic { before: false, ending: false }) };
}

/// Calls its argument under no token. It also tells the calling thread's seat, so it is supplied by
/// a layer above.
pub(crate) type Shelter = fn(&mut dyn FnMut());
/// Set before any thread works under a token.
static SHELTER: OnceLock<Shelter> = OnceLock::new();

/// What looks on a thread have to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No token.
    Free,
    /// Tokens, which only [`requested`] looks at.
    Quiet,
    /// Tokens.
    Under,
}

/// What is known of panics since the calling thread came under its present tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panic {
    /// It was unwinding before: it runs a job while a destructor waits.
    before: bool,
    /// The last panic that began here, or was passed on, is an end. It may have been caught since.
    ending: bool,
}

/// What the calling thread was under, to be put back.
#[derive(Debug)]
pub(crate) struct Before {
    chain: Option<Chain>,
    panic: Panic,
}

/// Whether the calling thread works under a token, and is to look at it.
#[inline(always)]
pub(crate) fn is_under() -> bool {
    STATE.get() == State::Under
}

/// Whether the calling thread works under a token at all.
#[inline(always)]
pub(crate) fn is_bound() -> bool {
    STATE.get() != State::Free
}

/// Whether the calling thread unwinds, as far as this can be known: then no second panic may end
/// it.
///
/// If the thread was unwinding before, a new panic of the user cannot be told from the old one. If
/// it were assumed, a destructor's computation under a deadline of its own would never end. So it
/// is not assumed, and a stop that meets such a panic in a further destructor aborts, as
/// [`with_token`](crate::with_token) says.
fn is_unwinding() -> bool {
    let panic = PANIC.get();
    thread::panicking() && (!panic.before || panic.ending)
}

/// The tokens that the calling thread works under, for work that it does not wait for. While the
/// thread unwinds there are none, since a computing destructor must not be ended.
#[inline]
pub(crate) fn current() -> Option<Chain> {
    if !is_under() {
        return None;
    }
    to_go_on_with()
}

/// The same, quiet or not, for a part of what it does itself: what is quiet here is quiet there.
#[inline]
pub(crate) fn to_go_on_with() -> Option<Chain> {
    if !is_bound() {
        return None;
    }
    innermost().filter(|_| !is_unwinding())
}

/// What the calling thread works under.
pub(crate) fn innermost() -> Option<Chain> {
    CURRENT.try_with(|at| at.borrow().clone()).ok().flatten()
}

/// From now on the calling thread works under `chain`. `shelter` is the way to work under none meanwhile.
pub(crate) fn replace(chain: Option<Chain>, shelter: Shelter) -> Before {
    SHELTER.get_or_init(|| shelter);
    let before = thread::panicking();
    let panic = PANIC.replace(Panic {
        before,
        ending: false,
    });
    let chain = set(chain);
    Before { chain, panic }
}

/// The end of [`replace`].
pub(crate) fn put_back(before: Before) {
    PANIC.set(before.panic);
    drop(set(before.chain));
}

fn set(chain: Option<Chain>) -> Option<Chain> {
    let state = match &chain {
        None => State::Free,
        Some(chain) if chain.0.quiet => State::Quiet,
        Some(_) => State::Under,
    };
    let Ok(old) = CURRENT.try_with(|at| at.replace(chain)) else {
        // The thread is ending.
        return None;
    };
    STATE.set(state);
    old
}

/// Whether what the calling thread works under is to stop.
pub(crate) fn requested() -> bool {
    is_bound() && innermost().is_some_and(|chain| chain.is_stopped())
}

/// Ends what the calling thread does by unwinding, if that is to stop.
#[inline(always)]
pub(crate) fn check() {
    if is_under() {
        check_now();
    }
}

#[cold]
#[inline(never)]
fn check_now() {
    // If a panic ends the process, nothing can unwind.
    if cfg!(panic = "abort") {
        return;
    }
    if PANIC.get().ending && !thread::panicking() {
        // The last end was caught.
        set_ending(false);
    }
    // A late token is stopped only after nothing is borrowed any more: stopping calls wakers, which may run
    // under other tokens.
    let due = |at: &RefCell<Option<Chain>>| at.borrow().as_ref().filter(|c| c.is_due()).cloned();
    let due = CURRENT.try_with(due).ok().flatten();
    if due.is_some_and(|chain| chain.is_stopped()) && !is_unwinding() {
        resume(Box::new(Unwound));
    }
}

fn set_ending(ending: bool) {
    let panic = PANIC.get();
    PANIC.set(Panic { ending, ..panic });
}

/// Goes on with a panic, or with an end, which the calling thread then knows of.
pub(crate) fn resume(payload: Payload) -> ! {
    let ending = is_end(&payload);
    // In a destructor, the panic goes no farther than the destructor, and the notes on the unwinding itself
    // stay as they are.
    if ending || !thread::panicking() {
        set_ending(ending);
    }
    unwind::resume(payload)
}

/// Calls `op`, which catches all panics inside it. If one of them is an end, it goes no farther, so it is not noted here.
pub(crate) fn noting_nothing(op: impl FnOnce()) {
    let panic = PANIC.get();
    op();
    PANIC.set(panic);
}

/// Whether [`check`] would not return.
pub(crate) fn ends_here() -> bool {
    cfg!(panic = "unwind") && is_under() && requested() && !is_unwinding()
}

/// Whether a parallel call that begins now is one of a destructor on a thread that unwinds.
pub(crate) fn is_for_a_destructor() -> bool {
    is_under() && is_unwinding()
}

/// Whether a panic is the end of a computation that was stopped.
pub(crate) fn is_end(payload: &Payload) -> bool {
    payload.is::<Unwound>()
}

/// A second panic has come while the `first` is already unwinding, and cannot be passed on. If the
/// first is only a stop and the second is the user's, the second is kept for the end of the
/// computation. If the first is the user's too, the user sees only that one, and may catch it.
pub(crate) fn set_aside(chain: Option<&Chain>, first: &Payload, second: Payload) {
    keep(chain.filter(|_| is_end(first)), second);
}

/// Keeps a panic of the user's in `chain`, unless there is one.
fn keep(chain: Option<&Chain>, payload: Payload) {
    let beside = match chain {
        Some(chain) if !is_end(&payload) => {
            let mut kept = chain.panic();
            match *kept {
                None => {
                    *kept = Some(payload);
                    None
                }
                Some(_) => Some(payload),
            }
        }
        _ => Some(payload),
    };
    if let Some(payload) = beside {
        unwind::discard(payload);
    }
}

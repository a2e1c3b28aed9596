//! Work that makes work: items that may each feed further items, until none is left.
//!
//! Each thread has a stack of its own. It works on its newest item and puts the items that this one
//! feeds on top. From time to time it asks its `Pace` whether it pays to give another thread the
//! older half of the stack, as a loop asks about half of its rest. If so, that half becomes a task
//! of the call's scope. So threads meet only when work changes hands. While a half that was given
//! away lies untaken, the thread gives no other.
#![forbid(unsafe_code)]

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use tine_pool::loops::{Due, Pace, Seed, Site, Step, check, is_under, look};
use tine_pool::{Scope, scope};

/// Even a shorter stack counts as this many items still to come.
const AT_LEAST: usize = 64;

/// Short items are taken from the stack this many at a time.
const BATCH: usize = 16;

/// Calls `op` in parallel with every item of `initial`, and with every item that is fed on the way,
/// in no particular order.
///
/// This is for searches in graphs and other work that is found on the way. Each thread takes the
/// newest item that it has fed, so few items wait at a time. Each item is worked on once. To work
/// on each node of a graph once, keep a set of those seen.
///
/// Items must not wait for one another: a thread gives items away only between two of its own, so
/// the items that it keeps do not begin while its current item blocks.
///
/// If `op` panics, so does this, once every thread has finished its current item. The other items
/// are dropped.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use tine::algorithms::for_each_fed;
///
/// // Which nodes can be reached from node 0?
/// let edges = [vec![1, 2], vec![3], vec![3], vec![0], vec![0]];
/// let seen: Vec<AtomicBool> = edges.iter().map(|_| AtomicBool::new(false)).collect();
/// seen[0].store(true, Relaxed);
/// for_each_fed([0], |node: usize, feeder| {
///     for &next in &edges[node] {
///         if !seen[next].swap(true, Relaxed) {
///             feeder.feed(next);
///         }
///     }
/// });
/// let seen: Vec<bool> = seen.into_iter().map(AtomicBool::into_inner).collect();
/// assert_eq!(seen, [true, true, true, true, false]);
/// ```
pub fn for_each_fed<I, F>(initial: I, op: F)
where
    I: IntoIterator<Item: Send>,
    F: Fn(I::Item, &mut Feeder<I::Item>) + Sync,
{
    let _look = look();
    let stack: Vec<I::Item> = initial.into_iter().collect();
    if stack.is_empty() {
        return;
    }
    let work = Work {
        op,
        untaken: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    };
    let site = Work::<F>::run::<I::Item> as *const () as usize;
    let pace = Pace::start(Site::flat(site, 0), stack.len(), 0, false);
    scope(|scope| work.run(stack, pace, scope));
}

/// Takes the further items that the closure of [`for_each_fed`] finds at an item.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use tine::algorithms::{Feeder, for_each_fed};
///
/// let items = AtomicU32::new(0);
/// for_each_fed([5_u32], |n, feeder: &mut Feeder<u32>| {
///     items.fetch_add(1, Relaxed);
///     feeder.feed_all(0..n);
/// });
/// assert_eq!(items.into_inner(), 32);
/// ```
pub struct Feeder<T> {
    stack: Vec<T>,
}

impl<T> Feeder<T> {
    /// Adds an item.
    ///
    /// ```
    /// use tine::algorithms::for_each_fed;
    ///
    /// for_each_fed([100_u32], |left, feeder| {
    ///     if left > 0 {
    ///         feeder.feed(left - 1);
    ///     }
    /// });
    /// ```
    #[inline]
    pub fn feed(&mut self, item: T) {
        self.stack.push(item);
    }

    /// Adds all items of an iterator.
    ///
    /// ```
    /// use tine::algorithms::for_each_fed;
    ///
    /// for_each_fed([3_u32], |left, feeder| feeder.feed_all(0..left));
    /// ```
    pub fn feed_all(&mut self, items: impl IntoIterator<Item = T>) {
        self.stack.extend(items);
    }
}

impl<T> fmt::Debug for Feeder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feeder").finish_non_exhaustive()
    }
}

/// What the threads of a call share.
struct Work<F> {
    op: F,
    /// How many tasks were given away and have not begun.
    untaken: AtomicUsize,
    /// Whether an item has panicked.
    over: AtomicBool,
}

impl<F> Work<F> {
    /// Works on the items of a stack and on all that they feed, except those given away.
    fn run<'s, T>(&'s self, stack: Vec<T>, mut pace: Pace, scope: &Scope<'s>)
    where
        T: Send + 's,
        F: Fn(T, &mut Feeder<T>) + Sync,
    {
        let mut feeder = Feeder { stack };
        let over = Over(&self.over);
        let mut batch = Vec::new();
        let mut due = is_under().then(Due::now);
        while !feeder.stack.is_empty() && !self.over.load(Relaxed) {
            let likely = feeder.stack.len().max(AT_LEAST);
            let items = match pace.next(likely) {
                Step::Share => {
                    if feeder.stack.len() > 1 && self.untaken.load(Relaxed) == 0 {
                        self.give(&mut feeder.stack, pace.seed(), scope);
                    }
                    pace.block(likely)
                }
                Step::Run(items) => items,
            };
            // Items may take far longer than the items by which the number to run was chosen: so there is a
            // look before each.
            if items < BATCH {
                for _ in 0..items {
                    let Some(item) = feeder.stack.pop() else {
                        break;
                    };
                    look_at(&mut due);
                    if self.over.load(Relaxed) {
                        break;
                    }
                    (self.op)(item, &mut feeder);
                }
                continue;
            }
            // Short items go in batches: the lookups for one item do not wait for what the item before has fed.
            for _ in 0..items / BATCH {
                let from = feeder.stack.len().saturating_sub(BATCH);
                batch.extend(feeder.stack.drain(from..));
                look_at(&mut due);
                for item in batch.drain(..) {
                    if self.over.load(Relaxed) {
                        break;
                    }
                    (self.op)(item, &mut feeder);
                }
            }
        }
        pace.flush();
        over.disarm();
    }

    /// Gives the older half of a stack away.
    fn give<'s, T>(&'s self, stack: &mut Vec<T>, seed: Seed, scope: &Scope<'s>)
    where
        T: Send + 's,
        F: Fn(T, &mut Feeder<T>) + Sync,
    {
        let newer = stack.split_off(stack.len() / 2);
        let older = std::mem::replace(stack, newer);
        self.untaken.fetch_add(1, Relaxed);
        scope.spawn(move |scope| {
            self.untaken.fetch_sub(1, Relaxed);
            self.run(older, seed.grow(), scope);
        });
    }
}

/// Looks at the tokens that the thread works under, if there are any and it is time to.
#[inline]
fn look_at(due: &mut Option<Due>) {
    if due.as_mut().is_some_and(Due::tick) {
        check();
    }
}

/// Tells all other threads when an item panics.
struct Over<'o>(&'o AtomicBool);

impl Over<'_> {
    fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

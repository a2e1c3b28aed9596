//! The door as a scheduler sees it: `std`'s own atomics and cells, with a call before each
//! operation.
//!
//! Under `--cfg tine_sched` every operation on shared memory first calls the hook that a harness
//! has set. The harness lets one thread run at a time, and decides in the hook which thread goes
//! on. Otherwise these types do what `std`'s do. A process without a hook runs as usual.
//!
//! Time, sleep, locks and thread starts need nothing here: the harness answers for the system
//! there (`sched/` at the root of the repository).
#![forbid(unsafe_code)]

use std::sync::OnceLock;
use std::sync::atomic as real;
pub(crate) use std::sync::atomic::Ordering;

/// What a thread is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// A load.
    Load,
    /// A store, a read-modify-write, or a use of a cell.
    Change,
    /// A fence.
    Fence,
    /// A pause of a thread that waits for another in a loop.
    Pause,
}

static HOOK: OnceLock<fn(Point)> = OnceLock::new();

/// Has `hook` called before every operation on shared memory from now on. The first hook stays.
pub fn set_hook(hook: fn(Point)) {
    HOOK.get_or_init(|| hook);
}

#[inline]
fn at(point: Point) {
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
}

pub(crate) fn fence(order: Ordering) {
    at(Point::Fence);
    real::fence(order);
}

pub(crate) fn spin_loop() {
    at(Point::Pause);
}

/// The harness hears of this from the system call.
pub(crate) use std::thread::yield_now;

macro_rules! word {
    ($name:ident, $real:ty, $value:ty, [$($generic:tt)*]) => {
        #[repr(transparent)]
        pub(crate) struct $name $($generic)* ($real);

        impl $($generic)* $name $($generic)* {
            pub(crate) const fn new(value: $value) -> Self {
                Self(<$real>::new(value))
            }
            pub(crate) fn load(&self, order: Ordering) -> $value {
                at(Point::Load);
                self.0.load(order)
            }
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                at(Point::Change);
                self.0.store(value, order);
            }
            #[allow(dead_code)]
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                at(Point::Change);
                self.0.swap(value, order)
            }
            pub(crate) fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                at(Point::Change);
                self.0.compare_exchange(old, new, success, failure)
            }
            /// Never fails spuriously, so that a schedule can be repeated.
            #[allow(dead_code)]
            pub(crate) fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }
            #[allow(dead_code)]
            pub(crate) fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut to: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut seen = self.load(fetch);
                while let Some(new) = to(seen) {
                    match self.compare_exchange(seen, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(other) => seen = other,
                    }
                }
                Err(seen)
            }
            #[allow(dead_code)]
            pub(crate) fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }
            #[allow(dead_code)]
            pub(crate) fn into_inner(self) -> $value {
                self.0.into_inner()
            }
            #[allow(dead_code)]
            pub(crate) const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }
        }

        impl $($generic)* std::fmt::Debug for $name $($generic)* {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! change {
    ($name:ident, $value:ty, $($method:ident)*) => {
        #[allow(dead_code)]
        impl $name {
            $(pub(crate) fn $method(&self, value: $value, order: Ordering) -> $value {
                at(Point::Change);
                self.0.$method(value, order)
            })*
        }
        impl Default for $name {
            fn default() -> Self {
                Self::new(Default::default())
            }
        }
    };
}

word!(AtomicBool, real::AtomicBool, bool, []);
word!(AtomicU32, real::AtomicU32, u32, []);
word!(AtomicU64, real::AtomicU64, u64, []);
word!(AtomicUsize, real::AtomicUsize, usize, []);
word!(AtomicPtr, real::AtomicPtr<T>, *mut T, [<T>]);
change!(AtomicBool, bool, fetch_and fetch_or fetch_xor);
change!(AtomicU32, u32, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
change!(AtomicU64, u64, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
change!(AtomicUsize, usize, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);

/// `std`'s cell with the closure interface that the model checker needs.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Gives a pointer to read through.
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        at(Point::Load);
        f(self.0.get())
    }

    /// Gives a pointer to write through.
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        at(Point::Change);
        f(self.0.get())
    }
}

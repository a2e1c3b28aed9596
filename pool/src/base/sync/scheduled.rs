//! The door as a harness sees it: `std`'s own atomics and cells, with a call before each
//! operation.
//!
//! Under `--cfg tine_sched` every operation on shared memory first calls the hook that a harness
//! has set. The harness lets one thread run at a time, and decides in the hook which thread goes
//! on. Otherwise these types do what `std`'s do. A process without a hook runs as usual.
//!
//! Two harnesses stand at the root of the repository. `sched/` tries many orders and needs to know
//! only that something is touched. `lab/` asks what each touch costs on a machine with many cores,
//! and so is told what is touched, how, and from which line of the source.
//!
//! Time, sleep, locks and thread starts need nothing here: the harness answers for the system
//! there.
#![forbid(unsafe_code)]

use std::panic::Location;
use std::sync::OnceLock;
use std::sync::atomic as real;
pub use std::sync::atomic::Ordering;

/// What a thread is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// A load, or a look into a cell.
    Load,
    /// A store, or a write into a cell.
    Store,
    /// A read-modify-write. A sequentially consistent store is one, too.
    Exchange,
    /// Nothing: the last exchange of this thread found another value than it expected.
    Refused,
    /// A fence that keeps stores before loads.
    Fence,
    /// A weaker fence.
    Order,
    /// A pause of a thread that waits for another in a loop.
    Pause,
}

/// One operation.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    /// What it does.
    pub point: Point,
    /// Where; 0 if nowhere.
    pub address: usize,
    /// How many bytes there.
    pub bytes: usize,
    /// Which thread asked for it.
    pub place: &'static Location<'static>,
}

static HOOK: OnceLock<fn(Touch)> = OnceLock::new();

/// Has `hook` called before every operation on shared memory from now on. The first hook stays.
pub fn set_hook(hook: fn(Touch)) {
    HOOK.get_or_init(|| hook);
}

#[inline]
#[track_caller]
fn at<T>(point: Point, what: *const T) {
    if let Some(hook) = HOOK.get() {
        hook(Touch {
            point,
            address: what.addr(),
            bytes: size_of::<T>(),
            place: Location::caller(),
        });
    }
}

/// Tells the harness of a touch that does not go through this door, as that of an `Arc`'s count.
#[track_caller]
pub fn touch<T>(point: Point, what: *const T) {
    at(point, what);
}

/// A fence, told to the harness.
#[track_caller]
pub fn fence(order: Ordering) {
    let point = if order == Ordering::SeqCst {
        Point::Fence
    } else {
        Point::Order
    };
    at(point, std::ptr::null::<u8>());
    real::fence(order);
}

/// A pause, told to the harness.
#[track_caller]
pub fn spin_loop() {
    at(Point::Pause, std::ptr::null::<u8>());
}

/// The harness hears of this from the system call.
pub(crate) use std::thread::yield_now;

macro_rules! word {
    ($name:ident, $real:ty, $value:ty, [$($generic:tt)*]) => {
        #[repr(transparent)]
        /// `std`'s, with a call before each operation.
        pub struct $name $($generic)* ($real);

        impl $($generic)* $name $($generic)* {
            #[allow(missing_docs)]
            pub const fn new(value: $value) -> Self {
                Self(<$real>::new(value))
            }
            #[track_caller]
            #[allow(missing_docs)]
            pub fn load(&self, order: Ordering) -> $value {
                at(Point::Load, self);
                self.0.load(order)
            }
            #[track_caller]
            #[allow(missing_docs)]
            pub fn store(&self, value: $value, order: Ordering) {
                let point = if order == Ordering::SeqCst {
                    Point::Exchange
                } else {
                    Point::Store
                };
                at(point, self);
                self.0.store(value, order);
            }
            #[track_caller]
            #[allow(missing_docs)]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                at(Point::Exchange, self);
                self.0.swap(value, order)
            }
            #[track_caller]
            #[allow(missing_docs)]
            pub fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                at(Point::Exchange, self);
                let result = self.0.compare_exchange(old, new, success, failure);
                if result.is_err() {
                    at(Point::Refused, self);
                }
                result
            }
            /// Never fails spuriously, so that a schedule can be repeated.
            #[track_caller]
            #[allow(missing_docs)]
            pub fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }
            #[track_caller]
            #[allow(missing_docs)]
            pub fn fetch_update(
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
            #[allow(missing_docs)]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }
            #[allow(missing_docs)]
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }
            #[allow(missing_docs)]
            pub const fn as_ptr(&self) -> *mut $value {
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
        #[allow(missing_docs)]
        impl $name {
            $(#[track_caller]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                at(Point::Exchange, self);
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

word!(AtomicU8, real::AtomicU8, u8, []);
word!(AtomicBool, real::AtomicBool, bool, []);
word!(AtomicU32, real::AtomicU32, u32, []);
word!(AtomicU64, real::AtomicU64, u64, []);
word!(AtomicUsize, real::AtomicUsize, usize, []);
// Other libraries that use the laboratory need these two.
word!(AtomicI64, real::AtomicI64, i64, []);
word!(AtomicIsize, real::AtomicIsize, isize, []);
word!(AtomicPtr, real::AtomicPtr<T>, *mut T, [<T>]);
change!(AtomicU8, u8, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
change!(AtomicBool, bool, fetch_and fetch_or fetch_xor);
change!(AtomicU32, u32, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
change!(AtomicU64, u64, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
change!(AtomicI64, i64, fetch_add);
change!(AtomicIsize, isize, fetch_add);
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
    #[track_caller]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        at(Point::Load, self);
        f(self.0.get())
    }

    /// Gives a pointer to write through.
    #[track_caller]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        at(Point::Store, self);
        f(self.0.get())
    }
}

//! Values that are on a list while they live, and whose destructors and other calls panic when they are told
//! to.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicIsize, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::panicking;

use tine_pool::{ThreadPool, ThreadPoolBuilder};

/// One test counts at a time.
static COUNTING: Mutex<()> = Mutex::new(());
/// More values than any use makes.
const ROOM: usize = 1 << 16;
/// The living values, by serial number: the kind's place in `WHATS`, or nothing.
static ALIVE: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];
/// The names of kinds of values.
const WHATS: [&str; 5] = ["nothing", "key", "item", "sum", "identity"];
/// A value that was dropped and did not live.
static TWICE: AtomicU64 = AtomicU64::new(0);
/// How many values the use has made.
static SERIAL: AtomicUsize = AtomicUsize::new(0);
/// How many more calls of each kind succeed until one panics.
static FUSES: [AtomicIsize; KINDS.len()] = [const { AtomicIsize::new(isize::MAX) }; KINDS.len()];

/// The calls that may panic.
pub(crate) const KINDS: [&str; 5] = ["drop", "clone", "hash", "compare", "call"];
/// The first of those.
pub(crate) const DROPS: &[&str] = &["drop"];

fn burn(kind: usize) {
    if !panicking() && FUSES[kind].fetch_sub(1, Relaxed) == 0 {
        resume_unwind(Box::new(OnPurpose));
    }
}

/// To be called by closures and by iterators.
pub(crate) fn call() {
    burn(4);
}

/// The payload of a panic on purpose; no hook prints it.
struct OnPurpose;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that owns something.
#[derive(Debug)]
pub(crate) struct Val {
    pub(crate) id: u32,
    serial: usize,
    what: &'static str,
}

impl Val {
    pub(crate) fn new(id: u32, what: &'static str) -> Val {
        let serial = SERIAL.fetch_add(1, Relaxed);
        let place = WHATS.iter().position(|known| *known == what);
        let place = place.expect("a value of a known kind");
        assert_eq!(
            ALIVE[serial].swap(place as u8, Relaxed),
            0,
            "a number of its own"
        );
        Val { id, serial, what }
    }
}

impl Clone for Val {
    fn clone(&self) -> Val {
        burn(1);
        Val::new(self.id, self.what)
    }
}

impl Drop for Val {
    fn drop(&mut self) {
        if ALIVE[self.serial].swap(0, Relaxed) == 0 {
            TWICE.fetch_add(1, Relaxed);
        }
        burn(0);
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        burn(3);
        self.id == other.id
    }
}

impl Eq for Val {}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Val) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Val {
    fn cmp(&self, other: &Val) -> std::cmp::Ordering {
        burn(3);
        self.id.cmp(&other.id)
    }
}

impl Hash for Val {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn(2);
        self.id.hash(state);
    }
}

pub(crate) fn key(id: u32) -> Val {
    Val::new(id, "key")
}

pub(crate) fn item(id: u32) -> Val {
    Val::new(id, "item")
}

/// To be called when all is made: calls panic from then on.
#[derive(Clone, Copy)]
pub(crate) struct Start(usize, isize);

impl Start {
    pub(crate) fn now(self) {
        FUSES[self.0].store(self.1, Relaxed);
    }
}

/// The values that were lost, for all verbs.
pub(crate) struct Ledger {
    kinds: &'static [&'static str],
    lost: Vec<String>,
    _alone: MutexGuard<'static, ()>,
}

impl Ledger {
    /// For calls of these kinds that panic.
    pub(crate) fn new(kinds: &'static [&'static str]) -> Ledger {
        Ledger {
            kinds,
            lost: Vec::new(),
            _alone: locked(&COUNTING),
        }
    }

    /// Makes the n-th call of each kind panic in this use, for each n (for some, if there are many), and then
    /// checks what is alive. The use makes all that it needs, and then starts. It drops what it gets.
    pub(crate) fn check(&mut self, name: &str, use_it: impl Fn(Start) + Sync) {
        static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| {
            [1, 2].map(|threads| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("a pool")
            })
        });
        let mut faults = Vec::new();
        for (kind, pool) in
            (0..self.kinds.len()).flat_map(|kind| POOLS.iter().map(move |pool| (kind, pool)))
        {
            let mut nth = 0;
            loop {
                let run = || pool.install(|| use_it(Start(kind, nth)));
                let blew = catch_unwind(AssertUnwindSafe(run)).is_err();
                FUSES[kind].store(isize::MAX, Relaxed);
                let made = SERIAL.swap(0, Relaxed);
                let lived = ALIVE[..made].iter().map(|place| place.swap(0, Relaxed));
                let mut left: Vec<_> = lived
                    .filter(|place| *place > 0)
                    .map(|place| WHATS[usize::from(place)])
                    .collect();
                let twice = TWICE.swap(0, Relaxed);
                if !left.is_empty() || twice > 0 {
                    let count = left.len();
                    left.sort_unstable();
                    left.dedup();
                    let what = KINDS[kind];
                    faults.push(format!(
                        "{what} {nth}: {count} lost {left:?}, {twice} twice"
                    ));
                }
                if !blew {
                    break;
                }
                nth += 1 + nth / 3;
            }
        }
        if let Some(first) = faults.first() {
            let count = faults.len();
            self.lost
                .push(format!("{name}: {count} faults, first at {first}"));
        }
    }

    pub(crate) fn end(self) {
        let count = self.lost.len();
        assert_eq!(count, 0, "\n{}", self.lost.join("\n"));
    }
}

/// A sum of two parts, both of which are dropped.
pub(crate) fn add(a: Val, b: Val) -> Val {
    call();
    let sum = a.id.wrapping_add(b.id);
    drop((a, b));
    Val::new(sum, "sum")
}

/// Checks calls by their names: first what is made, and then how it is used. Or only the use, with the caller's
/// `items(n)`.
macro_rules! uses {
    ($ledger:ident, $($name:literal: $made:expr => |$it:pat_param| $use:expr;)*) => {
        $($ledger.check($name, |start: $crate::kit::Start| {
            let $it = $made;
            start.now();
            let _ = $use;
        });)*
    };
    ($ledger:ident, $n:ident, $($name:literal: |$it:pat_param| $use:expr;)*) => {
        $crate::kit::uses! { $ledger, $($name: items($n) => |$it| $use;)* }
    };
}
pub(crate) use uses;

/// Tests that check all these with few items, and with some hundred.
macro_rules! sizes {
    ($($verbs:ident),*) => {
        fn all(n: u32) {
            let mut ledger = $crate::kit::Ledger::new(&$crate::kit::KINDS);
            $($verbs(n, &mut ledger);)*
            ledger.end();
        }

        #[test]
        fn few() {
            all(12);
        }

        #[test]
        fn some() {
            all(300);
        }
    };
}
pub(crate) use sizes;

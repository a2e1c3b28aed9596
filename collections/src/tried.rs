//! Calls for which the pool tries whether sharing their loop pays.
//!
//! Each thread that shares the loop of such a call fills a table of its own, and the call merges
//! all tables. The cost depends on the number of threads, on keys and on memory; no figure fits all
//! calls. So each site finds out.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use tine_iter::iter::ParallelIterator;
use tine_pool::loops::Whole;

/// Does `call` with the items, and says whether one thread is to run their loop, unless others ask for parts. The types of
/// the items and of `what` tell which site it is.
pub(crate) fn tried<I: ParallelIterator, W, R>(
    items: I,
    _what: &W,
    call: impl FnOnce(I, bool) -> R,
) -> R {
    let Some(turn) = Turn::begin() else {
        return call(items, false);
    };
    let whole = Whole::start(site::<(I, W)>(), items.opt_len());
    let alone = whole.as_ref().is_some_and(Whole::is_alone);
    let result = call(items, alone);
    drop(turn);
    if let Some(whole) = whole {
        whole.end();
    }
    result
}

/// A call that is tried, on this thread. `unzip` into two maps is one loop of two calls, the second inside the first: if both were
/// tried, each would take the other's trials for its own.
struct Turn;

thread_local! {
    static TRIED: Cell<bool> = const { Cell::new(false) };
}

impl Turn {
    /// `None` if another one is tried.
    fn begin() -> Option<Self> {
        // A thread that is ending no longer has such a cell: there nothing is tried.
        let was = TRIED.try_with(|tried| tried.replace(true)).unwrap_or(true);
        (!was).then_some(Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = TRIED.try_with(|tried| tried.set(false));
    }
}

/// A number for each type, the same for the whole run.
fn site<T>() -> usize {
    struct Number(u64);
    impl Hasher for Number {
        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
        }
        fn write_u64(&mut self, word: u64) {
            self.0 = self.0.rotate_left(8) ^ word;
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut number = Number(0);
    typeid::of::<T>().hash(&mut number);
    // Hardly any function lies at an odd address; loops are identified by those addresses.
    number.finish() as usize | 1
}

#[cfg(test)]
mod tests {
    use super::{Turn, site, tried};
    use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

    #[test]
    fn each_type_has_a_site_of_its_own() {
        let closures = (|| 1, || 2);
        fn of<T>(_: &T) -> usize {
            site::<T>()
        }
        assert_ne!(of(&closures.0), of(&closures.1));
        assert_eq!(site::<(u8, &str)>(), site::<(u8, &str)>());
        assert_ne!(site::<(u8, &str)>(), site::<(&str, u8)>());
    }

    #[test]
    fn a_call_inside_of_a_call_is_not_tried() {
        let items = |len: u32| (0..len).into_par_iter();
        let caught = std::panic::catch_unwind(|| {
            tried(items(10_000), &"outer", |_, _| {
                assert!(Turn::begin().is_none());
                let inner = tried(items(10_000), &"inner", |items, alone| {
                    (items.sum::<u32>(), alone)
                });
                assert_eq!(inner, (49_995_000, false));
                panic!("on purpose");
            })
        });
        assert!(caught.is_err());
        assert!(Turn::begin().is_some());
    }

    #[test]
    #[cfg_attr(miri, ignore = "its calls take longer than those that are tried")]
    fn one_of_the_first_calls_of_a_site_is_one_threads() {
        let pool = tine_pool::ThreadPoolBuilder::new().num_threads(2);
        let pool = pool.build().unwrap();
        let call = |len: u64| {
            let items = (0..len).into_par_iter();
            pool.install(|| tried(items, &"these", |items, alone| (items.sum::<u64>(), alone)))
        };
        assert_eq!(call(10_000), (49_995_000, false));
        // The second call, unless the machine was busy with other work during the first.
        let alone = (0..1_000).any(|_| {
            let (sum, alone) = call(10_000);
            assert_eq!(sum, 49_995_000);
            alone
        });
        assert!(alone);
        // A look does not pay for few items.
        assert_eq!(call(10), (45, false));
    }
}

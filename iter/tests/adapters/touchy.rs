//! Destructors that panic, of items that are no longer wanted and of states: what was made until then is
//! dropped nevertheless, and once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use tine_iter::prelude::*;

/// Counts how often it is dropped, and panics then if it is the touchy value.
struct Item<'d> {
    number: usize,
    touchy: bool,
    drops: &'d [AtomicUsize],
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        self.drops[self.number].fetch_add(1, Relaxed);
        assert!(!self.touchy, "touchy");
    }
}

const LEN: usize = 100;

/// Whether each item is dropped once, whichever of them is touchy.
fn all_dropped(what: &str, run: impl Fn(Vec<Item<'_>>) + Sync) {
    let mut panics = 0;
    for touchy in [0, 1, 25, 49, 50, 51, 75, LEN - 1] {
        crate::in_pools(|| {
            let drops: Vec<_> = (0..LEN).map(|_| AtomicUsize::new(0)).collect();
            let item = |number| Item {
                number,
                touchy: number == touchy,
                drops: &drops,
            };
            let items: Vec<_> = (0..LEN).map(item).collect();
            let panicked = catch_unwind(AssertUnwindSafe(|| run(items))).is_err();
            let counts: Vec<_> = drops.iter().map(|n| n.load(Relaxed)).collect();
            assert_eq!(counts, [1; LEN], "{what}, {touchy}");
            panicked
        })
        .into_iter()
        .for_each(|panicked| panics += usize::from(panicked));
    }
    assert!(panics > 0, "{what}: nothing was touchy");
}

/// Keeps items from panicking: they were wanted.
fn keep(mut items: Vec<Item<'_>>) {
    calm(&mut items);
}

fn calm(items: &mut [Item<'_>]) {
    items.iter_mut().for_each(|item| item.touchy = false);
}

#[test]
fn items_nobody_wants() {
    all_dropped("take_any", |v| {
        keep(v.into_par_iter().take_any(50).collect())
    });
    all_dropped("step_by", |v| keep(v.into_par_iter().step_by(3).collect()));
    all_dropped("step_by, from the back", |v| {
        keep(v.into_par_iter().rev().step_by(3).collect())
    });
    all_dropped("take_any, chained", |mut v| {
        let rest = v.split_off(30);
        keep(v.into_par_iter().chain(rest).take_any(20).collect())
    });
    all_dropped("take_any, boxed behind a chain", |mut v| {
        let rest = v.split_off(60);
        keep(
            v.into_par_iter()
                .chain(rest)
                .with_max_len(7)
                .enumerate()
                .map(|(_, x)| x)
                .take_any(50)
                .collect(),
        )
    });
    all_dropped("take_any_while", |v| {
        keep(
            v.into_par_iter()
                .take_any_while(|x| x.number < 50)
                .collect(),
        )
    });
    all_dropped("skip_any", |v| {
        keep(v.into_par_iter().skip_any(50).collect())
    });
    all_dropped("in blocks", |v| {
        keep(
            v.into_par_iter()
                .by_uniform_blocks(9)
                .take_any(50)
                .collect(),
        )
    });
    all_dropped("deterministic", |v| {
        keep(v.into_par_iter().deterministic().take_any(50).collect())
    });
    all_dropped("in pieces", |v| {
        keep(v.into_par_iter().with_max_len(3).take_any(50).collect())
    });
    all_dropped("filter_map", |v| {
        keep(
            v.into_par_iter()
                .map(|x| if x.number < 50 { Ok(x) } else { Err(()) })
                .filter_map(Result::ok)
                .collect(),
        )
    });
    all_dropped("filter", |v| {
        keep(v.into_par_iter().filter(|x| x.number < 50).collect())
    });
    all_dropped("take", |v| keep(v.into_par_iter().take(50).collect()));
    all_dropped("skip", |v| keep(v.into_par_iter().skip(50).collect()));
}

/// States that panic when a piece has ended.
#[test]
fn states() {
    struct State<'s>(&'s AtomicUsize);

    impl Drop for State<'_> {
        fn drop(&mut self) {
            assert!(self.0.fetch_add(1, Relaxed) != 0, "touchy");
        }
    }

    all_dropped("map_init", |mut v| {
        calm(&mut v);
        let states = AtomicUsize::new(0);
        let items = v.into_par_iter().map_init(|| State(&states), |_, x| x);
        items.filter(|_| true).collect::<Vec<_>>();
    });
    all_dropped("map_init, in place", |mut v| {
        calm(&mut v);
        let states = AtomicUsize::new(0);
        let items = v.into_par_iter().map_init(|| State(&states), |_, x| x);
        items.collect::<Vec<_>>();
    });
}

/// Gaps between items, which panic when a piece or a block has ended.
#[test]
fn gaps() {
    struct Spaced<'d> {
        item: Option<Item<'d>>,
        touchy: &'d AtomicBool,
    }

    impl Clone for Spaced<'_> {
        fn clone(&self) -> Self {
            assert!(self.item.is_none(), "an item was cloned");
            Spaced {
                item: None,
                ..*self
            }
        }
    }

    impl Drop for Spaced<'_> {
        fn drop(&mut self) {
            assert!(
                self.item.is_some() || !self.touchy.swap(false, Relaxed),
                "touchy"
            );
        }
    }

    static TOUCHY: AtomicBool = AtomicBool::new(false);
    for dense in [true, false] {
        all_dropped("intersperse", |mut items| {
            calm(&mut items);
            let touchy = &TOUCHY;
            touchy.store(true, Relaxed);
            let gap = Spaced { item: None, touchy };
            let items = items.into_par_iter().map(|item| Spaced {
                item: Some(item),
                touchy,
            });
            match dense {
                true => drop(items.intersperse(gap).collect::<Vec<_>>()),
                false => drop(items.filter(|_| true).intersperse(gap).collect::<Vec<_>>()),
            }
        });
    }
}

/// An error is made, and then the collected items panic when they are dropped.
#[test]
fn what_was_collected_before_an_error() {
    struct Error<'e>(&'e AtomicUsize);

    impl Drop for Error<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    struct Touchy;

    impl Drop for Touchy {
        fn drop(&mut self) {
            panic!("touchy");
        }
    }

    crate::in_pools(|| {
        let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let item = |n: usize| match n {
            0 => Ok(Touchy),
            _ => {
                made.fetch_add(1, Relaxed);
                Err(Error(&dropped))
            }
        };
        let collect = || {
            drop(
                (0..2)
                    .into_par_iter()
                    .with_min_len(2)
                    .map(item)
                    .collect::<Result<Vec<_>, _>>(),
            )
        };
        assert!(catch_unwind(AssertUnwindSafe(collect)).is_err());
        assert_eq!((made.into_inner(), dropped.into_inner()), (1, 1));
    });
}

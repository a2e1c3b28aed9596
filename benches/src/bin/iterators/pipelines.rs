//! Pipelines over ten million items.

use std::hint::black_box;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tine_pool::current_num_threads as threads;

use super::Book;
use crate::data::{LONG, ascending, bytes, floats, numbers, paralight, text};
use crate::race::{Case, Goal, case, cases, sample};

/// What a row may take of rayon's time.
fn of_rayon(times: f64) -> Goal {
    Goal::Within(times, "rayon", 0.0)
}

/// Whether a number is there: `at` is where it is.
fn any(at: Option<usize>) -> Vec<Case> {
    let v = ascending();
    let wanted = at.map_or(u64::MAX, |at| v[at]);
    cases! {
        black_box(v).iter().any(|&x| x == wanted);
        black_box(v).par_iter().any(|&x| x == wanted);
        orx: black_box(v).par().num_threads(threads()).any(|x| **x == wanted);
        paralight: paralight(|pool| {
            black_box(v).par_iter().with_thread_pool(pool).any(|&x| x == wanted)
        });
    }
}

fn find_first(at: usize) -> Vec<Case> {
    let v = ascending();
    let wanted = v[at];
    cases! {
        black_box(v).iter().find(|&&x| x == wanted).copied();
        black_box(v).par_iter().find_first(|&&x| x == wanted).copied();
        paralight: paralight(|pool| {
            let items = black_box(v).par_iter().with_thread_pool(pool);
            items.find_first(|&&x| x == wanted).copied()
        });
    }
}

/// The memory that the writing rows write to.
static TARGET: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn write() -> Vec<Case> {
    TARGET.lock().expect("a fresh lock").resize(LONG, 0);
    let target = || TARGET.lock().unwrap_or_else(PoisonError::into_inner);
    cases! {
        target().iter_mut().enumerate().for_each(|(at, x)| *x = at as u64 * 3);
        target().par_iter_mut().enumerate().for_each(|(at, x)| *x = at as u64 * 3);
    }
}

fn histogram_of_arrays() -> Vec<Case> {
    let v = bytes();
    fn add<H: AsMut<[u64]>>(mut counts: H, byte: &u8) -> H {
        counts.as_mut()[usize::from(*byte)] += 1;
        counts
    }
    fn join<H: AsMut<[u64]>>(mut a: H, mut b: H) -> H {
        a.as_mut()
            .iter_mut()
            .zip(b.as_mut())
            .for_each(|(a, b)| *a += *b);
        a
    }
    cases! {
        black_box(v).iter().fold([0; 256], add);
        black_box(v).par_iter().fold(|| [0; 256], add).reduce(|| [0; 256], join);
        otherwise: {
            let zeros = || vec![0; 256];
            black_box(v).par_iter().fold(zeros, add).reduce(zeros, join)
        };
    }
}

fn reductions(book: &mut Book<'_>) {
    let v = numbers();
    book.row("sum", of_rayon(1.0), || cases! {
        black_box(v).iter().sum::<u64>();
        black_box(v).par_iter().sum::<u64>();
        orx: black_box(v).par().num_threads(threads()).sum::<u64>();
        paralight: paralight(|pool| black_box(v).par_iter().with_thread_pool(pool).sum::<u64>());
    });
    book.row("map+filter+count", of_rayon(1.0), || {
        cases! {
            black_box(v).iter().map(|x| x.wrapping_mul(7)).filter(|x| x % 3 == 0).count();
            black_box(v).par_iter().map(|x| x.wrapping_mul(7)).filter(|x| x % 3 == 0).count();
            orx: {
                let items = black_box(v).par().num_threads(threads());
                items.map(|x| x.wrapping_mul(7)).filter(|x| x % 3 == 0).count()
            };
        }
    });
    book.row("min_by_key", of_rayon(1.0), || {
        cases! {
            black_box(v).iter().min_by_key(|x| **x ^ 0x5555).copied();
            black_box(v).par_iter().min_by_key(|x| **x ^ 0x5555).copied();
            orx: black_box(v).par().num_threads(threads()).min_by_key(|x| **x ^ 0x5555).copied();
            paralight: paralight(|pool| {
                let items = black_box(v).par_iter().with_thread_pool(pool);
                items.min_by_key(|x| **x ^ 0x5555).copied()
            });
        }
    });
    for (name, v) in [("max", numbers()), ("max of what ascends", ascending())] {
        book.row(name, of_rayon(1.0), || {
            cases! {
                black_box(v).iter().copied().max();
                black_box(v).par_iter().copied().max();
                orx: black_box(v).par().num_threads(threads()).copied().max();
                paralight: paralight(|pool| {
                    black_box(v).par_iter().with_thread_pool(pool).max().copied()
                });
            }
        });
    }
    book.row("max of references", of_rayon(1.0), || {
        cases! {
            black_box(v).iter().max().copied();
            black_box(v).par_iter().max().copied();
        }
    });
    book.row("max of floats by total_cmp", of_rayon(1.0), || {
        cases! {
            black_box(floats()).iter().copied().max_by(f64::total_cmp);
            black_box(floats()).par_iter().copied().max_by(f64::total_cmp);
        }
    });
    book.row("reduce", of_rayon(1.0), || {
        cases! {
            black_box(v).iter().copied().fold(0, |a: u64, b| a ^ b);
            black_box(v).par_iter().copied().reduce(|| 0, |a: u64, b| a ^ b);
        }
    });
}

fn searches(book: &mut Book<'_>) {
    book.row(
        "any, at the front",
        Goal::Within(1.0, "sequential", 100.0),
        || any(Some(10)),
    );
    book.row("any, at 45 %", of_rayon(1.0), || any(Some(LONG * 45 / 100)));
    book.row("any, none", of_rayon(1.0), || any(None));
    let goal = Goal::Within(1.1, "sequential", 0.0);
    book.row("find_first, at a third", goal, || find_first(LONG / 3));
}

fn reshaped(book: &mut Book<'_>) {
    let (v, w) = (numbers(), ascending());
    book.row("zip, dot product", of_rayon(1.0), || {
        cases! {
            black_box(v).iter().zip(w).map(|(a, b)| a.wrapping_mul(*b)).sum::<u64>();
            black_box(v).par_iter().zip(w).map(|(a, b)| a.wrapping_mul(*b)).sum::<u64>();
            paralight: paralight(|pool| {
                let pairs = (black_box(v).par_iter(), w.par_iter()).zip_eq().with_thread_pool(pool);
                pairs.map(|(a, b)| a.wrapping_mul(*b)).sum::<u64>()
            });
        }
    });
    book.row("chunks of 1000, sums", of_rayon(1.0), || cases! {
        black_box(v).chunks(1000).map(|chunk| chunk.iter().sum::<u64>()).sum::<u64>();
        black_box(v).par_iter().chunks(1000).map(|chunk| chunk.into_iter().sum::<u64>()).sum::<u64>();
    });
    book.row("par_chunks of 1000, sums", of_rayon(1.0), || {
        cases! {
            black_box(v).chunks(1000).map(|chunk| chunk.iter().sum::<u64>()).sum::<u64>();
            black_box(v).par_chunks(1000).map(|chunk| chunk.iter().sum::<u64>()).sum::<u64>();
        }
    });
    book.row("enumerate, write each", of_rayon(1.0), write);
    let inner = |i: u64| (0..100_u32).map(move |j| i ^ u64::from(j));
    book.row("flat_map of 100, sum", of_rayon(1.0), || {
        cases! {
            black_box(&v[..LONG / 100]).iter().flat_map(|&i| inner(i)).sum::<u64>();
            black_box(&v[..LONG / 100])
                .par_iter()
                .flat_map(|&i| (0..100_u32).into_par_iter().map(move |j| i ^ u64::from(j)))
                .sum::<u64>();
        }
    });
    book.row("flat_map_iter of 100, sum", of_rayon(1.0), || {
        cases! {
            black_box(&v[..LONG / 100]).iter().flat_map(|&i| inner(i)).sum::<u64>();
            black_box(&v[..LONG / 100]).par_iter().flat_map_iter(|&i| inner(i)).sum::<u64>();
            orx: {
                let items = black_box(&v[..LONG / 100]).par().num_threads(threads());
                items.flat_map(move |&i| inner(i)).sum::<u64>()
            };
        }
    });
}

/// Here the items are characters: those of 50 MB of text, and all characters that exist.
fn characters(book: &mut Book<'_>) {
    book.row("words of lines", of_rayon(1.0), || cases! {
        black_box(text()).lines().map(|line| line.split_whitespace().count()).sum::<usize>();
        black_box(text()).par_lines().map(|line| line.split_whitespace().count()).sum::<usize>();
    });
    book.row("words", of_rayon(1.0), || {
        cases! {
            black_box(text()).split_whitespace().count();
            black_box(text()).par_split_whitespace().count();
        }
    });
    book.row("characters, sum", of_rayon(1.0), || {
        cases! {
            black_box(text()).chars().map(|c| c as u64).sum::<u64>();
            black_box(text()).par_chars().map(|c| c as u64).sum::<u64>();
        }
    });
    book.row("all characters, sum", of_rayon(1.0), || {
        cases! {
            black_box('\0'..char::MAX).map(|c| c as u64).sum::<u64>();
            black_box('\0'..char::MAX).into_par_iter().map(|c| c as u64).sum::<u64>();
        }
    });
    book.row("all characters, count of some", of_rayon(1.0), || {
        cases! {
            black_box('\0'..=char::MAX).filter(|c| c.is_alphabetic()).count();
            black_box('\0'..=char::MAX).into_par_iter().filter(|c| c.is_alphabetic()).count();
        }
    });
}

/// Something that takes some 90 ns.
fn slow(seed: u64) -> u64 {
    (0..100).fold(seed, |x, _| {
        black_box(x.wrapping_mul(0x5851_f42d_4c95_7f2d) | 1)
    })
}

/// Sources that split themselves: each makes 10⁵ items.
fn trees(book: &mut Book<'_>) {
    const LEN: u64 = 100_000;
    let two = |&n: &u64| [2 * n, 2 * n + 1].into_iter().filter(|&c| c <= LEN);
    let one = |&n: &u64| (n < LEN).then_some(n + 1);
    let halves = |range: Range<u64>| match range.end - range.start {
        0..10 => (range, None),
        len => {
            let middle = range.start + len / 2;
            (range.start..middle, Some(middle..range.end))
        }
    };
    let first = |range: Range<u64>| match range.end - range.start {
        0..1001 => (range, None),
        _ => (
            range.start..range.start + 1000,
            Some(range.start + 1000..range.end),
        ),
    };
    macro_rules! row {
        ($name:literal, $source:ident($from:expr, $how:ident)$(, $map:ident)?) => {
            book.row($name, of_rayon(1.0), || {
                vec![
                    ("sequential", sample(|| (1..=LEN).map(slow).fold(0, u64::wrapping_add))),
                    case!("tine", tine_iter::prelude, {
                        let items = tine_iter::iter::$source($from, $how)$(.$map(|part| part))?;
                        items.map(slow).reduce(|| 0, u64::wrapping_add)
                    }),
                    case!("rayon", rayon::prelude, {
                        let items = rayon::iter::$source($from, $how)$(.$map(|part| part))?;
                        items.map(slow).reduce(|| 0, u64::wrapping_add)
                    }),
                ]
            });
        };
    }
    row!("binary tree", walk_tree(1, two));
    row!("binary tree, postfix", walk_tree_postfix(1, two));
    row!("one branch, prefix", walk_tree_prefix(1, one));
    row!("one branch, postfix", walk_tree_postfix(1, one));
    row!("split into halves", split(0..LEN, halves), flat_map_iter);
    row!(
        "split off 1,000 at a time",
        split(0..LEN, first),
        flat_map_iter
    );
}

/// A small tree on its own.
fn small_tree(nodes: u64) -> Vec<Case> {
    let two = move |&n: &u64| [2 * n, 2 * n + 1].into_iter().filter(move |&c| c <= nodes);
    vec![
        (
            "sequential",
            sample(move || (1..=nodes).map(black_box).sum::<u64>()),
        ),
        case!(
            "tine",
            tine_iter::prelude,
            tine_iter::iter::walk_tree(1, two).sum::<u64>()
        ),
        case!(
            "rayon",
            rayon::prelude,
            rayon::iter::walk_tree(1, two).sum::<u64>()
        ),
    ]
}

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("Pipelines over 10⁷ items");
    reductions(book);
    searches(book);
    reshaped(book);
    book.section("Text: 50 MB, and all characters");
    characters(book);
    book.section(
        "Trees, and what a closure splits: 10⁵ items of 90 ns; the loop has no tree to walk",
    );
    trees(book);
    book.row("tree of 10 numbers", of_rayon(1.0), || small_tree(10));
    book.row("tree of 100 numbers", of_rayon(1.0), || small_tree(100));
    book.section("Counts of 10⁷ bytes in an array; the other way: in a vector");
    let goal = Goal::Within(1.1, "tine, the other way", 0.0);
    book.row("fold into [u64; 256] by value", goal, histogram_of_arrays);
}

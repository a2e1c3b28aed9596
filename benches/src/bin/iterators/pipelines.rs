//! Pipelines over ten million items.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use tine_pool::current_num_threads as threads;

use super::Book;
use crate::data::{LONG, ascending, bytes, floats, numbers, paralight, text};
use crate::race::{Case, Goal, cases};

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

/// Where the rows that write write to.
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

/// Characters are the items here: of 50 MB of text, and all that there are.
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

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("Pipelines over 10⁷ items");
    reductions(book);
    searches(book);
    reshaped(book);
    book.section("Text: 50 MB, and all characters");
    characters(book);
    book.section("Counts of 10⁷ bytes in an array; the other way: in a vector");
    let goal = Goal::Within(1.1, "tine, the other way", 0.0);
    book.row("fold into [u64; 256] by value", goal, histogram_of_arrays);
}

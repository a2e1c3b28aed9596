//! Sorts by comparators that may lie or panic: afterwards every item is still there, once. If a
//! comparator does neither, the order is std's.

use crate::bytes::Bytes;
use crate::pools;
use std::cmp::Ordering;
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tine_iter::prelude::*;
use tine_iter::sort::{ParallelDedup, ParallelSort};

/// An item on the heap: one that is dropped twice, or never, is found out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    key: u16,
    number: Box<u32>,
}

/// The message with which std's sorts, which do the last small pieces, may panic at a comparator that lies.
const COMPLAINT: &str = "does not correctly implement a total order";

/// Such a complaint is not a fault, and must not reach the fuzzer's hook, which would end the process.
fn let_complain() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            if !why.to_string().contains(COMPLAINT) {
                before(why);
            }
        }));
    });
}

/// Sorts what `bytes` describe.
pub fn run(bytes: &[u8]) {
    let_complain();
    let mut bytes = Bytes::new(bytes);
    let (pool, which, liar) = (bytes.u8(), bytes.u8(), bytes.u8());
    let items = items(&mut bytes);
    let pool = &pools()[usize::from(pool % 3)];
    pool.install(|| match liar % 4 {
        0 => honest(which, items),
        _ => lied_to(which, items, Liar::new(liar, bytes)),
    });
}

/// Items in stretches that rise, fall, stand still or are in no order.
fn items(bytes: &mut Bytes<'_>) -> Vec<Item> {
    let (mut keys, mut seed) = (Vec::new(), 1_u32);
    for _ in 0..bytes.u8() % 8 {
        let (shape, length, mask) = (bytes.u8(), bytes.u16() % 3000, bytes.u16());
        let start = bytes.u16();
        keys.extend((0..length).map(|n| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match shape % 4 {
                0 => start.wrapping_add(n),
                1 => start.wrapping_sub(n),
                2 => start,
                _ => (seed >> 16) as u16 & mask,
            }
        }));
    }
    let numbered = keys.into_iter().zip(0..);
    numbered
        .map(|(key, number)| Item {
            key,
            number: Box::new(number),
        })
        .collect()
}

fn honest(which: u8, mut items: Vec<Item>) {
    let mut wanted = items.clone();
    wanted.sort_by_key(|item| item.key);
    let by_key = |a: &Item, b: &Item| a.key.cmp(&b.key);
    let keys = |items: &[Item]| items.iter().map(|item| item.key).collect::<Vec<_>>();
    match which % 8 {
        0 => items.par_sort_by(by_key),
        1 => items.par_sort_by_key(|item| item.key),
        2 => items.par_sort_by_cached_key(|item| {
            item.key.to_string().len() as u32 * 65536 + u32::from(item.key)
        }),
        3 => items.par_sort_radix_by_key(|item| item.key),
        4 => {
            // Both orders are total here, so this sort is stable by itself.
            items.par_sort_unstable();
        }
        5 => {
            let mid = items.len() / 3;
            items[..mid].sort_by_key(|item| item.key);
            items[mid..].sort_by_key(|item| item.key);
            items.par_merge_by(mid, by_key);
        }
        6 => {
            let mut plain = keys(&items);
            plain.par_sort_unstable();
            assert_eq!(plain, keys(&wanted));
            plain.par_dedup();
            wanted.dedup_by_key(|item| item.key);
            assert_eq!(plain, keys(&wanted));
            return;
        }
        _ => {
            if items.is_empty() {
                return;
            }
            let index = items.len() / 2;
            let (low, item, high) = items.par_select_nth_unstable_by(index, by_key);
            assert_eq!(item.key, wanted[index].key);
            assert!(low.iter().all(|other| other.key <= item.key));
            assert!(high.iter().all(|other| other.key >= item.key));
            return all_there(items);
        }
    }
    assert!(items == wanted, "by way {}", which % 8);
}

/// A comparator that answers as it pleases.
struct Liar<'a> {
    kind: u8,
    answers: &'a [u8],
    asked: AtomicUsize,
    patience: usize,
}

impl<'a> Liar<'a> {
    fn new(kind: u8, mut bytes: Bytes<'a>) -> Self {
        let patience = bytes.u16();
        Self {
            kind,
            answers: bytes.rest(),
            asked: AtomicUsize::new(0),
            patience: usize::from(patience),
        }
    }

    fn answer(&self, at: usize) -> u8 {
        match self.answers.len() {
            0 => at as u8,
            len => self.answers[at % len],
        }
    }

    fn compare(&self, a: &Item, b: &Item) -> Ordering {
        let asked = self.asked.fetch_add(1, Relaxed);
        let pair = usize::from(a.key) * 31 + usize::from(b.key);
        match self.kind % 4 {
            // A different answer each time.
            1 => [Ordering::Less, Ordering::Equal, Ordering::Greater]
                [usize::from(self.answer(asked) % 3)],
            // The same answer for the same pair, but not an order.
            2 => [Ordering::Less, Ordering::Equal, Ordering::Greater]
                [usize::from(self.answer(pair) % 3)],
            // Honest until it has been asked often enough; then it panics. The hook for panics,
            // which ends the fuzzer, is not called.
            _ if asked > self.patience => resume_unwind(Box::new(())),
            _ => a.key.cmp(&b.key),
        }
    }
}

fn lied_to(which: u8, mut items: Vec<Item>, liar: Liar<'_>) {
    let compare = |a: &Item, b: &Item| liar.compare(a, b);
    let less = |item: &Item| liar.compare(item, item) == Ordering::Less;
    let count = items.len();
    let outcome = catch_unwind(AssertUnwindSafe(|| match which % 8 {
        0 | 1 => items.par_sort_by(compare),
        2 | 3 => items.par_sort_unstable_by(compare),
        4 => items.par_sort_by_key(|item| u16::from(less(item)) ^ item.key),
        5 if count > 0 => {
            items.par_select_nth_unstable_by(count / 2, compare);
        }
        6 => items.par_merge_by(count / 2, compare),
        _ => {
            items.par_partition(less);
        }
    }));
    if let Err(panic) = outcome {
        let own = liar.kind % 4 == 3 && panic.is::<()>();
        let message = panic.downcast_ref::<&str>();
        assert!(own || message.is_some_and(|text| text.contains(COMPLAINT)));
    }
    assert_eq!(items.len(), count);
    all_there(items);
}

/// Checks that every number is there once.
fn all_there(items: Vec<Item>) {
    let mut numbers: Vec<_> = items.into_iter().map(|item| *item.number).collect();
    numbers.sort_unstable();
    let count = numbers.len() as u32;
    assert!(numbers.into_iter().eq(0..count));
}

#[cfg(test)]
#[test]
fn seeds() {
    crate::run_seeds("sorts", run);
}

//! What a rank says if there is no memory for what the other ranks send: an allocator that refuses large pieces
//! to one rank.

#[path = "ranks/watch.rs"]
mod watch;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use tine_cluster::Cluster;
use watch::ThreadRanks;

/// Refuses requests that are larger than this thread may have.
struct Refusing;

thread_local! {
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
}

// SAFETY: handed on to the system's allocator, which keeps the contract; a null pointer says that
// there is no memory.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST.get() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's duty is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's duty is the same.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

const RANKS: usize = 4;
/// The rank that gets little.
const POOR: usize = 2;

/// What the job says if that rank may have pieces of `most` bytes in `verb`: the number of bytes that it wants.
fn poor(name: &str, most: usize, verb: impl Fn(&Cluster) + Sync) -> usize {
    let ran = ThreadRanks::new(RANKS).round(1 << 16).run(|c| {
        if c.rank() == POOR {
            MOST.set(most);
        }
        verb(c);
        c.barrier();
        Ok(())
    });
    let said = ran.expect_err("there is no room").to_string();
    let begin = format!("rank {POOR} of {RANKS}: `{name}` at ");
    assert!(said.starts_with(&begin), "{said}");
    assert!(said.contains("room.rs:"), "{said}");
    let (_, bytes) = said.split_once(" wants room for ").expect(&said);
    let (bytes, rest) = bytes.split_once(' ').expect(&said);
    assert_eq!(rest, "bytes, and there is none");
    bytes.parse().expect(&said)
}

/// A key that the poor rank gets in a shuffle.
fn key() -> usize {
    let owns = |key: usize| {
        let found = AtomicBool::new(false);
        let ran = ThreadRanks::new(RANKS).run(|c| {
            let one = c.generate(1, |_| 0).into_par_iter().shuffle_by(|_| key);
            if c.rank() == POOR && !one.local().is_empty() {
                found.store(true, Ordering::Relaxed);
            }
            Ok(())
        });
        ran.is_ok() && found.into_inner()
    };
    (0..1000)
        .find(|key| owns(*key))
        .expect("each rank has keys")
}

/// Items in each part.
const PART: usize = 10_000;
const ALL: usize = RANKS * PART;

fn text(i: usize) -> String {
    format!("{i:0100}")
}

#[test]
fn words_for_all() {
    let wanted = poor("all_gather", 16 * PART, |c| {
        c.generate(ALL, |i| i as u64).all_gather();
    });
    assert_eq!(wanted, 8 * ALL);
}

#[test]
fn texts_for_all() {
    let wanted = poor("all_gather", 200 * PART, |c| {
        c.generate(ALL, text).all_gather();
    });
    assert!(wanted > 100 * ALL, "{wanted}");
}

#[test]
fn words_for_one() {
    let key = key();
    let wanted = poor("shuffle_by", 16 * PART, |c| {
        let all = c.generate(ALL, |i| i as u64).into_par_iter();
        all.shuffle_by(|_| key);
    });
    assert_eq!(wanted, 8 * ALL);
}

#[test]
fn texts_for_one() {
    let key = key();
    let each = size_of::<String>();
    let wanted = poor("shuffle_by", 3 * each * PART, |c| {
        c.generate(ALL, text).into_par_iter().shuffle_by(|_| key);
    });
    assert!(wanted >= each * (ALL - PART), "{wanted}");
}

#[test]
fn a_large_value_of_the_first() {
    let wanted = poor("broadcast", 8 * PART, |c| {
        let value = match c.is_root() {
            true => (0..ALL as u64)
                .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                .collect(),
            false => Vec::new(),
        };
        c.broadcast(value);
    });
    assert!(wanted >= 8 * ALL, "{wanted}");
}

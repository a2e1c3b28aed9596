//! Merging a small map into another, where the closure takes long: by all threads, under a token, and with panics.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tine_collections::ParHashMap;
use tine_pool::{StopToken, ThreadPool, ThreadPoolBuilder, with_token};

/// The first is one table, the second has many.
const SIZES: [u32; 2] = [600, 6_000];

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(2).build().unwrap()
}

fn map(keys: std::ops::Range<u32>) -> ParHashMap<u32, u32> {
    keys.map(|key| (key, key)).collect()
}

/// Takes long enough to be shared.
fn dawdle() {
    sleep(Duration::from_micros(30));
}

#[test]
fn all_threads_merge_what_takes_long() {
    // At most so long does a closure wait for another one.
    const WAIT: Duration = Duration::from_millis(20);
    for size in SIZES {
        let (mut mine, met, inside) = (map(0..size), AtomicUsize::new(0), AtomicUsize::new(0));
        let merge = |a: &mut u32, b: u32| {
            *a = *a * 2 + b;
            inside.fetch_add(1, SeqCst);
            let end = Instant::now() + WAIT;
            while met.load(SeqCst) == 0 && Instant::now() < end {
                if inside.load(SeqCst) > 1 {
                    met.store(1, SeqCst);
                }
            }
            inside.fetch_sub(1, SeqCst);
        };
        pool().install(|| mine.par_merge_with(map(size / 2..size + 300), merge));
        assert_eq!(met.into_inner(), 1);
        let value = |key| match key {
            key if key < size / 2 || key >= size => key,
            key => key * 3,
        };
        let expected: HashMap<u32, u32> = (0..size + 300).map(|key| (key, value(key))).collect();
        assert_eq!(mine, expected);
    }
}

/// All keys belong to one shard.
#[derive(Default)]
struct Same;

impl Hasher for Same {
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        1
    }
}

fn ends_by_a_token<S: BuildHasher + Default + Sync>(size: u32, entry: fn()) {
    let map = || -> ParHashMap<u32, u32, S> { (0..size).map(|key| (key, key)).collect() };
    let (mut mine, merged, token) = (map(), AtomicUsize::new(0), StopToken::new());
    let merge = |a: &mut u32, b: u32| {
        if merged.fetch_add(1, SeqCst) == 200 {
            token.stop();
        }
        entry();
        *a += b;
    };
    let ended = with_token(&token, || mine.par_merge_with(map(), merge));
    assert!(ended.is_err());
    // Each thread looks now and then.
    assert!(merged.into_inner() < 500);
    assert_eq!(mine.len(), size as usize);
    // No entry is merged under a token that is stopped.
    let ended = with_token(&token, || {
        mine.par_merge_with(map(), |_, _| panic!("called"))
    });
    assert!(ended.is_err());
}

#[test]
fn a_token_ends_it() {
    for size in SIZES {
        ends_by_a_token::<RandomState>(size, dawdle);
        ends_by_a_token::<RandomState>(size, || ());
    }
    ends_by_a_token::<BuildHasherDefault<Same>>(SIZES[0], dawdle);
    ends_by_a_token::<BuildHasherDefault<Same>>(SIZES[0], || ());
}

#[test]
fn nothing_is_lost_if_it_panics() {
    for size in SIZES {
        let (alive, calls) = (Arc::new(()), AtomicUsize::new(0));
        let make = || -> ParHashMap<u32, Arc<()>> {
            (0..size).map(|key| (key, Arc::clone(&alive))).collect()
        };
        let mut mine = make();
        let merge = |_: &mut Arc<()>, _: Arc<()>| {
            if calls.fetch_add(1, SeqCst) == 200 {
                resume_unwind(Box::new(()));
            }
            dawdle();
        };
        let other = make();
        let merged = catch_unwind(AssertUnwindSafe(|| mine.par_merge_with(other, merge)));
        assert!(merged.is_err());
        assert_eq!(mine.len(), size as usize);
        assert!((0..size).all(|key| mine.contains_key(&key)));
        assert_eq!(Arc::strong_count(&alive), size as usize + 1);
    }
}

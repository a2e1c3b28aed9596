//! Random pipelines with random delays, for a bounded number of rounds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tine_iter::pipeline;
use tine_pool::{blocking, join};

use crate::kit::{Census, Counted, POOLS, in_pools_of, panics};

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Nothing, a yield, a wait, or work for the pool, as the numbers decide.
fn delay(seed: u64, stage: u64, number: usize) {
    let mut random = Random((seed ^ (stage << 32) ^ number as u64).wrapping_mul(0x9E37_79B9) | 1);
    random.below(2);
    match random.below(40) {
        0 => thread::sleep(Duration::from_micros(random.below(200))),
        1 => blocking(|| thread::sleep(Duration::from_micros(50))),
        2..6 => thread::yield_now(),
        6..9 => drop(join(|| (), || ())),
        _ => {}
    }
}

#[test]
fn random_delays() {
    let rounds = if std::env::var_os("TINE_LONG").is_some() {
        40
    } else {
        8
    };
    in_pools_of(POOLS, move || {
        let mut random = Random(0x5EED);
        for seed in 0..rounds {
            let size = [0, 1, 7, 300][random.below(4) as usize];
            let limit = 1 + random.below(40) as usize;
            // Where it ends: an error, a panic, or neither.
            let end = random.below(size as u64 + 200) as usize;
            let how = random.below(3);
            let stage = random.below(4);
            let census = Census::default();
            let calls = AtomicU64::new(0);
            let pass = |here: u64, value: Counted| -> Result<Counted, usize> {
                calls.fetch_add(1, Ordering::Relaxed);
                delay(seed, here, value.number);
                if here == stage && value.number == end {
                    assert!(how != 1, "on purpose");
                    if how == 2 {
                        return Err(value.number);
                    }
                }
                Ok(value)
            };
            let mut seen = 0;
            let mut outcome = Ok(());
            let panicked = panics(|| {
                let source = (0..size).map(|n| {
                    delay(seed, 9, n);
                    census.value(n)
                });
                let line = pipeline(source, limit);
                let line = match seed % 3 {
                    0 => line,
                    1 => line.batched(),
                    _ => line.one_by_one(),
                };
                outcome = line
                    .try_in_order(|value| pass(0, value))
                    .try_map(|value| pass(1, value))
                    .try_any_order(|value| pass(2, value))
                    .map(|value| value)
                    .try_for_each(|value| {
                        assert_eq!(value.number, seen);
                        pass(3, value)?;
                        seen += 1;
                        Ok(())
                    });
            });
            assert_eq!(census.alive(), 0);
            let meets = end < size;
            assert_eq!(panicked, meets && how == 1);
            if !panicked {
                let failed = meets && how == 2;
                assert_eq!(outcome, if failed { Err(end) } else { Ok(()) });
                assert_eq!(seen, if failed { end } else { size });
            }
        }
    });
}

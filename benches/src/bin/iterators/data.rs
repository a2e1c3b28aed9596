//! The inputs of the rows, made once and kept.

use std::sync::{LazyLock, Mutex};

use paralight::prelude::{
    CpuPinningPolicy, RangeStrategy, ThreadCount, ThreadPool, ThreadPoolBuilder,
};
use tine_bench::spin;

/// The length of the long pipelines.
pub const LONG: usize = 10_000_000;

/// Numbers below 2³², in no order.
fn random(len: usize) -> Vec<u64> {
    let mut state = 1_u64;
    let step = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)) >> 32
    };
    std::iter::repeat_with(step).take(len).collect()
}

/// `LONG` numbers below 2³².
pub fn numbers() -> &'static [u64] {
    static NUMBERS: LazyLock<Vec<u64>> = LazyLock::new(|| random(LONG));
    &NUMBERS
}

/// The numbers below `LONG`, in order.
pub fn ascending() -> &'static [u64] {
    static ASCENDING: LazyLock<Vec<u64>> = LazyLock::new(|| (0..LONG as u64).collect());
    &ASCENDING
}

/// Ten times as many numbers.
pub fn many() -> &'static [u64] {
    static MANY: LazyLock<Vec<u64>> = LazyLock::new(|| random(10 * LONG));
    &MANY
}

/// `LONG` floats between 0 and 1.
pub fn floats() -> &'static [f64] {
    static FLOATS: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let unit = |&n: &u64| n as f64 / f64::from(u32::MAX);
        numbers().iter().map(unit).collect()
    });
    &FLOATS
}

/// `LONG` bytes.
pub fn bytes() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| numbers().iter().map(|&n| n as u8).collect());
    &BYTES
}

/// 50 MB of words of one to ten letters, about twelve to a line.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = String::new();
        for &n in numbers().iter().cycle() {
            if text.len() >= 50_000_000 {
                break;
            }
            let letter = |at: u64| char::from(b'a' + ((n >> (2 * at)) % 26) as u8);
            text.extend((0..=n % 10).map(letter));
            text.push(if (n >> 8) % 12 == 0 { '\n' } else { ' ' });
        }
        text
    });
    &TEXT
}

/// Runs N nanoseconds of arithmetic; returns its argument.
pub fn busy(nanoseconds: u64) -> u64 {
    spin::nanoseconds(nanoseconds);
    nanoseconds
}

/// Runs `work` with the pool of paralight, which belongs to one caller at a time.
pub fn paralight<R>(work: impl FnOnce(&mut ThreadPool) -> R) -> R {
    static POOL: LazyLock<Mutex<ThreadPool>> = LazyLock::new(|| {
        let builder = ThreadPoolBuilder {
            num_threads: ThreadCount::Count(
                tine_pool::current_num_threads()
                    .try_into()
                    .expect("threads"),
            ),
            range_strategy: RangeStrategy::WorkStealing,
            cpu_pinning: CpuPinningPolicy::No,
        };
        Mutex::new(builder.build())
    });
    work(&mut POOL.lock().expect("a call that did not panic"))
}

//! What tokens cost, and how soon a stop takes effect.
//!
//! ```text
//! cargo run --release --ignore-rust-version --bin stopping
//! ```
//!
//! Prints `.until(&token)` on a sum ÷ the sum without, the two in turn, and the times from `stop()` to the
//! caller's return for items of ten microseconds and for sorts.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tine_iter::iter::ParallelUntil;
use tine_iter::prelude::*;
use tine_pool::{StopToken, with_token};

fn time(calls: usize, op: impl Fn()) -> Duration {
    let start = Instant::now();
    (0..calls).for_each(|_| op());
    start.elapsed()
}

/// Medians of quotients, each of two runs one after the other.
fn quotients(values: &[u64], calls: usize) -> [f64; 3] {
    let token = StopToken::new();
    let late = token.with_timeout(Duration::from_secs(3600));
    let sum = || _ = black_box(values.par_iter().map(|n| n ^ 5).sum::<u64>());
    let until = |token: &StopToken| {
        let items = values.par_iter().map(|n| n ^ 5).until(token);
        _ = black_box(items.sum::<u64>());
    };
    let ways: [&dyn Fn(); 3] = [&|| until(&token), &|| until(&late), &|| {
        _ = black_box(with_token(&token, || {
            values.par_iter().map(|n| n ^ 5).sum::<u64>()
        }));
    }];
    ways.map(|way| {
        let mut quotients: Vec<f64> = (0..61)
            .map(|round| {
                let (a, b) = if round % 2 == 0 {
                    let plain = time(calls, sum);
                    (time(calls, way), plain)
                } else {
                    (time(calls, way), time(calls, sum))
                };
                a.as_secs_f64() / b.as_secs_f64()
            })
            .collect();
        quotients.sort_by(f64::total_cmp);
        quotients[quotients.len() / 2]
    })
}

fn spin(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}

/// From `stop()` to the return of the call.
fn delays(whole: bool) -> Vec<Duration> {
    let stopped = Arc::new(Mutex::new(None));
    let mut delays: Vec<_> = (0..200_u64)
        .map(|round| {
            let token = StopToken::new();
            let (other, at) = (token.clone(), Arc::clone(&stopped));
            let stopper = thread::spawn(move || {
                thread::sleep(Duration::from_micros(2000 + round * 37 % 1000));
                *at.lock().unwrap() = Some(Instant::now());
                other.stop();
            });
            let items = (0..u32::MAX).into_par_iter();
            let ended = match whole {
                true => with_token(&token, || items.for_each(|_| spin(10))).is_err(),
                false => items.until(&token).for_each(|_| spin(10)).is_err(),
            };
            let end = Instant::now();
            assert!(ended);
            stopper.join().unwrap();
            end - stopped.lock().unwrap().take().unwrap()
        })
        .collect();
    delays.sort();
    delays
}

/// From a deadline to the return of a sort of eight million numbers, and what the whole sort takes.
fn delays_of_a_sort(sort: impl Fn(&mut [u64]) + Sync) -> (Duration, Vec<Duration>) {
    let numbers: Vec<u64> = (0..8_000_000_u64)
        .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let mut v = numbers.clone();
    let start = Instant::now();
    sort(&mut v);
    let whole = start.elapsed();
    let mut delays = Vec::new();
    for percent in (2..80).step_by(6) {
        v.copy_from_slice(&numbers);
        let at = Instant::now() + whole * percent / 100;
        let token = StopToken::new().with_deadline(at);
        if with_token(&token, || sort(&mut v)).is_err() {
            delays.push(at.elapsed());
        }
    }
    delays.sort();
    (whole, delays)
}

fn main() {
    println!("threads: {}\n", tine_pool::current_num_threads());
    println!(
        "| sum ÷ the plain one | until | until, with a deadline | with_token |\n|---|---|---|---|"
    );
    for (len, calls) in [(1_000, 4_000), (10_000_000, 2)] {
        let values: Vec<u64> = (0..len).collect();
        let [until, late, whole] = quotients(&values, calls);
        println!("| {len} items | {until:.3} | {late:.3} | {whole:.3} |");
    }
    println!(
        "\n| stop() to return, items of 10 µs | least | median | 90 % | 99 % | most |\n|---|---|---|---|---|---|"
    );
    for (name, whole) in [("until", false), ("with_token", true)] {
        let all = delays(whole);
        let at = |percent: usize| all[(all.len() * percent / 100).min(all.len() - 1)];
        println!(
            "| {name} | {:.1?} | {:.1?} | {:.1?} | {:.1?} | {:.1?} |",
            at(0),
            at(50),
            at(90),
            at(99),
            at(100)
        );
    }
    println!(
        "\n| deadline to return, 8·10⁶ numbers | the whole sort | median | most |\n|---|---|---|---|"
    );
    let print = |name: &str, (whole, delays): (Duration, Vec<Duration>)| {
        let (median, most) = (delays.get(delays.len() / 2), delays.last());
        println!("| {name} | {whole:.1?} | {median:.1?} | {most:.1?} |");
    };
    print(
        "par_sort_unstable",
        delays_of_a_sort(|v| v.par_sort_unstable()),
    );
    print(
        "par_sort_by_key",
        delays_of_a_sort(|v| v.par_sort_by_key(|n| n.reverse_bits())),
    );
    print(
        "par_sort_by",
        delays_of_a_sort(|v| v.par_sort_by(|a, b| b.cmp(a))),
    );
}

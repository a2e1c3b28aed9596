//! What the tour works on, generated: the same on every run and machine.

use std::fmt::Write;
use tine::prelude::*;

/// A stream of pseudo-random numbers (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

/// Scatters the bits of `x` over all of the result.
pub(crate) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `n` numbers in no order.
pub(crate) fn numbers(n: usize) -> Vec<u64> {
    let mut random = Random::new(1);
    (0..n).map(|_| random.next()).collect()
}

/// Lines of words from a vocabulary in which a few words are frequent.
pub(crate) fn text(lines: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ta", "ri", "no", "mel", "ka", "sun", "do", "ev"];
    let mut random = Random::new(2);
    let mut text = String::new();
    for _ in 0..lines {
        for _ in 0..8 {
            // short words are drawn more often than long ones
            let mut word = random.next();
            let length = 1 + (word % 16).min(random.next() % 16).min(3);
            for _ in 0..length {
                word >>= 4;
                text.push_str(SYLLABLES[(word % 8) as usize]);
            }
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

/// What a shop sold, once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sale {
    pub(crate) number: usize,
    pub(crate) shop: u32,
    pub(crate) day: u32,
    pub(crate) cents: u64,
}

/// `n` sales in no order.
pub(crate) fn sales(n: usize) -> Vec<Sale> {
    let mut random = Random::new(3);
    let mut below = |end| random.next() % end;
    let sale = |number| Sale {
        number,
        shop: below(500) as u32,
        day: below(365) as u32,
        cents: below(100_000),
    };
    (0..n).map(sale).collect()
}

/// The same as lines of text; one in a hundred cannot be read.
pub(crate) fn ledger(n: usize) -> String {
    let line = |sale: Sale| match sale {
        Sale { number, .. } if number % 100 == 99 => format!("{number}; torn\n"),
        Sale {
            number,
            shop,
            day,
            cents,
        } => format!("{number};{shop};{day};{cents}\n"),
    };
    sales(n).into_iter().map(line).collect()
}

/// `n` lines of a web server's log, in the order of their arrival: number, second,
/// host, page, status, bytes, milliseconds. One in a thousand was cut short.
pub(crate) fn log(n: usize) -> String {
    const PART: usize = 10_000;
    let parts = (0..n.div_ceil(PART)).into_par_iter().map(|part| {
        let mut text = String::new();
        (part * PART..n.min((part + 1) * PART)).for_each(|number| log_line(number, &mut text));
        text
    });
    parts.collect::<Vec<_>>().concat()
}

fn log_line(number: usize, text: &mut String) {
    let mut random = Random::new(mix(number as u64));
    let mut below = |end: u64| random.next() % end;
    let second = 1_000_000 + number / 50;
    let host = below(20_000) * below(20_000) / 20_000;
    // a few pages have most of the visitors
    let page = below(3_000) * below(3_000) / 3_000;
    let section = ["news", "maps", "shop", "help", "robots"][page as usize % 5];
    let status = [200, 200, 200, 200, 304, 200, 404, 200, 503, 200][below(10) as usize];
    let (bytes, millis) = (below(50_000), 1 + below(40) * below(40) + page % 97);
    if number % 1_000 == 999 {
        writeln!(text, "{number} {second} 10.{host} /{section}/")
    } else {
        writeln!(
            text,
            "{number} {second} 10.{host} /{section}/{page} {status} {bytes} {millis}"
        )
    }
    .expect("a String takes it");
}

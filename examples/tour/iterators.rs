//! Parallel iterators: a loop becomes a pipeline, and the pipeline is shared out.

use crate::data::{Sale, ledger, mix, numbers, sales};
use crate::screen::{Progress, Tour};
use std::cell::Cell;
use tine::prelude::*;

pub(crate) fn visit(tour: &mut Tour) {
    tour.room("Iterators");

    let ledger = ledger(2_000_000);
    tour.stop(
        "lines parsed, filtered and collected",
        2_000_000,
        || &ledger[..],
        |text, progress| {
            let sales = text.lines().filter_map(|line| parsed(line, progress));
            sales.filter(in_summer).collect::<Vec<_>>()
        },
        |text, progress| {
            let sales = text.par_lines().filter_map(|line| parsed(line, progress));
            sales.filter(in_summer).collect()
        },
    );

    let sales = sales(8_000_000);
    tour.stop(
        "fold, reduce: the takings of each shop",
        sales.len(),
        || &sales[..],
        |sales, progress| {
            sales
                .iter()
                .fold(nothing(), |sum, sale| taken(sum, sale, progress))
        },
        |sales, progress| {
            let takings = sales.par_iter();
            let takings = takings.fold(nothing, |sum, sale| taken(sum, sale, progress));
            takings.reduce(nothing, joined)
        },
    );

    let many = numbers(20_000_000);
    tour.stop(
        "map, filter, sum of 20 million",
        0,
        || &many[..],
        |many, _| {
            many.iter()
                .map(|&n| mix(n))
                .filter(odd)
                .map(|n| n >> 40)
                .sum::<u64>()
        },
        |many, _| {
            many.par_iter()
                .map(|&n| mix(n))
                .filter(odd)
                .map(|n| n >> 40)
                .sum()
        },
    );

    let first = Cell::new(None);
    tour.stop(
        "a sum of floats, always the same bits",
        0,
        || &many[..],
        |many, _| Near(many.iter().map(|&n| root(n)).sum()),
        |many, _| {
            let sum: f64 = many.par_iter().map(|&n| root(n)).deterministic().sum();
            let same = first.replace(Some(sum)).is_none_or(|first| first == sum);
            Near(if same { sum } else { f64::NAN })
        },
    );
}

/// The sale that a line describes.
fn parsed(line: &str, progress: &Progress) -> Option<Sale> {
    let mut fields = line.split(';');
    let number = fields.next()?.parse().ok()?;
    if number % 10_000 == 0 {
        progress.done(10_000);
    }
    let sale = Sale {
        number,
        shop: fields.next()?.parse().ok()?,
        day: fields.next()?.parse().ok()?,
        cents: fields.next()?.parse().ok()?,
    };
    fields.next().is_none().then_some(sale)
}

fn in_summer(sale: &Sale) -> bool {
    (172..265).contains(&sale.day)
}

fn nothing() -> Vec<u64> {
    vec![0; 500]
}

fn taken(mut sums: Vec<u64>, sale: &Sale, progress: &Progress) -> Vec<u64> {
    sums[sale.shop as usize] += sale.cents;
    if sale.number.is_multiple_of(10_000) {
        progress.done(10_000);
    }
    sums
}

fn joined(mut sums: Vec<u64>, more: Vec<u64>) -> Vec<u64> {
    sums.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
    sums
}

fn odd(n: &u64) -> bool {
    n % 2 == 1
}

fn root(n: u64) -> f64 {
    (n as f64).sqrt()
}

/// A sum of many floats. It depends a little on the order of the additions, and a
/// loop adds in another order than a tree.
struct Near(f64);

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        (self.0 - other.0).abs() <= 1e-9 * self.0.abs()
    }
}

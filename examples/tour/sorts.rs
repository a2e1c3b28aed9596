//! Sorts: by radix where keys are numbers, by comparison where they are not.

use crate::data::{numbers, sales, text};
use crate::screen::Tour;
use tine::prelude::*;

pub(crate) fn visit(tour: &mut Tour) {
    tour.room("Sorts");

    let sales = sales(1_500_000);
    tour.stop(
        "sales by shop and day, stably",
        0,
        || sales.clone(),
        |mut sales, _| {
            sales.sort_by_key(|sale| (sale.shop, sale.day));
            sales
        },
        |mut sales, _| {
            sales.par_sort_by_key(|sale| (sale.shop, sale.day));
            sales
        },
    );

    let unsorted = numbers(5_000_000);
    tour.stop(
        "5 million numbers, unstably",
        0,
        || unsorted.clone(),
        |mut numbers, _| {
            numbers.sort_unstable();
            numbers
        },
        |mut numbers, _| {
            numbers.par_sort_unstable();
            numbers
        },
    );

    let text = text(60_000);
    let words: Vec<&str> = text.split_whitespace().collect();
    tour.stop(
        "words by length, then by letters",
        0,
        || words.clone(),
        |mut words, _| {
            words.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
            words
        },
        |mut words, _| {
            words.par_sort_unstable_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
            words
        },
    );
}

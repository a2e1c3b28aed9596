//! Collections: grouping on any parallel iterator, and a map that many threads fill.

use crate::data::{mix, sales, text};
use crate::screen::Tour;
use std::collections::HashMap;
use tine::ParHashMap;
use tine::prelude::*;

pub(crate) fn visit(tour: &mut Tour) {
    tour.room("Collections");

    let text = text(300_000);
    tour.stop(
        "count_by: the words of a text",
        0,
        || &text[..],
        |text, _| {
            let mut counts = HashMap::new();
            for word in text.split_whitespace() {
                *counts.entry(word).or_insert(0) += 1;
            }
            in_order(counts)
        },
        |text, _| in_order(text.par_split_whitespace().count_by(|&word| word)),
    );

    let sales = sales(2_000_000);
    tour.stop(
        "group_by: the best sale of each shop",
        0,
        || &sales[..],
        |sales, _| {
            let mut groups: HashMap<u32, Vec<u64>> = HashMap::new();
            for sale in sales {
                groups.entry(sale.shop).or_default().push(sale.cents);
            }
            let best = |(shop, cents): (u32, Vec<u64>)| (shop, cents.into_iter().max());
            in_order(groups.into_iter().map(best))
        },
        |sales, _| {
            let cents = sales.par_iter().map(|sale| (sale.shop, sale.cents));
            let groups = cents.group_pairs();
            let best = groups.iter();
            in_order(best.map(|(&shop, cents)| (shop, cents.iter().copied().max())))
        },
    );

    tour.stop(
        "a map of a million, filled by all",
        0,
        || 0..1_000_000_u64,
        |numbers, _| {
            let mut squares = HashMap::new();
            for n in numbers {
                squares.insert(mix(n), n * n);
            }
            (squares.len(), squares.get(&mix(77)).copied())
        },
        |numbers, _| {
            let squares = ParHashMap::new();
            numbers.into_par_iter().for_each(|n| {
                squares.insert(mix(n), n * n);
            });
            (squares.len(), squares.get_cloned(&mix(77)))
        },
    );
}

/// What a table holds, by key.
fn in_order<K: Ord + Send, V: Send>(table: impl IntoIterator<Item = (K, V)>) -> Vec<(K, V)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
    entries
}

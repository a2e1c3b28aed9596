//! How efficient a loop of uneven items can be at best: with a scheduler that costs nothing, but does not know how
//! long an item takes. Each free core takes the next item.

use crate::rows;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Prints the mean over the seeds, in the order of the items, and with the longest first: for that the
/// scheduler would have to know the lengths.
pub(crate) fn limits(
    rows: &[&str],
    cores: &[String],
    seeds: impl Iterator<Item = u64> + Clone,
) -> Result<(), String> {
    println!(
        "{:24}{:>8}{:>12}{:>16}",
        "row", "cores", "in order", "longest first"
    );
    for row in rows.iter().filter(|row| rows::is_uneven(row)) {
        for cores in cores {
            let count: usize = cores
                .parse()
                .map_err(|_| format!("not a number: {cores}"))?;
            let (mut ordered, mut sorted, mut n) = (0.0, 0.0, 0.0);
            for seed in seeds.clone() {
                let mut items = rows::uneven_items(row, seed);
                let ideal = rows::uneven_ideal(&items, count) as f64;
                ordered += ideal / greedy(&items, count) as f64;
                items.sort_unstable_by_key(|&nanos| Reverse(nanos));
                sorted += ideal / greedy(&items, count) as f64;
                n += 1.0;
            }
            println!(
                "{row:24}{count:>8}{:>12.3}{:>16.3}",
                ordered / n,
                sorted / n
            );
        }
    }
    Ok(())
}

/// The time at which the last item is done.
fn greedy(items: &[u64], cores: usize) -> u64 {
    let mut free: BinaryHeap<_> = std::iter::repeat_n(Reverse(0), cores.max(1)).collect();
    let mut end = 0;
    for &nanos in items {
        let Reverse(at) = free.pop().expect("a core");
        end = end.max(at + nanos);
        free.push(Reverse(at + nanos));
    }
    end
}

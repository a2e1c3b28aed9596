//! Many ranks, as threads: every verb is right, and the amount that it sends follows the formulas of
//! `docs/cluster_growth.md`.

#[path = "ranks/watch.rs"]
mod watch;

use tine_cluster::{Cluster, Counts};
use watch::run_threads;

const RANKS: &[usize] = &[16, 64, 256];
/// Items of each rank.
const EACH: usize = 100;

fn number(i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
}

fn cost(c: &Cluster, name: &str) -> Counts {
    c.stats()
        .of(name)
        .unwrap_or_else(|| panic!("{name} was called"))
}

/// A reduction: a header of 24 bytes, a length, a value.
#[test]
fn reductions() {
    for &ranks in RANKS {
        run_threads(ranks, |c| {
            let n = ranks * EACH;
            let v = c.generate(n, |i| i as u64);
            assert_eq!(v.par_iter().sum::<u64>(), (n * (n - 1) / 2) as u64);
            let sum = cost(c, "sum");
            assert_eq!(
                (sum.calls, sum.rounds, sum.messages, sum.sent),
                (1, 3, 0, 0)
            );
            assert!(sum.met <= 24 + 8 + 16, "{sum:?}");
            assert_eq!(v.par_iter().count(), n);
            let count = cost(c, "count");
            assert_eq!((count.rounds, count.met), (1, 24));
            Ok(())
        })
        .unwrap();
    }
}

/// A sort: a header; in each round of the splitters two gatherings and a sum; the counts; an exchange of at
/// most one message to each other rank, with all items except those that stay.
#[test]
fn sorts() {
    for &ranks in RANKS {
        run_threads(ranks, |c| {
            let n = ranks * EACH;
            let v = c.generate(n, number).sort();
            assert_eq!(v.local().len(), EACH);
            assert!(v.local().is_sorted());
            let sort = cost(c, "sort");
            let splitters = sort.rounds - 3;
            assert_eq!(splitters % 3, 0, "{sort:?}");
            assert!(splitters / 3 <= 8, "{sort:?}");
            assert!(sort.messages < ranks as u64);
            assert!(sort.sent <= (8 * EACH) as u64);
            let shown = 40 * ranks as u64 * splitters / 3;
            // Each cut is offered about 32 items a round by all ranks together, 10 bytes or
            // so each, and what all offer is counted in 8 bytes by each.
            assert!(sort.met <= 24 + 8 * ranks as u64 + 40 * shown, "{sort:?}");
            Ok(())
        })
        .unwrap();
    }
}

/// Counting: a key is sent once by each thread that met it, in at most two messages to each other rank.
#[test]
fn counts() {
    for &ranks in RANKS {
        run_threads(ranks, |c| {
            let v = c.generate(ranks * EACH, number);
            let counts = v.par_iter().count_by(|n| **n % 50);
            assert_eq!(counts.len(), 50);
            assert_eq!(
                counts.into_par_iter().map(|(_, n)| n).sum::<usize>(),
                ranks * EACH
            );
            let count = cost(c, "count_by");
            // A header, two counts, two exchanges.
            assert_eq!(count.rounds, 5);
            assert!(count.messages < 2 * ranks as u64);
            // Each part of the loop that another thread of the rank took counts for itself.
            assert!(count.sent <= 4 * 16 * 50, "{count:?}");
            Ok(())
        })
        .unwrap();
    }
}

/// Items of other kinds: a header, and in each round sizes and an exchange.
#[test]
fn blocks() {
    for &ranks in RANKS {
        let n = ranks * EACH / 4;
        let text = |i| format!("{}", number(i) % 1000);
        let mut expected: Vec<String> = (0..n).map(text).collect();
        expected.sort();
        run_threads(ranks, |c| {
            let v = c.generate(n, text);
            let v = v.into_par_iter().shuffle_by(String::clone);
            let shuffle = cost(c, "shuffle_by");
            assert_eq!(shuffle.rounds, 3, "{shuffle:?}");
            assert!(shuffle.messages < ranks as u64);
            let sorted = v.sort();
            let from = n * c.rank() / ranks;
            assert_eq!(sorted.local(), &expected[from..n * (c.rank() + 1) / ranks]);
            Ok(())
        })
        .unwrap();
    }
}

/// The others, for their answers.
#[test]
fn the_rest_is_right() {
    let ranks = 128;
    run_threads(ranks, |c| {
        let n = ranks * 20;
        let v = c.generate(n, |i| i as u64);
        let sum: f64 = v.par_iter().map(|i| *i as f64).deterministic().sum();
        assert_eq!(sum, (n * (n - 1) / 2) as f64);
        assert_eq!(
            v.par_iter().copied().map(|i| i / 7).distinct().len(),
            n.div_ceil(7)
        );
        let rows = v.par_iter().copied().group_by(|i| i % 10);
        assert_eq!(
            rows.get(&3).unwrap(),
            (0..n as u64).filter(|i| i % 10 == 3).collect::<Vec<_>>()
        );
        let pairs = v
            .par_iter()
            .copied()
            .join_by(v.par_iter().copied(), |l| *l, |r| *r / 2);
        assert_eq!(pairs.inner().len(), n);
        let sums = c.generate(n, |_| 1_u64).prefix_sum();
        assert!(
            sums.local()
                .iter()
                .zip(sums.offset() as u64 + 1..)
                .all(|(sum, at)| *sum == at)
        );
        assert_eq!(
            v.par_iter()
                .histogram(3, |i| **i as usize % 3)
                .iter()
                .sum::<usize>(),
            n
        );
        Ok(())
    })
    .unwrap();
}

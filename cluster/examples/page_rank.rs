//! Page rank of a generated web, with a checkpoint every few rounds: the ranks of
//! pages travel along the links, and are added up at the pages that these lead to.
//!
//!     cargo run --release -p tine-cluster --example page_rank

use tine_cluster::prelude::*;

const PAGES: u64 = 2000;
const ROUNDS: usize = 20;
const DAMPING: f64 = 0.85;

/// The pages that a page links to: a few, the first ones more often.
fn links(page: u64) -> impl Iterator<Item = u64> {
    (0..1 + page % 5).map(move |i| {
        let mixed = (page * 5 + i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        (mixed % PAGES) * (mixed % 97) / 97
    })
}

/// The same on one machine, without tine.
fn twin() -> Vec<f64> {
    let mut ranks = vec![1.0; PAGES as usize];
    for _ in 0..ROUNDS {
        let mut next = vec![1.0 - DAMPING; PAGES as usize];
        for page in 0..PAGES {
            let share = DAMPING * ranks[page as usize] / links(page).count() as f64;
            links(page).for_each(|to| next[to as usize] += share);
        }
        ranks = next;
    }
    ranks
}

fn main() -> ExitCode {
    tine_cluster::run(|c| {
        let dir =
            std::env::temp_dir().join(c.broadcast(format!("tine-ranks-{}", std::process::id())));
        let pages = c.generate(PAGES as usize, |page| page as u64);
        // All maps have a key on the same rank, so they are joined in place.
        let base = || {
            pages
                .par_iter()
                .copied()
                .fold_by(|page| *page, || 0.0, |_, _| (), |_, _| ())
        };
        let mut ranks = base().map_values(|_: f64| 1.0);
        for round in 1..=ROUNDS {
            let gifts = ranks.into_par_iter().flat_map_iter(|(page, rank)| {
                let share = DAMPING * rank / links(page).count() as f64;
                links(page).map(move |to| (to, share))
            });
            let gifts = gifts.fold_by(
                |gift| gift.0,
                || 0.0,
                |sum, gift| *sum += gift.1,
                |a, b| *a += b,
            );
            ranks = base().left_join(gifts, |_, gift| 1.0 - DAMPING + gift.unwrap_or(0.0));
            if round % 8 == 0 {
                // A job that is killed goes on from here: the pairs come back on any number of ranks.
                let kept = ranks.into_vec();
                kept.checkpoint(&dir)?;
                let back = c.restore::<(u64, f64)>(&dir)?;
                let back = back.into_par_iter();
                ranks = back.fold_by(
                    |pair| pair.0,
                    || 0.0,
                    |rank, pair| *rank = pair.1,
                    |_, _| (),
                );
            }
        }
        let sorted = ranks.into_vec().sort_by_key(|pair| pair.0);
        for ((page, rank), expected) in sorted.all_gather().into_iter().zip(twin()) {
            assert!(
                (rank - expected).abs() < 1e-9 * expected,
                "page {page}: {rank}, {expected}"
            );
        }
        let top = sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        if let Some(top) = top.gather() {
            for (page, rank) in &top[..5] {
                println!("{rank:>9.4} page {page}");
            }
        }
        c.barrier();
        if c.is_root() {
            std::fs::remove_dir_all(&dir)?;
        }
        Ok(())
    })
}

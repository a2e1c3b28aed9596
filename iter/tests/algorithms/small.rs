//! Methods that move elements by pointers, in sizes that Miri can run:
//! `cargo +nightly miri test -p tine-iter --test algorithms small`.

use tine_iter::algorithms::{
    ParallelFlat, ParallelGridMut, ParallelRetain, ParallelSliceChange, for_each_fed,
};
use tine_iter::prelude::*;

use crate::kit::{Census, bomb, panics};

const LEN: usize = 700;

fn in_a_pool(test: impl FnOnce() + Send) {
    let pool = tine_pool::ThreadPoolBuilder::new().num_threads(2).build();
    pool.unwrap().install(test);
}

#[test]
fn retain() {
    in_a_pool(|| {
        let census = Census::new();
        let mut v = census.values(LEN);
        v.par_retain(|x| x.number % 3 > 0);
        assert!(
            v.iter()
                .map(|x| x.number)
                .eq((0..LEN).filter(|n| n % 3 > 0))
        );
        assert!(panics(|| v.par_retain(|x| {
            bomb(x.number, LEN / 2);
            x.number % 2 == 0
        })));
        assert_eq!(census.alive(), v.len() as isize);
        let mut numbers: Vec<usize> = (0..LEN).collect();
        numbers.par_retain(|n| {
            if n % 64 == 0 {
                std::thread::yield_now();
            }
            n % 2 == 0
        });
        assert!(numbers.into_iter().eq((0..LEN).step_by(2)));
    });
}

#[test]
fn scatter() {
    in_a_pool(|| {
        let mut v: Vec<Box<usize>> = (0..LEN).map(Box::new).collect();
        v.par_shuffle(1);
        let starts = v.par_counting_sort_by_key(3, |x| **x % 3);
        assert_eq!(starts, [0, 234, 467, 700]);
        assert!(panics(|| v.par_counting_sort_by_key(3, |x| {
            bomb(**x, LEN / 2);
            **x % 3
        })));
        v.sort();
        assert!(v.into_iter().map(|x| *x).eq(0..LEN));
    });
}

#[test]
fn tiles() {
    in_a_pool(|| {
        let mut v: Vec<Box<usize>> = (0..LEN).map(Box::new).collect();
        v.par_tiles_mut(35, (8, 3)).for_each(|mut tile| {
            let left = tile.x().start;
            let mut rows: Vec<_> = tile.rows_mut().collect();
            for (y, row) in &mut rows {
                for (x, cell) in row.iter_mut().enumerate() {
                    **cell += *y * 35 + left + x;
                }
            }
            let y = tile.y().start;
            *tile.row_mut(y)[0] += 1;
        });
        let odd = v.iter().filter(|x| ***x % 2 == 1).count();
        assert_eq!(odd, 35);
    });
}

#[test]
fn moves_and_the_rest() {
    in_a_pool(|| {
        let mut v: Vec<Box<usize>> = (0..LEN).map(Box::new).collect();
        v.par_reverse();
        v.par_rotate_left(250);
        v.par_rotate_right(3);
        v.par_partial_sort(50);
        assert!(v.iter().take(50).map(|x| **x).eq(0..50));
        assert_eq!([&v[..], &v].par_concat().len(), 2 * LEN);
        let census = Census::new();
        for_each_fed(census.values(50), |item, feeder| {
            feeder.feed_all((0..item.number % 4).map(|n| census.value(n)));
        });
        assert_eq!(census.alive(), 0);
    });
}

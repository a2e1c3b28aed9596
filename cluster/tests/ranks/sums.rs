//! A single value from all items.

use crate::kit::{RANKS, SPREADS, numbers, small_rounds, spread};
use quickcheck::quickcheck;
use tine_iter::prelude::*;

#[test]
fn reductions_are_those_of_one_machine() {
    for count in [0, 1, 5, 2000] {
        let all = numbers(11, count);
        let small: Vec<u64> = all.iter().map(|n| n % 100).collect();
        for &ranks in RANKS {
            small_rounds(ranks, |c| {
                for how in SPREADS {
                    let v = how.part(c, &small);
                    let items = || v.par_iter().copied();
                    assert_eq!(items().count(), count);
                    assert_eq!(items().sum::<u64>(), small.iter().sum());
                    let product = small
                        .iter()
                        .map(|n| (n + 1) as f64)
                        .map(f64::ln)
                        .sum::<f64>();
                    let there: f64 = items().map(|n| (n + 1) as f64).map(f64::ln).sum();
                    assert!((there - product).abs() <= 1e-9 * product);
                    assert_eq!(
                        items()
                            .map(|n| n | 1)
                            .local(|i| i.map(std::num::Wrapping))
                            .product::<std::num::Wrapping<u64>>()
                            .0,
                        small.iter().fold(1, |p: u64, n| p.wrapping_mul(n | 1))
                    );
                    assert_eq!(items().min(), small.iter().copied().min());
                    assert_eq!(items().max(), small.iter().copied().max());
                    let at = || v.par_iter().copied().enumerate();
                    let twin = || small.iter().copied().enumerate();
                    assert_eq!(at().min_by_key(|i| i.1), twin().min_by_key(|i| i.1));
                    assert_eq!(at().max_by_key(|i| i.1), twin().max_by_key(|i| i.1));
                    assert_eq!(
                        at().min_by(|a, b| b.1.cmp(&a.1)),
                        twin().min_by(|a, b| b.1.cmp(&a.1))
                    );
                    assert_eq!(
                        at().max_by(|a, b| b.1.cmp(&a.1)),
                        twin().max_by(|a, b| b.1.cmp(&a.1))
                    );
                    assert_eq!(at().find_first(|i| i.1 > 90), twin().find(|i| i.1 > 90));
                    assert_eq!(items().any(|n| n == 42), small.contains(&42));
                    assert_eq!(items().all(|n| n > 3), small.iter().all(|n| *n > 3));
                    let text = items().map(|n| n.to_string());
                    let whole: String = small.iter().map(u64::to_string).collect();
                    assert_eq!(text.clone().reduce(String::new, |a, b| a + &b), whole);
                    let with = (count > 0).then_some(whole);
                    assert_eq!(text.reduce_with(|a, b| a + &b), with);
                }
            });
        }
    }
}

fn halves(count: usize) -> Vec<f64> {
    let fraction = |n: u64| (n >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    let scale = |(i, x): (usize, f64)| x * 10_f64.powi((i % 30) as i32 - 15);
    numbers(13, count)
        .into_iter()
        .map(fraction)
        .enumerate()
        .map(scale)
        .collect()
}

#[test]
fn deterministic_sums_are_equal_to_the_last_bit() {
    for count in [0, 1, 2, 63, 64, 65, 1000, 4097, 100_003] {
        let all = halves(count);
        let sum: f64 = all.par_iter().copied().deterministic().sum();
        let product: f64 = all
            .par_iter()
            .map(|x| 1.0 + x * 1e-16)
            .deterministic()
            .product();
        let most = all
            .par_iter()
            .copied()
            .deterministic()
            .reduce(|| 0.0, |a, b| a * 0.5 + b);
        let with = all
            .par_iter()
            .copied()
            .deterministic()
            .reduce_with(|a, b| a * 0.5 + b);
        for &ranks in RANKS {
            small_rounds(ranks, |c| {
                for how in SPREADS {
                    let v = how.part(c, &all);
                    let items = || v.par_iter().copied();
                    let there: f64 = items().deterministic().sum();
                    assert_eq!(
                        there.to_bits(),
                        sum.to_bits(),
                        "{count} on {ranks}, {how:?}"
                    );
                    let there: f64 = items().map(|x| 1.0 + x * 1e-16).deterministic().product();
                    assert_eq!(there.to_bits(), product.to_bits());
                    let there = items().deterministic().reduce(|| 0.0, |a, b| a * 0.5 + b);
                    assert_eq!(there.to_bits(), most.to_bits());
                    let there = items().deterministic().reduce_with(|a, b| a * 0.5 + b);
                    assert_eq!(there.map(f64::to_bits), with.map(f64::to_bits));
                }
            });
        }
    }
}

#[test]
fn leaves_of_other_sizes_too() {
    let all = halves(10_000);
    for (min, max) in [
        (1, 7),
        (500, 500),
        (3000, 3000),
        (1500, 2000),
        (20_000, 20_000),
    ] {
        let cut = all.par_iter().copied().with_min_len(min).with_max_len(max);
        let sum: f64 = cut.deterministic().sum();
        for ranks in [2, 3, 7] {
            small_rounds(ranks, |c| {
                for how in SPREADS {
                    let v = how.part(c, &all);
                    let items = v.par_iter().copied();
                    let cut = items.local(|part| part.with_min_len(min).with_max_len(max));
                    let there: f64 = cut.deterministic().sum();
                    assert_eq!(
                        there.to_bits(),
                        sum.to_bits(),
                        "{min} to {max} on {ranks}, {how:?}"
                    );
                }
            });
        }
    }
}

quickcheck! {
    fn any_borders_sum_alike(weights: Vec<u8>, count: u16) -> bool {
        let mut weights: Vec<usize> = weights.into_iter().take(7).map(usize::from).collect();
        weights.push(1);
        let all = halves(usize::from(count));
        let sum: f64 = all.par_iter().copied().deterministic().sum();
        small_rounds(weights.len(), |c| {
            let v = spread(c, &all, &weights);
            let there: f64 = v.par_iter().copied().deterministic().sum();
            assert_eq!(there.to_bits(), sum.to_bits());
        });
        true
    }
}

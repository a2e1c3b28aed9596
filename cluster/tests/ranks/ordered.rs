//! Verbs that keep or make an order: sorts, moves, gathers.

use crate::kit::{
    RANKS, SPREADS, Spread, numbers, same_and_even, shapes, small_rounds, spread, tagged,
};
use crate::watch::ThreadRanks;
use quickcheck::quickcheck;
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::hash::Hash;
use tine_cluster::{Cluster, Travel};

#[test]
fn sorts_of_numbers_are_those_of_one_machine() {
    for count in [0, 1, 2, 7, 3000] {
        for (shape, keys) in shapes(count) {
            let mut expected = keys.clone();
            expected.sort();
            for &ranks in RANKS {
                small_rounds(ranks, |c| {
                    for how in SPREADS {
                        let v = how.part(c, &keys).sort();
                        same_and_even(&v, &expected, &format!("{count} {shape} {how:?}"));
                    }
                });
            }
        }
    }
}

#[test]
fn sorts_are_stable() {
    for (shape, keys) in shapes(700) {
        let items = tagged(&keys);
        let mut up = items.clone();
        up.sort_by_key(|item| item.0);
        let mut down = items.clone();
        down.sort_by_key(|b| std::cmp::Reverse(b.0));
        let mut whole = items.clone();
        whole.sort();
        for &ranks in RANKS {
            small_rounds(ranks, |c| {
                for how in SPREADS {
                    let what = format!("{shape} {how:?}");
                    same_and_even(&how.part(c, &items).sort_by_key(|item| item.0), &up, &what);
                    let by = how.part(c, &items).sort_by(|a, b| b.0.cmp(&a.0));
                    same_and_even(&by, &down, &what);
                    same_and_even(&how.part(c, &items).sort(), &whole, &what);
                }
            });
        }
    }
}

#[test]
fn keys_may_be_of_any_kind() {
    let items = tagged(&numbers(3, 500));
    let mut expected = items.clone();
    expected.sort_by_key(|item| Reverse(item.1.clone()));
    small_rounds(4, |c| {
        let v = Spread::Falling.part(c, &items);
        let v = v.sort_by_key(|item| Reverse(item.1.clone()));
        same_and_even(&v, &expected, "by text, from the last");
    });
}

/// A comparison that lies loses nothing: it leaves a permutation, or a panic.
#[test]
fn lies_lose_nothing() {
    type Compare = fn(&(u64, String), &(u64, String)) -> Ordering;
    let lies: &[Compare] = &[
        |_, _| Ordering::Less,
        |_, _| Ordering::Greater,
        |a, b| (a.0 % 5).cmp(&(b.0 % 7)),
        |a, b| [Ordering::Less, Ordering::Equal, Ordering::Greater][((a.0 ^ b.0) % 3) as usize],
    ];
    let items = tagged(&numbers(5, 400));
    let mut expected = items.clone();
    expected.sort();
    let mut sorted = 0;
    for lie in lies {
        for ranks in [2, 3, 8] {
            let ran = ThreadRanks::new(ranks).round(1024).run(|c| {
                let v = Spread::Even.part(c, &items).sort_by(lie);
                same_and_even(&v.sort(), &expected, "sorted after a lie");
                Ok(())
            });
            match ran {
                Ok(()) => sorted += 1,
                Err(e) => assert!(e.to_string().contains("total order"), "{e}"),
            }
        }
    }
    assert!(sorted > 0, "some lies go unnoticed");
}

#[test]
fn moves_keep_the_order() {
    let words = tagged(&numbers(1, 300));
    let plain = numbers(2, 1000);
    for &ranks in RANKS {
        small_rounds(ranks, |c| {
            for how in SPREADS {
                let what = format!("{how:?}");
                same_and_even(&how.part(c, &words).rebalance(), &words, &what);
                same_and_even(&how.part(c, &plain).rebalance(), &plain, &what);
                assert_eq!(how.part(c, &words).all_gather(), words);
                assert_eq!(how.part(c, &plain).all_gather(), plain);
                let gathered = how.part(c, &words).gather();
                assert_eq!(gathered, c.is_root().then(|| words.clone()));
                let v = how.part(c, &plain);
                assert_eq!((v.len(), v.is_empty()), (1000, false));
                assert_eq!(v.local(), &plain[v.offset()..][..v.local().len()]);
            }
            let on_root = if c.is_root() {
                words.clone()
            } else {
                tagged(&[9, 9])
            };
            same_and_even(&c.scatter(on_root), &words, "scatter");
            let on_root = if c.is_root() {
                plain.clone()
            } else {
                Vec::new()
            };
            same_and_even(&c.scatter(on_root), &plain, "scatter");
            same_and_even(
                &c.generate(77, |i| i),
                &(0..77).collect::<Vec<_>>(),
                "generate",
            );
            let told = c.broadcast(format!("from {}", c.rank()));
            assert_eq!(told, "from 0");
        });
    }
}

#[test]
fn items_of_every_size_travel() {
    let long: Vec<String> = (0..40).map(|i| "x".repeat(i * i)).collect();
    let nothing = vec![(); 100];
    let flags: Vec<bool> = numbers(4, 999).iter().map(|n| n % 2 == 0).collect();
    let wide: Vec<[u64; 9]> = numbers(6, 300).into_iter().map(|n| [n; 9]).collect();
    for &ranks in RANKS {
        small_rounds(ranks, |c| {
            c.plain::<[u64; 9]>();
            for how in SPREADS {
                same_and_even(&how.part(c, &long).rebalance(), &long, "long");
                same_and_even(&how.part(c, &nothing).rebalance(), &nothing, "nothing");
                same_and_even(&how.part(c, &flags).rebalance(), &flags, "flags");
                same_and_even(&how.part(c, &wide).rebalance(), &wide, "wide");
            }
        });
    }
}

/// A reader of bitcode refuses long rows of these.
#[test]
fn any_number_of_items_without_a_size_travels() {
    const COUNT: usize = 200_000;

    /// Values with size zero in memory, but with a size as a message.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    struct Word;
    impl From<Word> for String {
        fn from(_: Word) -> String {
            "a word".into()
        }
    }
    impl TryFrom<String> for Word {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            (text == "a word").then_some(Word).ok_or(text)
        }
    }

    fn travels<T: Travel + Clone + Ord + Hash + Sync>(c: &Cluster, item: T, how: &str) {
        let v = || c.generate(COUNT, |_| item.clone());
        let all_on_last = || {
            let last = c.rank() + 1 == c.size();
            c.from_local(vec![item.clone(); if last { COUNT } else { 0 }])
        };
        assert_eq!(v().all_gather().len(), COUNT, "{how}");
        let gathered = v().gather().map(|all| all.len());
        assert_eq!(gathered, c.is_root().then_some(COUNT), "{how}");
        for even in [all_on_last().rebalance(), all_on_last().sort()] {
            assert_eq!(even.local().len(), COUNT / c.size(), "{how}");
        }
        let shuffled = v().into_par_iter().shuffle_by(T::clone);
        assert_eq!(shuffled.len(), COUNT, "{how}");
        assert_eq!(c.scatter(vec![item.clone(); COUNT]).len(), COUNT, "{how}");
    }
    for round in [1024, 256 << 20] {
        let ran = ThreadRanks::new(2).round(round).run(|c| {
            travels(c, (), "units");
            if round > 1024 {
                travels(c, Word, "words");
            }
            Ok(())
        });
        ran.unwrap();
    }
}

quickcheck! {
    fn any_lengths_of_parts(weights: Vec<u8>, keys: Vec<u16>) -> bool {
        let mut weights: Vec<usize> = weights.into_iter().take(6).map(usize::from).collect();
        weights.push(1);
        let keys: Vec<u64> = keys.into_iter().map(|key| u64::from(key % 64)).collect();
        let items = tagged(&keys);
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        let mut plain = keys.clone();
        plain.sort();
        small_rounds(weights.len(), |c| {
            let v = spread(c, &items, &weights).sort_by_key(|item| item.0);
            same_and_even(&v, &expected, "items");
            same_and_even(&spread(c, &keys, &weights).sort(), &plain, "keys");
            assert_eq!(spread(c, &items, &weights).all_gather(), items);
        });
        true
    }
}

//! Two collections at once.

use std::collections::{BTreeSet, HashSet};

use quickcheck::quickcheck;
use tine_iter::iter::Either;
use tine_iter::prelude::*;

use crate::kit::{SIZES, hidden, in_pools};

#[test]
fn unzip_of_every_size() {
    in_pools(|| {
        for size in SIZES {
            let pairs = || (0..size).into_par_iter().map(|n| (n, n as u8));
            let expected: (Vec<usize>, Vec<u8>) = (0..size).map(|n| (n, n as u8)).unzip();
            assert_eq!(pairs().unzip::<_, _, Vec<_>, Vec<_>>(), expected);
            assert_eq!(
                pairs().filter(|_| true).unzip::<_, _, Vec<_>, Vec<_>>(),
                expected
            );
            assert_eq!(pairs().collect::<(Vec<_>, Vec<_>)>(), expected);
            let (mut left, mut right) = (vec![1], vec![1; 2 * size]);
            pairs().unzip_into_vecs(&mut left, &mut right);
            assert_eq!((left, right), expected);
            let (evens, odds) = expected
                .0
                .iter()
                .partition::<Vec<usize>, _>(|&n| n % 2 == 0);
            let halves: (Vec<usize>, Vec<usize>) =
                (0..size).into_par_iter().partition(|n| n % 2 == 0);
            assert_eq!(halves, (evens, odds));
        }
    });
}

quickcheck! {
    fn unzip_nested(items: Vec<(u8, (i16, String))>) -> bool {
        type Nested = (Vec<u8>, (BTreeSet<i16>, String));
        let expected: Nested = items.iter().cloned().unzip();
        let unzipped: Nested = items.clone().into_par_iter().unzip();
        let collected: Nested = hidden(items).collect();
        unzipped == expected && collected == expected
    }

    fn unzip_onto(items: Vec<(u8, i16)>) -> bool {
        let mut both = (vec![1], HashSet::from([2]));
        let mut expected = both.clone();
        both.par_extend(items.clone());
        expected.extend(items);
        both == expected
    }

    fn partition_map(items: Vec<i32>) -> bool {
        let side = |n: i32| if n < 0 { Either::Left(n.to_string()) } else { Either::Right(n) };
        let parted: (String, Vec<i32>) = items.par_iter().copied().partition_map(side);
        let negative: String = items.iter().filter(|&&n| n < 0).map(i32::to_string).collect();
        let others: Vec<i32> = items.iter().copied().filter(|&n| n >= 0).collect();
        parted == (negative, others)
    }

    fn either(items: Vec<Result<u8, i8>>) -> bool {
        let sides = || items.par_iter().cloned().map(|item| match item {
            Ok(value) => Either::Left(value),
            Err(error) => Either::Right(error),
        });
        let expected: (Vec<u8>, Vec<i8>) = (
            items.iter().filter_map(|item| item.ok()).collect(),
            items.iter().filter_map(|item| item.err()).collect(),
        );
        let mut extended = (vec![0], vec![0]);
        extended.par_extend(sides());
        sides().collect::<(Vec<u8>, Vec<i8>)>() == expected
            && extended.0[1..] == expected.0
            && extended.1[1..] == expected.1
    }

    fn whichever_is_there(items: Vec<u8>) -> bool {
        let mut left: Either<Vec<u8>, BTreeSet<u8>> = Either::Left(vec![]);
        let mut right: Either<Vec<u8>, BTreeSet<u8>> = Either::Right(BTreeSet::new());
        left.par_extend(items.clone());
        right.par_extend(hidden(items.clone()));
        left == Either::Left(items.clone()) && right == Either::Right(items.into_iter().collect())
    }
}

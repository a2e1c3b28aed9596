//! One of two values is kept, and the other dropped. That happens before the return: the compiler does not drop a
//! result if a destructor panics after it (rust-lang/rust#47949).
#![forbid(unsafe_code)]

/// The first of two if it is chosen, else the second.
#[inline]
pub(crate) fn pick<T>(first: bool, a: T, b: T) -> T {
    let (kept, other) = if first { (a, b) } else { (b, a) };
    drop(other);
    kept
}

/// The second of two if it is better, which is seldom so where the first is the best of many: a branch, which takes no time where it
/// is foreseen. To select one of two values of several words takes longer than a short item.
///
/// Not for ties, which may come often and in no order.
#[inline]
pub(crate) fn best<T>(is_better: bool, best: T, other: T) -> T {
    if is_better {
        seldom();
        drop(best);
        other
    } else {
        drop(other);
        best
    }
}

/// The pair with the greater key; of equal keys, the second pair's item. The item alone is selected, so that the next comparison
/// does not wait for that.
#[inline]
pub(crate) fn last_best<K: Ord, T>(best: (K, T), other: (K, T)) -> (K, T) {
    if other.0 > best.0 {
        seldom();
        drop(best);
        return other;
    }
    let is_equal = other.0 >= best.0;
    let item = pick(is_equal, other.1, best.1);
    drop(other.0);
    (best.0, item)
}

/// Tells the compiler that a branch is seldom taken, which keeps it a branch.
#[cold]
#[inline]
pub(crate) fn seldom() {}

/// The first of two that is there.
#[inline]
pub(crate) fn earlier<T>(left: Option<T>, right: Option<T>) -> Option<T> {
    pick(left.is_some(), left, right)
}

/// What is kept beside something else.
#[inline]
pub(crate) fn without<O, T>(other: O, kept: T) -> T {
    drop(other);
    kept
}

/// The item beside a key.
#[inline]
pub(crate) fn without_key<K, T>((key, item): (K, T)) -> T {
    without(key, item)
}

#[cfg(test)]
mod tests {
    use super::{best, earlier, last_best, pick, without_key};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    /// A value whose destructor may panic.
    struct Touchy(bool, #[expect(dead_code, reason = "it counts")] Rc<()>);

    impl Drop for Touchy {
        fn drop(&mut self) {
            assert!(!self.0, "on purpose");
        }
    }

    #[test]
    fn a_result_is_dropped_if_what_is_left_panics() {
        let all = Rc::new(());
        let calm = || Touchy(false, all.clone());
        let angry = || Touchy(true, all.clone());
        let uses: [&dyn Fn(); 8] = [
            &|| drop(best(true, angry(), calm())),
            &|| drop(best(false, calm(), angry())),
            &|| drop(last_best((1, calm()), (0, angry()))),
            &|| drop(last_best((1, angry()), (1, calm()))),
            &|| drop(pick(true, calm(), angry())),
            &|| drop(pick(false, angry(), calm())),
            &|| drop(earlier(Some(calm()), Some(angry()))),
            &|| drop(without_key((angry(), calm()))),
        ];
        for use_it in uses {
            assert!(catch_unwind(AssertUnwindSafe(use_it)).is_err());
            assert_eq!(Rc::strong_count(&all), 1);
        }
    }
}

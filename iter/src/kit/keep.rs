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

/// The second of two if it is better, which is rare where the first is the best of many. This is a
/// branch, which takes no time where the processor predicts it; selecting one of two values of
/// several words takes longer than a short item.
///
/// Do not use it where a tie counts as better: ties may come often and in no order.
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

/// Tells the compiler that a branch is seldom taken, which keeps it a branch.
#[cold]
#[inline]
pub(crate) fn seldom() {}

/// The first of two values that exists.
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

/// What `items.find_map(op)` is, in longer steps: a processor may need two cycles for each jump back, and many items take
/// less.
#[inline]
pub(crate) fn find_map<T, R>(
    items: &mut impl Iterator<Item = T>,
    op: impl Fn(T) -> Option<R>,
) -> Option<R> {
    macro_rules! step {
        () => {
            if let Some(found) = op(items.next()?) {
                return Some(found);
            }
        };
    }
    loop {
        step!();
        step!();
        step!();
        step!();
    }
}

#[cfg(test)]
mod tests {
    use super::{best, earlier, pick, without_key};
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
        let uses: [&dyn Fn(); 6] = [
            &|| drop(best(true, angry(), calm())),
            &|| drop(best(false, calm(), angry())),
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

//! The bound of methods that compare items, with an error message that helps.
#![forbid(unsafe_code)]

/// A type with a total order: everything that is [`Ord`], and nothing else.
///
/// Methods that compare items ask for this in place of `Ord`. The two mean the same, also in a
/// `where` clause. But with this bound, the compiler's message for a float names the ways to sort
/// floats.
///
/// ```
/// use tine::prelude::*;
/// use tine::sort::Total;
///
/// let mut sizes = vec![2.5, 0.5, 1.5];
/// sizes.par_sort_by_key(|&size| Total(size)); // a float by itself has no total order
/// assert_eq!(sizes, [0.5, 1.5, 2.5]);
///
/// fn sorted<T: Ord + Send>(mut items: Vec<T>) -> Vec<T> {
///     items.par_sort();
///     items
/// }
/// assert_eq!(sorted(vec![3, 1, 2]), [1, 2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no total order: it is not `Ord`",
    label = "`{Self}` is not `Ord`",
    note = "floats: wrap them as keys, `tine::sort::Total(x)`, which sorts by radix too",
    note = "or use the method whose name ends in `_by`, with a comparison such as `f64::total_cmp`"
)]
pub trait TotalOrder: Ord {}

#[diagnostic::do_not_recommend]
impl<T: Ord + ?Sized> TotalOrder for T {}

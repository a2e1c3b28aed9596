//! Collections that must be emptied into a vector before they can be split.
#![forbid(unsafe_code)]

/// A source that is first gathered into a vector, because its collection can only be walked from
/// one end: the struct, its traits, and the collection it comes from.
///
/// `from [S] HashMap<K, V, S>` names the generics that the collection has and
/// the iterator lacks.
macro_rules! via_vec {
    ($(#[$meta:meta])*
     pub struct $name:ident [$($param:tt)*];
     [$($bound:tt)*] yields $item:ty;
     from [$($extra:tt)*] $from:ty;) => {
        $(#[$meta])*
        pub struct $name<$($param)*> {
            inner: $crate::sources::vec::IntoIter<$item>,
        }

        $crate::sources::kit::unindexed! {
            [$($bound)*] $name<$($param)*> => $item;
            opt_len(me) $crate::iter::ParallelIterator::opt_len(&me.inner);
            inner(me) me.inner;
        }

        $crate::sources::kit::into_par! {
            [$($bound)* $($extra)*] $from => $name<$($param)*>: $item;
            (from) $name {
                inner: $crate::convert::IntoParallelIterator::into_par_iter(
                    from.into_iter().collect::<Vec<_>>(),
                ),
            }
        }
    };
}
pub(super) use via_vec;

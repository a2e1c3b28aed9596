//! A collection whose buffer is used as a vector for a while.
#![forbid(unsafe_code)]

use std::mem;

/// The items of a collection as a vector. They become the collection again when
/// this is dropped, by a panic too.
pub(super) struct AsVec<'a, T, C: From<Vec<T>>> {
    home: &'a mut C,
    pub(super) vec: Vec<T>,
}

impl<'a, T, C> AsVec<'a, T, C>
where
    C: From<Vec<T>> + Into<Vec<T>> + Default,
{
    pub(super) fn new(home: &'a mut C) -> Self {
        let vec = mem::take(home).into();
        AsVec { home, vec }
    }
}

impl<T, C: From<Vec<T>>> Drop for AsVec<'_, T, C> {
    fn drop(&mut self) {
        *self.home = C::from(mem::take(&mut self.vec));
    }
}

//! Where items go: a file for each kind of sink.

pub(crate) mod collect;
pub(crate) mod count;
pub(crate) mod extend;
pub(crate) mod find;
pub(crate) mod find_at_end;
pub(crate) mod for_each;
pub(crate) mod from_par_iter;
mod huge;
pub(crate) mod pair;
pub(crate) mod partition;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod sum;
pub(crate) mod try_reduce;
pub(crate) mod unzip;

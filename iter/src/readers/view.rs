//! How a record is shown to closures.
#![forbid(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;
use std::str::{self, Utf8Error};

/// How a record is shown to closures: as text or as bytes, with or without its number.
pub trait View: Send + Sync {
    /// What a closure gets; it borrows from the block.
    type Of<'b>;

    /// Shows the record that comes after this many others.
    #[doc(hidden)]
    fn show(record: &[u8], number: u64) -> Result<Self::Of<'_>, Utf8Error>;

    /// What is known of many records, if it can be found out for all at once; `None` if each record
    /// must be checked by itself.
    #[doc(hidden)]
    type Known<'b>: Copy;

    #[doc(hidden)]
    fn know(records: &[u8]) -> Option<Self::Known<'_>>;

    /// Shows the record in this range of the known records; `None` if it is no valid record by
    /// itself.
    #[doc(hidden)]
    fn show_known<'b>(
        known: Self::Known<'b>,
        range: Range<usize>,
        number: u64,
    ) -> Option<Self::Of<'b>>;
}

/// Records as `&str`.
#[derive(Clone, Copy, Debug)]
pub struct AsText;

impl View for AsText {
    type Of<'b> = &'b str;

    #[inline]
    fn show(record: &[u8], _: u64) -> Result<&str, Utf8Error> {
        str::from_utf8(record)
    }

    type Known<'b> = &'b str;

    #[inline]
    fn know(records: &[u8]) -> Option<&str> {
        str::from_utf8(records).ok()
    }

    #[inline]
    fn show_known<'b>(known: Self::Known<'b>, range: Range<usize>, _: u64) -> Option<Self::Of<'b>> {
        known.get(range)
    }
}

/// Records as `&[u8]`.
#[derive(Clone, Copy, Debug)]
pub struct AsBytes;

impl View for AsBytes {
    type Of<'b> = &'b [u8];

    #[inline]
    fn show(record: &[u8], _: u64) -> Result<&[u8], Utf8Error> {
        Ok(record)
    }

    type Known<'b> = &'b [u8];

    #[inline]
    fn know(records: &[u8]) -> Option<&[u8]> {
        Some(records)
    }

    #[inline]
    fn show_known<'b>(known: Self::Known<'b>, range: Range<usize>, _: u64) -> Option<Self::Of<'b>> {
        known.get(range)
    }
}

/// Records of another view as `(u64, _)`: the number of records before it, and the record.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<V>(PhantomData<fn() -> V>);

/// Records as `(u64, &str)`.
pub type AsNumberedText = Numbered<AsText>;

/// Records as `(u64, &[u8])`.
pub type AsNumberedBytes = Numbered<AsBytes>;

impl<V: View> View for Numbered<V> {
    type Of<'b> = (u64, V::Of<'b>);

    #[inline]
    fn show(record: &[u8], number: u64) -> Result<Self::Of<'_>, Utf8Error> {
        Ok((number, V::show(record, number)?))
    }

    type Known<'b> = V::Known<'b>;

    #[inline]
    fn know(records: &[u8]) -> Option<Self::Known<'_>> {
        V::know(records)
    }

    #[inline]
    fn show_known<'b>(
        known: Self::Known<'b>,
        range: Range<usize>,
        number: u64,
    ) -> Option<Self::Of<'b>> {
        Some((number, V::show_known(known, range, number)?))
    }
}

/// A view that can have numbers.
pub trait Numbers: View {
    /// The same with numbers.
    type Numbered: View;
}

impl Numbers for AsText {
    type Numbered = AsNumberedText;
}

impl Numbers for AsBytes {
    type Numbered = AsNumberedBytes;
}

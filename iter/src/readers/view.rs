//! How a record is shown to closures.
#![forbid(unsafe_code)]

use std::str::{self, Utf8Error};

/// How a record is shown to closures: as text or as bytes, with its number or without.
pub trait View: Send + Sync {
    /// What a closure is given; it borrows from the block.
    type Of<'b>;

    /// Shows the record that comes after this many others.
    #[doc(hidden)]
    fn show(record: &[u8], number: u64) -> Result<Self::Of<'_>, Utf8Error>;
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
}

/// Records as `(u64, &str)`: how many come before, and the record.
#[derive(Clone, Copy, Debug)]
pub struct AsNumberedText;

impl View for AsNumberedText {
    type Of<'b> = (u64, &'b str);

    #[inline]
    fn show(record: &[u8], number: u64) -> Result<(u64, &str), Utf8Error> {
        Ok((number, str::from_utf8(record)?))
    }
}

/// Records as `(u64, &[u8])`: how many come before, and the record.
#[derive(Clone, Copy, Debug)]
pub struct AsNumberedBytes;

impl View for AsNumberedBytes {
    type Of<'b> = (u64, &'b [u8]);

    #[inline]
    fn show(record: &[u8], number: u64) -> Result<(u64, &[u8]), Utf8Error> {
        Ok((number, record))
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

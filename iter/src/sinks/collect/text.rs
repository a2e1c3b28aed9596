//! Collecting text: bytes in fragments, which are moved like any others.

use std::borrow::Cow;

use super::fragments::{Fill, Fragments, gather_by};
use crate::iter::ParallelIterator;

/// An item from which a string can be made.
///
/// # Safety
///
/// `write` appends whole characters in UTF-8 and does not change the bytes that were there.
pub(crate) unsafe trait Text {
    /// Appends the text to UTF-8 that ends with a whole character.
    fn write(self, bytes: &mut Vec<u8>);
}

// SAFETY: a `char` is encoded as one whole character.
unsafe impl Text for char {
    #[inline]
    fn write(self, bytes: &mut Vec<u8>) {
        match u8::try_from(self) {
            Ok(ascii) if ascii.is_ascii() => bytes.push(ascii),
            _ => bytes.extend_from_slice(self.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

// SAFETY: as for `char`.
unsafe impl Text for &char {
    #[inline]
    fn write(self, bytes: &mut Vec<u8>) {
        (*self).write(bytes);
    }
}

/// Text that is a `str` underneath, appended unchanged.
macro_rules! text {
    ($($text:ty)*) => {$(
        // SAFETY: a `str` is whole characters.
        unsafe impl Text for $text {
            #[inline]
            fn write(self, bytes: &mut Vec<u8>) {
                let text: &str = &self;
                bytes.extend_from_slice(text.as_bytes());
            }
        }
    )*};
}

text! { &str String Box<str> Cow<'_, str> }

/// Text in fragments of bytes.
pub(crate) enum Bytes {}

impl<T: Text> Fill<T> for Bytes {
    type Unit = u8;

    #[inline]
    fn push(to: &mut Fragments<u8>, text: T) {
        text.write(&mut to.last);
    }
}

/// Appends the text to `target`, in the order of the iterator.
pub(crate) fn append_text<I: ParallelIterator<Item: Text>>(iter: I, target: &mut String) {
    let fragments = gather_by::<Bytes, _>(iter);
    // SAFETY: each fragment is what `Text` wrote to an empty fragment: whole characters. The fragments in a row
    // are whole characters too. `append_to` changes `target` after everything that can panic except an
    // allocation; an allocation that panics leaves `target` alone.
    let bytes = unsafe { target.as_mut_vec() };
    fragments.append_to(bytes);
}

//! Bytes from which numbers are read; zeros once they are used up.

/// What is left of the input.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn are_left(&self) -> bool {
        !self.0.is_empty()
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

//! Readers that behave badly, within what `Read` allows.

use std::io::{self, ErrorKind, Read};

/// Gives these numbers of bytes in turn. It is interrupted this many times before each read.
pub(crate) struct Drops<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) sizes: &'b [usize],
    pub(crate) interrupts: usize,
    pub(crate) turn: usize,
    pub(crate) interrupted: usize,
}

impl<'b> Drops<'b> {
    pub(crate) fn new(bytes: &'b [u8], sizes: &'b [usize], interrupts: usize) -> Self {
        Drops {
            bytes,
            sizes,
            interrupts,
            turn: 0,
            interrupted: 0,
        }
    }
}

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(!buffer.is_empty(), "nothing was asked for");
        if self.interrupted < self.interrupts {
            self.interrupted += 1;
            return Err(ErrorKind::Interrupted.into());
        }
        self.interrupted = 0;
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let taken = size.min(buffer.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(taken);
        buffer[..taken].copy_from_slice(now);
        self.bytes = later;
        Ok(taken)
    }
}

/// Gives these bytes, and then an error.
pub(crate) struct Breaks<'b>(pub(crate) &'b [u8], pub(crate) bool);

impl Read for Breaks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.0.read(buffer)?;
        if taken == 0 {
            assert!(!self.1, "read again after an error");
            self.1 = true;
            return Err(ErrorKind::ConnectionReset.into());
        }
        Ok(taken)
    }
}

/// This number of bytes of one kind, made as they are read, and a line feed at the end.
pub(crate) struct Long(pub(crate) usize);

impl Read for Long {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = buffer.len().min(self.0);
        buffer[..taken].fill(b'x');
        self.0 -= taken;
        if self.0 == 0 && taken > 0 {
            buffer[taken - 1] = b'\n';
        }
        Ok(taken)
    }
}

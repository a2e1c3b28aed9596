//! Bytes in blocks that end where a record ends.
//!
//! A block is what travels through the pipeline. It owns its bytes. They return to the reader when
//! the block is through, so a long file is read into a few buffers again and again.
#![forbid(unsafe_code)]

use super::cut::{Cutter, Last};
use super::error::{Fault, ReadError, Tally};
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// What the user may set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// How many bytes a block should have.
    pub(super) block: usize,
    /// How many bytes a record may have.
    pub(super) longest: usize,
    /// Whether records are numbered.
    pub(super) numbered: bool,
    /// Whether a block goes off as soon as there is a record.
    pub(super) prompt: bool,
}

/// Whole records.
#[derive(Debug)]
pub struct Block<B> {
    pub(super) bytes: B,
    /// How many of the bytes are records.
    pub(super) len: usize,
    /// How many of the bytes were searched for the ends of these records. To find the ends again
    /// takes as many.
    pub(super) seen: usize,
    /// Which block it is, and how many bytes and (if they are counted) records come before it.
    pub(super) index: usize,
    pub(super) offset: u64,
    pub(super) records: u64,
    pub(super) tally: Arc<Tally>,
}

/// Where blocks come from.
pub trait Supply: Send {
    /// What holds the bytes of a block.
    type Bytes: AsRef<[u8]> + Send;

    /// The next block, which gets `place`. Nothing comes after an error.
    #[doc(hidden)]
    fn next_block<C: Cutter>(
        &mut self,
        cutter: &C,
        place: &mut Place,
    ) -> Option<Found<Self::Bytes>>;
}

/// Where the next block begins.
#[derive(Debug)]
pub struct Place {
    pub(super) settings: Settings,
    index: usize,
    offset: u64,
    records: u64,
    tally: Arc<Tally>,
}

type Found<B> = Result<Block<B>, ReadError>;

impl Place {
    pub(super) fn start(settings: Settings) -> Self {
        Place {
            settings,
            index: 0,
            offset: 0,
            records: 0,
            tally: Arc::default(),
        }
    }

    /// A block that begins here: the records among the first `seen` of `bytes`, as `last` says.
    /// Moves the place behind the block.
    fn block<B: AsRef<[u8]>, C: Cutter>(
        &mut self,
        cutter: &C,
        bytes: B,
        seen: usize,
        last: Last,
    ) -> Block<B> {
        let len = last.end;
        let count = || cutter.count(&bytes.as_ref()[..len]);
        let records = match self.settings.numbered {
            true => last.records.unwrap_or_else(count),
            false => 0,
        };
        let block = Block {
            seen,
            ..self.last_block(bytes, len)
        };
        self.index += 1;
        self.offset += len as u64;
        self.records += records;
        block
    }

    /// The last block: all of the first `len` of `bytes`.
    fn last_block<B>(&self, bytes: B, len: usize) -> Block<B> {
        Block {
            bytes,
            len,
            seen: len,
            index: self.index,
            offset: self.offset,
            records: self.records,
            tally: self.tally.clone(),
        }
    }

    /// What is wrong with the record that begins here.
    fn error(&self, fault: Fault) -> ReadError {
        ReadError::new(fault, self.offset, (self.index, 1), &self.tally)
    }
}

/// The blocks of a supply, one after the other.
pub struct Blocks<S, C> {
    pub(super) supply: S,
    pub(super) cutter: Arc<C>,
    pub(super) place: Place,
}

impl<S, C> fmt::Debug for Blocks<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl<S: Supply, C: Cutter> Iterator for Blocks<S, C> {
    type Item = Found<S::Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        self.supply.next_block(&*self.cutter, &mut self.place)
    }
}

/// Blocks that are read.
pub struct Reading<R> {
    /// `None` when the reader has no more bytes.
    reader: Option<R>,
    /// The beginning of a record whose end was not in the last block.
    rest: Vec<u8>,
    /// The error to report after the blocks that were read.
    error: Option<io::Error>,
    spare: Spare,
}

/// Buffers that no block uses.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

impl<R> Reading<R> {
    pub(super) fn new(reader: R) -> Self {
        Reading {
            reader: Some(reader),
            rest: Vec::new(),
            error: None,
            spare: Arc::default(),
        }
    }

    /// An empty buffer, at least as long as a block.
    fn buffer(&self, settings: Settings) -> Buffer {
        let used = lock(&self.spare).pop();
        let mut bytes = used.unwrap_or_default();
        let least = settings.block.max(2 * self.rest.len());
        if bytes.len() < least {
            bytes.resize(least, 0);
        }
        bytes[..self.rest.len()].copy_from_slice(&self.rest);
        // A buffer that is far larger than a block served a long record, and is not kept.
        let keep = 4 * settings.block;
        Buffer {
            bytes,
            keep,
            spare: self.spare.clone(),
        }
    }
}

impl<R> fmt::Debug for Reading<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}

/// The bytes of a block that was read. All of them are initialised, but not all belong to the
/// block.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    keep: usize,
    spare: Spare,
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes.len() <= self.keep {
            lock(&self.spare).push(mem::take(&mut self.bytes));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: Read + Send> Supply for Reading<R> {
    type Bytes = Buffer;

    fn next_block<C: Cutter>(&mut self, cutter: &C, place: &mut Place) -> Option<Found<Buffer>> {
        if let Some(error) = self.error.take() {
            return Some(Err(place.error(Fault::Io(error))));
        }
        let settings = place.settings;
        let mut reader = self.reader.take()?;
        let mut buffer = self.buffer(settings);
        let mut full = self.rest.len();
        self.rest.clear();
        // The number of bytes in which no end of a record was found.
        let mut known = full;
        loop {
            match reader.read(&mut buffer.bytes[full..]) {
                Ok(0) => {
                    // Bytes without an end are a record nevertheless.
                    return (full > 0).then(|| Ok(place.last_block(buffer, full)));
                }
                Ok(more) => {
                    assert!(
                        more <= buffer.bytes.len() - full,
                        "a reader that read too much"
                    );
                    full += more;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    let Some(last) = cutter.last(&buffer.bytes[..full], known) else {
                        return Some(Err(place.error(Fault::Io(error))));
                    };
                    self.error = Some(error);
                    return Some(Ok(place.block(cutter, buffer, full, last)));
                }
            }
            if full < buffer.bytes.len() && !settings.prompt {
                continue;
            }
            if let Some(last) = cutter.last(&buffer.bytes[..full], known) {
                self.rest.extend_from_slice(&buffer.bytes[last.end..full]);
                self.reader = Some(reader);
                return Some(Ok(place.block(cutter, buffer, full, last)));
            }
            known = full;
            // If the end of a too long record is found, the walk through the block notices its length.
            if full > settings.longest.saturating_add(cutter.end_len()) {
                return Some(Err(place.error(Fault::TooLong(settings.longest))));
            }
            if full == buffer.bytes.len() {
                buffer.bytes.resize(2 * full, 0);
            }
        }
    }
}

/// Blocks of bytes that are in memory.
#[derive(Clone, Debug)]
pub struct Lying<'b> {
    bytes: &'b [u8],
}

impl<'b> Lying<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Lying { bytes }
    }
}

impl<'b> Supply for Lying<'b> {
    type Bytes = &'b [u8];

    fn next_block<C: Cutter>(&mut self, cutter: &C, place: &mut Place) -> Option<Found<&'b [u8]>> {
        let all = self.bytes.len();
        let (mut look, mut known) = (place.settings.block.min(all), 0);
        loop {
            if let Some(last) = cutter.last(&self.bytes[..look], known) {
                let seen = &self.bytes[..look];
                self.bytes = &self.bytes[last.end..];
                return Some(Ok(place.block(cutter, seen, look, last)));
            }
            if look == all {
                let bytes = mem::take(&mut self.bytes);
                return (all > 0).then(|| Ok(place.last_block(bytes, all)));
            }
            (look, known) = (look.saturating_mul(2).min(all), look);
        }
    }
}

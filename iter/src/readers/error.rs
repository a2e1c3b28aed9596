//! Errors of reading, and where they are.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::str::Utf8Error;
use std::sync::{Arc, Mutex, PoisonError};

/// What went wrong while records were read, and at which record.
///
/// It is inside the [`io::Error`] that a pipeline over a reader ends with.
///
/// ```
/// use std::io::ErrorKind;
/// use tine::readers::{ParallelRead, ReadError};
///
/// let bytes: &[u8] = b"good\nalso good\nnot \xFF good\n";
/// let error = bytes.par_lines().map(str::len).sum::<usize>().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidData);
/// let place = ReadError::of(&error).unwrap();
/// assert_eq!((place.record(), place.offset()), (Some(3), 15));
/// assert!(error.to_string().starts_with("record 3, at byte 15: invalid utf-8"));
/// ```
#[derive(Debug)]
pub struct ReadError {
    fault: Fault,
    offset: u64,
    /// The number of the record in its block, from 1, and of the block.
    record: u64,
    block: usize,
    tally: Arc<Tally>,
}

/// What went wrong.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    Utf8(Utf8Error),
    TooLong(usize),
}

impl ReadError {
    pub(super) fn new(
        fault: Fault,
        offset: u64,
        (block, record): (usize, u64),
        tally: &Arc<Tally>,
    ) -> Self {
        let tally = tally.clone();
        ReadError {
            fault,
            offset,
            record,
            block,
            tally,
        }
    }

    /// The `ReadError` inside an error of a pipeline over a reader; `None` if the error is of another
    /// kind.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// How many bytes come before the record that is wrong, or that could not be read to its end.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the record that is wrong, counted from 1. It is known once all records before it
    /// have been worked on, that is, once the pipeline has ended.
    pub fn record(&self) -> Option<u64> {
        Some(self.tally.before(self.block)? + self.record)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(record) = self.record() {
            write!(f, "record {record}, ")?;
        }
        write!(f, "at byte {}: ", self.offset)?;
        match &self.fault {
            Fault::Io(error) => error.fmt(f),
            Fault::Utf8(error) => error.fmt(f),
            Fault::TooLong(limit) => write!(f, "longer than {limit} bytes"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            Fault::Utf8(error) => Some(error),
            Fault::TooLong(_) => None,
        }
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        let kind = match &error.fault {
            Fault::Io(error) => error.kind(),
            Fault::Utf8(_) | Fault::TooLong(_) => ErrorKind::InvalidData,
        };
        io::Error::new(kind, error)
    }
}

/// How many records there are in the first blocks.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// This many blocks, counted from the first, are through, and have this many records.
    blocks: usize,
    records: u64,
    /// The records of the blocks from there on, where they are through.
    early: VecDeque<Option<u64>>,
}

impl Tally {
    /// A block is through.
    pub(super) fn note(&self, block: usize, records: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = block - counts.blocks;
        while counts.early.len() <= at {
            counts.early.push_back(None);
        }
        counts.early[at] = Some(records);
        while let Some(&Some(records)) = counts.early.front() {
            counts.early.pop_front();
            counts.blocks += 1;
            counts.records += records;
        }
    }

    /// How many records come before a block, if all blocks before it are through and itself is not.
    fn before(&self, block: usize) -> Option<u64> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (counts.blocks == block).then_some(counts.records)
    }
}

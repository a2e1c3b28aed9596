//! What a user says about records: where they come from, how they are cut and shown, and what is
//! made of them.
#![forbid(unsafe_code)]

use super::blocks::{Blocks, Lying, Place, Reading, Settings, Supply};
use super::cut::{ByLength, Cutter, LineEnd, Separator};
use super::view::{AsBytes, AsText, Numbers, View};
use super::walk::{FoldRecords, One, Perhaps, Records, Trying};
use crate::pipeline::{self, Fails, Makes, Pipeline, Source, Then};
use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::sync::Arc;

/// Adds parallel lines and records to everything that can be read.
///
/// ```
/// use tine::readers::ParallelRead;
///
/// let words = std::io::Cursor::new("a fork\nhas tines\n");
/// let count = words.par_lines().fold(|| 0, |n, line| n + line.split(' ').count()).sum::<usize>()?;
/// assert_eq!(count, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ParallelRead: Sized {
    /// What reads blocks of it.
    type Supply: Supply;

    /// What reads blocks of it.
    #[doc(hidden)]
    fn into_supply(self) -> Self::Supply;

    /// The lines of a text, as `&str`, without their line feeds or the carriage returns before
    /// these.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"one\r\ntwo\n\nfour";
    /// let lengths: Vec<usize> = text.par_lines().map(str::len).collect()?;
    /// assert_eq!(lengths, [3, 3, 0, 4]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn par_lines(self) -> Lines<Self::Supply> {
        Lines::new(self.into_supply(), LineEnd)
    }

    /// The lines as `&[u8]`, which need not be UTF-8.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let bytes: &[u8] = b"caf\xE9\nth\xE9\n";
    /// let last: Vec<u8> = bytes.par_byte_lines().map(|line| line[line.len() - 1]).collect()?;
    /// assert_eq!(last, [0xE9, 0xE9]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn par_byte_lines(self) -> Lines<Self::Supply, LineEnd, AsBytes> {
        Lines::new(self.into_supply(), LineEnd)
    }

    /// The records between separators, as `&[u8]`. A separator has one byte or more. If nothing follows
    /// the last separator, no empty record comes after it.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let names: &[u8] = b"a\0b c\0";
    /// assert_eq!(names.par_records(b"\0").map(<[u8]>::len).collect::<Vec<_>>()?, [1, 3]);
    /// let pages: &[u8] = b"one--two--";
    /// assert_eq!(pages.par_records("--").count()?, 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the separator is empty.
    #[track_caller]
    fn par_records(self, separator: impl AsRef<[u8]>) -> Lines<Self::Supply, Separator, AsBytes> {
        Lines::new(
            self.into_supply(),
            Separator::new(separator.as_ref().to_vec()),
        )
    }

    /// The records that `cutter` tells apart. `cutter` gets bytes that begin where a record begins.
    /// It returns the length of that record, or `None` if the bytes do not reach to its end. If it
    /// never finds the end of a record, that record is the last.
    ///
    /// `cutter` is called twice for each record, the first time while no other thread can read on.
    /// It is called again for a record whose end does not lie in the bytes that were read so far.
    /// To see that a record has ended, `cutter` may look at bytes behind it. If a record is nearly
    /// as long as [allowed](Lines::longest), the next 64 KiB must be enough for that.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// // Each record begins with its length.
    /// let bytes: &[u8] = &[3, 1, 2, 1, 2, 9];
    /// let cutter = |bytes: &[u8]| Some(bytes[0] as usize).filter(|&len| len <= bytes.len());
    /// let sums = bytes.par_records_by(cutter).map(|record| record[1..].iter().sum::<u8>());
    /// assert_eq!(sums.collect::<Vec<_>>()?, [3, 0, 9]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn par_records_by<F>(self, cutter: F) -> Lines<Self::Supply, ByLength<F>, AsBytes>
    where
        F: Fn(&[u8]) -> Option<usize> + Send + Sync,
    {
        Lines::new(self.into_supply(), ByLength(cutter))
    }
}

impl<R: Read + Send> ParallelRead for R {
    type Supply = Reading<R>;

    fn into_supply(self) -> Reading<R> {
        Reading::new(self)
    }
}

/// Bytes in memory, which need not be copied: see [`over`].
#[derive(Clone, Copy, Debug)]
pub struct InMemory<'b> {
    bytes: &'b [u8],
}

/// Bytes in memory as a source of lines and records. (A `&[u8]` is a reader too, which copies them.)
///
/// A mapped file is bytes in memory too: `over(&map)`, with the crate `memmap2` for instance.
/// Mapping a file is unsafe, since another program may shorten it meanwhile; where that can happen,
/// read the file.
///
/// ```
/// use tine::readers::{ParallelRead, over};
///
/// let text = "one\ntwo\n".repeat(1000);
/// assert_eq!(over(text.as_bytes()).par_lines().count()?, 2000);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn over<B: AsRef<[u8]> + ?Sized>(bytes: &B) -> InMemory<'_> {
    let bytes = bytes.as_ref();
    InMemory { bytes }
}

impl<'b> ParallelRead for InMemory<'b> {
    type Supply = Lying<'b>;

    fn into_supply(self) -> Lying<'b> {
        Lying::new(self.bytes)
    }
}

/// The lines or records of a reader, or of bytes in memory, for closures that run in parallel.
///
/// It is made by [`ParallelRead`]. What `map` and the other adapters return is a [`Pipeline`], whose errors are
/// [`io::Error`]s.
#[must_use = "nothing is read until the pipeline is run"]
pub struct Lines<S, C = LineEnd, V = AsText> {
    supply: S,
    cutter: C,
    settings: Settings,
    limit: Option<usize>,
    view: PhantomData<fn() -> V>,
}

impl<S: fmt::Debug, C, V> fmt::Debug for Lines<S, C, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("supply", &self.supply)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A pipeline over the blocks of a reader.
type Over<S, C, P, E = io::Error> = Pipeline<Then<Source<Blocks<S, C>>, P>, Fails<E>>;

impl<S: Supply, C: Cutter, V: View> Lines<S, C, V> {
    fn new(supply: S, cutter: C) -> Self {
        let settings = Settings {
            block: 128 << 10,
            longest: 1 << 30,
            numbered: false,
            prompt: false,
        };
        Lines {
            supply,
            cutter,
            settings,
            limit: None,
            view: PhantomData,
        }
    }

    /// Sets how many bytes are read at once; the default is 128 KiB. Blocks that take long to work on
    /// should be small, since one thread works on a whole block.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"4\n5\n";
    /// assert_eq!(text.par_lines().block_size(16).count()?, 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `bytes` is 0.
    #[track_caller]
    pub fn block_size(mut self, bytes: usize) -> Self {
        assert!(bytes > 0, "the size of a block must not be zero");
        self.settings.block = bytes;
        self
    }

    /// Sets how many bytes a record may have; the default is 1 GiB. A longer record is an error, and
    /// is not read to its end.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let endless = std::io::repeat(b'x');
    /// assert!(endless.par_lines().longest(1 << 20).count().is_err());
    /// ```
    pub fn longest(mut self, bytes: usize) -> Self {
        self.settings.longest = bytes;
        self
    }

    /// Sets how many blocks may be under way at a time; the default is four for each thread.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"4\n5\n";
    /// assert_eq!(text.par_lines().limit(2).count()?, 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `blocks` is 0.
    #[track_caller]
    pub fn limit(mut self, blocks: usize) -> Self {
        assert!(blocks > 0, "the limit of blocks must not be zero");
        self.limit = Some(blocks);
        self
    }

    /// Sends records on as soon as a read has brought a whole record, without waiting for a full
    /// block. This is for readers that wait, such as a socket or a terminal.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"4\n5\n";
    /// assert_eq!(text.par_lines().prompt().count()?, 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn prompt(mut self) -> Self {
        self.settings.prompt = true;
        self
    }

    fn with<P, E>(self, stage: impl FnOnce(Arc<C>, usize) -> P) -> Over<S, C, P, E>
    where
        P: Makes<<Blocks<S, C> as Iterator>::Item>,
    {
        let cutter = Arc::new(self.cutter);
        let blocks = Blocks {
            supply: self.supply,
            cutter: cutter.clone(),
            place: Place::start(self.settings),
        };
        let stage = stage(cutter, self.settings.longest);
        pipeline::over_blocks(blocks, self.limit, stage)
    }

    fn each<O, E>(self, op: O) -> Over<S, C, Records<C, V, O>, E>
    where
        Records<C, V, O>: Makes<<Blocks<S, C> as Iterator>::Item>,
    {
        let view = PhantomData;
        self.with(|cutter, longest| Records {
            cutter,
            longest,
            op,
            view,
        })
    }

    /// Calls `op` with each record, in parallel; the results come in order.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"b\na\n";
    /// let upper: Vec<String> = text.par_lines().map(str::to_uppercase).collect()?;
    /// assert_eq!(upper, ["B", "A"]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn map<F, U>(self, op: F) -> Over<S, C, Records<C, V, One<F>>>
    where
        F: for<'b> Fn(V::Of<'b>) -> U + Send + Sync,
        U: Send,
    {
        self.each(One(op))
    }

    /// As [`map`](Self::map), without the records for which `op` returns `None`.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"1\n\n3\n";
    /// let numbers: Vec<u8> = text.par_lines().filter_map(|line| line.parse::<u8>().ok()).collect()?;
    /// assert_eq!(numbers, [1, 3]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn filter_map<F, U>(self, op: F) -> Over<S, C, Records<C, V, Perhaps<F>>>
    where
        F: for<'b> Fn(V::Of<'b>) -> Option<U> + Send + Sync,
        U: Send,
    {
        self.each(Perhaps(op))
    }

    /// As [`map`](Self::map), where `op` may fail. Errors of the reader must be convertible to its
    /// error type.
    ///
    /// ```
    /// use std::io;
    /// use tine::readers::ParallelRead;
    ///
    /// let parse = |line: &str| line.parse::<u32>().map_err(io::Error::other);
    /// let good: &[u8] = b"1\n2\n";
    /// assert_eq!(good.par_lines().try_map(parse).sum::<u32>()?, 3);
    /// let bad: &[u8] = b"1\ntwo\n";
    /// assert!(bad.par_lines().try_map(parse).sum::<u32>().is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn try_map<F, U, E>(self, op: F) -> Over<S, C, Records<C, V, Trying<F>>, E>
    where
        F: for<'b> Fn(V::Of<'b>) -> Result<U, E> + Send + Sync,
        U: Send,
        E: From<io::Error>,
    {
        self.each(Trying(op))
    }

    /// Folds the records of each block into one value; the values come in order.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"a\nccc\nbb\n";
    /// let longest = text
    ///     .par_lines()
    ///     .fold(|| 0, |longest, line| line.len().max(longest))
    ///     .reduce(|| 0, usize::max)?;
    /// assert_eq!(longest, 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn fold<A, N, F>(self, init: N, op: F) -> Over<S, C, FoldRecords<C, V, N, F>>
    where
        N: Fn() -> A + Send + Sync,
        F: for<'b> Fn(A, V::Of<'b>) -> A + Send + Sync,
        A: Send,
    {
        let view = PhantomData;
        self.with(|cutter, longest| FoldRecords {
            cutter,
            longest,
            init,
            op,
            view,
        })
    }

    /// Calls `op` with each record, in parallel and in no particular order.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    /// use tine::readers::ParallelRead;
    ///
    /// let bytes = AtomicUsize::new(0);
    /// let text: &[u8] = b"a\nccc\nbb\n";
    /// text.par_lines().for_each(|line| {
    ///     bytes.fetch_add(line.len(), Relaxed);
    /// })?;
    /// assert_eq!(bytes.into_inner(), 6);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of the reader. Some records behind it may have been worked on.
    pub fn for_each<F>(self, op: F) -> io::Result<()>
    where
        F: for<'b> Fn(V::Of<'b>) + Send + Sync,
    {
        self.map(op).run()
    }

    /// How many records there are.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"a\nccc\nbb";
    /// assert_eq!(text.par_lines().count()?, 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of the reader.
    pub fn count(self) -> io::Result<u64> {
        self.fold(|| 0, |n, _| n + 1)
            .fold(0, |all, part: u64| all + part)
    }
}

impl<S: Supply, C: Cutter, V: Numbers> Lines<S, C, V> {
    /// The records with their numbers, counted from 0: closures get `(u64, &str)` or
    /// `(u64, &[u8])`.
    ///
    /// ```
    /// use tine::readers::ParallelRead;
    ///
    /// let text: &[u8] = b"a\nTODO: b\nc\nTODO: d\n";
    /// let todo = text
    ///     .par_lines()
    ///     .numbered()
    ///     .filter_map(|(number, line)| line.starts_with("TODO").then_some(number + 1));
    /// assert_eq!(todo.collect::<Vec<_>>()?, [2, 4]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn numbered(self) -> Lines<S, C, V::Numbered> {
        let settings = Settings {
            numbered: true,
            ..self.settings
        };
        Lines {
            supply: self.supply,
            cutter: self.cutter,
            settings,
            limit: self.limit,
            view: PhantomData,
        }
    }
}

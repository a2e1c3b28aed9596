//! Where records end.
#![forbid(unsafe_code)]

/// Where the first record in some bytes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The length of the record, without what separates it from the next one.
    pub(super) record: usize,
    /// Where the next one begins.
    pub(super) next: usize,
}

/// Where the last record in some bytes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Where the next one begins.
    pub(super) end: usize,
    /// How many records end there or before, if they were counted on the way.
    pub(super) records: Option<u64>,
}

impl Last {
    fn uncounted(end: usize) -> Self {
        let records = None;
        Last { end, records }
    }
}

/// What finds the ends of records.
pub trait Cutter: Send + Sync {
    /// Where the first record ends, if its end can be told from `bytes`.
    fn first(&self, bytes: &[u8]) -> Option<Cut>;

    /// The last record whose end can be told from `bytes`: where it ends, and where the next one
    /// begins; `None` if there is none. An earlier look at the first `known` bytes found no end.
    fn last(&self, bytes: &[u8], known: usize) -> Option<Last> {
        let _ = known;
        let (mut records, mut end) = (0, 0);
        while let Some(cut) = self.first(&bytes[end..]) {
            (records, end) = (records + 1, end + cut.next);
        }
        let records = Some(records);
        (end > 0).then_some(Last { end, records })
    }

    /// The end of a record is found once this many bytes behind it are there, or earlier.
    fn end_len(&self) -> usize;

    /// How many records end in `bytes`, which end where a record does. Only asked if
    /// [`last`](Cutter::last) has not counted them.
    fn count(&self, bytes: &[u8]) -> u64;
}

/// How many bytes are searched together where the byte is far away.
const FAR: usize = 32;

/// The position of the first such byte.
#[inline]
fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(part) = bytes.get(at..at + FAR) {
        if part.iter().fold(false, |found, &b| found | (b == byte)) {
            break;
        }
        at += FAR;
    }
    while let Some(&word) = bytes[at..].first_chunk() {
        if let Some(place) = place_in(byte, word) {
            return Some(at + place);
        }
        at += size_of::<u64>();
    }
    let rest = bytes[at..].iter().position(|&b| b == byte);
    rest.map(|place| at + place)
}

/// The place of the first such byte among eight.
#[inline]
fn place_in(byte: u8, word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Bytes that equal `byte` are zeros here. The subtraction marks zeros, and may also mark bytes above the
    // lowest zero, but none below it.
    let zeros = u64::from_le_bytes(word) ^ (ONES * u64::from(byte));
    let raised = zeros.wrapping_sub(ONES) & !zeros & (ONES << 7);
    (raised != 0).then(|| raised.trailing_zeros() as usize / 8)
}

fn rfind(byte: u8, bytes: &[u8]) -> Option<usize> {
    // Whole parts are searched at once, and only the part that contains the byte is searched byte by byte.
    let mut parts = bytes.rchunks(256).scan(bytes.len(), |start, part| {
        *start -= part.len();
        Some((*start, part))
    });
    let (start, part) = parts.find(|(_, part)| part.contains(&byte))?;
    Some(start + part.iter().rposition(|&b| b == byte)?)
}

fn tally(byte: u8, bytes: &[u8]) -> u64 {
    // In parts, so that the counter of each part fits into a byte.
    let part = |part: &[u8]| part.iter().map(|&b| u8::from(b == byte)).sum::<u8>();
    bytes.chunks(255).map(|bytes| u64::from(part(bytes))).sum()
}

/// Lines: they end with a line feed, which may have a carriage return before it.
#[derive(Clone, Copy, Debug)]
pub struct LineEnd;

impl Cutter for LineEnd {
    #[inline]
    fn first(&self, bytes: &[u8]) -> Option<Cut> {
        let end = find(b'\n', bytes)?;
        let record = end - usize::from(end > 0 && bytes[end - 1] == b'\r');
        Some(Cut {
            record,
            next: end + 1,
        })
    }

    fn last(&self, bytes: &[u8], known: usize) -> Option<Last> {
        let at = rfind(b'\n', &bytes[known..])?;
        Some(Last::uncounted(known + at + 1))
    }

    fn end_len(&self) -> usize {
        b"\r\n".len()
    }

    fn count(&self, bytes: &[u8]) -> u64 {
        tally(b'\n', bytes)
    }
}

/// Records with a separator between them, of one byte or of several.
#[derive(Clone, Debug)]
pub struct Separator {
    bytes: Vec<u8>,
    /// Whether a separator may begin inside another: then only a search from the start tells which
    /// bytes are separators.
    overlaps: bool,
}

impl Separator {
    #[track_caller]
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        assert!(!bytes.is_empty(), "a separator must not be empty");
        let overlaps = (1..bytes.len()).any(|len| bytes.starts_with(&bytes[bytes.len() - len..]));
        Separator { bytes, overlaps }
    }

    fn find(&self, bytes: &[u8]) -> Option<usize> {
        let (&first, rest) = self.bytes.split_first()?;
        let mut from = 0;
        loop {
            let at = from + find(first, &bytes[from..])?;
            if bytes[at + 1..].starts_with(rest) {
                return Some(at);
            }
            from = at + 1;
        }
    }
}

impl Cutter for Separator {
    fn first(&self, bytes: &[u8]) -> Option<Cut> {
        let record = self.find(bytes)?;
        let next = record + self.bytes.len();
        Some(Cut { record, next })
    }

    fn last(&self, bytes: &[u8], known: usize) -> Option<Last> {
        let long = self.bytes.len();
        if self.overlaps {
            let (mut records, mut end) = (0, 0);
            while let Some(at) = self.find(&bytes[end..]) {
                (records, end) = (records + 1, end + at + long);
            }
            let records = Some(records);
            return (end > 0).then_some(Last { end, records });
        }
        // The separator may begin in the part that is already known.
        let from = known.saturating_sub(long - 1);
        let mut to = bytes.len();
        let (&last, _) = self.bytes.split_last()?;
        loop {
            let at = from + rfind(last, &bytes[from..to])?;
            if bytes[from..=at].ends_with(&self.bytes) {
                return Some(Last::uncounted(at + 1));
            }
            to = at;
        }
    }

    fn end_len(&self) -> usize {
        self.bytes.len()
    }

    fn count(&self, bytes: &[u8]) -> u64 {
        if let [byte] = self.bytes[..] {
            return tally(byte, bytes);
        }
        let (mut count, mut at) = (0, 0);
        while let Some(cut) = self.first(&bytes[at..]) {
            (count, at) = (count + 1, at + cut.next);
        }
        count
    }
}

/// How far behind a record a closure may look to see that the record has ended.
const AHEAD: usize = 64 << 10;

/// Records whose length a closure determines.
#[derive(Clone, Copy, Debug)]
pub struct ByLength<F>(pub(super) F);

impl<F: Fn(&[u8]) -> Option<usize> + Send + Sync> Cutter for ByLength<F> {
    fn first(&self, bytes: &[u8]) -> Option<Cut> {
        if bytes.is_empty() {
            return None;
        }
        let length = (self.0)(bytes)?;
        assert!(
            0 < length && length <= bytes.len(),
            "the closure returned a record of {length} bytes for {} bytes",
            bytes.len()
        );
        let (record, next) = (length, length);
        Some(Cut { record, next })
    }

    fn end_len(&self) -> usize {
        AHEAD
    }

    fn count(&self, _: &[u8]) -> u64 {
        unreachable!("the records were counted when the last of them was looked for")
    }
}

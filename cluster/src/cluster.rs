//! A rank's handle on all ranks, and the header with which every collective begins.
//!
//! ```text
//! enter("sort", here, len)    all gather { n-th call, hash of what is to be alike, len }
//!      first two alike  →  Call: the words of all ranks, and the operations of the engine
//!      otherwise        →  all gather the names; all stop, and each rank knows all names
//! ```
//!
//! These must be alike: the name "sort", the place, the type of the items, the types told to `plain`,
//! and the lengths given to `generate` since the previous header.
//!
//! The course of a collective depends only on what all ranks know. So ranks that have passed its
//! header meet in every operation up to the next header. Ranks that have parted meet in the next
//! header, and find out there.
#![forbid(unsafe_code)]

use crate::fault::{Error, Stop, stop};
use crate::link::Link;
use crate::stats::{Counts, Stats};
use crate::travel::{Plain, Registry, Travel, decode, encode};
use bytemuck::{AnyBitPattern, NoUninit};
use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Write};
use std::hash::BuildHasher;
use std::mem;
use std::panic::Location;
use std::rc::Rc;
use std::thread;
use std::time::Instant;

use foldhash::quality::FixedState;

/// The bytes of a collective's name when ranks have parted.
const NAME: usize = 248;

/// When the lengths asked for differ, an error names at most this many of the first.
const ASKED: usize = 8;

/// A rank's handle on all ranks of the job, from [`run`](crate::run).
///
/// Methods marked **(C)** are *collectives*: all ranks call them, in the same order, from the same
/// lines of the program. If some do not, the job ends.
///
/// A handle stays on its thread: closures run on other threads, where no collective may be called.
///
/// ```compile_fail,E0277
/// # tine_cluster::run_threads(1, |c| {
/// let v = c.generate(10, |i| i);
/// v.par_iter().map(|_| c.rank()).collect(); // a closure may not hold it
/// # Ok(()) }).unwrap();
/// ```
///
/// ```
/// tine_cluster::run_threads(3, |c| {
///     let squares = c.generate(100, |i| i * i);
///     assert_eq!(squares.par_iter().copied().sum::<usize>(), 328_350);
///     Ok(())
/// }).unwrap();
/// ```
#[derive(Clone)]
pub struct Cluster {
    inner: Rc<Inner>,
}

struct Inner {
    link: Box<dyn Link>,
    registry: Registry,
    limits: Limits,
    calls: Cell<u64>,
    stats: RefCell<Stats>,
    /// What was asked for without a collective, since the last header.
    asked: RefCell<Asked>,
    /// The collective that this rank is in.
    within: Cell<Option<(&'static str, Site)>>,
    /// Whether this rank waits in the engine.
    waiting: Cell<bool>,
    /// The reason why this rank no longer takes part in anything.
    over: RefCell<Option<Stop>>,
}

/// Lengths that must be the same on all ranks, in the same order.
#[derive(Default)]
struct Asked {
    hash: u64,
    first: Vec<usize>,
    more: usize,
}

impl Asked {
    fn note(&mut self, len: usize) {
        self.hash = FixedState::with_seed(4).hash_one((self.hash, len));
        match self.first.len() < ASKED {
            true => self.first.push(len),
            false => self.more += 1,
        }
    }
}

impl Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first.is_empty() {
            return f.write_str("nothing");
        }
        for (nth, len) in self.first.iter().enumerate() {
            let comma = if nth == 0 { "" } else { ", " };
            let noun = if *len == 1 { "item" } else { "items" };
            write!(f, "{comma}{len} {noun}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// How much may be under way at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes in a round of an exchange, and as many again where they arrive.
    pub(crate) round: usize,
    /// Bytes in one message.
    pub(crate) message: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            round: 256 << 20,
            message: 64 << 20,
        }
    }
}

/// Where in a program a collective is called.
pub(crate) type Site = &'static Location<'static>;

impl Cluster {
    pub(crate) fn new(link: Box<dyn Link>, limits: Limits) -> Self {
        Cluster {
            inner: Rc::new(Inner {
                link,
                registry: Registry::new(),
                limits,
                calls: Cell::new(0),
                stats: RefCell::new(Stats::default()),
                asked: RefCell::new(Asked::default()),
                within: Cell::new(None),
                waiting: Cell::new(false),
                over: RefCell::new(None),
            }),
        }
    }

    /// Which of the ranks this is, from 0 on.
    pub fn rank(&self) -> usize {
        self.inner.link.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.inner.link.size()
    }

    /// Whether this rank is rank 0.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// What connects the ranks: `one rank`, `threads` or `mpi`.
    pub fn engine(&self) -> &'static str {
        self.inner.link.name()
    }

    /// What this rank's collectives have cost so far.
    pub fn stats(&self) -> Stats {
        self.inner.stats.borrow().clone()
    }

    /// Lets values of `T` travel as their memory instead of as blocks that serde writes. All ranks
    /// call this, before they send any such value, and between the same two collectives; if some do
    /// not, the job ends in the next collective. Numbers, and pairs of them without padding, travel
    /// like this anyway.
    ///
    /// The bounds are the proof that it is safe; `bytemuck` derives them.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     c.plain::<[f32; 3]>();
    ///     let points = c.generate(10, |i| [i as f32; 3]);
    ///     assert_eq!(points.all_gather()[9], [9.0; 3]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn plain<T: NoUninit + AnyBitPattern>(&self) {
        self.inner.registry.tell::<T>();
    }

    pub(crate) fn form<T: 'static>(&self) -> Option<Plain<T>> {
        self.inner.registry.plain::<T>()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// Tells the others that this rank has failed.
    pub(crate) fn fail(&self, why: &str) {
        self.inner.link.fail(why);
    }

    /// Where a rank's part of `len` items begins if they are cut evenly for all ranks.
    pub(crate) fn cut(&self, len: usize, rank: usize) -> usize {
        (len as u128 * rank as u128 / self.size() as u128) as usize
    }

    /// Notes a length that must be the same on all ranks. The next header compares it.
    pub(crate) fn ask(&self, len: usize) {
        if self.size() > 1 {
            self.inner.asked.borrow_mut().note(len);
        }
    }

    /// Begins a collective, in which a `T` travels.
    pub(crate) fn enter<T: ?Sized>(&self, what: &'static str, site: Site, word: u64) -> Call<'_> {
        if let Some(why) = &*self.inner.over.borrow() {
            stop(why.clone());
        }
        if let Some((outer, at)) = self.inner.within.get() {
            let why = format!("`{what}` at {site} is called in the midst of `{outer}` at {at}");
            *self.inner.over.borrow_mut() = Some(Stop::Alone(why.clone()));
            stop(Stop::Alone(why));
        }
        let nth = self.inner.calls.get() + 1;
        self.inner.calls.set(nth);
        let mut call = self.call(what, site, vec![word]);
        let once = Counts {
            calls: 1,
            ..Counts::default()
        };
        self.inner.stats.borrow_mut().note(what, once);
        if self.size() == 1 {
            return call;
        }
        let asked = mem::take(&mut *self.inner.asked.borrow_mut());
        let alike = Alike {
            told: self.inner.registry.hash(),
            travels: type_name::<T>(),
            asked,
        };
        let place = (what, site.file(), site.line(), site.column());
        let place = (place, alike.words());
        let header = [nth, FixedState::with_seed(0).hash_one(place), word];
        let all = call.all_gather(&header);
        if all.chunks(3).any(|other| other[..2] != header[..2]) {
            call.part(nth, &alike);
        }
        call.words = all.chunks(3).map(|header| header[2]).collect();
        call
    }

    fn call(&self, what: &'static str, site: Site, words: Vec<u64>) -> Call<'_> {
        Call {
            cluster: self,
            what,
            site,
            outer: self.inner.within.replace(Some((what, site))),
            words,
            panicked: thread::panicking(),
        }
    }

    /// Waits until all ranks have come here. (C)
    #[track_caller]
    pub fn barrier(&self) {
        self.enter::<()>("barrier", Location::caller(), 0);
    }

    /// Makes an error on any rank an error on all ranks, so that all return together. (C)
    ///
    /// All ranks get the error of the first rank that has one. Without this call, a rank that
    /// returns an `Err` ends the job, which is right for errors that cannot be mended.
    ///
    /// ```
    /// tine_cluster::run_threads(4, |c| {
    ///     let opened = if c.rank() == 2 { Err("disk full") } else { Ok(c.rank()) };
    ///     let error = c.agree(opened).unwrap_err();
    ///     assert_eq!((error.agreed_rank(), error.to_string()), (Some(2), "disk full".into()));
    ///     assert_eq!(c.agree(Ok::<_, String>(7)).unwrap(), 7);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// # Errors
    /// If any rank has an error.
    #[track_caller]
    pub fn agree<T, E: Display>(&self, result: Result<T, E>) -> Result<T, Error> {
        let call = self.enter::<()>("agree", Location::caller(), u64::from(result.is_err()));
        call.agree(result)
    }

    /// Gives all ranks the value of rank 0. The other ranks' values are dropped. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let limit = c.broadcast(10 * (c.rank() + 1));
    ///     assert_eq!(limit, 10);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn broadcast<T: Travel>(&self, on_root: T) -> T {
        let call = self.enter::<T>("broadcast", Location::caller(), 0);
        if self.size() == 1 {
            return on_root;
        }
        let block = if self.is_root() {
            encode(&on_root)
        } else {
            Vec::new()
        };
        let block = call.broadcast(0, block);
        if self.is_root() {
            on_root
        } else {
            decode(&block)
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("engine", &self.engine())
            .field("rank", &self.rank())
            .field("size", &self.size())
            .finish()
    }
}

/// A collective that all ranks have entered.
pub(crate) struct Call<'c> {
    pub(crate) cluster: &'c Cluster,
    what: &'static str,
    site: Site,
    /// What the rank was in before: nothing, or the same collective.
    outer: Option<(&'static str, Site)>,
    /// The word that each rank brought.
    pub(crate) words: Vec<u64>,
    /// Whether the thread was unwinding when the call began.
    panicked: bool,
}

/// Notices a panic that leaves a call while the other ranks are still in it. If the body catches
/// the panic and goes on, this rank is not where the others are, and no header can find that out.
impl Drop for Call<'_> {
    fn drop(&mut self) {
        let inner = &self.cluster.inner;
        inner.within.set(self.outer);
        if !thread::panicking() || self.panicked || self.cluster.size() == 1 {
            return;
        }
        // The engine says a second time why it gives up.
        if !inner.waiting.replace(false) {
            let (what, site) = (self.what, self.site);
            inner.over.borrow_mut().get_or_insert_with(|| {
                Stop::Alone(format!(
                    "its body has caught a panic that came out of `{what}` at {site}, and cannot \
                     go on: the others may still be there"
                ))
            });
        }
    }
}

impl Call<'_> {
    /// Runs an operation of the engine, and counts it.
    fn meet<R>(&self, met: usize, op: impl FnOnce(&dyn Link) -> R) -> R {
        let inner = &self.cluster.inner;
        let begun = Instant::now();
        inner.waiting.set(true);
        let result = op(&*inner.link);
        inner.waiting.set(false);
        let more = Counts {
            rounds: 1,
            met: met as u64,
            waited: begun.elapsed(),
            ..Counts::default()
        };
        inner.stats.borrow_mut().note(self.what, more);
        result
    }

    /// Gives up for good.
    fn give_up(&self, why: Stop) -> ! {
        *self.cluster.inner.over.borrow_mut() = Some(why.clone());
        stop(why);
    }

    /// Room for what arrives.
    pub(crate) fn room(&self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.more_room(&mut bytes, size);
        bytes.resize(size, 0);
        bytes
    }

    /// Room for more items.
    pub(crate) fn more_room<T>(&self, items: &mut Vec<T>, more: usize) {
        if items.try_reserve_exact(more).is_err() {
            self.no_room(more.saturating_mul(size_of::<T>()));
        }
    }

    /// The sum of the words, which are lengths.
    pub(crate) fn total(&self) -> usize {
        self.words.iter().map(|&len| len as usize).sum()
    }

    /// Where each rank's items begin if the words are their lengths, and where they end.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let mut end = 0;
        let mut offsets = vec![0];
        offsets.extend(self.words.iter().map(|&len| {
            end += len as usize;
            end
        }));
        offsets
    }

    /// The first rank whose word is not that of rank 0. All ranks find the same.
    pub(crate) fn odd_rank(&self) -> Option<usize> {
        self.words.iter().position(|word| *word != self.words[0])
    }

    /// Gives up on all ranks if they have brought different words, which are hashes of an argument.
    pub(crate) fn same_word(&self, of: &str) {
        if let Some(odd) = self.odd_rank() {
            self.differ(&format!(
                "all ranks give the same {of}, but rank {odd} gives another than rank 0"
            ));
        }
    }

    /// An error of all ranks if they have brought different words, which are hashes of names.
    pub(crate) fn same_names(&self, other: &str) -> Result<(), Error> {
        match self.odd_rank() {
            Some(odd) => {
                let why = format!("rank {odd} names {other} than rank 0");
                Err(Error::agreed(odd, why))
            }
            None => Ok(()),
        }
    }

    /// Gives up if the words differ, which are an argument themselves.
    pub(crate) fn same_number(&self, of: &str) {
        if let Some(odd) = self.odd_rank() {
            let (theirs, first) = (self.words[odd], self.words[0]);
            self.differ(&format!(
                "all ranks give the same {of}, but rank {odd} gives {theirs} and rank 0 gives \
                 {first}"
            ));
        }
    }

    /// Gives up: all ranks know how they differ.
    fn differ(&self, how: &str) -> ! {
        let (what, site) = (self.what, self.site);
        self.give_up(Stop::Common(match what {
            THE_END => format!("at its end: {how}"),
            _ => format!("`{what}` at {site}: {how}"),
        }));
    }

    pub(crate) fn all_gather(&self, mine: &[u64]) -> Vec<u64> {
        self.meet(8 * mine.len(), |link| link.all_gather(mine))
    }

    /// The lengths of what each rank gives.
    pub(crate) fn lens(&self, mine: usize) -> Vec<usize> {
        let lens = self.all_gather(&[mine as u64]);
        lens.into_iter().map(|len| len as usize).collect()
    }

    /// Puts the bytes of all ranks, `lens[r]` of rank `r`, into `all`.
    pub(crate) fn all_gather_into(&self, mine: &[u8], lens: &[usize], all: &mut [u8]) {
        self.meet(mine.len(), |link| link.all_gather_bytes(mine, lens, all));
    }

    /// A value of each rank, on all ranks.
    pub(crate) fn all_gather_values<T: Travel>(&self, mine: T) -> Vec<T> {
        if self.cluster.size() == 1 {
            return vec![mine];
        }
        let me = self.cluster.rank();
        let mut values = Vec::with_capacity(self.cluster.size());
        let mut mine = Some(mine);
        let block = encode(mine.as_ref().expect("it is there until its turn"));
        self.each_block(&block, |rank, block| {
            let own = if rank == me { mine.take() } else { None };
            values.push(own.unwrap_or_else(|| decode(block)));
        });
        values
    }

    /// Shows `f` the block of each rank, in their order.
    pub(crate) fn each_block(&self, mine: &[u8], mut f: impl FnMut(usize, &[u8])) {
        let lens = self.lens(mine.len());
        let mut all = self.room(lens.iter().sum());
        self.all_gather_into(mine, &lens, &mut all);
        let mut rest = &all[..];
        for (rank, &len) in lens.iter().enumerate() {
            let (block, after) = rest.split_at(len);
            rest = after;
            f(rank, block);
        }
    }

    pub(crate) fn all_to_all(&self, mine: &[u64]) -> Vec<u64> {
        self.meet(8 * mine.len(), |link| link.all_to_all(mine))
    }

    pub(crate) fn all_sum(&self, words: &mut [u64]) {
        self.meet(8 * words.len(), |link| link.all_sum(words));
    }

    /// The bytes that `root` has.
    pub(crate) fn broadcast(&self, root: usize, mut bytes: Vec<u8>) -> Vec<u8> {
        let len = self.lens(bytes.len())[root];
        if self.cluster.rank() != root {
            bytes = self.room(len);
        }
        self.meet(0, |link| link.broadcast(root, &mut bytes));
        bytes
    }

    /// See [`Link::exchange`].
    pub(crate) fn exchange(&self, send: &[&[u8]], recv: &mut [&mut [u8]]) {
        let message = self.cluster.limits().message;
        let messages = self.meet(0, |link| link.exchange(send, recv, message));
        let more = Counts {
            messages,
            sent: send.iter().map(|bytes| bytes.len() as u64).sum(),
            ..Counts::default()
        };
        self.cluster.inner.stats.borrow_mut().note(self.what, more);
    }

    /// As [`Cluster::agree`]; the words say which rank has failed.
    fn agree<T, E: Display>(&self, result: Result<T, E>) -> Result<T, Error> {
        let Some(first) = self.words.iter().position(|&failed| failed != 0) else {
            return result.map_err(Error::new);
        };
        let message = match &result {
            Err(e) if first == self.cluster.rank() => e.to_string(),
            _ => String::new(),
        };
        let bytes = match self.cluster.size() {
            1 => message.into_bytes(),
            _ => self.broadcast(first, message.into_bytes()),
        };
        let message = String::from_utf8_lossy(&bytes).into_owned();
        Err(Error::agreed(first, message))
    }

    /// The same collective with other words.
    pub(crate) fn again(&self, word: u64) -> Call<'_> {
        let words = match self.cluster.size() {
            1 => vec![word],
            _ => self.all_gather(&[word]),
        };
        self.cluster.call(self.what, self.site, words)
    }

    /// Within a collective: an error on one rank becomes an error on all.
    pub(crate) fn settle<T, E: Display>(&self, result: Result<T, E>) -> Result<T, Error> {
        self.again(u64::from(result.is_err())).agree(result)
    }

    /// There is no memory for `bytes` bytes.
    pub(crate) fn no_room(&self, bytes: usize) -> ! {
        let (what, site) = (self.what, self.site);
        self.give_up(Stop::Alone(format!(
            "`{what}` at {site} wants room for {bytes} bytes, and there is none"
        )));
    }

    /// Ranks are in different collectives, or differ in something else that is to be alike: tells
    /// all of them how.
    fn part(&self, nth: u64, mine: &Alike) -> ! {
        let mut name = format!("`{}` at {} (collective {nth})", self.what, self.site);
        if self.what == THE_END {
            name = format!("at its end (after {} collectives)", nth - 1);
        }
        let mut bytes = name.into_bytes();
        bytes.truncate(NAME);
        let mut words = mine.words().to_vec();
        words.push(bytes.len() as u64);
        bytes.resize(NAME, 0);
        words.extend(bytes.chunks(8).map(|eight| {
            let eight: [u8; 8] = eight.try_into().expect("names are a multiple of eight");
            u64::from_le_bytes(eight)
        }));
        let all = self.all_gather(&words);
        let all: Vec<&[u64]> = all.chunks(words.len()).collect();
        let names: Vec<String> = all.iter().map(|words| name_of(&words[ALIKE..])).collect();
        if names.iter().any(|name| *name != names[0]) {
            self.give_up(Stop::Common(parted(&names)));
        }
        let texts = [
            (
                "all ranks register the same types by `plain`, but",
                "registered",
                self.cluster.inner.registry.names(),
            ),
            (
                "all ranks give the same type, but",
                "gives",
                mine.travels.to_owned(),
            ),
            (
                "all ranks call `generate` alike, but since the collective before",
                "asked for",
                mine.asked.to_string(),
            ),
        ];
        for (at, (rule, verb, text)) in texts.into_iter().enumerate() {
            if let Some(odd) = all.iter().position(|words| words[at] != all[0][at]) {
                let mut texts = Vec::new();
                self.each_block(text.as_bytes(), |_, text| {
                    texts.push(String::from_utf8_lossy(text).into_owned());
                });
                let (theirs, first) = (&texts[odd], &texts[0]);
                self.differ(&format!(
                    "{rule} rank {odd} {verb} {theirs} and rank 0 {verb} {first}"
                ));
            }
        }
        // The difference was cut off at the end of the names.
        self.give_up(Stop::Common(parted(&names)));
    }
}

/// What must be alike on all ranks, besides the place.
struct Alike {
    /// A hash of the types told to `plain`.
    told: u64,
    /// The name of the type that travels.
    travels: &'static str,
    asked: Asked,
}

/// The words of [`Alike`].
const ALIKE: usize = 3;

impl Alike {
    fn words(&self) -> [u64; ALIKE] {
        let travels = FixedState::with_seed(5).hash_one(self.travels);
        [self.told, travels, self.asked.hash]
    }
}

/// The name of the last collective.
pub(crate) const THE_END: &str = "the end";

fn name_of(words: &[u64]) -> String {
    let bytes: Vec<u8> = words[1..].iter().flat_map(|w| w.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes[..words[0] as usize]).into_owned()
}

/// `ranks 0, 2 are in …, rank 1 is …`
fn parted(names: &[String]) -> String {
    let mut different: Vec<&String> = Vec::new();
    for name in names {
        if !different.contains(&name) {
            different.push(name);
        }
    }
    let mut text = String::from("the ranks have parted");
    let mut link = ": ";
    for name in different {
        let there: Vec<usize> = (0..names.len()).filter(|&r| names[r] == *name).collect();
        let few: Vec<String> = there.iter().take(4).map(usize::to_string).collect();
        let more = there.len() - few.len();
        let (noun, verb) = if there.len() == 1 {
            ("rank", "is")
        } else {
            ("ranks", "are")
        };
        let place = if name.starts_with('`') { " in" } else { "" };
        write!(text, "{link}{noun} {}", few.join(", ")).expect("a string takes all");
        if more > 0 {
            write!(text, " and {more} more").expect("a string takes all");
        }
        write!(text, " {verb}{place} {name}").expect("a string takes all");
        link = "; ";
    }
    text
}

/// Programs that the compiler refuses: a handle in a closure of a pipeline, on another thread, in a
/// static. The first program here does the same without the handle, and compiles.
///
/// ```
/// tine_cluster::run_threads(1, |c| {
///     let rank = c.rank();
///     tine::join(|| rank, || ());
///     std::thread::scope(|s| drop(s.spawn(move || rank)));
///     Ok(())
/// }).unwrap();
/// static NAME: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
/// ```
/// ```compile_fail,E0277
/// tine_cluster::run_threads(1, |c| {
///     tine::join(|| c.rank(), || ());
///     Ok(())
/// }).unwrap();
/// ```
/// ```compile_fail,E0277
/// tine_cluster::run_threads(1, |c| {
///     let c = c.clone();
///     std::thread::scope(|s| drop(s.spawn(move || c.rank())));
///     Ok(())
/// }).unwrap();
/// ```
/// ```compile_fail,E0277
/// static NAME: std::sync::OnceLock<tine_cluster::Cluster> = std::sync::OnceLock::new();
/// ```
#[cfg(doctest)]
struct Refused;

#[cfg(test)]
mod tests {
    use super::{Cluster, parted};

    /// Compiles only if the handle is neither `Send` nor `Sync`; otherwise two traits would fit.
    #[test]
    fn a_handle_stays_on_its_thread() {
        struct ByNature;
        struct AsSend;
        struct AsSync;
        trait Which<A> {
            fn which() {}
        }
        impl<T: ?Sized> Which<ByNature> for T {}
        impl<T: ?Sized + Send> Which<AsSend> for T {}
        impl<T: ?Sized + Sync> Which<AsSync> for T {}
        <Cluster as Which<_>>::which();
    }

    #[test]
    fn those_who_parted_are_named() {
        let mut names = vec!["`sum` at x.rs:9:3 (collective 4)".to_owned(); 7];
        names[1] = "at its end (after 3 collectives)".to_owned();
        assert_eq!(
            parted(&names),
            "the ranks have parted: ranks 0, 2, 3, 4 and 2 more are in `sum` at x.rs:9:3 \
             (collective 4); rank 1 is at its end (after 3 collectives)"
        );
    }
}

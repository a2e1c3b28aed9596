//! A dense set of small numbers, one bit each, that many threads fill at once.
#![forbid(unsafe_code)]

use std::fmt;
use std::iter::FusedIterator;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};

use tine_iter::iter::plumbing::UnindexedConsumer;
use tine_iter::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelExtend, ParallelIterator,
};

/// The numbers that a word holds.
const BITS: usize = u64::BITS as usize;

/// A set of numbers below a bound, one bit each. Many threads insert and remove at once.
///
/// It serves for the nodes seen in a search of a graph, for sieves, for marks. If several threads
/// insert the same number at once, [`insert`](ParBitSet::insert) returns `true` to exactly one of
/// them. A thread may find a number here, by [`contains`](ParBitSet::contains) or by inserting it
/// too. Then it sees what the inserting thread wrote before the insertion. A thread that finds a
/// number gone sees what the removing thread wrote before the removal.
///
/// ```
/// use tine::ParBitSet;
/// use tine::prelude::*;
///
/// let squares = ParBitSet::new(1000);
/// (0..100_usize).into_par_iter().for_each(|n| {
///     squares.insert(n * n % 1000);
/// });
/// assert!(squares.contains(49) && !squares.contains(50));
/// assert_eq!(squares.par_iter().min(), Some(0));
/// ```
pub struct ParBitSet {
    words: Box<[AtomicU64]>,
    /// Numbers are below this.
    bound: usize,
}

impl ParBitSet {
    /// An empty set of numbers below `bound`, of one bit for each. As with a `Vec`, the program ends if there is no memory for
    /// them.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// assert!(ParBitSet::new(100).is_empty());
    /// ```
    #[inline]
    pub fn new(bound: usize) -> Self {
        let words = (0..bound.div_ceil(BITS)).map(|_| AtomicU64::new(0));
        ParBitSet {
            words: words.collect(),
            bound,
        }
    }

    /// The bound: all numbers are less.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// assert_eq!(ParBitSet::new(100).bound(), 100);
    /// ```
    pub fn bound(&self) -> usize {
        self.bound
    }

    #[inline]
    #[track_caller]
    fn place(&self, number: usize) -> (&AtomicU64, u64) {
        let bound = self.bound;
        assert!(
            number < bound,
            "number {number} in a set whose numbers are below {bound}"
        );
        (&self.words[number / BITS], 1 << (number % BITS))
    }

    /// Adds a number. Returns whether it was missing.
    ///
    /// # Panics
    ///
    /// If the number is not below the bound.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let set = ParBitSet::new(10);
    /// assert!(set.insert(3));
    /// assert!(!set.insert(3));
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert(&self, number: usize) -> bool {
        let (word, bit) = self.place(number);
        // Acquire: with the Release of the thread that inserted it. Reading first lets other threads keep their
        // copy of the word.
        if word.load(Acquire) & bit != 0 {
            return false;
        }
        // Release: for `contains`, and for threads that insert it again. Acquire: with the thread
        // that removed it.
        let before = word.fetch_or(bit, AcqRel);
        before & bit == 0
    }

    /// Removes a number. Returns whether it was there.
    ///
    /// # Panics
    ///
    /// If the number is not below the bound.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let set = ParBitSet::new(10);
    /// set.insert(3);
    /// assert!(set.remove(3));
    /// assert!(!set.remove(3));
    /// ```
    #[inline]
    #[track_caller]
    pub fn remove(&self, number: usize) -> bool {
        let (word, bit) = self.place(number);
        // Acquire: with the Release of the thread that removed it.
        if word.load(Acquire) & bit == 0 {
            return false;
        }
        // Release: for a thread that finds it gone. Acquire: with the thread that inserted it.
        let before = word.fetch_and(!bit, AcqRel);
        before & bit != 0
    }

    /// Whether a number is there. A number not below the bound never is.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let set = ParBitSet::new(10);
    /// set.insert(3);
    /// assert!(set.contains(3) && !set.contains(4) && !set.contains(1000));
    /// ```
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        // Acquire: with the Release of the thread that inserted or removed it.
        number < self.bound && self.words[number / BITS].load(Acquire) >> (number % BITS) & 1 != 0
    }

    /// How many numbers there are. Counts them, in parallel.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let set = ParBitSet::new(10);
    /// set.insert(3);
    /// set.insert(9);
    /// assert_eq!(set.count(), 2);
    /// ```
    #[inline]
    pub fn count(&self) -> usize {
        let words = self.words.par_iter();
        // Acquire: with the Release of the threads that inserted the counted numbers.
        words
            .map(|word| word.load(Acquire).count_ones() as usize)
            .sum()
    }

    /// Whether there are no numbers.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let set = ParBitSet::new(10);
    /// set.insert(3);
    /// assert!(!set.is_empty());
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Acquire: with the Release of the thread that removed the last number.
        self.words.iter().all(|word| word.load(Acquire) == 0)
    }

    /// Removes all numbers, in parallel.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let mut set = ParBitSet::new(10);
    /// set.insert(3);
    /// set.clear();
    /// assert!(set.is_empty());
    /// ```
    #[inline]
    pub fn clear(&mut self) {
        self.words
            .par_iter_mut()
            .for_each(|word| *word.get_mut() = 0);
    }

    /// Adds all numbers of another set, in parallel.
    ///
    /// # Panics
    ///
    /// If the bounds differ.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let (mut a, b) = (ParBitSet::new(10), ParBitSet::new(10));
    /// a.insert(1);
    /// b.insert(2);
    /// a.union_with(&b);
    /// assert!(a.iter().eq([1, 2]));
    /// ```
    #[track_caller]
    #[inline]
    pub fn union_with(&mut self, other: &ParBitSet) {
        self.change_with(other, |ours, theirs| ours | theirs);
    }

    /// Keeps only the numbers that are also in another set, in parallel.
    ///
    /// # Panics
    ///
    /// If the bounds differ.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let (mut a, b) = (ParBitSet::new(10), ParBitSet::new(10));
    /// a.extend([1, 2]);
    /// b.insert(2);
    /// a.intersect_with(&b);
    /// assert!(a.iter().eq([2]));
    /// ```
    #[track_caller]
    #[inline]
    pub fn intersect_with(&mut self, other: &ParBitSet) {
        self.change_with(other, |ours, theirs| ours & theirs);
    }

    /// Removes all numbers of another set, in parallel.
    ///
    /// # Panics
    ///
    /// If the bounds differ.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let (mut a, b) = (ParBitSet::new(10), ParBitSet::new(10));
    /// a.extend([1, 2]);
    /// b.insert(2);
    /// a.difference_with(&b);
    /// assert!(a.iter().eq([1]));
    /// ```
    #[track_caller]
    #[inline]
    pub fn difference_with(&mut self, other: &ParBitSet) {
        self.change_with(other, |ours, theirs| ours & !theirs);
    }

    #[track_caller]
    fn change_with(&mut self, other: &ParBitSet, change: impl Fn(u64, u64) -> u64 + Sync + Send) {
        let (bound, theirs) = (self.bound, other.bound);
        assert!(
            bound == theirs,
            "the sets have different bounds, {bound} and {theirs}"
        );
        let pairs = self.words.par_iter_mut().zip(other.words.par_iter());
        // Acquire: with the Release of the thread that inserted or removed it there.
        pairs.for_each(|(word, other)| {
            *word.get_mut() = change(*word.get_mut(), other.load(Acquire))
        });
    }

    /// The numbers, in order. Those inserted and removed meanwhile may be missed.
    ///
    /// ```
    /// use tine::ParBitSet;
    ///
    /// let set = ParBitSet::new(10);
    /// set.insert(7);
    /// set.insert(3);
    /// assert!(set.iter().eq([3, 7]));
    /// ```
    pub fn iter(&self) -> impl FusedIterator<Item = usize> + '_ {
        (0..self.words.len()).flat_map(|at| self.in_word(at))
    }

    /// The numbers, in order, in parallel. Those inserted and removed meanwhile may be missed.
    ///
    /// ```
    /// use tine::ParBitSet;
    /// use tine::prelude::*;
    ///
    /// let set = ParBitSet::new(10);
    /// set.insert(7);
    /// set.insert(3);
    /// assert_eq!(set.par_iter().collect::<Vec<_>>(), [3, 7]);
    /// ```
    #[inline]
    pub fn par_iter(&self) -> Iter<'_> {
        Iter { set: self }
    }

    /// The numbers of one word.
    fn in_word(&self, at: usize) -> impl Iterator<Item = usize> + use<> {
        // Acquire: with the Release of the threads that inserted them.
        let mut left = self.words[at].load(Acquire);
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left = left.checked_sub(1)? & left;
            Some(at * BITS + bit as usize)
        })
    }
}

impl fmt::Debug for ParBitSet {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A copy. For numbers that change meanwhile, it may have the state before or after.
impl Clone for ParBitSet {
    #[inline]
    fn clone(&self) -> Self {
        // Acquire: with the Release of the threads that inserted them.
        let words = self
            .words
            .iter()
            .map(|word| AtomicU64::new(word.load(Acquire)));
        ParBitSet {
            words: words.collect(),
            bound: self.bound,
        }
    }
}

/// Whether the numbers are the same, whatever the bounds.
impl PartialEq for ParBitSet {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ParBitSet {}

impl Extend<usize> for ParBitSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, numbers: I) {
        numbers
            .into_iter()
            .for_each(|number| _ = self.insert(number));
    }
}

impl ParallelExtend<usize> for ParBitSet {
    fn par_extend<I: IntoParallelIterator<Item = usize>>(&mut self, numbers: I) {
        let numbers = numbers.into_par_iter();
        numbers.for_each(|number| _ = self.insert(number));
    }
}

impl<'s> IntoParallelIterator for &'s ParBitSet {
    type Item = usize;
    type Iter = Iter<'s>;

    fn into_par_iter(self) -> Iter<'s> {
        self.par_iter()
    }
}

/// Parallel iterator over the numbers of a [`ParBitSet`].
///
/// ```
/// use tine::{ParBitSet, bits::Iter};
/// use tine::prelude::*;
///
/// let set = ParBitSet::new(10);
/// let numbers: Iter<'_> = set.par_iter();
/// assert_eq!(numbers.count(), 0);
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy"]
pub struct Iter<'s> {
    set: &'s ParBitSet,
}

impl ParallelIterator for Iter<'_> {
    type Item = usize;

    const KEEPS_ALL: bool = true;

    #[inline]
    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        let words = (0..self.set.words.len()).into_par_iter();
        words
            .flat_map_iter(|at| self.set.in_word(at))
            .drive_unindexed(consumer)
    }
}

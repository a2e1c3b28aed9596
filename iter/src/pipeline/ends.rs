//! The methods that run a pipeline.
#![forbid(unsafe_code)]

use super::build::Pipeline;
use super::outcome::{Ending, Fails, Sure};
use super::parallel::{Then, Whole};
use super::serial::{Gather, Serial, ThenSerial};
use super::stages::{Run, Stages};
use super::station::End;
use std::io::{self, Write};
use std::iter::{Sum, empty, once};

/// How many bytes are gathered before they are written.
const GATHERED: usize = 64 << 10;

impl<L, X> Pipeline<L, X>
where
    X: Ending,
    L: Run<X::Error>,
{
    /// Runs everything to its end; what comes out of the last stage is dropped.
    ///
    /// ```
    /// let mut sum = 0;
    /// tine::pipeline(1..=4, 8).map(|n| n * n).in_order(|n| sum += n).run();
    /// assert_eq!(sum, 30);
    /// ```
    pub fn run(self) -> X::Result<()> {
        let orders = self.orders();
        X::give((), self.stages.run(End, orders).error)
    }

    /// Calls `op` with each item, in order, one call at a time.
    ///
    /// ```
    /// let mut text = String::new();
    /// tine::pipeline(0..5, 4).map(|n| n.to_string()).for_each(|n| text += &n);
    /// assert_eq!(text, "01234");
    /// ```
    pub fn for_each<F: FnMut(L::Item) + Send>(self, op: F) -> X::Result<()> {
        let orders = self.orders();
        let stage = Serial { op };
        let stages = ThenSerial::in_order(self.stages, stage);
        X::give((), stages.run(End, orders).error)
    }

    /// Folds the items, in order, into one value.
    ///
    /// ```
    /// let digits = tine::pipeline(1..=4, 4).map(|n| n * 2);
    /// assert_eq!(digits.fold(0, |number, digit| 10 * number + digit), 2468);
    /// ```
    pub fn fold<B, F>(self, init: B, mut op: F) -> X::Result<B>
    where
        B: Send,
        F: FnMut(B, L::Item) -> B + Send,
    {
        let mut value = Some(init);
        let orders = self.orders();
        let stage = Serial {
            op: |item| value = value.take().map(|value| op(value, item)),
        };
        let stages = ThenSerial::in_order(self.stages, stage);
        let error = stages.run(End, orders).error;
        let value = value.expect("the value is put back after each call that returns");
        X::give(value, error)
    }

    /// Collects the items, in order.
    ///
    /// ```
    /// let doubled: Vec<i32> = tine::pipeline([3, 1, 2], 2).map(|n| 2 * n).collect();
    /// assert_eq!(doubled, [6, 2, 4]);
    /// ```
    pub fn collect<C: Default + Extend<L::Item> + Send>(self) -> X::Result<C> {
        let mut collection = C::default();
        let orders = self.orders();
        let into = Into(&mut collection);
        let stages = ThenSerial::in_order(self.stages, Gather { into });
        let error = stages.run(End, orders).error;
        X::give(collection, error)
    }

    /// How many items come out of the last stage.
    ///
    /// ```
    /// assert_eq!(tine::pipeline(0..100, 8).filter(|n| n % 3 == 0).count(), 34);
    /// ```
    pub fn count(self) -> X::Result<usize> {
        let one_more = |n, _| n + 1;
        self.fold_parts(|| 0, one_more)
            .fold(0, |all, part| all + part)
    }

    /// The sum of all items. Items that travel together are added up in parallel.
    ///
    /// ```
    /// assert_eq!(tine::pipeline(1..=100_u32, 8).sum::<u32>(), 5050);
    /// ```
    pub fn sum<T>(self) -> X::Result<T>
    where
        T: Sum<L::Item> + Sum<T> + Send,
    {
        let op = |items: &mut dyn Iterator<Item = L::Item>| items.sum::<T>();
        let parts: Pipeline<_, X> = self.with(|base| Then::new(base, Whole { op }));
        let nothing = empty::<L::Item>().sum();
        parts.fold(nothing, |all: T, part: T| once(all).chain(once(part)).sum())
    }

    /// Reduces all items to one by `op`, in order; items that travel together are reduced in
    /// parallel. `op` must be associative, and `identity` must make a neutral value of `op`.
    ///
    /// ```
    /// let words = tine::pipeline(["a", "b", "c"], 8).map(str::to_owned);
    /// assert_eq!(words.reduce(String::new, |all, word| all + &word), "abc");
    /// ```
    pub fn reduce<N, F>(self, identity: N, op: F) -> X::Result<L::Item>
    where
        N: Fn() -> L::Item + Send + Sync,
        F: Fn(L::Item, L::Item) -> L::Item + Send + Sync,
    {
        self.fold_parts(&identity, &op).fold(identity(), &op)
    }
}

/// A collection that is extended and not owned.
struct Into<'c, C>(&'c mut C);

impl<T, C: Extend<T>> Extend<T> for Into<'_, C> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<L: Stages> Pipeline<L, Sure> {
    /// Writes all items, in order, and returns how many bytes those were. Small items are gathered
    /// and written together.
    ///
    /// ```
    /// let mut text = Vec::new();
    /// let written = tine::pipeline(1..=3, 8).map(|n| format!("{n}\n")).write_to(&mut text);
    /// assert_eq!(written.unwrap(), 6);
    /// assert_eq!(text, b"1\n2\n3\n");
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of `writer`; nothing is written after it.
    pub fn write_to<W: Write + Send>(self, writer: W) -> io::Result<u64>
    where
        L: Run<io::Error>,
        L::Item: AsRef<[u8]>,
    {
        self.with::<_, Fails<io::Error>>(|base| base)
            .write_to(writer)
    }
}

impl<L: Run<E>, E: Send> Pipeline<L, Fails<E>> {
    /// Writes all items, in order, and returns how many bytes those were. Small items are gathered
    /// and written together.
    ///
    /// ```
    /// use std::io;
    ///
    /// let mut text = Vec::new();
    /// let outcome = tine::pipeline(["1", "2", "x", "4"], 8)
    ///     .try_map(|word| word.parse::<u32>().map_err(io::Error::other))
    ///     .map(|n| format!("{n}\n"))
    ///     .write_to(&mut text);
    /// assert!(outcome.is_err());
    /// assert_eq!(text, b"1\n2\n"); // what came before the error
    /// ```
    ///
    /// # Errors
    ///
    /// The first error in order, of the stages or of `writer`. What comes before an error of a
    /// stage is written.
    pub fn write_to<W: Write + Send>(self, writer: W) -> Result<u64, E>
    where
        E: From<io::Error>,
        L::Item: AsRef<[u8]>,
    {
        let mut gathered = Gathered::new(writer);
        let outcome = self.try_for_each(|item| Ok(gathered.write(item.as_ref())?));
        if !gathered.failed {
            gathered.finish()?;
        }
        outcome.map(|()| gathered.bytes)
    }
}

/// A writer, and what is not written yet.
struct Gathered<W> {
    writer: W,
    small: Vec<u8>,
    bytes: u64,
    failed: bool,
}

impl<W: Write> Gathered<W> {
    fn new(writer: W) -> Self {
        Gathered {
            writer,
            small: Vec::new(),
            bytes: 0,
            failed: false,
        }
    }

    fn write(&mut self, item: &[u8]) -> io::Result<()> {
        if self.small.len() + item.len() > GATHERED {
            self.spill()?;
        }
        self.bytes += item.len() as u64;
        if item.len() < GATHERED {
            self.small.extend_from_slice(item);
            return Ok(());
        }
        let outcome = self.writer.write_all(item);
        self.failed |= outcome.is_err();
        outcome
    }

    fn spill(&mut self) -> io::Result<()> {
        // Stays set unless the write goes well.
        self.failed = true;
        self.writer.write_all(&self.small)?;
        self.failed = false;
        self.small.clear();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.spill()?;
        self.writer.flush()
    }
}

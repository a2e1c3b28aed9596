//! Strings and byte vectors. Comparing them means waiting for memory, since each element points somewhere else.
//! So all threads fetch the next eight bytes of every element once, and the elements are sorted by these bytes
//! as words. Elements with equal words are sorted further by the bytes behind them.

use super::radix::keyed;
use super::{fork, stable};

/// Shorter slices are better off with a comparison sort.
pub(super) const SHORTEST: usize = if cfg!(miri) { 64 } else { 2048 };
/// If more elements than this share a word, they are sorted by the next word.
const LONG: usize = 1024;
/// After this many words, elements that are still equal are compared: in some inputs each word tells only a few
/// apart.
const WORDS: u32 = 12;

/// An element that is ordered by its bytes.
pub(super) trait Bytes: Send + Sync {
    fn bytes(&self) -> &[u8];
}

macro_rules! bytes {
    ($($type:ty)*) => {$(
        impl Bytes for $type {
            #[inline]
            fn bytes(&self) -> &[u8] {
                self.as_ref()
            }
        }
    )*};
}
bytes!(String &str Vec<u8> &[u8] Box<[u8]>);

impl Bytes for Box<str> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Sorts by bytes, stably. Returns `false` if there is no memory for it.
pub(super) fn sort<T: Bytes>(v: &mut [T]) -> bool {
    let threads = keyed::threads(v.len());
    let common = common_prefix(v, threads);
    sort_from(v, common, WORDS, threads)
}

/// Sorts elements that have their first `depth` bytes in common, by at most `words` words before they are
/// compared.
fn sort_from<T: Bytes>(v: &mut [T], depth: usize, words: u32, threads: usize) -> bool {
    let word = |value: &T| word_at(value.bytes(), depth);
    let ties = |tied: &mut [T]| {
        let word = word(&tied[0]);
        let compare = |a: &T, b: &T| tail(a, depth).cmp(tail(b, depth));
        // A word without a zero byte does not reach the end of a string, so each element has all of it.
        let whole = !word.to_be_bytes().contains(&0);
        if tied.len() <= LONG || !whole || words == 0 {
            return stable::sort_by(tied, &compare);
        }
        let common = common_prefix(tied, 1).max(depth + 8);
        if !sort_from(tied, common, words - 1, threads) {
            stable::sort_by(tied, &compare);
        }
    };
    keyed::sort::<false, _, _, _, _>(v, threads, &word, Some(&ties))
}

fn tail<T: Bytes>(value: &T, depth: usize) -> &[u8] {
    &value.bytes()[depth..]
}

/// The eight bytes from `depth` on as a number with the same order; zeros stand for bytes behind the end.
#[inline]
fn word_at(bytes: &[u8], depth: usize) -> u64 {
    let rest = &bytes[depth..];
    match rest.first_chunk::<8>() {
        Some(word) => u64::from_be_bytes(*word),
        None => {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(word)
        }
    }
}

/// The number of bytes that all of `v` begin with. If there are none, as in most inputs, a sample finds that
/// out and ends the search.
fn common_prefix<T: Bytes>(v: &[T], threads: usize) -> usize {
    const SAMPLE: usize = 32;
    let first = v[0].bytes();
    let shared = |so_far: usize, value: &T| {
        let pairs = first[..so_far].iter().zip(value.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let sample = v.iter().step_by((v.len() / SAMPLE).max(1));
    let guess = sample.fold(first.len(), shared);
    if guess == 0 {
        return 0;
    }
    fork::fold(
        v,
        fork::grain(v.len(), threads),
        &|piece: &[T]| piece.iter().fold(guess, shared),
        &usize::min,
    )
}

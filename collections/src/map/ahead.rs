//! Keys that are hashed some places ahead of their lookup, so that their memory is fetched in time.
#![forbid(unsafe_code)]

use std::iter::{Fuse, FusedIterator};
use std::mem;

/// How many keys are drawn ahead.
const AHEAD: usize = 8;

/// Keys to look up, each with its hash, in their order. `expect` hashes a key and fetches what its lookup will read.
pub(super) struct Ahead<'k, Q: ?Sized, I, F> {
    keys: Fuse<I>,
    expect: F,
    /// Keys that wait for memory, the next of them at `at`. The ring is full until no keys are left
    /// to draw.
    ring: [Option<(u64, &'k Q)>; AHEAD],
    at: usize,
}

impl<'k, Q, I, F> Ahead<'k, Q, I, F>
where
    Q: ?Sized,
    I: Iterator<Item = &'k Q>,
    F: Fn(&Q) -> u64,
{
    /// Draws the first keys.
    pub(super) fn new(keys: impl IntoIterator<IntoIter = I>, expect: F) -> Self {
        let mut ahead = Ahead {
            keys: keys.into_iter().fuse(),
            expect,
            ring: [None; AHEAD],
            at: 0,
        };
        for nth in 0..AHEAD {
            ahead.ring[nth] = ahead.draw();
        }
        ahead
    }

    #[inline]
    fn draw(&mut self) -> Option<(u64, &'k Q)> {
        let key = self.keys.next()?;
        Some(((self.expect)(key), key))
    }
}

impl<'k, Q, I, F> Iterator for Ahead<'k, Q, I, F>
where
    Q: ?Sized,
    I: Iterator<Item = &'k Q>,
    F: Fn(&Q) -> u64,
{
    type Item = (u64, &'k Q);

    #[inline]
    fn next(&mut self) -> Option<(u64, &'k Q)> {
        let drawn = self.draw();
        let waited = mem::replace(&mut self.ring[self.at], drawn)?;
        self.at = (self.at + 1) % AHEAD;
        Some(waited)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let waiting = self.ring.iter().flatten().count();
        let (least, most) = self.keys.size_hint();
        let most = most.and_then(|most| most.checked_add(waiting));
        (least.saturating_add(waiting), most)
    }

    #[inline]
    fn fold<A, G: FnMut(A, Self::Item) -> A>(self, start: A, mut f: G) -> A {
        let (expect, mut ring, mut at) = (self.expect, self.ring, self.at);
        let all = self.keys.fold(start, |all, key| {
            let waited = ring[at].replace((expect(key), key));
            at = (at + 1) % AHEAD;
            match waited {
                Some(waited) => f(all, waited),
                None => all,
            }
        });
        ring.rotate_left(at);
        ring.into_iter().flatten().fold(all, f)
    }
}

/// After the last key, `next` draws from a fused iterator, and the ring is empty.
impl<'k, Q, I, F> FusedIterator for Ahead<'k, Q, I, F>
where
    Q: ?Sized,
    I: Iterator<Item = &'k Q>,
    F: Fn(&Q) -> u64,
{
}

//! A stage as seen by the chunks that come by.
#![forbid(unsafe_code)]

use super::hub::{Held, Post};

/// Which chunk it is, and how many items of the source it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    pub(super) at: usize,
    pub(super) weight: usize,
}

/// A stage with all that follow it, as it stands while the pipeline runs.
pub trait Station<T, E>: Sync {
    /// What each member keeps for the stage: buffers.
    type Local: Default;

    /// Whether nothing follows.
    const LAST: bool = false;

    /// A chunk comes by: it goes as far as it can. The items are made as they are asked for, with no
    /// lock held.
    fn pass<'h>(
        &self,
        post: &Post<'h, E>,
        local: &mut Self::Local,
        tag: Tag,
        items: impl Iterator<Item = T>,
    ) -> Held<'h, E>;

    /// Takes a ready chunk, from the last stage that has one before it, and takes it as far as it
    /// can go. Says whether there was such a chunk.
    fn advance<'h>(
        &self,
        post: &Post<'h, E>,
        local: &mut Self::Local,
        state: Held<'h, E>,
    ) -> (Held<'h, E>, bool);
}

/// Behind the last stage.
#[derive(Debug)]
pub(super) struct End;

impl<T, E> Station<T, E> for End {
    type Local = ();

    const LAST: bool = true;

    fn pass<'h>(
        &self,
        post: &Post<'h, E>,
        (): &mut (),
        tag: Tag,
        items: impl Iterator<Item = T>,
    ) -> Held<'h, E> {
        items.for_each(drop);
        let mut state = post.lock();
        state.free += tag.weight;
        state
    }

    fn advance<'h>(&self, _: &Post<'h, E>, (): &mut (), state: Held<'h, E>) -> (Held<'h, E>, bool) {
        (state, false)
    }
}

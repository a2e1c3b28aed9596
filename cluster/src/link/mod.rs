//! What an engine has to be able to do: bytes and words between ranks.
//!
//! Three of them: one rank (`alone`), ranks that are threads (`threads`), and
//! MPI (`mpi`). All that is above speaks to [`Link`] alone. Every method but
//! [`fail`](Link::fail) is a collective: all ranks call the same ones in the same
//! order, with the sizes that the contract names, and `Cluster::enter` sees to it
//! that a program in which they do not ends before it gets here.

pub(crate) mod alone;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;
pub(crate) mod threads;

/// One rank's end of the engine.
pub(crate) trait Link {
    /// `one rank`, `threads` or `mpi`.
    fn name(&self) -> &'static str;
    fn rank(&self) -> usize;
    fn size(&self) -> usize;

    /// The words of all ranks, in their order. All give equally many.
    fn all_gather(&self, mine: &[u64]) -> Vec<u64>;

    /// The bytes of all ranks, in their order; rank `r` gives `lens[r]`.
    fn all_gather_bytes(&self, mine: &[u8], lens: &[usize]) -> Vec<u8>;

    /// Word `d` of each rank goes to rank `d`; returns them in the senders' order.
    fn all_to_all(&self, mine: &[u64]) -> Vec<u64>;

    /// Adds up, place by place, the words of all ranks, which give equally many.
    fn all_sum(&self, words: &mut [u64]);

    /// Gives to all what `root` has.
    fn broadcast(&self, root: usize, bytes: &mut [u8]);

    /// Sends `send[d]` to rank `d` and fills `recv[s]` with what rank `s` sends,
    /// which is exactly so much; in messages of at most `message` bytes. What a
    /// rank has for itself is empty. Returns how many messages it sent.
    fn exchange(&self, send: &[&[u8]], recv: &mut [&mut [u8]], message: usize) -> u64;

    /// Ends the other ranks: this one has failed. The caller ends this one.
    fn fail(&self, why: &str);
}

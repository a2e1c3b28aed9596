//! What an engine must provide: bytes and words between ranks.
//!
//! There are three engines: one rank (`alone`), ranks that are threads (`threads`), and MPI
//! (`mpi`). All code above speaks only to [`Link`]. Every method but [`fail`](Link::fail) is a
//! collective: all ranks call the same ones in the same order, with the sizes that the contract
//! names. `Cluster::enter` ends a program that does not, before it gets here.

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

    /// The words of all ranks, in the order of the ranks. All give equally many.
    fn all_gather(&self, mine: &[u64]) -> Vec<u64>;

    /// Puts the bytes of all ranks into `all`, in the order of the ranks; rank `r` gives `lens[r]`.
    fn all_gather_bytes(&self, mine: &[u8], lens: &[usize], all: &mut [u8]);

    /// Word `d` of each rank goes to rank `d`; returns them in the senders' order.
    fn all_to_all(&self, mine: &[u64]) -> Vec<u64>;

    /// Adds up, place by place, the words of all ranks. All give equally many.
    fn all_sum(&self, words: &mut [u64]);

    /// Gives all ranks the bytes of `root`.
    fn broadcast(&self, root: usize, bytes: &mut [u8]);

    /// Sends `send[d]` to rank `d`, and fills `recv[s]` with what rank `s` sends. The lengths match
    /// exactly. A message has at most `message` bytes. A rank's part for itself is empty. Returns
    /// the number of messages it sent.
    fn exchange(&self, send: &[&[u8]], recv: &mut [&mut [u8]], message: usize) -> u64;

    /// Ends the other ranks: this one has failed. The caller ends this one.
    fn fail(&self, why: &str);
}

//! What may happen.
#![forbid(unsafe_code)]

/// What a thread may be busy with for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// An ordinary thread works on a seat.
    Guest,
    /// A job runs that was stolen, spawned or sent.
    Run,
    /// A thread waits for something of its own, and helps meanwhile.
    Wait,
    /// A thread without work looks for some.
    Search,
    /// It sleeps.
    Sleep,
}

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A span begins.
    Begin(Act),
    /// The innermost span of this kind ends.
    End(Act),
    /// A job was taken from that seat.
    Steal(usize),
    /// The thread of that seat was woken.
    Wake(usize),
    /// This many jobs of joins and loops were put on offer.
    Offer(usize),
}

/// Something that happened: when, in nanoseconds since the recording began, and on which seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since the recording began.
    pub at: u64,
    /// The seat that the thread held, or called.
    pub seat: usize,
    /// What it was.
    pub what: What,
}

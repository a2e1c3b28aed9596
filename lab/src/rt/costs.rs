//! What everything costs, and the shape of the machine: the whole cost model is in this file.
//!
//! Times are nanoseconds here, picoseconds within the machine. Each figure can be changed from the
//! command line (`--set name=value`), and `sensitivity` halves and doubles each in turn.
//!
//! Where a figure comes from:
//! * **[M]** measured on the machine at hand, 2 vCPUs of an AMD EPYC, by `tine-lab real costs`;
//! * **[P]** published measurements of core-to-core latency and cache latency for servers of the
//!   size that is computed here: Zen 4 (Genoa) has 16–25 ns within a CCX, 80–120 ns across CCDs
//!   and 180–220 ns across sockets; Sapphire Rapids has 50–80 ns within a socket and 120–160 ns
//!   across. One figure for a socket stands between the two;
//! * **[G]** a guess, for want of a source. Conclusions must not hang on these.

/// The figures, in nanoseconds unless said otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// \[M\] An access to a line that the core has, with the few instructions around it.
    pub(crate) hit: f64,
    /// \[M\] A locked instruction on a line that the core has alone.
    pub(crate) rmw: f64,
    /// \[M\] A full fence with an empty store buffer.
    pub(crate) fence: f64,
    /// \[P\] A line that another core of the socket has changed.
    pub(crate) near: f64,
    /// \[P\] A line that cores of the socket share, by a look into the shared cache.
    pub(crate) shared: f64,
    /// \[P\] A line from another socket.
    pub(crate) far: f64,
    /// \[G\] How long a line is busy with one reader when many fetch it at once.
    pub(crate) reader: f64,
    /// \[P\] The number of missing loads that overlap if nothing waits in between, and of missing stores. (On the
    /// machine at hand 9 to 16 loads and 15 to 20 stores: `load`, `loads` and `stores` of `real costs`.)
    pub(crate) overlap: f64,
    /// \[P\] The time's worth of stores that a store buffer holds before the core waits.
    pub(crate) buffer: f64,
    /// \[P\] One `pause` (Zen 4: 43 cycles; Sapphire Rapids: 140).
    pub(crate) pause: f64,
    /// \[M\] A `sched_yield` where no other thread can run.
    pub(crate) yields: f64,
    /// \[M\] A look at the clock.
    pub(crate) clock: f64,
    /// \[M\] Any system call on the way in.
    pub(crate) call: f64,
    /// \[M\] What waking a thread costs the waker, with the three calls that keep the thread off
    /// its core.
    pub(crate) wake: f64,
    /// \[M\] From the wake to the first instruction, on a core that was idle for a short time.
    pub(crate) warm: f64,
    /// \[P\] The same on a core in deep sleep.
    pub(crate) cold: f64,
    /// \[P\] The time after which an idle core sleeps deeply.
    pub(crate) deep: f64,
    /// \[M\] Starting a thread, for the starter.
    pub(crate) spawn: f64,
    /// \[M\] From the start to the first instruction.
    pub(crate) start: f64,
    /// \[M\] A barrier for all threads: an interrupt for each running core.
    pub(crate) barrier: f64,
    /// \[P\] How late Linux lets a timer be.
    pub(crate) slack: f64,
    /// \[P\] How long a thread keeps its core from one that waits for it (Linux' base slice).
    pub(crate) slice: f64,
    /// \[P\] A switch from one thread to another on the same core.
    pub(crate) switch: f64,
    /// Not a cost: threads whose clocks are apart by less than this may touch what they own in
    /// any order.
    pub(crate) order: f64,
    /// Not a cost: the second-level cache of each core in KB, for rows whose computing time is measured.
    /// With 0 all threads share that of the one real core.
    pub(crate) cache: f64,
    /// Not a cost: how much transfers vary, as a part of their time; the seed decides.
    pub(crate) jitter: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            hit: 0.6,
            rmw: 5.0,
            fence: 8.0,
            near: 50.0,
            shared: 30.0,
            far: 150.0,
            reader: 4.0,
            overlap: 6.0,
            buffer: 1_000.0,
            pause: 40.0,
            yields: 400.0,
            clock: 20.0,
            call: 500.0,
            wake: 3_000.0,
            warm: 5_000.0,
            cold: 30_000.0,
            deep: 200_000.0,
            spawn: 20_000.0,
            start: 40_000.0,
            barrier: 5_000.0,
            slack: 50_000.0,
            slice: 3_000_000.0,
            switch: 1_500.0,
            order: 20.0,
            cache: 512.0,
            jitter: 0.25,
        }
    }
}

impl Costs {
    /// `order` for rows whose computing time is measured: threads take turns less often, since after each
    /// turn the one real core has to find its stream of input again, and a cache of its own would not prevent
    /// that.
    pub(crate) const ORDER_MEASURED: f64 = 1_000.0;

    /// The same for rows whose threads run blocks of one loop, each on its own table. A block takes 1 to 4 µs
    /// there. With turns of 1 µs, each block began on a real core that was cold, which cost more than the block;
    /// and since items seemed expensive, blocks became shorter.
    pub(crate) const ORDER_OF_BLOCKS: f64 = 10_000.0;

    /// The figures that are costs, by name.
    pub(crate) const NAMES: [&'static str; 23] = [
        "hit", "rmw", "fence", "near", "shared", "far", "reader", "overlap", "buffer", "pause",
        "yields", "clock", "call", "wake", "warm", "cold", "deep", "spawn", "start", "barrier",
        "slack", "slice", "switch",
    ];

    /// The figure of this name.
    pub(crate) fn get(&mut self, name: &str) -> Option<&mut f64> {
        Some(match name {
            "hit" => &mut self.hit,
            "rmw" => &mut self.rmw,
            "fence" => &mut self.fence,
            "near" => &mut self.near,
            "shared" => &mut self.shared,
            "far" => &mut self.far,
            "reader" => &mut self.reader,
            "overlap" => &mut self.overlap,
            "buffer" => &mut self.buffer,
            "pause" => &mut self.pause,
            "yields" => &mut self.yields,
            "clock" => &mut self.clock,
            "call" => &mut self.call,
            "wake" => &mut self.wake,
            "warm" => &mut self.warm,
            "cold" => &mut self.cold,
            "deep" => &mut self.deep,
            "spawn" => &mut self.spawn,
            "start" => &mut self.start,
            "barrier" => &mut self.barrier,
            "slack" => &mut self.slack,
            "slice" => &mut self.slice,
            "switch" => &mut self.switch,
            "order" => &mut self.order,
            "cache" => &mut self.cache,
            "jitter" => &mut self.jitter,
            _ => return None,
        })
    }
}

/// Cores in sockets of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Topology {
    pub(crate) sockets: usize,
    pub(crate) each: usize,
}

impl Topology {
    pub(crate) const MOST: usize = 128;

    /// From `64` (sockets of 32, as far as needed) or `2x32`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let topology = match text.split_once('x') {
            Some((sockets, each)) => Self {
                sockets: sockets.parse().ok()?,
                each: each.parse().ok()?,
            },
            None => {
                let cores: usize = text.parse().ok()?;
                let sockets = cores.div_ceil(32);
                Self {
                    sockets,
                    each: cores.checked_div(sockets)?,
                }
            }
        };
        (1..=Self::MOST)
            .contains(&topology.cores())
            .then_some(topology)
    }

    pub(crate) fn cores(self) -> usize {
        self.sockets * self.each
    }

    /// The cores of the socket in which this one is, a bit each.
    pub(crate) fn socket(self, core: usize) -> u128 {
        let first = core / self.each * self.each;
        let ones = if self.each == 128 {
            u128::MAX
        } else {
            (1 << self.each) - 1
        };
        ones << first
    }
}

//! What collectives cost on many ranks, computed: the tables of
//! `docs/cluster_growth.md`.
//!
//!     cargo run -p tine-cluster --example growth
//!
//! `p` ranks, `m` items of 8 bytes on each, a network of `G` bytes a second and a
//! latency of `L`. The test `growth` counts messages, rounds and bytes against
//! the same formulas up to 256 ranks.

/// Bytes a second: 10 Gbit/s.
const G: f64 = 1.25e9;
/// Seconds for one message.
const L: f64 = 20e-6;
/// Seconds to compare an offer with one item, and threads that do.
const STEP: f64 = 90e-9;
const THREADS: f64 = 16.0;

fn main() {
    println!(
        "| p | m | header | offers a round | splitters | messages | bytes in each | exchange | memory |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for p in [100.0, 1000.0, 4000.0_f64] {
        for m in [1e6, 1e8_f64] {
            // A gathering: log2 p messages, and the bytes of all.
            let gathering = |bytes: f64| L * p.log2() + p * bytes / G;
            let header = gathering(24.0);
            let offers = 32.0 * (p - 1.0);
            let rounds = ((p * m).log2() / 4.6).ceil();
            let counting = offers * m.log2() * STEP / THREADS;
            let round =
                gathering(24.0 * offers / p) + counting + 2.0 * L * p.log2() + 8.0 * offers / G;
            let splitters = rounds * round;
            let messages = (p - 1.0) * (8.0 * m / p / 64e6).ceil();
            let each = 8.0 * m / p;
            // Eight partners are under way at once: latencies overlap.
            let exchange = (messages * L / 8.0).max(8.0 * m * (p - 1.0) / p / G);
            println!(
                "| {p} | {m:.0e} | {:.2} ms | {offers:.0} | {rounds} × {:.1} ms = {:.0} ms | {messages:.0} | {each:.0} | {:.0} ms | {:.0} MB |",
                header * 1e3,
                round * 1e3,
                splitters * 1e3,
                exchange * 1e3,
                3.0 * 8.0 * m / 1e6,
            );
        }
    }
}

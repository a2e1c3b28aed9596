//! What the pool says of the tour: its counters, in words.

use crate::screen::{Tour, grouped};

pub(crate) fn give(tour: &Tour) {
    let Some(stats) = tine::stats() else {
        return;
    };
    let all = stats.total();
    let seats = stats.seats.len();
    let times = |n: u64, what: &str| match n {
        0 => format!("never {what}"),
        1 => format!("{what} once"),
        n => format!("{what} {} times", grouped(n)),
    };
    let refused = match stats.refused_threads {
        0 => "The system refused no thread.".to_owned(),
        n => format!("The system refused {n} threads."),
    };
    tour.say("\n");
    tour.say(&format!(
        "What the pool did meanwhile (tine::stats): {seats} seats ran {} jobs that came from \
         elsewhere, {} of them stolen from another seat; joins and loops put {} jobs where others \
         could take them, and kept the rest to themselves. The main thread {} as a guest, which \
         costs no wake-up. Threads {} for want of work, and were {}. {refused}",
        grouped(all.jobs),
        grouped(all.stolen),
        grouped(all.published),
        times(all.guests, "took a seat"),
        times(all.parks, "went to sleep"),
        times(all.wakes, "woken"),
    ));
}

//! Spans of time, made of their beginnings and ends.
#![forbid(unsafe_code)]

use tine_pool::trace::{Act, Event, What};

/// For how long a thread was at something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) act: Act,
    pub(super) seat: usize,
    pub(super) from: u64,
    pub(super) to: u64,
    /// The number of spans that it lies within.
    pub(super) depth: usize,
    /// How much of it lies within spans inside it.
    pub(super) inner: u64,
}

impl Span {
    /// Its time less that of the spans within it.
    fn own(&self) -> u64 {
        (self.to - self.from).saturating_sub(self.inner)
    }
}

/// The spans of one thread, in the order of their beginnings. A span that began before the
/// recording begins with it; one that is still open ends with it.
pub(super) fn pair(events: &[Event], took: u64) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for event in events {
        match event.what {
            What::Begin(act) => {
                open.push(spans.len());
                spans.push(Span {
                    act,
                    seat: event.seat,
                    from: event.at,
                    to: took,
                    depth: open.len() - 1,
                    inner: 0,
                });
            }
            What::End(act) => match open.iter().rposition(|&at| spans[at].act == act) {
                Some(nth) => {
                    open.drain(nth..).for_each(|at| spans[at].to = event.at);
                }
                None => wrap(&mut spans, &mut open, act, event),
            },
            What::Steal(_) | What::Wake(_) | What::Offer(_) => {}
        }
    }
    count_inner(&mut spans);
    spans
}

/// Closes a span whose beginning was not recorded: it holds all spans that are closed so far.
fn wrap(spans: &mut Vec<Span>, open: &mut [usize], act: Act, end: &Event) {
    open.iter_mut().for_each(|at| *at += 1);
    spans.iter_mut().for_each(|span| span.depth += 1);
    let whole = Span {
        act,
        seat: end.seat,
        from: 0,
        to: end.at,
        depth: 0,
        inner: 0,
    };
    spans.insert(0, whole);
}

/// Fills in what part of each span lies within spans one deeper.
fn count_inner(spans: &mut [Span]) {
    let mut above: Vec<usize> = Vec::new();
    for at in 0..spans.len() {
        let Span {
            from, to, depth, ..
        } = spans[at];
        above.truncate(depth);
        if let Some(&parent) = above.last() {
            spans[parent].inner += to - from;
        }
        above.push(at);
    }
}

/// Time spent at `act` and nothing within it.
pub(super) fn alone(spans: &[Span], act: Act) -> u64 {
    let at_it = spans.iter().filter(|span| span.act == act);
    at_it.map(Span::own).sum()
}

/// When a thread begins to work (1) and stops working (-1), in any order. A span that is not work is a
/// pause if it lies within a span that is.
fn turns(spans: &[Span]) -> Vec<(u64, i64)> {
    let mut turns = Vec::new();
    let mut above: Vec<i64> = Vec::new();
    for span in spans {
        let works = i64::from(matches!(span.act, Act::Guest | Act::Run));
        above.truncate(span.depth);
        let change = works - above.last().unwrap_or(&0);
        turns.extend([(span.from, change), (span.to, -change)]);
        above.push(works);
    }
    turns
}

/// For how much of the time `took` at most one of the threads with these spans worked.
pub(super) fn one_at_most<'a>(threads: impl Iterator<Item = &'a [Span]>, took: u64) -> u64 {
    let mut turns: Vec<(u64, i64)> = threads.flat_map(turns).collect();
    turns.push((took, 0));
    turns.sort_unstable();
    let (mut at_work, mut since, mut all) = (0, 0, 0);
    for (at, change) in turns {
        if at_work <= 1 {
            all += at.saturating_sub(since);
        }
        at_work += change;
        since = at;
    }
    all
}

/// Time spent working.
pub(super) fn busy(spans: &[Span]) -> u64 {
    alone(spans, Act::Guest) + alone(spans, Act::Run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, what: What) -> Event {
        Event { at, seat: 3, what }
    }

    #[test]
    fn nested_spans_are_paired_and_their_time_is_their_own() {
        let events = [
            event(10, What::Begin(Act::Guest)),
            event(20, What::Begin(Act::Wait)),
            event(25, What::Steal(1)),
            event(26, What::Begin(Act::Run)),
            event(36, What::End(Act::Run)),
            event(40, What::End(Act::Wait)),
            event(50, What::End(Act::Guest)),
        ];
        let spans = pair(&events, 60);
        let what: Vec<_> = spans
            .iter()
            .map(|s| (s.act, s.from, s.to, s.depth))
            .collect();
        let expected = [
            (Act::Guest, 10, 50, 0),
            (Act::Wait, 20, 40, 1),
            (Act::Run, 26, 36, 2),
        ];
        assert_eq!(what, expected);
        assert_eq!(alone(&spans, Act::Wait), 10);
        assert_eq!(busy(&spans), 20 + 10);
    }

    #[test]
    fn time_of_one_thread_is_that_in_which_no_two_work() {
        let one = [
            event(0, What::Begin(Act::Guest)),
            event(20, What::Begin(Act::Wait)),
            event(26, What::Begin(Act::Run)),
            event(36, What::End(Act::Run)),
            event(40, What::End(Act::Wait)),
            event(60, What::End(Act::Guest)),
        ];
        let other = [
            event(10, What::Begin(Act::Run)),
            event(30, What::End(Act::Run)),
            event(30, What::Begin(Act::Sleep)),
            event(50, What::End(Act::Sleep)),
        ];
        let (one, other) = (pair(&one, 70), pair(&other, 70));
        let both = [&one[..], &other[..]];
        // Two work from 10 to 20 and from 26 to 30.
        assert_eq!(one_at_most(both.into_iter(), 70), 70 - 10 - 4);
        assert_eq!(one_at_most([&one[..]].into_iter(), 70), 70);
        assert_eq!(one_at_most([&one[..], &one[..]].into_iter(), 60), 10);
        assert_eq!(one_at_most([].into_iter(), 5), 5);
    }

    #[test]
    fn what_began_earlier_begins_with_the_recording_and_what_is_open_ends_with_it() {
        let events = [
            event(5, What::End(Act::Sleep)),
            event(9, What::End(Act::Search)),
            event(9, What::Begin(Act::Run)),
        ];
        let spans = pair(&events, 30);
        let what: Vec<_> = spans
            .iter()
            .map(|s| (s.act, s.from, s.to, s.depth))
            .collect();
        let expected = [
            (Act::Search, 0, 9, 0),
            (Act::Sleep, 0, 5, 1),
            (Act::Run, 9, 30, 0),
        ];
        assert_eq!(what, expected);
        assert_eq!(alone(&spans, Act::Search), 4);
        assert_eq!(busy(&spans), 21);
    }
}

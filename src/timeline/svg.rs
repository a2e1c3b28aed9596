//! A picture of a recording: a row for each thread, a colour for each thing that a thread may be doing.
//!
//! ```text
//!  What the threads did: 12.3 ms in all, 1.62 cores busy on average
//!  name   ┌──────────────────────────────────────┐  busy
//!  name   ├──────────────────────────────────────┤  busy
//!         0        axis        axis           took
//! ```
//!
//! A wake-up is shown from the call to its effect. There is a red disc on the row of the thread
//! that called, a red line from there to the sleeper's row, and in that row a light red bar until
//! the sleeper runs. The longer that bar, the later the wake-up came. A steal is a dark triangle:
//! the two marks differ in shape, for readers who cannot tell the colours apart.
//!
//! Spans narrower than half a pixel are drawn together with their neighbours, so that the picture
//! of a million jobs is no larger than that of a thousand.
#![forbid(unsafe_code)]

use crate::timeline::chrome::name_of;
use crate::timeline::lanes::{Lane, Timeline};
use crate::timeline::spans::Span;
use std::fmt::Write;
use tine_pool::trace::{Act, What};

const LEFT: f64 = 150.0;
const WIDTH: f64 = 1000.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 72.0;
const ROW: f64 = 34.0;
const BAR: f64 = 22.0;
/// Nothing narrower is drawn by itself.
const THIN: f64 = 0.5;
/// A thread that has been woken but still sleeps.
const WAKING: &str = "#f29b9b";
/// The background: where nothing is drawn, the thread was not in a pool.
const OUTSIDE: &str = "#ffffff";
const ACTS: [Act; 5] = [Act::Guest, Act::Run, Act::Wait, Act::Search, Act::Sleep];

/// The picture.
pub(super) fn draw(timeline: &Timeline) -> String {
    let mut svg = String::new();
    let took = timeline.took.max(1);
    let height = TOP + ROW * timeline.lanes.len() as f64 + 40.0;
    let width = LEFT + WIDTH + RIGHT;
    add(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ),
    );
    title(&mut svg, timeline);
    if timeline.lanes.is_empty() {
        add(
            &mut svg,
            format_args!(
                "<text x=\"{LEFT}\" y=\"{}\">Nothing was recorded: no thread did anything in a \
                 pool.</text>\n</svg>\n",
                TOP + 10.0
            ),
        );
        return svg;
    }
    legend(&mut svg);
    axis(&mut svg, took, height);
    let tops = || (0..).map(|nth| TOP + ROW * f64::from(nth));
    for (lane, y) in timeline.lanes.iter().zip(tops()) {
        row(&mut svg, lane, y, took);
    }
    for wake in wakes(&timeline.lanes) {
        wake_up(&mut svg, &wake, took);
    }
    for (lane, y) in timeline.lanes.iter().zip(tops()) {
        marks(&mut svg, lane, y, took);
    }
    svg.push_str("</svg>\n");
    svg
}

fn add(svg: &mut String, what: std::fmt::Arguments<'_>) {
    svg.write_fmt(what).expect("a String takes it");
}

fn colour(act: Act) -> &'static str {
    match act {
        Act::Guest => "#2f6fb4",
        Act::Run => "#3a9a57",
        Act::Wait => "#d9b44a",
        Act::Search => "#e2762f",
        Act::Sleep => "#d7dbe0",
    }
}

/// What is drawn, and the totals.
fn title(svg: &mut String, timeline: &Timeline) {
    let busy: u64 = timeline.lanes.iter().map(|lane| lane.busy).sum();
    let cores = busy as f64 / timeline.took.max(1) as f64;
    add(
        svg,
        format_args!(
            "<text x=\"{LEFT}\" y=\"20\" font-size=\"15\">What the threads did: {:.1?} in all, \
             {cores:.2} cores busy on average</text>\n",
            timeline.took()
        ),
    );
}

fn legend(svg: &mut String) {
    let mut x = 10.0;
    let acts = ACTS.map(|act| (colour(act), name_of(act)));
    let others = [
        (WAKING, "woken, not there yet"),
        (OUTSIDE, "outside the pool"),
    ];
    for (fill, name) in acts.into_iter().chain(others) {
        add(
            svg,
            format_args!(
                "<rect x=\"{x}\" y=\"34\" width=\"12\" height=\"12\" fill=\"{fill}\" \
                 stroke=\"#b6bcc4\"/><text x=\"{}\" y=\"44\">{name}</text>\n",
                x + 17.0
            ),
        );
        x += 34.0 + 5.9 * name.len() as f64;
    }
    for (mark, name) in [(STEAL, "takes a job"), (WAKE, "wakes a thread")] {
        add(
            svg,
            format_args!(
                "<path d=\"M{x} 46 {}\" fill=\"{}\"/><text x=\"{}\" y=\"44\">{name}</text>\n",
                mark.0,
                mark.1,
                x + 10.0
            ),
        );
        x += 34.0 + 5.9 * name.len() as f64;
    }
}

/// The shapes of the moments, drawn from their lowest point, and their colours.
const STEAL: (&str, &str) = ("l-4 -8 h8 z", "#14532d");
const WAKE: (&str, &str) = ("a4 4 0 1 1 0.1 0 z", "#b91c1c");

/// Lines at round times.
fn axis(svg: &mut String, took: u64, height: f64) {
    let step = round_step(took);
    for at in (0..=took / step).map(|nth| nth * step) {
        let x = place(at, took);
        add(
            svg,
            format_args!(
                "<path d=\"M{x:.1} {} V{}\" stroke=\"#eceff3\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{}</text>\n",
                TOP - 8.0,
                height - 30.0,
                height - 14.0,
                in_words(at)
            ),
        );
    }
}

/// A step of 1, 2 or 5 times a power of ten: about eight steps make up `took`.
fn round_step(took: u64) -> u64 {
    let mut power = 1;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if took / step <= 10 {
                return step;
            }
        }
        power *= 10;
    }
}

fn in_words(nanos: u64) -> String {
    match nanos {
        0 => "0".to_owned(),
        n if n < 1_000 => format!("{n} ns"),
        n if n < 1_000_000 => format!("{} µs", n as f64 / 1e3),
        n if n < 1_000_000_000 => format!("{} ms", n as f64 / 1e6),
        n => format!("{} s", n as f64 / 1e9),
    }
}

fn place(at: u64, took: u64) -> f64 {
    LEFT + WIDTH * (at as f64 / took as f64)
}

fn row(svg: &mut String, lane: &Lane, y: f64, took: u64) {
    let share = 100.0 * lane.busy as f64 / took as f64;
    add(
        svg,
        format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
         <text x=\"{}\" y=\"{}\">{share:.0} %</text>\n",
            LEFT - 8.0,
            y + 16.0,
            escaped(&lane.name),
            LEFT + WIDTH + 8.0,
            y + 16.0
        ),
    );
    let deepest = lane.spans.iter().map(|span| span.depth).max().unwrap_or(0);
    for depth in 0..=deepest {
        let spans = lane.spans.iter().filter(|span| span.depth == depth);
        bars(svg, spans, y, took);
    }
}

/// The marks of a row, which lie on top of everything.
fn marks(svg: &mut String, lane: &Lane, y: f64, took: u64) {
    for moment in &lane.moments {
        let ((shape, fill), words) = match moment.what {
            What::Steal(from) => (STEAL, format!("takes a job from seat {from}")),
            What::Wake(whom) => (WAKE, format!("wakes seat {whom}")),
            What::Begin(_) | What::End(_) | What::Offer(_) => continue,
        };
        add(
            svg,
            format_args!(
                "<path d=\"M{:.1} {y} {shape}\" fill=\"{fill}\"><title>{words} at {}</title></path>\n",
                place(moment.at, took),
                in_words(moment.at)
            ),
        );
    }
}

/// A sleep that another thread ended.
#[derive(Debug, PartialEq)]
struct Wake {
    /// The row of the thread that ended it, and when.
    by: usize,
    at: u64,
    /// The row of the sleeper, and when it ran.
    whom: usize,
    there: u64,
}

/// The sleeps, of all rows, that another thread ended: the last call to a sleeping seat counts.
fn wakes(lanes: &[Lane]) -> Vec<Wake> {
    let mut calls = Vec::new();
    for (by, lane) in lanes.iter().enumerate() {
        calls.extend(lane.moments.iter().filter_map(|moment| match moment.what {
            What::Wake(seat) => Some((seat, moment.at, by)),
            _ => None,
        }));
    }
    calls.sort_unstable();
    let mut wakes = Vec::new();
    for (whom, lane) in lanes.iter().enumerate() {
        for sleep in lane.spans.iter().filter(|span| span.act == Act::Sleep) {
            let later =
                calls.partition_point(|&(seat, at, _)| (seat, at) <= (sleep.seat, sleep.to));
            let last = later.checked_sub(1).map(|nth| calls[nth]);
            if let Some((_, at, by)) =
                last.filter(|call| call.0 == sleep.seat && call.1 >= sleep.from)
            {
                let there = sleep.to;
                wakes.push(Wake {
                    by,
                    at,
                    whom,
                    there,
                });
            }
        }
    }
    wakes
}

/// A line to the sleeper, and how long the sleeper took to run.
fn wake_up(svg: &mut String, wake: &Wake, took: u64) {
    let row = |nth: usize| TOP + ROW * nth as f64;
    let (x, end) = (place(wake.at, took), place(wake.there, took));
    let (from, to) = match wake.by < wake.whom {
        true => (row(wake.by), row(wake.whom) + BAR),
        false => (row(wake.by) + BAR, row(wake.whom)),
    };
    add(
        svg,
        format_args!(
            "<rect x=\"{x:.2}\" y=\"{}\" width=\"{:.2}\" height=\"{BAR}\" fill=\"{WAKING}\">\
             <title>there {} after it was woken</title></rect>\n\
             <path d=\"M{x:.1} {from} V{to}\" stroke=\"{}\" stroke-width=\"0.8\"/>\n",
            row(wake.whom),
            (end - x).max(THIN),
            in_words(wake.there - wake.at),
            WAKE.1,
        ),
    );
}

/// Draws spans that do not overlap. Neighbours too narrow to be seen are drawn as one.
fn bars<'a>(svg: &mut String, spans: impl Iterator<Item = &'a Span>, y: f64, took: u64) {
    let mut together: Option<(Span, usize)> = None;
    for span in spans {
        if let Some((whole, count)) = &mut together {
            let gap = place(span.from, took) - place(whole.to, took);
            let narrow = place(span.to, took) - place(whole.from, took) < 4.0 * THIN;
            if span.act == whole.act && gap < THIN && narrow {
                (whole.to, *count) = (span.to, *count + 1);
                continue;
            }
            bar(svg, whole, *count, y, took);
        }
        together = Some((*span, 1));
    }
    if let Some((whole, count)) = together {
        bar(svg, &whole, count, y, took);
    }
}

fn bar(svg: &mut String, span: &Span, count: usize, y: f64, took: u64) {
    let (x, end) = (place(span.from, took), place(span.to, took));
    let times = if count > 1 {
        format!(", {count} times")
    } else {
        String::new()
    };
    add(
        svg,
        format_args!(
            "<rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{BAR}\" fill=\"{}\">\
         <title>{} on seat {}{times}: {} from {}</title></rect>\n",
            (end - x).max(THIN),
            colour(span.act),
            name_of(span.act),
            span.seat,
            in_words(span.to - span.from),
            in_words(span.from)
        ),
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_of_nothing_says_so() {
        let svg = draw(&Timeline::new(5_000, Vec::new(), None));
        assert!(svg.contains("Nothing was recorded"), "{svg}");
        assert!(svg.ends_with("</svg>\n"));
    }

    #[test]
    fn a_picture_has_a_title_with_the_total_and_marks_of_two_shapes() {
        let what = [
            (0, What::Begin(Act::Guest)),
            (1_000, What::Wake(1)),
            (2_000, What::Steal(1)),
            (4_000_000, What::End(Act::Guest)),
        ];
        let lane = trace::Lane {
            name: Some("main".to_owned()),
            events: what.map(|(at, what)| Event { at, seat: 0, what }).to_vec(),
            missed: 0,
            longest_block: 0,
        };
        let svg = draw(&Timeline::new(8_000_000, vec![lane], Some("main")));
        assert!(svg.contains("8.0ms in all, 0.50 cores busy"), "{svg}");
        assert!(svg.contains("outside the pool"));
        assert_ne!(STEAL.0, WAKE.0);
        // once in the legend, once in the row
        assert_eq!(svg.matches(STEAL.0).count(), 2);
        assert_eq!(svg.matches(WAKE.0).count(), 2);
    }
    use tine_pool::trace::{self, Event};

    #[test]
    fn the_axis_has_round_steps() {
        assert_eq!(round_step(9), 1);
        assert_eq!(round_step(100), 10);
        assert_eq!(round_step(450), 50);
        assert_eq!(round_step(1_999), 200);
    }

    #[test]
    fn a_wake_up_is_drawn_from_the_call_until_the_sleeper_is_there() {
        let lane = |seat, begins: &[(u64, What)]| {
            let events = begins.iter().map(|&(at, what)| Event { at, seat, what });
            Lane::new(
                trace::Lane {
                    name: None,
                    events: events.collect(),
                    missed: 0,
                    longest_block: 0,
                },
                100,
            )
        };
        let caller = lane(
            0,
            &[
                (10, What::Wake(1)),
                (30, What::Wake(1)),
                (90, What::Wake(1)),
            ],
        );
        let sleep = [(20, What::Begin(Act::Sleep)), (50, What::End(Act::Sleep))];
        let expected = Wake {
            by: 0,
            at: 30,
            whom: 1,
            there: 50,
        };
        assert_eq!(wakes(&[caller, lane(1, &sleep)]), [expected]);
    }

    #[test]
    fn many_narrow_spans_are_drawn_as_few() {
        let spans: Vec<_> = (0..100_000)
            .map(|n| Span {
                act: Act::Run,
                seat: 0,
                from: n * 10,
                to: n * 10 + 8,
                depth: 0,
                inner: 0,
            })
            .collect();
        let mut svg = String::new();
        bars(&mut svg, spans.iter(), 0.0, 1_000_000);
        assert!(svg.matches("<rect").count() < 2 * WIDTH as usize);
    }
}

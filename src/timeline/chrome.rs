//! The trace event format of `chrome://tracing` and Perfetto.
#![forbid(unsafe_code)]

use crate::timeline::lanes::{Lane, Timeline};
use std::fmt::Write;
use tine_pool::trace::{Act, What};

/// The recording as JSON.
pub(super) fn trace(timeline: &Timeline) -> String {
    let mut events = Vec::new();
    for (nth, lane) in timeline.lanes.iter().enumerate() {
        add_lane(nth, lane, &mut events);
    }
    format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

fn add_lane(nth: usize, lane: &Lane, events: &mut Vec<String>) {
    let name = quoted(&lane.name);
    events.push(format!(
        r#"{{"name":"thread_name","ph":"M","pid":1,"tid":{nth},"args":{{"name":{name}}}}}"#
    ));
    for span in &lane.spans {
        events.push(format!(
            r#"{{"name":"{}","cat":"tine","ph":"X","ts":{},"dur":{},"pid":1,"tid":{nth},"args":{{"seat":{}}}}}"#,
            name_of(span.act),
            micros(span.from),
            micros(span.to - span.from),
            span.seat,
        ));
    }
    for moment in &lane.moments {
        let what = match moment.what {
            What::Steal(from) => format!("steal from seat {from}"),
            What::Wake(whom) => format!("wake seat {whom}"),
            What::Offer(count) => format!("offer {count}"),
            What::Begin(_) | What::End(_) => continue,
        };
        events.push(format!(
            r#"{{"name":"{what}","cat":"tine","ph":"i","s":"t","ts":{},"pid":1,"tid":{nth}}}"#,
            micros(moment.at),
        ));
    }
}

/// What the pictures call it.
pub(super) fn name_of(act: Act) -> &'static str {
    match act {
        Act::Guest => "works as a guest",
        Act::Run => "runs a job",
        Act::Wait => "waits",
        Act::Search => "searches",
        Act::Sleep => "sleeps",
    }
}

/// Nanoseconds as microseconds, to the nanosecond.
fn micros(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => write!(quoted, "\\u{:04x}", u32::from(c)).expect("a String takes it"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a\"b\\c\n"), r#""a\"b\\c\u000a""#);
    }

    #[test]
    fn times_keep_their_nanoseconds() {
        assert_eq!(micros(1_234_005), "1234.005");
    }
}

//! Extract, transform, load, in bounded memory: readings of many sensors become a report.
//!
//! `etl [READINGS]` has a source that makes READINGS records (300,000 by default) on demand, as a
//! network would. They are parsed and converted in parallel; smoothed in order, since each depends on
//! the previous record of the same sensor; formatted in parallel; and written in order. At most 4096
//! records are under way at any time. A record that cannot be parsed ends the pipeline.

use std::collections::HashMap;
use std::env;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

const UNDER_WAY: usize = 4096;

struct Reading {
    sensor: u32,
    celsius: f64,
}

fn parse(record: &str) -> io::Result<Reading> {
    let wrong = || io::Error::other(format!("no reading: {record:?}"));
    let (sensor, fahrenheit) = record.split_once(';').ok_or_else(wrong)?;
    let fahrenheit: f64 = fahrenheit.parse().map_err(|_| wrong())?;
    Ok(Reading {
        sensor: sensor.parse().map_err(|_| wrong())?,
        celsius: (fahrenheit - 32.0) / 1.8,
    })
}

/// The running mean of each sensor.
#[derive(Default)]
struct Means(HashMap<u32, f64>);

impl Means {
    fn smooth(&mut self, reading: Reading) -> Reading {
        let mean = self.0.entry(reading.sensor).or_insert(reading.celsius);
        *mean += (reading.celsius - *mean) / 8.0;
        Reading {
            celsius: *mean,
            ..reading
        }
    }
}

fn format(reading: &Reading) -> String {
    format!("{:05} {:+.3}\n", reading.sensor, reading.celsius)
}

fn records(count: u64) -> impl Iterator<Item = String> + Send {
    (0..count).map(|n| {
        let bits = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        format!("{};{}", bits % 1000, 20.0 + (bits >> 12) as f64 / 64.0)
    })
}

fn main() -> io::Result<()> {
    let count: u64 = env::args()
        .nth(1)
        .map_or(300_000, |n| n.parse().expect("a number"));

    let start = Instant::now();
    let (mut alone, mut means) = (Vec::new(), Means::default());
    for record in records(count) {
        let reading = means.smooth(parse(&record)?);
        alone.extend_from_slice(format(&reading).as_bytes());
    }
    let looped = start.elapsed();

    let start = Instant::now();
    let (mut report, mut means) = (Vec::new(), Means::default());
    let (extracted, loaded, most) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    let counted = records(count).inspect(|_| {
        let ahead = extracted.fetch_add(1, Relaxed) + 1 - loaded.load(Relaxed);
        most.fetch_max(ahead, Relaxed);
    });
    tine::pipeline(counted, UNDER_WAY)
        .try_map(|record| parse(&record))
        .in_order(|reading| means.smooth(reading))
        .map(|reading| format(&reading))
        .in_order(|line| {
            loaded.fetch_add(1, Relaxed);
            line
        })
        .write_to(&mut report)?;
    let parallel = start.elapsed();
    assert_eq!(report, alone);
    assert!(most.load(Relaxed) <= UNDER_WAY);
    println!(
        "{count} readings, {} bytes; at most {} under way",
        report.len(),
        most.load(Relaxed)
    );
    println!("one thread {looped:?}, all {parallel:?}");

    // One bad record: what comes before it is in the report, and nothing else.
    let bad = count / 2;
    let spoilt = records(count).enumerate().map(|(n, record)| {
        if n as u64 == bad {
            "spoilt".to_owned()
        } else {
            record
        }
    });
    let (mut report, mut means) = (Vec::new(), Means::default());
    let outcome = tine::pipeline(spoilt, UNDER_WAY)
        .try_map(|record| parse(&record))
        .in_order(|reading| means.smooth(reading))
        .map(|reading| format(&reading))
        .write_to(&mut report);
    if count > 0 {
        println!("{}", outcome.expect_err("one record is bad"));
        assert_eq!(report.iter().filter(|&&b| b == b'\n').count() as u64, bad);
        assert!(alone.starts_with(&report));
    }
    Ok(())
}

//! One pipeline, from the text of a log to what the reader wants to know: each stage
//! takes what the stage before it made.

use crate::data::log;
use crate::screen::{Progress, Tour, grouped};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use tine::prelude::*;

const LINES: usize = 1_500_000;
/// How many of the slowest requests are wanted.
const WORST: usize = 1_000;
/// A stage that takes this many more requests says so.
const STRIDE: usize = 10_000;

/// A request, as a line of the log describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Request<'a> {
    number: usize,
    second: u32,
    host: u32,
    page: &'a str,
    status: u16,
    bytes: u32,
    millis: u32,
}

/// The outcome of the requests for one page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Page {
    requests: u32,
    failed: u32,
    bytes: u64,
    millis: u64,
}

pub(crate) fn visit(tour: &mut Tour) {
    let log = log(LINES);
    tour.say("\n");
    tour.say(&format!(
        "A log of {} lines, {} MB: parsed, filtered, grouped, sorted, top-k.",
        grouped(LINES as u64),
        log.len() / 1_000_000,
    ));
    tour.room("A pipeline");

    let requests = tour.stop(
        "lines parsed, torn ones left out",
        LINES,
        || &log[..],
        |log, progress| {
            let requests = log.lines().filter_map(|line| parsed(line, progress));
            requests.collect::<Vec<_>>()
        },
        |log, progress| {
            let requests = log.par_lines().filter_map(|line| parsed(line, progress));
            requests.collect()
        },
    );
    let people = tour.stop(
        "filtered: people, not robots",
        LINES,
        || &requests[..],
        |requests, progress| {
            let people = requests
                .iter()
                .filter(|request| by_people(request, progress));
            people.copied().collect::<Vec<_>>()
        },
        |requests, progress| {
            let people = requests
                .par_iter()
                .filter(|request| by_people(request, progress));
            people.copied().collect()
        },
    );
    let pages = tour.stop(
        "grouped by page",
        people.len(),
        || &people[..],
        pages,
        pages_in_parallel,
    );
    let by_host = tour.stop(
        "sorted by host, then by time",
        0,
        || people.clone(),
        |mut requests, _| {
            requests.sort_by_key(|request| (request.host, request.second));
            requests
        },
        |mut requests, _| {
            requests.par_sort_by_key(|request| (request.host, request.second));
            requests
        },
    );
    let worst = tour.stop(
        "top-k: the thousand slowest requests",
        by_host.len(),
        || &by_host[..],
        slowest,
        |requests, progress| {
            let slowness = requests
                .par_iter()
                .map(|request| slowness(request, progress));
            slowness.k_largest(WORST)
        },
    );
    tour.sum("all five stages");
    tell(tour, &pages, &worst);
}

/// The request that a line describes, if the line is whole.
fn parsed<'a>(line: &'a str, progress: &Progress) -> Option<Request<'a>> {
    let mut fields = line.split(' ');
    let mut field = || fields.next();
    let number: usize = field()?.parse().ok()?;
    seen(number, progress);
    Some(Request {
        number,
        second: field()?.parse().ok()?,
        host: field()?.strip_prefix("10.")?.parse().ok()?,
        page: field()?,
        status: field()?.parse().ok()?,
        bytes: field()?.parse().ok()?,
        millis: field()?.parse().ok()?,
    })
}

/// Reports progress at every `STRIDE`th request.
fn seen(number: usize, progress: &Progress) {
    if number.is_multiple_of(STRIDE) {
        progress.done(STRIDE);
    }
}

fn by_people(request: &Request<'_>, progress: &Progress) -> bool {
    seen(request.number, progress);
    !request.page.starts_with("/robots")
}

impl Page {
    fn add(&mut self, request: &Request<'_>) {
        self.merge(Self {
            requests: 1,
            failed: u32::from(request.status >= 500),
            bytes: u64::from(request.bytes),
            millis: u64::from(request.millis),
        });
    }

    fn merge(&mut self, more: Self) {
        self.requests += more.requests;
        self.failed += more.failed;
        self.bytes += more.bytes;
        self.millis += more.millis;
    }
}

fn pages<'a>(requests: &[Request<'a>], progress: &Progress) -> Vec<(&'a str, Page)> {
    let mut pages: HashMap<&str, Page> = HashMap::new();
    for request in requests {
        seen(request.number, progress);
        pages.entry(request.page).or_default().add(request);
    }
    let mut pages: Vec<_> = pages.into_iter().collect();
    pages.sort_unstable_by_key(|&(name, _)| name);
    pages
}

fn pages_in_parallel<'a>(requests: &[Request<'a>], progress: &Progress) -> Vec<(&'a str, Page)> {
    let pages = requests.par_iter().fold_by(
        |request| request.page,
        Page::default,
        |page, request| {
            seen(request.number, progress);
            page.add(request);
        },
        Page::merge,
    );
    let mut pages: Vec<_> = pages.into_iter().collect();
    pages.par_sort_unstable_by_key(|&(name, _)| name);
    pages
}

/// Slowest last; of two that are equally slow, the later one.
fn slowness(request: &Request<'_>, progress: &Progress) -> (u32, usize) {
    seen(request.number, progress);
    (request.millis, request.number)
}

fn slowest(requests: &[Request<'_>], progress: &Progress) -> Vec<(u32, usize)> {
    let mut worst = BinaryHeap::new();
    for request in requests {
        let slowness = Reverse(slowness(request, progress));
        if worst.len() < WORST {
            worst.push(slowness);
        } else if worst.peek().is_some_and(|least| slowness < *least) {
            worst.pop();
            worst.push(slowness);
        }
    }
    let worst = worst.into_sorted_vec();
    worst
        .into_iter()
        .map(|Reverse(slowness)| slowness)
        .collect()
}

/// Prints what the pipeline was for.
fn tell(tour: &Tour, pages: &[(&str, Page)], worst: &[(u32, usize)]) {
    let mean = |page: &Page| page.millis / u64::from(page.requests.max(1));
    let share = |page: &Page| 100 * page.failed / page.requests.max(1);
    let often = pages.iter().filter(|(_, page)| page.requests >= 100);
    let slow = often.clone().max_by_key(|(_, page)| mean(page));
    let broken = often.max_by_key(|(_, page)| share(page));
    if let (Some(slow), Some(broken), Some(worst)) = (slow, broken, worst.first()) {
        tour.say(&format!(
            "Found: {} takes {} ms on average, {} fails {} % of the time, and request {} took \
             {} ms.",
            slow.0,
            mean(&slow.1),
            broken.0,
            share(&broken.1),
            grouped(worst.1 as u64),
            worst.0,
        ));
    }
}

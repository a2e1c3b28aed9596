//! The pool's verbs: `join`, `scope` and `spawn`.

use crate::data::{mix, numbers, text};
use crate::screen::{Progress, Tour};
use std::collections::HashMap;
use std::sync::mpsc;
use tine::{join, scope, spawn};

pub(crate) fn visit(tour: &mut Tour) {
    tour.room("The pool");
    tour.because(
        "(A call of fib is one addition, so this is the price of 9 million forks, a few ns each. \
         Real recursions do more in a call, as the next stop does.)",
    );
    tour.stop(
        "join: fib(34), a fork at every call",
        1,
        || 34,
        |n, _| fib(n),
        |n, _| fib_join(n),
    );

    let unsorted = numbers(5_000_000);
    tour.stop(
        "join: quicksort of 5 million numbers",
        unsorted.len(),
        || unsorted.clone(),
        |mut numbers, progress| {
            quicksort(&mut numbers, progress);
            numbers
        },
        |mut numbers, progress| {
            quicksort_join(&mut numbers, progress);
            numbers
        },
    );

    let many = numbers(20_000_000);
    tour.stop(
        "join: a sum over 20 million",
        many.len(),
        || &many[..],
        sum,
        sum_join,
    );

    let text = text(400_000);
    tour.stop(
        "scope: the words of a text, counted",
        text.len(),
        || &text[..],
        words,
        words_scope,
    );

    tour.stop(
        "spawn: longest Collatz chain below 10⁶",
        1_000_000,
        || (),
        longest,
        |(), progress| longest_spawn(progress),
    );
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        fib(n - 1) + fib(n - 2)
    }
}

fn fib_join(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fib_join(n - 1), || fib_join(n - 2));
    a + b
}

/// Moves the elements that are smaller than a middling one to the front; returns
/// their number. The middling element itself ends up right behind them.
fn partition(numbers: &mut [u64]) -> usize {
    let last = numbers.len() - 1;
    let mut three = [0, last / 2, last];
    three.sort_by_key(|&at| numbers[at]);
    numbers.swap(three[1], last);
    let (pivot, mut smaller) = (numbers[last], 0);
    for at in 0..last {
        numbers.swap(at, smaller);
        smaller += usize::from(numbers[smaller] < pivot);
    }
    numbers.swap(smaller, last);
    smaller
}

/// Up to how many elements a slice is sorted by std.
const SMALL: usize = 2_000;

fn quicksort(numbers: &mut [u64], progress: &Progress) {
    if numbers.len() <= SMALL {
        numbers.sort_unstable();
        return progress.done(numbers.len());
    }
    let middle = partition(numbers);
    let (left, right) = numbers.split_at_mut(middle);
    quicksort(left, progress);
    quicksort(&mut right[1..], progress);
}

fn quicksort_join(numbers: &mut [u64], progress: &Progress) {
    if numbers.len() <= SMALL {
        numbers.sort_unstable();
        return progress.done(numbers.len());
    }
    let middle = partition(numbers);
    let (left, right) = numbers.split_at_mut(middle);
    join(
        || quicksort_join(left, progress),
        || quicksort_join(&mut right[1..], progress),
    );
}

/// Up to how many elements are summed in one loop.
const LEAF: usize = 20_000;

fn sum(numbers: &[u64], progress: &Progress) -> u64 {
    let add = |sum: u64, leaf: &[u64]| {
        progress.done(leaf.len());
        leaf.iter()
            .fold(sum, |sum, &number| sum.wrapping_add(mix(number)))
    };
    numbers.chunks(LEAF).fold(0, add)
}

fn sum_join(numbers: &[u64], progress: &Progress) -> u64 {
    if numbers.len() <= LEAF {
        return sum(numbers, progress);
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (a, b) = join(|| sum_join(left, progress), || sum_join(right, progress));
    a.wrapping_add(b)
}

fn words<'a>(text: &'a str, progress: &Progress) -> HashMap<&'a str, u32> {
    let mut counts = HashMap::new();
    for line in text.lines() {
        for word in line.split_whitespace() {
            *counts.entry(word).or_default() += 1;
        }
        progress.done(line.len());
    }
    counts
}

/// A task for each piece of the text. Each task fills its own slot, which lies on
/// this stack: the scope lets tasks borrow it.
fn words_scope<'a>(text: &'a str, progress: &Progress) -> HashMap<&'a str, u32> {
    let pieces = pieces(text, 2 * tine::current_num_threads());
    let mut slots: Vec<_> = pieces.iter().map(|_| HashMap::new()).collect();
    scope(|scope| {
        for (slot, piece) in slots.iter_mut().zip(pieces) {
            scope.spawn(move |_| *slot = words(piece, progress));
        }
    });
    let mut counts = HashMap::new();
    for (word, count) in slots.into_iter().flatten() {
        *counts.entry(word).or_default() += count;
    }
    counts
}

/// The text cut at ends of lines into about `n` pieces.
fn pieces(mut text: &str, n: usize) -> Vec<&str> {
    let about = text.len() / n + 1;
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let rest = &text.as_bytes()[about.min(text.len())..];
        let line = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(rest.len(), |at| at + 1);
        let (piece, after) = text.split_at(text.len() - rest.len() + line);
        pieces.push(piece);
        text = after;
    }
    pieces
}

/// The longest chain of 3n+1 steps from below 10⁶, and its start.
fn longest((): (), progress: &Progress) -> (u32, u64) {
    longest_in(1, 1_000_000, |done| progress.done(done))
}

fn longest_in(from: u64, to: u64, done: impl Fn(usize)) -> (u32, u64) {
    let chain = |start: u64| {
        let (mut n, mut steps) = (start, 0_u32);
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        if start.is_multiple_of(10_000) {
            done(10_000);
        }
        (steps, start)
    };
    (from..to).map(chain).max().unwrap_or_default()
}

/// Tasks that outlive their spawner's frame send what they found over a channel.
fn longest_spawn(progress: &Progress) -> (u32, u64) {
    let (send, receive) = mpsc::channel();
    for from in (0..1_000_000).step_by(10_000) {
        let send = send.clone();
        spawn(move || {
            let _ = send.send(longest_in(from.max(1), from + 10_000, |_| {}));
        });
    }
    drop(send);
    receive
        .iter()
        .inspect(|_| progress.done(10_000))
        .max()
        .unwrap_or_default()
}

//! Moves items between ranks: plain items as memory in one go, other items as blocks in rounds.
//!
//! *Plain* items lie in one piece, cut by destination. Counts are sent first. Then there is room
//! for everything, and every message arrives where its items stay. *Other* items are written as
//! blocks of bitcode:
//!
//! ```text
//! round     each destination's next items, written until they fill budget ÷ ranks   (in parallel)
//!           sizes, and "I have more", from all to all
//!           the blocks
//!           read, each source's behind what it sent before                          (in parallel)
//! until no rank has more
//! ```
//!
//! Either way items come out in the order of the ranks that sent them, and within that in their old
//! order. A rank's items for itself are moved, never written.
#![forbid(unsafe_code)]

use crate::cluster::Call;
use crate::travel::{Plain, Travel, decode_items, encode_items};
use std::{mem, vec};
use tine_iter::prelude::*;

/// Items that have arrived: those of source `s` are `starts[s]..starts[s + 1]`.
pub(crate) struct Arrived<T> {
    pub(crate) items: Vec<T>,
    pub(crate) starts: Vec<usize>,
}

impl<T> Arrived<T> {
    /// The number of ranks that sent something.
    pub(crate) fn sources(&self) -> usize {
        let some = self.starts.windows(2).filter(|pair| pair[0] < pair[1]);
        some.count()
    }
}

/// Sends `items[cuts[d]..cuts[d + 1]]` to rank `d`.
pub(crate) fn send_cut<T: Travel>(
    call: &Call<'_>,
    mut items: Vec<T>,
    cuts: &[usize],
) -> Arrived<T> {
    if let Some(plain) = call.cluster.form::<T>() {
        return send_memory(call, plain, items, cuts);
    }
    let mut parts: Vec<Vec<T>> = Vec::with_capacity(cuts.len() - 1);
    for d in (1..cuts.len() - 1).rev() {
        parts.push(items.split_off(cuts[d]));
    }
    parts.push(items);
    parts.reverse();
    send_blocks(call, parts)
}

/// Sends `parts[d]` to rank `d`; `plain` is the proof for `T`, if there is one.
pub(crate) fn send_parts<T: Travel>(
    call: &Call<'_>,
    plain: Option<Plain<T>>,
    parts: Vec<Vec<T>>,
) -> Arrived<T> {
    let Some(plain) = plain else {
        return send_blocks(call, parts);
    };
    let slices: Vec<&[T]> = parts.iter().map(Vec::as_slice).collect();
    receive(call, plain, &slices)
}

/// The same where the order does not matter: returns the items that stay, untouched, and those that
/// arrive.
pub(crate) fn send_others<T: Travel>(
    call: &Call<'_>,
    plain: Option<Plain<T>>,
    mut parts: Vec<Vec<T>>,
) -> (Vec<T>, Vec<T>) {
    let stays = mem::take(&mut parts[call.cluster.rank()]);
    (stays, send_parts(call, plain, parts).items)
}

/// Plain items, in one piece.
pub(crate) fn send_memory<T>(
    call: &Call<'_>,
    plain: Plain<T>,
    items: Vec<T>,
    cuts: &[usize],
) -> Arrived<T> {
    let slices: Vec<&[T]> = cuts.windows(2).map(|cut| &items[cut[0]..cut[1]]).collect();
    let me = call.cluster.rank();
    let counts: Vec<u64> = slices.iter().map(|slice| slice.len() as u64).collect();
    let incoming = call.all_to_all(&counts);
    let stays = slices[me].len() == items.len() && starts_of(&incoming).total() == items.len();
    if stays {
        // This rank sends and gets nothing; the others may exchange nevertheless.
        call.exchange(&vec![&[][..]; counts.len()], &mut nothing(counts.len()));
        let starts = starts_of(&incoming).0;
        return Arrived { items, starts };
    }
    receive_counted(call, plain, &slices, &incoming)
}

fn receive<T>(call: &Call<'_>, plain: Plain<T>, slices: &[&[T]]) -> Arrived<T> {
    let counts: Vec<u64> = slices.iter().map(|slice| slice.len() as u64).collect();
    let incoming = call.all_to_all(&counts);
    receive_counted(call, plain, slices, &incoming)
}

fn receive_counted<T>(
    call: &Call<'_>,
    plain: Plain<T>,
    slices: &[&[T]],
    incoming: &[u64],
) -> Arrived<T> {
    let me = call.cluster.rank();
    let starts = starts_of(incoming);
    let mut items = plain
        .zeros(starts.total())
        .unwrap_or_else(|| call.no_room(starts.total().saturating_mul(size_of::<T>())));
    let mut rest = plain.bytes_mut(&mut items);
    let mut recv: Vec<&mut [u8]> = Vec::with_capacity(incoming.len());
    let mut send: Vec<&[u8]> = slices.iter().map(|slice| plain.bytes(slice)).collect();
    for (source, &count) in incoming.iter().enumerate() {
        let (room, after) = rest.split_at_mut(count as usize * size_of::<T>());
        rest = after;
        if source == me {
            room.copy_from_slice(send[me]);
            recv.push(&mut []);
        } else {
            recv.push(room);
        }
    }
    send[me] = &[];
    call.exchange(&send, &mut recv);
    Arrived {
        items,
        starts: starts.0,
    }
}

/// Where the items of each source begin, and where all end.
struct Starts(Vec<usize>);

impl Starts {
    fn total(&self) -> usize {
        self.0[self.0.len() - 1]
    }
}

fn starts_of(counts: &[u64]) -> Starts {
    let mut end = 0;
    let mut starts = vec![0];
    starts.extend(counts.iter().map(|&count| {
        end += count as usize;
        end
    }));
    Starts(starts)
}

fn nothing<'a>(ranks: usize) -> Vec<&'a mut [u8]> {
    (0..ranks).map(|_| &mut [][..]).collect()
}

/// What is still to be sent to one rank, whatever its type. What moves blocks is compiled once, not for each type.
trait Leaving: Send {
    /// The next items, not much more than `limit` bytes of them, or one item.
    fn block(&mut self, limit: usize) -> Vec<u8>;

    fn is_done(&self) -> bool;
}

/// What has come from one rank.
trait Landing: Send {
    /// Appends a block's items.
    fn take(&mut self, block: &[u8]);
}

/// Items that leave as blocks.
struct Outgoing<T> {
    items: vec::IntoIter<T>,
    /// How many items are expected to fill a block.
    fill: usize,
}

impl<T: Travel> Outgoing<T> {
    fn new(items: Vec<T>, limit: usize) -> Self {
        Outgoing {
            items: items.into_iter(),
            fill: (limit / size_of::<T>().max(8)).max(1),
        }
    }
}

impl<T: Travel> Leaving for Outgoing<T> {
    fn block(&mut self, limit: usize) -> Vec<u8> {
        let rest = self.items.as_slice();
        if rest.is_empty() {
            return Vec::new();
        }
        let mut count = self.fill.clamp(1, rest.len());
        let mut block = encode_items::<T, _>(&rest[..count]);
        while block.len() > limit + limit / 4 && count > 1 {
            count = (count as u128 * limit as u128 / block.len() as u128) as usize;
            count = count.max(1);
            block = encode_items::<T, _>(&rest[..count]);
        }
        let next = count as u128 * limit as u128 / block.len().max(1) as u128;
        self.fill = (next as usize).clamp(1, 4 * count);
        for _ in 0..count {
            drop(self.items.next());
        }
        block
    }

    fn is_done(&self) -> bool {
        self.items.as_slice().is_empty()
    }
}

impl<T: Travel> Landing for Vec<T> {
    fn take(&mut self, block: &[u8]) {
        self.append(&mut decode_items::<T>(block));
    }
}

/// Items of any kind.
fn send_blocks<T: Travel>(call: &Call<'_>, parts: Vec<Vec<T>>) -> Arrived<T> {
    let (me, ranks) = (call.cluster.rank(), call.cluster.size());
    let limit = (call.cluster.limits().round / ranks).max(1);
    let mut outgoing = Vec::with_capacity(ranks);
    let mut arrived: Vec<Vec<T>> = Vec::with_capacity(ranks);
    for (d, items) in parts.into_iter().enumerate() {
        let (mine, others) = if d == me {
            (items, Vec::new())
        } else {
            (Vec::new(), items)
        };
        arrived.push(mine);
        outgoing.push(Outgoing::new(others, limit));
    }
    let mut leaving: Vec<&mut dyn Leaving> = Vec::with_capacity(ranks);
    for outgoing in &mut outgoing {
        leaving.push(outgoing);
    }
    let mut landing: Vec<&mut dyn Landing> = Vec::with_capacity(ranks);
    for items in &mut arrived {
        landing.push(items);
    }
    exchange_blocks(call, limit, &mut leaving, &mut landing);
    joined(call, arrived)
}

/// Sends all blocks and takes all that come, in rounds.
fn exchange_blocks(
    call: &Call<'_>,
    limit: usize,
    leaving: &mut [&mut dyn Leaving],
    landing: &mut [&mut dyn Landing],
) {
    loop {
        let blocks: Vec<Vec<u8>> = leaving
            .par_iter_mut()
            .map(|leaving| leaving.block(limit))
            .collect();
        let more = leaving.iter().any(|leaving| !leaving.is_done());
        let sizes: Vec<u64> = blocks
            .iter()
            .map(|block| (block.len() as u64) << 1 | u64::from(more))
            .collect();
        let incoming = call.all_to_all(&sizes);
        let mut came: Vec<Vec<u8>> = incoming
            .iter()
            .map(|&size| call.room((size >> 1) as usize))
            .collect();
        let send: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let mut recv: Vec<&mut [u8]> = came.iter_mut().map(Vec::as_mut_slice).collect();
        call.exchange(&send, &mut recv);
        drop(blocks);
        landing
            .par_iter_mut()
            .zip(came)
            .filter(|(_, block)| !block.is_empty())
            .for_each(|(landing, block)| landing.take(&block));
        if incoming.iter().all(|size| size & 1 == 0) {
            break;
        }
    }
}

/// The items of all sources in one row.
fn joined<T>(call: &Call<'_>, arrived: Vec<Vec<T>>) -> Arrived<T> {
    let mut counts = Vec::with_capacity(arrived.len());
    for items in &arrived {
        counts.push(items.len() as u64);
    }
    let starts = starts_of(&counts);
    let mut sources = arrived.into_iter();
    let mut items = sources.next().unwrap_or_default();
    let more = starts.total() - items.len();
    call.more_room(&mut items, more);
    for mut source in sources {
        items.append(&mut source);
    }
    Arrived {
        items,
        starts: starts.0,
    }
}

/// Moves items, of which each rank has the list `part`, so that all parts are even.
pub(crate) fn rebalanced<T: Travel>(call: &Call<'_>, part: Vec<T>) -> Vec<T> {
    let cluster = call.cluster;
    let offsets = call.offsets();
    let total = offsets[cluster.size()];
    let (begin, end) = (offsets[cluster.rank()], offsets[cluster.rank() + 1]);
    let cuts: Vec<usize> = (0..=cluster.size())
        .map(|rank| cluster.cut(total, rank).clamp(begin, end) - begin)
        .collect();
    send_cut(call, part, &cuts).items
}

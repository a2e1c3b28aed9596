//! The queue of work from outside: nothing lost, nothing taken twice, first in, first out.

use super::{Load, alone, beside, check};
use crate::queue::injector::{Batch, Injector, Link, Linked, chain};
use loom::thread;
use std::ptr::NonNull;
use std::sync::Arc;

/// An element: its producer, and its number among that producer's elements.
struct Element {
    link: Link<Self>,
    load: Load,
    producer: usize,
    serial: usize,
}

// SAFETY: the link is a field, and only the queue uses it.
unsafe impl Linked for Element {
    fn link(this: NonNull<Self>) -> NonNull<Link<Self>> {
        // SAFETY: models keep their elements until the end.
        NonNull::from(unsafe { &this.as_ref().link })
    }
}

struct Model {
    queue: Injector<Element>,
    elements: Vec<Element>,
}

// SAFETY: each element belongs to the queue, or to one thread; the model checker watches.
unsafe impl Send for Model {}
// SAFETY: as above.
unsafe impl Sync for Model {}

impl Model {
    /// Two producers with `each` elements each.
    fn new(each: usize) -> Arc<Self> {
        let element = |i| Element {
            link: Link::new(),
            load: Load::new(),
            producer: i / each,
            serial: i % each,
        };
        Arc::new(Self {
            queue: Injector::new(),
            elements: (0..2 * each).map(element).collect(),
        })
    }

    fn of(&self, producer: usize) -> impl Iterator<Item = NonNull<Element>> {
        let own = self.elements.iter().filter(move |e| e.producer == producer);
        own.map(|element| {
            element.load.fill();
            NonNull::from(element)
        })
    }

    fn push(&self, producer: usize) {
        // SAFETY: pushed once, and kept until the end.
        self.of(producer)
            .for_each(|e| unsafe { self.queue.push(e) });
    }

    fn push_chain(&self, producer: usize) {
        let mut newest: Option<NonNull<Element>> = None;
        let (mut oldest, mut count) = (None, 0);
        for element in self.of(producer) {
            if let Some(newest) = newest {
                chain(element, newest.as_ptr());
            }
            oldest = oldest.or(Some(element));
            newest = Some(element);
            count += 1;
        }
        // SAFETY: linked just now, pushed once, and kept until the end.
        unsafe {
            self.queue
                .push_chain(newest.unwrap(), oldest.unwrap(), count)
        };
    }

    /// Takes up to two elements, and returns which.
    fn take(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let taken = self.queue.take(2, |e| found.push(Self::spend(e)));
        assert!(found.is_empty() || taken == Batch::Some(found.len()));
        found
    }

    fn take_from(&self, producer: usize) -> Option<(usize, usize)> {
        // SAFETY: models keep their elements until the end.
        let wanted = |e: NonNull<Element>| unsafe { e.as_ref() }.producer == producer;
        self.queue.take_if(wanted).map(Self::spend)
    }

    /// The element belongs to the taker, which may free it.
    fn spend(element: NonNull<Element>) -> (usize, usize) {
        // SAFETY: as above; if another thread still uses the link, the model checker fails.
        unsafe { Element::link(element).as_mut() }.end();
        // SAFETY: as above.
        let element = unsafe { element.as_ref() };
        element.load.spend();
        (element.producer, element.serial)
    }

    /// Takes the rest after `found`, and checks that all elements came, those of each producer in order.
    fn finish(&self, mut found: Vec<(usize, usize)>) {
        while self.queue.take(2, |e| found.push(Self::spend(e))) != Batch::Empty {}
        assert_eq!(found.len(), self.elements.len(), "an element was lost");
        assert_eq!(self.queue.len(), 0);
        for producer in 0..2 {
            let serials = found.iter().filter(|f| f.0 == producer).map(|f| f.1);
            assert!(serials.is_sorted(), "elements came out of turn");
        }
        self.elements.iter().for_each(|e| e.load.assert_spent());
    }
}

#[test]
fn two_producers_and_a_consumer() {
    check(|| {
        let model = Model::new(2);
        let producers = [0, 1].map(|producer| {
            let model = Arc::clone(&model);
            thread::spawn(move || match producer {
                0 => model.push(0),
                _ => model.push_chain(1),
            })
        });
        let mut found = model.take();
        found.extend(model.take());
        producers.into_iter().for_each(|p| p.join().unwrap());
        model.finish(found);
    });
}

#[test]
fn two_consumers() {
    check(|| {
        let model = Model::new(2);
        model.push(0);
        let consumer = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.take())
        };
        model.push_chain(1);
        let mine = model.take();
        let theirs = consumer.join().unwrap();
        // In order for each consumer; there is no order between the two.
        assert!(mine.is_sorted_by_key(|f| f.0));
        let all = mine.len() + theirs.len();
        let mut rest = Vec::new();
        while model.queue.take(2, |e| rest.push(Model::spend(e))) != Batch::Empty {}
        assert_eq!(all + rest.len(), 4, "an element was lost");
        model.elements.iter().for_each(|e| e.load.assert_spent());
    });
}

/// One thread takes the elements as they come, the other takes the elements that it wants, from any place.
#[test]
fn takes_out_of_the_middle() {
    check(|| {
        let model = Model::new(1);
        let chooser = beside(&model, |model| {
            model.take_from(1).into_iter().collect::<Vec<_>>()
        });
        model.push(0);
        model.push(1);
        let mut found = model.take();
        found.extend(chooser.join().unwrap());
        model.finish(found);
    });
}

/// An element that was pushed before is found, wherever in the queue it lies, and the elements behind it stay.
#[test]
fn a_look_for_one_finds_it() {
    alone(|| {
        let model = Model::new(2);
        model.push(0);
        // Elements that have come are in the list from now on; elements that come later are not.
        assert_eq!(model.take_from(1), None);
        model.push(1);
        let found = [1, 1, 0, 0].map(|producer| model.take_from(producer));
        assert_eq!(found, [(1, 0), (1, 1), (0, 0), (0, 1)].map(Some));
        model.finish(found.into_iter().flatten().collect());
    });
}

/// While an element lies in the queue, no thread finds the queue empty, whatever others push and take
/// meanwhile.
#[test]
fn what_lies_there_is_counted() {
    check(|| {
        let model = Model::new(1);
        model.push(0);
        let other = beside(&model, |model| {
            model.push(1);
            model.take_from(1).into_iter().collect::<Vec<_>>()
        });
        let seen = [model.queue.len(), model.queue.len()];
        assert!(seen.iter().all(|n| (1..=2).contains(n)), "{seen:?}");
        model.finish(other.join().unwrap());
    });
}

//! What waits at a port, as a scheduler sees it.

use crate::item::Item;
use crate::queue::ClassQueue;

/// Heads of class queues. Schedulers are written over this, so that a shaper can hold a queue
/// back from one that knows nothing of shaping, at no cost where nothing is shaped.
pub trait Backlog {
    fn head(&self, queue: usize) -> Option<&Item>;

    /// The item behind the head.
    fn second(&self, queue: usize) -> Option<&Item>;

    fn waits(&self, queue: usize) -> bool {
        self.head(queue).is_some()
    }
}

impl Backlog for [ClassQueue] {
    fn head(&self, queue: usize) -> Option<&Item> {
        self[queue].head()
    }

    fn second(&self, queue: usize) -> Option<&Item> {
        self[queue].second()
    }
}

/// Queues of which some are held back: those seem empty.
#[derive(Debug, Clone, Copy)]
pub struct Gated<'a> {
    pub queues: &'a [ClassQueue],
    /// Per queue; shorter or empty: open.
    pub held: &'a [bool],
}

impl Gated<'_> {
    fn open(&self, queue: usize) -> bool {
        !self.held.get(queue).copied().unwrap_or(false)
    }
}

impl Backlog for Gated<'_> {
    fn head(&self, queue: usize) -> Option<&Item> {
        self.queues[queue].head().filter(|_| self.open(queue))
    }

    fn second(&self, queue: usize) -> Option<&Item> {
        self.queues[queue].second().filter(|_| self.open(queue))
    }
}

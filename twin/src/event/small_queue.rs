//! A queue of at most sixteen events, kept sorted in a ring: cheaper than a calendar for so few.

use super::Event;

/// Beyond these, moving them costs more than a calendar's days do.
pub const SMALL: usize = 16;
const MASK: usize = SMALL - 1;

/// At most `SMALL` events by time, and at one instant in the order of insertion.
#[derive(Debug)]
pub struct SmallQueue {
    ring: [(u64, Event); SMALL],
    first: usize,
    length: usize,
}

impl Default for SmallQueue {
    fn default() -> Self {
        Self {
            ring: [(0, Event::Wake(0)); SMALL],
            first: 0,
            length: 0,
        }
    }
}

impl SmallQueue {
    pub fn len(&self) -> usize {
        self.length
    }

    /// Puts an event behind all that are not later; there is room for it.
    #[inline]
    pub fn insert(&mut self, at_ps: u64, event: Event) {
        debug_assert!(self.length < SMALL);
        let mut place = self.first + self.length;
        // Most events are later than all others, or than all but a few.
        while place > self.first && self.ring[(place - 1) & MASK].0 > at_ps {
            self.ring[place & MASK] = self.ring[(place - 1) & MASK];
            place -= 1;
        }
        self.ring[place & MASK] = (at_ps, event);
        self.length += 1;
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Event)> {
        if self.length == 0 {
            return None;
        }
        let first = self.ring[self.first];
        self.first = (self.first + 1) & MASK;
        self.length -= 1;
        Some(first)
    }
}

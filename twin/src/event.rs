//! The event queue: by time, and at one instant in the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::packet::{FlowId, PacketId};

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A source sends.
    Source(FlowId),
    /// A port has sent the last bit of a frame.
    Sent(u32),
    /// A packet is fully received.
    Arrival(PacketId),
    /// A shaped queue of a port becomes eligible.
    Wake(u32),
    /// A TCP sender's retransmission timer may have run out.
    Retransmission(FlowId),
    /// A TCP receiver's delayed acknowledgement is due.
    DelayedAck(FlowId),
}

#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
}

impl EventQueue {
    pub fn push(&mut self, at_ps: u64, event: Event) {
        self.heap.push(Reverse((at_ps, self.scheduled, event)));
        self.scheduled += 1;
    }

    pub fn pop(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_keep_their_order() {
        let mut queue = EventQueue::default();
        queue.push(5, Event::Sent(9));
        queue.push(5, Event::Source(1));
        queue.push(4, Event::Wake(3));
        assert_eq!(queue.pop(), Some((4, Event::Wake(3))));
        assert_eq!(queue.pop(), Some((5, Event::Sent(9))));
        assert_eq!(queue.pop(), Some((5, Event::Source(1))));
        assert_eq!(queue.pop(), None);
    }
}

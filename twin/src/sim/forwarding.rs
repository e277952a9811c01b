//! From a node's ingress to its egress, where that takes an engine or a random time.

use super::Simulation;
use crate::event::Event;
use crate::packet::{Next, PacketId};

/// What follows for the packets in engines, by their place in the slab; kept beside them so that
/// runs without engines pay nothing.
#[derive(Debug, Default)]
pub struct Forwarding {
    next: Vec<Next>,
}

impl Forwarding {
    fn insert(&mut self, packet: PacketId, next: Next) {
        let place = packet as usize;
        if place >= self.next.len() {
            self.next.resize(place + 1, Next::Drop);
        }
        self.next[place] = next;
    }
}

impl Simulation {
    /// Hands a packet that came in on port `input` to the node's forwarding engine.
    pub(super) fn forward(&mut self, forwarder: u32, input: usize, id: PacketId, next: Next) {
        let input = &mut self.ports[input];
        match self.forwarders[forwarder as usize].accept(self.now_ps, &mut input.forwarded_ps) {
            Some(at) => {
                self.forwarding.insert(id, next);
                self.events.push(at, Event::Forwarded(id));
            }
            None => {
                input.dropped_input += 1;
                self.lose(id);
            }
        }
    }

    /// The engine is done with a packet.
    pub(super) fn forwarded(&mut self, id: PacketId) {
        let next = self.forwarding.next[id as usize];
        self.passed(id, next);
        self.follow(id, next);
    }
}

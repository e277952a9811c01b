//! From a node's ingress to its egress, where that takes an engine or a random time.

use super::Simulation;
use crate::event::Event;
use crate::packet::{PacketId, StepId};

impl Simulation {
    /// Hands a packet that came in on port `input` to the node's forwarding engine.
    pub(super) fn forward(&mut self, forwarder: u32, input: usize, id: PacketId, step: StepId) {
        let input = &mut self.ports[input];
        match self.forwarders[forwarder as usize].accept(self.now_ps, &mut input.forwarded_ps) {
            Some(at) => {
                self.packets.get_mut(id).step = step;
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
        let step = self.packets.get(id).step;
        self.enter(id, step);
    }
}

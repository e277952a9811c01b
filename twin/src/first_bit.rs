//! Delay from the first bit leaving the sender to the same bit reaching the receiver (as
//! RFC 1242 has it for bit-forwarding devices), kept beside the packets so that runs that count
//! from arrival pay nothing.

use crate::packet::PacketId;

#[derive(Debug, Clone, Copy, Default)]
struct Times {
    /// None: still in the sender's queue.
    left: Option<u64>,
    /// At the far end of the line it is on or was on last.
    reached: u64,
}

/// The first bits of the packets under way, by their place in the slab.
#[derive(Debug, Default)]
pub struct FirstBits {
    times: Vec<Times>,
}

impl FirstBits {
    /// A packet came into being.
    pub fn created(&mut self, packet: PacketId) {
        let place = packet as usize;
        if place >= self.times.len() {
            self.times.resize(place + 1, Times::default());
        }
        self.times[place] = Times::default();
    }

    /// Its first bit goes onto a line at `at_ps` and takes `propagation_ps`.
    pub fn started(&mut self, packet: PacketId, at_ps: u64, propagation_ps: u64) {
        let times = &mut self.times[packet as usize];
        times.left.get_or_insert(at_ps);
        times.reached = at_ps.saturating_add(propagation_ps);
    }

    /// Delay of a delivered packet.
    pub fn delay_ps(&self, packet: PacketId) -> u64 {
        let times = self.times[packet as usize];
        times.left.map_or(0, |left| times.reached - left)
    }
}

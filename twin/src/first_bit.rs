//! Delay from the first bit leaving the sender to the same bit reaching the receiver (as
//! RFC 1242 has it for bit-forwarding devices), kept beside the packets so that runs that count
//! from arrival pay nothing.

use crate::framing::serialisation_ps;
use crate::line::Line;
use crate::packet::PacketId;

/// Where the first bit of a packet was when.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
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
    /// A packet came into being, out of one with these times if it is a fragment.
    pub fn created(&mut self, packet: PacketId, times: Times) {
        let place = packet as usize;
        if place >= self.times.len() {
            self.times.resize(place + 1, Times::default());
        }
        self.times[place] = times;
    }

    pub fn of(&self, packet: PacketId) -> Times {
        self.times[packet as usize]
    }

    /// Its line time on `line` begins at `now_ps`.
    pub fn started(&mut self, packet: PacketId, now_ps: u64, line: &Line) {
        let lead = serialisation_ps(line.framing.preamble_bytes(), line.rate_bps);
        let at_ps = now_ps.saturating_add(lead);
        let times = &mut self.times[packet as usize];
        times.left.get_or_insert(at_ps);
        times.reached = at_ps.saturating_add(line.delay_ps);
    }
}

impl Times {
    /// Delay of a packet that came with them.
    pub fn delay_ps(self) -> u64 {
        self.left.map_or(0, |left| self.reached - left)
    }

    /// Of a packet whose fragments these are: from the first to leave to the last to come.
    pub fn with(self, other: Self) -> Self {
        let left = [self.left, other.left].into_iter().flatten().min();
        Self {
            left,
            reached: self.reached.max(other.reached),
        }
    }
}

//! Packets under way, kept in a slab so that a run in its stride allocates nothing.

use crate::source::tcp::SegmentId;

/// Place of a packet in the slab.
pub type PacketId = u32;
/// One flow's treatment at one port; an index into the run's table.
pub type HopId = u32;
/// An index into the run's flows.
pub type FlowId = u32;
/// An index into the run's filters.
pub type FilterId = u32;

/// What comes next on a packet's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Next {
    Deliver,
    /// Into a queue.
    Hop(HopId),
    /// Before a policer.
    Filter(FilterId),
    Drop,
}

/// What a packet is to its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Of a source that awaits no answer.
    Datagram,
    /// To be answered by the far end.
    Probe,
    /// The answer; `Packet::sent_ps` is the probe's.
    Answer,
    /// Of a TCP connection; its header.
    Tcp(SegmentId),
    /// A fragment of an IP packet that a port was too small for.
    Fragment(u32),
}

#[derive(Debug, Clone, Copy)]
pub struct Packet {
    pub flow: FlowId,
    /// Where it is: the egress hop it waits at or last left.
    pub hop: HopId,
    pub ip_bytes: u32,
    pub role: Role,
    pub sent_ps: u64,
    /// On the flow's way back.
    pub back: bool,
    /// Number within the measured packets of its flow; None: not measured.
    pub measured: Option<u64>,
    /// Congestion experienced (RFC 3168): a queue on the way marked it.
    pub ce: bool,
}

#[derive(Debug, Default)]
pub struct Slab {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Slab {
    /// The place that the next packet will have.
    #[inline]
    pub fn vacant(&self) -> PacketId {
        let next = self.free.last().copied();
        next.unwrap_or(self.packets.len() as PacketId)
    }

    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = packet;
            id
        } else {
            self.packets.push(packet);
            (self.packets.len() - 1) as PacketId
        }
    }

    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.packets[id as usize]
    }

    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }

    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }

    /// Most packets that were under way at a time.
    pub fn places(&self) -> usize {
        self.packets.len()
    }

    /// Packets neither delivered nor lost yet.
    pub fn under_way(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

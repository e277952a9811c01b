//! IP fragments: cut before a queue, put together at the destination.

use super::Simulation;
use crate::first_bit::Times;
use crate::hop_delay::LossPlace;
use crate::ip::fragment_sizes;
use crate::packet::{Next, Packet, PacketId, Role};

/// A packet that travels in fragments.
#[derive(Debug, Clone, Copy)]
struct Cut {
    whole: Packet,
    under_way: u32,
    /// Of the fragments that came, where delays count from the first bit.
    times: Option<Times>,
    /// Their frame and wire bytes on the last line.
    layers: (u32, u32),
    /// A fragment is lost, and with it the packet.
    lost: bool,
    /// Where the first one was, where hops are measured.
    lost_at: Option<LossPlace>,
}

/// The packets that travel in fragments.
#[derive(Debug, Default)]
pub struct Reassembly {
    cuts: Vec<Cut>,
    free: Vec<u32>,
}

impl Reassembly {
    fn insert(&mut self, cut: Cut) -> u32 {
        if let Some(id) = self.free.pop() {
            self.cuts[id as usize] = cut;
            id
        } else {
            self.cuts.push(cut);
            (self.cuts.len() - 1) as u32
        }
    }

    /// One fragment is gone; the packet, once all are.
    fn settle(&mut self, id: u32) -> Option<Cut> {
        let cut = &mut self.cuts[id as usize];
        cut.under_way -= 1;
        if cut.under_way > 0 {
            return None;
        }
        let done = *cut;
        self.free.push(id);
        Some(done)
    }
}

impl Simulation {
    /// Cuts a packet that is too large for the port of `next`; its fragments go on there.
    #[cold]
    pub(super) fn cut(&mut self, id: PacketId, next: Next, mtu: u32) {
        let packet = self.packets.remove(id);
        let times = self.first_bits.as_ref().map(|bits| bits.of(id));
        let parts = fragment_sizes(packet.ip_bytes, mtu).count() as u32;
        let cut = match packet.role {
            Role::Fragment(cut) => {
                self.reassembly.cuts[cut as usize].under_way += parts - 1;
                cut
            }
            _ => self.reassembly.insert(Cut {
                whole: packet,
                under_way: parts,
                times: None,
                layers: (0, 0),
                lost: false,
                lost_at: None,
            }),
        };
        for ip_bytes in fragment_sizes(packet.ip_bytes, mtu) {
            let part = self.packets.insert(Packet {
                ip_bytes,
                role: Role::Fragment(cut),
                measured: None,
                ..packet
            });
            if let (Some(bits), Some(times)) = (&mut self.first_bits, times) {
                bits.created(part, times);
            }
            if let Some(journeys) = &mut self.journeys {
                journeys.cut(id, part);
            }
            self.follow(part, next);
        }
    }

    #[cold]
    pub(super) fn fragment_lost(&mut self, cut: u32, id: PacketId) {
        let at = self.loss_place(id);
        let record = &mut self.reassembly.cuts[cut as usize];
        record.lost = true;
        record.lost_at = record.lost_at.or(at);
        self.settle(cut, id);
    }

    /// A fragment is at its destination.
    #[cold]
    pub(super) fn fragment_received(
        &mut self,
        cut: u32,
        (id, part): (PacketId, &Packet),
        times: Option<Times>,
    ) {
        let hop = &self.hops[part.hop as usize];
        let port = &self.ports[hop.port].port;
        let bytes = port.bytes(part.ip_bytes, 0, hop.queue);
        let record = &mut self.reassembly.cuts[cut as usize];
        record.layers.0 += bytes.frame;
        record.layers.1 += bytes.wire;
        record.times = match (record.times, times) {
            (Some(others), Some(own)) => Some(others.with(own)),
            (others, own) => others.or(own),
        };
        self.settle(cut, id);
    }

    /// The packet is lost or received once all of its fragments are; `id` was the last of them,
    /// whose way is that of the packet.
    fn settle(&mut self, cut: u32, id: PacketId) {
        match self.reassembly.settle(cut) {
            Some(cut) if cut.lost => {
                if let Some(at) = cut.lost_at {
                    self.lost_on_hop(&cut.whole, at);
                }
                self.lost(&cut.whole);
            }
            Some(cut) => {
                self.delivered_by_hops(&cut.whole, id);
                self.received(&cut.whole, cut.times, Some(cut.layers));
            }
            None => {}
        }
    }
}

//! Where packets end: lost on their way or at their destination.

use super::Simulation;
use crate::first_bit::Times;
use crate::packet::{Packet, PacketId, Role};

impl Simulation {
    /// A packet is lost on its way.
    pub(super) fn lose(&mut self, id: PacketId) {
        let packet = self.packets.remove(id);
        match packet.role {
            Role::Fragment(cut) => self.fragment_lost(cut, id),
            _ => {
                if let Some(at) = self.loss_place(id) {
                    self.lost_on_hop(&packet, at);
                }
                self.lost(&packet);
            }
        }
    }

    /// A whole packet is lost.
    #[inline]
    pub(super) fn lost(&mut self, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        if packet.measured.is_some() {
            if packet.back {
                flow.returned.lost += 1;
            } else {
                flow.meter.lost += 1;
            }
        }
        if packet.role != Role::Datagram {
            self.miss(packet);
        }
    }

    /// A packet is at its destination.
    pub(super) fn deliver(&mut self, id: PacketId) {
        let packet = self.packets.remove(id);
        let times = self.first_bits.as_ref().map(|bits| bits.of(id));
        match packet.role {
            Role::Fragment(cut) => self.fragment_received(cut, (id, &packet), times),
            _ => {
                self.delivered_by_hops(&packet, id);
                self.received(&packet, times, None);
            }
        }
    }

    /// A whole packet is at its destination: its `times` where delays count from the first bit,
    /// and its frame and wire bytes on the last line if they are not those of one packet.
    pub(super) fn received(
        &mut self,
        packet: &Packet,
        times: Option<Times>,
        layers: Option<(u32, u32)>,
    ) {
        let now = self.now_ps;
        let (open, close) = self.window;
        let flow = &mut self.flows[packet.flow as usize];
        if packet.back {
            if packet.measured.is_some() {
                flow.returned.delivered += 1;
                flow.returned.bytes_delivered += u64::from(packet.ip_bytes);
            }
        } else {
            if now > open && now <= close {
                let (frame, wire) = layers.unwrap_or_else(|| {
                    let hop = &mut self.hops[packet.hop as usize];
                    let bytes = hop.bytes(&self.ports[hop.port].port, packet.ip_bytes);
                    (bytes.frame, bytes.wire)
                });
                flow.meter.window.add(packet.ip_bytes, frame, wire);
            }
            if let Some(number) = packet.measured {
                let delay = match times {
                    Some(times) => times.delay_ps(),
                    None => now - packet.sent_ps,
                };
                (flow.meter).delivered(number, delay, now, packet.ip_bytes);
            }
        }
        if !matches!(packet.role, Role::Datagram) {
            self.converse(packet);
        }
    }
}

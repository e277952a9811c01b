//! Packets come to queues, from their sources and on their way.

use super::Simulation;
use crate::first_bit::Times;
use crate::hop_delay::FIRST_HOP;
use crate::item::Item;
use crate::packet::{HopId, Next, Packet, PacketId, Role};
use crate::sched::Offer;

impl Simulation {
    /// Gives a packet its place.
    #[inline(always)]
    pub(super) fn create(&mut self, packet: Packet) -> PacketId {
        let id = self.packets.insert(packet);
        if let Some(first_bits) = &mut self.first_bits {
            first_bits.created(id, Times::default());
        }
        if let Some(journeys) = &mut self.journeys {
            journeys.created(id, self.now_ps);
        }
        id
    }

    /// A packet comes from its source to a queue; it has a place only if it is kept.
    #[inline(always)]
    pub(super) fn launch(&mut self, mut packet: Packet, hop_id: HopId) {
        packet.hop = hop_id;
        let offer = self.offer(self.packets.vacant(), hop_id, packet.ip_bytes, true);
        match offer {
            Offer::Refused => {
                self.lost_on_hop(&packet, FIRST_HOP);
                return self.lost(&packet);
            }
            Offer::Marked => packet.ce = true,
            Offer::Kept | Offer::Displaced(_) => {}
        }
        self.create(packet);
        if let Offer::Displaced(item) = offer {
            self.displace(&item);
        }
        let port = self.hops[hop_id as usize].port;
        if !self.ports[port].port.hardware_full() {
            self.pump(port);
        }
    }

    /// A packet comes to the egress of a hop.
    pub(super) fn enter(&mut self, id: PacketId, hop_id: HopId) {
        let packet = self.packets.get_mut(id);
        let ip_bytes = packet.ip_bytes;
        packet.hop = hop_id;
        let whole = !matches!(packet.role, Role::Fragment(_));
        let mtu = self.ip_mtu(hop_id);
        if ip_bytes > mtu {
            self.cut(id, Next::Hop(hop_id), mtu);
            return;
        }
        match self.offer(id, hop_id, ip_bytes, whole) {
            Offer::Kept => {}
            Offer::Marked => self.packets.get_mut(id).ce = true,
            Offer::Refused => {
                self.lose(id);
                return;
            }
            Offer::Displaced(item) => self.displace(&item),
        }
        let port = self.hops[hop_id as usize].port;
        if !self.ports[port].port.hardware_full() {
            self.pump(port);
        }
    }

    #[inline]
    pub(super) fn ip_mtu(&self, hop: HopId) -> u32 {
        self.ports[self.hops[hop as usize].port].port.line.ip_mtu
    }

    /// Offers a packet that needs no cut to the queue of a hop. `whole`: it is no IP fragment.
    #[inline(always)]
    fn offer(&mut self, id: PacketId, hop_id: HopId, ip_bytes: u32, whole: bool) -> Offer {
        let now = self.now_ps;
        let hop = &mut self.hops[hop_id as usize];
        let port = &mut self.ports[hop.port].port;
        // RFC 2508 leaves the headers of fragments as they are.
        let bytes = match whole || hop.saved_header == 0 {
            true => hop.bytes(port, ip_bytes),
            false => port.bytes(ip_bytes, 0, hop.queue),
        };
        if hop.rule.is_some() {
            hop.hits.count(bytes.frame);
        }
        let offer = port.offer(hop.item(id, bytes, now), now);
        if matches!(offer, Offer::Refused) {
            hop.dropped += 1;
        }
        offer
    }

    /// A packet that waited is dropped for another.
    #[cold]
    fn displace(&mut self, item: &Item) {
        let victim = self.packets.get(item.packet).hop;
        self.hops[victim as usize].dropped += 1;
        self.lose(item.packet);
    }
}

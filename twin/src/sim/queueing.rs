//! Packets come to queues, from their sources and on their way.

use super::Simulation;
use crate::first_bit::Times;
use crate::hops::FIRST_HOP;
use crate::item::Item;
use crate::packet::{Next, Packet, PacketId, Role, StepId};
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
    pub(super) fn launch(&mut self, mut packet: Packet, step_id: StepId) {
        packet.step = step_id;
        let offer = self.offer(self.packets.vacant(), step_id, packet.ip_bytes, true);
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
        let port = self.steps[step_id as usize].port;
        if !self.ports[port].port.hardware_full() {
            self.pump(port);
        }
    }

    /// A packet comes to the egress of a step.
    pub(super) fn enter(&mut self, id: PacketId, step_id: StepId) {
        let packet = self.packets.get_mut(id);
        let ip_bytes = packet.ip_bytes;
        packet.step = step_id;
        let whole = !matches!(packet.role, Role::Fragment(_));
        let mtu = self.ip_mtu(step_id);
        if ip_bytes > mtu {
            self.cut(id, Next::Step(step_id), mtu);
            return;
        }
        match self.offer(id, step_id, ip_bytes, whole) {
            Offer::Kept => {}
            Offer::Marked => self.packets.get_mut(id).ce = true,
            Offer::Refused => {
                self.lose(id);
                return;
            }
            Offer::Displaced(item) => self.displace(&item),
        }
        let port = self.steps[step_id as usize].port;
        if !self.ports[port].port.hardware_full() {
            self.pump(port);
        }
    }

    #[inline]
    pub(super) fn ip_mtu(&self, step: StepId) -> u32 {
        self.ports[self.steps[step as usize].port].port.line.ip_mtu
    }

    /// Offers a packet that needs no cut to the queue of a step. `whole`: it is no IP fragment.
    #[inline(always)]
    fn offer(&mut self, id: PacketId, step_id: StepId, ip_bytes: u32, whole: bool) -> Offer {
        let now = self.now_ps;
        let step = &mut self.steps[step_id as usize];
        let port = &mut self.ports[step.port].port;
        // RFC 2508 leaves the headers of fragments as they are.
        let bytes = match whole || step.saved_header == 0 {
            true => step.bytes(port, ip_bytes),
            false => port.bytes(ip_bytes, 0, step.queue),
        };
        if step.rule.is_some() {
            step.hits.count(bytes.frame);
        }
        let offer = port.offer(step.item(id, bytes, now), now);
        if matches!(offer, Offer::Refused) {
            step.dropped += 1;
        }
        offer
    }

    /// A packet that waited is dropped for another.
    #[cold]
    fn displace(&mut self, item: &Item) {
        let victim = self.packets.get(item.packet).step;
        self.steps[victim as usize].dropped += 1;
        self.lose(item.packet);
    }
}

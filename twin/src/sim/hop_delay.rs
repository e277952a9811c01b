//! What each hop adds to a packet's delay, where the flow measures its hops.

use super::Simulation;
use crate::hop_delay::LossPlace;
use crate::packet::{Next, Packet, PacketId, Role};

impl Simulation {
    /// A packet is behind the line of its hop, and the node there has forwarded it to `next`.
    #[inline]
    pub(super) fn passed(&mut self, id: PacketId, next: Next) {
        if self.journeys.is_some() && next != Next::Drop {
            self.end_of_hop(id, next);
        }
    }

    #[cold]
    fn end_of_hop(&mut self, id: PacketId, next: Next) {
        let packet = self.packets.get(id);
        let measures_hops = !packet.back && self.flows[packet.flow as usize].hops.is_some();
        let Some(journeys) = self.journeys.as_mut().filter(|_| measures_hops) else {
            return;
        };
        let hop = &self.hops[packet.hop as usize];
        let port = &self.ports[hop.port].port;
        // Headers of IP fragments are never compressed.
        let saved = match packet.role {
            Role::Fragment(_) => 0,
            _ => hop.saved_header,
        };
        let gap = port.line.framing.gap_ps(port.line.rate_bps);
        let line = port.line_time_ps(packet.ip_bytes, saved, hop.queue);
        let sent = line.min(hop.reception.header_ps).saturating_sub(gap);
        let engine = match (next, hop.reception.forwarder) {
            (Next::Deliver, _) | (_, None) => 0,
            (_, Some(engine)) => self.forwarders[engine as usize].per_packet_ps,
        };
        let fixed = gap.saturating_add_signed(hop.reception.after_line_ps) + engine;
        journeys.passed(id, self.now_ps, (fixed, sent));
    }

    /// Where a packet is that was just lost.
    #[inline]
    pub(super) fn loss_place(&self, id: PacketId) -> Option<LossPlace> {
        self.journeys.as_ref().map(|journeys| journeys.lost_at(id))
    }

    /// A whole packet is lost at a hop.
    #[inline]
    pub(super) fn lost_on_hop(&mut self, packet: &Packet, at: LossPlace) {
        if packet.measured.is_some()
            && !packet.back
            && let Some(hops) = &mut self.flows[packet.flow as usize].hops
        {
            hops.lost(at);
        }
    }

    /// A whole packet is delivered, by the way of the one at `id`.
    #[inline]
    pub(super) fn delivered_by_hops(&mut self, packet: &Packet, id: PacketId) {
        if let Some(journeys) = &self.journeys
            && packet.measured.is_some()
            && !packet.back
            && let Some(hops) = &mut self.flows[packet.flow as usize].hops
        {
            let delay_ps = self.now_ps - packet.sent_ps;
            hops.delivered(journeys.of(id), packet.ip_bytes, delay_ps);
        }
    }
}

//! Flows that are answered: TCP connections and echoed probes.

use super::{Flow, Simulation};
use crate::event::Event;
use crate::packet::{FlowId, Packet, PacketId, Role};
use crate::source::Source;
use crate::source::tcp::{Arrival, End, Output, TimerId, connection_of};

impl Simulation {
    /// Gives every connection its place and schedules its start.
    pub(super) fn enlist_connections(&mut self) {
        let mut out = std::mem::take(&mut self.tcp_output);
        for (flow, at) in self.flows.iter_mut().enumerate() {
            if let Source::Tcp(tcp) = &mut at.source {
                for (index, connection) in tcp.connections.iter_mut().enumerate() {
                    connection.enlist(self.connections.len() as u32, &mut out);
                    self.connections.push((flow as FlowId, index as u32));
                }
            }
        }
        self.carry_out(0, out);
    }

    pub(super) fn tcp_timer(&mut self, timer: TimerId) {
        let (flow, index) = self.connections[connection_of(timer) as usize];
        if let Source::Tcp(tcp) = &mut self.flows[flow as usize].source {
            let mut out = std::mem::take(&mut self.tcp_output);
            let connection = &mut tcp.connections[index as usize];
            connection.fired(timer, self.now_ps, &mut tcp.record, &mut out);
            self.carry_out(flow, out);
        }
    }

    /// Sends what connections of a flow put out, schedules their timers, keeps the buffers.
    fn carry_out(&mut self, flow: FlowId, mut out: Output) {
        for segment in out.segments.drain(..) {
            let id = self.segments.insert(segment);
            let back = segment.from == End::Server;
            self.send(flow, segment.ip_bytes, Role::Tcp(id), back);
        }
        for (at_ps, timer) in out.timers.drain(..) {
            self.events.push(at_ps, Event::Tcp(timer));
        }
        self.tcp_output = out;
    }

    /// A probe is sent.
    pub(super) fn probe(&mut self, id: FlowId) {
        let now = self.now_ps;
        let Flow { source, stream, .. } = &mut self.flows[id as usize];
        if let Source::Echo(echo) = source {
            let ip_bytes = echo.ip_bytes;
            if let Some(next) = echo.send(now, stream) {
                self.events.push(next, Event::Source(id));
            }
            self.send(id, ip_bytes, Role::Probe, false);
        }
    }

    /// An answer leaves the far end.
    pub(super) fn answer(&mut self, id: PacketId) {
        let flow = &self.flows[self.packets.get(id).flow as usize];
        self.follow(id, flow.back.unwrap_or(flow.first));
    }

    /// A packet of a dialogue is delivered.
    pub(super) fn converse(&mut self, packet: &Packet) {
        let now = self.now_ps;
        let flow = &mut self.flows[packet.flow as usize];
        match (packet.role, &mut flow.source) {
            (Role::Tcp(header), Source::Tcp(tcp)) => {
                let segment = self.segments.remove(header);
                let (_, index) = self.connections[segment.connection as usize];
                let mut out = std::mem::take(&mut self.tcp_output);
                let connection = &mut tcp.connections[index as usize];
                let arrival = Arrival {
                    now_ps: now,
                    ce: packet.ce,
                };
                connection.received(&segment, arrival, &mut tcp.record, &mut out);
                self.carry_out(packet.flow, out);
            }
            (Role::Probe, Source::Echo(echo)) => {
                let (reply_bytes, at_ps) = (echo.reply_bytes, echo.answer_at(now));
                let answer = Packet {
                    ip_bytes: reply_bytes,
                    role: Role::Answer,
                    back: true,
                    measured: packet.measured.map(|_| 0),
                    ce: false,
                    ..*packet
                };
                flow.returned.sent += u64::from(answer.measured.is_some());
                let id = self.create(answer);
                if at_ps > now {
                    self.events.push(at_ps, Event::Answer(id));
                } else {
                    self.answer(id);
                }
            }
            (Role::Answer, Source::Echo(echo)) if packet.measured.is_some() => {
                echo.rtt.add(now - packet.sent_ps);
            }
            _ => {}
        }
    }

    /// A packet of a dialogue is lost.
    pub(super) fn miss(&mut self, packet: &Packet) {
        let source = &mut self.flows[packet.flow as usize].source;
        if let (Role::Tcp(header), Source::Tcp(tcp)) = (packet.role, source) {
            let segment = self.segments.remove(header);
            let is_ack = segment.number.is_none() && !segment.syn;
            tcp.record.acks_lost += u64::from(is_ack);
        }
    }
}

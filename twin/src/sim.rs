//! The simulation: events in time order, until the network is empty.

mod delivery;
mod dialogue;
mod forwarding;
mod fragments;
mod hop_delay;
mod queueing;

use crate::error::{RunError, ScenarioError};
use crate::event::{Event, EventQueue};
use crate::filters::{Filters, Side};
use crate::first_bit::FirstBits;
use crate::forward::Forwarder;
use crate::hop_delay::Journeys;
use crate::hops::Hop;
use crate::named::{NamedPool, NamedPort};
use crate::observe::Observer;
use crate::packet::{FilterId, FlowId, Next, Packet, PacketId, Role, Slab};
use crate::port::Action;
use crate::scenario::DelayReference;
use crate::source::Source;
use crate::source::tcp::{Output, Segments};
use crate::state::{Flow, RunState};
use forwarding::Forwarding;
use fragments::Reassembly;

/// Packets that may be under way at a time, each with some hundred bytes: more do not fit into
/// the memory of a small host, and waiting for them to end does not help.
pub const MOST_UNDER_WAY: usize = 1 << 22;
/// Events between two looks at the wish to stop.
const CHECK_EVERY: u64 = 1 << 18;
/// Events of the cool-down between two looks at whether all that was measured has ended.
const LOOK_EVERY: u64 = 1 << 8;

#[derive(Debug)]
pub struct Simulation {
    pub seed: u64,
    /// Measured: from here, to here.
    pub window: (u64, u64),
    pub flows: Vec<Flow>,
    pub hops: Vec<Hop>,
    pub filters: Filters,
    pub ports: Vec<NamedPort>,
    pub forwarders: Vec<Forwarder>,
    pub pools: Vec<NamedPool>,
    pub observer: Box<Observer>,
    packets: Slab,
    /// Present if delays count from the first bit.
    pub first_bits: Option<FirstBits>,
    /// Present if a flow asks what its hops add.
    journeys: Option<Journeys>,
    reassembly: Reassembly,
    forwarding: Forwarding,
    events: EventQueue,
    now_ps: u64,
    /// Nothing happens after this.
    until_ps: u64,
    /// Packets sent from here on are not measured.
    measured_until_ps: u64,
    /// Events so far.
    pub handled: u64,
    sizes: Vec<u32>,
    segments: Segments,
    /// Flow, and index in it, of every TCP connection.
    connections: Vec<(FlowId, u32)>,
    tcp_output: Output,
}

impl Simulation {
    pub fn new(seed: u64, reference: DelayReference, state: RunState) -> Self {
        let measures_hops = state.flows.iter().any(|flow| flow.hops.is_some());
        Self {
            seed,
            window: state.observer.window,
            flows: state.flows,
            hops: state.hops,
            filters: state.filters,
            forwarders: state.forwarders,
            ports: state.ports,
            pools: state.pools,
            observer: Box::new(state.observer),
            packets: Slab::default(),
            first_bits: (reference == DelayReference::FirstBit).then(FirstBits::default),
            journeys: measures_hops.then(Journeys::default),
            reassembly: Reassembly::default(),
            forwarding: Forwarding::default(),
            events: EventQueue::default(),
            now_ps: 0,
            until_ps: u64::MAX,
            measured_until_ps: u64::MAX,
            handled: 0,
            sizes: Vec::new(),
            segments: Segments::default(),
            connections: Vec::new(),
            tcp_output: Output::default(),
        }
    }

    /// Ends the run at `until_ps`, whatever is under way then.
    pub fn cut_off(&mut self, until_ps: u64) {
        self.until_ps = until_ps;
    }

    /// Measures nothing that is sent from the end of the window on, and ends the run when all sent
    /// in it has ended.
    pub fn cool_down(&mut self) {
        self.measured_until_ps = self.window.1;
    }

    /// Whether every measured packet is delivered or lost.
    fn all_ended(&self) -> bool {
        self.flows.iter().all(|flow| {
            let (there, back) = (&flow.meter, &flow.returned);
            there.sent == there.delivered + there.lost && back.sent == back.delivered + back.lost
        })
    }

    /// Runs until sources have stopped and the network is empty, or to the end of the cool-down.
    /// `interrupted` is asked now and then; true ends the run.
    pub fn run(&mut self, mut interrupted: impl FnMut() -> bool) -> Result<(), RunError> {
        for (id, flow) in self.flows.iter_mut().enumerate() {
            let id = id as FlowId;
            let (first, stop) = match &mut flow.source {
                Source::Open { source, stop_ps } => (source.first(&mut flow.stream), *stop_ps),
                Source::Echo(echo) => (echo.first_ps, echo.stop_ps),
                Source::Tcp(_) => continue,
            };
            if first < stop {
                self.events.push(first, Event::Source(id));
            }
        }
        self.enlist_connections();
        let mut boundary = 0;
        while let Some((at, event)) = self.events.pop() {
            if at == u64::MAX {
                let problem = "the network needs more than 213 days to drain";
                let hint = "raise the lowest line rate or shorten its queues";
                return Err(ScenarioError::new("links", problem, hint).into());
            }
            if at > self.until_ps {
                break;
            }
            if at >= self.measured_until_ps
                && self.handled.is_multiple_of(LOOK_EVERY)
                && self.all_ended()
            {
                break;
            }
            if at >= boundary {
                boundary = (self.observer).advance(at, &mut self.ports, &self.hops, &self.filters);
            }
            self.now_ps = at;
            self.handle(event);
            self.handled += 1;
            if self.packets.places() > MOST_UNDER_WAY {
                return Err(self.too_many().into());
            }
            if self.handled.is_multiple_of(CHECK_EVERY) && interrupted() {
                return Err(RunError::Interrupted);
            }
        }
        (self.observer).advance(u64::MAX, &mut self.ports, &self.hops, &self.filters);
        Ok(())
    }

    /// More packets are under way than are carried; most wait where a queue was longest.
    #[cold]
    fn too_many(&self) -> ScenarioError {
        let longest = |named: &&NamedPort| named.port.counters().map(|c| c.max_depth).max();
        let place = (self.ports.iter().max_by_key(longest)).map_or_else(String::new, |p| {
            format!(", most of them at {} {}", p.node, p.name)
        });
        let problem = format!(
            "more than {MOST_UNDER_WAY} packets are under way at {} ps{place}",
            self.now_ps
        );
        let hint = "shorten the queues, raise the line's rate or lower those of the sources";
        ScenarioError::new("nodes", problem, hint)
    }

    /// Packets neither delivered nor lost: none after a run that drains.
    pub fn under_way(&self) -> usize {
        self.packets.under_way()
    }

    /// Most packets and most events that were under way at a time.
    #[cfg(test)]
    pub fn footprint(&self) -> (usize, usize) {
        (self.packets.places(), self.events.places())
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Source(flow) => self.fire(flow),
            Event::Sent(port) => {
                let index = port as usize;
                if let Some(action) = self.ports[index].port.sent(self.now_ps) {
                    self.act(index, action);
                }
                self.pump(index);
            }
            Event::Arrival(packet) => self.arrive(packet),
            Event::Forwarded(packet) => self.forwarded(packet),
            Event::Wake(port) => self.pump(port as usize),
            Event::Tcp(timer) => self.tcp_timer(timer),
            Event::Answer(packet) => self.answer(packet),
        }
    }

    #[inline]
    fn fire(&mut self, id: FlowId) {
        let now = self.now_ps;
        let flow = &mut self.flows[id as usize];
        match &mut flow.source {
            Source::Open { source, stop_ps } => {
                if let Some((ip_bytes, next)) = source.send_one(now, &mut flow.stream) {
                    if next < *stop_ps {
                        self.events.push(next, Event::Source(id));
                    }
                    self.send(id, ip_bytes, Role::Datagram, false);
                    return;
                }
                let mut sizes = std::mem::take(&mut self.sizes);
                sizes.clear();
                let next = source.send(now, &mut flow.stream, &mut sizes);
                if next < *stop_ps {
                    self.events.push(next, Event::Source(id));
                }
                for ip_bytes in &sizes {
                    self.send(id, *ip_bytes, Role::Datagram, false);
                }
                self.sizes = sizes;
            }
            Source::Echo(_) => self.probe(id),
            Source::Tcp(_) => {}
        }
    }

    /// `back`: from the far end, on the way back.
    #[inline]
    fn send(&mut self, id: FlowId, ip_bytes: u32, role: Role, back: bool) {
        let now = self.now_ps;
        let flow = &mut self.flows[id as usize];
        let counts = (self.window.0..self.measured_until_ps).contains(&now);
        let (first, measured) = if back {
            flow.returned.sent += u64::from(counts);
            (flow.back.unwrap_or(flow.first), counts.then_some(0))
        } else if counts {
            let (frame, wire) = match flow.first {
                Next::Hop(first) => {
                    let first = &mut self.hops[first as usize];
                    let bytes = first.bytes(&self.ports[first.port].port, ip_bytes);
                    (bytes.frame, bytes.wire)
                }
                first => self.filters.layers(first, ip_bytes),
            };
            flow.meter.offered.add(ip_bytes, frame, wire);
            flow.sizes.add(ip_bytes);
            (flow.first, Some(flow.meter.sent(now)))
        } else {
            (flow.first, None)
        };
        let packet = Packet {
            flow: id,
            hop: 0,
            ip_bytes,
            role,
            sent_ps: now,
            back,
            measured,
            ce: false,
        };
        match first {
            Next::Hop(hop) if ip_bytes <= self.ip_mtu(hop) => self.launch(packet, hop),
            _ => {
                let id = self.create(packet);
                self.follow(id, first);
            }
        }
    }

    /// A packet goes on to what is next on its way.
    #[inline]
    fn follow(&mut self, id: PacketId, next: Next) {
        match next {
            Next::Hop(hop) => self.enter(id, hop),
            Next::Deliver => self.deliver(id),
            Next::Filter(filter) => self.pass(id, filter),
            Next::Drop => self.lose(id),
        }
    }

    /// A packet comes to the filters of an egress.
    fn pass(&mut self, id: PacketId, filter: FilterId) {
        let packet = self.packets.get(id);
        let mtu = self.filters.ip_mtu(filter);
        if packet.ip_bytes > mtu {
            self.cut(id, Next::Filter(filter), mtu);
            return;
        }
        let next = self.judge(id, filter);
        self.follow(id, next);
    }

    /// What filters of one side of a port make of a packet.
    fn judge(&mut self, id: PacketId, filter: FilterId) -> Next {
        let packet = self.packets.get(id);
        let whole = !matches!(packet.role, Role::Fragment(_));
        (self.filters).pass(filter, packet.ip_bytes, whole, self.now_ps, &mut self.ports)
    }

    #[inline]
    fn pump(&mut self, index: usize) {
        while let Some(action) = self.ports[index].port.pump(self.now_ps) {
            self.act(index, action);
            if matches!(action, Action::WakeAt(_)) {
                return;
            }
        }
    }

    #[inline]
    fn act(&mut self, index: usize, action: Action) {
        match action {
            Action::Transmit { unit, end_ps } => {
                let free_ps = end_ps.saturating_add(self.ports[index].port.line.extra_gap_ps);
                self.events.push(free_ps, Event::Sent(index as u32));
                if let Some(first_bits) = &mut self.first_bits
                    && unit.first
                {
                    first_bits.started(unit.packet, self.now_ps, &self.ports[index].port.line);
                }
                if unit.last {
                    let packet = self.packets.get(unit.packet);
                    let hop = &mut self.hops[packet.hop as usize];
                    hop.packets_out += 1;
                    hop.bytes_out += u64::from(packet.ip_bytes);
                    let reception = &hop.reception;
                    let in_ps = end_ps.min(self.now_ps.saturating_add(reception.header_ps));
                    let at = in_ps.saturating_add_signed(reception.after_line_ps);
                    self.events.push(at, Event::Arrival(unit.packet));
                }
            }
            Action::WakeAt(at) => self.events.push(at, Event::Wake(index as u32)),
        }
    }

    fn arrive(&mut self, id: PacketId) {
        let packet = self.packets.get(id);
        let hop = &mut self.hops[packet.hop as usize];
        let framing = self.ports[hop.port].port.line.framing;
        let bytes = framing.frame_bytes(packet.ip_bytes, false);
        let reception = &mut hop.reception;
        let (input, forwarder) = (reception.port, reception.forwarder);
        if reception.rule.is_some() {
            reception.hits.count(bytes);
        }
        let mut next = reception.next;
        if let Next::Filter(filter) = next
            && self.filters.side(filter) == Side::Ingress
        {
            next = self.judge(id, filter);
        }
        if let Some(journeys) = &mut self.journeys {
            journeys.received(id);
        }
        match (next, forwarder) {
            (Next::Hop(_) | Next::Filter(_), Some(forwarder)) => {
                self.forward(forwarder, input, id, next);
            }
            _ => {
                self.passed(id, next);
                self.follow(id, next);
            }
        }
    }
}

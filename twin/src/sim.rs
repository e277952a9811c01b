//! The simulation: events in time order, until the network is empty.

mod dialogue;

pub use dialogue::Returned;

use crate::error::{RunError, ScenarioError};
use crate::event::{Event, EventQueue};
use crate::first_bit::FirstBits;
use crate::framing::{carried, serialisation_ps};
use crate::measure::Meter;
use crate::observe::Observer;
use crate::packet::{FlowId, Packet, PacketId, Role, Slab, StepId};
use crate::police::TokenBucket;
use crate::port::{Action, Port};
use crate::queue::Item;
use crate::rng::Stream;
use crate::scenario::DelayReference;
use crate::sched::Offer;
use crate::source::Source;
use crate::source::tcp::{Output, Segments};
use crate::step::{Next, Step};

/// Events between two looks at the caller's wish to stop.
const CHECK_EVERY: u64 = 1 << 18;

/// A port and what its report needs.
#[derive(Debug)]
pub struct NamedPort {
    pub node: String,
    pub name: String,
    pub connected: bool,
    pub ingress_rules: usize,
    pub egress_rules: usize,
    /// Name of the one queue of flow-based fair queueing.
    pub fair_name: String,
    pub port: Port,
}

#[derive(Debug)]
pub struct Flow {
    pub name: String,
    pub source: Source,
    pub stream: Stream,
    pub first: StepId,
    /// First step of the way back.
    pub back: Option<StepId>,
    pub meter: Meter,
    /// Packets on the way back, counted as `meter` counts the others.
    pub returned: Returned,
}

#[derive(Debug)]
pub struct Simulation {
    pub seed: u64,
    /// Measured: from here, to here.
    pub window: (u64, u64),
    pub flows: Vec<Flow>,
    pub steps: Vec<Step>,
    pub ports: Vec<NamedPort>,
    policers: Vec<TokenBucket>,
    pub observer: Box<Observer>,
    packets: Slab,
    /// Present if delays count from the first bit.
    pub first_bits: Option<FirstBits>,
    events: EventQueue,
    now_ps: u64,
    /// Nothing happens after this.
    until_ps: u64,
    /// Events so far.
    pub handled: u64,
    sizes: Vec<u32>,
    segments: Segments,
    /// Flow, and index in it, of every TCP connection.
    connections: Vec<(FlowId, u32)>,
    tcp_output: Output,
}

impl Simulation {
    pub fn new(
        seed: u64,
        reference: DelayReference,
        flows: Vec<Flow>,
        steps: Vec<Step>,
        policers: Vec<TokenBucket>,
        ports: Vec<NamedPort>,
        observer: Observer,
    ) -> Self {
        Self {
            seed,
            window: observer.window,
            flows,
            steps,
            ports,
            policers,
            observer: Box::new(observer),
            packets: Slab::default(),
            first_bits: (reference == DelayReference::FirstBit).then(FirstBits::default),
            events: EventQueue::default(),
            now_ps: 0,
            until_ps: u64::MAX,
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

    /// Runs until sources have stopped and the network is empty. `interrupted` is asked now
    /// and then; true ends the run.
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
                let mend = "raise the lowest line rate or shorten its queues";
                return Err(ScenarioError::new("links", problem, mend).into());
            }
            if at > self.until_ps {
                break;
            }
            if at >= boundary {
                boundary = (self.observer).advance(at, &mut self.ports, &self.steps);
            }
            self.now_ps = at;
            self.handle(event);
            self.handled += 1;
            if self.handled.is_multiple_of(CHECK_EVERY) && interrupted() {
                return Err(RunError::Interrupted);
            }
        }
        (self.observer).advance(u64::MAX, &mut self.ports, &self.steps);
        Ok(())
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
        let counts = now >= self.window.0;
        let (first, measured) = if back {
            flow.returned.sent += u64::from(counts);
            (flow.back.unwrap_or(flow.first), counts.then_some(0))
        } else if counts {
            let step = &self.steps[flow.first as usize];
            let port = &self.ports[step.port].port;
            let (frame, wire) = port.layers(ip_bytes, step.compress, step.queue);
            flow.meter.offered.add(ip_bytes, frame, wire);
            (flow.first, Some(flow.meter.sent(now)))
        } else {
            (flow.first, None)
        };
        let packet = self.packets.insert(Packet {
            flow: id,
            step: first,
            ip_bytes,
            role,
            sent_ps: now,
            back,
            measured,
            ce: false,
        });
        if let Some(first_bits) = &mut self.first_bits {
            first_bits.created(packet);
        }
        self.enter(packet, first);
    }

    /// A packet comes to the egress of a step.
    fn enter(&mut self, id: PacketId, step_id: StepId) {
        let now = self.now_ps;
        let packet = self.packets.get_mut(id);
        let ip_bytes = packet.ip_bytes;
        packet.step = step_id;
        let mut step = &mut self.steps[step_id as usize];
        let index = step.port;
        let port = &mut self.ports[index].port;
        let carried = carried(ip_bytes, step.compress);
        let bytes = port.frame_bytes(carried, step.queue.into());
        step.hits.packets += 1;
        step.hits.bytes += u64::from(bytes);
        if let Some(policer) = step.policer
            && !self.policers[policer].conforms(bytes, now)
        {
            step.hits.exceeded += 1;
            let Some(other) = step.exceed else {
                step.dropped += 1;
                port.policed(step.queue);
                self.lose(id);
                return;
            };
            packet.step = other;
            step = &mut self.steps[other as usize];
        }
        let offer = port.offer(
            Item {
                packet: id,
                bytes,
                carried,
                order: 0,
                entered_ps: now,
                queue: step.queue,
                conversation: step.conversation,
                precedence: step.precedence,
                profile: step.profile,
            },
            now,
        );
        match offer {
            Offer::Kept => {}
            Offer::Refused => {
                step.dropped += 1;
                self.lose(id);
                return;
            }
            Offer::Displaced(item) => {
                let victim = self.packets.get(item.packet).step;
                self.steps[victim as usize].dropped += 1;
                self.lose(item.packet);
            }
        }
        self.pump(index);
    }

    #[inline]
    fn lose(&mut self, id: PacketId) {
        let packet = self.packets.remove(id);
        let flow = &mut self.flows[packet.flow as usize];
        if packet.measured.is_some() {
            if packet.back {
                flow.returned.lost += 1;
            } else {
                flow.meter.lost += 1;
            }
        }
        self.miss(&packet);
    }

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
                self.events.push(end_ps, Event::Sent(index as u32));
                if let Some(first_bits) = &mut self.first_bits
                    && unit.first
                {
                    let line = &self.ports[index].port.line;
                    let lead = serialisation_ps(line.framing.preamble_bytes(), line.rate_bps);
                    let at = self.now_ps.saturating_add(lead);
                    first_bits.started(unit.packet, at, line.delay_ps);
                }
                if unit.last {
                    let packet = self.packets.get(unit.packet);
                    let step = &mut self.steps[packet.step as usize];
                    step.packets_out += 1;
                    step.bytes_out += u64::from(packet.ip_bytes);
                    let at = end_ps.saturating_add_signed(step.reception.after_line_ps);
                    self.events.push(at, Event::Arrival(unit.packet));
                }
            }
            Action::WakeAt(at) => self.events.push(at, Event::Wake(index as u32)),
        }
    }

    fn arrive(&mut self, id: PacketId) {
        let now = self.now_ps;
        let packet = self.packets.get(id);
        let step = &mut self.steps[packet.step as usize];
        let framing = self.ports[step.port].port.line.framing;
        let bytes = framing.frame_bytes(packet.ip_bytes, false);
        let reception = &mut step.reception;
        reception.hits.packets += 1;
        reception.hits.bytes += u64::from(bytes);
        let mut next = reception.conform;
        if let Some(policer) = reception.policer
            && !self.policers[policer].conforms(bytes, now)
        {
            reception.hits.exceeded += 1;
            match reception.exceed {
                Some(marked) => next = marked,
                None => {
                    self.lose(id);
                    return;
                }
            }
        }
        match next {
            Next::Step(step) => self.enter(id, step),
            Next::Deliver => self.deliver(id),
        }
    }

    fn deliver(&mut self, id: PacketId) {
        let now = self.now_ps;
        let packet = self.packets.remove(id);
        let (open, close) = self.window;
        let flow = &mut self.flows[packet.flow as usize];
        if packet.back {
            if packet.measured.is_some() {
                flow.returned.delivered += 1;
                flow.returned.bytes_delivered += u64::from(packet.ip_bytes);
            }
        } else {
            if now > open && now <= close {
                let step = &self.steps[packet.step as usize];
                let (frame, wire) =
                    (self.ports[step.port].port).layers(packet.ip_bytes, step.compress, step.queue);
                flow.meter.window.add(packet.ip_bytes, frame, wire);
            }
            if let Some(number) = packet.measured {
                let delay = match &self.first_bits {
                    Some(first_bits) => first_bits.delay_ps(id),
                    None => now - packet.sent_ps,
                };
                (flow.meter).delivered(number, delay, now, packet.ip_bytes);
            }
        }
        if packet.role != Role::Datagram {
            self.converse(&packet);
        }
    }
}

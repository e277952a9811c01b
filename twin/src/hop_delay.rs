//! What each hop adds to the delay of a flow's packets, for flows that ask for it.
//!
//! A hop lasts from arrival at an egress port to arrival at the next one, or at the destination.
//! It is kept beside the packets, so that runs in which no flow asks pay nothing, and counted when
//! a packet is delivered: all hops then count the same packets, and their means add up to
//! the mean of the whole way.

use std::collections::BTreeMap;

use crate::histogram::Histogram;
use crate::moments::Moments;
use crate::packet::PacketId;

/// What one hop took of one packet.
#[derive(Debug, Clone, Copy)]
pub struct HopTime {
    /// Propagation and the node's fixed latency.
    pub fixed_ps: u64,
    /// Line time of the packet's own bits.
    pub serialisation_ps: u64,
    /// The rest: queues, shapers, others on the line, a random latency.
    pub waited_ps: u64,
}

/// Where a packet is on its way.
#[derive(Debug, Clone, Default)]
struct Journey {
    /// When it came to the egress of the hop it is in.
    entered_ps: u64,
    /// It has left that hop's line.
    received: bool,
    passed: Vec<HopTime>,
}

/// Where a packet was lost.
#[derive(Debug, Clone, Copy)]
pub struct LossPlace {
    pub hop: usize,
    /// At the far end of the hop's line: a policer of the input, or a forwarding engine.
    pub input: bool,
}

/// In the queue of its sender.
pub const FIRST_HOP: LossPlace = LossPlace {
    hop: 0,
    input: false,
};

/// The ways of the packets under way, by their place in the slab.
#[derive(Debug, Default)]
pub struct Journeys {
    places: Vec<Journey>,
}

impl Journeys {
    /// A packet comes from its source.
    pub fn created(&mut self, packet: PacketId, now_ps: u64) {
        let journey = self.place(packet);
        journey.entered_ps = now_ps;
        journey.received = false;
        journey.passed.clear();
    }

    /// A packet is cut: the fragment goes on from where the whole was.
    pub fn cut(&mut self, whole: PacketId, fragment: PacketId) {
        let before = self.places[whole as usize].clone();
        *self.place(fragment) = before;
    }

    fn place(&mut self, packet: PacketId) -> &mut Journey {
        let place = packet as usize;
        if place >= self.places.len() {
            self.places.resize(place + 1, Journey::default());
        }
        &mut self.places[place]
    }

    /// A packet has left the line of its hop.
    pub fn received(&mut self, packet: PacketId) {
        self.places[packet as usize].received = true;
    }

    /// A packet is through its hop, of which so much was fixed and line time.
    pub fn passed(
        &mut self,
        packet: PacketId,
        now_ps: u64,
        (fixed_ps, serialisation_ps): (u64, u64),
    ) {
        let journey = &mut self.places[packet as usize];
        let took = now_ps - journey.entered_ps;
        journey.passed.push(HopTime {
            fixed_ps,
            serialisation_ps,
            waited_ps: took.saturating_sub(fixed_ps + serialisation_ps),
        });
        journey.entered_ps = now_ps;
        journey.received = false;
    }

    /// Where a packet is that was just lost.
    pub fn lost_at(&self, packet: PacketId) -> LossPlace {
        let journey = &self.places[packet as usize];
        LossPlace {
            hop: journey.passed.len(),
            input: journey.received,
        }
    }

    /// The hops of a packet that was just delivered.
    pub fn of(&self, packet: PacketId) -> &[HopTime] {
        &self.places[packet as usize].passed
    }
}

/// What one hop did to a flow's measured packets: delays of those delivered in the end.
#[derive(Debug)]
pub struct HopMeter {
    pub port: usize,
    pub lost: u64,
    pub lost_input: u64,
    /// None before the first is delivered.
    pub fixed_ps: Option<u64>,
    pub serialisation: Moments,
    pub waiting: Moments,
    pub histogram: Histogram,
}

/// Delivered packets of one size.
#[derive(Debug, Default)]
pub struct SizeMeter {
    pub delay: Moments,
    /// What the way would have taken them without any waiting.
    pub unloaded: Moments,
}

/// A flow's way, hop by hop.
#[derive(Debug)]
pub struct FlowHops {
    pub hops: Vec<HopMeter>,
    /// By IP bytes.
    pub sizes: BTreeMap<u32, SizeMeter>,
}

impl FlowHops {
    /// Of a way by these egress ports.
    pub fn new(ports: &[usize]) -> Self {
        let meter = |port: &usize| HopMeter {
            port: *port,
            lost: 0,
            lost_input: 0,
            fixed_ps: None,
            serialisation: Moments::default(),
            waiting: Moments::default(),
            histogram: Histogram::default(),
        };
        Self {
            hops: ports.iter().map(meter).collect(),
            sizes: BTreeMap::new(),
        }
    }

    /// A measured packet of so many IP bytes arrived with this delay.
    pub fn delivered(&mut self, passed: &[HopTime], ip_bytes: u32, delay_ps: u64) {
        let mut unloaded_ps = 0;
        for (hop, passed) in self.hops.iter_mut().zip(passed) {
            hop.fixed_ps = Some(passed.fixed_ps);
            hop.serialisation.add(passed.serialisation_ps);
            hop.waiting.add(passed.waited_ps);
            hop.histogram.add(passed.waited_ps);
            unloaded_ps += passed.fixed_ps + passed.serialisation_ps;
        }
        let size = self.sizes.entry(ip_bytes).or_default();
        size.delay.add(delay_ps);
        size.unloaded.add(unloaded_ps);
    }

    /// A measured packet was lost.
    pub fn lost(&mut self, at: LossPlace) {
        if let Some(hop) = self.hops.get_mut(at.hop) {
            hop.lost += u64::from(!at.input);
            hop.lost_input += u64::from(at.input);
        }
    }
}

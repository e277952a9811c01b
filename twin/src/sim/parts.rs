//! What a simulation is made of.

use super::dialogue::Returned;
use crate::forward::Forwarder;
use crate::measure::Meter;
use crate::packet::StepId;
use crate::police::TokenBucket;
use crate::port::Port;
use crate::rng::Stream;
use crate::source::Source;
use crate::step::Step;

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
    /// When the packet received last comes to its egress, if the node has an engine.
    pub forwarded_ps: u64,
    /// Lost on input: too many waited for the node's engine.
    pub dropped_input: u64,
    pub port: Port,
}

/// Ports and what stands around them.
#[derive(Debug)]
pub struct Boxes {
    pub steps: Vec<Step>,
    pub policers: Vec<TokenBucket>,
    pub forwarders: Vec<Forwarder>,
    pub ports: Vec<NamedPort>,
}

#[derive(Debug)]
pub struct Flow {
    pub name: String,
    pub source: Source,
    pub stream: Stream,
    pub first: StepId,
    /// First step of the way back.
    pub back: Option<StepId>,
    pub sizes: Sizes,
    pub meter: Meter,
    /// Packets on the way back, counted as `meter` counts the others.
    pub returned: Returned,
}

/// IP bytes of the smallest and the largest packet sent.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub smallest: u32,
    pub largest: u32,
}

impl Sizes {
    /// Before the first packet.
    pub const NONE: Self = Self {
        smallest: u32::MAX,
        largest: 0,
    };

    pub fn add(&mut self, ip_bytes: u32) {
        if ip_bytes < self.smallest {
            self.smallest = ip_bytes;
        }
        if ip_bytes > self.largest {
            self.largest = ip_bytes;
        }
    }
}

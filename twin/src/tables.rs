//! What a scenario is built into: the tables a run works on.

use std::sync::Arc;

use crate::forward::Forwarder;
use crate::gates::Gates;
use crate::hops::FlowHops;
use crate::measure::{Meter, Sizes};
use crate::observe::Observer;
use crate::pool::Pool;
use crate::port::Port;
use crate::rng::Stream;
use crate::sim::Returned;
use crate::source::Source;
use crate::step::{Next, Step};

/// A pool and what its report needs.
#[derive(Debug)]
pub struct NamedPool {
    pub node: String,
    /// None: the whole node's.
    pub port: Option<String>,
    pub name: String,
    pub pool: Arc<Pool>,
}

/// A port and what its report needs.
#[derive(Debug)]
pub struct NamedPort {
    pub node: String,
    pub name: String,
    pub connected: bool,
    pub policers: PortPolicers,
    /// Name of the one queue of flow-based fair queueing.
    pub fair_name: String,
    /// When the packet received last comes to its egress, if the node has an engine.
    pub forwarded_ps: u64,
    /// Lost on input: too many waited for the node's engine.
    pub dropped_input: u64,
    pub port: Port,
}

/// Numbers of a port's policers.
#[derive(Debug)]
pub struct PortPolicers {
    /// Of the interface, in order.
    pub ingress: Vec<usize>,
    /// One entry per rule, `otherwise` last.
    pub ingress_rules: Vec<Option<usize>>,
    pub egress: Vec<usize>,
    pub egress_rules: Vec<Option<usize>>,
    /// By queue as the scenario lists them.
    pub queues: Vec<Option<usize>>,
}

#[derive(Debug)]
pub struct Flow {
    pub name: String,
    pub source: Source,
    pub stream: Stream,
    pub first: Next,
    /// What packets on the way back meet first.
    pub back: Option<Next>,
    pub sizes: Sizes,
    pub meter: Meter,
    /// The buckets of the meter's histogram are reported.
    pub histogram: bool,
    /// Present if asked for.
    pub hops: Option<Box<FlowHops>>,
    /// Packets on the way back, counted as `meter` counts the others.
    pub returned: Returned,
}

/// What a scenario is built into.
#[derive(Debug)]
pub struct Tables {
    pub flows: Vec<Flow>,
    pub steps: Vec<Step>,
    pub gates: Gates,
    pub forwarders: Vec<Forwarder>,
    pub ports: Vec<NamedPort>,
    pub pools: Vec<NamedPool>,
    pub observer: Observer,
}

//! The state of a run: what a scenario is built into.

use crate::counters::ReturnCounters;
use crate::filters::Filters;
use crate::forward::Forwarder;
use crate::hop_delay::FlowHops;
use crate::hops::Hop;
use crate::measure::{Meter, Sizes};
use crate::named::{NamedPool, NamedPort};
use crate::observe::Observer;
use crate::packet::Next;
use crate::rng::Stream;
use crate::source::Source;

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
    pub returned: ReturnCounters,
}

/// What a scenario is built into.
#[derive(Debug)]
pub struct RunState {
    pub flows: Vec<Flow>,
    pub hops: Vec<Hop>,
    pub filters: Filters,
    pub forwarders: Vec<Forwarder>,
    pub ports: Vec<NamedPort>,
    pub pools: Vec<NamedPool>,
    pub observer: Observer,
}

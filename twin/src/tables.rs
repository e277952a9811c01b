//! What a scenario is built into: the tables a run works on.

use crate::counters::Returned;
use crate::forward::Forwarder;
use crate::gates::Gates;
use crate::hops::FlowHops;
use crate::measure::{Meter, Sizes};
use crate::named::{NamedPool, NamedPort};
use crate::observe::Observer;
use crate::packet::Next;
use crate::rng::Stream;
use crate::source::Source;
use crate::step::Step;

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

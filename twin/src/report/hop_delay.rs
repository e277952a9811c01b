//! What each hop added to the delay of a flow's packets.

use schemars::JsonSchema;
use serde::Serialize;

use super::{DelayReport, delay_report};
use crate::hop_delay::{FlowHops, HopMeter};
use crate::sim::Simulation;

/// A flow's way, hop by hop.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HopsReport<'a> {
    steps: Vec<HopReport<'a>>,
    /// IP bytes, packets delivered, the least delay of any, and what the way takes without waiting.
    sizes: Vec<(u32, u64, u64, f64)>,
}

/// One hop. Losses are of all measured packets, delays of those delivered in the end.
#[derive(Debug, Serialize, JsonSchema)]
struct HopReport<'a> {
    node: &'a str,
    port: &'a str,
    lost: u64,
    lost_input: u64,
    fixed_ps: Option<u64>,
    serialisation_ps: RangeReport,
    waiting_ps: DelayReport,
    waiting_histogram: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RangeReport {
    mean: Option<f64>,
    min: Option<u64>,
    max: Option<u64>,
}

impl<'a> HopsReport<'a> {
    pub fn new(simulation: &'a Simulation, hops: &FlowHops) -> Self {
        let step = |hop: &HopMeter| HopReport {
            node: &simulation.ports[hop.port].node,
            port: &simulation.ports[hop.port].name,
            lost: hop.lost,
            lost_input: hop.lost_input,
            fixed_ps: hop.fixed_ps,
            serialisation_ps: RangeReport {
                mean: hop.serialisation.mean(),
                min: hop.serialisation.min(),
                max: hop.serialisation.max(),
            },
            waiting_ps: delay_report(&hop.waiting, &hop.histogram),
            waiting_histogram: hop.histogram.buckets(),
        };
        let sizes = hops.sizes.iter().filter_map(|(bytes, of)| {
            let (least, unloaded) = (of.delay.min()?, of.unloaded.mean()?);
            Some((*bytes, of.delay.count(), least, unloaded))
        });
        Self {
            steps: hops.hops.iter().map(step).collect(),
            sizes: sizes.collect(),
        }
    }
}

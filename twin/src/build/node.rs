//! How a node gets packets from its ingress ports to its egress ports.

use super::network::in_time;
use crate::error::ScenarioError;
use crate::forward::Forwarder;
use crate::framing::serialisation_ps;
use crate::line::Line;
use crate::rng::Stream;
use crate::scenario::{FramingSpec, NodeSpec, Switching};

/// Destination and source address and type.
const ETHERNET_HEADER: u32 = 14;
/// IOS: default input hold queue.
const INPUT_HOLD_QUEUE: u64 = 75;

/// What routes must know of a node.
#[derive(Debug, Clone, Copy)]
pub struct NodeFacts {
    pub latency_ps: u64,
    /// Index of its forwarding engine.
    pub forwarder: Option<u32>,
    /// Forwards once so many bytes of a frame are in.
    cut_through: Option<u32>,
}

impl NodeFacts {
    /// `Reception::header_ps` of frames that come on line `from` and go on line `to`. A line of
    /// another rate or kind would run dry in the middle of the frame or need it rewritten.
    pub fn header_ps(&self, from: &Line, to: &Line) -> u64 {
        let ethernet = from.framing.kind == FramingSpec::Ethernet;
        let alike = from.rate_bps == to.rate_bps
            && from.framing.kind == to.framing.kind
            && to.ip_mtu == u32::MAX;
        match self.cut_through {
            Some(bytes) if ethernet && alike => {
                let header = from.framing.preamble_bytes().saturating_add(bytes);
                serialisation_ps(header, from.rate_bps)
                    .saturating_add(from.framing.gap_ps(from.rate_bps))
            }
            _ => u64::MAX,
        }
    }
}

/// Checks a node; its engine, if it has one, is added to the run's.
pub fn read_node(
    spec: &NodeSpec,
    path: &str,
    seed: u64,
    forwarders: &mut Vec<Forwarder>,
) -> Result<NodeFacts, ScenarioError> {
    for (value, field) in [
        (spec.latency_ps, "latency_ps"),
        (spec.latency_jitter_ps, "latency_jitter_ps"),
        (spec.per_packet_ps, "per_packet_ps"),
    ] {
        in_time(value, format!("{path}.{field}"))?;
    }
    if let Some(bytes) = spec.cut_through_bytes {
        let at = format!("{path}.cut_through_bytes");
        if spec.switching == Switching::StoreAndForward {
            let problem = "the node stores whole frames";
            return Err(ScenarioError::new(
                at,
                problem,
                "set switching: cut_through",
            ));
        }
        if bytes < ETHERNET_HEADER {
            let problem = "the frame's destination and type are not in yet";
            let hint = format!("use at least {ETHERNET_HEADER}");
            return Err(ScenarioError::new(at, problem, hint));
        }
    }
    if spec.input_queue_packets.is_some() && spec.per_packet_ps == 0 {
        let at = format!("{path}.input_queue_packets");
        let problem = "nothing waits for an engine that takes no time";
        return Err(ScenarioError::new(at, problem, "give per_packet_ps too"));
    }
    let engine = spec.per_packet_ps > 0 || spec.latency_jitter_ps > 0;
    let forwarder = engine.then(|| {
        forwarders.push(Forwarder::new(
            spec.per_packet_ps,
            spec.input_queue_packets.unwrap_or(INPUT_HOLD_QUEUE),
            spec.latency_jitter_ps,
            Stream::new(seed, &format!("node {}", spec.name)),
        ));
        (forwarders.len() - 1) as u32
    });
    Ok(NodeFacts {
        latency_ps: spec.latency_ps,
        forwarder,
        cut_through: match spec.switching {
            Switching::StoreAndForward => None,
            Switching::CutThrough => Some(spec.cut_through_bytes.unwrap_or(ETHERNET_HEADER)),
        },
    })
}

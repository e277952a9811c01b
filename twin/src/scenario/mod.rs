//! The scenario as written: version 1 of the JSON contract.
//!
//! Only shapes live here; meaning is checked where it is used (`crate::build`,
//! `crate::sched`, `crate::source`), each error naming its JSON path.

mod matching;
mod parse;
mod port;
mod queue;

pub use matching::MatchSpec;
pub use parse::{parse_kind, parse_part, parse_scenario};
pub use port::{
    COMPRESSED_HEADER, Colour, EgressOtherwise, EgressSpec, IngressSpec, ListedPolice, MarkSpec,
    PortSpec, SeriesSpec, ShapeSpec,
};
pub use queue::{
    FlowOrderSpec, PoolSpec, QueueSpec, RedProfileSpec, RedSpec, RedUnit, Spacing, ThresholdSpec,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::source::SourceSchema;

/// The version of the contract this crate reads and writes.
pub const VERSION: u32 = 1;

/// A network, what is sent through it, and for how long.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub version: u32,
    /// The measured window ends here, and sources stop; then the network drains.
    pub duration_ps: u64,
    /// Sources go on for up to so long after the window, until what was sent in it has ended: its
    /// last packets then meet the traffic that its other ones met.
    #[serde(default)]
    pub cool_down_ps: u64,
    /// Packets sent before this are carried but not measured.
    #[serde(default)]
    pub warmup_ps: u64,
    /// Let the network drain after the end; else what is under way then is reported as unfinished.
    #[serde(default = "drains")]
    pub drain: bool,
    #[serde(default)]
    pub delay_reference: DelayReference,
    pub nodes: Vec<NodeSpec>,
    pub links: Vec<LinkSpec>,
    pub flows: Vec<FlowSpec>,
}

/// Where delays begin and end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayReference {
    /// From arrival in the sender's egress queue to reception of the last bit.
    #[default]
    Arrival,
    /// From the first bit leaving the sender to the same bit reaching the receiver.
    FirstBit,
}

/// A device or host.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    pub name: String,
    /// Time from full reception to arrival in the egress queue.
    #[serde(default)]
    pub latency_ps: u64,
    /// A random time from 0 to this comes to it; packets of one input keep their order.
    #[serde(default)]
    pub latency_jitter_ps: u64,
    /// Time of one packet in the forwarding engine that the ports share.
    #[serde(default)]
    pub per_packet_ps: u64,
    /// Packets that may wait for the engine.
    #[serde(default)]
    pub input_queue_packets: Option<u64>,
    #[serde(default)]
    pub switching: Switching,
    /// Frame bytes that must be in before a cut-through node forwards.
    #[serde(default)]
    pub cut_through_bytes: Option<u32>,
    #[serde(default)]
    pub ports: Vec<PortSpec>,
    /// Buffer that queues of several ports share.
    #[serde(default)]
    pub pools: Vec<PoolSpec>,
}

/// When a node may begin to forward a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switching {
    #[default]
    StoreAndForward,
    CutThrough,
}

/// A full-duplex link between two ports.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    pub a: (String, String),
    pub b: (String, String),
    pub rate_bps: u64,
    #[serde(default)]
    pub delay_ps: u64,
    pub framing: FramingSpec,
    /// Frames carry an 802.1Q tag, and with it the CoS (Ethernet only).
    #[serde(default)]
    pub tagged: bool,
    /// Multilink sequence numbers of 12 bits (RFC 1990; mlppp only).
    #[serde(default)]
    pub short_sequence: bool,
}

/// What a link adds to an IP packet; figures in `crate::framing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FramingSpec {
    None,
    Ethernet,
    Hdlc,
    Ppp,
    Mlppp,
    FrameRelay,
    /// AAL5, LLC/SNAP encapsulation.
    Atm,
    /// AAL5, one protocol to the circuit.
    AtmMux,
}

/// A stream of packets along a fixed path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    pub name: String,
    /// Egress ports (node, port) hop by hop.
    pub path: Vec<(String, String)>,
    /// TCP only: the way of the acknowledgements.
    #[serde(default)]
    pub return_path: Option<Vec<(String, String)>>,
    #[serde(default)]
    pub packet: PacketSpec,
    /// Read by `crate::source` according to its `kind`.
    #[schemars(with = "SourceSchema")]
    pub source: Value,
    /// Report measured packets one by one.
    #[serde(default)]
    pub samples: bool,
    /// With `samples`: one packet in this many, beginning with the first.
    #[serde(default = "every_packet")]
    pub sample_every: u64,
    /// Report how many delays lie in each bucket.
    #[serde(default = "reported")]
    pub histogram: bool,
    /// Report what each hop of the way adds to the delay.
    #[serde(default)]
    pub hops: bool,
}

fn drains() -> bool {
    true
}

fn reported() -> bool {
    true
}

fn every_packet() -> u64 {
    1
}

/// Header fields every packet of a flow leaves its host with.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketSpec {
    pub dscp: u8,
    pub cos: u8,
    pub protocol: Option<u8>,
    pub src: Option<String>,
    pub dst: Option<String>,
    pub src_port: Option<u16>,
    pub dst_port: Option<u16>,
    pub application: Option<String>,
    pub vlan: Option<u16>,
    pub src_mac: Option<String>,
    pub dst_mac: Option<String>,
    pub ecn: EcnSpec,
}

/// What a flow's packets say in the ECN field (RFC 3168).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnSpec {
    #[default]
    NotEct,
    /// Routers may mark them instead of dropping them; acknowledgements never are.
    Ect,
}

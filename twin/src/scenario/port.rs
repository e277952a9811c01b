//! A port as written: classifiers, markers, policers, queues.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{MatchSpec, PoolSpec, QueueSpec};
use crate::police::PolicerSchema;
use crate::sched::SchedulerSchema;

/// One port; without `egress` it is a plain FIFO of 1000 packets, without `ingress` marks are kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    pub name: String,
    #[serde(default)]
    pub ingress: Option<IngressSpec>,
    #[serde(default)]
    pub egress: Option<EgressSpec>,
}

/// Marking and policing of what arrives: the interface's policers, then the first matching rule.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IngressSpec {
    pub police: Vec<ListedPolice>,
    pub rules: Vec<IngressRule>,
    pub otherwise: IngressOtherwise,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IngressRule {
    #[serde(rename = "match", default)]
    pub matching: MatchSpec,
    #[serde(default)]
    pub set: Option<MarkSpec>,
    #[serde(default)]
    #[schemars(with = "Option<PolicerSchema>")]
    pub police: Option<Value>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IngressOtherwise {
    pub dscp: Option<u8>,
    pub precedence: Option<u8>,
    pub cos: Option<u8>,
    pub group: Option<u8>,
    pub colour: Option<Colour>,
    #[schemars(with = "Option<PolicerSchema>")]
    pub police: Option<Value>,
}

/// One policer of an interface: they are asked in order, before any rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedPolice {
    #[serde(rename = "match", default)]
    pub matching: MatchSpec,
    /// Read by `crate::police` according to its `kind`.
    #[schemars(with = "PolicerSchema")]
    pub police: Value,
}

/// Drop precedence inside a node (RFC 2697's colours).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    #[default]
    Green,
    Yellow,
    Red,
}

/// New marks; what is absent stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MarkSpec {
    pub dscp: Option<u8>,
    /// The class selector of this precedence; not beside `dscp`.
    pub precedence: Option<u8>,
    pub cos: Option<u8>,
    /// Does not leave the node.
    pub group: Option<u8>,
    /// Does not leave the node.
    pub colour: Option<Colour>,
}

/// Queueing of what leaves.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EgressSpec {
    #[serde(default)]
    pub police: Vec<ListedPolice>,
    #[serde(default)]
    pub rules: Vec<EgressRule>,
    #[serde(default)]
    pub otherwise: EgressOtherwise,
    #[serde(default)]
    pub queues: Vec<QueueSpec>,
    /// Buffer this port's queues share.
    #[serde(default)]
    pub pools: Vec<PoolSpec>,
    /// Read by `crate::sched` according to its `kind`.
    #[schemars(with = "SchedulerSchema")]
    pub scheduler: Value,
    /// Of all queues together.
    #[serde(default)]
    pub shape: Option<ShapeSpec>,
    /// Packets (or fragments) the hardware holds, the one on the wire included.
    #[serde(default = "one")]
    pub tx_fifo_packets: u32,
    /// Beyond those, the hardware takes more as long as it holds fewer line bytes than this.
    #[serde(default)]
    pub tx_fifo_bytes: u64,
    /// Time that the line stays silent after each frame or fragment, beyond the framing's gap.
    #[serde(default)]
    pub extra_gap_ps: u64,
    /// IP bytes carried by one fragment of the link (mlppp, FRF.12).
    #[serde(default)]
    pub fragment_bytes: Option<u32>,
    #[serde(default)]
    pub interleave: bool,
    /// Priority packets have sequences of their own, and are cut as well (RFC 2686).
    #[serde(default)]
    pub multiclass: bool,
    #[serde(default)]
    pub header_compression: bool,
    /// What header compression leaves of the 40 bytes.
    #[serde(default = "compressed_header")]
    pub compressed_header_bytes: u32,
    /// Larger packets are cut by IP before they are queued.
    #[serde(default)]
    pub ip_mtu: Option<u32>,
    /// Report each queue's waits as a histogram.
    #[serde(default)]
    pub wait_histogram: bool,
    /// Report what left each queue by interval.
    #[serde(default)]
    pub series: Option<SeriesSpec>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesSpec {
    pub every_ps: u64,
}

/// RFC 2508 with the UDP checksum kept.
pub const COMPRESSED_HEADER: u32 = 4;

fn compressed_header() -> u32 {
    COMPRESSED_HEADER
}

fn one() -> u32 {
    1
}

/// A shaper over frame bytes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeSpec {
    pub rate_bps: u64,
    pub burst_bytes: u64,
    /// A frame waits for tokens for the whole of it, as in Linux's `sch_tbf`; false: one may
    /// leave the bucket in debt.
    #[serde(default)]
    pub whole_frames: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EgressRule {
    #[serde(rename = "match", default)]
    pub matching: MatchSpec,
    pub queue: usize,
    #[serde(default)]
    pub set: Option<MarkSpec>,
    #[serde(default)]
    #[schemars(with = "Option<PolicerSchema>")]
    pub police: Option<Value>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EgressOtherwise {
    pub queue: usize,
    pub set: Option<MarkSpec>,
    #[schemars(with = "Option<PolicerSchema>")]
    pub police: Option<Value>,
}

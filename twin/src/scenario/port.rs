//! A port as written: classifiers, markers, policers, queues.

use serde::Deserialize;
use serde_json::Value;

use super::MatchSpec;

/// One port; without `egress` it is a plain FIFO of 1000 packets, without `ingress` marks are kept.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    pub name: String,
    #[serde(default)]
    pub ingress: Option<IngressSpec>,
    #[serde(default)]
    pub egress: Option<EgressSpec>,
}

/// Marking and policing of what arrives; the first matching rule wins.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IngressSpec {
    pub rules: Vec<IngressRule>,
    pub otherwise: IngressOtherwise,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngressRule {
    #[serde(rename = "match", default)]
    pub matching: MatchSpec,
    #[serde(default)]
    pub set: Option<MarkSpec>,
    #[serde(default)]
    pub police: Option<PoliceSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IngressOtherwise {
    pub dscp: Option<u8>,
    pub cos: Option<u8>,
    pub group: Option<u8>,
    pub police: Option<PoliceSpec>,
}

/// New marks; what is absent stays as it was.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MarkSpec {
    pub dscp: Option<u8>,
    pub cos: Option<u8>,
    /// Does not leave the node.
    pub group: Option<u8>,
}

/// A single-rate two-colour policer over frame bytes, shared by all flows that hit its rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoliceSpec {
    pub rate_bps: u64,
    pub burst_bytes: u64,
    /// Marks for what exceeds; absent: it is dropped.
    #[serde(default)]
    pub exceed: Option<MarkSpec>,
}

/// Queueing of what leaves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressSpec {
    #[serde(default)]
    pub rules: Vec<EgressRule>,
    #[serde(default)]
    pub otherwise: EgressOtherwise,
    #[serde(default)]
    pub queues: Vec<QueueSpec>,
    /// Read by `crate::sched` according to its `kind`.
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

#[derive(Debug, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeSpec {
    pub rate_bps: u64,
    pub burst_bytes: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressRule {
    #[serde(rename = "match", default)]
    pub matching: MatchSpec,
    pub queue: usize,
    #[serde(default)]
    pub set: Option<MarkSpec>,
    #[serde(default)]
    pub police: Option<PoliceSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EgressOtherwise {
    pub queue: usize,
    pub set: Option<MarkSpec>,
    pub police: Option<PoliceSpec>,
}

/// One queue; at least one limit must be given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    pub name: String,
    #[serde(default)]
    pub limit_packets: Option<u64>,
    /// In frame bytes.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
    #[serde(default)]
    pub red: Option<RedSpec>,
    #[serde(default)]
    pub fair_queue: Option<FlowOrderSpec>,
}

/// Flow-based fair queueing inside one queue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOrderSpec {
    /// Hash buckets; flows in one bucket are one conversation.
    #[serde(default = "two_hundred_and_fifty_six")]
    pub dynamic_queues: u16,
}

/// What IOS takes on fast lines.
fn two_hundred_and_fifty_six() -> u16 {
    256
}

/// (Weighted) random early detection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// The average moves by 2^-this of the difference.
    #[serde(default = "nine")]
    pub weight_exponent: u32,
    #[serde(default)]
    pub unit: RedUnit,
    #[serde(default)]
    pub profiles: Vec<RedProfileSpec>,
    /// For marks no profile names; absent: those are only tail-dropped.
    #[serde(default)]
    pub default: Option<RedProfileSpec>,
}

/// IOS's default exponential weighting constant.
fn nine() -> u32 {
    9
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RedUnit {
    #[default]
    Packets,
    Bytes,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedProfileSpec {
    #[serde(default)]
    pub match_dscp: Option<Vec<u8>>,
    #[serde(default)]
    pub precedence: Option<Vec<u8>>,
    pub min: u64,
    pub max: u64,
    pub mark_denominator: u64,
}

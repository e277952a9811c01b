//! Queues, drop profiles and shared buffers as written.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Colour, MatchSpec};
use crate::police::PolicerSchema;

/// One queue; at least one limit or a pool must be given.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    pub name: String,
    #[serde(default)]
    pub limit_packets: Option<u64>,
    /// In frame bytes.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
    /// The bytes sent in this time at `drain_bps`.
    #[serde(default)]
    pub limit_ps: Option<u64>,
    /// Rate that turns times into bytes; absent: the line rate.
    #[serde(default)]
    pub drain_bps: Option<u64>,
    #[serde(default)]
    pub red: Option<RedSpec>,
    /// Lower limits for some packets; the first that matches counts.
    #[serde(default)]
    pub thresholds: Vec<ThresholdSpec>,
    /// A policer in front of the queue, read by `crate::police`.
    #[serde(default)]
    #[schemars(with = "Option<PolicerSchema>")]
    pub police: Option<Value>,
    /// Name of the pool its packets lie in.
    #[serde(default)]
    pub pool: Option<String>,
    #[serde(default)]
    pub reserved_packets: Option<u64>,
    #[serde(default)]
    pub reserved_bytes: Option<u64>,
    /// Dynamic threshold: share of the pool's free space one queue may hold.
    #[serde(default)]
    pub alpha: Option<f64>,
    #[serde(default)]
    pub fair_queue: Option<FlowOrderSpec>,
}

/// Flow-based fair queueing inside one queue.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
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

/// A depth of the queue from which on the packets that match are dropped (WTD).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSpec {
    #[serde(rename = "match", default)]
    pub matching: MatchSpec,
    #[serde(default)]
    pub packets: Option<u64>,
    /// In frame bytes.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Of each of the queue's limits.
    #[serde(default)]
    pub percent: Option<u64>,
}

/// Buffer shared by queues of a port or node; exactly one size.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolSpec {
    pub name: String,
    #[serde(default)]
    pub packets: Option<u64>,
    /// In frame bytes.
    #[serde(default)]
    pub bytes: Option<u64>,
}

/// (Weighted) random early detection.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// The average moves by 2^-this of the difference.
    #[serde(default = "nine")]
    pub weight_exponent: u32,
    #[serde(default)]
    pub unit: RedUnit,
    /// Packet size assumed for what an idle line could have sent.
    #[serde(default = "five_hundred")]
    pub mean_packet_bytes: u32,
    /// While the queue is empty the average decays as if small packets had passed; false: it
    /// stays, as that of Linux's `sch_red` below a class of `htb`, which asks no empty queue.
    #[serde(default = "yes")]
    pub idle_decay: bool,
    /// Between `max` and its double the drop probability grows on to 1 (Floyd 2000).
    #[serde(default)]
    pub gentle: bool,
    #[serde(default)]
    pub spacing: Spacing,
    /// Marks packets of ECN-capable flows where it would drop them below `max`.
    #[serde(default)]
    pub ecn: bool,
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

fn five_hundred() -> u32 {
    500
}

fn yes() -> bool {
    true
}

/// What the average and the thresholds count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RedUnit {
    #[default]
    Packets,
    Bytes,
    /// Of the queue's limit in packets, else of the one in bytes.
    Percent,
    /// Bytes sent in so many picoseconds at the queue's `drain_bps`.
    Ps,
}

/// How early drops follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Each packet by itself: geometric gaps.
    #[default]
    Independent,
    /// Gaps spread evenly up to the inverse of the probability (Floyd and Jacobson, section IV).
    Uniform,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedProfileSpec {
    #[serde(default)]
    pub match_dscp: Option<Vec<u8>>,
    #[serde(default)]
    pub precedence: Option<Vec<u8>>,
    #[serde(default)]
    pub cos: Option<Vec<u8>>,
    #[serde(default)]
    pub colour: Option<Vec<Colour>>,
    pub min: u64,
    pub max: u64,
    pub mark_denominator: u64,
}

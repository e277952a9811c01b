//! Steps: what happens to one flow's packets, with one set of marks, at one port and at the far
//! end of its link. All classification is done when they are made.

use crate::observe::StepState;
use crate::packet::{FlowId, StepId};
use crate::red::ProfileIndex;

/// What follows a reception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Deliver,
    Step(StepId),
}

/// Packets and frame bytes that met a rule.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hits {
    pub packets: u64,
    pub bytes: u64,
    /// Above the rule's policer.
    pub exceeded: u64,
}

/// Ingress at the far end.
#[derive(Debug, Clone)]
pub struct Reception {
    pub port: usize,
    pub rule: usize,
    pub policer: Option<usize>,
    pub conform: Next,
    /// None: what exceeds is dropped.
    pub exceed: Option<Next>,
    /// From the end of the line time to arrival at what follows: propagation, and the node's
    /// latency if it forwards, less the gap after the last bit.
    pub after_line_ps: i64,
    /// From the start of the line time until cut-through forwarding begins, were there no
    /// `after_line_ps`; `u64::MAX`: not before the end.
    pub header_ps: u64,
    /// The node's engine, if it forwards through one.
    pub forwarder: Option<u32>,
    pub hits: Hits,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub flow: FlowId,
    pub port: usize,
    pub rule: usize,
    pub policer: Option<usize>,
    /// None: what exceeds is dropped.
    pub exceed: Option<StepId>,
    pub queue: u16,
    pub conversation: u16,
    pub precedence: u8,
    pub profile: ProfileIndex,
    /// Bytes that RTP headers lose to compression on this line.
    pub saved_header: u32,
    pub hits: Hits,
    pub dropped: u64,
    /// Sent onto the line: packets and IP bytes.
    pub packets_out: u64,
    pub bytes_out: u64,
    pub reception: Reception,
}

impl Step {
    /// What it has counted so far.
    pub fn state(&self) -> StepState {
        StepState {
            packets_in: self.hits.packets,
            dropped: self.dropped,
            packets_out: self.packets_out,
            bytes_out: self.bytes_out,
        }
    }
}

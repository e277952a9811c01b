//! Ports and pools with the names by which they are reported.

use std::sync::Arc;

use crate::pool::Pool;
use crate::port::Port;

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

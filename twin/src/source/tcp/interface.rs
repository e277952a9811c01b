//! What passes between a connection and the simulation.

use super::segment::Segment;

/// A timer of a connection, as an event names it: the connection among the run's and which.
pub type TimerId = u32;
/// Timers of one connection.
pub const TIMERS: u32 = 6;
/// Of each end, in this order; the client's first.
pub const RETRANSMISSION: u32 = 0;
pub const DELAYED_ACK: u32 = 1;
pub const APPLICATION: u32 = 2;
pub const PER_END: u32 = 3;

/// What a call wants done, in buffers that are kept.
#[derive(Debug, Default)]
pub struct Output {
    pub segments: Vec<Segment>,
    pub timers: Vec<(u64, TimerId)>,
    /// Data segments that a sender emits; empty between calls.
    pub numbers: Vec<u64>,
}

/// How a packet arrives.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub now_ps: u64,
    /// Congestion experienced.
    pub ce: bool,
}

/// The connection a timer belongs to.
pub fn connection_of(timer: TimerId) -> u32 {
    timer / TIMERS
}

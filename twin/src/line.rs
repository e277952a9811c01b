//! An outgoing line: the link's properties, what the port does to fit packets onto it, and what packets are there.

use crate::framing::Framing;

/// Fixed properties of a port and its outgoing line.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub rate_bps: u64,
    pub delay_ps: u64,
    pub framing: Framing,
    pub tx_fifo: usize,
    /// More are taken as long as those held have fewer line bytes than this.
    pub tx_fifo_bytes: u64,
    /// Silence after each unit, beyond the framing's gap.
    pub extra_gap_ps: u64,
    pub fragment: Option<u32>,
    pub interleave: bool,
    pub multiclass: bool,
    /// Bytes that RTP packets lose to header compression.
    pub saved_header: u32,
    pub ip_mtu: u32,
}

/// What a packet of so many IP bytes is on a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineBytes {
    pub ip: u32,
    /// IP bytes after header compression.
    pub carried: u32,
    /// Those of all fragments.
    pub frame: u32,
    pub wire: u32,
}

//! Hops: what happens to one flow's packets, with one set of marks, at one port and
//! at the far end of its link. All classification is done when they are made.

use crate::admission::ProfileIndex;
use crate::counters::{FlowCounters, Hits};
use crate::item::Item;
use crate::line::LineBytes;
use crate::packet::{FlowId, Next, PacketId};
use crate::port::Port;

/// What arrives at the far end.
#[derive(Debug, Clone)]
pub struct Reception {
    pub port: usize,
    /// The ingress rule; None: a filter counts it.
    pub rule: Option<usize>,
    pub next: Next,
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

/// A hop: a place in a queue of a port, and what follows behind its line.
#[derive(Debug, Clone)]
pub struct Hop {
    pub flow: FlowId,
    pub port: usize,
    /// The egress rule; None: a filter counts it.
    pub rule: Option<usize>,
    pub queue: u16,
    pub conversation: u16,
    pub precedence: u8,
    pub profile: ProfileIndex,
    /// Bytes that RTP headers lose to compression on this line.
    pub saved_header: u32,
    /// Of the packet that came last: most flows have packets of one size.
    pub last: LineBytes,
    pub hits: Hits,
    pub dropped: u64,
    /// Sent onto the line: packets and IP bytes.
    pub packets_out: u64,
    pub bytes_out: u64,
    pub reception: Reception,
}

impl Hop {
    /// A whole packet of so many IP bytes on its line, that of `port`.
    #[inline]
    pub fn bytes(&mut self, port: &Port, ip_bytes: u32) -> LineBytes {
        if self.last.ip != ip_bytes {
            self.last = port.bytes(ip_bytes, self.saved_header, self.queue);
        }
        self.last
    }

    /// A packet as its port sees it here.
    #[inline]
    pub fn item(&self, packet: PacketId, bytes: LineBytes, now_ps: u64) -> Item {
        Item {
            packet,
            bytes: bytes.frame,
            carried: bytes.carried,
            order: 0,
            entered_ps: now_ps,
            queue: self.queue,
            conversation: self.conversation,
            precedence: self.precedence,
            profile: self.profile,
        }
    }

    /// What it has counted so far.
    pub fn state(&self) -> FlowCounters {
        FlowCounters {
            packets_in: self.hits.packets,
            dropped: self.dropped,
            packets_out: self.packets_out,
            bytes_out: self.bytes_out,
        }
    }
}

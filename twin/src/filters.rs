//! Policers and filters: the rules and policers that a packet meets before it waits in a queue or is delivered.

use crate::counters::{FlowCounters, Hits};
use crate::framing::{Framing, carried};
use crate::ip::fragment_sizes;
use crate::line::Line;
use crate::named::NamedPort;
use crate::packet::{FilterId, FlowId, Next};
use crate::police::Policer;
use crate::scenario::Colour;

/// All filters of a run, and the policers they ask.
#[derive(Debug)]
pub struct Filters {
    pub filters: Vec<Filter>,
    pub policers: Vec<Policer>,
}

impl Filters {
    /// Takes a packet through filters until it meets something else, or those of another side of
    /// the node. `whole`: it is no IP fragment, whose headers are never compressed.
    pub fn pass(
        &mut self,
        first: FilterId,
        ip_bytes: u32,
        whole: bool,
        now_ps: u64,
        ports: &mut [NamedPort],
    ) -> Next {
        let mut next = Next::Filter(first);
        let side = self.side(first);
        while let Next::Filter(filter) = next {
            let filter = &mut self.filters[filter as usize];
            if filter.side != side {
                break;
            }
            let (carried, bytes) = filter.line.of(ip_bytes, whole);
            if filter.rule.is_some() {
                filter.hits.count(bytes);
            }
            let outcome = filter.policer.map_or(0, |policer| {
                self.policers[policer].judge(bytes, carried, filter.colour, now_ps) as usize
            });
            next = filter.next[outcome];
            if next == Next::Drop {
                filter.dropped += 1;
                if let Some(queue) = filter.queue {
                    ports[filter.port].port.policed(queue);
                }
            }
        }
        next
    }

    pub fn side(&self, filter: FilterId) -> Side {
        self.filters[filter as usize].side
    }

    /// Larger packets are cut before they come to the filter.
    pub fn ip_mtu(&self, filter: FilterId) -> u32 {
        self.filters[filter as usize].line.ip_mtu
    }

    /// Frame and wire bytes of a packet on the line of a filter, of all its IP fragments but
    /// without a split into the line's; none where there is no filter.
    pub fn layers(&self, first: Next, ip_bytes: u32) -> (u32, u32) {
        match first {
            Next::Filter(filter) => self.filters[filter as usize].line.layers(ip_bytes),
            _ => (0, 0),
        }
    }
}

/// A rule or policer before a queue.
#[derive(Debug, Clone)]
pub struct Filter {
    pub flow: FlowId,
    /// The port that has the rule or policer.
    pub port: usize,
    pub side: Side,
    /// The rule that is met here; None: met before, or not yet.
    pub rule: Option<usize>,
    /// Where drops count; none before an egress rule is met.
    pub queue: Option<u16>,
    /// None: only counts the rule.
    pub policer: Option<usize>,
    pub colour: Colour,
    /// By outcome; the first if there is no policer.
    pub next: [Next; 3],
    pub line: FrameBytes,
    pub hits: Hits,
    pub dropped: u64,
}

impl Filter {
    /// What it has counted so far for its queue.
    pub fn state(&self) -> FlowCounters {
        FlowCounters {
            packets_in: self.hits.packets,
            dropped: self.dropped,
            packets_out: 0,
            bytes_out: 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    Ingress,
    Egress,
}

/// Bytes of a whole packet's frame on a line, as policers see them.
#[derive(Debug, Clone, Copy)]
pub struct FrameBytes {
    pub framing: Framing,
    /// On a multilink, beside the bundle's sequence.
    pub plain: bool,
    /// Bytes that RTP headers lose to compression.
    pub saved_header: u32,
    /// Larger packets come cut.
    pub ip_mtu: u32,
}

impl FrameBytes {
    /// Of packets that came by a line of this framing: whole, and with their headers.
    pub fn received(framing: Framing) -> Self {
        Self {
            framing,
            plain: false,
            saved_header: 0,
            ip_mtu: u32::MAX,
        }
    }

    /// Of packets that are to go by a line.
    pub fn sent(line: &Line, saved_header: u32) -> Self {
        Self {
            framing: line.framing,
            plain: line.interleave && !line.multiclass,
            saved_header,
            ip_mtu: line.ip_mtu,
        }
    }

    /// IP bytes after header compression, and frame bytes.
    fn of(self, ip_bytes: u32, whole: bool) -> (u32, u32) {
        let carried = carried(ip_bytes, if whole { self.saved_header } else { 0 });
        (carried, self.framing.frame_bytes(carried, self.plain))
    }

    fn layers(self, ip_bytes: u32) -> (u32, u32) {
        let layers = |ip_bytes, whole| {
            let (_, frame) = self.of(ip_bytes, whole);
            (frame, self.framing.wire_bytes(frame))
        };
        if ip_bytes <= self.ip_mtu {
            return layers(ip_bytes, true);
        }
        let parts = fragment_sizes(ip_bytes, self.ip_mtu).map(|part| layers(part, false));
        parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

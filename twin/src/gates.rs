//! Gates: rules and policers that a packet meets before it waits in a queue or is delivered.

use crate::framing::{Framing, carried};
use crate::observe::StepState;
use crate::packet::FlowId;
use crate::police::Policer;
use crate::scenario::Colour;
use crate::step::{Hits, Next};
use crate::tables::NamedPort;

/// An index into the run's gates.
pub type GateId = u32;

/// All gates of a run, and the policers they ask.
#[derive(Debug)]
pub struct Gates {
    pub gates: Vec<Gate>,
    pub policers: Vec<Policer>,
}

impl Gates {
    /// Takes a packet through gates until it meets something else.
    pub fn pass(
        &mut self,
        first: GateId,
        ip_bytes: u32,
        now_ps: u64,
        ports: &mut [NamedPort],
    ) -> Next {
        let mut next = Next::Gate(first);
        while let Next::Gate(gate) = next {
            let gate = &mut self.gates[gate as usize];
            let (carried, bytes) = gate.line.of(ip_bytes);
            if gate.rule.is_some() {
                gate.hits.count(bytes);
            }
            let outcome = gate.policer.map_or(0, |policer| {
                self.policers[policer].judge(bytes, carried, gate.colour, now_ps) as usize
            });
            next = gate.next[outcome];
            if next == Next::Drop {
                gate.dropped += 1;
                if let Some(queue) = gate.queue {
                    ports[gate.port].port.policed(queue);
                }
            }
        }
        next
    }

    /// Frame and wire bytes of a packet on the line of a gate, without a split into fragments;
    /// none where there is no gate.
    pub fn layers(&self, first: Next, ip_bytes: u32) -> (u32, u32) {
        let Next::Gate(gate) = first else {
            return (0, 0);
        };
        let line = self.gates[gate as usize].line;
        let (_, frame) = line.of(ip_bytes);
        (frame, line.framing.wire_bytes(frame))
    }
}

/// A rule or policer before a queue.
#[derive(Debug, Clone)]
pub struct Gate {
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
    pub line: LineBytes,
    pub hits: Hits,
    pub dropped: u64,
}

impl Gate {
    /// What it has counted so far for its queue.
    pub fn state(&self) -> StepState {
        StepState {
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
pub struct LineBytes {
    pub framing: Framing,
    /// On a multilink, beside the bundle's sequence.
    pub plain: bool,
    pub compress: bool,
}

impl LineBytes {
    /// IP bytes after header compression, and frame bytes.
    pub fn of(self, ip_bytes: u32) -> (u32, u32) {
        let carried = carried(ip_bytes, self.compress);
        (carried, self.framing.frame_bytes(carried, self.plain))
    }
}

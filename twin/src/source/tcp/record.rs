//! What is kept of a flow's connections and transactions.

use crate::histogram::Histogram;
use crate::moments::Moments;

/// A population of times in picoseconds.
#[derive(Debug, Default)]
pub struct Population {
    pub count: u64,
    pub moments: Moments,
    pub histogram: Histogram,
}

impl Population {
    pub fn add(&mut self, value_ps: u64) {
        self.count += 1;
        self.moments.add(value_ps);
        self.histogram.add(value_ps);
    }
}

/// Requests and their responses; those that began before the measured window are left out.
#[derive(Debug, Default)]
pub struct Transactions {
    /// The others of these were cut off by the end.
    pub begun: u64,
    pub failed: u64,
    /// Completed ones during which a retransmission timer ran out.
    pub timed_out: u64,
    /// From request to whole response; its count is that of the completed ones.
    pub rtt: Population,
    /// The same of those without a timeout.
    pub prompt: Population,
    /// From the first SYN, if there is one, to the whole response.
    pub total: Population,
}

/// One flow's record.
#[derive(Debug, Default)]
pub struct Record {
    /// Start of the measured window.
    pub measured_from_ps: u64,
    pub retransmits: u64,
    pub timeouts: u64,
    pub acks_sent: u64,
    pub acks_lost: u64,
    /// Windows reduced for congestion marks.
    pub ecn_reductions: u64,
    pub connections: u64,
    /// Given up after too many timeouts in a row.
    pub aborted: u64,
    /// Round trips as senders see them.
    pub rtt: Population,
    /// None: a bulk transfer.
    pub transactions: Option<Transactions>,
}

impl Record {
    /// A segment sent at `sent_ps` has been acknowledged.
    pub fn round_trip(&mut self, sent_ps: u64, now_ps: u64) {
        if sent_ps >= self.measured_from_ps {
            self.rtt.add(now_ps.saturating_sub(sent_ps));
        }
    }
}

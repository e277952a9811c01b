//! What queues, rules and flows count.

use crate::admission::Loss;
use crate::histogram::Histogram;
use crate::item::Item;

/// What passed a queue in the whole run, warm-up and drain included.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    pub packets_in: u64,
    pub packets_out: u64,
    pub bytes_out: u64,
    pub dropped_tail: u64,
    pub dropped_red: u64,
    pub dropped_police: u64,
    pub dropped_pool: u64,
    pub ecn_marked: u64,
    pub max_depth: u64,
    /// Time that those which left have waited, and those which were displaced.
    pub waited_ps: u128,
    pub displaced_ps: u128,
}

impl Counters {
    pub fn lost(&mut self, loss: Loss) {
        match loss {
            Loss::Tail | Loss::Threshold => self.dropped_tail += 1,
            Loss::Red => self.dropped_red += 1,
            Loss::Police => self.dropped_police += 1,
            Loss::Pool => self.dropped_pool += 1,
        }
    }

    pub fn left(&mut self, item: &Item, now_ps: u64) {
        self.packets_out += 1;
        self.bytes_out += u64::from(item.bytes);
        self.waited_ps += u128::from(now_ps - item.entered_ps);
    }
}

/// Waits of the packets that leave a queue while the measured window is open.
#[derive(Debug, Default)]
pub struct Waits {
    pub recording: bool,
    pub longest_ps: u64,
    /// Present if it was asked for.
    pub histogram: Option<Box<Histogram>>,
}

impl Waits {
    pub fn left(&mut self, item: &Item, now_ps: u64) {
        if self.recording {
            let waited = now_ps - item.entered_ps;
            self.longest_ps = self.longest_ps.max(waited);
            if let Some(histogram) = &mut self.histogram {
                histogram.add(waited);
            }
        }
    }
}

/// A queue at one instant.
#[derive(Debug, Clone)]
pub struct QueueState {
    pub counters: Counters,
    /// Its length summed over time so far.
    pub packet_ps: u128,
}

/// A flow's hop or filter at one instant.
#[derive(Debug, Clone, Copy)]
pub struct FlowCounters {
    pub packets_in: u64,
    pub dropped: u64,
    pub packets_out: u64,
    /// IP bytes.
    pub bytes_out: u64,
}

/// Packets and frame bytes that met a rule.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hits {
    pub packets: u64,
    pub bytes: u64,
}

impl Hits {
    #[inline]
    pub fn count(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// What took the way back.
#[derive(Debug, Default)]
pub struct ReturnCounters {
    pub sent: u64,
    pub delivered: u64,
    pub lost: u64,
    /// IP bytes of those delivered.
    pub bytes_delivered: u64,
}

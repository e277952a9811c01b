//! A class queue: first in, first out, with limits, drop profiles and counters.

use std::collections::VecDeque;

use crate::admission::{Admission, Limits, Loss, ProfileIndex, Verdict};
use crate::flow_order::FlowOrder;
use crate::histogram::Histogram;
use crate::packet::PacketId;
use crate::rng::Stream;

/// A packet as a port sees it.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub packet: PacketId,
    /// Frame bytes at this port.
    pub bytes: u32,
    /// IP bytes after header compression.
    pub carried: u32,
    /// Arrivals at this port in order.
    pub order: u64,
    /// Time of arrival here.
    pub entered_ps: u64,
    pub queue: u16,
    /// Flow-based fair queueing's conversation.
    pub conversation: u16,
    pub precedence: u8,
    pub profile: ProfileIndex,
}

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

#[derive(Debug)]
pub struct ClassQueue {
    pub name: String,
    pub counters: Counters,
    pub waits: Waits,
    items: VecDeque<Item>,
    bytes: u64,
    limit_packets: u64,
    limit_bytes: u64,
    /// What it does beyond these limits, if anything.
    admission: Option<Box<Admission>>,
    /// Absent: order of arrival.
    flows: Option<Box<FlowOrder>>,
}

impl ClassQueue {
    /// A limit that is not given does not count.
    pub fn new(
        name: &str,
        limits: Limits,
        admission: Option<Admission>,
        flows: Option<FlowOrder>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            flows: flows.map(Box::new),
            counters: Counters::default(),
            waits: Waits::default(),
            items: VecDeque::new(),
            bytes: 0,
            limit_packets: limits.packets.unwrap_or(u64::MAX),
            limit_bytes: limits.bytes.unwrap_or(u64::MAX),
            admission: admission.map(Box::new),
        }
    }

    /// May this arrival wait here? Whatever is not lost is pushed at once.
    #[inline]
    pub fn judge(&mut self, item: &Item, now_ps: u64, stream: &mut Stream) -> Verdict {
        let full = self.items.len() as u64 >= self.limit_packets
            || self.bytes + u64::from(item.bytes) > self.limit_bytes;
        match &mut self.admission {
            None if full => Verdict::Lose(Loss::Tail),
            None => Verdict::Keep,
            Some(admission) => {
                let waiting = (self.items.len(), self.bytes);
                admission.judge(waiting, (item.bytes, item.profile), full, now_ps, stream)
            }
        }
    }

    #[inline]
    pub fn push(&mut self, item: Item) {
        self.bytes += u64::from(item.bytes);
        match &mut self.flows {
            None => self.items.push_back(item),
            Some(flows) => self.items.insert(flows.place(&item), item),
        }
        let depth = self.items.len() as u64;
        self.counters.max_depth = self.counters.max_depth.max(depth);
        if let Some(admission) = &mut self.admission
            && let Some(pool) = &mut admission.pool
        {
            pool.take(item.bytes);
        }
    }

    // Inlined, so that its fields are read one by one: as a whole, an item just written in parts
    // makes the processor wait.
    #[inline(always)]
    pub fn pop(&mut self, now_ps: u64) -> Option<Item> {
        let item = self.items.pop_front()?;
        if let Some(flows) = &mut self.flows {
            flows.taken();
        }
        self.bytes -= u64::from(item.bytes);
        self.counters.left(&item, now_ps);
        self.waits.left(&item, now_ps);
        if let Some(admission) = &mut self.admission {
            if let Some(pool) = &mut admission.pool {
                pool.give_back(item.bytes);
            }
            if self.items.is_empty() {
                admission.left_idle(now_ps);
            }
        }
        Some(item)
    }

    /// Makes room for an arrival where there is none: drops the packet with the largest finish
    /// number, if it is not the arrival's and its room is enough.
    #[inline]
    pub fn displace(&mut self, item: &Item, now_ps: u64) -> Option<Item> {
        self.flows.as_ref()?;
        self.displace_last(item, now_ps)
    }

    #[cold]
    fn displace_last(&mut self, item: &Item, now_ps: u64) -> Option<Item> {
        let flows = self.flows.as_mut()?;
        let last = self.items.back()?;
        let bytes = self.bytes - u64::from(last.bytes) + u64::from(item.bytes);
        if bytes > self.limit_bytes || !flows.overtakes_last(item) {
            return None;
        }
        if let Some(pool) = self.admission.as_mut().and_then(|a| a.pool.as_mut())
            && !pool.exchange(last.bytes, item.bytes)
        {
            return None;
        }
        flows.withdrawn(last);
        let last = self.items.pop_back()?;
        self.bytes -= u64::from(last.bytes);
        self.counters.lost(Loss::Tail);
        self.counters.displaced_ps += u128::from(now_ps - last.entered_ps);
        Some(last)
    }

    /// The conversation of a flow with this hash; 0 where flows are not told apart.
    pub fn conversation(&self, hash: u64) -> u16 {
        self.flows.as_ref().map_or(0, |f| f.conversation(hash))
    }

    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    pub fn head(&self) -> Option<&Item> {
        self.items.front()
    }

    /// The item behind the head.
    pub fn second(&self) -> Option<&Item> {
        self.items.get(1)
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

//! A class queue: first in, first out, with limits, drop profiles and counters.

use std::collections::VecDeque;

use crate::error::ScenarioError;
use crate::flow_order::FlowOrder;
use crate::histogram::Histogram;
use crate::packet::PacketId;
use crate::red::{ProfileIndex, Red};
use crate::rng::Stream;
use crate::scenario::QueueSpec;

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

/// Why a packet was lost at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    Tail,
    Red,
    Police,
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
    pub max_depth: u64,
    /// Time that those which left have waited, and those which were displaced.
    pub waited_ps: u128,
    pub displaced_ps: u128,
}

impl Counters {
    pub fn lost(&mut self, loss: Loss) {
        match loss {
            Loss::Tail => self.dropped_tail += 1,
            Loss::Red => self.dropped_red += 1,
            Loss::Police => self.dropped_police += 1,
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
    red: Option<Red>,
    /// Absent: order of arrival.
    flows: Option<Box<FlowOrder>>,
}

impl ClassQueue {
    pub fn new(spec: &QueueSpec, rate_bps: u64, path: &str) -> Result<Self, ScenarioError> {
        if spec.limit_packets.is_none() && spec.limit_bytes.is_none() {
            return Err(ScenarioError::new(
                path,
                "the queue has no limit",
                "give limit_packets or limit_bytes",
            ));
        }
        let red = match &spec.red {
            Some(red) => Some(Red::new(red, rate_bps, &format!("{path}.red"))?),
            None => None,
        };
        let flows = match &spec.fair_queue {
            Some(fair) => {
                let order = FlowOrder::new(fair, &format!("{path}.fair_queue"))?;
                Some(Box::new(order))
            }
            None => None,
        };
        Ok(Self {
            flows,
            name: spec.name.clone(),
            counters: Counters::default(),
            waits: Waits::default(),
            items: VecDeque::new(),
            bytes: 0,
            limit_packets: spec.limit_packets.unwrap_or(u64::MAX),
            limit_bytes: spec.limit_bytes.unwrap_or(u64::MAX),
            red,
        })
    }

    /// Would this arrival be lost, and why?
    #[inline]
    pub fn refuses(&mut self, item: &Item, now_ps: u64, stream: &mut Stream) -> Option<Loss> {
        let waiting = (self.items.len(), self.bytes);
        let full = self.items.len() as u64 >= self.limit_packets
            || self.bytes + u64::from(item.bytes) > self.limit_bytes;
        let early =
            (self.red.as_mut()).is_some_and(|red| red.drops(waiting, item.profile, now_ps, stream));
        if (early || full)
            && self.items.is_empty()
            && let Some(red) = &mut self.red
        {
            red.left_idle(now_ps);
        }
        match (early, full) {
            (true, _) => Some(Loss::Red),
            (false, true) => Some(Loss::Tail),
            (false, false) => None,
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
    }

    #[inline]
    pub fn pop(&mut self, now_ps: u64) -> Option<Item> {
        let item = self.items.pop_front()?;
        if let Some(flows) = &mut self.flows {
            flows.taken();
        }
        self.bytes -= u64::from(item.bytes);
        self.counters.left(&item, now_ps);
        self.waits.left(&item, now_ps);
        if self.items.is_empty()
            && let Some(red) = &mut self.red
        {
            red.left_idle(now_ps);
        }
        Some(item)
    }

    /// Makes room for an arrival where there is none: drops the packet with the largest finish
    /// number, if it is not the arrival's and its room is enough.
    pub fn displace(&mut self, item: &Item, now_ps: u64) -> Option<Item> {
        let flows = self.flows.as_mut()?;
        let last = self.items.back()?;
        let bytes = self.bytes - u64::from(last.bytes) + u64::from(item.bytes);
        if bytes > self.limit_bytes || !flows.overtakes_last(item) {
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

//! A class queue: first in, first out, with limits, drop profiles and counters.

use std::collections::VecDeque;

use crate::admission::{Admission, Limits, Loss, Verdict};
use crate::counters::{Counters, Waits};
use crate::flow_order::FlowOrder;
use crate::item::Item;
use crate::rng::Stream;

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

//! IOS flow-based weighted fair queueing (`fair-queue`), 12.0(5)T and later.
//!
//! A conversation's packet gets the finish number of the one before it, or of the packet sent
//! last if none waits, plus frame bytes × 32384/(precedence + 1); the smallest goes first.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Bucket, Context};
use crate::counters::{Counters, Waits};
use crate::error::ScenarioError;
use crate::item::Item;

/// IOS: weight of a conversation of precedence 0.
const WEIGHT: u64 = 32_384;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FairSpec {
    /// Hash buckets; flows in one bucket are one conversation.
    dynamic_queues: u16,
    congestive_discard_threshold: usize,
    /// Packets waiting in all conversations together.
    hold_queue: usize,
}

impl Default for FairSpec {
    /// IOS: `fair-queue 64 256`, hold queue 1000.
    fn default() -> Self {
        Self {
            dynamic_queues: 256,
            congestive_discard_threshold: 64,
            hold_queue: 1000,
        }
    }
}

/// What became of an arrival.
#[derive(Debug)]
pub enum Offer {
    Kept,
    /// Kept, and marked as having met congestion.
    Marked,
    Refused,
    /// Kept, at the cost of this waiting packet.
    Displaced(Item),
}

#[derive(Debug)]
pub struct FairQueue {
    pub counters: Counters,
    pub waits: Waits,
    /// By finish number.
    items: VecDeque<(u64, Item)>,
    /// Finish number of each conversation's newest packet.
    conversations: Vec<u64>,
    round: u64,
    /// Finish number of the packet under fragmentation.
    fragmented: u64,
    discard_threshold: usize,
    hold_queue: usize,
    /// Of the port.
    shaper: Option<Bucket>,
}

impl FairQueue {
    pub fn new(
        spec: &FairSpec,
        shaper: Option<Bucket>,
        context: Context,
    ) -> Result<Self, ScenarioError> {
        let positive = [
            (usize::from(spec.dynamic_queues), "dynamic_queues"),
            (
                spec.congestive_discard_threshold,
                "congestive_discard_threshold",
            ),
            (spec.hold_queue, "hold_queue"),
        ];
        for (value, field) in positive {
            if value == 0 {
                return Err(context.error(field, "is 0", "give a positive number"));
            }
        }
        if context.queues > 1 {
            return Err(context.error(
                "",
                "wfq makes its own queues",
                "list no queue, or one for its name",
            ));
        }
        Ok(Self {
            counters: Counters::default(),
            waits: Waits::default(),
            items: VecDeque::new(),
            conversations: vec![0; spec.dynamic_queues.into()],
            round: 0,
            fragmented: 0,
            discard_threshold: spec.congestive_discard_threshold,
            hold_queue: spec.hold_queue,
            shaper,
        })
    }

    /// The conversation of a flow with this hash.
    pub fn conversation(&self, hash: u64) -> u16 {
        (hash % self.conversations.len() as u64) as u16
    }

    /// Queues an arrival. At the hold-queue limit it is dropped; at the congestive discard
    /// threshold the packet with the largest finish number is, be it this one or another.
    pub fn offer(&mut self, item: Item) -> Offer {
        if self.items.len() >= self.hold_queue {
            return Offer::Refused;
        }
        let newest = &mut self.conversations[usize::from(item.conversation)];
        // An idle conversation's last number is behind the round, unless its packet is still
        // being sent in fragments.
        let start = (*newest).max(self.round);
        let weight = WEIGHT / (u64::from(item.precedence) + 1);
        let finish = start + u64::from(item.bytes) * weight;
        let mut displaced = None;
        if self.items.len() >= self.discard_threshold {
            match self.items.back() {
                Some((worst, _)) if *worst > finish => displaced = self.items.pop_back(),
                _ => return Offer::Refused,
            }
        }
        *newest = finish;
        let at = self.items.partition_point(|(f, _)| *f <= finish);
        self.items.insert(at, (finish, item));
        self.counters.max_depth = self.counters.max_depth.max(self.items.len() as u64);
        match displaced {
            Some((worst, item)) => {
                self.withdraw(worst, &item);
                Offer::Displaced(item)
            }
            None => Offer::Kept,
        }
    }

    /// The newest packet of a conversation is gone: the next one takes its finish number's place.
    fn withdraw(&mut self, finish: u64, item: &Item) {
        let weight = WEIGHT / (u64::from(item.precedence) + 1);
        let before = finish - u64::from(item.bytes) * weight;
        self.conversations[usize::from(item.conversation)] = before;
    }

    /// The time before which the port's shaper lets nothing go.
    pub fn held_until(&mut self, now_ps: u64) -> Option<u64> {
        if self.items.is_empty() {
            return None;
        }
        let ready = self.shaper.as_mut()?.ready_at(now_ps);
        (ready > now_ps).then_some(ready)
    }

    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().map(|(_, item)| item)
    }

    pub fn take(&mut self, now_ps: u64) -> Option<Item> {
        let (finish, item) = self.items.pop_front()?;
        if let Some(shaper) = &mut self.shaper {
            shaper.charge(item.bytes, now_ps);
        }
        self.round = finish;
        self.counters.left(&item, now_ps);
        self.waits.left(&item, now_ps);
        Some(item)
    }

    /// The item just taken goes out in fragments: until `fragments_sent`, arrivals start from
    /// its start number, so that small packets of other conversations may go between.
    pub fn fragments_begin(&mut self, item: &Item) {
        let weight = WEIGHT / (u64::from(item.precedence) + 1);
        self.fragmented = self.round;
        self.round -= u64::from(item.bytes) * weight;
    }

    pub fn fragments_sent(&mut self) {
        self.round = self.round.max(self.fragmented);
    }

    /// A packet of at most `carried` IP bytes due before the fragmented one's end.
    pub fn take_between(&mut self, carried: u32, now_ps: u64) -> Option<Item> {
        let (finish, item) = self.items.front()?;
        let due = *finish < self.fragmented && item.carried <= carried;
        if due { self.take(now_ps) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(threshold: usize) -> FairQueue {
        let spec = FairSpec {
            congestive_discard_threshold: threshold,
            ..FairSpec::default()
        };
        let context = crate::sched::testing::context(0);
        FairQueue::new(&spec, None, context).unwrap()
    }

    fn item(packet: u32, conversation: u16, precedence: u8, bytes: u32) -> Item {
        Item {
            packet,
            bytes,
            carried: bytes,
            order: 0,
            entered_ps: 0,
            queue: 0,
            conversation,
            precedence,
            profile: crate::admission::NO_PROFILE,
        }
    }

    fn drain(queue: &mut FairQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.take(0).map(|i| i.packet)).collect()
    }

    #[test]
    fn small_packets_and_high_precedence_finish_first() {
        let mut fair = queue(64);
        for (packet, conversation, precedence, bytes) in [
            (0, 1, 0, 1500),
            (1, 2, 0, 64),
            (2, 2, 0, 64),
            (3, 3, 5, 1500),
        ] {
            fair.offer(item(packet, conversation, precedence, bytes));
        }
        // 32384 × 64, twice that, 5397 × 1500, 32384 × 1500.
        assert_eq!(drain(&mut fair), [1, 2, 3, 0]);
    }

    #[test]
    fn at_the_threshold_the_largest_finish_number_goes() {
        let mut fair = queue(2);
        fair.offer(item(0, 1, 0, 1000));
        fair.offer(item(1, 1, 0, 1000));
        assert!(matches!(fair.offer(item(2, 1, 0, 1000)), Offer::Refused));
        let offer = fair.offer(item(3, 2, 0, 1000));
        assert!(matches!(offer, Offer::Displaced(item) if item.packet == 1));
        assert_eq!(drain(&mut fair), [0, 3]);
        // The displaced packet's number is free again.
        fair.offer(item(4, 1, 0, 1000));
        fair.offer(item(5, 3, 0, 1001));
        assert_eq!(drain(&mut fair), [4, 5]);
    }
}

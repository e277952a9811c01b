//! Weighted round robin over a fixed circle of queues, by packets, and by bytes with a deficit
//! (Shreedhar and Varghese 1996; whose list of waiting queues is in `drr`).

use super::Backlog;
use crate::item::Item;

/// Frame bytes the heaviest queue may send per turn when only relative weights are given: one
/// full frame, so that turns stay short.
pub const TURN_BYTES: u64 = 1600;

#[derive(Debug)]
struct Member {
    queue: usize,
    /// Credit added per turn.
    quantum: u64,
    credit: u64,
}

#[derive(Debug, Clone, Copy)]
enum Cost {
    /// Every packet costs 1.
    Packets,
    /// A packet costs its frame bytes times this scale.
    Bytes(u64),
    /// A packet costs whole blocks of `size` bytes, begun ones included, for its frame with
    /// `tag` bytes more.
    Blocks { size: u64, tag: u64 },
}

#[derive(Debug)]
pub struct RoundRobin {
    members: Vec<Member>,
    cost: Cost,
    at: usize,
    /// The member at `at` has not had this turn's credit yet.
    fresh: bool,
}

impl RoundRobin {
    /// `weight` packets per turn.
    pub fn by_packets(members: Vec<(usize, u64)>) -> Self {
        Self::new(members, Cost::Packets)
    }

    /// Bytes in proportion to the weights.
    pub fn by_bytes(members: Vec<(usize, u64)>) -> Self {
        let heaviest = members.iter().map(|(_, w)| *w).max().unwrap_or(1);
        let scaled = members.iter().map(|(q, w)| (*q, w * TURN_BYTES));
        Self::new(scaled.collect(), Cost::Bytes(heaviest))
    }

    /// `weight` blocks of `size` bytes per turn; a begun block counts as a whole one. What a
    /// queue cannot use this turn it keeps.
    pub fn by_blocks(members: Vec<(usize, u64)>, size: u64, tag: u64) -> Self {
        Self::new(members, Cost::Blocks { size, tag })
    }

    /// That many bytes per turn.
    pub fn by_quantum(members: Vec<(usize, u64)>) -> Self {
        Self::new(members, Cost::Bytes(1))
    }

    fn new(members: Vec<(usize, u64)>, cost: Cost) -> Self {
        let members = members.into_iter().map(|(queue, quantum)| Member {
            queue,
            quantum,
            credit: 0,
        });
        Self {
            members: members.collect(),
            cost,
            at: 0,
            fresh: true,
        }
    }

    /// Chooses and charges the next queue.
    pub fn pick<B: Backlog + ?Sized>(&mut self, queues: &B) -> Option<usize> {
        if !self.members.iter().any(|m| queues.waits(m.queue)) {
            return None;
        }
        loop {
            for _ in 0..=self.members.len() {
                if let Some(queue) = self.visit(queues) {
                    return Some(queue);
                }
            }
            self.skip_rounds(queues);
        }
    }

    fn visit<B: Backlog + ?Sized>(&mut self, queues: &B) -> Option<usize> {
        let price = self.price(queues.head(self.members[self.at].queue));
        let member = &mut self.members[self.at];
        if let Some(price) = price {
            if self.fresh {
                self.fresh = false;
                member.credit += member.quantum;
            }
            if member.credit >= price {
                member.credit -= price;
                return Some(member.queue);
            }
        } else {
            member.credit = 0;
        }
        self.at = (self.at + 1) % self.members.len();
        self.fresh = true;
        None
    }

    /// A whole round served nobody: credit at once for all rounds but the last that would not
    /// either, so that tiny weights cost no time.
    fn skip_rounds<B: Backlog + ?Sized>(&mut self, queues: &B) {
        let rounds = self.members.iter().filter_map(|m| {
            let price = self.price(queues.head(m.queue))?;
            Some(price.saturating_sub(m.credit).div_ceil(m.quantum))
        });
        let skipped = rounds.min().unwrap_or(0).saturating_sub(1);
        for member in &mut self.members {
            if queues.waits(member.queue) {
                member.credit += skipped * member.quantum;
            }
        }
    }

    fn price(&self, head: Option<&Item>) -> Option<u64> {
        head.map(|item| match self.cost {
            Cost::Packets => 1,
            Cost::Bytes(scale) => u64::from(item.bytes) * scale,
            Cost::Blocks { size, tag } => (u64::from(item.bytes) + tag).div_ceil(size),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{Feed, served};

    #[test]
    fn packets_take_turns_by_weight() {
        let mut robin = RoundRobin::by_packets(vec![(0, 1), (1, 3)]);
        let order = served(&mut Feed::new(&[100, 100]), 8, |queues, _| {
            robin.pick(queues)
        });
        assert_eq!(order, [0, 1, 1, 1, 0, 1, 1, 1]);
    }

    #[test]
    fn bytes_are_in_proportion_within_a_turn() {
        let mut robin = RoundRobin::by_bytes(vec![(0, 1), (1, 3)]);
        let order = served(&mut Feed::new(&[1500, 200]), 4000, |queues, _| {
            robin.pick(queues)
        });
        let first = order.iter().filter(|q| **q == 0).count() as i64 * 1500;
        let second = order.iter().filter(|q| **q == 1).count() as i64 * 200;
        assert!(
            (first * 3 - second).abs() < 3 * 2 * 1600,
            "{first} {second}"
        );
    }

    #[test]
    fn a_tiny_weight_alone_is_served_at_once() {
        let mut robin = RoundRobin::by_bytes(vec![(0, 1), (1, 1_000_000_000)]);
        let order = served(&mut Feed::new(&[1500, 0]), 3, |queues, _| {
            robin.pick(queues)
        });
        assert_eq!(order, [0, 0, 0]);
    }
}

//! Weighted round robin by packets, and by bytes as deficit round robin (Shreedhar and
//! Varghese 1996).

use crate::queue::ClassQueue;

/// Frame bytes the heaviest queue may send per turn when only relative weights are given: one
/// full frame, so that turns stay short.
const TURN_BYTES: u64 = 1600;

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
    pub fn pick(&mut self, queues: &[ClassQueue]) -> Option<usize> {
        if self.members.iter().all(|m| queues[m.queue].is_empty()) {
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

    fn visit(&mut self, queues: &[ClassQueue]) -> Option<usize> {
        let price = self.price(&queues[self.members[self.at].queue]);
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
    fn skip_rounds(&mut self, queues: &[ClassQueue]) {
        let rounds = self.members.iter().filter_map(|m| {
            let price = self.price(&queues[m.queue])?;
            Some(price.saturating_sub(m.credit).div_ceil(m.quantum))
        });
        let skipped = rounds.min().unwrap_or(0).saturating_sub(1);
        for member in &mut self.members {
            if !queues[member.queue].is_empty() {
                member.credit += skipped * member.quantum;
            }
        }
    }

    fn price(&self, queue: &ClassQueue) -> Option<u64> {
        queue.head().map(|item| match self.cost {
            Cost::Packets => 1,
            Cost::Bytes(scale) => u64::from(item.bytes) * scale,
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

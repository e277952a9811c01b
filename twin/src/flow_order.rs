//! Flow-based fair queueing inside a class (`fair-queue` in a class of IOS): its packets leave
//! in the order of finish numbers instead of arrival.

use std::collections::VecDeque;

use crate::error::ScenarioError;
use crate::item::Item;
use crate::scenario::FlowOrderSpec;

/// Finish numbers of a queue's packets, self-clocked (Golestani 1994), all conversations of
/// equal weight: the conversation's last number or the round, plus frame bytes.
#[derive(Debug)]
pub struct FlowOrder {
    /// Of the waiting packets, ascending.
    finishes: VecDeque<u64>,
    /// Of each conversation's newest packet.
    newest: Vec<u64>,
    /// Of the packet taken last.
    round: u64,
}

impl FlowOrder {
    /// Refuses 0 conversations at `path`.
    pub fn new(spec: &FlowOrderSpec, path: &str) -> Result<Self, ScenarioError> {
        if spec.dynamic_queues == 0 {
            let at = format!("{path}.dynamic_queues");
            return Err(ScenarioError::new(at, "is 0", "give a positive number"));
        }
        Ok(Self {
            finishes: VecDeque::new(),
            newest: vec![0; spec.dynamic_queues.into()],
            round: 0,
        })
    }

    /// The conversation of a flow with this hash.
    pub fn conversation(&self, hash: u64) -> u16 {
        (hash % self.newest.len() as u64) as u16
    }

    fn finish(&self, item: &Item) -> u64 {
        let newest = self.newest[usize::from(item.conversation)];
        newest.max(self.round) + u64::from(item.bytes)
    }

    /// The place of an arrival among those that wait.
    pub fn place(&mut self, item: &Item) -> usize {
        let finish = self.finish(item);
        self.newest[usize::from(item.conversation)] = finish;
        let at = self.finishes.partition_point(|f| *f <= finish);
        self.finishes.insert(at, finish);
        at
    }

    /// The first packet leaves.
    pub fn taken(&mut self) {
        self.round = self.finishes.pop_front().unwrap_or(self.round);
    }

    /// Would this arrival leave before the last that waits?
    pub fn overtakes_last(&self, item: &Item) -> bool {
        (self.finishes.back()).is_some_and(|last| *last > self.finish(item))
    }

    /// The last packet is dropped: the conversation's next takes its number's place.
    pub fn withdrawn(&mut self, last: &Item) {
        if let Some(finish) = self.finishes.pop_back() {
            self.newest[usize::from(last.conversation)] = finish - u64::from(last.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::NO_PROFILE;

    fn item(packet: u32, conversation: u16, bytes: u32) -> Item {
        Item {
            packet,
            bytes,
            carried: bytes,
            order: 0,
            entered_ps: 0,
            queue: 0,
            conversation,
            precedence: 0,
            profile: NO_PROFILE,
        }
    }

    fn order() -> FlowOrder {
        FlowOrder::new(&FlowOrderSpec { dynamic_queues: 8 }, "p").unwrap()
    }

    #[test]
    fn conversations_interleave_by_bytes() {
        let mut flows = order();
        let mut waiting = Vec::new();
        for arrival in [
            item(0, 1, 1000),
            item(1, 1, 1000),
            item(2, 2, 400),
            item(3, 2, 400),
            item(4, 2, 400),
        ] {
            waiting.insert(flows.place(&arrival), arrival.packet);
        }
        // Finish numbers 1000, 2000 and 400, 800, 1200.
        assert_eq!(waiting, [2, 3, 0, 4, 1]);
    }

    #[test]
    fn a_withdrawn_number_is_free_again() {
        let mut flows = order();
        flows.place(&item(0, 1, 1000));
        let last = item(1, 1, 1000);
        flows.place(&last);
        assert!(!flows.overtakes_last(&item(2, 1, 1)));
        assert!(flows.overtakes_last(&item(2, 2, 1999)));
        flows.withdrawn(&last);
        assert_eq!(flows.place(&item(3, 1, 500)), 1);
        assert_eq!(flows.finishes, [1000, 1500]);
    }

    #[test]
    fn who_comes_late_starts_at_the_round() {
        let mut flows = order();
        flows.place(&item(0, 1, 1000));
        flows.taken();
        flows.place(&item(1, 2, 10));
        assert_eq!(flows.finishes, [1010]);
    }
}

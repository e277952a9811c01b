//! Queues that never run dry, for the schedulers' own tests.

use crate::queue::{ClassQueue, Item};
use crate::scenario::QueueSpec;

/// Queues kept at two packets each of a fixed size; size 0: always empty.
pub struct Feed {
    pub queues: Vec<ClassQueue>,
    sizes: Vec<u32>,
    order: u64,
}

impl Feed {
    pub fn new(sizes: &[u32]) -> Self {
        let queue = |name: usize| {
            let spec = QueueSpec {
                name: name.to_string(),
                limit_packets: Some(10),
                limit_bytes: None,
                red: None,
            };
            ClassQueue::new(&spec, 1_000_000, "queue").unwrap()
        };
        let mut feed = Self {
            queues: (0..sizes.len()).map(queue).collect(),
            sizes: sizes.to_vec(),
            order: 0,
        };
        for queue in (0..sizes.len()).filter(|q| sizes[*q] > 0) {
            feed.push(queue);
            feed.push(queue);
        }
        feed
    }

    /// Packets put in from now on have this size.
    pub fn resize(&mut self, queue: usize, bytes: u32) {
        self.sizes[queue] = bytes;
    }

    pub fn push(&mut self, queue: usize) {
        self.order += 1;
        self.queues[queue].push(Item {
            packet: 0,
            bytes: self.sizes[queue],
            carried: self.sizes[queue],
            order: self.order,
            entered_ps: 0,
            queue: queue as u16,
            conversation: 0,
            precedence: 0,
            profile: crate::red::NO_PROFILE,
        });
    }
}

/// The queues that `pick` serves in turn, refilled after each.
pub fn served(
    feed: &mut Feed,
    turns: usize,
    mut pick: impl FnMut(&[ClassQueue], u64) -> Option<usize>,
) -> Vec<usize> {
    let mut order = Vec::new();
    for turn in 0..turns {
        let Some(queue) = pick(&feed.queues, turn as u64) else {
            break;
        };
        feed.queues[queue].pop(turn as u64);
        feed.push(queue);
        order.push(queue);
    }
    order
}

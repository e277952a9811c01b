//! Queues that never run dry, for the schedulers' own tests.

use super::{Context, Pick, Scheduler};
use crate::admission::Limits;
use crate::framing::{SECOND_PS, serialisation_ps};
use crate::item::Item;
use crate::queue::ClassQueue;

/// Queues kept at two packets each of a fixed size; size 0: always empty.
pub struct Feed {
    pub queues: Vec<ClassQueue>,
    sizes: Vec<u32>,
    order: u64,
}

impl Feed {
    pub fn new(sizes: &[u32]) -> Self {
        let queue = |name: usize| {
            let limits = Limits {
                packets: Some(10),
                bytes: None,
            };
            ClassQueue::new(&name.to_string(), limits, None, None)
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
            profile: crate::admission::NO_PROFILE,
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

/// A line of 1 Mb/s with so many queues, its scheduler at the path `s`.
pub fn context(queues: usize) -> Context<'static> {
    Context {
        queues,
        rate_bps: 1_000_000,
        tagged: false,
        path: "s",
    }
}

/// Each queue's share of the bytes served in `turns`; size 0: always empty.
pub fn byte_shares(scheduler: &mut impl Scheduler, sizes: &[u32], turns: usize) -> Vec<f64> {
    let order = served(
        &mut Feed::new(sizes),
        turns,
        |queues, now| match scheduler.pick(queues, now) {
            Pick::Queue(queue) => Some(queue),
            _ => None,
        },
    );
    let mut bytes = vec![0.0; sizes.len()];
    for queue in order {
        bytes[queue] += f64::from(sizes[queue]);
    }
    let all: f64 = bytes.iter().sum();
    bytes.iter().map(|b| b / all).collect()
}

/// A line of 1 Mb/s in front of queues that never run dry.
pub struct Line {
    pub feed: Feed,
    pub now_ps: u64,
    sizes: Vec<u32>,
}

impl Line {
    pub fn new(sizes: &[u32]) -> Self {
        Self {
            feed: Feed::new(sizes),
            now_ps: 0,
            sizes: sizes.to_vec(),
        }
    }

    /// A queue that was empty is not any longer.
    pub fn resize(&mut self, queue: usize, bytes: u32) {
        self.sizes[queue] = bytes;
        self.feed.resize(queue, bytes);
        self.feed.push(queue);
        self.feed.push(queue);
    }

    /// Bits of each queue whose sending begins in the next `seconds`.
    pub fn run(&mut self, scheduler: &mut dyn Scheduler, seconds: f64) -> Vec<f64> {
        let end = self.now_ps + (seconds * SECOND_PS as f64) as u64;
        let mut bits = vec![0.0; self.sizes.len()];
        for queue in 0..self.sizes.len() {
            if self.sizes[queue] > 0 {
                scheduler.entered(queue, &self.feed.queues);
            }
        }
        while self.now_ps < end {
            match scheduler.pick(&self.feed.queues, self.now_ps) {
                Pick::Queue(queue) => {
                    let item = self.feed.queues[queue].pop(self.now_ps);
                    scheduler.admits(queue, &item.unwrap(), self.now_ps, true);
                    self.feed.push(queue);
                    bits[queue] += f64::from(self.sizes[queue]) * 8.0;
                    self.now_ps += serialisation_ps(self.sizes[queue], 1_000_000);
                }
                Pick::Wait(until) => {
                    assert!(until > self.now_ps, "a wait that ends at once");
                    self.now_ps = until;
                }
                Pick::Empty => break,
            }
        }
        bits
    }
}

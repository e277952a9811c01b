//! IOS class-based weighted fair queueing with a low-latency queue.
//!
//! Priority classes share one queue served first (in order of arrival within a level), each
//! policed by a token bucket while the port is congested. The others are served by the
//! smallest finish number, self-clocked (Golestani 1994), over frame bytes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::weights::Weights;
use super::{Backlog, Context, Pick, Scheduler};
use crate::error::ScenarioError;
use crate::item::Item;
use crate::police::TokenBucket;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbwfqSpec {
    #[serde(default)]
    priority: Vec<PrioritySpec>,
    /// In bits per second or any other common unit; none for a priority queue.
    weights: Weights,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PrioritySpec {
    queue: usize,
    rate_bps: u64,
    burst_bytes: u64,
    /// Lower levels are served first; most trains have one level only.
    #[serde(default = "first_level")]
    level: u8,
}

fn first_level() -> u8 {
    1
}

#[derive(Debug)]
struct Priority {
    queue: usize,
    level: u8,
    bucket: TokenBucket,
}

#[derive(Debug)]
struct Class {
    queue: usize,
    /// 2^64 / weight: what one byte adds to a finish number.
    per_byte: u128,
    /// Start number of the head: the finish number of the item before it, or the clock when it
    /// came into an empty queue.
    start: u128,
}

#[derive(Debug)]
pub struct Cbwfq {
    priority: Vec<Priority>,
    classes: Vec<Class>,
    /// Finish number of the item sent last.
    clock: u128,
}

impl Cbwfq {
    pub fn new(spec: CbwfqSpec, context: Context) -> Result<Self, ScenarioError> {
        let mut priority: Vec<Priority> = Vec::new();
        for (i, entry) in spec.priority.iter().enumerate() {
            let field = format!("priority[{i}]");
            context.check_queue(entry.queue, &format!("{field}.queue"))?;
            if priority.iter().any(|p| p.queue == entry.queue) {
                let at = format!("{field}.queue");
                return Err(context.error(&at, "listed twice", "list each queue once"));
            }
            let path = format!("{}.{field}", context.path);
            priority.push(Priority {
                queue: entry.queue,
                level: entry.level,
                bucket: TokenBucket::new(entry.rate_bps, entry.burst_bytes, &path)?,
            });
        }
        let apart: Vec<_> = priority.iter().map(|p| p.queue).collect();
        let members = spec.weights.members(&apart, context, "weights")?;
        let classes = members.into_iter().map(|(queue, weight)| Class {
            queue,
            per_byte: (1 << 64) / u128::from(weight),
            start: 0,
        });
        Ok(Self {
            priority,
            classes: classes.collect(),
            clock: 0,
        })
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Cbwfq {
    fn is_priority(&self, queue: usize) -> bool {
        self.priority.iter().any(|p| p.queue == queue)
    }

    /// IOS polices a priority class only while packets wait; tokens are not spent before.
    fn admits(&mut self, queue: usize, item: &Item, now_ps: u64, congested: bool) -> bool {
        let entry = self.priority.iter_mut().find(|p| p.queue == queue);
        match entry {
            Some(priority) if congested => priority.bucket.conforms(item.bytes, now_ps),
            _ => true,
        }
    }

    fn entered(&mut self, queue: usize, queues: &B) {
        if queues.second(queue).is_none()
            && let Some(class) = self.classes.iter_mut().find(|c| c.queue == queue)
        {
            class.start = class.start.max(self.clock);
        }
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        if let Some(queue) = self.pick_priority(queues, now_ps) {
            return Pick::Queue(queue);
        }
        // The size of the head counts when it goes: with fair queueing inside a class another
        // packet may have come before it.
        let finish = |class: &Class| {
            let head = queues.head(class.queue)?;
            Some(class.start + u128::from(head.bytes) * class.per_byte)
        };
        let waiting = self
            .classes
            .iter_mut()
            .filter_map(|c| Some((finish(c)?, c)));
        let Some((finish, class)) = waiting.min_by_key(|(finish, _)| *finish) else {
            return Pick::Empty;
        };
        self.clock = finish;
        class.start = finish;
        Pick::Queue(class.queue)
    }

    fn pick_priority(&mut self, queues: &B, _now_ps: u64) -> Option<usize> {
        let waiting = (self.priority.iter())
            .filter_map(|p| queues.head(p.queue).map(|h| (p.level, h.order, p.queue)));
        waiting.min().map(|(_, _, queue)| queue)
    }

    fn class(&self, queue: usize) -> u8 {
        self.class_of(queue)
    }

    fn pick_above(&mut self, class: u8, queues: &B, now_ps: u64) -> Option<usize> {
        // The first served has the highest class: if that is not above, none is.
        let first = self.pick_priority(queues, now_ps)?;
        (self.class_of(first) > class).then_some(first)
    }
}

impl Cbwfq {
    /// Class 1 for priority queues of the last level, 0 for what has no priority.
    fn class_of(&self, queue: usize) -> u8 {
        let own = self.priority.iter().find(|p| p.queue == queue);
        let last = self.priority.iter().map(|p| p.level).max();
        own.zip(last)
            .map_or(0, |(own, last)| (last - own.level).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::ClassQueue;
    use crate::sched::testing::{Feed, served};

    fn cbwfq(spec: &str, queues: usize) -> Result<Cbwfq, ScenarioError> {
        let context = crate::sched::testing::context(queues);
        Cbwfq::new(serde_json::from_str(spec).unwrap(), context)
    }

    fn order(spec: &str, sizes: &[u32], turns: usize) -> Vec<usize> {
        let mut scheduler = cbwfq(spec, sizes.len()).unwrap();
        let mut feed = Feed::new(&vec![0; sizes.len()]);
        for (queue, size) in sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
            feed.resize(queue, *size);
            feed.push(queue);
            scheduler.entered(queue, &feed.queues[..]);
            feed.push(queue);
        }
        served(&mut feed, turns, |queues, now| {
            match scheduler.pick(queues, now) {
                Pick::Queue(queue) => Some(queue),
                _ => None,
            }
        })
    }

    #[test]
    fn weights_are_bytes() {
        let order = order(r#"{"weights": [1, 3]}"#, &[1500, 500], 1000);
        let first = order.iter().filter(|q| **q == 0).count() as i64;
        // 1 : 3 in bytes is 1 : 9 in packets of these sizes.
        assert!((first - 100).abs() <= 1, "{first}");
    }

    #[test]
    fn priority_goes_first_in_order_of_arrival() {
        let spec = r#"{"priority": [{"queue": 2, "rate_bps": 8, "burst_bytes": 1},
            {"queue": 0, "rate_bps": 8, "burst_bytes": 1}], "weights": {"1": 5}}"#;
        // Two packets wait in each; each service lets another in behind them.
        assert_eq!(order(spec, &[100, 100, 100], 6), [0, 0, 2, 2, 0, 0]);
    }

    #[test]
    fn an_idle_class_saves_nothing_up() {
        let mut scheduler = cbwfq(r#"{"weights": [1, 1]}"#, 2).unwrap();
        let mut feed = Feed::new(&[100, 0]);
        scheduler.entered(0, &feed.queues[..]);
        let mut pick = |queues: &[ClassQueue], now| match scheduler.pick(queues, now) {
            Pick::Queue(queue) => Some(queue),
            _ => None,
        };
        assert_eq!(served(&mut feed, 50, &mut pick), vec![0; 50]);
        feed.resize(1, 100);
        feed.push(1);
        scheduler.entered(1, &feed.queues[..]);
        feed.push(1);
        let after = served(&mut feed, 20, |queues, now| {
            match scheduler.pick(queues, now) {
                Pick::Queue(queue) => Some(queue),
                _ => None,
            }
        });
        let second = after.iter().filter(|q| **q == 1).count();
        assert!((9..=11).contains(&second), "{after:?}");
    }

    #[test]
    fn every_class_needs_a_weight() {
        let refused = cbwfq(r#"{"weights": [1, null]}"#, 2).unwrap_err();
        assert_eq!(refused.path, "s.weights");
    }
}

//! Deficit round robin with a list of waiting queues (Shreedhar and Varghese 1996), as in
//! Linux's `sch_drr`; strict queues before it, as in its `sch_ets`.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Deserialize;

use super::tiered::{check_strict, class_of, first_above};
use super::weights::Weights;
use super::{Backlog, Context, Pick, Scheduler};
use crate::error::ScenarioError;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrrSpec {
    /// Frame bytes per turn.
    quantum_bytes: Weights,
    /// Queues that are served before the others, from first served; they have no turns.
    #[serde(default)]
    strict: Vec<usize>,
}

#[derive(Debug, Default)]
struct Member {
    quantum: u64,
    deficit: u64,
    listed: bool,
}

/// A queue that begins to wait has its turn behind those that wait already. Long-run shares of
/// backlogged queues: frame bytes in proportion to the quanta.
#[derive(Debug)]
pub struct Drr {
    /// By queue.
    members: Vec<Member>,
    /// Queues that wait; the turn is the first one's.
    waiting: VecDeque<usize>,
    /// From first served.
    strict: Vec<usize>,
}

impl Drr {
    pub fn new(spec: &DrrSpec, context: Context) -> Result<Self, ScenarioError> {
        check_strict(&spec.strict, context, "strict")?;
        let quanta = (spec.quantum_bytes).members(&spec.strict, context, "quantum_bytes")?;
        let mut members: Vec<_> = (0..context.queues).map(|_| Member::default()).collect();
        for (queue, quantum) in &quanta {
            members[*queue].quantum = *quantum;
        }
        Ok(Self {
            waiting: VecDeque::with_capacity(quanta.len()),
            members,
            strict: spec.strict.clone(),
        })
    }

    /// The turn passes on; whoever had it adds a quantum to what was left.
    fn pass(&mut self) {
        if let Some(queue) = self.waiting.pop_front() {
            let member = &mut self.members[queue];
            member.deficit += member.quantum;
            self.waiting.push_back(queue);
        }
    }

    /// After a whole round without a packet: credit at once for all rounds but the last that
    /// would have none either, so that tiny quanta cost no time.
    fn skip_rounds<B: Backlog + ?Sized>(&mut self, queues: &B) {
        let rounds = self.waiting.iter().filter_map(|queue| {
            let member = &self.members[*queue];
            let missing = u64::from(queues.head(*queue)?.bytes).saturating_sub(member.deficit);
            Some(missing.div_ceil(member.quantum))
        });
        let skipped = rounds.min().unwrap_or(0).saturating_sub(1);
        for queue in self.waiting.iter().filter(|q| queues.waits(**q)) {
            let member = &mut self.members[*queue];
            member.deficit += skipped * member.quantum;
        }
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Drr {
    fn is_priority(&self, queue: usize) -> bool {
        self.strict.contains(&queue)
    }

    fn entered(&mut self, queue: usize, _queues: &B) {
        if self.strict.contains(&queue) {
            return;
        }
        let member = &mut self.members[queue];
        if !member.listed {
            member.listed = true;
            member.deficit = member.quantum;
            self.waiting.push_back(queue);
        }
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        if let Some(queue) = self.pick_above(0, queues, now_ps) {
            return Pick::Queue(queue);
        }
        if !self.waiting.iter().any(|queue| queues.waits(*queue)) {
            return Pick::Empty;
        }
        loop {
            for _ in 0..self.waiting.len() {
                let queue = self.waiting[0];
                let member = &mut self.members[queue];
                let Some(head) = queues.head(queue) else {
                    // A shaper holds it back: it loses its turn and what it had left.
                    member.deficit = 0;
                    self.pass();
                    continue;
                };
                let Some(left) = member.deficit.checked_sub(head.bytes.into()) else {
                    self.pass();
                    continue;
                };
                member.deficit = left;
                if queues.second(queue).is_none() {
                    member.listed = false;
                    self.waiting.pop_front();
                }
                return Pick::Queue(queue);
            }
            self.skip_rounds(queues);
        }
    }

    fn pick_priority(&mut self, queues: &B, now_ps: u64) -> Option<usize> {
        self.pick_above(0, queues, now_ps)
    }

    fn class(&self, queue: usize) -> u8 {
        class_of(&self.strict, queue)
    }

    fn pick_above(&mut self, class: u8, queues: &B, _now_ps: u64) -> Option<usize> {
        first_above(&self.strict, class, queues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{Feed, Line, context};

    fn drr(quanta: &str, queues: usize) -> Drr {
        let spec = format!(r#"{{"quantum_bytes": {quanta}}}"#);
        Drr::new(&serde_json::from_str(&spec).unwrap(), context(queues)).unwrap()
    }

    /// The next queues served, nothing put in.
    fn order(drr: &mut Drr, feed: &mut Feed, turns: usize) -> Vec<usize> {
        (0..turns)
            .map_while(|_| match drr.pick(feed.queues.as_slice(), 0) {
                Pick::Queue(queue) => {
                    feed.queues[queue].pop(0);
                    Some(queue)
                }
                _ => None,
            })
            .collect()
    }

    fn arrive(drr: &mut Drr, feed: &mut Feed, queue: usize) {
        feed.push(queue);
        drr.entered(queue, feed.queues.as_slice());
    }

    #[test]
    fn a_queue_that_begins_to_wait_is_last() {
        let mut drr = drr("[1000, 1000, 1000]", 3);
        let mut feed = Feed::new(&[0, 0, 0]);
        for queue in 0..3 {
            feed.resize(queue, 1000);
        }
        for queue in [1, 1, 2, 2, 0] {
            arrive(&mut drr, &mut feed, queue);
        }
        // A fixed circle would serve 0 after 2.
        assert_eq!(order(&mut drr, &mut feed, 1), [1]);
        assert_eq!(order(&mut drr, &mut feed, 1), [2]);
        arrive(&mut drr, &mut feed, 2);
        assert_eq!(order(&mut drr, &mut feed, 1), [0]);
        arrive(&mut drr, &mut feed, 0);
        assert_eq!(order(&mut drr, &mut feed, 9), [1, 2, 0, 2]);
    }

    #[test]
    fn strict_queues_come_first_and_leave_turns_where_they_were() {
        let spec = r#"{"quantum_bytes": {"0": 1000, "2": 1000}, "strict": [1]}"#;
        let spec = serde_json::from_str(spec).unwrap();
        let mut drr = Drr::new(&spec, context(3)).unwrap();
        let mut feed = Feed::new(&[0, 0, 0]);
        for queue in 0..3 {
            feed.resize(queue, 1000);
        }
        for queue in [2, 2, 0, 1] {
            arrive(&mut drr, &mut feed, queue);
        }
        assert_eq!(order(&mut drr, &mut feed, 2), [1, 2]);
        arrive(&mut drr, &mut feed, 1);
        assert_eq!(order(&mut drr, &mut feed, 9), [1, 0, 2]);
        assert_eq!(drr.pick(feed.queues.as_slice(), 0), Pick::Empty);
    }

    #[test]
    fn what_was_left_is_kept_while_the_queue_waits() {
        let mut drr = drr("[1500, 1500]", 2);
        let mut feed = Feed::new(&[0, 0]);
        feed.resize(0, 1000);
        feed.resize(1, 1500);
        for queue in [0, 0, 0, 0, 0, 1, 1, 1] {
            arrive(&mut drr, &mut feed, queue);
        }
        assert_eq!(order(&mut drr, &mut feed, 8), [0, 1, 0, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn shares_are_those_of_the_quanta() {
        let bits = Line::new(&[1500, 200, 64]).run(&mut drr("[300, 600, 2100]", 3), 100.0);
        for (queue, expected) in [10e6, 20e6, 70e6].into_iter().enumerate() {
            assert!((bits[queue] - expected).abs() < 30e3, "{bits:?}");
        }
    }

    #[test]
    fn a_tiny_quantum_alone_is_served_at_once() {
        let bits = Line::new(&[1500, 0]).run(&mut drr("[1, 1000000000]", 2), 1.0);
        assert!((bits[0] - 1e6).abs() <= 12e3, "{bits:?}");
    }
}

//! Shaping: a token bucket in front of the line, and one per queue.

use std::collections::BTreeMap;

use super::classes::Classes;
use super::{Context, Gated, Pick, Scheduler};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::item::Item;
use crate::queue::ClassQueue;
use crate::scenario::ShapeSpec;

/// A token bucket. A frame may leave it in debt, and one may start while it is not: in any time
/// t no more than burst + rate × t + one frame pass. Of whole frames, each waits for all its
/// tokens, one larger than the bucket for a full one.
#[derive(Debug, Clone)]
pub struct Bucket {
    rate_bps: u64,
    /// In bits × 10^12, so that a rate times picoseconds needs no division.
    level: i128,
    depth: i128,
    whole_frames: bool,
    updated_ps: u64,
}

impl Bucket {
    /// Full at the start. Refuses a rate or burst of 0 at `path`.
    pub fn new(spec: &ShapeSpec, path: &str) -> Result<Self, ScenarioError> {
        for (value, field) in [
            (spec.rate_bps, "rate_bps"),
            (spec.burst_bytes, "burst_bytes"),
        ] {
            if value == 0 {
                let at = format!("{path}.{field}");
                return Err(ScenarioError::new(at, "is 0", "give a positive number"));
            }
        }
        Ok(Self {
            rate_bps: spec.rate_bps,
            level: tokens(spec.burst_bytes),
            depth: tokens(spec.burst_bytes),
            whole_frames: spec.whole_frames,
            updated_ps: 0,
        })
    }

    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    pub fn whole_frames(&self) -> bool {
        self.whole_frames
    }

    /// When it is out of debt; `now_ps` if it is not in any.
    pub fn ready_at(&mut self, now_ps: u64) -> u64 {
        self.reaches(0, now_ps)
    }

    /// When a frame of so many bytes may start.
    pub fn ready_for(&mut self, bytes: u32, now_ps: u64) -> u64 {
        match self.whole_frames {
            true => self.reaches(tokens(bytes.into()).min(self.depth), now_ps),
            false => self.ready_at(now_ps),
        }
    }

    fn reaches(&mut self, level: i128, now_ps: u64) -> u64 {
        self.refill(now_ps);
        let missing = level.saturating_sub(self.level);
        if missing <= 0 {
            return now_ps;
        }
        let wait = missing.unsigned_abs().div_ceil(self.rate_bps.into());
        now_ps.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    pub fn charge(&mut self, bytes: u32, now_ps: u64) {
        self.refill(now_ps);
        self.level = self.level.saturating_sub(tokens(bytes.into()));
    }

    /// Forgets what is owed beyond so many picoseconds of the rate.
    pub fn forgive_beyond(&mut self, time_ps: u64) {
        let most = i128::from(self.rate_bps) * i128::from(time_ps);
        self.level = self.level.max(-most);
    }

    fn refill(&mut self, now_ps: u64) {
        let earned = u128::from(now_ps - self.updated_ps) * u128::from(self.rate_bps);
        let earned = i128::try_from(earned).unwrap_or(i128::MAX);
        self.updated_ps = now_ps;
        self.level = self.level.saturating_add(earned).min(self.depth);
    }
}

fn tokens(bytes: u64) -> i128 {
    i128::from(bytes) * 8 * i128::from(SECOND_PS)
}

/// A discipline behind one bucket for all its queues. A frame is chosen when it may start, so
/// that what arrives while the port waits is still served in the discipline's order; of whole
/// frames one is chosen first and waits for its tokens, in its queue.
#[derive(Debug)]
pub struct PortShaper {
    inner: Classes,
    bucket: Bucket,
    /// The queue whose head waits for its tokens.
    chosen: Option<usize>,
}

impl PortShaper {
    pub fn new(inner: Classes, bucket: Bucket) -> Self {
        Self {
            inner,
            bucket,
            chosen: None,
        }
    }

    fn pick_whole(&mut self, queues: &[ClassQueue], now_ps: u64) -> Pick {
        let queue = match self.chosen.take() {
            Some(queue) => queue,
            None => match self.inner.pick(queues, now_ps) {
                Pick::Queue(queue) => queue,
                none => return none,
            },
        };
        let bytes = queues[queue].head().map_or(0, |head| head.bytes);
        let ready = self.bucket.ready_for(bytes, now_ps);
        if ready > now_ps {
            self.chosen = Some(queue);
            return Pick::Wait(ready);
        }
        self.bucket.charge(bytes, now_ps);
        Pick::Queue(queue)
    }

    fn charge(&mut self, queue: usize, queues: &[ClassQueue], now_ps: u64) {
        if let Some(head) = queues[queue].head() {
            self.bucket.charge(head.bytes, now_ps);
        }
    }
}

impl Scheduler for PortShaper {
    fn is_priority(&self, queue: usize) -> bool {
        self.inner.is_priority(queue)
    }

    fn admits(&mut self, queue: usize, item: &Item, now_ps: u64, congested: bool) -> bool {
        // A port that waits for tokens is as congested as one whose line is busy.
        let waits = self.chosen.is_some() || self.bucket.ready_at(now_ps) > now_ps;
        let congested = congested || waits;
        self.inner.admits(queue, item, now_ps, congested)
    }

    fn entered(&mut self, queue: usize, queues: &[ClassQueue]) {
        self.inner.entered(queue, queues);
    }

    fn pick(&mut self, queues: &[ClassQueue], now_ps: u64) -> Pick {
        if self.bucket.whole_frames() {
            return self.pick_whole(queues, now_ps);
        }
        let ready = self.bucket.ready_at(now_ps);
        if ready > now_ps {
            return if queues.iter().all(ClassQueue::is_empty) {
                Pick::Empty
            } else {
                Pick::Wait(ready)
            };
        }
        let pick = self.inner.pick(queues, now_ps);
        if let Pick::Queue(queue) = pick {
            self.charge(queue, queues, now_ps);
        }
        pick
    }

    fn pick_priority(&mut self, queues: &[ClassQueue], now_ps: u64) -> Option<usize> {
        self.pick_above(0, queues, now_ps)
    }

    fn class(&self, queue: usize) -> u8 {
        self.inner.class(queue)
    }

    fn class_visits(&self) -> Option<u64> {
        self.inner.class_visits()
    }

    /// Between fragments of a frame that has its tokens already: only charged.
    fn pick_above(&mut self, class: u8, queues: &[ClassQueue], now_ps: u64) -> Option<usize> {
        let queue = self.inner.pick_above(class, queues, now_ps)?;
        self.charge(queue, queues, now_ps);
        Some(queue)
    }
}

/// A discipline over queues some of which have a bucket of their own. A queue in debt seems
/// empty to the discipline: the others share what it leaves.
#[derive(Debug)]
pub struct QueueShaper {
    inner: Box<dyn for<'a> Scheduler<Gated<'a>>>,
    buckets: Vec<Option<Bucket>>,
    held: Vec<bool>,
}

impl QueueShaper {
    pub fn new(
        inner: Box<dyn for<'a> Scheduler<Gated<'a>>>,
        shapes: &BTreeMap<String, ShapeSpec>,
        context: Context,
    ) -> Result<Self, ScenarioError> {
        let mut buckets = vec![None; context.queues];
        for (key, spec) in shapes {
            let queue: usize = key.parse().map_err(|_| {
                let problem = format!("{key:?} is no queue number");
                context.error("shapes", &problem, "use queue numbers as keys")
            })?;
            let field = format!("shapes.{key}");
            context.check_queue(queue, &field)?;
            buckets[queue] = Some(Bucket::new(spec, &format!("{}.{field}", context.path))?);
        }
        Ok(Self {
            inner,
            held: vec![false; buckets.len()],
            buckets,
        })
    }

    /// Holds back what is in debt; the time at which the first waiting of those is not.
    fn hold(&mut self, queues: &[ClassQueue], now_ps: u64) -> Option<u64> {
        let mut next = None;
        let shaped = self.buckets.iter_mut().zip(&mut self.held).zip(queues);
        for ((bucket, held), queue) in shaped {
            let Some(bucket) = bucket else { continue };
            let bytes = queue.head().map_or(0, |head| head.bytes);
            let ready = bucket.ready_for(bytes, now_ps);
            *held = ready > now_ps;
            if *held && !queue.is_empty() {
                next = Some(next.map_or(ready, |n: u64| n.min(ready)));
            }
        }
        next
    }

    fn charge(&mut self, queue: usize, queues: &[ClassQueue], now_ps: u64) {
        if let Some(bucket) = &mut self.buckets[queue]
            && let Some(head) = queues[queue].head()
        {
            bucket.charge(head.bytes, now_ps);
        }
    }
}

impl Scheduler for QueueShaper {
    fn is_priority(&self, queue: usize) -> bool {
        self.inner.is_priority(queue)
    }

    fn admits(&mut self, queue: usize, item: &Item, now_ps: u64, congested: bool) -> bool {
        self.inner.admits(queue, item, now_ps, congested)
    }

    fn entered(&mut self, queue: usize, queues: &[ClassQueue]) {
        let held = &[];
        self.inner.entered(queue, &Gated { queues, held });
    }

    fn pick(&mut self, queues: &[ClassQueue], now_ps: u64) -> Pick {
        let next = self.hold(queues, now_ps);
        let held = &self.held;
        let pick = self.inner.pick(&Gated { queues, held }, now_ps);
        match (pick, next) {
            (Pick::Queue(queue), _) => {
                self.charge(queue, queues, now_ps);
                pick
            }
            (Pick::Wait(until), Some(next)) => Pick::Wait(until.min(next)),
            (Pick::Empty, Some(next)) => Pick::Wait(next),
            (_, None) => pick,
        }
    }

    fn pick_priority(&mut self, queues: &[ClassQueue], now_ps: u64) -> Option<usize> {
        self.pick_above(0, queues, now_ps)
    }

    fn class(&self, queue: usize) -> u8 {
        self.inner.class(queue)
    }

    fn class_visits(&self) -> Option<u64> {
        self.inner.class_visits()
    }

    fn pick_above(&mut self, class: u8, queues: &[ClassQueue], now_ps: u64) -> Option<usize> {
        self.hold(queues, now_ps);
        let held = &self.held;
        let queue = (self.inner).pick_above(class, &Gated { queues, held }, now_ps)?;
        self.charge(queue, queues, now_ps);
        Some(queue)
    }
}
#[cfg(test)]
mod tests;

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
mod tests {
    use super::*;
    use crate::sched::testing::{Line, context};
    use crate::sched::{Discipline, read};

    fn scheduler(spec: &str, queues: usize, shape: Option<ShapeSpec>) -> Box<dyn Scheduler> {
        let bucket = shape.map(|s| Bucket::new(&s, "shape").unwrap());
        let value = serde_json::from_str(spec).unwrap();
        match read(&value, bucket, context(queues)).unwrap() {
            Discipline::Classes(scheduler) => Box::new(scheduler),
            Discipline::Fair(_) => panic!("class queues expected"),
        }
    }

    #[test]
    fn a_shaped_port_keeps_its_rate_and_its_order() {
        let shape = ShapeSpec {
            rate_bps: 250_000,
            burst_bytes: 3000,
            whole_frames: false,
        };
        let mut strict = scheduler(r#"{"kind": "strict", "order": [0, 1]}"#, 2, Some(shape));
        let mut line = Line::new(&[1000, 1000]);
        let bits = line.run(&mut *strict, 100.0);
        // A quarter of the line, the burst and one frame more.
        assert!((bits[0] - 25_000_000.0).abs() <= 32_000.0, "{bits:?}");
        assert_eq!(bits[1], 0.0);
    }

    #[test]
    fn others_share_what_a_shaped_queue_leaves() {
        for kind in [
            r#""kind": "wrr", "weights": [8, 1, 1]"#,
            r#""kind": "drr", "quantum_bytes": [8000, 1000, 1000]"#,
            r#""kind": "cbwfq", "weights": [8, 1, 1]"#,
            r#""kind": "srr", "weights": [8, 1, 1]"#,
            r#""kind": "strict_wrr", "strict": [0], "weights": [null, 1, 1], "mode": "bytes""#,
        ] {
            let shapes = r#""shapes": {"0": {"rate_bps": 100000, "burst_bytes": 1000}}"#;
            let mut shaped = scheduler(&format!("{{{kind}, {shapes}}}"), 3, None);
            let bits = Line::new(&[1000, 1000, 1000]).run(&mut *shaped, 100.0);
            for (queue, expected) in [10e6, 45e6, 45e6].into_iter().enumerate() {
                assert!((bits[queue] - expected).abs() < 50e3, "{kind}: {bits:?}");
            }
        }
    }

    #[test]
    fn shares_of_the_link_are_shares_of_a_shaped_port() {
        let shape = ShapeSpec {
            rate_bps: 500_000,
            burst_bytes: 1500,
            whole_frames: false,
        };
        let spec = r#"{"kind": "dcbq", "classes": [
            {"name": "a", "share": 0.2, "borrow": false, "queue": 0},
            {"name": "b", "share": 0.8, "queue": 1}]}"#;
        let mut dcbq = scheduler(spec, 2, Some(shape));
        let bits = Line::new(&[500, 500]).run(&mut *dcbq, 100.0);
        assert!((bits[0] / 10e6 - 1.0).abs() < 0.02, "{bits:?}");
        assert!((bits[1] / 40e6 - 1.0).abs() < 0.02, "{bits:?}");
    }

    #[test]
    fn whole_frames_wait_for_all_their_tokens() {
        let spec = ShapeSpec {
            rate_bps: 8_000_000,
            burst_bytes: 1500,
            whole_frames: true,
        };
        let mut bucket = Bucket::new(&spec, "p").unwrap();
        bucket.charge(1000, 0);
        // 500 bytes are left, and a byte comes every microsecond.
        assert_eq!(bucket.ready_for(500, 0), 0);
        assert_eq!(bucket.ready_for(800, 0), 300_000_000);
        assert_eq!(bucket.ready_for(9000, 0), 1_000_000_000);
        let shape = ShapeSpec {
            rate_bps: 250_000,
            burst_bytes: 1500,
            whole_frames: true,
        };
        let mut fifo = scheduler(r#"{"kind": "fifo"}"#, 1, Some(shape));
        let bits = Line::new(&[1000]).run(&mut *fifo, 100.0);
        // A quarter of the line and the burst, and no frame more.
        assert!(
            bits[0] <= 25_012_000.0 && bits[0] >= 25_000_000.0,
            "{bits:?}"
        );
    }

    #[test]
    fn a_shaped_queue_of_whole_frames_keeps_its_rate() {
        let spec = r#"{"kind": "drr", "quantum_bytes": [1500, 1500],
            "shapes": {"0": {"rate_bps": 100000, "burst_bytes": 1500, "whole_frames": true}}}"#;
        let bits = Line::new(&[1000, 1000]).run(&mut *scheduler(spec, 2, None), 100.0);
        assert!((bits[0] - 10e6).abs() <= 16e3, "{bits:?}");
        assert!((bits[1] - 90e6).abs() <= 24e3, "{bits:?}");
    }

    #[test]
    fn a_shaped_queue_alone_leaves_the_line_idle() {
        let spec = r#"{"kind": "wrr", "weights": [1, 1],
            "shapes": {"1": {"rate_bps": 300000, "burst_bytes": 1}}}"#;
        let bits = Line::new(&[0, 500]).run(&mut *scheduler(spec, 2, None), 10.0);
        assert!((bits[1] - 3e6).abs() < 8e3, "{bits:?}");
    }

    #[test]
    fn extremes_do_not_overflow() {
        let spec = ShapeSpec {
            rate_bps: u64::MAX,
            burst_bytes: u64::MAX,
            whole_frames: false,
        };
        let mut bucket = Bucket::new(&spec, "p").unwrap();
        bucket.charge(u32::MAX, 0);
        assert_eq!(bucket.ready_at(u64::MAX), u64::MAX);
    }
}

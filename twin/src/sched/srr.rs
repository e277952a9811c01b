//! Shared round robin of the Catalyst 2970 family: an optional expedite queue, shaped queues
//! that get 1/W of the port rate and never more, and byte-weighted sharing of the rest.

use schemars::JsonSchema;
use serde::Deserialize;

use super::round_robin::{RoundRobin, TURN_BYTES};
use super::weights::Weights;
use super::{Backlog, Context, Pick, Scheduler};
use crate::error::ScenarioError;
use crate::framing::serialisation_ps;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SrrSpec {
    /// Shares; a shaped or strict queue's entry does not count.
    weights: Weights,
    /// Expedite queue, served first and without bound.
    #[serde(default)]
    strict: Option<usize>,
    /// Per queue W: 1/W of the port rate; null or 0 shares.
    #[serde(default)]
    shape: Option<Weights>,
}

#[derive(Debug)]
struct Shaped {
    queue: usize,
    /// The queue's own rate is 1/this of the port's.
    divisor: u64,
    eligible_ps: u64,
}

#[derive(Debug)]
pub struct Srr {
    expedite: Option<usize>,
    shaped: Vec<Shaped>,
    shared: RoundRobin,
    rate_bps: u64,
}

impl Srr {
    pub fn new(spec: SrrSpec, context: Context) -> Result<Self, ScenarioError> {
        if let Some(queue) = spec.strict {
            context.check_queue(queue, "strict")?;
        }
        let divisors = match &spec.shape {
            Some(shape) => shape.per_queue(context, "shape")?,
            None => Vec::new(),
        };
        let shaped = divisors.into_iter().enumerate().filter_map(|(queue, w)| {
            (spec.strict != Some(queue)).then_some(Shaped {
                queue,
                divisor: w?,
                eligible_ps: 0,
            })
        });
        let shaped: Vec<_> = shaped.collect();
        let mut apart: Vec<_> = shaped.iter().map(|s| s.queue).collect();
        apart.extend(spec.strict);
        let shared = spec.weights.members(&apart, context, "weights")?;
        Ok(Self {
            expedite: spec.strict,
            shaped,
            shared: RoundRobin::by_bytes(shared),
            rate_bps: context.rate_bps,
        })
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Srr {
    fn is_priority(&self, queue: usize) -> bool {
        self.expedite == Some(queue)
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        if let Some(queue) = self.pick_priority(queues, now_ps) {
            return Pick::Queue(queue);
        }
        let waiting = self.shaped.iter_mut();
        let waiting = waiting.filter(|s| queues.waits(s.queue));
        let next = waiting.min_by_key(|s| s.eligible_ps);
        if let Some(shaped) = next
            && shaped.eligible_ps <= now_ps
            && let Some(head) = queues.head(shaped.queue)
        {
            let own = |bytes| serialisation_ps(bytes, self.rate_bps).saturating_mul(shaped.divisor);
            // From when it could have gone: a frame that waits for the line's end of another
            // costs no share, for as long as one full frame at the queue's own rate.
            let could = shaped.eligible_ps.max(head.entered_ps);
            let from = could.max(now_ps.saturating_sub(own(TURN_BYTES as u32)));
            shaped.eligible_ps = from.saturating_add(own(head.bytes));
            return Pick::Queue(shaped.queue);
        }
        if let Some(queue) = self.shared.pick(queues) {
            return Pick::Queue(queue);
        }
        let waiting = self.shaped.iter().filter(|s| queues.waits(s.queue));
        match waiting.map(|s| s.eligible_ps).min() {
            Some(eligible) => Pick::Wait(eligible),
            None => Pick::Empty,
        }
    }

    fn pick_priority(&mut self, queues: &B, _now_ps: u64) -> Option<usize> {
        self.expedite.filter(|q| queues.waits(*q))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::Feed;

    #[test]
    fn a_shaped_queue_loses_nothing_by_waiting_for_the_line() {
        let context = crate::sched::testing::context(2);
        let spec = serde_json::from_str(r#"{"weights": [1, 1], "shape": [10, 0]}"#).unwrap();
        let mut srr = Srr::new(spec, context).unwrap();
        let both = Feed::new(&[125, 125]);
        assert_eq!(srr.pick(&both.queues[..], 0), Pick::Queue(0));
        // Due at 10 ms, served at 10.7 ms: the next one is due at 20 ms.
        assert_eq!(srr.pick(&both.queues[..], 10_700_000_000), Pick::Queue(0));
        assert_eq!(srr.pick(&both.queues[..], 19_999_999_999), Pick::Queue(1));
        assert_eq!(srr.pick(&both.queues[..], 20_000_000_000), Pick::Queue(0));
        // A second late (an expedite queue was busy): one full frame's worth is made good.
        let late = 1_000_000_000_000;
        let turns = (0..40).filter(|_| srr.pick(&both.queues[..], late) == Pick::Queue(0));
        assert_eq!(turns.count(), 1600 / 125 + 1);
    }

    #[test]
    fn a_shaped_queue_alone_waits_for_its_turn() {
        let context = crate::sched::testing::context(2);
        let spec = serde_json::from_str(r#"{"weights": [1, 1], "shape": [10, 0]}"#).unwrap();
        let mut srr = Srr::new(spec, context).unwrap();
        let feed = Feed::new(&[125, 0]);
        assert_eq!(srr.pick(&feed.queues[..], 5), Pick::Queue(0));
        // 125 bytes take 1 ms of the line and 10 ms of the queue's tenth of it; they came at 0.
        assert_eq!(srr.pick(&feed.queues[..], 5), Pick::Wait(10_000_000_000));
        let both = Feed::new(&[125, 125]);
        assert_eq!(srr.pick(&both.queues[..], 5), Pick::Queue(1));
        assert_eq!(srr.pick(&both.queues[..], 10_000_000_000), Pick::Queue(0));
    }
}

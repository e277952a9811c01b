//! Strict queues first, the rest by round robin: `fifo`, `strict` and `strict_wrr`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::classes::Read;
use super::leaky::{LeaksSpec, Leaky, LevelSpec};
use super::round_robin::RoundRobin;
use super::weights::Weights;
use super::{Backlog, Context, Pick, Scheduler};
use crate::error::ScenarioError;

#[derive(Debug)]
pub struct Tiered {
    /// From first served.
    strict: Vec<usize>,
    /// How many of `strict` count as priority queues.
    priorities: usize,
    rest: RoundRobin,
}

impl Tiered {
    /// Round robin over every queue.
    pub fn robin(rest: RoundRobin) -> Self {
        Self {
            strict: Vec::new(),
            priorities: 0,
            rest,
        }
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Tiered {
    fn is_priority(&self, queue: usize) -> bool {
        self.strict[..self.priorities].contains(&queue)
    }

    #[inline]
    fn pick(&mut self, queues: &B, _now_ps: u64) -> Pick {
        let first = self.strict.iter().find(|q| queues.waits(**q));
        match first.copied().or_else(|| self.rest.pick(queues)) {
            Some(queue) => Pick::Queue(queue),
            None => Pick::Empty,
        }
    }

    fn pick_priority(&mut self, queues: &B, now_ps: u64) -> Option<usize> {
        self.pick_above(0, queues, now_ps)
    }

    fn class(&self, queue: usize) -> u8 {
        class_of(&self.strict[..self.priorities], queue)
    }

    fn pick_above(&mut self, class: u8, queues: &B, _now_ps: u64) -> Option<usize> {
        first_above(&self.strict[..self.priorities], class, queues)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FifoSpec {}

pub fn fifo(_spec: FifoSpec, context: Context) -> Result<Tiered, ScenarioError> {
    if context.queues != 1 {
        let problem = format!("fifo serves one queue, not {}", context.queues);
        return Err(context.error("", &problem, "list exactly one queue"));
    }
    Ok(Tiered {
        strict: vec![0],
        priorities: 0,
        rest: RoundRobin::by_packets(Vec::new()),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictSpec {
    /// Every queue, from first served; the first is the priority queue for interleaving.
    order: Vec<LevelSpec>,
    #[serde(default)]
    leak: Option<LeaksSpec>,
}

impl StrictSpec {
    /// The queues in order, if each is a level of its own and none leaks.
    fn plain(&self) -> Option<Vec<usize>> {
        let queue = |level: &LevelSpec| match level {
            LevelSpec::Queue(queue) => Some(*queue),
            LevelSpec::Shared(_) => None,
        };
        match self.leak {
            Some(_) => None,
            None => self.order.iter().map(queue).collect(),
        }
    }
}

pub fn strict(spec: StrictSpec, context: Context) -> Result<Read, ScenarioError> {
    let Some(order) = spec.plain() else {
        return Ok(Read::Other(Box::new(strict_levels(spec, context)?)));
    };
    check_strict(&order, context, "order")?;
    if let Some(absent) = (0..context.queues).find(|queue| !order.contains(queue)) {
        let problem = format!("queue {absent} is not listed");
        return Err(context.error("order", &problem, "list each queue once"));
    }
    Ok(Read::Tiered(Tiered {
        strict: order,
        priorities: 1,
        rest: RoundRobin::by_packets(Vec::new()),
    }))
}

pub fn strict_levels(spec: StrictSpec, context: Context) -> Result<Leaky, ScenarioError> {
    Leaky::new(spec.order, spec.leak, context)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictWrrSpec {
    /// From first served.
    strict: Vec<usize>,
    weights: Weights,
    mode: Mode,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Packets,
    Bytes,
}

pub fn strict_wrr(spec: StrictWrrSpec, context: Context) -> Result<Tiered, ScenarioError> {
    check_strict(&spec.strict, context, "strict")?;
    let members = spec.weights.members(&spec.strict, context, "weights")?;
    Ok(Tiered {
        priorities: spec.strict.len(),
        strict: spec.strict,
        rest: match spec.mode {
            Mode::Packets => RoundRobin::by_packets(members),
            Mode::Bytes => RoundRobin::by_bytes(members),
        },
    })
}

/// The class of a queue among strict ones, from first served: 0 for any other.
pub fn class_of(strict: &[usize], queue: usize) -> u8 {
    let place = strict.iter().position(|q| *q == queue);
    place.map_or(0, |p| u8::try_from(strict.len() - p).unwrap_or(u8::MAX))
}

/// The first strict queue that waits and is of a class above `class`.
pub fn first_above<B: Backlog + ?Sized>(strict: &[usize], class: u8, queues: &B) -> Option<usize> {
    let above = strict.len().saturating_sub(class.into());
    let mut first = strict[..above].iter();
    first.find(|q| queues.waits(**q)).copied()
}

pub fn check_strict(order: &[usize], context: Context, field: &str) -> Result<(), ScenarioError> {
    for (i, queue) in order.iter().enumerate() {
        context.check_queue(*queue, &format!("{field}[{i}]"))?;
        if order[..i].contains(queue) {
            let at = format!("{field}[{i}]");
            let problem = format!("queue {queue} is listed twice");
            return Err(context.error(&at, &problem, "list each queue once"));
        }
    }
    Ok(())
}

//! Strict queues first, the rest by round robin: `fifo`, `strict`, `wrr` and `strict_wrr`.

use serde::Deserialize;

use super::round_robin::RoundRobin;
use super::weights::Weights;
use super::{Context, Pick, Scheduler};
use crate::error::ScenarioError;
use crate::queue::ClassQueue;

#[derive(Debug)]
pub struct Tiered {
    /// From first served.
    strict: Vec<usize>,
    /// How many of `strict` count as priority queues.
    priorities: usize,
    rest: RoundRobin,
}

impl Scheduler for Tiered {
    fn is_priority(&self, queue: usize) -> bool {
        self.strict[..self.priorities].contains(&queue)
    }

    fn pick(&mut self, queues: &[ClassQueue], _now_ps: u64) -> Pick {
        let first = self.strict.iter().find(|q| !queues[**q].is_empty());
        match first.copied().or_else(|| self.rest.pick(queues)) {
            Some(queue) => Pick::Queue(queue),
            None => Pick::Empty,
        }
    }

    fn pick_priority(&mut self, queues: &[ClassQueue], _now_ps: u64) -> Option<usize> {
        let mut first = self.strict[..self.priorities].iter();
        first.find(|q| !queues[**q].is_empty()).copied()
    }
}

#[derive(Debug, Deserialize)]
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrictSpec {
    /// Every queue, from first served; the first is the priority queue for interleaving.
    order: Vec<usize>,
}

pub fn strict(spec: StrictSpec, context: Context) -> Result<Tiered, ScenarioError> {
    check_strict(&spec.order, context, "order")?;
    if spec.order.len() != context.queues {
        return Err(context.error("order", "not every queue is listed", "list each queue once"));
    }
    Ok(Tiered {
        strict: spec.order,
        priorities: 1,
        rest: RoundRobin::by_packets(Vec::new()),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrrSpec {
    /// Packets per turn.
    #[serde(default)]
    weights: Option<Weights>,
    /// Frame bytes per turn.
    #[serde(default)]
    quantum_bytes: Option<Weights>,
}

pub fn wrr(spec: WrrSpec, context: Context) -> Result<Tiered, ScenarioError> {
    let rest = match (&spec.weights, &spec.quantum_bytes) {
        (Some(w), None) => RoundRobin::by_packets(w.members(&[], context, "weights")?),
        (None, Some(q)) => RoundRobin::by_quantum(q.members(&[], context, "quantum_bytes")?),
        _ => {
            return Err(context.error(
                "",
                "wrr needs one kind of share",
                "give weights or quantum_bytes, not both",
            ));
        }
    };
    Ok(Tiered {
        strict: Vec::new(),
        priorities: 0,
        rest,
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrictWrrSpec {
    /// From first served.
    strict: Vec<usize>,
    weights: Weights,
    mode: Mode,
}

#[derive(Debug, Deserialize)]
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

fn check_strict(order: &[usize], context: Context, field: &str) -> Result<(), ScenarioError> {
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

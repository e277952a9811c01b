//! Schedulers: which queue's head goes to the hardware next.
//!
//! A scheduler is a file here that reads its own part of the scenario and implements
//! `Scheduler`; `read` names it.

mod cbwfq;
mod fair;
mod round_robin;
mod srr;
#[cfg(test)]
mod testing;
mod tiered;
mod weights;

pub use fair::{FairQueue, Offer};

use serde_json::Value;

use crate::error::ScenarioError;
use crate::queue::{ClassQueue, Item};
use crate::scenario::{parse_kind, parse_part};

/// A scheduler's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The head of this queue; the caller takes it at once.
    Queue(usize),
    /// Nothing may go before this time.
    Wait(u64),
    Empty,
}

/// A discipline over class queues.
pub trait Scheduler: std::fmt::Debug + Send {
    /// Served before all others and never fragmented.
    fn is_priority(&self, queue: usize) -> bool;

    /// May this arrival enter at all? Asked before the queue's own limits.
    fn admits(&mut self, _queue: usize, _item: &Item, _now_ps: u64, _congested: bool) -> bool {
        true
    }

    /// An item was put into `queue`.
    fn entered(&mut self, _queue: usize, _queues: &[ClassQueue]) {}

    /// Chooses and charges a head.
    fn pick(&mut self, queues: &[ClassQueue], now_ps: u64) -> Pick;

    /// Chooses and charges a priority head, if one waits.
    fn pick_priority(&mut self, queues: &[ClassQueue], now_ps: u64) -> Option<usize>;
}

/// What a scheduler must know of its port.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub queues: usize,
    pub rate_bps: u64,
    /// JSON path of the scheduler.
    pub path: &'a str,
}

impl Context<'_> {
    fn check_queue(&self, queue: usize, field: &str) -> Result<(), ScenarioError> {
        if queue < self.queues {
            return Ok(());
        }
        Err(self.error(
            field,
            &format!("queue {queue} does not exist"),
            &format!("the port has {} queues, counted from 0", self.queues),
        ))
    }

    fn error(&self, field: &str, problem: &str, mend: &str) -> ScenarioError {
        let at = if field.is_empty() {
            self.path.to_owned()
        } else {
            format!("{}.{field}", self.path)
        };
        ScenarioError::new(at, problem, mend)
    }
}

/// A port's discipline: over its class queues, or flow-based fair queueing with its own store.
#[derive(Debug)]
pub enum Discipline {
    Classes(Box<dyn Scheduler>),
    Fair(FairQueue),
}

/// Reads a scheduler by its `kind`.
pub fn read(value: &Value, context: Context) -> Result<Discipline, ScenarioError> {
    let path = context.path;
    let (kind, rest) = parse_kind(value, path)?;
    let classes: Box<dyn Scheduler> = match kind.as_str() {
        "fifo" => Box::new(tiered::fifo(parse_part(rest, path)?, context)?),
        "strict" => Box::new(tiered::strict(parse_part(rest, path)?, context)?),
        "wrr" => Box::new(tiered::wrr(parse_part(rest, path)?, context)?),
        "strict_wrr" => Box::new(tiered::strict_wrr(parse_part(rest, path)?, context)?),
        "srr" => Box::new(srr::Srr::new(parse_part(rest, path)?, context)?),
        "cbwfq" => Box::new(cbwfq::Cbwfq::new(parse_part(rest, path)?, context)?),
        "wfq" => {
            let fair = FairQueue::new(&parse_part(rest, path)?, context)?;
            return Ok(Discipline::Fair(fair));
        }
        other => {
            return Err(context.error(
                "kind",
                &format!("unknown scheduler {other:?}"),
                "use fifo, strict, wrr, strict_wrr, srr, wfq or cbwfq",
            ));
        }
    };
    if context.queues == 0 {
        return Err(context.error("", "the port has no queues", "list at least one queue"));
    }
    Ok(Discipline::Classes(classes))
}

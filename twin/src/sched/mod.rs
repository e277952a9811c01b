//! Schedulers: which queue's head goes to the hardware next.
//!
//! A scheduler is a file here that reads its own part of the scenario and implements
//! `Scheduler`; `read` names it.

mod backlog;
mod cbq;
mod cbwfq;
mod classes;
mod drr;
mod fair;
mod hierarchy;
mod htb;
mod leaky;
mod round_robin;
mod schema;
mod shape;
mod srr;
#[cfg(test)]
mod testing;
mod tiered;
mod tree;
mod weights;
mod wrr;

use backlog::{Backlog, Gated};
use classes::{Classes, Read};
pub use fair::{FairQueue, Offer};
pub use schema::SchedulerSchema;
pub use shape::Bucket;
use shape::{PortShaper, QueueShaper};

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::ScenarioError;
use crate::item::Item;
use crate::queue::ClassQueue;
use crate::scenario::{ShapeSpec, parse_kind, parse_part};

/// Bytes; times the largest weight still far inside 64 bits.
const MAX_QUANTUM: u64 = 65_536;

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
pub trait Scheduler<B: Backlog + ?Sized = [ClassQueue]>: std::fmt::Debug + Send {
    /// Served before all others and never fragmented.
    fn is_priority(&self, queue: usize) -> bool;

    /// May this arrival enter at all? Asked before the queue's own limits.
    fn admits(&mut self, _queue: usize, _item: &Item, _now_ps: u64, _congested: bool) -> bool {
        true
    }

    /// An item was put into `queue`.
    fn entered(&mut self, _queue: usize, _queues: &B) {}

    /// Chooses and charges a head.
    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick;

    /// Chooses and charges a priority head, if one waits.
    fn pick_priority(&mut self, queues: &B, now_ps: u64) -> Option<usize>;

    /// A queue's class among those that interrupt one another: 0 without priority, and the
    /// higher the more urgent.
    fn class(&self, queue: usize) -> u8 {
        u8::from(self.is_priority(queue))
    }

    /// Chooses and charges a head of a class above `class`, if one waits.
    fn pick_above(&mut self, class: u8, queues: &B, now_ps: u64) -> Option<usize> {
        match class {
            0 => self.pick_priority(queues, now_ps),
            _ => None,
        }
    }

    /// How often it looked at a class so far, if that is counted.
    fn class_visits(&self) -> Option<u64> {
        None
    }
}

/// What a scheduler must know of its port.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub queues: usize,
    pub rate_bps: u64,
    /// Frames carry an 802.1Q tag here.
    pub tagged: bool,
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

    /// Refuses a quantum of 0 or one that a weight could lift out of 64 bits.
    fn check_quantum(&self, bytes: u64, field: &str) -> Result<(), ScenarioError> {
        if (1..=MAX_QUANTUM).contains(&bytes) {
            return Ok(());
        }
        let hint = format!("use 1 to {MAX_QUANTUM}");
        Err(self.error(field, "out of range", &hint))
    }

    fn error(&self, field: &str, problem: &str, hint: &str) -> ScenarioError {
        let at = if field.is_empty() {
            self.path.to_owned()
        } else {
            format!("{}.{field}", self.path)
        };
        ScenarioError::new(at, problem, hint)
    }
}

/// A port's discipline: over its class queues, or flow-based fair queueing with its own store.
#[derive(Debug)]
pub enum Discipline {
    Classes(Classes),
    Fair(Box<FairQueue>),
}

/// A discipline that can be told to leave queues out.
pub trait Gateable: Scheduler + for<'a> Scheduler<Gated<'a>> {}

impl<T: Scheduler + for<'a> Scheduler<Gated<'a>>> Gateable for T {}

const KINDS: &str =
    "fifo, strict, wrr, drr, strict_wrr, srr, wfq, cbwfq, cbq, dcbq, dcbqe, htb or tree";

/// Reads a scheduler by its `kind`, behind the port's shaper if it has one.
pub fn read(
    value: &Value,
    shaper: Option<Bucket>,
    context: Context,
) -> Result<Discipline, ScenarioError> {
    let path = context.path;
    let (kind, mut rest) = parse_kind(value, path)?;
    let shapes = take_shapes(&mut rest, path)?;
    if kind == "wfq" {
        if shapes.is_some() {
            return Err(not_shaped(&kind, context));
        }
        if shaper.as_ref().is_some_and(Bucket::whole_frames) {
            let problem = "flow-based fair queueing is not shaped by whole frames";
            return Err(context.error("kind", problem, "leave out whole_frames"));
        }
        let fair = FairQueue::new(&parse_part(rest, path)?, shaper, context)?;
        return Ok(Discipline::Fair(Box::new(fair)));
    }
    // What a tree divides is what the shaper leaves of the line.
    let inside = Context {
        rate_bps: (shaper.as_ref())
            .map_or(context.rate_bps, |s| s.rate_bps().min(context.rate_bps)),
        ..context
    };
    let read = match kind.as_str() {
        "fifo" => Read::Tiered(tiered::fifo(parse_part(rest, path)?, context)?),
        "strict" => tiered::strict(parse_part(rest, path)?, context)?,
        "wrr" => Read::Tiered(wrr::wrr(parse_part(rest, path)?, context)?),
        "strict_wrr" => Read::Tiered(tiered::strict_wrr(parse_part(rest, path)?, context)?),
        _ => Read::Other(read_other(&kind, rest, inside, context)?),
    };
    if context.queues == 0 {
        return Err(context.error("", "the port has no queues", "list at least one queue"));
    }
    let scheduler = match shapes {
        Some(shapes) => {
            let shaped = QueueShaper::new(read.boxed(), &shapes, context)?;
            Classes::Other(Box::new(shaped))
        }
        None => read.into(),
    };
    Ok(Discipline::Classes(match shaper {
        Some(bucket) => Classes::Other(Box::new(PortShaper::new(scheduler, bucket))),
        None => scheduler,
    }))
}

/// Kinds beyond strict queues and round robin; `inside`: behind the port's shaper.
fn read_other(
    kind: &str,
    rest: Value,
    inside: Context,
    context: Context,
) -> Result<Box<dyn Gateable>, ScenarioError> {
    let path = context.path;
    Ok(match kind {
        "drr" => Box::new(drr::Drr::new(&parse_part(rest, path)?, context)?),
        "srr" => Box::new(srr::Srr::new(parse_part(rest, path)?, context)?),
        "cbwfq" => Box::new(cbwfq::Cbwfq::new(parse_part(rest, path)?, context)?),
        "cbq" => cbq::cbq(&parse_part(rest, path)?, inside)?,
        "tree" => Box::new(tree::Tree::new(&parse_part(rest, path)?, inside)?),
        "htb" => Box::new(htb::Htb::new(&parse_part(rest, path)?, context)?),
        "dcbq" | "dcbqe" => cbq::decoupled(&parse_part(rest, path)?, kind == "dcbqe", inside)?,
        other => {
            let problem = format!("unknown scheduler {other:?}");
            return Err(context.error("kind", &problem, &format!("use {KINDS}")));
        }
    })
}

/// Takes `shapes`, which every discipline over class queues may have.
fn take_shapes(
    rest: &mut Value,
    path: &str,
) -> Result<Option<BTreeMap<String, ShapeSpec>>, ScenarioError> {
    let shapes = rest
        .as_object_mut()
        .and_then(|fields| fields.remove("shapes"));
    let at = format!("{path}.shapes");
    shapes.map(|shapes| parse_part(shapes, &at)).transpose()
}

fn not_shaped(kind: &str, context: Context) -> ScenarioError {
    let problem = format!("queues of {kind} are not shaped one by one");
    context.error("shapes", &problem, "leave it out, or shape the port")
}

//! A port's queues as they run, and what routes must know of them.

use super::pools::NodePools;
use super::twice;
use crate::admission::{Limits, Profiles};
use crate::error::ScenarioError;
use crate::flow_order::FlowOrder;
use crate::framing::SECOND_PS;
use crate::queue::ClassQueue;
use crate::scenario::{EgressSpec, QueueSpec};
use crate::sched::{self, Discipline};

const MAX_QUEUES: usize = 1024;

/// What queues are read with.
#[derive(Debug, Clone, Copy)]
pub struct QueueContext<'a> {
    pub line_bps: u64,
    pub tagged: bool,
    pub pools: &'a NodePools<'a>,
    /// Number of the port in its node.
    pub port: usize,
    /// Names of the node's ports.
    pub ports: &'a [&'a str],
}

/// A port's queues.
#[derive(Debug, Default)]
pub struct PortQueues {
    /// None for flow-based fair queueing.
    pub queues: Vec<ClassQueue>,
    /// Never none.
    pub names: Vec<String>,
    pub profiles: Vec<Profiles>,
}

/// Reads a port's scheduler and the queues it serves.
pub fn read_discipline(
    spec: &EgressSpec,
    context: QueueContext,
    path: &str,
) -> Result<(Discipline, PortQueues), ScenarioError> {
    if spec.queues.len() > MAX_QUEUES {
        let at = format!("{path}.queues");
        let hint = format!("use at most {MAX_QUEUES}");
        return Err(ScenarioError::new(at, "too many queues", hint));
    }
    let scheduler = sched::Context {
        queues: spec.queues.len(),
        rate_bps: context.line_bps,
        tagged: context.tagged,
        path: &format!("{path}.scheduler"),
    };
    let shaper = match &spec.shape {
        Some(shape) => Some(sched::Bucket::new(shape, &format!("{path}.shape"))?),
        None => None,
    };
    let discipline = sched::read(&spec.scheduler, shaper, scheduler)?;
    let queues = read_queues(&spec.queues, &discipline, context, path)?;
    Ok((discipline, queues))
}

fn read_queues(
    specs: &[QueueSpec],
    discipline: &Discipline,
    context: QueueContext,
    path: &str,
) -> Result<PortQueues, ScenarioError> {
    let mut read = PortQueues::default();
    for (i, spec) in specs.iter().enumerate() {
        let at = format!("{path}.queues[{i}]");
        if read.names.contains(&spec.name) {
            return Err(twice(&at, &spec.name));
        }
        read.names.push(spec.name.clone());
        match discipline {
            Discipline::Classes(_) => {
                let limits = limits(spec, context.line_bps, &at)?;
                let pool = context.pools.share(context.port, spec, &at)?;
                let line = (context.line_bps, pool);
                let (profiles, admission) = Profiles::read(spec, limits, line, context.ports, &at)?;
                read.profiles.push(profiles);
                let flows = match &spec.fair_queue {
                    Some(fair) => Some(FlowOrder::new(fair, &format!("{at}.fair_queue"))?),
                    None => None,
                };
                let queue = ClassQueue::new(&spec.name, limits, admission, flows);
                read.queues.push(queue);
            }
            Discipline::Fair(_) => refuse_limits(spec, &at)?,
        }
    }
    if read.names.is_empty() {
        read.names.push("fair".into());
    }
    Ok(read)
}

fn limits(spec: &QueueSpec, line_bps: u64, path: &str) -> Result<Limits, ScenarioError> {
    if spec.drain_bps == Some(0) {
        let at = format!("{path}.drain_bps");
        return Err(ScenarioError::new(at, "is 0", "give the queue's rate"));
    }
    let in_time = spec.limit_ps.map(|ps| {
        let rate = spec.drain_bps.unwrap_or(line_bps);
        let bytes = u128::from(ps) * u128::from(rate) / (8 * u128::from(SECOND_PS));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    });
    let limits = Limits {
        packets: spec.limit_packets,
        bytes: match (spec.limit_bytes, in_time) {
            (Some(bytes), Some(in_time)) => Some(bytes.min(in_time)),
            (bytes, in_time) => bytes.or(in_time),
        },
    };
    if limits.packets.is_none() && limits.bytes.is_none() && spec.pool.is_none() {
        return Err(ScenarioError::new(
            path,
            "the queue has no limit",
            "give limit_packets, limit_bytes, limit_ps or a pool",
        ));
    }
    Ok(limits)
}

fn refuse_limits(spec: &QueueSpec, path: &str) -> Result<(), ScenarioError> {
    let limited = spec.limit_packets.is_some()
        || spec.limit_bytes.is_some()
        || spec.limit_ps.is_some()
        || spec.drain_bps.is_some()
        || spec.red.is_some()
        || !spec.thresholds.is_empty()
        || spec.pool.is_some()
        || spec.reserved_packets.is_some()
        || spec.reserved_bytes.is_some()
        || spec.alpha.is_some()
        || spec.fair_queue.is_some();
    if !limited {
        return Ok(());
    }
    let problem = "wfq has its own limits";
    let hint = "use the scheduler's hold_queue and congestive_discard_threshold";
    Err(ScenarioError::new(path, problem, hint))
}

//! Hierarchical token bucket as in Linux's `sch_htb` (Devera 2002): a class sends by its own
//! rate, or borrows from the nearest ancestor below its rate while nobody between is at its
//! ceiling; the lowest lenders first, then by priority, then deficit round robin.

use schemars::JsonSchema;
use serde::Deserialize;

use super::hierarchy::{Node, parents};
use super::shape::Bucket;
use super::{Backlog, Context, Pick, Scheduler};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::scenario::ShapeSpec;

/// `TC_HTB_MAXDEPTH` and `TC_HTB_NUMPRIO`.
const MAX_DEPTH: usize = 8;
const PRIORITIES: usize = 8;
/// `mbuffer`: no class owes more than a minute of its rate.
const MOST_OWED_PS: u64 = 60 * SECOND_PS;
/// A class's quantum is its rate in bytes a second over this, within the bounds of `sch_htb`.
const RATE_TO_QUANTUM: u64 = 10;
const QUANTUM_BOUNDS: (u64, u64) = (1_000, 200_000);
/// What `tc` gives where timers are exact: one packet of the usual MTU.
const DEFAULT_BURST: u64 = 1_600;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbSpec {
    classes: Vec<ClassSpec>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HtbClassSpec")]
struct ClassSpec {
    name: String,
    #[serde(default)]
    parent: Option<String>,
    rate_bps: u64,
    /// Absent: the rate, so that nothing is borrowed.
    #[serde(default)]
    ceil_bps: Option<u64>,
    #[serde(default = "default_burst")]
    burst_bytes: u64,
    #[serde(default = "default_burst")]
    cburst_bytes: u64,
    /// Of a leaf: 0 borrows first.
    #[serde(default)]
    prio: u8,
    #[serde(default)]
    quantum_bytes: Option<u64>,
    #[serde(default)]
    queue: Option<usize>,
}

fn default_burst() -> u64 {
    DEFAULT_BURST
}

impl Node for ClassSpec {
    fn name(&self) -> &str {
        &self.name
    }

    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    fn queue(&self) -> Option<usize> {
        self.queue
    }
}

#[derive(Debug)]
struct Class {
    parent: Option<usize>,
    /// 0 for leaves; other classes count down from the top.
    level: usize,
    rate: Bucket,
    ceil: Bucket,
}

#[derive(Debug)]
struct Leaf {
    class: usize,
    queue: usize,
    priority: usize,
    quantum: i64,
    /// By the lender's level.
    deficit: [i64; MAX_DEPTH],
}

/// Long-run shares of backlogged leaves: the rate for each; what a parent's rate leaves over
/// goes to those of its leaves with the best priority, in proportion to their quanta, each up
/// to its ceiling.
#[derive(Debug)]
pub struct Htb {
    classes: Vec<Class>,
    leaves: Vec<Leaf>,
    /// The leaf whose turn it is, by the lender's level and priority.
    turns: [[usize; PRIORITIES]; MAX_DEPTH],
    /// Lender of each leaf at this moment.
    lenders: Vec<Option<usize>>,
}

impl Htb {
    pub fn new(spec: &HtbSpec, context: Context) -> Result<Self, ScenarioError> {
        let mut classes: Vec<Class> = Vec::new();
        let mut leaves = Vec::new();
        for (i, parent) in parents(&spec.classes, context)?.into_iter().enumerate() {
            let entry = &spec.classes[i];
            let inner = parent.map_or(MAX_DEPTH, |p| classes[p].level);
            let at = format!("classes[{i}]");
            if inner == 1 && entry.queue.is_none() {
                let problem = format!("more than {MAX_DEPTH} levels");
                return Err(context.error(&format!("{at}.parent"), &problem, "use fewer"));
            }
            classes.push(class(entry, parent, inner - 1, &at, context)?);
            if let Some(queue) = entry.queue {
                leaves.push(leaf(entry, i, queue, &at, context)?);
            }
        }
        Ok(Self {
            lenders: vec![None; leaves.len()],
            turns: [[0; PRIORITIES]; MAX_DEPTH],
            classes,
            leaves,
        })
    }

    /// Who lends to the class: itself below its rate, or the nearest such ancestor. Otherwise
    /// the time at which that may change.
    fn lender(&mut self, class: usize, now_ps: u64) -> Result<usize, u64> {
        let mut change = u64::MAX;
        let mut at = class;
        loop {
            let class = &mut self.classes[at];
            let capped = class.ceil.ready_at(now_ps);
            if capped > now_ps {
                return Err(change.min(capped));
            }
            let ready = class.rate.ready_at(now_ps);
            if ready <= now_ps {
                return Ok(at);
            }
            change = change.min(ready);
            match class.parent {
                Some(parent) => at = parent,
                None => return Err(change),
            }
        }
    }

    /// The next leaf in turn of those with this lender's level and priority.
    fn in_turn(&mut self, level: usize, priority: usize) -> usize {
        let count = self.leaves.len();
        let mut at = self.turns[level][priority];
        while self.rank(at) != Some((level, priority)) {
            at = (at + 1) % count;
        }
        self.turns[level][priority] = at;
        at
    }

    fn rank(&self, leaf: usize) -> Option<(usize, usize)> {
        let lender = self.lenders[leaf]?;
        Some((self.classes[lender].level, self.leaves[leaf].priority))
    }

    fn charge(&mut self, leaf: usize, level: usize, bytes: u32, now_ps: u64) {
        let mut at = Some(self.leaves[leaf].class);
        while let Some(class) = at {
            let class = &mut self.classes[class];
            // Below the lender nothing is taken from the rates: that is what is borrowed.
            if class.level >= level {
                class.rate.charge(bytes, now_ps);
                class.rate.forgive_beyond(MOST_OWED_PS);
            }
            class.ceil.charge(bytes, now_ps);
            class.ceil.forgive_beyond(MOST_OWED_PS);
            at = class.parent;
        }
        let next = (leaf + 1) % self.leaves.len();
        let entry = &mut self.leaves[leaf];
        let deficit = &mut entry.deficit[level];
        *deficit -= i64::from(bytes);
        if *deficit < 0 {
            *deficit += entry.quantum;
            self.turns[level][entry.priority] = next;
        }
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Htb {
    fn is_priority(&self, _queue: usize) -> bool {
        false
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        let mut change = None;
        for i in 0..self.leaves.len() {
            self.lenders[i] = None;
            let (class, queue) = (self.leaves[i].class, self.leaves[i].queue);
            if !queues.waits(queue) {
                continue;
            }
            match self.lender(class, now_ps) {
                Ok(lender) => self.lenders[i] = Some(lender),
                Err(at) => change = Some(change.map_or(at, |c: u64| c.min(at))),
            }
        }
        let best = (0..self.leaves.len()).filter_map(|l| self.rank(l)).min();
        let Some((level, priority)) = best else {
            return change.map_or(Pick::Empty, Pick::Wait);
        };
        let leaf = self.in_turn(level, priority);
        let queue = self.leaves[leaf].queue;
        if let Some(head) = queues.head(queue) {
            self.charge(leaf, level, head.bytes, now_ps);
        }
        Pick::Queue(queue)
    }

    fn pick_priority(&mut self, _queues: &B, _now_ps: u64) -> Option<usize> {
        None
    }
}

fn class(
    entry: &ClassSpec,
    parent: Option<usize>,
    inner_level: usize,
    at: &str,
    context: Context,
) -> Result<Class, ScenarioError> {
    let bucket = |rate_bps, burst_bytes, rate: &str, burst: &str| {
        for (value, field) in [(rate_bps, rate), (burst_bytes, burst)] {
            if value == 0 {
                let problem = "is 0";
                return Err(context.error(&format!("{at}.{field}"), problem, "use 1 or more"));
            }
        }
        let spec = ShapeSpec {
            rate_bps,
            burst_bytes,
            whole_frames: false,
        };
        Bucket::new(&spec, at)
    };
    let ceil = entry.ceil_bps.unwrap_or(entry.rate_bps);
    if ceil < entry.rate_bps {
        let problem = "below the rate";
        return Err(context.error(
            &format!("{at}.ceil_bps"),
            problem,
            "raise it or leave it out",
        ));
    }
    Ok(Class {
        parent,
        level: if entry.queue.is_some() {
            0
        } else {
            inner_level
        },
        rate: bucket(entry.rate_bps, entry.burst_bytes, "rate_bps", "burst_bytes")?,
        ceil: bucket(ceil, entry.cburst_bytes, "ceil_bps", "cburst_bytes")?,
    })
}

fn leaf(
    entry: &ClassSpec,
    class: usize,
    queue: usize,
    at: &str,
    context: Context,
) -> Result<Leaf, ScenarioError> {
    let priority = usize::from(entry.prio);
    if priority >= PRIORITIES {
        return Err(context.error(&format!("{at}.prio"), "out of range", "use 0 to 7"));
    }
    let quantum = match entry.quantum_bytes {
        Some(quantum) => {
            let field = format!("{at}.quantum_bytes");
            context.check_quantum(quantum, &field)?;
            quantum
        }
        None => {
            let (least, most) = QUANTUM_BOUNDS;
            (entry.rate_bps / 8 / RATE_TO_QUANTUM).clamp(least, most)
        }
    };
    Ok(Leaf {
        class,
        queue,
        priority,
        quantum: quantum as i64,
        deficit: [0; MAX_DEPTH],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{Line, context};

    fn htb(classes: &str, queues: usize) -> Result<Htb, ScenarioError> {
        let spec = format!(r#"{{"classes": [{classes}]}}"#);
        Htb::new(&serde_json::from_str(&spec).unwrap(), context(queues))
    }

    /// kb/s of each queue on a line of 1 Mb/s.
    fn rates(classes: &str, sizes: &[u32]) -> Vec<f64> {
        let mut htb = htb(classes, sizes.len()).unwrap();
        let bits = Line::new(sizes).run(&mut htb, 100.0);
        bits.iter().map(|b| b / 100.0 / 1e3).collect()
    }

    fn close(got: &[f64], expected: &[f64]) {
        for (a, b) in got.iter().zip(expected) {
            assert!((a - b).abs() <= 1.0 + 0.005 * b, "{got:?} for {expected:?}");
        }
    }

    const TREE: &str = r#"{"name": "root", "rate_bps": 900000},
        {"name": "A", "parent": "root", "rate_bps": 300000, "ceil_bps": 900000},
        {"name": "a0", "parent": "A", "rate_bps": 100000, "ceil_bps": 900000, "queue": 0},
        {"name": "a1", "parent": "A", "rate_bps": 200000, "ceil_bps": 900000, "queue": 1},
        {"name": "b", "parent": "root", "rate_bps": 600000, "ceil_bps": 700000, "queue": 2}"#;

    #[test]
    fn everyone_gets_its_rate_and_the_root_shapes() {
        close(&rates(TREE, &[1000, 500, 1500]), &[100.0, 200.0, 600.0]);
    }

    #[test]
    fn siblings_borrow_before_others() {
        close(&rates(TREE, &[0, 1000, 1000]), &[0.0, 300.0, 600.0]);
    }

    #[test]
    fn a_ceiling_ends_borrowing() {
        close(&rates(TREE, &[0, 0, 1000]), &[0.0, 0.0, 700.0]);
    }

    #[test]
    fn the_rest_goes_by_quantum_or_by_priority() {
        let leaves = |more: &str| {
            format!(
                r#"{{"name": "r", "rate_bps": 1000000}},
                {{"name": "0", "parent": "r", "rate_bps": 100000, "ceil_bps": 1000000,
                  "quantum_bytes": 3000, "queue": 0}},
                {{"name": "1", "parent": "r", "rate_bps": 100000, "ceil_bps": 1000000,
                  "quantum_bytes": 1000, "queue": 1{more}}}"#
            )
        };
        close(&rates(&leaves(""), &[1000, 1000]), &[700.0, 300.0]);
        close(
            &rates(&leaves(r#", "prio": 1"#), &[1000, 1000]),
            &[900.0, 100.0],
        );
    }

    #[test]
    fn refusals_name_the_place() {
        let leaf = r#"{"name": "0", "rate_bps": 1000, "queue": 0}"#;
        for (with, path) in [
            (leaf.replace("1000", "0"), "s.classes[0].rate_bps"),
            (
                leaf.replace("1000", r#"1000, "ceil_bps": 999"#),
                "s.classes[0].ceil_bps",
            ),
            (
                leaf.replace("1000", r#"1000, "cburst_bytes": 0"#),
                "s.classes[0].cburst_bytes",
            ),
            (
                leaf.replace("1000", r#"1000, "prio": 8"#),
                "s.classes[0].prio",
            ),
            (
                leaf.replace("1000", r#"1000, "quantum_bytes": 0"#),
                "s.classes[0].quantum_bytes",
            ),
        ] {
            assert_eq!(htb(&with, 1).unwrap_err().path, path, "{with}");
        }
        let mut deep = r#"{"name": "0", "rate_bps": 1}"#.to_owned();
        for level in 1..9 {
            let parent = level - 1;
            deep += &format!(r#", {{"name": "{level}", "parent": "{parent}", "rate_bps": 1}}"#);
        }
        deep += r#", {"name": "leaf", "parent": "8", "rate_bps": 1, "queue": 0}"#;
        assert_eq!(htb(&deep, 1).unwrap_err().path, "s.classes[7].parent");
    }
}

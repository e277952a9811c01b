//! The link-sharing structure: classes as written, checked, parents before children.

use schemars::JsonSchema;
use serde::Deserialize;

use super::estimator::{Estimator, EstimatorSpec};
use super::ring::Ring;
use super::visits::Visits;
use crate::error::ScenarioError;
use crate::sched::hierarchy::{Node, parents};
use crate::sched::{Backlog, Context};

/// Shares are rounded in print: children may exceed their parent by this much of the link.
const SHARE_SLACK: f64 = 1e-9;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CbqClassSpec")]
pub struct ClassSpec {
    name: String,
    /// None: a child of the root, which is the link.
    #[serde(default)]
    parent: Option<String>,
    /// Of the link.
    share: f64,
    #[serde(default)]
    priority: Priority,
    /// May the class use more than its share, of what its parent has?
    #[serde(default = "yes")]
    borrow: bool,
    /// A leaf's queue.
    #[serde(default)]
    queue: Option<usize>,
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

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "invalid priority: neither high, low nor a number from 0 (first) to 7"
)]
enum Priority {
    Named(Named),
    Number(u8),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Named {
    High,
    Low,
}

impl Default for Priority {
    fn default() -> Self {
        Self::Named(Named::Low)
    }
}

#[derive(Debug)]
pub struct Class {
    pub parent: Option<usize>,
    /// A leaf has 1, a parent one more than the highest of its children.
    pub level: u32,
    pub share: f64,
    /// 0 is served first.
    pub priority: u8,
    pub borrow: bool,
    pub queue: Option<usize>,
    pub estimator: Estimator,
    /// It, or a class below it, has a packet waiting; set by `Classes::survey`.
    pub backlogged: bool,
    /// Nobody below sends before this, bounded classes apart.
    pub suspended_ps: u64,
}

/// Parents come before their children; the root is not among them: it is the link, which
/// cannot exceed its rate.
#[derive(Debug)]
pub struct Classes<V> {
    /// Looks at a class's limit or suspension, steps of the round robins, charges of a class.
    pub visits: V,
    pub all: Vec<Class>,
    /// Leaves in the order written.
    pub leaves: Vec<usize>,
}

impl<V: Visits> Classes<V> {
    pub fn new(
        specs: &[ClassSpec],
        estimator: &EstimatorSpec,
        context: Context,
    ) -> Result<Self, ScenarioError> {
        estimator.check(context)?;
        let mut all: Vec<Class> = Vec::new();
        for (i, parent) in parents(specs, context)?.into_iter().enumerate() {
            all.push(class(&specs[i], i, parent, estimator, context)?);
        }
        check_sums(&all, context)?;
        for i in (0..all.len()).rev() {
            if let Some(parent) = all[i].parent {
                all[parent].level = all[parent].level.max(all[i].level + 1);
            }
        }
        let leaves = (0..all.len()).filter(|c| all[*c].queue.is_some());
        Ok(Self {
            visits: V::default(),
            leaves: leaves.collect(),
            all,
        })
    }

    /// Is the class under or at its limit?
    pub fn is_under(&self, class: usize, now_ps: u64) -> bool {
        self.visits.add();
        self.all[class].estimator.is_under(now_ps)
    }

    pub fn is_unsatisfied(&self, class: usize, now_ps: u64) -> bool {
        self.all[class].backlogged && self.is_under(class, now_ps)
    }

    pub fn is_suspended(&self, class: usize, now_ps: u64) -> bool {
        self.visits.add();
        self.all[class].suspended_ps > now_ps
    }

    /// Looks which classes have something to send.
    pub fn survey<B: Backlog + ?Sized>(&mut self, queues: &B) {
        for class in &mut self.all {
            class.backlogged = class.queue.is_some_and(|q| queues.waits(q));
        }
        for i in (0..self.all.len()).rev() {
            if let (true, Some(parent)) = (self.all[i].backlogged, self.all[i].parent) {
                self.all[parent].backlogged = true;
            }
        }
    }

    /// A frame of `leaf` begins to be sent: counts for it and all above.
    pub fn charge(&mut self, leaf: usize, bytes: u32, now_ps: u64) {
        let mut at = Some(leaf);
        while let Some(class) = at {
            self.visits.add();
            self.all[class].estimator.sent(bytes, now_ps);
            at = self.all[class].parent;
        }
    }

    /// The leaf of each queue.
    pub fn leaf_of(&self, queues: usize) -> Vec<usize> {
        let mut of = vec![0; queues];
        for leaf in &self.leaves {
            if let Some(queue) = self.all[*leaf].queue {
                of[queue] = *leaf;
            }
        }
        of
    }

    /// The queue of the first backlogged leaf that may borrow, by priority.
    pub fn first_borrower(&self, rings: &[Ring]) -> Option<usize> {
        let mut leaves = rings.iter().flat_map(Ring::members).map(|l| &self.all[l]);
        leaves.find(|c| c.backlogged && c.borrow)?.queue
    }

    /// `class` and those above it.
    pub fn lineage(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(class), |c| self.all[*c].parent)
    }

    /// The next time after now at which a waiting class's standing may change.
    pub fn next_change(&self, now_ps: u64) -> Option<u64> {
        let waiting = self.all.iter().filter(|c| c.backlogged);
        let times = waiting.flat_map(|c| [c.estimator.under_ps(), c.suspended_ps]);
        times.filter(|t| *t > now_ps).min()
    }
}

fn class(
    spec: &ClassSpec,
    index: usize,
    parent: Option<usize>,
    estimator: &EstimatorSpec,
    context: Context,
) -> Result<Class, ScenarioError> {
    let wrong = |field: &str, problem: &str, hint: &str| {
        Err(context.error(&format!("classes[{index}].{field}"), problem, hint))
    };
    if !(spec.share > 0.0 && spec.share <= 1.0) {
        return wrong(
            "share",
            "out of range",
            "use a part of the link, above 0 to 1",
        );
    }
    let priority = match spec.priority {
        Priority::Named(Named::High) => 0,
        Priority::Named(Named::Low) => 1,
        Priority::Number(number @ 0..=7) => number,
        Priority::Number(_) => return wrong("priority", "out of range", "use 0 to 7"),
    };
    let rate = (spec.share * context.rate_bps as f64).round() as u64;
    let rate = rate.clamp(1, context.rate_bps);
    Ok(Class {
        parent,
        level: 1,
        share: spec.share,
        priority,
        borrow: spec.borrow,
        queue: spec.queue,
        estimator: Estimator::new(estimator, rate, context.rate_bps),
        backlogged: false,
        suspended_ps: 0,
    })
}

fn check_sums(all: &[Class], context: Context) -> Result<(), ScenarioError> {
    let mut given = vec![0.0; all.len()];
    let mut top = 0.0;
    for class in all {
        match class.parent {
            Some(parent) => given[parent] += class.share,
            None => top += class.share,
        }
    }
    if top > 1.0 + SHARE_SLACK {
        return Err(context.error("classes", "shares exceed the link", "sum to at most 1"));
    }
    for (i, class) in all.iter().enumerate() {
        if given[i] > class.share + SHARE_SLACK {
            let field = format!("classes[{i}].share");
            let problem = "less than its children's together";
            return Err(context.error(&field, problem, "raise it or lower theirs"));
        }
    }
    Ok(())
}

//! Policies inside policies (`tree`): each node serves its children by priority, those of one
//! priority by weight, and may be shaped. As a parent class of IOS that is shaped, or has a
//! weight, with class-based weighted fair and low-latency queues inside.
//!
//! Children share by start-time fair queuing (Goyal, Vin and Cheng 1997), which needs no size
//! before it chooses and so nests: the smallest start number goes first and grows by bytes over
//! weight.

mod spec;
#[cfg(test)]
mod tests;

pub use spec::TreeSpec;

use super::{Backlog, Bucket, Context, Pick, Scheduler};
use crate::error::ScenarioError;
use crate::item::Item;
use crate::police::TokenBucket;

/// Children of one priority.
#[derive(Debug)]
struct Tier {
    /// Lower ones go first.
    order: u16,
    /// Start number of the child served last.
    clock: u128,
    children: Vec<usize>,
}

impl Tier {
    fn new(order: u16) -> Self {
        Self {
            order,
            clock: 0,
            children: Vec::new(),
        }
    }
}

#[derive(Debug)]
struct Node {
    parent: Option<usize>,
    /// By order.
    tiers: Vec<Tier>,
    queue: Option<usize>,
    /// Has a priority among its siblings.
    urgent: bool,
    /// 2^64 / weight: what one byte adds to the start number.
    per_byte: u128,
    start: u128,
    ceil: Option<Bucket>,
    police: Option<TokenBucket>,
    /// Something below waits and no shaper holds it; at this moment.
    ready: bool,
}

impl Node {
    fn new(parent: Option<usize>) -> Self {
        Self {
            parent,
            tiers: Vec::new(),
            queue: None,
            urgent: false,
            per_byte: 0,
            start: 0,
            ceil: None,
            police: None,
            ready: false,
        }
    }
}

/// Long-run shares of backlogged leaves: at each node the lowest priority takes all it can, then
/// the next; of equal ones each in proportion to its weight, up to its ceiling.
#[derive(Debug)]
pub struct Tree {
    /// The root first, parents before children.
    nodes: Vec<Node>,
    leaf_of: Vec<usize>,
}

impl Tree {
    pub fn new(spec: &TreeSpec, context: Context) -> Result<Self, ScenarioError> {
        let nodes = spec::Reader::read(spec, context)?;
        let mut leaf_of = vec![0; context.queues];
        for (index, node) in nodes.iter().enumerate() {
            if let Some(queue) = node.queue {
                leaf_of[queue] = index;
            }
        }
        Ok(Self { nodes, leaf_of })
    }

    /// Finds what is ready; the first time at which a shaper lets go of what it holds.
    fn survey<B: Backlog + ?Sized>(
        &mut self,
        queues: &B,
        now_ps: u64,
        urgent_only: bool,
    ) -> Option<u64> {
        let mut change: Option<u64> = None;
        for node in &mut self.nodes {
            node.ready =
                (node.queue).is_some_and(|q| queues.waits(q) && (node.urgent || !urgent_only));
        }
        for i in (0..self.nodes.len()).rev() {
            let node = &mut self.nodes[i];
            if !node.ready {
                continue;
            }
            if let Some(ceil) = &mut node.ceil {
                let at = ceil.ready_at(now_ps);
                if at > now_ps {
                    node.ready = false;
                    change = Some(change.map_or(at, |c| c.min(at)));
                    continue;
                }
            }
            if let Some(parent) = node.parent {
                self.nodes[parent].ready = true;
            }
        }
        change
    }

    /// Whether a shaper of the node, or of one above it, waits for tokens: as congested as a busy line.
    fn held(&mut self, node: usize, now_ps: u64) -> bool {
        let mut at = Some(node);
        while let Some(index) = at {
            let node = &mut self.nodes[index];
            if (node.ceil.as_mut()).is_some_and(|ceil| ceil.ready_at(now_ps) > now_ps) {
                return true;
            }
            at = node.parent;
        }
        false
    }

    /// From the root to the leaf in turn.
    fn descend(&mut self) -> Option<usize> {
        let mut at = 0;
        while self.nodes[at].queue.is_none() {
            let ready = |tier: &Tier| tier.children.iter().any(|c| self.nodes[*c].ready);
            let tier = self.nodes[at].tiers.iter().position(ready)?;
            let Tier {
                clock, children, ..
            } = &self.nodes[at].tiers[tier];
            let waiting = children.iter().filter(|c| self.nodes[**c].ready);
            // Who was idle starts with the others: it has saved nothing up.
            let starts = waiting.map(|c| (self.nodes[*c].start.max(*clock), *c));
            let (start, child) = starts.min()?;
            self.nodes[at].tiers[tier].clock = start;
            self.nodes[child].start = start;
            at = child;
        }
        Some(at)
    }

    fn take<B: Backlog + ?Sized>(&mut self, queues: &B, now_ps: u64) -> Option<usize> {
        let leaf = self.descend()?;
        let queue = self.nodes[leaf].queue?;
        let bytes = queues.head(queue)?.bytes;
        let mut at = Some(leaf);
        while let Some(index) = at {
            let node = &mut self.nodes[index];
            node.start += u128::from(bytes) * node.per_byte;
            if let Some(ceil) = &mut node.ceil {
                ceil.charge(bytes, now_ps);
            }
            at = node.parent;
        }
        Some(queue)
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Tree {
    fn is_priority(&self, queue: usize) -> bool {
        self.nodes[self.leaf_of[queue]].urgent
    }

    fn admits(&mut self, queue: usize, item: &Item, now_ps: u64, congested: bool) -> bool {
        let leaf = self.leaf_of[queue];
        if self.nodes[leaf].police.is_none() {
            return true;
        }
        let congested = congested || self.held(leaf, now_ps);
        match &mut self.nodes[leaf].police {
            Some(bucket) if congested => bucket.conforms(item.bytes, now_ps),
            _ => true,
        }
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        let change = self.survey(queues, now_ps, false);
        match (self.take(queues, now_ps), change) {
            (Some(queue), _) => Pick::Queue(queue),
            (None, Some(at)) => Pick::Wait(at),
            (None, None) => Pick::Empty,
        }
    }

    fn pick_priority(&mut self, queues: &B, now_ps: u64) -> Option<usize> {
        self.survey(queues, now_ps, true);
        self.take(queues, now_ps)
    }
}

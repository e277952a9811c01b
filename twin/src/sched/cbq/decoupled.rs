//! Decoupled CBQ (Risso, "Implementation and Characterization of an Advanced Scheduler", ICN
//! 2001): a class's priority decides on its delay only, not on the bandwidth it gets.
//!
//! A bounded class (one that may not borrow) and every child of the root is the root of a
//! bounded branch subtree; the nearest of those above a leaf, or itself, is its own root.

use schemars::JsonSchema;
use serde::Deserialize;

use super::by_priority;
use super::classes::{ClassSpec, Classes};
use super::estimator::EstimatorSpec;
use super::ring::Ring;
use super::visits::Visits;
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::sched::{Backlog, Context, Pick, Scheduler};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecoupledSpec {
    classes: Vec<ClassSpec>,
    #[serde(default)]
    estimator: EstimatorSpec,
    /// Suspended classes are woken at ticks of this timer only; absent: exactly in time.
    #[serde(default)]
    timer_hz: Option<u64>,
    /// Reports how often classes are looked at.
    #[serde(default)]
    pub count_visits: bool,
}

/// Long-run shares of backlogged classes: what is left over goes from each node of the tree to
/// the unbounded children that have more to send, in proportion to their shares.
#[derive(Debug)]
pub struct Decoupled<V> {
    classes: Classes<V>,
    /// Link sharing: leaves by priority.
    sharing: Vec<Ring>,
    /// Excess: children of the root, then of each class (none of a leaf), whatever their
    /// priority.
    excess: Vec<Option<Ring>>,
    /// Of each class: the root of the lowest bounded branch subtree that it is in.
    branch: Vec<usize>,
    /// Lowest level of an unsatisfied class in the subtree of each such root.
    unsatisfied: Vec<u32>,
    permitted: Vec<bool>,
    efficient: bool,
    tick_ps: u64,
}

/// Of no class.
const NO_LEVEL: u32 = u32::MAX;

impl<V: Visits> Decoupled<V> {
    /// `efficient`: when nobody may send, the first backlogged unbounded class does, uncounted.
    pub fn new(
        spec: &DecoupledSpec,
        efficient: bool,
        context: Context,
    ) -> Result<Self, ScenarioError> {
        let classes = Classes::new(&spec.classes, &spec.estimator, context)?;
        let tick_ps = match spec.timer_hz {
            None => 1,
            Some(hz) if (1..=SECOND_PS).contains(&hz) => SECOND_PS / hz,
            Some(_) => {
                let hint = "use 1 to 10^12, or leave it out";
                return Err(context.error("timer_hz", "out of range", hint));
            }
        };
        let packet_bytes = spec.estimator.packet_bytes();
        let all = &classes.all;
        let excess = std::iter::once(None)
            .chain((0..all.len()).map(Some))
            .map(|parent| {
                let children = (0..all.len()).filter(|c| all[*c].parent == parent);
                let members: Vec<_> = children.map(|c| (c, all[c].share)).collect();
                (!members.is_empty()).then(|| Ring::new(&members, packet_bytes, false))
            });
        let branch = (0..all.len()).map(|class| {
            let mut lineage = classes.lineage(class);
            let root = lineage.find(|c| !all[*c].borrow || all[*c].parent.is_none());
            root.unwrap_or(class)
        });
        Ok(Self {
            excess: excess.collect(),
            branch: branch.collect(),
            sharing: by_priority(&classes, packet_bytes, false),
            unsatisfied: vec![NO_LEVEL; all.len()],
            permitted: vec![false; all.len()],
            efficient,
            tick_ps,
            classes,
        })
    }

    /// A leaf and the classes that it may borrow from, the root apart.
    fn lenders(&self, leaf: usize) -> impl Iterator<Item = usize> {
        let own = self.branch[leaf];
        let mut done = false;
        self.classes.lineage(leaf).take_while(move |class| {
            let take = !done;
            done = *class == own;
            take
        })
    }

    fn is_awake(&self, leaf: usize, now_ps: u64) -> bool {
        self.classes.all[leaf].backlogged
            && (self.lenders(leaf)).all(|c| !self.classes.is_suspended(c, now_ps))
    }

    /// The first rule: the leaf and the root of its branch are under their limits.
    fn may_share(&self, leaf: usize, now_ps: u64) -> bool {
        let under = |c: usize| self.classes.is_under(c, now_ps);
        self.is_awake(leaf, now_ps) && under(leaf) && under(self.branch[leaf])
    }

    /// The second: an ancestor not above its limit lends, if no class of a lower level in the
    /// branch is unsatisfied. The root of the tree lends if the branch's is unbounded.
    fn may_borrow(&self, leaf: usize, now_ps: u64) -> bool {
        let all = &self.classes.all;
        let branch = self.branch[leaf];
        let lowest = self.unsatisfied[branch];
        let lends = |c: usize| self.classes.is_under(c, now_ps) && lowest >= all[c].level;
        self.is_awake(leaf, now_ps)
            && (self.lenders(leaf).skip(1).any(lends) || all[branch].borrow && lowest == NO_LEVEL)
    }

    fn find_unsatisfied(&mut self, now_ps: u64) {
        self.unsatisfied.fill(NO_LEVEL);
        for class in 0..self.classes.all.len() {
            if !self.classes.is_unsatisfied(class, now_ps) {
                continue;
            }
            let level = self.classes.all[class].level;
            for above in self.classes.lineage(class) {
                self.classes.visits.add();
                if self.branch[above] == above {
                    self.unsatisfied[above] = self.unsatisfied[above].min(level);
                }
            }
        }
    }

    /// The excess round robins from the root down to a leaf.
    fn pick_excess(&mut self, now_ps: u64) -> Option<usize> {
        self.find_unsatisfied(now_ps);
        self.permitted.fill(false);
        let mut any = false;
        for leaf in &self.classes.leaves {
            if self.may_borrow(*leaf, now_ps) {
                any = true;
                for class in self.classes.lineage(*leaf) {
                    self.permitted[class] = true;
                }
            }
        }
        if !any {
            return None;
        }
        let (permitted, visits) = (&self.permitted, &self.classes.visits);
        let may = |c: usize| {
            visits.add();
            permitted[c]
        };
        let mut node = 0;
        loop {
            let class = self.excess[node].as_mut()?.pick(may)?;
            if self.classes.all[class].queue.is_some() {
                return Some(class);
            }
            node = class + 1;
        }
    }

    fn charge_excess(&mut self, leaf: usize, bytes: u32) {
        for class in self.classes.lineage(leaf) {
            let node = self.classes.all[class].parent.map_or(0, |p| p + 1);
            if let Some(ring) = &mut self.excess[node] {
                self.classes.visits.add();
                ring.charge(bytes);
            }
        }
    }

    /// Nobody may send: suspends the highest class above its limit that each would borrow from.
    fn suspend(&mut self, now_ps: u64) {
        for i in 0..self.classes.leaves.len() {
            let leaf = self.classes.leaves[i];
            if !self.is_awake(leaf, now_ps) {
                continue;
            }
            let over = |c: &usize| !self.classes.is_under(*c, now_ps);
            if let Some(highest) = self.lenders(leaf).filter(over).last() {
                let class = &mut self.classes.all[highest];
                class.estimator.delay(now_ps);
                let ticks = class.estimator.under_ps().div_ceil(self.tick_ps);
                class.suspended_ps = ticks.saturating_mul(self.tick_ps);
            }
        }
    }
}

impl<B: Backlog + ?Sized, V: Visits> Scheduler<B> for Decoupled<V> {
    fn is_priority(&self, _queue: usize) -> bool {
        false
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        self.classes.survey(queues);
        for ring in 0..self.sharing.len() {
            for leaf in self.sharing[ring].members() {
                self.permitted[leaf] = self.may_share(leaf, now_ps);
            }
            let (permitted, visits) = (&self.permitted, &self.classes.visits);
            let may = |c: usize| {
                visits.add();
                permitted[c]
            };
            if let Some(leaf) = self.sharing[ring].pick(may)
                && let Some(queue) = self.classes.all[leaf].queue
                && let Some(item) = queues.head(queue)
            {
                self.sharing[ring].charge(item.bytes);
                self.classes.charge(leaf, item.bytes, now_ps);
                return Pick::Queue(queue);
            }
        }
        if let Some(leaf) = self.pick_excess(now_ps)
            && let Some(queue) = self.classes.all[leaf].queue
            && let Some(item) = queues.head(queue)
        {
            self.charge_excess(leaf, item.bytes);
            self.classes.charge(leaf, item.bytes, now_ps);
            return Pick::Queue(queue);
        }
        self.suspend(now_ps);
        if self.efficient
            && let Some(queue) = self.classes.first_borrower(&self.sharing)
        {
            return Pick::Queue(queue);
        }
        self.classes
            .next_change(now_ps)
            .map_or(Pick::Empty, Pick::Wait)
    }

    fn pick_priority(&mut self, _queues: &B, _now_ps: u64) -> Option<usize> {
        None
    }

    fn class_visits(&self) -> Option<u64> {
        self.classes.visits.total()
    }
}

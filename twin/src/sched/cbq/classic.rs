//! CBQ (Floyd and Jacobson 1995): weighted round robin by priority over the classes that the
//! link-sharing guidelines let send.

use schemars::JsonSchema;
use serde::Deserialize;

use super::by_priority;
use super::classes::{ClassSpec, Classes};
use super::estimator::EstimatorSpec;
use super::ring::Ring;
use super::visits::Visits;
use crate::error::ScenarioError;
use crate::item::Item;
use crate::sched::{Backlog, Context, Pick, Scheduler};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbqSpec {
    classes: Vec<ClassSpec>,
    #[serde(default)]
    estimator: EstimatorSpec,
    #[serde(default)]
    guideline: Guideline,
    /// When nobody may send, the first class that may borrow does, uncounted (ns-2, ALTQ).
    #[serde(default)]
    efficient: bool,
    /// A leaf that may not send sleeps until it is below its rate again, whoever could lend to
    /// it before (ALTQ).
    #[serde(default)]
    leaf_suspension: bool,
    /// The round robin of ns-2 (see `Ring`).
    #[serde(default)]
    ns2_wrr_flaw: bool,
    /// Reports how often classes are looked at.
    #[serde(default)]
    pub count_visits: bool,
}

/// When may a class above its rate borrow from an ancestor that is not?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Guideline {
    /// If no class of a lower level than the ancestor is unsatisfied.
    #[default]
    Formal,
    /// If the ancestor's level is not above one that follows from arrivals and departures.
    TopLevel,
    /// Always.
    AncestorOnly,
}

#[derive(Debug, Clone, Copy)]
enum Lender {
    Class(usize),
    /// The link: never above its rate.
    Root,
}

/// No bound on the level of lenders.
const ANY_LEVEL: u32 = u32::MAX;

/// Long-run shares of backlogged classes, ideally: its share for each, what is left over to
/// those that may borrow from the lowest common ancestor, by priority, then by share.
#[derive(Debug)]
pub struct Cbq<V> {
    classes: Classes<V>,
    rings: Vec<Ring>,
    guideline: Guideline,
    efficient: bool,
    leaf_suspension: bool,
    /// The highest level that lends, by the top-level guideline.
    top_level: u32,
    /// Level of the root.
    root: u32,
    permitted: Vec<bool>,
    /// Leaf of each queue.
    leaf_of: Vec<usize>,
}

impl<V: Visits> Cbq<V> {
    pub fn new(spec: &CbqSpec, context: Context) -> Result<Self, ScenarioError> {
        let classes = Classes::new(&spec.classes, &spec.estimator, context)?;
        let packet_bytes = spec.estimator.packet_bytes();
        Ok(Self {
            rings: by_priority(&classes, packet_bytes, spec.ns2_wrr_flaw),
            guideline: spec.guideline,
            efficient: spec.efficient,
            leaf_suspension: spec.leaf_suspension,
            top_level: ANY_LEVEL,
            root: 1 + classes.all.iter().map(|c| c.level).max().unwrap_or(0),
            permitted: vec![false; classes.all.len()],
            leaf_of: classes.leaf_of(context.queues),
            classes,
        })
    }

    /// The lowest level that lends to nobody, as one below it is unsatisfied.
    fn lending_limit(&self, now_ps: u64) -> u32 {
        match self.guideline {
            Guideline::Formal => {
                let all = &self.classes.all;
                let classes = 0..all.len();
                let unsatisfied = classes.filter(|c| self.classes.is_unsatisfied(*c, now_ps));
                unsatisfied.map(|c| all[c].level).min().unwrap_or(ANY_LEVEL)
            }
            Guideline::TopLevel => self.top_level,
            Guideline::AncestorOnly => ANY_LEVEL,
        }
    }

    /// Who lets the leaf send: itself below its rate, or a lender above it.
    fn lender(&self, leaf: usize, limit: u32, now_ps: u64) -> Option<Lender> {
        let all = &self.classes.all;
        let mut at = leaf;
        if self.classes.is_under(at, now_ps) {
            return Some(Lender::Class(at));
        }
        while all[at].borrow {
            match all[at].parent {
                Some(parent) => at = parent,
                None if self.root <= limit => return Some(Lender::Root),
                None => return None,
            }
            if self.classes.is_under(at, now_ps) && all[at].level <= limit {
                return Some(Lender::Class(at));
            }
        }
        None
    }

    /// The top-level guideline after a departure: the lender lends on if it can and `more`
    /// waits.
    fn departed(&mut self, lender: Lender, more: bool, now_ps: u64) {
        let (level, lends) = match lender {
            Lender::Root => (self.root, true),
            Lender::Class(class) => (
                self.classes.all[class].level,
                self.classes.is_under(class, now_ps),
            ),
        };
        if self.top_level >= level {
            self.top_level = if more && lends { level } else { ANY_LEVEL };
        }
    }
}

impl<B: Backlog + ?Sized, V: Visits> Scheduler<B> for Cbq<V> {
    fn is_priority(&self, _queue: usize) -> bool {
        false
    }

    /// The top-level guideline looks at arrivals: a class below its rate, or the parent of one
    /// that may borrow, needs no lender above it.
    fn admits(&mut self, queue: usize, _item: &Item, now_ps: u64, _congested: bool) -> bool {
        if self.guideline == Guideline::TopLevel {
            let all = &self.classes.all;
            let leaf = self.leaf_of[queue];
            if self.classes.is_under(leaf, now_ps) {
                self.top_level = all[leaf].level;
            } else if let (true, Some(parent)) = (all[leaf].borrow, all[leaf].parent)
                && self.classes.is_under(parent, now_ps)
            {
                self.top_level = self.top_level.min(all[parent].level);
            }
        }
        true
    }

    fn pick(&mut self, queues: &B, now_ps: u64) -> Pick {
        self.classes.survey(queues);
        let limit = self.lending_limit(now_ps);
        for ring in 0..self.rings.len() {
            for leaf in self.rings[ring].members() {
                let backlogged = self.classes.all[leaf].backlogged;
                let waits = backlogged && !self.classes.is_suspended(leaf, now_ps);
                self.permitted[leaf] = waits && self.lender(leaf, limit, now_ps).is_some();
                if waits && !self.permitted[leaf] {
                    let class = &mut self.classes.all[leaf];
                    class.estimator.delay(now_ps);
                    if self.leaf_suspension {
                        class.suspended_ps = class.estimator.under_ps();
                    }
                }
            }
            let (permitted, visits) = (&self.permitted, &self.classes.visits);
            let may = |c: usize| {
                visits.add();
                permitted[c]
            };
            if let Some(leaf) = self.rings[ring].pick(may)
                && let Some(queue) = self.classes.all[leaf].queue
                && let Some(item) = queues.head(queue)
            {
                self.rings[ring].charge(item.bytes);
                let lender = self.lender(leaf, limit, now_ps);
                self.classes.charge(leaf, item.bytes, now_ps);
                if let (Guideline::TopLevel, Some(lender)) = (self.guideline, lender) {
                    self.departed(lender, queues.second(queue).is_some(), now_ps);
                }
                return Pick::Queue(queue);
            }
        }
        if self.efficient
            && let Some(queue) = self.classes.first_borrower(&self.rings)
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

//! Where the clocks of constant-load sources stand to each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;

use super::Context;
use super::pace::Pace;
use crate::error::ScenarioError;
use crate::rng::Stream;

/// Clocks worse than this are broken.
const MAX_PPM: f64 = 100_000.0;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "snake_case", deny_unknown_fields)]
pub enum PhaseSpec {
    /// All flows of the group send at the same instant of each period, in an order drawn anew.
    Synchronised { group: String },
    /// A random start within a period, and a clock that is off by `ppm`, or by up to
    /// `ppm_within` either way.
    Independent {
        #[serde(default)]
        ppm: Option<f64>,
        #[serde(default)]
        ppm_within: Option<f64>,
    },
    /// A random start within a period.
    Random {},
}

impl PhaseSpec {
    /// Parts in 10^9 that the flow's clock is fast; drawn if a range is given.
    pub fn clock_ppb(&self, context: Context, stream: &mut Stream) -> Result<i64, ScenarioError> {
        let Self::Independent { ppm, ppm_within } = self else {
            return Ok(0);
        };
        let hint = format!("use up to {MAX_PPM} parts in a million");
        let (value, field) = match (ppm, ppm_within) {
            (Some(fixed), None) => (*fixed, "phase.ppm"),
            (None, Some(within)) if *within >= 0.0 => (*within, "phase.ppm_within"),
            _ => {
                let problem = "an independent clock has one of ppm and ppm_within";
                return Err(context.error("phase", problem, &hint));
            }
        };
        if value.abs() > MAX_PPM {
            return Err(context.error(field, "is no clock error", &hint));
        }
        let drawn = match ppm_within {
            Some(_) => value * (2.0 * stream.unit() - 1.0),
            None => value,
        };
        Ok((drawn * 1000.0).round() as i64)
    }
}

/// What the members of a group have in common.
#[derive(Debug)]
struct Group {
    /// Path of the first member, for refusals.
    first: String,
    period: Option<(u64, u64)>,
    start_ps: u64,
    order: Arc<Mutex<Order>>,
}

/// The groups of a scenario by name.
#[derive(Debug)]
pub struct Groups {
    seed: u64,
    groups: HashMap<String, Group>,
}

impl Groups {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            groups: HashMap::new(),
        }
    }

    /// Adds a flow to a group; its period and start must be the others'.
    pub fn join(
        &mut self,
        name: &str,
        pace: &Pace,
        start_ps: u64,
        context: Context,
    ) -> Result<Member, ScenarioError> {
        let group = self.groups.entry(name.to_owned()).or_insert_with(|| {
            let mut stream = Stream::new(self.seed, &format!("phase group {name}"));
            Group {
                first: context.path.to_owned(),
                period: pace.period(),
                start_ps,
                order: Arc::new(Mutex::new(Order::new(stream.next_u64()))),
            }
        });
        let refuse = |problem: &str, hint: &str| {
            Err(context.error("phase.group", &format!("{name:?} {problem}"), hint))
        };
        if pace.period().is_none() || group.period != pace.period() {
            let problem = format!("needs one period, that of {}", group.first);
            return refuse(&problem, "give all its flows one size and one packet rate");
        }
        if group.start_ps != start_ps {
            let problem = format!("starts with {}", group.first);
            return refuse(&problem, "give all its flows the same start_ps");
        }
        let mut order = locked(&group.order);
        order.members += 1;
        Ok(Member {
            number: order.members - 1,
            order: Arc::clone(&group.order),
        })
    }
}

/// One flow's place in its group.
#[derive(Debug)]
pub struct Member {
    number: usize,
    order: Arc<Mutex<Order>>,
}

impl Member {
    /// How many picoseconds after `due_ps` it sends: as many as members go before it.
    #[inline(never)]
    pub fn rank_ps(&self, due_ps: u64) -> u64 {
        locked(&self.order).rank(self.number, due_ps)
    }
}

/// A group belongs to one run and is never used by two threads at once.
fn locked(order: &Mutex<Order>) -> std::sync::MutexGuard<'_, Order> {
    order.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A random permutation for each instant, the same for all members whoever asks first.
#[derive(Debug)]
struct Order {
    key: u64,
    members: usize,
    due_ps: u64,
    ranks: Vec<u64>,
}

impl Order {
    fn new(key: u64) -> Self {
        Self {
            key,
            members: 0,
            due_ps: 0,
            ranks: Vec::new(),
        }
    }

    fn rank(&mut self, number: usize, due_ps: u64) -> u64 {
        if self.due_ps != due_ps || self.ranks.len() != self.members {
            self.shuffle(due_ps);
        }
        self.ranks[number]
    }

    /// Fisher and Yates.
    fn shuffle(&mut self, due_ps: u64) {
        self.due_ps = due_ps;
        self.ranks.clear();
        self.ranks.extend(0..self.members as u64);
        let mut stream = Stream::new(self.key ^ due_ps, "order");
        for place in (1..self.ranks.len()).rev() {
            let other = stream.up_to(place as u64) as usize;
            self.ranks.swap(place, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely() {
        let mut order = Order::new(7);
        order.members = 3;
        let mut seen: HashMap<Vec<u64>, u32> = HashMap::new();
        for due in 0..60_000 {
            let ranks = (0..3).map(|n| order.rank(n, due * 1000)).collect();
            *seen.entry(ranks).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        // Five standard deviations of a count with mean 10,000.
        assert!(seen.values().all(|n| n.abs_diff(10_000) < 460), "{seen:?}");
    }

    #[test]
    fn the_order_does_not_depend_on_who_asks() {
        let (mut one, mut other) = (Order::new(3), Order::new(3));
        (one.members, other.members) = (5, 5);
        let forth: Vec<_> = (0..5).map(|n| one.rank(n, 77)).collect();
        other.rank(2, 9);
        let back: Vec<_> = (0..5).rev().map(|n| other.rank(n, 77)).collect();
        assert!(forth.iter().eq(back.iter().rev()));
    }
}

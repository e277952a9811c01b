//! Strict priority as some devices really serve it: levels of several queues that share by
//! weight, and levels that let a packet of a lower one pass now and then.

use schemars::JsonSchema;
use serde::Deserialize;

use super::round_robin::RoundRobin;
use super::weights::Weights;
use super::{Backlog, Context, Pick, Scheduler};
use crate::error::ScenarioError;

/// A level as written: a queue, or queues with packets per turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "invalid level: neither a queue number nor a map from queue to weight"
)]
pub enum LevelSpec {
    Queue(usize),
    Shared(Weights),
}

/// Of `out_of` turns of a level while a lower one waits, `packets` go to the next lower one
/// that waits. Two numbers, so that one in 16.5 can be said.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeakSpec {
    packets: u64,
    out_of: u64,
}

/// One leak for every level but the last, or one per level (null: none).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "invalid leak: neither {packets, out_of} nor a list of those, one per level but the last"
)]
pub enum LeaksSpec {
    All(LeakSpec),
    Each(Vec<Option<LeakSpec>>),
}

impl LeaksSpec {
    fn per_level(
        &self,
        levels: usize,
        context: Context,
    ) -> Result<Vec<Option<LeakSpec>>, ScenarioError> {
        let lower = levels.saturating_sub(1);
        let (list, single) = match self {
            Self::All(leak) => (vec![Some(*leak); lower], true),
            Self::Each(list) => (list.clone(), false),
        };
        if list.len() != lower {
            let problem = format!("{} leaks for {levels} levels", list.len());
            let hint = "give one per level but the last, null where a level leaks nothing";
            return Err(context.error("leak", &problem, hint));
        }
        for (i, leak) in list.iter().enumerate() {
            if leak.is_some_and(|l| l.packets == 0 || l.packets >= l.out_of) {
                let at = if single {
                    "leak".into()
                } else {
                    format!("leak[{i}]")
                };
                let problem = "packets is not from 1 to out_of - 1";
                return Err(context.error(&at, problem, "give null for no leak"));
            }
        }
        Ok(list)
    }
}

#[derive(Debug)]
struct Level {
    robin: RoundRobin,
    queues: Vec<usize>,
    leak: Option<LeakSpec>,
    /// In `out_of`ths of a packet; at `out_of` the next turn leaks.
    leaked: u64,
}

impl Level {
    fn waits<B: Backlog + ?Sized>(&self, queues: &B) -> bool {
        self.queues.iter().any(|q| queues.waits(*q))
    }

    fn turn_leaks(&mut self) -> bool {
        let Some(leak) = self.leak else {
            return false;
        };
        // leaked < out_of here, and packets < out_of: compared without their sum.
        let leaks = self.leaked >= leak.out_of - leak.packets;
        self.leaked = if leaks {
            self.leaked - (leak.out_of - leak.packets)
        } else {
            self.leaked + leak.packets
        };
        leaks
    }
}

/// Long-run packet shares of backlogged levels with leaks f₀, f₁, …: (1 - f₀), f₀ (1 - f₁),
/// f₀ f₁ (1 - f₂), …; inside a level in proportion to the weights.
#[derive(Debug)]
pub struct Leaky {
    /// From first served.
    levels: Vec<Level>,
}

impl Leaky {
    pub fn new(
        order: Vec<LevelSpec>,
        leaks: Option<LeaksSpec>,
        context: Context,
    ) -> Result<Self, ScenarioError> {
        let leaks = match leaks {
            Some(leaks) => leaks.per_level(order.len(), context)?,
            None => Vec::new(),
        };
        let mut levels: Vec<Level> = Vec::new();
        for (i, spec) in order.iter().enumerate() {
            let field = format!("order[{i}]");
            let members = match spec {
                LevelSpec::Queue(queue) => {
                    context.check_queue(*queue, &field)?;
                    vec![(*queue, 1)]
                }
                LevelSpec::Shared(weights) => {
                    let all = weights.per_queue(context, &field)?.into_iter().enumerate();
                    all.filter_map(|(q, w)| Some((q, w?))).collect()
                }
            };
            if members.is_empty() {
                return Err(context.error(&field, "no queue has a weight", "name a queue"));
            }
            let queues: Vec<_> = members.iter().map(|(q, _)| *q).collect();
            let before = levels.iter().flat_map(|l| &l.queues);
            if let Some(twice) = before.into_iter().find(|q| queues.contains(q)) {
                let problem = format!("queue {twice} is listed twice");
                return Err(context.error(&field, &problem, "list each queue once"));
            }
            levels.push(Level {
                robin: RoundRobin::by_packets(members),
                queues,
                leak: leaks.get(i).copied().flatten(),
                leaked: 0,
            });
        }
        if levels.iter().map(|l| l.queues.len()).sum::<usize>() != context.queues {
            return Err(context.error(
                "order",
                "not every queue is listed",
                "list each queue once",
            ));
        }
        Ok(Self { levels })
    }
}

impl<B: Backlog + ?Sized> Scheduler<B> for Leaky {
    fn is_priority(&self, queue: usize) -> bool {
        self.levels[0].queues.contains(&queue)
    }

    fn pick(&mut self, queues: &B, _now_ps: u64) -> Pick {
        let mut at = self.levels.iter().position(|l| l.waits(queues));
        while let Some(level) = at {
            let lower = self.levels[level + 1..]
                .iter()
                .position(|l| l.waits(queues));
            match lower {
                Some(below) if self.levels[level].turn_leaks() => at = Some(level + 1 + below),
                _ => {
                    let queue = self.levels[level].robin.pick(queues);
                    return queue.map_or(Pick::Empty, Pick::Queue);
                }
            }
        }
        Pick::Empty
    }

    fn pick_priority(&mut self, queues: &B, _now_ps: u64) -> Option<usize> {
        self.levels[0].robin.pick(queues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{byte_shares, context};
    use crate::sched::tiered::{StrictSpec, strict_levels};

    fn leaky(spec: &str) -> Result<Leaky, ScenarioError> {
        let spec: StrictSpec = serde_json::from_str(spec).unwrap();
        strict_levels(spec, context(4))
    }

    fn shares(spec: &str) -> Vec<f64> {
        byte_shares(&mut leaky(spec).unwrap(), &[1518; 4], 33 * 33 * 33 * 2)
    }

    #[test]
    fn one_packet_in_so_many_leaks_level_by_level() {
        let got = shares(r#"{"order": [3, 2, 1, 0], "leak": {"packets": 2, "out_of": 33}}"#);
        for level in [3, 2] {
            let ratio = got[level] / got[level - 1];
            assert!((ratio - 16.5).abs() < 0.01, "{got:?}");
        }
        // What comes to the last level stays there: 1/f - 1 = 15.5 of f² to 1.
        assert!((got[1] / got[0] - 15.5).abs() < 0.1, "{got:?}");
    }

    #[test]
    fn a_level_without_a_leak_starves_those_below() {
        let spec =
            r#"{"order": [3, 2, 1, 0], "leak": [{"packets": 1, "out_of": 181}, null, null]}"#;
        let got = shares(spec);
        assert_eq!(got[..2], [0.0, 0.0]);
        assert!((got[2] - 1.0 / 181.0).abs() < 1e-4, "{got:?}");
    }

    #[test]
    fn the_top_level_may_be_shared() {
        let got = shares(r#"{"order": [{"3": 4, "2": 3}, 1, 0]}"#);
        assert_eq!(got[..2], [0.0, 0.0]);
        assert!((got[3] / got[2] - 4.0 / 3.0).abs() < 1e-3, "{got:?}");
    }

    #[test]
    fn nothing_leaks_to_an_empty_level() {
        let spec = r#"{"order": [3, 2, 1, 0], "leak": {"packets": 1, "out_of": 2}}"#;
        let got = byte_shares(&mut leaky(spec).unwrap(), &[100, 0, 0, 100], 1000);
        assert_eq!(got, [0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn refusals_name_the_place() {
        for (spec, path) in [
            (
                r#"{"order": [3, 2, 1, 4], "leak": {"packets": 1, "out_of": 2}}"#,
                "s.order[3]",
            ),
            (r#"{"order": [{"3": 1, "2": 1}, 2, 1, 0]}"#, "s.order[1]"),
            (r#"{"order": [{"3": 1, "2": 1}, 1]}"#, "s.order"),
            (r#"{"order": [{}, 3, 2, 1, 0]}"#, "s.order[0]"),
            (
                r#"{"order": [3, 2, 1, 0], "leak": {"packets": 2, "out_of": 2}}"#,
                "s.leak",
            ),
            (r#"{"order": [3, 2, 1, 0], "leak": [null]}"#, "s.leak"),
        ] {
            assert_eq!(leaky(spec).unwrap_err().path, path, "{spec}");
        }
    }
}

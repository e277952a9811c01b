//! Weights as people write them: a list with one entry per queue, or a map from queue to weight.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Context;
use crate::error::ScenarioError;

/// Keeps `bytes × weight` far inside 64 bits; 10^12 is a terabit per second.
pub const MAX_WEIGHT: u64 = 1_000_000_000_000;

/// In a list, null or 0 stands for "this queue has none".
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Value")]
#[schemars(!try_from, untagged)]
pub enum Weights {
    List(Vec<Option<u64>>),
    /// Keys are queue numbers, strings as JSON has them.
    Map(BTreeMap<String, u64>),
}

impl TryFrom<Value> for Weights {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let weight = |value: &Value| {
            (value.as_u64())
                .ok_or_else(|| format!("invalid weight {value}: not a whole number of 0 or more"))
        };
        match value {
            Value::Array(list) => {
                let each = |value: &Value| match value {
                    Value::Null => Ok(None),
                    value => weight(value).map(Some),
                };
                Ok(Self::List(list.iter().map(each).collect::<Result<_, _>>()?))
            }
            Value::Object(map) => {
                let each = |(key, value): (String, Value)| Ok((key, weight(&value)?));
                let map: Result<_, String> = map.into_iter().map(each).collect();
                Ok(Self::Map(map?))
            }
            _ => Err(
                "invalid weights: neither a list of one per queue nor a map from queue to weight"
                    .to_owned(),
            ),
        }
    }
}

impl Weights {
    /// The weight of every queue, None where it has none.
    pub fn per_queue(
        &self,
        context: Context,
        field: &str,
    ) -> Result<Vec<Option<u64>>, ScenarioError> {
        let mut all = vec![None; context.queues];
        match self {
            Self::List(list) => {
                if list.len() != context.queues {
                    return Err(context.error(
                        field,
                        &format!("{} weights for {} queues", list.len(), context.queues),
                        "give one per queue, null where a queue has none",
                    ));
                }
                for (slot, weight) in all.iter_mut().zip(list) {
                    *slot = weight.filter(|w| *w > 0);
                }
            }
            Self::Map(map) => {
                for (key, weight) in map {
                    let queue = key.parse().map_err(|_| {
                        let problem = format!("{key:?} is no queue number");
                        context.error(field, &problem, "use queue numbers as keys")
                    })?;
                    context.check_queue(queue, field)?;
                    all[queue] = Some(*weight).filter(|w| *w > 0);
                }
            }
        }
        if all.iter().flatten().any(|w| *w > MAX_WEIGHT) {
            return Err(context.error(field, "a weight is above 10^12", "use a smaller unit"));
        }
        Ok(all)
    }

    /// Members and their weights: every queue but those in `except` must have one.
    pub fn members(
        &self,
        except: &[usize],
        context: Context,
        field: &str,
    ) -> Result<Vec<(usize, u64)>, ScenarioError> {
        let mut members = Vec::new();
        for (queue, weight) in self.per_queue(context, field)?.into_iter().enumerate() {
            match (weight, except.contains(&queue)) {
                (Some(weight), false) => members.push((queue, weight)),
                (None, false) => {
                    return Err(context.error(
                        field,
                        &format!("queue {queue} has no weight and would starve"),
                        "give every queue that is not strict a weight of 1 or more",
                    ));
                }
                (_, true) => {}
            }
        }
        Ok(members)
    }
}

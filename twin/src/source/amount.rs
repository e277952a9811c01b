//! Amounts of bytes or time that are fixed or drawn.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::error::ScenarioError;
use crate::rng::Stream;
use crate::scenario::{parse_kind, parse_part};

/// Sums of a few stay far inside 64 bits.
const MOST: u64 = 1 << 60;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    Fixed(u64),
    Uniform {
        min: u64,
        max: u64,
    },
    /// `least` more than an exponential amount of mean `mean` − `least`.
    Exponential {
        least: u64,
        mean: u64,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSpec {
    /// Absent: the least that makes sense.
    #[serde(default)]
    min: Option<u64>,
    max: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSpec {
    /// Absent: the least that makes sense.
    #[serde(default)]
    min: Option<u64>,
    mean: u64,
}

impl Amount {
    /// A number, `{"kind": "uniform", "min", "max"}` or `{"kind": "exponential", "min", "mean"}`
    /// within `least..=most`.
    pub fn read(value: &Value, least: u64, most: u64, path: &str) -> Result<Self, ScenarioError> {
        let amount = if value.is_object() {
            Self::distribution(value, least, path)?
        } else {
            Self::Fixed(parse_part(value.clone(), path)?)
        };
        let (low, high) = match amount {
            Self::Fixed(value) => (value, value),
            Self::Uniform { min, max } => (min, max),
            Self::Exponential { least, mean } => (least, mean),
        };
        let most = most.min(MOST);
        let range = least..=most;
        if low > high || !range.contains(&low) || !range.contains(&high) {
            let hint = format!("use {least} to {most}, the least first");
            return Err(ScenarioError::new(path, "is out of range", hint));
        }
        Ok(amount)
    }

    fn distribution(value: &Value, least: u64, path: &str) -> Result<Self, ScenarioError> {
        let (kind, rest) = parse_kind(value, path)?;
        match kind.as_str() {
            "uniform" => {
                let UniformSpec { min, max } = parse_part(rest, path)?;
                Ok(Self::Uniform {
                    min: min.unwrap_or(least),
                    max,
                })
            }
            "exponential" => {
                let ExponentialSpec { min, mean } = parse_part(rest, path)?;
                Ok(Self::Exponential {
                    least: min.unwrap_or(least),
                    mean,
                })
            }
            other => Err(ScenarioError::new(
                format!("{path}.kind"),
                format!("unknown distribution {other:?}"),
                "use uniform or exponential",
            )),
        }
    }

    pub fn draw(self, stream: &mut Stream) -> u64 {
        match self {
            Self::Fixed(value) => value,
            Self::Uniform { min, max } => min + stream.up_to(max - min),
            Self::Exponential { least, mean } => {
                least.saturating_add(stream.exponential((mean - least) as f64) as u64)
            }
        }
    }

    pub fn mean(self) -> u64 {
        match self {
            Self::Fixed(value) => value,
            Self::Uniform { min, max } => min + (max - min) / 2,
            Self::Exponential { mean, .. } => mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn means_are_kept() {
        let mut stream = Stream::new(1, "amounts");
        for written in [
            json!(500),
            json!({"kind": "uniform", "min": 100, "max": 900}),
            json!({"kind": "exponential", "min": 100, "mean": 500}),
            json!({"kind": "exponential", "mean": 500}),
        ] {
            let amount = Amount::read(&written, 100, 1000, "a").unwrap();
            let draws = (0..100_000).map(|_| amount.draw(&mut stream));
            let (least, sum) = draws.fold((u64::MAX, 0), |(l, s), d| (l.min(d), s + d));
            assert!(least >= 100);
            assert!((sum as f64 / 1e5 - 500.0).abs() < 5.0, "{written}");
            assert_eq!(amount.mean(), 500);
        }
    }

    #[test]
    fn refusals_name_their_place() {
        for (written, path) in [
            (json!(0), "a"),
            (json!("x"), "a"),
            (json!({"kind": "uniform", "min": 5, "max": 4}), "a"),
            (json!({"kind": "uniform"}), "a"),
            (json!({"kind": "pareto"}), "a.kind"),
            (json!({"kind": "exponential", "mean": "y"}), "a.mean"),
        ] {
            assert_eq!(Amount::read(&written, 1, 9, "a").unwrap_err().path, path);
        }
    }
}

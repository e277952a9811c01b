//! Policers: what a packet is found to be, and what is done with it then.
//!
//! A policer is a file here that reads its own part of the scenario; `read` names it.

mod bucket;
mod car;
mod cells;
#[cfg(test)]
mod properties;
mod schema;
mod three_colour;

pub use bucket::TokenBucket;
pub use cells::CellLine;
pub use schema::PolicerSchema;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::classify::{Mark, check_marks};
use crate::error::ScenarioError;
use crate::scenario::{Colour, MarkSpec, parse_part};

/// What a packet is found to be; two-colour policers know no `Violate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Conform,
    Exceed,
    Violate,
}

/// Names of outcomes, as keys.
const OUTCOMES: [&str; 3] = ["conform", "exceed", "violate"];

/// The bytes a policer counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PolicedLayer")]
pub enum Layer {
    #[default]
    Frame,
    Ip,
}

#[derive(Debug)]
enum Meter {
    TokenBucket(TokenBucket),
    SingleRate(three_colour::SingleRate),
    TwoRate(three_colour::TwoRate),
    Car(car::Car),
    Cells(cells::Cells),
}

/// A policer at work, with what it found so far by outcome.
#[derive(Debug)]
pub struct Policer {
    meter: Meter,
    layer: Layer,
    pub counts: [u64; 3],
}

impl Policer {
    /// Judges a packet and charges for it.
    pub fn judge(&mut self, frame: u32, ip: u32, colour: Colour, now_ps: u64) -> Outcome {
        let bytes = match self.layer {
            Layer::Frame => frame,
            Layer::Ip => ip,
        };
        let two_colour = |conforms| {
            if conforms {
                Outcome::Conform
            } else {
                Outcome::Exceed
            }
        };
        let outcome = match &mut self.meter {
            Meter::TokenBucket(bucket) => two_colour(bucket.conforms(bytes, now_ps)),
            Meter::SingleRate(meter) => meter.judge(bytes, colour, now_ps),
            Meter::TwoRate(meter) => meter.judge(bytes, colour, now_ps),
            Meter::Car(car) => car.judge(bytes, now_ps),
            Meter::Cells(cells) => cells.judge(ip, now_ps),
        };
        self.counts[outcome as usize] += 1;
        outcome
    }
}

/// What is done with a packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Action {
    #[default]
    Drop,
    Pass {
        set: MarkSpec,
        /// In a list: the next policer that matches is asked too.
        go_on: bool,
    },
}

impl Action {
    /// The packet's marks if it passes.
    pub fn mark(&self, mark: Mark) -> Option<Mark> {
        match self {
            Self::Drop => None,
            Self::Pass { set, .. } => Some(mark.with(set)),
        }
    }

    fn transmit() -> Self {
        Self::Pass {
            set: MarkSpec::default(),
            go_on: false,
        }
    }
}

/// `"transmit"`, `"drop"`, `"continue"`, or marks to set.
impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Action;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"transmit\", \"drop\", \"continue\" or an object of marks")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Action, E> {
                match text {
                    "transmit" => Ok(Action::transmit()),
                    "drop" => Ok(Action::Drop),
                    "continue" => Ok(Action::Pass {
                        set: MarkSpec::default(),
                        go_on: true,
                    }),
                    other => Err(E::unknown_variant(other, &["transmit", "drop", "continue"])),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Action, A::Error> {
                let marked = Marked::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Action::Pass {
                    set: MarkSpec {
                        dscp: marked.dscp,
                        precedence: marked.precedence,
                        cos: marked.cos,
                        group: marked.group,
                        colour: marked.colour,
                    },
                    go_on: marked.then == Then::Continue,
                })
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

/// Marks, and what comes after them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Marked {
    dscp: Option<u8>,
    precedence: Option<u8>,
    cos: Option<u8>,
    group: Option<u8>,
    colour: Option<Colour>,
    then: Then,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    #[default]
    Transmit,
    Continue,
}

/// Reads a policer by its `kind` (default: a token bucket) and its actions by outcome.
///
/// `listed`: of an interface's list, where an action may continue.
pub fn read(
    value: &Value,
    line: CellLine,
    listed: bool,
    path: &str,
) -> Result<(Policer, [Action; 3]), ScenarioError> {
    let Value::Object(fields) = value else {
        let hint = "give an object such as {\"rate_bps\": 64000, \"burst_bytes\": 8000}";
        return Err(ScenarioError::new(path, "not an object", hint));
    };
    let mut rest = fields.clone();
    let kind = match rest.remove("kind") {
        None => "token_bucket".to_owned(),
        Some(kind) => parse_part(kind, &format!("{path}.kind"))?,
    };
    let layer: Layer = match rest.remove("layer") {
        None => Layer::default(),
        Some(layer) => parse_part(layer, &format!("{path}.layer"))?,
    };
    let mut given: [Option<Action>; 3] = Default::default();
    for (action, name) in given.iter_mut().zip(OUTCOMES) {
        let at = format!("{path}.{name}");
        // `null`, as everywhere, is as if absent.
        let value = rest.remove(name).filter(|v| !v.is_null());
        *action = value.map(|v| read_action(v, listed, &at)).transpose()?;
    }
    let rest = Value::Object(rest);
    let meter = match kind.as_str() {
        "token_bucket" => {
            let spec: bucket::BucketSpec = parse_part(rest, path)?;
            Meter::TokenBucket(TokenBucket::new(spec.rate_bps, spec.burst_bytes, path)?)
        }
        "srtcm" => Meter::SingleRate(three_colour::SingleRate::new(
            &parse_part(rest, path)?,
            path,
        )?),
        "trtcm" => Meter::TwoRate(three_colour::TwoRate::new(&parse_part(rest, path)?, path)?),
        "car" => Meter::Car(car::Car::new(&parse_part(rest, path)?, path)?),
        "gcra" => Meter::Cells(cells::Cells::new(&parse_part(rest, path)?, line, path)?),
        other => {
            return Err(ScenarioError::new(
                format!("{path}.kind"),
                format!("unknown policer {other:?}"),
                "use token_bucket, srtcm, trtcm, car or gcra",
            ));
        }
    };
    let three = matches!(meter, Meter::SingleRate(_) | Meter::TwoRate(_));
    let actions = actions(given, three, path)?;
    let policer = Policer {
        meter,
        layer,
        counts: [0; 3],
    };
    Ok((policer, actions))
}

fn read_action(value: Value, listed: bool, path: &str) -> Result<Action, ScenarioError> {
    let action: Action = parse_part(value, path)?;
    if let Action::Pass { set, go_on } = &action {
        check_marks(set, path)?;
        if *go_on && !listed {
            let problem = "nothing comes after this policer";
            let hint = "continue only in the list of an interface";
            return Err(ScenarioError::new(path, problem, hint));
        }
    }
    Ok(action)
}

/// Fills in what is not given: what conforms passes, what exceeds is dropped, what violates is
/// treated as what exceeds (IOS). Three-colour markers colour what they pass.
fn actions(
    given: [Option<Action>; 3],
    three: bool,
    path: &str,
) -> Result<[Action; 3], ScenarioError> {
    let [conform, exceed, violate] = given;
    if violate.is_some() && !three {
        let at = format!("{path}.violate");
        let problem = "this kind of policer finds nothing to violate";
        return Err(ScenarioError::new(at, problem, "use srtcm or trtcm"));
    }
    let exceed = exceed.unwrap_or_default();
    let violate = violate.unwrap_or_else(|| exceed.clone());
    let mut actions = [conform.unwrap_or_else(Action::transmit), exceed, violate];
    if three {
        for (action, colour) in
            (actions.iter_mut()).zip([Colour::Green, Colour::Yellow, Colour::Red])
        {
            if let Action::Pass { set, .. } = action {
                set.colour = set.colour.or(Some(colour));
            }
        }
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: CellLine = CellLine {
        rate_bps: 1_000_000,
        received: true,
    };

    fn actions_of(text: &str, listed: bool) -> Result<[Action; 3], ScenarioError> {
        let value = serde_json::from_str(text).unwrap();
        read(&value, LINE, listed, "p").map(|(_, actions)| actions)
    }

    fn sets(colour: Option<Colour>, dscp: Option<u8>, go_on: bool) -> Action {
        let set = MarkSpec {
            dscp,
            colour,
            ..MarkSpec::default()
        };
        Action::Pass { set, go_on }
    }

    #[test]
    fn actions_have_defaults() {
        let plain = actions_of(r#"{"rate_bps": 1, "burst_bytes": 1}"#, false).unwrap();
        assert_eq!(plain, [sets(None, None, false), Action::Drop, Action::Drop]);
        let three = r#"{"kind": "srtcm", "rate_bps": 1, "burst_bytes": 1,
            "excess_burst_bytes": 1, "exceed": {"dscp": 12}}"#;
        assert_eq!(
            actions_of(three, false).unwrap(),
            [
                sets(Some(Colour::Green), None, false),
                sets(Some(Colour::Yellow), Some(12), false),
                sets(Some(Colour::Red), Some(12), false),
            ]
        );
        let car = r#"{"kind": "car", "rate_bps": 1, "burst_bytes": 1, "conform": "drop",
            "exceed": {"dscp": 1, "then": "continue"}}"#;
        assert_eq!(
            actions_of(car, true).unwrap()[..2],
            [Action::Drop, sets(None, Some(1), true)]
        );
    }

    #[test]
    fn refuses_wrong_policers() {
        for (text, path) in [
            (r#"{"kind": "car", "burst_bytes": 1}"#, "p"),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "exceed": "continue"}"#,
                "p.exceed",
            ),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "exceed": "keep"}"#,
                "p.exceed",
            ),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "violate": "drop"}"#,
                "p.violate",
            ),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "exceed": {"cos": 8}}"#,
                "p.exceed.cos",
            ),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "exceed": {"cos": 1, "x": 8}}"#,
                "p.exceed.x",
            ),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "exceed": {"dscp": 8, "precedence": 1}}"#,
                "p.exceed.precedence",
            ),
            (r#"{"kind": "leaky", "rate_bps": 1}"#, "p.kind"),
            (r#"{"kind": 3}"#, "p.kind"),
            (
                r#"{"rate_bps": 1, "burst_bytes": 1, "layer": "wire"}"#,
                "p.layer",
            ),
            ("[]", "p"),
        ] {
            assert_eq!(actions_of(text, false).unwrap_err().path, path, "{text}");
        }
    }
}

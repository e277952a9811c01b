//! The schema of a policer: what `super::read` takes apart by its `kind`.

use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::bucket::BucketSpec;
use super::car::CarSpec;
use super::cells::CellsSpec;
use super::three_colour::{SingleRateSpec, TwoRateSpec};
use super::{Layer, Marked};

/// A policer; a token bucket unless it has another `kind`.
#[derive(JsonSchema)]
#[schemars(rename = "PolicerSpec", tag = "kind", rename_all = "snake_case")]
#[schemars(transform = token_bucket_by_default)]
#[allow(dead_code)]
pub enum PolicerSchema {
    TokenBucket(Metered<BucketSpec, TwoActions>),
    Srtcm(Metered<SingleRateSpec, ThreeActions>),
    Trtcm(Metered<TwoRateSpec, ThreeActions>),
    Car(Metered<CarSpec, TwoActions>),
    Gcra(Metered<CellsSpec, TwoActions>),
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code)]
pub struct Metered<Meter, Actions> {
    #[schemars(flatten)]
    meter: Meter,
    /// The bytes that are counted.
    #[schemars(default)]
    layer: Layer,
    #[schemars(flatten)]
    actions: Actions,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code)]
pub struct TwoActions {
    /// Absent: `"transmit"`.
    conform: Option<ActionSchema>,
    /// Absent: `"drop"`.
    exceed: Option<ActionSchema>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code)]
pub struct ThreeActions {
    #[schemars(flatten)]
    two: TwoActions,
    /// Absent: as `exceed`.
    violate: Option<ActionSchema>,
}

/// What is done with a packet.
#[derive(JsonSchema)]
#[schemars(rename = "Action", untagged)]
#[allow(dead_code)]
pub enum ActionSchema {
    Named(ActionName),
    Marks(Marked),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum ActionName {
    Transmit,
    Drop,
    /// In a list: the next policer that matches is asked too.
    Continue,
}

fn token_bucket_by_default(schema: &mut Schema) {
    let kinds = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for kind in kinds.into_iter().flatten() {
        if kind["properties"]["kind"]["const"] != "token_bucket" {
            continue;
        }
        if let Some(required) = kind["required"].as_array_mut() {
            required.retain(|name| name != "kind");
        }
    }
}

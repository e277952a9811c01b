//! JSON text to model, with the path of whatever is wrong.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::Scenario;
use crate::error::ScenarioError;

/// Reads a whole scenario; errors name the JSON path.
pub fn parse_scenario(text: &str) -> Result<Scenario, ScenarioError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let scenario = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
        let path = match e.inner().classify() {
            // The message has line and column; the path so far would be half a name.
            Category::Syntax | Category::Eof | Category::Io => "scenario".into(),
            Category::Data => join("", &e.path().to_string()),
        };
        named(path, &e.inner().to_string())
    })?;
    reader
        .end()
        .map_err(|e| named("scenario".into(), &e.to_string()))?;
    Ok(scenario)
}

/// Reads a part kept as a value (a scheduler, a source) whose shape depends on its `kind`.
pub fn parse_part<T: DeserializeOwned>(value: Value, path: &str) -> Result<T, ScenarioError> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let inner = join(path, &e.path().to_string());
        named(inner, &e.inner().to_string())
    })
}

/// Splits `{"kind": K, ...}` into K and the rest.
pub fn parse_kind(value: &Value, path: &str) -> Result<(String, Value), ScenarioError> {
    let mend = "give an object such as {\"kind\": \"fifo\"} or {\"kind\": \"cbr\", ...}";
    let Value::Object(fields) = value else {
        return Err(ScenarioError::new(path, "not an object", mend));
    };
    let mut rest = fields.clone();
    match rest.remove("kind") {
        Some(Value::String(kind)) => Ok((kind, Value::Object(rest))),
        Some(_) => Err(ScenarioError::new(
            format!("{path}.kind"),
            "not a string",
            mend,
        )),
        None => Err(ScenarioError::new(path, "missing field `kind`", mend)),
    }
}

fn join(prefix: &str, path: &str) -> String {
    match (prefix, path) {
        ("", ".") => "scenario".into(),
        ("", inner) => inner.into(),
        (outer, ".") => outer.into(),
        (outer, inner) if inner.starts_with('[') => format!("{outer}{inner}"),
        (outer, inner) => format!("{outer}.{inner}"),
    }
}

fn named(path: String, message: &str) -> ScenarioError {
    let mend = if message.starts_with("unknown field") {
        "remove the key or correct its name"
    } else if message.starts_with("missing field") {
        "add the field"
    } else if message.starts_with("invalid") || message.starts_with("unknown variant") {
        "give a value of the expected kind"
    } else {
        "give one complete JSON document, nested at most 128 deep"
    };
    ScenarioError::new(path, message, mend)
}

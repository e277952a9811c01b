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
    let hint = "give an object such as {\"kind\": \"fifo\"} or {\"kind\": \"cbr\", ...}";
    let Value::Object(fields) = value else {
        return Err(ScenarioError::new(path, "not an object", hint));
    };
    let mut rest = fields.clone();
    match rest.remove("kind") {
        Some(Value::String(kind)) => Ok((kind, Value::Object(rest))),
        Some(_) => Err(ScenarioError::new(
            format!("{path}.kind"),
            "not a string",
            hint,
        )),
        None => Err(ScenarioError::new(path, "missing field `kind`", hint)),
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
    ScenarioError::new(path, message, hint(message))
}

/// What to do about one of serde's messages, which name Rust's types.
fn hint(message: &str) -> &'static str {
    let starts = |with| message.starts_with(with);
    if starts("unknown field") {
        "remove the key or correct its name"
    } else if starts("missing field") {
        "add the field"
    } else if starts("duplicate field") {
        "give each key once"
    } else if starts("unknown variant") {
        "use one of the names expected"
    } else if starts("invalid") {
        let expected = message
            .split_once(", expected ")
            .map_or("", |parts| parts.1);
        let kind = expected.split(" at line ").next().unwrap_or_default();
        match kind {
            "u8" => "give a whole number from 0 to 255",
            "u16" => "give a whole number from 0 to 65535",
            "u32" => "give a whole number from 0 to 4294967295",
            "u64" | "usize" => "give a whole number from 0 on, without a point or an exponent",
            "f64" => "give a number",
            "a boolean" => "give true or false",
            "a string" => "give text in quotes",
            "a sequence" => "give a list",
            _ if kind.starts_with("struct ") => "give an object with its keys in braces",
            _ => "give a value of the expected kind",
        }
    } else {
        "give one complete JSON document, nested at most 128 deep"
    }
}

//! The JSON Schema of what the twin reads and writes, from the structs that it reads and writes.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::report::Report;
use crate::scenario::Scenario;

/// `{"scenario": …, "result": …}`, two schemas of draft 2020-12.
pub fn schema() -> String {
    let settings = SchemaSettings::draft2020_12();
    let scenario = settings
        .clone()
        .into_generator()
        .into_root_schema_for::<Scenario>();
    let result = settings
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Report>();
    let both: Value = json!({"scenario": scenario, "result": result});
    format!("{both:#}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A scenario with these parts; any of them may be wrong.
    fn refusal(scheduler: &Value, source: &Value, police: &Value) -> Option<crate::ScenarioError> {
        let egress = json!({
            "queues": [{"name": "q", "limit_packets": 9}], "scheduler": scheduler,
            "otherwise": {"police": police},
        });
        let scenario = json!({
            "version": 1, "duration_ps": 1000,
            "nodes": [
                {"name": "a", "ports": [{"name": "p", "egress": egress}]},
                {"name": "b", "ports": [{"name": "p"}]},
            ],
            "links": [{"a": ["a", "p"], "b": ["b", "p"], "rate_bps": 1000, "framing": "none"}],
            "flows": [{"name": "f", "path": [["a", "p"]], "source": source}],
        });
        match crate::run(&scenario.to_string(), 1, || false) {
            Err(crate::RunError::Scenario(refusal)) => Some(refusal),
            _ => None,
        }
    }

    fn of_kind(part: &str, kind: &str) -> Option<crate::ScenarioError> {
        let described = json!({"kind": kind});
        let fifo = json!({"kind": "fifo"});
        let cbr = json!({"kind": "cbr", "rate_bps": 1000, "ip_bytes": 100});
        match part {
            "SchedulerSpec" => refusal(&described, &cbr, &Value::Null),
            "SourceSpec" => refusal(&fifo, &described, &Value::Null),
            _ => refusal(&fifo, &cbr, &described),
        }
    }

    #[test]
    fn kinds_of_the_schema_are_those_that_are_read() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        for part in ["SchedulerSpec", "SourceSpec", "PolicerSpec"] {
            let kinds = schema["scenario"]["$defs"][part]["oneOf"]
                .as_array()
                .unwrap();
            let described: BTreeSet<_> = (kinds.iter())
                .map(|kind| kind["properties"]["kind"]["const"].as_str().unwrap())
                .collect();
            let hint = of_kind(part, "unheard-of").unwrap().hint;
            let read: BTreeSet<_> = (hint.strip_prefix("use ").unwrap())
                .split([',', ' '])
                .filter(|word| !["", "or"].contains(word))
                .collect();
            assert_eq!(described, read, "{part}");
            for kind in described {
                let refused = of_kind(part, kind);
                let unknown = refused.filter(|refusal| refusal.problem.starts_with("unknown"));
                assert_eq!(unknown, None, "{part} {kind}");
            }
        }
    }
}

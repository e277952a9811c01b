//! Whatever is wrong with a scenario, it is refused with place, problem and hint, or it runs:
//! no panic, and no overflow, which a build with debug assertions would tell.
//!
//! The scenarios beside this file have every key between them (a test of the Python face
//! checks that); each try spoils one of them in one to three places. `QOSFORGE_MANGLED=100000`
//! tries that many, `QOSFORGE_MANGLED_SEED=7` others.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use qosforge_twin::{RunError, run};
use serde_json::{Number, Value, json};

const TRIES: u64 = 1200;
/// A run is cut off after so many looks at the caller's wish (262,144 events each).
const LOOKS: u32 = 0;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, top: usize) -> usize {
        (self.next() % top as u64) as usize
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

fn scenarios() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let read = |path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    files.into_iter().map(read).collect()
}

/// JSON pointers of every value below the root.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let at = format!("{at}/{key}");
                places(inner, &at, found);
                found.push(at);
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                let at = format!("{at}/{i}");
                places(inner, &at, found);
                found.push(at);
            }
        }
        _ => {}
    }
}

/// A number near an edge: of a type, of a range that is checked, or of what is there.
fn number(random: &mut Random, old: &Value) -> Value {
    const EDGES: [u64; 22] = [
        0,
        1,
        2,
        3,
        7,
        64,
        255,
        256,
        65_535,
        65_536,
        1 << 31,
        (1 << 32) - 1,
        1 << 32,
        1 << 53,
        1 << 60,
        (1 << 63) - 1,
        1 << 63,
        u64::MAX,
        10_000_000_000_000,
        1_000_000_000_000_000,
        10_000_000_000_000_000,
        100_000_000_000_000,
    ];
    let old = old.as_u64().unwrap_or(1);
    match random.below(8) {
        0 => json!(-1),
        1 => json!(i64::MIN),
        2 => Number::from_f64(*random.pick(&[0.5, 1e-300, 1e300, -0.0, 1.0, 99.999])).into(),
        3 => json!(old.saturating_mul(1 << random.below(40))),
        4 => json!(old >> random.below(40)),
        _ => json!(*random.pick(&EDGES)),
    }
}

fn junk(random: &mut Random) -> Value {
    let all = [
        Value::Null,
        json!(true),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!([[]]),
        json!({"kind": "?"}),
    ];
    random.pick(&all).clone()
}

/// Spoils one place; numbers far more often than anything else.
fn spoil(scenario: &mut Value, random: &mut Random) {
    let mut all = Vec::new();
    places(scenario, "", &mut all);
    let place: &String = random.pick(&all);
    let (parent, key) = place.rsplit_once('/').unwrap();
    let elsewhere: &String = random.pick(&all);
    let other = scenario.pointer(elsewhere).unwrap().clone();
    let old = scenario.pointer(place).unwrap().clone();
    let new = match (random.below(10), &old) {
        (0..=6, Value::Number(_)) => number(random, &old),
        (0..=2, _) => {
            match scenario.pointer_mut(parent).unwrap() {
                Value::Object(fields) => drop(fields.remove(key)),
                Value::Array(list) => drop(list.remove(key.parse().unwrap())),
                _ => unreachable!("a parent has members"),
            }
            return;
        }
        (3..=4, _) => {
            match scenario.pointer_mut(parent).unwrap() {
                Value::Array(list) => list.push(old),
                Value::Object(fields) => drop(fields.insert("typo".to_owned(), old)),
                _ => unreachable!("a parent has members"),
            }
            return;
        }
        (5..=7, _) => other,
        _ => junk(random),
    };
    *scenario.pointer_mut(place).unwrap() = new;
}

/// What a run said, if not that all is well: a panic, or an error that does not help.
fn complaint(text: &str, seed: u64) -> Option<String> {
    let mut looks = 0;
    let interrupted = || {
        looks += 1;
        looks > LOOKS
    };
    let ended = catch_unwind(AssertUnwindSafe(|| run(text, seed, interrupted)));
    match ended {
        Err(_) => Some("panicked".to_owned()),
        Ok(Err(RunError::Scenario(e)))
            if e.path.is_empty() || e.problem.is_empty() || e.hint.is_empty() =>
        {
            Some(format!("an empty part in {e:?}"))
        }
        Ok(Ok(result)) => {
            let result: Value = serde_json::from_str(&result).unwrap();
            let lost = |flow: &Value| {
                let count = |key: &str| flow[key].as_u64().unwrap();
                count("sent") != count("delivered") + count("lost") + count("unfinished")
            };
            let flows = result["flows"].as_array().unwrap();
            (flows.iter().any(lost)).then(|| "packets are not conserved".to_owned())
        }
        Ok(Err(_)) => None,
    }
}

#[test]
fn the_scenarios_run_as_they_are() {
    for scenario in scenarios() {
        let result = run(&scenario.to_string(), 1, || false).unwrap();
        assert!(result.contains("\"delivered\""));
    }
}

#[test]
fn spoilt_scenarios_are_refused_or_run() {
    let scenarios = scenarios();
    let mut random = Random(setting("QOSFORGE_MANGLED_SEED", 1));
    for attempt in 0..setting("QOSFORGE_MANGLED", TRIES) {
        let mut scenario = random.pick(&scenarios).clone();
        let mut small = scenario.clone();
        for _ in 0..=random.below(3) {
            small = scenario.clone();
            spoil(&mut scenario, &mut random);
        }
        let text = scenario.to_string();
        if let Some(complaint) = complaint(&text, attempt) {
            panic!("{complaint}\nspoilt at last from {small}\nto {text}");
        }
    }
}

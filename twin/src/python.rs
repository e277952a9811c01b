//! The Python face: module `qosforge_twin`.

use std::num::NonZeroUsize;

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::batch::Case;
use crate::error::RunError;
use crate::queue_search::{CAPACITY, ClassSet, Criterion, Demand, FixedQueues, Unit};

create_exception!(
    qosforge_twin,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be simulated: attributes path, problem, hint, case."
);

/// Simulate a version 1 scenario (JSON) and return the result (JSON).
#[pyfunction]
fn run(py: Python<'_>, scenario: &str, seed: u64) -> PyResult<String> {
    let mut signal = None;
    let result = py.detach(|| {
        crate::run(scenario, seed, || {
            signal = Python::attach(|py| py.check_signals()).err();
            signal.is_some()
        })
    });
    match (result, signal) {
        (_, Some(signal)) => Err(signal),
        (Ok(text), None) => Ok(text),
        (Err(error), None) => Err(raise(py, &error, None)),
    }
}

/// Simulate independent scenarios on several threads; the results come in the scenarios' order.
#[pyfunction]
#[pyo3(signature = (scenarios, seeds, threads=None))]
fn run_many(
    py: Python<'_>,
    scenarios: Vec<String>,
    seeds: Vec<u64>,
    threads: Option<usize>,
) -> PyResult<Vec<String>> {
    if scenarios.len() != seeds.len() {
        let (scenarios, seeds) = (scenarios.len(), seeds.len());
        let problem = format!("{scenarios} scenarios and {seeds} seeds; give one for each");
        return Err(PyValueError::new_err(problem));
    }
    let threads = threads.map(|count| {
        NonZeroUsize::new(count)
            .ok_or_else(|| PyValueError::new_err("threads is 0; use 1 or more, or None"))
    });
    let threads = threads.transpose()?;
    let cases: Vec<Case> = scenarios.iter().map(String::as_str).zip(seeds).collect();
    let mut signal = None;
    let result = py.detach(|| {
        crate::run_many(&cases, threads, || {
            signal = Python::attach(|py| py.check_signals()).err();
            signal.is_some()
        })
    });
    match (result, signal) {
        (_, Some(signal)) => Err(signal),
        (Ok(texts), None) => Ok(texts),
        (Err(failed), None) => Err(raise(py, &failed.error, Some(failed.case))),
    }
}

/// The JSON Schema of scenarios and results: `{"scenario": ..., "result": ...}`.
#[pyfunction]
fn schema() -> String {
    crate::schema()
}

/// Queues up to which every order of units is looked at: there are 3.6 million of ten.
const MOST_QUEUES: usize = 10;
/// Units up to which every set is looked at.
const MOST_UNITS: usize = 16;

/// A demand: its shares at each rate, whether it should be alone, its kinds, its labels.
type Demanded = (Vec<f64>, bool, Vec<usize>, Vec<i64>);

/// Group demands into at most `most` queues, as the criteria prefer; see `qosforge_twin.pyi`.
#[pyfunction]
fn cheapest_groups(
    py: Python<'_>,
    demands: Vec<Demanded>,
    most: usize,
    preference: Vec<(String, f64)>,
    most_steps: usize,
) -> PyResult<Vec<Vec<usize>>> {
    let (demands, preference) = (read_demands(demands)?, read_preference(&preference)?);
    py.detach(|| crate::queue_search::cheapest_groups(&demands, most, &preference, most_steps))
        .map_err(PyValueError::new_err)
}

/// Join demands pair by pair until there are `most` queues; see `qosforge_twin.pyi`.
#[pyfunction]
fn pairwise_groups(
    py: Python<'_>,
    demands: Vec<Demanded>,
    most: usize,
    preference: Vec<(String, f64)>,
) -> PyResult<Vec<Vec<usize>>> {
    let (demands, preference) = (read_demands(demands)?, read_preference(&preference)?);
    py.detach(|| crate::queue_search::pairwise_groups(&demands, most, &preference))
        .map_err(PyValueError::new_err)
}

/// Units in queues of their own; see `qosforge_twin.pyi`.
#[pyfunction]
fn nearest_apart(
    py: Python<'_>,
    units: Vec<Vec<f64>>,
    weights: Vec<u32>,
    left: f64,
) -> PyResult<(f64, Vec<usize>)> {
    let (units, queues) = (
        units
            .into_iter()
            .map(|shares| Unit {
                shares,
                bound: false,
            })
            .collect::<Vec<_>>(),
        weights.len(),
    );
    if units.len() > queues || queues > MOST_QUEUES {
        let problem = format!(
            "{} units and {queues} queues; at most {MOST_QUEUES}",
            units.len()
        );
        return Err(PyValueError::new_err(problem));
    }
    Ok(py.detach(|| crate::queue_search::apart(&units, &weights, left)))
}

/// Units that share queues; see `qosforge_twin.pyi`.
#[pyfunction]
fn nearest_merged(
    py: Python<'_>,
    units: Vec<(Vec<f64>, bool)>,
    shares: Vec<f64>,
    spare: usize,
    bearable: f64,
) -> PyResult<(f64, Vec<usize>)> {
    if units.len() > MOST_UNITS {
        let problem = format!("{} units; at most {MOST_UNITS} share queues", units.len());
        return Err(PyValueError::new_err(problem));
    }
    let units: Vec<Unit> = units
        .into_iter()
        .map(|(shares, bound)| Unit { shares, bound })
        .collect();
    let queues = FixedQueues {
        shares,
        spare,
        bearable,
    };
    Ok(py.detach(|| crate::queue_search::merged(&units, &queues)))
}

/// Whole numbers near to exact ones; see `qosforge_twin.pyi`.
#[pyfunction]
fn whole_numbers(exact: Vec<f64>, total: u32) -> Vec<u32> {
    crate::queue_search::whole_numbers(&exact, total)
}

/// Whole numbers near to shares; see `qosforge_twin.pyi`.
#[pyfunction]
fn nearest_whole(
    targets: Vec<Vec<f64>>,
    shares: Vec<f64>,
    first: u32,
    last: u32,
    highest: u32,
) -> Vec<u32> {
    let found = |totals: &mut dyn Iterator<Item = u32>| {
        crate::queue_search::nearest_whole(&targets, &shares, totals, highest)
    };
    if first <= last {
        found(&mut (first..=last))
    } else {
        found(&mut (last..=first).rev())
    }
}

fn read_demands(demands: Vec<Demanded>) -> PyResult<Vec<Demand>> {
    let read = demands.into_iter().map(|(shares, alone, kinds, labels)| {
        if let Some(kind) = kinds.iter().find(|kind| **kind >= CAPACITY) {
            let problem = format!("kind {kind} is not below {CAPACITY}");
            return Err(PyValueError::new_err(problem));
        }
        let kinds: ClassSet = kinds.into_iter().collect();
        Ok(Demand {
            shares,
            alone,
            kinds,
            labels,
        })
    });
    read.collect()
}

fn read_preference(preference: &[(String, f64)]) -> PyResult<Vec<Criterion>> {
    let read = preference.iter().map(|(name, bound)| {
        Criterion::named(name, *bound)
            .ok_or_else(|| PyValueError::new_err(format!("no criterion {name:?}")))
    });
    read.collect()
}

fn raise(py: Python<'_>, error: &RunError, case: Option<usize>) -> PyErr {
    let refusal = match error {
        RunError::Scenario(refusal) => refusal,
        RunError::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    let text = match case {
        Some(case) => format!("case {case}: {refusal}"),
        None => refusal.to_string(),
    };
    let error = ScenarioError::new_err(text);
    let value = error.value(py);
    if let Err(failed) = value.setattr("case", case) {
        return failed;
    }
    let fields = [
        ("path", &refusal.path),
        ("problem", &refusal.problem),
        ("hint", &refusal.hint),
    ];
    for (name, text) in fields {
        if let Err(failed) = value.setattr(name, text) {
            return failed;
        }
    }
    error
}

#[pymodule]
fn qosforge_twin(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(cheapest_groups, module)?)?;
    module.add_function(wrap_pyfunction!(pairwise_groups, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_apart, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_merged, module)?)?;
    module.add_function(wrap_pyfunction!(whole_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_whole, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(run_many, module)?)
}

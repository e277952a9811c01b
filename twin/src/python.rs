//! The Python face: module `qosforge_twin`.

use std::num::NonZeroUsize;

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::batch::Case;
use crate::error::RunError;

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
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(run_many, module)?)
}

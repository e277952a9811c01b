//! The Python face: module `qosforge_twin`.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{RunError, ScenarioError as Refusal};

create_exception!(
    qosforge_twin,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be simulated: attributes path, problem, mend."
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
        (Err(RunError::Scenario(refusal)), None) => Err(raise(py, &refusal)),
        (Err(RunError::Interrupted), None) => {
            Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(()))
        }
    }
}

fn raise(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let error = ScenarioError::new_err(refusal.to_string());
    let value = error.value(py);
    let fields = [
        ("path", &refusal.path),
        ("problem", &refusal.problem),
        ("mend", &refusal.mend),
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
    module.add_function(wrap_pyfunction!(run, module)?)
}

//! Errors a caller can act on.

use std::fmt;

/// A scenario that cannot be simulated: where, what is wrong, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// JSON path such as `nodes[0].ports[1].egress.queues[2].limit_packets`.
    pub path: String,
    pub problem: String,
    pub hint: String,
}

impl ScenarioError {
    pub fn new(
        path: impl Into<String>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.path, self.problem, self.hint)
    }
}

impl std::error::Error for ScenarioError {}

/// Why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    Scenario(ScenarioError),
    /// The caller's check asked the simulation to stop.
    Interrupted,
}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Interrupted => f.write_str("the simulation was interrupted"),
        }
    }
}

impl std::error::Error for RunError {}

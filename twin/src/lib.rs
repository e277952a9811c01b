//! Packet-level discrete-event simulation of queues, schedulers and links.
//!
//! One entry: [`run`], JSON in and JSON out; [`run_many`] for many cases at once. Times are integer picoseconds, rates integer bits
//! per second; the same scenario and seed give the same bytes. `SCENARIO.md` has the formats.

#![cfg_attr(not(feature = "python"), forbid(unsafe_code))]

mod admission;
mod batch;
mod bitmap;
mod build;
mod classify;
#[cfg(test)]
mod complexity_tests;
mod counters;
mod error;
mod event;
mod filters;
mod first_bit;
mod flow_order;
mod forward;
mod framing;
mod histogram;
mod hop_delay;
mod hops;
mod ip;
mod item;
mod line;
mod measure;
mod minimum;
mod moments;
mod named;
mod observe;
mod packet;
mod police;
mod pool;
mod port;
#[cfg(feature = "python")]
mod python;
mod queue;
pub mod queue_search;
mod red;
mod report;
mod rng;
mod scenario;
mod sched;
mod schema;
mod sim;
mod source;
mod state;

pub use batch::{Case, CaseError, run_many};
pub use error::{RunError, ScenarioError};
pub use schema::schema;

/// Simulates `scenario` (JSON, version 1) and returns the result (JSON).
///
/// `interrupted` is asked now and then; when it answers true the run ends with
/// [`RunError::Interrupted`].
pub fn run(
    scenario: &str,
    seed: u64,
    interrupted: impl FnMut() -> bool,
) -> Result<String, RunError> {
    let scenario = scenario::parse_scenario(scenario)?;
    let mut simulation = build::build(&scenario, seed)?;
    simulation.run(interrupted)?;
    debug_assert!(!scenario.drain || simulation.under_way() == 0);
    // Strings, integers and finite floats always serialise.
    Ok(serde_json::to_string(&report::report(&simulation)).unwrap_or_default())
}

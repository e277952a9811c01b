//! Weighted round robin alone, by packets or by blocks of bytes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Context;
use super::round_robin::RoundRobin;
use super::tiered::Tiered;
use super::weights::Weights;
use crate::error::ScenarioError;

/// An 802.1Q tag.
const TAG_BYTES: u64 = 4;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrrSpec {
    /// Packets per turn, or blocks of `quantum_bytes`.
    weights: Weights,
    #[serde(default)]
    quantum_bytes: Option<u64>,
    #[serde(default)]
    counting: Option<Counting>,
}

/// How a frame is counted against a quantum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Counting {
    /// Its bytes.
    Exact,
    /// Whole quanta for the frame with its tag (4 bytes more on an untagged link): one way to
    /// get the unequal shares of frames that just do not fit.
    RoundedUp,
}

/// Long-run shares of backlogged queues: by packets in proportion to the weights; by exact
/// quanta, so are frame bytes; rounded up, frame bytes of size s go as
/// weight × s / ⌈(s + tag) / quantum⌉.
pub fn wrr(spec: WrrSpec, context: Context) -> Result<Tiered, ScenarioError> {
    let members = spec.weights.members(&[], context, "weights")?;
    let Some(quantum) = spec.quantum_bytes else {
        if spec.counting.is_some() {
            let hint = "give quantum_bytes too, or leave it out";
            return Err(context.error("counting", "packets are counted, not bytes", hint));
        }
        return Ok(Tiered::robin(RoundRobin::by_packets(members)));
    };
    context.check_quantum(quantum, "quantum_bytes")?;
    Ok(Tiered::robin(match spec.counting {
        Some(Counting::RoundedUp) => {
            let tag = if context.tagged { 0 } else { TAG_BYTES };
            RoundRobin::by_blocks(members, quantum, tag)
        }
        Some(Counting::Exact) | None => {
            let bytes = members.into_iter().map(|(q, w)| (q, w * quantum));
            RoundRobin::by_quantum(bytes.collect())
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{byte_shares, context};

    /// The sizes of the CERN test of byte quanta, q0 to q3.
    const SIZES: [u32; 4] = [1518, 1024, 512, 256];

    fn shares(spec: &str) -> Vec<f64> {
        let mut scheduler = wrr(serde_json::from_str(spec).unwrap(), context(4)).unwrap();
        byte_shares(&mut scheduler, &SIZES, 20_000)
    }

    fn close(got: &[f64], expected: &[f64]) {
        let off = got.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 0.001, "{got:?}");
    }

    #[test]
    fn exact_quanta_keep_to_the_weights() {
        let spec = r#"{"weights": [1, 2, 3, 4], "quantum_bytes": 256}"#;
        close(&shares(spec), &[0.1, 0.2, 0.3, 0.4]);
    }

    #[test]
    fn packets_favour_large_frames() {
        let spec = r#"{"weights": [1, 2, 3, 4]}"#;
        close(&shares(spec), &[0.2476, 0.3341, 0.2506, 0.1677]);
    }

    #[test]
    fn rounding_up_hurts_frames_that_just_do_not_fit() {
        let spec = r#"{"weights": [1, 2, 3, 4], "quantum_bytes": 256, "counting": "rounded_up"}"#;
        close(&shares(spec), &[0.1500, 0.2429, 0.3036, 0.3036]);
    }

    #[test]
    fn counting_needs_a_quantum() {
        let spec = r#"{"weights": [1], "counting": "exact"}"#;
        let refused = wrr(serde_json::from_str(spec).unwrap(), context(1)).unwrap_err();
        assert_eq!(refused.path, "s.counting");
        for quantum in ["0", "18446744073709551615"] {
            let spec = format!(r#"{{"weights": [1], "quantum_bytes": {quantum}}}"#);
            let refused = wrr(serde_json::from_str(&spec).unwrap(), context(1)).unwrap_err();
            assert_eq!(refused.path, "s.quantum_bytes");
        }
    }
}

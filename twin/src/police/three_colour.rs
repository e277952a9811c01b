//! Three-colour markers: RFC 2697 (single rate) and RFC 2698 (two rates).

use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use super::bucket::{TokenBucket, positive};
use crate::error::ScenarioError;
use crate::scenario::Colour;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleRateSpec {
    /// CIR.
    rate_bps: u64,
    /// CBS.
    burst_bytes: u64,
    /// EBS.
    excess_burst_bytes: u64,
    #[serde(default)]
    colour_aware: bool,
}

/// RFC 2697: one rate fills the committed bucket, and what it cannot hold the excess bucket.
#[derive(Debug)]
pub struct SingleRate {
    committed: TokenBucket,
    excess: TokenBucket,
    colour_aware: bool,
}

impl SingleRate {
    pub fn new(spec: &SingleRateSpec, path: &str) -> Result<Self, ScenarioError> {
        positive(spec.rate_bps, path, "rate_bps")?;
        if spec.burst_bytes == 0 && spec.excess_burst_bytes == 0 {
            let at = format!("{path}.burst_bytes");
            let hint = "let it or excess_burst_bytes hold the largest packet";
            return Err(ScenarioError::new(at, "both bursts are 0", hint));
        }
        Ok(Self {
            committed: TokenBucket::full(spec.rate_bps, spec.burst_bytes),
            excess: TokenBucket::full(0, spec.excess_burst_bytes),
            colour_aware: spec.colour_aware,
        })
    }

    pub fn judge(&mut self, bytes: u32, colour: Colour, now_ps: u64) -> Outcome {
        let overflow = self.committed.refill(now_ps);
        self.excess.add(overflow);
        let colour = if self.colour_aware {
            colour
        } else {
            Colour::Green
        };
        if colour == Colour::Green && self.committed.holds(bytes) {
            self.committed.take(bytes);
            Outcome::Conform
        } else if colour != Colour::Red && self.excess.holds(bytes) {
            self.excess.take(bytes);
            Outcome::Exceed
        } else {
            Outcome::Violate
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoRateSpec {
    /// CIR.
    rate_bps: u64,
    /// CBS.
    burst_bytes: u64,
    /// PIR.
    peak_bps: u64,
    /// PBS.
    peak_burst_bytes: u64,
    #[serde(default)]
    colour_aware: bool,
}

/// RFC 2698: a bucket for the committed and one for the peak rate.
#[derive(Debug)]
pub struct TwoRate {
    committed: TokenBucket,
    peak: TokenBucket,
    colour_aware: bool,
}

impl TwoRate {
    pub fn new(spec: &TwoRateSpec, path: &str) -> Result<Self, ScenarioError> {
        positive(spec.peak_burst_bytes, path, "peak_burst_bytes")?;
        if spec.peak_bps < spec.rate_bps {
            let at = format!("{path}.peak_bps");
            let problem = format!("{} is below rate_bps {}", spec.peak_bps, spec.rate_bps);
            return Err(ScenarioError::new(at, problem, "let the peak be no lower"));
        }
        Ok(Self {
            committed: TokenBucket::new(spec.rate_bps, spec.burst_bytes, path)?,
            peak: TokenBucket::full(spec.peak_bps, spec.peak_burst_bytes),
            colour_aware: spec.colour_aware,
        })
    }

    pub fn judge(&mut self, bytes: u32, colour: Colour, now_ps: u64) -> Outcome {
        self.committed.refill(now_ps);
        self.peak.refill(now_ps);
        let colour = if self.colour_aware {
            colour
        } else {
            Colour::Green
        };
        if colour == Colour::Red || !self.peak.holds(bytes) {
            return Outcome::Violate;
        }
        self.peak.take(bytes);
        if colour == Colour::Yellow || !self.committed.holds(bytes) {
            return Outcome::Exceed;
        }
        self.committed.take(bytes);
        Outcome::Conform
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::SECOND_PS;
    use Colour::{Green, Red, Yellow};
    use Outcome::{Conform, Exceed, Violate};

    fn single(colour_aware: bool) -> SingleRate {
        let spec = SingleRateSpec {
            rate_bps: 8_000,
            burst_bytes: 1_000,
            excess_burst_bytes: 500,
            colour_aware,
        };
        SingleRate::new(&spec, "p").unwrap()
    }

    fn two(colour_aware: bool) -> TwoRate {
        let spec = TwoRateSpec {
            rate_bps: 8_000,
            burst_bytes: 1_000,
            peak_bps: 16_000,
            peak_burst_bytes: 1_500,
            colour_aware,
        };
        TwoRate::new(&spec, "p").unwrap()
    }

    #[test]
    fn single_rate_fills_the_excess_bucket_last() {
        let mut meter = single(false);
        // Te is spent first by nothing: 1000 green, 500 yellow, then red.
        assert_eq!(meter.judge(1_000, Green, 0), Conform);
        assert_eq!(meter.judge(500, Green, 0), Exceed);
        assert_eq!(meter.judge(1, Green, 0), Violate);
        // 1.25 s at 1000 bytes/s: Tc is full again, Te holds what was over.
        assert_eq!(meter.judge(1_000, Green, SECOND_PS * 5 / 4), Conform);
        assert_eq!(meter.judge(251, Green, SECOND_PS * 5 / 4), Violate);
        assert_eq!(meter.judge(250, Green, SECOND_PS * 5 / 4), Exceed);
    }

    #[test]
    fn colour_blind_ignores_colours() {
        let mut meter = single(false);
        assert_eq!(meter.judge(1_000, Red, 0), Conform);
        let mut meter = two(false);
        assert_eq!(meter.judge(1_000, Red, 0), Conform);
    }

    #[test]
    fn colour_aware_single_rate_never_improves() {
        let mut meter = single(true);
        assert_eq!(meter.judge(100, Red, 0), Violate);
        assert_eq!(meter.judge(400, Yellow, 0), Exceed);
        assert_eq!(meter.judge(200, Yellow, 0), Violate);
        assert_eq!(meter.judge(1_000, Green, 0), Conform);
        assert_eq!(meter.judge(100, Green, 0), Exceed);
    }

    #[test]
    fn two_rates() {
        let mut meter = two(false);
        assert_eq!(meter.judge(1_000, Green, 0), Conform);
        assert_eq!(meter.judge(500, Green, 0), Exceed);
        assert_eq!(meter.judge(1, Green, 0), Violate);
        // A quarter second: 250 bytes committed, 500 peak.
        assert_eq!(meter.judge(251, Green, SECOND_PS / 4), Exceed);
        assert_eq!(meter.judge(249, Green, SECOND_PS / 4), Conform);
        assert_eq!(meter.judge(1, Green, SECOND_PS / 4), Violate);
    }

    #[test]
    fn colour_aware_two_rates() {
        let mut meter = two(true);
        assert_eq!(meter.judge(1, Red, 0), Violate);
        assert_eq!(meter.judge(600, Yellow, 0), Exceed);
        assert_eq!(meter.judge(900, Green, 0), Conform);
        assert_eq!(meter.judge(1, Yellow, 0), Violate);
    }

    #[test]
    fn refuses_what_the_rfcs_refuse() {
        let spec = r#"{"rate_bps": 8, "burst_bytes": 0, "excess_burst_bytes": 0}"#;
        let spec = serde_json::from_str(spec).unwrap();
        let refused = SingleRate::new(&spec, "p").unwrap_err();
        assert_eq!(refused.path, "p.burst_bytes");
        let spec = r#"{"rate_bps": 9, "burst_bytes": 1, "peak_bps": 8, "peak_burst_bytes": 1}"#;
        let spec = serde_json::from_str(spec).unwrap();
        assert_eq!(TwoRate::new(&spec, "p").unwrap_err().path, "p.peak_bps");
    }
}

//! Token buckets in exact integers.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ScenarioError;
use crate::framing::SECOND_PS;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    pub rate_bps: u64,
    pub burst_bytes: u64,
}

/// A single-rate token bucket, full at the start of a run.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    rate_bps: u64,
    /// Levels count bits × 10^12, so that a rate times picoseconds needs no division.
    level: u128,
    depth: u128,
    updated_ps: u64,
}

impl TokenBucket {
    /// Refuses a rate or burst of 0 at `path`.
    pub fn new(rate_bps: u64, burst_bytes: u64, path: &str) -> Result<Self, ScenarioError> {
        positive(rate_bps, path, "rate_bps")?;
        positive(burst_bytes, path, "burst_bytes")?;
        Ok(Self::full(rate_bps, burst_bytes))
    }

    /// A full bucket; of a rate or depth of 0 too.
    pub(super) fn full(rate_bps: u64, burst_bytes: u64) -> Self {
        let depth = tokens(burst_bytes);
        Self {
            rate_bps,
            level: depth,
            depth,
            updated_ps: 0,
        }
    }

    /// Takes `bytes` if they conform.
    pub fn conforms(&mut self, bytes: u32, now_ps: u64) -> bool {
        self.refill(now_ps);
        let conforms = self.holds(bytes);
        if conforms {
            self.take(bytes);
        }
        conforms
    }

    /// Adds what was earned since the last time; returns what did not fit.
    pub(super) fn refill(&mut self, now_ps: u64) -> u128 {
        let earned = earned(self.rate_bps, now_ps - self.updated_ps);
        self.updated_ps = now_ps;
        self.add(earned)
    }

    /// Adds tokens; returns what did not fit.
    pub(super) fn add(&mut self, tokens: u128) -> u128 {
        let fits = tokens.min(self.depth - self.level);
        self.level += fits;
        tokens - fits
    }

    pub(super) fn holds(&self, bytes: u32) -> bool {
        self.level >= tokens(bytes.into())
    }

    /// Only what it holds.
    pub(super) fn take(&mut self, bytes: u32) {
        self.level -= tokens(bytes.into());
    }
}

pub(super) fn tokens(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * u128::from(SECOND_PS)
}

pub(super) fn earned(rate_bps: u64, elapsed_ps: u64) -> u128 {
    u128::from(elapsed_ps) * u128::from(rate_bps)
}

pub(super) fn positive(value: u64, path: &str, field: &str) -> Result<(), ScenarioError> {
    if value > 0 {
        return Ok(());
    }
    let at = format!("{path}.{field}");
    Err(ScenarioError::new(at, "is 0", "give a positive number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refills_at_its_rate() {
        let mut bucket = TokenBucket::new(8_000, 1_000, "p").unwrap();
        assert!(bucket.conforms(1_000, 0));
        assert!(!bucket.conforms(1, 0));
        assert!(!bucket.conforms(501, SECOND_PS / 2));
        assert!(bucket.conforms(500, SECOND_PS / 2));
        assert!(bucket.conforms(1_000, 100 * SECOND_PS));
        assert!(!bucket.conforms(1, 100 * SECOND_PS));
    }

    #[test]
    fn the_largest_figures_do_not_overflow() {
        let mut bucket = TokenBucket::new(u64::MAX, u64::MAX, "p").unwrap();
        assert!(bucket.conforms(u32::MAX, 0));
        assert!(bucket.conforms(u32::MAX, u64::MAX));
    }

    #[test]
    fn refuses_zero() {
        assert_eq!(TokenBucket::new(0, 1, "p").unwrap_err().path, "p.rate_bps");
        assert_eq!(
            TokenBucket::new(1, 0, "p").unwrap_err().path,
            "p.burst_bytes"
        );
    }
}

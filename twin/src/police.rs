//! Token buckets in exact integers.

use crate::error::ScenarioError;
use crate::framing::SECOND_PS;

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
        for (value, field) in [(rate_bps, "rate_bps"), (burst_bytes, "burst_bytes")] {
            if value == 0 {
                let at = format!("{path}.{field}");
                return Err(ScenarioError::new(at, "is 0", "give a positive number"));
            }
        }
        let depth = tokens(burst_bytes);
        Ok(Self {
            rate_bps,
            level: depth,
            depth,
            updated_ps: 0,
        })
    }

    /// Takes `bytes` if they conform.
    pub fn conforms(&mut self, bytes: u32, now_ps: u64) -> bool {
        let earned = u128::from(now_ps - self.updated_ps) * u128::from(self.rate_bps);
        self.updated_ps = now_ps;
        self.level = (self.level + earned).min(self.depth);
        let cost = tokens(bytes.into());
        let conforms = self.level >= cost;
        if conforms {
            self.level -= cost;
        }
        conforms
    }
}

fn tokens(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * u128::from(SECOND_PS)
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
    fn refuses_zero() {
        assert_eq!(TokenBucket::new(0, 1, "p").unwrap_err().path, "p.rate_bps");
        assert_eq!(
            TokenBucket::new(1, 0, "p").unwrap_err().path,
            "p.burst_bytes"
        );
    }
}

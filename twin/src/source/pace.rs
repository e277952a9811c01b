//! A constant bit rate kept without drift.

use crate::framing::SECOND_PS;

/// Successive gaps between packets that add up to the exact rate.
#[derive(Debug, Clone)]
pub struct Pace {
    gap: u64,
    remainder: u64,
    carry: u64,
    rate_bps: u64,
}

impl Pace {
    /// For packets of `ip_bytes` (at most 65,535) at `rate_bps` (not 0).
    pub fn new(ip_bytes: u32, rate_bps: u64) -> Self {
        let bits = u64::from(ip_bytes) * 8 * SECOND_PS;
        Self {
            gap: bits / rate_bps,
            remainder: bits % rate_bps,
            carry: 0,
            rate_bps,
        }
    }

    pub fn gap(&mut self) -> u64 {
        self.carry += self.remainder;
        if self.carry >= self.rate_bps {
            self.carry -= self.rate_bps;
            return self.gap + 1;
        }
        self.gap
    }

    /// The gap as a mean.
    pub fn mean(&self) -> f64 {
        self.gap as f64 + self.remainder as f64 / self.rate_bps as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_not_drift() {
        let mut pace = Pace::new(100, 7);
        let total: u64 = (0..7).map(|_| pace.gap()).sum();
        assert_eq!(total, 800 * SECOND_PS);
    }
}

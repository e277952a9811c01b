//! A constant bit rate kept without drift.

use super::size::{Layer, Sizes};
use crate::framing::{Framing, SECOND_PS};

/// Parts of 10^9 that a clock's rate is given in.
const BILLION: i64 = 1_000_000_000;

/// Successive gaps between packets that add up to the exact rate.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Whole picoseconds and parts of 2^64 of one more, by size.
    gaps: Vec<(u64, u64)>,
    carry: u64,
}

impl Pace {
    /// For packets of `sizes` at `rate_bps` (not 0) of a layer, by a clock that runs
    /// `ppb` parts in 10^9 fast.
    pub fn new(sizes: &Sizes, rate_bps: u64, layer: Layer, framing: Framing, ppb: i64) -> Self {
        let speed = (BILLION + ppb).max(1) as u128;
        let denominator = u128::from(rate_bps) * speed;
        let gap = |ip: &u32| {
            let bits = u128::from(layer.bytes(*ip, framing)) * 8;
            let time = bits * u128::from(SECOND_PS) * BILLION as u128;
            let whole = u64::try_from(time / denominator).unwrap_or(u64::MAX);
            (whole, parts(time % denominator, denominator))
        };
        Self {
            gaps: sizes.ip_bytes.iter().map(gap).collect(),
            carry: 0,
        }
    }

    /// The time that a packet of the size at this place takes.
    #[inline]
    pub fn gap(&mut self, place: usize) -> u64 {
        let (gap, part) = self.gaps[place];
        let (carry, full) = self.carry.overflowing_add(part);
        self.carry = carry;
        gap + u64::from(full)
    }

    /// The gap of a source with one size; equal for equal periods.
    pub fn period(&self) -> Option<(u64, u64)> {
        match self.gaps[..] {
            [period] => Some(period),
            _ => None,
        }
    }
}

/// remainder / denominator in parts of 2^64, rounded up, so that whole picoseconds are not
/// late: 2^64 packets drift by less than one.
fn parts(mut remainder: u128, denominator: u128) -> u64 {
    let mut parts = 0u64;
    // Long division by bits: the denominator leaves room for one more.
    for _ in 0..u64::BITS {
        remainder <<= 1;
        parts <<= 1;
        if remainder >= denominator {
            remainder -= denominator;
            parts |= 1;
        }
    }
    if remainder > 0 {
        parts.saturating_add(1)
    } else {
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::FramingSpec;

    const PLAIN: Framing = Framing {
        short_sequence: false,
        kind: FramingSpec::None,
        tagged: false,
    };

    #[test]
    fn does_not_drift() {
        let sizes = Sizes::one(100);
        let mut pace = Pace::new(&sizes, 7, Layer::Ip, PLAIN, 0);
        let total: u64 = (0..7).map(|_| pace.gap(0)).sum();
        assert_eq!(total, 800 * SECOND_PS);
    }

    #[test]
    fn a_fast_clock_has_shorter_gaps() {
        let sizes = Sizes::one(100);
        let mut pace = Pace::new(&sizes, 800, Layer::Ip, PLAIN, 250_000_000);
        assert_eq!(pace.gap(0), SECOND_PS * 4 / 5);
    }
}

//! Committed access rate: IOS `rate-limit` with its extended burst.
//!
//! After Cisco's IOS Quality of Service guide ("Policing and Shaping Overview"): a packet that
//! finds too few tokens may borrow. The actual debt is what is borrowed now; the compounded
//! debt is the sum of the actual debts after each borrowing since the last drop. While it is
//! no more than the extended burst, the packet conforms.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use super::bucket::{earned, positive, tokens};
use crate::error::ScenarioError;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CarSpec {
    rate_bps: u64,
    /// Normal burst.
    burst_bytes: u64,
    /// Extended burst; no more than the normal one: nothing may be borrowed.
    #[serde(default)]
    extended_burst_bytes: u64,
}

#[derive(Debug)]
pub struct Car {
    rate_bps: u64,
    /// In bits × 10^12; at most one of tokens and debt is not 0.
    tokens: u128,
    debt: u128,
    compounded: u128,
    normal: u128,
    /// None: no borrowing.
    extended: Option<u128>,
    updated_ps: u64,
}

impl Car {
    pub fn new(spec: &CarSpec, path: &str) -> Result<Self, ScenarioError> {
        positive(spec.rate_bps, path, "rate_bps")?;
        positive(spec.burst_bytes, path, "burst_bytes")?;
        let borrows = spec.extended_burst_bytes > spec.burst_bytes;
        Ok(Self {
            rate_bps: spec.rate_bps,
            tokens: tokens(spec.burst_bytes),
            debt: 0,
            compounded: 0,
            normal: tokens(spec.burst_bytes),
            extended: borrows.then(|| tokens(spec.extended_burst_bytes)),
            updated_ps: 0,
        })
    }

    pub fn judge(&mut self, bytes: u32, now_ps: u64) -> Outcome {
        let earned = earned(self.rate_bps, now_ps - self.updated_ps);
        self.updated_ps = now_ps;
        let repaid = earned.min(self.debt);
        self.debt -= repaid;
        self.tokens += (earned - repaid).min(self.normal - self.tokens);
        let cost = tokens(bytes.into());
        if self.tokens >= cost {
            self.tokens -= cost;
            return Outcome::Conform;
        }
        let Some(extended) = self.extended else {
            return Outcome::Exceed;
        };
        let debt = self.debt + cost - self.tokens;
        let compounded = self.compounded + debt;
        if compounded > extended {
            // The drop costs no tokens and forgives the compounded debt, not the actual one.
            self.compounded = 0;
            return Outcome::Exceed;
        }
        self.tokens = 0;
        self.debt = debt;
        self.compounded = compounded;
        Outcome::Conform
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Conform, Exceed};

    /// One byte a second, as the guide's example of one data unit per time unit.
    fn car(normal: u64, extended: u64) -> Car {
        let spec = CarSpec {
            rate_bps: 8,
            burst_bytes: normal,
            extended_burst_bytes: extended,
        };
        Car::new(&spec, "p").unwrap()
    }

    const UNIT: u64 = 1_000_000_000_000;

    /// The guide's example: rate 1, normal burst 2, extended burst 4, two data units per unit
    /// of time. The first two units use the burst up; then debts are 1, 2 and compounded debts
    /// 1, 3; the next packet would compound 6 and is dropped.
    #[test]
    fn the_guides_example() {
        let mut car = car(2, 4);
        let debts = |car: &Car| (car.debt / tokens(1), car.compounded / tokens(1));
        // In the guide the first unit of time earns beside a full bucket; here, where a full
        // bucket earns nothing, only one data unit is spent in it.
        assert_eq!(car.judge(1, 0), Conform);
        assert_eq!(car.judge(2, UNIT), Conform);
        assert_eq!(debts(&car), (0, 0));
        assert_eq!(car.judge(2, 2 * UNIT), Conform);
        assert_eq!(debts(&car), (1, 1));
        assert_eq!(car.judge(2, 3 * UNIT), Conform);
        assert_eq!(debts(&car), (2, 3));
        assert_eq!(car.judge(2, 4 * UNIT), Exceed);
        // No tokens were taken: one unit of the debt was repaid meanwhile.
        assert_eq!(debts(&car), (1, 0));
        assert_eq!(car.judge(2, 5 * UNIT), Conform);
        assert_eq!(debts(&car), (2, 2));
    }

    #[test]
    fn equal_bursts_lend_nothing() {
        let mut car = car(2, 2);
        assert_eq!(car.judge(2, 0), Conform);
        assert_eq!(car.judge(1, 0), Exceed);
        assert_eq!(car.judge(1, UNIT), Conform);
        assert_eq!(car.judge(1, UNIT), Exceed);
    }

    #[test]
    fn a_debt_beyond_the_extended_burst_must_be_repaid() {
        let mut car = car(2, 5);
        assert_eq!(car.judge(2, 0), Conform);
        assert_eq!(car.judge(4, 0), Conform);
        // Actual debt 4: any borrowing is 5 or more, and compounds to more than 5.
        assert_eq!(car.judge(1, 0), Exceed);
        assert_eq!(car.judge(2, 0), Exceed);
        assert_eq!(car.judge(1, 0), Conform);
        assert_eq!(car.judge(1, 0), Exceed);
        assert_eq!(car.judge(2, 7 * UNIT), Conform);
    }
}

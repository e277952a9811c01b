//! The CBQ estimator (Floyd and Jacobson 1995): is a class above its rate, and until when?

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ScenarioError;
use crate::framing::serialisation_ps;
use crate::sched::Context;

/// The settings of Floyd's "Notes on CBQ: setting parameters" (1995), in packets.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EstimatorSpec {
    /// The average moves by 2^-this of the difference.
    gain_exponent: u32,
    /// A class that was idle may send so many packets back to back.
    burst_packets: u32,
    /// A class above its rate is held back until it may send so many back to back.
    steady_burst_packets: u32,
    /// Size of the packets the two above are counted in, and of the largest expected.
    packet_bytes: u32,
}

impl Default for EstimatorSpec {
    /// The gain of ns-2 and ALTQ, and no extra delay, as in ns-2.
    fn default() -> Self {
        Self {
            gain_exponent: 4,
            burst_packets: 8,
            steady_burst_packets: 1,
            packet_bytes: 1000,
        }
    }
}

impl EstimatorSpec {
    pub fn check(&self, context: Context) -> Result<(), ScenarioError> {
        let ranges = [
            ("gain_exponent", self.gain_exponent, 1, 10),
            ("burst_packets", self.burst_packets, 1, 256),
            ("steady_burst_packets", self.steady_burst_packets, 1, 256),
            ("packet_bytes", self.packet_bytes, 1, 65_536),
        ];
        for (field, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let hint = format!("use {least} to {most}");
                return Err(context.error(&format!("estimator.{field}"), "out of range", &hint));
            }
        }
        Ok(())
    }

    pub fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    /// g^-n - 1 for g = 1 - 2^-gain: packets' worth of idle time that n back to back use up.
    fn credit(&self, packets: u32) -> f64 {
        let g = 1.0 - 0.5f64.powi(self.gain_exponent as i32);
        g.powi(-(packets as i32)) - 1.0
    }
}

/// Longer than any run, and small enough to be scaled by every gain.
const LARGEST_PS: f64 = 1e24;

/// One class's estimator. Times in picoseconds.
#[derive(Debug, Clone)]
pub struct Estimator {
    rate_bps: u64,
    link_bps: u64,
    gain: u32,
    /// Average idle time, scaled by 2^gain so that nothing is lost in division.
    average: i128,
    largest: i128,
    extra_delay_ps: u64,
    last_ps: u64,
    /// The extra delay is in `under_ps`.
    delayed: bool,
    /// The class is above its rate before this.
    under_ps: u64,
}

impl Estimator {
    /// `rate_bps` and `link_bps` not 0.
    pub fn new(spec: &EstimatorSpec, rate_bps: u64, link_bps: u64) -> Self {
        let own = serialisation_ps(spec.packet_bytes, rate_bps);
        let line = serialisation_ps(spec.packet_bytes, link_bps);
        let spare = own.saturating_sub(line) as f64;
        let gain = 0.5f64.powi(spec.gain_exponent as i32);
        let largest = (spare * spec.credit(spec.burst_packets)).min(LARGEST_PS);
        let extra = spare / gain * spec.credit(spec.steady_burst_packets - 1);
        Self {
            rate_bps,
            link_bps,
            gain: spec.gain_exponent,
            average: 0,
            largest: (largest as i128) << spec.gain_exponent,
            extra_delay_ps: extra as u64,
            last_ps: 0,
            delayed: false,
            under_ps: 0,
        }
    }

    /// Under or at its limit.
    pub fn is_under(&self, now_ps: u64) -> bool {
        self.under_ps <= now_ps
    }

    pub fn under_ps(&self) -> u64 {
        self.under_ps
    }

    /// The class is above its rate and may not borrow: it waits the extra delay too.
    pub fn delay(&mut self, now_ps: u64) {
        if !self.delayed && !self.is_under(now_ps) {
            self.under_ps = self.under_ps.saturating_add(self.extra_delay_ps);
            self.delayed = true;
        }
    }

    /// A frame of the class, or of one below it, begins to be sent.
    pub fn sent(&mut self, bytes: u32, now_ps: u64) {
        if self.is_under(now_ps) {
            self.delayed = false;
        }
        let line = serialisation_ps(bytes, self.link_bps);
        let own = serialisation_ps(bytes, self.rate_bps);
        let end = now_ps.saturating_add(line);
        let idle = i128::from(end) - i128::from(self.last_ps) - i128::from(own);
        self.average += idle - (self.average >> self.gain);
        self.average = self.average.min(self.largest);
        if self.average <= 0 {
            // The idle time that brings the average back to 0.
            let debt = ((self.average.unsigned_abs()) >> self.gain) * ((1 << self.gain) - 1);
            let debt = u64::try_from(debt).unwrap_or(u64::MAX);
            let wait = own.saturating_sub(line).saturating_add(debt);
            self.under_ps = end.saturating_add(wait);
        }
        self.last_ps = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_waits_for_its_time_keeps_its_rate() {
        let mut estimator = Estimator::new(&EstimatorSpec::default(), 100_000, 1_000_000);
        let mut now = 0;
        for _ in 0..10_000 {
            estimator.sent(1000, now);
            assert!(!estimator.is_under(now));
            now = estimator.under_ps();
        }
        // 10,000 packets of 80 ms.
        let seconds = now as f64 / 1e12;
        assert!((seconds - 800.0).abs() < 2.0, "{seconds}");
    }

    #[test]
    fn an_idle_class_may_send_its_burst() {
        let mut estimator = Estimator::new(&EstimatorSpec::default(), 100_000, 1_000_000);
        let mut now = 100 * crate::framing::SECOND_PS;
        let mut burst = 0;
        estimator.sent(1000, now);
        while estimator.is_under(now) {
            now += serialisation_ps(1000, 1_000_000);
            estimator.sent(1000, now);
            burst += 1;
        }
        assert!((7..=9).contains(&burst), "{burst}");
    }

    #[test]
    fn extremes_do_not_overflow() {
        let coarse = EstimatorSpec {
            gain_exponent: 1,
            burst_packets: 256,
            steady_burst_packets: 256,
            packet_bytes: 65_536,
        };
        let mut bursty = Estimator::new(&coarse, 1, u64::MAX);
        bursty.sent(1000, u64::MAX / 2);
        assert!(
            bursty.is_under(u64::MAX / 2),
            "so long a burst is never used up"
        );
        let mut estimator = Estimator::new(&EstimatorSpec::default(), 1, 1);
        for now in [0, u64::MAX] {
            estimator.sent(u32::MAX, now);
            estimator.sent(u32::MAX, now);
        }
        assert_eq!(estimator.under_ps(), u64::MAX);
    }
}

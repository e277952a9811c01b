//! The retransmission timeout: RFC 6298, or in the coarse ticks of the BSD stacks.

use super::spec::Options;

/// RFC 6298 §5.7: after a repeated SYN no shorter timeout until a measurement.
const AFTER_LOST_SYN_PS: u64 = 3 * crate::framing::SECOND_PS;

/// Round-trip estimate and timeout, times in picoseconds.
///
/// With a tick both are counted by a clock that all connections of the flow share: a round trip
/// is the ticks that passed, a timeout of n ticks ends at the n-th tick from now, so between
/// n − 1 and n ticks later (Wright and Stevens, TCP/IP Illustrated 2, chapter 25).
#[derive(Debug, Clone)]
pub struct Rto {
    initial_ps: u64,
    min_ps: u64,
    max_ps: u64,
    tick_ps: u64,
    /// Of the tick clock.
    phase_ps: u64,
    /// Smoothed round trip and its mean deviation.
    estimate: Option<(f64, f64)>,
    rto_ps: u64,
}

impl Rto {
    pub fn new(options: &Options, phase_ps: u64) -> Self {
        let initial_ps = options.rto_initial_ps.max(options.rto_min_ps);
        Self {
            initial_ps,
            min_ps: options.rto_min_ps,
            max_ps: options.rto_max_ps,
            tick_ps: options.tick_ps,
            phase_ps,
            estimate: None,
            rto_ps: initial_ps,
        }
    }

    pub fn reset(&mut self) {
        self.estimate = None;
        self.rto_ps = self.initial_ps;
    }

    pub fn rto_ps(&self) -> u64 {
        self.rto_ps
    }

    /// Smoothed round trip.
    pub fn smoothed_ps(&self) -> Option<f64> {
        self.estimate.map(|(smoothed, _)| smoothed)
    }

    /// When a timer started now runs out.
    pub fn deadline(&self, now_ps: u64) -> u64 {
        if self.tick_ps == 0 {
            return now_ps.saturating_add(self.rto_ps);
        }
        let ticks = self.ticks(now_ps) + self.rto_ps.div_ceil(self.tick_ps);
        ticks
            .saturating_mul(self.tick_ps)
            .saturating_sub(self.phase_ps)
    }

    fn ticks(&self, at_ps: u64) -> u64 {
        at_ps.saturating_add(self.phase_ps) / self.tick_ps
    }

    /// A segment sent once, at `sent_ps`, is acknowledged (RFC 6298 §2).
    pub fn measure(&mut self, sent_ps: u64, now_ps: u64) {
        let sample = if self.tick_ps == 0 {
            now_ps.saturating_sub(sent_ps)
        } else {
            (self.ticks(now_ps) - self.ticks(sent_ps)) * self.tick_ps
        } as f64;
        let (smoothed, deviation) = match self.estimate {
            None => (sample, sample / 2.0),
            Some((smoothed, deviation)) => (
                0.875 * smoothed + 0.125 * sample,
                0.75 * deviation + 0.25 * (smoothed - sample).abs(),
            ),
        };
        self.estimate = Some((smoothed, deviation));
        let rto = (smoothed + (4.0 * deviation).max(self.tick_ps as f64)) as u64;
        self.rto_ps = rto.clamp(self.min_ps, self.max_ps);
    }

    /// The timer ran out: exponential back-off, kept until the next measurement (Karn).
    pub fn back_off(&mut self) {
        self.rto_ps = self.rto_ps.saturating_mul(2).min(self.max_ps);
    }

    /// Data begins after a SYN had to be repeated.
    pub fn after_lost_syn(&mut self) {
        self.rto_ps = AFTER_LOST_SYN_PS.clamp(self.min_ps, self.max_ps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::SECOND_PS;

    const MS: u64 = SECOND_PS / 1000;

    fn rto(tick_ps: u64, phase_ps: u64) -> Rto {
        let options = Options {
            rto_initial_ps: 3 * SECOND_PS,
            rto_min_ps: SECOND_PS,
            rto_max_ps: 64 * SECOND_PS,
            tick_ps,
            ..Options::default()
        };
        Rto::new(&options, phase_ps)
    }

    #[test]
    fn follows_the_rfc() {
        let mut rto = rto(0, 0);
        assert_eq!(rto.deadline(5), 3 * SECOND_PS + 5);
        rto.measure(0, 800 * MS);
        assert_eq!(rto.rto_ps(), 2400 * MS);
        // SRTT 775, RTTVAR 350 ms.
        rto.measure(0, 600 * MS);
        assert_eq!(rto.rto_ps(), 2175 * MS);
        for _ in 0..40 {
            rto.measure(0, 100 * MS);
        }
        assert_eq!(rto.rto_ps(), SECOND_PS);
    }

    #[test]
    fn backs_off_until_measured() {
        let mut rto = rto(0, 0);
        rto.measure(0, 100 * MS);
        for expected in [2, 4, 8, 16, 32, 64, 64] {
            rto.back_off();
            assert_eq!(rto.rto_ps(), expected * SECOND_PS);
        }
        rto.measure(0, 100 * MS);
        assert_eq!(rto.rto_ps(), SECOND_PS);
    }

    #[test]
    fn ticks_round_both_ways() {
        let mut rto = rto(500 * MS, 100 * MS);
        // Six ticks, at 0.4, 0.9, ... s.
        assert_eq!(rto.deadline(0), 2900 * MS);
        assert_eq!(rto.deadline(399 * MS), 2900 * MS);
        assert_eq!(rto.deadline(400 * MS), 3400 * MS);
        // No tick passes, then one: 0.5 s for 2 ms.
        rto.measure(0, 399 * MS);
        assert_eq!(rto.smoothed_ps(), Some(0.0));
        assert_eq!(rto.deadline(0), 900 * MS);
        rto.measure(399 * MS, 401 * MS);
        assert_eq!(rto.smoothed_ps(), Some(62.5e9));
    }
}

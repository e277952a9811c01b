//! The congestion window: slow start, congestion avoidance, and what loss and idling do to it.

use super::cubic::Cubic;
use super::spec::{Control, Options};

/// RFC 3465 §2.2: segments that one acknowledgement may add in slow start.
const BYTE_COUNTING_LIMIT: f64 = 2.0;

/// The window in segments; fractions carry the growth of congestion avoidance.
#[derive(Debug, Clone)]
pub struct Window {
    segments: f64,
    threshold: f64,
    initial: f64,
    /// Growth beyond what the receiver takes would be a burst in waiting.
    most: f64,
    byte_counting: bool,
    /// None: Reno's growth and halving.
    cubic: Option<Cubic>,
}

impl Window {
    /// `most`: the window that receive and send buffers allow.
    pub fn new(options: &Options, most: u64) -> Self {
        let initial = f64::from(options.initial_window).min(most as f64);
        Self {
            segments: initial,
            threshold: f64::INFINITY,
            initial,
            most: most as f64 + 1.0,
            byte_counting: options.byte_counting,
            cubic: (options.congestion_control == Control::Cubic).then(Cubic::default),
        }
    }

    pub fn reset(&mut self) {
        self.segments = self.initial;
        self.threshold = f64::INFINITY;
        if let Some(cubic) = &mut self.cubic {
            *cubic = Cubic::default();
        }
    }

    /// Whole segments.
    pub fn size(&self) -> u64 {
        self.segments as u64
    }

    pub fn in_slow_start(&self) -> bool {
        self.segments < self.threshold
    }

    /// An acknowledgement of `newly` segments, outside recovery. `trip_ps`: smoothed round trip.
    pub fn acked(&mut self, newly: u64, now_ps: u64, trip_ps: Option<f64>) {
        let newly = newly as f64;
        if self.in_slow_start() {
            self.segments += if self.byte_counting {
                newly.min(BYTE_COUNTING_LIMIT)
            } else {
                1.0
            };
        } else if let Some(cubic) = &mut self.cubic {
            let trip = trip_ps.unwrap_or(0.0);
            self.segments = cubic.grown(self.segments, newly, now_ps, trip);
        } else {
            // RFC 5681 §3.1, equation 3 counts acknowledgements, RFC 3465 what they cover.
            let counted = if self.byte_counting { newly } else { 1.0 };
            self.segments += counted / self.segments;
        }
        self.segments = self.segments.min(self.most);
    }

    /// A loss was noticed by acknowledgements with `flight` segments out: the threshold of RFC
    /// 5681 (equation 4) or RFC 9438 §4.6, and the window set to it.
    pub fn reduce(&mut self, flight: u64) {
        let kept = match &mut self.cubic {
            None => 0.5,
            Some(cubic) => cubic.lost(self.segments),
        };
        self.threshold = (flight as f64 * kept).max(2.0);
        self.segments = self.threshold;
    }

    /// The retransmission timer ran out with `flight` segments out. `again`: of the same segment.
    pub fn timed_out(&mut self, flight: u64, again: bool) {
        // RFC 5681 §3.1: a repeated timeout leaves the threshold.
        if !again {
            self.reduce(flight);
        }
        if let Some(cubic) = &mut self.cubic {
            cubic.timed_out();
        }
        self.segments = 1.0;
    }

    /// Reno's inflation by segments that have left the network (RFC 5681 §3.2).
    pub fn inflate(&mut self, segments: f64) {
        self.segments = (self.segments + segments).max(1.0);
    }

    /// The end of fast recovery: no more than `most`.
    pub fn deflate(&mut self, most: f64) {
        self.segments = self.threshold.min(most);
    }

    /// RFC 5681 §4.1: idle for longer than the timeout.
    pub fn restart(&mut self) {
        self.segments = self.segments.min(self.initial);
        if let Some(cubic) = &mut self.cubic {
            cubic.paused();
        }
    }

    /// RFC 5681 §3.1: the SYN or its answer was lost.
    pub fn after_lost_syn(&mut self) {
        self.segments = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(control: Control, byte_counting: bool) -> Window {
        let options = Options {
            congestion_control: control,
            initial_window: 2,
            byte_counting,
            ..Options::default()
        };
        Window::new(&options, 1000)
    }

    #[test]
    fn slow_start_doubles_and_avoidance_adds_one_a_window() {
        let mut window = window(Control::Newreno, true);
        for expected in [4, 8, 16] {
            for _ in 0..window.size() {
                window.acked(1, 0, None);
            }
            assert_eq!(window.size(), expected);
        }
        window.reduce(16);
        assert_eq!(window.size(), 8);
        for _ in 0..8 {
            window.acked(1, 0, None);
        }
        assert!((window.segments - 9.0).abs() < 0.1);
    }

    #[test]
    fn counting_acknowledgements_is_slower_when_they_are_delayed() {
        let mut window = window(Control::Reno, false);
        for expected in [3, 4, 6, 9] {
            for _ in 0..window.size() / 2 {
                window.acked(2, 0, None);
            }
            assert_eq!(window.size(), expected);
        }
    }

    #[test]
    fn a_second_timeout_keeps_the_threshold() {
        let mut window = window(Control::Newreno, true);
        window.timed_out(20, false);
        window.timed_out(1, true);
        assert_eq!((window.size(), window.threshold), (1, 10.0));
    }
}

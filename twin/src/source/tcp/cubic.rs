//! CUBIC's growth (RFC 9438), windows in segments.

/// §5: the cubic's constant, segments per second cubed.
const C: f64 = 0.4;
/// §4.6: what a loss leaves of the window.
const BETA: f64 = 0.7;
/// §4.3: Reno-friendly growth in segments per round trip.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// §4.2: the most a window grows in a round trip.
const STEEPEST: f64 = 1.5;
const SECOND_PS: f64 = 1e12;

#[derive(Debug, Clone, Default)]
pub struct Cubic {
    /// Where the plateau of the curve is.
    plateau: f64,
    /// Window before the last reduction.
    prior: f64,
    /// Of the congestion avoidance stage under way; None: not begun.
    epoch: Option<Epoch>,
    after_timeout: bool,
}

#[derive(Debug, Clone)]
struct Epoch {
    start_ps: u64,
    /// Seconds from the start to the plateau.
    to_plateau: f64,
    /// What Reno would have.
    friendly: f64,
}

impl Cubic {
    /// The window after an acknowledgement of `newly` segments.
    pub fn grown(&mut self, window: f64, newly: f64, now_ps: u64, trip_ps: f64) -> f64 {
        let plateau = &mut self.plateau;
        let (prior, after_timeout) = (self.prior, self.after_timeout);
        let epoch = self.epoch.get_or_insert_with(|| {
            // §4.8: after a timeout, and where nothing was lost yet, the curve starts flat.
            if after_timeout || *plateau < window {
                *plateau = window;
            }
            Epoch {
                start_ps: now_ps,
                to_plateau: ((*plateau - window) / C).cbrt(),
                friendly: window,
            }
        });
        let seconds = (now_ps.saturating_sub(epoch.start_ps) as f64 + trip_ps) / SECOND_PS;
        let curve = |t: f64| C * (t - epoch.to_plateau).powi(3) + *plateau;
        let alpha = if epoch.friendly >= prior { 1.0 } else { ALPHA };
        epoch.friendly += alpha * newly / window;
        let elapsed = seconds - trip_ps / SECOND_PS;
        if curve(elapsed) < epoch.friendly {
            return window.max(epoch.friendly);
        }
        let target = curve(seconds).clamp(window, STEEPEST * window);
        window + (target - window) / window * newly
    }

    /// A loss at `window`; what is kept of the flight.
    pub fn lost(&mut self, window: f64) -> f64 {
        // §4.7: a flow that did not get back to its plateau leaves room for others.
        self.plateau = if window < self.plateau {
            window * (1.0 + BETA) / 2.0
        } else {
            window
        };
        self.prior = window;
        self.epoch = None;
        self.after_timeout = false;
        BETA
    }

    pub fn timed_out(&mut self) {
        self.epoch = None;
        self.after_timeout = true;
    }

    /// Nothing was sent for a while: time must not count as growth (§5.8).
    pub fn paused(&mut self) {
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip of 100 ms at a time, all of the window acknowledged.
    fn after(cubic: &mut Cubic, mut window: f64, trips: u64) -> f64 {
        const TRIP_PS: u64 = 100_000_000_000;
        for trip in 0..trips {
            let acks = window as u64;
            for ack in 0..acks {
                let now = trip * TRIP_PS + ack * TRIP_PS / acks;
                window = cubic.grown(window, 1.0, now, TRIP_PS as f64);
            }
        }
        window
    }

    #[test]
    fn follows_its_curve() {
        // K = cbrt(1000 × 0.3 / 0.4) = 9.086 s for a plateau of 1000 segments.
        for seconds in [2, 5, 9, 12] {
            let mut cubic = Cubic::default();
            let kept = cubic.lost(1000.0);
            assert_eq!(kept, 0.7);
            let window = after(&mut cubic, 700.0, seconds * 10);
            let expected = 0.4 * (seconds as f64 - 9.0856).powi(3) + 1000.0;
            let off = (window - expected).abs();
            assert!(off < 0.01 * expected, "{seconds} s: {window} {expected}");
        }
    }

    #[test]
    fn is_as_fast_as_reno_where_windows_are_small() {
        let mut cubic = Cubic::default();
        cubic.lost(10.0);
        // α = 0.529 segments a round trip, from 7 to the window before the loss.
        let window = after(&mut cubic, 7.0, 4);
        assert!((window - (7.0 + 4.0 * ALPHA)).abs() < 0.3, "{window}");
    }

    #[test]
    fn leaves_room_when_the_plateau_was_not_reached() {
        let mut cubic = Cubic::default();
        cubic.lost(100.0);
        assert_eq!(cubic.plateau, 100.0);
        cubic.lost(80.0);
        assert!((cubic.plateau - 68.0).abs() < 1e-9);
    }
}

//! The sending half: what may be sent, what is lost, and when to send it again.

use super::record::Record;
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::segment::Segment;
use super::spec::{Control, Options};
use super::timer::Timer;
use super::window::Window;

/// RFC 5681 §3.2.
const DUPLICATES: u32 = 3;
/// RFC 3042: so many first duplicates let a new segment out each.
const LIMITED_TRANSMIT: u32 = 2;

/// One call from outside.
pub struct Call<'a> {
    pub now_ps: u64,
    pub record: &'a mut Record,
    /// Segments to transmit, in order.
    pub numbers: &'a mut Vec<u64>,
}

/// Segments are numbered from 0.
#[derive(Debug)]
pub struct Sender {
    /// Retransmission timer.
    pub timer: Timer,
    pub rto: Rto,
    options: Options,
    board: Scoreboard,
    window: Window,
    /// Segments in flight that the buffers allow.
    most: u64,
    /// One past the last segment the application has given; `u64::MAX`: no end.
    written: u64,
    last_bytes: u32,
    /// Without SACK: the segment to go on with; below the highest after a timeout.
    next: u64,
    duplicates: u32,
    recovering: bool,
    /// Where the recovery or the repair after a timeout ends.
    recover: u64,
    /// The first segment after a reduction for a congestion mark: it says so.
    announced: Option<u64>,
    /// Without timestamps: the one segment that is timed, and when it was sent.
    timed: Option<(u64, u64)>,
    last_sent_ps: u64,
    /// Timeouts since the last progress.
    repeats: u32,
}

impl Sender {
    pub fn new(options: &Options, tick_phase_ps: u64) -> Self {
        let most = options.most_segments();
        Self {
            timer: Timer::default(),
            rto: Rto::new(options, tick_phase_ps),
            board: Scoreboard::default(),
            window: Window::new(options, most),
            most,
            written: 0,
            last_bytes: options.payload(),
            next: 0,
            duplicates: 0,
            recovering: false,
            recover: 0,
            announced: None,
            timed: None,
            last_sent_ps: 0,
            repeats: 0,
            options: options.clone(),
        }
    }

    /// As new, for the next connection.
    pub fn reset(&mut self) {
        self.timer.clear();
        self.rto.reset();
        self.board.reset();
        self.window.reset();
        self.written = 0;
        self.next = 0;
        self.duplicates = 0;
        self.recovering = false;
        self.recover = 0;
        self.announced = None;
        self.timed = None;
        self.repeats = 0;
    }

    /// The application gives `bytes`, all that was given before being acknowledged.
    pub fn write(&mut self, bytes: u64) {
        let payload = u64::from(self.options.payload());
        let rest = (bytes % payload) as u32;
        self.last_bytes = if rest == 0 { payload as u32 } else { rest };
        self.written += bytes.div_ceil(payload);
    }

    pub fn write_without_end(&mut self) {
        self.written = u64::MAX;
    }

    /// One past the last segment given.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// IP bytes of a segment.
    pub fn ip_bytes(&self, segment: u64) -> u32 {
        let last = segment + 1 == self.written;
        let data = if last {
            self.last_bytes
        } else {
            self.options.payload()
        };
        self.options.header_bytes() + data
    }

    /// Too many timeouts in a row.
    pub fn gives_up(&self) -> bool {
        self.repeats > self.options.retries
    }

    /// The data phase begins.
    pub fn opened(&mut self) {
        if self.repeats > 0 {
            self.rto.after_lost_syn();
            self.window.after_lost_syn();
        }
        self.repeats = 0;
        self.timer.clear();
    }

    /// The timer of a SYN ran out.
    pub fn syn_timed_out(&mut self, call: &mut Call) {
        call.record.timeouts += 1;
        self.repeats += 1;
        self.rto.back_off();
    }

    /// Whether the SYN was sent once, so that its answer times a round trip.
    pub fn syn_is_timed(&self) -> bool {
        self.repeats == 0
    }

    /// Segments in the network as Reno counts them.
    fn flight(&self) -> u64 {
        self.next.saturating_sub(self.board.first())
    }

    /// Sends what the windows allow.
    pub fn fill(&mut self, call: &mut Call) {
        if self.options.idle_restart && self.board.outstanding() == 0 && self.written > self.next {
            let idle = call.now_ps.saturating_sub(self.last_sent_ps);
            if self.next > 0 && idle > self.rto.rto_ps() {
                self.window.restart();
            }
        }
        if self.options.sack {
            self.fill_by_pipe(call);
        } else {
            self.fill_by_window(call);
        }
    }

    fn fill_by_window(&mut self, call: &mut Call) {
        let limited = if self.recovering || !self.options.limited_transmit {
            0
        } else {
            self.duplicates.min(LIMITED_TRANSMIT)
        };
        let congestion = self.window.size() + u64::from(limited);
        let top = self.board.first() + congestion.min(self.most);
        let top = top.min(self.written);
        while self.next < top {
            self.emit(self.next, call);
            self.next += 1;
        }
    }

    /// RFC 6675 §5, step C, and what RFC 3042 becomes with it.
    fn fill_by_pipe(&mut self, call: &mut Call) {
        let repairing = self.recovering || self.board.first() < self.recover;
        let top = (self.board.first() + self.most).min(self.written);
        loop {
            let used = if repairing || self.options.limited_transmit {
                self.board.pipe()
            } else {
                self.board.outstanding()
            };
            if used >= self.window.size() {
                break;
            }
            let hole = if repairing {
                self.board.next_hole()
            } else {
                None
            };
            let fresh = Some(self.board.highest()).filter(|highest| *highest < top);
            let chosen = hole.or(fresh).or_else(|| {
                let gap = self.recovering.then(|| self.board.next_gap());
                gap.flatten()
            });
            let Some(segment) = chosen else {
                break;
            };
            self.emit(segment, call);
        }
        self.next = self.board.highest();
    }

    fn emit(&mut self, segment: u64, call: &mut Call) {
        if self.board.transmit(segment, call.now_ps) {
            call.record.retransmits += 1;
            // Karn: a repeated segment is never timed.
            self.timed = self.timed.filter(|(timed, _)| *timed != segment);
        } else {
            self.timed = self.timed.or(Some((segment, call.now_ps)));
        }
        if !self.timer.is_set() {
            self.restart_timer(call.now_ps);
        }
        self.last_sent_ps = call.now_ps;
        call.numbers.push(segment);
    }

    pub fn restart_timer(&mut self, now_ps: u64) {
        self.timer.set(self.rto.deadline(now_ps));
    }

    /// The peer acknowledges. Then `fill`.
    pub fn acknowledged(&mut self, segment: &Segment, call: &mut Call) {
        let ack = segment.ack;
        if ack > self.board.highest() || ack < self.board.first() {
            return;
        }
        if self.options.sack {
            self.board.sack(segment.ranges());
        }
        if segment.ece {
            self.congested(call);
        }
        if ack > self.board.first() {
            self.advance(ack, segment, call);
        } else if self.board.outstanding() > 0 && segment.number.is_none() {
            self.duplicate(call);
        }
    }

    /// A mark on the way (RFC 3168 §6.1.2): as a loss, but once a window and nothing is resent.
    fn congested(&mut self, call: &mut Call) {
        let first = self.board.first();
        let known = first < self.recover || self.announced.is_some_and(|n| first < n);
        if !self.recovering && !known {
            call.record.ecn_reductions += 1;
            self.window.reduce(self.flight());
            self.announced = Some(self.board.highest());
        }
    }

    /// Whether a segment says that the window is reduced.
    pub fn announces(&self, segment: u64) -> bool {
        self.announced == Some(segment)
    }

    fn advance(&mut self, ack: u64, segment: &Segment, call: &mut Call) {
        let now_ps = call.now_ps;
        let window_was_full = self.flight() >= self.window.size();
        let covered = self.board.advance(ack);
        let echo_ps = segment.echo_ps.filter(|_| self.options.timestamps);
        if let Some(sent_ps) = echo_ps.or(covered.sent_ps) {
            call.record.round_trip(sent_ps, now_ps);
        }
        let timed = self.timed.filter(|(segment, _)| *segment < ack);
        if timed.is_some() {
            self.timed = None;
        }
        if let Some(sent_ps) = echo_ps.or(timed.map(|(_, sent_ps)| sent_ps)) {
            self.rto.measure(sent_ps, now_ps);
        }
        self.next = self.next.max(ack);
        self.duplicates = 0;
        self.repeats = 0;
        if self.board.outstanding() > 0 {
            self.restart_timer(now_ps);
        } else {
            self.timer.clear();
        }
        if !self.recovering {
            // A window that is not used says nothing of the path (RFC 7661, RFC 9438 §5.8).
            if window_was_full && !segment.ece {
                let trip = self.rto.smoothed_ps();
                self.window.acked(covered.segments, now_ps, trip);
            }
        } else if ack >= self.recover {
            self.recovering = false;
            if !self.options.sack {
                // RFC 6582 §3.2, step 3 (1): no burst.
                let outstanding = self.board.outstanding() as f64;
                self.window.deflate(outstanding.max(1.0) + 1.0);
            }
        } else if !self.options.sack {
            self.partially(ack, covered.segments, call);
        }
    }

    /// Part of what was out at the loss is acknowledged: the next hole begins at `ack`.
    fn partially(&mut self, ack: u64, newly: u64, call: &mut Call) {
        if self.options.congestion_control == Control::Reno {
            self.recovering = false;
            self.window.deflate(f64::INFINITY);
            return;
        }
        self.emit(ack, call);
        self.next = self.next.max(ack + 1);
        self.window.inflate(1.0 - newly as f64);
    }

    fn duplicate(&mut self, call: &mut Call) {
        self.duplicates += 1;
        if self.recovering {
            if !self.options.sack {
                self.window.inflate(1.0);
            }
            return;
        }
        // RFC 6582 §3.2, step 2: not what was out before the last loss. Plain Reno does not ask.
        let plain = self.options.congestion_control == Control::Reno && !self.options.sack;
        if !plain && self.board.first() < self.recover {
            return;
        }
        let noticed = if self.options.sack {
            self.duplicates >= DUPLICATES || self.board.first_is_lost()
        } else {
            self.duplicates == DUPLICATES
        };
        if noticed {
            self.recovering = true;
            self.recover = self.board.highest();
            self.window.reduce(self.flight());
            if !self.options.sack {
                self.window.inflate(f64::from(DUPLICATES));
            }
            self.board.lose_first();
            self.emit(self.board.first(), call);
        }
    }

    /// The retransmission timer ran out: back to the first hole with a window of one. Then
    /// `fill`.
    pub fn timed_out(&mut self, call: &mut Call) {
        call.record.timeouts += 1;
        self.window.timed_out(self.flight(), self.repeats > 0);
        self.repeats += 1;
        self.recovering = false;
        self.duplicates = 0;
        self.recover = self.board.highest();
        self.next = self.board.first();
        self.board.lose_all();
        self.timed = None;
        self.rto.back_off();
        self.restart_timer(call.now_ps);
    }
}

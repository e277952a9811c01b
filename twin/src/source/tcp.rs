//! `tcp`: a bulk transfer by NewReno (RFC 5681, 6582, 6298, 3042) without handshake, and its
//! receiver with delayed acknowledgements (RFC 1122).

use std::collections::VecDeque;

use serde::Deserialize;

use super::{ACK_BYTES, Context, Source};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::rng::Stream;

const MAX_RTO_PS: u64 = 60 * SECOND_PS;
/// RFC 6298: before the first measurement.
const INITIAL_RTO_PS: u64 = SECOND_PS;
const DUPLICATES: u32 = 3;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    #[serde(default = "default_mss")]
    mss: u32,
    /// Segments.
    #[serde(default = "default_initial_window")]
    initial_window: u32,
    #[serde(default = "default_receive_window")]
    receive_window_bytes: u64,
    #[serde(default = "default_rto_min")]
    rto_min_ps: u64,
    /// Longest delay of an acknowledgement; 0 acknowledges every segment at once.
    #[serde(default = "default_delayed_ack")]
    delayed_ack_ps: u64,
    /// To transfer; null: as much as the time allows.
    #[serde(default)]
    bytes: Option<u64>,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

fn default_mss() -> u32 {
    1460
}
/// RFC 6928.
fn default_initial_window() -> u32 {
    10
}
/// The most without window scaling.
fn default_receive_window() -> u64 {
    65_535
}
/// As common stacks have it (RFC 6298 asks for 1 s).
fn default_rto_min() -> u64 {
    SECOND_PS / 5
}
fn default_delayed_ack() -> u64 {
    SECOND_PS / 5
}

pub fn read(spec: &TcpSpec, ctx: Context, stream: &mut Stream) -> Result<Source, ScenarioError> {
    ctx.packet_size(spec.mss.saturating_add(ACK_BYTES), ACK_BYTES + 1, "mss")?;
    ctx.positive(spec.initial_window.into(), "initial_window")?;
    ctx.positive(spec.rto_min_ps, "rto_min_ps")?;
    let window = spec.receive_window_bytes / u64::from(spec.mss);
    if !(1..=1 << 20).contains(&window) {
        return Err(ctx.error(
            "receive_window_bytes",
            &format!("holds {window} segments"),
            "let it hold 1 to 1048576 segments of mss bytes",
        ));
    }
    if let Some(bytes) = spec.bytes {
        ctx.positive(bytes, "bytes")?;
    }
    let start = spec.start_ps.saturating_add(stream.up_to(spec.phase_ps));
    Ok(Source::Tcp {
        sender: Box::new(Sender::new(spec, window)),
        receiver: Box::new(Receiver::new(spec.delayed_ack_ps)),
        start_ps: start,
        stop_ps: ctx.stop(spec.stop_ps),
    })
}

#[derive(Debug, Clone, Copy, Default)]
pub struct TcpCounters {
    pub retransmits: u64,
    pub timeouts: u64,
    pub acks_sent: u64,
    pub acks_lost: u64,
}

/// The sending end; segments are numbered from 0.
#[derive(Debug)]
pub struct Sender {
    pub counters: TcpCounters,
    /// When the retransmission timer runs out; None: nothing in flight.
    pub deadline_ps: Option<u64>,
    /// Time of the timer event under way; it is moved only when it fires.
    armed_ps: Option<u64>,
    mss: u32,
    total: Option<u64>,
    last_bytes: u32,
    receive_window: u64,
    unacknowledged: u64,
    next: u64,
    highest: u64,
    /// In segments; fractions carry the growth of congestion avoidance.
    window: f64,
    threshold: f64,
    duplicates: u32,
    recover: u64,
    recovering: bool,
    rtt: Option<(f64, f64)>,
    rto_ps: u64,
    rto_min_ps: u64,
    timed: Option<(u64, u64)>,
}

impl Sender {
    fn new(spec: &TcpSpec, receive_window: u64) -> Self {
        let mss = u64::from(spec.mss);
        let rest = spec.bytes.map_or(0, |b| b % mss) as u32;
        Self {
            counters: TcpCounters::default(),
            deadline_ps: None,
            armed_ps: None,
            mss: spec.mss,
            total: spec.bytes.map(|b| b.div_ceil(mss)),
            last_bytes: if rest == 0 { spec.mss } else { rest },
            receive_window,
            unacknowledged: 0,
            next: 0,
            highest: 0,
            window: spec.initial_window.into(),
            threshold: f64::INFINITY,
            duplicates: 0,
            recover: 0,
            recovering: false,
            rtt: None,
            rto_ps: INITIAL_RTO_PS.max(spec.rto_min_ps),
            rto_min_ps: spec.rto_min_ps,
            timed: None,
        }
    }

    /// IP bytes of a segment.
    pub fn ip_bytes(&self, segment: u64) -> u32 {
        let last = self.total.is_some_and(|total| segment + 1 == total);
        ACK_BYTES + if last { self.last_bytes } else { self.mss }
    }

    /// Sends what the windows allow.
    pub fn fill(&mut self, now_ps: u64, out: &mut Vec<u64>) {
        // RFC 3042: the first two duplicates let one new segment out each.
        let limited = if self.recovering {
            0
        } else {
            self.duplicates.min(2)
        };
        let congestion = self.window as u64 + u64::from(limited);
        let top = self.unacknowledged + congestion.min(self.receive_window);
        let top = self.total.map_or(top, |total| top.min(total));
        while self.next < top {
            self.emit(self.next, now_ps, out);
            self.next += 1;
        }
    }

    fn emit(&mut self, segment: u64, now_ps: u64, out: &mut Vec<u64>) {
        if segment < self.highest {
            self.counters.retransmits += 1;
            // Karn: a repeated segment is never timed.
            self.timed = self.timed.filter(|(timed, _)| *timed != segment);
        } else {
            self.highest = segment + 1;
            self.timed = self.timed.or(Some((segment, now_ps)));
        }
        if self.deadline_ps.is_none() {
            self.restart_timer(now_ps);
        }
        out.push(segment);
    }

    fn restart_timer(&mut self, now_ps: u64) {
        self.deadline_ps = Some(now_ps.saturating_add(self.rto_ps));
    }

    /// When to be called back, unless that is settled already.
    pub fn timer_to_arm(&mut self) -> Option<u64> {
        let deadline = self.deadline_ps?;
        if self.armed_ps.is_some_and(|armed| armed <= deadline) {
            return None;
        }
        self.armed_ps = Some(deadline);
        Some(deadline)
    }

    /// A timer event came; an earlier one than `armed_ps` may be left over.
    pub fn timer_fired(&mut self, now_ps: u64) {
        self.armed_ps = self.armed_ps.filter(|armed| *armed > now_ps);
    }

    /// An acknowledgement of everything before segment `ack`.
    pub fn acknowledged(&mut self, ack: u64, now_ps: u64, out: &mut Vec<u64>) {
        if ack > self.unacknowledged {
            self.advance(ack, now_ps, out);
        } else if ack == self.unacknowledged && self.highest > ack {
            self.duplicate(now_ps, out);
        }
        self.fill(now_ps, out);
    }

    fn advance(&mut self, ack: u64, now_ps: u64, out: &mut Vec<u64>) {
        let newly = (ack - self.unacknowledged) as f64;
        if let Some((_, sent)) = self.timed.filter(|(segment, _)| *segment < ack) {
            self.measure((now_ps - sent) as f64);
            self.timed = None;
        }
        self.unacknowledged = ack;
        self.next = self.next.max(ack);
        self.duplicates = 0;
        if self.highest > ack {
            self.restart_timer(now_ps);
        } else {
            self.deadline_ps = None;
        }
        if !self.recovering {
            self.window += if self.window < self.threshold {
                newly.min(2.0)
            } else {
                newly / self.window
            };
        } else if ack >= self.recover {
            self.recovering = false;
            let flight = (self.highest - ack) as f64;
            self.window = self.threshold.min(flight.max(1.0) + 1.0);
        } else {
            // RFC 6582, partial acknowledgement: the next hole is lost too.
            self.emit(ack, now_ps, out);
            self.next = self.next.max(ack + 1);
            self.window = (self.window - newly + 1.0).max(1.0);
        }
        // Growth beyond the receiver's window would be a burst in waiting.
        self.window = self.window.min(self.receive_window as f64 + 1.0);
    }

    fn duplicate(&mut self, now_ps: u64, out: &mut Vec<u64>) {
        self.duplicates += 1;
        if self.recovering {
            self.window += 1.0;
        } else if self.duplicates == DUPLICATES && self.unacknowledged >= self.recover {
            self.halve();
            self.recover = self.highest;
            self.recovering = true;
            self.window = self.threshold + f64::from(DUPLICATES);
            self.emit(self.unacknowledged, now_ps, out);
        }
    }

    fn halve(&mut self) {
        let flight = self.next.saturating_sub(self.unacknowledged) as f64;
        self.threshold = (flight / 2.0).max(2.0);
    }

    /// The retransmission timer ran out: back to the first hole with a window of one.
    pub fn timed_out(&mut self, now_ps: u64, out: &mut Vec<u64>) {
        self.counters.timeouts += 1;
        self.halve();
        self.window = 1.0;
        self.recovering = false;
        self.duplicates = 0;
        self.recover = self.highest;
        self.next = self.unacknowledged;
        self.timed = None;
        self.rto_ps = self.rto_ps.saturating_mul(2).min(MAX_RTO_PS);
        self.restart_timer(now_ps);
        self.fill(now_ps, out);
    }

    fn measure(&mut self, sample: f64) {
        let (smoothed, variation) = match self.rtt {
            None => (sample, sample / 2.0),
            Some((s, v)) => (
                0.875 * s + 0.125 * sample,
                0.75 * v + 0.25 * (s - sample).abs(),
            ),
        };
        self.rtt = Some((smoothed, variation));
        let rto = (smoothed + 4.0 * variation) as u64;
        self.rto_ps = rto.clamp(self.rto_min_ps, MAX_RTO_PS.max(self.rto_min_ps));
    }
}

/// What the receiver does about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Now(u64),
    /// Unless something else acknowledges before.
    At(u64),
    Pending,
}

#[derive(Debug)]
pub struct Receiver {
    next: u64,
    /// Segments held beyond a hole; the front is `next`.
    held: VecDeque<bool>,
    delay_ps: u64,
    /// When the one segment not yet acknowledged must be.
    pub due_ps: Option<u64>,
}

impl Receiver {
    fn new(delay_ps: u64) -> Self {
        Self {
            next: 0,
            held: VecDeque::new(),
            delay_ps,
            due_ps: None,
        }
    }

    pub fn received(&mut self, segment: u64, now_ps: u64) -> Reply {
        let in_order = segment == self.next;
        let had_hole = !self.held.is_empty();
        if segment >= self.next {
            // The sender never runs further ahead than the receive window.
            let offset = (segment - self.next) as usize;
            if self.held.len() <= offset {
                self.held.resize(offset + 1, false);
            }
            self.held[offset] = true;
            while self.held.front() == Some(&true) {
                self.held.pop_front();
                self.next += 1;
            }
        }
        let waits = in_order && !had_hole && self.delay_ps > 0 && self.due_ps.is_none();
        if waits {
            let due = now_ps.saturating_add(self.delay_ps);
            self.due_ps = Some(due);
            return Reply::At(due);
        }
        self.due_ps = None;
        Reply::Now(self.next)
    }

    /// The delayed acknowledgement's timer fired.
    pub fn due(&mut self, now_ps: u64) -> Reply {
        match self.due_ps {
            Some(due) if due <= now_ps => {
                self.due_ps = None;
                Reply::Now(self.next)
            }
            _ => Reply::Pending,
        }
    }
}

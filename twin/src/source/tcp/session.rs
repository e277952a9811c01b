//! Short transactions: a request, the server's time, a response, a pause.

use super::record::Record;
use super::sender::Sender;
use super::spec::{Life, SessionSpec};
use crate::error::ScenarioError;
use crate::rng::Stream;
use crate::source::Context;
use crate::source::amount::Amount;

/// 11 days, as the longest run.
const MAX_PAUSE_PS: u64 = 1_000_000_000_000_000_000;
/// More would not end.
const MAX_BYTES: u64 = 1 << 40;

/// When the next transaction begins.
#[derive(Debug, Clone, Copy)]
enum Pause {
    /// From the response.
    Think(Amount),
    /// From the request.
    Period(Amount),
}

/// How transactions look.
#[derive(Debug, Clone)]
pub struct Pattern {
    request: Amount,
    response: Amount,
    server: Amount,
    pause: Pause,
    pub life: Life,
    transactions: u64,
}

impl Pattern {
    pub fn read(spec: &SessionSpec, context: Context) -> Result<Self, ScenarioError> {
        let path = |field: &str| format!("{}.{field}", context.path);
        let bytes = |value, field: &str| Amount::read(value, 1, MAX_BYTES, &path(field));
        let time = |value, field: &str| Amount::read(value, 0, MAX_PAUSE_PS, &path(field));
        let pause = match (&spec.think_ps, &spec.period_ps) {
            (Some(think), None) => Pause::Think(time(think, "think_ps")?),
            (None, Some(period)) => Pause::Period(time(period, "period_ps")?),
            (None, None) => Pause::Think(Amount::Fixed(0)),
            (Some(_), Some(_)) => {
                let problem = "given beside think_ps";
                return Err(context.error("period_ps", problem, "give one of them"));
            }
        };
        if let Some(transactions) = spec.transactions {
            context.positive(transactions, "transactions")?;
        }
        Ok(Self {
            request: bytes(&spec.request_bytes, "request_bytes")?,
            response: bytes(&spec.response_bytes, "response_bytes")?,
            server: match &spec.server_ps {
                Some(value) => time(value, "server_ps")?,
                None => Amount::Fixed(0),
            },
            pause,
            life: spec.connection,
            transactions: spec.transactions.unwrap_or(u64::MAX),
        })
    }
}

/// Where a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Opening,
    /// The request ends with this segment, exclusive.
    Requesting(u64),
    Serving,
    /// The response ends with this segment, exclusive.
    Responding(u64),
}

/// One session: transactions one after another.
#[derive(Debug)]
pub struct Session {
    pattern: Pattern,
    stream: Stream,
    phase: Phase,
    begun: u64,
    started_ps: u64,
    requested_ps: u64,
    /// Drawn at the start, so that the network does not change what is drawn.
    response_bytes: u64,
    server_ps: u64,
    pause_ps: u64,
    timed_out: bool,
}

impl Session {
    pub fn new(pattern: Pattern, stream: Stream) -> Self {
        Self {
            pattern,
            stream,
            phase: Phase::Idle,
            begun: 0,
            started_ps: 0,
            requested_ps: 0,
            response_bytes: 0,
            server_ps: 0,
            pause_ps: 0,
            timed_out: false,
        }
    }

    pub fn life(&self) -> Life {
        self.pattern.life
    }

    /// A transaction begins; its request's bytes.
    pub fn begin(&mut self, now_ps: u64, record: &mut Record) -> u64 {
        if let Some(kept) = &mut record.transactions
            && now_ps >= record.measured_from_ps
        {
            kept.begun += 1;
        }
        let (pattern, stream) = (&self.pattern, &mut self.stream);
        let request = pattern.request.draw(stream);
        self.response_bytes = pattern.response.draw(stream);
        self.server_ps = pattern.server.draw(stream);
        self.pause_ps = match pattern.pause {
            Pause::Think(amount) | Pause::Period(amount) => amount.draw(stream),
        };
        self.begun += 1;
        self.started_ps = now_ps;
        self.timed_out = false;
        self.phase = Phase::Opening;
        request
    }

    /// The request, ending with segment `end`, is given to the connection.
    pub fn requested(&mut self, end: u64, now_ps: u64) {
        self.requested_ps = now_ps;
        self.phase = Phase::Requesting(end);
    }

    /// The server has all segments before `next`; when to respond, if that was the request.
    pub fn served_at(&mut self, next: u64, now_ps: u64) -> Option<u64> {
        if self.phase != Phase::Requesting(next) {
            return None;
        }
        self.phase = Phase::Serving;
        Some(now_ps.saturating_add(self.server_ps))
    }

    /// The server writes its response, if one is due.
    pub fn respond(&mut self, sender: &mut Sender) {
        if self.phase == Phase::Serving {
            sender.write(self.response_bytes);
            self.phase = Phase::Responding(sender.written());
        }
    }

    /// Whether the client, with all segments before `next`, has the whole response.
    pub fn is_complete(&self, next: u64) -> bool {
        self.phase == Phase::Responding(next)
    }

    pub fn timed_out(&mut self) {
        self.timed_out = true;
    }

    /// The transaction ended; when the next one begins. What began before the measured window
    /// is not recorded.
    pub fn ended(&mut self, failed: bool, now_ps: u64, record: &mut Record) -> Option<u64> {
        self.phase = Phase::Idle;
        let measured = self.started_ps >= record.measured_from_ps;
        let kept = record.transactions.as_mut().filter(|_| measured);
        match kept {
            Some(kept) if failed => kept.failed += 1,
            Some(kept) => {
                let trip = now_ps - self.requested_ps;
                kept.rtt.add(trip);
                kept.total.add(now_ps - self.started_ps);
                if self.timed_out {
                    kept.timed_out += 1;
                } else {
                    kept.prompt.add(trip);
                }
            }
            None => {}
        }
        if self.begun >= self.pattern.transactions {
            return None;
        }
        Some(match self.pattern.pause {
            Pause::Think(_) => now_ps.saturating_add(self.pause_ps),
            Pause::Period(_) => self.started_ps.saturating_add(self.pause_ps).max(now_ps),
        })
    }
}

//! Traffic sources: when, and how much.
//!
//! An open-loop source is a file here that implements `OpenSource`; `read` names it.

mod amount;
mod bucket;
mod echo;
mod exponential;
mod onoff;
mod pace;
mod phase;
mod regular;
pub mod schema;
mod size;
pub mod tcp;
mod trace;
mod video;

pub use echo::Echo;
pub use phase::Groups;
pub use schema::SourceSchema;

use std::cell::{Cell, RefCell};

use serde_json::Value;

use crate::error::ScenarioError;
use crate::framing::{Framing, SECOND_PS};
use crate::rng::Stream;
use crate::scenario::{parse_kind, parse_part};
use regular::{Cbr, Poisson};

/// IP and TCP headers: the size of an acknowledgement.
pub const ACK_BYTES: u32 = 40;
const MIN_IP_BYTES: u32 = 20;
const MAX_IP_BYTES: u32 = 65_535;
/// More would run for hours; it guards against a slip in a rate or a time.
pub const MAX_PACKETS: u128 = 2_000_000_000;
/// With samples: what fits in memory (16 bytes each).
pub const MAX_SAMPLES: u128 = 50_000_000;
/// Keeps gaps between packets above a picosecond.
const MAX_RATE_BPS: u64 = 100_000_000_000_000;

/// 16 minutes: no timer and no server is slower.
const MAX_TIMER_PS: u64 = 1_000_000_000_000_000;

/// A source that awaits no answer.
pub trait OpenSource: std::fmt::Debug + Send {
    /// IP bytes of its largest packet.
    fn largest(&self) -> u32;

    /// Time of the first packet.
    fn first(&mut self, stream: &mut Stream) -> u64;

    /// Puts the IP sizes sent at `now_ps` into `sizes`, returns the time of the next ones.
    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64;
}

/// An open-loop source; the commonest kinds are told apart here, which spares every packet of
/// theirs an indirect call and a list of one.
#[derive(Debug)]
pub enum Open {
    Cbr(Cbr),
    Poisson(Poisson),
    Other(Box<dyn OpenSource>),
}

impl Open {
    fn any(&mut self) -> &mut dyn OpenSource {
        match self {
            Self::Cbr(cbr) => cbr,
            Self::Poisson(poisson) => poisson,
            Self::Other(other) => &mut **other,
        }
    }

    /// IP bytes of the packet sent at `now_ps`, and the time of the next; None: a source of
    /// any number of packets at a time.
    #[inline]
    pub fn send_one(&mut self, now_ps: u64, stream: &mut Stream) -> Option<(u32, u64)> {
        match self {
            Self::Cbr(cbr) => Some(cbr.send_one(now_ps, stream)),
            Self::Poisson(poisson) => Some(poisson.send_one(now_ps, stream)),
            Self::Other(_) => None,
        }
    }

    /// See [`OpenSource::first`].
    pub fn first(&mut self, stream: &mut Stream) -> u64 {
        self.any().first(stream)
    }

    /// See [`OpenSource::send`].
    pub fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        self.any().send(now_ps, stream, sizes)
    }

    fn largest(&mut self) -> u32 {
        self.any().largest()
    }
}

/// What drives a flow.
#[derive(Debug)]
pub enum Source {
    Open { source: Open, stop_ps: u64 },
    Tcp(Box<tcp::TcpFlow>),
    Echo(Box<Echo>),
}

/// What a source must know of its run.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub duration_ps: u64,
    pub warmup_ps: u64,
    /// Every packet will be kept.
    pub samples: bool,
    /// Of the first link.
    pub framing: Framing,
    pub groups: &'a RefCell<Groups>,
    /// The most packets that the source may send, by what was checked of it.
    pub planned: &'a Cell<u128>,
    /// JSON path of the source.
    pub path: &'a str,
}

impl Context<'_> {
    fn error(&self, field: &str, problem: &str, hint: &str) -> ScenarioError {
        ScenarioError::new(format!("{}.{field}", self.path), problem, hint)
    }

    fn positive(&self, value: u64, field: &str) -> Result<(), ScenarioError> {
        if value == 0 {
            return Err(self.error(field, "is 0", "give a positive number"));
        }
        Ok(())
    }

    /// Refuses a time that no timer of a stack or a server has.
    fn in_time(&self, value_ps: u64, field: &str) -> Result<(), ScenarioError> {
        if value_ps <= MAX_TIMER_PS {
            return Ok(());
        }
        let hint = format!("use at most {MAX_TIMER_PS}");
        Err(self.error(field, "is too long", &hint))
    }

    fn packet_size(&self, bytes: u32, least: u32, field: &str) -> Result<(), ScenarioError> {
        if (least..=MAX_IP_BYTES).contains(&bytes) {
            return Ok(());
        }
        let hint = format!("use {least} to {MAX_IP_BYTES}");
        Err(self.error(field, &format!("{bytes} is no packet size"), &hint))
    }

    /// Refuses a rate that is 0, beyond any line, or would never end.
    fn bit_rate(&self, rate_bps: u64, mean_bytes: f64) -> Result<(), ScenarioError> {
        if !(1..=MAX_RATE_BPS).contains(&rate_bps) {
            let hint = format!("use 1 to {MAX_RATE_BPS}");
            return Err(self.error("rate_bps", "is no rate", &hint));
        }
        let bits = mean_bytes as u128 * 8 * u128::from(SECOND_PS);
        self.bounded(rate_bps.into(), bits, "rate_bps")
    }

    /// Refuses what would never end, given the packets that are sent in a time.
    fn bounded(&self, packets: u128, per_ps: u128, field: &str) -> Result<(), ScenarioError> {
        let most = if self.samples {
            MAX_SAMPLES
        } else {
            MAX_PACKETS
        };
        let count = u128::from(self.duration_ps) * packets / per_ps.max(1);
        if count <= most {
            self.planned.set(self.planned.get().max(count));
            return Ok(());
        }
        let problem = format!("would send more than {most} packets");
        Err(self.error(field, &problem, "lower the rate or shorten duration_ps"))
    }

    fn stop(&self, stop_ps: Option<u64>) -> u64 {
        stop_ps.map_or(self.duration_ps, |stop| stop.min(self.duration_ps))
    }
}

/// Reads a source by its `kind`.
pub fn read(value: &Value, context: Context, stream: &mut Stream) -> Result<Source, ScenarioError> {
    let path = context.path;
    let (kind, mut rest) = parse_kind(value, path)?;
    let bucket = rest
        .as_object_mut()
        .and_then(|fields| fields.remove("bucket"));
    let source = match kind.as_str() {
        "cbr" => regular::cbr(parse_part(rest, path)?, context, stream),
        "poisson" => regular::poisson(&parse_part(rest, path)?, context),
        "onoff" => onoff::read(&parse_part(rest, path)?, context),
        "trace" => trace::read(parse_part(rest, path)?, context),
        "video" => video::read(parse_part(rest, path)?, context),
        "tcp" => tcp::bulk(rest, context, stream),
        "tcp_session" => tcp::sessions(rest, context, stream),
        "udp_echo" => echo::read(&parse_part(rest, path)?, context, stream),
        other => Err(context.error(
            "kind",
            &format!("unknown source {other:?}"),
            "use cbr, poisson, onoff, video, trace, tcp, tcp_session or udp_echo",
        )),
    }?;
    match bucket {
        Some(spec) => bucket::shape(source, spec, context),
        None => Ok(source),
    }
}

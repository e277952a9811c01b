//! `udp_echo`: probes that the far end sends back, such as pings.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::amount::Amount;
use super::schema::AmountSchema;
use super::tcp::Population;
use super::{Context, Source};
use crate::error::ScenarioError;
use crate::rng::Stream;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoSpec {
    ip_bytes: u32,
    /// Of the answer; null: as the probe.
    #[serde(default)]
    reply_bytes: Option<u32>,
    /// An amount: from probe to probe.
    #[schemars(with = "AmountSchema")]
    interval_ps: Value,
    /// An amount: from the probe's arrival to the answer.
    #[serde(default)]
    #[schemars(with = "Option<AmountSchema>")]
    server_ps: Option<Value>,
    /// Probes to send; null: as many as the time allows.
    #[serde(default)]
    count: Option<u64>,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

#[derive(Debug)]
pub struct Echo {
    pub ip_bytes: u32,
    pub reply_bytes: u32,
    pub first_ps: u64,
    pub stop_ps: u64,
    /// Round trips of those that were answered.
    pub rtt: Population,
    interval: Amount,
    server: Amount,
    left: u64,
    /// Draws the server's times; the flow's own draws the intervals.
    server_stream: Stream,
}

pub fn read(spec: &EchoSpec, ctx: Context, stream: &mut Stream) -> Result<Source, ScenarioError> {
    ctx.packet_size(spec.ip_bytes, super::MIN_IP_BYTES, "ip_bytes")?;
    let reply_bytes = spec.reply_bytes.unwrap_or(spec.ip_bytes);
    ctx.packet_size(reply_bytes, super::MIN_IP_BYTES, "reply_bytes")?;
    let at = |field: &str| format!("{}.{field}", ctx.path);
    let interval = Amount::read(&spec.interval_ps, 1, u64::MAX, &at("interval_ps"))?;
    let server = match &spec.server_ps {
        Some(value) => Amount::read(value, 0, super::MAX_TIMER_PS, &at("server_ps"))?,
        None => Amount::Fixed(0),
    };
    if let Some(count) = spec.count {
        ctx.positive(count, "count")?;
    } else {
        ctx.bounded(1, interval.mean().into(), "interval_ps")?;
    }
    let server_stream = stream.branch();
    Ok(Source::Echo(Box::new(Echo {
        ip_bytes: spec.ip_bytes,
        reply_bytes,
        first_ps: spec.start_ps.saturating_add(stream.up_to(spec.phase_ps)),
        stop_ps: ctx.stop(spec.stop_ps),
        rtt: Population::default(),
        interval,
        server,
        left: spec.count.unwrap_or(u64::MAX),
        server_stream,
    })))
}

impl Echo {
    /// A probe leaves; when the next one does.
    pub fn send(&mut self, now_ps: u64, stream: &mut Stream) -> Option<u64> {
        self.left -= 1;
        let next = now_ps.saturating_add(self.interval.draw(stream));
        (self.left > 0 && next < self.stop_ps).then_some(next)
    }

    /// A probe arrives; when it is answered.
    pub fn answer_at(&mut self, now_ps: u64) -> u64 {
        now_ps.saturating_add(self.server.draw(&mut self.server_stream))
    }
}

//! `trace`: packets as they were recorded.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Context, MIN_IP_BYTES, Open, OpenSource, Source};
use crate::error::ScenarioError;
use crate::rng::Stream;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// From the start of the trace, not descending.
    times_ps: Vec<u64>,
    /// IP bytes of each packet.
    ip_bytes: Vec<u32>,
    /// Start again, this long after the first packet; null: send once.
    #[serde(default)]
    repeat_ps: Option<u64>,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

#[derive(Debug)]
struct Trace {
    spec: TraceSpec,
    /// Time of the trace's beginning in this round.
    begin_ps: u64,
    next: usize,
}

pub fn read(spec: TraceSpec, context: Context) -> Result<Source, ScenarioError> {
    let (packets, sizes) = (spec.times_ps.len(), spec.ip_bytes.len());
    if packets == 0 {
        return Err(context.error("times_ps", "is empty", "give at least one packet"));
    }
    if packets != sizes {
        let problem = format!("{sizes} sizes for {packets} times");
        return Err(context.error("ip_bytes", &problem, "give each packet one of both"));
    }
    if let Some(i) = spec.times_ps.windows(2).position(|pair| pair[0] > pair[1]) {
        let at = format!("times_ps[{}]", i + 1);
        return Err(context.error(&at, "is before the one before", "sort the packets by time"));
    }
    for (i, bytes) in spec.ip_bytes.iter().enumerate() {
        context.packet_size(*bytes, MIN_IP_BYTES, &format!("ip_bytes[{i}]"))?;
    }
    if let Some(repeat) = spec.repeat_ps {
        let length = spec.times_ps[packets - 1] - spec.times_ps[0];
        if repeat <= length {
            let problem = format!("the trace is {length} ps long");
            return Err(context.error("repeat_ps", &problem, "let it end before it starts again"));
        }
        context.bounded(packets as u128, repeat.into(), "repeat_ps")?;
    }
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Open::Other(Box::new(Trace {
            spec,
            begin_ps: 0,
            next: 0,
        })),
    })
}

impl Trace {
    fn due(&self) -> u64 {
        let since = self.spec.times_ps[self.next];
        self.begin_ps.saturating_add(since)
    }
}

impl OpenSource for Trace {
    fn largest(&self) -> u32 {
        self.spec
            .ip_bytes
            .iter()
            .copied()
            .max()
            .unwrap_or(MIN_IP_BYTES)
    }

    fn first(&mut self, stream: &mut Stream) -> u64 {
        let phase = stream.up_to(self.spec.phase_ps);
        self.begin_ps = self.spec.start_ps.saturating_add(phase);
        self.due()
    }

    fn send(&mut self, _now_ps: u64, _stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        sizes.push(self.spec.ip_bytes[self.next]);
        self.next += 1;
        if self.next == self.spec.times_ps.len() {
            let Some(repeat) = self.spec.repeat_ps else {
                // Never again.
                self.next -= 1;
                return u64::MAX;
            };
            self.next = 0;
            self.begin_ps = self.begin_ps.saturating_add(repeat);
        }
        self.due()
    }
}

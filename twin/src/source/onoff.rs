//! `onoff`: bursts at a peak rate between silences, both exponentially long.

use serde::Deserialize;
use serde_json::Value;

use super::pace::Pace;
use super::size::{Layer, Sizes};
use super::{Context, OpenSource, Source};
use crate::error::ScenarioError;
use crate::rng::Stream;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// While on.
    rate_bps: u64,
    #[serde(default)]
    rate_layer: Layer,
    #[serde(default)]
    ip_bytes: Option<Value>,
    #[serde(default)]
    frame_bytes: Option<Value>,
    /// Mean lengths.
    on_ps: u64,
    off_ps: u64,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

#[derive(Debug)]
struct OnOff {
    sizes: Sizes,
    pace: Pace,
    on_ps: f64,
    off_ps: f64,
    start_ps: u64,
    phase_ps: u64,
    burst_end_ps: u64,
}

pub fn read(spec: &OnOffSpec, context: Context) -> Result<Source, ScenarioError> {
    let sizes = Sizes::read(spec.ip_bytes.as_ref(), spec.frame_bytes.as_ref(), context)?;
    context.bit_rate(spec.rate_bps, spec.rate_layer, &sizes)?;
    context.positive(spec.on_ps, "on_ps")?;
    context.positive(spec.off_ps, "off_ps")?;
    let cycle = u128::from(spec.on_ps) + u128::from(spec.off_ps);
    context.bounded(1, cycle, "on_ps")?;
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Box::new(OnOff {
            pace: Pace::new(&sizes, spec.rate_bps, spec.rate_layer, context.framing, 0),
            sizes,
            on_ps: spec.on_ps as f64,
            off_ps: spec.off_ps as f64,
            start_ps: spec.start_ps,
            phase_ps: spec.phase_ps,
            burst_end_ps: 0,
        }),
    })
}

impl OnOff {
    fn burst(&mut self, from_ps: u64, stream: &mut Stream) -> u64 {
        let length = stream.exponential(self.on_ps) as u64;
        self.burst_end_ps = from_ps.saturating_add(length);
        from_ps
    }
}

impl OpenSource for OnOff {
    fn first(&mut self, stream: &mut Stream) -> u64 {
        let from = self.start_ps.saturating_add(stream.up_to(self.phase_ps));
        self.burst(from, stream)
    }

    /// A burst sends at least one packet: at its start.
    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        let place = self.sizes.draw(stream);
        sizes.push(self.sizes.ip_bytes[place]);
        let next = now_ps.saturating_add(self.pace.gap(place));
        if next <= self.burst_end_ps {
            return next;
        }
        let silence = stream.exponential(self.off_ps) as u64;
        let from = self.burst_end_ps.saturating_add(silence);
        self.burst(from.max(next), stream)
    }
}

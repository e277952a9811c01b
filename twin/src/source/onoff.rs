//! `onoff`: bursts at a peak rate between silences, of random or fixed lengths.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::pace::Pace;
use super::schema::SizesSchema;
use super::size::{Layer, Sizes};
use super::{Context, Open, OpenSource, Source};
use crate::error::ScenarioError;
use crate::rng::Stream;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// While on.
    rate_bps: u64,
    #[serde(default)]
    rate_layer: Layer,
    #[serde(default)]
    #[schemars(with = "Option<SizesSchema>")]
    ip_bytes: Option<Value>,
    #[serde(default)]
    #[schemars(with = "Option<SizesSchema>")]
    frame_bytes: Option<Value>,
    /// Mean lengths.
    on_ps: u64,
    off_ps: u64,
    #[serde(default)]
    lengths: Lengths,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

/// How the lengths of bursts and silences spread about their means.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Lengths {
    #[default]
    Exponential,
    Deterministic,
}

impl Lengths {
    fn draw(self, mean_ps: u64, stream: &mut Stream) -> u64 {
        match self {
            Self::Exponential => stream.exponential(mean_ps as f64) as u64,
            Self::Deterministic => mean_ps,
        }
    }
}

#[derive(Debug)]
struct OnOff {
    sizes: Sizes,
    pace: Pace,
    on_ps: u64,
    off_ps: u64,
    lengths: Lengths,
    start_ps: u64,
    phase_ps: u64,
    burst_end_ps: u64,
}

pub fn read(spec: &OnOffSpec, context: Context) -> Result<Source, ScenarioError> {
    let sizes = Sizes::read(spec.ip_bytes.as_ref(), spec.frame_bytes.as_ref(), context)?;
    let mean_bytes = sizes.mean_bytes(spec.rate_layer, context.framing);
    context.bit_rate(spec.rate_bps, mean_bytes)?;
    context.positive(spec.on_ps, "on_ps")?;
    context.positive(spec.off_ps, "off_ps")?;
    let cycle = u128::from(spec.on_ps) + u128::from(spec.off_ps);
    context.bounded(1, cycle, "on_ps")?;
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Open::Other(Box::new(OnOff {
            pace: Pace::new(&sizes, spec.rate_bps, spec.rate_layer, context.framing, 0),
            sizes,
            on_ps: spec.on_ps,
            off_ps: spec.off_ps,
            lengths: spec.lengths,
            start_ps: spec.start_ps,
            phase_ps: spec.phase_ps,
            burst_end_ps: 0,
        })),
    })
}

impl OnOff {
    fn burst(&mut self, from_ps: u64, stream: &mut Stream) -> u64 {
        let length = self.lengths.draw(self.on_ps, stream);
        self.burst_end_ps = from_ps.saturating_add(length);
        from_ps
    }
}

impl OpenSource for OnOff {
    fn largest(&self) -> u32 {
        self.sizes.largest()
    }

    fn first(&mut self, stream: &mut Stream) -> u64 {
        let from = self.start_ps.saturating_add(stream.up_to(self.phase_ps));
        self.burst(from, stream)
    }

    /// A burst sends at least one packet: at its start. Its end is not in it.
    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        let place = self.sizes.draw(stream);
        sizes.push(self.sizes.ip_bytes[place]);
        let next = now_ps.saturating_add(self.pace.gap(place));
        if next < self.burst_end_ps {
            return next;
        }
        let silence = self.lengths.draw(self.off_ps, stream);
        let from = self.burst_end_ps.saturating_add(silence);
        self.burst(from.max(next), stream)
    }
}

//! `cbr` and `poisson`: packets of one size at a mean rate.

use serde::Deserialize;

use super::pace::Pace;
use super::{Context, OpenSource, Source};
use crate::error::ScenarioError;
use crate::rng::Stream;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegularSpec {
    /// Counts IP bits.
    rate_bps: u64,
    ip_bytes: u32,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    /// The start is drawn from this long after `start_ps`.
    #[serde(default)]
    phase_ps: u64,
    /// cbr: each packet is late by up to this, never overtaking.
    #[serde(default)]
    jitter_ps: u64,
}

#[derive(Debug)]
struct Cbr {
    spec: RegularSpec,
    pace: Pace,
    /// Undelayed time of the packet to come.
    due_ps: u64,
}

pub fn cbr(spec: RegularSpec, context: Context) -> Result<Source, ScenarioError> {
    context.bit_rate(spec.rate_bps, spec.ip_bytes)?;
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Box::new(Cbr {
            pace: Pace::new(spec.ip_bytes, spec.rate_bps),
            spec,
            due_ps: 0,
        }),
    })
}

impl Cbr {
    fn late(&self, stream: &mut Stream) -> u64 {
        let late = match self.spec.jitter_ps {
            0 => 0,
            jitter => stream.up_to(jitter),
        };
        self.due_ps.saturating_add(late)
    }
}

impl OpenSource for Cbr {
    fn first(&mut self, stream: &mut Stream) -> u64 {
        let phase = stream.up_to(self.spec.phase_ps);
        self.due_ps = self.spec.start_ps.saturating_add(phase);
        self.late(stream)
    }

    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        sizes.push(self.spec.ip_bytes);
        self.due_ps = self.due_ps.saturating_add(self.pace.gap());
        self.late(stream).max(now_ps)
    }
}

#[derive(Debug)]
struct Poisson {
    spec: RegularSpec,
    mean_gap_ps: f64,
}

pub fn poisson(spec: RegularSpec, context: Context) -> Result<Source, ScenarioError> {
    context.bit_rate(spec.rate_bps, spec.ip_bytes)?;
    if spec.jitter_ps != 0 {
        return Err(context.error("jitter_ps", "a poisson source has none", "leave it out"));
    }
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Box::new(Poisson {
            mean_gap_ps: Pace::new(spec.ip_bytes, spec.rate_bps).mean(),
            spec,
        }),
    })
}

impl OpenSource for Poisson {
    fn first(&mut self, stream: &mut Stream) -> u64 {
        let wait = stream.up_to(self.spec.phase_ps);
        let gap = stream.exponential(self.mean_gap_ps) as u64;
        self.spec.start_ps.saturating_add(wait).saturating_add(gap)
    }

    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        sizes.push(self.spec.ip_bytes);
        let gap = stream.exponential(self.mean_gap_ps).round();
        now_ps.saturating_add(gap as u64)
    }
}

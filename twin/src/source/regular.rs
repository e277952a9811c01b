//! `cbr` and `poisson`: packets at a mean rate.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::exponential::ExponentialSizes;
use super::pace::Pace;
use super::phase::{Member, PhaseSpec};
use super::schema::SizesSchema;
use super::size::{Layer, Sizes};
use super::{Context, Open, OpenSource, Source};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::rng::Stream;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegularSpec {
    rate_bps: u64,
    #[serde(default)]
    rate_layer: Layer,
    #[serde(default)]
    #[schemars(with = "Option<SizesSchema>")]
    ip_bytes: Option<Value>,
    #[serde(default)]
    #[schemars(with = "Option<SizesSchema>")]
    frame_bytes: Option<Value>,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    /// The start is drawn from this long after `start_ps`.
    #[serde(default)]
    phase_ps: u64,
    /// cbr: how its clock stands to those of others.
    #[serde(default)]
    phase: Option<PhaseSpec>,
    /// cbr: each packet is late by up to this, never overtaking.
    #[serde(default)]
    jitter_ps: u64,
}

impl RegularSpec {
    fn sizes(&self, context: Context) -> Result<Sizes, ScenarioError> {
        let sizes = Sizes::read(self.ip_bytes.as_ref(), self.frame_bytes.as_ref(), context)?;
        let mean_bytes = sizes.mean_bytes(self.rate_layer, context.framing);
        context.bit_rate(self.rate_bps, mean_bytes)?;
        Ok(sizes)
    }

    /// Sizes, and the mean bytes of what the rate counts.
    fn random_sizes(&self, context: Context) -> Result<(RandomSizes, f64), ScenarioError> {
        let (sizes, mean_bytes) = match (&self.ip_bytes, &self.frame_bytes) {
            (Some(value), None) if value.is_object() => {
                let sizes = ExponentialSizes::read(value, "ip_bytes", context)?;
                let mean_bytes = sizes.mean_bytes(self.rate_layer, context.framing);
                (RandomSizes::Exponential(sizes), mean_bytes)
            }
            _ => {
                let sizes = self.sizes(context)?;
                let mean_bytes = sizes.mean_bytes(self.rate_layer, context.framing);
                (RandomSizes::Listed(sizes), mean_bytes)
            }
        };
        context.bit_rate(self.rate_bps, mean_bytes)?;
        Ok((sizes, mean_bytes))
    }
}

#[derive(Debug)]
pub struct Cbr {
    sizes: Sizes,
    pace: Pace,
    start_ps: u64,
    /// Of the random start.
    within_ps: u64,
    jitter_ps: u64,
    member: Option<Member>,
    /// Undelayed time of the packet to come.
    due_ps: u64,
}

pub fn cbr(
    spec: RegularSpec,
    context: Context,
    stream: &mut Stream,
) -> Result<Source, ScenarioError> {
    let sizes = spec.sizes(context)?;
    if spec.phase.is_some() && spec.phase_ps != 0 {
        let hint = "leave phase_ps or phase out";
        return Err(context.error("phase_ps", "the phase is given twice", hint));
    }
    let ppb = match &spec.phase {
        Some(phase) => phase.clock_ppb(context, stream)?,
        None => 0,
    };
    let pace = Pace::new(&sizes, spec.rate_bps, spec.rate_layer, context.framing, ppb);
    let mut member = None;
    let within_ps = match &spec.phase {
        None => spec.phase_ps,
        Some(PhaseSpec::Synchronised { group }) => {
            let mut groups = context.groups.borrow_mut();
            member = Some(groups.join(group, &pace, spec.start_ps, context)?);
            0
        }
        Some(PhaseSpec::Independent { .. } | PhaseSpec::Random {}) => {
            let bits = sizes.mean_bytes(spec.rate_layer, context.framing) * 8.0;
            (bits * SECOND_PS as f64 / spec.rate_bps as f64) as u64
        }
    };
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Open::Cbr(Cbr {
            sizes,
            pace,
            start_ps: spec.start_ps,
            within_ps,
            jitter_ps: spec.jitter_ps,
            member,
            due_ps: 0,
        }),
    })
}

impl Cbr {
    /// IP bytes of the packet sent at `now_ps`, and the time of the next.
    #[inline(always)]
    pub fn send_one(&mut self, now_ps: u64, stream: &mut Stream) -> (u32, u64) {
        let place = self.sizes.draw(stream);
        self.due_ps = self.due_ps.saturating_add(self.pace.gap(place));
        (self.sizes.ip_bytes[place], self.late(stream).max(now_ps))
    }

    #[inline]
    fn late(&self, stream: &mut Stream) -> u64 {
        if self.jitter_ps == 0 && self.member.is_none() {
            return self.due_ps;
        }
        let mut late = match self.jitter_ps {
            0 => 0,
            jitter => stream.up_to(jitter),
        };
        if let Some(member) = &self.member {
            late = late.saturating_add(member.rank_ps(self.due_ps));
        }
        self.due_ps.saturating_add(late)
    }
}

impl OpenSource for Cbr {
    fn largest(&self) -> u32 {
        self.sizes.largest()
    }

    fn first(&mut self, stream: &mut Stream) -> u64 {
        let phase = stream.up_to(self.within_ps);
        self.due_ps = self.start_ps.saturating_add(phase);
        self.late(stream)
    }

    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        let (ip_bytes, next_ps) = self.send_one(now_ps, stream);
        sizes.push(ip_bytes);
        next_ps
    }
}

/// Sizes that no time depends on.
#[derive(Debug)]
enum RandomSizes {
    Listed(Sizes),
    Exponential(ExponentialSizes),
}

#[derive(Debug)]
pub struct Poisson {
    sizes: RandomSizes,
    mean_gap_ps: f64,
    start_ps: u64,
    phase_ps: u64,
}

pub fn poisson(spec: &RegularSpec, context: Context) -> Result<Source, ScenarioError> {
    let (sizes, mean_bytes) = spec.random_sizes(context)?;
    if spec.jitter_ps != 0 {
        return Err(context.error("jitter_ps", "a poisson source has none", "leave it out"));
    }
    if spec.phase.is_some() {
        return Err(context.error("phase", "a poisson source has none", "leave it out"));
    }
    let bits = mean_bytes * 8.0;
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Open::Poisson(Poisson {
            sizes,
            mean_gap_ps: bits * SECOND_PS as f64 / spec.rate_bps as f64,
            start_ps: spec.start_ps,
            phase_ps: spec.phase_ps,
        }),
    })
}

impl Poisson {
    /// IP bytes of the packet sent at `now_ps`, and the time of the next.
    #[inline(always)]
    pub fn send_one(&mut self, now_ps: u64, stream: &mut Stream) -> (u32, u64) {
        let ip_bytes = match &self.sizes {
            RandomSizes::Listed(sizes) => sizes.ip_bytes[sizes.draw(stream)],
            RandomSizes::Exponential(sizes) => sizes.draw(stream),
        };
        // To the nearest; `round` is a call on plain x86-64.
        let gap = stream.exponential(self.mean_gap_ps) + 0.5;
        (ip_bytes, now_ps.saturating_add(gap as u64))
    }
}

impl OpenSource for Poisson {
    fn largest(&self) -> u32 {
        match &self.sizes {
            RandomSizes::Listed(sizes) => sizes.largest(),
            RandomSizes::Exponential(sizes) => sizes.most,
        }
    }

    fn first(&mut self, stream: &mut Stream) -> u64 {
        let wait = stream.up_to(self.phase_ps);
        let gap = stream.exponential(self.mean_gap_ps) as u64;
        self.start_ps.saturating_add(wait).saturating_add(gap)
    }

    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        let (ip_bytes, next_ps) = self.send_one(now_ps, stream);
        sizes.push(ip_bytes);
        next_ps
    }
}

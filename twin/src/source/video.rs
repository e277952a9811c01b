//! `video`: frames of normally distributed size at a steady rate, cut into RTP packets that the
//! host sends back to back.

use serde::Deserialize;

use super::{Context, OpenSource, Source};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::rng::Stream;

/// IP 20, UDP 8, RTP 12.
const RTP_HEADERS: u32 = 40;
/// 16 MB: no codec's frame is larger, and the cut into packets stays short.
const MAX_FRAME_BYTES: u64 = 1 << 24;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Frames per second.
    frame_rate: f64,
    /// Codec bytes, headers not included.
    frame_bytes_mean: u64,
    #[serde(default)]
    frame_bytes_sd: u64,
    /// Largest packet, its 40 bytes of headers included.
    ip_bytes: u32,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

#[derive(Debug)]
struct Video {
    spec: VideoSpec,
    first_ps: u64,
    frames: u64,
}

pub fn read(spec: VideoSpec, context: Context) -> Result<Source, ScenarioError> {
    if !(0.001..=100_000.0).contains(&spec.frame_rate) {
        return Err(context.error("frame_rate", "is no frame rate", "use 0.001 to 100000"));
    }
    for (bytes, field) in [
        (spec.frame_bytes_mean, "frame_bytes_mean"),
        (spec.frame_bytes_sd, "frame_bytes_sd"),
    ] {
        if bytes > MAX_FRAME_BYTES {
            let mend = format!("use at most {MAX_FRAME_BYTES}");
            return Err(context.error(field, "is too large", &mend));
        }
    }
    context.positive(spec.frame_bytes_mean, "frame_bytes_mean")?;
    context.packet_size(spec.ip_bytes, RTP_HEADERS + 1, "ip_bytes")?;
    let per_frame = spec.frame_bytes_mean / u64::from(spec.ip_bytes - RTP_HEADERS) + 1;
    let interval = SECOND_PS as f64 / spec.frame_rate;
    context.bounded(per_frame.into(), interval as u128, "frame_rate")?;
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Box::new(Video {
            spec,
            first_ps: 0,
            frames: 0,
        }),
    })
}

impl OpenSource for Video {
    fn first(&mut self, stream: &mut Stream) -> u64 {
        let phase = stream.up_to(self.spec.phase_ps);
        self.first_ps = self.spec.start_ps.saturating_add(phase);
        self.first_ps
    }

    fn send(&mut self, _now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        let deviation = stream.normal() * self.spec.frame_bytes_sd as f64;
        let drawn = self.spec.frame_bytes_mean as f64 + deviation;
        let mut left = drawn.clamp(1.0, MAX_FRAME_BYTES as f64).round() as u32;
        let most = self.spec.ip_bytes - RTP_HEADERS;
        while left > 0 {
            let payload = left.min(most);
            sizes.push(payload + RTP_HEADERS);
            left -= payload;
        }
        self.frames += 1;
        let offset = self.frames as f64 * SECOND_PS as f64 / self.spec.frame_rate;
        self.first_ps.saturating_add(offset.round() as u64)
    }
}

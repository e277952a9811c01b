//! `video`: frames of random size at a steady rate, cut into RTP packets that the host sends
//! back to back.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Context, Open, OpenSource, Source};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::rng::Stream;

/// IP 20, UDP 8, RTP 12.
const RTP_HEADERS: u32 = 40;
/// 16 MB: no codec's frame is larger, and the cut into packets stays short.
const MAX_FRAME_BYTES: u64 = 1 << 24;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Frames per second.
    frame_rate: f64,
    /// Codec bytes, headers not included.
    frame_bytes_mean: u64,
    #[serde(default)]
    frame_bytes_sd: u64,
    #[serde(default)]
    distribution: Distribution,
    /// One frame in so many is coded by itself and so many times as large as the others; the
    /// mean over all is kept, the deviation over the mean is that of each kind.
    #[serde(default = "one_frame")]
    group_frames: u32,
    #[serde(default = "as_large")]
    intra_ratio: f64,
    /// Largest packet, its 40 bytes of headers included.
    ip_bytes: u32,
    #[serde(default)]
    start_ps: u64,
    #[serde(default)]
    stop_ps: Option<u64>,
    #[serde(default)]
    phase_ps: u64,
}

fn one_frame() -> u32 {
    1
}

fn as_large() -> f64 {
    1.0
}

/// Of frame sizes.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Distribution {
    #[default]
    Normal,
    /// Fits MPEG frames of one kind (Krunz and Hughes, SIGMETRICS 1995).
    Lognormal,
}

impl Distribution {
    /// A factor with mean 1 and the given deviation.
    fn factor(self, deviation: f64, stream: &mut Stream) -> f64 {
        let normal = stream.normal();
        match self {
            Self::Normal => 1.0 + deviation * normal,
            Self::Lognormal => {
                let variance = (deviation * deviation).ln_1p();
                (variance.sqrt() * normal - variance / 2.0).exp()
            }
        }
    }
}

#[derive(Debug)]
struct Video {
    spec: VideoSpec,
    /// Mean codec bytes of frames coded by themselves, and of the others.
    means: (f64, f64),
    /// Deviation over the mean.
    deviation: f64,
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
            let hint = format!("use at most {MAX_FRAME_BYTES}");
            return Err(context.error(field, "is too large", &hint));
        }
    }
    context.positive(spec.frame_bytes_mean, "frame_bytes_mean")?;
    context.packet_size(spec.ip_bytes, RTP_HEADERS + 1, "ip_bytes")?;
    if spec.group_frames == 0 || !(1.0..=1000.0).contains(&spec.intra_ratio) {
        let hint = "use a group of at least 1 and a ratio of 1 to 1000";
        return Err(context.error("intra_ratio", "is no group of frames", hint));
    }
    let frames = f64::from(spec.group_frames);
    let mean = spec.frame_bytes_mean as f64;
    let other = mean * frames / (frames - 1.0 + spec.intra_ratio);
    let per_frame = spec.frame_bytes_mean / u64::from(spec.ip_bytes - RTP_HEADERS) + 1;
    let interval = SECOND_PS as f64 / spec.frame_rate;
    context.bounded(per_frame.into(), interval as u128, "frame_rate")?;
    Ok(Source::Open {
        stop_ps: context.stop(spec.stop_ps),
        source: Open::Other(Box::new(Video {
            means: (other * spec.intra_ratio, other),
            deviation: spec.frame_bytes_sd as f64 / mean,
            spec,
            first_ps: 0,
            frames: 0,
        })),
    })
}

impl OpenSource for Video {
    fn largest(&self) -> u32 {
        self.spec.ip_bytes
    }

    fn first(&mut self, stream: &mut Stream) -> u64 {
        let phase = stream.up_to(self.spec.phase_ps);
        self.first_ps = self.spec.start_ps.saturating_add(phase);
        self.first_ps
    }

    fn send(&mut self, _now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        let intra = self.frames.is_multiple_of(self.spec.group_frames.into());
        let mean = if intra { self.means.0 } else { self.means.1 };
        let drawn = mean * self.spec.distribution.factor(self.deviation, stream);
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

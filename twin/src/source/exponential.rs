//! Exponential packet sizes: with Poisson arrivals a link is the M/M/1 queue of the textbooks.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::size::Layer;
use super::{Context, MAX_IP_BYTES, MIN_IP_BYTES};
use crate::error::ScenarioError;
use crate::framing::Framing;
use crate::rng::Stream;
use crate::scenario::{parse_kind, parse_part};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSizesSpec {
    mean_bytes: u32,
    #[serde(default = "smallest")]
    min_bytes: u32,
    #[serde(default = "largest")]
    max_bytes: u32,
}

const fn smallest() -> u32 {
    MIN_IP_BYTES
}

const fn largest() -> u32 {
    MAX_IP_BYTES
}

/// IP sizes of an exponential distribution, to the nearest byte; what falls below `least` or
/// above `most` counts as these.
#[derive(Debug, Clone, Copy)]
pub struct ExponentialSizes {
    mean: f64,
    least: u32,
    pub most: u32,
}

impl ExponentialSizes {
    /// Reads `{"kind": "exponential", "mean_bytes", "min_bytes", "max_bytes"}`.
    pub fn read(value: &Value, field: &str, context: Context) -> Result<Self, ScenarioError> {
        let path = format!("{}.{field}", context.path);
        let (kind, rest) = parse_kind(value, &path)?;
        if kind != "exponential" {
            let problem = format!("unknown distribution of sizes {kind:?}");
            let hint = "use exponential, a size in bytes, or a list of [size, weight]";
            return Err(context.error(&format!("{field}.kind"), &problem, hint));
        }
        let spec: ExponentialSizesSpec = parse_part(rest, &path)?;
        context.packet_size(spec.min_bytes, MIN_IP_BYTES, &format!("{field}.min_bytes"))?;
        let above = spec.min_bytes;
        context.packet_size(spec.max_bytes, above, &format!("{field}.max_bytes"))?;
        context.packet_size(spec.mean_bytes, above, &format!("{field}.mean_bytes"))?;
        Ok(Self {
            mean: spec.mean_bytes.into(),
            least: spec.min_bytes,
            most: spec.max_bytes,
        })
    }

    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        // A cast of a float saturates.
        let drawn = stream.exponential(self.mean).round() as u32;
        drawn.clamp(self.least, self.most)
    }

    /// Exact mean of the bytes in a layer, with the limits and all padding.
    pub fn mean_bytes(&self, layer: Layer, framing: Framing) -> f64 {
        let bytes = |ip| f64::from(layer.bytes(ip, framing));
        // P(size > n) is e^-((n + 1/2) / mean) between the limits.
        let step = (-1.0 / self.mean).exp();
        let mut above = (-(f64::from(self.least) + 0.5) / self.mean).exp();
        let mut mean = bytes(self.least);
        for ip in self.least..self.most {
            mean += above * (bytes(ip + 1) - bytes(ip));
            above *= step;
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::FramingSpec;

    const fn line(kind: FramingSpec) -> Framing {
        Framing {
            short_sequence: false,
            kind,
            tagged: false,
        }
    }

    fn sizes(mean: f64, least: u32, most: u32) -> ExponentialSizes {
        ExponentialSizes { mean, least, most }
    }

    #[test]
    fn limits_far_away_leave_the_mean() {
        let mean = sizes(3000.0, 20, 65_535).mean_bytes(Layer::Ip, line(FramingSpec::None));
        // 20²/(2 × 3000) more below, 3000 e^-21.8 less above.
        assert!((mean - 3000.066).abs() < 0.001, "{mean}");
    }

    #[test]
    fn the_mean_is_that_of_what_is_drawn() {
        let mut stream = Stream::new(3, "sizes");
        for kind in [FramingSpec::None, FramingSpec::Ethernet] {
            let (sizes, framing) = (sizes(200.0, 40, 700), line(kind));
            let n = 400_000;
            let bytes = |_| f64::from(Layer::Frame.bytes(sizes.draw(&mut stream), framing));
            let drawn = (0..n).map(bytes).sum::<f64>() / f64::from(n);
            let mean = sizes.mean_bytes(Layer::Frame, framing);
            // Standard error 0.28.
            assert!((mean - drawn).abs() < 1.2, "{mean} {drawn}");
        }
    }
}

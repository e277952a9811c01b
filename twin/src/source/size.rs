//! Packet sizes of a source: one, or several with weights (such as an IMIX).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Context, MAX_IP_BYTES, MIN_IP_BYTES};
use crate::error::ScenarioError;
use crate::framing::Framing;
use crate::rng::Stream;

const MAX_SIZES: usize = 256;

/// What a rate counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "RateLayer")]
pub enum Layer {
    #[default]
    Ip,
    /// With the first link's header and check sequence.
    Frame,
    /// With all line time: the preamble and the gap too.
    Wire,
}

impl Layer {
    /// Bytes of a packet of `ip_bytes` in this layer of a link.
    pub fn bytes(self, ip_bytes: u32, framing: Framing) -> u32 {
        let frame = || framing.frame_bytes(ip_bytes, false);
        match self {
            Layer::Ip => ip_bytes,
            Layer::Frame => frame(),
            Layer::Wire => framing.wire_bytes(frame()),
        }
    }
}

/// IP sizes by weight.
#[derive(Debug, Clone)]
pub struct Sizes {
    pub ip_bytes: Vec<u32>,
    /// Sums of the weights up to each size.
    up_to: Vec<u64>,
}

impl Sizes {
    /// Reads `ip_bytes` or `frame_bytes` of a source: a size or a list of `[size, weight]`.
    /// `frame_bytes` means frames of the first link, header and check sequence included.
    pub fn read(
        ip: Option<&Value>,
        frame: Option<&Value>,
        context: Context,
    ) -> Result<Self, ScenarioError> {
        let (value, field) = match (ip, frame) {
            (Some(value), None) => (value, "ip_bytes"),
            (None, Some(value)) => (value, "frame_bytes"),
            (None, None) => {
                let hint = "give ip_bytes or frame_bytes";
                return Err(context.error("ip_bytes", "the packets have no size", hint));
            }
            (Some(_), Some(_)) => {
                let hint = "leave one of ip_bytes and frame_bytes out";
                return Err(context.error("frame_bytes", "the size is given twice", hint));
            }
        };
        let mut sizes = Self {
            ip_bytes: Vec::new(),
            up_to: Vec::new(),
        };
        let mut total = 0u64;
        for (place, bytes, weight) in entries(value, field, context)? {
            let ip = match field {
                "ip_bytes" => bytes,
                _ => ip_of_frame(bytes, &place, context)?,
            };
            context.packet_size(ip, MIN_IP_BYTES, &place)?;
            total += u64::from(weight);
            sizes.ip_bytes.push(ip);
            sizes.up_to.push(total);
        }
        Ok(sizes)
    }

    #[cfg(test)]
    pub fn one(ip_bytes: u32) -> Self {
        Self {
            ip_bytes: vec![ip_bytes],
            up_to: vec![1],
        }
    }

    /// Draws the place of a size; a single one needs no draw.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> usize {
        if self.up_to.len() == 1 {
            return 0;
        }
        let total = self.up_to.last().map_or(1, |t| *t);
        let drawn = stream.up_to(total - 1);
        self.up_to.partition_point(|up_to| *up_to <= drawn)
    }

    /// Mean bytes in a layer.
    pub fn mean_bytes(&self, layer: Layer, framing: Framing) -> f64 {
        let mut below = 0;
        let mut sum = 0.0;
        for (ip, up_to) in self.ip_bytes.iter().zip(&self.up_to) {
            sum += f64::from(layer.bytes(*ip, framing)) * (up_to - below) as f64;
            below = *up_to;
        }
        sum / below as f64
    }

    pub fn largest(&self) -> u32 {
        self.ip_bytes.iter().copied().max().unwrap_or(MIN_IP_BYTES)
    }
}

/// (path below the source, size, weight) of each size.
fn entries(
    value: &Value,
    field: &str,
    context: Context,
) -> Result<Vec<(String, u32, u32)>, ScenarioError> {
    let whole = |value: &Value| value.as_u64().and_then(|v| u32::try_from(v).ok());
    if let Some(bytes) = whole(value) {
        return Ok(vec![(field.to_owned(), bytes, 1)]);
    }
    let hint = "give a size in bytes, or a list of [size, weight]";
    let Value::Array(list) = value else {
        return Err(context.error(field, "is no packet size", hint));
    };
    if !(1..=MAX_SIZES).contains(&list.len()) {
        let problem = format!("{} sizes", list.len());
        return Err(context.error(field, &problem, &format!("use 1 to {MAX_SIZES}")));
    }
    let mut entries = Vec::with_capacity(list.len());
    for (i, entry) in list.iter().enumerate() {
        let place = format!("{field}[{i}]");
        let pair = entry.as_array().filter(|pair| pair.len() == 2);
        let pair = pair.and_then(|pair| Some((whole(&pair[0])?, whole(&pair[1])?)));
        match pair {
            Some((bytes, weight)) if weight > 0 => entries.push((place, bytes, weight)),
            Some(_) => return Err(context.error(&place, "the weight is 0", hint)),
            None => return Err(context.error(&place, "is not [size, weight]", hint)),
        }
    }
    Ok(entries)
}

/// The largest IP packet that a frame of so many bytes carries (Ethernet pads small ones).
fn ip_of_frame(frame: u32, place: &str, context: Context) -> Result<u32, ScenarioError> {
    let framed = |ip: u32| context.framing.frame_bytes(ip, false);
    let (mut fits, mut above) = (0, MAX_IP_BYTES + 1);
    while fits + 1 < above {
        let middle = u32::midpoint(fits, above);
        if framed(middle) <= frame {
            fits = middle;
        } else {
            above = middle;
        }
    }
    if fits >= MIN_IP_BYTES && framed(fits) == frame {
        return Ok(fits);
    }
    let problem = format!("no packet fills a frame of {frame} bytes on the first link");
    let hint = format!(
        "use {} to {}, or ip_bytes",
        framed(MIN_IP_BYTES),
        framed(MAX_IP_BYTES)
    );
    Err(context.error(place, &problem, &hint))
}

//! A token bucket behind a source: packets wait until they conform, in order, without loss.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Context, Open, OpenSource, Source};
use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::rng::Stream;
use crate::scenario::parse_part;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    /// IP bits.
    rate_bps: u64,
    /// At least the largest packet.
    burst_bytes: u64,
}

/// What a source generates, sent when the bucket lets it. Generation runs ahead only as far as
/// the packet that waits, so that a source faster than its bucket needs no memory.
#[derive(Debug)]
struct Shaped {
    source: Open,
    largest: u32,
    rate_bps: u64,
    burst_bytes: u64,
    /// The bucket is full again then.
    full_ps: u64,
    /// Generated and not sent, the next one last.
    batch: Vec<u32>,
    /// When they were generated, and when the source generates next.
    generated_ps: u64,
    due_ps: u64,
}

/// Puts the bucket of `spec` behind an open source.
pub fn shape(source: Source, spec: Value, context: Context) -> Result<Source, ScenarioError> {
    let path = format!("{}.bucket", context.path);
    let spec: BucketSpec = parse_part(spec, &path)?;
    let Source::Open {
        mut source,
        stop_ps,
    } = source
    else {
        let problem = "a source that is answered paces itself";
        return Err(context.error("bucket", problem, "leave it out"));
    };
    context.positive(spec.rate_bps, "bucket.rate_bps")?;
    let largest = source.largest();
    if spec.burst_bytes < u64::from(largest) {
        let hint = format!("let the largest packet fit, {largest} bytes");
        return Err(context.error("bucket.burst_bytes", "is too small", &hint));
    }
    Ok(Source::Open {
        stop_ps,
        source: Open::Other(Box::new(Shaped {
            source,
            largest,
            rate_bps: spec.rate_bps,
            burst_bytes: spec.burst_bytes,
            full_ps: 0,
            batch: Vec::new(),
            generated_ps: 0,
            due_ps: 0,
        })),
    })
}

impl Shaped {
    /// Bits × 10^12: over the rate, the time that tokens for so many bytes take.
    fn work(bytes: u64) -> u128 {
        u128::from(bytes) * 8 * u128::from(SECOND_PS)
    }

    /// When the next packet may go: as soon as the bucket lacks no more than the rest.
    fn conforms_ps(&self, bytes: u32) -> u64 {
        // Rounded so that no bucket is too fast.
        let rest = Self::work(self.burst_bytes - u64::from(bytes)) / u128::from(self.rate_bps);
        let rest = u64::try_from(rest).unwrap_or(u64::MAX);
        self.generated_ps.max(self.full_ps.saturating_sub(rest))
    }

    /// Generates the next batch if none is left; returns when its first packet goes.
    fn prepare(&mut self, stream: &mut Stream) -> u64 {
        if self.batch.is_empty() {
            self.generated_ps = self.due_ps;
            self.due_ps = self.source.send(self.generated_ps, stream, &mut self.batch);
            self.batch.reverse();
        }
        self.batch.last().map_or(u64::MAX, |b| self.conforms_ps(*b))
    }
}

impl OpenSource for Shaped {
    fn largest(&self) -> u32 {
        self.largest
    }

    fn first(&mut self, stream: &mut Stream) -> u64 {
        self.due_ps = self.source.first(stream);
        self.prepare(stream)
    }

    fn send(&mut self, now_ps: u64, stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
        if let Some(bytes) = self.batch.pop() {
            sizes.push(bytes);
            let cost = Self::work(bytes.into()).div_ceil(self.rate_bps.into());
            let cost = u64::try_from(cost).unwrap_or(u64::MAX);
            self.full_ps = self.full_ps.max(now_ps).saturating_add(cost);
        }
        self.prepare(stream).max(now_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten packets of 100 bytes at once, then one a second.
    #[derive(Debug)]
    struct Burst;

    impl OpenSource for Burst {
        fn largest(&self) -> u32 {
            100
        }

        fn first(&mut self, _stream: &mut Stream) -> u64 {
            0
        }

        fn send(&mut self, now_ps: u64, _stream: &mut Stream, sizes: &mut Vec<u32>) -> u64 {
            let count = if now_ps == 0 { 10 } else { 1 };
            sizes.extend((0..count).map(|_| 100));
            now_ps + SECOND_PS
        }
    }

    #[test]
    fn the_burst_goes_at_once_and_the_rest_at_the_rate() {
        let mut shaped = Shaped {
            source: Open::Other(Box::new(Burst)),
            largest: Burst.largest(),
            rate_bps: 8000,
            burst_bytes: 300,
            full_ps: 0,
            batch: Vec::new(),
            generated_ps: 0,
            due_ps: 0,
        };
        let mut stream = Stream::new(1, "unused");
        let mut sizes = Vec::new();
        let mut at = vec![shaped.first(&mut stream)];
        for _ in 0..11 {
            let last = *at.last().unwrap();
            at.push(shaped.send(last, &mut stream, &mut sizes));
        }
        let tenth = SECOND_PS / 10;
        let late: Vec<u64> = (1..=7).map(|n| n * tenth).collect();
        assert_eq!(at[..3], [0, 0, 0]);
        assert_eq!(at[3..10], late);
        assert_eq!(at[10..], [SECOND_PS, 2 * SECOND_PS]);
        assert_eq!(sizes, [100; 11]);
    }
}

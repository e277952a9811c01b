//! A log-linear histogram with a relative error below 0.1 %.

/// Buckets per octave: 2^10, so that a bucket is at most 1/1024 of its value wide.
const BITS: u32 = 10;
const PER_OCTAVE: usize = 1 << BITS;
/// Values below 2^11 have a bucket each; then one octave per further bit.
const OCTAVES: usize = 64 - BITS as usize;

#[derive(Debug)]
pub struct Histogram {
    octaves: [Option<Box<[u64; PER_OCTAVE]>>; OCTAVES + 1],
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            octaves: [const { None }; OCTAVES + 1],
        }
    }
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        let (octave, place) = bucket(value);
        let counts = self.octaves[octave].get_or_insert_with(|| Box::new([0; PER_OCTAVE]));
        counts[place] += 1;
    }

    /// (largest value of the bucket, count) of every bucket that is not empty, ascending.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        for (octave, counts) in self.octaves.iter().enumerate() {
            let counts = counts.iter().flat_map(|c| c.iter());
            for (place, count) in counts.enumerate().filter(|(_, count)| **count > 0) {
                found.push((upper_edge(octave, place), *count));
            }
        }
        found
    }

    /// The least value that so many thousandths of all values do not exceed (nearest rank), as
    /// its bucket's largest; `thousandths` ascend.
    pub fn quantiles<const N: usize>(&self, thousandths: [u64; N]) -> [Option<u64>; N] {
        let buckets = self.buckets();
        let total: u128 = buckets.iter().map(|(_, count)| u128::from(*count)).sum();
        let mut below = 0u128;
        let mut at = buckets.iter();
        let mut edge = None;
        thousandths.map(|part| {
            let rank = (total * u128::from(part)).div_ceil(1000).max(1);
            while below < rank {
                let (value, count) = at.next()?;
                below += u128::from(*count);
                edge = Some(*value);
            }
            edge
        })
    }
}

fn bucket(value: u64) -> (usize, usize) {
    if value < PER_OCTAVE as u64 {
        return (0, value as usize);
    }
    let shift = 63 - value.leading_zeros() - BITS;
    (shift as usize + 1, (value >> shift) as usize - PER_OCTAVE)
}

fn upper_edge(octave: usize, place: usize) -> u64 {
    match octave {
        0 => place as u64,
        _ => {
            let shift = octave - 1;
            let base = (PER_OCTAVE + place) as u64;
            (base << shift) + ((1u64 << shift) - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_close_above_every_value() {
        let mut value = 1u64;
        while value < u64::MAX / 3 {
            for v in [value, value + 1, value * 2 - 1] {
                let (octave, place) = bucket(v);
                let edge = upper_edge(octave, place);
                assert!(edge >= v && (edge - v) as f64 <= v as f64 / 1000.0, "{v}");
            }
            value = value * 3 / 2 + 1;
        }
        assert_eq!(bucket(u64::MAX).0, OCTAVES);
    }

    #[test]
    fn quantiles_are_the_nearest_ranks() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantiles([500, 999]), [None, None]);
        for value in 1..=1000 {
            histogram.add(value);
        }
        let found = histogram.quantiles([1, 500, 900, 990, 999, 1000]);
        assert_eq!(found, [1, 500, 900, 990, 999, 1000].map(Some));
    }

    #[test]
    fn counts_are_kept_in_order() {
        let mut histogram = Histogram::default();
        for v in [5, 1_000_000, 5, 0, u64::MAX] {
            histogram.add(v);
        }
        let buckets = histogram.buckets();
        let counts: Vec<_> = buckets.iter().map(|(_, c)| *c).collect();
        assert_eq!(counts, [1, 2, 1, 1]);
        assert!(buckets.is_sorted());
        assert_eq!(buckets[3].0, u64::MAX);
    }
}

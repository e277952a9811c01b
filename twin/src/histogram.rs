//! A log-linear histogram with a relative error below 0.1 %.

/// Buckets per octave: 2^10, so that a bucket is at most 1/1024 of its value wide.
const BITS: u32 = 10;
const PER_OCTAVE: usize = 1 << BITS;
/// Values below 2^11 have a bucket each; then one octave per further bit.
const OCTAVES: usize = 64 - BITS as usize;
const BUCKETS: usize = (OCTAVES + 1) * PER_OCTAVE;
/// Memory comes by so many neighbouring buckets: delays of a flow lie close together.
const BLOCK: usize = 64;
/// Values noted before they are counted. Of thousands of flows each then touches one line of
/// memory per value, and its buckets only once in a while, all together.
const NOTED: usize = 128;
const ABSENT: u16 = u16::MAX;

#[derive(Debug, Default)]
pub struct Histogram {
    /// Buckets of values not counted yet.
    noted: Vec<u16>,
    /// Place of each block in `counts`; empty before the first is counted.
    blocks: Vec<u16>,
    counts: Vec<[u64; BLOCK]>,
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, value: u64) {
        if self.noted.len() == self.noted.capacity() {
            self.count();
        }
        self.noted.push(bucket(value) as u16);
    }

    /// Counts what was noted, and makes room to note.
    #[cold]
    fn count(&mut self) {
        if self.noted.is_empty() {
            self.noted.reserve_exact(NOTED);
            return;
        }
        if self.blocks.is_empty() {
            self.blocks = vec![ABSENT; BUCKETS / BLOCK];
        }
        for bucket in self.noted.drain(..).map(usize::from) {
            let block = &mut self.blocks[bucket / BLOCK];
            if *block == ABSENT {
                *block = self.counts.len() as u16;
                self.counts.push([0; BLOCK]);
            }
            self.counts[usize::from(*block)][bucket % BLOCK] += 1;
        }
    }

    /// (largest value of the bucket, count) of every bucket that is not empty, ascending.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let mut found: Vec<(u16, u64)> = self.noted.iter().map(|bucket| (*bucket, 1)).collect();
        for (block, place) in self.blocks.iter().enumerate() {
            let counts = self.counts.get(usize::from(*place)).into_iter().flatten();
            let buckets = (block * BLOCK..).zip(counts);
            let counted = buckets.filter(|(_, count)| **count > 0);
            found.extend(counted.map(|(bucket, count)| (bucket as u16, *count)));
        }
        found.sort_unstable_by_key(|(bucket, _)| *bucket);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let found = found.into_iter();
        let edges = found.map(|(bucket, count)| (upper_edge(bucket.into()), count));
        edges.collect()
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

/// Octave by octave, from the smallest value.
fn bucket(value: u64) -> usize {
    if value < PER_OCTAVE as u64 {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - BITS;
    ((shift as usize) << BITS) + (value >> shift) as usize
}

fn upper_edge(bucket: usize) -> u64 {
    if bucket < PER_OCTAVE {
        return bucket as u64;
    }
    let shift = bucket / PER_OCTAVE - 1;
    let base = (PER_OCTAVE + bucket % PER_OCTAVE) as u64;
    (base << shift) + ((1u64 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_close_above_every_value() {
        let mut value = 1u64;
        while value < u64::MAX / 3 {
            for v in [value, value + 1, value * 2 - 1] {
                let edge = upper_edge(bucket(v));
                assert!(edge >= v && (edge - v) as f64 <= v as f64 / 1000.0, "{v}");
            }
            value = value * 3 / 2 + 1;
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert!((0..BUCKETS).all(|b| bucket(upper_edge(b)) == b));
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

    #[test]
    fn agrees_with_counting_one_by_one() {
        let mut stream = crate::rng::Stream::new(3, "histogram");
        let mut histogram = Histogram::default();
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..10 * NOTED + 7 {
            if number % 97 == 0 {
                let total: u64 = histogram.buckets().iter().map(|b| b.1).sum();
                assert_eq!(total, number as u64);
            }
            let value = stream.up_to(1 << (number % 40));
            histogram.add(value);
            *counts.entry(upper_edge(bucket(value))).or_insert(0) += 1;
        }
        assert!(histogram.buckets().into_iter().eq(counts));
    }
}

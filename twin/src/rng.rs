//! Random streams: one per flow and one per port, so that adding a flow disturbs no other.

/// xoshiro256++ (Blackman and Vigna), seeded by splitmix64 from the run's seed and a name.
#[derive(Debug, Clone)]
pub struct Stream([u64; 4]);

impl Stream {
    /// The stream that belongs to `name` under `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut state = seed ^ hash(name.as_bytes());
        Self(std::array::from_fn(|_| splitmix(&mut state)))
    }

    /// A stream of its own, for a part whose draws must not depend on when others draw.
    pub fn branch(&mut self) -> Self {
        let mut state = self.next_u64();
        Self(std::array::from_fn(|_| splitmix(&mut state)))
    }

    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..=top.
    pub fn up_to(&mut self, top: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * (u128::from(top) + 1);
        (wide >> 64) as u64
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_seed_and_repeat() {
        let first = |seed, name| Stream::new(seed, name).next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn moments_are_right() {
        let mut stream = Stream::new(7, "moments");
        let n = 200_000;
        let (mut exp, mut square, mut uniform) = (0.0, 0.0, 0);
        for _ in 0..n {
            exp += stream.exponential(3.0);
            square += stream.normal().powi(2);
            uniform += stream.up_to(10);
        }
        let n = f64::from(n);
        assert!((exp / n - 3.0).abs() < 0.03);
        assert!((square / n - 1.0).abs() < 0.02);
        assert!((uniform as f64 / n - 5.0).abs() < 0.05);
    }
}
